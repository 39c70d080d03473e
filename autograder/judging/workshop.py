"""A file of kernels on its way to a worker: screened, compiled in a jail, its object screened, linked.

Each text is compiled once in a batch. What is wrong with one is told with the student's own line.
"""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from autograder.course import Lab
from autograder.sandbox import compiling, objects
from autograder.sandbox.client import Level, SandboxError
from autograder.sandbox.gate import look
from labkit.cuda import compile as cuda
from labkit.cuda import screen
from labkit.messages import Argument, Message

from .explain import clean
from .kernels import Built, Problem

# What the language's header calls, and so a kernel may; nothing else of the runtime.
_CALLED = """
    threadIdx blockIdx blockDim gridDim cu_thread_index cu_block_index cu_block_size cu_grid_size
    cu_dynamic_shared cu_printf cu_assertion_failed cu_barrier cu_warp cu_atomic_load cu_atomic_store
"""
RUNTIME = frozenset(_CALLED.split())
_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)".*$')
# Of the header's own macros; the rest of what they expand to is no attribute.
_HARMLESS = re.compile(
    r"__attribute__\s*\(\(\s*(?:used|noinline|always_inline|(?:used\s*,\s*)?aligned\s*\(\s*\w+\s*\))\s*\)\)"
)
_HIDDEN = re.compile(r"\b(?:asm|__asm|__asm__|__attribute__|__attribute|__declspec|_Pragma)\b|\[\s*\[")
_SOURCE = "unit.cpp"
_TABLE = '#line 1 "launch table"'  # behind the student's text


class _Refused(Exception):
    """A file that can't be used, and why."""

    def __init__(self, outcome: str, id: str, **arguments: Argument) -> None:
        super().__init__(id)
        shown = {name: clean(one) if isinstance(one, str) else one for name, one in arguments.items()}
        self.problem: Problem = (outcome, Message(id, shown))


class Workshop:
    """Builds the kernels of a class."""

    def __init__(self, lab: Lab, level: Level) -> None:
        self._lab, self._level = lab, level
        self._done: dict[tuple[str, str], Built] = {}

    def build(self, files: dict[str, str]) -> dict[str, Built]:
        """Each file of kernels that was handed in, built. Raises: SandboxError."""
        return {name: self._built(name, files[name]) for name in self._lab.kernels if name in files}

    def _built(self, name: str, text: str) -> Built:
        if (name, text) not in self._done:
            self._done[name, text] = _Build(self._lab, self._level, name, text).built()
        return self._done[name, text]


class _Build:
    """One file."""

    def __init__(self, lab: Lab, level: Level, name: str, text: str) -> None:
        self._limits, self._level, self._name, self._text = lab.compile_limits, level, name, text
        self._cpu_s = 0.0

    def built(self) -> Built:
        gate: tuple[str, ...] = ()
        try:
            self._screen(self._text)
            gate = tuple(map(clean, look(self._level, self._text, self._name)))
            unit = cuda.unit(self._text, self._name)
            for mode in cuda.MODES:
                self._screen_expanded(unit, mode)
            fast, checked = (self._library(unit, mode) for mode in cuda.MODES)
        except _Refused as refused:
            return Built(problem=refused.problem, gate=gate, cpu_s=self._cpu_s)
        return Built(fast, checked, gate=gate, cpu_s=self._cpu_s)

    def _screen(self, text: str) -> None:
        for found in screen.screen(text):
            self._refuse(f"cuda.screen-{found.kind}", found.line, found.text)

    def _screen_expanded(self, unit: str, mode: str) -> None:
        """Once more, with macros expanded: they can write any word, but not in the text that is compiled."""
        made = self._run(unit[: unit.rindex(_TABLE)], mode, "-E")
        for line, code in self._own_lines(made.decode(errors="replace")):
            if found := _HIDDEN.search(_HARMLESS.sub("", screen.blanked(code))):
                self._refuse("judging.kernel-text", line, found[0])

    def _own_lines(self, expanded: str) -> Iterator[tuple[int, str]]:
        """The student's lines: all that follows the header, whatever markers he makes."""
        lines = expanded.split("\n")
        first = next(
            place
            for place, line in enumerate(lines)
            if (found := _MARKER.match(line)) and found[2] == self._name
        )
        number = 1
        for line in lines[first:]:
            if not (marker := _MARKER.match(line)):
                yield number, line
                number += 1
            elif marker[2] == self._name:
                number = int(marker[1])
            else:
                self._refuse("judging.kernel-text", number, "#line")

    def _library(self, unit: str, mode: str) -> dict[str, bytes]:
        """The library with what lies beside it, by name in the cache; the runtime too."""
        content = self._run(unit, mode, "-c")
        for refusal in objects.refusals(content, RUNTIME, checked=mode == "check"):
            self._refuse_object(refusal)
        with tempfile.TemporaryDirectory(prefix="adkit-link-") as folder:
            obj, library = Path(folder) / "kernels.o", Path(folder) / "out" / "kernels.so"
            obj.write_bytes(content)
            library.parent.mkdir()
            try:
                cuda.link(obj, mode, library, self._name)
            except cuda.CompileError as error:
                raise _Refused("crashed", error.message.id, **dict(error.message.arguments)) from None
            key = cuda.key(self._text, self._name, mode)
            made = {f"{key}{path.suffix}": path.read_bytes() for path in sorted(library.parent.iterdir())}
        runtime = cuda.build_runtime()
        return made | {runtime.name: runtime.read_bytes()}

    def _run(self, unit: str, mode: str, stage: str) -> bytes:
        """What the compiler makes of the unit in its jail. Raises: _Refused, SandboxError."""
        chosen = cuda.compiler()
        if chosen is None:
            raise SandboxError("there is no C++ compiler here any more")
        command = cuda.object_command(compiling.found(chosen), Path(_SOURCE), mode, Path(compiling.MADE))
        command[command.index("-c")] = stage
        files = {_SOURCE: unit.encode()}
        made = compiling.compile_safely(self._level, command, files, [cuda.RUNTIME], self._limits)
        self._cpu_s += made.cpu_s
        if made.timed_out:
            seconds = f"{self._limits.cpu_s:g}"
            raise _Refused("timed-out", "judging.kernel-compile-time", file=self._name, limit=seconds)
        if made.too_large:
            limit = compiling.LARGEST >> 20
            raise _Refused("crashed", "judging.kernel-too-large", file=self._name, limit=limit)
        if not made.succeeded:
            error = cuda.compile_error(made.said, self._name).message
            raise _Refused("crashed", error.id, **dict(error.arguments))
        return made.content

    def _refuse(self, id: str, line: int, text: str) -> None:
        raise _Refused("forbidden-action", id, file=self._name, line=line, text=text)

    def _refuse_object(self, refusal: objects.Refusal) -> None:
        if refusal.kind not in ("symbol", "defines"):
            text = f"{refusal.kind} {refusal.name}"
            raise _Refused("forbidden-action", "judging.kernel-object", file=self._name, text=text)
        self._refuse(f"judging.kernel-{refusal.kind}", self._line_of(refusal.name), refusal.name)

    def _line_of(self, name: str) -> int:
        """Where a name stands first outside comments; 1 if only macros write it."""
        found = re.search(rf"\b{re.escape(name)}\b", screen.blanked(self._text))
        return self._text.count("\n", 0, found.start()) + 1 if found else 1
