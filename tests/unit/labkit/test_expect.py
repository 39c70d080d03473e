"""Comparisons of the public tests: kind before shape before value, and inputs that come again."""

import math

import numpy as np
import pytest

from labkit.check.expect import Draw, Expect, Wrong, text

expect = Expect()


@pytest.mark.parametrize(
    ("got", "right"),
    [
        (1.0, 1.0 + 1e-10),
        (np.float64(2.0), 2.0),
        (math.inf, math.inf),
        (math.nan, math.nan),
        (1e12 + 1, 1e12),
        (3, 3),
        ([1.0, 2.0], [1.0, 2.0]),
        (np.array([[1.0]]), np.array([[1.0]])),
        ("float32", "float32"),
    ],
    ids=repr,
)
def test_equal_answers_pass(got, right):
    expect.equal("f()", got, right)


@pytest.mark.parametrize(
    ("got", "right", "call", "shown"),
    [
        (1.001, 1.0, "f()", "1.001"),
        (1, 1.0, "f()", "1"),
        (True, 1, "f()", "True"),
        (1.0, 1, "f()", "1"),
        (math.nan, 1.0, "f()", "nan"),
        (-math.inf, math.inf, "f()", "-inf"),
        (1.0, math.nan, "f()", "1"),
        (None, 1.0, "f()", "None"),
        ([1.0, 3.0], [1.0, 2.0], "f()[1]", "3"),
        ([1.0], [1.0, 2.0], "len(f())", "1"),
        ((1.0,), [1.0], "type(f())", "tuple"),
        (1.0, np.array([1.0]), "type(f())", "float"),
        (np.array([1.0]), np.array([[1.0]]), "f()", "float64 (1,)"),
        (np.array([1.0], np.float32), np.array([1.0]), "f()", "float32 (1,)"),
        (np.array([[1.0, 5.0]]), np.array([[1.0, 2.0]]), "f()[0, 1]", "5"),
    ],
    ids=repr,
)
def test_the_first_thing_wrong_is_named(got, right, call, shown):
    with pytest.raises(Wrong) as error:
        expect.equal("f()", got, right)
    assert (error.value.call, error.value.got) == (call, shown)


def test_partials_must_be_a_tuple_of_the_right_length():
    class Op:
        def partials(self, values, value):
            return self.answer

    class Node:
        op, inputs, value = Op(), (), 0.0

    Node.inputs = (Node(), Node())
    for answer, call in ([1.0, 2.0], "type(p)"), ((1.0,), "len(p)"):
        Op.answer = answer
        with pytest.raises(Wrong) as error:
            expect.local_derivatives("p", Node())
        assert error.value.call == call
    Op.answer = (1.0, 2.0)
    assert expect.local_derivatives("p", Node()) == (1.0, 2.0)


def test_a_result_that_is_no_dictionary_is_named():
    with pytest.raises(Wrong) as error:
        expect.adjoints("reverse_mode(y)", None, 3.0)
    assert (error.value.got, error.value.expected) == ("3", "{node: adjoint}")


def test_texts_stay_short_whatever_they_show():
    class Hostile:
        def __repr__(self):
            raise RuntimeError

    assert text(Hostile()) == "<Hostile>"
    assert len(text("x" * 1000)) == 80
    assert text([1.0] * 9) == "[1, 1, 1, 1, 1, 1, …]"
    assert text((0.1,)) == "(0.1,)"
    assert text({"a": 1 / 3, 2: [0.5]}) == "{'a': 0.333333333, 2: [0.5]}"


def test_inputs_come_again_for_the_same_seed_and_test_only():
    def numbers(seed, test):
        draw = Draw(seed, test)
        return [*draw.many(3, -1, 1), draw.signed(1, 2), draw.index(1000)]

    assert numbers(1, "a") == numbers(1, "a")
    assert numbers(1, "a") != numbers(2, "a")
    assert numbers(1, "a") != numbers(1, "b")
    signs = {math.copysign(1, Draw(seed, "a").signed(1, 2)) for seed in range(20)}
    assert signs == {1.0, -1.0}
