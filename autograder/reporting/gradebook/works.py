"""What is to be pushed: students' work, read again, with what is stored of it and who they are."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

from autograder import key
from autograder.batch.depends import dependencies
from autograder.batch.grade import stands
from autograder.batch.store import Store
from autograder.course import Course, CourseError, Lab
from autograder.intake import Found, read_submission

from .book import lab_with_notebook
from .late import extensions, lateness
from .push import Work
from .roster import Person


def works(
    course: Course,
    lab: Lab,
    found: Iterable[Found],
    out: Path,
    roster: Mapping[str, Person],
) -> Iterator[Work]:
    """Work on a lab that was found, with its results in `out`.

    Raises: CourseError where a result is missing or not that of the work and the tests as they are now.
    """
    secret = key.load_key()
    store = Store(out / lab.id, key.key_id(secret))
    depends = dependencies(lab)
    more = extensions(course, lab)
    notebook = f"{lab_with_notebook(lab)}.ipynb"
    for one in found:
        yield _work(course, lab, one, store, depends, more, roster.get(one.student), notebook)


def _work(
    course: Course,
    lab: Lab,
    found: Found,
    store: Store,
    depends: dict[str, str],
    more: Mapping[str, timedelta],
    person: Person | None,
    notebook: str,
) -> Work:
    submission = read_submission(found, lab.texts, lab.graded_notebook)
    stored = store.load(found.student)
    # What the grader failed at stands here all the same: it is pushed as undecided.
    if stored is None or not (stands(stored, submission, depends, store.key) or not stored.result.complete):
        raise CourseError(
            f"{lab.id}: {found.student} has no result that stands. Run first: make grade LAB={lab.id}"
        )
    late = lateness(course, lab, found, more)
    person = person or Person(found.student)
    # A notebook that is graded by hand alone is no part of what `grade` reads.
    with_cells = submission if lab.graded_notebook else read_submission(found, lab.texts, notebook)
    return Work(found, submission, with_cells.cells, stored, late, person)
