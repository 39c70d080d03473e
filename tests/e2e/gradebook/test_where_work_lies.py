"""Work that lies in nbgrader's own folder of submissions, as `nbgrader collect` leaves it."""

import shutil

from .conftest import QUESTION, BookCourse


def test_a_push_makes_no_second_submission_where_work_lies_in_the_gradebook(course: BookCourse) -> None:
    course.edit_course('submitted = "submitted"', 'submitted = "gradebook/submitted"')
    made = course.answered(why_reverse="So.", prediction="value = 3")
    there = course.book / "submitted"
    for student in ("folder", "archive", "capitals"):
        course.hand_in(student, made)
    shutil.move(course.mini.submitted, there)
    shutil.make_archive(str(there / "archive/lab0"), "zip", there / "archive/lab0")
    shutil.rmtree(there / "archive/lab0")
    (there / "capitals/lab0").rename(there / "capitals/LAB0")
    for _ in range(2):
        course.run("grade")
        course.run("gradebook")
        names = {path.name: [one.name for one in path.iterdir()] for path in there.iterdir()}
        assert names == {"folder": ["lab0"], "archive": ["lab0.zip"], "capitals": ["LAB0"]}
        assert {row["points"] for row in course.scores().values()} == {"10"}
        assert {row[QUESTION] for row in course.scores().values()} == {"?"}
