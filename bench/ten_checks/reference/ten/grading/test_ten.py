"""The ten checks, with the inputs of bench/graders.py's assertions."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("ten")

VECTOR = np.linspace(-2.0, 3.0, 12)
MATRIX = np.arange(1.0, 13.0).reshape(3, 4)


@pytest.mark.points(1)
def test_mean(compare):
    """The mean of a vector
    向量的平均值
    """
    compare("mean", x=VECTOR)


@pytest.mark.points(1)
def test_variance(compare):
    """The variance of a vector
    向量的方差
    """
    compare("variance", x=VECTOR)


@pytest.mark.points(1)
def test_standardise(compare):
    """A standardised vector
    标准化的向量
    """
    compare("standardise", x=VECTOR)


@pytest.mark.points(1)
def test_softmax(compare):
    """The softmax of a vector
    向量的 softmax
    """
    compare("softmax", x=VECTOR)


@pytest.mark.points(1)
def test_outer(compare):
    """The outer product
    外积
    """
    compare("outer", x=VECTOR, y=VECTOR)


@pytest.mark.points(1)
def test_row_sums(compare):
    """The sums of rows
    各行之和
    """
    compare("row_sums", m=MATRIX)


@pytest.mark.points(1)
def test_normalise_rows(compare):
    """Rows of length 1
    长度为 1 的行
    """
    compare("normalise_rows", m=MATRIX)


@pytest.mark.points(1)
def test_distances(compare):
    """Distances between entries
    各元素间的距离
    """
    compare("distances", x=VECTOR)


@pytest.mark.points(1)
def test_one_hot(compare):
    """Labels as rows
    标签变成行
    """
    compare("one_hot", labels=np.array([2, 0, 1, 2]), count=3)


@pytest.mark.points(1)
def test_running_maximum(compare):
    """The largest entry so far
    到目前为止的最大值
    """
    compare("running_maximum", x=-VECTOR)
