"""A batch that is killed again and again ends with the same bytes as one that is not, and repeats little.

    python tests/soak/kills.py --students 300 --kills 10

grades a class of the mini course once in peace, then once more with `kill -9` at random moments: of the
command alone, of one of its graders, or of everything that belongs to it. Exit code 0 if records, pages and
grades.csv are the same bytes, what had been stored before a kill was not graded again, and nothing is left.
"""

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MINI = Path(__file__).parents[1] / "courses" / "mini"
WRONG = {
    "graph.py": [("a.value * b.value, (a, b)", "a.value + b.value, (a, b)"), ("2 * a.value", "3 * a.value")],
    "engine.py": [("+ partial *", "- partial *"), ("return node_to_grad", "raise ValueError(node_to_grad)")],
}


def command(*arguments: str) -> list[str]:
    """`autograder` with these arguments."""
    return [sys.executable, "-m", "autograder", *arguments]


def make_class(root: Path, students: int) -> None:
    """A course and its class: right work, and four kinds of wrong work."""
    shutil.copytree(MINI, root)
    subprocess.run(command("labs"), cwd=root, check=True)
    kinds: list[dict[str, str]] = []
    solved = {name: (root / "build/solved/lab0" / name).read_text("utf-8") for name in WRONG}
    for name, edits in WRONG.items():
        for old, new in edits:
            assert old in solved[name]
            kinds.append({**solved, name: solved[name].replace(old, new)})
    for number in range(students):
        folder = root / f"submitted/s{number:03}/lab0"
        folder.mkdir(parents=True)
        for name, text in (kinds[number % 8] if number % 8 < len(kinds) else solved).items():
            (folder / name).write_text(f"{text}# {number}\n", "utf-8")


def contents(out: Path) -> dict[str, bytes]:
    """Records, pages and grades.csv."""
    files = [path for path in out.rglob("*") if path.name in ("record.json", "grades.csv", "feedback.md")]
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def identities(out: Path) -> dict[Path, tuple[int, int]]:
    """Each record with what tells whether it was written anew."""
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in out.rglob("record.json")}


class Run:
    """`autograder grade`, in a session of its own, so that nothing of it can be missed."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            command("grade", "--out", "killed"),
            cwd=root,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def kill(self, what: str, chance: random.Random) -> None:
        """`kill -9`; a killed grader is replaced, so then the command is killed a moment later."""
        below = descendants(self.process.pid)
        if what == "grader" and below:
            _kill(chance.choice(below))
            time.sleep(chance.uniform(0, 0.3))
            below = descendants(self.process.pid)
        _kill(self.process.pid)
        if what == "everything":
            for pid in below:
                _kill(pid)
        self.process.wait()


def descendants(pid: int) -> list[int]:
    """Everything below a process."""
    found: list[int] = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in map(int, children.read_text().split()):
                found += [child, *descendants(child)]
        except OSError:  # it has just ended
            continue
    return found


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def survive(root: Path, students: int, kills: int, chance: random.Random) -> list[str]:
    """What went wrong."""
    make_class(root, students)
    subprocess.run(command("grade", "--out", "peace"), cwd=root, check=True, stdout=subprocess.DEVNULL)
    out, wrong = root / "killed", []
    stood: dict[Path, tuple[int, int]] = {}
    for number in range(kills):
        run = Run(root)
        if number % 4 == 1:  # at any moment, that of starting too
            time.sleep(chance.uniform(0.05, 1.5))
        else:  # when some more are graded
            goal = int(students * (number + chance.random()) / kills)
            while len(identities(out)) < goal and run.process.poll() is None:
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.05))
        run.kill(("command", "grader", "everything")[number % 3], chance)
        now = identities(out)
        wrong += [f"kill {number}: {path} was written again" for path in stood if now[path] != stood[path]]
        stood = now
        print(f"kill {number + 1}: {len(now)} of {students} stored", flush=True)
    done = subprocess.run(command("grade", "--out", "killed"), cwd=root, capture_output=True, text=True)
    print("\n".join(line for line in done.stdout.splitlines() if "graded at level" in line))
    if done.returncode:
        wrong.append(f"the last run ended with {done.returncode}: {done.stderr}")
    now = identities(out)
    again = [path for path in stood if now[path] != stood[path]]
    wrong += [f"{path} was written again" for path in again]
    peace, killed = contents(root / "peace"), contents(out)
    wrong += [
        f"{name} differs"
        for name in sorted(peace.keys() | killed.keys())
        if peace.get(name) != killed.get(name)
    ]
    wrong += [
        f"{path} is left" for path in (*out.rglob("*.unfinished"), *Path(os.environ["TMPDIR"]).iterdir())
    ]
    return wrong


def main() -> int:
    """Exit code 1 with a line for each thing that went wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="adkit-kills-") as folder:
        key = Path(folder) / "key"
        key.write_text("ab" * 32)
        os.environ["ADKIT_KEY_FILE"] = str(key)
        os.environ["TMPDIR"] = str(Path(folder) / "tmp")
        os.mkdir(os.environ["TMPDIR"])
        chance = random.Random(wanted.seed)
        wrong = survive(Path(folder) / "course", wanted.students, wanted.kills, chance)
    print("\n".join(wrong) or "the same bytes, nothing graded twice")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
