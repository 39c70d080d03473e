"""What public tests say: how an answer is compared, and the numbers that inputs are drawn from."""

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat

import numpy as np

from labkit import localise

TOLERANCE = 1e-9  # relative to the right value, or to 1


class Wrong(Exception):
    """An answer is not what it must be; without `expected`, the test's own sentence says what is."""

    def __init__(
        self, call: str, got: str, expected: str = "", finding: localise.Finding | None = None
    ) -> None:
        super().__init__(call)
        self.call, self.got, self.expected, self.finding = call, got, expected, finding


class Broken(Exception):
    """A test needs a module of the student's that could not be imported, or kernels that don't compile."""

    def __init__(self, module: str) -> None:
        super().__init__(module)
        self.module = module


class Reported(Exception):
    """The checked mode saw a mistake in a kernel: `text` by language, `frame` where it stands."""

    def __init__(self, call: str, report: Any) -> None:
        super().__init__(report.message)
        self.call = call
        self.text = {language: report.said.text(language) for language in ("zh", "en")}
        self.frame = {"file": report.file, "line": report.line, "function": report.kernel}


class Expect:
    """The fixture `expect`: each method raises Wrong, or nothing.

    call: what was called, as the student would type it.
    """

    def equal(self, call: str, got: Any, expected: Any, tolerance: float = TOLERANCE) -> None:
        """Kind, then shape, then values: floats to a relative tolerance, whole numbers and texts exactly."""
        if isinstance(expected, int | str):
            if type(got) is not type(expected) or got != expected:
                raise Wrong(call, text(got), text(expected))
        elif isinstance(expected, list):
            self._same_length(call, got, expected)
            for i, (one, other) in enumerate(zip(got, expected, strict=True)):
                self.equal(f"{call}[{i}]", one, other, tolerance)
        elif isinstance(expected, np.ndarray):
            self._equal_array(call, got, expected, tolerance)
        elif not (isinstance(got, float) and close(got, expected, tolerance)):
            raise Wrong(call, text(got), text(expected))

    def holds(self, holds: bool, call: str, got: object) -> None:
        """A law, which the test's own sentence states."""
        if not holds:
            raise Wrong(call, text(got))

    def no_reports(self, call: str, module: Any) -> None:
        """The checked mode saw no mistake in a module's kernels; warnings are none."""
        for report in module.reports:
            if report.severity == "error":
                raise Reported(call, report)

    def adjoints(self, call: str, output: Any, node_to_grad: Any, seed: Any = 1.0) -> None:
        """The adjoint of every node of a small graph, by differences; the first wrong node is named."""
        if not isinstance(node_to_grad, Mapping):
            raise Wrong(call, text(node_to_grad), "{node: adjoint}")
        self._none(call, localise.locate(output, node_to_grad, seed))

    def tangents(
        self, call: str, nodes: Sequence[Any], got: Any, inputs: Sequence[Any], direction: Sequence[float]
    ) -> None:
        """The tangent of every node of a small graph, by differences; the first wrong node is named."""
        self._same_length(call, got, nodes)
        self._none(call, localise.locate_tangent(nodes, got, inputs, direction))

    def partials(self, call: str, node: Any) -> None:
        """The local derivatives of one node, by differences of its operation's own compute."""
        self.local_derivatives(call, node)
        fault = localise.partials_fault(node)
        if fault is not None:
            slot, got, expected = fault
            raise Wrong(f"{call}[{slot}]", text(got), text(expected))

    def local_derivatives(self, call: str, node: Any) -> tuple[Any, ...]:
        """What partials gives for a node, if that is a tuple with one entry for each input."""
        answer = node.op.partials(tuple(operand.value for operand in node.inputs), node.value)
        if not isinstance(answer, tuple):
            raise Wrong(f"type({call})", type(answer).__name__, "tuple")
        if len(answer) != len(node.inputs):
            raise Wrong(f"len({call})", str(len(answer)), str(len(node.inputs)))
        return answer

    def _none(self, call: str, finding: localise.Finding | None) -> None:
        if finding is not None:
            local = finding.kind in ("partials", "shape")
            where = call if local else f"{call}[{finding.place}]"
            raise Wrong(where, text(finding.got), text(finding.expected), finding)

    def _same_length(self, call: str, got: Any, expected: Sequence[Any]) -> None:
        if not isinstance(got, list):
            raise Wrong(f"type({call})", type(got).__name__, "list")
        if len(got) != len(expected):
            raise Wrong(f"len({call})", str(len(got)), str(len(expected)))

    def _equal_array(self, call: str, got: Any, expected: "np.ndarray[Any, Any]", tolerance: float) -> None:
        if not isinstance(got, np.ndarray):
            raise Wrong(f"type({call})", type(got).__name__, "ndarray")
        if (got.dtype, got.shape) != (expected.dtype, expected.shape):
            raise Wrong(call, f"{got.dtype} {got.shape}", f"{expected.dtype} {expected.shape}")
        for place in np.ndindex(expected.shape):
            if not close(got[place], expected[place], tolerance):
                index = ", ".join(map(str, place))
                raise Wrong(f"{call}[{index}]", text(got[place]), text(expected[place]))


def close(got: SupportsFloat, expected: SupportsFloat, tolerance: float) -> bool:
    """Whether two numbers are equal to a tolerance; NaN equals NaN, and an infinity itself only."""
    one, right = float(got), float(expected)
    if not (math.isfinite(one) and math.isfinite(right)):
        return one == right or (math.isnan(one) and math.isnan(right))
    return abs(one - right) <= tolerance * max(1.0, abs(right))


def text(value: object, digits: int = 9) -> str:
    """A value in a few characters."""
    if isinstance(value, float | np.floating):
        return f"{float(value):.{digits}g}"
    if isinstance(value, dict):
        entries = (f"{key!r}: {text(one, digits)}" for key, one in list(value.items())[:6])
        return "{" + ", ".join(entries) + (", …" if len(value) > 6 else "") + "}"
    if isinstance(value, list | tuple):
        inner = ", ".join(text(one, digits) for one in value[:6]) + (", …" if len(value) > 6 else "")
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    try:
        shown = str(value) if isinstance(value, str) else repr(value)
    except Exception:  # a student's own __repr__
        shown = f"<{type(value).__name__}>"
    return shown if len(shown) <= 80 else shown[:79] + "…"


class Draw:
    """The fixture `draw`: random inputs, the same for a seed and a test, with few digits to type."""

    def __init__(self, seed: int, test: str) -> None:
        self._random = np.random.default_rng([seed, zlib.crc32(test.encode())])

    def uniform(self, low: float, high: float) -> float:
        """One number between low and high, of four digits."""
        return round(float(self._random.uniform(low, high)), 4)

    def signed(self, low: float, high: float) -> float:
        """One number of either sign, its size between low and high."""
        return self.uniform(low, high) * (1 if self._random.random() < 0.5 else -1)

    def many(self, n: int, low: float, high: float) -> list[float]:
        """n numbers between low and high."""
        return [self.uniform(low, high) for _ in range(n)]

    def index(self, n: int) -> int:
        """One of 0, …, n - 1."""
        return int(self._random.integers(n))
