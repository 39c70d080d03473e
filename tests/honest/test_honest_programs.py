"""Honest programs run in the sandbox as at home. The docstring of a program names what is not to be had:

Writes.     a place to write, which level portable doesn't give
Refused: …  by design, with an ordinary exception of the operating system
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.course import Limits
from autograder.sandbox.client import ForkServer, SandboxError, Session

PROGRAMS = Path(__file__).with_name("programs.py")
FILES = {
    "programs.py": PROGRAMS.read_text(encoding="utf-8"),
    "helper.py": "def square(x):\n    return x * x\n",
    "data.txt": "data",
}
CALL = "def run(lab, name): return {'nothing': getattr(lab.programs, name)()}"
LIMITS = Limits(cpu_s=10, idle_s=3, wall_s=30, memory_mb=1024)
WRITES, REFUSED = "Writes.", "Refused: "


def programs() -> list[tuple[str, str]]:
    """Every program's name, and its docstring."""
    functions = [node for node in ast.parse(FILES["programs.py"]).body if isinstance(node, ast.FunctionDef)]
    return [(function.name, ast.get_docstring(function) or "") for function in functions]


@pytest.fixture(scope="module", params=["full", "portable"])
def server(request: pytest.FixtureRequest) -> Iterator[ForkServer]:
    try:
        with ForkServer(request.param) as server:
            server.session({}, "", []).close()
            yield server
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def session(server: ForkServer) -> Iterator[Session]:
    with server.session(FILES, CALL, ["programs"]) as session:
        yield session


@pytest.mark.parametrize(("name", "note"), [pytest.param(*program, id=program[0]) for program in programs()])
def test_the_honest_program_runs(server: ForkServer, session: Session, name: str, note: str) -> None:
    worker = session.worker(LIMITS)
    answer = worker.run("run", {"name": name})
    worker.end()
    if note.startswith(REFUSED) or (note == WRITES and server.level == "portable"):
        assert answer.outcome == "raised"
        assert answer.failure is not None
        assert answer.failure.builtin in ("PermissionError", "FileNotFoundError", "OSError")
    else:
        assert answer.outcome == "ok", answer
        assert answer.result == {"nothing": None}


def test_there_are_at_least_thirty_honest_programs_and_few_exceptions() -> None:
    notes = [note for _, note in programs()]
    assert len(notes) >= 30
    assert sum(note != "" for note in notes) <= 8
