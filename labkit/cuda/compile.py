"""kernels.cu to a shared library: what is compiled, by what, and the cache in which results are kept.

A library KEY.so has a file KEY.json beside it: the variables and lines that the runtime and reports need. The
key depends on the text and not on the compiler: a library in the cache can be used where there is none.
"""

import functools
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from labkit.cuda import screen
from labkit.messages import Message, both

RUNTIME = Path(__file__).parent / "runtime"
MODES = ("fast", "check")
OLDEST = {"g++": 11, "clang++": 14}
COMPILE_S = 60.0
TOLD = 8 << 20  # bytes that a tool may tell of a library
_FORMAT = "2"  # of the cache: changes with what is beside a library, and with a compiler's own options
_COMMON = (
    "-std=gnu++17 -fPIC -pipe -fvisibility=hidden -ffp-contract=off -fno-exceptions -fno-rtti "
    "-fno-stack-protector -fno-finite-loops -fstack-clash-protection -fno-omit-frame-pointer -gdwarf-4 -x c++"
).split()
_MODE = {
    "fast": ["-O2"],
    "check": "-O1 -DCU_CHECK -fsanitize=thread,alignment,null,integer-divide-by-zero".split(),
}
# Without the second, clang hooks only the store of `s[t] += …`, and a read of what nobody stored goes unseen.
_CLANG_CHECK = ["-fsanitize=array-bounds", "-mllvm", "-tsan-instrument-read-before-write=1"]
# An array whose length is no constant is C, not CUDA C++. (-w would silence even this error.)
_GCC = ["-fno-gnu-unique", "-Werror=vla"]
_CLANG = ["-Wno-everything", "-Werror=vla"]
_LINK = {"fast": [], "check": [f"-Wl,--wrap={name}" for name in ("memcpy", "memmove", "memset")]}
_SYMBOL = re.compile(r"([0-9a-f]{16}) ([0-9a-f]{16}) [bBdD] (.+)")
_ROW = re.compile(r"(\S.*?)\s+(\d+)\s+(0x[0-9a-f]+|0)\b")


class CompileError(Exception):
    """A kernel file that does not compile, or no compiler to do it; `line` is the student's own, or None."""

    def __init__(self, message: Message, file: str = "", line: int | None = None) -> None:
        self.message, self.file, self.line = message, file, line
        super().__init__(both(message.id, **message.arguments))


def works_here() -> bool:
    """Whether this is a system on which kernels can run on the CPU: Linux (WSL too) on x86-64."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


@functools.cache
def compiler() -> str | None:
    """The C++ compiler to use: $ADKIT_CXX, or the first of g++ and clang++ that is new enough."""
    if not works_here():
        return None
    if chosen := os.environ.get("ADKIT_CXX"):
        return shutil.which(chosen)
    return next((name for name in OLDEST if shutil.which(name) and version(name) >= OLDEST[name]), None)


def version(name: str) -> int:
    """The major version of a compiler, 0 if it can't be run."""
    try:
        said = subprocess.run(
            [name, "-dumpversion"], capture_output=True, encoding="utf-8", errors="replace", timeout=10
        ).stdout
        return int(said.split(".")[0])
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return 0


def cache() -> Path:
    """The folder of compiled kernels: $ADKIT_CUDA_CACHE, or ~/.cache/adkit/cuda. Raises: CompileError."""
    if chosen := os.environ.get("ADKIT_CUDA_CACHE"):
        return Path(chosen)
    try:
        return Path.home() / ".cache" / "adkit" / "cuda"
    except RuntimeError:  # nobody's home, as in a grader's worker
        raise CompileError(Message("cuda.no-compiler")) from None


def unit(text: str, filename: str = "kernels.cu", names: Sequence[str] = ()) -> str:
    """The C++ text that is compiled for a kernel file: ours, the student's, the launch table.

    names: the templates to instantiate, as in "mm<16>".
    """
    plain = [kernel.name for kernel in screen.kernels(text) if not kernel.is_template]
    entries = "\n".join(f'CU_ENTRY("{name}", {name})' for name in [*plain, *names])
    return (
        f'#include "language.h"\n#line 1 "{filename}"\n{screen.rewrite(text)}\n#line 1 "launch table"\n'
        '#include "table.h"\nextern "C" __attribute__((visibility("default"))) const CuEntry cu_table[] = {\n'
        f"{entries}\n{{nullptr, nullptr, nullptr, 0}}}};\n"
    )


def key(text: str, filename: str, mode: str, names: Sequence[str] = ()) -> str:
    """The name in the cache of what `text` compiles to."""
    return _digest(_FORMAT, mode, *_COMMON, *_MODE[mode], unit(text, filename, names), runtime_key())


@functools.cache
def runtime_key() -> str:
    """The name in the cache of the runtime."""
    return "runtime-" + _digest(_FORMAT, *(file.read_text("utf-8") for file in sorted(RUNTIME.iterdir())))


def object_command(chosen: str, source: Path, mode: str, out: Path) -> list[str]:
    """The command that compiles a unit; it reads `source`, labkit/cuda/runtime/*.h and the toolchain."""
    command = [chosen, *_COMMON, *_MODE[mode], "-I", str(RUNTIME), "-c", str(source), "-o", str(out)]
    clang = "clang" in Path(chosen).name
    if mode == "check":
        command += _CLANG_CHECK if clang else ["-fsanitize=bounds"]
    return [*command, *(_CLANG if clang else _GCC)]


def compile_object(text: str, filename: str, mode: str, out: Path, names: Sequence[str] = ()) -> None:
    """Compile a kernel file to the object `out`. Raises: CompileError."""
    chosen = _needed_compiler()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "unit.cpp"
        source.write_text(unit(text, filename, names), encoding="utf-8")
        _run(object_command(chosen, source, mode, out), filename)


def link(obj: Path, mode: str, out: Path, filename: str = "kernels.cu") -> None:
    """Link an object to the library `out`, and write the tables beside it. Raises: CompileError."""
    with tempfile.TemporaryDirectory(dir=out.parent) as folder:
        made = Path(folder) / out.name
        command = [
            _needed_compiler(),
            "-shared",
            "-o",
            str(made),
            str(obj),
            *_LINK[mode],
            "-Wl,-z,now",
            "-lm",
        ]
        _run(command, filename)
        tables = {"variables": _variables(made), "lines": _lines(made, filename)}
        beside = made.with_suffix(".json")
        beside.write_text(json.dumps(tables), encoding="utf-8")
        beside.replace(out.with_suffix(".json"))  # first: whoever sees the library finds its tables
        made.replace(out)


def build(text: str, filename: str = "kernels.cu", mode: str = "fast", names: Sequence[str] = ()) -> Path:
    """The compiled library, from the cache or made now. Raises: CompileError."""
    library = cache() / f"{key(text, filename, mode, names)}.so"
    if not library.exists():
        _needed_compiler()
        library.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=library.parent) as folder:
            obj = Path(folder) / "kernels.o"
            compile_object(text, filename, mode, obj, names)
            link(obj, mode, library, filename)
    return library


def build_runtime() -> Path:
    """The runtime that kernels are loaded with, from the cache or made now. Raises: CompileError."""
    library = cache() / f"{runtime_key()}.so"
    if not library.exists():
        chosen = _needed_compiler()
        library.parent.mkdir(parents=True, exist_ok=True)
        sources = [str(file) for file in sorted(RUNTIME.glob("*.cpp"))]
        with tempfile.TemporaryDirectory(dir=library.parent) as folder:
            made = Path(folder) / "runtime.so"
            _run(
                [
                    chosen,
                    "-std=gnu++17",
                    "-O2",
                    "-fPIC",
                    "-shared",
                    "-fvisibility=hidden",
                    "-w",
                    "-o",
                    str(made),
                    *sources,
                ],
                "runtime",
            )
            made.replace(library)
    return library


def _needed_compiler() -> str:
    if not works_here():
        system = f"{platform.system()} {platform.machine()}"
        raise CompileError(Message("cuda.no-system", {"system": system}))
    if not (chosen := compiler()):
        raise CompileError(Message("cuda.no-compiler"))
    return chosen


def _run(command: Sequence[str], filename: str) -> None:
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=COMPILE_S,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        raise CompileError(Message("cuda.compile-time", {"file": filename, "seconds": COMPILE_S})) from None
    if done.returncode:
        raise compile_error(done.stderr, filename)


def compile_error(said: str, filename: str) -> CompileError:
    """What a compiler said, as one error at the student's own line."""
    found = re.search(rf"^{re.escape(filename)}:(\d+)(?::\d+)?: (?:fatal )?error: (.*)$", said, re.MULTILINE)
    if found:
        arguments = {"file": filename, "line": int(found[1]), "text": found[2]}
        return CompileError(Message("cuda.compile-error", arguments), filename, int(found[1]))
    lines = [line for line in said.splitlines() if "error" in line] or said.splitlines() or [""]
    return CompileError(
        Message("cuda.compile-error-elsewhere", {"file": filename, "text": lines[0]}), filename
    )


def _variables(library: Path) -> list[list[int | str | bool]]:
    """[offset, bytes, name, whether it is shared by a block] of each variable, by offset."""
    raw = _tool("nm", "-S", str(library)).splitlines()
    names = _tool("nm", "-S", "-C", str(library)).splitlines()
    found: list[list[int | str | bool]] = []
    for mangled, plain in zip(raw, names, strict=True):
        a, b = _SYMBOL.fullmatch(mangled), _SYMBOL.fullmatch(plain)
        if a and b and int(a[2], 16) and not a[3].startswith(("cu_", "completed", "_ZTI", "_ZGV")):
            found.append([int(a[1], 16), int(a[2], 16), b[3], a[3].startswith("_ZZ")])
    return sorted(found)


def _lines(library: Path, filename: str) -> list[list[int]]:
    """[offset, line] where the code of a line begins, by offset; line 0: not of the student's file."""
    rows: dict[int, int] = {}
    for row in _tool("objdump", "-w", "--dwarf=decodedline", str(library)).splitlines():
        if found := _ROW.match(row):
            rows[int(found[3], 16)] = int(found[2]) if Path(found[1]).name == Path(filename).name else 0
    return [[offset, line] for offset, line in sorted(rows.items())]


def _tool(*command: str) -> str:
    """What one of the compiler's tools tells of a library. Raises: CompileError, if that is endless too.

    A name of few letters in an object may stand for gigabytes in C++: types that are twice in each other.
    """
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        raise CompileError(Message("cuda.no-compiler")) from None
    patience = threading.Timer(COMPILE_S, process.kill)
    patience.start()
    with process:
        assert process.stdout
        told = process.stdout.read(TOLD + 1)
        if len(told) > TOLD:
            process.kill()
    patience.cancel()
    if process.returncode < 0:
        raise CompileError(Message("cuda.long-names", {"limit": TOLD >> 20}))
    return told.decode(errors="replace")


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
