"""Which results stand, so that a second batch grades nothing and a changed part only what rests on it."""

import json
import os
import shutil

import pytest

from autograder.batch import depends
from autograder.batch import grade as batch
from autograder.batch.grade import grade, planned
from autograder.course import CourseError

STUDENTS = ["ann", "bob", "cyd"]
LAB = "reference/lab0_chains"


@pytest.fixture(scope="module")
def finished(mini_course, tmp_path_factory):
    """A course whose class of three is graded."""
    mini = mini_course(tmp_path_factory.mktemp("stands") / "course")
    for student in STUDENTS:
        mini.hand_in(student)
    mini.grade()
    return mini


@pytest.fixture
def mini(finished, mini_course, tmp_path):
    """A copy of it for one test."""
    copy = mini_course(tmp_path / "course")
    for folder in (finished.submitted, finished.out):
        shutil.copytree(folder, copy.root / folder.name)
    return copy


def due(mini):
    return [found.student for found in planned(mini.lab, mini.submitted, mini.out).due]


def no_level():
    raise AssertionError("the sandbox is tried although nothing is to be graded")


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_second_batch_grades_nobody_and_tries_no_sandbox(mini):
    before = files(mini.out)
    class_, stored = grade(mini.lab, mini.submitted, mini.out, no_level, 1, no_level, no_level)
    assert [result.points for result in class_.results] == [10, 10, 10]
    assert (class_.stood, class_.level) == (3, stored[0].level)
    assert files(mini.out) == before


EVERYBODY = [
    (f"{LAB}/graph.py", "A leaf.", "A leaf!"),
    (f"{LAB}/grading/test_graph.py", "0.5, 2.0", "0.6, 2.0"),
    (f"{LAB}/grading/programs.py", "lab.graph.variable(0.5)", "lab.graph.variable(0.4)"),
    (f"{LAB}/lab.toml", "cpu_s = 1", "cpu_s = 2"),
    (f"{LAB}/lab.toml", 'needs = ["order"]', "needs = []"),
    (f"{LAB}/lab.toml", 'en = "Square"', 'en = "Squares"'),
    ("labs/lab0_chains/graph.py", "A leaf.", "A leaf!"),
]
NOBODY = [
    (f"{LAB}/lab.toml", "minutes = 5 ", "minutes = 6 "),
    (f"{LAB}/lab.toml", "[limits]", "# how much\n[limits]"),
    (f"{LAB}/README.md", "Fill in", "Please fill in"),
    ("course.toml", "due = 2026-11-24", "due = 2026-11-25"),
    ("course.toml", 'en = "Chains"', 'en = "Chain"'),
    ("course.toml", 'languages = ["zh", "en"]', 'languages = ["en"]'),
]


@pytest.mark.parametrize(("name", "old", "new"), EVERYBODY)
def test_everybody_is_graded_again_after_a_change_of(mini, name, old, new):
    mini.edit(name, old, new)
    assert due(mini) == STUDENTS


@pytest.mark.parametrize(("name", "old", "new"), NOBODY)
def test_nobody_is_graded_again_after_a_change_of(mini, name, old, new):
    mini.edit(name, old, new)
    assert due(mini) == []


def test_everybody_is_graded_again_after_a_new_data_file_of_the_grading_tests(mini):
    (mini.lab.grading / "data").mkdir()
    (mini.lab.grading / "data" / "digits.npy").write_bytes(b"x")
    assert due(mini) == STUDENTS


def test_everybody_is_graded_again_by_another_grader(mini, monkeypatch):
    monkeypatch.setattr(depends, "grader", lambda: "f" * 64)
    assert due(mini) == STUDENTS


def test_the_grader_is_its_code_and_the_version_of_numpy(monkeypatch, tmp_path):
    ours = depends.grader.__wrapped__()
    shutil.copytree(depends._PACKAGE, tmp_path / "autograder")
    monkeypatch.setattr(depends, "_PACKAGE", tmp_path / "autograder")
    assert depends.grader.__wrapped__() == ours
    (tmp_path / "autograder/reporting/table.py").write_text("")
    assert depends.grader.__wrapped__() == ours, "what shows results decides nothing"
    with monkeypatch.context() as patch:
        patch.setattr("numpy.__version__", "9.9")
        assert depends.grader.__wrapped__() != ours
    with (tmp_path / "autograder/judging/judge.py").open("a") as file:
        file.write("# stricter\n")
    assert depends.grader.__wrapped__() != ours


def test_one_is_graded_again_after_a_change_of_the_work(mini):
    file = mini.submitted / "bob/lab0/engine.py"
    file.write_text(file.read_text() + "# done\n")
    assert due(mini) == ["bob"]


def test_one_is_graded_again_after_a_change_of_what_is_noted(mini):
    deeper = mini.submitted / "bob/lab0/old/graph2.py"
    deeper.parent.mkdir()
    deeper.write_text("")
    assert due(mini) == ["bob"]


def test_dates_decide_nothing(mini):
    for path in [mini.root, *mini.root.rglob("*")]:
        os.utime(path, (1, 1))
    assert due(mini) == []


def test_a_newcomer_is_due_and_one_whose_work_has_gone_is_kept_but_not_listed(mini):
    mini.hand_in("dan")
    shutil.rmtree(mini.submitted / "ann")
    assert due(mini) == ["dan"]
    class_ = mini.grade().class_
    assert [result.student for result in class_.results] == ["bob", "cyd", "dan"]
    assert (class_.absent, class_.stood) == (("ann",), 2)
    assert (mini.out / "lab0/ann/record.json").exists()


def tear(path, length):
    path.write_bytes(path.read_bytes()[:length])


@pytest.mark.parametrize("name", ["record.json", "facts.json"])
@pytest.mark.parametrize("length", [0, 1, 500, -2])
def test_a_torn_file_is_graded_again(mini, name, length):
    tear(mini.out / "lab0/bob" / name, length)
    assert due(mini) == ["bob"]


@pytest.mark.parametrize("name", ["record.json", "facts.json"])
def test_a_lost_file_or_one_of_another_student_is_graded_again(mini, name):
    (mini.out / "lab0/bob" / name).unlink()
    shutil.copy(mini.out / "lab0/ann" / name, mini.out / "lab0/cyd" / name)
    assert due(mini) == ["bob", "cyd"]


@pytest.mark.parametrize("part", ["level", "details"])
def test_facts_of_another_shape_are_graded_again(mini, part):
    path = mini.out / "lab0/bob/facts.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), part: 3}), "utf-8")
    assert due(mini) == ["bob"]


def test_a_record_edited_by_hand_is_graded_again(mini):
    path = mini.out / "lab0/bob/record.json"
    path.write_bytes(path.read_bytes().replace(b'"points": 10', b'"points": 99'))
    assert due(mini) == ["bob"]


def test_unfinished_files_of_a_killed_process_are_removed_and_other_files_are_not(mini):
    ours = [mini.out / "lab0/bob/.record.json.a1b2.unfinished", mini.out / "lab0/.grades.csv.c3.unfinished"]
    theirs = mini.out / "lab0/bob/.notes"
    for path in (*ours, theirs):
        path.write_text("x")
    assert due(mini) == []
    assert not any(path.exists() for path in ours) and theirs.exists()


def set_facts(mini, student, **changed):
    path = mini.out / "lab0" / student / "facts.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))


def test_a_result_from_without_a_sandbox_stands_only_until_there_is_one(mini, level):
    set_facts(mini, "bob", level="none")
    class_, _ = grade(mini.lab, mini.submitted, mini.out, lambda: "none", 1, no_level, no_level)
    assert (class_.level, class_.stood) == ("none", 3)
    graded = mini.grade()
    assert (graded.class_.level, graded.class_.stood) == (level, 2)
    assert graded.file("bob", "facts.json")["level"] == level


def test_what_the_grader_failed_at_is_tried_again_and_what_cannot_be_read_is_not(mini):
    mini.add_checks(
        "import pytest\n\n@pytest.mark.task('square')\n@pytest.mark.points(0)\n"
        "def test_fails_by_itself(compare):\n    '''Fails.\n    失败。'''\n    1 / 0\n"
    )
    (mini.submitted / "cyd" / "lab0.zip").write_bytes(b"PK")  # which of the two counts?
    assert mini.grade().results["cyd"].complete is False
    assert due(mini) == ["ann", "bob"]


def test_course_files_that_change_while_a_grader_starts_are_not_graded_with(mini, level, monkeypatch):
    mini.hand_in("dan")
    real = depends.dependencies
    seen = []

    def changing(lab):
        seen.append(real(lab))
        return {**seen[-1], "grading": str(len(seen))}

    monkeypatch.setattr(batch, "dependencies", changing)
    with pytest.raises(CourseError, match="changed while its grader was starting"):
        mini.grade()
    assert not (mini.out / "lab0/dan").exists()
