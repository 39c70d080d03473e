"""Which mistakes are seen in fast mode and which in checked mode: the table in docs/cuda-detection.md.

`PYTHONPATH=tests/corpora python -m kernels.detection` writes it anew.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .corpus import Kernel, corpus
from .running import ORDERS, default_case, impatient, module_of, run

VERSION = 12
PAGE = Path(__file__).parents[3] / "docs" / "cuda-detection.md"
HEAD = """# What the kernel checker sees

Written by `PYTHONPATH=tests/corpora python -m kernels.detection`; a test compares. Each mistake stands in
small kernels of `tests/corpora/kernels/wrong`, run at one size, compiled by g++ {version}. *Fast* compares
values with NumPy's in three thread orders and has a guard page behind each array: *report* means that it said
so itself, *values* that only the numbers are wrong, *unseen* that all is right in all three orders. *Checked*
follows every load and store, and reports the same with g++ 11 and clang 14. In fast mode the vector that is
not aligned shows itself only where the compiler moves it as a whole.

""".replace("{version}", str(VERSION))


MUTANTS = "\n## Mutants of right kernels\n"


@dataclass(frozen=True)
class Detection:
    """How a wrong kernel shows itself."""

    fast: str  # report, values or unseen
    checked: frozenset[str]  # kinds of reports


@cache
def detect(kernel: Kernel) -> Detection:
    """Runs it in all modes."""
    block, size = default_case(kernel)
    fast = [run(module_of(kernel.path, "cpu", order), kernel, block, size) for order in ORDERS]
    checked = run(module_of(kernel.path, "cpu-check"), kernel, block, size)
    if any(outcome.reports for outcome in fast):
        seen = "report"
    else:
        seen = "unseen" if all(outcome.right for outcome in fast) else "values"
    return Detection(seen, frozenset(report.kind for report in checked.reports))


def page(mistakes: str = "", mutants: str = "") -> str:
    """The page, with what is given in the place of what stands there; `mutants` is what `make soak` found."""
    above, _, below = PAGE.read_text("utf-8").partition(MUTANTS)
    return (mistakes or above) + MUTANTS + (mutants or below)


def table() -> str:
    """The page's first part."""
    mistakes = sorted({kernel.mistake for kernel in corpus("wrong")})
    lines = [
        "| mistake | kernels | fast: report | fast: values | fast: unseen | checked: reported |",
        "|---|--:|--:|--:|--:|---|",
    ]
    totals: Counter[str] = Counter()
    for mistake in mistakes:
        found = [detect(kernel) for kernel in corpus("wrong") if kernel.mistake == mistake]
        fast = Counter(one.fast for one in found)
        seen = sum(bool(one.checked) for one in found)
        kinds = ", ".join(f"`{kind}`" for kind in sorted(set().union(*(one.checked for one in found))))
        cells = [str(fast[word] or "") for word in ("report", "values", "unseen")]
        lines.append(f"| {mistake} | {len(found)} | {' | '.join(cells)} | {seen}: {kinds} |")
        totals.update({**fast, "kernels": len(found), "checked": seen})
    cells = [str(totals[word]) for word in ("kernels", "report", "values", "unseen", "checked")]
    return HEAD + "\n".join([*lines, f"| **{len(mistakes)} mistakes** | {' | '.join(cells)} |"]) + "\n"


if __name__ == "__main__":
    with impatient():
        PAGE.write_text(page(table()), encoding="utf-8")
