"""The notebooks as students have them: in a real kernel, and lab 1's in JupyterLab in a real browser."""

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.labs import write_labs
from autograder.course import load_course

ROOT = Path(__file__).parents[3]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MINUTE_S = 60


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """labs/ and build/solved/ as they come from this reference."""
    root = tmp_path_factory.mktemp("course")
    shutil.copy(ROOT / "course.toml", root)
    (root / "reference").symlink_to(ROOT / "reference")
    write_labs(load_course(root))
    return root


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """No display, no proxy to a network, and a home without settings of anybody's."""
    home = tmp_path_factory.mktemp("home")
    kept = {name: value for name, value in os.environ.items() if "DISPLAY" not in name and name != "BROWSER"}
    return kept | {"HOME": str(home), "IPYTHONDIR": str(home), "JUPYTER_CONFIG_DIR": str(home / "jupyter")}


def executed(notebook: Path, environment: dict[str, str]) -> list[dict[str, Any]]:
    """The code cells of a notebook after all have run in a fresh kernel, where it lies."""
    command = [sys.executable, "-m", "jupyter", "nbconvert", "--to", "notebook", "--execute", "--stdout"]
    run = subprocess.run(
        [*command, notebook.name],
        cwd=notebook.parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=5 * MINUTE_S,  # where other tests keep the machine busy
    )
    assert run.returncode == 0, run.stderr
    return [cell for cell in json.loads(run.stdout)["cells"] if cell["cell_type"] == "code"]


def said(cell: dict[str, Any]) -> str:
    return "".join(line for output in cell["outputs"] for line in output.get("text", []))


def errors(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [output for cell in cells for output in cell["outputs"] if output["output_type"] == "error"]


def test_the_solved_notebook_runs_from_top_to_bottom_in_a_minute(
    made: Path, environment: dict[str, str]
) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    cells = executed(made / "build/solved/lab1/lab1.ipynb", environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Processor time, compilers and matplotlib's first start with it.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < MINUTE_S
    assert errors(cells) == []
    told = "\n".join(map(said, cells))
    assert "✗" not in told
    assert told.count("：正确。") == 2 * 8  # each answer by its own cell, and by its task's check
    assert told.count("✓ 已暴露") == 2 * 3
    assert told.count("✓ 公开测试通过") + told.count("课程机器会检查") == 14
    pictures = [output for cell in cells for output in cell["outputs"] if "data" in output]
    assert sum("image/png" in output["data"] for output in pictures) == 2
    assert sum("<svg" in "".join(output["data"].get("text/html", [])) for output in pictures) == 3


def test_lab_2_s_solved_notebook_runs_in_a_minute_and_learns_the_digits(
    made: Path, environment: dict[str, str]
) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    cells = executed(made / "build/solved/lab2/lab2.ipynb", environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < MINUTE_S
    assert errors(cells) == []
    told = "\n".join(map(said, cells))
    assert "✗" not in told
    assert told.count("：正确。") == 2 * 13 + 1  # each by its own cell and by its task's check; a step by one
    assert told.count("✓ 公开测试通过") + told.count("课程机器会检查") == 17
    assert float(re.search(r"test ([\d.]+)% ✓", told)[1]) >= 95  # type: ignore[index]
    assert "模拟 / simulated" in told
    assert told.count("实测") <= 1
    pictures = [output for cell in cells for output in cell["outputs"] if "data" in output]
    assert sum("image/png" in output["data"] for output in pictures) == 1
    html = ["".join(output["data"].get("text/html", [])) for output in pictures]
    assert [page.count("<svg") for page in html if "<svg" in page] == [1, 2]


@pytest.mark.parametrize(
    ("notebook", "blanks"),
    [
        ("lab1_scalars/en/lab1.ipynb", ["central_difference (engine.py:", "multiply_backward (kernels.cu:"]),
        ("lab2_tensors/en/lab2.ipynb", ["gradients (engine.py:", "column_sum (kernels.cu:"]),
    ],
)
def test_the_untouched_notebook_runs_through_and_says_what_is_missing(
    made: Path, environment: dict[str, str], notebook: str, blanks: list[str]
) -> None:
    cells = executed(made / "labs" / notebook, environment)
    assert {error["ename"] for error in errors(cells)} == {"NotYet"}
    told = "\n".join(map(said, cells)) + "".join(error["evalue"] for error in errors(cells))
    assert "Traceback" not in told and "✓" not in told
    assert all(blank in told for blank in blanks)
    solutions = [cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("solution")]
    assert len(solutions) > 6 and all("Not answered yet" in said(cell) for cell in solutions)


def test_a_saved_module_is_loaded_again_and_told_and_a_broken_one_too(
    made: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "lab1"
    shutil.copytree(made / "build/solved/lab1", folder)
    notebook = json.loads((folder / "lab1.ipynb").read_bytes())
    begin = next(cell for cell in notebook["cells"] if "begin(language)" in "".join(cell["source"]))
    edit = (
        "import os, pathlib, time; file = pathlib.Path('engine.py'); text = file.read_text('utf-8')\n"
        "file.write_text({new}, 'utf-8'); os.utime(file, (time.time() + {later}, time.time() + {later}))"
    )
    use = (
        "import engine; from graph import variable\n"
        "x = variable(3.0); y = x * x; print(engine.reverse_mode(y)[x], engine.jacobian([y], [x]))"
    )
    half = "text.replace('partial_adjoint = partial * adjoint', 'partial_adjoint = 0.5 * partial * adjoint')"
    sources = [
        "".join(begin["source"]),
        use,
        edit.format(new=half, later=10),
        use,
        edit.format(new="text + '\\nbroken ('", later=20),
        use,
    ]
    notebook["cells"] = [dict(begin, id=f"c{place}", source=text) for place, text in enumerate(sources)]
    (folder / "edited.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    cells = executed(folder / "edited.ipynb", environment)
    assert errors(cells) == []
    first, second, third = (said(cells[place]) for place in (1, 3, 5))
    assert first == "6.0 [[6.]]\n"
    assert re.fullmatch(r"engine\.py：保存于 .*，已重新载入 .*\n3\.0 \[\[3\.\]\]\n", second)
    assert re.fullmatch(r"engine\.py：保存于 .*，未能载入：.*engine\.py:\d+.*\n3\.0 \[\[3\.\]\]\n", third)


@contextlib.contextmanager
def opened(lab: Path, language: str, environment: dict[str, str]) -> Iterator[str]:
    """The address at which `python -m labkit open` has JupyterLab answer."""
    command = [sys.executable, "-m", "labkit", "open", str(lab), "--language", language]
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            assert process.stderr is not None
            address = None
            while not address:
                line = process.stderr.readline()
                assert line
                address = re.search(r"http://\S+", line)
            yield address[0]
        finally:
            os.killpg(process.pid, signal.SIGINT)
            _, rest = process.communicate(timeout=60)
    assert (process.returncode, rest) == (0, "")


@contextlib.contextmanager
def shown(address: str) -> Iterator[Any]:
    """JupyterLab in Chromium, with a notebook open."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium here, so nobody opens the notebook")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(address)
        page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60_000)
        yield page
        browser.close()


def test_in_jupyterlab_the_solved_notebook_runs_without_an_error(
    made: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "lab1"
    shutil.copytree(made / "build/solved/lab1", folder)
    with opened(folder, "zh", environment) as address, shown(address) as page:
        page.locator(".jp-Notebook .jp-Cell").nth(2).click()
        page.locator(".lm-MenuBar-itemLabel", has_text=re.compile("^Run$")).click()
        page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Run All Cells$")).click()
        for _ in range(MINUTE_S):
            page.wait_for_timeout(1000)
            page.keyboard.press("Control+s")
            notebook = json.loads((folder / "lab1.ipynb").read_bytes())
            cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
            if all(cell["execution_count"] for cell in cells):
                break
    assert errors(cells) == []
    assert all(cell["execution_count"] for cell in cells)


def test_the_validate_button_shows_our_words(made: Path, environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "lab1"
    shutil.copytree(made / "labs/lab1_scalars", folder)
    with opened(folder, "en", environment) as address, shown(address) as page:
        page.get_by_text("Validate", exact=True).locator("visible=true").first.click()
        dialog = page.locator(".jp-Dialog", has_text="Validation Results")
        dialog.wait_for(timeout=60_000)
        told = dialog.inner_text()
    assert 'check("reflected-operators")' in told
    assert "not written yet: Node.__rsub__ (graph.py:" in told
    assert "Traceback" not in told


def test_what_can_not_be_opened_is_one_line(made: Path, environment: dict[str, str], tmp_path: Path) -> None:
    def open_lab(lab: Path, *flags: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, *flags, "-m", "labkit", "open", str(lab), "--language", "en"]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)

    without = tmp_path / "lab2"
    shutil.copytree(made / "labs/lab2_tensors", without)
    manifest = without / "manifest.toml"
    manifest.write_text(re.sub(r"^notebook = .*\n", "", manifest.read_text("utf-8"), flags=re.M), "utf-8")
    run = open_lab(without)
    assert (run.returncode, run.stderr) == (2, "labkit: lab2 has no notebook.\n")
    folder = tmp_path / "lab1"
    shutil.copytree(made / "labs/lab1_scalars", folder)
    run = open_lab(folder, "-S")  # a Python without the packages of this one
    assert run.returncode == 2
    assert run.stderr.startswith("labkit: JupyterLab is not installed for this Python (")
    assert run.stderr.endswith(" -m pip install jupyterlab matplotlib sympy\n")
    (folder / "lab1.ipynb").unlink()
    shutil.rmtree(folder / "en")
    run = open_lab(folder)
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert "lab1.ipynb is missing" in run.stderr
