"""Changes by machine: what they are, that each is tried, and what is said of those that no check sees."""

import json
import re
import sys

import pytest

from autograder.authoring import audit_machine, machine
from autograder.cli import main
from autograder.course import load_course

SOLVED = """\
def steps(x, n):
    ### BEGIN SOLUTION
    if x < 1 and not n:
        raise ValueError(f"{n + 1}")
    total = 0
    for one in reversed(x.copy()):
        total += -one * (n - 2)
        if one in n:
            continue
    return total, n
    ### END SOLUTION


def given(x):
    return x + 1
"""


@pytest.fixture
def found(mini):
    """All changes of a lab whose first file is SOLVED: (kind, what the lines become), without comments."""
    (mini.root / "reference/lab0_chains/graph.py").write_text(SOLVED, encoding="utf-8")
    changes = machine.changes(load_course(mini.root).lab("lab0"))
    return [change for change in changes if change.file == "graph.py"]


@pytest.mark.parametrize(
    ("kind", "becomes"),
    [
        ("operator", "if x <= 1 and not n:"),
        ("operator", "if x < 1 or not n:"),
        ("off by one", "if x < 2 and not n:"),
        ("off by one", "if x < 0 and not n:"),
        ("sign dropped", "if x < 1 and n:"),
        ("condition negated", "if not (x < 1 and not n):"),
        ("condition always true", "if True:"),
        ("condition never true", "if False:"),
        ("call dropped", "for one in x.copy():"),
        ("call dropped", "for one in reversed(x):"),
        ("operator", "total -= -one * (n - 2)"),
        ("update made assignment", "total = -one * (n - 2)"),
        ("statement dropped", "pass"),
        ("sign dropped", "total += one * (n - 2)"),
        ("operator", "total += -one / (n - 2)"),
        ("term dropped", "total += (-one)"),
        ("term dropped", "total += (n - 2)"),
        ("operands swapped", "total += -one * (2 - n)"),
        ("off by one", "total += -one * (n - 3)"),
        ("operator", "if one not in n:"),
        ("jump", "break"),
        ("elements swapped", "return n, total"),
    ],
)
def test_a_change_of_each_kind(found, kind, becomes):
    assert (kind, becomes) in [(change.kind, change.becomes) for change in found]


def test_changes_are_python_no_two_alike_and_in_solutions_only(found):
    texts = [change.modules["graph.py"] for change in found]
    assert len(set(texts)) == len(texts)
    for change, text in zip(found, texts, strict=True):
        compile(text, "graph.py", "exec")
        assert 3 <= change.line <= 10, change
        assert "return x + 1" in text
        assert 'ValueError(f"{n + 1}")' in text, "what an error says is not graded"
        assert "SOLUTION" not in text


def test_a_line_that_changes_is_told_before_and_after(found):
    (change,) = (change for change in found if change.becomes == "if one not in n:")
    assert str(change) == "graph.py:8: operator: if one in n: → if one not in n:"


ENTRY = """
[[equivalent]]
file = "engine.py"
was = "for one, partial in zip(node.inputs, node.partials, strict=True):"
becomes = "{becomes}"
reason = "Both have one entry an operand."
"""
STRICT = ENTRY.format(becomes="for one, partial in zip(node.inputs, node.partials, strict=False):")
NOT_SEEN = ENTRY.format(becomes="for one, partial in zip(node.inputs, node.partials):")


def audit(course, capsys, monkeypatch, equivalents):
    """`audit --machine` in a course; its exit code and what it printed."""
    (course.root / "reference/lab0_chains/equivalents.toml").write_text(equivalents, encoding="utf-8")
    monkeypatch.chdir(course.root)
    monkeypatch.setattr(sys, "argv", ["autograder", "audit", "--machine", "--jobs", "2"])
    monkeypatch.setattr(audit_machine, "KEYS", 1)
    with pytest.raises(SystemExit) as ending:
        main()
    printed = capsys.readouterr()
    return ending.value.code, printed.out + printed.err


def test_what_no_check_sees_is_listed_unless_it_changes_nothing(mini, capsys, monkeypatch):
    code, out = audit(mini, capsys, monkeypatch, STRICT)
    assert code == 2
    assert "changes by machine that a hidden test sees: 63 of 65; 1 change nothing, each in at least" in out
    assert re.search(
        r"strict=False\): stands there, but it was compared on \d+ programs only, not on 1000\.", out
    )
    assert out.count("no hidden test sees") == 1
    assert "no hidden test sees engine.py:11: argument dropped" in out
    machine = json.loads((mini.root / "build/audit/lab0.json").read_bytes())["machine"]
    assert (machine["killed"], machine["equivalent"], machine["total"]) == (63, 1, 65)
    assert len(machine["survivors"]) == 1


def test_entries_that_say_nothing_true_any_more_and_too_many_of_them(mini, capsys, monkeypatch):
    seen = ENTRY.format(becomes="for one, partial in zip(node.partials, node.inputs, strict=True):")
    gone = ENTRY.format(becomes="for one in node.inputs:")
    code, out = audit(mini, capsys, monkeypatch, STRICT + NOT_SEEN + seen + gone)
    assert code == 2
    assert "no hidden test sees" not in out
    assert "strict=True): stands there, but a check sees it. Remove the entry." in out
    assert "for one in node.inputs: stands there, but no change is like this. Remove the entry." in out
    assert "2 of 65 are more than 3%" in out


def test_a_table_that_cannot_be_read_is_one_line(mini, capsys, monkeypatch):
    code, out = audit(mini, capsys, monkeypatch, "[[equivalent]]\nfile = 1\n")
    assert code == 2
    assert "equivalents.toml" in out
    assert "Traceback" not in out
