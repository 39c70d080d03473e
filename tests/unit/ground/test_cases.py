"""tests/cases.toml names for each case of a bug report a test that exists, or why there is none."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CASES = tomllib.loads((ROOT / "tests" / "cases.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES)
def test_a_case_has_a_test_that_exists_or_a_reason(case: str) -> None:
    (kind,) = CASES[case]
    if kind == "reason":
        assert CASES[case]["reason"].endswith(".")
        return
    path, _, name = CASES[case][kind].partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert kind == "test"
