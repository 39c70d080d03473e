"""A process of public tests in its jail: run by `public_tests` as a program, told what to do on a descriptor.

Below it an init builds the jail and hands on what the tests say, up to a bound; the tests run in a third
process, which is confined like a worker.
"""

import contextlib
import json
import os
import resource
import select
import signal
import sys
import time
from typing import Any, NoReturn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from autograder.sandbox import compile_jail, jail, kernel, seccomp
from autograder.sandbox import world as worlds

BASE_MB = 512  # of address space, for Python, NumPy and pytest
DIED = 128  # an exit code above it names a signal


def main() -> None:
    """Build the jail, run the tests, end as they do."""
    with os.fdopen(int(sys.argv[1]), "rb") as file:
        request = json.loads(file.read())
    kernel.die_with_parent()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if inner := os.fork():
        _end_as(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]))
    kernel.die_with_parent()
    try:
        _enter(request)
        code = _run(request)
    except Exception as error:
        print(f"no sandbox for public tests: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        code = 2
    os._exit(code)


def _end_as(code: int) -> NoReturn:
    """Like the tests' process, whose end an exit code of the init tells."""
    if code > DIED:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(code - DIED, signal.SIG_DFL)
        os.kill(os.getpid(), code - DIED)
    os._exit(code)


def _enter(request: dict[str, Any]) -> None:
    world, site = request["world"], request["site"]
    if request["level"] == "full":
        binds = {path: path for path in [*world["visible"], *world["own"], *worlds.DEVICES]}
        packages = {f"{worlds.SITE}/{name}": folder for name, folder in world["site"].items()}
        compile_jail.enter(binds | packages, world["masked"])
    worlds.import_path(world, site)
    import numpy.linalg
    import numpy.random
    import pytest

    from autograder.worker import standins

    standins.install()
    _ = (numpy, pytest)
    compile_jail.furnish(request["folder"], request["files"])
    if request["level"] != "none":
        writable = ["/tmp", "/dev/null"] if request["level"] == "full" else ["/dev/null"]
        readable = [*worlds.readable(world, site), request["folder"]]
        jail.restrict(request["level"], readable, writable)


def _run(request: dict[str, Any]) -> int:
    """Run the tests and hand on what they tell; how they ended, a signal as DIED plus its number."""
    output, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        _become_the_tests(request, theirs)
    os.close(theirs)
    left, until = request["said"], time.monotonic() + request["wall_s"]
    while select.select([output], [], [], max(0.0, until - time.monotonic()))[0]:
        piece = os.read(output, jail.PIPE)
        left -= len(piece)
        if not piece or left < 0:
            break
        os.write(1, piece)
    if left < 0 or time.monotonic() >= until:
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else DIED - code


def _become_the_tests(request: dict[str, Any], output: int) -> NoReturn:
    try:
        os.dup2(output, 1)
        os.dup2(os.open("/dev/null", os.O_RDWR), 2)
        os.closerange(3, jail.PIPE)
        os.setsid()
        os.chdir(request["lab"])
        os.environ.clear()
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        arena = 0
        if request["cuda"]:
            from labkit.cuda.launcher import ARENA_BYTES

            os.environ["ADKIT_CUDA_CACHE"] = request["cuda"]
            arena = ARENA_BYTES
        kernel.die_with_parent()
        jail.limit(BASE_MB + request["memory_mb"], request["cpu_s"], arena)
        if request["level"] != "none":
            seccomp.restrict()
        from labkit.check import child

        child.main()
    finally:
        os._exit(98)


if __name__ == "__main__":
    main()
