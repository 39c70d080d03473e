"""A lab's equivalents.toml: what looks wrong and is right all the same, each with its reason."""

from typing import Annotated

import msgspec
from msgspec import Meta

from autograder.authoring.mutants import shown
from autograder.authoring.thoughtless import Kind
from autograder.course import Lab, Words
from autograder.toml_file import read_toml

FILE = "equivalents.toml"


class Equivalent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change by machine of which no right test can see anything, and why."""

    file: Words
    was: Words
    becomes: Words
    reason: Words


class Right(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Answers of no thought that these checks must pass, and why."""

    kinds: Annotated[tuple[Kind, ...], Meta(min_length=1)]
    checks: Annotated[tuple[Words, ...], Meta(min_length=1)]
    reason: Words


class Equivalents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """equivalents.toml."""

    equivalent: tuple[Equivalent, ...] = ()
    answer: tuple[Right, ...] = ()


def read_equivalents(lab: Lab) -> Equivalents:
    """What the file says; nothing where there is none.

    Raises: CourseError.
    """
    if not (lab.reference / FILE).exists():
        return Equivalents()
    return read_toml(lab.reference.parents[1], shown(lab, FILE), Equivalents, mend="")
