"""Hessian-vector products of scalars, on operations whose rules are given."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("hvp")
points = pytest.mark.points

SECOND = 1e-11  # second derivatives: more terms, in other orders


@points(1)
def test_the_lectures_example(compare, draw):
    """ln x1 + x1 x2 - sin x2: the Hessian times a vector, the mixed derivatives included.
    ln x1 + x1 x2 - sin x2：海森矩阵乘向量，包括混合导数。"""
    arrays, vectors = [draw.uniform(0.5, 3), draw.uniform(-3, 3)], [draw.normal(), draw.normal()]
    compare("hessian_product", SECOND, formula="lecture", arrays=arrays, vectors=vectors)


@points(1)
def test_several_tensors(compare, draw):
    """Two tensors: each result collects what both directions contribute, in the order of the inputs.
    两个张量：每个结果都包含两个方向的贡献，按 inputs 的次序给出。"""
    for _ in range(2):
        arrays, vectors = [draw.normal(4), draw.normal(4)], [draw.normal(4), draw.normal(4)]
        compare("hessian_product", SECOND, formula="wave", arrays=arrays, vectors=vectors)


@points(1)
def test_products_are_those_of_the_whole_matrix(compare, submission, draw):
    """What the whole Hessian says, times the vector.
    与整个海森矩阵乘以向量的结果一致。"""
    at = {"x": draw.normal(4), "vector": draw.normal(4)}
    compare("hessian_and_product", SECOND, **at)
    told = submission("hessian_and_product", **at)
    product, expected = told["products"][0], told["hessian"] @ at["vector"]
    assert np.linalg.norm(product - expected) <= 1e-10 * np.linalg.norm(expected), (
        f"hvp gives {product}, the matrix times v {expected} / hvp 给出 {product}，矩阵乘 v 为 {expected}"
    )


@points(1)
def test_the_hessian_is_symmetric(compare, submission, draw):
    """<u, H v> = <v, H u> for random u and v.
    对随机的 u 和 v，<u, H v> = <v, H u>。"""
    arrays = [draw.normal(4), draw.normal(4)]
    u, v = ([draw.normal(4), draw.normal(4)] for _ in range(2))
    products = []
    for vectors in (u, v):
        compare("hessian_product", SECOND, formula="wave", arrays=arrays, vectors=vectors)
        products.append(
            submission("hessian_product", formula="wave", arrays=arrays, vectors=vectors)["products"]
        )
    one = sum(np.sum(a * b) for a, b in zip(v, products[0], strict=True))
    other = sum(np.sum(a * b) for a, b in zip(u, products[1], strict=True))
    scale = np.linalg.norm(v) * np.linalg.norm(np.concatenate(products[0]))
    assert abs(one - other) <= 1e-10 * scale, f"<v, H u> = {one}, <u, H v> = {other}"


@points(1)
def test_what_has_no_curvature(compare, draw):
    """Linear functions and inputs without influence: zeros of the input's shape and dtype.
    线性函数和没有影响的输入：得到与输入同形状、同类型的零。"""
    arrays, vectors = [draw.normal(3), draw.normal(2)], [draw.normal(3), draw.normal(2)]
    compare("hessian_product", formula="flat", arrays=arrays, vectors=vectors)
    curved, ways = [draw.normal(2), draw.normal(2)], [draw.normal(2), draw.normal(2)]
    compare("hessian_product", SECOND, formula="wave", arrays=curved, vectors=ways)  # zeros are wrong here
    arrays, vectors = ([one.astype(np.float32) for one in some] for some in (arrays, vectors))
    compare("hessian_product", formula="flat", arrays=arrays, vectors=vectors)


@points(1)
def test_the_matrix_itself_is_never_built(compare, draw):
    """16,384 variables: the product costs a few gradients, the matrix would need 2 GB.
    16,384 个变量：这个乘积只需几次梯度的代价，矩阵则需要 2 GB。"""
    compare("large_product", 1e-9, x=draw.uniform(-1, 1, 16384), vector=draw.normal(16384))
