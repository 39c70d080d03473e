"""Does what docs/add-a-lab.md and docs/add-a-check.md say, in an empty folder, word for word.

    .venv/bin/python docs/walk.py

A block below a line that is just `` `path`: `` is written to that file, below ``Add to `path`:`` appended to
it, set off as is usual there; of a console block the commands are typed. What they print now is put into the
pages, unless it is what stands there already, where a line `…` stands for any lines and … in a line for
anything.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("docs/add-a-lab.md", "docs/add-a-check.md")  # the second goes on where the first ends
KEY = bytes(range(32))  # the tests' own: the same inputs each time
STEP = re.compile(
    r"^(?P<add>Add to )?`(?P<path>[^`\n]+)`:\n\n```\w+\n(?P<text>.*?)^```$"
    r"|^```console\n(?P<typed>.*?)^```$",
    re.M | re.S,
)


def prepare(scratch: Path) -> Path:
    """The folder in which the first page begins, in what looks like a clone."""
    folder = scratch / "build/try"
    folder.mkdir(parents=True)
    shutil.copytree(ROOT / "labkit", scratch / "labkit", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "environment.yml", scratch)
    (scratch / "key").write_text(KEY.hex())
    return folder


def walk(page: str, folder: Path) -> str:
    """The text of a page as it should be, once its steps have been taken in a folder."""
    return STEP.sub(lambda step: _take(step, folder), (ROOT / page).read_text(encoding="utf-8"))


def _take(step: re.Match[str], folder: Path) -> str:
    """Take a step; the text that belongs in its place."""
    if step["typed"] is not None:
        typed = re.findall(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", step["typed"], re.M)
        shown = (f"$ {command}{_shown(command, folder, before)}" for command, before in typed)
        return f"```console\n{''.join(shown)}```"
    file = folder / step["path"]
    file.parent.mkdir(parents=True, exist_ok=True)
    gap = "\n\n" if file.suffix == ".py" else "\n"
    before = file.read_text(encoding="utf-8") + gap if step["add"] else ""
    file.write_text(before + step["text"], encoding="utf-8")
    return step[0]


def _shown(command: str, folder: Path, before: str) -> str:
    """What a command prints; `before`, if that says the same."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    given = {"PATH": path, "ADKIT_KEY_FILE": str(folder.parents[1] / "key"), "TERM": "dumb", "COLUMNS": "100"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | given,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    now = "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())
    lines = (
        r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + r"\n"
        for line in before.splitlines()
    )
    return before if re.fullmatch("".join(lines), now) else now


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="adkit-walk-") as scratch:
        place = prepare(Path(scratch))
        for page in PAGES:
            (ROOT / page).write_text(walk(page, place), encoding="utf-8")
