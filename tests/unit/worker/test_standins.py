"""Plots, progress bars and IPython may be imported and used: nothing is drawn, loops run as they would."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


START = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from autograder.worker import standins
standins.install()
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    """Run in a process of its own: `install` changes what can be imported for good."""
    return subprocess.run(
        [sys.executable, "-c", START + program], capture_output=True, text=True, check=False
    )


def works(program: str) -> None:
    result = run(program)
    assert result.returncode == 0, result.stderr


def test_what_notebooks_do_with_matplotlib_does_nothing() -> None:
    works("""
import matplotlib
matplotlib.use("Agg")
print(matplotlib.__version__)
import matplotlib.pyplot as plt
from matplotlib import cm
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d import Axes3D
plt.rcParams["font.sans-serif"] = ["SimHei"]
plt.rcParams.update({"figure.dpi": 100})
figure, axes = plt.subplots(1, 2, figsize=(8, 4))
axes[0].plot([1, 2], label="loss")
axes[1].imshow([[1]], cmap=plt.cm.viridis)
axes[0].xaxis.set_major_locator(MaxNLocator(integer=True))
with plt.style.context("ggplot"):
    for ax in axes.flat:
        raise AssertionError("an inert thing has no items")
plt.show()
""")


def test_a_progress_bar_passes_its_items_on() -> None:
    works("""
from tqdm import tqdm, trange
from tqdm.auto import tqdm as automatic
from tqdm.notebook import tqdm_notebook
bar = tqdm(range(3), desc="epoch")
assert len(bar) == 3
for step in bar:
    bar.set_postfix(loss=step)
assert [*automatic(x for x in "ab")] == ["a", "b"]
assert [*trange(2, 4, leave=False)] == [2, 3]
with tqdm(total=10) as counter:
    counter.update(1)
import tqdm as module
assert sum(module.tqdm([1, 2])) == 3
""")


def test_what_a_progress_bar_is_told_to_write_is_printed() -> None:
    assert run("from tqdm import tqdm\ntqdm.write('loss 0.5')").stdout == "loss 0.5\n"


def test_ipython_may_be_asked_for_its_shell() -> None:
    works("""
from IPython import get_ipython
from IPython.display import clear_output, display
get_ipython().run_line_magic("matplotlib", "inline")
clear_output(wait=True)
display(3)
""")


def test_unpacking_what_is_inert_is_an_error_and_no_endless_loop() -> None:
    result = run("from matplotlib import pyplot\na, b = pyplot.hist([1])")
    assert "not enough values to unpack" in result.stderr


def test_a_real_module_is_not_replaced() -> None:
    works("import json, numpy\nassert json.loads('1') == 1\nassert numpy.ones(1)[0] == 1")


@pytest.mark.parametrize("module", ["pandas_of_nowhere", "torch_of_nowhere"])
def test_another_missing_module_stays_missing(module: str) -> None:
    assert f"No module named '{module}'" in run(f"import {module}").stderr
