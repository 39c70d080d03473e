"""Right work that is not done: one blank as students get it; the reference or an alternate holds all else."""

from collections.abc import Iterator

from autograder.authoring import named_blanks
from autograder.authoring.audit_right import read_alternates
from autograder.authoring.mutants import Modules, shown, skeleton_modules, solved_modules, source
from autograder.course import Lab

_REFERENCE = "the reference"


def read_unfinished(lab: Lab) -> Iterator[tuple[str, Modules]]:
    """Each blank of modules and kernels left in one right solution, another for the next one.

    With words for it: "kahn without Node.__rsub__". Raises: CourseError.
    """
    whole = {_REFERENCE: solved_modules(lab)} | read_alternates(lab)
    names, blanks = list(whole), _blanks(lab)
    for number, (file, blank) in enumerate(blanks):
        name = names[number % len(names)]
        own = f"alternates/{name}/{file}"
        place = own if (lab.reference / own).exists() else file
        others = {other for there, other in blanks if there == file} - {blank}
        cut = named_blanks.cut_but_for(others, source(lab, place), shown(lab, place))
        yield f"{name} without {blank}", whole[name] | {file: cut}


def _blanks(lab: Lab) -> list[tuple[str, str]]:
    """All of them, each with its file."""
    return [
        (file, blank)
        for file, text in skeleton_modules(lab).items()
        for blank in named_blanks.blanks_of(file, text)
    ]
