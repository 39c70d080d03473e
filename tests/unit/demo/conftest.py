"""The demo's modules, which stand in a folder and not in a package, and lab 1 as they load it."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[3] / "handouts" / "demo"))


@pytest.fixture(scope="session")
def lab1() -> Any:
    from solved import load

    return load("lab1_scalars")
