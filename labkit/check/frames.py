"""Where in a student's own files an exception came from; frames of ours and of libraries are left out."""

import linecache
import traceback
from pathlib import Path
from typing import Any

SHOWN = 4  # the innermost


def frames_of(error: BaseException, folder: Path) -> list[dict[str, Any]]:
    """The student's frames, innermost last: file, line, function, code."""
    if isinstance(error, SyntaxError) and error.filename and _inside(error.filename, folder):
        code = (error.text or linecache.getline(error.filename, error.lineno or 0)).strip()
        return [{"file": Path(error.filename).name, "line": error.lineno or 1, "function": "", "code": code}]
    found: list[dict[str, Any]] = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        if _inside(frame.f_code.co_filename, folder):
            one = {
                "file": Path(frame.f_code.co_filename).name,
                "line": line,
                "function": frame.f_code.co_qualname,
                "code": linecache.getline(frame.f_code.co_filename, line).strip(),
            }
            if not found or found[-1] != one:  # a recursion repeats itself
                found.append(one)
    return found[-SHOWN:]


def blank_of(error: BaseException, folder: Path) -> str:
    """The student's function that raised, if the innermost frame is one: "Divide.partials"."""
    *_, (frame, _line) = traceback.walk_tb(error.__traceback__)
    return frame.f_code.co_qualname if _inside(frame.f_code.co_filename, folder) else ""


def _inside(file: str, folder: Path) -> bool:
    """Whether a file is the student's: below the lab's folder, but no public test."""
    path = Path(file)
    return path.is_relative_to(folder) and not path.is_relative_to(folder / "tests")
