import pytest

pytestmark = pytest.mark.task("product")


@pytest.mark.points(3)
def test_product(compare, draw):
    """Value and tangent of a product.
    乘积的值与切量。"""
    compare("product", a=draw.uniform(0.5, 2, 2).tolist(), b=draw.uniform(0.5, 2, 2).tolist())


@pytest.mark.points(1)
def test_plain_factor(compare, draw):
    """A plain number times a dual one.
    普通数乘对偶数。"""
    compare("multiple", a=draw.uniform(0.5, 2, 2).tolist(), factor=draw.normal())
