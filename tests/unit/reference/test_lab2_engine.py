"""Lab 2's engine: gradients by graph extension, higher derivatives, and the executor."""

import gc
import math
import re
import tracemalloc

import numpy as np
import pytest
from numpy.polynomial import Polynomial


@pytest.fixture(scope="module")
def graph(lab2):
    return lab2["graph"]


@pytest.fixture(scope="module")
def engine(lab2):
    return lab2["engine"]


def normal(*shape):
    return np.random.default_rng(sum(shape) + 11).normal(size=shape)


def close(got, right, tolerance=1e-12):
    right = np.asarray(right, dtype=float)
    assert got.shape == right.shape
    assert np.linalg.norm(got - right) <= tolerance * np.linalg.norm(right)


def perceptron(graph, variables, labels):
    x, first, second, bias = variables
    hidden = graph.tanh(x @ first + bias)
    return graph.mean(graph.softmax_cross_entropy(hidden @ second, labels))


WEIGHTS = [(5, 4), (4, 6), (6, 3), (6,)]
LABELS = np.array([0, 2, 1, 1, 0])


# --- Gradients


def test_the_running_example_has_the_lectures_gradient_and_hessian(graph, engine):
    x1, x2 = graph.variable(()), graph.variable(())
    y = graph.log(x1) + x1 * x2 - graph.sin(x2)
    nodes = [y, *engine.gradients(y, [x1, x2]), engine.hessian(y, x2)]
    value, by_x1, by_x2, second = engine.Executor(nodes)({x1: 2.0, x2: 5.0})
    assert [value, by_x1, by_x2] == pytest.approx([11.652, 5.5, 1.716], abs=5e-4)
    assert second == pytest.approx(math.sin(5))


def test_a_perceptrons_gradients_are_those_written_by_hand(graph, engine):
    variables = [graph.variable(shape) for shape in WEIGHTS]
    arrays = x, first, second, bias = [normal(*shape) for shape in WEIGHTS]
    loss = perceptron(graph, variables, LABELS)
    got = engine.Executor([loss, *engine.gradients(loss, variables)])(
        dict(zip(variables, arrays, strict=True))
    )
    hidden = np.tanh(x @ first + bias)
    logits = hidden @ second
    shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    errors = (shares - np.eye(3)[LABELS]) / 5
    below = errors @ second.T * (1 - hidden**2)
    right = [
        -np.log(shares[np.arange(5), LABELS]).mean(),
        below @ first.T,
        x.T @ below,
        hidden.T @ errors,
        below.sum(0),
    ]
    for one, other in zip(got, right, strict=True):
        close(one, other)


def test_several_outputs_add_their_adjoints_even_where_one_uses_another(graph, engine):
    x = graph.variable((3,))
    a = x * x
    b = graph.sin(a)
    u, v, w, at = *normal(3, 3), normal(3)
    for outputs, vectors in (([a, b, a], [u, v, w]), ([b, a], [v, u + w])):
        (gradient,) = engine.Executor(engine.gradients(outputs, [x], vectors))({x: at})
        close(gradient, 2 * at * (u + w + v * np.cos(at**2)))


def test_inputs_may_be_in_the_middle_of_the_graph_or_be_the_output(graph, engine):
    x = graph.variable(())
    a = x * x
    y = graph.exp(a) * x
    gradients = engine.Executor(engine.gradients(y, [a, y, x, a]))({x: 1.5})
    right = 1.5 * math.exp(2.25)
    assert gradients == pytest.approx([right, 1, 3 * right + math.exp(2.25), right])


def test_constants_have_gradients_and_numbers_in_formulas_do_not_matter(graph, engine):
    c, x = graph.constant(np.array([2.0, 3.0])), graph.variable((2,))
    by_c, by_x = engine.Executor(engine.gradients(graph.sum(c * x * x), [c, x]))({x: np.array([1.0, 4.0])})
    close(by_c, [1, 16])
    close(by_x, [4, 24])


def test_an_input_that_no_output_depends_on_has_zeros_of_its_shape_and_dtype(graph, engine):
    x, z = graph.variable((2,)), graph.variable((3, 1), np.float32)
    jump = graph.astype(z > 0, np.float32)
    for y in (graph.sum(x), graph.sum(x) + graph.sum(jump)):
        _, by_z = engine.gradients(y, [x, z])
        (zeros,) = engine.Executor(by_z)({})
        assert (zeros.shape, zeros.dtype, zeros.any()) == ((3, 1), np.float32, False)


def test_mixed_dtypes_give_every_input_a_gradient_of_its_own(graph, engine):
    x, y = graph.variable((2,), np.float32), graph.variable((2,))
    product = x * y
    assert product.dtype == np.float64
    by_x, by_y = engine.Executor(engine.gradients(graph.sum(product), [x, y]))(
        {x: np.array([1, 2], np.float32), y: np.array([3.0, 4.0])}
    )
    assert (by_x.dtype, by_y.dtype) == (np.float32, np.float64)
    assert (by_x.tolist(), by_y.tolist()) == ([3, 4], [1, 2])


def test_an_adjoint_takes_the_dtype_of_its_output(graph, engine):
    x = graph.variable((2,), np.float32)
    for adjoint in (np.ones(2), graph.constant(np.ones(2)), graph.constant(np.array([1, 1]))):
        (gradient,) = engine.gradients(x * x, x, adjoint)
        assert gradient.dtype == np.float32


def test_one_node_may_stand_where_a_list_may(graph, engine):
    x = graph.variable((2,))
    y = x * x
    at = np.array([1.0, 2.0])
    for gradients in (
        engine.gradients(y, x, at),
        engine.gradients([y], [x], [at]),
        engine.vjp(y, x, graph.constant(at)),
        engine.jvp(y, x, at),
        engine.hvp(graph.sum(y) * 0.5, x, 2 * at**2),
    ):
        assert type(gradients) is list
        close(engine.Executor(gradients)({x: at})[0], 2 * at**2)


WRONG = {
    "a vector without a gradient": (
        lambda e, g, x, i: e.gradients(x * x, [x]),
        r"multiply.*\(2, 2\).*no scalar",
    ),
    "a gradient of another shape": (
        lambda e, g, x, i: e.gradients(x * x, [x], [np.ones(2)]),
        r"\(2, 2\).*\(2,\)",
    ),
    "too few gradients": (lambda e, g, x, i: e.gradients([x, x], [x], [x]), "2 tensors"),
    "an integer input": (lambda e, g, x, i: e.gradients(g.sum(x), [i]), r"labels: int64 \(2,\)"),
    "an integer output": (lambda e, g, x, i: e.gradients(g.sum(i), [x]), r"sum: int64 \(\)"),
    "an array as input": (lambda e, g, x, i: e.gradients(g.sum(x), [np.ones(2)]), "ndarray"),
    "a tangent of another shape": (lambda e, g, x, i: e.jvp(x, [x], [1.0]), r"\(2, 2\).*\(\)"),
    "a hessian of a vector": (lambda e, g, x, i: e.hessian(x, x), r"\(2, 2\).*no scalar"),
    "an integer hessian": (lambda e, g, x, i: e.hessian(g.sum(x), i), "int64"),
    "an unknown backend": (lambda e, g, x, i: e.Executor(x, backend="abacus"), "abacus"),
    "a variable that was not fed": (lambda e, g, x, i: e.Executor(x + 1)({i: [0, 1]}), "x: float64"),
    "a feed of another shape": (lambda e, g, x, i: e.Executor(x)({x: np.ones(2)}), r"x.*\(2, 2\).*\(2,\)"),
    "a feed of another dtype": (
        lambda e, g, x, i: e.Executor(x)({x: np.ones((2, 2), "f4")}),
        "float64.*float32",
    ),
    "floats as labels": (lambda e, g, x, i: e.Executor(i)({i: [0.5, 1]}), "int64.*float64"),
    "a feed of a computed node": (
        lambda e, g, x, i: e.Executor(x)({x: np.ones((2, 2)), x + 1: 1}),
        "only variables.*add",
    ),
    "a feed of a constant": (
        lambda e, g, x, i: e.Executor(i)({i: [0, 1], g.constant(1.0): 1}),
        "only variables",
    ),
    "a feed by name": (lambda e, g, x, i: e.Executor(i)({i: [0, 1], "x": 1}), "only variables.*'x'"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_be_is_one_sentence_in_two_languages(graph, engine, wrong):
    call, said = WRONG[wrong]
    x, labels = graph.variable((2, 2), name="x"), graph.variable((2,), np.int64, "labels")
    with pytest.raises((TypeError, ValueError), match=said) as raised:
        call(engine, graph, x, labels)
    assert re.search("[\u4e00-\u9fff]", str(raised.value))
    assert "\n" not in str(raised.value)


# --- Products with Jacobians and Hessians


def network(graph, a, b):
    return [graph.tanh(a @ b) * graph.mean(a, axis=1, keepdims=True), graph.logsumexp(a * a, axis=0)[1:]]


def test_jvp_and_vjp_are_products_with_the_jacobian(graph, engine):
    variables = a, b = graph.variable((3, 2)), graph.variable((2, 3))
    feeds = {a: normal(3, 2), b: normal(2, 3)}
    outputs = network(graph, a, b)
    tangents, vectors = [normal(3, 2)[::-1], normal(2, 3)[::-1]], [normal(3, 3), normal(1)]
    run = engine.Executor(
        [*engine.jvp(outputs, variables, tangents), *engine.vjp(outputs, variables, vectors)]
    )
    results = run(feeds)
    jacobians = [[engine.Executor(engine.jacobian(y, x))(feeds)[0] for x in variables] for y in outputs]
    for got, row, y in zip(results[:2], jacobians, outputs, strict=True):
        assert [one.shape for one in row] == [y.shape + x.shape for x in variables]
        close(got, sum(np.tensordot(one, t, 2) for one, t in zip(row, tangents, strict=True)))
    for i, got in enumerate(results[2:]):
        close(got, sum(np.tensordot(v, row[i], v.ndim) for v, row in zip(vectors, jacobians, strict=True)))


def test_jvp_follows_the_direction_of_a_complex_step(graph, engine):
    x = graph.variable((4,))
    at, t = normal(4), normal(4)[::-1]
    (got,) = engine.Executor(engine.jvp(graph.exp(graph.sin(x)) / (2 + x * x), [x], [t]))({x: at})
    z = at + 1e-30j * t
    close(got, (np.exp(np.sin(z)) / (2 + z * z)).imag / 1e-30)


def test_jvp_needs_no_feed_but_those_of_the_function(graph, engine):
    x, z = graph.variable((2,)), graph.variable((2,))
    still, moved = engine.Executor(engine.jvp([z * z, x * x], [x], [np.ones(2)]))(
        {x: np.array([1.0, 2.0]), z: normal(2)}
    )
    assert (still.tolist(), moved.tolist()) == ([0, 0], [2, 4])


def test_the_hessian_of_a_quadratic_form_is_its_symmetric_part_twice(graph, engine):
    x, a = graph.variable((4,)), normal(4, 4)
    close(engine.Executor(engine.hessian(x @ a @ x, x))({x: normal(4)})[0], a + a.T)


def test_the_hessian_is_symmetric_and_hvp_is_its_product(graph, engine):
    variables = [graph.variable(shape) for shape in WEIGHTS]
    feeds = dict(zip(variables, [normal(*shape) for shape in WEIGHTS], strict=True))
    loss = perceptron(graph, variables, LABELS)
    weights = variables[2]
    vector = normal(3, 6).T
    hessian, product = engine.Executor([engine.hessian(loss, weights), *engine.hvp(loss, weights, vector)])(
        feeds
    )
    assert hessian.shape == (6, 3, 6, 3)
    close(hessian.transpose(2, 3, 0, 1), hessian)
    close(product, np.tensordot(hessian, vector, 2))


def test_hvp_of_several_inputs_has_the_mixed_blocks(graph, engine):
    a, b = graph.variable((2,)), graph.variable((3,))
    y = graph.sum(a) * graph.sum(b * b) + graph.sum(a**3)
    at_a, at_b, u, v = np.array([1.0, 2.0]), np.array([0.5, -1.0, 2.0]), normal(2), normal(3)
    by_a, by_b = engine.Executor(engine.hvp(y, [a, b], [u, v]))({a: at_a, b: at_b})
    close(by_a, 6 * at_a * u + 2 * at_b @ v)
    close(by_b, 2 * at_b * u.sum() + 2 * at_a.sum() * v)


def test_jacobians_of_empty_tensors_are_empty(graph, engine):
    x, none = graph.variable((2,)), graph.variable((0, 3))
    assert engine.Executor(engine.jacobian(x, none))({})[0].shape == (2, 0, 3)
    assert engine.Executor(engine.jacobian(none, x))({})[0].shape == (0, 3, 2)


# --- Higher derivatives


def derivatives(engine, y, x, order):
    nodes = [y]
    for _ in range(order):
        nodes += engine.gradients(nodes[-1], x)
    return nodes


def tanh_derivatives(order):
    """The derivatives of tanh as polynomials in tanh: d/dx p(t) = p'(t) (1 - t^2)."""
    polynomials = [Polynomial([0, 1])]
    for _ in range(order):
        polynomials.append(polynomials[-1].deriv() * Polynomial([1, 0, -1]))
    return polynomials


HIGHER = {
    "sin": (lambda g, x: g.sin(x), lambda x, n: math.sin(x + n * math.pi / 2)),
    "exp": (lambda g, x: g.exp(2 * x), lambda x, n: 2**n * math.exp(2 * x)),
    "log": (
        lambda g, x: g.log(x),
        lambda x, n: math.log(x) if n == 0 else (-1) ** (n - 1) * math.factorial(n - 1) / x**n,
    ),
    "power": (lambda g, x: x**2.5, lambda x, n: math.prod(2.5 - k for k in range(n)) * x ** (2.5 - n)),
    "polynomial": (
        lambda g, x: x**3 - 2 * x * x,
        lambda x, n: Polynomial([0, 0, -2, 1]).deriv(n)(x) if n < 4 else 0.0,
    ),
    "tanh": (lambda g, x: g.tanh(x), lambda x, n: tanh_derivatives(n)[n](math.tanh(x))),
    "quotient": (lambda g, x: 1 / (1 - x), lambda x, n: math.factorial(n) / (1 - x) ** (n + 1)),
    "square root": (
        lambda g, x: g.sqrt(x),
        lambda x, n: math.prod(0.5 - k for k in range(n)) * x ** (0.5 - n),
    ),
}


@pytest.mark.parametrize("name", HIGHER)
def test_derivatives_up_to_the_fifth_are_the_known_ones(graph, engine, name):
    f, known = HIGHER[name]
    x = graph.variable(())
    got = engine.Executor(derivatives(engine, f(graph, x), x, 5))({x: 0.7})
    assert got == pytest.approx([known(0.7, n) for n in range(6)], rel=1e-11)


def test_a_hessian_may_be_differentiated_again(graph, engine):
    x = graph.variable((2,))
    third = engine.jacobian(engine.hessian(graph.sum(x**4) + x[0] ** 2 * x[1] ** 2, x), x)
    a, b = 1.5, -0.5
    (got,) = engine.Executor(third)({x: np.array([a, b])})
    close(got, [[[24 * a, 4 * b], [4 * b, 4 * a]], [[4 * b, 4 * a], [4 * a, 24 * b]]])


def test_a_step_of_descent_may_be_differentiated_through(graph, engine):
    x, rate = graph.variable((2,)), graph.variable(())
    (slope,) = engine.gradients(graph.sum(x**4) / 4, x)
    after = x - rate * slope
    (by_rate,) = engine.Executor(engine.gradients(graph.sum(after**4) / 4, rate))(
        {x: np.array([1.0, 0.5]), rate: 0.1}
    )
    at = np.array([1.0, 0.5])
    assert by_rate == pytest.approx(-np.sum((at - 0.1 * at**3) ** 3 * at**3))


def test_the_immediate_engine_agrees_and_leaves_no_graph(graph, engine):
    variables = [graph.variable(shape) for shape in WEIGHTS]
    feeds = dict(zip(variables, [normal(*shape) for shape in WEIGHTS], strict=True))
    loss = perceptron(graph, variables, LABELS)
    extended = engine.Executor(engine.gradients(loss, variables))(feeds)
    for one, other in zip(engine.immediate_gradients(loss, variables, feeds), extended, strict=True):
        assert type(one) is np.ndarray
        close(one, other)
    other = graph.variable((2,))
    by_loss, by_other = engine.immediate_gradients(loss, [loss, other], feeds)
    assert (by_loss, by_other.tolist()) == (1, [0, 0])
    with pytest.raises(TypeError, match="ndarray"):
        engine.gradients(engine.immediate_gradients(loss, variables, feeds)[0], variables)


# --- Size and depth


def test_a_chain_of_100_000_nodes_needs_no_recursion(graph, engine):
    x = y = graph.variable(())
    for _ in range(50_000):
        y = graph.sin(y) + x
    (gradient,) = engine.gradients(y, x)
    right, slope = 0.3, 1.0
    for _ in range(50_000):
        slope = math.cos(right) * slope + 1
        right = math.sin(right) + 0.3
    value, got = engine.Executor([y, gradient])({x: 0.3})
    assert [value, got] == pytest.approx([right, slope])
    del y, gradient  # and none to let it go


def test_graphs_of_gradients_grow_with_the_depth_and_not_with_the_paths(graph, engine):
    def sizes(depth):
        x = y = graph.variable((2,))
        for _ in range(depth):
            y = graph.tanh(y * y + y)
        first = engine.gradients(graph.sum(y), x)
        return np.array([graph.graph_size(first), graph.graph_size(engine.hvp(graph.sum(y), x, np.ones(2)))])

    ten, twenty, forty = sizes(10), sizes(20), sizes(40)
    np.testing.assert_array_equal(forty - twenty, 2 * (twenty - ten))


def test_paths_double_and_the_work_does_not(graph, engine):
    x = y = graph.variable(())
    for _ in range(60):
        y = y + y
    assert engine.Executor(engine.gradients(y, x))({x: 1.0})[0] == 2.0**60


def test_a_gradient_of_many_leaves_visits_each_once(graph, engine):
    leaves = [graph.variable(()) for _ in range(8192)]
    total = leaves[0]
    for leaf in leaves[1:]:
        total = total + leaf * leaf
    gradients = engine.Executor(engine.gradients(total, leaves))({leaf: i for i, leaf in enumerate(leaves)})
    assert [float(one) for one in gradients] == [1.0, *(2.0 * i for i in range(1, 8192))]


# --- The executor


@pytest.fixture
def counting(graph):
    """counting(node): the same node by an operation that tells when it is computed, and the list of times."""
    computed = []

    class Counting(graph.Op):
        name = "counting"

        def compute(self, a):
            computed.append(a)
            return a + 0.0

        def vjp(self, adjoint, node):
            return (adjoint,)

    return (lambda a: graph.Node(Counting(), (a,), a.shape, a.dtype)), computed


def test_each_needed_node_is_computed_once_a_run_and_no_other(graph, engine, counting):
    count, computed = counting
    x = graph.variable((2,))
    shared = count(x)
    count(shared * 3)  # nobody asks for it
    y = shared * shared + graph.sin(shared)
    run = engine.Executor([y, shared, *engine.gradients(graph.sum(y), x), y])
    for runs in (1, 2):
        run({x: np.ones(2)})
        assert len(computed) == runs


def test_planning_computes_nothing(graph, engine, counting):
    count, computed = counting
    x = graph.variable((2,))
    engine.Executor(engine.gradients(graph.sum(count(x)), x))
    assert not computed


def test_fifty_feeds_give_fifty_answers_and_leave_nothing(graph, engine):
    variables = [graph.variable(shape) for shape in WEIGHTS]
    loss = perceptron(graph, variables, LABELS)
    run = engine.Executor([loss, *engine.gradients(loss, variables)])
    draw = np.random.default_rng(4)

    def once():
        feeds = {x: draw.normal(size=x.shape) for x in variables}
        one, other = run(feeds), engine.Executor(run.outputs)(feeds)
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)

    once()
    before = graph.graph_size(run.outputs)
    tracemalloc.start()
    try:
        gc.collect()
        start = tracemalloc.get_traced_memory()[0]
        for _ in range(50):
            once()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - start < 20_000
    finally:
        tracemalloc.stop()
    assert graph.graph_size(run.outputs) == before


def test_arrays_are_let_go_after_their_last_use(graph, engine):
    size = 100_000
    x = y = graph.variable((size,))
    for i in range(40):
        y = y * 1.01 if i % 2 == 0 else graph.tanh(y)
    total = graph.sum(y)
    forward, both = engine.Executor(total), engine.Executor([total, *engine.gradients(total, x)])
    feeds = {x: np.ones(size)}
    peaks = []
    tracemalloc.start()
    try:
        for run in (forward, both):
            tracemalloc.reset_peak()
            start = tracemalloc.get_traced_memory()[0]
            run(feeds)
            peaks.append((tracemalloc.get_traced_memory()[1] - start) / (8 * size))
    finally:
        tracemalloc.stop()
    assert peaks[0] < 2.1
    assert peaks[1] < 23  # the results of 20 tanh, which their rules need, and a few on the way


def test_results_written_over_operands_harm_no_view_no_feed_and_no_output(graph, engine):
    x = graph.variable((3, 3))
    a = x + 1.0  # each of these is read for the last time by an elementwise operation
    view = graph.transpose(a)
    b = a * 2.0
    c = b * b
    d = c - c
    kept = graph.exp(x)
    e = kept * 3.0
    f = graph.maximum(x * 2.0, -x * 3.0)
    outputs = [view + b, d, graph.sum(kept), kept, e + graph.broadcast_to(graph.sum(e, 0), (3, 3)), f]
    array = normal(3, 3)
    before = array.copy()
    run = engine.Executor(outputs)
    for _ in range(2):
        got = run({x: array})
        grown = np.exp(before)
        right = [
            (before + 1).T + 2 * (before + 1),
            np.zeros((3, 3)),
            grown.sum(),
            grown,
            3 * grown + 3 * grown.sum(0),
            np.where(before > 0, 2, -3) * before,
        ]
        for one, other in zip(got, right, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14)
        np.testing.assert_array_equal(array, before)


def test_a_chain_of_elementwise_operations_needs_one_array(graph, engine):
    x = graph.variable((1000, 100))
    y = x
    for _ in range(20):
        y = graph.tanh(y * 1.01)
    run, array = engine.Executor(y), np.ones((1000, 100))
    run({x: array})
    tracemalloc.start()
    run({x: array})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.1 * array.nbytes


def test_results_share_memory_with_nothing_that_another_holds(graph, engine):
    x, c = graph.variable((2, 3)), graph.constant(np.ones((2, 3)))
    square = x * x
    views = [
        graph.reshape(square, 6),
        graph.transpose(square),
        square[0],
        graph.broadcast_to(square, (2, 2, 3)),
    ]
    outputs = [
        x,
        x,
        c,
        graph.transpose(x),
        square,
        square,
        *views,
        graph.broadcast_to(x[0], (4, 3)),
        graph.sum(x, ()),
    ]
    fed = normal(2, 3)
    results = engine.Executor(outputs)({x: fed})
    for i, array in enumerate(results):
        assert array.flags.writeable
        assert array.base is None
        for other in (fed, c.value, *results[:i]):
            assert not np.shares_memory(array, other)
    kept = fed.copy()
    for array in results:
        array[...] = 7.0
    np.testing.assert_array_equal(fed, kept)
    np.testing.assert_array_equal(engine.Executor(outputs)({x: fed})[2], np.ones((2, 3)))


def test_a_function_of_broadcasts_alone_has_the_shape_that_was_known(graph, engine):
    x = graph.variable((2,))
    wide = graph.broadcast_to(x, (3, 2))
    for node in (wide * wide, -wide, wide + graph.broadcast_to(x[:1], (3, 2))):
        assert engine.Executor(node)({x: np.ones(2)})[0].shape == (3, 2)


def test_numbers_and_lists_are_taken_in_the_variables_dtype(graph, engine):
    x, i = graph.variable((2,), np.float32), graph.variable((), np.int64)
    value, label = engine.Executor([x, i])({x: [1, 2.5], i: 3})
    assert (value.dtype, label.dtype) == (np.float32, np.int64)
    assert (value.tolist(), label.tolist()) == ([1, 2.5], 3)


def test_nan_feeds_go_through_as_in_numpy(graph, engine):
    x = graph.variable((3,))
    at = np.array([np.nan, 1.0, -1.0])
    value, gradient = engine.Executor([graph.max(x), *engine.gradients(graph.sum(graph.sin(x)), x)])({x: at})
    assert np.isnan(value)
    np.testing.assert_array_equal(gradient, np.cos(at))


def test_feeds_that_are_not_needed_do_no_harm(graph, engine):
    x, z = graph.variable(()), graph.variable(())
    assert engine.Executor(engine.gradients(3 * x, x))({x: 1.0, z: 2.0})[0] == 3.0
