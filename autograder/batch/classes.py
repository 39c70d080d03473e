"""Which class is graded: the course's own or the sample class, and which labs it has work on."""

from dataclasses import dataclass
from pathlib import Path

from autograder.course import Course, CourseError, Lab
from autograder.intake import NothingFound, find_submissions

SAMPLE, SAMPLE_OUT = "examples/submitted", "build/sample"


@dataclass(frozen=True)
class Places:
    """Where work lies and where results go; `sample`: it is the sample class, for want of another."""

    submitted: Path
    out: Path
    sample: bool


def places(course: Course, submitted: Path | None, out: Path | None) -> Places:
    """The folders named, or else the course's; the sample class while there is no class of one's own."""
    sample = submitted is None and _is_empty(course.submitted)
    return Places(
        submitted or (course.root / SAMPLE if sample else course.submitted),
        out or (course.root / SAMPLE_OUT if sample else course.out),
        sample,
    )


def _is_empty(submitted: Path) -> bool:
    """Whether no class of one's own is there yet; one whose folders are misnamed is there."""
    if not submitted.exists():
        return True
    return submitted.is_dir() and not any(submitted.glob("[!.]*"))


def labs_with_work(course: Course, submitted: Path) -> tuple[list[Lab], list[str]]:
    """The labs to grade, and a line for each whose work is all misnamed and so passed over.

    Raises: CourseError when there is none.
    """
    found: list[Lab] = []
    passed_over: list[str] = []
    missing: list[NothingFound] = []
    for lab in course.labs:
        try:
            find_submissions(submitted, lab.id)
            found.append(lab)
        except NothingFound as error:
            missing.append(error)
            if error.is_misnamed:
                passed_over.append(str(error))
    if not found:
        raise CourseError(str(next((one for one in missing if one.is_misnamed), missing[0])))
    return found, passed_over
