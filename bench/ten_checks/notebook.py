"""The ten checks as a notebook for nbgrader and as test files for otter-grader; run in .venv-bench."""

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

SOLUTION = (Path(__file__).parent / "reference" / "ten" / "ten.py").read_text(encoding="utf-8")
INPUTS = "VECTOR = np.linspace(-2.0, 3.0, 12); MATRIX = np.arange(1.0, 13.0).reshape(3, 4)"
CHECKS = {
    "mean": "assert np.isclose(mean(VECTOR), np.mean(VECTOR))",
    "variance": "assert np.isclose(variance(VECTOR), np.var(VECTOR))",
    "standardise": "assert np.allclose(standardise(VECTOR), (VECTOR - VECTOR.mean()) / VECTOR.std())",
    "softmax": "assert np.allclose(softmax(VECTOR), np.exp(VECTOR) / np.exp(VECTOR).sum())",
    "outer": "assert np.allclose(outer(VECTOR, VECTOR), np.outer(VECTOR, VECTOR))",
    "row_sums": "assert np.allclose(row_sums(MATRIX), [10.0, 26.0, 42.0])",
    "normalise_rows": "assert np.allclose((normalise_rows(MATRIX) ** 2).sum(axis=1), 1.0)",
    "distances": "assert np.allclose(distances(VECTOR), abs(np.subtract.outer(VECTOR, VECTOR)))",
    "one_hot": "assert np.array_equal(one_hot(np.array([2, 0, 1, 2]), 3), np.eye(3)[[2, 0, 1, 2]])",
    "running_maximum": "assert np.allclose(running_maximum(-VECTOR), 2.0)",
}


def nbgrader_cell(source: str, name: str, points: int | None) -> nbformat.NotebookNode:
    """A cell that nbgrader knows: the student's if it has no points, else a locked test."""
    grade = points is not None
    told = {"grade": grade, "solution": not grade, "locked": grade, "task": False}
    told |= {"grade_id": name, "schema_version": 3} | ({"points": points} if grade else {})
    return new_code_cell(source, id=name.replace("_", "-"), metadata={"nbgrader": told})


def notebook() -> nbformat.NotebookNode:
    """The solution, the inputs and ten test cells of one point."""
    cells = [nbgrader_cell(SOLUTION, "solution", None), new_code_cell(INPUTS, id="inputs")]
    cells += [nbgrader_cell(check, f"test_{name}", 1) for name, check in CHECKS.items()]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def write_notebook(path: Path) -> None:
    """Writes the notebook that has the solution in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook(), path)


def write_otter_tests(folder: Path) -> None:
    """Writes one test file for each check, in the OK format."""
    folder.mkdir(parents=True)
    for name, check in CHECKS.items():
        case = {"code": f">>> {check}\n", "hidden": False, "locked": False}
        suite = {"cases": [case], "scored": True, "setup": "", "teardown": "", "type": "doctest"}
        test = {"name": name, "points": 1, "suites": [suite]}
        (folder / f"{name}.py").write_text(f"OK_FORMAT = True\n\ntest = {test!r}\n", encoding="utf-8")
