"""A student's kernels for public tests: compiled before the tests run, launched in the checked mode."""

from pathlib import Path
from typing import Any

from labkit import cuda
from labkit.check.expect import Broken
from labkit.cuda import blanks, compile, screen
from labkit.messages import Message

MODE = "check"


class NoCompiler(Exception):
    """Kernels can't be tried on this computer. That is nothing to mend in the lab."""


class UnwrittenKernel(Exception):
    """A kernel that a test needs still has its blank."""

    def __init__(self, kernel: str, file: str, line: int) -> None:
        super().__init__(kernel)
        self.kernel = kernel
        self.frame = {"file": file, "line": line, "function": kernel, "code": blanks.BLANK}


class Kernels:
    """The fixture `kernels`: one .cu file of a student's."""

    def __init__(self, file: Path, broken: set[str], uncompiled: set[str]) -> None:
        self._file, self._broken, self._uncompiled = file, broken, uncompiled

    def ready(self, *kernels: str) -> "cuda.RawModule":
        """The file in the checked mode, once it compiles and these kernels are written.

        Raises: Broken, NoCompiler, UnwrittenKernel.
        """
        name = self._file.name
        if name in self._broken:
            raise Broken(name)
        left = blanks.unwritten(self._file.read_text(encoding="utf-8"))
        for kernel in kernels:
            if kernel in left:
                raise UnwrittenKernel(kernel, name, left[kernel])
        if name in self._uncompiled:
            raise NoCompiler
        return cuda.RawModule(path=str(self._file), backend="cpu-check")


def compiled(name: str, folder: Path) -> dict[str, Any]:
    """Compile a .cu file as the tests need it; how that went, as plain data."""
    try:
        text = (folder / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return {"outcome": "crashed", "error": type(error).__name__, "text": str(error), "frames": []}
    for line, kind, what in screen.screen(text):
        return _uncompiled(Message(f"cuda.screen-{kind}", {"file": name, "line": line, "text": what}))
    try:
        compile.build_runtime()
        compile.build(text, name, MODE)
    except cuda.CompileError as error:
        if error.message.id in ("cuda.no-compiler", "cuda.no-system"):
            return {"outcome": "no-compiler"}  # what is compiled already would have needed none
        return _uncompiled(error.message)
    return {"outcome": "passed"}


def _uncompiled(message: Message) -> dict[str, Any]:
    return {"outcome": "uncompiled", "text": {language: message.text(language) for language in ("en", "zh")}}
