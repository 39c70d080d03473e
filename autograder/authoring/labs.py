"""Generate labs/ (what students get) and build/solved/ (what a right student hands in) from reference/."""

import difflib
import json
import os
import posixpath
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from autograder.authoring import cutter, named_blanks
from autograder.authoring.notebooks import build, predictions
from autograder.course import Course, CourseError, Lab

Tree = dict[str, bytes]  # a file's path below a folder, with "/" -> its bytes

READMES = {"en": "README.md", "zh": "README.zh-CN.md"}
# What running a lab in place leaves behind; git ignores it too.
LEFTOVERS = {"__pycache__", ".pytest_cache", ".ipynb_checkpoints", ".hypothesis", ".DS_Store"}
LINK = re.compile(r"(?P<before>\]\()(?P<target>[^)\s#]+)")


def write_labs(course: Course) -> None:
    """Make labs/ and build/solved/ what reference/ gives, and remove whatever else is there.

    Raises: CourseError. With a defect in any lab, nothing is written.
    """
    skeletons, solved = _skeletons(course), _solved(course)
    _synchronise(course.root, "labs", skeletons)
    _synchronise(course.root, "build/solved", solved)


def check_labs(course: Course) -> str:
    """How labs/ differs from what reference/ gives: a unified diff and the mend, or "" where it doesn't.

    Raises: CourseError.
    """
    expected = _skeletons(course)
    folder = _real_folder(course.root, "labs")
    found = {path.relative_to(folder).as_posix(): path for path in _files_below(folder)}
    parts: list[str] = []
    for name in sorted(expected.keys() | found.keys()):
        path = found.get(name)
        if name not in expected:
            parts.append(f"labs/{name} comes from nothing in reference/\n")
        elif path is not None and (path.is_symlink() or not path.is_file()):
            parts.append(f"labs/{name} is not a plain file\n")
        else:
            actual = path.read_bytes() if path is not None else None
            if actual != expected[name]:
                parts.append(_diff(f"labs/{name}", actual, expected[name]))
    if not parts:
        return ""
    return "".join(parts) + "labs/ is not what reference/ gives. Mend reference/ and run: make labs\n"


def lab_files(course: Course, lab: Lab) -> Tree:
    """What students get of a lab, the course's first language at the top.

    Raises: CourseError.
    """
    return _below(f"{lab.folder}/", _skeletons(course))


def solved_files(course: Course, lab: Lab) -> Tree:
    """A lab as a right student would hand it in.

    Raises: CourseError.
    """
    return _below(f"{lab.id}/", _solved(course))


def _below(folder: str, tree: Tree) -> Tree:
    return {path.removeprefix(folder): tree[path] for path in tree if path.startswith(folder)}


def _skeletons(course: Course) -> Tree:
    """All files of labs/."""
    tree: Tree = {}
    for lab in course.labs:
        for name in (*lab.modules, *lab.kernels):
            tree[f"{lab.folder}/{name}"] = _cut(course, lab, name, cutter.cut)
        named_blanks.check(lab, {name: tree[f"{lab.folder}/{name}"].decode() for name in lab.texts})
        readmes = _readme_places(course)
        shipped = {name: name for name in (*lab.texts, *_notebook_names(lab))} | readmes
        for source, place in readmes.items():
            text = _read(course, lab, source)
            shown = f"reference/{lab.folder}/{source}"
            given = _relinked(cutter.unmarked(text, shown), shown, place, shipped)
            tree[f"{lab.folder}/{place}"] = given.encode()
        for name in _notebook_names(lab):
            text = _read(course, lab, lab.notebook_source)
            for language, folder in _folders_of_languages(course).items():
                tree[f"{lab.folder}/{folder}{name}"] = build.for_students(text, lab, language)
        tree |= {f"{lab.folder}/{name}": content for name, content in _beside(course, lab).items()}
    return tree


def _solved(course: Course) -> Tree:
    """All files of build/solved/."""
    tree: Tree = {}
    for lab in course.labs:
        for name in (*lab.modules, *lab.kernels):
            tree[f"{lab.id}/{name}"] = _cut(course, lab, name, cutter.without_marks)
        for name in _notebook_names(lab):
            text = _read(course, lab, lab.notebook_source)
            tree[f"{lab.id}/{name}"] = build.solved(text, lab, course.languages[0])
        tree |= {f"{lab.id}/{name}": content for name, content in _beside(course, lab).items()}
    return tree


def _beside(course: Course, lab: Lab) -> Tree:
    """What lies beside the modules, solved or not, for labkit: manifest, public tests, hashes of answers."""
    tests = sorted(path.name for path in (lab.reference / "tests").glob("*.py"))
    texts = {f"tests/{name}": _cut(course, lab, f"tests/{name}", cutter.unmarked) for name in tests}
    if lab.notebook:
        modules = {name: _cut(course, lab, name, cutter.without_marks) for name in lab.modules}
        solved = build.cells(_read(course, lab, lab.notebook_source), lab, cut=False)
        texts[predictions.FILE] = predictions.of(solved, lab, modules)
    return {"manifest.toml": _manifest(course, lab).encode()} | texts


def _manifest(course: Course, lab: Lab) -> str:
    """What labkit knows of a lab, on a student's machine; none of it is hidden."""
    lines = [
        "# Made by `make labs` from course.toml and lab.toml.",
        f"id = {_toml(lab.id)}",
        f"title = {_toml(lab.title)}",
        f"language = {_toml(course.languages[0])}",
        f"modules = {_toml(lab.modules)}",
        f"kernels = {_toml(lab.kernels)}",
        *([f"notebook = {_toml(lab.notebook)}"] if lab.notebook else []),
    ]
    for task in lab.tasks:
        blanks = [{"name": blank.name, "minutes": blank.minutes} for blank in task.blanks]
        lines += [
            "",
            "[[task]]",
            f"id = {_toml(task.id)}",
            f"title = {_toml(task.title)}",
            f"points = {task.points}",
            f"file = {_toml(task.files)}",
            f"blanks = {_toml(blanks)}",
        ]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    """A text, a number, a list or a dict of these, on one line of TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)  # TOML's basic strings and integers are JSON's


def _readme_places(course: Course) -> dict[str, str]:
    """Where each language's README goes."""
    return {READMES[one]: f"{folder}README.md" for one, folder in _folders_of_languages(course).items()}


def _folders_of_languages(course: Course) -> dict[str, str]:
    """Where the texts of each language go: the default's to the top, another's to a folder of its own."""
    default, *others = course.languages
    return {default: ""} | {other: f"{other}/" for other in others}


def _notebook_names(lab: Lab) -> tuple[str, ...]:
    return (lab.notebook,) if lab.notebook else ()


def _relinked(text: str, shown: str, place: str, shipped: dict[str, str]) -> str:
    """The README with links to files of the lab as they are seen from `place`."""
    folder = PurePosixPath(place).parent.as_posix()

    def relink(link: re.Match[str]) -> str:
        target = link["target"]
        if re.match(r"[a-z]+:", target):
            return link[0]
        if target not in shipped:
            line = text.count("\n", 0, link.start()) + 1
            raise CourseError(
                f"{shown}:{line}: {target!r} is no file that students get with this lab. "
                f"Link one of: {', '.join(shipped)}."
            )
        # posixpath: the bytes are the same on every system.
        return link["before"] + posixpath.relpath(shipped[target], folder)

    return LINK.sub(relink, text)


def _cut(course: Course, lab: Lab, name: str, how: Callable[[str, str], str]) -> bytes:
    return how(_read(course, lab, name), f"reference/{lab.folder}/{name}").encode()


def _read(course: Course, lab: Lab, name: str) -> str:
    shown = f"reference/{lab.folder}/{name}"
    try:
        return (lab.reference / name).read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise CourseError(f"{shown} is missing. Write it, or mend lab.toml and course.toml.") from None
    except UnicodeDecodeError as error:
        raise CourseError(f"{shown}: byte {error.start} is not UTF-8. Save the file as UTF-8.") from None
    except OSError as error:
        raise CourseError(f"{shown} can't be read: {error.strerror}. Mend its permissions.") from None


def _synchronise(root: Path, name: str, tree: Tree) -> None:
    """Make the folder `name` hold exactly `tree`, following no link; files that are right stay untouched."""
    try:
        folder = _real_folder(root, name)
        folders = {parent.as_posix() for path in tree for parent in PurePosixPath(path).parents}
        folder.mkdir(parents=True, exist_ok=True)
        _remove_others(folder, PurePosixPath(), set(tree), folders)
        for path, content in tree.items():
            target = folder / path
            if target.is_file() and target.read_bytes() == content:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            # Whole or not at all: an interrupted run leaves no half file behind.
            unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
            unfinished.write_bytes(content)
            unfinished.replace(target)
    except OSError as error:
        raise CourseError(
            f"{error.filename or name} can't be written: {error.strerror}. "
            "Mend its permissions, or make room on the disk."
        ) from None


def _real_folder(root: Path, name: str) -> Path:
    folder = root / name
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise CourseError(f"{name} is not a plain folder. Remove it and run: make labs")
    return folder


def _remove_others(folder: Path, below: PurePosixPath, files: set[str], folders: set[str]) -> None:
    for entry in _entries(folder):
        place = below / entry.name
        if entry.is_dir(follow_symlinks=False):
            if place.as_posix() in folders:
                _remove_others(folder / entry.name, place, files, folders)
            else:
                shutil.rmtree(entry.path)
        elif place.as_posix() not in files or not entry.is_file(follow_symlinks=False):
            os.unlink(entry.path)


def _files_below(folder: Path) -> Iterator[Path]:
    """All that is no folder; links are not followed, and a folder that holds no file counts as nothing."""
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            yield from _files_below(folder / entry.name)
        else:
            yield folder / entry.name


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    if not folder.exists():
        return []
    with os.scandir(folder) as entries:
        return sorted(
            (entry for entry in entries if entry.name not in LEFTOVERS), key=lambda entry: entry.name
        )


def _diff(name: str, actual: bytes | None, expected: bytes) -> str:
    source = name if actual is not None else os.devnull
    old, new = _shown_lines(actual or b""), _shown_lines(expected)
    return "".join(difflib.unified_diff(old, new, source, f"{name} (from reference/)"))


def _shown_lines(content: bytes) -> list[str]:
    # What can't be seen is often all that differs.
    text = content.decode("utf-8", "backslashreplace").replace("\r", "\\r")
    *lines, rest = text.split("\n")
    return [f"{line}\n" for line in lines] + ([f"{rest} (no newline at the end)\n"] if rest else [])
