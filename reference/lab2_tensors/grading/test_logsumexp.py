"""logsumexp: a smooth maximum, whose derivative says how much each entry counts."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("logsumexp")
points, cases = pytest.mark.points, pytest.mark.parametrize


@pytest.fixture
def reduced(compare, draw):
    """reduced(shape, axis): logsumexp in a chain."""

    def check(shape, axis, keepdims=False, dtype=np.float64):
        over = tuple(axis) if isinstance(axis, list) else axis
        target = np.sum(np.ones(shape), axis=over, keepdims=keepdims).shape
        arrays, vector = [draw.normal(shape).astype(dtype)], np.asarray(draw.normal(target), dtype)
        how = {"axis": axis, "keepdims": keepdims}
        compare("rule", operation="logsumexp", arrays=arrays, vector=vector, how=how)

    return check


@points(1)
def test_over_all_axes(reduced):
    """logsumexp of all entries.
    全部元素的 logsumexp。"""
    for shape in ((5,), (2, 3), (3, 3)):
        reduced(shape, None)


@points(1)
def test_over_one_axis(reduced):
    """Over one axis, from the front or from the end; each row has an adjoint of its own.
    沿一个轴，从前面或末尾数起；每一行有自己的伴随量。"""
    for shape, axis in (((2, 3), 1), ((3, 2), 0), ((3, 3), 0), ((3, 3), -1), ((2, 3, 4), 1)):
        reduced(shape, axis)


@points(1)
def test_over_several_axes(reduced):
    """Over several axes in any order, and over none.
    沿几个轴（次序任意），以及不沿任何轴。"""
    for shape, axis in (((2, 3, 4), [2, 0]), ((3, 3, 3), [0, 1]), ((2, 3), [])):
        reduced(shape, axis)


@points(1)
def test_with_kept_axes(reduced):
    """With keepdims the reduced axes stay, with length 1.
    keepdims 保留被归约的轴，长度为 1。"""
    for shape, axis in (((2, 3), 1), ((3, 3), [0, 1]), ((2, 3, 2), [2, 0])):
        reduced(shape, axis, keepdims=True)


@points(1)
def test_shares_add_up_to_the_adjoint(compare, submission, draw):
    """The adjoint of each row is divided among its entries: the parts add up to it.
    每一行的伴随量分给各元素：各份之和就是这个伴随量。"""
    vector = draw.normal(4)
    at = {"operation": "logsumexp", "arrays": [draw.normal((4, 3))], "vector": vector, "how": {"axis": 1}}
    compare("rule", alone=True, **at)
    parts = submission("rule", alone=True, **at)["gradients"][0].sum(axis=1)
    assert np.allclose(parts, vector, rtol=1e-12), (
        f"parts add up to {parts}, the adjoint is {vector} / 各份之和为 {parts}，伴随量为 {vector}"
    )


@points(2)
@cases("axis", [None, 1, [2, 0]], ids=str)
def test_second_derivatives(compare, draw, axis):
    """The derivative of the derivative, from random adjoints.
    导数的导数，伴随量随机。"""
    target = {None: (), 1: (2, 2)}.get(axis if not isinstance(axis, list) else 0, (3,))
    at = {"arrays": [draw.normal((2, 3, 2))], "directions": [draw.normal((2, 3, 2))]}
    vector, how = draw.normal(target), {"axis": axis}
    compare("rule_twice", operation="logsumexp", vector=vector, how=how, after=False, **at)


@points(1)
def test_one_operation_serves_several_inputs(compare, reduced, draw):
    """One logsumexp object at inputs of different shapes, the first one twice; float32 stays float32.
    同一个 logsumexp 对象用于不同形状的输入，第一个用两次；float32 仍是 float32。"""
    uses = [[draw.normal(shape)] for shape in ((2, 3), (3, 2))]
    vectors, how = [draw.normal(2), draw.normal(3)], {"axis": 1}
    compare("one_operation_for_all", operation="logsumexp", uses=uses, vectors=vectors, how=how)
    reduced((2, 3), 1, dtype=np.float32)
    compare("kinds_of_partials", operation="logsumexp", arrays=[uses[0][0].astype(np.float32)], how=how)


@points(0)
def test_logsumexp_itself(compare, draw):
    """The values of logsumexp, at large entries too.
    logsumexp 的值，元素很大时也一样。"""
    for size in (1.0, 1000.0):
        x = draw.normal((2, 3)) * size
        compare("given_value", operation="logsumexp", arrays=[x], how={"axis": 1, "keepdims": True})
