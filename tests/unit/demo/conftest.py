"""The demo's modules, which stand in a folder and not in a package, and labs as they load them."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[3] / "handouts" / "demo"))


@pytest.fixture(scope="session")
def lab1() -> Any:
    from solved import load

    return load("lab1_scalars")


@pytest.fixture(scope="session")
def lab2() -> Any:
    from solved import load

    return load("lab2_tensors")
