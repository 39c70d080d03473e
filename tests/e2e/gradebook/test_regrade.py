"""A grading test is mended after TAs have graded by hand."""

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
