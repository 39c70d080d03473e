"""A lab's typical mistakes in grading: what mutants.toml says, and the files each one changes.

`authoring.mutants` holds the table to its rules; here an entry that does not fit is left out.
"""

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from autograder.course import Lab, Words
from autograder.toml_file import read_toml

FILE = "mutants.toml"
# Of the solved files; `make labs` refuses whatever is almost one of them.
_MARKS = ("### BEGIN SOLUTION", "### END SOLUTION", "// BEGIN SOLUTION", "// END SOLUTION")

Id = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,47}\Z")]  # with a suffix it is still a student's id


class Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One change of one module; `text` stands there exactly once."""

    file: Words
    text: Words
    replacement: str


class Hint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What helps a student who made the mistake."""

    zh: Words
    en: Words


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[[mutant]]`, as it stands in the file."""

    id: Id
    family: Id
    tasks: Annotated[tuple[str, ...], Meta(min_length=1)]
    hint: Hint
    file: Words | UnsetType = UNSET
    text: Words | UnsetType = UNSET
    replacement: str | UnsetType = UNSET
    edits: Annotated[tuple[Edit, ...], Meta(min_length=1)] | UnsetType = UNSET

    def changes(self) -> tuple[Edit, ...]:
        """Its edits, () where it is not clear which they are."""
        single = (self.file, self.text, self.replacement)
        if isinstance(self.edits, tuple):
            return self.edits if single == (UNSET, UNSET, UNSET) else ()
        file, text, replacement = single
        if isinstance(file, str) and isinstance(text, str) and isinstance(replacement, str):
            return (Edit(file, text, replacement),)
        return ()


class Unfit(Exception):
    """An edit whose text is not exactly once in its file; `times`: how often, None where there is no file."""

    def __init__(self, edit: Edit, times: int | None) -> None:
        super().__init__(edit, times)
        self.edit, self.times = edit, times


class Title(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a family is called where people read of it: its topic, in a few words."""

    zh: Words
    en: Words


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """mutants.toml."""

    mutant: Annotated[tuple[Entry, ...], Meta(min_length=1)]
    family: dict[Id, Title] = {}


class Mistake(msgspec.Struct, frozen=True):
    """A typical mistake. `topic`: the title of its family; `changed`: the files it changes, without marks;
    the others are the reference's."""

    id: str
    family: str
    topic: Title | None
    tasks: tuple[str, ...]
    hint: Hint
    changed: dict[str, str]


def read_entries(lab: Lab) -> tuple[Entry, ...]:
    """The table as it stands. Raises: CourseError."""
    return _read(lab).mutant


def read_titles(lab: Lab) -> dict[str, Title]:
    """The titles of families; {} for a lab that lists no mistakes.

    Raises: CourseError.
    """
    return dict(_read(lab).family) if (lab.reference / FILE).exists() else {}


def _read(lab: Lab) -> _Table:
    name = f"reference/{lab.folder}/{FILE}"
    mend = "Write it: one [[mutant]] for each mistake."
    return read_toml(lab.reference.parents[1], name, _Table, mend=mend)


def read_mistakes(lab: Lab) -> tuple[Mistake, ...]:
    """The lab's typical mistakes, in their order; () for a lab that lists none.

    Raises: CourseError.
    """
    if not (lab.reference / FILE).exists():
        return ()
    solved = {PurePath(name).name: _solved(lab, name) for name in lab.texts}
    titles = read_titles(lab)
    made = ((entry, _changed(entry, solved)) for entry in read_entries(lab))
    return tuple(
        Mistake(entry.id, entry.family, titles.get(entry.family), entry.tasks, entry.hint, changed)
        for entry, changed in made
        if changed
    )


def edited(edits: Iterable[Edit], texts: Mapping[str, str]) -> dict[str, str]:
    """The files that edits change, by name, after one another.

    Raises: Unfit.
    """
    changed: dict[str, str] = {}
    for edit in edits:
        text = changed.get(edit.file, texts.get(edit.file))
        times = None if text is None else text.count(edit.text)
        if text is None or times != 1:
            raise Unfit(edit, times)
        changed[edit.file] = text.replace(edit.text, edit.replacement)
    return changed


def _solved(lab: Lab, name: str) -> str:
    lines = (lab.reference / name).read_text("utf-8").split("\n")
    return "\n".join(line for line in lines if line.strip() not in _MARKS)


def _changed(entry: Entry, solved: dict[str, str]) -> dict[str, str]:
    try:
        return edited(entry.changes(), solved)
    except Unfit:
        return {}
