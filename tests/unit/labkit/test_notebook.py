"""What a notebook's cells call, as plain Python: a lab of one module, one question and one wrong engine."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit import predict
from labkit.notebook import begin, session
from labkit.notebook.session import NotYet

MANIFEST = """\
id = "lab1"
title = { zh = "一", en = "One" }
language = "zh"
modules = ["sums.py"]
kernels = []
notebook = "lab1.ipynb"
[[task]]
id = "add"
title = { zh = "加", en = "Addition" }
points = 4
file = ["sums.py"]
blanks = [{ name = "add", minutes = 5 }]
[[task]]
id = "guess"
title = { zh = "猜", en = "Guess" }
points = 3
file = ["lab1.ipynb"]
blanks = [{ name = "question", minutes = 5 }]
"""
TEST = '''\
import pytest
pytestmark = pytest.mark.task("add")

def test_add(lab, expect):
    """A sum is a sum.
    和就是和。
    """
    assert lab.sums.add(1, 2) == 3
'''
BLANK = "def add(a, b):\n    # YOUR CODE HERE\n    raise NotImplementedError\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The lab, with right answers [2, 4] and "yes" for every number, as the working directory."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "en").mkdir()
    hashes = {
        "slopes": [
            [
                predict.hashed("lab1", "question.slopes", number, place, str(value))
                for place, value in enumerate((2, 4))
            ]
            for number in range(16)
        ],
        "word": [[predict.hashed("lab1", "question.word", number, 0, "yes")] for number in range(16)],
    }
    tables = "".join(
        f"[question.{name}]\nhashes = {table}\n".replace("'", '"') for name, table in hashes.items()
    )
    for name, text in {
        "manifest.toml": MANIFEST,
        "sums.py": BLANK,
        "tests/test_sums.py": TEST,
        "predictions.toml": tables,
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(session, "_sessions", [])
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("sums", None)


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a cell after the first one; gives what it prints and, after it, what it raises."""
    names: dict[str, Any] = {}
    begin("en")
    exec("from labkit.notebook import check, expose, reveal, whose_numbers", names)
    capsys.readouterr()

    def cell(source: str) -> str:
        raised = ""
        try:
            exec(source, names)
        except NotYet as error:
            raised = f"NotYet: {error}"
        return capsys.readouterr().out + raised

    return cell


def test_the_banner_says_when_each_module_was_saved_and_loaded(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begin("en")
    assert capsys.readouterr().out.startswith("sums.py: saved ")
    (folder / "sums.py").write_text("def add(\n", encoding="utf-8")
    sys.modules.pop("sums", None)
    begin("zh")
    printed = capsys.readouterr().out
    assert "未能载入" in printed and "sums.py:1" in printed


def test_the_other_languages_notebook_finds_the_lab_above_it(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder / "en")
    begin("en")
    assert "sums.py: saved" in capsys.readouterr().out


def test_a_notebook_far_from_its_lab_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotYet, match=r"There is no manifest\.toml in "):
        begin("en")


def test_nothing_is_revealed_without_an_id_and_without_an_answer(run: Callable[..., str]) -> None:
    assert run("reveal('question'); print('the truth')").startswith("NotYet: First write your student id")
    assert run("student = ' '; whose_numbers()").startswith("NotYet: First write")
    assert (
        run("student = 'abc'; whose_numbers()")
        == "abc: your questions have numbers of set 13 (of 0 to 15).\n"
    )
    told = run("reveal('question'); print('the truth')")
    assert told.startswith("NotYet: slopes is not there yet.") and "truth" not in told
    told = run("slopes = [1, 2, 3]; word = 'no'; reveal('question'); print('the truth')")
    assert "does not have as many entries" in told and "truth" not in told


def test_a_wrong_answer_opens_what_follows_and_is_told_without_the_right_one(run: Callable[..., str]) -> None:
    told = run("student = 'abc'; slopes = [2, 5]; word = 'no'; reveal('question'); print('next')")
    assert told == (
        "✗ slopes: look again at entry 2, counted from 1; the others are right.\n"
        "✗ word: not yet. Look at it again, step by step.\n"
        "next\n"
    )
    assert run("slopes = [2, 4]; word = 'Yes'; reveal('question')") == "✓ slopes: right.\n✓ word: right.\n"


def test_a_task_of_questions_fails_until_all_are_right(run: Callable[..., str]) -> None:
    told = run("student = 'abc'; slopes = [2, 5]; check('guess')")
    assert told.startswith("Guess (guess), points: 3\nNotYet: ✗ slopes: look again at entry 2")
    assert "word is not there yet" in told
    told = run("slopes = [2, 4]; word = 'yes'; check('guess')")
    assert told.splitlines()[-1] == "All answers are right."


def test_a_task_of_modules_runs_its_public_tests_once_until_a_file_changes(
    run: Callable[..., str], folder: Path
) -> None:
    told = run("check('add')")
    assert told.startswith("Addition (add), points: 4\nRunning the public tests")
    assert told.endswith("NotYet: not written yet: add (sums.py:3)")
    assert "Running" not in run("check('add')")
    (folder / "sums.py").write_text("def add(a, b):\n    return a + b\n", encoding="utf-8")
    told = run("check('add')")
    assert "Running" in told and "✓ Its public tests pass." in told


def test_a_wrong_engine_is_told_in_words(run: Callable[..., str]) -> None:
    assert run("expose('overwrite')").startswith("overwrite is not there yet.")
    assert run("overwrite = 3; expose('overwrite')").startswith("overwrite should be (output, input,")
