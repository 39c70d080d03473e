"""Right kernels with one thing made wrong: which of them do values or reports catch?"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from labkit import cuda

from .corpus import FOLDER, Kernel, corpus
from .problems import PROBLEMS
from .running import ORDERS, instances, run

HELPER = re.compile(r"^(?:template <[^>]*>\n)?__device__ \w+ (\w+)\(.*?^}\n", re.M | re.S)
PLAIN = """template <typename T, typename V>
__device__ void plain_add(T* to, V value) { *to += value; }
template <typename T, typename V>
__device__ void plain_max(T* to, V value) { if (value > *to) *to = value; }
"""
# What is done, to what, and what stands there afterwards. Each place is a mutant of its own.
OPERATORS: list[tuple[str, str, str]] = [
    ("barrier deleted", r"__sync(threads|warp)\(\);", ";"),
    ("guard dropped", r"(?<![\w])if \(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)(?= return)", "if (false)"),
    ("guard dropped", r"(?<![\w])if \(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)(?! return)", "if (true)"),
    ("half a guard dropped", r"\w+ < \w+ && (?=\w+ < \w+\))", ""),
    ("half a guard dropped", r"(?<=\() *(\w+ < \w+) && \w+ < \w+(?=\))", r"\1"),
    ("< made <=", r" < ", " <= "),
    ("> made >=", r" > ", " >= "),
    (">= made >", r" >= ", " > "),
    ("atomic made plain", r"atomicAdd\(", "plain_add("),
    ("atomic made plain", r"atomicMax\(", "plain_max("),
    ("shared array shrunk", r"(?<=\[)256(?=[\] ])", "255"),
    ("shared array shrunk", r"(?<=\[)TILE(?=\])", "TILE - 1"),
    ("shared array shrunk", r"(?<=\[)16(?=\])", "9"),
    ("shared array shrunk", r"(?<=\[)32(?=\])", "7"),
    ("indices swapped", r"\[(\w+)\]\[(\w+)\]", r"[\2][\1]"),
    ("indices swapped", r"\[(\w+\.\w)\]\[(\w+\.\w)\](?=;| =)", r"[\2][\1]"),
    ("indices swapped", r"threadIdx\.x", "threadIdx.y"),
    ("indices swapped", r"threadIdx\.y", "threadIdx.x"),
    ("indices swapped", r"blockIdx\.x", "blockIdx.y"),
    ("indices swapped", r"blockIdx\.y", "blockIdx.x"),
    ("buffers swapped", r"\[1 - now\]", "[now]"),
    ("buffers swapped", r"\[now\]", "[1 - now]"),
    ("step changed", r"gridDim\.x \* blockDim\.x", "blockDim.x"),
    ("step changed", r"/= 2", "/= 4"),
    ("step changed", r"\*= 2", "*= 4"),
    ("index off by one", r"\[(t|i|column|row|start|j)\]", r"[\1 + 1]"),
    ("fill left out", r"(?<=[\w\]] = )([^?;]+) \? ([^?;]+) : [^?;]+(?=;)", r"\2"),
    ("begun wrong", r"= 0\.0f;", "= 1.0f;"),
    ("row length changed", r"\* columns\b", "* rows"),
    ("row length changed", r"\* width\b", "* height"),
]


@dataclass(frozen=True)
class Mutant:
    """A kernel and its helpers with one change."""

    kernel: Kernel
    operator: str
    before: str  # the line
    after: str
    nth: int  # of the lines that read like `before`
    text: str

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What names it in survivors.toml: lines may move."""
        return self.kernel.name, self.before, self.after, self.nth


def unit(kernel: Kernel) -> str:
    """The kernel's text after that of the helpers it calls."""
    helpers = {match[1]: match[0] for match in HELPER.finditer(kernel.path.read_text("utf-8"))}
    return "".join(text for name, text in helpers.items() if f"{name}(" in kernel.text) + kernel.text


def mutants_of(kernel: Kernel) -> Iterator[Mutant]:
    """All of one kernel, each once."""
    lines = unit(kernel).splitlines()
    seen = set()
    for operator, pattern, replacement in OPERATORS:
        for number, line in enumerate(lines):
            code = line.split("//")[0]
            shared_only = "shared array" in operator
            if code.startswith(("template", "extern", "__global__", "__device__")) or shared_only != (
                "__shared__" in code
            ):
                continue
            for match in re.finditer(pattern, code):
                after = code[: match.start()] + match.expand(replacement) + code[match.end() :]
                text = "\n".join([*lines[:number], after, *lines[number + 1 :]]) + "\n"
                if text not in seen and after != code:
                    seen.add(text)
                    nth = 1 + [other.strip() for other in lines[:number]].count(line.strip())
                    yield Mutant(kernel, operator, line.strip(), after.strip(), nth, text)


def renamed(mutant: Mutant, number: int) -> tuple[Kernel, str]:
    """The mutant under names of its own, for a file with many."""
    names = [mutant.kernel.name, *(match[1] for match in HELPER.finditer(mutant.text))]
    pattern = r"\b(" + "|".join(names) + r")(?=[(<])"
    kernel = replace(mutant.kernel, name=f"{mutant.kernel.name}_{number}")
    return kernel, re.sub(pattern, rf"\1_{number}", mutant.text)


def how_caught(module: Any, kernel: Kernel) -> str | None:
    """`report`, or else `values`, or else `warning`, if some size shows it."""
    family = PROBLEMS[kernel.problem].family
    found = None
    for block in family.blocks:
        for size in [*family.few, *family.sizes(block)]:
            outcome = run(module, kernel, block, size)
            if outcome.reports:
                return "report"
            if not outcome.right:
                found = "values"
            elif outcome.warnings:
                found = found or "warning"
    return found


def try_all(mutants: list[Mutant], backend: str, order: str = "forward") -> list[str | None]:
    """How each is caught in one mode, compiled as one file."""
    units = [renamed(mutant, number) for number, mutant in enumerate(mutants)]
    kernels = [kernel for kernel, _ in units]
    text = PLAIN + "".join(text for _, text in units)
    module = cuda.RawModule(code=text, backend=backend, order=order, name_expressions=instances(kernels))
    return [how_caught(module, kernel) for kernel in kernels]


def judge(mutants: list[Mutant]) -> list[str]:
    """`report`, `values`, `warning`, `fast` (only there) or `survived` for each."""
    verdicts = [found or "survived" for found in try_all(mutants, "cpu-check")]
    left = [number for number, verdict in enumerate(verdicts) if verdict == "survived"]
    for order in ORDERS if left else ():
        for number, found in zip(left, try_all([mutants[n] for n in left], "cpu", order), strict=True):
            if found:
                verdicts[number] = "fast"
    return verdicts


@cache
def proven(path: Path = FOLDER / "survivors.toml") -> dict[tuple[str, str, str, int], str]:
    """Why a survivor computes the same as the right kernel, by its key."""
    table = tomllib.loads(path.read_text("utf-8"))
    return {
        (one["kernel"], one["before"], one["after"], one.get("nth", 1)): one["why"]
        for one in table.get("survivor", [])
    }


def batches(size: int = 40) -> Iterator[list[Mutant]]:
    """All mutants, in files of bounded length."""
    mutants = [mutant for kernel in corpus("right") for mutant in mutants_of(kernel)]
    for start in range(0, len(mutants), size):
        yield mutants[start : start + size]
