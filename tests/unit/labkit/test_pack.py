"""What is packed, what is told, and that an archive appears whole or not at all."""

import dataclasses
import io
import json
import os
import zipfile

import pytest

from autograder.intake import Found, read_submission
from autograder.intake.choose import RESERVED
from labkit import pack
from labkit.lab import Lab, WrongUse


@pytest.fixture
def lab(tmp_path):
    folder = tmp_path / "lab1_scalars"
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "test_graph.py").write_text("secret = 1\n")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "graph.cpython-311.pyc").write_bytes(b"\0")
    (folder / "graph.py").write_text("import math\n# 图\n", encoding="utf-8")
    (folder / "engine.py").write_text("from graph import x\n")
    return Lab(folder, "lab1", {"zh": "一", "en": "One"}, "zh", ("graph.py", "engine.py"), (), ())


def run(lab, capsys, language="en"):
    """Exit code, what was printed, and the names in the archive, if there is one."""
    code = pack.report(lab, lab.folder.parent, language)
    file = lab.folder.parent / "lab1.zip"
    names = zipfile.ZipFile(file).namelist() if file.exists() else None
    return code, capsys.readouterr().out, names


def test_the_modules_are_packed_and_nothing_else(lab, capsys):
    code, printed, names = run(lab, capsys)
    assert (code, names) == (0, ["graph.py", "engine.py"])
    assert str(lab.folder.parent / "lab1.zip") in printed
    assert "engine.py (20 bytes)" in printed


def test_files_are_packed_byte_for_byte(lab):
    (lab.folder / "graph.py").write_bytes("\ufeff# 图\r\n".encode())
    data = pack.archive(pack.gather(lab).files)
    assert zipfile.ZipFile(io.BytesIO(data)).read("graph.py") == "\ufeff# 图\r\n".encode()


def test_the_bytes_depend_on_the_files_alone(lab, capsys):
    run(lab, capsys)
    first = (lab.folder.parent / "lab1.zip").read_bytes()
    os.utime(lab.folder / "graph.py", (0, 2_000_000_000))
    code, printed, _ = run(lab, capsys)
    assert (lab.folder.parent / "lab1.zip").read_bytes() == first
    assert code == 0 and "before" not in printed


def test_helpers_are_packed_where_they_are_imported_also_by_one_another(lab, capsys):
    (lab.folder / "engine.py").write_text("def f():\n    import 工具\n")
    (lab.folder / "工具.py").write_text("from second import x\n", encoding="utf-8")
    (lab.folder / "second.py").write_text("import graph\n")
    (lab.folder / "scratch.py").write_text("import engine\n")
    _, printed, names = run(lab, capsys)
    assert names == ["graph.py", "engine.py", "工具.py", "second.py"]
    assert "scratch.py" in printed.splitlines()[0]


def test_helpers_that_the_grader_passes_over_are_told(lab, capsys):
    (lab.folder / "engine.py").write_text("import random, parts.inner\n")
    (lab.folder / "random.py").write_text("x = 1\n")
    (lab.folder / "parts").mkdir()
    code, printed, names = run(lab, capsys)
    assert (code, names) == (0, ["graph.py", "engine.py"])
    assert "random.py" in printed and "folder parts" in printed


def test_a_syntax_error_is_told_and_packed_all_the_same(lab, capsys):
    (lab.folder / "engine.py").write_text("x = 1\ndef f(:\n    pass\n")
    code, printed, names = run(lab, capsys)
    assert (code, names) == (0, ["graph.py", "engine.py"])
    assert "engine.py, line 2" in printed


def test_a_reserved_name_is_passed_over_here_as_in_grading(lab):
    stems = [*RESERVED, *pack.RESERVED, "test_mine", "__mine", "testing", "mine"]
    (lab.folder / "engine.py").write_text("".join(f"import {stem}\n" for stem in stems))
    for stem in stems:
        (lab.folder / f"{stem}.py").write_text("")
    submission = read_submission(Found("ann", (lab.folder,)), lab.modules)
    assert sorted(pack.gather(lab).files) == sorted(submission.files)
    assert {"mine.py", "testing.py"} < submission.files.keys()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("# 注释\n".encode("gbk"), "engine.py, line 1: the text isn't UTF-8 but probably GBK"),
        ("x = 1\n".encode("utf-16"), "probably UTF-16"),
        (b"x = 1\n\xff\xff\xff", "engine.py, line 2: the text isn't UTF-8."),
        (b"x = 1\n\0", "line 2: there is a zero byte"),
        (b"#" * (pack.FILE_BYTES + 1), "larger than 1 MB"),
        (None, "engine.py is missing."),
    ],
)
def test_a_file_that_cannot_be_graded_is_told_and_nothing_is_written(lab, capsys, content, words):
    file = lab.folder / "engine.py"
    file.unlink() if content is None else file.write_bytes(content)
    code, printed, names = run(lab, capsys)
    assert (code, names) == (1, None)
    assert words in printed and "lab1.zip was not written" in printed
    assert sorted(path.name for path in lab.folder.parent.iterdir()) == ["lab1_scalars"]


@pytest.mark.parametrize("name", ["engine (1).py", "Engine.py.txt", "engine-final.py"])
def test_a_misnamed_module_is_named_with_its_right_name(lab, capsys, name):
    (lab.folder / "engine.py").rename(lab.folder / name)
    code, printed, _ = run(lab, capsys)
    assert code == 1
    assert f"there is {name}" in printed and "rename it to engine.py" in printed


def test_a_folder_in_the_place_of_a_module_is_told(lab, capsys):
    (lab.folder / "engine.py").unlink()
    (lab.folder / "engine.py").mkdir()
    code, printed, _ = run(lab, capsys)
    assert code == 1 and "engine.py can't be read" in printed


def test_an_earlier_packing_is_replaced_and_another_archive_is_kept(lab, capsys):
    parent = lab.folder.parent
    (parent / "lab1.zip").write_bytes(b"the handout")
    assert "it is now lab1-before-1.zip" in run(lab, capsys)[1]
    (lab.folder / "engine.py").write_text("x = 2\n")
    assert "before" not in run(lab, capsys)[1]
    assert zipfile.ZipFile(parent / "lab1.zip").read("engine.py") == b"x = 2\n"
    assert (parent / "lab1-before-1.zip").read_bytes() == b"the handout"
    (parent / "lab1.zip").write_bytes(b"another")
    assert "it is now lab1-before-2.zip" in run(lab, capsys)[1]


def test_an_interrupted_packing_leaves_the_earlier_archive_and_no_trace(lab, capsys, monkeypatch):
    run(lab, capsys)
    before = (lab.folder.parent / "lab1.zip").read_bytes()
    (lab.folder / "engine.py").write_text("x = 2\n")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(lab, capsys)
    assert (lab.folder.parent / "lab1.zip").read_bytes() == before
    assert len(list(lab.folder.parent.iterdir())) == 2


def test_a_place_that_cannot_be_written_is_wrong_use(lab):
    with pytest.raises(WrongUse, match="can't be written"):
        pack.report(lab, lab.folder.parent / "nowhere", "en")


def notebook(text):
    cell = {"cell_type": "code", "source": text, "outputs": [{"text": "long"}], "execution_count": 3}
    return json.dumps({"cells": [cell, {"cell_type": "markdown", "source": "# 图"}]})


@pytest.fixture
def lab_with_notebook(lab):
    """Its notebook in two languages, saved at the same time."""
    (lab.folder / "en").mkdir()
    for place in ("lab1.ipynb", "en/lab1.ipynb"):
        (lab.folder / place).write_text(notebook(f"x = {place!r}"), encoding="utf-8")
        os.utime(lab.folder / place, (0, 1_000_000_000))
    return dataclasses.replace(lab, notebook="lab1.ipynb")


def packed_cell(lab):
    return json.loads(pack.gather(lab).files["lab1.ipynb"])["cells"][0]


def test_the_notebook_is_packed_without_what_it_printed(lab_with_notebook):
    lab = lab_with_notebook
    source = "x = 'lab1.ipynb'"
    assert packed_cell(lab) == {
        "cell_type": "code",
        "source": source,
        "outputs": [],
        "execution_count": None,
    }
    assert "# 图" in pack.gather(lab).files["lab1.ipynb"].decode()


def test_of_two_languages_the_notebook_saved_last_is_packed_and_told(lab_with_notebook, capsys):
    lab = lab_with_notebook
    os.utime(lab.folder / "en/lab1.ipynb", (0, 1_000_000_001))
    assert packed_cell(lab)["source"] == "x = 'en/lab1.ipynb'"
    code, printed, names = run(lab, capsys)
    assert (code, names) == (0, ["graph.py", "engine.py", "lab1.ipynb"])
    assert "en/lab1.ipynb, which was saved last, is handed in as lab1.ipynb." in printed


@pytest.mark.parametrize("content", ["", "{", "[]", '{"cells": [1]}', "[" * 100_000])
def test_a_file_that_is_no_notebook_is_told_and_nothing_is_written(lab_with_notebook, capsys, content):
    lab = lab_with_notebook
    (lab.folder / "lab1.ipynb").write_text(content)
    code, printed, names = run(lab, capsys)
    assert (code, names) == (1, None)
    assert "lab1.ipynb can't be read as a notebook" in printed


def test_a_notebook_that_is_not_there_is_told(lab_with_notebook, capsys):
    lab = lab_with_notebook
    (lab.folder / "en/lab1.ipynb").unlink()
    (lab.folder / "lab1.ipynb").rename(lab.folder / "lab1 (1).ipynb")
    code, printed, names = run(lab, capsys)
    assert (code, names) == (1, None)
    assert "lab1 (1).ipynb" in printed
