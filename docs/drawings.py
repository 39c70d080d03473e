"""Ten drawings of labkit.draw on one page, to be looked at: `docs/make.py` photographs them.

.venv/bin/python docs/drawings.py > page.html
"""

import sys
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from labkit import draw

sys.path.insert(0, str(Path(__file__).parents[1] / "handouts" / "demo"))

from programs import lecture, logistic, rosenbrock
from solved import load

LAB = load("lab1_scalars")
HOSTILE = "</text></svg><script>document.title = 'broken'</script>\N{RIGHT-TO-LEFT OVERRIDE}&\"'"
STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:8px;color-scheme:light dark;display:grid;gap:8px;"
    "grid-template-columns:repeat(auto-fill,minmax(min(100%,600px),1fr));align-items:start}"
    "h2{font-size:1rem;margin:0}section{min-width:0}pre{overflow-x:auto}"
)


def tensors() -> Any:
    """A lab with arrays: shapes and no values yet."""

    def node(name: str | None, shape: tuple[int, ...], *inputs: Any) -> Any:
        op = SimpleNamespace(name=name) if inputs else None
        return SimpleNamespace(name=None if inputs else name, shape=shape, inputs=inputs, op=op)

    x, w, b = node("x", (64, 28)), node("W", (28, 10)), node("b", (10,))
    scores = node("add", (64, 10), node("matmul", (64, 10), x, w), b)
    return node("softmax_cross_entropy", (), scores, node("labels", (64,)))


def drawings() -> dict[str, draw.Drawing]:
    """Each by what it is a trial of."""
    graph, engine = LAB.graph, LAB.engine
    x1, x2 = graph.variable(2.0, "x1"), graph.variable(5.0, "x2")
    y = lecture(x1, x2, graph.log, graph.sin)[-1]
    adjoints = engine.reverse_mode(y)
    wide = [graph.variable(float(place), f"x{place}") for place in range(1, 9)]
    weights = [graph.variable(place / 20, f"w{place}") for place in range(20)]
    table = graph.table({"Cat": 0.3, "Dog": 0.9})
    loss = (table["Cat"] * 2 - 1) ** 2
    return {
        "small": draw.graph(y),
        "wide, several outputs": draw.graph([graph.sin(x) * x for x in wide]),
        "deep": draw.graph(logistic(graph.variable(0.3, "x"), 3)),
        "large, folded": draw.graph(rosenbrock(weights), fold=16, language="en"),
        "hostile names": draw.graph(y, names={x1: HOSTILE, x2: "x" * 99}, title=HOSTILE),
        "Chinese names": draw.graph(y, names={x1: "第一个权重", x2: "第二个权重", y: "损失"}, title="中文"),
        "tangents, adjoints": draw.graph(y, tangents={x1: 1.0, y: 5.5}, adjoints=adjoints, language="en"),
        "shapes": draw.graph(tensors(), shapes=True, language="en"),
        "lookup": draw.graph(loss, adjoints=engine.reverse_mode(loss), names={table: "P"}),
        "one value used twice and more": draw.graph(x1 * x1 * x1 + x1 / x1),
    }


def page() -> str:
    """All of them, and the text form of one."""
    drawn = drawings()
    parts = [f"<section><h2>{escape(name)}</h2>{one.html}</section>" for name, one in drawn.items()]
    parts.append(f"<section><h2>text</h2><pre>{escape(drawn['tangents, adjoints'].text)}</pre></section>")
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Ten drawings</title>'
    viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    return f"{head}{viewport}<style>{STYLE}</style><body>{''.join(parts)}</body></html>\n"


if __name__ == "__main__":
    print(page(), end="")
