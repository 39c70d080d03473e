"""What the audit holds a lab to besides its mutants: each rule, broken once, is named in one line."""

import json
import re
import sys

import pytest

from autograder.cli import main

UNSOUND = 2  # what is wrong with course files; interfaces
GRADING = "reference/lab0_chains/grading"
CHECKS = """
import pytest


@pytest.mark.task("square")
@pytest.mark.points(1)
def test_it_answers(compare, draw):
    '''It answers.
    有答案。'''
    compare("has_a_value", x=draw.uniform(0.5, 2.0))


@pytest.mark.task("square")
@pytest.mark.points(1)
def test_wide(compare, draw):
    '''Wide.
    宽。'''
    compare("square", 0.2, x=draw.uniform(0.5, 2.0))


@pytest.mark.task("reverse")
@pytest.mark.points(1)
def test_narrow(compare, draw):
    '''Narrow.
    窄。'''
    compare("sum_of_powers", 1e-14, x=draw.uniform(0.5, 1.5), seed=draw.normal())


@pytest.mark.task("order")
@pytest.mark.points(1)
def test_never_wrong(compare, draw):
    '''Never wrong.
    从不出错。'''
    compare("ordered", x=draw.uniform(0.5, 2.0))


@pytest.mark.task("square")
@pytest.mark.points(1)
def test_slow(compare, draw):
    '''Slow.
    慢。'''
    compare("slow", x=draw.uniform(0.5, 2.0))
"""
PROGRAMS = """

def has_a_value(lab, x):
    return {"is": lab.graph.square(lab.graph.variable(x)).value is not None}


def ordered(lab, x):
    node = lab.graph.variable(x)
    return {"first": lab.graph.topological_order(lab.graph.multiply(node, node))[0] is node, "x": x}


def slow(lab, x):
    import time
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    return square(lab, x)


def sum_of_powers(lab, x, seed):
    return {"sum": sum(power(lab, x, n, seed)["gradient"] for n in range(2, 40))}
"""


@pytest.fixture(scope="module")
def unsound(mini_course, tmp_path_factory):
    """What `audit` prints of a course in which each rule is broken once, its exit code, figures and page."""
    mini = mini_course(tmp_path_factory.mktemp("rules") / "course")
    mini.add_checks(CHECKS)
    with (mini.root / GRADING / "programs.py").open("a", encoding="utf-8") as file:
        file.write(PROGRAMS)
    lab = "reference/lab0_chains/lab.toml"
    mini.edit(lab, "points = 5", "points = 6")
    mini.edit(lab, "points = 2", "limits = { cpu_s = 0.4 }\npoints = 5")
    mini.edit(lab, "points = 3", "points = 4")
    mini.edit(lab, 'needs = ["order"]\n', "")
    mini.edit(lab, '"reverse_mode", minutes = 20', '"reverse_mode", minutes = 320')
    (mini.root / "reference/lab0_chains/README.md").write_text(
        "# Chains\n\n| blank | minutes |\n|---|---|\n| square | 5 |\n| order | 21 |\n"
    )
    mini.edit(
        "reference/lab0_chains/alternates/recursive/engine.py",
        "node_to_grad.get(one, 0.0) + partial * node_to_grad[node]",
        "node_to_grad.get(one, 0.0) + partial * node_to_grad[node] * (1 + 2e-16)",
    )
    return mini


def audited(course, capsys, monkeypatch):
    monkeypatch.chdir(course.root)
    monkeypatch.setattr(sys, "argv", ["autograder", "audit", "--jobs", "2"])
    with pytest.raises(SystemExit) as ending:
        main()
    return ending.value.code, capsys.readouterr().out


def test_each_broken_rule_is_named_in_one_line_and_on_the_page(unsound, capsys, monkeypatch):
    code, out = audited(unsound, capsys, monkeypatch)
    assert code == UNSOUND
    page = (unsound.root / "build/audit/lab0.html").read_text(encoding="utf-8")
    for line in (
        r"\w+ for square earns 1 in test_more.py::test_it_answers on variant \d+\. Choose inputs",
        r"reverse alone has 0 of 6 points: .* Mend its needs\.$",
        r"test_more.py::test_wide: .* tolerance 0\.2: .* wrong ones by at least [\d.]+ \(.*10 is due",
        r"test_more.py::test_narrow: sum of sum_of_powers .* right answers are off by up to 0.*0\.1 is due",
        r"order: no mistake of ours gives wrong numbers where its checks compare with the default tolerances",
        r"test_more.py::test_slow: the reference takes [1-3]\d% of its CPU limit, more than 10%\.",
        r"reference/lab0_chains/lab.toml: the blanks and 30 minutes of reading take 375 minutes, more",
        r"reference/lab0_chains/README.md: its minutes add up to 26, those of lab.toml.s blanks .* 345",
        r"lab0: NOT as it must be",
    ):
        assert re.search(rf"^{line}", out, re.MULTILINE), f"{line} is not in\n{out}"
    figures = json.loads((unsound.root / "build/audit/lab0.json").read_bytes())
    assert figures["alone"] == {"passed": 2, "total": 3}
    assert figures["tolerances"]["without_gap"] >= 3
    assert figures["slowest"]["check"] == "test_more.py::test_slow"
    assert "To mend" in page
    assert "reverse alone has 0 of 6 points" in page


def refused(course, capsys, monkeypatch):
    """The one line of an audit that comes to no end."""
    monkeypatch.chdir(course.root)
    monkeypatch.setattr(sys, "argv", ["autograder", "audit", "--jobs", "1"])
    with pytest.raises(SystemExit) as ending:
        main()
    said = capsys.readouterr()
    assert ending.value.code == UNSOUND and "as it must be" not in said.out
    assert not (course.root / "build/audit/lab0.json").exists()
    return said.err.strip().splitlines()[-1]


def test_a_table_of_lookalikes_that_can_not_be_read_is_told_by_every_audit(mini, capsys, monkeypatch):
    (mini.lab.reference / "lookalikes.toml").write_text("[[lookalike\n", encoding="utf-8")
    assert "reference/lab0_chains/lookalikes.toml" in refused(mini, capsys, monkeypatch)


def test_a_lab_that_is_changed_while_it_is_audited_has_not_passed(mini, capsys, monkeypatch):
    def change(*arguments):
        mini.edit("reference/lab0_chains/graph.py", "(2 * a.value,)", "(a.value + a.value,)")

    monkeypatch.setattr("autograder.authoring.audit_desk.public_kills", change)
    assert refused(mini, capsys, monkeypatch).endswith(
        "was changed while it was audited. Run the audit again."
    )
