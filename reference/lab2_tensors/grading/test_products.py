"""Products of vectors, matrices and stacks of matrices."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("matmul")
points, cases = pytest.mark.points, pytest.mark.parametrize


@pytest.fixture
def multiplied(compare, draw):
    """multiplied(left, right): a product in a chain, of tensors of these shapes."""

    def check(left, right):
        vector = draw.normal(np.matmul(np.ones(left), np.ones(right)).shape)
        compare("rule", operation="matmul", arrays=[draw.normal(left), draw.normal(right)], vector=vector)

    return check


@points(2)
def test_matrices(multiplied):
    """Matrices whose lengths all differ.
    各边长度都不同的矩阵。"""
    multiplied((2, 3), (3, 4))
    multiplied((4, 2), (2, 3))


@points(1)
def test_square_matrices(multiplied):
    """Square matrices, where a wrong product has the right shape.
    方阵：乘错了，形状却是对的。"""
    multiplied((3, 3), (3, 3))
    multiplied((2, 2), (2, 2))


@points(1)
def test_vectors(multiplied):
    """A vector on the left, on the right, on both sides.
    向量在左边、在右边、在两边。"""
    for left, right in (((3,), (3, 2)), ((2, 3), (3,)), ((3,), (3,)), ((3,), (3, 3))):
        multiplied(left, right)


@points(1)
def test_stacks_of_matrices(multiplied):
    """Stacks of matrices of one height: every matrix is transposed by itself.
    高度相同的矩阵堆叠：每个矩阵各自转置。"""
    for left, right in (((2, 3, 4), (2, 4, 5)), ((3, 3, 3), (3, 3, 3)), ((2, 3, 2, 4), (2, 3, 4, 1))):
        multiplied(left, right)


@points(1)
def test_stacks_of_different_heights(multiplied):
    """A stack beside a matrix; stacks with batch axes of length 1, on either side and on both.
    堆叠与矩阵相乘；批轴长度为 1 的堆叠，在任一边或两边。"""
    for left, right in (
        ((2, 3, 4), (4, 2)),
        ((3, 4), (2, 4, 2)),
        ((1, 2, 3), (2, 3, 2)),
        ((2, 1, 2, 3), (1, 3, 3, 2)),
        ((2, 2, 2), (1, 2, 2)),
        ((3,), (2, 3, 2)),
    ):
        multiplied(left, right)


@points(1)
@cases("n", [2, 3])
def test_one_matrix_in_both_slots(compare, draw, n):
    """x @ x: each factor has its own adjoint.
    x @ x：两个因子各有自己的伴随量。"""
    compare("both_slots", operation="matmul", x=draw.normal((n, n)), vector=draw.normal((n, n)))


@points(1)
def test_lengths_of_0_and_1(multiplied):
    """Rows, columns, single entries, and no entries at all.
    行、列、单个元素，以及没有元素。"""
    for left, right in (
        ((1, 3), (3, 1)),
        ((3, 1), (1, 3)),
        ((1, 1), (1, 1)),
        ((2, 0), (0, 3)),
        ((0, 2), (2, 3)),
    ):
        multiplied(left, right)


@points(1)
def test_shapes_and_dtypes_of_the_partial_adjoints(compare, draw):
    """Two partial adjoints in the order of the factors, with their shapes and dtype; no state is kept.
    两个部分伴随按因子的次序给出，形状和类型与因子相同；运算不保存状态。"""
    for dtype in (np.float64, np.float32):
        arrays = [draw.normal(shape).astype(dtype) for shape in ((2, 3), (3, 4))]
        compare("kinds_of_partials", operation="matmul", arrays=arrays)
        compare("rule", operation="matmul", arrays=arrays, vector=draw.normal((2, 4)).astype(dtype))
    uses = [
        [draw.normal(left), draw.normal(right)] for left, right in (((2, 3), (3, 4)), ((2, 2, 1), (2, 1, 2)))
    ]
    vectors = [draw.normal((2, 4)), draw.normal((2, 2, 2))]
    compare("one_operation_for_all", operation="matmul", uses=uses, vectors=vectors)


@points(0)
def test_products_themselves(compare, draw):
    """The values of products of vectors, matrices and stacks.
    向量、矩阵和堆叠的乘积的值。"""
    for left, right in (((2, 3), (3, 4)), ((3,), (3,)), ((2, 1, 2, 3), (3, 3, 2))):
        compare("given_value", operation="matmul", arrays=[draw.normal(left), draw.normal(right)])
