"""Lab 2's graph against NumPy: values, shapes, dtypes, refusals; and the skeleton cut from it."""

import math
import operator
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.authoring import cutter

LAB = Path(__file__).parents[3] / "reference" / "lab2_tensors"
CHINESE = re.compile("[\u4e00-\u9fff]")
quick = settings(max_examples=100, deadline=None, derandomize=True, database=None)


@pytest.fixture(scope="module")
def graph(lab2):
    return lab2["graph"]


@pytest.fixture(scope="module")
def engine(lab2):
    return lab2["engine"]


def run(engine, node, feeds):
    """The array of a node, which must have the shape and dtype that were known before."""
    (array,) = engine.Executor(node)(feeds)
    assert (array.shape, array.dtype) == (node.shape, node.dtype)
    return array


def same(got, right):
    right = np.asarray(right)
    assert (got.shape, got.dtype) == (right.shape, right.dtype)
    np.testing.assert_allclose(got, right, rtol=1e-13, atol=1e-15)


def normal(*shape):
    return np.random.default_rng(sum(shape) + 11).normal(size=shape)


# --- Values

SYMBOLS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.gt, operator.le]
DTYPES = ["bool", "int8", "int64", "uint8", "float16", "float32", "float64"]


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_operators_follow_numpy_for_every_pair_of_dtypes(graph, engine, symbol):
    for first in DTYPES:
        for second in DTYPES:
            a, b = np.array([1, 0, 1, 3]).astype(first), np.array([1, 1, 0, 2]).astype(second)
            x, y = graph.variable(a.shape, first), graph.variable(b.shape, second)
            with np.errstate(all="ignore"):
                try:
                    right = symbol(a, b)
                except TypeError:
                    with pytest.raises(TypeError, match="bool"):
                        symbol(x, y)
                    continue
            got = run(engine, symbol(x, y), {x: a, y: b})
            assert got.dtype == right.dtype
            np.testing.assert_array_equal(got, right)


@pytest.mark.parametrize("symbol", SYMBOLS)
@pytest.mark.parametrize(
    "other", [2, 0.5, True, np.float64(1.5), np.float32(2.5), np.int64(4), np.array([1.0, 3.0])]
)
def test_numbers_and_arrays_stand_on_either_side(graph, engine, symbol, other):
    a = np.array([[0.5, 1.5], [2.5, 3.5]])
    x = graph.variable((2, 2))
    same(run(engine, symbol(x, other), {x: a}), symbol(a, other))
    same(run(engine, symbol(other, x), {x: a}), symbol(other, a))


def test_matrix_products_take_arrays_on_either_side(graph, engine):
    x, a, b = graph.variable((2, 3)), normal(2, 3), normal(3, 2)
    same(run(engine, x @ b, {x: a}), a @ b)
    same(run(engine, b @ x, {x: a}), b @ a)


def test_numbers_do_not_widen_a_tensor(graph):
    for dtype in ("float16", "float32"):
        x = graph.variable((2,), dtype)
        for node in (
            x * 2,
            2.5 * x,
            x / np.float64(3),
            x + np.int64(1),
            x ** np.float64(2),
            graph.maximum(x, 0),
        ):
            assert node.dtype == dtype
        assert (x * np.ones(2)).dtype == "float64"


def test_functions_give_numpys_values(graph, engine):
    x = graph.variable((2, 3))
    a = np.random.default_rng(0).uniform(0.1, 2.0, (2, 3))
    for name in ("exp", "log", "sin", "cos", "tanh", "sqrt", "abs"):
        same(run(engine, getattr(graph, name)(x), {x: a}), getattr(np, name)(a))
        integers = graph.constant(np.array([1, 2], np.int8))
        assert getattr(graph, name)(integers).dtype == getattr(np, name)(np.array([1, 2], np.int8)).dtype
    same(run(engine, graph.relu(x - 1), {x: a}), np.maximum(a - 1, 0))
    same(run(engine, graph.where(x > 1, x, -1), {x: a}), np.where(a > 1, a, -1))
    same(run(engine, graph.astype(x, np.int64), {x: a}), a.astype(np.int64))


def test_values_at_singular_points_are_numpys_and_silent(graph, engine):
    points = np.array([-np.inf, -3.0, -1e200, -0.5, -0.0, 0.0, 0.5, 1e200, 1e3, np.inf, np.nan])
    x, y = graph.variable((11, 1)), graph.variable((11,))
    for symbol in SYMBOLS[:5]:
        with np.errstate(all="ignore"):
            right = symbol(points[:, None], points)
        np.testing.assert_array_equal(run(engine, symbol(x, y), {x: points[:, None], y: points}), right)
    for name in ("exp", "log", "sin", "cos", "tanh", "sqrt", "abs"):
        with np.errstate(all="ignore"):
            right = getattr(np, name)(points)
        np.testing.assert_array_equal(run(engine, getattr(graph, name)(y), {y: points}), right)
    np.testing.assert_array_equal(run(engine, graph.relu(y), {y: points}), np.maximum(points, 0))
    np.testing.assert_array_equal(run(engine, graph.maximum(y, 0), {y: points}), np.maximum(points, 0))


def test_choosing_keeps_every_bit(graph, engine):
    a = np.array([np.inf, -np.inf, np.nan, -0.0, 5e-324, 1.0])
    b = np.array([1.0, np.nan, -np.inf, 0.0, -1.0, np.inf])
    for dtype in (np.float16, np.float32, np.float64, np.int64):
        with np.errstate(all="ignore"):
            first, second = (
                np.nan_to_num(c, posinf=9, neginf=-9) if dtype is np.int64 else c for c in (a, b)
            )
            first, second = first.astype(dtype), second.astype(dtype)
        x, y, c = graph.variable(6, dtype), graph.variable(6, dtype), graph.variable(6, bool)
        condition = np.array([True, False, True, True, False, False])
        got = run(engine, graph.where(c, x, y), {x: first, y: second, c: condition})
        assert got.tobytes() == np.where(condition, first, second).tobytes()


shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3)


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@quick
@given(shapes, st.data())
def test_reductions_take_numpys_axes(graph, engine, shape, data):
    count = len(shape)
    axis = data.draw(
        st.none() | st.integers(-count - 1, count) | st.lists(st.integers(-count, count)).map(tuple)
    )
    assume(shape or not isinstance(axis, int))  # NumPy still lets a scalar have an axis 0
    keepdims = data.draw(st.booleans())
    x, a = graph.variable(shape), normal(*shape)
    for name in ("sum", "mean", "max"):
        try:
            with np.errstate(all="ignore"):
                right = getattr(np, name)(a, axis=axis, keepdims=keepdims)
        except (ValueError, TypeError):  # an axis out of range or repeated, or no entries to compare
            with pytest.raises(ValueError, match=f"^{name}"):
                getattr(graph, name)(x, axis, keepdims)
        else:
            same(run(engine, getattr(graph, name)(x, axis, keepdims), {x: a}), right)


@quick
@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, min_side=0, max_side=3))
def test_broadcasting_follows_numpy(graph, engine, drawn):
    first, second = drawn.input_shapes
    x, y, a, b = graph.variable(first), graph.variable(second), normal(*first), normal(*second)
    same(run(engine, x - y, {x: a, y: b}), a - b)
    if a.shape != drawn.result_shape:
        same(
            run(engine, graph.broadcast_to(x, drawn.result_shape), {x: a}),
            np.broadcast_to(a, drawn.result_shape),
        )


@quick
@given(shapes, shapes)
def test_shapes_that_numpy_refuses_are_refused(graph, engine, first, second):
    x, y, a, b = graph.variable(first), graph.variable(second), normal(*first), normal(*second)
    pairs = [
        ("add", lambda: a + b, lambda: x + y),
        ("matmul", lambda: a @ b, lambda: x @ y),
        ("broadcast_to", lambda: np.broadcast_to(a, second), lambda: graph.broadcast_to(x, second)),
        ("reshape", lambda: a.reshape(second), lambda: graph.reshape(x, second)),
        ("concatenate", lambda: np.concatenate([a, b]), lambda: graph.concatenate([x, y])),
    ]
    for name, numpys, ours in pairs:
        try:
            right = numpys()
        except ValueError:
            with pytest.raises(ValueError, match=f"^{name}.*{re.escape(str(first))}.*/ {name}："):
                ours()
        else:
            same(run(engine, ours(), {x: a, y: b}), right)


@quick
@given(hnp.mutually_broadcastable_shapes(signature=np.matmul.signature, max_dims=2, max_side=3))
def test_matrix_products_follow_numpy(graph, engine, drawn):
    first, second = drawn.input_shapes
    x, y, a, b = graph.variable(first), graph.variable(second), normal(*first), normal(*second)
    same(run(engine, graph.matmul(x, y), {x: a, y: b}), np.matmul(a, b))


@quick
@given(st.data())
def test_slices_follow_numpy(graph, engine, data):
    shape = data.draw(hnp.array_shapes(max_dims=3, max_side=4))
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=True))
    x, a = graph.variable(shape), normal(*shape)
    same(run(engine, x[index], {x: a}), a[index])


@quick
@given(st.data())
def test_transposes_and_lookups_follow_numpy(graph, engine, data):
    shape = data.draw(hnp.array_shapes(max_dims=4, max_side=3))
    axes = data.draw(
        st.none()
        | st.permutations([i - data.draw(st.sampled_from([0, len(shape)])) for i in range(len(shape))])
    )
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    length = shape[axis]
    indices = data.draw(
        hnp.arrays(
            np.int64,
            hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3),
            elements=st.integers(-length, length - 1),
        )
    )
    x, a = graph.variable(shape), normal(*shape)
    same(run(engine, graph.transpose(x, axes), {x: a}), np.transpose(a, axes))
    same(run(engine, graph.gather(x, indices, axis), {x: a}), np.take(a, indices, axis))


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), ()])
def test_logsumexp_and_softmax_are_what_their_names_say(graph, engine, axis):
    x, a = graph.variable((3, 4)), normal(3, 4)
    total = np.sum(np.exp(a), axis=axis, keepdims=True)
    same(run(engine, graph.logsumexp(x, axis, keepdims=True), {x: a}), np.log(total))
    same(run(engine, graph.logsumexp(x, axis), {x: a}), np.log(np.sum(np.exp(a), axis=axis)))
    same(run(engine, graph.softmax(x, axis), {x: a}), np.exp(a) / total)


def test_cross_entropy_is_the_negative_logarithm_of_the_softmax(graph, engine):
    x, a, labels = graph.variable((2, 3, 4)), normal(2, 3, 4), np.array([[0, 3, 1], [2, 2, 0]])
    shares = np.exp(a) / np.exp(a).sum(-1, keepdims=True)
    right = -np.log(np.take_along_axis(shares, labels[..., None], -1)[..., 0])
    same(run(engine, graph.softmax_cross_entropy(x, labels), {x: a}), right)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_infinite_entries_of_a_softmax_count_as_everything_or_nothing(graph, engine, dtype):
    x = graph.variable((4, 2), dtype)
    a = np.array([[np.inf, 1.0], [-np.inf, 1.0], [-np.inf, -np.inf], [np.nan, 1.0]], dtype)
    np.testing.assert_array_equal(run(engine, graph.logsumexp(x, 1), {x: a}), [np.inf, 1.0, -np.inf, np.nan])
    np.testing.assert_array_equal(run(engine, graph.softmax(x), {x: a})[1:3], [[0, 1], [0, 0]])


def test_reductions_over_no_entries_are_numpys(graph, engine):
    x = graph.variable((0, 2))
    same(run(engine, graph.sum(x, 0), {x: np.ones((0, 2))}), np.zeros(2))
    assert np.isnan(run(engine, graph.mean(x), {x: np.ones((0, 2))}))
    same(run(engine, graph.logsumexp(x, 0), {x: np.ones((0, 2))}), np.full(2, -np.inf))


# --- Nodes


def test_shape_and_dtype_are_known_before_anything_runs(graph):
    x = graph.variable((2, 1, 3), np.float32, "x")
    y = graph.sum(x * graph.variable((4, 3), np.float32), axis=1)
    assert (y.shape, y.dtype, y.ndim) == ((2, 3), np.float32, 2)
    assert type(y.op) is graph.Sum
    assert repr(x) == "<Node x: float32 (2, 1, 3)>"
    assert repr(y) == "<Node sum: float32 (2, 3)>"
    assert repr(graph.variable(3)) == "<Node variable: float64 (3,)>"
    assert repr(graph.constant(3)) == "<Node constant: int64 ()>"


def test_what_changes_nothing_makes_no_node(graph):
    x = graph.variable((2, 3))
    assert graph.reshape(x, (2, -1)) is x
    assert graph.broadcast_to(x, (2, 3)) is x
    assert graph.astype(x, float) is x
    assert x**1 is x


def test_a_number_in_a_formula_takes_no_memory_for_its_shape(graph):
    x = graph.variable((1000, 1000))
    (number,) = (node for node in (2 * x).inputs if node.op is None and node is not x)
    assert number.shape == (1000, 1000)
    assert number.value.strides == (0, 0)


def test_a_constant_is_a_copy_that_cannot_be_written(graph, engine):
    array = np.ones(3)
    node = graph.constant(array)
    array[0] = 7
    np.testing.assert_array_equal(run(engine, node, {}), np.ones(3))
    with pytest.raises(ValueError, match="read-only"):
        node.value[0] = 7


def test_an_array_in_a_formula_is_copied(graph, engine):
    array = np.ones(3)
    x = graph.variable((3,))
    product = x * array
    array[0] = 7
    np.testing.assert_array_equal(run(engine, product, {x: np.ones(3)}), np.ones(3))


def test_nodes_are_keys_by_identity(graph):
    a, b = graph.constant(1.0), graph.constant(1.0)
    assert len({a, b}) == 2
    assert a in {a}
    assert a != b


def test_inputs_come_before_their_users_whatever_the_paths(graph):
    x = y = graph.variable(())
    for _ in range(60):
        y = y + y * x
    order = graph.topological_order([y, x, y])
    place = {node: i for i, node in enumerate(order)}
    assert len(place) == len(order) == graph.graph_size(y) == 121
    assert all(place[a] < place[node] for node in order for a in node.inputs)


MISUSES = {
    "math": (lambda g, x: math.exp(g.sum(x)), "functions of graph.py"),
    "np.exp": (lambda g, x: np.exp(x), "functions of graph.py"),
    "np.sum": (lambda g, x: np.sum(x), "functions of graph.py"),
    "np.add.reduce": (lambda g, x: np.add.reduce(x), "functions of graph.py"),
    "np.concatenate": (lambda g, x: np.concatenate([x, x]), "functions of graph.py"),
    "np.where": (lambda g, x: np.where(x, 1, 0), "functions of graph.py"),
    "np.asarray": (lambda g, x: np.asarray(x), "Executor"),
    "if": (lambda g, x: 1 if x > 0 else 2, "where"),
    "max of two": (lambda g, x: max(x, x + 1), "where"),
    "for": (lambda g, x: list(x), "not iterable"),
    "several indices": (lambda g, x: x[[0, 1]], "gather"),
    "a mask": (lambda g, x: x[x > 0], "gather"),
    "a bool as index": (lambda g, x: x[True], "gather"),
    "an index out of range": (lambda g, x: x[2], r"slice.*\(2,\)"),
    "too many indices": (lambda g, x: x[0, 0], r"slice.*\(2,\)"),
    "a float condition": (lambda g, x: g.where(x, x, x), "where.*bool"),
    "== in a condition": (lambda g, x: g.where(x == 0, x, x), "where.*equal"),
    "float indices": (lambda g, x: g.gather(x, [0.5]), "gather.*float64"),
    "float labels": (lambda g, x: g.softmax_cross_entropy(x, 0.5), "softmax_cross_entropy.*float64"),
    "labels of another shape": (lambda g, x: g.softmax_cross_entropy(x, [0, 1]), r"\(2,\).*\(2,\)"),
    "complex": (lambda g, x: x + 1j, "complex128"),
    "text": (lambda g, x: g.constant("text"), "<U4"),
    "an axis twice": (lambda g, x: g.sum(x, (0, -1)), r"sum.*\(0, -1\).*\(2,\).*twice"),
    "an axis out of range": (lambda g, x: g.mean(x, 1), r"mean.*axis 1.*\(2,\)"),
    "axes that miss one": (lambda g, x: g.transpose(x, ()), r"transpose.*\(\).*\(2,\)"),
    "a lookup that does not fit": (lambda g, x: g.scatter_add(x, [0], (3,)), r"scatter_add.*\(2,\).*\(1,\)"),
    "no tensors": (lambda g, x: g.concatenate([]), "concatenate"),
    "a scalar matrix": (lambda g, x: x @ 2.0, r"matmul.*\(2,\) and \(\)"),
    "a negative length": (lambda g, x: g.variable((-1,)), "variable.*-1"),
    "two unknown lengths": (lambda g, x: g.reshape(x, (-1, -1)), "reshape"),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_a_misuse_is_one_sentence_in_two_languages(graph, misuse):
    wrong, instead = MISUSES[misuse]
    with pytest.raises((TypeError, ValueError, IndexError), match=instead) as raised:
        wrong(graph, graph.variable((2,)))
    said = str(raised.value)
    assert "\n" not in said
    assert CHINESE.search(said) or misuse == "for"


def test_indices_out_of_range_are_refused_when_it_runs(graph, engine):
    x, i = graph.variable((3,)), graph.variable((2,), np.int64)
    for wrong in ([0, 3], [-4, 0]):
        with pytest.raises(IndexError, match=r"gather.*length 3"):
            engine.Executor(graph.gather(x, i))({x: np.ones(3), i: np.array(wrong)})
    labels = graph.variable((), np.int64)
    for wrong in (-1, 3):
        with pytest.raises(IndexError, match=f"softmax_cross_entropy.*{wrong}.*length 3"):
            engine.Executor(graph.softmax_cross_entropy(x, labels))({x: np.ones(3), labels: wrong})


# --- The skeleton


def test_the_skeleton_imports_and_only_its_blanks_are_missing(skeleton):
    graph, engine = skeleton(LAB)
    x, v = graph.variable((3,)), graph.variable(())
    given = graph.logsumexp(graph.relu(x * 2) + x[::-1])
    (value,) = engine.Executor(given)({x: np.ones(3)})
    assert value == pytest.approx(3 + math.log(3))
    (gradient,) = engine.immediate_gradients(graph.tanh(x[0] * x[1]), x, {x: np.array([0.5, 2.0, 1.0])})
    assert gradient == pytest.approx(np.array([2.0, 0.5, 0]) * (1 - math.tanh(1) ** 2))
    matrix = graph.transpose(graph.reshape(x, (3, 1))) @ graph.reshape(x, (3, 1))
    product = matrix.inputs[0] if type(matrix.op) is graph.Reshape else matrix
    blanks = {
        "BroadcastTo": (lambda: graph.broadcast_to(x, (2, 3)), graph.BroadcastTo.vjp),
        "Sum": (lambda: graph.sum(x), graph.Sum.vjp),
        "Transpose": (lambda: graph.transpose(x), graph.Transpose.vjp),
        "MatMul": (lambda: product, graph.MatMul.vjp),
        "Relu": (lambda: graph.relu(x), graph.Relu.vjp),
        "Gather": (lambda: graph.gather(x, 0), graph.Gather.vjp),
        "LogSumExp": (lambda: graph.logsumexp(x), graph.LogSumExp.vjp),
    }
    for name, (make, rule) in blanks.items():
        node = make()
        assert CHINESE.search(rule.__doc__), name
        with pytest.raises(NotImplementedError):
            node.op.vjp(graph.zeros_like(node), node)
    for blank in (engine.gradients, engine.hvp, engine.jvp):
        assert CHINESE.search(blank.__doc__)
        with pytest.raises(NotImplementedError):
            blank(v, [v], *([[1.0]] if blank is not engine.gradients else []))
    solved = {name: (LAB / f"{name}.py").read_text("utf-8") for name in ("graph", "engine")}
    assert [len(cutter.solutions(text, f"{name}.py")) for name, text in solved.items()] == [len(blanks), 3]
