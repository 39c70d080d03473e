"""Jacobian matrices and what the two modes say about the same graph."""

import pytest

pytestmark = pytest.mark.task("jacobian")
points, cases = pytest.mark.points, pytest.mark.parametrize
both_modes = cases("mode", ["reverse", "forward"])


def graph(draw):
    return {"code": draw.dag(10), "x": draw.uniform(-1.5, 1.5, 3), "chosen": [13, 5, 11, 12]}


@points(1)
def test_matrix_by_reverse_mode(compare, draw):
    """Four outputs by three inputs, in reverse mode.
    四个输出对三个输入，反向模式。"""
    compare("graph_jacobian", **graph(draw), mode="reverse")


@points(1)
def test_matrix_by_forward_mode(compare, draw):
    """Four outputs by three inputs, in forward mode.
    四个输出对三个输入，前向模式。"""
    compare("graph_jacobian", **graph(draw), mode="forward")


@points(1)
@both_modes
def test_inputs_as_outputs_and_unused_inputs(compare, draw, mode):
    """An input as output, an output named twice, an output that is constant, an input without influence.
    输入作为输出、重复的输出、常数输出、没有影响的输入。"""
    compare("jacobian_of_inputs", x=draw.uniform(-2, 2, 3), mode=mode)


@points(1)
@both_modes
@cases("n", [1, 2])
def test_one_row_or_one_column_is_still_a_matrix(compare, draw, n, mode):
    """One output, or one input: the result has shape (1, N) or (K, 1).
    只有一个输出或一个输入时，结果的形状是 (1, N) 或 (K, 1)。"""
    compare("jacobian_of_one", x=draw.uniform(-2, 2, 3), n=n, mode=mode)


@points(1)
def test_the_modes_agree(compare, submission, draw):
    """w.(J v) by forward mode is (w J).v by reverse mode, and either matrix says the same.
    前向模式的 w·(J v) 等于反向模式的 (w J)·v，两种模式的矩阵也给出同样的数。"""
    inputs = graph(draw) | {"direction": draw.normal(3), "weights": draw.normal(4)}
    compare("jacobian_products", **inputs)
    products = submission("jacobian_products", **inputs)
    scale = products.pop("scale")
    spread = max(products.values()) - min(products.values())
    assert spread <= 1e-12 * scale, f"the modes do not agree: {products}"


@points(1)
@both_modes
def test_nan_stays_in_its_own_row(compare, draw, mode):
    """An output that is NaN leaves the other outputs' rows alone.
    某个输出为 NaN 时，不影响其他输出的行。"""
    compare("jacobian_beside_nan", x=draw.uniform(0.5, 2, 2), mode=mode)


@points(1)
@both_modes
def test_each_mode_makes_its_own_passes(compare, draw, mode):
    """5,000 inputs and one output in reverse mode, one input and 5,000 outputs in forward mode: one pass.
    反向模式：5,000 个输入、一个输出；前向模式：一个输入、5,000 个输出：都只需一次遍历。"""
    compare("jacobian_of_wide", x=draw.uniform(0.3, 0.6, 5000), mode=mode)
