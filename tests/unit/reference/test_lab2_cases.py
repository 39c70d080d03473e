"""Cases of real bug reports about other engines, with the right values; tests/cases.toml lists them."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def graph(lab2):
    return lab2["graph"]


@pytest.fixture(scope="module")
def engine(lab2):
    return lab2["engine"]


@pytest.fixture
def at(graph, engine):
    """at(f, *arrays): the value of f and its gradients; with adjoint `by`, or ones."""

    def run(f, *arrays, by=None):
        arrays = [np.asarray(array) for array in arrays]
        arrays = [array if array.dtype.kind == "f" else array.astype(float) for array in arrays]
        variables = [graph.variable(np.shape(array), array.dtype) for array in arrays]
        y = f(*variables)
        nodes = [y, *engine.gradients(y, variables, np.ones(y.shape) if by is None else by)]
        return engine.Executor(nodes)(dict(zip(variables, arrays, strict=True)))

    return run


def equal(got, right, rtol=1e-14):
    right = np.asarray(right)
    assert got.shape == right.shape
    np.testing.assert_allclose(got, right, rtol=rtol, atol=0)


# --- Broadcasting and slots


def test_E01_a_stretched_operand_has_a_gradient_of_length_1(at):
    _, a, b = at(lambda a, b: a * b, [2], np.arange(20).reshape(5, 4))
    equal(a, [190.0])
    equal(b, np.full((5, 4), 2.0))


def test_E02_a_column_times_a_row(at):
    _, a, b = at(lambda a, b: a * b, [[1], [2], [3], [4]], [[5, 6, 7, 8]])
    equal(a, np.full((4, 1), 26.0))
    equal(b, np.full((1, 4), 10.0))


def test_E32_a_sum_used_again_does_not_share_its_gradient(at):
    _, x, y = at(lambda x, y: x / (x + y), 1, 2)
    equal(x, 2 / 9)
    equal(y, -1 / 9)


def test_E33_one_node_in_both_slots(at):
    for f, right in (
        (lambda x: x + x, 2.0),
        (lambda x: x * x, 6.0),
        (lambda x: x - x, 0.0),
        (lambda x: x / x, 0.0),
    ):
        equal(at(f, 3)[1], right)
    equal(at(lambda a: a @ a, [[1, 2], [3, 4]])[1], [[7.0, 11], [9, 13]])


@pytest.mark.parametrize("z_first", [True, False])
def test_E88_what_is_added_later_does_not_write_into_a_neighbour(graph, at, z_first):
    def f(x, y):
        if z_first:
            z, u = x + y, 3 * x
        else:
            u, z = 3 * x, x + y
        return z + u

    _, x, y = at(f, [1, 2], [3, 4])
    equal(x, [4.0, 4])
    equal(y, [1.0, 1])


def test_E66_a_mask_in_a_product_has_no_gradient(at):
    equal(at(lambda x: x * (x > 0), [-1, 0, 2])[1], [0.0, 0, 1])


def test_E67_numbers_and_arrays_on_the_left(graph, engine, at):
    equal(at(lambda x: 1 - x, 4)[1], -1.0)
    equal(at(lambda x: 1 / x, 4)[1], -0.0625)
    equal(at(lambda x: 2 - 3 / x, 2)[1], 0.75)
    product = np.ones(2) * graph.variable((2,))
    assert type(product) is graph.Node


# --- Kinks and singular points


def test_E07_tied_greatest_entries_share_the_gradient(graph, at):
    equal(at(graph.max, [0.6, 0.6, 0.3])[1], [0.5, 0.5, 0])


def test_E08_the_three_ways_to_write_relu_at_0(graph, at):
    equal(at(lambda x: graph.maximum(x, 0), 0)[1], 0.5)
    equal(at(graph.relu, 0)[1], 0.0)
    equal(at(lambda x: graph.where(x > 0, x, 0), 0)[1], 0.0)
    _, a, b = at(graph.maximum, 1, 1)
    equal(a + b, 1.0)


def test_relu_stops_an_infinite_adjoint(graph, at):
    equal(at(lambda x: graph.sqrt(graph.relu(x)), [-1, 4])[1], [0.0, 0.25])


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_E09_abs_at_0_has_the_derivative_0(graph, at, zero):
    equal(at(graph.abs, zero)[1], 0.0)


def test_E11_squares_of_norms_are_smooth_at_0(graph, at):
    equal(at(lambda x: graph.sum(x**2), np.zeros(3))[1], np.zeros(3))
    equal(at(lambda x: graph.sqrt(graph.sum(x**2)) ** 2, np.zeros(3))[1], np.zeros(3))


def test_E14_powers_of_0(graph, at):
    for exponent, right in ((2, 0.0), (1, 1.0), (0, 0.0), (0.5, np.inf), (-1, -np.inf)):
        equal(at(lambda b: b**exponent, 0)[1], right)  # noqa: B023
        equal(at(lambda b: b ** graph.constant(float(exponent)), 0)[1], right)  # noqa: B023


def test_E15_negative_bases(at):
    _, a, b = at(lambda a, b: a**b, -2, -3)
    equal(a, -0.1875)
    assert np.isnan(b)
    equal(at(lambda a: a**3, -2)[1], 12.0)
    assert np.isnan(at(lambda a: a**0.5, -2)[0])


def test_E16_the_exponents_gradient(at):
    equal(at(lambda y: 0.0**y, 2)[1], 0.0)
    equal(at(lambda x: 2.0**x, 3)[1], 8 * np.log(2))


def test_E17_an_untaken_branch_at_a_pole_sends_nothing_back(graph, at):
    equal(at(lambda x: graph.where(x < 1, x, graph.sqrt(x)), 0)[1], 1.0)
    double = at(lambda x: graph.where(x < 1, x, graph.sqrt(graph.where(x < 1, 1, x))), [0, 4])
    equal(double[1], [1.0, 0.25])


def test_E18_log_in_the_untaken_branch(graph, at):
    x = [-1, 0, 2]
    equal(at(lambda x: graph.where(x > 0, graph.log(graph.where(x > 0, x, 1)), 0), x)[1], [0.0, 0, 0.5])
    divisors = np.array([0.0, 0, 1])
    branches = [graph.log, graph.sqrt, lambda x: 1 / x, lambda x: x / divisors, lambda x: x**-1.5]
    for branch in (*branches, lambda x: x ** (0 * x - 1), lambda x: graph.exp(1000 * (1 - x))):
        assert np.isfinite(at(lambda x: graph.where(x > 0, branch(x), 0), x)[1]).all()  # noqa: B023


def test_E77_relu_of_nan_is_nan(graph, at):
    assert np.isnan(at(graph.relu, np.nan)[0])
    assert np.isnan(at(lambda x: graph.maximum(x, 0), np.nan)[0])


def variance(graph, x, ddof):
    return graph.sum((x - graph.mean(x)) ** 2) / float(x.shape[0] - ddof)


def test_E20_the_variance_of_equal_entries_is_flat(graph, at):
    equal(at(lambda x: variance(graph, x, 0), [1, 1])[1], np.zeros(2))


def test_E21_the_variance_with_and_without_a_degree_of_freedom(graph, at):
    x = np.array([1.0, 2, 4])
    for ddof in (0, 1):
        value, gradient = at(lambda x: variance(graph, x, ddof), x)  # noqa: B023
        equal(value, x.var(ddof=ddof))
        equal(gradient, 2 * (x - x.mean()) / (3 - ddof))
    value, gradient = at(lambda x: variance(graph, x, 1), [5])
    assert np.isnan(value)
    assert gradient.shape == (1,)
    assert np.isnan(gradient).all()


# --- Extreme inputs


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_E22_logsumexp_of_1000(graph, at, dtype):
    value, gradient = at(graph.logsumexp, np.array([1000, 1000], dtype))
    equal(value, 1000 + np.log(2), rtol=1e-7)
    equal(gradient, np.array([0.5, 0.5], dtype))


def test_E23_logsumexp_of_a_masked_row(graph, at):
    value, gradient = at(lambda x: graph.logsumexp(x, axis=1), [[1, 2], [-np.inf, -np.inf]])
    equal(value, [2.3132616875182228, -np.inf])
    equal(gradient[1], np.zeros(2))


def test_E24_softmax_under_an_additive_mask(graph, at):
    value, gradient = at(
        lambda a: graph.softmax(a + np.array([0, -np.inf, 0])), np.zeros(3), by=[np.eye(3)[0]]
    )
    equal(value, [0.5, 0, 0.5])
    equal(gradient, [0.25, 0, -0.25])


def test_E25_cross_entropy_of_far_apart_logits(graph, at):
    value, gradient = at(lambda x: graph.softmax_cross_entropy(x, 0), [-431, 279, 427])
    equal(value, 858.0)
    equal(gradient, [-1, np.exp(-148), 1], rtol=1e-9)


def test_E27_each_row_of_a_softmax_has_its_own_greatest_entry(graph, at):
    equal(at(graph.softmax, [[0, 0], [2000, 2000]])[0], np.full((2, 2), 0.5))


def test_E72_sigmoid_and_softplus_in_their_tails(graph, at):
    def softplus(x):
        return graph.logsumexp(graph.concatenate([x[None], x[None] * 0]), axis=0)

    for sigmoid in (lambda x: 1 / (1 + graph.exp(-x)), lambda x: 0.5 * graph.tanh(0.5 * x) + 0.5):
        value, gradient = at(sigmoid, [-1000, 1000])
        equal(value, [0.0, 1])
        equal(gradient, [0.0, 0])
    value, gradient = at(softplus, [-1000, 1000])
    equal(value, [0.0, 1000])
    equal(gradient, [0.0, 1])


# --- Products and lookups


def test_E46_vectors_in_matrix_products(at):
    a, b, g = np.array([[1.0, 2], [3, 4]]), np.array([5.0, 6]), np.array([1.0, 10])
    _, by_a, by_b = at(lambda a, b: a @ b, a, b, by=g)
    equal(by_a, [[5.0, 6], [50, 60]])
    equal(by_b, [31.0, 42])
    _, by_b, by_a = at(lambda b, a: b @ a, b, a, by=g)
    equal(by_b, a @ g)
    equal(by_a, np.outer(b, g))
    _, by_b, by_g = at(lambda b, g: b @ g, b, g)
    equal(by_b, g)
    equal(by_g, b)


def test_E47_a_batch_times_one_matrix(at):
    _, a, b = at(lambda a, b: a @ b, np.arange(1.0, 9).reshape(2, 2, 2), [[9, 10], [11, 12]])
    equal(b, [[16.0, 16], [20, 20]])
    equal(a[0], [[19.0, 23], [19, 23]])
    _, a, b = at(lambda a, b: a @ b, np.ones((5, 1, 2, 3)), np.ones((4, 3, 2)))
    equal(a, np.full((5, 1, 2, 3), 8.0))
    equal(b, np.full((4, 3, 2), 10.0))


def test_E48_repeated_indices_add_up(graph, at):
    equal(at(lambda x: graph.gather(x, [0, 0]), [0.1], by=np.array([0.2, 0.3]))[1], [0.5])
    equal(
        at(lambda x: graph.gather(x, [1, 0, 1]), np.ones(4), by=np.array([1.0, 10, 100]))[1],
        [10.0, 101, 0, 0],
    )


def test_E76_one_tensor_twice_in_concatenate(graph, at):
    equal(at(lambda x: graph.concatenate([x, x]), [5, 6], by=np.array([1.0, 2, 10, 20]))[1], [11.0, 22])


# --- Dtypes, orders, depth


def test_E39_float32_stays_float32(graph, engine):
    weights, x = graph.variable((3, 2), np.float32), graph.variable((4, 3), np.float32)
    hidden = 1 - sum([x @ weights, x @ weights]) / 2 + (x @ weights) ** 2 * np.float64(0.5)
    loss = graph.mean(graph.softmax(hidden)[:, 0])
    (gradient,) = engine.gradients(loss, weights)
    run = engine.Executor([loss, gradient, weights - 0.1 * gradient])
    value = np.ones((3, 2), np.float32)
    for _ in range(3):
        *results, value = run({weights: value, x: np.ones((4, 3), np.float32)})
        assert {array.dtype for array in (*results, value)} == {np.dtype(np.float32)}


def test_E40_counting_ties_keeps_float32(graph, at):
    equal(
        at(lambda x: graph.max(x, axis=1), np.ones((2, 3), np.float32))[1], np.full((2, 3), 1 / 3, np.float32)
    )


def test_E59_second_derivatives_of_linear_and_constant_functions_are_0(graph, engine):
    x = graph.variable(())
    for f in (3 * x + 1, 7 + 0 * x):
        (second,) = engine.gradients(engine.gradients(f, x), x)
        assert engine.Executor(second)({x: 2.0})[0] == 0.0


def test_E36_100_000_additions_and_their_end(graph, engine):
    x = y = graph.variable(())
    for _ in range(100_000):
        y = y + 1
    gradients = engine.gradients(y, x)
    assert engine.Executor(gradients)({x: 0.0})[0] == 1.0
    del y, gradients


def test_E37_60_doublings(graph, engine, at):
    def f(x):
        for _ in range(60):
            x = x + x
        return x

    assert at(f, 1)[1] == 1152921504606846976.0


def test_E63_the_taylor_remainder_has_order_two_for_the_right_gradient_only(graph, engine):
    x = graph.variable((5,))
    y = graph.sum(graph.sin(x) * x)
    run = engine.Executor([y, *engine.gradients(y, x)])
    point, direction = np.linspace(-1.0, 2.0, 5), np.array([0.3, -1.0, 0.7, 0.2, -0.5])
    value, gradient = run({x: point})
    wrong = gradient * np.array([1, 1, 1, 1.1, 1])

    def order(g):
        remainders = [
            abs(run({x: point + h * direction})[0] - value - h * g @ direction) for h in (1e-2, 5e-3)
        ]
        return np.log2(remainders[0] / remainders[1])

    assert order(gradient) == pytest.approx(2, abs=0.02)
    assert order(wrong) < 1.5


def test_E75_an_adjoint_of_the_outputs_shape(graph, engine, at):
    equal(at(lambda x: x * x, [[1, 2], [3, 4]], by=np.array([[1.0, 0], [0, -1]]))[1], [[2.0, 0], [0, -8]])
    x = graph.variable((2, 2))
    for wrong in (None, np.ones(2), np.ones((2, 2, 1))):
        with pytest.raises(ValueError, match="gradients"):
            engine.gradients(x * x, x, wrong)


def test_E82_entries_of_the_adjoint_are_told_apart(graph, at):
    point, v = np.array([0.5, 2.0]), np.array([3.0, -1])
    _, gradient = at(lambda x: graph.sin(x) * x[::-1], point, by=v)
    equal(gradient, v * np.cos(point) * point[::-1] + (v * np.sin(point))[::-1])


def test_E85_normalising_a_batch_depends_on_its_mean_and_variance(graph, at):
    x, v = np.array([1.0, 2, 4]), np.array([1.0, 0, 0])
    _, gradient = at(lambda x: (x - graph.mean(x)) / graph.sqrt(variance(graph, x, 0)), x, by=v)
    equal(gradient, [0.22908106, -0.34362160, 0.11454053], rtol=1e-7)
    assert abs(gradient.sum()) < 1e-15
    assert abs(gradient @ x) < 1e-15
