"""Numbers of a student's own, and answers judged by hashes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labkit import predict
from labkit.predict import Judged, judge, number


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A lab with three answers: two decimals, exact, and a set. Of number 0 alone; others as number 0."""
    right = {"slopes": [5.5, 1.716, -0.004], "order": ["2", "**", "-"], "kept": ["a", "c"]}
    lines = ["[question.slopes]", "decimals = 2", f"hashes = {hashes('slopes', right, 2)}"]
    for name in ("order", "kept"):
        lines += [f"[question.{name}]", f"hashes = {hashes(name, right, None)}"]
    (tmp_path / predict.FILE).write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def hashes(name: str, right: dict[str, list[Any]], decimals: int | None) -> str:
    rows = [
        predict.hashed("lab1", f"question.{name}", 0, place, predict.written(entry, decimals))
        for place, entry in enumerate(right[name])
    ]
    return str([rows]).replace("'", '"')


def judged(folder: Path, **names: Any) -> dict[str, Judged]:
    return {one.name: one for one in judge(folder, "lab1", "question", 0, names)}


def test_a_number_follows_from_the_id_and_a_number_stands_for_itself() -> None:
    # SHA-256("abc") ends with 15ad (FIPS 180-2, appendix B.1), and 0xad % 16 is 0xd.
    assert number("abc") == 0xD
    assert number(" ABC ") == number("abc")
    assert [number(value) for value in range(16)] == list(range(16))
    assert {number(str(2_100_012_300 + one)) for one in range(200)} == set(range(16))


@pytest.mark.parametrize(
    "slopes",
    [
        [5.5, 1.716, -0.004],
        [5.50, 1.72, 0],
        (5.51, 1.71, 0.01),  # off by one in the last place
        np.array([5.5, 1.716, 0.0]),
        [np.float64(5.5), 1.7161, -0.0],
    ],
)
def test_rounded_answers_may_be_off_by_one_in_the_last_place(folder: Path, slopes: Any) -> None:
    assert judged(folder, slopes=slopes)["slopes"] == Judged("slopes", 3)


def test_entries_that_are_wrong_are_named_by_their_places(folder: Path) -> None:
    assert judged(folder, slopes=[5.5, 1.74, 0.03])["slopes"].wrong == (2, 3)
    assert judged(folder, order=["2", "-", "**"])["order"].wrong == (2, 3)


def test_exact_answers_may_be_numbers_or_texts(folder: Path) -> None:
    assert judged(folder, order=[2, " ** ", "-"])["order"] == Judged("order", 3)
    assert judged(folder, order=[2.0, "**", "-"])["order"] == Judged("order", 3)
    assert judged(folder, order=[2.01, "**", "-"])["order"].wrong == (1,)


@pytest.mark.parametrize("two", [2, 2.0, np.float32(2), np.int8(2), np.array(2), np.array([2.0]), {2}, "2"])
def test_one_number_may_be_of_any_kind(two: Any) -> None:
    assert [predict.written(entry, None) for entry in predict.entries(two)] == ["2"]


@pytest.mark.parametrize("kept", [{"c", "a"}, ["a", "c"], ("A", "C"), frozenset("ca")])
def test_sets_have_no_order(folder: Path, kept: Any) -> None:
    assert judged(folder, kept=kept)["kept"] == Judged("kept", 2)


@pytest.mark.parametrize(
    ("slopes", "problem"),
    [
        (..., "missing"),
        ([5.5, 1.7], "length"),
        (5.5, "length"),
        ([5.5, 1.7, None], "kind"),
        ([5.5, 1.7, ...], "kind"),
        ([5.5, 1.7, 1j], "kind"),
        ([5.5, 1.7, [0.0]], "kind"),
        (len, "kind"),
        ({"a": 1}, "kind"),
    ],
)
def test_what_is_no_answer_says_why(folder: Path, slopes: Any, problem: str) -> None:
    assert judged(folder, slopes=slopes)["slopes"].problem == problem


def test_a_name_that_is_not_there_is_missing(folder: Path) -> None:
    assert [one.problem for one in judged(folder).values()] == ["missing"] * 3


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), 1e300, "5.5"])
def test_odd_numbers_are_wrong_and_raise_nothing(folder: Path, odd: Any) -> None:
    assert judged(folder, slopes=[odd, 1.72, 0.0])["slopes"].wrong == (1,)


def test_the_same_answer_has_another_hash_at_each_place_and_number() -> None:
    found = {predict.hashed("lab1", "a.b", one, place, "0") for one in range(16) for place in range(3)}
    assert len(found) == 48
