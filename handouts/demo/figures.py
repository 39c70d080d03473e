"""The demo's pictures, each from numbers that a cell has just computed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

import plots
from differences import ORDERS, Example, best_step
from engine_trial import Trial
from growth import Size as Growth
from plots import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, Line, Picture
from programs import logistic
from swell import Size, Times


def maps(numbers: Sequence[int]) -> Picture:
    """The logistic map after each number of applications."""
    x = np.linspace(0, 1, 601)
    looks = zip((BLUE, RED, GREEN, PURPLE), ("-", "--", "-.", ":"), strict=True)
    curves = [
        Line(x, logistic(x, n), f"n = {n}", colour, "", dashes)
        for n, (colour, dashes) in zip(numbers, looks, strict=False)
    ]
    figure, axes = plots.canvas("x", r"$l_n(x)$")
    plots.draw(axes, curves, "", columns=4)
    return plots.finished(figure, "The logistic map after n applications")


def letters(numbers: Sequence[int], formulas: Sequence[tuple[Any, Any]]) -> Picture:
    """Letters of each formula and of its derivative."""
    function, derivative = zip(*((len(str(f)), len(str(d))) for f, d in formulas), strict=True)
    curves = [
        Line(numbers, derivative, r"$dl_n/dx$, product rule", RED, "s"),
        Line(numbers, function, r"$l_n$, as a product", BLUE, "o"),
    ]
    return plots.lines("applications n", "letters to write", curves, "Letters of formula and derivative")


def sizes(rows: Sequence[Size]) -> Picture:
    """Three sizes of the derivative against n."""
    n = [row.n for row in rows]
    curves = [
        Line(n, [row.tree for row in rows], "written out (tree)", RED, "s"),
        Line(n, [row.shared for row in rows], "repeated parts shared", ORANGE, "D", "--"),
        Line(n, [row.sweeps for row in rows], "forward + reverse sweep", BLUE, "o"),
    ]
    words = "Operations of the derivative: the tree grows exponentially, the sweeps linearly"
    return plots.lines("applications n", "operations", curves, words)


def build_times(rows: Sequence[Times]) -> Picture:
    """Seconds to build the compiled derivative against n."""
    n = [row.n for row in rows]
    curves = [
        Line(n, [row.build_tree for row in rows], "written out (tree)", RED, "s"),
        Line(n, [row.build_shared for row in rows], "repeated parts shared", ORANGE, "D", "--"),
    ]
    return plots.lines("applications n", "seconds to build", curves, "Seconds to build the derivative")


def run_times(rows: Sequence[Times], crossing: int | None, trial: Trial | None) -> Picture:
    """Seconds of one call against n, with the crossing and a student's curve."""
    n = [row.n for row in rows]
    curves = [
        Line(n, [row.run_tree for row in rows], "written out (tree)", RED, "s"),
        Line(n, [row.run_shared for row in rows], "repeated parts shared", ORANGE, "D", "--"),
        Line(n, [row.run_reverse for row in rows], "reverse mode, lab 1", BLUE, "o"),
        *students(trial, "logistic"),
    ]
    figure, axes = plots.canvas("applications n", "seconds of one call")
    if crossing is not None:
        axes.axvline(crossing, color=GREY, linestyle=":", linewidth=1.5)
        axes.annotate(f"n = {crossing}", (crossing, rows[0].run_tree), (4, 0), textcoords="offset points")
    plots.draw(axes, curves, "y")
    return plots.finished(figure, "Seconds of one call of the derivative")


def students(trial: Trial | None, program: str) -> list[Line]:
    """A student's curve, dashed and so labelled where its gradients are wrong; none where there is none."""
    if trial is None:
        return []
    sizes, seconds, right = trial.curve(program)
    if not sizes:
        return []
    label = "your engine" if right else "your engine (WRONG)"
    return [
        Line(sizes, seconds, label, GREEN if right else PURPLE, "^" if right else "X", "-" if right else ":")
    ]


def u_curves(example: Example, steps: Any, errors: dict[tuple[str, str], Any]) -> Picture:
    """Errors against the step, for both differences and both precisions; best steps by theory as stars."""
    figure, axes = plots.canvas("step h", "relative error", (5.2, 4.6))
    colours = {"forward": RED, "central": BLUE}
    curves = []
    for (method, dtype), found in errors.items():
        dashes = "-" if dtype == "float64" else "--"
        shown = np.where(found > 0, found, np.nan)
        curves.append(Line(steps, shown, f"{method}, {dtype}", colours[method], "", dashes))
        best = best_step(example, method, dtype)
        if np.isfinite(best):
            height = float(np.exp(np.interp(np.log(best), np.log(steps[::-1]), np.log(shown[::-1]))))
            axes.plot(best, height, "*", color=colours[method], markersize=15, markeredgecolor="black")
    for method, order in ORDERS.items():
        _guide(axes, example, order, best_step(example, method, "float64"))
    plots.draw(axes, curves, "xy")
    axes.set_ylim(1e-13, 30)
    return plots.finished(figure, "Error against the step, U-shaped; stars: the best steps by theory")


def _guide(axes: Axes, example: Example, order: int, best: float) -> None:
    """The truncation error by Taylor's theorem: a thin line of slope 1 or 2."""
    curvature = abs(example.derivative(order + 1) / example.derivative())
    if curvature == 0:
        return
    h = np.array([best, 1.0])
    error = curvature * h**order / (2 if order == 1 else 6)
    axes.plot(h, error, color=GREY, linewidth=1)
    middle = float(np.sqrt(h.prod()))
    height = float(np.sqrt(error.prod()))
    axes.annotate(f"slope {order}", (middle, height), (-52, 6), textcoords="offset points", color=GREY)


def cancellation(steps: Sequence[float], estimates: dict[str, Sequence[float]], truth: float) -> Picture:
    """Estimates of one derivative against the step, in both precisions."""
    looks = {"float32": (RED, "s", "--"), "float64": (BLUE, "o", "-")}
    curves = [Line(steps, found, dtype, *looks[dtype]) for dtype, found in estimates.items()]
    figure, axes = plots.canvas("step h", "estimated derivative")
    axes.axhline(truth, color="black", linewidth=1, label=f"truth: {truth:g}")
    plots.draw(axes, curves, "x")
    return plots.finished(figure, "In float32 the estimate falls to 0 as the step shrinks")


def evaluations(sizes: Sequence[int], counted: Sequence[int]) -> Picture:
    """Evaluations of the function for one gradient against N."""
    curves = [
        Line(sizes, counted, "central differences: 2N", RED, "s"),
        Line(sizes, [2] * len(sizes), "forward + reverse sweep: 2", BLUE, "o"),
    ]
    words = "2N evaluations for a gradient by differences, two sweeps in reverse mode"
    return plots.lines("parameters N", "evaluations and sweeps", curves, words, log="xy")


def costs(seconds: dict[str, tuple[Sequence[int], Sequence[float]]], trial: Trial | None) -> Picture:
    """Seconds of one gradient against N, by name of the way; a student's curve beside them."""
    looks = [(RED, "s", "-"), (ORANGE, "D", "--"), (BLUE, "o", "-")]
    curves = [Line(*curve, name, *look) for (name, curve), look in zip(seconds.items(), looks, strict=False)]
    curves += students(trial, "rosenbrock")
    return plots.lines("parameters N", "seconds", curves, "Seconds of one gradient against N", log="xy")


def griewank(sizes: Sequence[int], counted: Sequence[float], measured: Sequence[float]) -> Picture:
    """Cost of value and gradient over the cost of the value, and Griewank's bounds."""
    figure, axes = plots.canvas("parameters N", "cost (value + gradient) / cost (value)")
    axes.axhspan(3, 4, color=ORANGE, alpha=0.25, label="Griewank's bound: 3 to 4")
    curves = [
        Line(sizes, counted, "operations, counted", RED, "s"),
        Line(sizes, measured, "seconds, measured", BLUE, "o"),
    ]
    plots.draw(axes, curves, "x")
    axes.set_ylim(0, 6)
    return plots.finished(figure, "The gradient costs a small multiple of the value, whatever N is")


def network() -> Picture:
    """The diagram of a network with one hidden neuron: data in, prediction out, weights on the edges."""
    figure, axes = plots.canvas(size=(5.2, 1.5))
    axes.set_axis_off()
    axes.set_xlim(-0.4, 4.4)
    axes.set_ylim(-0.7, 0.7)
    for place, text in ((0, "$x$"), (2, r"$\tanh$"), (4, r"$\hat{y}$")):
        axes.plot(
            place, 0, "o", markersize=44, markerfacecolor="white", markeredgecolor=BLUE, markeredgewidth=2
        )
        axes.annotate(text, (place, 0), ha="center", va="center", fontsize=15)
    for start, weight in ((0.38, "$w_1$"), (2.38, "$w_2$")):
        arrow = {"arrowstyle": "->", "color": GREY, "linewidth": 2}
        axes.annotate("", (start + 1.25, 0), (start, 0), arrowprops=arrow)
        axes.annotate(weight, (start + 0.6, 0.12), ha="center", fontsize=15)
    return plots.finished(figure, "A network's diagram: data x in, prediction out, weights on the edges")


def passes(sizes: Sequence[int], forward: Sequence[float], reverse: Sequence[float]) -> Picture:
    """Seconds of one gradient against N, by N forward passes and by one reverse pass."""
    curves = [
        Line(sizes, forward, "forward mode: N passes", RED, "s"),
        Line(sizes, reverse, "reverse mode: 1 pass", BLUE, "o"),
    ]
    words = "Seconds of a gradient by N forward passes and by one reverse pass"
    return plots.lines("parameters N", "seconds", curves, words, log="xy")


def descent(losses: Sequence[float]) -> Picture:
    """The loss against the runs of one graph."""
    curves = [Line(range(len(losses)), losses, "f, Rosenbrock", BLUE, "")]
    return plots.lines(
        "runs of the graph", "loss f", curves, "The loss falls as one graph runs again and again"
    )


def orders(x: Any, found: Sequence[Any], known: Sequence[Any]) -> Picture:
    """tanh and its derivatives, each by differentiating the graph of the last; the closed forms as dots."""
    names = ("tanh x", "tanh' x", "tanh'' x", "tanh''' x")
    looks = zip((BLUE, RED, GREEN, PURPLE), ("-", "--", "-.", ":"), strict=True)
    figure, axes = plots.canvas("x", "")
    curves = [
        Line(x, values, name, colour, "", dashes)
        for values, name, (colour, dashes) in zip(found, names, looks, strict=True)
    ]
    some = slice(None, None, len(x) // 12)
    plots.draw(axes, curves, "")
    for values in known:
        axes.plot(x[some], values[some], ".", color=GREY)
    return plots.finished(figure, "tanh and three derivatives from the graph; dots: closed forms")


def growth(rows: Sequence[Growth]) -> Picture:
    """Nodes of the derivatives of tanh against their order."""
    order = [row.order for row in rows]
    curves = [
        Line(order, [row.nodes for row in rows], "as built", RED, "s"),
        Line(order, [row.merged for row in rows], "equal nodes merged", BLUE, "o"),
    ]
    return plots.lines(
        "order of the derivative", "nodes", curves, "Nodes of the derivatives of tanh by order"
    )
