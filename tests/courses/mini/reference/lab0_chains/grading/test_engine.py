import pytest

pytestmark = pytest.mark.task("reverse")


@pytest.mark.points(2)
@pytest.mark.parametrize("n", [2, 7])
def test_gradient_of_a_power(compare, draw, n):
    """The gradient of a power.
    乘方的梯度。
    """
    compare("power", x=draw.uniform(0.5, 1.5), n=n, seed=draw.normal())


@pytest.mark.points(1)
def test_gradient_at_a_fixed_point(compare):
    """The gradient of x * x at 3.
    x * x 在 3 处的梯度。
    """
    compare("power", x=3.0, n=2, seed=1.0)


@pytest.mark.points(2)
def test_gradient_is_linear_in_the_seed(compare, submission, draw):
    """The gradient is linear in the seed.
    梯度对种子是线性的。
    """
    x, seed = draw.uniform(0.5, 1.5), draw.normal()
    once = submission("power", x=x, n=3, seed=seed)["gradient"]
    twice = submission("power", x=x, n=3, seed=2 * seed)["gradient"]
    assert twice == pytest.approx(2 * once, rel=1e-12), "twice the seed gives twice the gradient"
    compare("power", x=x, n=3, seed=seed)
