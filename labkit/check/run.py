"""Run the public tests in a child process, and outlive whatever happens there: hangs, crashes, exits."""

import contextlib
import functools
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import labkit
from labkit.lab import Lab, WrongUse

START_S = 60.0  # Python, NumPy and pytest, on a slow disk behind a virus scanner
COMPILE_S = 60.0
TEST_S, LATER_TEST_S = 3.0, 1.5  # after one test was stopped, others like it should cost less
FINE = ("passed", "no-compiler")  # where there is no compiler, kernels are nothing to mend
# -P keeps the student's folder from standing in the place of Python's own modules; labkit may lie in it.
START = (
    "import sys; sys.path.insert(0, {!r}); import labkit; del sys.path[0]; "
    "from labkit.check import child; child.main()"
)


Start = Callable[[IO[bytes]], "subprocess.Popen[bytes]"]


@dataclass(frozen=True)
class Outcome:
    """How a test, or the import of a module, ended; `details` depends on the kind.

    kind: passed, unwritten, wrong, reported (by the checked mode of kernels), broken (its module can't be
    imported), uncompiled, crashed, stopped (for time), died, no-compiler, or skipped.
    """

    kind: str
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Test:
    """A public test: its task, and the law that it holds, by language."""

    name: str
    task: str
    law: dict[str, str]


@dataclass
class Run:
    """All that is known after one or more child processes."""

    imports: dict[str, Outcome] = field(default_factory=dict)
    tests: dict[str, Test] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    seconds_a_test: float = TEST_S

    def finished(self) -> bool:
        """Whether every test has an outcome."""
        return bool(self.tests) and self.tests.keys() <= self.outcomes.keys()

    def all_outcomes(self) -> list[Outcome]:
        """Of imports and tests, as far as they have run."""
        return [*self.imports.values(), *self.outcomes.values()]

    def fine(self) -> bool:
        """Whether nothing has been found that is to be mended."""
        return all(outcome.kind in FINE for outcome in self.all_outcomes())

    def lose(self, what: str, outcome: Outcome) -> None:
        """A test or an import that ended its process. A stopped test's task is not tried further."""
        if what not in self.tests:
            self.imports[what] = outcome
            return
        self.outcomes[what] = outcome
        if outcome.kind == "stopped":
            self.seconds_a_test = LATER_TEST_S
            for name, test in self.tests.items():
                if test.task == self.tests[what].task:
                    self.outcomes.setdefault(name, Outcome("skipped"))


Enough = Callable[[Run], bool]


def run_tests(
    lab: Lab,
    seed: int,
    start: Start | None = None,
    unusable: Collection[str] = (),
    enough: Enough = Run.finished,
) -> Run:
    """The outcome of every public test of a lab, and of importing its modules.

    `start`: how to start a process of tests, for who runs them elsewhere; `unusable`: files known to be;
    `enough`: whether what is known by now will do.
    Cost: a second, and some seconds more for each test that has to be stopped.
    Raises: WrongUse if the tests can't be run at all.
    """
    run = Run(imports={name: Outcome("unusable") for name in unusable})
    while not enough(run):
        _run_once(lab, seed, run, start or functools.partial(_child, lab), enough)
    return run


def _run_once(lab: Lab, seed: int, run: Run, start: Start, enough: Enough) -> None:
    """One child process; it ends after the last test, or with the first that takes it down."""
    with tempfile.TemporaryFile() as errors, start(errors) as process:
        try:
            _ask(process, lab, seed, run)
            lost = _follow(process, lab, run, enough)
        finally:
            process.kill()
        said = _last_line(errors)
    if lost is not None:
        what, outcome = lost
        if not what:
            raise WrongUse("student.cannot-run", text=said or outcome.details["text"])
        run.lose(what, outcome)


def _child(lab: Lab, errors: IO[bytes]) -> "subprocess.Popen[bytes]":
    root = str(Path(labkit.__path__[0]).parent)
    command = [sys.executable, "-P", "-B", "-X", "utf8", "-c", START.format(root)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.Popen(
        command, cwd=lab.folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
    )


def _ask(process: "subprocess.Popen[bytes]", lab: Lab, seed: int, run: Run) -> None:
    assert process.stdin is not None
    wanted = {
        "folder": str(lab.folder),
        "modules": lab.modules,
        "kernels": lab.kernels,
        "seed": seed,
        "skip": sorted(run.outcomes),
        "broken": sorted(name for name, outcome in run.imports.items() if outcome.kind not in FINE),
    }
    try:
        process.stdin.write(json.dumps(wanted).encode())
        process.stdin.close()
    except OSError:  # it has ended already; _follow finds out
        pass


def _follow(
    process: "subprocess.Popen[bytes]", lab: Lab, run: Run, enough: Enough
) -> tuple[str, Outcome] | None:
    """Take the child's events into `run`. If it ends early: what it was at ("": nothing), and its ending."""
    at, limit = "", START_S
    lines = _lines(process)
    while True:
        try:
            line = lines.get(timeout=limit)
        except queue.Empty:
            return at, Outcome("stopped", {"seconds": limit, "text": "no answer"})
        if not line:
            return at, Outcome("died", {"text": _ending(process.wait())})
        event = json.loads(line)
        kind = event.pop("event")
        if kind == "end":
            # pytest itself ends before the last test only for this, or for test files that it can't read.
            died = Outcome("died", {"text": "KeyboardInterrupt" if at else "tests/"})
            return None if run.finished() else (at, died)
        if kind == "collected":
            run.tests = {
                test["test"]: Test(test["test"], test["task"], test["law"]) for test in event["tests"]
            }
        elif kind in ("importing", "started"):
            at, limit = event["module" if kind == "importing" else "test"], run.seconds_a_test
            if at in lab.kernels:
                limit = COMPILE_S
        else:
            at, limit = "", START_S
            name = event.pop("module" if kind == "imported" else "test")
            into = run.imports if kind == "imported" else run.outcomes
            into[name] = Outcome(event.pop("outcome"), event)
            if enough(run):
                return None


def _lines(process: "subprocess.Popen[bytes]") -> "queue.SimpleQueue[bytes]":
    """What the child tells, line by line as it comes; at last an empty one."""
    assert process.stdout is not None
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    stdout = process.stdout

    def read() -> None:
        with contextlib.suppress(ValueError):  # closed, once nobody listens any more
            for line in stdout:
                lines.put(line)
        lines.put(b"")

    threading.Thread(target=read, daemon=True).start()
    return lines


def _last_line(errors: IO[bytes]) -> str:
    errors.seek(0)
    return "".join(errors.read().decode(errors="replace").strip().splitlines()[-1:])


def _ending(code: int) -> str:
    if code < 0:
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}" if code < 0x80000000 else f"exit code {code:#x}"
