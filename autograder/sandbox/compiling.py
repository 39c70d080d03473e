"""The compiler on hostile text: in a jail that holds the toolchain, one source and nothing else.

The compiler reads files that its input names and runs programs of its own, so it gets a root (full) or a
Landlock rule set (portable) of its own, without Python, packages or network, and a folder that ends with it.
"""

import base64
import contextlib
import functools
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import CompileLimits

from . import scratch, world
from .client import Level, SandboxError

MADE = "made"  # the name of the file that a command makes
LARGEST = 8 << 20  # bytes of it that are taken
NEARLY = 0.75  # of the limit of CPU: what the kernel counts at the end is less than what it stopped for
WALL = 6  # times the limit of CPU that it may take on a busy machine
_JAIL = Path(__file__).with_name("compile_jail.py")


@dataclass(frozen=True)
class Made:
    """How a command ended, what it said, and the file it made; `too_large`: that file isn't taken."""

    succeeded: bool
    content: bytes
    said: str
    timed_out: bool
    too_large: bool
    cpu_s: float


def compile_safely(
    level: Level,
    command: Sequence[str],
    files: dict[str, bytes],
    folders: Sequence[Path],
    limits: CompileLimits,
) -> Made:
    """Run a compiler's command in a folder that holds `files`, where it writes to MADE.

    command: its first word is an absolute path. `folders`: what it may read besides the toolchain.
    Raises: SandboxError.
    """
    place = None if level == "full" else scratch.Scratch("tool")
    request = {
        "level": level,
        "world": toolchain(command[0]),
        "headers": [str(folder) for folder in folders],
        "folder": place.path if place else None,
        "command": [os.path.realpath(command[0]), *command[1:]],
        "files": {name: base64.b64encode(data).decode() for name, data in files.items()},
        "made": MADE,
        "largest": LARGEST,
        "cpu_s": limits.cpu_s,
        "memory_mb": limits.memory_mb,
    }
    try:
        head, content = _run(request, WALL * limits.cpu_s)
    finally:
        if place:
            place.remove()
    if "fault" in head:
        raise SandboxError(f"no sandbox for the compiler: {head['fault']}")
    succeeded = head["status"] == 0
    timed_out = not succeeded and head["cpu_s"] >= NEARLY * limits.cpu_s
    made = content if succeeded else b""
    return Made(succeeded, made, head["said"], timed_out, head["too_large"], head["cpu_s"])


def found(compiler: str) -> str:
    """The absolute path of a compiler. Raises: SandboxError."""
    path = shutil.which(compiler)
    if path is None:
        raise SandboxError(f"there is no {compiler} here")
    return os.path.abspath(path)


def _run(request: dict[str, Any], wall_s: float) -> tuple[dict[str, Any], bytes]:
    """What the jail tells of the command, and the file. Raises: SandboxError."""
    with subprocess.Popen(
        [sys.executable, "-P", "-s", "-S", "-B", "-X", "utf8", str(_JAIL)],
        env={},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    ) as jail:
        try:
            told, _ = jail.communicate(json.dumps(request).encode(), timeout=wall_s)
        except subprocess.TimeoutExpired:
            told = _stopped(wall_s)
        finally:
            with contextlib.suppress(
                ProcessLookupError
            ):  # at level portable nothing else ends what it forked
                os.killpg(jail.pid, signal.SIGKILL)
    if len(told) < 4:
        raise SandboxError("the compiler's jail ended without a word")
    (length,) = struct.unpack_from("<I", told)
    return json.loads(told[4 : 4 + length]), told[4 + length :]


def _stopped(wall_s: float) -> bytes:
    """What would be told of a command that outlasted the wall clock."""
    head = json.dumps({"status": -9, "said": "", "too_large": False, "cpu_s": wall_s}).encode()
    return struct.pack("<I", len(head)) + head


@functools.cache
def toolchain(compiler: str) -> dict[str, Any]:
    """What a compiler needs to be seen: `visible` as in `world`, `programs` by the path of a call."""

    def asked(*arguments: str) -> str:
        answer = subprocess.run(
            [compiler, *arguments],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", "/usr/bin"), "LC_ALL": "C"},
        )
        return answer.stdout + answer.stderr

    searched = asked("-x", "c++", "-E", "-v", "-").partition("search starts here:\n")[2]
    headers = [line.strip() for line in searched.partition("End of search list")[0].splitlines()]
    programs = [asked(f"-print-prog-name={name}").strip() for name in ("cc1plus", "as")]
    found = [
        compiler,
        os.path.realpath(compiler),
        *(path for name in programs if (path := shutil.which(name))),
    ]
    libraries = [path for path in world.LIBRARIES if os.path.exists(path) and "zoneinfo" not in path]
    visible = [*libraries, *dict.fromkeys(os.path.realpath(path) for path in headers if os.path.isdir(path))]
    masked = [path for path in world.describe()["masked"] if path.startswith(tuple(libraries))]
    return {
        "visible": [path for path in visible if not world.is_inside(path, visible)],
        "masked": masked,
        "programs": {path: os.path.realpath(path) for path in found if not world.is_inside(path, visible)},
    }
