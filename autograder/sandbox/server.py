"""The fork server: a clean process that imports NumPy once and forks a jail for each submission.

Run by `client.ForkServer` as `python -P -s -S server.py FD REQUEST`. It holds no references, no key and
no environment. Started as root it builds its own root first and then becomes nobody.
"""

import contextlib
import gc
import json
import os
import signal
import socket
import sys
from typing import Any


def _leave(world: dict[str, Any]) -> None:
    """Into a root of our own; whoever started as root becomes nobody."""
    from autograder.sandbox import kernel
    from autograder.sandbox.world import build_server_root

    user, group = os.geteuid(), os.getegid()
    if user == 0:
        kernel.unshare(kernel.NEW_MOUNTS)
        build_server_root(world)
        kernel.become_nobody()
    else:
        kernel.unshare(kernel.NEW_USER | kernel.NEW_MOUNTS)
        kernel.map_user(user, group)
        build_server_root(world)


def _preload(world: dict[str, Any], site: str, cuda: bool) -> int:
    """Import for everybody what nearly every lab imports; bytes of address space that kernels reserve."""
    from autograder.sandbox.world import import_path

    import_path(world, site)
    import inspect
    import random

    import numpy.linalg
    import numpy.random

    from autograder.worker import runner, standins

    standins.install()
    for stream in (sys.stdout, sys.stderr):
        # Python says TextIO, but what it opens for these two is a TextIOWrapper, which has the method.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    _ = (inspect, random, numpy, runner)
    if not cuda:
        return 0
    from autograder.worker import launch

    return int(launch.RESERVED_BYTES)


def _size_mb() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE") >> 20


def _reap(how: int) -> bool:
    try:
        return os.waitpid(-1, how)[0] != 0
    except ChildProcessError:
        return False


def _tell(top: socket.socket, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # the grader has gone already, which the next read will say
        top.send(json.dumps(message).encode())


def main() -> None:
    """Serve until the grader closes the channel."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    top = socket.socket(fileno=int(sys.argv[1]))
    request = json.loads(sys.argv[2])
    sys.path.insert(0, request["package_root"])
    from autograder.sandbox import jail, kernel, world

    try:
        kernel.die_with_parent()
        if request["level"] == "full":
            _leave(request["world"])
            kernel.die_with_parent()  # a change of user forgets it
        request["arena"] = _preload(request["world"], request["site"], request["cuda"])
        jail.prepare()
        request["readable"] = world.readable(request["world"], request["site"])
    except Exception as error:
        _tell(top, {"fault": f"{type(error).__name__}: {error}"})
        return
    request["base_mb"] = _size_mb()
    gc.collect()
    gc.freeze()
    _tell(top, {"up": True})
    while True:
        message, descriptors, _, _ = socket.recv_fds(top, 65536, 2)
        while _reap(os.WNOHANG):
            pass
        if not message:
            return
        if os.fork() == 0:
            top.close()
            jail.main(socket.socket(fileno=descriptors[0]), socket.socket(fileno=descriptors[1]), request)
        for descriptor in descriptors:
            os.close(descriptor)


if __name__ == "__main__":
    main()
