"""`autograder gradebook` and `feedback` on a class of thirty, with nbgrader itself and a real sandbox."""

import json
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from autograder.course import CourseError
from autograder.reporting.gradebook import book

from .conftest import ASKED, QUESTION, SCHEME, BookCourse, cell

ANSWER = "Because **every** use must have come first: $a<b$."
CLASS = 30
ODD = {"s01": 'O\'Neil, "Jr."', "s02": "=HYPERLINK(1)", "s03": "张三"}
DUE = "2026-11-24 15:59:00"  # in UTC; the course says 23:59+08:00


@pytest.fixture(scope="module")
def graded(course: BookCourse) -> BookCourse:
    """Thirty students, pushed once: s00 has wrong code, s04 and s16 no answer, s05 no notebook."""
    for number in range(CLASS):
        student = f"s{number:02}"
        made: Any = course.answered(why_reverse=ANSWER, prediction="# cell: prediction\nvalue = 3")
        if student == "s04":
            made = course.answered()
        if student == "s05":
            made = None
        if student == "s16":
            made = course.answered("en")
        wrong = {"engine": course.mini.skeleton["engine.py"]} if student == "s00" else {}
        folder = course.hand_in(student, made, **wrong)
        if student == "s06":
            (folder / "timestamp.txt").write_text("2026-11-28 15:58:59.5 UTC\n")  # the end of its fourth day
    people = [f'{id},"{name.replace(chr(34), chr(34) * 2)}",,,' for id, name in ODD.items()]
    people += [f"s{number:02},,,," for number in range(4, CLASS - 1)]
    roster = "\n".join(["id,name,email,language,lms_id", "absent,Nobody,,,", "s00,,,,", *people])
    (course.root / "roster.csv").write_text(roster, encoding="utf-8")
    course.edit_course("[[lab]]", "[late]\nfree_days = 3\nper_day = 0.1\n\n[[lab]]")
    course.run("grade")
    course.said = course.run("gradebook")
    return course


def test_a_push_says_what_it_did_and_a_second_one_has_nothing_to_do(graded: BookCourse) -> None:
    assert "lab0: 30 of 30 pushed" in graded.said
    assert "Pushed, but not in roster.csv: s29." in graded.said
    before = everything(graded)
    graded.type("gradebook")
    assert everything(graded) == before


def test_scores_are_the_grader_s_and_odd_names_stay_in_their_cells(graded: BookCourse) -> None:
    scores = graded.scores()
    assert (scores["s00"]["points"], scores["s00"]["reverse"]) == ("5", "0")
    assert (scores["s07"]["points"], scores["s07"]["max"], scores["s07"][QUESTION]) == ("10", "14", "?")
    for student in ("s04", "s16"):  # the Chinese notebook and the English one
        assert (scores[student][QUESTION], scores[student]["to grade"]) == ("0", "0")
    assert scores["s05"]["points"] == "10"  # modules count without a notebook
    assert scores["absent"]["points"] == "0"
    assert [scores[student]["name"] for student in ODD] == ['O\'Neil, "Jr."', "'=HYPERLINK(1)", "张三"]


def test_a_late_day_that_has_begun_costs_its_share_by_the_course_s_own_clock(graded: BookCourse) -> None:
    assert (graded.scores()["s06"]["late penalty"], graded.scores()["s06"]["points"]) == ("1", "9")
    with sqlite3.connect(graded.book / "gradebook.db") as database:
        assert database.execute("SELECT duedate FROM assignment").fetchone()[0].startswith(DUE)
    database.close()


def test_nbgrader_knows_of_all_that_they_are_graded_whenever_they_handed_in(graded: BookCourse) -> None:
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    api = NbGraderAPI(CourseDirectory(root=str(graded.book)))
    assert api.get_autograded_students("lab0") == {f"s{number:02}" for number in range(CLASS)}


def test_the_rebuilt_notebook_is_the_one_handed_out_with_the_student_s_cells(graded: BookCourse) -> None:
    shown = graded.shown("s07")
    assert shown["prediction"]["source"] == "# cell: prediction\nvalue = 3"
    assert shown[QUESTION]["source"] == ANSWER
    assert shown["square"]["source"] == 'check("square")'
    assert "def reverse_mode" in shown["code-reverse-engine"]["source"]
    ids = list(shown)
    assert ids.index("code-reverse-engine") == ids.index("reverse") - 1
    (output,) = shown["reverse"]["outputs"]
    assert (output["output_type"], "5 / 5" in output["text"]) == ("stream", True)
    missing = graded.shown("s00")["reverse"]["outputs"][0]["text"]
    assert "reverse_mode" in missing
    assert graded.shown("s05")[QUESTION]["source"] == ASKED


def test_what_a_ta_entered_stays_and_is_in_feedback_and_csv(graded: BookCourse) -> None:
    graded.grade_by_hand("s08", 3.5, "Nearly: see *page 7*.")
    graded.grade_by_hand("s06", 4, "Fine, =but late")
    engine = graded.mini.submitted / "s08/lab0/engine.py"
    engine.write_text(graded.mini.skeleton["engine.py"], encoding="utf-8")
    graded.run("grade")
    graded.type("feedback")
    scores = graded.scores()
    assert (scores["s08"]["points"], scores["s08"][QUESTION], scores["s08"]["to grade"]) == (
        "8.5",
        "3.5",
        "0",
    )
    assert scores["s08"]["comments"] == f"{QUESTION}: Nearly: see *page 7*."
    assert (scores["s06"]["late penalty"], scores["s06"]["points"]) == ("1.4", "12.6")
    folder = graded.book / "feedback/s08/lab0"
    page = (folder / "lab0.html").read_text(encoding="utf-8")
    assert "Score: 8.5 / 14.0" in page
    assert "Nearly: see <em>page 7</em>." in page
    assert 'href="feedback.html"' in page
    assert 'href="lab0.html"' in (folder / "feedback.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in folder.iterdir()) == ["feedback.html", "lab0.html"]


def test_an_answer_changed_after_a_ta_graded_it_is_to_be_looked_at_again(graded: BookCourse) -> None:
    graded.grade_by_hand("s09", 2, "Too short.")
    made = graded.answered(why_reverse="Now it is longer.", prediction="value = 3")
    (graded.mini.submitted / "s09/lab0/lab0.ipynb").write_text(json.dumps(made))
    for _ in range(2):  # and it stays so
        graded.type("gradebook")
        row = graded.scores()["s09"]
        assert (row[QUESTION], row["to grade"]) == ("2", "1")


@pytest.mark.parametrize("way", ["changed", "removed", "points of nobody"])
def test_grade_ids_that_changed_after_the_first_push_are_refused_with_a_mend(
    graded: BookCourse, way: str
) -> None:
    made = graded.notebook()
    if way == "changed":
        made["cells"][-1]["metadata"]["nbgrader"]["grade_id"] = "another"
    elif way == "removed":
        del made["cells"][-1]
    else:
        made["cells"].append(cell("code", "bonus", "check()", grade=True, locked=True, points=3))
    graded.write_notebook(made)
    before = everything(graded)
    try:
        with pytest.raises(CourseError, match=r"another|why-reverse|bonus") as told:
            graded.type("gradebook")
    finally:
        graded.write_notebook(graded.notebook())
    assert "\n" not in str(told.value)
    assert everything(graded) == before


def test_a_text_of_the_notebook_may_change(graded: BookCourse) -> None:
    made = graded.notebook()
    made["cells"][0]["source"] = "# Chains, said better"
    graded.write_notebook(made)
    try:
        graded.type("gradebook")
        assert list(graded.shown("s07").values())[1]["source"] == "# Chains, said better"
    finally:
        graded.write_notebook(graded.notebook())
        graded.type("gradebook")
    assert graded.scores()["s06"][QUESTION] == "4"


def test_work_that_is_not_graded_as_it_is_now_is_not_pushed(graded: BookCourse) -> None:
    engine = graded.mini.submitted / "s10/lab0/engine.py"
    right = engine.read_text()
    engine.write_text(right + "\n# one more line\n")
    try:
        with pytest.raises(
            CourseError, match=r"s10 has no result that stands\. Run first: make grade LAB=lab0"
        ):
            graded.type("gradebook")
    finally:
        engine.write_text(right)


def test_a_locked_gradebook_is_told_in_one_line(graded: BookCourse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "WAIT_S", 0)
    made = graded.answered(why_reverse="Another answer.", prediction="value = 3")
    (graded.mini.submitted / "s14/lab0/lab0.ipynb").write_text(json.dumps(made))
    database = sqlite3.connect(graded.book / "gradebook.db", isolation_level=None)
    database.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(
            CourseError, match=r"gradebook\.db: database is locked\. Somebody is writing to it"
        ):
            graded.type("gradebook")
    finally:
        database.close()


def test_gradebooks_of_others_are_left_alone(graded: BookCourse, tmp_path: Path) -> None:
    older = tmp_path / "older"
    older.mkdir()
    shutil.copy(graded.book / "gradebook.db", older / "gradebook.db")
    with sqlite3.connect(older / "gradebook.db") as database:
        database.execute("UPDATE assignment SET course_id = 'ad2025'")
    database.close()
    with pytest.raises(CourseError, match="of the course ad2025, and this is mini2026"):
        graded.type("gradebook", "--gradebook", str(older))
    (older / "gradebook.db").write_bytes(b"not a database at all" * 100)
    with pytest.raises(CourseError, match=r"file is not a database\. Put a copy of it back"):
        graded.type("gradebook", "--gradebook", str(older))
    (graded.root / "elsewhere").mkdir()
    with pytest.raises(CourseError, match="is no gradebook of `autograder gradebook`"):
        graded.type("formgrader", "--gradebook", "elsewhere")


def test_nbgrader_s_own_autograde_gives_what_our_grader_found(graded: BookCourse) -> None:
    """A wrong submission gets 0 for its task, and code of a student does not run outside of the sandbox."""
    folder = graded.mini.submitted / "s11/lab0"
    trap = graded.root / "trap"
    hostile = f"open({str(trap)!r}, 'w')\nraise SystemExit\n"
    (folder / "engine.py").write_text(hostile)
    text = json.dumps(graded.answered(why_reverse=ANSWER, prediction=hostile))
    (folder / "lab0.ipynb").write_text(text)
    done = graded.nbgrader("autograde", "lab0", "--student", "s11", "--force")
    assert done.returncode == 0, done.stderr
    assert not trap.exists()
    graded.type("gradebook")
    assert [graded.scores()["s11"][task] for task in ("square", "order", "reverse")] == ["2", "3", "0"]
    shutil.rmtree(folder)
    done = graded.nbgrader("autograde", "lab0", "--student", "s11", "--force")
    assert done.returncode != 0
    assert "holds no work of s11" in done.stderr


def test_feedback_has_nothing_that_is_not_for_students(graded: BookCourse) -> None:
    """No script but nbgrader's own, no output, attachment or further cell of the student."""
    made = graded.answered(
        why_reverse="*So* <script>alert(1)</script><img src=x onerror=alert(2)> [x](javascript:alert(3))"
        "\n\n[y](/lab) <iframe src='/lab'></iframe> <b id=square>z</b>",
        prediction="value = 3",
    )
    output = {"output_type": "display_data", "data": {"text/html": "<b>an output</b>"}, "metadata": {}}
    made["cells"][1]["outputs"] = [output]
    made["cells"].append(cell("markdown", "own", "a cell of their own"))
    (graded.mini.submitted / "s12/lab0/lab0.ipynb").write_text(json.dumps(made))
    picture = graded.answered(why_reverse="![p](attachment:p.png) see there", prediction="value = 3")
    picture["cells"][-1]["attachments"] = {"p.png": {"image/svg+xml": "PHN2Zz4="}}
    (graded.mini.submitted / "s13/lab0/lab0.ipynb").write_text(json.dumps(picture))
    graded.type("feedback")
    pages = [
        (graded.book / f"feedback/{student}/lab0/lab0.html").read_text(encoding="utf-8")
        for student in ("s07", "s12", "s13")
    ]
    _, hostile, attached = pages
    done = graded.nbgrader("generate_feedback", "lab0", "--student", "s12", "--force")
    assert done.returncode == 0, done.stderr
    assert (graded.book / "feedback/s12/lab0/lab0.html").read_text(encoding="utf-8") == hostile
    assert "<em>So</em>" in hostile
    assert "see there" in attached
    found = [re.findall(r"(?s)<script.*?</script>", page) for page in pages]
    assert found[0] == found[1] == found[2]
    assert SCHEME not in "".join(pages)
    never = (
        "<img",
        "onerror",
        "<iframe",
        'href="javascript',
        'href="/',
        "an output",
        "of their own",
        "PHN2Zz",
    )
    for text in (*never, 'id="square"'):
        assert all(text not in page for page in (hostile, attached))


def everything(course: BookCourse) -> dict[str, bytes]:
    """All files of the gradebook that hold something, but for the lock and the log."""
    left_out = (".lock", "jupyterlab.log")
    files = [path for path in course.book.rglob("*") if path.is_file() and path.name not in left_out]
    return {str(path): path.read_bytes() for path in files if "__pycache__" not in path.parts}
