"""The same kernels on a GPU, through CuPy: compiled by NVRTC, launched with the same checks."""

import re
from collections.abc import Sequence
from typing import Any

from labkit.cuda import nvrtc, screen
from labkit.cuda.compile import CompileError
from labkit.cuda.devices import cupy
from labkit.cuda.launcher import Parameter, Value
from labkit.cuda.reports import Report
from labkit.messages import Message

_TYPES = {
    "float": ("f", 4),
    "double": ("f", 8),
    "bool": ("b", 1),
    "char": ("i", 1),
    "short": ("i", 2),
    "int": ("i", 4),
    "unsigned": ("u", 4),
    "unsigned int": ("u", 4),
    "unsigned char": ("u", 1),
    "long long": ("i", 8),
    "unsigned long long": ("u", 8),
    "size_t": ("u", 8),
    **{f"{sign}int{bits}_t": (sign or "i", bits // 8) for sign in ("u", "") for bits in (8, 16, 32, 64)},
}


class GpuLibrary:
    """A kernel file on the GPU, in the form of launcher.Library."""

    arrays: type

    def __init__(self, text: str, filename: str, names: Sequence[str]) -> None:
        self.arrays = cupy().ndarray
        self._kernels = {kernel.name: kernel for kernel in screen.kernels(text)}
        plain = [name for name, kernel in self._kernels.items() if not kernel.is_template]
        self.names = [*plain, *names]
        self._module = cupy().RawModule(
            code=nvrtc.prelude(text, filename),
            options=("-std=c++17",),
            name_expressions=tuple(names) or None,
        )
        try:
            self._module.compile()
        except cupy().cuda.compiler.CompileException as error:
            said = (nvrtc.errors(str(error)) or [str(error)])[0]
            line = re.match(r".*?:(\d+): ", said)
            message = Message("cuda.compile-error-elsewhere", {"file": filename, "text": said})
            raise CompileError(message, filename, int(line[1]) if line else None) from None

    def parameters(self, name: str) -> list[Parameter]:
        """A kernel's parameters as far as their words are known; others are left to CuPy ("?")."""
        return [_parameter(written) for written in self._kernels[name.partition("<")[0].strip()].parameters]

    def static_shared(self, name: str) -> int:
        """Bytes of the kernel's own shared arrays."""
        return int(self._module.get_function(name).shared_size_bytes)

    def launch(
        self,
        name: str,
        grid: Any,
        block: Any,
        arguments: Sequence[Any],
        names: Sequence[str],
        shared_mem: int,
    ) -> list[Report]:
        """Run a kernel, and wait for it; a GPU reports nothing."""
        given = tuple(argument.value if isinstance(argument, Value) else argument for argument in arguments)
        self._module.get_function(name)(grid, block, given, shared_mem=shared_mem)
        cupy().cuda.get_current_stream().synchronize()
        return []


def _parameter(written: screen.Parameter) -> Parameter:
    words = [word for word in written.type.split() if word != "const"]
    letter, size = _TYPES.get(" ".join(words), ("?", 0))
    return Parameter(letter, written.pointer, "const" in written.type.split(), size)
