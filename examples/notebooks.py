"""Notebooks as students hand them in: predictions with each one's own numbers, three smallest graphs, a step of descent.

The answers are worked out here from the questions' mathematics, not with a graph.
"""

import json
import math
import sys

from hand_ins import ROOT

sys.path.insert(0, str(ROOT))
from labkit.predict import number

GIVEN = {lab: (ROOT / "labs" / folder / f"{lab}.ipynb").read_text("utf-8") for lab, folder in (("lab1", "lab1_scalars"), ("lab2", "lab2_tensors"))}


def answers(student: str) -> dict[str, str]:
    """The right text of each solution cell of a student in lab 1."""
    n = number(student)
    x1, x2 = [1.5, 2.5, 3.0, 4.0][n % 4], [1.0, 2.0, 3.0, 4.0][n // 4]
    a, b, p = [(5, 3, 2), (7, 3, 2), (7, 5, 2), (5, 2, 3), (7, 2, 3), (9, 5, 4), (9, 2, 3), (8, 5, 3)][n // 2]
    twice = [name for bit, name in enumerate("abcd") if (1 + n % 14) >> bit & 1]
    k = 2 + n % 4
    theta = [0.3, 0.7, 0.9, 1.2, 1.4, 1.7, 1.9, 2.2][n % 8]
    creation = [p, "**", b, "*", a, "-"] if n % 2 == 0 else [p, "**", a, "-", b, "*"]
    tangents = [1, 0, round(1 / x1, 2), x2, 0, round(1 / x1 + x2, 2), round(1 / x1 + x2, 2)]
    adjoints = [round(1 / x1 + x2, 2), round(x1 - math.cos(x2), 2), 1, 1, -1, 1, 1]
    large, small = (
        (round(16 * (theta + h) ** 2) - round(16 * (theta - h) ** 2)) / 32 / h for h in (1.0, 0.01)
    )
    return {
        "student": f'student = "{student}"',
        "predict-creation": f"creation = {creation}",
        "predict-tangents": f"tangents = {tangents}",
        "predict-adjoints": f"adjoints = {adjoints}\narrivals = [2, 2, 1, 1, 1, 1, 1]",
        "predict-survivors": f"survivors = {sorted(set('abcd') - set(twice))}",
        "predict-breadth-first": f"wrong_nodes = {[f'v{i}' for i in range(1, k)]}",
        "predict-difference": f"large_step = {large:.2f}\nsmall_step = {small:.2f}",
        "overwrite": 'x = variable(2.0, "x")\ny = x * x\noverwrite = (y, x, [y, x])',
        "breadth-first": "x = variable(0.5)\nv = sin(x)\nw = v * v\ny = v + w\nbreadth_first = (y, x, [y, w, v, x])",
        "once-by-value": "x = variable(0.0)\nv = sin(x)\ny = sin(v)\nonce_by_value = y, x, [y, v, x]",
    }


def answers2(student: str) -> dict[str, str]:
    """The right text of each solution cell of a student in lab 2."""
    n = number(student)
    rule, times = n % 4, 3 + n // 4
    fitting = [["GB", "GBt", "AB", "ABt"], ["GA", "GtA", "GBt", "GtBt"], ["BGt", "GBt"]][n % 3]
    a, c = 2 + n % 4, [0.5, 1.5, 2.0, 2.5][n // 4]
    slope_size = [3 * times + 1, 4 * times + 1, 2 * times + 2, 5 * times + 2][rule]
    weights = (3 + n % 4) * (2 + n // 4)
    few, many = 3 + n % 5, 9 + n % 7
    rows, columns = (many, few) if n % 2 else (few, many)
    better = ["reverse", "forward", "forward" if n % 2 else "reverse", "either"]
    launches, queueing, slow, fast = 10 + n, 4 + n % 4, 50 + 10 * (n // 4), 2 + n % 2
    return {
        "student": f'student = "{student}"',
        "predict-fitting": f'fitting = {{{", ".join(map(repr, fitting))}}}\ntrap = "{["GB", "GtBt", "BGt"][n % 3]}"\nsame_numbers = "{["GB", "GtBt"][n % 2]}"',
        "predict-second": f'kind = "number"\nagain = 0\nextended = {6 * a * c}',
        "predict-sizes": f"size = {times + 1}\nslope_size = {slope_size}",
        "predict-passes": f"forward = {[weights, 1, columns, weights]}\nreverse = {[1, 10 + 2 * n, rows, weights]}\nbetter = {better}",
        "predict-clock": f"long = {[launches * queueing, queueing + launches * slow]}\nshort = {[launches * queueing, launches * queueing + fast]}",
        "sgd-step": "def sgd_step(weights, gradients, rate):\n    return [w - rate * g for w, g in zip(weights, gradients)]\n\n\nstepped = sgd_step([w], [g], rate)[0]",
    }


def notebook(cells: dict[str, str | None], lab: str = "lab1") -> dict:
    """A lab's notebook with these cells; None, or no entry, leaves one blank."""
    written = json.loads(GIVEN[lab])
    for cell in written["cells"]:
        text = cells.get(cell["metadata"].get("nbgrader", {}).get("grade_id"))
        if text is not None:
            cell["source"] = f"{cell['source'][0]}{text}".splitlines(keepends=True)
    return written


def text_of(written: dict) -> str:
    """The notebook as JupyterLab saves it."""
    return json.dumps(written, ensure_ascii=False, indent=1) + "\n"


def without_metadata(written: dict) -> dict:
    """The notebook after a way through other tools: metadata and ids are gone."""
    for cell in written["cells"]:
        cell["metadata"] = {}
        cell.pop("id", None)
    return written
