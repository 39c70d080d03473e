"""What a student wrote is found in notebooks that many tools have been at."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from autograder.intake import Found
from autograder.reporting.gradebook.answers import answers, cells_of

WRITTEN = {"guess": "# cell: guess\nx = 1", "why": "So."}


def notebook(**change: Any) -> dict[str, Any]:
    cells = [
        {"cell_type": "code", "metadata": {"nbgrader": {"grade_id": "guess"}}, "source": WRITTEN["guess"]},
        {"cell_type": "markdown", "metadata": {"nbgrader": {"grade_id": "why"}}, "source": ["S", "o."]},
    ]
    return {"cells": cells, "nbformat": 4, **change}


def raw(content: Any) -> bytes:
    return json.dumps(content).encode()


def without_metadata() -> bytes:
    made = notebook()
    for id, cell in zip(WRITTEN, made["cells"], strict=True):
        cell["metadata"], cell["id"] = {}, "c1" if id == "guess" else id
    return raw(made)


@pytest.mark.parametrize(
    "data",
    [
        raw(notebook()),
        b"\xef\xbb\xbf" + raw(notebook()),
        raw(notebook()).replace(rb"guess\nx", rb"guess\r\nx"),
        raw(notebook(nbformat=99, metadata=None)),
        raw({**notebook(cells=None, nbformat=3), "worksheets": [{"cells": notebook()["cells"]}]}),
        raw(notebook()).replace(b'"source": "# cell', b'"input": "# cell'),
        raw(notebook(cells=[*notebook()["cells"], *notebook()["cells"], None, 3, {"metadata": []}])),
    ],
)
def test_cells_are_found(data: bytes) -> None:
    assert cells_of(data) == WRITTEN


def test_without_metadata_the_marker_and_the_cell_s_own_id_serve() -> None:
    found = cells_of(without_metadata())
    assert {id: found[id] for id in WRITTEN} == WRITTEN


def test_half_a_character_is_replaced() -> None:
    assert cells_of(raw(notebook()).replace(b'"o."', rb'"\ud800."'))["why"] == "S?."


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"null",
        b"[" * 100_000,
        b"<<<<<<< HEAD\n{}",
        raw(notebook())[:60],
        "{}".encode("utf-16"),
        raw({"cells": {"a": 1}}),
        raw({"cells": [{"metadata": {"nbgrader": "x"}, "source": {"a": 1}}]}),
    ],
)
def test_a_broken_notebook_has_no_cells_and_stops_nothing(data: bytes) -> None:
    assert cells_of(data) == {}


def test_a_folder_an_archive_and_a_folder_in_it_hold_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "ann" / "lab1"
    folder.mkdir(parents=True)
    (folder / "lab1.ipynb").write_bytes(raw(notebook()))
    packed = tmp_path / "bob" / "lab1.zip"
    packed.parent.mkdir()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("lab1-final/.ipynb_checkpoints/lab1.ipynb", b"{}")
        archive.writestr("lab1-final/lab1.ipynb", raw(notebook()))
    for path in (folder, packed):
        assert answers(Found("ann", (path,)), "lab1.ipynb") == WRITTEN
    (folder / "lab1.ipynb").unlink()
    (folder / "lab1.ipynb").symlink_to(tmp_path / "elsewhere.ipynb")
    assert answers(Found("ann", (folder,)), "lab1.ipynb") == {}
