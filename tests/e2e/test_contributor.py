"""docs/add-a-lab.md and docs/add-a-check.md, done word for word in an empty folder: a sound lab comes out."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "tests/courses/example"
LAB_PAGE, CHECK_PAGE = "docs/add-a-lab.md", "docs/add-a-check.md"


def sources(folder):
    """What a contributor wrote, by path."""
    files = [folder / "course.toml", *sorted((folder / "reference").rglob("*"))]
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in files
        if path.is_file() and path.suffix != ".pyc"
    }


def figures(folder):
    return json.loads((folder / "build/audit/lab0.json").read_bytes())


def points(folder):
    """Of each student, the points and the tasks' outcomes."""
    records = {
        path.parent.name: json.loads(path.read_bytes()) for path in folder.glob("graded/lab0/*/record.json")
    }
    return {
        student: (record["result"]["points"], [task["outcome"] for task in record["result"]["tasks"]])
        for student, record in records.items()
    }


@pytest.fixture(scope="module")
def walk():
    spec = importlib.util.spec_from_file_location("walk", ROOT / "docs/walk.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def lab(walk, tmp_path_factory):
    """The first page done: its folder, its text as it should be, and what was there at its end."""
    folder = walk.prepare(tmp_path_factory.mktemp("contributor"))
    text = walk.walk(LAB_PAGE, folder)
    return folder, text, {"sources": sources(folder), "figures": figures(folder), "points": points(folder)}


@pytest.fixture(scope="module")
def check(walk, lab):
    """The second page done in the first one's folder: its text as it should be, and the audit's figures."""
    folder, _, _ = lab
    return walk.walk(CHECK_PAGE, folder), figures(folder), points(folder)


def test_the_page_about_labs_shows_what_its_commands_print(lab):
    _, text, _ = lab
    assert (ROOT / LAB_PAGE).read_text(encoding="utf-8") == text, "docs/walk.py puts it right"


def test_the_lab_that_comes_out_is_the_example_in_tests(lab):
    _, _, left = lab
    assert left["sources"] == sources(EXAMPLE)


def test_the_lab_is_sound_graded_and_released(lab):
    folder, _, left = lab
    assert left["figures"]["sound"] is True
    assert left["figures"]["mutants"] == {"killed": 3, "total": 3, "survivors": []}
    assert left["figures"]["alternates"] == {"passed": 1, "total": 1}
    assert left["points"] == {
        "right": (10, ["passed", "passed"]),
        "wrong": (0, ["wrong", "blocked"]),
        "untouched": (0, ["not-attempted", "blocked"]),
        "empty": (0, ["crashed", "blocked"]),
    }
    assert len(list(folder.glob("build/release/lab0-*.zip"))) == 1


def test_the_page_about_checks_shows_what_its_commands_print(check):
    text, _, _ = check
    assert (ROOT / CHECK_PAGE).read_text(encoding="utf-8") == text, "docs/walk.py puts it right"


def test_the_new_check_catches_the_mistake_and_its_point_counts(check):
    _, found, graded = check
    assert found["sound"] is True
    assert found["mutants"] == {"killed": 4, "total": 4, "survivors": []}
    assert graded["right"] == (10, ["passed", "passed"])
    assert graded["wrong"] == (1, ["wrong", "blocked"])
