"""Higher derivatives of everything together, large graphs, and corners."""

import sys

import numpy as np
import pytest

higher, scale, corners = (pytest.mark.task(one) for one in ("higher-order", "scale", "corners"))
cases = pytest.mark.parametrize

FORMULAS = {
    "sin(broadcast_to(a[0], (3, 3))) * b": lambda g, a, b: g.sin(g.broadcast_to(a[0], (3, 3))) * b,
    "(a * b[:, :1]) ** 2": lambda g, a, b: (a * b[:, :1]) ** 2,
    "sum(a * b, axis=0) ** 3": lambda g, a, b: g.sum(a * b, axis=0) ** 3,
    "transpose(a) ** 2 * b": lambda g, a, b: g.transpose(a) ** 2 * b,
    "sin(a @ b)": lambda g, a, b: g.sin(a @ b),
    "stacks": lambda g, a, b: g.reshape(a, (3, 1, 3)) @ g.reshape(b, (1, 3, 3)) * 0.5,
    "gather(a * a, [1, 1, 0]) * b": lambda g, a, b: g.gather(a * a, np.array([1, 1, 0])) * b,
    "relu(a) @ b": lambda g, a, b: g.relu(a * a + 0.1) @ b,
    "logsumexp(a * b, axis=1)": lambda g, a, b: g.logsumexp(a * b, axis=1),
    "softmax(a * b, axis=0)": lambda g, a, b: g.softmax(a * b, axis=0),
}


@higher
@cases("name", FORMULAS)
def test_second_derivatives(lab, tensor, differences, expect, name):
    """Gradients of gradients agree with differences of the gradients.
    梯度的梯度与梯度的差分一致。"""
    a, b = inputs = [lab.graph.variable((3, 3)) for _ in range(2)]
    y = FORMULAS[name](lab.graph, a, b)
    feeds = {x: tensor(3, 3, low=-1.0, high=1.0) for x in inputs}
    vectors = [tensor(3, 3), tensor(3, 3)]
    first = lab.engine.gradients(y, inputs, [tensor(*y.shape)])
    second = lab.engine.Executor(lab.engine.gradients(first, inputs, vectors))(feeds)
    for x, got in zip(inputs, second):

        def total(moved, x=x):
            return sum(
                float(np.sum(v * one))
                for v, one in zip(vectors, differences.values(first, feeds | {x: moved}))
            )

        which = "a" if x is a else "b"
        right = differences.slopes(total, feeds[x])
        expect.equal(
            f"gradients(gradients(y, [a, b], [v]), …) by {which}, y = {name}", got, right, differences.near
        )


@higher
def test_a_third_derivative(lab, expect):
    """The third derivative of the sum of x ** 4 is 24 x.
    x ** 4 之和的三阶导数是 24 x。"""
    x = lab.graph.variable((3,))
    y = lab.graph.sum(x**4)
    for _ in range(3):
        y = lab.graph.sum(lab.engine.gradients(y, [x])[0])
    (got,) = lab.engine.Executor(y)({x: np.array([1.0, -2.0, 0.5])})
    expect.equal("the sum of the third derivatives", float(got), -12.0)


@scale
def test_a_deep_chain(lab, expect):
    """A chain 10,000 deep, at Python's own recursion limit, which stays as it is.
    深 10,000 层的链（Python 默认递归上限，且不得改动它）。"""
    sys.setrecursionlimit(1000)
    x = lab.graph.variable(())
    y = x
    for step in range(10_000):
        y = y + x if step % 2 else y * 1.0
    (got,) = lab.engine.Executor(lab.engine.gradients(y, x))({x: 1.0})
    expect.equal("gradients(y, x)[0]", float(got), 5001.0)
    expect.equal("sys.getrecursionlimit()", sys.getrecursionlimit(), 1000)


@scale
def test_very_many_paths(lab, expect):
    """60 times y = y + y: 61 nodes, but 2**60 paths; the gradient's graph has a few nodes for each.
    做 60 次 y = y + y：61 个节点，却有 2**60 条路径；梯度的图对每个节点只有几个节点。"""
    x = y = lab.graph.variable(())
    for _ in range(60):
        y = y + y
    gradient = lab.engine.gradients(y, x)
    expect.holds(
        lab.graph.graph_size(gradient) < 300, "graph_size(gradients(y, x))", lab.graph.graph_size(gradient)
    )
    (got,) = lab.engine.Executor(gradient)({x: 1.0})
    expect.equal("gradients(y, x)[0]", float(got), 2.0**60)


@pytest.fixture
def partial(lab, differences):
    """The array of the only float input's partial adjoint at a node."""

    def of(node, feeds, vector):
        adjoint = lab.graph.variable(node.shape, node.dtype)
        return differences.values(node.op.vjp(adjoint, node)[:1], feeds | {adjoint: vector})[0]

    return of


@corners
def test_relu_with_infinities(lab, partial, expect):
    """An infinite adjoint gives 0 where the input is negative; at 0 anything from 0 to 1 is accepted.
    伴随量为无穷时，输入为负处得 0；在 0 处，0 到 1 之间的任何数都可以。"""
    x = lab.graph.variable((4,))
    array, vector = np.array([-1.0, 2.0, -np.inf, np.inf]), np.array([np.inf, -np.inf, 1.0, 2.0])
    got = partial(lab.graph.relu(x), {x: array}, vector)
    expect.equal(f"Relu.vjp at {array}, adjoint {vector}", got, np.array([0.0, -np.inf, 0.0, 2.0]))
    got = partial(lab.graph.relu(x), {x: np.zeros(4)}, np.ones(4))
    expect.holds(bool(np.all((got >= 0) & (got <= 1))), "Relu.vjp at 0, adjoint 1", got)


@corners
@cases("dtype", ["float64", "float32"])
def test_logsumexp_of_large_entries(lab, partial, expect, dtype):
    """At 1000, -1000 and -inf the shares are finite and add up to the adjoint.
    在 1000、-1000 和 -inf 处，各份有限，且加起来等于伴随量。"""
    x = lab.graph.variable((3, 3), dtype)
    array = np.array([[1000, 999, 0], [-1000, -1001, -1000], [-np.inf, 0, 1]], dtype)
    vector = np.array([1.0, -2.0, 0.5], dtype)
    got = partial(lab.graph.logsumexp(x, 1), {x: array}, vector)
    call = f"LogSumExp.vjp at {array.tolist()}"
    expect.equal(f"{call}, summed over axis 1", got.sum(axis=1), vector, 1e-5)
    expect.equal(f"{call}, dtype", str(got.dtype), dtype)


@corners
def test_no_entries(lab, partial, expect):
    """What is repeated 0 times receives zeros.
    重复 0 次的得到零。"""
    for shape, target in (((1, 2), (0, 2)), ((), (3, 0)), ((2, 1), (4, 2, 0))):
        x = lab.graph.variable(shape)
        got = partial(lab.graph.broadcast_to(x, target), {x: np.ones(shape)}, np.ones(target))
        expect.equal(f"BroadcastTo.vjp from {shape} to {target}", got, np.zeros(shape))
