"""What TAs entered: it survives a mended grading test, and its loss is told."""

import shutil

from .conftest import QUESTION, BookCourse

WRONG_SIGN = """

_right = reverse_mode


def reverse_mode(y, seed=1.0):
    return {node: -gradient for node, gradient in _right(y, seed).items()}
"""


def test_what_tas_entered_survives_a_regrade_and_the_push_after_it(course: BookCourse) -> None:
    engine = course.mini.solved["engine.py"] + WRONG_SIGN
    for student in ("ann", "bob"):
        course.hand_in(student, course.answered(why_reverse="So.", prediction="value = 3"), engine=engine)
    course.run("grade")
    course.run("gradebook")
    course.grade_by_hand("ann", 3.5, "Nearly.")
    course.grade_by_hand("bob", 4.5, cell="reverse")
    assert course.scores()["ann"]["reverse"] == "0"
    course.mini.edit(
        "reference/lab0_chains/grading/test_engine.py",
        "def test_gradient_at_a_fixed_point(compare):",
        "def test_gradient_at_a_fixed_point():",
    )
    course.mini.edit(
        "reference/lab0_chains/grading/test_engine.py",
        'compare("power", x=3.0, n=2, seed=1.0)',
        "assert True",
    )
    course.run("regrade", "--lab", "lab0", "--yes")
    course.run("gradebook")
    ann, bob = course.scores()["ann"], course.scores()["bob"]
    assert (ann["reverse"], ann[QUESTION], ann["comments"]) == ("1", "3.5", f"{QUESTION}: Nearly.")
    assert (bob["reverse"], bob[QUESTION], bob["to grade"]) == ("4.5", "?", "1")


def test_a_database_that_is_gone_is_told_and_a_copy_of_it_can_be_put_back(course: BookCourse) -> None:
    database = course.book / "gradebook.db"
    copy = database.read_bytes()
    database.unlink()
    assert "what TAs entered isn't in it" in course.run("gradebook")
    assert course.scores()["ann"][QUESTION] == "?"
    database.write_bytes(copy)
    shutil.rmtree(course.book / "autograded")
    assert "isn't in it" not in course.run("gradebook")
    assert course.scores()["ann"][QUESTION] == "3.5"
