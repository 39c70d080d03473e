"""RawModule and its kernels, in CuPy's form, on the CPU or (gpu.py) on the GPU."""

import weakref
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from labkit.cuda import compile as compiler
from labkit.cuda import devices, screen
from labkit.cuda.arguments import LaunchError, check_arguments, check_shape, refuse
from labkit.cuda.arrays import Array, Storage
from labkit.cuda.gpu import GpuLibrary
from labkit.cuda.launcher import ORDERS, Library
from labkit.cuda.reports import Report, Reports
from labkit.messages import Message, both

# After these a thread has gone, and what it did not store is no mistake of its own.
_FATAL = {
    "out-of-bounds",
    "misaligned",
    "division-by-zero",
    "null-pointer",
    "stack-overflow",
    "timeout",
    "launch",
}


class RawModule:
    """The kernels of one file.

    code, path: the text, or the file that holds it.
    backend: "auto" (the GPU if CuPy can use one, else "cpu-check"), "gpu", "cpu" (fast), "cpu-check" (slower;
    finds races, accesses out of bounds and the other mistakes of reports.KINDS).
    name_expressions: the templates to instantiate, as in "mm<16>".
    order: in which order "cpu" runs the threads: forward, reverse or shuffled. A right kernel does not mind.
    Raises: CompileError, with the student's own line.
    """

    def __init__(
        self,
        code: str | None = None,
        path: str | Path | None = None,
        backend: str = "auto",
        name_expressions: Sequence[str] = (),
        *,
        order: str = "forward",
    ) -> None:
        if (code is None) == (path is None):
            raise TypeError(both("cuda.code-or-path"))
        text = str(code) if path is None else Path(path).read_text("utf-8")
        self.file = "kernels.cu" if path is None else Path(path).name
        self.backend = devices.choose(backend)
        _screen(text, self.file)
        self._texts = {kernel.name: kernel for kernel in screen.kernels(text)}
        self._reports = Reports()
        self._outputs: weakref.WeakSet[Storage] = weakref.WeakSet()
        self._library = self._load(text, tuple(name_expressions), ORDERS[ORDERS.index(order)])

    def _load(self, text: str, names: tuple[str, ...], order: str) -> Library | GpuLibrary:
        if self.backend == "gpu":
            return GpuLibrary(text, self.file, names)
        mode = "check" if self.backend == "cpu-check" else "fast"
        return Library(compiler.build(text, self.file, mode, names), self.file, mode, order)

    @property
    def reports(self) -> Reports:
        """What has been found so far, in all launches since the last `.reports.clear()`."""
        for storage in list(self._outputs):
            if storage.on_read:
                storage.on_read()
        return self._reports

    def get_function(self, name: str) -> "Kernel":
        """A kernel by its name, or by its name expression. Raises: LaunchError."""
        if name in self._library.names:
            return Kernel(self, name)
        known = self._texts.get(name)
        if known and known.is_template:
            error = refuse("template", kernel=name, file=self.file)
        else:
            error = refuse(
                "no-kernel", kernel=name, file=self.file, names=", ".join(self._library.names) or "-"
            )
        raise self._refused(name, error)

    def _refused(self, kernel: str, error: LaunchError) -> LaunchError:
        line = self._line(kernel)
        self._reports.add(Report("launch", "error", error.message, kernel, self.file, line))
        return error

    def _line(self, kernel: str) -> int:
        known = self._texts.get(kernel.partition("<")[0].strip())
        return known.line if known else 0

    def _names(self, kernel: str, count: int) -> list[str]:
        known = self._texts.get(kernel.partition("<")[0].strip())
        names = [parameter.name for parameter in known.parameters] if known else []
        return names if len(names) == count else [f"argument {i + 1}" for i in range(count)]

    def _launch(self, kernel: str, grid: Any, block: Any, given: Any, shared: int) -> None:
        library, parameters = self._library, self._library.parameters(kernel)
        names = self._names(kernel, len(parameters))
        try:
            sizes = check_shape(kernel, grid, block, shared, library.static_shared(kernel))
            arguments = check_arguments(kernel, given, parameters, names, library.arrays)
            found = library.launch(kernel, *sizes, arguments, names, shared)
        except LaunchError as error:
            raise self._refused(kernel, error) from None
        except MemoryError:
            raise self._refused(kernel, refuse("no-memory", kernel=kernel)) from None
        for report in found:
            self._reports.add(report)
        for argument, parameter, name in zip(arguments, parameters, names, strict=True):
            if isinstance(argument, Array) and not parameter.constant:
                self._stored_to(
                    argument.storage, kernel, name, bool(_FATAL & {report.kind for report in found})
                )

    def _stored_to(self, storage: Storage, kernel: str, name: str, ended_early: bool) -> None:
        """After a launch that could store: what it left out is told when somebody reads it."""
        if self.backend == "cpu":
            storage.written.fill(1)  # nobody saw which
        storage.on_read = None
        if not ended_early and not storage.written[: storage.elements.size].all():
            storage.on_read = partial(self._unwritten, weakref.ref(storage), kernel, name)
            self._outputs.add(storage)

    def _unwritten(self, reference: "weakref.ref[Storage]", kernel: str, name: str) -> None:
        storage = reference()
        if storage is None:
            return
        storage.on_read = None
        left = np.flatnonzero(storage.written[: storage.elements.size] != 1)
        first, size = int(left[0]), storage.elements.size
        said = Message(
            "cuda.unwritten-output", {"count": len(left), "size": size, "array": name, "element": first}
        )
        line = self._line(kernel)
        self._reports.add(
            Report(
                "unwritten-output",
                "error",
                said,
                kernel,
                self.file,
                line,
                element=first,
                count=len(left),
                identity=(name,),
            )
        )


def _screen(text: str, file: str) -> None:
    for line, kind, what in screen.screen(text):
        message = Message(f"cuda.screen-{kind}", {"file": file, "line": line, "text": what})
        raise compiler.CompileError(message, file, line)


class Kernel:
    """One kernel of a module: kernel(grid, block, (x, y, n))."""

    def __init__(self, module: RawModule, name: str) -> None:
        self.module, self.name = module, name

    @property
    def line(self) -> int:
        """Where it begins in the module's file; 0 if that is not known."""
        return self.module._line(self.name)

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...], *, shared_mem: int = 0
    ) -> None:
        """Launch it and wait for its end; a mistake in the kernel becomes a report, not an exception.

        grid, block: one to three whole numbers; shared_mem: bytes of `extern __shared__`.
        Raises: LaunchError for what CUDA would refuse, or would carry out with other bytes than were meant.
        """
        self.module._launch(self.name, grid, block, args, shared_mem)
