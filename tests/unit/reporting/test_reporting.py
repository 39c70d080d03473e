"""What people and other programs read of a graded class, with the worst that may stand in it."""

import csv
import html
import io
import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from autograder.batch.grade import ClassResult
from autograder.batch.record import SCHEMA, Record
from autograder.batch.store import Facts, Stored
from autograder.course import Course, Lab, Late, Limits, Task
from autograder.judging.verdicts import PRECEDENCE, Check, Verdict, result_of
from autograder.reporting import export, table
from autograder.reporting.pages.markdown import escape, markdown
from autograder.reporting.pages.view import view
from labkit.messages import Message

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LAB = Lab(
    id="lab0",
    folder="lab0",
    title={"zh": "标量", "en": "Scalars"},
    released=NOW,
    due=NOW,
    solutions_after=NOW,
    modules=("graph.py",),
    kernels=(),
    notebook=None,
    limits=Limits(),
    tasks=(
        Task("order", 4, {"zh": "拓扑序", "en": "Order"}, ("graph.py",), (), (), Limits()),
        Task("reverse", 6, {"zh": "反向", "en": "Reverse"}, ("graph.py",), (), ("order",), Limits()),
    ),
    reference=Path("/"),
    skeleton=Path("/"),
)
COURSE = Course(
    Path("/"), "c", {"zh": "课", "en": "C"}, ("zh", "en"), "topic", Path("/s"), Path("/o"), "", Late(), (LAB,)
)
CHECKS = [
    Check("one", "order", 4, {"zh": "先输入", "en": "Inputs first"}),
    Check("two", "reverse", 6, {"zh": "梯度", "en": "Gradient"}),
]
HOSTILE = "<script>alert(1)</script> [a](javascript:b) ![i](http://e/x.png) **b** `c` | # & $x$ _u_ ~s~ \\"


def law(text):
    return Message("judging.law", {"text": text})


def result(student="ann", first="passed", second="passed", message=None, **options):
    verdicts = [Verdict("one", first, message), Verdict("two", second, message)]
    return result_of(LAB, CHECKS, verdicts, student, 0, **options)


def report(result):
    """The Markdown page of a result."""
    stored = Stored(Record(SCHEMA, "k", {}, result), Facts("", "full", "", [], []), "")
    return markdown([view(COURSE, LAB, stored, language) for language in COURSE.languages])


def class_of(*results, **options):
    return ClassResult(LAB, "full", list(results), **options)


def read_csv(*results):
    text = export.grades_csv(class_of(*results))
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize(
    "student", ["NA", "null", "None", "007", "1e5", "1.0", "TRUE", "2026-01-02", "张三", "a@b"]
)
def test_student_ids_survive_the_way_through_csv_g42(student):
    assert read_csv(result(student))[0]["student"] == student


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=cmd|'/c calc'!A0"]
)
def test_no_cell_starts_a_formula_g42(text):
    assert export.cell(text) == f"'{text}"
    for row in csv.reader(io.StringIO(export.grades_csv(class_of(result(text))))):
        assert not [cell for cell in row if cell[:1] in ("=", "+", "-", "@", "\t", "\r", "\n")]


def test_every_text_of_the_csv_is_quoted_so_that_no_program_guesses_its_type():
    for line in export.grades_csv(class_of(result("007"))).splitlines():
        assert line.startswith('"') and line.endswith('"') and ",," not in line


def test_the_csv_has_points_and_outcome_of_every_task():
    (row,) = read_csv(result("ann", "passed", "wrong"))
    assert row == {
        "student": "ann",
        "points": "4",
        "max": "10",
        "complete": "yes",
        "order": "4",
        "order outcome": "passed",
        "reverse": "0",
        "reverse outcome": "wrong",
    }


def test_points_that_are_open_are_empty_cells_and_never_zero():
    (row,) = read_csv(result("ann", "grader-fault"))
    assert (row["points"], row["order"], row["reverse"], row["complete"]) == ("", "", "6", "no")


def test_the_json_summary_is_that_of_the_interface():
    torn = result("bob", "crashed", "crashed", error=Message("intake.missing", {"file": "graph.py"}))
    summary = json.loads(json.dumps(export.summary(class_of(result(), torn))))
    assert summary == {
        "schema": 1,
        "lab": "lab0",
        "level": "full",
        "complete": True,
        "students": {
            "ann": {
                "points": 10,
                "max": 10,
                "complete": True,
                "error": None,
                "tasks": {
                    "order": {"points": 4, "max": 4, "outcome": "passed"},
                    "reverse": {"points": 6, "max": 6, "outcome": "passed"},
                },
            },
            "bob": {
                "points": 0,
                "max": 10,
                "complete": True,
                "error": "graph.py is missing. Put it at the top of what you hand in.",
                "tasks": {
                    "order": {"points": 0, "max": 4, "outcome": "crashed"},
                    "reverse": {"points": 0, "max": 6, "outcome": "blocked"},
                },
            },
        },
    }


def test_the_summary_is_not_complete_while_anything_needs_a_person():
    refused = (Message("intake.no-student", {"folder": "x y"}),)
    assert export.summary(class_of(result(first="not-run")))["complete"] is False
    assert export.summary(class_of(result(), refused=refused))["complete"] is False
    assert export.summary(class_of(result(), faults={"one": law("no")}))["complete"] is False


def test_the_report_says_everything_in_both_languages_the_first_one_first():
    text = report(result("ann", "wrong", "passed", law("no")))
    chinese, english = text.split("\n---\n")
    for words in (
        "# 标量：ann",
        "得分 6 / 10",
        "| 拓扑序 | 0 / 4 | 结果不对 |",
        "**先输入**",
        "应当成立的性质不成立：no",
    ):
        assert words in chinese
    for words in (
        "# Scalars: ann",
        "6 of 10 points",
        "| Order | 0 / 4 | wrong |",
        "**Inputs first**",
        "does not: no",
    ):
        assert words in english


@pytest.mark.parametrize("outcome", PRECEDENCE)
def test_every_outcome_has_words_and_a_sign(outcome):
    text = report(result(first=outcome, second="passed", message=law("x")))
    assert "| 4 |" not in text
    graded = class_of(result(first=outcome))
    console = Console(file=io.StringIO(), width=100)
    table.show(graded, console)
    assert f"{table.SIGNS[outcome]} {outcome}" in console.file.getvalue()


def test_a_full_report_is_short_and_says_so():
    text = report(result())
    assert "所有检查都通过了" in text and "All checks passed." in text
    assert len(text.splitlines()) < 40


def test_without_a_total_the_report_says_that_a_person_looks():
    text = report(result(first="grader-fault", message=law("x")))
    assert "No total yet" in text and "? / 4" in text and " of 10" not in text


def test_a_blocked_task_names_what_it_builds_on():
    text = report(result(first="wrong", second="wrong", message=law("x")))
    assert "Builds on: Order." in text and "依赖：拓扑序。" in text


def test_an_unreadable_submission_is_told_once():
    error = Message("intake.missing", {"file": "graph.py"})
    text = report(result("ann", "crashed", "crashed", error, error=error))
    assert text.count("graph.py is missing") == 1


@pytest.mark.parametrize("where", ["message", "note", "error", "student"])
def test_what_a_student_wrote_is_no_markup(where):
    if where == "student":
        one = result(HOSTILE)
    elif where == "message":
        one = result(first="wrong", message=law(HOSTILE))
    elif where == "note":
        one = result(notes=[law(HOSTILE)])
    else:
        one = result(first="crashed", second="crashed", error=law(HOSTILE))
    page = MarkdownIt("commonmark").enable("table").render(report(one))
    assert not re.findall("<(?:script|a|img|code)", page)
    assert html.unescape(re.sub("<[^>]*>", "", page)).count(HOSTILE) >= 2  # once in each language


def test_line_breaks_of_a_student_start_no_heading_list_or_rule():
    for break_ in ("\n", "\r", "\r\n", "\u2028", "\x0b", "\x0c", "\x85"):
        text = report(result(first="wrong", message=law(f"a{break_}# b{break_}---{break_}> c")))
        assert not [
            line for line in text.splitlines() if line.startswith((r"\# b", "# b", "---c", ">", r"\>"))
        ]
        assert text.count("\n---\n") == 1


@pytest.mark.parametrize("encoding", ["gbk", "ascii"])
def test_the_table_survives_every_console(encoding, tmp_path):
    program = """
import sys
sys.path.insert(0, sys.argv[1])
from rich.console import Console
from autograder.reporting import table
import test_reporting as t
for stream in (sys.stdout, sys.stderr):
    stream.reconfigure(errors="replace")
words = t.law("梯度 ≠ ∇f 🐍")
results = [t.result(name, "wrong", message=words) for name in ("ann", "张三", "émile", "a" * 64)]
table.show(t.class_of(*results), Console(width=160))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(Path(__file__).parent)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        timeout=60,
    )
    text = done.stdout.decode(encoding)
    assert (done.returncode, done.stderr.decode(encoding)) == (0, "")
    assert "ann" in text and "x wrong" in text and "4 graded at level full." in text


def shown(*results, width=100, **options):
    console = Console(file=io.StringIO(), width=width)
    table.show(class_of(*results, **options), console)
    return console.file.getvalue()


def test_the_table_has_a_line_a_student_with_points_signs_and_the_first_thing_to_look_at():
    line = next(
        line
        for line in shown(result("ann", "passed", "wrong", law("f(2) is odd"))).splitlines()
        if "ann" in line
    )
    assert line.split()[:4] == ["ann", "4", "+", "x"]
    assert "f(2) is odd" in line


def test_open_points_are_a_question_mark_in_the_table():
    assert next(line.split() for line in shown(result("ann", "not-run")).splitlines() if "ann" in line) == [
        "ann",
        "?",
        "-",
        "+",
    ]


@pytest.mark.parametrize("width", [60, 80, 160])
def test_a_long_remark_gives_way_to_points_and_signs(width):
    lines = shown(result("ann", "wrong", message=law("函数 f " * 100)), width=width).splitlines()
    header, line = (next(line for line in lines if line.startswith(start)) for start in ("student", "ann"))
    assert header.split()[:4] == ["student", "points", "1", "2"]
    assert line.split()[:4] == ["ann", "6", "x", "+"]
    assert line.rstrip().endswith("~")


def test_the_cause_is_shown_before_what_it_blocks():
    verdicts = [Verdict("one", "wrong", law("the cause")), Verdict("two", "wrong", law("the effect"))]
    assert (
        table.first_remark(result_of(LAB, CHECKS, verdicts, "ann", 0))
        == "A law that must hold does not: the cause"
    )


def test_a_remark_has_room_for_what_went_wrong_since_it_leaves_the_inputs_out():
    message = Message(
        "judging.wrong-value",
        {"call": "f(x=1.5, y=2)", "quantity": "g[0]", "expected": "5", "got": "3", "tolerance": "1e-11"},
    )
    assert table.first_remark(result("ann", "wrong", message=message)).startswith("f(..): g[0] should be 5, ")


def test_control_characters_of_a_student_do_not_reach_the_report():
    assert escape("a\x1b[2Jb\u202ec\x9b") == "a?\\[2Jb?c?"


def test_names_and_messages_are_no_console_markup_and_move_no_cursor():
    text = shown(result("ann", "wrong", message=law("[red]x[/red] [link=http://e]y[/link] \x1b[2Jz")))
    assert "[red]x[/red]" in text
    assert "\x1b" not in text


def test_folders_passed_over_and_failing_references_stand_below_the_table():
    refused = (Message("intake.no-student", {"folder": "x y"}),)
    text = shown(result(), refused=refused, faults={"test_a.py::test_b": law("no")}, width=200)
    assert "The folder “x y” was passed over" in text
    assert "The reference fails its own check test_a.py::test_b" in text


def test_a_class_of_300_is_a_table_of_300_lines():
    text = shown(*[result(f"s{number:03}") for number in range(300)])
    assert re.findall(r"^s(\d+) +10  \+  \+", text, re.MULTILINE) == [f"{number:03}" for number in range(300)]


def test_the_table_says_what_stood_and_who_is_not_listed():
    console = Console(file=io.StringIO(), width=160)
    table.show(ClassResult(LAB, "full", [result()], stood=1, absent=("bob", "cyd")), console)
    shown = console.file.getvalue()
    assert "1 graded at level full; 1 of them before, and nothing they depend on has changed since." in shown
    assert "Kept but not listed, as no work of theirs is there any more: bob, cyd" in shown
