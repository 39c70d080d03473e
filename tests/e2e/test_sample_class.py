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
LABS = {"lab1": "lab1_scalars", "lab2": "lab2_tensors"}
WORK = {lab: {student: labs[lab] for student, labs in EXPECTED.items() if lab in labs} for lab in LABS}
MAXIMUM = {"lab1": 140, "lab2": 140}
LEVELS = ("full", "portable")
# Half the labs' limits: whoever runs into one never ends, so only the test ends sooner.
LIMITS = re.compile(r"^(cpu_s|idle_s) = .*", re.M)


@dataclass
class Class:
    """A graded class: what was printed of each lab, and the folder with a folder for each lab and student."""

    code: int
    printed: dict
    out: Path

    def record(self, lab, student):
        return json.loads((self.out / lab / student / "record.json").read_bytes())["result"]

    def report(self, lab, student):
        return (self.out / lab / student / "feedback.md").read_text(encoding="utf-8")


def hurried_course(root):
    """This course with shorter limits."""
    root.mkdir()
    shutil.copy(ROOT / "course.toml", root)
    shutil.copytree(ROOT / "reference", root / "reference", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in LABS.values():
        file = root / "reference" / folder / "lab.toml"
        file.write_text(LIMITS.sub(r"\1 = 1", file.read_text(encoding="utf-8")), encoding="utf-8")
    write_labs(load_course(root))
    return root


def graded_at(level, course, out):
    """The class graded by the command, with the level given instead of found out."""
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.chdir(course)
        patch.setattr(probes, "best_level", lambda: (level, {}))
        code = cli.main(["grade", "--submitted", str(SUBMITTED), "--out", str(out)], standalone_mode=False)
    tables = re.split(r"^(?=lab\d )", printed.getvalue(), flags=re.M)
    return Class(code, {table.split()[0]: table for table in tables if table.strip()}, out)


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """The class at each available level."""
    folder = tmp_path_factory.mktemp("sample")
    course = hurried_course(folder / "course")
    there = [level for level in LEVELS if not probes.probe(level)]
    found = {}
    for level in there:
        if found:  # what mutants answer, on which the level has no influence
            for lab in LABS:
                known = folder / there[0] / lab / ".diagnosis"
                shutil.copytree(known, folder / level / lab / ".diagnosis")
        found[level] = graded_at(level, course, folder / level)
    return found


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


@pytest.mark.parametrize("lab", LABS)
def test_everybody_gets_the_points_and_outcomes_that_were_written_down_before(graded, lab):
    wrong = {}
    for student, expected in WORK[lab].items():
        wanted = {key: expected[key] for key in ("points", "outcomes", "task_points")}
        if (got := found(graded.record(lab, student))) != wanted:
            wrong[student] = {key: (wanted[key], got[key]) for key in wanted if wanted[key] != got[key]}
    assert not wrong, f"(wanted, got): {json.dumps(wrong, indent=1)}"


@pytest.mark.parametrize("lab", LABS)
def test_the_table_has_a_line_for_everybody(graded, lab):
    assert graded.code == DONE, graded.printed
    table = graded.printed[lab]
    lines = {line.split()[0]: line.split()[1] for line in table.splitlines() if line.strip()}
    assert {student: lines.get(student) for student in WORK[lab]} == {
        student: str(expected["points"]) for student, expected in WORK[lab].items()
    }
    assert f"{len(WORK[lab])} graded at level " in table


@pytest.mark.parametrize(
    ("lab", "student"), [(lab, student) for lab in LABS for student in sorted(WORK[lab])]
)
def test_a_report_tells_the_points_in_both_languages_and_nothing_of_ours(graded, lab, student):
    assert {path.name for path in (graded.out / lab / student).iterdir()} == {
        "facts.json",
        "feedback.html",
        "feedback.md",
        "record.json",
    }
    report = graded.report(lab, student)
    points, most = WORK[lab][student]["points"], MAXIMUM[lab]
    assert f"{points} / {most}" in report
    assert f"{points} of {most} points" in report
    ours = ["Traceback", "autograder", "labkit", "programs.py", "site-packages", "adkit-", str(ROOT)]
    html = (graded.out / lab / student / "feedback.html").read_text(encoding="utf-8")
    plain = report.replace("\\", "") + html
    assert [name for name in ours if name in plain] == []
    assert not re.search(r"(?<![\w./])/(?:sub|site|tmp|usr|home|root)/", plain), "a path of the machine"


@pytest.mark.parametrize(
    ("lab", "student", "file", "words"),
    [
        ("lab1", "wrong-file-name", "engine.py", "rename it to engine.py"),
        ("lab1", "syntax-error", "engine.py", "is not valid Python"),
        ("lab1", "import-torch", "engine.py", "No module named 'torch'"),
        ("lab1", "left-over-breakpoint", "engine.py", "A debugger was left in the code"),
        ("lab1", "import-turtle", "graph.py", "from turtle import forward"),
        ("lab1", "recursion", "graph.py", "the recursion went too deep"),
        ("lab1", "sleep", "", "look for sleep"),
        ("lab1", "infinite-loop", "", "look for an endless loop"),
        ("lab1", "fifty-gigabytes", "", "asked for more than the 512 MB"),
        ("lab1", "exit-zero", "", "the process ended before it gave a result"),
        ("lab1", "reads-the-reference", "engine.py", "without network"),
        ("lab1", "replaces-numpy-and-pytest", "numpy.py", "Not taken"),
        ("lab1", "lying-object", "", "got Right"),
        ("lab1", "half-done", "engine.py", "forward_mode is not written yet"),
        ("lab2", "half-done", "graph.py", "MatMul.vjp is not written yet"),
        ("lab2", "axes-by-their-lengths", "graph.py", "does not fit into"),
        ("lab2", "broadcast-not-undone", "", "shape=(3,)"),
        ("lab2", "float64-everywhere", "", "float32"),
        ("lab2", "recursion", "engine.py", "the recursion went too deep"),
        ("lab2", "infinite-loop", "", "look for an endless loop"),
        ("lab2", "syntax-error", "engine.py", "is not valid Python"),
    ],
)
def test_a_report_says_what_went_wrong_and_where(graded, lab, student, file, words):
    lines = [line for line in graded.report(lab, student).replace("\\", "").splitlines() if words in line]
    assert lines
    assert file in lines[0]


def test_records_are_the_same_bytes_at_every_level(classes):
    if len(classes) < len(LEVELS):
        pytest.skip(f"only level {', '.join(classes) or 'none'} holds on this machine")
    full, portable = (classes[level].out for level in LEVELS)
    files = [f"{lab}/{student}/record.json" for lab in LABS for student in WORK[lab]]
    different = [file for file in files if (full / file).read_bytes() != (portable / file).read_bytes()]
    assert different == []


def test_every_submission_is_expected_and_described_in_both_languages():
    assert sorted(os.listdir(SUBMITTED)) == sorted(EXPECTED)
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert {student: readme.count(f"| `{student}` |") for student in EXPECTED} == dict.fromkeys(EXPECTED, 2)
