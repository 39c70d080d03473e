"""Notebooks built from a small course's py:percent text."""

import json
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.labs import check_labs, write_labs
from autograder.authoring.leaks import scan
from autograder.authoring.leaks_secrets import secrets_of
from autograder.authoring.notebooks import build
from autograder.authoring.release_bundle import files_of, name_of, packed
from autograder.course import Course, CourseError, load_course
from labkit import predict

COURSE = """\
id = "c"
name = { zh = "课", en = "Course" }
[[lab]]
id = "one"
folder = "one_scalars"
title = { zh = "标量", en = "Scalars" }
released = 2026-10-24T00:00:00Z
due = 2026-11-24T00:00:00Z
solutions_after = 2999-12-01T00:00:00Z
"""
LAB = """\
modules = ["graph.py"]
notebook = "one.ipynb"
[[task]]
id = "log"
points = 10
title = { zh = "对数", en = "Logarithm" }
file = "graph.py"
blanks = [{ name = "log", minutes = 5 }]
[[task]]
id = "guess"
points = 3
title = { zh = "预测", en = "Prediction" }
file = "one.ipynb"
blanks = [{ name = "sums", minutes = 5 }]
"""
GRAPH = "def log(x):\n    ### BEGIN SOLUTION\n    return x + 1\n    ### END SOLUTION\n"
NOTEBOOK = """\
# %% [markdown] lang="zh"
# # 标量
#
# $v_1$

# %% [markdown] lang="en"
# # Scalars

# %% setup="true"
import graph

x = 2 * student

# %% solution="sums" answers="sums:1 names"
# cell: sums
### BEGIN SOLUTION
sums = [graph.log(x), x / 3]
names = {"a", f"b{student % 2}"}
### END SOLUTION

# %%
print(sums)

# %%
print(sums)

# %% test="guess"
check("guess")

# %% test="log"
check("log")

# %% [markdown] manual="why" points=2 lang="zh"
# *作答。*
#
# ### BEGIN MARK SCHEME
# 完全正确得二分。
# ### END MARK SCHEME

# %% [markdown] manual="why" points=2 lang="en"
# *Answer.*
#
# ### BEGIN MARK SCHEME
# Two points for all of the wonderful truth.
# ### END MARK SCHEME
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "course.toml").write_text(COURSE, encoding="utf-8")
    reference = tmp_path / "reference/one_scalars"
    (reference / "tests").mkdir(parents=True)
    for name, text in {"lab.toml": LAB, "graph.py": GRAPH, "one.py": NOTEBOOK}.items():
        (reference / name).write_text(text, encoding="utf-8")
    (reference / "README.md").write_text("# L\n\n[notebook](one.ipynb)\n\n## Work\n", encoding="utf-8")
    (reference / "README.zh-CN.md").write_text("# 实验\n\n[本](one.ipynb)\n\n## 做\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def course(root: Path) -> Course:
    return load_course(root)


def cells(file: Path) -> dict[str, Any]:
    return {cell["id"]: cell for cell in json.loads(file.read_bytes())["cells"]}


def text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def test_each_language_has_its_own_text_and_the_same_cells_to_grade(course: Course) -> None:
    write_labs(course)
    chinese = cells(course.root / "labs/one_scalars/one.ipynb")
    english = cells(course.root / "labs/one_scalars/en/one.ipynb")
    graded = ["setup", "sums", "guess", "log", "why"]
    assert [id for id in chinese if id in english and "nbgrader" in english[id]["metadata"]] == graded
    assert text(next(iter(chinese.values()))) == "# 标量\n\n$v_1$"
    assert text(next(iter(english.values()))) == "# Scalars"
    assert (text(chinese["why"]), text(english["why"])) == ("*作答。*", "*Answer.*")


def test_nbgrader_knows_each_cell_by_its_role_and_points(course: Course) -> None:
    write_labs(course)
    found = cells(course.root / "labs/one_scalars/one.ipynb")
    keys = ("grade", "solution", "locked", "task", "schema_version")
    roles = {
        id: (*(cell["metadata"]["nbgrader"][key] for key in keys), cell["metadata"]["nbgrader"].get("points"))
        for id, cell in found.items()
        if "nbgrader" in cell["metadata"]
    }
    assert roles == {
        "setup": (False, False, True, False, 3, None),
        "sums": (False, True, False, False, 3, None),
        "guess": (True, False, True, False, 3, 3),
        "log": (True, False, True, False, 3, 10),
        "why": (True, True, False, False, 3, 2),
    }


def test_nbgrader_itself_takes_the_notebook(course: Course) -> None:
    from nbgrader.nbgraderformat import reads

    write_labs(course)
    for name in ("one.ipynb", "en/one.ipynb"):
        reads((course.root / "labs/one_scalars" / name).read_text(encoding="utf-8"), as_version=4)


def test_a_blank_is_left_of_a_solution_and_nothing_of_it_is_in_the_bundle(course: Course) -> None:
    write_labs(course)
    blank = text(cells(course.root / "labs/one_scalars/one.ipynb")["sums"])
    assert blank == "# cell: sums\n# YOUR CODE HERE\nraise NotImplementedError"
    for file in (course.root / "labs").rglob("*"):
        if file.is_file():
            told = file.read_text(encoding="utf-8")
            assert "graph.log" not in told and "MARK" not in told and "SOLUTION" not in told
            assert "wonderful" not in told and "二分" not in told


def test_the_solved_notebook_keeps_solutions_without_marks(course: Course) -> None:
    write_labs(course)
    solved = text(cells(course.root / "build/solved/one/one.ipynb")["sums"])
    assert solved.startswith("# cell: sums\nsums = [graph.log(x), x / 3]\n")
    told = (course.root / "build/solved/one/one.ipynb").read_text(encoding="utf-8")
    assert "SOLUTION" not in told and "MARK" not in told


def test_bytes_depend_on_the_text_alone_and_ids_on_what_is_in_a_cell(course: Course, root: Path) -> None:
    write_labs(course)
    file = course.root / "labs/one_scalars/one.ipynb"
    first, ids = file.read_bytes(), set(cells(file))
    write_labs(course)
    assert file.read_bytes() == first
    source = root / "reference/one_scalars/one.py"
    source.write_text("# %% [markdown]\n# New at the top.\n\n" + NOTEBOOK, encoding="utf-8")
    write_labs(course)
    assert ids < set(cells(file)) and len(cells(file)) == len(ids) + 1
    assert all(cell.get("outputs", []) == [] for cell in cells(file).values())


def test_drift_of_a_notebook_is_told(course: Course) -> None:
    write_labs(course)
    assert check_labs(course) == ""
    file = course.root / "labs/one_scalars/en/one.ipynb"
    file.write_bytes(file.read_bytes().replace(b"# Scalars", b"# Scalar"))
    assert "+++ labs/one_scalars/en/one.ipynb (from reference/)" in check_labs(course)


def test_right_answers_are_right_for_every_number_and_stand_nowhere(course: Course) -> None:
    write_labs(course)
    folder = course.root / "labs/one_scalars"
    for number in range(predict.NUMBERS):
        x = 2 * number
        names = {"sums": [x + 1, x / 3], "names": {"a", f"b{number % 2}"}}
        judged = predict.judge(folder, "one", "sums", number, names)
        assert [(one.name, one.problem, one.wrong) for one in judged] == [("sums", "", ()), ("names", "", ())]
        (wrong, _) = predict.judge(folder, "one", "sums", number, names | {"sums": [x + 1, x / 3 + 1]})
        assert wrong.wrong == (2,)


def test_the_bundle_carries_the_notebook_and_a_leak_in_it_is_found(course: Course, root: Path) -> None:
    (root / "labkit").mkdir()
    for name in ("labkit/__init__.py", "environment.yml"):
        (root / name).write_text("", encoding="utf-8")
    lab = course.lab("one")
    files = files_of(course, lab, "en")
    assert {"one.ipynb", "zh/one.ipynb", "predictions.toml", "graph.py"} <= files.keys()
    secrets = secrets_of(course, bytes(range(32)), lab.due)
    assert scan(packed(name_of(lab, files), files), secrets) == []
    told = b'["Two points for all of the wonderful truth."]'
    marked = b'["### BEGIN MARK SCHEME", "Two points."]'
    for leaking in (build.solved(NOTEBOOK, lab, "en"), marked, told):
        found = scan(packed("one", files | {"one.ipynb": leaking}), secrets)
        assert found and all("one.ipynb" in leak.where for leak in found)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('solution="sums"', 'solution="sum s"', "is no id"),
        ('test="log"', 'tests="log"', "is no mark of a cell"),
        ("# cell: sums\n", "", "its first line must be `# cell: sums`"),
        ('# %% solution="sums" answers="sums:1 names"\n', "# %%\n", "holds a solution"),
        ('answers="sums:1 names"', 'answers="sums:x"', "is not like `name name:2`"),
        ('answers="sums:1 names"', 'answers="other"', "KeyError: 'other'"),
        ('test="log"', 'test="lug"', "has no task 'lug'"),
        ('# %% test="log"\ncheck("log")\n', "", "the task log has no cell"),
        ('test="log"', 'test="guess"', "two cells are called 'guess'"),
        ('lang="en"\n# # Scalars', 'lang="de"\n# # Scalars', "is neither zh nor en"),
        (
            'manual="why" points=2 lang="en"',
            'manual="why" points=3 lang="en"',
            "not the same in both languages",
        ),
        ('manual="why" points=2 lang="en"', 'manual="why" lang="en"', "needs points=N"),
        ("# ### END MARK SCHEME\n", "", "MARK SCHEME"),
        ('setup="true"', 'setup="true" test="log"', "is both setup and test"),
        ("x = 2 * student", "x = 2 * nobody", "name 'nobody' is not defined"),
        ("### END SOLUTION", "### END SOLUTIONS", "looks like a mark"),
    ],
)
def test_a_defect_is_told_with_its_place_and_nothing_is_written(
    course: Course, root: Path, old: str, new: str, told: str
) -> None:
    assert old in NOTEBOOK
    source = root / "reference/one_scalars/one.py"
    source.write_text(NOTEBOOK.replace(old, new), encoding="utf-8")
    with pytest.raises(CourseError) as refused:
        write_labs(course)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "reference/one_scalars" in str(refused.value) or "has no task" in str(refused.value)
    assert not (root / "labs").exists()


def test_a_task_of_the_notebook_names_cells_that_are_there(root: Path) -> None:
    file = root / "reference/one_scalars/lab.toml"
    file.write_text(LAB.replace('name = "sums"', 'name = "sum"'), encoding="utf-8")
    with pytest.raises(CourseError, match="the task guess names a cell 'sum' that is not there"):
        write_labs(load_course(root))
