import math
import operator
import random
import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

LAB = Path(__file__).parents[3] / "reference" / "lab1_scalars"
CHINESE = re.compile("[\u4e00-\u9fff]")
INF, NAN = math.inf, math.nan


def same(a, b):
    return a == pytest.approx(b, rel=1e-14, nan_ok=True)


def running_example(graph):
    v1, v2 = graph.variable(2.0), graph.variable(5.0)
    v3, v4, v5 = graph.log(v1), v1 * v2, graph.sin(v2)
    v6 = v3 + v4
    return [v1, v2, v3, v4, v5, v6, v6 - v5]


# --- Values


def test_the_running_example_has_the_lectures_seven_values(graph):
    values = [node.value for node in running_example(graph)]
    assert values == pytest.approx([2, 5, 0.693, 10, -0.959, 10.693, 11.652], abs=5e-4)


def test_every_value_is_a_python_float(graph):
    for value in (3, True, 2.5, np.float32(2.5), np.float64(2.5), np.int64(3), Fraction(1, 2)):
        assert type(graph.variable(value).value) is float
        assert type((graph.variable(1) + value).value) is float


SYMBOLS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]
NUMBERS = [3, 0.5, np.float64(1.5), np.float32(2.5), np.int64(4)]


@pytest.mark.parametrize("symbol", SYMBOLS)
@pytest.mark.parametrize("number", NUMBERS)
def test_operators_take_numbers_on_both_sides(graph, symbol, number):
    x = graph.variable(1.75)
    for node, value in (
        (symbol(x, number), symbol(1.75, float(number))),
        (symbol(number, x), symbol(float(number), 1.75)),
        (symbol(x, x), symbol(1.75, 1.75)),
    ):
        assert type(node) is graph.Node
        assert node.value == pytest.approx(value, rel=1e-15)
        assert len(node.inputs) == 2


def test_functions_and_minus_give_mathematics_values(graph):
    x = graph.variable(0.7)
    assert (-x).value == -0.7
    for name in ("exp", "log", "sin", "cos", "tanh"):
        assert getattr(graph, name)(x).value == getattr(math, name)(0.7)
        assert getattr(graph, name)(0.7).value == getattr(math, name)(0.7)


def test_values_at_singular_points_are_numpys_and_silent(graph):
    def both(symbol, a, b):
        with np.errstate(all="ignore"):
            return symbol(graph.variable(a), b).value, float(symbol(np.float64(a), np.float64(b)))

    points = [-INF, -3.0, -2.0, -1e200, -0.5, -0.0, 0.0, 0.5, 1.0, 3.0, 1e200, INF, NAN]
    for symbol in SYMBOLS:
        for a in points:
            for b in points:
                ours, numpys = both(symbol, a, b)
                assert same(ours, numpys), (symbol, a, b)
                assert ours != 0 or math.copysign(1, ours) == math.copysign(1, numpys)
    for a in [*points, 1000.0, -1000.0]:
        for name in ("exp", "log", "sin", "cos", "tanh"):
            with np.errstate(all="ignore"):
                assert same(getattr(graph, name)(a).value, float(getattr(np, name)(a))), (name, a)


# --- Local derivatives


def smooth_operations(graph):
    return {
        "+": (graph.ADD, (1.3, -0.7)),
        "-": (graph.SUBTRACT, (1.3, -0.7)),
        "*": (graph.MULTIPLY, (1.3, -0.7)),
        "/": (graph.DIVIDE, (1.3, -0.7)),
        "**": (graph.POWER, (1.3, -0.7)),
        "neg": (graph.NEGATE, (1.3,)),
        "exp": (graph.EXP, (1.3,)),
        "log": (graph.LOG, (1.3,)),
        "sin": (graph.SIN, (1.3,)),
        "cos": (graph.COS, (1.3,)),
        "tanh": (graph.TANH, (1.3,)),
    }


def test_local_derivatives_are_the_slopes_of_compute(graph):
    h = 1e-5
    for name, (op, values) in smooth_operations(graph).items():
        assert op.name == name
        partials = op.partials(values, op.compute(*values))
        assert type(partials) is tuple
        for i, partial in enumerate(partials):
            ahead = [v + h * (i == j) for j, v in enumerate(values)]
            behind = [v - h * (i == j) for j, v in enumerate(values)]
            slope = (op.compute(*ahead) - op.compute(*behind)) / (2 * h)
            assert partial == pytest.approx(slope, rel=1e-8), (name, i)


@pytest.mark.parametrize(
    ("a", "b", "by_base", "by_exponent"),
    [
        (-2.0, -3.0, -0.1875, NAN),
        (-2.0, 3.0, 12.0, NAN),
        (-2.0, 0.5, NAN, NAN),
        (0.0, 2.0, 0.0, 0.0),
        (0.0, 1.0, 1.0, 0.0),
        (0.0, 0.5, INF, 0.0),
        (0.0, 0.0, 0.0, -INF),
        (0.0, -1.0, -INF, -INF),
        (5.0, 0.0, 0.0, math.log(5)),
        (2.0, 3.0, 12.0, 8 * math.log(2)),
    ],
)
def test_power_keeps_its_policy_at_corners(graph, a, b, by_base, by_exponent):
    partials = graph.POWER.partials((a, b), graph.POWER.compute(a, b))
    assert same(partials[0], by_base)
    assert same(partials[1], by_exponent)


def test_derivatives_where_the_divisor_is_zero_are_infinite_or_nan(graph):
    assert graph.LOG.partials((0.0,), -INF) == (INF,)
    assert graph.DIVIDE.partials((3.0, 0.0), INF) == (INF, -INF)
    assert graph.DIVIDE.partials((-3.0, 0.0), -INF) == (INF, INF)
    by_numerator, by_divisor = graph.DIVIDE.partials((0.0, 0.0), NAN)
    assert by_numerator == INF
    assert math.isnan(by_divisor)


def test_the_quotient_rule_survives_a_tiny_divisor(graph):
    assert graph.DIVIDE.partials((1e-200, 1e-180), 1e-20) == pytest.approx((1e180, -1e160))


# --- Tables


def test_entries_are_a_vector_space_with_an_inner_product(graph):
    a = graph.Entries({"cat": 1.0, "dog": 2.0})
    b = graph.Entries({"dog": 10.0, 7: 5.0})
    assert a + b == b + a == {"cat": 1.0, "dog": 12.0, 7: 5.0}
    assert 0.0 + a == a + 0.0 == a
    assert sum([a, b, a]) == {"cat": 2.0, "dog": 14.0, 7: 5.0}
    for three in (3, 3.0, np.float64(3)):
        assert three * a == a * three == {"cat": 3.0, "dog": 6.0}
        assert type(three * a) is type(a * three) is graph.Entries
    assert a * b == b * a == 20.0
    assert a * graph.Entries() == 0.0
    assert type(a * graph.Entries()) is float
    assert (a, b) == ({"cat": 1.0, "dog": 2.0}, {"dog": 10.0, 7: 5.0})
    with pytest.raises(TypeError):
        a + 1.0


def test_lookup_takes_keys_of_any_kind(graph):
    prices = graph.table({"cat": 3, 7: 2.5, (1, 2): -1.0, None: 0.0})
    for key, value in (("cat", 3.0), (7, 2.5), ((1, 2), -1.0), (None, 0.0)):
        node = prices[key]
        assert type(node.value) is float
        assert (node.value, graph.lookup(prices, key).value, node.inputs) == (value, value, (prices,))
        assert node.op.partials((prices.value,), value) == ({key: 1.0},)


def test_a_table_does_not_change_with_the_dictionary_it_was_made_from(graph):
    source = {"cat": 1.0}
    prices = graph.table(source)
    source["cat"] = 2.0
    assert prices["cat"].value == 1.0


def test_a_missing_key_is_one_clear_sentence(graph):
    with pytest.raises(KeyError, match=r"no key 'cow'.*没有键 'cow'"):
        graph.table({"cat": 1.0})["cow"]


# --- What a node refuses


@pytest.mark.parametrize(
    ("misuse", "instead"),
    [
        (lambda graph, x: math.sin(x), "from graph.py"),
        (lambda graph, x: float(x), "x.value"),
        (lambda graph, x: np.exp(x), "from graph.py"),
        (lambda graph, x: np.add.reduce(x), "from graph.py"),
        (lambda graph, x: bool(x), "x.value > 0"),
        (lambda graph, x: x > 0, "x.value > 0"),
        (lambda graph, x: operator.le(0, x), "x.value > 0"),
        (lambda graph, x: np.float64(0) < x, "x.value > 0"),
        (lambda graph, x: x + "2", "not str"),
        (lambda graph, x: x * None, "not NoneType"),
        (lambda graph, x: 1j * x, "not complex"),
        (lambda graph, x: x * np.ones(2), "not ndarray"),
        (lambda graph, x: np.ones(2) - x, "not ndarray"),
        (lambda graph, x: graph.variable(x), "not Node"),
        (lambda graph, x: graph.table([1.0]), "dictionary"),
        (lambda graph, x: graph.table({"a": "b"}), "not str"),
        (lambda graph, x: x["cat"], "table({...})"),
        (lambda graph, x: graph.topological_order([x, 1.0]), "not float"),
    ],
)
def test_a_misuse_is_one_sentence_that_says_what_to_write(graph, misuse, instead):
    with pytest.raises(TypeError) as caught:
        misuse(graph, graph.variable(1.0))
    message = str(caught.value)
    assert instead in message
    assert CHINESE.search(message)
    assert "\n" not in message


def test_a_node_is_not_iterable_and_a_table_does_not_add(graph):
    with pytest.raises(TypeError, match="not iterable"):
        list(graph.variable(1.0))
    with pytest.raises(TypeError):
        graph.table({"cat": 1.0}) + 1


def test_nodes_with_equal_values_are_different_keys(graph):
    a, b = graph.variable(1.0), graph.variable(1.0)
    assert a != b
    assert {a: "a", b: "b"}[a] == "a"


def test_a_node_shows_its_name_or_operation(graph):
    x = graph.variable(2.0, name="x1")
    assert (repr(x), repr(x * 3)) == ("<Node x1: 2.0>", "<Node *: 6.0>")
    assert repr(graph.constant(1)) == "<Node leaf: 1.0>"


# --- Order and sizes


def assert_order(graph, order, outputs):
    place = {node: i for i, node in enumerate(order)}
    assert len(place) == len(order) == graph.graph_size(outputs)
    assert all(node in place for node in outputs)
    assert all(place[operand] < place[node] for node in order for operand in node.inputs)


def random_graph(graph, seed, size=60):
    draw = random.Random(seed)
    nodes = [graph.variable(draw.uniform(0.5, 2)) for _ in range(4)]
    for _ in range(size):
        a, b = draw.choice(nodes[-12:]), draw.choice(nodes)
        nodes.append(draw.choice([a + b, a - b, 0.3 * a * b, graph.sin(a), graph.tanh(a), a / (2 + b * b)]))
    return nodes


@pytest.mark.parametrize("seed", range(10))
def test_inputs_come_before_their_users(graph, seed):
    nodes = random_graph(graph, seed)
    assert_order(graph, graph.topological_order(nodes[-1]), nodes[-1:])
    outputs = [nodes[3], nodes[-1], nodes[30], nodes[-1]]
    assert_order(graph, graph.topological_order(outputs), outputs)
    assert_order(graph, graph.topological_order(tuple(reversed(outputs))), outputs)


def test_a_late_bypass_moves_a_node_before_all_its_users(graph):
    x = graph.variable(1.0)
    a = graph.sin(x)
    b = graph.sin(a)
    for y in (a + b, b + a, a * (b + a)):
        assert_order(graph, graph.topological_order(y), [y])


def test_the_order_of_a_leaf_and_of_nothing(graph):
    x = graph.variable(1.0)
    assert graph.topological_order(x) == [x]
    assert graph.topological_order([]) == []


def test_ordering_leaves_the_graph_and_the_list_of_outputs_alone(graph):
    nodes = random_graph(graph, 0)
    outputs = [nodes[-1], nodes[20]]
    before = [(node.value, node.op, node.inputs) for node in nodes]
    assert graph.topological_order(outputs) == graph.topological_order(outputs)
    assert outputs == [nodes[-1], nodes[20]]
    assert [(node.value, node.op, node.inputs) for node in nodes] == before


def test_sizes_count_a_shared_node_once_in_the_graph_and_each_time_in_the_expression(graph):
    *_, y = running_example(graph)
    assert (graph.graph_size(y), graph.expression_size(y)) == (7, 9)
    x = graph.variable(3.0)
    assert (graph.graph_size(x * x), graph.expression_size(x * x)) == (2, 3)
    assert (graph.graph_size(x), graph.expression_size(x)) == (1, 1)
    assert graph.graph_size([x * x, x, 2 * x]) == 4


def test_2_to_the_40_paths_cost_no_more_than_40_nodes(graph):
    y = graph.variable(1.0)
    for _ in range(40):
        y = y + y
    assert graph.expression_size(y) == 2**41 - 1
    assert len(graph.topological_order(y)) == 41


@pytest.mark.parametrize("seed", range(5))
def test_the_expressions_size_is_the_recursive_count(graph, seed):
    def count(node):
        return 1 + sum(count(operand) for operand in node.inputs)

    y = random_graph(graph, seed, size=15)[-1]
    assert graph.expression_size(y) == count(y)


def test_a_chain_of_100_000_nodes_is_ordered_and_counted_without_recursion(graph):
    assert sys.getrecursionlimit() <= 1000
    y = graph.variable(1.0)
    for _ in range(100_000):
        y = -y
    assert len(graph.topological_order(y)) == graph.graph_size(y) == graph.expression_size(y) == 100_001


@pytest.mark.parametrize("function", ["graph_size", "expression_size"])
def test_given_code_meets_and_keeps_nodes_in_no_order_that_could_be_copied(graph, function):
    x, z = graph.variable(1.0), graph.variable(2.0)
    long = graph.sin(x * z)
    y = x * long - long * x
    met, kept = {}, []

    def watch(frame, event, argument):
        if frame.f_code.co_name != function:
            return None
        for name, local in frame.f_locals.items():
            if isinstance(local, graph.Node):
                met.setdefault(name, {})[local] = None
            elif isinstance(local, (list, dict)):
                kept.append(list(local))
        return watch

    sys.settrace(watch)
    try:
        getattr(graph, function)(y)
    finally:
        sys.settrace(None)
    assert met
    for nodes in (*map(list, met.values()), *kept):
        for order in (nodes, nodes[::-1]):
            assert not is_order(graph, order, y)


def is_order(graph, order, y):
    place = {node: i for i, node in enumerate(order)}
    pairs = ((place.get(a, math.inf), place[b]) for b in place for a in b.inputs)
    return len(place) == graph.graph_size(y) and all(a < b for a, b in pairs)


# --- The skeleton


def test_the_skeleton_imports_and_its_given_code_works(skeleton):
    graph, engine = skeleton(LAB)
    *_, y = running_example(graph)
    assert (graph.graph_size(y), graph.expression_size(y)) == (7, 9)
    assert y.value == pytest.approx(11.652, abs=5e-4)
    x = graph.table({"cat": 2.0})["cat"] / 4.0
    gradient, evaluations = engine.forward_difference(lambda x: x[0] * x[1], np.array([2.0, 3.0]))
    assert (x.value, evaluations) == (0.5, 3)
    assert gradient == pytest.approx([3, 2], rel=1e-6)
    blanks = [
        lambda: 1 - x,
        lambda: np.float64(1) / x,
        lambda: graph.DIVIDE.partials((1.0, 2.0), 0.5),
        lambda: graph.POWER.partials((1.0, 2.0), 1.0),
        lambda: graph.LOG.partials((1.0,), 0.0),
        lambda: graph.SIN.partials((0.0,), 0.0),
        lambda: graph.Lookup("cat").partials(({"cat": 1.0},), 1.0),
        lambda: graph.topological_order(y),
        lambda: engine.central_difference(sum, np.array([1.0])),
        lambda: engine.forward_mode([y], [y], [1.0]),
        lambda: engine.reverse_mode(y),
        lambda: engine.jacobian(y, [y]),
    ]
    for blank in blanks:
        with pytest.raises(NotImplementedError):
            blank()
