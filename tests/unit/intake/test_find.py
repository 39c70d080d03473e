from pathlib import Path

import pytest

from autograder.course import CourseError
from autograder.intake import find_submissions, read_submission


def _make(root: Path, *names: str) -> Path:
    """Folders for names that end with a slash, empty files for others."""
    for name in names:
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    return root


def test_folders_and_archives_are_found_sorted_by_student(tmp_path: Path) -> None:
    _make(tmp_path, "dora/lab1.tgz", "bob/lab1.zip", "alice/lab1/", "chen/lab1.tar.gz", "eve/lab1.tar")
    found = find_submissions(tmp_path, "lab1").found
    assert [(work.student, [path.name for path in work.paths]) for work in found] == [
        ("alice", ["lab1"]),
        ("bob", ["lab1.zip"]),
        ("chen", ["lab1.tar.gz"]),
        ("dora", ["lab1.tgz"]),
        ("eve", ["lab1.tar"]),
    ]


def test_other_labs_and_students_without_this_lab_are_not_found(tmp_path: Path) -> None:
    _make(tmp_path, "alice/lab1/", "alice/lab2/", "bob/lab10/", "chen/")
    class_folder = find_submissions(tmp_path, "lab1")
    assert [work.student for work in class_folder.found] == ["alice"]
    assert class_folder.refused == ()


def test_files_beside_students_hidden_entries_and_unknown_are_ignored(tmp_path: Path) -> None:
    _make(tmp_path, "alice/lab1/", "roster.csv", ".git/lab1/", "_unknown/lab1/", "__MACOSX/lab1/")
    class_folder = find_submissions(tmp_path, "lab1")
    assert [work.student for work in class_folder.found] == ["alice"]
    assert class_folder.refused == ()


def test_a_folder_whose_name_is_no_student_id_is_refused_with_its_name(tmp_path: Path) -> None:
    _make(tmp_path, "alice/lab1/", "=1+1/lab1/", "a\\b/lab1/", "two words/lab1/", "x" * 65 + "/lab1/")
    class_folder = find_submissions(tmp_path, "lab1")
    assert [work.student for work in class_folder.found] == ["alice"]
    assert [message.id for message in class_folder.refused] == ["intake.no-student"] * 4
    assert "=1+1" in class_folder.refused[0].text("en")


@pytest.mark.parametrize("student", ["NA", "null", "007", "1e5", "zhang.san@pku", "张三", "2100012345"])
def test_g42_ids_that_look_like_something_else_stay_as_they_are(tmp_path: Path, student: str) -> None:
    _make(tmp_path, f"{student}/lab1/")
    assert [work.student for work in find_submissions(tmp_path, "lab1").found] == [student]


def test_a_folder_and_an_archive_of_one_student_are_two_submissions(tmp_path: Path) -> None:
    _make(tmp_path, "alice/lab1/", "alice/lab1.zip", "bob/lab1/")
    alice, bob = find_submissions(tmp_path, "lab1").found
    submission = read_submission(alice, ["graph.py"])
    assert submission.files == {}
    assert submission.error is not None
    assert submission.error.id == "intake.two-submissions"
    assert "alice/lab1, alice/lab1.zip" in submission.error.text("en")
    assert read_submission(bob, ["graph.py"]).error is None


@pytest.mark.parametrize(("one", "other"), [("Alice", "alice"), ("Zoe\N{COMBINING DIAERESIS}", "Zo\u00eb")])
def test_folders_that_differ_in_case_or_composition_are_one_students(
    tmp_path: Path, one: str, other: str
) -> None:
    _make(tmp_path, f"{one}/lab1/", f"{other}/lab1/")
    (found,) = find_submissions(tmp_path, "lab1").found
    assert len(found.paths) == 2


def test_a_second_folder_of_a_student_without_this_lab_does_no_harm(tmp_path: Path) -> None:
    _make(tmp_path, "Alice/lab1/", "alice/lab2/")
    (found,) = find_submissions(tmp_path, "lab1").found
    assert found.paths == (tmp_path / "Alice" / "lab1",)


def test_a_decomposed_name_becomes_a_composed_student_id(tmp_path: Path) -> None:
    _make(tmp_path, "Zoe\N{COMBINING DIAERESIS}/lab1/")
    assert [work.student for work in find_submissions(tmp_path, "lab1").found] == ["Zo\u00eb"]


@pytest.mark.parametrize("name", ["LAB1/", "Lab1.ZIP", "lab1.rar", "lab1.7z", "lab1.tar.xz"])
def test_work_in_another_case_or_packing_is_found_so_that_it_is_told_of(tmp_path: Path, name: str) -> None:
    _make(tmp_path, f"alice/{name}")
    (found,) = find_submissions(tmp_path, "lab1").found
    assert [path.name for path in found.paths] == [name.rstrip("/")]


@pytest.mark.parametrize("name", ["lab1 (1).zip", "lab1-final/", "Lab1_v2.rar", "lab1 - 副本.zip"])
def test_work_whose_name_is_a_little_off_is_named_with_the_mend(tmp_path: Path, name: str) -> None:
    _make(tmp_path, f"alice/{name}", "bob/lab1/")
    class_folder = find_submissions(tmp_path, "lab1")
    assert [work.student for work in class_folder.found] == ["bob"]
    (message,) = class_folder.refused
    assert message.id == "intake.misnamed"
    assert name.rstrip("/") in message.text("en")
    assert "rename" in message.text("en")


def test_notes_beside_the_lab_are_not_taken_for_misnamed_work(tmp_path: Path) -> None:
    _make(tmp_path, "alice/lab1.txt", "alice/lab1-notes.md", "bob/lab1/")
    assert find_submissions(tmp_path, "lab1").refused == ()


def test_a_linked_student_folder_is_refused_and_not_followed(tmp_path: Path) -> None:
    submitted = _make(tmp_path / "submitted", "bob/lab1/")
    (submitted / "alice").symlink_to(_make(tmp_path / "elsewhere", "lab1/"))
    class_folder = find_submissions(submitted, "lab1")
    assert [work.student for work in class_folder.found] == ["bob"]
    assert [message.id for message in class_folder.refused] == ["intake.student-link"]


def test_a_link_to_the_folder_of_submissions_itself_is_the_tas_business(tmp_path: Path) -> None:
    _make(tmp_path / "real", "bob/lab1/")
    (tmp_path / "submitted").symlink_to(tmp_path / "real")
    assert len(find_submissions(tmp_path / "submitted", "lab1").found) == 1


def test_a_missing_folder_of_submissions_is_one_line_with_the_mend(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"nowhere doesn't exist\. .*--submitted"):
        find_submissions(tmp_path / "nowhere", "lab1")


def test_a_file_in_place_of_the_folder_is_one_line_with_the_mend(tmp_path: Path) -> None:
    (tmp_path / "submitted").touch()
    with pytest.raises(CourseError, match=r"submitted is a file.*--submitted"):
        find_submissions(tmp_path / "submitted", "lab1")


@pytest.mark.parametrize("names", [(), ("alice/lab2/",), ("roster.csv",)])
def test_a_folder_without_this_lab_is_one_line_with_the_mend(tmp_path: Path, names: tuple[str, ...]) -> None:
    _make(tmp_path, *names)
    with pytest.raises(CourseError, match=r"no submission of lab1\. Put them there as STUDENT/lab1/"):
        find_submissions(tmp_path, "lab1")


def test_a_folder_with_only_refused_students_says_why(tmp_path: Path) -> None:
    _make(tmp_path, "two words/lab1/", "3 more words/lab1/")
    with pytest.raises(
        CourseError, match=r"“3 more words” was passed over.*\(1 more like this\.\)"
    ) as caught:
        find_submissions(tmp_path, "lab1")
    assert "\n" not in str(caught.value)


def test_control_characters_in_a_name_do_not_reach_the_message(tmp_path: Path) -> None:
    _make(tmp_path, "bob/lab1/", "evil\n\x1b[31m\N{RIGHT-TO-LEFT OVERRIDE}/lab1/")
    (message,) = find_submissions(tmp_path, "lab1").refused
    assert message.text("en").isprintable()
