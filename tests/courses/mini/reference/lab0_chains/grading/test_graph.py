import pytest


@pytest.mark.task("square")
@pytest.mark.points(2)
def test_square(compare, draw):
    """The square and its derivative.
    平方及其导数。
    """
    compare("square", x=draw.uniform(0.5, 2.0))


@pytest.mark.task("square")
@pytest.mark.points(0)
def test_product_is_as_given(compare, draw):
    """The given product.
    给定的乘法。
    """
    compare("product", a=draw.normal(), b=draw.normal())


@pytest.mark.task("order")
@pytest.mark.points(3)
@pytest.mark.parametrize("length", [1, 3, 200])
def test_inputs_come_before_users(compare, length):
    """Inputs come before users.
    输入排在使用者之前。
    """
    compare("edges", length=length)
