"""Every way a worker can end is told apart by what the kernel says, and every limit holds."""

import os
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from autograder.course import Limits
from autograder.sandbox.client import Answer, Facts, ForkServer, SandboxError, Session

Run = Callable[..., tuple[Answer, Facts]]
Open = Callable[..., Session]
Living = Callable[[], dict[int, int]]

LIMITS = Limits(cpu_s=0.5, idle_s=0.4, wall_s=5, memory_mb=256)
SOON = 2.0  # seconds: what must not wait for a limit


def attempt(*lines: str) -> str:
    """A module whose `attempt` runs these lines."""
    return "import os, sys, time\nimport numpy as np\ndef attempt(**inputs):\n    " + "\n    ".join(lines)


def test_a_good_program_gives_its_numbers(run: Run) -> None:
    answer, facts = run(attempt("return {'y': 2 * inputs['x']}"), x=np.array([1.0, 2.0]))
    assert answer.outcome == "ok"
    np.testing.assert_array_equal(answer.result["y"], [2.0, 4.0])
    assert 0 < facts.cpu_s < 1
    assert 0 < facts.memory_mb < 200


def test_inputs_may_be_changed_in_place_and_nested(run: Run) -> None:
    lines = "inputs['xs'][0]['a'] += 1", "return {'y': inputs['xs'][0]['a']}"
    answer, _ = run(attempt(*lines), xs=[{"a": np.zeros(2)}])
    np.testing.assert_array_equal(answer.result["y"], [1.0, 1.0])


def test_an_exception_comes_with_the_students_own_frames_only(open_session: Open) -> None:
    source = "import helper\ndef attempt():\n    return helper.divide(1)\n"
    helper = "import functools\ndef divide(x):\n    return functools.reduce(lambda a, b: a / b, [x, 0])\n"
    worker = open_session(source, helper=helper).worker(LIMITS)
    answer = worker.run("attempt", {})
    worker.end()
    assert (answer.outcome, answer.failure and answer.failure.name) == ("raised", "ZeroDivisionError")
    assert answer.failure is not None
    frames = [(frame.file, frame.line, frame.function, frame.text) for frame in answer.failure.frames]
    line = "return functools.reduce(lambda a, b: a / b, [x, 0])"
    assert frames == [
        ("m.py", 3, "attempt", "return helper.divide(1)"),
        ("helper.py", 3, "divide", line),
        ("helper.py", 3, "divide.<locals>.<lambda>", line),
    ]


def test_a_syntax_error_names_file_and_line(open_session: Open) -> None:
    worker = open_session("x = 1\ndef attempt(:\n    pass\n").worker(LIMITS)
    answer = worker.load("m")
    worker.end()
    assert answer.failure is not None
    assert (answer.outcome, answer.failure.builtin) == ("raised", "SyntaxError")
    assert [(frame.file, frame.line, frame.text) for frame in answer.failure.frames] == [
        ("m.py", 2, "def attempt(:")
    ]


def test_a_module_that_is_missing_is_named(open_session: Open) -> None:
    worker = open_session("import torch\n").worker(LIMITS)
    answer = worker.load("m")
    worker.end()
    assert answer.failure is not None
    assert (answer.failure.name, answer.failure.text) == ("ModuleNotFoundError", "No module named 'torch'")


@pytest.mark.parametrize(
    ("lines", "builtin"),
    [
        (["raise NotImplementedError('blank')"], "NotImplementedError"),
        (["class Mine(NotImplementedError): pass", "raise Mine"], "NotImplementedError"),
        (["def deeper(): return deeper()", "deeper()"], "RecursionError"),
        (["import m_of_nowhere"], "ModuleNotFoundError"),
        (["raise KeyboardInterrupt"], "KeyboardInterrupt"),
        (["return 1.0"], "ValueError"),
        (["return {'x': 2 ** 64}"], "ValueError"),
        (["return {'x': chr(0xD800)}"], "ValueError"),
        (["return {'x': object()}"], "ValueError"),
    ],
)
def test_an_exception_is_known_by_its_nearest_builtin_class(run: Run, lines: list[str], builtin: str) -> None:
    answer, _ = run(attempt(*lines))
    assert answer.failure is not None
    assert (answer.outcome, answer.failure.builtin) == ("raised", builtin)


@pytest.mark.parametrize(
    "lines",
    [
        ["return {'x': np.zeros(50 << 27)}"],
        ["held = []", "while True: held.append(bytearray(1 << 20))"],
        ["held = ()", "while True: held = (held,)"],
        ["sys.modules['held'] = held = []", "while True: held.append([0])"],
    ],
    ids=["one array", "many blocks", "a chain of small things", "small things kept by a global"],
)
def test_taking_too_much_memory_is_out_of_memory(run: Run, lines: list[str]) -> None:
    answer, facts = run(attempt(*lines), Limits(cpu_s=10, idle_s=5, memory_mb=64))
    assert answer.outcome == "out-of-memory"
    assert facts.memory_mb < 64 + 100


@pytest.mark.parametrize(
    "lines",
    [
        ["while True: pass"],
        ["import signal", "signal.signal(signal.SIGXCPU, signal.SIG_IGN)", "while True: pass"],
        ["import signal", "signal.signal(signal.SIGTERM, signal.SIG_IGN)", "while True: 10 ** 100_000"],
        ["os.write(3, b'\\xff\\xff\\0\\0')", "while True: os.write(3, b'x')"],
    ],
    ids=["loop", "loop that ignores SIGXCPU", "loop in C", "endless reply"],
)
def test_a_program_that_computes_on_is_stopped_by_its_cpu_time(run: Run, lines: list[str]) -> None:
    answer, facts = run(attempt(*lines))
    assert answer.outcome in ("timed-out", "malformed-reply")
    if answer.outcome == "timed-out":
        assert answer.detail == "cpu"
        assert abs(facts.cpu_s - LIMITS.cpu_s) < 0.5


def test_the_cpu_limit_is_in_cpu_seconds_also_above_one(run: Run) -> None:
    answer, facts = run(attempt("while True: pass"), Limits(cpu_s=1.2, idle_s=1))
    assert answer.outcome == "timed-out"
    assert abs(facts.cpu_s - 1.2) < 0.5


@pytest.mark.parametrize(
    "lines",
    [
        ["time.sleep(100)"],
        ["import signal", "os.kill(os.getpid(), signal.SIGSTOP)"],
        ["import threading", "threading.Event().wait()"],
        ["os.write(3, b'\\xff\\0\\0\\0part of a reply')", "time.sleep(100)"],
    ],
    ids=["sleep", "stopped", "waiting", "half a reply"],
)
def test_a_program_that_does_nothing_is_stopped_as_idle(run: Run, lines: list[str]) -> None:
    answer, facts = run(attempt(*lines))
    assert (answer.outcome, answer.detail) == ("timed-out", "idle")
    assert LIMITS.idle_s < facts.wall_s < LIMITS.idle_s + 1


def test_a_program_that_dawdles_is_stopped_by_the_clock(run: Run) -> None:
    dawdle = "while True: sum(range(20_000)); time.sleep(0.002)"
    answer, _ = run(attempt(dawdle), Limits(cpu_s=5, idle_s=0.4, wall_s=0.7))
    assert (answer.outcome, answer.detail) == ("timed-out", "wall")


def test_short_naps_in_many_calls_are_stopped_by_the_clock_of_all_calls_together(open_session: Open) -> None:
    limits = Limits(cpu_s=5, idle_s=1, wall_s=1)
    worker = open_session(attempt("time.sleep(0.05)", "return {}")).worker(limits)
    answers = [worker.run("attempt", {}) for _ in range(30)]
    worker.end()
    assert answers[0].outcome == "ok"
    assert (answers[-1].outcome, answers[-1].detail) == ("timed-out", "wall")
    assert 1 < worker.wall_s < 3


def test_the_time_between_calls_is_not_the_worker_s(open_session: Open) -> None:
    worker = open_session(attempt("return {}")).worker(Limits(cpu_s=5, idle_s=1, wall_s=1))
    assert worker.run("attempt", {}).outcome == "ok"
    time.sleep(1.2)
    assert worker.run("attempt", {}).outcome == "ok"
    worker.end()
    assert worker.wall_s < 1


def test_a_machine_that_keeps_everybody_waiting_makes_nobody_idle(
    open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = open_session(attempt("time.sleep(0.15)", "return {}")).worker(LIMITS)
    clock = time.monotonic
    begun = clock()
    monkeypatch.setattr(time, "monotonic", lambda: clock() + (3 if clock() > begun + 0.05 else 0))
    assert worker.run("attempt", {}).outcome == "ok"
    worker.end()


@pytest.mark.parametrize(
    ("lines", "outcome", "detail"),
    [
        (["os._exit(0)"], "exited-early", "exit code 0"),
        (["os._exit(3)"], "exited-early", "exit code 3"),
        (["sys.exit()"], "exited-early", "exit code 97"),
        (["import ctypes", "ctypes.string_at(8)"], "crashed", "SIGSEGV"),
        (["os.abort()"], "crashed", "SIGABRT"),
        (
            ["os.kill(os.getpid(), 40)"],
            "crashed",
            "signal 40",
        ),  # Python has no name for most real-time signals
        (["import ctypes", "ctypes.CDLL(None).ptrace(0, 0, 0, 0)"], "forbidden-action", "system call"),
        (["os.write(3, b'hello')"], "malformed-reply", "more than 64 MB"),
        (["os.write(3, b'\\5\\0\\0\\0hello')"], "malformed-reply", ""),
        (["return {'x': np.zeros(1 << 18)}"], "malformed-reply", "more than 1 MB"),
    ],
)
def test_every_early_end_has_its_name(run: Run, lines: list[str], outcome: str, detail: str) -> None:
    limits = Limits(cpu_s=0.5, idle_s=0.4, reply_mb=1 if "np." in lines[0] else 64)
    answer, facts = run(attempt(*lines), limits)
    assert answer.outcome == outcome
    assert detail in answer.detail
    assert facts.wall_s < SOON


def test_two_answers_to_one_call_are_malformed(run: Run) -> None:
    forged = "reply = codec.encode(codec.Reply('attempt', {}))"
    write = "os.write(3, 2 * (len(reply).to_bytes(4, 'little') + reply))"
    answer, _ = run(attempt("from autograder.worker import codec", forged, write, "time.sleep(9)"))
    assert (answer.outcome, answer.detail) == ("malformed-reply", "more than one answer to a call")


def test_an_answer_to_another_call_is_malformed(run: Run) -> None:
    forged = "reply = codec.encode(codec.Reply('other', {}))"
    write = "os.write(3, len(reply).to_bytes(4, 'little') + reply)"
    answer, _ = run(attempt("from autograder.worker import codec", forged, write, "time.sleep(9)"))
    assert (answer.outcome, answer.detail) == ("malformed-reply", "it answers another call")


def test_closing_the_channel_and_running_on_is_exited_early(run: Run) -> None:
    answer, facts = run(attempt("os.close(3)", "while True: pass"), Limits(cpu_s=5, idle_s=5))
    assert answer.outcome == "exited-early"
    assert facts.wall_s < SOON


def test_recursion_too_deep_for_the_stack_of_c_ends_the_worker_alone(run: Run) -> None:
    endless = "class Endless:", "    def __eq__(self, other): return [self] == [other]"
    lines = "sys.setrecursionlimit(10 ** 9)", *endless, "return {'x': Endless() == Endless()}"
    answer, _ = run(attempt(*lines))
    assert answer.outcome == "crashed" or (answer.failure and answer.failure.builtin == "RecursionError")


def test_a_flood_of_prints_keeps_the_result_and_the_memory(run: Run) -> None:
    flood = "for _ in range(100_000): print('x' * 100)"
    answer, facts = run(attempt(flood, "return {'y': 1.0}"), Limits(cpu_s=5, output_kb=64))
    assert answer.result == {"y": 1.0}
    assert facts.printed == ("x" * 100 + "\n") * 648 + "x" * 88
    assert facts.memory_mb < 100


def test_any_bytes_may_be_printed(run: Run) -> None:
    lines = "print('∂f/∂x', chr(0xD800))", "sys.stdout.flush()", "sys.stdout.buffer.write(b'\\xff\\n')"
    answer, facts = run(attempt(*lines, "sys.stderr.write('no line end')", "return {}"))
    assert answer.outcome == "ok"
    assert facts.printed == "∂f/∂x \\ud800\n\ufffd\nno line end"


@pytest.mark.parametrize(
    "lines", [["sys.stdout.close()"], ["sys.stdout = None"], ["os.close(1)", "os.close(2)"]]
)
def test_closing_ones_output_does_no_harm(run: Run, lines: list[str]) -> None:
    assert run(attempt(*lines, "return {'y': 1.0}"))[0].result == {"y": 1.0}


def test_what_was_printed_before_an_exit_is_kept(run: Run) -> None:
    assert run(attempt("print('almost')", "sys.exit()"))[1].printed == "almost\n"


def test_a_thread_and_an_exit_handler_do_not_outlive_the_check(run: Run, living: Living) -> None:
    before = set(living())
    lines = (
        "import atexit, threading",
        "atexit.register(lambda: time.sleep(100))",
        "threading.Thread(target=lambda: time.sleep(100)).start()",
        "return {'y': 1.0}",
    )
    answer, facts = run(attempt(*lines))
    assert answer.outcome == "ok"
    assert facts.wall_s < SOON
    assert len(living()) <= len(before) + 2  # the jail, which in level full is two processes


def test_asking_for_input_ends_at_once(run: Run) -> None:
    answer, facts = run(attempt("input('number? ')"))
    assert answer.failure is not None
    assert answer.failure.name == "EOFError"
    assert facts.wall_s < SOON


def test_a_breakpoint_left_over_ends_at_once(run: Run) -> None:
    answer, facts = run(attempt("breakpoint()", "return {'y': 1.0}"), Limits(cpu_s=5))
    assert answer.failure is not None
    assert answer.failure.name == "BdbQuit"
    assert facts.wall_s < SOON


def test_checks_of_one_submission_share_no_state(open_session: Open) -> None:
    session = open_session(
        "count = 0\ndef attempt():\n    global count\n    count += 1\n    return {'n': count}\n"
    )
    for _ in range(2):
        worker = session.worker(LIMITS)
        assert worker.load("m").outcome == "ok"
        assert worker.run("attempt", {}).result == {"n": 1}
        assert worker.run("attempt", {}).result == {"n": 2}
        worker.end()


LITTER = (
    "os.umask(0)",
    "for path in ('/tmp/plain', '/tmp/' + 'x' * 200): open(path, 'w').close()",
    "for number in range(300): os.mkdir(f'/tmp/wide{number}', 0)",
    "os.chdir('/tmp')",
    "for _ in range(3000):",
    "    os.mkdir('deep', 0o700)",
    "    os.chdir('deep')",
    "open('last', 'w').close()",
    "return {}",
)


def test_a_check_finds_nothing_of_the_last_one_in_tmp(server: ForkServer, open_session: Open) -> None:
    if server.level != "full":
        pytest.skip("at level portable nothing can be written at all")
    look = "def look(): return {'left': os.listdir('/tmp')}"
    session = open_session(attempt(*LITTER) + "\n" + look)
    answers = []
    for program in ("attempt", "look", "attempt", "look"):
        worker = session.worker(Limits(cpu_s=5, idle_s=3, memory_mb=256))
        answers.append(worker.run(program, {}))
        worker.end()
    assert [answer.outcome for answer in answers] == ["ok"] * 4
    assert answers[1].result == answers[3].result == {"left": []}


def test_taking_all_memory_and_keeping_it_is_out_of_memory_in_the_next_call(open_session: Open) -> None:
    source = """held = []
def attempt(**inputs):
    try:
        while True: held.append(bytearray(1 << 18))
    except MemoryError:
        del held[-8:]
    return {}
"""
    worker = open_session(source).worker(Limits(cpu_s=5, idle_s=3, memory_mb=64))
    assert worker.run("attempt", {}).outcome == "ok"
    assert worker.run("attempt", {"x": np.zeros(1 << 20)}).outcome == "out-of-memory"
    worker.end()


def test_after_its_end_a_worker_repeats_its_answer(open_session: Open) -> None:
    worker = open_session(attempt("os._exit(0)")).worker(LIMITS)
    assert worker.run("attempt", {}) == worker.run("attempt", {})
    assert worker.end() == worker.end() is not None


def a_worker(living: Living) -> tuple[int, int]:
    """The process id of the one worker, and its jail's."""
    parents = living()
    (worker,) = (pid for pid in parents if pid not in parents.values())
    return worker, parents[worker]


def lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def wait_until(holds: Callable[[], bool]) -> bool:
    """Whether it holds within some seconds."""
    until = time.monotonic() + 5
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    return holds()


def test_a_worker_killed_from_outside_is_a_fault_of_the_grader(open_session: Open, living: Living) -> None:
    session = open_session(attempt("return {}"))
    worker = session.worker(LIMITS)
    assert worker.run("attempt", {}).outcome == "ok"
    os.kill(a_worker(living)[0], signal.SIGKILL)
    answer = worker.run("attempt", {})
    assert (answer.outcome, answer.detail[:19]) == ("grader-fault", "killed from outside")
    worker.end()


def test_a_killed_jail_is_a_fault_of_the_grader_and_leaves_no_worker(
    open_session: Open, living: Living
) -> None:
    session = open_session(attempt("return {}"))
    worker = session.worker(LIMITS)
    assert worker.run("attempt", {}).outcome == "ok"
    process, jail = a_worker(living)
    os.kill(jail, signal.SIGKILL)
    assert wait_until(lambda: not lives(process))
    assert worker.run("attempt", {}).outcome == "grader-fault"
    assert worker.end() is None
    another = session.worker(LIMITS)
    assert another.run("attempt", {}).outcome == "grader-fault"
    assert another.end() is None


def test_a_killed_fork_server_is_an_error_of_the_sandbox(server: ForkServer, living: Living) -> None:
    before = set(living())
    with ForkServer(server.level) as own:
        (process,) = set(living()) - before
        own.session({}, "", []).close()
        os.kill(process, signal.SIGKILL)
        with pytest.raises(SandboxError):
            own.session({}, "", [])


def test_a_session_leaves_nothing_behind(
    open_session: Open, living: Living, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # others may grade on this machine
    before = set(living())
    session = open_session(attempt("return {}"))
    worker = session.worker(LIMITS)
    session.close()
    assert worker.end() is None
    assert wait_until(lambda: set(living()) <= before)
    assert list(tmp_path.iterdir()) == []
