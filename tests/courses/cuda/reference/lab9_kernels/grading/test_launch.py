import numpy as np
import pytest


@pytest.mark.task("evaluate")
@pytest.mark.points(2)
def test_doubled(compare, draw):
    """Twice each element, launched from Python.
    从 Python 启动核函数，得到每个元素的两倍。
    """
    for n in (1, 64, 100):
        compare("doubled", x=draw.normal(n).astype(np.float32))
