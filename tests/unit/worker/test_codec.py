"""The wire carries numbers, arrays and texts unchanged, and refuses everything else with BadMessage."""

import enum
import random
import struct
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from autograder.worker import codec
from autograder.worker.codec import BadMessage

ENCODE = msgspec.msgpack.encode


def across(values: dict[str, Any]) -> dict[str, Any]:
    """What the grader gets of a worker's results."""
    data = codec.encode(codec.Reply("program", codec.to_wire(values)))
    return codec.from_wire(codec.decode_reply(data).result or {})


def same(one: Any, other: Any) -> bool:
    """Equal in type and in every bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, float):
        return struct.pack("<d", one) == struct.pack("<d", other)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
dtypes = st.sampled_from(sorted(codec.DTYPES)).map(np.dtype)
arrays = npst.arrays(dtypes, npst.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=3))
integers = st.integers(-(2**63), 2**64 - 1)
leaves = st.none() | st.booleans() | integers | st.floats() | texts | arrays
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def depth(value: Any) -> int:
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 0


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.dictionaries(texts, values, max_size=3).filter(lambda results: depth(results) <= codec.MAX_DEPTH))
def test_values_arrive_as_they_were_sent(results: dict[str, Any]) -> None:
    assert same(across(results), results)


@pytest.mark.parametrize("value", [np.float64(0.1), np.array(0.1), np.array(0.1, ">f8"), 0.1])
def test_a_scalar_is_one_kind_however_it_is_written(value: object) -> None:
    assert same(across({"x": value}), {"x": 0.1})


def test_scalars_of_other_precision_keep_it() -> None:
    arrived = across({"x": np.float32(0.5), "n": np.int16(3), "flag": np.True_})
    assert same(arrived, {"x": np.array(0.5, "f4"), "n": np.array(3, "i2"), "flag": True})


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).astype(">f8").reshape(2, 3),
        np.arange(12.0).reshape(3, 4)[::2, ::-1],
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
        np.zeros((0, 3)),
    ],
    ids=["big-endian", "strided", "column-major", "broadcast", "transposed", "empty"],
)
def test_every_layout_of_an_array_arrives_in_order(array: np.ndarray) -> None:
    arrived = across({"x": array})["x"]
    assert arrived.shape == array.shape
    assert arrived.dtype == np.dtype("<f8")
    np.testing.assert_array_equal(arrived, array)


def test_arrays_arrive_read_only_and_tuples_as_lists() -> None:
    arrived = across({"x": np.ones(2), "pair": (1, 2.0)})
    assert not arrived["x"].flags.writeable
    assert same(arrived["pair"], [1, 2.0])


class Colour(enum.IntEnum):
    RED = 1


class Pretender:
    """Says it is a number of NumPy's."""

    __class__ = np.float64  # type: ignore[assignment]

    def __array__(self, *arguments: object, **options: object) -> np.ndarray:
        return np.array([None])


@pytest.mark.parametrize(
    "value",
    [
        object(),
        b"bytes",
        {1, 2},
        1j,
        Colour.RED,
        np.str_("text"),
        np.array(["text"]),
        np.array([None]),
        np.zeros(2, "i4,f8"),
        np.zeros(2, np.longdouble),
        np.array(["2020-01-01"], "M8[D]"),
        np.ma.masked_array([1.0], [True]),
        np.ones(2).view(np.recarray),
        np.zeros((1,) * 17),
        {1: 2.0},
        {Colour.RED: 1},
        (x for x in ()),
        Pretender(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_number_array_or_text_is_refused_by_its_path(value: object) -> None:
    with pytest.raises(BadMessage, match=r"^grads\[1\]"):
        codec.to_wire({"grads": [0.0, value]})


def test_a_result_that_is_no_dict_is_refused() -> None:
    with pytest.raises(BadMessage, match="expected a dict of results, got float"):
        codec.to_wire(1.0)  # type: ignore[arg-type]


def test_results_nest_four_deep_and_no_deeper() -> None:
    assert across({"x": [[[1.0]]]}) == {"x": [[[1.0]]]}
    with pytest.raises(BadMessage, match="nested more than 4 deep"):
        codec.to_wire({"x": [[[[1.0]]]]})


def test_a_list_that_holds_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(BadMessage, match="nested"):
        codec.to_wire({"x": loop})


@pytest.mark.parametrize(
    "value", [2**64, -(2**63) - 1, "\ud800"], ids=["too large", "too small", "surrogate"]
)
def test_an_integer_beyond_64_bits_and_a_text_that_is_no_unicode_are_refused(value: object) -> None:
    with pytest.raises(BadMessage):
        codec.encode(codec.Reply("program", codec.to_wire({"x": value})))


def array(dtype: str = "f8", shape: object = (1,), data: object = bytes(8), code: int = codec.ARRAY) -> Any:
    return msgspec.msgpack.Ext(code, ENCODE([dtype, shape, data]))


GOOD = {"name": "program", "result": {"x": 1.0, "a": array()}}
FRAME = {"file": "m.py", "line": 1, "function": "f", "text": "x"}
FAILURE = {"name": "E", "builtin": "Exception", "text": "", "frames": [FRAME]}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        ENCODE(GOOD)[:-1],
        ENCODE(GOOD) + b"\x00",
        ENCODE(GOOD) + ENCODE(GOOD),
        b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94.",
        b"\x93NUMPY\x01\x00",
        b"\x91" * 100_000,
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
        b"\x82\xa4name\xa1\xff\xa6result\x80",
        ENCODE([]),
        ENCODE({"name": "program", "other": 1}),
        ENCODE({"result": {}}),
        ENCODE({"name": 1}),
        ENCODE({"name": "program", "result": [1.0]}),
        ENCODE({"name": "program", "result": {1: 1.0}}),
        ENCODE({"name": "program", "result": {"x": b"bytes"}}),
        ENCODE({"name": "program", "result": {"x": [[[[1.0]]]]}}),
        ENCODE({"name": "program", "failure": {**FAILURE, "text": "x" * (codec.MAX_TEXT + 1)}}),
        ENCODE({"name": "program", "failure": {**FAILURE, "frames": [FRAME] * (codec.MAX_FRAMES + 1)}}),
        ENCODE({"name": "program", "failure": {**FAILURE, "frames": [{**FRAME, "line": None}]}}),
    ],
)
def test_bytes_that_are_no_reply_are_refused(data: bytes) -> None:
    with pytest.raises(BadMessage):
        codec.from_wire(codec.decode_reply(data).result or {})


@pytest.mark.parametrize(
    "value",
    [
        array(code=2),
        array("O"),
        array("f16"),
        array("U4"),
        array("<f8"),
        array("f8,f8", data=bytes(16)),
        array(shape=[-1]),
        array(shape=[-1, -1]),
        array(shape=[2]),
        array(shape=[2**62, 4]),
        array(shape=[1] * 17),
        array(shape=[1.0]),
        array(shape=[0, 2**40, 2**40], data=b""),
        array(shape=[2**63, 0], data=b""),
        array("b1", data=b"\x02"),
        array(data="eight by"),
        msgspec.msgpack.Ext(codec.ARRAY, b""),
        msgspec.msgpack.Ext(codec.ARRAY, ENCODE(["f8", [1], bytes(8), 0])),
        msgspec.msgpack.Ext(codec.ARRAY, ENCODE(["f8", [1], bytes(8)]) + b"\x00"),
    ],
)
def test_an_array_whose_parts_disagree_is_refused(value: Any) -> None:
    data = ENCODE({"name": "program", "result": {"x": [value]}})
    with pytest.raises(BadMessage):
        codec.from_wire(codec.decode_reply(data).result or {})


def test_of_two_equal_keys_the_last_counts() -> None:
    data = b"\x82\xa4name\xa1p\xa6result\x82\xa1x\x01\xa1x\x02"
    assert codec.decode_reply(data).result == {"x": 2}


@pytest.mark.parametrize("value", [b"\x90", b"\xa0", b"\xd4\x01\x00"])
def test_millions_of_small_values_are_refused_before_they_take_memory(value: bytes) -> None:
    count = codec.MAX_VALUES + 1
    many = b"\xdd" + struct.pack(">I", count) + value * count
    with pytest.raises(BadMessage, match="many numbers belong into an array"):
        codec.decode_reply(b"\x82\xa4name\xa1p\xa6result\x81\xa1x" + many)


def test_an_array_of_millions_of_numbers_is_one_value() -> None:
    numbers = np.arange(2.0 * codec.MAX_VALUES)
    assert same(across({"x": numbers, "text": "x" * 70_000})["x"], numbers)


def test_a_long_message_that_is_cut_off_is_refused() -> None:
    data = codec.encode(codec.Reply("program", codec.to_wire({"x": np.ones(codec.MAX_VALUES)})))
    for end in (len(data) - 1, codec.MAX_VALUES + 1):
        with pytest.raises(BadMessage):
            codec.decode_reply(data[:end])
    with pytest.raises(BadMessage, match="cut off"):
        codec.decode_reply(data + b"\xc6\xff")


def test_damaged_bytes_raise_nothing_but_bad_message() -> None:
    choose = random.Random(20_240_917)
    failure = codec.Failure("E", "Exception", "why", [codec.Frame("m.py", 1, "f", "x")])
    results = codec.to_wire({"x": [np.ones((2, 3)), 1, None], "y": {"z": "ü", "b": np.array([True, False])}})
    whole = codec.encode(codec.Reply("program", results, failure))
    refused = 0
    for _ in range(20_000):
        data = bytearray(whole)
        for _ in range(choose.randint(1, 4)):
            place = choose.randrange(len(data))
            change = choose.randrange(3)
            if change == 0:
                data[place] = choose.randrange(256)
            elif change == 1:
                del data[place : place + choose.randint(1, 8)]
            else:
                data[place:place] = choose.randbytes(choose.randint(1, 8))
        try:
            codec.from_wire(codec.decode_reply(bytes(data)).result or {})
        except BadMessage:
            refused += 1
    assert refused > 10_000


def test_a_call_arrives_with_its_inputs_and_a_bad_one_is_refused() -> None:
    call = codec.Call("run", "program", codec.to_wire({"x": 0.5}))
    assert codec.decode_call(codec.encode(call)) == call
    with pytest.raises(BadMessage):
        codec.decode_call(ENCODE({"kind": "delete", "name": "program"}))
