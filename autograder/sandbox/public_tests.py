"""The public tests' process, in a sandbox: student code, pytest and a lab's folder, without a way out.

It stands in the place of the process that `labkit check` starts on a student's own machine.
"""

import base64
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from autograder.course import Limits

from . import scratch, world
from .client import ENVIRONMENT, NO_KERNELS, Kernels, Level, SandboxError

SAID = 4 << 20  # bytes that such a process may tell
STARTS = 40  # processes for one student: each test may end one, and what it tells may be made up
WALL_S = 180
CPU_S = 120  # for all tests of a lab; each has its own clock as well
_JAIL = Path(__file__).with_name("public_jail.py")


class Room:
    """A student's lab as tests see it; a context manager. `folder`: where it stands for them."""

    def __init__(
        self, level: Level, files: dict[str, bytes], limits: Limits, kernels: Kernels | None = None
    ) -> None:
        """`kernels`: as compiled, None for a lab without any."""
        self._started = 0
        self._scratch = None if level == "full" else scratch.Scratch("sub")
        self.folder = Path(self._scratch.path if self._scratch else "/tmp") / "lab"
        compiled = {
            f"{self.folder.name}/.cuda/{name}": data
            for name, data in (kernels or NO_KERNELS).compiled.items()
        }
        placed = {f"{self.folder.name}/{name}": data for name, data in files.items()} | compiled
        self._site = None if level == "full" else _linked_site()
        self._request = {
            "level": level,
            "world": _world(),
            "site": self._site.path if self._site else world.SITE,
            "package_root": str(Path(__file__).resolve().parents[2]),
            "folder": str(self.folder.parent),
            "lab": str(self.folder),
            "files": {name: base64.b64encode(data).decode() for name, data in placed.items()},
            "cuda": f"{self.folder}/.cuda" if kernels else "",
            "memory_mb": limits.memory_mb,
            "cpu_s": CPU_S,
            "said": SAID,
            "wall_s": WALL_S,
        }

    def start(self, errors: IO[bytes]) -> "subprocess.Popen[bytes]":
        """A new process of the tests, as `labkit.check.run` starts one, but not for ever.

        Raises: SandboxError.
        """
        self._started += 1
        if self._started > STARTS:
            raise SandboxError(f"the public tests ended {STARTS} processes")
        with tempfile.TemporaryFile() as request:
            request.write(json.dumps(self._request).encode())
            request.seek(0)
            return subprocess.Popen(
                [sys.executable, "-P", "-s", "-S", "-B", "-X", "utf8", str(_JAIL), str(request.fileno())],
                pass_fds=[request.fileno()],
                env=ENVIRONMENT | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd="/",
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        for place in (self._scratch, self._site):
            if place:
                place.remove()


@functools.cache
def _world() -> dict[str, Any]:
    return world.describe((*world.PACKAGES, *world.PYTEST))


def _linked_site() -> scratch.Scratch:
    site = scratch.Scratch("site")
    for name, folder in _world()["site"].items():
        os.symlink(folder, os.path.join(site.path, name))
    return site
