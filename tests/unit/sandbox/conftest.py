"""A fork server per level, shared by the tests of a module; a level not to be had here is skipped."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.course import Limits
from autograder.sandbox.client import Answer, Facts, ForkServer, SandboxError, Session

PROGRAMS = """
def attempt(lab, **inputs): return lab.m.attempt(**inputs)
def look(lab): return lab.m.look()
"""
LIMITS = Limits(cpu_s=0.5, idle_s=0.4, wall_s=5, memory_mb=256)

Run = Callable[..., tuple[Answer, Facts]]


@pytest.fixture(scope="module", params=["full", "portable"])
def server(request: pytest.FixtureRequest) -> Iterator[ForkServer]:
    try:
        with ForkServer(request.param) as server:
            server.session({}, "", []).close()
            yield server
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture
def open_session(server: ForkServer) -> Iterator[Callable[..., Session]]:
    """Opens a submission of one module `m` (and helpers); closes it after the test."""
    opened = []

    def open_session(source: str, **helpers: str) -> Session:
        files = {"m.py": source} | {f"{name}.py": text for name, text in helpers.items()}
        opened.append(server.session(files, PROGRAMS, ["m"]))
        return opened[-1]

    yield open_session
    for session in opened:
        session.close()


@pytest.fixture
def run(open_session: Callable[..., Session]) -> Run:
    """Runs `attempt` of a source once, in a worker of its own."""

    def run(source: str, limits: Limits = LIMITS, **inputs: Any) -> tuple[Answer, Facts]:
        worker = open_session(source).worker(limits)
        answer = worker.run("attempt", inputs)
        facts = worker.end()
        assert facts is not None
        return answer, facts

    return run


def processes_below(ancestor: int) -> dict[int, int]:
    """Every living process below another: its id and its parent's."""
    found = {}
    for child in map(int, Path(f"/proc/{ancestor}/task/{ancestor}/children").read_text().split()):
        with contextlib.suppress(OSError):  # it may end while we look
            if Path(f"/proc/{child}/stat").read_text().rpartition(") ")[2][0] != "Z":
                found |= {child: ancestor, **processes_below(child)}
    return found


@pytest.fixture
def living() -> Callable[[], dict[int, int]]:
    """The processes that live below this one."""
    return lambda: processes_below(os.getpid())
