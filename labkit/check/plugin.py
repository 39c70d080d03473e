"""The pytest plug-in of public tests: fixtures for them, and every step told to the parent process.

A test belongs to a task (`pytest.mark.task(id)`), and its docstring says what must hold, in one English and
one Chinese line.
"""

import dataclasses
import importlib
import linecache
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from labkit.check.expect import Broken, Draw, Expect, Reported, Wrong, text
from labkit.check.frames import blank_of, frames_of
from labkit.check.kernels import Kernels, NoCompiler, UnwrittenKernel
from labkit.localise import Finding

Tell = Callable[[dict[str, Any]], None]
OUTPUT_CHARACTERS = 600


class Modules:
    """The fixture `lab`: the student's modules by name, `lab.graph`."""

    def __init__(self, broken: set[str]) -> None:
        self._broken = broken

    def __getattr__(self, name: str) -> ModuleType:
        if f"{name}.py" in self._broken:
            raise Broken(f"{name}.py")
        return importlib.import_module(name)


class Plugin:
    """One run: what to skip, what is broken, and where to tell."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        skip: set[str],
        broken: set[str],
        kernels: Sequence[Kernels],
        tell: Tell,
    ) -> None:
        self._folder, self._seed, self._skip, self._broken, self._tell = folder, seed, skip, broken, tell
        self._kernels = kernels

    @pytest.fixture
    def lab(self) -> Modules:
        """The student's modules."""
        return Modules(self._broken)

    @pytest.fixture
    def kernels(self) -> Kernels:
        """The student's kernels; a lab has one file of them."""
        (kernels,) = self._kernels
        return kernels

    @pytest.fixture
    def draw(self, request: pytest.FixtureRequest) -> Draw:
        """Random inputs."""
        return Draw(self._seed, request.node.name)

    @pytest.fixture
    def expect(self) -> Expect:
        """Comparisons."""
        return Expect()

    def pytest_configure(self, config: pytest.Config) -> None:
        """Make the marker known."""
        config.addinivalue_line("markers", "task(id): the task that a test belongs to")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Tell what there is; keep what has not been run in an earlier process."""
        tests = [{"test": _name(item), "task": _task(item), "law": _law(item)} for item in items]
        self._tell({"event": "collected", "tests": tests})
        items[:] = [item for item in items if _name(item) not in self._skip]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A test file that can't be read is a defect of the kit or of the unpacking."""
        if report.failed:
            print(report.longreprtext, file=sys.__stderr__)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Tell that a test begins: the parent's clock runs from here."""
        self._tell({"event": "started", "test": _name(item)})
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Iterator[None]:
        """Tell a test's result: of its call, or of a set-up that failed."""
        report: Any = yield
        if call.when == "call" or (call.when == "setup" and call.excinfo is not None):
            error = call.excinfo.value if call.excinfo is not None else None
            printed = report.capstdout[:OUTPUT_CHARACTERS]
            result = {"outcome": "passed"} if error is None else failure(error, self._folder)
            self._tell({"event": "result", "test": _name(item), **result, "printed": printed})
        return report  # type: ignore[no-any-return]


def failure(error: BaseException, folder: Path) -> dict[str, Any]:
    """How a test or an import failed, as plain data: outcome, and what belongs to it."""
    if isinstance(error, Wrong):
        told = {"call": error.call, "got": error.got, "expected": error.expected}
        return {"outcome": "wrong", **told, "finding": error.finding and _as_text(error.finding)}
    if isinstance(error, Broken):
        return {"outcome": "broken", "module": error.module}
    if isinstance(error, NoCompiler):
        return {"outcome": "no-compiler"}
    if isinstance(error, UnwrittenKernel):
        return {"outcome": "unwritten", "blank": error.kernel, "frames": [error.frame]}
    if isinstance(error, Reported):
        code = linecache.getline(str(folder / error.frame["file"]), error.frame["line"]).strip()
        frames = [error.frame | {"code": code}]
        return {"outcome": "reported", "call": error.call, "text": error.text, "frames": frames}
    frames = frames_of(error, folder)
    if isinstance(error, NotImplementedError) and (blank := blank_of(error, folder)):
        return {"outcome": "unwritten", "blank": blank, "frames": frames}
    words = error.msg if isinstance(error, SyntaxError) else str(error)
    first_line = next(iter(words.splitlines()), "")
    told = {"error": type(error).__name__, "text": first_line[:300]}
    return {"outcome": "crashed", **told, "frames": frames}


def _as_text(finding: Finding) -> dict[str, Any]:
    """A finding with its values in words, ready to be sent."""
    told = dataclasses.asdict(dataclasses.replace(finding, lines=()))
    told |= {"got": text(finding.got), "expected": text(finding.expected)}
    columns = ("value", "got", "expected")
    return told | {
        "lines": [
            {"name": line.name, "formula": line.formula, "wrong": line.wrong}
            | {column: _cell(getattr(line, column)) for column in columns}
            for line in finding.lines
        ]
    }


def _cell(value: object) -> str:
    return "-" if value is None else text(value, digits=6)


def _name(item: pytest.Item) -> str:
    return f"{item.path.name}::{item.name}"


def _task(item: pytest.Item) -> str:
    mark = item.get_closest_marker("task")
    return str(mark.args[0]) if mark else ""


def _law(item: pytest.Item) -> dict[str, str]:
    words = item.obj.__doc__ or "" if isinstance(item, pytest.Function) else ""
    lines = [line.strip() for line in words.strip().splitlines()]
    english, chinese = lines if len(lines) == 2 else (item.name, item.name)
    return {"en": english, "zh": chinese}
