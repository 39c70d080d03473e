"""Lab 1's solved modules under the plain names that students import them by."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

REFERENCE = Path(__file__).parents[3] / "reference"


@pytest.fixture(scope="module")
def lab1() -> Iterator[dict[str, ModuleType]]:
    """`graph` and `engine`, in sys.modules for as long as a module's tests run."""
    names = ("graph", "engine")
    assert not set(names) & set(sys.modules)
    sys.path.insert(0, str(REFERENCE / "lab1_scalars"))
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(REFERENCE / "lab1_scalars"))
        for name in names:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def graph(lab1: dict[str, ModuleType]) -> ModuleType:
    return lab1["graph"]


@pytest.fixture(scope="module")
def engine(lab1: dict[str, ModuleType]) -> ModuleType:
    return lab1["engine"]
