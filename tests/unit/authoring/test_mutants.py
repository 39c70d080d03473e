"""The audit: mutants as data, verdicts on them, other right solutions; on the mini course and on lab 1."""

import json
import re
import shutil
import sys
from pathlib import Path

import msgspec
import pytest

from autograder.authoring import cutter
from autograder.authoring.audit_mutants import KILLED, OPEN, SURVIVED, UNRELATED, related, rule
from autograder.authoring.audit_public import public_kills
from autograder.authoring.audit_right import ALTERNATE, full_marks, read_alternates
from autograder.authoring.audit_runs import Runs, Work
from autograder.authoring.mutants import malformation, read_mutants, solved_modules, source
from autograder.cli import main
from autograder.course import CourseError, load_course
from autograder.judging import given
from autograder.judging.verdicts import Check, Verdict, result_of

ROOT = Path(__file__).parents[3]
MUTANTS = "reference/lab0_chains/mutants.toml"
DONE, WRONG_USE = 0, 2


def mutant(id, text, replacement, tasks, file="graph.py", family="more"):
    """A [[mutant]] as TOML."""
    fields = {"id": id, "family": family, "file": file, "text": text, "replacement": replacement}
    lines = [f"{name} = {json.dumps(value)}" for name, value in (fields | {"tasks": tasks}).items()]
    return "\n".join(["\n[[mutant]]", *lines, 'hint = { zh = "想一想。", en = "Think." }', ""])


def audit(course, capsys, monkeypatch, *options):
    """Run the command in a course; its exit code, what it printed, and the figures it wrote."""
    monkeypatch.chdir(course.root)
    monkeypatch.setattr(sys, "argv", ["autograder", "audit", *options])
    with pytest.raises(SystemExit) as ending:
        main()
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    file = course.root / "build/audit/lab0.json"
    return ending.value.code, printed.out, json.loads(file.read_bytes()) if file.exists() else printed.err


def row(out, id):
    """A mutant's signs and verdict."""
    (line,) = re.findall(rf"^{id} .*$", out, re.MULTILINE)
    return line.split(maxsplit=2)[2].rstrip()


def test_a_sound_lab_passes_and_its_figures_are_written(mini, capsys, monkeypatch):
    code, out, figures = audit(mini, capsys, monkeypatch, "--jobs", "2")
    assert code == DONE, out
    assert figures.pop("slowest")["share"] < 0.1
    assert set(figures.pop("depends")) == {"reference", "grading", "skeleton", "lab", "grader", "everything"}
    assert figures == {
        "key": "630dcd29",
        "variants": 2,
        "sound": True,
        "mutants": {"killed": 3, "total": 3, "survivors": []},
        "thoughtless": {"tried": 24, "lost": 24, "survivors": []},
        "machine": None,
        "alternates": {"passed": 1, "total": 1},
        "reference_variants": {"passed": 16, "total": 16},
        "public": None,
        "diagnosis": None,
        "tolerances": {"checked": 8, "without_gap": 0},
        "alone": {"passed": 3, "total": 3},
    }
    page = (mini.root / "build/audit/lab0.html").read_text(encoding="utf-8")
    assert "everything is as it must be" in page
    assert "<script" not in page and "https:" not in page
    assert row(out, "square-by-itself") == "x  +  +  killed"
    assert row(out, "order-turned-round") == "+  x  b  killed"  # reverse needs order, so it may fail too
    assert row(out, "adjoint-overwritten") == "+  +  x  killed"
    assert "no public tests yet" in out


DEFECTS = (
    mutant("survivor", "order.append(node)", "order += [node]", ["order"])
    + mutant("half-a-survivor", "order.append(node)", "order.insert(0, node)", ["square", "order"])
    + mutant(
        "more-than-meant",
        "self.partials = partials",
        "self.partials = [2 * p for p in partials]",
        ["reverse"],
    )
    + mutant("no-import", "def square(a):", "import nothing_like_this\n\n\ndef square(a):", ["square"])
    + mutant("no-python", "def square(a):", "def square(a:", ["square"])
    + mutant("renamed", "def square(a):", "def squared(a):", ["square"])
    + mutant("typing-slip", "Node(a.value * a.value, (a,)", "Nod(a.value, (a,)", ["square"])
    + mutant("no-number", "Node(a.value * a.value, (a,)", "Node('none', (a,)", ["square"])
    + mutant("a-crash", "Node(a.value * a.value, (a,)", "Node(a.value[0], (a,)", ["square"], family="raises")
    + mutant("the-same-again", "(2 * a.value,)", "(1 * a.value,)", ["square"])
)


@pytest.fixture(scope="module")
def unsound(mini_course, tmp_path_factory):
    """A course with one of each defect."""
    mini = mini_course(tmp_path_factory.mktemp("unsound") / "course")
    with (mini.root / MUTANTS).open("a", encoding="utf-8") as file:
        file.write(DEFECTS)
    wrong = mini.root / "reference/lab0_chains/alternates/wrong"
    shutil.copytree(wrong.with_name("recursive"), wrong)
    mini.edit("reference/lab0_chains/alternates/wrong/engine.py", "{output: seed}", "{output: 1.0}")
    mini.edit("reference/lab0_chains/lab.toml", "points = 3", "points = 4")
    mini.add_checks(
        "import pytest\n\n@pytest.mark.task('order')\n@pytest.mark.points(0)\n"
        "def test_no_guard(compare):\n    '''A guard.\n    守卫。'''\n    compare('edges', length=2)\n"
        "\n@pytest.mark.task('order')\n@pytest.mark.points(1)\n"
        "def test_a_gift(compare):\n    '''A gift.\n    礼物。'''\n    compare('product', a=1.0, b=2.0)\n"
    )
    return mini


def test_whatever_is_not_as_it_must_be_is_named(unsound, capsys, monkeypatch):
    code, out, figures = audit(unsound, capsys, monkeypatch)
    assert code == WRONG_USE
    assert figures["sound"] is False
    assert figures["mutants"] == {"killed": 5, "total": 13, "survivors": ["survivor", "half-a-survivor"]}
    assert figures["alternates"] == {"passed": 1, "total": 2}
    assert figures["reference_variants"] == {"passed": 16, "total": 16}
    assert row(out, "a-crash") == "!  +  +  killed"
    for id in ("no-import", "no-python", "renamed", "typing-slip", "no-number"):
        assert row(out, id).endswith("malformed mutant"), row(out, id)
    for line in (
        r"survivor: survived: order passed on variant \d+\n--- graph.py\n.*\n@@.*\n-.*append.*\n\+.*\+=",
        r"half-a-survivor: survived: square passed on variant \d+",
        r"more-than-meant: unrelated task failed: square failed on variant \d+: square\(x=",
        r"no-import: malformed mutant: graph.py, line \d+ imports something that is not there",
        r"no-python: malformed mutant: graph.py:\d+: this is not Python",
        r"renamed: malformed mutant: graph.py: square\(a\) is gone",
        r"typing-slip: malformed mutant: it gives no finite number .*: square\(.*\) stopped with NameError",
        r"no-number: malformed mutant: it gives no finite number of the right kind anywhere",
        r"square-by-itself and the-same-again: every check says the same of both",
        r"wrong fails on 16 variants, first on 0: power\(.*gradient should be",
        r"test_more.py::test_no_guard: it guards given code, and the untouched skeleton fails it",
        r"test_more.py::test_a_gift: it has points, and the untouched skeleton passes it",
        r"lab0: NOT as it must be",
    ):
        assert re.search(rf"^{line}", out, re.MULTILINE), f"{line} is not in\n{out}"


@pytest.mark.parametrize(
    ("tasks", "outcomes", "verdict"),
    [
        (["order"], {"order": "wrong"}, KILLED),
        (["order"], {"order": "wrong", "reverse": "wrong"}, KILLED),  # blocked: it needs order
        (["order", "reverse"], {"order": "wrong", "reverse": "wrong"}, KILLED),
        (["order", "reverse"], {"order": "wrong"}, SURVIVED),
        (["order"], {"reverse": "wrong"}, SURVIVED),
        (["order"], {}, SURVIVED),
        (["reverse"], {"order": "wrong", "reverse": "wrong"}, UNRELATED),
        (["order"], {"order": "timed-out", "square": "crashed"}, UNRELATED),
        (["order"], {"order": "grader-fault"}, OPEN),
        (["order"], {"order": "not-run"}, OPEN),
        (["order"], {"order": "wrong", "square": "not-run", "reverse": "not-run"}, KILLED),  # not asked for
    ],
)
def test_a_verdict_follows_from_the_outcomes_of_tasks(mini, tasks, outcomes, verdict):
    lab, solved = mini.lab, solved_modules(mini.lab)
    checks = [Check(task.id, task.id, task.points, {}) for task in lab.tasks]
    verdicts = [Verdict(task.id, outcomes.get(task.id, "passed")) for task in lab.tasks]
    result = result_of(lab, checks, verdicts, "some--1", 5)
    one = msgspec.structs.replace(read_mutants(lab)[0], tasks=tuple(tasks))
    assert rule(lab, solved, one, (result,)).verdict == verdict


def test_a_mutant_may_run_on_several_variants(mini, capsys, monkeypatch):
    text = (mini.root / MUTANTS).read_text(encoding="utf-8")
    (mini.root / MUTANTS).write_text(text + mutant("survivor", "[], set()", "[], {*()}", ["order"]), "utf-8")
    code, out, _ = audit(mini, capsys, monkeypatch)
    assert code == WRONG_USE
    assert "survivor: survived: order passed on variant 6" in out  # the fourth mutant has 6 and 7
    assert row(out, "square-by-itself") == "x  +  +  killed"


def test_a_reference_that_fails_its_own_check_is_no_base_for_an_audit(mini, capsys, monkeypatch):
    mini.edit("reference/lab0_chains/grading/test_engine.py", "assert twice ==", "assert twice !=")
    code, _, errors = audit(mini, capsys, monkeypatch)
    assert code == WRONG_USE
    assert "The reference fails its own check test_engine.py::" in errors


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('text = "(2 * a.value,)"', 'text = "a.value"', "text stands 5 times in the solved graph.py"),
        (
            'text = "(2 * a.value,)"',
            'text = "(3 * a"',
            "text stands 0 times in the solved graph.py: '(3 * a'",
        ),
        ('text = "(2 * a.value,)"', 'text = "### BEGIN SOLUTION"', "text stands 0 times"),
        ('text = "(2 * a.value,)"\n', "", "needs either file, text and replacement, or edits"),
        ('text = "(2 * a.value,)"\n', "text = 2\n", '[[mutant]] "square-by-itself", text'),
        ('replacement = "(a.value,)"', 'replacement = "(2 * a.value,)"', "changes nothing"),
        ('file = "graph.py"\ntext = "(2', 'file = "grph.py"\ntext = "(2', "Name one of: graph.py, engine.py"),
        ('tasks = ["square"]', 'tasks = ["squares"]', "There are: square, order, reverse"),
        ('tasks = ["square"]', "tasks = []", '[[mutant]] "square-by-itself", tasks'),
        ('id = "order-turned-round"', 'id = "square-by-itself"', "stands there twice"),
        ('id = "square-by-itself"', 'id = "the.reference"', "id"),
        ('hint.en = "What is the derivative of a square?"\n', "", "en"),
        (
            'en = "Inputs',
            'en = "Try seen.add(node) here. Inputs',
            "says a line of the solution, 'seen.add(node)'",
        ),
        ("[[mutant]]", "[[mutant]", "not TOML"),
    ],
)
def test_a_bad_file_of_mutants_is_one_line_with_the_place(mini, old, new, what):
    file = mini.root / MUTANTS
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(CourseError) as error:
        read_mutants(mini.lab)
    message = str(error.value)
    assert message.startswith(f"{MUTANTS}: ")
    assert what in message
    assert "\n" not in message


def test_a_lab_without_mutants_or_an_alternate_without_a_reason_is_told(mini):
    (mini.lab.reference / "alternates/recursive/why.md").unlink()
    with pytest.raises(CourseError, match=r"alternates/recursive/why\.md is missing"):
        read_alternates(mini.lab)
    (mini.root / MUTANTS).unlink()
    with pytest.raises(CourseError, match=r"mutants\.toml is missing"):
        read_mutants(mini.lab)


PUBLIC = """
import pytest


@pytest.mark.task("square")
def test_slope(lab, expect):
    '''The slope.
    斜率。'''
    (partial,) = lab.graph.square(lab.graph.variable(3.0)).partials
    expect.equal("square(3.0)", partial, 6.0)


@pytest.mark.task("order")
def test_order(lab):
    '''The order ends.
    顺序有尽头。'''
    one = lab.graph.variable(3.0)
    while lab.graph.topological_order(lab.graph.square(one))[0] is not one:
        pass
"""


@pytest.fixture
def with_public_tests(mini):
    """The mini course, with a test that sees a wrong slope and one that hangs for a wrong order."""
    (mini.root / "reference/lab0_chains/tests").mkdir()
    (mini.root / "reference/lab0_chains/tests/test_graph.py").write_text(PUBLIC, encoding="utf-8")
    return mini


def kills(mini, jobs, counts):
    course = load_course(mini.root)
    return public_kills(course, mini.lab, read_mutants(mini.lab), jobs, counts.append, lambda: None)


def test_public_tests_run_on_each_mutant_as_a_student_would_have_it(with_public_tests, running):
    counts = []
    assert kills(with_public_tests, 2, counts) == {
        "square-by-itself": True,
        "order-turned-round": True,  # it does not end
        "adjoint-overwritten": False,
    }
    assert counts == [3]
    assert running() == []


def test_public_tests_that_can_not_run_or_fail_on_the_solved_lab_are_no_kills(with_public_tests):
    mini, tests = with_public_tests, "reference/lab0_chains/tests/test_graph.py"
    mini.edit(
        "reference/lab0_chains/graph.py", "def square(a):", "def square(a):\n    a = variable(a.value + 1)"
    )
    with pytest.raises(CourseError, match="the public tests fail on the solved lab"):
        kills(mini, 1, [])
    mini.edit(tests, "import pytest", "import nothing_like_this")
    with pytest.raises(CourseError, match=r"`labkit check` can't run on solved: .*nothing_like_this"):
        kills(mini, 1, [])


# --- Lab 1 --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lab1():
    return load_course(ROOT).lab("lab1")


def test_lab_1s_mistakes_are_many_and_each_is_a_mistake_that_runs(lab1):
    mutants = read_mutants(lab1)
    solved = solved_modules(lab1)
    assert len(mutants) >= 40
    assert len({mutant.family for mutant in mutants}) >= 15
    assert [mutant.id for mutant in mutants if malformation(solved, mutant.modules)] == []
    assert [mutant.id for mutant in mutants if not re.search("[\u4e00-\u9fff]", mutant.hint.zh)] == []
    assert [mutant.id for mutant in mutants if re.search("[\u4e00-\u9fff]", mutant.hint.en)] == []


def test_lab_1s_alternates_are_the_reference_but_for_their_solutions(lab1):
    alternates, solved = read_alternates(lab1), solved_modules(lab1)
    assert len(alternates) >= 5
    for name in alternates:
        held = sorted(path.name for path in (lab1.reference / "alternates" / name).iterdir())
        assert held in (["engine.py", "graph.py", "why.md"], ["cuda_ops.py", "kernels.cu", "why.md"])
        for module in held[:2]:
            skeleton = cutter.cut(source(lab1, module), module)
            own = cutter.cut(source(lab1, f"alternates/{name}/{module}"), module)
            if (name, module) == ("creation-index", "graph.py"):  # its algorithm needs a number in each node
                (note,) = given.notes(module, skeleton, own)
                assert note.arguments["names"] == "Node.__init__"
            else:
                assert own == skeleton, (
                    f"alternates/{name}/{module}: docs/CONTRIBUTING.md says how to mend it"
                )
        assert alternates[name][held[0]] != solved[held[0]]
        assert alternates[name].keys() == solved.keys()


def test_lab_1_catches_mistakes_where_they_are_and_accepts_another_way(lab1, level, tmp_path):
    mutants = {mutant.id: mutant for mutant in read_mutants(lab1)}
    chosen = [mutants[id] for id in ("adjoint-overwritten", "reflected-over", "division-raises-at-zero")]
    runs = Runs(lab1, tmp_path, lambda: level, 2, lambda _: None, lambda: None)
    runs.run(
        [
            *(Work(mutant.id, mutant.modules, 3) for mutant in chosen),
            Work(ALTERNATE + "kahn", read_alternates(lab1)["kahn"], 3),
        ]
    )
    solved = solved_modules(lab1)
    rulings = [rule(lab1, solved, mutant, runs.of(mutant.id)) for mutant in chosen]
    assert [ruling.verdict for ruling in rulings] == [KILLED] * 3, [ruling.why for ruling in rulings]
    (result,) = runs.of(ALTERNATE + "kahn")
    assert full_marks(result, {task.id for task in lab1.tasks})
    assert result.points == result.max


def test_a_mistake_may_fail_what_needs_its_task_and_what_grades_the_same_blank(lab1):
    assert related(lab1, ["central-difference"]) == {"central-difference"}
    assert related(lab1, ["topological-order"]) >= {"topological-order", "forward-mode", "scale", "lookup"}
    assert related(lab1, ["bypass"]) == {"bypass", "reverse-mode", "lookup", "jacobian", "scale"}


def test_a_mutant_may_be_seen_by_other_checks_on_other_variants(mini, capsys, monkeypatch):
    """It is wrong for half of all inputs: a check that sees it on one variant may be blind on another."""
    checks = (
        f"@pytest.mark.task('square')\n@pytest.mark.points(1)\ndef test_{number}(compare, draw):\n"
        f"    '''It.\n    它。'''\n    compare('square', x=draw.uniform(1.0, 3.0))\n"
        for number in range(12)
    )
    mini.add_checks("import pytest\n\n\n" + "\n\n".join(checks))
    mini.edit("reference/lab0_chains/lab.toml", "points = 2", "points = 14")
    often = mutant("often", "(2 * a.value,)", "(2 * a.value * (a.value < 2),)", ["square"])
    text = (mini.root / MUTANTS).read_text(encoding="utf-8")
    (mini.root / MUTANTS).write_text(text + often, "utf-8")
    _, out, figures = audit(mini, capsys, monkeypatch, "--variants", "all")
    assert row(out, "often") == "x  +  +  killed", out
    assert figures["mutants"]["killed"] == 4
