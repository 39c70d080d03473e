"""Each rule by itself, without your `gradients`: against differences of the operation's own compute."""

import numpy as np
import pytest

broadcasting, sums = pytest.mark.task("broadcast-to"), pytest.mark.task("sum")
transposes, products = pytest.mark.task("transpose"), pytest.mark.task("matmul")
relu, gather, logsumexp = (pytest.mark.task(one) for one in ("relu", "gather", "logsumexp"))
cases = pytest.mark.parametrize


def last(node, kind):
    """The node of an operation below a node: products are reshaped afterwards."""
    while type(node.op).__name__ != kind:
        node = node.inputs[0]
    return node


@broadcasting
@cases(
    ("shape", "target"),
    [
        ((3,), (2, 3)),
        ((3,), (3, 3)),
        ((), (2, 2)),
        ((3, 1), (3, 4)),
        ((3, 1), (3, 3)),
        ((1, 3), (2, 2, 3)),
        ((2, 1, 3), (2, 4, 3)),
        ((1, 3), (2, 1, 3)),
        ((1, 2), (0, 2)),
        ((1,), (0,)),
    ],
    ids=str,
)
def test_what_was_repeated_adds_up(lab, tensor, rule, shape, target):
    """The partial adjoint of broadcast_to agrees with differences, in the shape of the input.
    broadcast_to 的部分伴随与差分一致，形状与输入相同。"""
    x = lab.graph.variable(shape)
    rule(lab.graph.broadcast_to(x, target), {x: tensor(*shape)})


@broadcasting
def test_broadcasting_keeps_dtype_and_state(lab, tensor, rule, kinds):
    """float32 stays float32, and one operation object serves inputs of several shapes.
    float32 仍是 float32；同一个运算对象可用于几种形状的输入。"""
    kinds(lambda a: lab.graph.broadcast_to(a, (2, 3)), (3,))
    op = lab.graph.broadcast_to(lab.graph.variable((3,)), (2, 3)).op
    for shape in ((3,), (2, 1), (1, 3), (3,)):
        x = lab.graph.variable(shape)
        rule(lab.graph.Node(op, (x,), (2, 3), x.dtype), {x: tensor(*shape)})


AXES = [None, 0, 1, -1, (0, 2), (2, 0), (-1, 1), ()]


@sums
@cases("axis", AXES, ids=str)
def test_sums_over_any_axes(lab, tensor, rule, axis):
    """The partial adjoint of sum agrees with differences, for boxes, cubes and kept axes.
    sum 的部分伴随与差分一致：长度各异、长度相等的张量，以及 keepdims。"""
    for shape in ((2, 3, 4), (3, 3, 3), (2, 1, 3)):
        for keepdims in (False, True):
            x = lab.graph.variable(shape)
            rule(lab.graph.sum(x, axis, keepdims), {x: tensor(*shape)})


@sums
def test_sums_keep_dtype_and_state(lab, tensor, rule, kinds):
    """float32 stays float32, and one operation object serves inputs of several shapes.
    float32 仍是 float32；同一个运算对象可用于几种形状的输入。"""
    kinds(lambda a: lab.graph.sum(a, 1), (2, 3))
    op = lab.graph.sum(lab.graph.variable((2, 3)), 1).op
    for shape in ((2, 3), (4, 3), (3, 2), (2, 3)):
        x = lab.graph.variable(shape)
        rule(lab.graph.Node(op, (x,), shape[:1], x.dtype), {x: tensor(*shape)})


@transposes
@cases("axes", [None, (1, 2, 0), (2, 0, 1), (0, 2, 1), (-1, 0, 1)], ids=str)
def test_transposes_by_any_axes(lab, tensor, rule, axes):
    """The partial adjoint of transpose agrees with differences; equal lengths hide nothing.
    transpose 的部分伴随与差分一致；长度相等也蒙混不过。"""
    for shape in ((2, 3, 4), (2, 2, 2)):
        x = lab.graph.variable(shape)
        rule(lab.graph.transpose(x, axes), {x: tensor(*shape)})


@transposes
def test_transposes_of_two_and_four_axes(lab, tensor, rule, kinds):
    """Matrices, four axes, and one operation object at several inputs.
    矩阵、四个轴，以及同一个运算对象用于几个输入。"""
    kinds(lab.graph.transpose, (2, 3))
    x, y = lab.graph.variable((2, 3)), lab.graph.variable((1, 2, 3, 2))
    rule(lab.graph.transpose(x), {x: tensor(2, 3)})
    node = lab.graph.transpose(y, (1, 3, 0, 2))
    rule(node, {y: tensor(1, 2, 3, 2)})
    z = lab.graph.variable((2, 2, 1, 3))
    rule(lab.graph.Node(node.op, (z,), (2, 3, 2, 1), z.dtype), {z: tensor(2, 2, 1, 3)})


@products
@cases(
    ("left", "right"),
    [
        ((2, 3), (3, 4)),
        ((3, 3), (3, 3)),
        ((3,), (3, 2)),
        ((2, 3), (3,)),
        ((3,), (3,)),
        ((2, 3, 2), (2, 2, 3)),
        ((2, 2, 2), (2, 2, 2)),
        ((2, 1, 2, 2), (2, 1, 2, 2)),
        ((2, 0), (0, 3)),
    ],
    ids=str,
)
def test_products_of_matrices(lab, tensor, rule, left, right):
    """Both partial adjoints of matmul agree with differences.
    matmul 的两个部分伴随都与差分一致。"""
    a, b = lab.graph.variable(left), lab.graph.variable(right)
    rule(last(a @ b, "MatMul"), {a: tensor(*left), b: tensor(*right)})


@products
def test_products_keep_dtype(lab, kinds):
    """float32 stays float32.
    float32 仍是 float32。"""
    kinds(lambda a, b: a @ b, (2, 3), (3, 4))


@relu
def test_relu_chooses(lab, tensor, rule, kinds):
    """The partial adjoint of relu agrees with differences, also through its graph.
    relu 的部分伴随与差分一致，它的图也一样。"""
    kinds(lab.graph.relu, (2, 3))
    for shape in ((), (5,), (2, 3)):
        x = lab.graph.variable(shape)
        for low, high in ((0.1, 2.0), (-2.0, -0.1)):
            rule(lab.graph.relu(x), {x: tensor(*shape, low=low, high=high)})
    x = lab.graph.variable((4,))
    rule(lab.graph.relu(x), {x: np.array([1e-1, -1e-1, 1e3, -1e3])})


@relu
def test_relu_leaves_the_adjoint_alone(lab, tensor, differences, expect):
    """Running the partial adjoint of relu changes neither the adjoint nor the input.
    运行 relu 的部分伴随，既不改动伴随量，也不改动输入。"""
    x, adjoint = lab.graph.variable((4,)), lab.graph.variable((4,))
    node = lab.graph.relu(x)
    array, vector = np.array([1.0, -1.0, 0.5, -0.5]), tensor(4)
    kept = array.copy(), vector.copy()
    differences.values(node.op.vjp(adjoint, node), {x: array, adjoint: vector})
    expect.equal("the input of relu, afterwards", array, kept[0])
    expect.equal("the adjoint of relu, afterwards", vector, kept[1])


@gather
@cases("axis", [0, 1, -1])
@cases("indices", [[2, 0], [1, 1, 0, 1], [[0, 0], [2, -1]], 1, []], ids=str)
def test_what_is_looked_up_twice_adds_up(lab, tensor, rule, indices, axis):
    """The partial adjoint of gather agrees with differences; indices have none.
    gather 的部分伴随与差分一致；下标没有部分伴随。"""
    places = np.array(indices, np.int64)
    for shape in ((3, 4), (3, 3)):
        x, i = lab.graph.variable(shape), lab.graph.variable(places.shape, np.int64)
        rule(lab.graph.gather(x, i, axis), {x: tensor(*shape), i: places})


@logsumexp
@cases("axis", AXES, ids=str)
def test_logsumexp_over_any_axes(lab, tensor, rule, axis):
    """The partial adjoint of logsumexp agrees with differences, also through its graph.
    logsumexp 的部分伴随与差分一致，它的图也一样。"""
    for shape in ((2, 3, 2), (2, 2, 2)):
        for keepdims in (False, True):
            x = lab.graph.variable(shape)
            rule(lab.graph.logsumexp(x, axis, keepdims), {x: tensor(*shape)})


@logsumexp
def test_logsumexp_keeps_dtype_and_state(lab, tensor, rule, kinds):
    """float32 stays float32, and one operation object serves inputs of several shapes.
    float32 仍是 float32；同一个运算对象可用于几种形状的输入。"""
    kinds(lambda a: lab.graph.logsumexp(a, 1), (2, 3))
    op = lab.graph.logsumexp(lab.graph.variable((2, 3)), 1).op
    for shape in ((2, 3), (3, 2), (2, 3)):
        x = lab.graph.variable(shape)
        rule(lab.graph.Node(op, (x,), shape[:1], x.dtype), {x: tensor(*shape)})
