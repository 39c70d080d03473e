"""What NVIDIA's own compiler says of a student's kernels, where NVRTC is installed: a fact beside the tests.

NVRTC is a library, and a text may keep it busy for ever, so it is asked in a process of its own.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import labkit
from labkit.cuda import nvrtc
from labkit.lab import Lab
from labkit.messages import Message

WALL_S = 30.0
SHOWN = 3  # errors of a file
_START = "import sys; sys.path.insert(0, {!r}); from labkit.check import gate; gate.main()"


def look(lab: Lab) -> list[Message]:
    """A sentence on each file of kernels; none without NVRTC, or where it comes to no end."""
    if not lab.kernels or nvrtc.version() is None:
        return []
    root = str(Path(labkit.__path__[0]).parent)
    command = [sys.executable, "-P", "-B", "-X", "utf8", "-c", _START.format(root)]
    files = [str(lab.folder / name) for name in lab.kernels]
    try:
        done = subprocess.run([*command, *files], capture_output=True, timeout=WALL_S)
        told: list[list[str]] = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return []
    return [one for name, errors in zip(lab.kernels, told, strict=True) for one in said(name, errors)]


def said(file: str, errors: Sequence[str]) -> list[Message]:
    """NVRTC's verdict on a file, in words."""
    about = {"file": file, "version": nvrtc.version() or "?"}
    if not errors:
        return [Message("student.nvrtc-takes", about)]
    return [Message("student.nvrtc-refuses", {**about, "text": error}) for error in errors[:SHOWN]]


def main() -> None:
    """In the other process: the errors of each file, as JSON; one that is missing is told elsewhere."""
    told = []
    for file in map(Path, sys.argv[1:]):
        text = file.read_text("utf-8", errors="replace") if file.exists() else ""
        told.append(nvrtc.check(text, file.name))
    print(json.dumps(told))
