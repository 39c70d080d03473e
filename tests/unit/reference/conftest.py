"""Solved modules under the plain names that students import them by, and their labs' grading tests in this
process, without sandbox or limits."""

import contextlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from autograder.authoring import cutter
from autograder.course import Limits, load_course
from autograder.judging.plugin import Plugin
from autograder.judging.trial import Trial
from autograder.sandbox.client import Answer
from autograder.worker import codec

ROOT = Path(__file__).parents[3]
LAB1 = ROOT / "reference" / "lab1_scalars"
LAB2 = ROOT / "reference" / "lab2_tensors"
KEY = bytes(range(32))


@contextlib.contextmanager
def modules_of(folder: Path) -> Iterator[dict[str, ModuleType]]:
    """The solved modules of a lab, in sys.modules for as long as the block runs."""
    names = [name for name in ("graph", "engine", "cuda_ops") if (folder / f"{name}.py").exists()]
    assert not set(names) & set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(folder))
        for name in names:
            sys.modules.pop(name, None)


@pytest.fixture
def skeleton(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], tuple[ModuleType, ModuleType]]:
    """Cuts a lab's folder and imports the `graph` and `engine` that students get."""

    def cut_from(folder: Path) -> tuple[ModuleType, ModuleType]:
        modules = {name: ModuleType(name) for name in ("graph", "engine")}
        for name, module in modules.items():
            monkeypatch.setitem(sys.modules, name, module)
            text = (folder / f"{name}.py").read_text("utf-8")
            exec(cutter.cut(text, f"{name}.py"), module.__dict__)
        return modules["graph"], modules["engine"]

    return cut_from


@pytest.fixture(scope="module")
def lab1() -> Iterator[dict[str, ModuleType]]:
    """Lab 1's modules, for as long as a module's tests run."""
    with modules_of(LAB1) as modules:
        yield modules


@pytest.fixture(scope="module")
def lab2() -> Iterator[dict[str, ModuleType]]:
    """Lab 2's modules, for as long as a module's tests run."""
    with modules_of(LAB2) as modules:
        yield modules


@pytest.fixture(scope="module")
def graph(lab1: dict[str, ModuleType]) -> ModuleType:
    """Lab 1's; the tests of lab 2 have their own."""
    return lab1["graph"]


@pytest.fixture(scope="module")
def engine(lab1: dict[str, ModuleType]) -> ModuleType:
    return lab1["engine"]


@pytest.fixture(scope="module")
def cuda_ops(lab1: dict[str, ModuleType]) -> ModuleType:
    return lab1["cuda_ops"]


def programs_of(folder: Path) -> ModuleType:
    """The programs beside a lab's grading tests."""
    spec = importlib.util.spec_from_file_location(
        f"{folder.name}_programs", folder / "grading" / "programs.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def programs() -> ModuleType:
    """programs.py of lab 1."""
    return programs_of(LAB1)


@pytest.fixture(scope="module")
def lab2_programs() -> ModuleType:
    """programs.py of lab 2."""
    return programs_of(LAB2)


class Here:
    """Modules, and the programs that run beside them, as a subject of the grader and its own worker."""

    hurry = ""

    def __init__(self, lab: SimpleNamespace, programs: Any) -> None:
        self._lab, self._programs = lab, programs
        self._known: dict[bytes, dict[str, Any]] = {}

    def worker(self, limits: Limits) -> "Here":
        return self

    def run(self, program: str, inputs: dict[str, Any], mode: codec.Mode = "") -> Answer:
        try:
            result = getattr(self._programs, program)(self._lab, **codec.from_wire(codec.to_wire(inputs)))
            return Answer("ok", codec.from_wire(codec.to_wire(result)))
        except Exception as error:
            return Answer("malformed-reply", detail=repr(error))

    def end(self) -> None:
        """There is nothing to end."""

    def __call__(self, program: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """As the reference."""
        name = codec.encode(codec.Call("run", program, codec.to_wire(inputs)))
        if name not in self._known:
            answer = self.run(program, inputs)
            assert answer.outcome == "ok", answer.detail
            self._known[name] = answer.result
        return self._known[name]


class Loop:
    """Instead of pytest's loop over items: the checks of some tasks for each subject and variant."""

    def __init__(
        self, plugin: Plugin, reference: Here, subject: Here, tasks: set[str], variants: range
    ) -> None:
        self._plugin, self._reference, self._subject = plugin, reference, subject
        self._tasks, self._variants = tasks, variants
        self.points: list[dict[str, int]] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        assert not self._plugin.errors
        for variant in self._variants:
            earned = dict.fromkeys(self._tasks, 0)
            for check in self._plugin.checks:
                if check.task in self._tasks and self._passes(check.id, check.task, variant):
                    earned[check.task] += check.points
            self.points.append(earned)
        return True

    def _passes(self, check: str, task: str, variant: int) -> bool:
        lab = self._plugin.lab
        trial = Trial(self._subject, self._reference, lab.task(task), lab.limits)  # type: ignore[arg-type]
        outcomes = [self._plugin.run(item, trial, variant).outcome for item in self._plugin.items[check]]
        assert "grader-fault" not in outcomes
        return all(outcome == "passed" for outcome in outcomes)


Earned = Callable[..., list[dict[str, int]]]


def earner(lab_id: str, modules: dict[str, ModuleType], programs: ModuleType) -> Earned:
    """earned(lab, tasks, variants=range(1), beside=programs): for each variant the points by task."""
    reference = Here(SimpleNamespace(**modules), programs)

    def run(
        lab: SimpleNamespace, tasks: set[str], variants: range = range(1), beside: Any = programs
    ) -> list[dict[str, int]]:
        plugin = Plugin(load_course(ROOT).lab(lab_id), KEY)
        loop = Loop(plugin, reference, Here(lab, beside), tasks, variants)
        folder = str(plugin.lab.grading)
        arguments = ["--import-mode=importlib", "-c", os.devnull, "--rootdir", folder]
        arguments += [f"-pno:{name}" for name in ("terminal", "cacheprovider", "faulthandler", "capture")]
        pytest.main([*arguments, folder], plugins=[plugin, loop])
        for name, module in [*sys.modules.items()]:  # another lab has files of the same names
            if str(getattr(module, "__file__", None)).startswith(folder):
                del sys.modules[name]
        return loop.points

    return run


@pytest.fixture(scope="module")
def earned(lab1: dict[str, ModuleType], programs: ModuleType) -> Earned:
    """Points in lab 1."""
    return earner("lab1", lab1, programs)


@pytest.fixture(scope="module")
def lab2_earned(lab2: dict[str, ModuleType], lab2_programs: ModuleType) -> Earned:
    """Points in lab 2."""
    return earner("lab2", lab2, lab2_programs)
