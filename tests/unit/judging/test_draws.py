"""Random inputs: what they are, and that a seed is all they depend on."""

import numpy as np
import pytest

from autograder.judging.draws import Draw


def all_kinds(seed):
    draw = Draw(seed)
    return [
        draw.uniform(-1, 2),
        draw.uniform(0, 1, (2, 3)),
        draw.normal(),
        draw.normal(4),
        draw.integers(0, 10),
        draw.integers(-5, 5, (3,)),
        draw.dag(6),
    ]


def test_equal_seeds_draw_equal_inputs_and_others_do_not():
    same = [np.array_equal(one, other) for one, other in zip(all_kinds(7), all_kinds(7), strict=True)]
    assert all(same)
    assert not any(np.array_equal(one, other) for one, other in zip(all_kinds(7), all_kinds(8), strict=True))


def test_a_single_number_is_a_python_number_which_may_cross_the_wire():
    draw = Draw(0)
    assert type(draw.uniform(0, 1)) is float
    assert type(draw.normal()) is float
    assert type(draw.integers(0, 9)) is int


@pytest.mark.parametrize("shape", [3, (3,), (2, 3), (0,), ()])
def test_arrays_have_the_shape_asked_for(shape):
    draw = Draw(0)
    expected = (shape,) if isinstance(shape, int) else shape
    for drawn in (draw.uniform(0, 1, shape), draw.normal(shape)):
        assert drawn.shape == expected and drawn.dtype == np.float64
    assert draw.integers(0, 9, shape).shape == expected
    assert draw.integers(0, 9, shape).dtype == np.int64


def test_numbers_keep_within_their_bounds():
    draw = Draw(3)
    drawn = draw.uniform(-2, 5, 10_000)
    assert drawn.min() >= -2 and drawn.max() < 5 and drawn.std() > 1
    whole = draw.integers(1, 4, 1000)
    assert set(whole.tolist()) == {1, 2, 3}


def test_normal_numbers_have_both_signs_and_are_never_ones():
    drawn = Draw(5).normal(1000)
    assert abs(drawn.mean()) < 0.2 and abs(drawn.std() - 1) < 0.1
    assert (drawn > 0).any() and (drawn < 0).any() and not (drawn == 1).any()


def test_a_dag_is_rows_of_three_whole_numbers():
    rows = Draw(1).dag(50)
    assert rows.shape == (50, 3) and rows.dtype == np.int64
    assert rows.min() >= 0
