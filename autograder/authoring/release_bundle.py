"""What goes into a lab's zip, and the zip's bytes, which depend on the files alone."""

import hashlib
import io
import os
import re
import stat
import zipfile
from pathlib import Path

import msgspec

from autograder.authoring.labs import LEFTOVERS, Tree, lab_files
from autograder.course import Course, CourseError, Lab
from labkit.messages import Message

LIBRARY, ENVIRONMENT, README = "labkit", "environment.yml", "README.md"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest a zip knows
_UNFIT = re.compile(
    r'[<>:"|?*\\\0-\x1f\ud800-\udfff]|[ .](?:/|\Z)|(?:\A|/)(?:con|prn|aux|nul|com\d|lpt\d)(?:[./]|\Z)', re.I
)


def files_of(course: Course, lab: Lab, language: str) -> Tree:
    """Everything a student unpacks, by its path below the top folder; `language`'s README at the top.

    Raises: CourseError, naming a link or a name that some system can't unpack.
    """
    others = [one for one in course.languages if one != language]
    tree = lab_files(msgspec.structs.replace(course, languages=(language, *others)), lab)
    work = ", ".join((*lab.modules, *lab.kernels))
    for place, spoken in {README: language, **{f"{one}/{README}": one for one in others}}.items():
        section = Message("release.readme", {"lab": lab.id, "files": work}).text(spoken)
        head, heading, rest = tree[place].decode().partition("\n## ")
        tree[place] = f"{head}\n{section}\n{heading}{rest}".encode()  # set-up comes before the work
    kit = {
        **_library(course.root / LIBRARY, LIBRARY),
        ENVIRONMENT: _plain(course.root / ENVIRONMENT, ENVIRONMENT),
    }
    _refuse_unfit([*tree, *kit])
    return tree | kit


def name_of(lab: Lab, files: Tree) -> str:
    """The top folder and the zip: another content has another name, so no release lands on an older one."""
    digest = hashlib.sha256()
    for path in sorted(files):
        for part in (path.encode(), files[path]):
            digest.update(len(part).to_bytes(8) + part)
    return f"{lab.id}-{digest.hexdigest()[:6]}"


def packed(top: str, files: Tree) -> bytes:
    """The zip. Stored, not deflated: what a compressor makes depends on its version."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(f"{top}/{path}", LONG_AGO)
            entry.create_system = 3  # Unix, on every system, so that the permissions count
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, files[path])
    return buffer.getvalue()


def _library(folder: Path, shown: str) -> Tree:
    """labkit/ as it stands, but for what running it leaves behind."""
    tree: Tree = {}
    try:
        with os.scandir(folder) as found:
            entries = sorted((one for one in found if one.name not in LEFTOVERS), key=lambda one: one.name)
    except OSError as error:
        raise _unreadable(shown, error) from None
    for entry in entries:
        path = f"{shown}/{entry.name}"
        if entry.name.startswith(".") or entry.name.endswith("~"):
            raise CourseError(f"{path} is hidden or a backup, not the library's. Remove it.")
        if entry.is_dir(follow_symlinks=False):
            tree |= _library(folder / entry.name, path)
        else:
            tree[path] = _plain(folder / entry.name, path)
    return tree


def _plain(file: Path, shown: str) -> bytes:
    try:
        state = file.lstat()
        if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
            raise CourseError(
                f"{shown} is a link or no plain file, so its content may be anybody's. Put a copy there."
            )
        return file.read_bytes()
    except OSError as error:
        raise _unreadable(shown, error) from None


def _unreadable(shown: str, error: OSError) -> CourseError:
    return CourseError(f"{shown} can't be read: {error.strerror}. Put the kit's own there.")


def _refuse_unfit(paths: list[str]) -> None:
    """Names that Windows can't hold, and two that it, or Python's import, takes for one."""
    seen: dict[str, str] = {}
    for path in paths:
        if _UNFIT.search(path):
            raise CourseError(f"{path!r} can't be unpacked on Windows. Rename it.")
        first = seen.setdefault(path.casefold(), path)
        if first != path:
            raise CourseError(f"{path!r} and {first!r} are one file on Windows. Rename one.")
    for path in paths:
        if path.casefold() == f"{LIBRARY}.py":
            raise CourseError(f"{path!r} would hide the kit's own {LIBRARY}/. Rename it.")
