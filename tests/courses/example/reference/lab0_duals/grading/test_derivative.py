import pytest

pytestmark = pytest.mark.task("derivative")


@pytest.mark.points(6)
@pytest.mark.parametrize("degree", [1, 2, 9])
def test_polynomial(compare, draw, degree):
    """The derivative of polynomials.
    多项式的导数。"""
    compare("slope", coefficients=draw.uniform(0.5, 2, degree + 1).tolist(), x=draw.uniform(0.5, 1.5))
