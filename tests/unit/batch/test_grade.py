"""A class graded by processes that are killed, by one or two of them, from folders and from archives."""

import os
import signal
import tempfile
import threading
import time
import zipfile

import pytest

from autograder.batch import pool
from autograder.batch.grade import grade
from autograder.course import CourseError
from autograder.judging.explain import in_full

SLEEP = "    import time\n    time.sleep(100)\n"


@pytest.fixture(scope="module")
def mini(mini_course, tmp_path_factory):
    """Five students, one of whom takes seconds."""
    mini = mini_course(tmp_path_factory.mktemp("batch") / "course")
    mini.hand_in("a-sleeps", graph=mini.skeleton["graph.py"].replace("    # YOUR CODE HERE\n", SLEEP, 1))
    mini.hand_in("b-right")
    mini.hand_in("c-untouched", graph=mini.skeleton["graph.py"], engine=mini.skeleton["engine.py"])
    mini.hand_in("d-syntax", engine="def reverse_mode(:\n")
    mini.hand_in("e-remark", engine=mini.solved["engine.py"] + "# one more remark\n")
    return mini


@pytest.fixture(scope="module")
def graded(mini):
    return mini.grade(jobs=1)


def records(out):
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("record.json"))}


def test_every_student_has_a_record_and_facts(graded):
    assert sorted(path.relative_to(graded.out).as_posix() for path in graded.out.rglob("*.json")) == [
        f"lab0/{student}/{name}.json"
        for student in ("a-sleeps", "b-right", "c-untouched", "d-syntax", "e-remark")
        for name in ("facts", "record")
    ]


def test_a_record_holds_what_the_result_depends_on(graded, fixed_key):
    record = graded.file("b-right")
    assert record["schema"] == 1
    assert record["key"] == "630dcd29"  # SHA-256 of the bytes 0 to 31, which any sha256sum gives
    assert sorted(record["hashes"]) == [
        "grader",
        "grading",
        "lab",
        "reference",
        "skeleton",
        "submission",
    ]
    assert all(len(digest) == 64 for digest in record["hashes"].values())
    result = record["result"]
    assert (result["student"], result["lab"], result["points"], result["max"]) == ("b-right", "lab0", 10, 10)
    assert 0 <= result["variant"] < 16
    check = result["tasks"][0]["checks"][0]
    assert check == {
        "id": "test_graph.py::test_square",
        "max": 2,
        "message": None,
        "outcome": "passed",
        "points": 2,
        "title": {"en": "The square and its derivative.", "zh": "平方及其导数。"},
    }


def test_a_message_is_stored_by_id_with_its_arguments(graded):
    (check,) = graded.file("c-untouched")["result"]["tasks"][1]["checks"]
    assert check["message"]["id"] == "judging.not-attempted"
    assert check["message"]["arguments"]["name"] == "topological_order"


def test_times_and_machine_stand_in_the_facts_alone(graded, level):
    facts = graded.file("b-right", "facts.json")
    assert facts["level"] == level
    assert os.uname().nodename in facts["machine"]
    assert all(check["cpu_s"] > 0 and check["memory_mb"] > 0 for check in facts["checks"])
    assert b"cpu_s" not in (graded.out / "lab0/b-right/record.json").read_bytes()


def test_an_archive_gives_the_same_bytes_as_the_folder(mini_course, graded, mini, tmp_path):
    packed = mini_course(tmp_path / "packed")
    for student in ("b-right", "c-untouched", "d-syntax"):
        (packed.submitted / student).mkdir(parents=True)
        with zipfile.ZipFile(packed.submitted / student / "lab0.zip", "w") as archive:
            for file in (mini.submitted / student / "lab0").iterdir():
                archive.write(file, f"my work/{file.name}")
    own = records(packed.grade().out)
    assert own == {name: data for name, data in records(graded.out).items() if name.split("/")[1][0] in "bcd"}


def test_a_change_of_the_work_changes_its_hash_and_no_other_hash(graded):
    one, other = graded.file("b-right")["hashes"], graded.file("e-remark")["hashes"]
    assert [name for name in one if one[name] != other[name]] == ["submission"]


class Killer:
    """Hooks of a batch that kill its grader `kills` times, always while it is busy with a-sleeps."""

    def __init__(self, students, kills, graders):
        self.left, self.results, self._others, self._graders = kills, [], students - 1, graders

    def start(self, count):
        self._kill_soon()

    def result(self, stored):
        self.results.append(stored.result.student)
        if len(self.results) == self._others:
            self._kill_soon()

    def _kill_soon(self):
        if self.left:
            self.left -= 1
            threading.Timer(0.4, self._kill).start()

    def _kill(self):
        for grader in self._graders():
            os.kill(grader, signal.SIGKILL)


@pytest.mark.parametrize("kills", [1, 2])
def test_a_grader_that_is_killed_is_replaced_and_the_others_are_graded(
    mini, graded, level, tmp_path, running, graders, kills
):
    killer = Killer(students=5, kills=kills, graders=graders)
    class_, _ = grade(mini.lab, mini.submitted, tmp_path, lambda: level, 1, killer.start, killer.result)
    results = {result.student: result for result in class_.results}
    assert killer.results[-1] == "a-sleeps" and len(killer.results) == 5
    for student in ("b-right", "c-untouched", "d-syntax"):
        assert results[student] == graded.results[student]
    if kills == 1:
        assert results["a-sleeps"] == graded.results["a-sleeps"]
        return
    assert results["a-sleeps"].points is None and not class_.complete
    assert {task.outcome for task in results["a-sleeps"].tasks} == {"grader-fault"}
    assert "died 2 times" in in_full(results["a-sleeps"].tasks[0].checks[0].message)
    assert (tmp_path / "lab0/a-sleeps/record.json").exists()


def test_a_grader_that_stops_answering_is_replaced_and_its_submission_stays_open(
    mini_course, level, tmp_path, running, monkeypatch
):
    mini = mini_course(tmp_path / "course")
    mini.hand_in("a-stuck", graph=mini.skeleton["graph.py"].replace("    # YOUR CODE HERE\n", SLEEP, 1))
    mini.hand_in("b-right")
    monkeypatch.setattr(pool, "patience_s", lambda lab, checks: 1.0)

    def nothing(_):
        pass

    class_, _ = grade(mini.lab, mini.submitted, tmp_path / "out", lambda: level, 1, nothing, nothing)
    stuck, right = class_.results
    assert right.points == 10
    assert stuck.points is None and not class_.complete
    assert "did not answer 2 times" in in_full(stuck.tasks[0].checks[0].message)


def test_a_sandbox_that_dies_is_replaced_and_nobody_loses_a_point(
    mini_course, level, tmp_path, running, fork_servers
):
    mini = mini_course(tmp_path / "course")
    for number in range(4):
        mini.hand_in(f"s{number}")

    def kill_the_servers(_):
        for process in fork_servers():
            os.kill(process, signal.SIGKILL)

    class_, _ = grade(
        mini.lab, mini.submitted, tmp_path / "out", lambda: level, 1, lambda _: None, kill_the_servers
    )
    assert [result.points for result in class_.results] == [10] * 4


def test_graders_that_lose_their_nursery_are_all_replaced_from_a_new_one(
    mini_course, level, tmp_path, running, nurseries, graders
):
    mini = mini_course(tmp_path / "course")
    for number in range(6):
        mini.hand_in(f"s{number}")
    seen = {}  # nursery -> how many graders it had when the first result after its start came

    def kill_the_first(_):
        for nursery in nurseries():
            seen.setdefault(nursery, len(graders()))
            if len(seen) == 1:
                os.kill(nursery, signal.SIGKILL)

    class_, _ = grade(
        mini.lab, mini.submitted, tmp_path / "out", lambda: level, 2, lambda _: None, kill_the_first
    )
    assert [result.points for result in class_.results] == [10] * 6
    assert list(seen.values()) == [2, 2]


def test_without_any_nursery_what_is_left_is_undecided(mini_course, level, tmp_path, running, nurseries):
    mini = mini_course(tmp_path / "course")
    for number in range(4):
        mini.hand_in(f"s{number}")

    def kill(stored):
        if stored.result.complete:
            os.kill(*nurseries(), signal.SIGKILL)

    class_, _ = grade(mini.lab, mini.submitted, tmp_path / "out", lambda: level, 1, lambda _: None, kill)
    assert sorted(result.points is None for result in class_.results) == [False, False, True, True]
    open_ = next(result for result in class_.results if not result.complete)
    assert "no grader process can start" in in_full(open_.tasks[0].checks[0].message)


def test_two_processes_at_another_level_give_the_same_bytes_and_leave_nothing(
    mini, graded, level, tmp_path, monkeypatch, running
):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    other = {"full": "portable"}.get(level, level)
    again = mini.grade(jobs=2, out=tmp_path / "out", level=other)
    assert records(again.out) == records(graded.out)
    assert [result.student for result in again.class_.results] == sorted(graded.results)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_batch_that_is_broken_off_ends_its_processes(mini, level, tmp_path, running):
    def break_off(_):
        raise RuntimeError("the disk is full, say")

    start = time.monotonic()
    with pytest.raises(RuntimeError):
        grade(mini.lab, mini.submitted, tmp_path, lambda: level, 2, lambda _: None, break_off)
    assert time.monotonic() - start < 10


def test_what_a_grading_test_prints_is_seen_and_not_among_the_output(
    mini_course, tmp_path, capfd, monkeypatch
):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    mini = mini_course(tmp_path / "course")
    path = next(mini.lab.grading.glob("test_*.py"))
    path.write_text(
        path.read_text("utf-8").replace("    compare(", "    print('looked at')\n    compare("), "utf-8"
    )
    mini.hand_in("ann")
    mini.grade()
    out, err = capfd.readouterr()
    assert (out, err.count("looked at")) == ("", 2 * 5)  # the reference and ann, five cases each


def test_results_do_not_go_among_the_submissions(mini):
    with pytest.raises(CourseError, match="holds the submissions"):
        mini.grade(out=mini.submitted)


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda mini: (mini.lab.grading / "programs.py").write_text("def f(:"), "programs.py, line 1"),
        (lambda mini: (mini.lab.skeleton / "graph.py").unlink(), "Run: make labs"),
        (
            lambda mini: (mini.lab.skeleton / "graph.py").write_text("def f(:"),
            "labs/lab0_chains/graph.py, line 1",
        ),
        (lambda mini: mini.lab.grading.rename(mini.root / "away"), "no folder of grading tests"),
        (lambda mini: (mini.lab.grading / "conftest.py").write_text("1 / 0"), "pytest can't start on"),
    ],
)
def test_course_files_that_are_missing_or_broken_are_one_line(mini_course, tmp_path, capfd, break_it, words):
    mini = mini_course(tmp_path / "course")
    mini.hand_in("ann")
    break_it(mini)
    with pytest.raises(CourseError) as error:
        mini.grade()
    assert words in str(error.value) and "\n" not in str(error.value)
    assert "Traceback" not in "".join(capfd.readouterr())
