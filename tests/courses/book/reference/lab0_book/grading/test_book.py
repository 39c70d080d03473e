import pytest


@pytest.mark.task("square")
@pytest.mark.points(2)
def test_square(compare, draw):
    """The square of a number.
    数的平方。
    """
    compare("square", x=draw.uniform(0.5, 2.0))


@pytest.mark.task("predict")
@pytest.mark.points(3)
def test_slope(compare, personal):
    """The slope of the square.
    平方的斜率。
    """
    compare("answer", tolerance=1e-2, cell="predict-square", name="slope", number=personal)


@pytest.mark.task("use")
@pytest.mark.points(2)
def test_fourth(compare, personal):
    """The fourth power by squares.
    用平方求四次方。
    """
    compare("answer", cell="use-square", name="fourth", number=personal)
