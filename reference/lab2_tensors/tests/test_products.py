"""Jacobian-vector and Hessian-vector products, against differences along the direction."""

import numpy as np
import pytest

jvp, hvp = pytest.mark.task("jvp"), pytest.mark.task("hvp")


@jvp
def test_the_lectures_numbers(lab, expect):
    """The lecture's example at (2, 5): 5.5 along x1, 1.716 along x2.
    课上的例子在 (2, 5)：沿 x1 为 5.5，沿 x2 为 1.716。"""
    x1, x2 = lab.graph.variable(()), lab.graph.variable(())
    y = lab.graph.log(x1) + x1 * x2 - lab.graph.sin(x2)
    for direction, right in (([1.0, 0.0], 5.5), ([0.0, 1.0], 1.7163378145367738)):
        (got,) = lab.engine.Executor(lab.engine.jvp(y, [x1, x2], direction))({x1: 2.0, x2: 5.0})
        expect.equal(f"jvp(y, [x1, x2], {direction})[0]", float(got), right)


@jvp
def test_random_graphs(lab, tensor, differences, random_graph, expect):
    """Tangents of several outputs agree with differences, in the order asked for.
    几个输出的切量与差分一致，按要求的次序给出。"""
    for _ in range(2):
        inputs = [lab.graph.variable((2, 2)) for _ in range(2)]
        feeds = {x: tensor(2, 2, low=-1.0, high=1.0) for x in inputs}
        y = random_graph(inputs)
        outputs, directions = [y, inputs[1], y * inputs[0], y], [tensor(2, 2), tensor(2, 2)]
        got = lab.engine.Executor(lab.engine.jvp(outputs, inputs, directions))(feeds)
        expect.equal("len(jvp([y, b, y * a, y], [a, b], directions))", len(got), 4)
        for i, (one, right) in enumerate(zip(got, differences.moved(outputs, feeds, inputs, directions))):
            expect.equal(f"jvp([y, b, y * a, y], [a, b], directions)[{i}]", one, right, differences.near)


@jvp
def test_forward_and_backward_agree(lab, tensor, random_graph, expect):
    """<v, J t> = <v J, t> for random v and t.
    对随机的 v 和 t，<v, J t> = <v J, t>。"""
    inputs = [lab.graph.variable((2, 2)) for _ in range(2)]
    feeds = {x: tensor(2, 2, low=-1.0, high=1.0) for x in inputs}
    y, v, t = random_graph(inputs), tensor(2, 2), [tensor(2, 2), tensor(2, 2)]
    (forward,) = lab.engine.Executor(lab.engine.jvp(y, inputs, t))(feeds)
    backward = lab.engine.Executor(lab.engine.gradients(y, inputs, [v]))(feeds)
    right = float(sum(np.sum(one * way) for one, way in zip(backward, t)))
    expect.equal("<v, jvp(y, inputs, t)>", float(np.sum(v * forward)), right)


@jvp
def test_what_does_not_move(lab, expect):
    """What no moving input reaches has zeros of its shape and dtype; tangents can be differentiated.
    移动的输入到达不了的输出，切量是同形状同类型的零；切量还可以再求导。"""
    x, still = lab.graph.variable((2,)), lab.graph.variable((3,), np.float32)
    feeds = {x: np.array([1.0, 2.0]), still: np.ones(3, np.float32)}
    tangents = lab.engine.jvp([still * 2.0, x * x * x], [x], [np.array([1.0, -1.0])])
    got = lab.engine.Executor(tangents)(feeds)
    expect.equal("jvp([2 still, x ** 3], [x], [t])[0]", got[0], np.zeros(3, np.float32))
    expect.equal("jvp([2 still, x ** 3], [x], [t])[1]", got[1], np.array([3.0, -12.0]))
    (again,) = lab.engine.Executor(lab.engine.jvp(tangents[1], [x], [np.array([1.0, 1.0])]))(feeds)
    expect.equal("jvp(jvp(x ** 3, …), [x], [s])[0]", again, np.array([6.0, -12.0]))


def bend(graph, a, b):
    """A number from two vectors of four entries."""
    y = graph.sin(a) * b + graph.exp(graph.tanh(a * b))
    return y[0] * y[1] - y[2] * b[3] + y[3] * a[0]


@hvp
def test_products_with_the_hessian(lab, tensor, differences, expect):
    """Hessian-vector products of two tensors agree with differences of the gradient, by either order.
    两个张量的海森-向量积与梯度的差分一致，并且对称。"""
    a, b = inputs = [lab.graph.variable((4,)) for _ in range(2)]
    y = bend(lab.graph, a, b)
    feeds = {x: tensor(4, low=-1.0, high=1.0) for x in inputs}
    vectors, others = [tensor(4), tensor(4)], [tensor(4), tensor(4)]
    gradient = lab.engine.gradients(y, inputs)
    got = lab.engine.Executor(lab.engine.hvp(y, inputs, vectors))(feeds)
    for i, (one, right) in enumerate(zip(got, differences.moved(gradient, feeds, inputs, vectors))):
        expect.equal(f"hvp(y, [a, b], vectors)[{i}]", one, right, differences.near)
    swapped = lab.engine.Executor(lab.engine.hvp(y, inputs, others))(feeds)
    left = float(sum(np.sum(one * way) for one, way in zip(got, others)))
    right = float(sum(np.sum(one * way) for one, way in zip(swapped, vectors)))
    expect.equal("<u, H v> - <v, H u>", left - right, 0.0)


@hvp
def test_the_hessian_itself(lab, tensor, differences, expect):
    """The product is that of the whole matrix, which differences of values confirm.
    这个积与整个矩阵的积一致，而矩阵由值的差分验证。"""
    a, b = lab.graph.variable((4,)), lab.graph.variable((4,))
    y, vector = bend(lab.graph, a, b), tensor(4)
    feeds = {a: tensor(4, low=-1.0, high=1.0), b: tensor(4, low=-1.0, high=1.0)}
    (got,) = lab.engine.Executor(lab.engine.hvp(y, [a], [vector]))(feeds)

    def slope(array):
        """The derivative of the value along the vector."""
        return float(differences.moved([y], feeds | {a: array}, [a], [vector])[0])

    expect.equal("hvp(y, [a], [v])[0]", got, differences.slopes(slope, feeds[a]), 1e-5)


@hvp
def test_flat_functions(lab, expect):
    """A linear function has zeros, in the shapes and dtypes of the inputs.
    线性函数的海森-向量积为零，形状和类型与输入相同。"""
    x, unused = lab.graph.variable((2,), np.float32), lab.graph.variable((3,), np.float32)
    got = lab.engine.Executor(lab.engine.hvp(x[0] * 2.0 - x[1], [x, unused], [np.ones(2), np.ones(3)]))
    for name, one, size in zip(("x", "unused"), got({x: np.ones(2, np.float32)}), (2, 3)):
        expect.equal(f"hvp(2 x[0] - x[1], [x, unused], vectors), by {name}", one, np.zeros(size, np.float32))


@hvp
def test_the_matrix_is_never_built(lab, expect):
    """8,192 variables: the product costs a few gradients, the whole matrix 512 MB.
    8,192 个变量：这个积只需几次梯度的代价，整个矩阵要 512 MB。"""
    x = lab.graph.variable((8192,))
    y = x * x * x
    while y.shape[0] > 1:
        half = y.shape[0] // 2
        y = y[:half] + y[half:]
    (got,) = lab.engine.Executor(lab.engine.hvp(y[0], [x], [np.arange(8192.0)]))({x: np.ones(8192)})
    expect.equal("hvp(sum of cubes, [x], [v])[0], x = 1", got, 6 * np.arange(8192.0))
