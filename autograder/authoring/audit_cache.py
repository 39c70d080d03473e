"""What the audit has found out already, each result under the hash of all that it depends on.

So a lab that has not changed is audited in seconds, and nothing stale is ever found: what changes gives
another name, and names of other versions of the grader, the lab or the key are swept away.
"""

import contextlib
import hashlib
import shutil
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from autograder.batch import record

Kept = TypeVar("Kept")


class Cache:
    """Results in a folder; `depends`: what all of them depend on."""

    def __init__(self, folder: Path, depends: Any) -> None:
        self._folder = folder / _hash_of(depends)
        for other in folder.glob("*/"):
            if other != self._folder:
                shutil.rmtree(other, ignore_errors=True)

    def load(self, depends: Any, kind: type[Kept]) -> Kept | None:
        """What is kept under what it depends on besides, if anything is that can be read."""
        with contextlib.suppress(OSError, msgspec.DecodeError):
            return msgspec.msgpack.decode((self._folder / _hash_of(depends)).read_bytes(), type=kind)
        return None

    def keep(self, depends: Any, content: Any) -> None:
        """Keep a result, whole or not at all. Raises: StorageError."""
        record.write(self._folder / _hash_of(depends), msgspec.msgpack.encode(content))


def _hash_of(content: Any) -> str:
    return hashlib.sha256(msgspec.msgpack.encode(content, order="sorted")).hexdigest()[:40]
