"""Whether a launch is right, before it happens: nothing is converted silently, and CUDA's limits hold."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from labkit.cuda.arrays import Array
from labkit.cuda.launcher import LARGEST, SHARED_BYTES, SLOTS, Parameter, Value
from labkit.messages import Argument, Message, both

_MOST_ARRAYS = SLOTS - 1
_KINDS = {"f": "float", "i": "int", "u": "uint", "b": "bool"}


class LaunchError(Exception):
    """A launch that CUDA would refuse, or would carry out with other bytes than were meant."""

    def __init__(self, message: Message) -> None:
        self.message = message
        super().__init__(both(message.id, **message.arguments))


def refuse(problem: str, /, **arguments: Argument) -> LaunchError:
    """The error `cuda.launch-PROBLEM`."""
    return LaunchError(Message(f"cuda.launch-{problem}", arguments))


def check_shape(
    kernel: str, grid: Any, block: Any, shared: int, static_shared: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Grid and block as tuples of whole numbers, within CUDA's limits. Raises: LaunchError."""
    sizes = _whole(kernel, "grid", grid), _whole(kernel, "block", block)
    for size, most in zip(sizes[0], (2**31 - 1, 65535, 65535), strict=False):
        if not 1 <= size <= most:
            raise refuse("grid", kernel=kernel, given=str(sizes[0]))
    threads = 1
    for size, most in zip(sizes[1], (1024, 1024, 64), strict=False):
        threads *= size
        if not (1 <= size <= most and threads <= 1024):
            raise refuse("block", kernel=kernel, given=str(sizes[1]))
    if shared < 0 or shared + static_shared > SHARED_BYTES:
        raise refuse("shared", kernel=kernel, given=shared + static_shared)
    return sizes


def _whole(kernel: str, what: str, given: Any) -> tuple[int, ...]:
    try:
        sizes = tuple(operator.index(size) for size in given)
    except TypeError:
        sizes = ()
    if (
        not 1 <= len(sizes) <= 3
        or not isinstance(given, tuple | list)
        or any(isinstance(s, bool) for s in given)
    ):
        raise refuse("tuple", what=what, kernel=kernel, given=repr(given)[:80])
    return sizes


def check_arguments(
    kernel: str, given: Any, parameters: Sequence[Parameter], names: Sequence[str], arrays: Any = Array
) -> list[Any]:
    """The arguments as the launcher takes them, each an array of the device or a Value.

    arrays: the type of the device's arrays. Raises: LaunchError at the first that is wrong.
    """
    if not isinstance(given, tuple | list):
        raise refuse("arguments", kernel=kernel)
    if len(given) != len(parameters):
        raise refuse("count", kernel=kernel, wanted=len(parameters), given=len(given))
    made: list[Any] = []
    for number, (argument, parameter, name) in enumerate(zip(given, parameters, names, strict=True), 1):
        where: dict[str, Argument] = {"kernel": kernel, "number": number, "name": name}
        if parameter.pointer:
            made.append(_array(argument, parameter, where, arrays))
        else:
            made.append(_value(argument, parameter, where))
    if len({id(argument.storage) for argument in made if isinstance(argument, Array)}) > _MOST_ARRAYS:
        raise refuse("too-many-arrays", kernel=kernel, most=_MOST_ARRAYS)
    return made


def _array(given: Any, wanted: Parameter, where: dict[str, Argument], arrays: Any) -> Any:
    if isinstance(given, np.ndarray):
        raise refuse("host-array", **where)
    if not isinstance(given, arrays) and (
        isinstance(given, Array) or hasattr(given, "__cuda_array_interface__")
    ):
        raise refuse("other-device", given="CPU" if isinstance(given, Array) else "GPU", **where)
    if not isinstance(given, arrays):
        raise refuse("array-wanted", wanted=type_name(wanted), given=_described(given), **where)
    # A pointer to a structure (float4, complex) or to void may stand for any array.
    if wanted.letter in _KINDS and (given.dtype.kind, given.dtype.itemsize) != (wanted.letter, wanted.size):
        raise refuse("array-wanted", wanted=type_name(wanted), given=str(given.dtype), **where)
    if not given.flags.c_contiguous:
        raise refuse("not-contiguous", **where)
    if isinstance(given, Array) and given.storage.elements.nbytes > LARGEST:
        raise refuse("too-large", most=LARGEST >> 20, **where)
    return given


def _value(given: Any, wanted: Parameter, where: dict[str, Argument]) -> Value:
    if wanted.letter == "?":  # a type that only the GPU's compiler knows
        return Value(np.atleast_1d(given)[0])
    if wanted.letter == "s":
        raise refuse("structure", **where)
    dtype = np.dtype(f"{wanted.letter}{wanted.size}")
    if isinstance(given, np.generic):
        if given.dtype != dtype:
            raise refuse("value-wanted", wanted=type_name(wanted), given=str(given.dtype), **where)
        return Value(given)
    if type(given) is not {"f": float, "b": bool, "i": int, "u": int}[wanted.letter]:
        raise refuse("value-wanted", wanted=type_name(wanted), given=_described(given), **where)
    if isinstance(given, float) and wanted.size != 8:
        raise refuse("python-float", **where)
    if isinstance(given, int) and dtype.kind in "iu" and not _fits(given, dtype):
        raise refuse("range", wanted=type_name(wanted), given=str(given)[:40], **where)
    return Value(dtype.type(given))


def _fits(given: int, dtype: np.dtype[Any]) -> bool:
    limits = np.iinfo(dtype)
    return int(limits.min) <= given <= int(limits.max)


def type_name(parameter: Parameter) -> str:
    """NumPy's name of a parameter's type."""
    if parameter.letter == "b":
        return "bool"
    return f"{_KINDS.get(parameter.letter, '?')}{parameter.size * 8}"


def _described(given: Any) -> str:
    return (
        f"{type(given).__name__} {given!r}"[:60]
        if isinstance(given, int | float | str)
        else type(given).__name__
    )
