"""Wrong work that is no mutant, as a student may write it: lookalikes.toml, a body for one blank each.

The rest of the work is the reference's. `blank` is named as in lab.toml; `family` is one of mutants.toml.
"""

import textwrap
from pathlib import PurePath
from typing import Annotated

import msgspec
from msgspec import Meta

from autograder.authoring import named_blanks
from autograder.authoring.cutter import MARKS, without_marks
from autograder.authoring.mutants import Modules, shown, solved_modules, source
from autograder.course import CourseError, Lab, Words
from autograder.judging.mistakes import Id, read_entries
from autograder.toml_file import read_toml

FILE = "lookalikes.toml"


class Lookalike(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[[lookalike]]`, as it stands in the file."""

    id: Id
    family: Id
    file: Words
    blank: Words
    body: Words


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """lookalikes.toml."""

    lookalike: Annotated[tuple[Lookalike, ...], Meta(min_length=1)]


def read_lookalikes(lab: Lab) -> dict[str, tuple[str, Modules]]:
    """Id -> family and whole modules; {} for a lab that has none.

    Raises: CourseError.
    """
    if not (lab.reference / FILE).exists():
        return {}
    place = shown(lab, FILE)
    table = read_toml(lab.reference.parents[1], place, _Table, mend="Write [[lookalike]].")
    families = {entry.family for entry in read_entries(lab)}
    solved, found = solved_modules(lab), {}
    for one in table.lookalike:
        if one.family not in families or one.id in found:
            why = (
                "this id stands there twice"
                if one.id in found
                else f"no mutant is of the family {one.family}"
            )
            raise CourseError(f'{place}: [[lookalike]] "{one.id}": {why}. Name another.')
        found[one.id] = (one.family, solved | _filled(lab, place, one))
    return found


def _filled(lab: Lab, place: str, one: Lookalike) -> Modules:
    """The file with this body in its blank."""
    files = {PurePath(name).name: name for name in (*lab.modules, *lab.kernels)}
    text = source(lab, files[one.file]) if one.file in files else ""
    rows = named_blanks.places(one.file, text).get(one.blank, ()) if text else ()
    lines, marks = text.split("\n"), MARKS.get(PurePath(one.file).suffix, ("", ""))
    begin = next((row - 1 for row in rows if lines[row - 1].strip() == marks[0]), None)
    if begin is None:
        raise CourseError(
            f'{place}: [[lookalike]] "{one.id}": {one.file} has no {one.blank}. Name a blank of that file.'
        )
    # Below the function's last line, where it ends with the solution.
    end = next(at for at in range(begin, len(lines)) if lines[at].strip() == marks[1])
    body = textwrap.indent(one.body.strip("\n"), lines[begin].partition(marks[0])[0])
    text = "\n".join([*lines[: begin + 1], body, *lines[end:]])
    return {one.file: without_marks(text, one.file)}
