"""Lab 1's solved modules under the plain names that students import them by."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

LAB1 = Path(__file__).parents[3] / "reference" / "lab1_scalars"


@pytest.fixture(scope="module")
def lab1() -> Iterator[SimpleNamespace]:
    """`graph` and `engine`, in sys.modules for as long as a module's tests run."""
    names = ("graph", "engine")
    assert not set(names) & set(sys.modules)
    sys.path.insert(0, str(LAB1))
    try:
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    finally:
        sys.path.remove(str(LAB1))
        for name in names:
            sys.modules.pop(name, None)
