"""The wire between grader and worker: typed msgpack, no pickle, no objects, bounded depth.

Values are None, bool, int, float, str, ndarray, lists and string-keyed dicts of these. A dict of
results may nest four levels deep; the types below spell the levels out, so that a reply which nests
deeper, holds another type or lies about a length is refused while decoding.
"""

import math
import struct
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta

DTYPES = frozenset({"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"})
ARRAY = 1  # the only extension code
MAX_DEPTH = 4
MAX_DIMENSIONS = 16
MAX_NAME, MAX_TEXT, MAX_FRAMES = 200, 500, 12  # characters, characters, lines of a traceback
MAX_REPORTS = 32  # of a call of kernels
MAX_VALUES = 1 << 17  # of a message; an array is one. Unpacking so many takes the grader a fifth of a second

Name = Annotated[str, Meta(max_length=MAX_NAME)]
Text = Annotated[str, Meta(max_length=MAX_TEXT)]
Shape = Annotated[list[Annotated[int, Meta(ge=0)]], Meta(max_length=MAX_DIMENSIONS)]

Index = Annotated[list[int], Meta(max_length=3)]

Leaf = None | bool | int | float | str | msgspec.msgpack.Ext
Level3 = Leaf | list[Leaf] | dict[str, Leaf]
Level2 = Leaf | list[Level3] | dict[str, Level3]
Level1 = Leaf | list[Level2] | dict[str, Level2]
Wire = dict[str, Level1]


Mode = Literal["", "forward", "reverse", "shuffled", "checked"]


class BadMessage(ValueError):
    """Bytes that are no message of ours, or a value that may not cross."""


class Call(msgspec.Struct, forbid_unknown_fields=True):
    """From the grader: run a program with inputs, or import a module.

    `kernels`: how `lab.kernels` runs: fast with its threads in this order, or checked.
    """

    kind: Literal["run", "import"]
    name: str
    inputs: Wire = {}
    kernels: Mode = ""


class Frame(msgspec.Struct, forbid_unknown_fields=True):
    """A line of the student's own code on the way to an exception."""

    file: Name
    line: int
    function: Name
    text: Text


class Failure(msgspec.Struct, forbid_unknown_fields=True):
    """An exception: its class, the nearest built-in one, its words, the student's frames (innermost last)."""

    name: Name
    builtin: Name
    text: Text
    frames: Annotated[list[Frame], Meta(max_length=MAX_FRAMES)]


class Report(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A mistake that the checked mode saw in a kernel, the first time, and how often; a line of 0: none.

    `text`: what it is, "English / 中文".
    """

    kind: Name
    severity: Literal["error", "warning"]
    kernel: Name
    file: Name
    line: int
    thread: Index | None
    block: Index | None
    element: int | None
    count: int
    text: Text


class Reply(msgspec.Struct, forbid_unknown_fields=True):
    """From the worker: either a result or a failure; `reports`: of kernels in checked mode."""

    name: str
    result: Wire | None = None
    failure: Failure | None = None
    reports: Annotated[list[Report], Meta(max_length=MAX_REPORTS)] = []


class _ArrayHead(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    dtype: str
    shape: Shape
    data: bytes


_encoder = msgspec.msgpack.Encoder()
_call_decoder = msgspec.msgpack.Decoder(Call)
_reply_decoder = msgspec.msgpack.Decoder(Reply)
_array_decoder = msgspec.msgpack.Decoder(_ArrayHead)


def encode(message: Call | Reply) -> bytes:
    """The bytes of a message.

    Raises: BadMessage for an integer beyond 64 bits or a text that is not Unicode.
    """
    try:
        return _encoder.encode(message)
    except (OverflowError, UnicodeEncodeError) as error:
        raise BadMessage(str(error)) from None


def decode_call(data: bytes) -> Call:
    """A call from its bytes. Raises: BadMessage."""
    call: Call = _decode(_call_decoder, data)
    return call


def decode_reply(data: bytes) -> Reply:
    """A reply from its bytes. Raises: BadMessage."""
    reply: Reply = _decode(_reply_decoder, data)
    return reply


def _decode(decoder: Any, data: bytes) -> Any:
    if len(data) > MAX_VALUES:
        _count(data)
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadMessage(str(error)) from None


# A value's bytes by its first byte: those of fixed size, and those that begin with a length of so many bytes.
_SIZES = [1] * 256
_SIZES[0xA0:0xC0] = range(1, 33)
_SIZES[0xCA:0xD9] = (5, 9, 2, 3, 5, 9, 2, 3, 5, 9, 3, 4, 6, 10, 18)
_SIZES[0xDC:0xE0] = (3, 5, 3, 5)
_LENGTHS = {
    first + index: (form, 1 + width + extra)
    for first, extra in ((0xC4, 0), (0xC7, 1), (0xD9, 0))  # bytes, extension, text
    for index, (form, width) in enumerate(((">B", 1), (">H", 2), (">I", 4)))
}


def _count(data: bytes) -> None:
    """Refuse a long message of many small values: a byte that says "empty list" takes 64 in memory."""
    place = values = 0
    try:
        while place < len(data):
            first = data[place]
            if first in _LENGTHS:
                form, head = _LENGTHS[first]
                place += head + int(struct.unpack_from(form, data, place + 1)[0])
            else:
                place += _SIZES[first]
            values += 1
            if values > MAX_VALUES:
                raise BadMessage(f"more than {MAX_VALUES} values; many numbers belong into an array")
    except struct.error:
        raise BadMessage("the message is cut off") from None


def to_wire(values: dict[str, Any]) -> Wire:
    """Python and NumPy values as what the wire carries.

    float, np.float64 and 0-d float64 arrays are one kind, the scalar.
    Raises: BadMessage naming the first value that may not cross, by its path.
    """
    if type(values) is not dict:
        raise BadMessage(f"expected a dict of results, got {type(values).__name__}")
    return {_key(name, "result"): _to_wire(value, name, MAX_DEPTH - 1) for name, value in values.items()}


def _key(name: Any, path: str) -> str:
    if type(name) is not str:
        raise BadMessage(f"{path}: keys must be str, got {type(name).__name__}")
    return name


def _to_wire(value: Any, path: str, depth: int) -> Any:
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is np.float64:
        return float(value)
    if kind is np.bool_:
        return bool(value)
    if kind is np.ndarray or issubclass(kind, np.generic):
        return _array_to_wire(np.asarray(value), path)
    if kind in (list, tuple) and depth:
        return [_to_wire(item, f"{path}[{index}]", depth - 1) for index, item in enumerate(value)]
    if kind is dict and depth:
        return {_key(name, path): _to_wire(item, f"{path}.{name}", depth - 1) for name, item in value.items()}
    if kind in (list, tuple, dict):
        raise BadMessage(f"{path}: nested more than {MAX_DEPTH} deep")
    raise BadMessage(f"{path}: expected a number, an array or a text, got {kind.__name__}")


def _array_to_wire(array: np.ndarray, path: str) -> Any:
    if array.dtype.str[1:] not in DTYPES or array.ndim > MAX_DIMENSIONS:
        raise BadMessage(f"{path}: arrays of dtype {array.dtype} are not accepted")
    little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    if array.ndim == 0 and little.dtype == np.float64:
        return float(little)
    head = _ArrayHead(little.dtype.str[1:], list(array.shape), little.tobytes())
    return msgspec.msgpack.Ext(ARRAY, _encoder.encode(head))


def from_wire(values: Wire) -> dict[str, Any]:
    """Wire values as Python and NumPy values; arrays are read-only.

    Raises: BadMessage for an array whose bytes, shape and dtype disagree.
    """
    return {name: _from_wire(value, name) for name, value in values.items()}


def _from_wire(value: Any, path: str) -> Any:
    if type(value) is msgspec.msgpack.Ext:
        return _array_from_wire(value, path)
    if type(value) is list:
        return [_from_wire(item, f"{path}[{index}]") for index, item in enumerate(value)]
    if type(value) is dict:
        return {name: _from_wire(item, f"{path}.{name}") for name, item in value.items()}
    return value


def _array_from_wire(value: msgspec.msgpack.Ext, path: str) -> np.ndarray:
    if value.code != ARRAY:
        raise BadMessage(f"{path}: unknown kind of value")
    head: _ArrayHead = _decode(_array_decoder, bytes(value.data))
    if head.dtype not in DTYPES:
        raise BadMessage(f"{path}: not an array")
    dtype = np.dtype("<" + head.dtype)
    if math.prod(head.shape) * dtype.itemsize != len(head.data):
        raise BadMessage(f"{path}: {len(head.data)} bytes are no {head.dtype} array of shape {head.shape}")
    if dtype.kind == "b" and np.frombuffer(head.data, np.uint8).max(initial=0) > 1:
        raise BadMessage(f"{path}: a bool is 0 or 1")
    try:
        return np.frombuffer(head.data, dtype).reshape(head.shape)
    except (ValueError, OverflowError) as error:  # [0, 2**40, 2**40] has the right product
        raise BadMessage(f"{path}: {error}") from None
