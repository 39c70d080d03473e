"""What NVIDIA's own compiler says of a kernel file: NVRTC from its wheel, no GPU and no driver needed."""

import ctypes as C
import functools
import importlib.metadata
import re
from collections.abc import Sequence

from labkit.cuda.compile import RUNTIME

PACKAGES = ("nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc")
# CuPy's options; sm_75 runs the assembler too, so that too much shared memory is an error.
OPTIONS = ("-arch=sm_75", "-std=c++17", "--device-as-default-execution-space")
_LIBRARY = re.compile(r"(libnvrtc\.so\.\d+|nvrtc64_\d+_\d+\.dll)$")


def prelude(text: str, filename: str) -> str:
    """The text as NVIDIA's compilers get it, from CuPy too; lines are the student's own."""
    return f'{(RUNTIME / "prelude.h").read_text("utf-8")}#line 1 "{filename}"\n{text}'


def version() -> str | None:
    """The version of the installed wheel, None without one."""
    return next((found.version for found in _distributions()), None)


def check(text: str, filename: str = "kernels.cu", names: Sequence[str] = ()) -> list[str] | None:
    """NVRTC's errors, each "kernels.cu:LINE: text"; [] if it takes the file, None if it is not installed.

    names: the templates to instantiate, as in "mm<16>".
    """
    library = _library()
    if library is None:
        return None
    program = C.c_void_p()
    library.nvrtcCreateProgram(
        C.byref(program), prelude(text, filename).encode(), filename.encode(), 0, None, None
    )
    try:
        for name in names:
            library.nvrtcAddNameExpression(program, name.encode())
        options = (C.c_char_p * len(OPTIONS))(*(option.encode() for option in OPTIONS))
        failed = library.nvrtcCompileProgram(program, len(OPTIONS), options)
        size = C.c_size_t()
        library.nvrtcGetProgramLogSize(program, C.byref(size))
        log = C.create_string_buffer(size.value or 1)
        library.nvrtcGetProgramLog(program, log)
    finally:
        library.nvrtcDestroyProgram(C.byref(program))
    said = log.value.decode(errors="replace")
    return (errors(said) or [said.strip() or filename]) if failed else []


def errors(said: str) -> list[str]:
    """The errors in what NVRTC or nvcc printed, in the form of other compilers."""
    found = re.findall(r"^(\S+)\((\d+)\): (?:catastrophic )?error:? *(.*)$", said, re.MULTILINE)
    plain = re.findall(r"^(?:ptxas|nvrtc|nvcc)[^\n]*\berror\b[^\n]*$", said, re.MULTILINE)
    return [f"{file}:{line}: {text}" for file, line, text in found] + plain


def _distributions() -> list[importlib.metadata.Distribution]:
    found = []
    for package in PACKAGES:
        try:
            found.append(importlib.metadata.distribution(package))
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


@functools.cache
def _library() -> C.CDLL | None:
    for distribution in _distributions():
        for file in distribution.files or ():
            if _LIBRARY.search(file.name):
                return C.CDLL(str(file.locate()))
    return None
