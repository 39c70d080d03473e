"""Backward kernels by their laws: each is compared with itself, or with differences of the forward kernel.

They run in the checked mode, which sees every access of every thread; without a compiler they don't run.
"""

import numpy as np
import pytest

from labkit import cuda

BOTH = [
    pytest.param("multiply", marks=pytest.mark.task("multiply-backward")),
    pytest.param("log", marks=pytest.mark.task("log-backward")),
]
each = pytest.mark.parametrize("name", BOTH)
BLOCK = 64
TOLERANCE = 1e-5


class Operation:
    """An operation's two kernels on n random points, launched in blocks of 64."""

    def __init__(self, kernels, expect, draw, name, n):
        self.module, self._expect, self.name, self.n = kernels.ready(f"{name}_backward"), expect, name, n
        count = 2 if name == "multiply" else 1
        self.operands = [np.array(draw.many(n, 0.5, 3), np.float32) for _ in range(count)]
        self.upstream = np.array([draw.signed(0.5, 2) for _ in range(n)], np.float32)

    def forward(self, operands):
        """The values of the result."""
        value = cuda.empty(self.n, np.float32)
        self._launch("forward", operands, [value])
        return cuda.asnumpy(value)

    def backward(self, operands, before):
        """The operands' adjoints after the launch, given what has arrived before; one array stays one."""
        unique = {id(one): cuda.asarray(one) for one in before}
        adjoints = [unique[id(one)] for one in before]
        value = cuda.asarray(self.forward(operands))
        self._launch("backward", operands, [value, cuda.asarray(self.upstream), *adjoints])
        return [cuda.asnumpy(adjoint) for adjoint in adjoints]

    def _launch(self, direction, operands, arguments):
        kernel = f"{self.name}_{direction}"
        described = []
        for operand in operands:
            described += [cuda.asarray(operand), np.int32(len(operand) == self.n)]
        grid = (max(1, -(-self.n // BLOCK)),)
        self.module.get_function(kernel)(grid, (BLOCK,), (*described, *arguments, np.int32(self.n)))
        self._expect.no_reports(f"{kernel}, n = {self.n}, block = {BLOCK}", self.module)


@pytest.fixture
def operation(kernels, expect, draw):
    """Makes an Operation."""
    return lambda name, n: Operation(kernels, expect, draw, name, n)


def zeros(operands):
    """Adjoints to which nothing has arrived yet."""
    return [np.zeros_like(operand) for operand in operands]


@each
@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_partial_adjoints_agree_with_differences(operation, expect, name, n):
    """At every point partial adjoints agree with differences of the forward kernel; no thread goes astray.
    每个点上的部分伴随与正向核函数的差分一致；没有线程越界。"""
    it, h = operation(name, n), np.float32(0.01)
    found = it.backward(it.operands, zeros(it.operands))
    for slot, operand in enumerate(it.operands):
        ahead, behind = list(it.operands), list(it.operands)
        ahead[slot], behind[slot] = operand + h, operand - h
        slope = (it.forward(ahead) - it.forward(behind)) / (ahead[slot] - behind[slot])
        call = f"{name}_backward: {'ab'[slot]}_adjoint, n = {n}"
        expect.equal(call, found[slot], it.upstream * slope, 1e-3)


@each
def test_what_has_arrived_before_stays(operation, draw, expect, name):
    """The kernel adds to what has arrived from other users.
    核函数在别的使用者交来的伴随量上累加。"""
    it = operation(name, 70)
    before = [np.array(draw.many(70, -2, 2), np.float32) for _ in it.operands]
    fresh, found = it.backward(it.operands, zeros(it.operands)), it.backward(it.operands, before)
    for slot in range(len(before)):
        call = f"{name}_backward: {'ab'[slot]}_adjoint, not 0 before"
        expect.equal(call, found[slot], before[slot] + fresh[slot], TOLERANCE)


@each
@pytest.mark.parametrize("n", [33, 150])
def test_an_operand_that_all_points_share(operation, expect, name, n):
    """The adjoint of an operand that all points share is the sum over the points; no part is lost.
    所有点共用的操作数，伴随量是对所有点求和，哪个线程的都不丢。"""
    it = operation(name, n)
    for slot in range(len(it.operands)):
        one = it.operands[slot][:1]
        spread, shared = list(it.operands), list(it.operands)
        spread[slot], shared[slot] = np.repeat(one, n), one
        apart, together = (it.backward(some, zeros(some))[slot] for some in (spread, shared))
        call = f"{name}_backward: {'ab'[slot]}_adjoint, {'ab'[slot]}_stride = 0, n = {n}"
        expect.equal(call, together, apart.sum(keepdims=True), 1e-4)


@pytest.mark.task("multiply-backward")
def test_one_node_as_both_factors(operation, expect):
    """Of x * x both adjoints are one array: both parts arrive there.
    对 x * x，两个伴随量是同一个数组：两份都要加上。"""
    it = operation("multiply", 70)
    x = it.operands[0]
    apart, adjoint = it.backward([x, x], zeros([x, x])), np.zeros_like(x)
    together = it.backward([x, x], [adjoint, adjoint])[0]
    expect.equal("multiply_backward: the adjoint of x in x * x", together, apart[0] + apart[1], TOLERANCE)


@pytest.mark.parametrize(
    ("name", "formula", "value", "gradient"),
    [
        pytest.param(
            "multiply",
            "x1 * x2 - sin(x2)",
            10.958924274663138,
            [5.0, 1.7163378145367738],
            marks=BOTH[0].marks,
        ),
        pytest.param(
            "log", "log(x1) - sin(x2)", 1.6520714552230838, [0.5, -0.2836621854632262], marks=BOTH[1].marks
        ),
    ],
)
def test_the_evaluator_at_the_lectures_point(lab, kernels, expect, name, formula, value, gradient):
    """The evaluator finds value and gradient of a part of the lecture's example, at 300 points at once.
    求值器一次在 300 个点上算出课上例子的一部分的值和梯度。"""
    kernels.ready(f"{name}_backward")
    x1, x2 = lab.graph.variable(1.0), lab.graph.variable(1.0)
    first = x1 * x2 if name == "multiply" else lab.graph.log(x1)
    output = first - lab.graph.sin(x2)
    evaluator = lab.cuda_ops.DeviceEvaluator(output, [x1, x2], backend="cpu-check")
    points = np.tile(np.array([2.0, 5.0], np.float32), (300, 1))
    call = f"evaluator: {formula} at (2, 5)"
    expect.equal(f"{call}: value", evaluator.value(points), np.full(300, value, np.float32), TOLERANCE)
    right = np.tile(np.array(gradient, np.float32), (300, 1))
    expect.equal(f"{call}: gradient", evaluator.gradient(points), right, TOLERANCE)
    expect.no_reports(call, evaluator.module)
