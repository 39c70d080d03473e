"""Students' Markdown: what it may show, and what it must not do."""

import time
from html.parser import HTMLParser

import pytest

from autograder.reporting.gradebook.rebuild import LONGEST
from autograder.reporting.gradebook.safe_markdown import safe_html

HOSTILE = (
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//a.example/x.js></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    "![p](http://a.example/p.png)",
    "![p](data:image/svg+xml;base64,PHN2Zz4=)",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](/formgrader/?path=/tmp)",
    "[x](../api/shutdown)",
    "[x](//a.example/)",
    "<a href='feedback.html' onclick=alert(1)>x</a>",
    "<svg><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
    "<math href='javascript:alert(1)'>x</math>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<form action=/api/kernels method=post><button>x</button></form>",
    "<style>body{display:none}</style><link rel=stylesheet href=//a.example/x.css>",
    "<div id=why-reverse class=score style='position:fixed'>x</div>",
    "<meta http-equiv=refresh content='0;url=//a.example'>",
    '```mermaid\ngraph TD; click A href "javascript:alert(1)"\n```',
    "$$</script><script>alert(1)</script>$$",
    "$`<img src=x onerror=alert(1)>`$",
    r"$\text{<img src=x onerror=alert(1)>}$",
    r"$\href{javascript:alert(1)}{x}$ $$\class{score}{x}$$ $\style{position:fixed}{x}$",
    r"\begin{align}\text{<script>alert(1)</script>}\end{align}",
    '<span class="inline-formula">\\text{&lt;img src=x onerror=alert(1)&gt;}</span>',
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
)
FORMULA = set("math mrow mi mn mo mtext msup mstyle".split())
SHOWN = FORMULA | set(
    "p h1 em strong code pre div span table thead tbody tr th td ul li a br hr b span".split()
)


class Elements(HTMLParser):
    """What a browser would make of a page: elements with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("source", HOSTILE)
def test_it_does_nothing(source: str) -> None:
    for tag, attributes in Elements(safe_html(f"Before\n\n{source}\n\nafter {source}")).found:
        assert tag in SHOWN
        assert attributes.keys() <= {*"href rel class title display stretchy lspace rspace".split()}
        assert (attributes.get("href") or "http://").startswith(("http://", "feedback.html"))
        assert attributes.get("class") in (None, "", "highlight", "n", "nc", "w")


def test_what_students_write_looks_as_meant() -> None:
    made = safe_html(
        "# T\n\n*a* `b` $x<y$ [w](https://a.example) \n\n| h |\n|--:|\n| 1 |\n\n```python\nx = 1\n```"
    )
    for part in ("<h1>T</h1>", "<em>a</em>", "<code>b</code>", '<a href="https://a.example"'):
        assert part in made
    assert "<table>" in made
    assert 'class="highlight"' in made
    assert safe_html("[r](feedback.html)").count('href="feedback.html"') == 1


def test_what_cannot_be_drawn_is_shown_as_text() -> None:
    assert safe_html("![p](attachment:p.png) <b>") == "<pre>![p](attachment:p.png) &lt;b&gt;</pre>"


@pytest.mark.parametrize("piece", ["[", "*a_ ", "> ", "<b>", "`", "| a ", "$", "![", "- \n"])
def test_a_long_answer_takes_no_longer_than_one_can_wait(piece: str) -> None:
    began = time.process_time()
    safe_html(piece * (LONGEST // len(piece)))
    assert time.process_time() - began < 5


def test_formulas_are_drawn_without_a_script() -> None:
    made = safe_html("$x<y$ and $$\\frac{a}{b}$$\n\n\\begin{align}a&=b\\end{align}")
    assert "<mi>x</mi><mo>&lt;</mo><mi>y</mi>" in made
    assert '<math display="block"><mrow><mfrac>' in made
    assert made.count("<math ") == 3


def test_a_formula_takes_no_more_room_than_its_signs() -> None:
    assert "9em" not in safe_html("$\\hspace{9em}x$")
    assert "999" not in safe_html("${a \\above 999pt b}$")
    assert 'linethickness="0"' in safe_html("$\\binom{n}{k}$")


def test_a_formula_that_cannot_be_drawn_stands_as_it_was_typed() -> None:
    assert safe_html("so $\\frac{<b>$ it is") == "<p>so $\\frac{&lt;b&gt;$ it is</p>\n"
