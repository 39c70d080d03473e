import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.intake import Found, Submission, read_submission

Contents = dict[str, bytes]
FromFolder = Callable[[Contents], Submission]
Read = Callable[..., Submission]


def _note_ids(submission: Submission) -> list[str]:
    return [message.id for message in submission.notes]


def test_modules_and_helpers_are_taken_as_text(from_folder: FromFolder, good: Contents) -> None:
    submission = from_folder({**good, "helpers.py": b"y = 2\n", "README.md": b"hello", "lab1.ipynb": b"{}"})
    assert submission.student == "alice"
    assert submission.files == {"graph.py": "x = 1\n", "engine.py": "import graph\n", "helpers.py": "y = 2\n"}
    assert (submission.problems, submission.notes, submission.error) == ({}, (), None)


def test_a_helper_whose_compiled_name_no_file_system_takes_is_left_out_with_a_note(
    from_folder: FromFolder, good: Contents
) -> None:
    longest, too_long = "a" * 200 + ".py", "b" * 201 + ".py"
    submission = from_folder({**good, longest: b"", too_long: b""})
    assert longest in submission.files and too_long not in submission.files
    assert _note_ids(submission) == ["intake.unimportable"]


def test_a_missing_module_is_named_and_the_others_are_taken(from_folder: FromFolder) -> None:
    submission = from_folder({"graph.py": b"x = 1\n"})
    assert list(submission.files) == ["graph.py"]
    assert submission.problems["engine.py"].id == "intake.missing"
    assert "engine.py is missing" in submission.problems["engine.py"].text("en")


def test_an_empty_folder_misses_every_module(from_folder: FromFolder) -> None:
    submission = from_folder({})
    assert submission.files == {}
    assert sorted(submission.problems) == ["engine.py", "graph.py"]


@pytest.mark.parametrize(
    "name",
    [
        "Graph.py",
        "graph (1).py",
        "graph(2).py",
        "graph.py.txt",
        "graph.txt",
        "graph - 副本.py",
        "Copy of graph.py",
        "graph_final.py",
        "graph2.py",
        "GRAPH.PY",
        "sub/graph.py",
        "a/b/Graph.py",
    ],
)
def test_a_module_of_a_slightly_wrong_name_or_place_is_named_but_not_used(
    from_folder: FromFolder, name: str
) -> None:
    submission = from_folder({name: b"x = 1\n", "engine.py": b"y = 2\n"})
    assert list(submission.files) == ["engine.py"]
    message = submission.problems["graph.py"]
    assert message.id == "intake.missing-similar"
    assert name in message.text("en")
    assert "rename it to graph.py" in message.text("en")


@pytest.mark.parametrize("name", ["Kernels.cu", "kernel.cu", "kernels2.cu", "kernels.cu.txt", "kernels.cpp"])
def test_kernels_of_a_slightly_wrong_name_are_named_but_not_used(lab_folder: Path, name: str) -> None:
    (lab_folder / "ops.py").touch()
    (lab_folder / name).touch()
    submission = read_submission(Found("alice", (lab_folder,)), ("ops.py", "kernels.cu"))
    assert list(submission.files) == ["ops.py"]
    assert "rename it to kernels.cu" in submission.problems["kernels.cu"].text("en")


def test_kernels_are_taken_as_text_like_modules(lab_folder: Path) -> None:
    (lab_folder / "kernels.cu").write_bytes(b"\xef\xbb\xbf// \xe6\xa0\xb8\r\n")
    submission = read_submission(Found("alice", (lab_folder,)), ("kernels.cu",))
    assert submission.files == {"kernels.cu": "// 核\n"}


def test_kernels_that_are_too_large_or_in_another_encoding_are_explained(lab_folder: Path) -> None:
    (lab_folder / "kernels.cu").write_bytes("// 核函数\n".encode("gbk"))
    gbk = read_submission(Found("alice", (lab_folder,)), ("kernels.cu",))
    (lab_folder / "kernels.cu").write_bytes(b" " * (1 << 21))
    large = read_submission(Found("alice", (lab_folder,)), ("kernels.cu",))
    assert [one.problems["kernels.cu"].id for one in (gbk, large)] == ["intake.encoding", "intake.too-large"]


def test_an_underscore_in_a_module_name_is_no_reason_to_miss_it(
    lab_folder: Path,
) -> None:
    (lab_folder / "cuda-ops (1).py").touch()
    submission = read_submission(Found("alice", (lab_folder,)), ["cuda_ops.py"])
    assert submission.problems["cuda_ops.py"].id == "intake.missing-similar"


def test_names_that_merely_begin_alike_are_not_similar(from_folder: FromFolder) -> None:
    submission = from_folder({"graphics.py": b"", "graph_tools.py": b"", "engine.py": b""})
    assert submission.problems["graph.py"].id == "intake.missing"
    assert sorted(submission.files) == ["engine.py", "graph_tools.py", "graphics.py"]


def test_a_copy_beside_the_module_is_not_taken_but_told_of(from_folder: FromFolder, good: Contents) -> None:
    submission = from_folder({**good, "graph (1).py": b"x = 2\n"})
    assert submission.files["graph.py"] == "x = 1\n"
    assert "graph (1).py" not in submission.files
    assert _note_ids(submission) == ["intake.unimportable"]


OF_LIBRARIES = [
    "json.py",
    "turtle.py",
    "numpy.py",
    "labkit.py",
    "pytest.py",
    "autograder.py",
    "IPython.py",
    "tqdm.py",
]
OF_THE_TESTS = ["conftest.py", "sitecustomize.py", "usercustomize.py", "test_graph.py", "__init__.py"]


@pytest.mark.parametrize("name", [*OF_LIBRARIES, *OF_THE_TESTS])
def test_g52_files_that_shadow_a_library_or_the_tests_are_left_out(
    from_folder: FromFolder, good: Contents, name: str
) -> None:
    submission = from_folder({**good, name: b"raise SystemExit\n"})
    assert sorted(submission.files) == ["engine.py", "graph.py"]
    assert _note_ids(submission) == ["intake.reserved"]
    assert name in submission.notes[0].text("en")


def test_one_note_names_many_files_but_not_all(from_folder: FromFolder, good: Contents) -> None:
    submission = from_folder({**good, **{f"test_{number:02}.py": b"" for number in range(30)}})
    (note,) = submission.notes
    assert "test_00.py, test_01.py" in note.text("en")
    assert "(+25)" in note.text("en")


def test_g23_a_syntax_error_is_not_intakes_business(from_folder: FromFolder) -> None:
    submission = from_folder({"graph.py": b"def f(:\n", "engine.py": b"y = 2\n"})
    assert submission.files["graph.py"] == "def f(:\n"
    assert submission.problems == {}


@pytest.mark.parametrize("wrapper", ["lab1/", "作业/", "lab1/work/"])
def test_a_single_folder_is_entered(from_folder: FromFolder, good: Contents, wrapper: str) -> None:
    contents = {wrapper + name: data for name, data in good.items()}
    submission = from_folder({**contents, "__MACOSX/._graph.py": b"", ".DS_Store": b"", "timestamp.txt": b""})
    assert sorted(submission.files) == ["engine.py", "graph.py"]
    assert (submission.problems, submission.notes) == ({}, ())


def test_of_two_folders_none_is_entered(from_folder: FromFolder, good: Contents) -> None:
    submission = from_folder({f"{folder}/{name}": data for folder in "ab" for name, data in good.items()})
    assert submission.files == {}
    assert "a/graph.py, b/graph.py" in submission.problems["graph.py"].text("en")


def test_python_files_in_folders_are_told_of_but_not_the_labs_own_tests(
    from_folder: FromFolder, good: Contents
) -> None:
    submission = from_folder({**good, "tools/draw.py": b"", "tests/test_graph.py": b""})
    assert _note_ids(submission) == ["intake.folder"]
    assert "tools/" in submission.notes[0].text("en")
    assert "tests/" not in submission.notes[0].text("en")


def test_one_archive_in_a_folder_is_opened_one_level(
    from_folder: FromFolder, good: Contents, zipped: Callable[[Contents], bytes]
) -> None:
    submission = from_folder({"my work.zip": zipped({f"work/{name}": data for name, data in good.items()})})
    assert submission.files == {name: data.decode() for name, data in good.items()}
    assert _note_ids(submission) == ["intake.inner-archive"]


def test_an_archive_beside_a_module_is_not_opened(
    from_folder: FromFolder, good: Contents, zipped: Callable[[Contents], bytes]
) -> None:
    submission = from_folder({"graph.py": b"mine\n", "old.zip": zipped(good)})
    assert submission.files == {"graph.py": "mine\n"}
    assert submission.problems["engine.py"].id == "intake.missing"


def test_two_archives_in_a_folder_are_not_opened(
    from_folder: FromFolder, good: Contents, zipped: Callable[[Contents], bytes]
) -> None:
    submission = from_folder({"a.zip": zipped(good), "b.zip": zipped(good)})
    assert submission.files == {}
    assert submission.problems["graph.py"].id == "intake.missing"


def test_a_hard_link_is_taken_with_a_note(
    from_folder: FromFolder, good: Contents, lab_folder: Path, tmp_path: Path, read: Read
) -> None:
    from_folder(good)
    os.link(lab_folder / "graph.py", tmp_path / "backup.py")
    submission = read(lab_folder)
    assert submission.files["graph.py"] == "x = 1\n"
    assert _note_ids(submission) == ["intake.hard-link"]


def test_a_file_of_exactly_one_megabyte_is_taken_and_one_byte_more_is_not(from_folder: FromFolder) -> None:
    submission = from_folder({"graph.py": b"#" * (1 << 20), "engine.py": b"#" * ((1 << 20) + 1)})
    assert list(submission.files) == ["graph.py"]
    assert submission.problems["engine.py"].id == "intake.too-large"
    assert "larger than 1 MB" in submission.problems["engine.py"].text("en")


def test_at_most_fifty_helpers_are_taken(from_folder: FromFolder, good: Contents) -> None:
    submission = from_folder({**good, **{f"helper_{number:02}.py": b"" for number in range(52)}})
    assert len(submission.files) == 52
    assert "helper_50.py, helper_51.py" in submission.notes[0].text("en")


def test_at_most_five_megabytes_are_taken_in_all(from_folder: FromFolder, good: Contents) -> None:
    submission = from_folder({**good, **{f"helper_{number}.py": b"#" * (1 << 20) for number in range(6)}})
    assert sum(len(text) for text in submission.files.values()) <= 5 << 20
    assert _note_ids(submission) == ["intake.left-out"]
    assert "helper_4.py, helper_5.py" in submission.notes[0].text("en")


def test_an_unusable_helper_is_a_note_and_no_problem(from_folder: FromFolder, good: Contents) -> None:
    submission = from_folder({**good, "helper.py": "# 中文\n".encode("gbk")})
    assert submission.problems == {}
    assert _note_ids(submission) == ["intake.encoding"]


def test_a_large_folder_of_data_beside_the_modules_does_no_harm(
    from_folder: FromFolder, good: Contents, lab_folder: Path, read: Read
) -> None:
    from_folder(good)
    (lab_folder / "data").mkdir()
    for number in range(2100):
        (lab_folder / "data" / f"{number}.csv").touch()
    assert sorted(read(lab_folder).files) == ["engine.py", "graph.py"]


def test_the_digest_depends_on_content_and_not_on_packing(
    from_folder: FromFolder,
    from_archive: Callable[..., Submission],
    zipped: Callable[[Contents], bytes],
    tarred: Callable[..., bytes],
    good: Contents,
) -> None:
    contents = {**good, "engine.py": "# 中文\n".encode("gbk"), "helper.py": b"z = 3\r\n"}
    digest = from_folder(contents).digest
    wrapped = {f"lab1/{name}": data for name, data in contents.items()}
    assert from_archive(zipped(contents)).digest == digest
    assert from_archive(zipped(wrapped)).digest == digest
    assert from_archive(tarred(contents), "lab1.tar.gz").digest == digest
    for changed in ({**contents, "graph.py": b"x = 2\n"}, {**contents, "helper.py": b"z = 3\n"}):
        assert from_archive(zipped(changed)).digest != digest
    without = {name: data for name, data in contents.items() if name != "engine.py"}
    assert from_archive(zipped(without)).digest != digest


def test_reading_twice_gives_the_same(from_folder: FromFolder, good: Contents) -> None:
    contents = {**good, "numpy.py": b"", "b.py": b"", "a.py": b""}
    assert from_folder(contents) == from_folder(contents)


@pytest.mark.parametrize("name", ["graph.py", "helper.py", "lab1"])
@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.ESTALE])
def test_what_the_grader_s_disk_will_not_give_is_for_a_person(
    from_folder: FromFolder, good: Contents, monkeypatch: pytest.MonkeyPatch, name: str, number: int
) -> None:
    opened = os.open

    def failing(path: str | Path, *arguments: Any, **options: Any) -> int:
        if os.path.basename(path) == name:
            raise OSError(number, os.strerror(number))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", failing)
    submission = from_folder(good | {"helper.py": b"y = 2\n"})
    assert submission.error is not None
    assert submission.error.id == "intake.unreadable"
    assert submission.error.arguments == {"file": name, "reason": os.strerror(number)}
    assert submission.undecided
    assert submission.files == submission.problems == {}


def test_a_student_s_own_mistake_is_not_for_a_person(from_folder: FromFolder, good: Contents) -> None:
    assert not from_folder(good).undecided
    assert not from_folder({}).undecided
