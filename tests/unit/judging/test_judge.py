"""Numbers compared. Truth here is arithmetic: what is equal, what is off by how much."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.judging.judge import TOLERANCE, differences, first_difference, first_misfit

NAN, INF = math.nan, math.inf


def differ(got, want, **options):
    """The message about one quantity, or None."""
    scale = {"scale": options.pop("scale")} if "scale" in options else {}
    answer, right = {"y": got}, {"y": want, **scale}
    first = first_difference("f(x=1)", answer, right, **options)
    everything = list(differences(answer, right, **options))
    assert bool(everything) == (first is not None)
    assert first is None or first.arguments["quantity"].startswith(everything[0].path)
    return first


def values(*numbers, dtype=np.float64):
    return np.array(numbers, dtype=dtype)


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 3, -0.5, NAN, INF, "text", [], {}),
        *([1.0, [2, "a", None]], {"a": 1.0, "b": [values(1.0, NAN)]}),
        *(values(), values(1.0, INF, NAN), np.zeros((2, 0, 3)), np.array(2.0, np.float32)),
        *(values(1, 2, dtype=np.int64), values(True, False, dtype=bool), values(1 + 2j, dtype=np.complex128)),
    ],
    ids=repr,
)
def test_every_kind_of_value_equals_itself(value):
    assert differ(value, value) is None


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (1, 1.0),  # an int where a float is due
        (True, 1.0),
        (True, 1),
        (1.0, 1),
        (None, 0.0),
        ("1.0", 1.0),
        (values(1.0), 1.0),
        (1.0, values(1.0)),
        ([1.0], values(1.0)),
        (values(1.0), [1.0]),
        (np.array(1.0, np.float32), 1.0),
        (values(1.0, dtype=np.float32), values(1.0)),
        (values(1, dtype=np.int64), values(1.0)),
        (values(1, dtype=np.int32), values(1, dtype=np.int64)),
        (values(1, dtype=bool), values(1, dtype=np.int64)),
        (values(1.0, dtype=np.complex128), values(1.0)),
        (np.ones((1, 3)), np.ones(3)),
        (np.ones((3, 1)), np.ones((1, 3))),
        (np.ones((0, 2)), np.ones((2, 0))),
        ([1.0], [1.0, 1.0]),
        ({"a": 1.0}, {"b": 1.0}),
        ({"a": 1.0, "b": 1.0}, {"a": 1.0}),
        ([1], [1.0]),
        ({"a": True}, {"a": 1}),
    ],
    ids=repr,
)
def test_another_kind_dtype_or_shape_is_wrong_though_the_numbers_agree(got, want):
    assert differ(got, want).id == "judging.wrong-kind"


@pytest.mark.parametrize(
    "got", [1.0, np.array(1.0, np.float32), np.ones(1), np.ones((5, 1)), np.ones((1, 5))]
)
def test_nothing_is_broadcast_g02(got):
    assert differ(got, np.ones(5)).id == "judging.wrong-kind"


def test_an_empty_array_is_not_nan_g02():
    assert differ(values(), NAN) is not None
    assert differ(values(), values(NAN)) is not None
    assert differ([], [NAN]) is not None


@pytest.mark.parametrize("got", [values(0.0, 0.0), values(-6.79e-18, 2.68e-12), values(6.79e-18, -2.6e-12)])
def test_tiny_true_gradients_are_not_near_zero_g04(got):
    assert differ(got, values(6.79e-18, -2.68e-12)) is not None


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-18, 1.0, 1e18, 1e200, 1e300])
def test_the_tolerance_goes_by_the_norm_at_every_size(size):
    want = size * values(3.0, -4.0, 0.0)
    assert differ(want + size * values(0.0, 0.0, 4e-13), want) is None
    assert differ(want + size * values(0.0, 0.0, 6e-13), want).arguments["quantity"] == "y[2]"
    assert differ(-want, want) is not None
    assert differ(0 * want, want) is not None


@pytest.mark.parametrize("size", [1e-40, 1e-25, 1.0, 1e25, 3e38])
def test_the_tolerance_goes_by_the_norm_in_float32_too(size):
    want = values(size, -size, dtype=np.float32)
    assert differ(want * np.float32(1 + 1e-5), want) is None
    assert differ(want * np.float32(0.99), want) is not None
    assert differ(-want, want) is not None


def test_the_norm_of_float16_does_not_overflow():
    want = np.full(100, 60_000, np.float16)
    assert differ(want, want) is None
    assert differ(-want, want) is not None
    assert differ(0 * want, want) is not None


def test_the_largest_numbers_are_told_from_their_negatives():
    want = np.full(4, 1.7e308)
    assert differ(want, want) is None
    assert differ(-want, want) is not None


def test_where_the_reference_is_zero_only_zero_is_right():
    assert differ(-0.0, 0.0) is None
    assert differ(1e-300, 0.0) is not None
    assert differ(values(0.0, 1e-300), values(0.0, 0.0)) is not None


def test_a_program_may_name_the_scale_of_what_cancels():
    assert differ(3e-17, 0.0, scale=1.0) is None
    assert differ(3e-13, 0.0, scale=1.0) is not None
    assert differ(3e-13, 0.0, scale=10.0) is None


def test_scales_may_differ_between_quantities():
    want = {"a": 0.0, "b": 0.0, "scale": {"a": 1.0}}
    assert first_difference("f()", {"a": 1e-14, "b": 0.0}, want) is None
    assert first_difference("f()", {"a": 0.0, "b": 1e-14}, want).arguments["quantity"] == "b"


def test_a_scale_only_ever_raises_the_norm():
    assert differ(1e6 + 1e-8, 1e6, scale=1e-3) is None


@pytest.mark.parametrize("scale", [INF, NAN, None])
def test_a_scale_that_is_no_number_accepts_nothing_more(scale):
    assert differ(2.0, 1.0, scale=scale) is not None
    assert differ(1.0, 1.0, scale=scale) is None


def test_what_a_student_says_about_the_scale_does_not_count():
    assert first_difference("f()", {"y": 2.0, "scale": 1e30}, {"y": 1.0}) is not None


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (NAN, 1.0),
        (1.0, NAN),
        (INF, 1.0),
        (1.0, INF),
        (INF, -INF),
        (NAN, INF),
        (values(1.0, NAN), values(NAN, 1.0)),
        (values(INF, 1.0), values(1.0, INF)),
        (values(1.0, NAN), values(1.0, 2.0)),
        (values(1.0, 2.0), values(1.0, NAN)),
        (values(1 + 1j, dtype=np.complex128), values(complex(1, INF), dtype=np.complex128)),
    ],
    ids=repr,
)
def test_what_is_not_finite_must_stand_in_the_same_places(got, want):
    assert differ(got, want) is not None


def test_an_infinite_reference_does_not_loosen_the_rest():
    want = values(INF, NAN, 1.0)
    assert differ(values(INF, NAN, 1.0 + 1e-14), want) is None
    assert differ(values(INF, NAN, 1.1), want).arguments["quantity"] == "y[2]"


def test_complex_numbers_are_near_in_the_plane():
    want = values(3 + 4j, 1j, dtype=np.complex128)
    assert differ(want + 1e-13j, want) is None
    assert differ(want.conj(), want) is not None
    assert differ(want.astype(np.complex64), want).id == "judging.wrong-kind"


def test_integers_and_booleans_must_be_equal_whatever_the_tolerance():
    assert differ(10**18 + 1, 10**18, tolerance=0.5) is not None
    assert differ(values(1, 2, dtype=np.int64), values(1, 3, dtype=np.int64), tolerance=0.5) is not None
    assert differ(values(0, 1, dtype=bool), values(0, 0, dtype=bool), tolerance=0.5) is not None
    unsigned = values(0, dtype=np.uint8), values(255, dtype=np.uint8)
    assert differ(*unsigned) is not None


def test_a_grading_test_may_set_the_tolerance():
    assert differ(1.001, 1.0) is not None
    assert differ(1.001, 1.0, tolerance=0.01) is None
    assert differ(1.0 + 1e-14, 1.0, tolerance=0.0) is not None


def test_float32_is_judged_by_its_own_rounding():
    want = values(1.0, 2.0, dtype=np.float32)
    assert differ(want + np.float32(1e-5), want) is None
    assert differ(want + np.float32(1e-2), want) is not None


@given(
    want=hnp.arrays(
        np.float64, hnp.array_shapes(max_dims=3, max_side=4), elements=st.floats(-1e6, 1e6).filter(bool)
    ),
    signs=st.integers(0, 2**32 - 1),
)
def test_rounding_passes_and_a_relative_error_of_1e_11_does_not(want, signs):
    assume(np.max(np.abs(want)) > 1e-290)  # subnormal numbers have no digits for an error of 1e-11
    sign = np.random.default_rng(signs).choice([-1.0, 1.0], want.shape)
    rounded = want * (1 + 4 * np.finfo(np.float64).eps * sign)
    assert differ(rounded, want) is None
    assert differ(want * (1 + 1e-11 * sign), want) is not None


@given(want=st.floats(-1e100, 1e100), other=st.floats(-1e100, 1e100))
def test_numbers_far_apart_never_pass_and_never_look_the_same(want, other):
    assume(abs(want - other) > 2 * TOLERANCE[np.dtype(np.float64)] * abs(want))
    arguments = differ(other, want).arguments
    assert arguments["expected"] != arguments["got"]


def test_the_message_shows_call_place_both_numbers_and_what_was_accepted():
    message = differ(values([1.0, 2.0], [3.0, 4.5]), values([1.0, 2.0], [3.0, 4.25]))
    assert message.text("en") == (
        "f(x=1): y[1, 1] should be 4.25, your code gives 4.5 (accepted error 6e-13)."
    )
    assert "4.25" in message.text("zh") and "y[1, 1]" in message.text("zh")


def test_the_message_names_the_first_wrong_element_in_lists_and_dicts():
    got = {"table": {"a": [1.0, 2.0], "b": [values(1.0), values(5.0)]}}
    want = {"table": {"a": [1.0, 2.0], "b": [values(1.0), values(6.0)]}}
    assert first_difference("f()", got, want).arguments["quantity"] == "table['b'][1][0]"


def test_the_quantities_of_the_reference_come_in_its_order_and_all_must_be_there():
    want = {"value": 1.0, "gradient": 2.0}
    assert first_difference("f()", {"gradient": 0.0, "value": 0.0}, want).arguments["quantity"] == "value"
    missing = first_difference("f()", {"value": 1.0}, want)
    assert missing.id == "judging.missing-quantity"
    assert missing.arguments == {"call": "f()", "quantity": "gradient"}


def test_a_wrong_kind_is_named_with_dtype_and_shape():
    message = differ(np.ones((2, 1), np.float32), np.ones(2))
    assert message.arguments["expected"] == "array(dtype=float64, shape=(2,))"
    assert message.arguments["got"] == "array(dtype=float32, shape=(2, 1))"


def test_numbers_that_differ_late_are_shown_with_enough_digits():
    arguments = differ(1.0 + 1e-10, 1.0).arguments
    assert arguments["expected"] == "1"
    assert arguments["got"].startswith("1.0000000001")


def test_messages_stay_short_whatever_is_wrong_g49():
    for got, want in [
        ("x" * 10_000_000, "y"),
        (np.ones(1_000_000), np.zeros(1_000_000)),
        ({f"k{i}": 1 for i in range(100_000)}, {}),
        ([0] * 100_000, [1]),
    ]:
        assert len(differ(got, want).text("en")) < 500


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (1.0, -7.5),
        (NAN, 1.0),
        (values(1.0, INF), values(0.0, 3.0)),
        (["a", [1.0]], ["b", [2.0]]),
        ({"a": 1, "b": None}, {"a": 2, "b": None}),
    ],
    ids=repr,
)
def test_values_of_one_kind_fit_whatever_they_are(got, want):
    assert first_misfit("f()", {"y": got, "more": 1}, {"y": want}) is None


@pytest.mark.parametrize(
    ("got", "want", "quantity"),
    [
        (1, 1.0, "y"),
        (None, values(1.0), "y"),
        (values(1.0, 2.0), values(1.0), "y"),
        (values(1, dtype=np.int64), values(1.0), "y"),
        ([1.0], [1.0, 2.0], "y"),
        ([1.0, [values(1.0), 2]], [1.0, [values(1.0), 2.0]], "y[1][1]"),
        ({"a": 1.0}, {"b": 1.0}, "y"),
        ({"a": {"b": "1"}}, {"a": {"b": 1}}, "y['a']['b']"),
    ],
    ids=repr,
)
def test_the_first_place_that_does_not_fit_is_named(got, want, quantity):
    found = first_misfit("f()", {"y": got}, {"y": want})
    assert (found.id, found.arguments["quantity"]) == ("judging.wrong-kind", quantity)


def test_what_a_law_may_look_up_must_be_there_the_scale_too():
    want = {"y": 1.0, "scale": 2.0}
    assert first_misfit("f()", {"y": 1.0}, want).arguments["quantity"] == "scale"
    assert first_misfit("f()", {"scale": 1.0}, want).id == "judging.missing-quantity"
    assert first_misfit("f()", {"y": 0.0, "scale": 0.0}, want) is None
