"""Write LAB.zip for handing in: the manifest's files, and the student's own modules that these import."""

import ast
import io
import json
import os
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from labkit.encoding import encoding_problem
from labkit.lab import Lab, WrongUse
from labkit.messages import Argument, Message

PASSED, TO_DO = 0, 1
FILE_BYTES = 1024 * 1024  # what the grader reads of one file
OURS = b"labkit pack"  # the comment of our archives: one without it is never replaced
FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # the same files give the same bytes on every day


# Names that the grader passes over. It has a list of its own, as results depend on it; a test compares them.
RESERVED = frozenset(sys.stdlib_module_names) | frozenset(
    "IPython _pytest autograder conftest cupy hypothesis labkit matplotlib msgspec numpy pluggy pytest scipy "
    "sitecustomize sympy torch tqdm usercustomize".split()
)


@dataclass
class Contents:
    """What goes into the archive, and what is to be said: problems prevent it, notes don't."""

    files: dict[str, bytes] = field(default_factory=dict)
    problems: list[Message] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)


def report(lab: Lab, target: Path, language: str) -> int:
    """Pack a lab into `target`/LAB.zip and say what is in it; with problems, write nothing.

    Raises: WrongUse if the archive can't be written.
    """
    contents = gather(lab)
    for message in (*contents.problems, *contents.notes):
        print(message.text(language))
    if contents.problems:
        print(_said("not-packed", language, lab=lab.id))
        return TO_DO
    file = target / f"{lab.id}.zip"
    data = archive(contents.files)
    try:
        kept = _write(file, data)
    except OSError as error:
        raise WrongUse("student.unwritable", file=str(file), text=error.strerror or str(error)) from None
    if kept is not None:
        print(_said("kept", language, file=file.name, kept=kept))
    print(_said("packed", language, file=str(file)))
    for name, content in contents.files.items():
        print("  " + _said("packed-file", language, file=name, bytes=len(content)))
    return PASSED


def gather(lab: Lab) -> Contents:
    """The files to hand in."""
    contents = Contents()
    for name in (*lab.modules, *lab.kernels):
        _take(contents, lab.folder / name)
    if lab.notebook is not None:
        _take_notebook(contents, lab, lab.notebook)
    helpers = {path.stem: path for path in _python_files(lab.folder) if path.name not in lab.modules}
    taken: set[str] = set()
    while wanted := sorted((_imports(contents.files) & helpers.keys()) - taken):
        for stem in wanted:
            taken.add(stem)
            if _is_reserved(stem):
                contents.notes.append(Message("intake.reserved", {"files": helpers[stem].name}))
            else:
                _take(contents, helpers[stem])
    folders = {path.name for path in lab.folder.iterdir() if path.is_dir()} - {"tests"}
    for stem in sorted(_imports(contents.files) & folders - helpers.keys()):
        contents.notes.append(Message("student.pack-folder", {"folder": stem}))
    left = [path.name for stem, path in helpers.items() if stem not in taken]
    if left:
        contents.notes.append(Message("student.pack-left", {"files": ", ".join(left)}))
    return contents


def archive(files: dict[str, bytes]) -> bytes:
    """A zip of these files. Stored, not compressed: the bytes depend on the files alone, on every system."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.comment = OURS
        for name, content in files.items():
            info = zipfile.ZipInfo(name, FIRST_DAY)
            info.create_system = 3  # Unix, on Windows too
            info.external_attr = 0o100644 << 16
            packed.writestr(info, content)
    return buffer.getvalue()


def _take(contents: Contents, path: Path) -> None:
    """Read a file; keep it if it can be handed in."""
    name = path.name
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        contents.problems.append(_missing(path))
        return
    except OSError as error:
        reason = error.strerror or type(error).__name__
        contents.problems.append(Message("student.pack-unreadable", {"file": name, "reason": reason}))
        return
    problem = encoding_problem(data, name)
    if len(data) > FILE_BYTES:
        problem = Message("intake.too-large", {"file": name, "limit": "1 MB"})
    if problem is not None:
        contents.problems.append(problem)
        return
    contents.files[name] = data
    if name.endswith(".py"):
        try:
            _parsed(data)
        except SyntaxError as error:
            arguments: dict[str, Argument] = {"line": error.lineno or 1, "text": error.msg}
            code = (error.text or "").strip()
            contents.notes.append(
                Message("student.import-syntax", {"module": name, "code": code, **arguments})
            )


def _take_notebook(contents: Contents, lab: Lab, name: str) -> None:
    """Keep the notebook of the language that was saved last, without outputs: graders don't look at them."""
    places = [path for path in (lab.folder / name, *sorted(lab.folder.glob(f"??/{name}"))) if path.is_file()]
    if not places:
        contents.problems.append(_missing(lab.folder / name))
        return
    chosen = max(places, key=lambda path: path.stat().st_mtime_ns)  # of equals the first
    try:
        notebook = json.loads(chosen.read_bytes().decode("utf-8-sig"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell.update(outputs=[], execution_count=None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        contents.problems.append(Message("student.pack-no-notebook", {"file": str(chosen)}))
        return
    contents.files[name] = (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode()
    if len(places) > 1:
        shown = chosen.relative_to(lab.folder).as_posix()
        contents.notes.append(Message("student.pack-notebook", {"file": shown, "name": name}))


def _missing(path: Path) -> Message:
    """A module that isn't there; files with a name a little off, such as "engine (1).py", are named."""
    similar = [
        other.name
        for other in sorted(path.parent.iterdir())
        if other.name.casefold().startswith(path.stem.casefold()) and other.is_file()
    ]
    if similar:
        return Message("intake.missing-similar", {"file": path.name, "found": ", ".join(similar)})
    return Message("intake.missing", {"file": path.name})


def _parsed(data: bytes) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" in a string is no matter here
        return ast.parse(data)


def _imports(files: dict[str, bytes]) -> set[str]:
    """The top names of all modules that some files import, as far as they can be parsed."""
    return {name for file, data in files.items() if file.endswith(".py") for name in _imports_of(data)}


def _imports_of(data: bytes) -> Iterator[str]:
    try:
        tree = _parsed(data)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _python_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.py") if path.is_file())


def _is_reserved(stem: str) -> bool:
    """Whether a name is Python's, a library's or a test's: the grader passes such files over."""
    return stem in RESERVED or stem.startswith(("test_", "__"))


def _write(file: Path, data: bytes) -> str | None:
    """Put an archive in place, whole or not at all; the name under which one that isn't ours was kept."""
    kept = None
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as unfinished:
        unfinished.write(data)
    try:
        if file.exists() and not _is_ours(file):
            kept = next(name for name in _other_names(file) if not (file.parent / name).exists())
            file.rename(file.parent / kept)
        os.chmod(unfinished.name, 0o644)
        os.replace(unfinished.name, file)
    except BaseException:
        os.unlink(unfinished.name)
        raise
    return kept


def _is_ours(file: Path) -> bool:
    try:
        with zipfile.ZipFile(file) as packed:
            return packed.comment == OURS
    except (OSError, zipfile.BadZipFile):
        return False


def _other_names(file: Path) -> Iterator[str]:
    number = 1
    while True:
        yield f"{file.stem}-before-{number}{file.suffix}"
        number += 1


def _said(name: str, language: str, **arguments: Argument) -> str:
    return Message(f"student.{name}", arguments).text(language)
