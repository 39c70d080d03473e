"""Jacobian matrices and what the two modes say about the same graph."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("jacobian")
points, cases = pytest.mark.points, pytest.mark.parametrize
both_modes = cases("mode", ["reverse", "forward"])


def graph(draw):
    return {"graph": draw.dag(10), "x": draw.uniform(-1.5, 1.5, 3), "chosen": [13, 5, 11, 12]}


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
    """Inputs, constants and repeated outputs, an input without influence, an output that is NaN.
    输入、常数或重复的输出，没有影响的输入，值为 NaN 的输出。"""
    compare("jacobian_of_inputs", x=draw.uniform(-2, 2, 3), mode=mode)
    compare("jacobian_beside_nan", x=draw.uniform(0.5, 2, 2), mode=mode)


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
    told, weights, direction = (
        submission("jacobian_products", **inputs),
        inputs["weights"],
        inputs["direction"],
    )
    products = [
        weights @ told["tangents"],
        np.sum(told["weighted_rows"], axis=0) @ direction,
        weights @ told["forward_matrix"] @ direction,
        weights @ told["reverse_matrix"] @ direction,
    ]
    # Slopes of these graphs stay below 1,000, and rounding below 1e-15 of that.
    scale = 1e3 * np.linalg.norm(weights) * np.linalg.norm(direction)
    words = ", ".join(f"{product:.9g}" for product in products)
    assert np.ptp(products) <= 1e-13 * scale, f"the modes do not agree: {words} / 两种模式不一致：{words}"


@points(2)
@both_modes
def test_each_mode_makes_its_own_passes(compare, draw, mode):
    """4,000 inputs and one output in reverse mode, one input and 4,000 outputs in forward mode: one pass.
    反向模式：4,000 个输入、一个输出；前向模式：一个输入、4,000 个输出：都只需一次遍历。"""
    compare("jacobian_of_wide", x=draw.uniform(-1, 1, 4000 if mode == "reverse" else 2000), mode=mode)
