"""Jacobian matrices, by either mode."""

import numpy as np
import pytest

pytestmark = [pytest.mark.task("jacobian"), pytest.mark.parametrize("mode", ["reverse", "forward"])]


def test_rows_are_outputs_and_columns_are_inputs(lab, draw, expect, mode):
    """Row k, column n is the derivative of output k by input n; 0 where nothing depends.
    第 k 行第 n 列是第 k 个输出对第 n 个输入的导数；没有依赖处为 0。"""
    a, b, c = draw.many(3, 0.5, 2)
    x, y, z = (lab.graph.variable(value) for value in (a, b, c))
    got = lab.engine.jacobian([x * y, lab.graph.exp(y)], [x, y, z], mode)
    right = np.array([[b, a, 0.0], [0.0, np.exp(b), 0.0]])
    expect.equal(f"jacobian([x * y, exp(y)], [x, y, z], {mode!r})", got, right)


def test_one_row_is_still_a_matrix(lab, draw, expect, mode):
    """One output and one input give a matrix of shape (1, 1); an input may be an output.
    一个输出、一个输入得到形状 (1, 1) 的矩阵；输入也可以是输出。"""
    a = draw.uniform(0.5, 2)
    x = lab.graph.variable(a)
    expect.equal(f"jacobian(x * x, x, {mode!r})", lab.engine.jacobian(x * x, x, mode), np.array([[2 * a]]))
    expect.equal(f"jacobian([x], [x], {mode!r})", lab.engine.jacobian([x], [x], mode), np.array([[1.0]]))


def test_the_mode_decides_the_number_of_passes(lab, sum_of_products, expect, mode):
    """Reverse mode needs one pass for each output, forward mode one for each input: 4,000 here, or one.
    反向模式每个输出一次遍历，前向模式每个输入一次：这里是 4,000 次与一次之别。"""
    inputs, output = sum_of_products(4000)
    if mode == "reverse":
        got = lab.engine.jacobian(output, inputs, mode)[0, 7]
    else:
        got = lab.engine.jacobian([node + output for node in inputs], inputs[7], mode)[8, 0]
    expect.equal(f"jacobian(…, mode={mode!r})", got, 14 / 4000)
