"""Which level holds on this machine, tried by attacks: files in /sys and /proc are not believed."""

import contextlib
import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.course import Limits

from .client import Answer, ForkServer, Level, SandboxError, Session, Worker

LIMITS = Limits(cpu_s=5, idle_s=5, wall_s=10, memory_mb=512)
SECRET = "only the grader reads this"
PROGRAM = "def attack(lab, name, target): return getattr(lab.attacks, name)(target) or {}"

# An attack is refused when it raises one of these; another exception would be a defect of the attack.
REFUSALS = {"PermissionError", "FileNotFoundError", "ProcessLookupError", "ModuleNotFoundError", "OSError"}

EXPECTED: dict[str, str | dict[str, Any]] = {
    "work": {"number": 6.0},
    "look_at_its_environment": {"number": 0},
    "read_a_file": "refused",
    "write_a_file": "refused",
    "change_rights": "refused",
    "list_a_folder": "refused",
    "read_the_grader_s_environment": "refused",
    "open_the_parent_s_memory": "refused",
    "connect_by_tcp": "refused",
    "connect_to_a_unix_socket": "refused",
    "send_a_datagram": "refused",
    "change_the_limits_of_another": "refused",
    "signal_through_a_descriptor": "refused",
    "fork": "refused",
    "run_a_program": "refused",
    "make_a_memory_file": "refused",
    "share_memory": "refused",
    "write_into_a_package": "refused",
    "import_what_is_not_offered": "refused",
    "take_all_memory": "out-of-memory",
    "trace_another": "forbidden-action",
    "make_a_user_namespace": "forbidden-action",
    "read_the_keyring": "forbidden-action",
    "call_as_x32": "forbidden-action",
    "call_as_32_bit": "forbidden-action or crashed",  # a kernel without 32-bit calls answers with SIGSEGV
    "end_at_once": "exited-early",
    "crash": "crashed",
    "answer_with_a_pickle": "malformed-reply",
    # those that would spoil the others' targets come last
    "kill_another": "refused",
    "remove_a_file": "refused",
    "empty_its_own_file": "refused",
}


def best_level() -> tuple[Level, dict[Level, list[str]]]:
    """The highest level that holds, and for each level tried what failed there (nothing: it holds)."""
    tried: dict[Level, list[str]] = {}
    for level in ("full", "portable"):
        tried[level] = probe(level)
        if not tried[level]:
            return level, tried
    return "none", tried


def probe(level: Level) -> list[str]:
    """Run every attack at this level; what got through, or why the level cannot start. Empty: it holds."""
    files = {"attacks.py": Path(__file__).with_name("attacks.py").read_text(encoding="utf-8")}
    try:
        with _target() as target, ForkServer(level) as server:
            with server.session(files, PROGRAM, ["attacks"]) as session:
                failed = _run_all(session, target)
            return failed + _harm(target)
    except (SandboxError, OSError) as error:
        return [str(error)]


def _run_all(session: Session, target: dict[str, Any]) -> list[str]:
    failed = []
    worker: Worker | None = None
    for name, expected in EXPECTED.items():
        worker = worker or session.worker(LIMITS)
        answer = worker.run("attack", {"name": name, "target": target})
        if not _as_expected(answer, expected):
            why = answer.failure.text if answer.failure else answer.detail
            failed.append(f"{name}: {answer.outcome} {why}".strip())
        if answer.outcome not in ("ok", "raised"):
            worker.end()
            worker = None
    if worker:
        worker.end()
    return failed


def _as_expected(answer: Answer, expected: str | dict[str, Any]) -> bool:
    if isinstance(expected, dict):
        return answer.outcome == "ok" and answer.result == expected
    if expected == "refused":
        return answer.failure is not None and answer.failure.builtin in REFUSALS
    return answer.outcome in expected.split(" or ")


@contextlib.contextmanager
def _target() -> Iterator[dict[str, Any]]:
    """Victims: a file, sockets that listen, and a process that may be killed (never the grader itself)."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="adkit-probe-")))
        folder.chmod(0o755)
        (folder / "file").write_text(SECRET)
        tcp = stack.enter_context(socket.socket())
        stream = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        datagram = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        with contextlib.suppress(OSError):  # a machine may have no loopback
            tcp.bind(("127.0.0.1", 0))
            tcp.listen()
        with contextlib.suppress(OSError):  # a path may be too long
            stream.bind(str(folder / "stream"))
            stream.listen()
            datagram.bind(str(folder / "datagram"))
            (folder / "stream").chmod(0o777)
            (folder / "datagram").chmod(0o777)
        # It ends when its input does, so also when this process is killed.
        canary = stack.enter_context(
            subprocess.Popen(
                ["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
            )
        )
        yield {
            "file": str(folder / "file"),
            "port": tcp.getsockname()[1],
            "stream": str(folder / "stream"),
            "datagram": str(folder / "datagram"),
            "canary": canary.pid,
            "grader": os.getpid(),
        }


def _harm(target: dict[str, Any]) -> list[str]:
    """What the attacks did to their victims, whatever they said."""
    harm = []
    file = Path(target["file"])
    if not file.exists() or file.read_text() != SECRET:
        harm.append("the grader's file was changed")
    if os.waitpid(target["canary"], os.WNOHANG) != (0, 0):
        harm.append("a process of the grader's was killed")
    return harm
