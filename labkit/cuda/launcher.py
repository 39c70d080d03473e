"""Loads compiled kernels and launches them on the CPU, through the runtime in runtime/."""

import ctypes as C
import json
import sys
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from labkit.cuda import compile as compiler
from labkit.cuda.arrays import Array
from labkit.cuda.reports import KINDS, Index, Report
from labkit.messages import Argument, Message

SLOTS, SLOT_BYTES = 24, 256 << 20
STACK_BYTES = 1024 * (256 << 10)
ARENA_BYTES = SLOTS * SLOT_BYTES + STACK_BYTES  # of address space; memory is used only for what is passed
LARGEST = SLOT_BYTES // 2 - (1 << 16)  # bytes of one array
SHARED_BYTES = 49152
SECONDS = 10.0  # of CPU time, for one launch
ORDERS = ("forward", "reverse", "shuffled")
_IS_LINE = 0x80000000


class _Parameter(C.Structure):
    _fields_ = [("type", C.c_char), ("pointer", C.c_char), ("size", C.c_uint)]


class _Entry(C.Structure):
    _fields_ = [
        ("name", C.c_char_p),
        ("call", C.c_void_p),
        ("parameters", C.POINTER(_Parameter)),
        ("count", C.c_int),
    ]


class _Report(C.Structure):
    _fields_ = [
        ("kind", C.c_int32),
        ("severity", C.c_int32),
        ("site", C.c_uint32),
        ("other_site", C.c_uint32),
        ("thread", C.c_int32),
        ("other_thread", C.c_int32),
        ("block", C.c_uint64),
        ("other_block", C.c_uint64),
        ("element", C.c_int64),
        ("size", C.c_int64),
        ("number", C.c_int64),
        ("of", C.c_int64),
        ("count", C.c_int64),
        ("array", C.c_char * 64),
    ]


class _Memory(C.Structure):
    _fields_ = [
        ("start", C.c_void_p),
        ("bytes", C.c_size_t),
        ("unit", C.c_uint32),
        ("grain", C.c_uint32),
        ("written", C.c_void_p),
        ("cells", C.c_void_p),
        ("room", C.c_size_t),
        ("name", C.c_char * 64),
        ("constant", C.c_int32),
        ("shared", C.c_int32),
    ]


class _Buffer(C.Structure):
    _fields_ = [
        ("host", C.c_void_p),
        ("bytes", C.c_size_t),
        ("unit", C.c_uint32),
        ("constant", C.c_int32),
        ("written", C.c_void_p),
        ("name", C.c_char * 64),
    ]


class _Launch(C.Structure):
    _fields_ = [
        ("call", C.c_void_p),
        ("arguments", C.c_void_p),
        ("grid", C.c_uint * 3),
        ("block", C.c_uint * 3),
        ("dynamic_shared", C.c_size_t),
        ("check", C.c_int32),
        ("order", C.c_int32),
        ("seed", C.c_uint),
        ("seconds", C.c_double),
        ("base", C.c_void_p),
        ("end", C.c_void_p),
        ("variables", C.POINTER(_Memory)),
        ("variable_count", C.c_int32),
        ("buffer_count", C.c_int32),
        ("buffers", C.POINTER(_Buffer)),
    ]


class _Information(C.Structure):  # Dl_info
    _fields_ = [
        ("file", C.c_char_p),
        ("base", C.c_void_p),
        ("symbol", C.c_char_p),
        ("address", C.c_void_p),
    ]


@dataclass(frozen=True)
class Parameter:
    """A parameter as compiled. letter: f(loat) i(nteger) u(nsigned) b(ool) s(tructure)."""

    letter: str
    pointer: bool
    constant: bool
    size: int


@dataclass(frozen=True)
class Value:
    """An argument that is one number, in the kernel's own type."""

    value: np.generic


_runtime: C.CDLL | None = None
# The system loads a file once however often it is asked: path -> offset -> what a variable held at first.
_first_values: dict[str, dict[int, bytes]] = {}


def runtime() -> C.CDLL:
    """The runtime, loaded once a process: kernels find its names in it. Raises: CompileError."""
    global _runtime
    if _runtime is None:
        loaded = C.CDLL(str(compiler.build_runtime()), mode=C.RTLD_GLOBAL)
        loaded.host_address.restype = C.c_void_p
        loaded.host_address.argtypes = [C.c_int, C.c_size_t]
        loaded.host_reports.restype = C.POINTER(_Report)
        loaded.host_printed.restype = C.c_void_p
        loaded.host_launch.argtypes = [C.POINTER(_Launch)]
        loaded.host_forget.argtypes = [C.POINTER(_Memory), C.c_int]
        if not loaded.host_reserve():
            raise MemoryError(f"{SLOTS * SLOT_BYTES >> 20} MiB of address space can't be reserved")
        _runtime = loaded
    return _runtime


class Library:
    """A compiled kernel file, loaded: its kernels, its variables, and the line of every address."""

    arrays = Array  # what a kernel takes for a pointer

    def __init__(self, path: Path, filename: str, mode: str, order: str) -> None:
        self.filename, self.mode, self.order = filename, mode, order
        self._runtime = runtime()
        loaded = C.CDLL(str(path))
        self._loaded = loaded
        table = C.addressof(C.c_char.in_dll(loaded, "cu_table"))
        self._base = _base(loaded)
        self._entries = _entries(table)
        tables = json.loads(path.with_suffix(".json").read_text("utf-8"))
        self._offsets = [offset for offset, _ in tables["lines"]]
        self._lines = [line for _, line in tables["lines"]]
        self._variables = tables["variables"]
        self._end = self._base + max([*self._offsets, 0]) + 4096
        self._memories: dict[str, Any] = {}
        self._written: list[Any] = []
        self._values: list[tuple[int, int, bytes]] = []  # address, size and value of what outlives a launch
        first_values = _first_values.setdefault(str(path), {})
        for offset, size, _, shared in self._variables:
            if not shared:
                value = first_values.setdefault(offset, C.string_at(self._base + offset, size))
                self._values.append((self._base + offset, size, value))

    def __del__(self) -> None:
        for memories in getattr(self, "_memories", {}).values():
            self._runtime.host_forget(memories, len(memories))

    @property
    def names(self) -> list[str]:
        """Of all kernels that can be launched."""
        return list(self._entries)

    def parameters(self, name: str) -> list[Parameter]:
        """A kernel's parameters, as its compiler understood them."""
        entry = self._entries[name]
        return [
            Parameter(p.type.decode(), p.pointer != b"\0", p.pointer == b"c", p.size)
            for p in entry.parameters[: entry.count]
        ]

    def static_shared(self, name: str) -> int:
        """Bytes of the shared arrays that stand in a kernel itself."""
        return sum(size for _, size, _, _ in self._owned(name))

    def _owned(self, kernel: str) -> list[Any]:
        """The shared arrays that stand in a kernel itself."""
        short = kernel.replace(" ", "")
        return [
            variable
            for variable in self._variables
            if variable[3]
            and variable[2].replace(" ", "").removeprefix("void").startswith((f"{short}(", f"{short}::"))
        ]

    def _reachable(self, kernel: str) -> Any:
        """All variables but the arrays of other kernels: who comes there has left an array of its own."""
        if kernel not in self._memories:
            foreign = [variable for name in self.names if name != kernel for variable in self._owned(name)]
            variables = [variable for variable in self._variables if variable not in foreign]
            self._memories[kernel] = memories = (_Memory * len(variables))()
            for memory, (offset, size, name, shared) in zip(memories, variables, strict=True):
                memory.start, memory.bytes, memory.shared = self._base + offset, size, shared
                memory.name = name.rpartition("::")[2].encode()[:63]
                if shared:
                    self._written.append(C.create_string_buffer(size // 4 + 1))
                    memory.written = C.addressof(self._written[-1])
        return self._memories[kernel]

    def launch(
        self,
        name: str,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[Array | Value],
        names: Sequence[str],
        shared_mem: int,
    ) -> list[Report]:
        """Run a kernel to its end, and say what was found. Everything has been checked before.

        names: of the arrays, for reports. Raises: MemoryError.
        """
        buffers, addresses, kept = self._place(self.parameters(name), arguments, names)
        pointers = (C.c_void_p * max(1, len(addresses)))(*addresses)
        variables = self._reachable(name)
        what = _Launch(
            call=self._entries[name].call,
            arguments=C.addressof(pointers),
            grid=(C.c_uint * 3)(*grid, *[1] * (3 - len(grid))),
            block=(C.c_uint * 3)(*block, *[1] * (3 - len(block))),
            dynamic_shared=shared_mem,
            check=self.mode == "check",
            order=ORDERS.index(self.order),
            seed=1,
            seconds=SECONDS,
            base=self._base,
            end=self._end,
            variables=variables,
            variable_count=len(variables),
            buffer_count=len(buffers),
            buffers=buffers,
        )
        for address, size, value in self._values:
            C.memmove(address, value, size)
        if self._runtime.host_launch(C.byref(what)):
            raise MemoryError
        self._values = [(address, size, C.string_at(address, size)) for address, size, _ in self._values]
        del kept
        self._print()
        return self._reports(name, what)

    def _place(
        self, parameters: Sequence[Parameter], arguments: Sequence[Array | Value], names: Sequence[str]
    ) -> tuple[Any, list[int], list[Any]]:
        """The buffers of a launch, the address of each argument, and what must live as long."""
        slot_of: dict[int, int] = {}
        made: list[_Buffer] = []
        addresses: list[int] = []
        kept: list[Any] = []
        for parameter, argument, name in zip(parameters, arguments, names, strict=True):
            if isinstance(argument, Value):
                value = C.create_string_buffer(argument.value.tobytes(), 8)
            else:
                storage = argument.storage
                slot = slot_of.setdefault(id(storage), len(made))
                if slot == len(made):
                    elements = storage.elements
                    made.append(
                        _Buffer(
                            host=elements.ctypes.data,
                            bytes=elements.nbytes,
                            unit=elements.itemsize,
                            constant=1,
                            written=storage.written.ctypes.data,
                            name=name.encode()[:63],
                        )
                    )
                made[slot].constant &= parameter.constant
                start = self._runtime.host_address(slot, made[slot].bytes)
                value = C.create_string_buffer((start + argument.offset).to_bytes(8, "little"), 8)
            kept.append(value)
            addresses.append(C.addressof(value))
        return (_Buffer * max(1, len(made)))(*made), addresses, kept

    def _print(self) -> None:
        size = C.c_size_t()
        start = self._runtime.host_printed(C.byref(size))
        if size.value:
            sys.stdout.write(C.string_at(start, size.value).decode(errors="replace"))

    def _reports(self, kernel: str, what: _Launch) -> list[Report]:
        number = C.c_int()
        found = self._runtime.host_reports(C.byref(number))
        return [self._report(kernel, found[i], what) for i in range(number.value)]

    def _report(self, kernel: str, raw: _Report, what: _Launch) -> Report:
        kind = KINDS[raw.kind]
        array = raw.array.decode(errors="replace").replace("const ", "").replace("struct ", "")
        line, other_line = self._line(raw.site), self._line(raw.other_site)
        arguments: dict[str, Argument] = {
            "array": array,
            "element": raw.element,
            "size": raw.size,
            "number": raw.number,
            "of": raw.of,
            "seconds": f"{what.seconds:g}",
            "other_line": other_line,
        }
        thread, block = _index(raw.thread, what.block), _index(raw.block, what.grid)
        arguments |= {"thread": _said(thread), "block": _said(block)}
        arguments["other"] = _said(_index(raw.other_thread, what.block))
        arguments["other_block"] = _said(_index(raw.other_block, what.grid))
        return Report(
            kind=kind,
            severity="error" if raw.severity else "warning",
            kernel=kernel,
            file=self.filename,
            line=line,
            thread=thread,
            block=block if thread else None,
            element=raw.element if array and not array.startswith("@") and kind != "misaligned" else None,
            count=raw.count,
            said=Message(f"cuda.{_message(kind, raw, array)}", arguments),
            identity=(array, *sorted((line, other_line))),
        )

    def _line(self, site: int) -> int:
        """The student's line of a place in the code; 0 if there is none."""
        if site & _IS_LINE:
            return site & ~_IS_LINE
        # A return address: the call stands before it. Code of our headers belongs to the line before.
        at = bisect_right(self._offsets, site - 1) - 1 if site else -1
        while at >= 0 and not self._lines[at]:
            at -= 1
        return self._lines[at] if at >= 0 else 0


def _message(kind: str, raw: _Report, array: str) -> str:
    if kind == "race" and not raw.severity:
        return "race-cas" if raw.number else "race-same-value"
    if kind == "out-of-bounds" and array.startswith("@"):
        return f"out-of-bounds-{array[1:]}"
    if kind == "out-of-bounds" and array.startswith("'"):
        return "out-of-bounds-type"
    return "assertion" if kind == "launch" else kind


def _base(loaded: C.CDLL) -> int:
    """Where the library lies in memory."""
    information = _Information()
    find = C.CDLL(None).dladdr
    find.argtypes = [C.c_void_p, C.POINTER(_Information)]
    find(C.addressof(C.c_char.in_dll(loaded, "cu_table")), C.byref(information))
    return int(information.base)


def _entries(table: int) -> dict[str, _Entry]:
    found: dict[str, _Entry] = {}
    while True:
        entry = _Entry.from_address(table + len(found) * C.sizeof(_Entry))
        if entry.name is None:
            return found
        found[entry.name.decode()] = entry


def _index(number: int, sizes: Sequence[int]) -> Index | None:
    if number < 0:
        return None
    return number % sizes[0], number // sizes[0] % sizes[1], number // sizes[0] // sizes[1]


def _said(index: Index | None) -> str:
    return "({},{},{})".format(*index) if index else "?"
