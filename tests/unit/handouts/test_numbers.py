"""Numbers of the handouts against mathematics: plain formulas, complex steps, fractions; never our engine."""

import cmath
import functools
import math
import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import sympy

LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])

# --- Equations between numbers, wherever they stand ---------------------------------------------------------

FRACTION = re.compile(r"\\frac\{([^{}]*)\}\{([^{}]*)\}")
PLAIN = re.compile(r"(?:[\d.\s+\-*/()]|log|sin|cos)+\Z")
LITERAL = re.compile(r"\s*-?(\d+(?:\.(\d+))?)\s*(?:\*\s*10\s*\*\*\((-?\d+)\))?\s*\Z")


def in_python(latex):
    """A side of an equation as Python, or None where it is more than numbers."""
    text = re.sub(r"\\(?:[Bb]ig[lr]?|left|right|[,;!])", "", latex)
    text = re.sub(r"\^\{([^{}]*)\}", r"**(\1)", text)
    while FRACTION.search(text):
        text = FRACTION.sub(r"((\1)/(\2))", text)
    text = re.sub(r"\^(\d)", r"**\1", text).replace(r"\cdot", "*").replace(r"\ln", r"\log")
    text = re.sub(r"\\(log|sin|cos)\s*(\d+(?:\.\d+)?)", r"\1(\2)", text)
    return text.strip() if PLAIN.match(text) and re.search(r"\d", text) else None


def equations(page):
    """Sides of each equation between numbers, as Python, with what a reader would search for."""
    for block in page.blocks:
        for formula in block.formulas:
            sides = [in_python(side) for side in re.split(r"=|\\approx", formula)]
            sides = [side for side in sides if side]
            if len(sides) > 1:
                yield formula, sides


def half_a_digit(literal):
    _, decimals, exponent = LITERAL.match(literal).groups()
    return 0.5 * 10.0 ** (int(exponent or 0) - len(decimals or "")) * (1 + 1e-9)


def test_equations_between_numbers_hold(page):
    for formula, sides in equations(page):
        values = [eval(side, {"log": math.log, "sin": math.sin, "cos": math.cos}) for side in sides]
        assert LITERAL.match(sides[-1]), f"{formula}: its last side should be the result"
        for value in values:
            assert abs(value - values[-1]) <= half_a_digit(sides[-1]), formula


@LANGUAGES
def test_the_worked_example_has_equations_to_hold(page_named, language):
    found = [formula for formula, _ in equations(page_named(language, "lab1.md"))]
    assert len(found) == 7, found


# --- The running example ------------------------------------------------------------------------------------

STEPS = [  # of v3 to v7
    lambda v: cmath.log(v[0]),
    lambda v: v[0] * v[1],
    lambda v: cmath.sin(v[1]),
    lambda v: v[2] + v[3],
    lambda v: v[5] - v[4],
]
TINY = 1e-30j  # a complex step: no cancellation, so exact to rounding


def run(nudged=None):
    """v1 to v7 at (2, 5), node `nudged` moved by the step; what follows it is computed from the moved one."""
    v = []
    for place in range(7):
        v.append(complex([2.0, 5.0][place]) if place < 2 else STEPS[place - 2](v))
        if place == nudged:
            v[place] += TINY
    return v


def shown(number):
    """As the handout writes it: three decimals at most."""
    return (
        f"{number:.3f}".rstrip("0")
        .rstrip(".")
        .replace("-0", "0" if abs(number) < 5e-4 else "-0")
        .replace("-", "−")
    )


def slope(node, by):
    return run(by)[node].imag / TINY.imag


@LANGUAGES
def test_values_and_local_derivatives_of_the_running_example(page_named, language):
    rows = page_named(language, "lab1.md").table({"zh": "对第一个输入", "en": "by its first input"}[language])
    assert [row[0] for row in rows] == [f"$v_{n}$" for n in range(1, 8)]
    assert [row[2] for row in rows] == [shown(value.real) for value in run()]
    inputs = [(), (), (0,), (0, 1), (1,), (2, 3), (5, 4)]
    for node, (row, operands) in enumerate(zip(rows, inputs, strict=True)):
        v = run()
        partials = []
        for operand in operands:
            moved = list(v)
            moved[operand] += TINY
            partials.append(shown(STEPS[node - 2](moved).imag / TINY.imag))
        assert row[3:] == partials + [""] * (2 - len(partials)), row


@LANGUAGES
def test_tangents_of_the_running_example(page_named, language):
    head = {"zh": "$x_1$切量， 变化", "en": "$x_1$tangent,  moves"}[language]
    rows = page_named(language, "lab1.md").table(head)
    assert [row[2] for row in rows] == [shown(slope(node, 0)) for node in range(7)]
    assert [row[3] for row in rows] == [shown(slope(node, 1)) for node in range(7)]


@LANGUAGES
def test_adjoints_of_the_running_example(page_named, language):
    rows = page_named(language, "lab1.md").table({"zh": "伴随量", "en": "adjoint"}[language])
    assert [row[0] for row in rows] == [rf"$\bar v_{n}$" for n in range(7, 0, -1)]
    assert [row[2] for row in rows] == [shown(slope(6, node)) for node in range(6, -1, -1)]


@LANGUAGES
def test_the_figure_shows_the_values_of_the_running_example(page_named, language):
    (figure,) = [block for block in page_named(language, "lab1.md").blocks if block.kind == "fence {graph}"]
    values = [line.split("|")[2].strip() for line in figure.code[0].splitlines()]
    assert values == [shown(value.real) for value in run()]


# --- Differences --------------------------------------------------------------------------------------------


def rounded_exp(x):
    return type(x)(math.exp(float(x)))


def error_at_one(h, kind, central):
    """The relative error of a difference of e**x at 1, in a floating type."""
    one, h = kind(1), kind(h)
    behind, width = (one - h, kind(2) * h) if central else (one, h)
    return abs(float((rounded_exp(one + h) - rounded_exp(behind)) / width) - math.e) / math.e


def in_one_digit(number):
    digit, exponent = f"{number:.0e}".split("e")
    return f"{digit}e{int(exponent)}"


@LANGUAGES
def test_errors_of_differences(page_named, language):
    rows = page_named(language, "lab1.md").table({"zh": "中心，float32", "en": "central, float32"}[language])
    for step, *errors in rows:
        h = 10.0 ** int(re.search(r"\{(-\d+)\}", step)[1])
        kinds = [(np.float64, False), (np.float64, True), (np.float32, True)]
        assert errors == [in_one_digit(error_at_one(h, kind, central)) for kind, central in kinds]
    assert len(rows) == 5


@LANGUAGES
def test_cancellation_beside_a_million_in_float32(page_named, language):
    (block,) = [
        b for b in page_named(language, "lab1.md").blocks if r"f(\theta) = \theta^2 + 10^6" in b.formulas
    ]
    assert Counter(block.formulas[-6:]) == Counter(["0.7", "1.4", "1.25", "h = 0.1", "0", "h = 0.01"])

    def difference(h):
        h, at = np.float32(h), np.float32(0.7)
        up, down = ((at + step) ** 2 + np.float32(1e6) for step in (h, -h))
        return (up - down) / (2 * h)

    assert difference(0.1) == 1.25
    assert [difference(h) for h in np.geomspace(0.01, 1e-7, 60)] == [0] * 60


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_errata_s_medians(page_named, language):
    page = page_named(f"instructor/{language}", "errata.md")
    rows = page.table({"zh": "误差", "en": "error"}[language])
    x1, x2 = np.linspace(1, 3, 1001), np.linspace(4, 6, 1001)
    for kind, formula, printed in rows:
        kind = getattr(np, kind)
        h, shift = kind(1e-6), kind(1e6 if "10^6" in formula else 0)

        def f(a, b, shift=shift):
            return np.log(a) + a * b - np.sin(b) + shift

        a, b = x1.astype(kind), x2.astype(kind)
        found = np.array([f(a + h, b) - f(a - h, b), f(a, b + h) - f(a, b - h)]) / (2 * h)
        true = np.array([1 / a.astype(float) + b, a - np.cos(b.astype(float))])
        errors = np.linalg.norm(found - true, axis=0) / np.linalg.norm(true, axis=0)
        assert 0.5 < np.median(errors) / float(printed) < 2, (kind, formula)
    assert len(rows) == 3


# --- The logistic map, special points -----------------------------------------------------------------------


@LANGUAGES
def test_the_logistic_map(page_named, language):
    rows = page_named(language, "lab1.md").table(r"$d l_n / d x$")
    l, derivative = Fraction(3, 10), Fraction(1)
    for n, (count, value, shown_derivative) in enumerate(rows, start=1):
        l, derivative = 4 * l * (1 - l), derivative * 4 * (1 - 2 * l)
        assert count == str(n)
        for text, number in ((value, l), (shown_derivative, derivative)):
            decimals = len(text.partition(".")[2])
            assert abs(float(text.replace("−", "-")) - number) <= 0.5 * 10**-decimals
    assert len(rows) == 4


@functools.cache
def operations(n):
    """Of SymPy's derivative of n applications: as it comes, and with common subexpressions found."""
    l = x = sympy.symbols("x")
    for _ in range(n):
        l = 4 * l * (1 - l)
    derivative = sympy.diff(l, x)
    named, (rest,) = sympy.cse(derivative)
    return [
        sympy.count_ops(derivative),
        sum(sympy.count_ops(one) for _, one in named) + sympy.count_ops(rest),
    ]


@LANGUAGES
def test_the_swell_is_sympys_own(page_named, language):
    rows = page_named(language, "four-ways.md").table("$n$")
    assert [row[0] for row in rows] == ["1", "2", "4", "8", "10"]
    for n, *counts in rows:
        assert [int(count.replace(",", "")) for count in counts] == operations(int(n))


@LANGUAGES
def test_powers_of_a_negative_base(page_named, language):
    rows = dict(
        row for row in page_named(language, "lab1.md").table({"zh": "导数", "en": "derivative"}[language])
    )
    found = {
        int(re.search(r"a\^\{?(-?\d)", name)[1]): float(value.replace("−", "-"))
        for name, value in rows.items()
        if "a = -2" in name
    }
    assert found == {p: ((-2 + TINY) ** p).imag / TINY.imag for p in (3, -3)}
