"""A batch loses nothing: killed, run twice at once, run again, while work or course files change."""

import hashlib
import json
import os
import pty
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from autograder.batch.grade import grade
from autograder.batch.store import Store

DONE, WRONG_USE, NEEDS_PERSON, INTERRUPTED = 0, 2, 3, 130
TIMEOUT_S = 120
KILLS = Path(__file__).parents[1] / "soak" / "kills.py"
ENGINE_TESTS = "reference/lab0_chains/grading/test_engine.py"
# With terminal control characters in what is printed, in an exception and in a line of code.
HOSTILE = """
def reverse_mode(output, seed=1.0):
    print("\\x1b[2J\\x1b]0;owned\\x07 hello")
    raise ValueError("\\x1b[31mred\\x1b[0m")  # \x1b[5m
"""


def command(*arguments):
    return [sys.executable, "-m", "autograder", *map(str, arguments)]


def run(mini, *arguments, environment=None, **options):
    """Run `autograder` in a course; never may a traceback of ours be seen."""
    done = subprocess.run(
        command(*arguments),
        cwd=mini.root,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        **options,
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done


def records(mini):
    return {path.parent.name: path.read_bytes() for path in sorted(mini.out.glob("lab0/*/record.json"))}


def points(mini):
    return {
        student: msgspec.json.decode(record)["result"]["points"] for student, record in records(mini).items()
    }


def test_a_class_killed_five_times_ends_with_the_same_bytes_as_one_that_was_not():
    done = subprocess.run(
        [sys.executable, KILLS, "--students", "30", "--kills", "5", "--seed", "1"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same bytes, nothing graded twice" in done.stdout


@pytest.mark.parametrize("moment", ["the level is tried", "a student's work hangs"])
def test_when_the_command_is_killed_nothing_of_it_runs_on(mini, running, moment, tmp_path):
    mini.edit("reference/lab0_chains/lab.toml", "idle_s = 1", "idle_s = 19")
    mini.hand_in("sleeps", engine="import time\ntime.sleep(100)\n")
    mini.hand_in("a-right")
    process = subprocess.Popen(
        command("grade", "--jobs", 1),
        cwd=mini.root,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
    )
    come = {
        "the level is tried": lambda: any("server.py" in line for line in running()),
        "a student's work hangs": lambda: (mini.out / "lab0/a-right/record.json").exists(),
    }[moment]
    end = time.monotonic() + TIMEOUT_S
    while not come() and time.monotonic() < end:
        time.sleep(0.02)
    if moment == "a student's work hangs":
        time.sleep(1)  # for the next one to have begun
    process.kill()
    process.wait()
    # `running` then waits three seconds for nothing to be left.


@pytest.fixture(scope="module")
def course(mini_course, tmp_path_factory):
    """A graded class; the tests below change it one after another."""
    mini = mini_course(tmp_path_factory.mktemp("survives") / "course")
    mini.hand_in("right")
    mini.hand_in("signs", engine=mini.solved["engine.py"].replace("+ partial *", "- partial *"))
    mini.hand_in("hostile", engine=HOSTILE)
    done = run(mini, "grade", "--jobs", 1)
    assert done.returncode == DONE and "3 graded at level" in done.stdout, done.stderr
    return mini


def test_a_second_grade_says_that_everything_stood(course):
    before = records(course)
    done = run(course, "grade")
    assert done.returncode == DONE
    assert "3 of them before, and nothing they depend on has changed since" in done.stdout
    assert records(course) == before


def test_another_language_makes_the_pages_anew_and_grades_nobody(course):
    page = course.out / "lab0/right/feedback.md"
    assert "乘方" not in page.read_text("utf-8") and "链" in page.read_text("utf-8")
    course.edit("course.toml", 'languages = ["zh", "en"]', 'languages = ["en"]')
    assert "3 of them before" in run(course, "grade").stdout
    assert "链" not in page.read_text("utf-8")
    course.edit("course.toml", 'languages = ["en"]', 'languages = ["zh", "en"]')
    page.unlink()
    assert "3 of them before" in run(course, "grade").stdout
    assert "链" in page.read_text("utf-8")


def test_replay_shows_calls_numbers_and_what_is_stored(course):
    done = run(course, "replay", "lab0", "signs", "fixed_point")
    assert done.returncode == DONE, done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[0] == "test_engine.py::test_gradient_at_a_fixed_point: wrong"
    for line in (
        "x = 3.0",
        "seed = 1.0",
        "expected = 6.0",
        "got      = -6.0",
        "differs by 12; up to 6e-13 is accepted",
        "stored: wrong, 0 of 1 points",
    ):
        assert line in lines
    assert any("s of CPU" in line and "MB" in line for line in lines)


def test_replay_shows_frames_and_output_and_moves_no_cursor(course):
    done = run(course, "replay", "lab0", "hostile", "test_engine.py::test_gradient_at_a_fixed_point")
    assert done.returncode == DONE, done.stderr
    assert "engine.py, line 4, in reverse_mode: raise ValueError(" in done.stdout
    assert "hello" in done.stdout and "red" in done.stdout
    assert [letter for letter in done.stdout if not letter.isprintable() and letter != "\n"] == []


def test_replay_of_a_passed_check_shows_its_differences_too(course):
    done = run(course, "replay", "lab0", "right", "power")
    assert "differs by 0; up to" in done.stdout
    assert "test_gradient_of_a_power[7]: passed" in done.stdout
    assert "stored: passed, 2 of 2 points" in done.stdout


@pytest.mark.parametrize(
    ("student", "check", "words"),
    [
        ("right", "gradient", "part of 3 checks. Name one of: test_engine.py::test_gradient_of_a_power"),
        ("right", "test_gradeint_of_power", "Near it: test_engine.py::test_gradient_of_a_power"),
        ("rigth", "power", "Near it: right."),
    ],
)
def test_replay_lists_near_names(course, student, check, words):
    done = run(course, "replay", "lab0", student, check)
    assert (done.returncode, done.stdout) == (WRONG_USE, "")
    assert words in done.stderr and done.stderr.count("\n") == 1


def answered(mini, answer, *arguments):
    """What a terminal shows of a command that is asked a question."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command(*arguments), cwd=mini.root, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
            if b"[y/N]" in shown and answer:
                os.write(ours, answer)
                answer = b""
    except OSError:  # how a terminal ends
        pass
    os.close(ours)
    assert process.wait(TIMEOUT_S) == DONE
    return shown.decode()


def test_regrade_shows_first_and_writes_only_when_told_to(course):
    """The fixed point becomes x itself, which a wrong sign leaves as it is."""
    before = records(course)
    course.edit(ENGINE_TESTS, "x=3.0, n=2", "x=3.0, n=1")
    new = course.hand_in("later")
    shown = answered(course, b"n\n", "regrade", "--jobs", "1")
    assert "0 would lose points, 1 would gain; 2 keep their points." in shown
    assert "signs  5 -> 6 of 10" in shown
    assert "test_engine.py::test_gradient_at_a_fixed_point  wrong 0/1 -> passed 1/1" in shown
    assert "before: power(x=3, n=2, seed=1): gradient should be 6, your code gives -6" in shown
    assert "1 with new, changed or unreadable work are left to `autograder grade`" in shown
    assert "grading tests or programs" in shown
    assert records(course) == before

    done = run(course, "regrade")
    assert done.returncode == DONE and "signs  5 -> 6 of 10" in done.stdout
    assert "autograder regrade --lab lab0 --yes" in done.stdout
    assert records(course) == before

    no_graders = {"PATH": "/nowhere"}  # what was graded aside is taken from there
    done = run(course, "regrade", "--yes", environment=no_graders)
    assert done.returncode == DONE and "Written" in done.stdout
    assert points(course) == {"hostile": 5, "right": 10, "signs": 6}
    assert '"signs","6"' in (course.out / "lab0/grades.csv").read_text("utf-8-sig")
    assert "6 / 10" in (course.out / "lab0/signs/feedback.md").read_text("utf-8")
    assert not (course.out / "lab0/.regrade").exists()
    assert "nothing that the 3 stored results depend on has changed" in run(course, "regrade").stdout
    shutil.rmtree(new.parent)


def test_regrade_and_grade_give_the_same_bytes(course, tmp_path):
    run(course, "grade", "--out", tmp_path)
    assert {path.parent.name: path.read_bytes() for path in tmp_path.glob("lab0/*/record.json")} == records(
        course
    )


def test_grade_says_whose_points_changed_though_the_work_did_not(course):
    course.edit(ENGINE_TESTS, "x=3.0, n=1", "x=3.0, n=2")
    signs = course.out / "lab0/signs/record.json"
    signs.write_bytes(b"{")  # as if a batch had been killed after storing this one anew
    done = run(course, "grade", "--json")
    assert done.returncode == DONE
    assert json.loads(done.stdout)["students"]["signs"]["points"] == 5
    assert "Points changed although the work did not" in done.stderr and "signs 6 -> 5." in done.stderr
    assert "Points changed" not in run(course, "grade").stdout


def test_regrade_before_any_grade_is_wrong_use(course, tmp_path):
    done = run(course, "regrade", "--out", tmp_path)
    assert done.returncode == WRONG_USE and "Run `autograder grade` first" in done.stderr


def test_a_second_writer_stops_at_once_and_leaves_all_as_it_is(course):
    fifo = course.root / "wait"
    os.mkfifo(fifo)
    hold = (
        "import sys; from pathlib import Path; from autograder.batch import output\n"
        "with output.claim(Path('graded'), 'mini2026'): open('wait').read()"
    )
    holder = subprocess.Popen([sys.executable, "-c", hold], cwd=course.root)
    with fifo.open("w"):  # opens when the other has the lock
        done = run(course, "grade")
        assert (done.returncode, done.stdout) == (WRONG_USE, "")
        assert f"is being written to by process {holder.pid} on" in done.stderr
        assert done.stderr.count("\n") == 1
        assert run(course, "replay", "lab0", "right", "power").returncode == DONE, "which only reads"
    assert holder.wait(TIMEOUT_S) == 0
    assert run(course, "grade").returncode == DONE


def test_results_of_another_course_are_refused(course, tmp_path):
    (tmp_path / "course.json").write_text('{"course": "another"}')
    done = run(course, "grade", "--out", tmp_path)
    assert (done.returncode, done.stdout) == (WRONG_USE, "")
    assert "holds results of the course another" in done.stderr
    assert os.listdir(tmp_path) == ["course.json"]


def test_compiled_grading_tests_are_never_taken_for_their_source(course):
    """Python, and pytest before 9.2, tell them by date and size, and a clock may be set back."""
    caching = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    file = course.root / ENGINE_TESTS
    for n, expected in ((2, 5), (1, 6)):
        text = file.read_text("utf-8").replace("x=3.0, n=2", f"x=3.0, n={n}")
        file.write_text(text, "utf-8")
        os.utime(file, (1_000_000_000, 1_000_000_000))
        done = run(course, "replay", "lab0", "signs", "fixed_point", environment=caching)
        assert ("fixed_point: passed" in done.stdout) == (expected == 6)
        assert not (file.parent / "__pycache__").exists()
    file.write_text(file.read_text("utf-8").replace("x=3.0, n=1", "x=3.0, n=2"), "utf-8")


def test_a_lab_whose_work_is_all_misnamed_is_told_of(course):
    text = (course.root / "course.toml").read_text("utf-8")
    other = text[text.index("[[lab]]") :].replace('id = "lab0"', 'id = "lab9"').replace("lab0_", "lab9_")
    shutil.copytree(course.root / "reference/lab0_chains", course.root / "reference/lab9_chains")
    (course.root / "course.toml").write_text(text + "\n" + other, "utf-8")
    assert "lab9" not in run(course, "grade").stderr, "nobody has begun with it"
    (course.submitted / "right" / "lab9 (1).zip").write_bytes(b"PK")
    done = run(course, "grade")
    assert done.returncode == DONE and "3 of them before" in done.stdout
    assert done.stderr.startswith("Passed over: ") and "lab9 (1).zip" in done.stderr
    (course.root / "course.toml").write_text(text, "utf-8")


def test_ctrl_c_while_python_still_imports_is_one_line(course, tmp_path):
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    done = run(
        course,
        "grade",
        environment={"PYTHONPATH": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )
    assert (done.returncode, done.stdout) == (INTERRUPTED, "")
    assert done.stderr == "autograder: interrupted; nothing has been started.\n"


def test_three_hundred_results_that_stand_take_moments(course, level, tmp_path):
    store = Store(course.out / "lab0", json.loads(records(course)["right"])["key"])
    pattern = store.load("right")
    for number in range(297):
        student = f"s{number:03}"
        shutil.copytree(course.submitted / "right" / "lab0", course.submitted / student / "lab0")
        folder = store.folder / student
        folder.mkdir()
        record = (store.folder / "right/record.json").read_text("utf-8")
        record = record.replace('"student": "right"', f'"student": "{student}"')
        (folder / "record.json").write_text(record, "utf-8")
        facts = msgspec.structs.replace(pattern.facts, record=hashlib.sha256(record.encode()).hexdigest())
        (folder / "facts.json").write_bytes(msgspec.json.encode(facts))
    run(course, "grade")  # makes the pages
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(course, "grade")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "300 graded" in done.stdout and "300 of them before" in done.stdout
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 3  # CPU seconds


@pytest.mark.parametrize("what", ["changes", "goes"])
def test_work_that_changes_while_it_is_graded_is_graded_as_it_is_in_the_end(mini, level, what):
    slow = "import time\ntime.sleep(0.8)\n" + mini.skeleton["engine.py"]
    folder = mini.hand_in("ann", engine=slow)
    mini.hand_in("bob")

    def change():
        if what == "goes":
            shutil.rmtree(folder.parent)
        else:
            (folder / "engine.py").write_text(mini.solved["engine.py"], encoding="utf-8")

    _, stored = grade(
        mini.lab,
        mini.submitted,
        mini.out,
        lambda: level,
        1,
        lambda _: threading.Timer(0.3, change).start(),
        lambda _: None,
    )
    found = {one.result.student: one.result.points for one in stored}
    assert found == ({"bob": 10} if what == "goes" else {"ann": 10, "bob": 10})
    assert points(mini) == found
    again, _ = grade(mini.lab, mini.submitted, mini.out, lambda: 1 / 0, 1, lambda _: None, lambda _: None)
    assert again.stood == len(found)
