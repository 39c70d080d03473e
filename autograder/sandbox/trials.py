"""What the kernel grants, each right tried in a process of its own, printed as one JSON object.

Run by `doctor` as a program, so that a trial can spoil nothing: name -> [granted, in words].
"""

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from autograder.sandbox import kernel, seccomp


def _user_namespace() -> None:
    """As the fork server does it: root becomes nobody first."""
    if os.geteuid() == 0:
        kernel.become_nobody()
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(kernel.NEW_USER)
    kernel.map_user(user, group)


def _mounts() -> None:
    if os.geteuid() == 0:
        kernel.unshare(kernel.NEW_MOUNTS)
    _user_namespace()
    kernel.unshare(kernel.NEW_MOUNTS)
    kernel.mount(None, "/", None, kernel.RECURSIVE | kernel.PRIVATE)
    kernel.mount("adkit", "/tmp", "tmpfs", kernel.NO_SUID | kernel.NO_DEV, "size=1m")
    os.chdir("/tmp")
    os.mkdir("old")
    kernel.pivot_root(".", "old")
    os.chdir("/")
    kernel.unmount("/old")


def _network() -> None:
    _user_namespace()
    kernel.unshare(kernel.NEW_NET)


def _landlock() -> str:
    version = kernel.landlock_abi()
    if version < 3:
        raise OSError(f"version {version}; level portable needs 3 (Linux 6.2)")
    kernel.no_new_privileges()
    kernel.landlock(["/usr"], [])
    try:
        os.listdir("/")
    except PermissionError:
        return f"granted, version {version}"
    raise OSError("it restricts nothing")


def _seccomp() -> None:
    kernel.no_new_privileges()
    seccomp.restrict()
    try:
        os.getpgid(0)
    except PermissionError:
        return
    raise OSError("it restricts nothing")


def _watch_a_process() -> None:
    with_end, other_end = os.pipe()
    child = os.fork()
    if child == 0:
        while time.process_time() < 0.01:
            pass
        os.write(other_end, b"1")
        signal.pause()
    os.read(with_end, 1)
    handle = os.pidfd_open(child)
    used = time.clock_gettime((~child << 3) | 2)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(handle)
    if used < 0.01:
        raise OSError("the CPU clock of another process stands still")


def _memory_limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
    try:
        bytearray(900 << 20)
    except MemoryError:
        return
    raise OSError("900 MB were given under a limit of 400 MB")


TRIALS: dict[str, Callable[[], str | None]] = {
    "user_namespace": _user_namespace,
    "mounts": _mounts,
    "network": _network,
    "landlock": _landlock,
    "seccomp": _seccomp,
    "watch_a_process": _watch_a_process,
    "memory_limit": _memory_limit,
}


def _try(trial: Callable[[], str | None]) -> tuple[bool, str]:
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = True, trial() or "granted"
        except BaseException as error:
            answer = False, f"refused: {error or type(error).__name__}"
        os.write(there, json.dumps(answer).encode())
        os._exit(0)
    os.close(there)
    with os.fdopen(here, "rb") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    granted, words = json.loads(text or b'[false, "refused: the process was killed"]')
    return granted, words


if __name__ == "__main__":
    print(json.dumps({name: _try(trial) for name, trial in TRIALS.items()}))
