"""`autograder` as a TA types it: exit codes, what stands on which stream, bad input, Ctrl-C."""

import csv
import json
import os
import platform
import pty
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.authoring.labs import check_labs
from autograder.cli import main
from autograder.course import load_course

DONE, WRONG_USE, NEEDS_PERSON, INTERRUPTED = 0, 2, 3, 130
TIMEOUT_S = 60
# A container that grants neither namespaces nor Landlock: unshare and landlock_create_ruleset answer EPERM.
NO_SANDBOX = """
import ctypes, os, struct, sys
def step(code, yes, no, value):
    return struct.pack("HBBI", code, yes, no, value)
program = b"".join([step(0x20, 0, 0, 0), step(0x15, 1, 0, 272), step(0x15, 0, 1, 444),
                    step(0x06, 0, 0, 0x00050001), step(0x06, 0, 0, 0x7FFF0000)])
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Filter(5, program)), 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture(scope="module")
def course(mini_course, tmp_path_factory):
    """A course with a small class; tests that change it put it back or work on a copy."""
    mini = mini_course(tmp_path_factory.mktemp("cli") / "course")
    mini.hand_in("right")
    mini.hand_in("untouched", graph=mini.skeleton["graph.py"], engine=mini.skeleton["engine.py"])
    mini.hand_in("张三", engine="def reverse_mode(:\n")
    (mini.submitted / "torn").mkdir()
    (mini.submitted / "torn" / "lab0.zip").write_bytes(b"PK\x03\x04 cut off")
    return mini


def command(*arguments):
    return [sys.executable, "-m", "autograder", *map(str, arguments)]


def run(course, *arguments, prefix=(), environment=None, **options):
    """Run `autograder` in a course; never may a traceback be seen."""
    done = subprocess.run(
        [*prefix, *command(*arguments)],
        cwd=course.root,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        timeout=TIMEOUT_S,
        **options,
    )
    encoding = (environment or {}).get("PYTHONIOENCODING", "utf-8")
    done.stdout, done.stderr = done.stdout.decode(encoding), done.stderr.decode(encoding)
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done


@pytest.fixture
def refused(monkeypatch, capfd):
    """Runs `autograder` in this process; the one line on stderr of a command that is wrong use."""

    def run_here(folder, *arguments):
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["autograder", *map(str, arguments)])
        with pytest.raises(SystemExit) as ending:
            main()
        out, err = capfd.readouterr()
        assert (ending.value.code, out) == (WRONG_USE, ""), err
        (line,) = [line for line in err.splitlines() if not line.startswith("Sandbox level")]
        assert line.startswith("autograder: ")
        return line

    return run_here


@pytest.fixture(scope="module")
def graded(course):
    """The class graded on a console that knows no UTF-8, by a service without a locale (N02, N05)."""
    return run(course, "grade", environment={"PYTHONIOENCODING": "gbk", "LC_ALL": "C"})


def test_a_class_is_graded_whatever_its_results_with_exit_code_0(graded):
    assert graded.returncode == DONE, graded.stderr
    lines = {line.split()[0]: line.split()[1:5] for line in graded.stdout.splitlines() if line.strip()}
    assert lines["right"] == ["10", "+", "+", "+"]
    assert lines["untouched"] == ["0", ".", ".", "b"]
    assert lines["张三"] == ["5", "+", "+", "!"]
    assert lines["torn"] == ["0", "!", "!", "b"]
    assert "4 graded at level" in graded.stdout
    assert "graded/lab0" in graded.stdout


def test_the_table_tells_what_to_look_at_first(graded):
    assert "lab0.zip is damaged" in graded.stdout
    assert "engine.py, line 1 is not valid Python" in graded.stdout


def test_every_student_has_four_readable_files(course, graded):
    for student in ("right", "untouched", "张三", "torn"):
        folder = course.out / "lab0" / student
        assert sorted(path.name for path in folder.iterdir()) == [
            *("facts.json", "feedback.html", "feedback.md", "record.json")
        ]
        assert (
            json.loads((folder / "record.json").read_text(encoding="utf-8"))["result"]["student"] == student
        )
        assert "链" in (folder / "feedback.md").read_text(encoding="utf-8")


def test_the_csv_has_a_row_a_student(course, graded):
    with (course.out / "lab0/grades.csv").open(encoding="utf-8-sig", newline="") as file:
        points = {row["student"]: row["points"] for row in csv.DictReader(file)}
    assert points == {"right": "10", "untouched": "0", "张三": "5", "torn": "0"}


def test_the_slides_name_nobody_and_the_class_page_leads_to_them(course, graded):
    folder = course.out / "lab0"
    slides, page = ((folder / name).read_text(encoding="utf-8") for name in ("slides.html", "class.html"))
    assert 'href="slides.html"' in page and "untouched" in page and "张三" in page
    assert "4 students" in slides and not [name for name in ("untouched", "张三", "torn") if name in slides]


@pytest.fixture(scope="module")
def faulty(course, tmp_path_factory, mini_course):
    """A class with one grading test that fails by itself and prints, and with input that needs a person."""
    mini = mini_course(tmp_path_factory.mktemp("faulty") / "course")
    mini.add_checks(
        "import pytest\n\n@pytest.mark.task('square')\n@pytest.mark.points(0)\n"
        "def test_fails_by_itself(compare):\n    '''Fails.\n    失败。'''\n    print('not json')\n    1 / 0\n"
    )
    mini.hand_in("right")
    mini.hand_in("twice")
    (mini.submitted / "twice" / "lab0.zip").write_bytes(b"PK")
    (mini.submitted / "no student").mkdir()
    return mini, run(mini, "grade", "--json", "--jobs", 1, "--out", "elsewhere")


def test_results_that_need_a_person_are_exit_code_3_and_json_stands_alone_on_stdout(faulty):
    _, done = faulty
    assert done.returncode == NEEDS_PERSON
    result = json.loads(done.stdout)
    assert result["schema"] == 1 and result["lab"] == "lab0" and result["complete"] is False
    assert result["students"]["right"] == {
        "points": None,
        "max": 10,
        "complete": False,
        "error": None,
        "tasks": {
            "square": {"points": None, "max": 2, "outcome": "grader-fault"},
            "order": {"points": 3, "max": 3, "outcome": "passed"},
            "reverse": {"points": 5, "max": 5, "outcome": "passed"},
        },
    }


def test_two_submissions_of_one_student_are_not_run_and_say_so(faulty):
    _, done = faulty
    twice = json.loads(done.stdout)["students"]["twice"]
    assert twice["points"] is None and "more than one submission" in twice["error"]
    assert {task["outcome"] for task in twice["tasks"].values()} == {"not-run"}


def test_results_go_where_out_says(faulty):
    mini, _ = faulty
    assert (mini.root / "elsewhere/lab0/right/record.json").exists()
    assert not mini.out.exists()


@pytest.fixture(scope="module")
def sample(mini_course, tmp_path_factory):
    """A course without a class of its own: what was printed, and what a terminal showed of stderr."""
    mini = mini_course(tmp_path_factory.mktemp("sample") / "course")
    mini.hand_in("right")
    mini.hand_in("untouched", graph=mini.skeleton["graph.py"])
    (mini.root / "examples").mkdir()
    mini.submitted.rename(mini.root / "examples/submitted")
    mini.submitted.mkdir()
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command("grade", "--jobs", 1), cwd=mini.root, stdout=subprocess.PIPE, stderr=theirs, text=True
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # how a terminal ends
        pass
    os.close(ours)
    out = process.communicate(timeout=TIMEOUT_S)[0]
    assert process.returncode == DONE
    return mini, out, shown.decode()


def test_without_a_class_of_one_s_own_the_sample_class_is_graded_and_the_next_step_told(sample):
    mini, out, _ = sample
    assert "This was the sample class" in out and "submitted/STUDENT/lab0/" in out
    assert (mini.root / "build/sample/lab0/right/record.json").exists()
    assert not mini.out.exists()


def test_progress_is_shown_on_a_terminal_s_stderr(sample):
    _, out, shown = sample
    assert "lab0" in shown and "2/2" in shown
    assert "2/2" not in out


def test_until_the_audit_has_passed_on_the_lab_as_it_is_grade_says_so(mini, monkeypatch, tmp_path):
    def told():
        done = run(mini, "grade")
        assert done.returncode == DONE
        return "no audit has passed with this key" in done.stderr

    mini.hand_in("right")
    assert told()
    assert run(mini, "audit").returncode == DONE
    assert not told()
    mini.edit("reference/lab0_chains/lab.toml", "\ncpu_s = 1", "\ncpu_s = 2")
    assert told()
    mini.edit("reference/lab0_chains/lab.toml", "\ncpu_s = 2", "\ncpu_s = 1")
    assert not told()
    figures = mini.root / "build/audit/lab0.json"
    passed = figures.read_bytes()
    for changed in (b"{}", passed.replace(b'"sound": true', b'"sound": false'), b"not JSON"):
        assert changed != passed
        figures.write_bytes(changed)
        assert told()
    figures.write_bytes(passed)
    assert not told()
    # Points do not rest on this file, but the proof does.
    mini.edit("reference/lab0_chains/mutants.toml", "# Typical mistakes", "# Mistakes")
    assert told()


def test_a_class_whose_folders_are_misnamed_is_not_taken_for_no_class(mini, refused):
    (mini.root / "examples").mkdir()
    mini.hand_in("right")
    mini.submitted.rename(mini.root / "examples/submitted")
    (mini.submitted / "ann" / "lab0 (1)").mkdir(parents=True)
    line = refused(mini.root, "grade")
    assert "holds no submission of lab0" in line and "lab0 (1)" in line


def test_an_unknown_lab_is_wrong_use(course, refused):
    assert refused(course.root, "grade", "--lab", "lab7").endswith("no lab 'lab7'. There are: lab0.")


def test_a_folder_of_submissions_that_is_missing_empty_or_a_file_is_wrong_use(course, refused, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    assert "doesn't exist" in refused(course.root, "grade", "--submitted", tmp_path / "mistyped")
    assert "holds no submission of lab0" in refused(course.root, "grade", "--submitted", tmp_path / "empty")
    assert "is a file" in refused(course.root, "grade", "--submitted", tmp_path / "file")


@pytest.mark.parametrize(
    "arguments", [[], ["grad"], ["grade", "--jobs", "0"], ["grade", "--nonsense"], ["grade", "x"]]
)
def test_a_mistyped_command_is_wrong_use_and_says_what_there_is(course, monkeypatch, capsys, arguments):
    monkeypatch.chdir(course.root)
    monkeypatch.setattr(sys, "argv", ["autograder", *arguments])
    with pytest.raises(SystemExit) as ending:
        main()
    out, err = capsys.readouterr()
    assert (ending.value.code, out) == (WRONG_USE, "")
    assert "grade" in err and "Traceback" not in err


def test_outside_a_course_the_mend_is_told(refused, tmp_path):
    assert "Run this in the course's folder" in refused(tmp_path, "grade")


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("course.toml", 'out = "graded"', 'out = "graded', "course.toml: line 6"),
        ("course.toml", 'folder = "lab0_chains"', 'folder = "lab0_chain"', "no folder reference/lab0_chain"),
        ("course.toml", "languages", "lnguages", "unknown field"),
        ("reference/lab0_chains/lab.toml", "cpu_s = 1", "cpu_s = = 1", "lab.toml: line 4"),
        (
            "reference/lab0_chains/lab.toml",
            'needs = ["order"]',
            'needs = ["odrer"]',
            '[[task]] "reverse", needs',
        ),
        ("reference/lab0_chains/lab.toml", "points = 5", 'points = "5"', '[[task]] "reverse", points'),
        (
            "reference/lab0_chains/grading/test_graph.py",
            "import pytest",
            "import pytset",
            "test_graph.py, line 1",
        ),
    ],
)
def test_a_broken_course_file_is_one_line_with_its_place(mini, refused, name, old, new, words):
    mini.hand_in("right")
    mini.edit(name, old, new)
    line = refused(mini.root, "grade", "--jobs", 1)
    assert words in line and Path(name).name in line


@pytest.mark.parametrize("out", ["/proc/nowhere", "submitted"])
def test_an_output_folder_that_cannot_be_one_is_wrong_use(course, refused, out):
    line = refused(course.root, "grade", "--out", out)
    assert out in line and "--out" in line


def test_records_of_another_key_are_not_overwritten(course, graded, refused, monkeypatch, tmp_path):
    (tmp_path / "key").write_text("ab" * 32)
    monkeypatch.setenv("ADKIT_KEY_FILE", str(tmp_path / "key"))
    before = (course.out / "lab0/right/record.json").read_bytes()
    assert "was graded with the key" in refused(course.root, "grade")
    assert (course.out / "lab0/right/record.json").read_bytes() == before


def test_a_disk_that_fills_up_stops_the_batch_and_what_is_stored_is_whole(mini):
    mini.hand_in("a-right")
    mini.hand_in("b-prints", engine="print('x' * 16_000)\n" + mini.solved["engine.py"])

    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (16_000, 16_000))

    done = run(mini, "grade", "--jobs", 1, preexec_fn=little_room)
    assert (done.returncode, done.stdout) == (NEEDS_PERSON, "")
    assert "facts.json can't be written: File too large. Make room" in done.stderr
    assert json.loads((mini.out / "lab0/a-right/record.json").read_text())["result"]["points"] == 10
    assert list((mini.out / "lab0/b-prints").iterdir()) == []


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the filter names system calls of x86-64")
def test_without_a_sandbox_grade_refuses_and_names_doctor_until_told_by_a_long_option(mini):
    mini.hand_in("right")
    done = run(mini, "grade", prefix=[sys.executable, "-c", NO_SANDBOX])
    assert (done.returncode, done.stdout) == (WRONG_USE, "")
    assert "autograder doctor" in done.stderr and "--unsafe-no-sandbox" in done.stderr
    assert list(mini.out.rglob("record.json")) == []
    arguments = ("grade", "--unsafe-no-sandbox", "--json", "--jobs", 1)
    done = run(mini, *arguments, prefix=[sys.executable, "-c", NO_SANDBOX])
    assert done.returncode == DONE
    assert json.loads(done.stdout)["level"] == "none"
    assert "WITHOUT a sandbox" in done.stderr


@pytest.mark.parametrize("moment", ["the level is tried", "the graders start", "a student's work hangs"])
def test_ctrl_c_ends_everything_at_once(mini, running, tmp_path, moment):
    mini.hand_in("a-right")
    for number in range(3):
        mini.hand_in(f"b-sleeps{number}", engine="import time\ntime.sleep(100)\n")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        command("grade"),
        cwd=mini.root,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell lets its background jobs ignore SIGINT, and so would this one's; a terminal does not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )
    come = {
        "the level is tried": lambda: any("server.py" in line for line in running()),
        "the graders start": lambda: any("autograder.judging.nursery" in line for line in running()),
        "a student's work hangs": lambda: (mini.out / "lab0/a-right/feedback.md").exists(),
    }[moment]
    end = time.monotonic() + TIMEOUT_S
    while not come() and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.2)
    start = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes at once
    out, err = process.communicate(timeout=TIMEOUT_S)
    assert time.monotonic() - start < 15  # under a second alone; a busy machine is no failure
    assert (process.returncode, out) == (INTERRUPTED, "")
    assert "interrupted" in err and "Traceback" not in err
    assert list(temporary.iterdir()) == []
    for record in mini.out.rglob("*.json"):
        json.loads(record.read_text())


def test_labs_check_tells_whether_labs_are_in_step(mini, monkeypatch, capsys):
    monkeypatch.chdir(mini.root)
    monkeypatch.setattr(sys, "argv", ["autograder", "labs", "--check"])
    with pytest.raises(SystemExit) as ending:
        main()
    assert (ending.value.code, capsys.readouterr().out) == (DONE, "labs/ is in step with reference/.\n")
    mini.edit("labs/lab0_chains/graph.py", "A leaf.", "A leave.")
    with pytest.raises(SystemExit) as ending:
        main()
    out = capsys.readouterr().out
    assert ending.value.code == WRONG_USE
    assert re.search(r"^-.*A leave\.", out, re.MULTILINE) and re.search(r"^\+.*A leaf\.", out, re.MULTILINE)
    assert "make labs" in out


def test_the_committed_labs_of_the_mini_course_are_in_step():
    assert check_labs(load_course(Path(__file__).parents[1] / "courses" / "mini")) == ""
