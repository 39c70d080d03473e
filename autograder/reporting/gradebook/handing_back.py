"""Feedback: nbgrader's own page of each student, with our report beside it."""

import contextlib
import functools
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from autograder.course import Course, CourseError, Lab

from . import guards
from .book import Book
from .register import quiet

WORTH_A_PROCESS = 30  # students; a process loads nbgrader first, which takes as long as ten pages


def write_feedback(
    book: Book, course: Course, lab: Lab, students: Sequence[str], advance: Callable[[], None]
) -> None:
    """Run nbgrader's generate_feedback on everybody, on several cores where that is worth it.

    Raises: CourseError in the end, naming whom it could make no page for.
    """
    jobs = min(len(os.sched_getaffinity(0)), len(students) // WORTH_A_PROCESS)
    page = functools.partial(_page, book, course.id, lab.id)
    failed = []
    with contextlib.ExitStack() as stack:
        pages: Iterator[str] = map(page, students)
        if jobs > 1:
            spawn = multiprocessing.get_context("spawn")
            pool = ProcessPoolExecutor(jobs, spawn, _leave_interrupts)
            pages = stack.enter_context(pool).map(page, students)
        for told in pages:
            failed += [told] if told else []
            advance()
    if failed:
        raise CourseError(
            f"{lab.id}: nbgrader has no feedback for {'; '.join(failed)}. Remove these from "
            f"{book.root}/autograded, then push again."
        )


def _leave_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it


def _page(book: Book, course_id: str, lab: str, student: str) -> str:
    """Write a student's page; on failure, who and why."""
    with quiet() as said:
        try:
            converter = _converter(book, course_id, lab)
            converter.coursedir.student_id = student
            converter.start()
        except Exception as error:
            return f"{student} ({' '.join((said or [str(error)])[0].split())})"
    return ""


@functools.lru_cache(maxsize=1)
def _converter(book: Book, course_id: str, lab: str) -> Any:
    from nbgrader.converters import GenerateFeedback
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    config = Config()
    guards.configure(config, book, course_id)
    folders = CourseDirectory(config=config)
    folders.assignment_id = lab
    converter = GenerateFeedback(coursedir=folders, config=config)
    converter.force = True
    return converter
