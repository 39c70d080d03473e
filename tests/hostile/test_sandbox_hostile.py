"""Programs that attack the grader, each with the ending that it must come to, at every level.

The programs stand in `sandbox/`, one function each; the last line of a docstring says how it ends:

    refused         the system call was refused: an exception of the operating system's
    raised NAME     another exception, by its nearest built-in class
    ok              it ran, and reached nothing
    wrong           it gave numbers, and they are wrong
    reached         it got through: a known weakness of this level
    anything else   is the outcome itself

After each the grader's own file and process are as they were, and nothing of the attack is left.
"""

import ast
import contextlib
import os
import socket
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.course import Limits
from autograder.sandbox.client import Answer, ForkServer, SandboxError, Session

PROGRAMS = Path(__file__).with_name("sandbox")
CALL = "def attack(lab, file, name, target): return {'reached': getattr(getattr(lab, file), name)(target)}"
LIMITS = Limits(cpu_s=0.3, idle_s=0.3, wall_s=5, memory_mb=160, output_kb=64, reply_mb=8)
PATIENT = Limits(cpu_s=10, idle_s=3, wall_s=20, memory_mb=160, output_kb=64, reply_mb=8)
SECRET = "only the grader ", "reads this: 0x5EC12E7"
REFUSALS = {"PermissionError", "FileNotFoundError", "ProcessLookupError", "ModuleNotFoundError", "OSError"}
LEFT = "adkit-attack"


def attacks() -> Iterator[Any]:
    for path in sorted(PROGRAMS.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and "Ends: " in (ast.get_docstring(node) or ""):
                ends = (ast.get_docstring(node) or "").rpartition("Ends: ")[2].strip()
                yield pytest.param(path.stem, node.name, ends, id=f"{path.stem}.{node.name}")


def expected(ends: str, level: str) -> list[str]:
    """The endings allowed at a level."""
    if ", " in ends:
        ends = dict(part.split(" ", 1) for part in ends.split(", "))[level]
    return ends.split(" or ")


def ending(answer: Answer) -> str:
    """How an attack ended, in the words above."""
    if answer.outcome == "raised":
        assert answer.failure is not None
        return "refused" if answer.failure.builtin in REFUSALS else f"raised {answer.failure.builtin}"
    if answer.outcome != "ok":
        return answer.outcome
    reached = answer.result["reached"]
    return {True: "reached", False: "ok", None: "ok"}[reached] if not isinstance(reached, float) else "wrong"


class Surroundings:
    """What attacks aim at: a file, sockets that listen, a process that may die, another submission."""

    def __init__(self, folder: Path, other: str) -> None:
        self.file = folder / "file"
        self.file.write_text("".join(SECRET))
        kinds = (
            (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            (socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "stream")),
            (socket.AF_UNIX, socket.SOCK_STREAM, f"\0adkit-{os.getpid()}"),
            (socket.AF_UNIX, socket.SOCK_DGRAM, str(folder / "datagram")),
        )
        self.sockets = []
        for family, kind, place in kinds:
            self.sockets.append(socket.socket(family, kind))
            self.sockets[-1].bind(place)
            self.sockets[-1].setblocking(False)
            if kind == socket.SOCK_STREAM:
                self.sockets[-1].listen()
        for path in folder.iterdir():
            path.chmod(0o666)
        self.canary = subprocess.Popen(["sleep", "1000"])
        self.target = {
            "file": str(self.file),
            "secret": list(SECRET),
            "port": self.sockets[0].getsockname()[1],
            "stream": str(folder / "stream"),
            "abstract": f"\0adkit-{os.getpid()}",
            "datagram": str(folder / "datagram"),
            "canary": self.canary.pid,
            "grader": os.getpid(),
            "other": other,
            "packages": sysconfig.get_path("purelib"),
        }

    def assert_unharmed(self) -> None:
        assert self.file.read_text() == "".join(SECRET)
        assert self.canary.poll() is None
        assert os.getpriority(os.PRIO_PROCESS, self.canary.pid) == 0
        for place in (*map(Path, (tempfile.gettempdir(), "/dev/shm", "/var/tmp")), self.file.parent):
            assert not [name for name in os.listdir(place) if name.startswith(LEFT)]
        for server in self.sockets:
            with pytest.raises(BlockingIOError):
                server.recv(1) if server.type == socket.SOCK_DGRAM else server.accept()

    def close(self) -> None:
        self.canary.kill()
        self.canary.wait()
        for one in self.sockets:
            one.close()


@pytest.fixture(scope="module", params=["full", "portable"])
def server(request: pytest.FixtureRequest) -> Iterator[ForkServer]:
    try:
        with ForkServer(request.param) as server:
            server.session({}, "", []).close()
            yield server
    except SandboxError as error:
        pytest.skip(str(error))


def submission(server: ForkServer) -> Session:
    files = {path.name: path.read_text(encoding="utf-8") for path in PROGRAMS.glob("*.py")}
    return server.session(files, CALL, [name.removesuffix(".py") for name in files])


@pytest.fixture(scope="module")
def session(server: ForkServer) -> Iterator[Session]:
    with submission(server) as session:
        yield session


@pytest.fixture(scope="module")
def surroundings(
    server: ForkServer, session: Session, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Surroundings]:
    folder = tmp_path_factory.mktemp("grader")
    known = set(Path(tempfile.gettempdir()).glob("adkit-sub-*"))
    with server.session({"graph.py": "answer = 42"}, "", []):
        new = set(Path(tempfile.gettempdir()).glob("adkit-sub-*")) - known
        surroundings = Surroundings(folder, str([*new, Path("/sub")][0] / "graph.py"))
        yield surroundings
        surroundings.close()


@pytest.mark.parametrize(("file", "name", "ends"), list(attacks()))
def test_the_attack_ends_as_it_must_and_harms_nobody(
    server: ForkServer, session: Session, surroundings: Surroundings, file: str, name: str, ends: str
) -> None:
    before = processes(os.getpid())
    worker = session.worker(LIMITS if "timed-out" in ends else PATIENT)
    answer = worker.run("attack", {"file": file, "name": name, "target": surroundings.target})
    facts = worker.end()
    assert facts is not None
    assert ending(answer) in expected(ends, server.level), answer
    assert "".join(SECRET) not in repr((answer, facts.printed))
    assert len(facts.printed.encode("utf-8", "replace")) <= 3 * (LIMITS.output_kb << 10)
    surroundings.assert_unharmed()
    assert processes(os.getpid()) <= before


def children(process: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def processes(ancestor: int) -> set[int]:
    """The living processes below one."""
    found = set()
    for child in children(ancestor):
        with contextlib.suppress(OSError):  # it may end while we look
            if (Path(f"/proc/{child}/stat").read_text().rpartition(") ")[2])[0] != "Z":
                found |= {child, *processes(child)}
    return found


def test_there_are_enough_attacks() -> None:
    names = [parameters.id for parameters in attacks()]
    assert len(names) == len(set(names)) >= 60


WRITE = """
import os, sys
def attempt(**inputs):
    for folder in ("/tmp", "/dev/shm", "/var/tmp", os.path.dirname(__file__), os.getcwd()):
        try:
            with open(os.path.join(folder, "adkit-attack.py"), "w") as file: file.write("found = True")
        except OSError: pass
    import numpy, msgspec, random, math
    numpy.sum = numpy.dot = msgspec.json = random.random = math.sin = None
    sys.modules["adkit-attack"] = sys
    os.environ["ATTACK"] = "1"
    sys.path.insert(0, "/tmp")
    return {}
"""
LOOK = """
import glob, os, sys
def attempt(**inputs):
    import math, numpy, random
    folders = "/tmp", "/dev/shm", "/var/tmp", "."
    found = [path for folder in folders for path in glob.glob(folder + "/adkit-*")]
    found += ["module"] * ("adkit-attack" in sys.modules) + [*os.environ]
    assert numpy.sum(numpy.ones(3)) == 3 and math.sin(0) == 0 and random.random() < 1
    return {"found": len(found)}
"""
ATTEMPT = "def attempt(lab): return lab.m.attempt()"


def attempt(session: Session) -> Answer:
    worker = session.worker(PATIENT)
    answer = worker.run("attempt", {})
    worker.end()
    return answer


def test_the_next_student_finds_nothing_of_the_last_one(server: ForkServer) -> None:
    with server.session({"m.py": LOOK}, ATTEMPT, ["m"]) as before:
        with server.session({"m.py": WRITE}, ATTEMPT, ["m"]) as last:
            assert attempt(last).outcome == "ok"
            with server.session({"m.py": LOOK}, ATTEMPT, ["m"]) as beside:
                assert attempt(beside).result == {"found": 0}
        with server.session({"m.py": LOOK}, ATTEMPT, ["m"]) as after:
            assert attempt(after).result == {"found": 0}
        assert attempt(before).result == {"found": 0}


def test_the_next_check_runs_the_modules_as_they_were_handed_in(server: ForkServer) -> None:
    source = (
        WRITE
        + "answer = 42\ndef attempt2(): return {'answer': answer, 'none': __import__('math').sin is None}\n"
    )
    programs = ATTEMPT + "\ndef again(lab): return lab.m.attempt2()"
    with server.session({"m.py": source}, programs, ["m"]) as session:
        assert attempt(session).outcome == "ok"
        worker = session.worker(PATIENT)
        answer = worker.run("again", {})
        worker.end()
    assert answer.result == {"answer": 42, "none": False}


def test_a_class_of_attackers_leaves_the_server_as_it_was(
    server: ForkServer, measure: Callable[[int], int]
) -> None:
    """After ten students with broken endings it forks as before, and no descriptor is kept."""
    (process,) = (pid for pid in children(os.getpid()) if "server.py" in command(pid))
    before = measure(process)
    for number in range(10):
        source = f"import os\ndef attempt(): os._exit({number})"
        with server.session({"m.py": source}, ATTEMPT, ["m"]) as session:
            assert attempt(session).outcome == "exited-early"
    assert measure(process) == before


@pytest.fixture
def measure() -> Callable[[int], int]:
    """Counts a process's open files."""
    return lambda process: len(os.listdir(f"/proc/{process}/fd"))


def command(process: int) -> str:
    return Path(f"/proc/{process}/cmdline").read_text()


def test_a_source_that_breaks_the_compiler_is_the_students_own_crash(server: ForkServer) -> None:
    for source in ("(" * 100_000, "x = " + "-" * 200_000 + "1", "\0"):
        start = time.monotonic()
        with server.session({"m.py": source}, ATTEMPT, ["m"]) as session:
            worker = session.worker(PATIENT)
            answer = worker.load("m")
            worker.end()
        assert answer.outcome in ("raised", "crashed", "out-of-memory")
        assert time.monotonic() - start < 15
