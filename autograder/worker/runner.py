"""Beside the student's code: import the modules, run the named programs, answer with numbers.

Nothing here is secret and nothing here decides: a student's code shares this process. The grader
believes the kernel about how the process ended and compares the numbers itself.
"""

import contextlib
import importlib
import linecache
import os
import socket
import struct
import sys
import traceback
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from . import codec
from .cells import Cells

if TYPE_CHECKING:  # most labs have none
    from .launch import Kernels

RESERVE = 4 << 20  # bytes of address space kept back, to say so when a student's code has taken all the rest
PIECE = 4096


class Lab:
    """What a program gets as `lab`: the student's modules, each imported when first asked for.

    `kernels`: the student's kernels, loaded, in a worker of kernels alone; there are no modules there.
    """

    def __init__(
        self, modules: list[str], kernels: "Kernels | None" = None, cells: Cells | None = None
    ) -> None:
        self._modules, self._kernels, self._cells = modules, kernels, cells

    def cell(self, id: str, number: int) -> Any:
        """The names that the student's cell `id` defines, for a student of this number, 0 to 15."""
        if self._cells is None:
            raise AttributeError("this lab has no notebook that is graded")
        return self._cells.run(id, number)

    @property
    def kernels(self) -> Any:
        """The compiled kernels, as the call wants them run."""
        if self._kernels is None:
            raise AttributeError("this check has no kernels: its task's file is not a .cu file alone")
        return self._kernels.module

    def __getattr__(self, name: str) -> Any:
        if name not in self._modules:
            raise AttributeError(f"this lab has no module {name}")
        return importlib.import_module(name)


def serve(
    channel: socket.socket,
    folder: str,
    modules: list[str],
    programs: dict[str, Any],
    kernels: "Kernels | None" = None,
    cells: Cells | None = None,
) -> None:
    """Answer calls until the grader closes the channel. A frame is four bytes of length, then the message."""
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    os.chdir(folder)
    lab = Lab(modules, kernels, cells)
    streams = (sys.stdout, sys.stderr)  # a student may put others in their place
    reserve = _reserve()
    while True:
        name = ""
        try:
            data = _receive(channel)
            if data is None:
                return
            call = codec.decode_call(data)
            name = call.name
            frame = _framed(codec.encode(_answer(call, lab, programs, kernels)))
        except SystemExit:
            raise
        except BaseException as error:
            del reserve
            frame = _framed(_failure(name, error, folder))
            reserve = _reserve()
        finally:
            _flush(streams)
        channel.sendall(frame)
        if not name:  # the rest of what could not be read would look like further calls
            while channel.recv(PIECE):
                pass
            return


def _answer(call: codec.Call, lab: Lab, programs: dict[str, Any], kernels: "Kernels | None") -> codec.Reply:
    if kernels:
        kernels.begin(call.kernels)
    if call.kind == "import":
        importlib.import_module(call.name)
        return codec.Reply(call.name, {})
    result = programs[call.name](lab, **_writable(codec.from_wire(call.inputs)))
    numbers = codec.to_wire(result)  # what it reads back from a device may make a report
    return codec.Reply(call.name, numbers, reports=kernels.reports() if kernels else [])


def _reserve() -> np.ndarray | None:
    """Memory to be let go when a student's code has taken all the rest; none if it keeps all the rest."""
    with contextlib.suppress(MemoryError):
        return np.empty(RESERVE, np.uint8)
    return None


def _framed(message: bytes) -> bytes:
    return struct.pack("<I", len(message)) + message


def _receive(channel: socket.socket) -> bytes | None:
    head = _read(channel, 4)
    return None if head is None else _read(channel, *struct.unpack("<I", head))


def _read(channel: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        piece = channel.recv(size - len(data))
        if not piece:
            return None
        data += piece
    return bytes(data)


def _writable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _writable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_writable(item) for item in value]
    return value.copy() if hasattr(value, "dtype") else value


def _flush(streams: tuple[Any, ...]) -> None:
    for stream in streams:
        with contextlib.suppress(Exception):  # a student may have closed it
            stream.flush()


def _failure(call: str, error: BaseException, folder: str) -> bytes:
    """The reply that tells of an exception, whatever its class does to those who look at it."""
    try:
        if isinstance(error, MemoryError):
            traceback.clear_frames(error.__traceback__)  # what its frames hold may be all the memory
        builtin = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
        name = _plain(type(error).__name__, codec.MAX_NAME)
        failure = codec.Failure(name, builtin, _words(error), _frames(error, folder))
        return codec.encode(codec.Reply(call, failure=failure))
    except BaseException:
        nameless = codec.Failure("Exception", "Exception", "(no message)", [])
        return codec.encode(codec.Reply(call, failure=nameless))


def _words(error: BaseException) -> str:
    try:
        return _plain(str(error), codec.MAX_TEXT)
    except BaseException:  # a student's own __str__ may do anything
        return "(no message)"


def _plain(text: str, length: int) -> str:
    """The beginning of a text, without what is no Unicode."""
    return text[:length].encode("utf-8", "replace").decode()


def _frames(error: BaseException, folder: str) -> list[codec.Frame]:
    """The student's own lines, innermost last; for a syntax error the line that could not be read."""
    found: deque[tuple[str, int, str]] = deque(maxlen=codec.MAX_FRAMES)
    step = error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if file.startswith(folder + "/"):
            found.append((file, step.tb_lineno or 0, step.tb_frame.f_code.co_qualname))
        step = step.tb_next
    if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(folder + "/"):
        found.append((error.filename, error.lineno or 0, "<module>"))
    return [
        codec.Frame(
            _plain(file[len(folder) + 1 :], codec.MAX_NAME),
            line,
            _plain(name, codec.MAX_NAME),
            _plain(linecache.getline(file, line).strip(), codec.MAX_TEXT),
        )
        for file, line, name in found
    ]
