"""Broken notebooks: each is read as far as it goes, or has one clear reason why not."""

import copy
import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.intake import Found, Submission, read_submission
from autograder.intake.notebook import NOTEBOOK_BYTES

NAME = "lab1.ipynb"
RIGHT = {
    "student": "# cell: student\nx = 'é学'\n",
    "order": "# cell: order\ny = 1\n",
    "diary": "My answer.\n",
}
Make = Callable[[dict[str, Any]], bytes]


def cell(id: str, text: str) -> dict[str, Any]:
    kind = "markdown" if id == "diary" else "code"
    nbgrader = {"grade_id": id, "schema_version": 3, "solution": True}
    return {
        "cell_type": kind,
        "id": id,
        "metadata": {"nbgrader": nbgrader},
        "source": text.splitlines(keepends=True),
        **({"outputs": [], "execution_count": None} if kind == "code" else {}),
    }


def notebook() -> dict[str, Any]:
    other = {"cell_type": "markdown", "id": "a1b2", "metadata": {}, "source": ["# Lab"]}
    return {
        "cells": [other, *(cell(id, text) for id, text in RIGHT.items())],
        "metadata": {"kernelspec": {"name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def dumped(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=1).encode()


def each(change: Callable[[dict[str, Any]], object]) -> Make:
    """Every cell changed."""

    def make(content: dict[str, Any]) -> bytes:
        for one in content["cells"]:
            change(one)
        return dumped(content)

    return make


def put(*keys: Any, value: Any) -> Make:
    """One value of the notebook set, by the keys that lead to it."""

    def make(content: dict[str, Any]) -> bytes:
        place: Any = content
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value
        return dumped(content)

    return make


def without(*keys: str) -> Make:
    def make(content: dict[str, Any]) -> bytes:
        for key in keys:
            del content[key]
        return dumped(content)

    return make


def as_version_3(content: dict[str, Any]) -> bytes:
    for one in content["cells"]:
        one["input"] = one.pop("source")
    sheet = {"cells": content["cells"]}
    return dumped({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [sheet]})


def metadata_lost(one: dict[str, Any]) -> None:
    one["metadata"] = {}
    one.pop("id")


STILL_READ: dict[str, Make] = {
    "as it should be": dumped,
    "byte order mark": lambda content: b"\xef\xbb\xbf" + dumped(content),
    "UTF-16": lambda content: dumped(content).decode().encode("utf-16"),
    "CRLF in the file": lambda content: dumped(content).replace(b"\n", b"\r\n"),
    "CRLF in the cells": each(lambda one: one.update(source="".join(one["source"]).replace("\n", "\r\n"))),
    "one text per cell": each(lambda one: one.update(source="".join(one["source"]))),
    "NaN for a number": put("nbformat_minor", value=float("nan")),
    "version 3": as_version_3,
    "labelled version 3": put("nbformat", value=3),
    "version 5": put("nbformat", value=5),
    "no version": without("nbformat", "nbformat_minor"),
    "minor version 99": put("nbformat_minor", value=99),
    "no ids": each(lambda one: one.pop("id")),
    "one id for all": each(lambda one: one.update(id="same")),
    "unknown output": put("cells", 1, "outputs", value=[{"output_type": "weird"}]),
    "outputs of no kind": put("cells", 1, "outputs", value=7),
    "half of nbgrader's metadata": each(
        lambda one: one["metadata"].get("nbgrader", {}).pop("schema_version", 0)
    ),
    "another's kernel": put("metadata", "kernelspec", "name", value="Python [conda env:root] *"),
    "no metadata": without("metadata"),
    "cells that are none": lambda content: dumped({**content, "cells": [None, 7, "x", *content["cells"]]}),
}


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], Submission]:
    def read(data: bytes) -> Submission:
        (tmp_path / NAME).write_bytes(data)
        (tmp_path / "graph.py").write_text("x = 1\n")
        return read_submission(Found("ann", (tmp_path,)), ["graph.py"], NAME)

    return read


@pytest.mark.parametrize("make", STILL_READ.values(), ids=STILL_READ)
def test_a_notebook_that_others_refuse_is_read_all_the_same(
    read: Callable[[bytes], Submission], make: Make
) -> None:
    submission = read(make(notebook()))
    assert {id: submission.cells[id] for id in RIGHT} == RIGHT
    assert (submission.problems, submission.notes) == ({}, ())


REFUSED: dict[str, tuple[Make, str, str]] = {
    "truncated": (lambda content: dumped(content)[:300], "notebook-json", "breaks off"),
    "empty": (lambda content: b"", "empty-file", "0 bytes"),
    "only white space": (lambda content: b" \n\n", "empty-file", "0 bytes"),
    "a list": (lambda content: b"[]", "notebook-without-cells", "no cells"),
    "an empty object": (lambda content: b"{}", "notebook-without-cells", "no cells"),
    "merge conflict": (
        lambda content: dumped(content).replace(b'\n "metadata"', b'\n<<<<<<< HEAD\n "metadata"'),
        "notebook-conflict",
        "<<<<<<<",
    ),
    "lists in lists": (lambda content: b"[" * 200_000 + b"]" * 200_000, "notebook-json", "damaged"),
    "a number of 9,999 digits": (lambda content: b"9" * 9999, "notebook-json", "damaged"),
    "latin-1": (
        lambda content: dumped(content).decode().replace("学", "").encode("latin-1"),
        "not-utf8",
        "UTF-8",
    ),
    "zero bytes": (lambda content: bytes(300), "", ""),
    "60 MB of outputs": (
        lambda content: dumped(content) + b" " * (60_000_000),
        "too-large",
        "larger than 16 MB",
    ),
}


@pytest.mark.parametrize("make, id, words", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_has_a_reason_and_costs_nothing_else(
    read: Callable[[bytes], Submission], make: Make, id: str, words: str
) -> None:
    start = time.process_time()
    submission = read(make(notebook()))
    message = submission.problems[NAME]
    assert not id or message.id == f"intake.{id}"
    assert words in message.text("en") and message.text("zh") != message.text("en")
    assert (submission.files, submission.cells) == ({"graph.py": "x = 1\n"}, {})
    assert time.process_time() - start < 2


def test_cells_without_metadata_are_found_by_the_mark_in_their_first_line(
    read: Callable[[bytes], Submission],
) -> None:
    submission = read(each(metadata_lost)(notebook()))
    assert submission.cells == {id: text for id, text in RIGHT.items() if id != "diary"}


def test_the_first_of_two_cells_counts(read: Callable[[bytes], Submission]) -> None:
    content = notebook()
    content["cells"].append(cell("order", "# cell: order\ny = 2\n"))
    submission = read(dumped(content))
    assert submission.cells["order"] == RIGHT["order"]
    assert [note.id for note in submission.notes] == ["intake.cells-twice"]
    assert "order" in submission.notes[0].text("en")


def test_a_copy_without_metadata_does_not_stand_before_the_cell(read: Callable[[bytes], Submission]) -> None:
    content = notebook()
    copied = copy.deepcopy(cell("order", "# cell: order\ny = 2\n"))
    metadata_lost(copied)
    content["cells"].insert(0, copied)
    assert read(dumped(content)).cells["order"] == RIGHT["order"]


def test_lines_for_ipython_are_dropped_with_a_note_and_others_keep_their_numbers(
    read: Callable[[bytes], Submission],
) -> None:
    content = notebook()
    text = "%%time\nif x:\n    !ls\n%matplotlib inline\n?print\nprint?\ny = (7\n  % 4)\nz = (y\n  != 3)\n"
    content["cells"][2]["source"] = text
    content["cells"][3]["source"] = "![picture](a.png)\n"
    submission = read(dumped(content))
    assert submission.cells["order"] == (
        "pass\nif x:\n    pass\npass\npass\npass\ny = (7\n  % 4)\nz = (y\n  != 3)\n"
    )
    assert submission.cells["diary"] == "![picture](a.png)\n"
    assert [note.id for note in submission.notes] == ["intake.cells-magic"]


@pytest.mark.parametrize("id", ["../../etc/x", "a/b", "", "A b", 7, None, ["x"], "x" * 70])
def test_an_id_that_is_none_names_no_cell(read: Callable[[bytes], Submission], id: Any) -> None:
    content = notebook()
    content["cells"] = [cell("order", "y = 1\n")]
    content["cells"][0] |= {"id": id, "metadata": {"nbgrader": {"grade_id": id}}}
    assert read(dumped(content)).cells == {}


@pytest.mark.parametrize("source", [None, 7, {}, [None, 3, "y = 1\n"], ["y = 1 \ud800\0"]])
def test_a_source_that_is_no_text_is_read_as_far_as_it_goes(
    read: Callable[[bytes], Submission], source: Any
) -> None:
    content = notebook()
    content["cells"][2]["source"] = source
    submission = read(json.dumps(content).encode())
    assert submission.cells["order"] in ("", "y = 1\n", "y = 1 ?")


def test_more_text_than_anybody_writes_is_left_out(read: Callable[[bytes], Submission]) -> None:
    content = notebook()
    content["cells"][1]["source"] = "x" * (2 << 20)
    content["cells"] += [cell(f"more-{i}", "") for i in range(600)]
    submission = read(dumped(content))
    assert "student" not in submission.cells and submission.cells["order"] == RIGHT["order"]
    assert len(submission.cells) <= 501
    assert [note.id for note in submission.notes] == ["intake.cells-left-out"]


def test_outputs_do_not_change_the_digest_and_cells_do(read: Callable[[bytes], Submission]) -> None:
    content = notebook()
    digests = [read(dumped(content)).digest]
    content["cells"][1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["hi"]}]
    digests.append(read(dumped(content)).digest)
    content["cells"][1]["source"] = ["x = 2"]
    digests.append(read(dumped(content)).digest)
    assert digests[0] == digests[1] != digests[2]


def test_a_notebook_in_an_archive_and_one_of_another_name(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "lab1.zip", "w") as archive:
        archive.writestr(f"work/{NAME}", dumped(notebook()))
    found = Found("ann", (tmp_path / "lab1.zip",))
    assert read_submission(found, [], NAME).cells["order"] == RIGHT["order"]
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "lab1 (1).ipynb").write_bytes(dumped(notebook()))
    problem = read_submission(Found("ann", (folder,)), [], NAME).problems[NAME]
    assert problem.id == "intake.missing-similar" and "lab1 (1).ipynb" in problem.text("en")


def test_a_notebook_may_be_as_large_as_the_bound(read: Callable[[bytes], Submission]) -> None:
    data = dumped(notebook())
    assert read(data + b" " * (NOTEBOOK_BYTES - len(data))).problems == {}


def test_a_folder_in_an_archive_is_entered_and_a_link_is_not_followed(tmp_path: Path) -> None:
    packed, folder = tmp_path / "lab1.zip", tmp_path / "lab1"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(f"lab1-final/.ipynb_checkpoints/{NAME}", b"{}")
        archive.writestr(f"lab1-final/{NAME}", dumped(notebook()))
    assert read_submission(Found("ann", (packed,)), [], NAME).cells.items() >= RIGHT.items()
    folder.mkdir()
    (tmp_path / "elsewhere.ipynb").write_bytes(dumped(notebook()))
    (folder / NAME).symlink_to(tmp_path / "elsewhere.ipynb")
    linked = read_submission(Found("ann", (folder,)), [], NAME)
    assert linked.cells == {} and linked.problems[NAME].id == "intake.link"
