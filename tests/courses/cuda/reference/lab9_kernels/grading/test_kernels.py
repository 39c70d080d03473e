import numpy as np
import pytest


@pytest.mark.task("scale")
@pytest.mark.points(2)
@pytest.mark.parametrize("block", [32, 64])
def test_scale(compare, draw, block):
    """Every element is scaled, at sizes around the block's.
    每个元素都被缩放；元素个数取在块大小附近。
    """
    for n in (1, block - 1, block, block + 1, 2 * block + 7):
        compare("scale", x=draw.normal(n).astype(np.float32), factor=1.5, block=block)


@pytest.mark.task("scale")
@pytest.mark.points(1)
def test_scale_stays_inside(no_reports, compare, draw):
    """No thread reads or writes past the end.
    没有线程越界读写。
    """
    x, launches = draw.normal(40).astype(np.float32), np.array([(32, 32), (40, 32), (33, 32), (32, 16)])
    no_reports("scaled", "out-of-bounds", x=x, factor=2.0, launches=launches)
    compare("scaled", x=x, factor=2.0, launches=launches)


@pytest.mark.task("total")
@pytest.mark.points(2)
def test_total(compare, draw):
    """The total of each block.
    每个块的和。
    """
    for n in (1, 63, 64, 65, 135):
        compare("total", x=draw.normal(n).astype(np.float32))


@pytest.mark.task("total")
@pytest.mark.points(1)
def test_total_waits(no_reports, compare, draw):
    """Threads wait for each other where they must.
    线程在该等待的地方互相等待。
    """
    x = draw.normal(64).astype(np.float32)
    no_reports("total", "race", "barrier-missed", "barrier-divergent", x=x)
    compare("total", x=x)
