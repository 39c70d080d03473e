"""What mutants answered, kept on disk beside the results: a file for each check and variant.

The folder's name says what the answers depend on, so what is found there is right. A file that can't be read
or written is as if it were not there.
"""

import contextlib
import os
import tempfile
from pathlib import Path

import msgspec

from .testimony import Said

UNFINISHED = ".unfinished"  # how the name of a file ends while it is being written
_Answers = dict[str, list[Said]]  # by mistake
_decoder = msgspec.msgpack.Decoder(_Answers)


class Remembered:
    """Answers by check, variant and mistake."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._answers: dict[tuple[str, int], _Answers] = {}
        self._stored: dict[tuple[str, int], int] = {}

    def of(self, check: str, variant: int) -> _Answers:
        """The answers to a check so far; what is put in is kept by `keep`."""
        if (check, variant) not in self._answers:
            found: _Answers = {}
            with contextlib.suppress(OSError, msgspec.DecodeError):
                found = _decoder.decode(self._file(check, variant).read_bytes())
            self._answers[check, variant], self._stored[check, variant] = found, len(found)
        return self._answers[check, variant]

    def keep(self, check: str, variant: int) -> None:
        """Store the answers, whole or not at all; another process may have stored its own meanwhile."""
        answers = self._answers[check, variant]
        if len(answers) == self._stored[check, variant]:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            _replace(self._file(check, variant), msgspec.msgpack.encode(answers))
            self._stored[check, variant] = len(answers)

    def _file(self, check: str, variant: int) -> Path:
        return self._folder / f"{check.replace('::', '.')}.{variant}"


def _replace(path: Path, content: bytes) -> None:
    """Write a file at once, and leave nothing beside it. Raises: OSError."""
    handle, unfinished = tempfile.mkstemp(dir=path.parent, suffix=UNFINISHED)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(unfinished, path)
    except BaseException:  # Ctrl-C too
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise
