"""Every rule of lab 2's graph against the derivative of its own compute, to second order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

STEP = 1e-30  # of the imaginary part: the complex step has no cancellation, so it may be this small


@pytest.fixture(scope="module")
def graph(lab2):
    return lab2["graph"]


@pytest.fixture(scope="module")
def engine(lab2):
    return lab2["engine"]


def interpret(graph, outputs, feeds):
    """The arrays of the outputs by op.compute alone, on complex numbers where one is fed."""
    is_complex = any(array.dtype.kind == "c" for array in feeds.values())
    arrays = {}
    for node in graph.topological_order(outputs):
        if node.op is not None:
            array = node.op.compute(*[arrays[a] for a in node.inputs])
        else:
            array = feeds.get(node, node.value)
        arrays[node] = array.astype(complex) if is_complex and array.dtype.kind == "f" else array
    return [arrays[output] for output in outputs]


def slopes(graph, outputs, vectors, variables, arrays):
    """d sum(<v, output>) / d entry for each entry of each array, by complex steps."""
    result = []
    for moved, array in zip(variables, arrays, strict=True):
        slope = np.empty(array.shape)
        for index in np.ndindex(*array.shape):
            feeds = dict(zip(variables, [a.astype(complex) for a in arrays], strict=True))
            feeds[moved][index] += STEP * 1j
            values = interpret(graph, outputs, feeds)
            slope[index] = sum(np.sum(v * y.imag) for v, y in zip(vectors, values, strict=True)) / STEP
        result.append(slope)
    return result


def close(got, right, tolerance=1e-11, floor=0.0):
    assert (got.shape, got.dtype) == (right.shape, right.dtype)
    assert np.isfinite(right).all()
    assert np.linalg.norm(got - right) <= tolerance * np.linalg.norm(right) + floor


def check(graph, engine, build, arrays, orders=2, floor=0.0):
    """Gradients of build(*nodes) with a random signed adjoint, then the gradients of those, and so on."""
    draw = np.random.default_rng(0)
    variables = [graph.variable(array.shape) for array in arrays]
    outputs = [build(*variables)]
    for _ in range(orders):
        vectors = [draw.normal(size=y.shape) for y in outputs]
        gradients = engine.gradients(outputs, variables, vectors)
        got = engine.Executor(gradients)(dict(zip(variables, arrays, strict=True)))
        for one, right in zip(got, slopes(graph, outputs, vectors, variables, arrays), strict=True):
            close(one, right, floor=floor)
        outputs = gradients


def normal(*shape):
    return np.random.default_rng(sum(shape) + 17).normal(size=shape)


def positive(*shape):
    return np.random.default_rng(sum(shape) + 18).uniform(0.5, 2.0, size=shape)


SMOOTH = {
    "add": (lambda g, a, b: a + b * b, [normal(2, 3), normal(2, 3)]),
    "subtract": (lambda g, a, b: a * a - b * b, [normal(2, 3), normal(2, 3)]),
    "multiply": (lambda g, a, b: a * b, [normal(2, 3), normal(2, 3)]),
    "divide": (lambda g, a, b: a / b, [normal(2, 3), positive(2, 3)]),
    "divide by a number": (lambda g, a: a * a / 3, [normal(2, 3)]),
    "a number divided": (lambda g, a: 3 / a, [positive(2, 3)]),
    "power": (lambda g, a, b: a**b, [positive(2, 3), normal(2, 3)]),
    "number to a power": (lambda g, b: 2.5**b, [normal(2, 3)]),
    "negative": (lambda g, a: -(a * a), [normal(2, 3)]),
    "exp": (lambda g, a: g.exp(a), [normal(2, 3)]),
    "log": (lambda g, a: g.log(a), [positive(2, 3)]),
    "sin": (lambda g, a: g.sin(a), [normal(2, 3)]),
    "cos": (lambda g, a: g.cos(a), [normal(2, 3)]),
    "tanh": (lambda g, a: g.tanh(a), [normal(2, 3)]),
    "sqrt": (lambda g, a: g.sqrt(a), [positive(2, 3)]),
    "relu": (lambda g, a: g.relu(a) * a, [normal(4, 3)]),
    "maximum": (lambda g, a, b: g.maximum(a * a, b * b), [normal(3, 3), positive(3, 3)]),
    "where": (lambda g, a, b: g.where(a > b, a * a, b * b * b), [normal(3, 3), positive(3, 3)]),
    "chain": (lambda g, a, b: g.chain(a, b), [normal(2, 3), normal(3, 2).T]),
    "max over rows": (lambda g, a: g.max(a * a, axis=1), [normal(3, 4)]),
    "max of all": (lambda g, a: g.max(a * a * a), [normal(3, 4)]),
    "logsumexp of all": (lambda g, a: g.logsumexp(a), [normal(3, 4)]),
    "logsumexp over rows": (lambda g, a: g.logsumexp(a, axis=-1), [normal(3, 3)]),
    "logsumexp over two axes": (lambda g, a: g.logsumexp(a, axis=(2, 0), keepdims=True), [normal(2, 2, 2)]),
    "softmax": (lambda g, a: g.softmax(a), [normal(3, 3)]),
    "softmax over columns": (lambda g, a: g.softmax(a, axis=0), [normal(3, 2)]),
    "cross-entropy": (lambda g, a: g.softmax_cross_entropy(a, [2, 0, 2]), [normal(3, 3)]),
    "cross-entropy of a batch of rows": (
        lambda g, a: g.softmax_cross_entropy(a, [[1, 0], [1, 1]]),
        [normal(2, 2, 2)],
    ),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_a_rule_is_the_derivative_of_its_compute(graph, engine, name):
    build, arrays = SMOOTH[name]
    check(graph, engine, lambda *nodes: build(graph, *nodes), arrays)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, 0.5, -2.5, 1.5, np.float32(2), np.int64(3)])
def test_a_power_by_a_number_follows_the_power_rule(graph, engine, exponent):
    check(graph, engine, lambda a: 1.5 * a**exponent, [positive(2, 3)])


@pytest.mark.parametrize("exponent", [2, 3, -1, -2])
def test_negative_bases_have_whole_powers(graph, engine, exponent):
    check(graph, engine, lambda a: a**exponent, [-positive(2, 3)])


def test_abs_has_the_sign_as_its_derivative(graph, engine):
    a = normal(3, 3)
    x, v = graph.variable((3, 3)), normal(3, 3)[::-1]
    (g,) = engine.gradients(abs(graph.sin(x)), x, v)
    close(engine.Executor(g)({x: a})[0], v * np.sign(np.sin(a)) * np.cos(a))


BOTH_SLOTS = {
    "+": lambda g, x: x + x,
    "-": lambda g, x: x - x + x * x,
    "*": lambda g, x: x * x,
    "/": lambda g, x: x / x + x,
    "**": lambda g, x: x**x,
    "maximum": lambda g, x: g.maximum(x, x) * x,
    "where": lambda g, x: g.where(x > 1.0, x, x) * x,
    "matmul": lambda g, x: x @ x,
    "concatenate": lambda g, x: g.concatenate([x, x], axis=1) ** 2,
}


@pytest.mark.parametrize("name", BOTH_SLOTS)
def test_a_node_in_both_slots_has_both_gradients(graph, engine, name):
    check(graph, engine, lambda x: BOTH_SLOTS[name](graph, x), [positive(3, 3)])


# --- Shapes

BROADCASTS = [
    ((3,), (3, 3)),
    ((3, 3, 3), (3, 3)),
    ((2, 3), (3,)),
    ((1, 3), (2, 1)),
    ((), (2, 3)),
    ((2, 1, 3), (4, 1)),
    ((1,), (1, 1, 1)),
    ((4, 3, 2), (3, 1)),
    ((1, 2), (0, 1)),
    ((0, 3), (3,)),
]


@pytest.mark.parametrize(("first", "second"), BROADCASTS)
def test_broadcasting_is_summed_over_what_it_repeated(graph, engine, first, second):
    for shapes in ((first, second), (second, first)):
        check(graph, engine, lambda a, b: a * b * b + b / (2 + a * a), [normal(*s) for s in shapes])


@pytest.mark.parametrize(
    ("shape", "target"),
    [((3,), (3, 3)), ((3, 1), (3, 3)), ((1, 3), (3, 3)), ((), (2, 2)), ((1, 1), (1, 4, 1)), ((1,), (0,))],
)
def test_broadcast_to_is_explicit_broadcasting(graph, engine, shape, target):
    check(graph, engine, lambda a: graph.broadcast_to(a * a, target), [normal(*shape)])


AXES = [None, 0, 1, -1, (0, 2), (2, 0), (-1, -3), (1,), (), (0, 1, 2), [2, 1]]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", ["sum", "mean", "max", "logsumexp"])
def test_reductions_over_any_axes(graph, engine, name, axis, keepdims):
    reduce = getattr(graph, name)
    for shape in ((2, 3, 2), (2, 2, 2)):
        check(graph, engine, lambda a: reduce(a * a, axis, keepdims), [normal(*shape)], orders=1)


def test_sums_and_means_have_second_derivatives(graph, engine):
    check(
        graph, engine, lambda a: graph.sum(a**3, axis=(0, -1)) * graph.mean(a, axis=(2, 0)), [normal(2, 2, 2)]
    )


@pytest.mark.parametrize("axes", [None, (1, 2, 0), (2, 0, 1), (0, 2, 1), (-1, 0, -2), [0, 1, 2]])
def test_transposing_by_any_axes(graph, engine, axes):
    for shape in ((2, 3, 4), (2, 2, 2)):
        check(graph, engine, lambda a: graph.transpose(a, axes) ** 2, [normal(*shape)])


@pytest.mark.parametrize("shape", [(6,), (3, 2), (1, 6, 1), (-1, 2), 6, -1, [2, 3]])
def test_reshaping(graph, engine, shape):
    check(graph, engine, lambda a: graph.reshape(a, shape) ** 2, [normal(2, 3)])


MATRICES = [
    ((2, 3), (3, 4)),
    ((3, 3), (3, 3)),
    ((3,), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3,)),
    ((2, 3, 4), (4, 2)),
    ((3, 4), (2, 4, 2)),
    ((2, 1, 2, 3), (2, 3, 2)),
    ((1, 2, 3), (2, 3, 2)),
    ((2, 2, 2), (1, 2, 2)),
    ((3,), (2, 3, 2)),
    ((2, 2, 3), (3,)),
    ((2, 0), (0, 3)),
    ((0, 2), (2, 3)),
]


@pytest.mark.parametrize(("left", "right"), MATRICES)
def test_matrix_products_of_all_ranks(graph, engine, left, right):
    check(graph, engine, lambda a, b: a @ b, [normal(*left), normal(*right)])


INDICES = [
    0,
    -1,
    slice(1, None),
    slice(None, None, -2),
    (slice(None), 1),
    (..., 0),
    (None, 1),
    (1, 2),
    (0, ..., None),
    (),
]


@pytest.mark.parametrize("index", INDICES)
def test_slices(graph, engine, index):
    check(graph, engine, lambda a: a[index] ** 2, [normal(3, 4)])


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("indices", [[0, 0], [2, 0, 2, -1], 1, [[1, 1], [0, -3]], np.empty(0, int)])
def test_what_is_looked_up_twice_adds_up(graph, engine, axis, indices):
    check(graph, engine, lambda a: graph.gather(a * a, indices, axis), [normal(3, 3)])
    shape = np.shape(np.take(normal(3, 3), indices, axis))
    check(graph, engine, lambda a: graph.scatter_add(a * a, indices, (3, 3), axis), [normal(*shape)])


@pytest.mark.parametrize("axis", [0, 1, -2])
def test_joining_three_tensors(graph, engine, axis):
    sizes = [(1, 2), (3, 2), (2, 2)] if axis != 1 else [(2, 1), (2, 3), (2, 2)]
    check(graph, engine, lambda *parts: graph.concatenate(parts, axis) ** 2, [normal(*s) for s in sizes])


# --- Random graphs


@st.composite
def programs(draw):
    """Steps (operation, operand, operand) of a random graph on three matrices; operands are places."""
    count = draw(st.integers(3, 9))
    return [
        (draw(st.integers(0, 8)), draw(st.integers(0, 2 + i)), draw(st.integers(0, 2 + i)))
        for i in range(count)
    ]


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(programs())
def test_random_graphs_have_the_derivatives_of_their_values(graph, engine, steps):
    choices = [
        lambda a, b: a + b,
        lambda a, b: a - 2 * b,
        lambda a, b: graph.tanh(a) * b,
        lambda a, b: a / (2 + b * b),
        lambda a, b: graph.tanh(a @ b),
        lambda a, b: graph.transpose(a) + graph.mean(b, axis=0),
        lambda a, b: graph.softmax(a, axis=0) * graph.sum(b, axis=1, keepdims=True),
        lambda a, b: graph.gather(a, [1, 1]) - b[::-1],
        lambda a, b: graph.broadcast_to(graph.logsumexp(a, axis=0), (2, 2)) + graph.sin(b),
    ]

    def build(*nodes):
        nodes = list(nodes)
        for choice, a, b in steps:
            nodes.append(choices[choice](nodes[a], nodes[b]))
        return nodes[-1] + nodes[-2]

    # What cancels is 0 only to rounding.
    check(graph, engine, build, [normal(2, 2), normal(2, 2)[::-1], positive(2, 2)], floor=1e-11)


# --- What a rule may not do


def every_operation(graph, dtype):
    """One node of each operation of the module, on variables of a dtype, and their arrays."""
    a, b = graph.variable((3, 3), dtype, "a"), graph.variable((3, 3), dtype, "b")
    labels = graph.variable((3,), np.int64, "labels")
    nodes = [
        *(a + b, a - b, a * b, a / b, a**b, a**2, a**-0.5, -a, 2 * a, 1 - a, a / 3, 3 / a, 2**a, a**1, a**0),
        *(graph.exp(a), graph.log(a), graph.sin(a), graph.cos(a), graph.tanh(a), graph.sqrt(a), abs(a)),
        *(
            graph.relu(a),
            graph.maximum(a, b),
            graph.maximum(a, 0),
            graph.where(a > b, a, 0),
            graph.chain(a, b),
        ),
        *(
            a @ b,
            a @ a[0],
            a[0] @ b,
            graph.transpose(a),
            graph.reshape(a, 9),
            graph.broadcast_to(a, (2, 3, 3)),
        ),
        *(graph.sum(a), graph.sum(a, 1), graph.mean(a), graph.mean(a, 0), graph.max(a), graph.max(a, -1)),
        *(graph.concatenate([a, b]), a[1:, 0], graph.gather(a, labels), graph.scatter_add(a, labels, (3, 3))),
        *(graph.logsumexp(a), graph.logsumexp(a, 1), graph.softmax(a), graph.softmax(a, None)),
        *(graph.softmax_cross_entropy(a, labels), a * (a > b)),
        *(a * np.float64(0.5), a + np.sqrt(2), a - np.int64(1), sum([a, b])),
    ]
    draw = np.random.default_rng(5)
    arrays = {x: draw.uniform(0.5, 2, (3, 3)).astype(dtype) for x in (a, b)}
    return nodes, [a, b], {**arrays, labels: np.array([2, 0, 2])}


def test_all_operations_are_covered(graph):
    nodes, _, _ = every_operation(graph, np.float64)
    used = {type(node.op).__name__ for node in graph.topological_order(nodes)}
    bases = {"Op", "Reduction", "NoneType", "AsType", "PutSlice", "SoftmaxError"}
    ops = {
        name for name, kind in vars(graph).items() if isinstance(kind, type) and issubclass(kind, graph.Op)
    }
    assert used - bases == ops - bases


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_values_and_first_and_second_gradients_keep_their_dtype(graph, engine, dtype):
    nodes, variables, feeds = every_operation(graph, dtype)
    for node in nodes:
        first = engine.gradients(node, variables, np.ones(node.shape))
        second = engine.gradients(first, variables, [np.ones((3, 3))] * 2)
        for array in engine.Executor([node, *first, *second])(feeds):
            assert type(array) is np.ndarray
            assert array.dtype == dtype, node


def test_no_array_is_changed_and_rules_say_the_same_twice(graph, engine):
    nodes, variables, feeds = every_operation(graph, np.float64)
    before = {node: array.copy() for node, array in feeds.items()}
    order = graph.topological_order(nodes)
    for node in order:
        if node.op is None:
            continue
        operands = [np.array(array) for array in interpret(graph, node.inputs, feeds)]
        kept = [operand.copy() for operand in operands]
        first, second = node.op.compute(*operands), node.op.compute(*operands)
        np.testing.assert_array_equal(first, second)
        for operand, copy in zip(operands, kept, strict=True):
            np.testing.assert_array_equal(operand, copy)
    for node in nodes:
        vector = np.full(node.shape, 0.7)
        runs = [engine.Executor(engine.gradients(node, variables, vector))(feeds) for _ in range(2)]
        for one, other in zip(*runs, strict=True):
            np.testing.assert_array_equal(one, other)
        assert (vector == 0.7).all()
    for node, array in before.items():
        np.testing.assert_array_equal(feeds[node], array)


def test_rules_are_linear_in_the_adjoint_and_stay_in_the_graph(graph, engine):
    nodes, variables, feeds = every_operation(graph, np.float64)
    draw = np.random.default_rng(6)
    for node in nodes:
        v = graph.variable(node.shape)
        gradients = engine.gradients(node, variables, [v])
        run = engine.Executor(gradients)
        u, w = draw.normal(size=(2, *node.shape))
        for at_u, at_w, at_both in zip(
            run({**feeds, v: u}), run({**feeds, v: w}), run({**feeds, v: 2 * u - w}), strict=True
        ):
            np.testing.assert_allclose(at_both, 2 * at_u - at_w, rtol=1e-12, atol=1e-12)


def test_one_operation_object_serves_nodes_of_different_shapes(graph, engine):
    a, b = graph.variable((2, 3)), graph.variable((3, 2))
    total = graph.Sum((1,), keepdims=False)
    nodes = [graph.Node(total, (x,), x.shape[:1], x.dtype) for x in (a, b)]
    gradients = engine.gradients(nodes, [a, b], [[1.0, 2.0], [3.0, 4.0, 5.0]])
    by_a, by_b = engine.Executor(gradients)({a: normal(2, 3), b: normal(3, 2)})
    np.testing.assert_array_equal(by_a, [[1, 1, 1], [2, 2, 2]])
    np.testing.assert_array_equal(by_b, [[3, 3], [4, 4], [5, 5]])
