"""import-linter catches an import that goes up, and the worker keeps to its few libraries."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LINT = Path(sys.executable).with_name("lint-imports")
WORKER_MAY_IMPORT = sys.stdlib_module_names | {"numpy", "msgspec"}


def lint(tree: Path) -> subprocess.CompletedProcess[str]:
    command = [LINT, "--no-cache"]
    return subprocess.run(command, cwd=tree, env={"PYTHONPATH": str(tree)}, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("autograder/intake/planted.py", "autograder.judging"),
        ("autograder/course.py", "autograder.batch"),
        ("autograder/worker/planted.py", "autograder.course"),
        ("autograder/worker/planted.py", "labkit.messages"),
        ("labkit/planted.py", "autograder.worker"),
    ],
)
def test_an_import_that_goes_up_is_caught(tmp_path, importer, imported):
    for package in ("autograder", "labkit"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / importer).open("a", encoding="utf-8") as file:
        file.write(f"\nimport {imported}\n")
    result = lint(tmp_path)
    planted = importer.removesuffix(".py").replace("/", ".")
    assert result.returncode == 1, result.stdout + result.stderr
    assert f"{planted} -> {imported}" in result.stdout


def test_the_worker_imports_only_the_standard_library_numpy_and_msgspec():
    imported = set()
    for module in (ROOT / "autograder" / "worker").rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                imported.add(node.module)
    foreign = {name for name in imported if name.partition(".")[0] not in WORKER_MAY_IMPORT}
    launcher = {"labkit", "labkit.cuda"}  # of launch.py, where there are kernels
    assert not {name for name in foreign - launcher if not name.startswith("autograder.worker")}
