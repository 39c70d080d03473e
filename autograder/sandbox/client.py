"""The grader's side: start the fork server, open a session per submission, call programs, name the outcome.

Outcomes rest on what the kernel says about the worker's end, never on the worker's word.
"""

import base64
import contextlib
import functools
import json
import marshal
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from autograder.course import Limits
from autograder.worker import codec

from . import scratch, world
from .answer import LEVELS as LEVELS
from .answer import NO_KERNELS as NO_KERNELS
from .answer import NO_NOTEBOOK as NO_NOTEBOOK
from .answer import Answer as Answer
from .answer import Facts as Facts
from .answer import Kernels as Kernels
from .answer import Level as Level
from .answer import Notebook as Notebook
from .answer import SandboxError as SandboxError

LOOK_S = 0.1  # how often a silent worker's clock is looked at
END_S = 0.5  # a worker that closed its channel may take this long to end
SETUP_S = 60
ENVIRONMENT = {
    "PATH": "/usr/bin",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # the same run twice has sets in the same order
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",  # or each thread would take 64 MB of address space from its limit
}
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def _compiled(programs: str) -> str:
    """The code of programs as text, so that no jail has to compile it. Raises: SyntaxError."""
    return base64.b64encode(marshal.dumps(compile(programs, "programs.py", "exec"))).decode()


class ForkServer:
    """A clean process that forks jails. One per core; a context manager."""

    def __init__(self, level: Level, kernels: bool = False) -> None:
        """`kernels`: sessions may have some."""
        self.level = level
        described = world.describe()
        self._scratch = None if level == "full" else scratch.Scratch("site")
        if self._scratch:
            scratch.sweep()
            for name, folder in described["site"].items():
                os.symlink(folder, os.path.join(self._scratch.path, name))
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        request = {
            "level": level,
            "world": described,
            "site": self._scratch.path if self._scratch else world.SITE,
            "package_root": str(_PACKAGE_ROOT),
            "cuda": kernels,
        }
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-P", "-s", "-S", "-B", "-X", "utf8"),
                *(str(Path(__file__).with_name("server.py")), str(theirs.fileno()), json.dumps(request)),
            ],
            pass_fds=[theirs.fileno()],
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        theirs.close()
        try:
            message = _receive(self._channel, SETUP_S)
        except SandboxError as error:
            message = {"fault": str(error)}
        except BaseException:  # Ctrl-C
            self.close()
            raise
        if "up" not in message:
            self.close()
            raise SandboxError(f"level {level} cannot start: {message['fault']}")

    def session(
        self,
        files: dict[str, str],
        programs: str,
        modules: list[str],
        kernels: Kernels = NO_KERNELS,
        notebook: Notebook = NO_NOTEBOOK,
    ) -> "Session":
        """A sandbox with these files. Raises: SandboxError."""
        return Session(self, files, programs, modules, kernels, notebook)

    def fork(self, request: dict[str, Any]) -> socket.socket:
        """A new jail's control channel. Raises: SandboxError."""
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        body, body_end = socket.socketpair()
        with theirs, body_end, body:
            try:
                socket.send_fds(self._channel, [b"session"], [theirs.fileno(), body_end.fileno()])
                theirs.close()
                body_end.close()
                body.sendall(json.dumps(request).encode())
            except OSError as error:
                control.close()
                raise SandboxError(f"the fork server is gone: {error}") from None
        return control

    def close(self) -> None:
        """End the server and everything below it."""
        self._channel.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._scratch:
            self._scratch.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()


class Session:
    """One submission in its sandbox. Its files travel as text: the worker needs no path to them."""

    def __init__(
        self,
        server: ForkServer,
        files: dict[str, str],
        programs: str,
        modules: list[str],
        kernels: Kernels,
        notebook: Notebook,
    ) -> None:
        self._scratch = None if server.level == "full" else scratch.Scratch("sub")
        folder = self._scratch.path if self._scratch else None
        request = {
            "files": files,
            "programs": _compiled(programs),
            "modules": modules,
            "folder": folder,
            "compiled": {name: base64.b64encode(data).decode() for name, data in kernels.compiled.items()},
            "launched": kernels.launched,
            "notebook": notebook.name,
            "setup": notebook.setup,
        }
        try:
            self._control = server.fork(request)
            message = _receive(self._control, SETUP_S)
            if "ready" not in message:
                raise SandboxError(f"no sandbox for this submission: {message.get('fault')}")
        except SandboxError:
            self.close()
            raise

    def worker(self, limits: Limits) -> "Worker":
        """A fresh process that has not run anything yet."""
        return Worker(self._control, limits)

    def close(self) -> None:
        """End the jail; nothing of the submission stays."""
        if hasattr(self, "_control"):
            self._control.close()
        if self._scratch:
            self._scratch.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()


class Worker:
    """One forked process that runs student code, for one check. `end` must be called."""

    def __init__(self, control: socket.socket, limits: Limits) -> None:
        self._control, self._limits = control, limits
        self._channel, theirs = socket.socketpair()
        self._channel.setblocking(False)
        self._watch = _Watch(self)
        self.facts: Facts | None = None
        self._over: Answer | None = None
        order = {"do": "start", "limits": msgspec.to_builtins(limits)}
        with theirs:
            try:
                socket.send_fds(control, [json.dumps(order).encode()], [theirs.fileno()])
            except OSError as error:
                self._over = Answer("grader-fault", detail=f"the jail is gone: {error}")

    def run(self, program: str, inputs: dict[str, Any], kernels: codec.Mode = "") -> Answer:
        """Call a program with inputs."""
        return self._call(codec.Call("run", program, codec.to_wire(inputs), kernels))

    def load(self, module: str) -> Answer:
        """Import a module of the submission."""
        return self._call(codec.Call("import", module))

    def _call(self, call: codec.Call) -> Answer:
        if self._over is None:
            message = codec.encode(call)
            try:
                data = self._exchange(struct.pack("<I", len(message)) + message)
                return self._read(call, data)
            except _Stopped as stopped:
                self._over = stopped.answer
            except (EOFError, OSError):
                self._over = self._outcome_of_end(self.end(END_S))
            except SandboxError as error:
                self._over = Answer("grader-fault", detail=str(error))
        return self._over

    def _read(self, call: codec.Call, data: bytes) -> Answer:
        try:
            reply = codec.decode_reply(data)
            result = codec.from_wire(reply.result or {})
        except codec.BadMessage as error:
            raise _Stopped(Answer("malformed-reply", detail=str(error))) from None
        if reply.failure is None:
            if reply.name != call.name:
                raise _Stopped(Answer("malformed-reply", detail="it answers another call"))
            return Answer("ok", result, reports=tuple(reply.reports))
        out_of_memory = reply.failure.builtin == "MemoryError"
        answer = Answer("out-of-memory" if out_of_memory else "raised", failure=reply.failure)
        if reply.name != call.name:  # it could not even read the call, and reads no more
            raise _Stopped(answer)
        return answer

    def _exchange(self, frame: bytes) -> bytes:
        """Send a frame and read one, while watching the worker's clocks.

        Raises: EOFError or OSError when the worker has gone, _Stopped when it had to be stopped.
        """
        unsent, received = memoryview(frame), bytearray()
        poll = select.poll()
        self._watch.begin()
        while len(received) < 4 or len(received) < 4 + _length(received):
            if len(received) >= 4 and _length(received) > self._limits.reply_mb << 20:
                raise _Stopped(Answer("malformed-reply", detail=f"more than {self._limits.reply_mb} MB"))
            poll.register(self._channel, select.POLLIN | (select.POLLOUT if unsent else 0))
            if not poll.poll(LOOK_S * 1000):
                self._watch.look()
                continue
            with contextlib.suppress(BlockingIOError):
                if unsent:
                    unsent = unsent[self._channel.send(unsent) :]
            with contextlib.suppress(BlockingIOError):
                piece = self._channel.recv(1 << 20)
                if not piece:
                    raise EOFError
                received += piece
            self._watch.look_now_and_then()
        if len(received) != 4 + _length(received):
            raise _Stopped(Answer("malformed-reply", detail="more than one answer to a call"))
        return bytes(memoryview(received)[4:])

    @property
    def wall_s(self) -> float:
        """Seconds that its calls have taken, without the grader's own work between them."""
        return self._watch.wall_s

    def cpu_s(self) -> float:
        """Seconds of CPU the worker has used. Raises: SandboxError when the jail is gone."""
        return float(self._ask({"do": "cpu"})["cpu_s"])

    def end(self, grace_s: float = 0.0) -> Facts | None:
        """End the worker, if it still lives; the facts of its life, None if the jail itself is gone."""
        if self.facts is None and self._channel.fileno() >= 0:
            self._channel.close()
            with contextlib.suppress(SandboxError):
                facts = self._ask({"do": "end", "grace_s": grace_s})
                printed = bytearray()
                while len(printed) < facts["printed"]:
                    printed += _packet(self._control, SETUP_S)
                self.facts = Facts(**{**facts, "printed": printed.decode("utf-8", "replace")})
        return self.facts

    def _ask(self, order: dict[str, Any]) -> dict[str, Any]:
        try:
            self._control.send(json.dumps(order).encode())
        except OSError as error:
            raise SandboxError(f"the jail is gone: {error}") from None
        answer = _receive(self._control, SETUP_S)
        if "fault" in answer:
            raise SandboxError(f"the jail failed: {answer['fault']}")
        return answer

    def _outcome_of_end(self, facts: Facts | None) -> Answer:
        if facts is None:
            return Answer("grader-fault", detail="the jail is gone")
        if facts.killed:
            return Answer("exited-early", detail="it closed its channel and ran on")
        if facts.status == -signal.SIGXCPU or (
            facts.status == -signal.SIGKILL and facts.cpu_s >= self._limits.cpu_s
        ):
            return Answer("timed-out", detail="cpu")
        if facts.status == -signal.SIGSYS:
            return Answer("forbidden-action", detail="a system call that no lab needs")
        if facts.status == -signal.SIGKILL:
            return Answer("grader-fault", detail="killed from outside: the machine may be out of memory")
        if facts.status < 0:
            return Answer("crashed", detail=_signal_name(-facts.status))
        return Answer("exited-early", detail=f"exit code {facts.status}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals have none
        return f"signal {number}"


class _Stopped(Exception):
    """The call is over without a usable reply."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.outcome)
        self.answer = answer


class _Watch:
    """Stops a worker that computes, sleeps or lasts too long; its clocks run only during calls.

    CPU and wall time are those of all calls of the worker, or many short naps would never end.
    """

    def __init__(self, worker: Worker) -> None:
        self._worker, self._limits = worker, worker._limits
        self.wall_s = self._idle_s = self._used_s = 0.0
        self._seen_at = self._looked_at = time.monotonic()

    def begin(self) -> None:
        """A call begins: what passed since the last one was the grader's own time."""
        self._seen_at = time.monotonic()
        self._idle_s = 0.0

    def look_now_and_then(self) -> None:
        """For a worker that answers or keeps sending: look only when it is due."""
        now = time.monotonic()
        if now - self._looked_at > LOOK_S:
            self.look()
        else:
            self.wall_s, self._seen_at = self.wall_s + now - self._seen_at, now

    def look(self) -> None:
        """Raises: _Stopped when a limit is passed."""
        now = self._looked_at = time.monotonic()
        passed, self._seen_at = now - self._seen_at, now
        self.wall_s += passed
        self._idle_s += min(passed, 2 * LOOK_S)  # a machine that kept us waiting kept the worker waiting too
        used = self._worker.cpu_s()
        if used - self._used_s > 0.01 * self._idle_s:
            self._used_s, self._idle_s = used, 0.0
        if used > self._limits.cpu_s:
            raise _Stopped(Answer("timed-out", detail="cpu"))
        if self._idle_s > self._limits.idle_s:
            raise _Stopped(Answer("timed-out", detail="idle"))
        if self.wall_s > self._limits.wall_s:
            raise _Stopped(Answer("timed-out", detail="wall"))


def _length(received: bytearray) -> int:
    return int(struct.unpack_from("<I", received)[0])


def _packet(channel: socket.socket, timeout_s: float) -> bytes:
    channel.settimeout(timeout_s)
    try:
        data = channel.recv(1 << 20)
    except OSError as error:
        raise SandboxError(f"no word from the sandbox: {error}") from None
    if not data:
        raise SandboxError("the sandbox ended without a word")
    return data


def _receive(channel: socket.socket, timeout_s: float) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(_packet(channel, timeout_s))
    return message
