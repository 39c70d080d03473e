"""The adjoints of a product on the device, and training steps there: numbers in float32."""

import numpy as np
import pytest

matmul_adjoints, device_step = pytest.mark.task("matmul-adjoints"), pytest.mark.task("device-step")
points, cases = pytest.mark.points, pytest.mark.parametrize

CLOSE = 2e-5  # of the largest number: sums of up to 300 floats, in any order
TRAINED = 2e-4  # after layers and steps
RULES = ["left_adjoint", "right_adjoint"]


def pair(draw, name, rows, inner, columns):
    """What the rule is given for A (rows, inner) times B (inner, columns): adjoint and other factor."""
    adjoint = draw.normal((rows, columns))
    of_left = name == "left_adjoint"
    return [adjoint, draw.normal((inner, columns))] if of_left else [draw.normal((rows, inner)), adjoint]


def weights(draw, inputs, hidden, classes):
    """Weights and biases of two layers."""
    shapes = [(inputs, hidden), (hidden,), (hidden, classes), (classes,)]
    return [draw.normal(shape) / np.sqrt(shape[0]) for shape in shapes]


def batch(draw, size, inputs, classes):
    """Inputs and labels."""
    return [draw.normal((size, inputs)), draw.integers(0, classes, size)]


# --- The adjoints of a product ------------------------------------------------------------------------------


@matmul_adjoints
@points(1)
def test_the_adjoint_of_the_left_factor(compare, draw):
    """The adjoint of A in C = A B, for shapes that are not square.
    C = A B 中 A 的伴随量，形状不是方阵。"""
    pairs = [pair(draw, "left_adjoint", *shape) for shape in ((2, 3, 4), (4, 3, 2), (5, 2, 3), (3, 7, 5))]
    compare("product_adjoint", CLOSE, name="left_adjoint", pairs=pairs)


@matmul_adjoints
@points(1)
def test_the_adjoint_of_the_right_factor(compare, draw):
    """The adjoint of B in C = A B, for shapes that are not square.
    C = A B 中 B 的伴随量，形状不是方阵。"""
    pairs = [pair(draw, "right_adjoint", *shape) for shape in ((2, 3, 4), (4, 3, 2), (5, 2, 3), (3, 7, 5))]
    compare("product_adjoint", CLOSE, name="right_adjoint", pairs=pairs)


@matmul_adjoints
@points(1)
@cases("name", RULES)
def test_square_factors(compare, draw, name):
    """Square matrices, where every order and every transpose has the right shape.
    方阵：任何次序、任何转置，形状都对得上。"""
    compare("product_adjoint", CLOSE, name=name, pairs=[pair(draw, name, n, n, n) for n in (2, 5, 16, 33)])


@matmul_adjoints
@points(1)
@cases("name", RULES)
def test_shapes_around_a_tile(compare, draw, name):
    """Lengths around the 16 of a tile, in each of the three places.
    三个长度分别取分块边长 16 附近的数。"""
    shapes = [(15, 16, 17), (16, 17, 15), (17, 15, 16), (33, 1, 16), (64, 20, 3)]
    compare("product_adjoint", CLOSE, name=name, pairs=[pair(draw, name, *shape) for shape in shapes])


@matmul_adjoints
@points(1)
@cases("name", RULES)
def test_rows_columns_and_nothing(compare, draw, name):
    """Lengths of 1, and of 0: a sum of nothing is 0.
    长度为 1 和 0：什么都不加，和就是 0。"""
    shapes = [(1, 1, 1), (1, 6, 3), (4, 1, 5), (5, 4, 1), (3, 2, 0), (0, 2, 3), (3, 0, 2)]
    compare("product_adjoint", CLOSE, name=name, pairs=[pair(draw, name, *shape) for shape in shapes])


@matmul_adjoints
@points(1)
def test_operands_stay_as_they_are(compare, draw):
    """Asked twice, the same answers; factors and adjoint are as before.
    问两次，答案相同；两个因子和伴随量保持原样。"""
    at = {"left": draw.normal((4, 3)), "right": draw.normal((3, 5)), "adjoint": draw.normal((4, 5))}
    compare("undisturbed_on_device", CLOSE, **at)


# --- Training on the device ---------------------------------------------------------------------------------


@device_step
@points(1)
def test_which_rule_a_product_takes(compare, draw):
    """A plain product takes both matrices; the two in the vjp take the one from before the transpose.
    普通的乘积用两个矩阵本身；vjp 里的两个乘积各取转置以前的那个矩阵。"""
    at = {"left": draw.normal((4, 3)), "right": draw.normal((3, 5)), "adjoint": draw.normal((4, 5))}
    compare("wiring", CLOSE, **at)


@device_step
@points(1)
@cases("size", [1, 17, 64])
def test_loss_and_gradients_of_a_perceptron(compare, draw, size):
    """Loss and all gradients of a perceptron with biases, for batches of 1, 17 and 64.
    带偏置的感知机的损失和所有梯度，一批 1、17、64 个样本。"""
    compare("device_step", TRAINED, batches=[batch(draw, size, 6, 4)], weights=weights(draw, 6, 19, 4))


@device_step
@points(1)
def test_biases_of_many_rows_and_columns(compare, draw):
    """The gradients of biases: sums over a batch of 300, of 300 columns.
    偏置的梯度：对 300 个样本求和，共 300 列。"""
    compare("device_step", TRAINED, batches=[batch(draw, 300, 3, 5)], weights=weights(draw, 3, 300, 5))


@device_step
@points(1)
def test_one_executor_for_several_batches(compare, draw):
    """The same executor, batch after batch.
    同一个执行器，一批接一批地运行。"""
    batches = [batch(draw, 21, 8, 3) for _ in range(4)]
    compare("device_step", TRAINED, batches=batches, weights=weights(draw, 8, 18, 3))


@device_step
@points(1)
def test_steps_of_descent(compare, draw):
    """The weights after five steps of gradient descent.
    五步梯度下降之后的权重。"""
    x, labels = batch(draw, 33, 7, 3)
    compare("descent", TRAINED, x=x, labels=labels, weights=weights(draw, 7, 18, 3), rate=0.25, steps=5)
