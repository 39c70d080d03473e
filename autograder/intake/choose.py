"""Which entries of a submission are taken: the manifest's texts, and the student's own helper modules.

`modules` are all texts that the manifest names, kernels (.cu) among them.
"""

import re
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from autograder.intake.archive import archive_suffix
from autograder.intake.entries import (
    ALL_BYTES,
    DEPTH,
    FILE_BYTES,
    HELPERS,
    Entry,
    Kind,
    Unusable,
    listed,
    megabytes,
    shown,
    walk,
)
from autograder.intake.notebook import NOTEBOOK_BYTES, read_cells
from autograder.intake.text import decoded
from labkit.messages import Argument, Message

# A file of one of these names would stand in the place of what the worker itself imports.
RESERVED = frozenset(sys.stdlib_module_names) | {
    "IPython",
    "_pytest",
    "autograder",
    "conftest",
    "cupy",
    "hypothesis",
    "labkit",
    "matplotlib",
    "msgspec",
    "numpy",
    "pluggy",
    "pytest",
    "scipy",
    "sitecustomize",
    "sympy",
    "torch",
    "tqdm",
    "usercustomize",
}
# What else a text of this ending is saved as.
_ENDINGS = {
    "py": (".py", ".txt", ".bak"),
    "cu": (".cu", ".cuh", ".cpp", ".txt", ".bak"),
    "ipynb": (".ipynb", ".json", ".txt"),
}
# What file managers, browsers, editors and tired people add to a name.
_DECORATIONS = {"copy", "of", "final", "new", "old", "version", "v"}


@dataclass
class Chosen:
    """What was taken, as text and as bytes, and what is to be said about the rest."""

    files: dict[str, str] = field(default_factory=dict)
    cells: dict[str, str] = field(default_factory=dict)
    raw: dict[str, bytes] = field(default_factory=dict)
    problems: dict[str, Message] = field(default_factory=dict)
    notes: list[Message] = field(default_factory=list)

    def note(self, id: str, names: list[str], **arguments: Argument) -> None:
        """Say something about all files of one sort, if there are any."""
        if names:
            self.notes.append(Message(id, {"files": listed(names), **arguments}))


def only_archive(top: Entry, modules: Sequence[str]) -> Entry | None:
    """The archive that a submission consists of, if it holds just one and no module anywhere."""
    entries = walk(top)
    if any(entry.name in modules for entry in entries):
        return None
    archives = [entry for entry in entries if entry.kind is Kind.FILE and archive_suffix(entry.name)]
    return archives[0] if len(archives) == 1 else None


def choose(top: Entry, modules: Sequence[str], notebook: str = "") -> Chosen:
    """Take the modules and helpers of a submission, and the cells of its notebook if it should have one.

    Raises: Refused.
    """
    folder = _entered(top, modules)
    children = {child.name: child for child in folder.children()}
    everything = walk(top)
    chosen = Chosen()
    similar: set[str] = set()
    for module in modules:
        if module in children:
            try:
                _take(chosen, children[module], FILE_BYTES)
            except Unusable as problem:
                chosen.problems[module] = problem.message
        else:
            found = [_relative(entry, folder) for entry in everything if _is_similar(entry, module)]
            similar.update(found)
            chosen.problems[module] = _missing(module, found)
    if notebook in children:
        try:
            _take_cells(chosen, children[notebook])
        except Unusable as problem:
            chosen.problems[notebook] = problem.message
    elif notebook:
        found = [_relative(entry, folder) for entry in everything if _is_similar(entry, notebook)]
        chosen.problems[notebook] = _missing(notebook, found)
    others = [child for name, child in children.items() if name not in modules and name not in similar]
    _take_helpers(chosen, [child for child in others if child.name.endswith(".py")])
    chosen.note("intake.hard-link", [name for name in chosen.raw if children[name].hard_links > 1])
    chosen.note("intake.folder", [path.partition("/")[0] + "/" for path in _deeper_modules(folder, similar)])
    return chosen


def _entered(top: Entry, modules: Sequence[str]) -> Entry:
    """The folder that holds the work: the top, or what is alone in it, as zip tools make it."""
    folder = top
    for _ in range(DEPTH):
        children = folder.children()
        folders = [child for child in children if child.kind is Kind.FOLDER]
        is_work = any(child.name in modules or child.name.endswith(".py") for child in children)
        if is_work or len(folders) != 1:
            break
        folder = folders[0]
    return folder


def _take(chosen: Chosen, entry: Entry, room: int) -> bool:
    """Read an entry and keep it, unless it takes more than `room`.

    Raises: Unusable, Refused.
    """
    _refuse_other_kinds(entry)
    data = entry.read(FILE_BYTES)
    text = decoded(data, entry.name)
    if len(data) > room:
        return False
    chosen.files[entry.name] = text
    chosen.raw[entry.name] = data
    return True


def _take_cells(chosen: Chosen, entry: Entry) -> None:
    """Read the notebook. Raises: Unusable, Refused."""
    _refuse_other_kinds(entry)
    read = read_cells(entry.read(NOTEBOOK_BYTES), entry.name)
    chosen.cells = read.texts
    chosen.notes += read.notes


def _refuse_other_kinds(entry: Entry) -> None:
    """Raises: Unusable for what is no file."""
    reasons = {
        Kind.LINK: "intake.link",
        Kind.FOLDER: "intake.not-a-file",
        Kind.SPECIAL: "intake.not-a-file",
        Kind.DUPLICATE: "intake.duplicate",
    }
    if entry.kind in reasons:
        raise Unusable(Message(reasons[entry.kind], {"file": shown(entry.name)}))


def _missing(module: str, found: list[str]) -> Message:
    if not found:
        return Message("intake.missing", {"file": module})
    return Message("intake.missing-similar", {"file": module, "found": listed(found)})


def _is_similar(entry: Entry, module: str) -> bool:
    """Whether an entry may be meant as `module`: its name a little off, or in another place."""
    ending = module.rpartition(".")[2]
    return (
        entry.kind is not Kind.FOLDER
        and entry.name.casefold().endswith(_ENDINGS[ending])
        and _core(entry.name, ending) == _core(module, ending)
    )


def _core(name: str, ending: str) -> str:
    words = re.findall("[a-z]+", unicodedata.normalize("NFKC", name).casefold())
    endings = {suffix[1:] for suffix in _ENDINGS[ending]}
    return "".join(word for word in words if word not in _DECORATIONS | endings).removesuffix("s")


def _relative(entry: Entry, folder: Entry) -> str:
    return entry.path.removeprefix(f"{folder.path}/")


MODULE_NAME_BYTES = 200  # a file system takes 255, and Python adds `.cpython-311.pyc` to it


def _take_helpers(chosen: Chosen, candidates: list[Entry]) -> None:
    reserved: list[str] = []
    unimportable: list[str] = []
    helpers: list[Entry] = []
    for entry in candidates:
        stem = entry.name.removesuffix(".py")
        if stem in RESERVED or stem.startswith(("test_", "__")):
            reserved.append(entry.name)
        elif stem.isidentifier() and len(stem.encode()) <= MODULE_NAME_BYTES:
            helpers.append(entry)
        else:
            unimportable.append(entry.name)
    left_out = [entry.name for entry in helpers[HELPERS:]]
    for entry in helpers[:HELPERS]:
        try:
            if not _take(chosen, entry, ALL_BYTES - sum(map(len, chosen.raw.values()))):
                left_out.append(entry.name)
        except Unusable as problem:
            chosen.notes.append(problem.message)
    chosen.note("intake.reserved", reserved)
    chosen.note("intake.unimportable", unimportable)
    chosen.note("intake.left-out", left_out, count=HELPERS, size=megabytes(ALL_BYTES))


def _deeper_modules(folder: Entry, similar: set[str]) -> list[str]:
    """Python files in folders below the work, but for the lab's own public tests."""
    paths = [_relative(entry, folder) for entry in walk(folder) if entry.kind is Kind.FILE]
    return [
        path
        for path in paths
        if path.endswith(".py") and "/" in path and not path.startswith("tests/") and path not in similar
    ]
