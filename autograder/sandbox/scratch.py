"""Folders of level portable in the place for temporary files, and what a killed grader left there."""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

KINDS = ("site", "sub", "tool")  # of a fork server, of a session, of a compiler
YOUNG_S = 60  # a folder younger than this may be about to be locked


class Scratch:
    """A fresh folder that is locked as long as its maker lives, so that others can tell."""

    def __init__(self, kind: str) -> None:
        self.path = tempfile.mkdtemp(prefix=f"adkit-{kind}-")
        self._lock = _opened(self.path)
        with contextlib.suppress(OSError):  # a file system without locks: nothing will be swept there either
            fcntl.flock(self._lock, fcntl.LOCK_SH)

    def remove(self) -> None:
        """Remove it with all that is in it; once more does no harm."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def sweep() -> None:
    """Remove what graders of this user left that were killed: the kernel has let go of their locks."""
    folder = Path(tempfile.gettempdir())
    for path in [path for kind in KINDS for path in folder.glob(f"adkit-{kind}-*")]:
        with contextlib.suppress(OSError):  # somebody else's, locked, or gone in between
            status = path.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                continue
            if time.time() - status.st_mtime < YOUNG_S:
                continue
            lock = _opened(path)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)


def _opened(path: str | Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
