from collections.abc import Callable

import pytest

from autograder.intake import Submission

FromFolder = Callable[[dict[str, bytes]], Submission]
CODE = "# 计算图\nclass Node:\n    '''节点：计算图的一个结点'''\n"


def test_a_byte_order_mark_is_removed_and_line_ends_are_made_one(from_folder: FromFolder) -> None:
    submission = from_folder(
        {"graph.py": b"\xef\xbb\xbf" + CODE.replace("\n", "\r\n").encode(), "engine.py": b"a\rb\r"}
    )
    assert submission.files == {"graph.py": CODE, "engine.py": "a\nb\n"}


def test_an_empty_module_is_an_empty_text(from_folder: FromFolder) -> None:
    assert from_folder({"graph.py": b"", "engine.py": b""}).files == {"graph.py": "", "engine.py": ""}


@pytest.mark.parametrize(
    ("encoding", "named"),
    [("gbk", "GBK"), ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-16-be", "UTF-16")],
)
def test_another_encoding_is_named_with_the_way_to_utf8(
    from_folder: FromFolder, encoding: str, named: str
) -> None:
    submission = from_folder({"graph.py": CODE.encode(encoding), "engine.py": b"y = 2\n"})
    assert list(submission.files) == ["engine.py"]
    message = submission.problems["graph.py"]
    assert message.id == "intake.encoding"
    assert f"probably {named}" in message.text("en")
    assert "UTF-8" in message.text("zh")


def test_the_line_of_the_first_wrong_byte_is_named(from_folder: FromFolder) -> None:
    submission = from_folder({"graph.py": b"x = 1\ny = 2\n" + "# 中文\n".encode("gbk"), "engine.py": b""})
    assert "graph.py, line 3" in submission.problems["graph.py"].text("en")


def test_bytes_of_no_known_encoding_are_not_given_a_name(from_folder: FromFolder) -> None:
    submission = from_folder({"graph.py": b"x = 1\n# caf\xe9 \xff\n", "engine.py": b""})
    assert submission.problems["graph.py"].id == "intake.not-utf8"


def test_a_surrogate_is_not_utf8(from_folder: FromFolder) -> None:
    submission = from_folder({"graph.py": b"x = '\xed\xa0\x80'\n", "engine.py": b""})
    assert "graph.py" in submission.problems


def test_a_zero_byte_is_a_problem_with_its_line(from_folder: FromFolder) -> None:
    submission = from_folder({"graph.py": b"x = 1\ny = '\0'\n", "engine.py": b""})
    message = submission.problems["graph.py"]
    assert message.id == "intake.zero-byte"
    assert "line 2" in message.text("en")
