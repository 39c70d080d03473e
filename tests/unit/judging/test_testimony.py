"""What is kept of wrong answers: deviations by linear algebra, ends by their words."""

import numpy as np
import pytest

from autograder.judging.testimony import SUMS, compared, said, sketch
from autograder.judging.trial import Call
from autograder.sandbox.client import Answer
from autograder.worker.codec import Failure

SIZE = 400
RIGHT = np.sin(np.arange(SIZE))


def answered(got, want=RIGHT, tolerance=None):
    """What is kept of an answer to one and the same call."""
    return said(Call("program", {}, Answer("ok", {"y": got}), {"y": want}, tolerance), None)


def raised(name, text):
    failure = Failure(name, name, text, [])
    return said(Call("program", {}, Answer("raised", failure=failure), {"y": RIGHT}, None), None)


def alike(one, other):
    """Whether both tell of one mistake."""
    return bool(compared([one], [other])[0])


@pytest.mark.parametrize("size", [1, SUMS, SUMS + 1, 5000])
def test_a_sketch_is_linear_and_of_few_numbers(size):
    draw = np.random.default_rng(size)
    one, other = draw.normal(size=(2, size))
    assert len(sketch(one)) == min(size, SUMS)
    assert np.allclose(np.add(sketch(one), np.multiply(3, sketch(other))), sketch(one + 3 * other))


@pytest.mark.parametrize("size", [3, SIZE])
def test_one_mistake_computed_in_two_ways_is_one(size):
    want = RIGHT[:size]
    doubled, rounded = answered(2 * want, want), answered(2 * want * (1 + 3e-15), want)
    assert doubled.is_wrong and doubled != rounded
    assert alike(doubled, rounded) and not alike(doubled, answered(3 * want, want))
    assert not alike(doubled, answered(2 * want[::-1], want))


@pytest.mark.parametrize("got", [RIGHT, RIGHT * 0, None, RIGHT * (1 + 2e-12)])
def test_right_answers_nothing_and_rounding_tell_of_no_mistake(got):
    assert not alike(answered(got), answered(got))


def test_where_an_answer_is_no_number_counts():
    first, last = RIGHT.copy(), RIGHT.copy()
    first[0], last[-1] = np.nan, np.nan
    assert alike(answered(first), answered(first.copy())) and not alike(answered(first), answered(last))


def test_exceptions_are_one_by_class_and_words_without_names_and_numbers():
    one = raised("ValueError", "cannot reshape array of size 12 into 'x'")
    assert alike(one, raised("ValueError", "cannot reshape array of size 6 into 'y'"))
    assert not alike(one, raised("TypeError", "cannot reshape array of size 12 into 'x'"))
    assert not alike(one, raised("ValueError", "no such axis"))
    unwritten = raised("NotImplementedError", "")
    assert not alike(unwritten, unwritten)
