"""Lab 2's handout: its numbers against plain NumPy and complex steps, its programs on the solved lab."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
LAB2 = ROOT / "reference/lab2_tensors"
LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])
MATRIX = re.compile(r"\\begin\{pmatrix\}(.*?)\\end\{pmatrix\}")


def run(program):
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-c", program], cwd=LAB2, env=environment, capture_output=True, encoding="utf-8"
    )


def matrices(latex):
    """The matrices of a formula as arrays."""
    return [
        np.array([[float(entry) for entry in row.split("&")] for row in body.split(r"\\")])
        for body in MATRIX.findall(latex)
    ]


@pytest.fixture
def layer(page_named, language):
    """The table of the layer: values and adjoints by node."""
    rows = page_named(language, "lab2.md").table({"zh": "伴随量", "en": "adjoint"}[language])
    found = {name.strip("$"): (matrices(value)[0], matrices(adjoint)[0]) for name, value, adjoint in rows}
    assert list(found) == ["X", "W", "b", "X W", "Z", "H", "T"]
    return found


STEPS = {  # what each node is computed from
    "X W": lambda v: v["X"] @ v["W"],
    "Z": lambda v: v["X W"] + v["b"],
    "H": lambda v: v["Z"] * (v["Z"].real > 0),
}


def output(leaves, moved=None, step=0.0):
    """Values of all nodes and of y; node `moved` moves by the step, and what follows it is computed anew."""
    v = dict(leaves)
    for name in ("X", "W", "b", "T", *STEPS):
        v[name] = STEPS[name](v) if name in STEPS else v[name].astype(complex)
        if name == moved:
            v[name] = v[name] + step
    return v, ((v["H"] - v["T"]) ** 2).sum() / 2


@LANGUAGES
def test_the_layer_s_values_and_adjoints(layer):
    leaves = {name: layer[name][0] for name in "XWbT"}
    values, y = output(leaves)
    assert y == 19.5
    for name, (value, adjoint) in layer.items():
        assert (values[name] == value).all(), name
        for place in np.ndindex(adjoint.shape):
            step = np.zeros(adjoint.shape, complex)
            step[place] = 1e-30j  # a complex step: no cancellation
            assert output(leaves, name, step)[1].imag / 1e-30 == pytest.approx(adjoint[place], abs=1e-12), (
                name
            )


@LANGUAGES
def test_the_layer_s_hessian_product(page_named, layer, language):
    formulas = [one for block in page_named(language, "lab2.md").blocks for one in block.formulas]
    (formula,) = [one for one in formulas if one.startswith(r"\nabla_W^2 y \cdot V =")]
    x, z = layer["X"][0], layer["Z"][0]
    moved = np.array([[1.0, 0.0], [0.0, 0.0]])
    assert (matrices(formula)[0] == x.T @ ((x @ moved) * (z > 0))).all()


def test_programs_run_on_the_solved_lab_and_print_what_they_say(page_named):
    programs = [block.code[0] for block in page_named("en", "lab2.md").blocks if block.kind == "fence python"]
    assert len(programs) == 2
    for program in programs:
        result = run(program)
        assert result.returncode == 0, result.stderr
        assert result.stdout.splitlines() == re.findall(r"\)  # (.*)", program)


@LANGUAGES
def test_commands_are_those_of_lab_1(page_named, language):
    ours, theirs = (
        [block.code[0] for block in page_named(language, page).blocks if block.kind == "fence console"]
        for page in ("lab2.md", "lab1.md")
    )
    assert ours == [code.replace("lab1", "lab2") for code in theirs]


GROWTH = """
import sys; sys.path.insert(0, "../../handouts/demo")
from growth import sizes
from solved import load
print([(row.order, row.nodes, row.merged) for row in sizes(load("lab2_tensors"), 8)])
"""


@LANGUAGES
def test_growth_by_order_is_what_the_solved_lab_gives(page_named, language):
    rows = page_named(language, "lab2.md").table({"zh": "节点数", "en": "nodes"}[language])
    shown = [tuple(map(int, row)) for row in rows]
    assert [order for order, *_ in shown] == [0, 1, 2, 4, 8]
    result = run(GROWTH)
    assert set(shown) <= set(eval(result.stdout)), result.stderr


@LANGUAGES
def test_every_rule_that_is_a_blank_has_its_row(page_named, course, language):
    cells = [block for block in page_named(language, "lab2.md").blocks if block.kind.endswith("tbody>tr>td")]
    named = {code.replace("_", "") for cell in cells for code in cell.code}
    blanks = {blank.name for task in course.lab("lab2").tasks for blank in task.blanks}
    rules = {name.removesuffix(".vjp").lower() for name in blanks if name.endswith(".vjp")}
    assert len(rules) == 7 and rules <= named
