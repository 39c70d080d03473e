"""The typical mistakes a batch recognises, and where what they answer is kept: OUT/LAB/.diagnosis/BASIS/."""

import hashlib
import shutil

import msgspec

from autograder.course import Lab
from autograder.judging.mistakes import read_mistakes
from autograder.judging.protocol import Known
from autograder.judging.remembered import UNFINISHED

from .store import Store

FOLDER = ".diagnosis"


def known(lab: Lab, store: Store, depends: dict[str, str]) -> Known | None:
    """None for a lab that lists no mistakes. Answers that rest on files or a key of before are removed, and
    what a process that was killed left unfinished; the caller is the only one who writes.

    Raises: CourseError.
    """
    mistakes = read_mistakes(lab)
    if not mistakes:
        return None
    basis = msgspec.msgpack.encode([depends, store.key, mistakes], order="sorted")
    folder = store.folder / FOLDER / hashlib.sha256(basis).hexdigest()[:16]
    for other in folder.parent.glob("*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    for unfinished in folder.glob(f"*{UNFINISHED}"):
        unfinished.unlink(missing_ok=True)
    return Known(mistakes, folder)
