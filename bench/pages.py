"""Seconds to write the pages of 300 students, by the Python of .venv: pages.py FOLDER.

FOLDER is what `autograder grade` wrote of the sample class; the pages go to a temporary folder.
"""

import itertools
import sys
import tempfile
import time
from pathlib import Path

from autograder.batch import record
from autograder.batch.store import Store
from autograder.course import load_course
from autograder.reporting.pages import class_page, student_pages

STUDENTS = 300


def main() -> None:
    """Print the seconds, record.json read and pages written; the grading itself is not counted."""
    course = load_course(Path(__file__).parents[1])
    lab = course.lab("lab1")
    store = Store(Path(sys.argv[1]) / lab.id, "")
    students = list(itertools.islice(itertools.cycle(store.students()), STUDENTS))
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        everybody = []
        for number, student in enumerate(students):
            stored = store.load(student)
            if stored is None:
                sys.exit(f"no whole result of {student} in {store.folder}")
            for name, content in student_pages(course, lab, stored).items():
                record.write(Path(folder) / f"{number}-{student}" / name, content)
            everybody.append(stored)
        record.write(Path(folder) / "class.html", class_page(course, lab, everybody))
        print(time.perf_counter() - begin)


if __name__ == "__main__":
    main()
