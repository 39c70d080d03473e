"""The course's secret key: what makes inputs of checks differ between students and unknown to them."""

import hashlib
import hmac
import os
import secrets
import sys
from pathlib import Path

from autograder.course import CourseError

VARIANTS = 16
KEY_BYTES = 32


def load_key() -> bytes:
    """The key, from `$ADKIT_KEY_FILE` or ~/.config/adkit/key; made, with a notice, if the file is not there.

    Raises: CourseError if the file can't be read or made, or holds no key.
    """
    path = _key_file()
    # A link to nowhere is no missing file: it is read, and the error says so.
    return _read_key(path) if os.path.lexists(path) else _make_key(path)


def key_id(key: bytes) -> str:
    """What records hold to name the key without telling it: 8 hex digits."""
    return hashlib.sha256(key).hexdigest()[:8]


def variant_of(key: bytes, student: str) -> int:
    """Which of the 16 sets of inputs a student gets."""
    return int.from_bytes(_digest(key, "variant", student)) % VARIANTS


def seed_of(key: bytes, lab: str, check: str, variant: int) -> int:
    """The seed of a check's inputs, for numpy.random.default_rng."""
    return int.from_bytes(_digest(key, "seed", lab, check, str(variant)))


def _digest(key: bytes, *parts: str) -> bytes:
    # Lengths keep ("a", "bc") apart from ("ab", "c").
    encoded = [part.encode() for part in parts]
    message = b"".join(len(part).to_bytes(8) + part for part in encoded)
    return hmac.digest(key, message, "sha256")


def _key_file() -> Path:
    named = os.environ.get("ADKIT_KEY_FILE")
    if named:
        return Path(named)
    try:
        return Path.home() / ".config" / "adkit" / "key"
    except RuntimeError:
        raise CourseError("No home folder to keep the key in. Set ADKIT_KEY_FILE to a file.") from None


def _make_key(path: Path) -> bytes:
    key = secrets.token_bytes(KEY_BYTES)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(key.hex() + "\n")
                file.flush()
                os.fsync(file.fileno())
            # A link fails if another process made the key meanwhile; a rename would replace it.
            os.link(unfinished, path)
        finally:
            os.unlink(unfinished)
    except FileExistsError:
        return _read_key(path)
    except OSError as error:
        raise CourseError(_unusable(path, str(error.strerror))) from None
    print(f"Made a new key: {path}. Back it up: without it no grade can be reproduced.", file=sys.stderr)
    return key


def _read_key(path: Path) -> bytes:
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except OSError as error:
        raise CourseError(_unusable(path, str(error.strerror))) from None
    except ValueError:  # and UnicodeDecodeError, which is one
        raise CourseError(_unusable(path, "it is not hexadecimal")) from None
    if len(key) != KEY_BYTES:
        raise CourseError(_unusable(path, f"it holds {len(key)} bytes, not {KEY_BYTES}"))
    return key


def _unusable(path: Path, reason: str) -> str:
    return (
        f"The key file {path} can't be used: {reason}. "
        "Put its backup there, or set ADKIT_KEY_FILE to another file."
    )
