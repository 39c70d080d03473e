"""The kernel checker, at length: no false alarm at any size, and mutants of right kernels are caught.

    python tests/soak/kernels.py

runs each right kernel of the corpus at all sizes and blocks, in checked mode and in three thread orders,
then makes one thing wrong in it, at each place in turn; how that was caught goes to docs/cuda-detection.md.
Exit code 0 if the right ones are clean, values or reports catch at least 97 % of the mutants, and
survivors.toml proves the rest equivalent and nothing else.
"""

import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "corpora"))

from kernels import detection, mutation
from kernels.corpus import corpus
from kernels.problems import PROBLEMS
from kernels.running import ORDERS, impatient, module_of, run

FLOOR = 0.97


def sweep() -> bool:
    """Each right kernel at all sizes: right values, no reports."""
    launches, alarms = 0, 0
    modes = [("cpu-check", "forward"), *(("cpu", order) for order in ORDERS)]
    for path in sorted({kernel.path for kernel in corpus("right")}):
        kernels = [kernel for kernel in corpus("right") if kernel.path == path]
        for backend, order in modes:
            module = module_of(path, backend, order)
            for kernel in kernels:
                family = PROBLEMS[kernel.problem].family
                for block, size in family.everything():
                    outcome = run(module, kernel, block, size)
                    launches += 1
                    if outcome.reports or not outcome.right:
                        alarms += 1
                        print(f"{kernel.name}, {backend} {order}, block {block}, size {size}: {outcome}")
    print(f"right kernels: {len(corpus('right'))}, {launches} launches, {alarms} not clean")
    return alarms == 0


def mutate() -> bool:
    """Every mutant: caught, or proven to compute the same."""
    verdicts: Counter[tuple[str, str]] = Counter()
    survivors: set[tuple[str, str, str, int]] = set()
    for batch in mutation.batches():
        for mutant, verdict in zip(batch, mutation.judge(batch), strict=True):
            verdicts[mutant.operator, verdict] += 1
            if verdict == "survived":
                survivors.add(mutant.key)
    proven = set(mutation.proven())
    for word, keys in (
        ("not proven equivalent", survivors - proven),
        ("proven, but caught", proven - survivors),
    ):
        for kernel, before, after, nth in sorted(keys):
            print(f"{word}: {kernel}, {before!r} (no. {nth}) made {after!r}")
    caught = 1 - len(survivors) / verdicts.total()
    found = table(verdicts)
    print(found)
    detection.PAGE.write_text(detection.page(mutants=found), encoding="utf-8")
    return survivors == proven and caught >= FLOOR


HEAD = """
Written by `make soak`: one thing is made wrong in a right kernel, at each place in turn, and it is run at
several sizes. *Report*: the checked mode reports an error; else *values*: the numbers are wrong; else
*warning*: it warns, as of threads that all store the same value; else *fast*: the fast mode alone shows it.
*Survived*: all sizes give the same, and `tests/corpora/kernels/survivors.toml` says why they must.

"""


def table(verdicts: Counter[tuple[str, str]]) -> str:
    """A line for each operator: how its mutants were caught."""
    words = ("report", "values", "warning", "fast", "survived")
    lines = [f"| what is changed | mutants | {' | '.join(words)} |", "|---|" + "--:|" * (1 + len(words))]
    for operator in sorted({name for name, _ in verdicts}):
        lines.append(_line(operator, [verdicts[operator, word] for word in words]))
    sums = [sum(count for (_, one), count in verdicts.items() if one == word) for word in words]
    return HEAD + "\n".join([*lines, _line(f"**{1 - sums[-1] / sum(sums):.1%} caught**", sums)]) + "\n"


def _line(name: str, counts: list[int]) -> str:
    return f"| {name} | {sum(counts)} | {' | '.join(str(count or '') for count in counts)} |"


if __name__ == "__main__":
    with impatient(), tempfile.TemporaryDirectory() as folder:
        os.environ["ADKIT_CUDA_CACHE"] = folder
        results = [sweep(), mutate()]
    sys.exit(0 if all(results) else 1)
