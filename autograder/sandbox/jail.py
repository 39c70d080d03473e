"""One submission's jail: a trusted process that never runs student code, and its workers that do.

In level full the jail is pid 1 of namespaces of its own. It writes the files, lets a child compile
them, gives up every right, and then forks a worker per check, whose end it reports as kernel facts.
"""

import base64
import contextlib
import json
import marshal
import os
import resource
import select
import signal
import socket
import time
from typing import Any, NoReturn

from . import kernel, seccomp, world

CACHE = ".cuda"  # a submission's compiled kernels, below its folder
SPACE_MB = 64  # a worker's /tmp, and its largest file
OPEN_FILES = 64
THREADS = 4096  # of the user who runs the worker, all together; in level full of this jail alone
LANDLOCK = 3  # the first version that stops O_TRUNC
COMPILE_CPU_S = 5
PIPE = 65536
PACKET = 32768  # of printed text; a packet must fit into the socket's buffer


def prepare() -> None:
    """Do once, before any fork, what every worker would do again."""
    import py_compile

    import autograder.worker.runner

    _ = (py_compile, autograder.worker.runner)
    if seccomp.supported():
        seccomp.template()


def main(control: socket.socket, body: socket.socket, request: dict[str, Any]) -> NoReturn:
    """Set the jail up, say so, serve the grader's commands until it closes the channel."""
    try:
        with body:
            request |= json.loads(b"".join(iter(lambda: body.recv(1 << 20), b"")))
        folder = _enter(control, request)
        if request["level"] != "none":
            writable = ["/tmp", "/dev/null"] if request["level"] == "full" else ["/dev/null"]
            restrict(request["level"], [*request["readable"], folder], writable)
        programs = _load(request["programs"])
        control.send(b'{"ready": true}')
        _serve(control, {**request, "folder": folder, "programs": programs})
    except Exception as error:
        with contextlib.suppress(OSError):
            control.send(json.dumps({"fault": f"{type(error).__name__}: {error}"}).encode())
    os._exit(0)


def _load(code: str) -> dict[str, Any]:
    """The course's programs, run once before any student code, for all workers to inherit."""
    programs: dict[str, Any] = {"__name__": "programs"}
    exec(marshal.loads(base64.b64decode(code)), programs)
    return programs


def _enter(control: socket.socket, request: dict[str, Any]) -> str:
    """Into namespaces and a root of its own (full), and the student's files into a folder there."""
    folder = request["folder"]
    if request["level"] == "full":
        user, group = os.geteuid(), os.getegid()
        kernel.unshare(
            kernel.NEW_USER
            | kernel.NEW_MOUNTS
            | kernel.NEW_PIDS
            | kernel.NEW_IPC
            | kernel.NEW_UTS
            | kernel.NEW_NET
        )
        kernel.map_user(user, group)
        if inner := os.fork():
            control.close()
            os.waitpid(inner, 0)
            os._exit(0)
        kernel.die_with_parent()
        world.build_worker_root(request["world"], SPACE_MB)
        folder = "/sub"
        os.mkdir(folder)
    os.mkdir(os.path.join(folder, "__pycache__"))
    if request["compiled"]:
        os.mkdir(os.path.join(folder, CACHE))
    for name, data in request["compiled"].items():
        with open(os.path.join(folder, CACHE, os.path.basename(name)), "wb") as file:
            file.write(base64.b64decode(data))
    for name, text in request["files"].items():
        with open(os.path.join(folder, os.path.basename(name)), "w", encoding="utf-8", newline="") as file:
            file.write(text)
    _compile(request, folder)
    if request["level"] == "full":
        world.close_worker_root()
    return str(folder)


def restrict(level: str, readable: list[str], writable: list[str]) -> None:
    """Give up every right but to read and write below these paths. Raises: OSError."""
    kernel.no_new_privileges()
    kernel.set_dumpable(False)
    kernel.drop_capabilities()
    if level == "full" and not kernel.landlock_abi():
        return  # the mounts alone hold there
    if level == "portable" and kernel.landlock_abi() < LANDLOCK:
        raise OSError(f"Landlock {LANDLOCK} (Linux 6.2) is needed; here it is {kernel.landlock_abi()}")
    kernel.landlock(readable, writable)


def _compile(request: dict[str, Any], folder: str) -> None:
    """Let a child of its own write the bytecode, so that no worker has to; no student code runs in it."""
    if (child := os.fork()) == 0:
        try:
            import py_compile

            os.closerange(0, PIPE)
            for _ in range(3):
                os.open("/dev/null", os.O_RDWR)
            if request["level"] != "none":
                restrict(request["level"], [folder], [os.path.join(folder, "__pycache__")])
            limit(request["base_mb"] + 512, COMPILE_CPU_S)
            if request["level"] != "none":
                seccomp.restrict()
            for name in (name for name in request["files"] if name.endswith(".py")):
                with contextlib.suppress(Exception):
                    py_compile.compile(os.path.join(folder, name), doraise=True, quiet=2)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def limit(memory_mb: int, cpu_s: float, arena: int = 0) -> None:
    """Set the limits of a process; `arena`: bytes of address space that kernels reserve."""
    whole = int(cpu_s) + 1  # the kernel's backstop; the grader watches the clock itself
    lower(
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_CPU, whole, whole + 1),
        (resource.RLIMIT_AS, (memory_mb << 20) + arena, (memory_mb << 20) + arena),
        (resource.RLIMIT_FSIZE, SPACE_MB << 20, SPACE_MB << 20),
        (resource.RLIMIT_NOFILE, OPEN_FILES, OPEN_FILES),
        (resource.RLIMIT_NPROC, THREADS, THREADS),
        (resource.RLIMIT_MEMLOCK, 0, 0),
        (resource.RLIMIT_MSGQUEUE, 0, 0),
    )


def lower(*limits: tuple[int, int, int]) -> None:
    """Set limits, each a kind with its soft and its hard value; none is ever raised."""
    for kind, soft, hard in limits:
        allowed = resource.getrlimit(kind)[1]
        if allowed != resource.RLIM_INFINITY:
            soft, hard = min(soft, allowed), min(hard, allowed)
        resource.setrlimit(kind, (soft, hard))


class _Worker:
    """A running worker as its jail sees it."""

    def __init__(self, channel: int, limits: dict[str, Any], request: dict[str, Any]) -> None:
        self.output, write_end = os.pipe()
        self.keep = int(limits["output_kb"]) << 10
        self.printed = b""
        self.start = time.monotonic()
        self.pid = os.fork()
        if self.pid == 0:
            _become_worker(channel, write_end, limits, request)
        os.close(write_end)
        os.close(channel)
        self.clock = (~self.pid << 3) | 2  # its CPU clock: works without /proc
        self.handle = os.pidfd_open(self.pid)

    def drain(self) -> bool:
        """Take what it printed, keep the beginning; False at the end of the pipe."""
        piece = os.read(self.output, PIPE)
        self.printed += piece[: max(0, self.keep - len(self.printed))]
        return bool(piece)

    def cpu(self) -> float:
        """Seconds of CPU used so far."""
        try:
            return time.clock_gettime(self.clock)
        except OSError:
            return 0.0

    def end(self, grace_s: float, full: bool) -> dict[str, Any]:
        """Wait up to `grace_s` for its own end, else kill it; the kernel's facts about it."""
        ended = bool(select.select([self.handle], [], [], grace_s)[0])
        if not ended:
            os.kill(self.pid, signal.SIGKILL)
        _, status, usage = os.wait4(self.pid, 0)
        wall = time.monotonic() - self.start
        if full:
            with contextlib.suppress(OSError):
                os.kill(-1, signal.SIGKILL)  # whatever else may live in this namespace
        os.set_blocking(self.output, False)
        with contextlib.suppress(BlockingIOError):
            while self.drain():
                pass
        os.close(self.output)
        os.close(self.handle)
        return {
            "status": os.waitstatus_to_exitcode(status),
            "killed": not ended,
            "cpu_s": usage.ru_utime + usage.ru_stime,
            "memory_mb": usage.ru_maxrss >> 10,
            "wall_s": wall,
            "printed": len(self.printed),
        }


def _become_worker(channel: int, output: int, limits: dict[str, Any], request: dict[str, Any]) -> NoReturn:
    code = 0
    try:
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.dup2(channel, 3, inheritable=False)
        os.closerange(4, PIPE)
        os.setsid()
        os.environ.clear()
        kernel.die_with_parent()
        calls = socket.socket(fileno=3)  # seccomp would refuse to make it later
        limit(request["base_mb"] + limits["memory_mb"], limits["cpu_s"], request["arena"])
        if request["level"] != "none":
            seccomp.restrict()
        from autograder.worker import runner

        folder = request["folder"]
        runner.serve(
            calls, folder, request["modules"], request["programs"], _kernels(request), _cells(request, folder)
        )
    except SystemExit:
        code = 97
    except BaseException:
        code = 98
    finally:
        os._exit(code)  # no exit handlers, no waiting for threads


def _kernels(request: dict[str, Any]) -> Any:
    """The kernels that programs launch, None without any; the environment says where compiled ones lie."""
    if not request["cuda"]:
        return None
    from autograder.worker import launch

    launch.use(os.path.join(request["folder"], CACHE))
    return launch.Kernels(request["launched"]) if request["launched"] else None


def _cells(request: dict[str, Any], folder: str) -> Any:
    """The notebook's cells, None without a notebook."""
    from autograder.worker import cells

    return cells.Cells(folder, request["notebook"], request["setup"]) if request["notebook"] else None


def empty(folder: str) -> None:
    """Remove all that lies below a folder: a check leaves nothing to the next one.

    Every folder is read once and entered by its name alone, since a student may nest thousands of them.
    """
    levels, entered = [_emptied(folder)], [folder]
    while levels:
        if levels[-1]:
            entered.append(levels[-1].pop())
            os.chmod(entered[-1], 0o700)
            levels.append(_emptied(entered[-1]))
            continue
        levels.pop()
        name = entered.pop()
        if levels:
            os.chdir("..")
            os.rmdir(name)
    os.chdir("/")


def _emptied(folder: str) -> list[str]:
    """Go into a folder and remove its files; the names of the folders in it."""
    os.chdir(folder)
    folders = []
    with os.scandir() as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                os.unlink(entry.name)
    return folders


def _serve(control: socket.socket, request: dict[str, Any]) -> None:
    """Commands of the grader: start a worker, its CPU time, its end."""
    worker: _Worker | None = None
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if worker and descriptor == worker.output:
                if not worker.drain():
                    poll.unregister(worker.output)
                continue
            message, descriptors, _, _ = socket.recv_fds(control, PIPE, 1)
            if not message:
                if worker:
                    worker.end(0, request["level"] == "full")
                return
            command = json.loads(message)
            if command["do"] == "start":
                worker = _Worker(descriptors[0], command["limits"], request)
                poll.register(worker.output, select.POLLIN)
            elif worker and command["do"] == "cpu":
                control.send(json.dumps({"cpu_s": worker.cpu()}).encode())
            elif worker:
                with contextlib.suppress(KeyError):
                    poll.unregister(worker.output)
                facts = worker.end(command["grace_s"], request["level"] == "full")
                control.send(json.dumps(facts).encode())
                for start in range(0, len(worker.printed), PACKET):
                    control.send(worker.printed[start : start + PACKET])
                worker = None
                if request["level"] == "full":
                    empty("/tmp")
                break
