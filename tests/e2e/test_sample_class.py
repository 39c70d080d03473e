"""The sample class, graded as a TA does it, at every level that holds here, against expected.toml."""

import contextlib
import io
import json
import os
import re
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.authoring.labs import write_labs
from autograder.cli import DONE, cli
from autograder.course import load_course
from autograder.sandbox import probes

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SUBMITTED = EXAMPLES / "submitted"
EXPECTED = tomllib.loads((EXAMPLES / "expected.toml").read_text(encoding="utf-8"))
LEVELS = ("full", "portable")
# Half the lab's limits: whoever runs into one never ends, so only the test ends sooner.
LIMITS = re.compile(r"^(cpu_s|idle_s) = .*", re.M)


@dataclass
class Class:
    """A graded class: what was printed, and the folder with a folder for each student."""

    code: int
    printed: str
    out: Path

    def record(self, student):
        return json.loads((self.out / student / "record.json").read_bytes())["result"]

    def report(self, student):
        return (self.out / student / "feedback.md").read_text(encoding="utf-8")


def hurried_course(root):
    """This course with shorter limits."""
    root.mkdir()
    shutil.copy(ROOT / "course.toml", root)
    shutil.copytree(ROOT / "reference", root / "reference", ignore=shutil.ignore_patterns("__pycache__"))
    file = root / "reference/lab1_scalars/lab.toml"
    file.write_text(LIMITS.sub(r"\1 = 1", file.read_text(encoding="utf-8")), encoding="utf-8")
    write_labs(load_course(root))
    return root


def graded_at(level, course, out):
    """The class graded by the command, with the level given instead of found out."""
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.chdir(course)
        patch.setattr(probes, "best_level", lambda: (level, {}))
        arguments = ["grade", "--lab", "lab1", "--submitted", str(SUBMITTED), "--out", str(out)]
        code = cli.main(arguments, standalone_mode=False)
    return Class(code, printed.getvalue(), out / "lab1")


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """The class at each available level."""
    folder = tmp_path_factory.mktemp("sample")
    course = hurried_course(folder / "course")
    return {level: graded_at(level, course, folder / level) for level in LEVELS if not probes.probe(level)}


@pytest.fixture(params=LEVELS)
def graded(request, classes):
    if request.param not in classes:
        pytest.skip(f"level {request.param} does not hold on this machine")
    return classes[request.param]


def found(record):
    """What a record says, in the form of expected.toml."""
    tasks = record["tasks"]
    return {
        "points": record["points"],
        "outcomes": {task["id"]: task["outcome"] for task in tasks},
        "task_points": {task["id"]: task["points"] for task in tasks},
    }


def test_everybody_gets_the_points_and_outcomes_that_were_written_down_before(graded):
    wrong = {}
    for student, labs in EXPECTED.items():
        wanted = {key: labs["lab1"][key] for key in ("points", "outcomes", "task_points")}
        if (got := found(graded.record(student))) != wanted:
            wrong[student] = {key: (wanted[key], got[key]) for key in wanted if wanted[key] != got[key]}
    assert not wrong, f"(wanted, got): {json.dumps(wrong, indent=1)}"


def test_the_table_has_a_line_for_everybody(graded):
    assert graded.code == DONE, graded.printed
    lines = {line.split()[0]: line.split()[1] for line in graded.printed.splitlines() if line.strip()}
    assert {student: lines.get(student) for student in EXPECTED} == {
        student: str(labs["lab1"]["points"]) for student, labs in EXPECTED.items()
    }
    assert f"{len(EXPECTED)} graded at level " in graded.printed


@pytest.mark.parametrize("student", sorted(EXPECTED))
def test_a_report_tells_the_points_in_both_languages_and_nothing_of_ours(graded, student):
    assert {path.name for path in (graded.out / student).iterdir()} == {
        "facts.json",
        "feedback.html",
        "feedback.md",
        "record.json",
    }
    report = graded.report(student)
    points = EXPECTED[student]["lab1"]["points"]
    assert f"{points} / 120" in report
    assert f"{points} of 120 points" in report
    ours = ["Traceback", "autograder", "labkit", "programs.py", "site-packages", "adkit-", str(ROOT)]
    plain = report.replace("\\", "") + (graded.out / student / "feedback.html").read_text(encoding="utf-8")
    assert [name for name in ours if name in plain] == []
    assert not re.search(r"(?<![\w./])/(?:sub|site|tmp|usr|home|root)/", plain), "a path of the machine"


@pytest.mark.parametrize(
    ("student", "file", "words"),
    [
        ("wrong-file-name", "engine.py", "rename it to engine.py"),
        ("syntax-error", "engine.py", "is not valid Python"),
        ("import-torch", "engine.py", "No module named 'torch'"),
        ("left-over-breakpoint", "engine.py", "A debugger was left in the code"),
        ("import-turtle", "graph.py", "from turtle import forward"),
        ("recursion", "graph.py", "the recursion went too deep"),
        ("sleep", "", "look for sleep"),
        ("infinite-loop", "", "look for an endless loop"),
        ("fifty-gigabytes", "", "asked for more than the 512 MB"),
        ("exit-zero", "", "the process ended before it gave a result"),
        ("reads-the-reference", "engine.py", "without network"),
        ("replaces-numpy-and-pytest", "numpy.py", "Not taken"),
        ("lying-object", "", "got Right"),
        ("half-done", "engine.py", "forward_mode is not written yet"),
    ],
)
def test_a_report_says_what_went_wrong_and_where(graded, student, file, words):
    lines = [line for line in graded.report(student).replace("\\", "").splitlines() if words in line]
    assert lines
    assert file in lines[0]


def test_records_are_the_same_bytes_at_every_level(classes):
    if len(classes) < len(LEVELS):
        pytest.skip(f"only level {', '.join(classes) or 'none'} holds on this machine")
    full, portable = (classes[level].out for level in LEVELS)
    different = [
        student
        for student in EXPECTED
        if (full / student / "record.json").read_bytes() != (portable / student / "record.json").read_bytes()
    ]
    assert different == []


def test_every_submission_is_expected_and_described_in_both_languages():
    assert sorted(os.listdir(SUBMITTED)) == sorted(EXPECTED)
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert {student: readme.count(f"| `{student}` |") for student in EXPECTED} == dict.fromkeys(EXPECTED, 2)
