"""How large derivatives of the logistic map become: written out, after sharing, and as a sweep over a graph.

Sizes are counted in arithmetic operations, as `sympy.count_ops` counts them. n is the number of applications.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import sympy

from cost import seconds_of, sweep_counts
from programs import logistic
from solved import Lab

X = sympy.Symbol("x")
AT = 0.3


@dataclass(frozen=True)
class Size:
    """Operations in the derivative of n applications."""

    n: int
    tree: int  # sympy's derivative, written out
    shared: int  # the same after common-subexpression elimination
    sweeps: int  # one forward and one reverse sweep


def derivative(n: int) -> Any:
    """What sympy makes of the derivative of n applications."""
    return sympy.diff(logistic(X, n), X)


def operations(expression: Any) -> int:
    """Operations in an expression that is evaluated as it is written: a repeated part counts each time."""
    return int(sympy.count_ops(expression))


def shared_operations(expression: Any) -> int:
    """Operations when each repeated part is computed once."""
    parts, rest = sympy.cse(expression)
    return sum(operations(part) for _, part in parts) + sum(operations(one) for one in rest)


def sweep_operations(lab: Lab, n: int) -> int:
    """Operations of one forward and one reverse sweep over lab 1's graph."""
    return sum(sweep_counts(lab, logistic(lab.graph.variable(AT), n)))


def sizes(lab: Lab, numbers: Iterable[int]) -> list[Size]:
    """The three sizes at each n."""
    rows = []
    for n in numbers:
        found = derivative(n)
        rows.append(Size(n, operations(found), shared_operations(found), sweep_operations(lab, n)))
    return rows


@dataclass(frozen=True)
class Times:
    """Seconds to build a function for the derivative of n applications, and to call it once."""

    n: int
    build_tree: float
    build_shared: float
    run_tree: float
    run_shared: float
    run_reverse: float  # builds its graph anew in every call: there is nothing to build before


def times(lab: Lab, numbers: Iterable[int]) -> list[Times]:
    """Times of sympy's derivative, compiled to Python as it is and with `cse`, and of reverse mode."""

    def reverse() -> float:
        x = lab.graph.variable(AT)
        return float(lab.engine.reverse_mode(logistic(x, n))[x])

    rows = []
    for n in numbers:
        tree, build_tree = _built(n, share=False)
        shared, build_shared = _built(n, share=True)
        runs = [seconds_of(call) for call in (lambda f=tree: f(AT), lambda f=shared: f(AT), reverse)]
        rows.append(Times(n, build_tree, build_shared, *runs))
    return rows


def crossing(rows: Iterable[Times]) -> int | None:
    """The n from which on calling sympy's raw derivative takes longer than reverse mode, if there is one."""
    slower: int | None = None
    for row in rows:
        if row.run_tree <= row.run_reverse:
            slower = None
        elif slower is None:
            slower = row.n
    return slower


def _built(n: int, share: bool) -> tuple[Callable[[float], float], float]:
    start = time.perf_counter()
    function = sympy.lambdify(X, derivative(n), "math", cse=share)
    return function, time.perf_counter() - start


def written(n: int, function: Any, slope: Any) -> str:
    """Markdown of both, the terms of the derivative one under the other."""
    first, *more = [sympy.latex(term) for term in sympy.Add.make_args(slope)]
    terms = [first, *(term if term.startswith("-") else f"+ {term}" for term in more)]
    rows = r" \\ & ".join(terms)
    return (
        f"$$l_{n} = {sympy.latex(function)}$$\n\n"
        f"$$\\begin{{split}} \\frac{{dl_{n}}}{{dx}} = & {rows} \\end{{split}}$$"
    )


def by_hand(n: int) -> tuple[Any, Any]:
    """n applications as a product, and its derivative by the product rule: what one writes by hand."""
    product = sympy.factor(logistic(X, n))
    return product, sympy.diff(product, X)
