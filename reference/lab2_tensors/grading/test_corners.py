"""Corners that the lab's text announces: no entries, kinks, infinities, large numbers."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("corners")
points = pytest.mark.points


@points(1)
def test_broadcasting_to_no_entries(compare, draw):
    """What is repeated 0 times receives zeros: (1,) to (0,), (1, 2) to (0, 2), () to (3, 0), (2, 0) as it is.
    重复 0 次的得到零：(1,) 到 (0,)，(1, 2) 到 (0, 2)，() 到 (3, 0)，(2, 0) 保持原样。"""
    for shape, target in (
        ((1, 2), (3, 2)),  # a rule that gives nothing but zeros isn't one
        ((1,), (0,)),
        ((1, 2), (0, 2)),
        ((), (3, 0)),
        ((2, 1), (4, 2, 0)),
        ((2, 0), (3, 2, 0)),
    ):
        how, x, vector = {"shape": list(target)}, np.ones(shape), draw.normal(target)
        compare("rule", operation="broadcast_to", arrays=[x], vector=vector, how=how, alone=True)


@points(1)
def test_relu_with_infinite_adjoints_and_inputs(compare):
    """An infinite adjoint gives 0 where the input is negative, and itself where it is positive, also at inf.
    伴随量为无穷：输入为负处得 0，为正处得它本身，输入为 inf 时也一样。"""
    x = np.array([-1.0, 2.0, -np.inf, np.inf, np.inf, -np.inf])
    vector = np.array([np.inf, -np.inf, 1.5, -0.5, np.inf, -np.inf])
    compare("rule", operation="relu", arrays=[x], vector=vector, alone=True)


@points(1)
def test_relu_at_its_kink(compare, draw):
    """At 0 anything from 0 to 1 times the adjoint is accepted, in the input's dtype.
    在 0 处，伴随量乘以 0 到 1 之间的任何数都算对，类型与输入相同。"""
    for dtype in (np.float64, np.float32):
        vector = (draw.uniform(0.5, 2, 6) * np.array([1, -1, 1, -1, 1, -1])).astype(dtype)
        compare("relu_at_its_kink", x=np.array([0.0, -0.0, 0.0, 0.0, 1.5, -1.5], dtype), vector=vector)


LARGE = [
    [1000.0, 999.0, -1000.0],
    [-1000.0, -1001.0, -1000.5],
    [1000.0, 1000.0, 1000.0],
    [0.0, 800.0, -800.0],
]


@points(1)
def test_logsumexp_of_large_entries(compare, draw):
    """Entries of 1000 and -1000: neither overflow nor 0 / 0, in float64 and in float32.
    元素为 1000 和 -1000：不溢出，也没有 0 / 0；float64 和 float32 都一样。"""
    # exp(a - logsumexp(a)) is right too, and errs by the rounding of 1000: 1e-13, or 6e-5 in float32.
    for dtype, tolerance in ((np.float64, 1e-11), (np.float32, 1e-3)):
        at = {"arrays": [np.array(LARGE, dtype)], "vector": draw.normal(4).astype(dtype), "how": {"axis": 1}}
        compare("rule", tolerance, operation="logsumexp", alone=True, **at)


@points(1)
def test_logsumexp_with_masked_entries(compare, draw):
    """An entry of -inf counts nothing and receives 0; the others are as if it were not there.
    -inf 的元素不起作用，得到 0；其余的就像它不存在一样。"""
    x = np.array([[-np.inf, 0.5, 1.5], [2.0, -np.inf, -np.inf]])
    compare("rule", operation="logsumexp", arrays=[x], vector=draw.normal(2), how={"axis": 1}, alone=True)
