import gc
import math
import random
import sys

import numpy as np
import pytest


def running_example(graph, x1=2.0, x2=5.0):
    v1, v2 = graph.variable(x1), graph.variable(x2)
    v3, v4, v5 = graph.log(v1), v1 * v2, graph.sin(v2)
    v6 = v3 + v4
    return [v1, v2, v3, v4, v5, v6, v6 - v5]


def random_graph(graph, seed, size=40):
    """Four variables and `size` nodes above them, all smooth and of moderate size."""
    draw = random.Random(seed)
    nodes = [graph.variable(draw.uniform(0.5, 2)) for _ in range(4)]
    for _ in range(size):
        a, b = draw.choice(nodes[-9:]), draw.choice(nodes)
        nodes.append(
            draw.choice(
                [a + b, a - b, 0.3 * a * b, graph.sin(a), graph.tanh(a), a / (2 + b * b), (1 + a * a) ** 0.7]
            )
        )
    return nodes


# --- Differences


def smooth(x):
    return math.exp(x[0]) * math.sin(x[1]) + x[0] * x[1] ** 3


def smooth_gradient(x):
    return np.array(
        [
            math.exp(x[0]) * math.sin(x[1]) + x[1] ** 3,
            math.exp(x[0]) * math.cos(x[1]) + 3 * x[0] * x[1] ** 2,
        ]
    )


POINT = np.array([0.6, 1.7])


@pytest.mark.parametrize(("method", "order"), [("forward_difference", 1), ("central_difference", 2)])
def test_halving_the_step_shows_the_order_of_the_error(engine, method, order):
    error = [
        np.linalg.norm(getattr(engine, method)(smooth, POINT, h)[0] - smooth_gradient(POINT))
        for h in (2e-3, 1e-3)
    ]
    assert math.log2(error[0] / error[1]) == pytest.approx(order, abs=0.02)


@pytest.mark.parametrize("n", [0, 1, 7])
def test_evaluations_are_counted_as_they_happen(engine, n):
    for method, expected in ((engine.forward_difference, n + 1), (engine.central_difference, 2 * n)):
        calls = []
        gradient, evaluations = method(lambda x: calls.append(1) or float(x @ x), np.ones(n))  # noqa: B023
        assert len(calls) == evaluations == expected
        assert gradient.shape == (n,)


@pytest.mark.parametrize(("dtype", "forward", "central"), [("float32", 2e-3, 2e-4), ("float64", 1e-7, 1e-9)])
def test_the_default_step_suits_the_dtype_and_the_dtype_is_kept(engine, dtype, forward, central):
    x = np.array([1.0, -0.3, 40.0], dtype=dtype)

    def f(x):
        assert x.dtype == dtype
        return np.exp(x[0]) + x[1] * x[2] + np.sin(x[2])

    right = np.array([math.e, 40, -0.3 + math.cos(40)])
    for method, tolerance in ((engine.forward_difference, forward), (engine.central_difference, central)):
        gradient, _ = method(f, x)
        assert gradient.dtype == dtype
        assert np.linalg.norm(gradient - right) <= tolerance * np.linalg.norm(right)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1e-3, 1.0, 3.7, 1e6])
def test_the_default_step_is_the_difference_that_the_machine_makes(engine, dtype, size):
    x = np.array([size, -size], dtype=dtype)
    step = engine.step_sizes(x, None, 1 / 3)
    assert step.dtype == dtype
    assert np.array_equal((x + step) - x, step)
    assert np.all(step > 0)


def test_a_function_may_write_into_its_argument(engine):
    def f(x):
        x += 1
        return float(x @ x)

    x = np.array([1.0, 2.0])
    assert engine.central_difference(f, x)[0] == pytest.approx([4, 6], rel=1e-8)
    assert engine.forward_difference(f, x)[0] == pytest.approx([4, 6], rel=1e-6)
    assert x.tolist() == [1, 2]


def test_differences_work_through_a_graph(graph, engine):
    gradient, _ = engine.central_difference(
        lambda x: running_example(graph, *x)[-1].value, np.array([2.0, 5.0])
    )
    assert gradient == pytest.approx([5.5, 2 - math.cos(5)], rel=1e-9)


@pytest.mark.parametrize("x", [3.0, [1, 2], [[1.0]], [1j], np.ones(2, dtype=np.float16)])
def test_what_is_no_vector_of_floats_is_refused(engine, x):
    for method in (engine.forward_difference, engine.central_difference):
        with pytest.raises(TypeError, match=r"float32 or float64 vector.*向量"):
            method(sum, x)


@pytest.mark.parametrize("h", [0, -1e-3, math.nan])
def test_a_step_that_is_not_positive_is_refused(engine, h):
    with pytest.raises(ValueError, match=r"positive.*步长"):
        engine.central_difference(smooth, POINT, h)


# --- Reverse mode


def test_reverse_mode_gives_the_lectures_adjoints(graph, engine):
    v = running_example(graph)
    node_to_grad = engine.reverse_mode(v[-1])
    assert [node_to_grad[node] for node in v] == pytest.approx([5.5, 2 - math.cos(5), 1, 1, -1, 1, 1])
    assert node_to_grad[v[1]] == pytest.approx(1.716, abs=5e-4)


@pytest.mark.parametrize("n", [1, 4, 12])
def test_the_gradient_of_the_logistic_map_is_the_product_of_its_slopes(graph, engine, n):
    x = l = graph.variable(0.3)
    slope, value = 1.0, 0.3
    for _ in range(n):
        l = 4 * l * (1 - l)
        slope *= 4 - 8 * value
        value = 4 * value * (1 - value)
    assert l.value == pytest.approx(value, rel=1e-12)
    assert engine.reverse_mode(l)[x] == pytest.approx(slope, rel=1e-9)


def test_adjoints_are_proportional_to_the_seed(graph, engine):
    v = running_example(graph)
    unit, scaled = engine.reverse_mode(v[-1]), engine.reverse_mode(v[-1], seed=-0.37)
    assert [scaled[node] for node in v] == pytest.approx([-0.37 * unit[node] for node in v])


def test_every_adjoint_is_a_python_float(graph, engine):
    for seed in (1, np.float32(1), np.float64(1)):
        x = graph.variable(2)
        assert {type(adjoint) for adjoint in engine.reverse_mode(x * x + x, seed).values()} == {float}
        assert type(engine.reverse_mode(x, seed)[x]) is float


def test_only_the_outputs_graph_gets_adjoints(graph, engine):
    x, unused = graph.variable(2.0), graph.variable(3.0)
    later = x * unused
    y = graph.exp(x)
    assert set(engine.reverse_mode(y)) == {x, y}
    assert unused not in engine.reverse_mode(y)
    assert engine.reverse_mode(later)[unused] == 2


def test_partial_adjoints_are_recorded_in_the_order_they_arrive_and_sum_to_the_totals(graph, engine):
    x = graph.variable(3.0)
    square = x * x
    y = square + x
    record = {"left over": []}
    node_to_grad = engine.reverse_mode(y, 2.0, record)
    assert sorted(record[x]) == [2, 6, 6]
    assert (record[square], record[y]) == ([2], [2])
    assert node_to_grad == {node: sum(arrived) for node, arrived in record.items()}
    assert record.keys() == node_to_grad.keys()


# --- Bypasses


def bypass(graph, engine, build, at=3.0):
    x = graph.variable(at)
    return engine.reverse_mode(build(x))[x]


def test_a_node_used_several_times_sums_what_arrives(graph, engine):
    assert bypass(graph, engine, lambda x: x + x) == 2
    assert bypass(graph, engine, lambda x: x * x) == 6
    assert bypass(graph, engine, lambda x: x - x) == 0
    assert bypass(graph, engine, lambda x: x / x) == pytest.approx(0, abs=1e-16)
    assert bypass(graph, engine, lambda x: x * x + x) == 7
    assert bypass(graph, engine, lambda x: x**x) == pytest.approx(27 * (1 + math.log(3)))


def test_unequal_diamonds_are_right_in_both_building_orders(graph, engine):
    def long_first(x):
        a = graph.sin(graph.exp(graph.sin(x)))
        return a * x

    def short_first(x):
        b = x * 1.0
        return b * graph.sin(graph.exp(graph.sin(x)))

    e = math.exp(math.sin(3))
    right = math.sin(e) + 3 * math.cos(e) * e * math.cos(3)
    assert bypass(graph, engine, long_first) == pytest.approx(right)
    assert bypass(graph, engine, short_first) == pytest.approx(right)


def test_an_input_that_is_the_output_has_the_seed_as_its_adjoint(graph, engine):
    x = graph.variable(3.0)
    assert engine.reverse_mode(x, seed=0.5) == {x: 0.5}
    assert engine.forward_mode([x, x], [x], [0.5]) == [0.5, 0.5]


def test_2_to_the_40_paths_cost_no_more_than_40_nodes(graph, engine):
    x = y = graph.variable(1.0)
    for _ in range(40):
        y = y + y
    assert engine.reverse_mode(y)[x] == 2.0**40
    assert engine.forward_mode(y, [x], [1.0]) == [2.0**40]


# --- Forward mode


def test_forward_mode_gives_the_lectures_two_passes(graph, engine):
    v = running_example(graph)
    assert engine.forward_mode(v, v[:2], [1, 0]) == pytest.approx([1, 0, 0.5, 5, 0, 5.5, 5.5])
    c = math.cos(5)
    assert engine.forward_mode(v, v[:2], [0, 1]) == pytest.approx([0, 1, 0, 2, c, 2, 2 - c])


def test_tangents_come_in_the_order_of_the_outputs_as_floats(graph, engine):
    x, unused = graph.variable(2.0), graph.variable(1.0)
    outputs = [x**3, 5 * x, unused * 2, x**3]
    tangents = engine.forward_mode(outputs, [x], np.array([2], dtype=np.int64))
    assert tangents == [24.0, 10.0, 0.0, 24.0]
    assert {type(tangent) for tangent in tangents} == {float}
    assert engine.forward_mode(outputs[0], [x], [2]) == [24.0]


def test_constants_and_held_inputs_contribute_nothing_even_where_a_derivative_is_nan(graph, engine):
    a, b = graph.variable(-2.0), graph.variable(-3.0)
    assert engine.forward_mode([a**3, a**b], [a, b], [1, 0]) == pytest.approx([12, -0.1875])
    assert math.isnan(engine.forward_mode([a**b], [a, b], [1, 1])[0])


def test_an_input_in_the_middle_of_the_graph_moves_by_itself_as_well(graph, engine):
    x = graph.variable(2.0)
    middle = x * x
    y = 3 * middle
    assert engine.forward_mode(y, [middle], [1]) == [3]
    assert engine.forward_mode(y, [x, middle], [1, 1]) == [3 * (4 + 1)]
    assert (
        engine.jacobian(y, [x, middle]).tolist()
        == engine.jacobian(y, [x, middle], "forward").tolist()
        == [[12, 3]]
    )


def test_a_direction_of_the_wrong_length_is_refused(graph, engine):
    x = graph.variable(1.0)
    with pytest.raises(ValueError, match=r"1 inputs need 1 directions, not 2.*方向"):
        engine.forward_mode(x, [x], [1, 2])


# --- Both modes


@pytest.mark.parametrize("seed", range(12))
def test_the_modes_agree_with_each_other_and_with_differences(graph, engine, seed):
    nodes = random_graph(graph, seed)
    inputs, outputs = nodes[:4], [nodes[-1], nodes[20], nodes[-5]]
    reverse = engine.jacobian(outputs, inputs)
    forward = engine.jacobian(outputs, inputs, mode="forward")
    assert reverse == pytest.approx(forward, rel=1e-12, abs=1e-13)

    def value(x, k):
        again = random_graph_at(graph, seed, x)
        return [again[-1], again[20], again[-5]][k].value

    x = np.array([node.value for node in inputs])
    for k in range(3):
        differences, _ = engine.central_difference(lambda x, k=k: value(x, k), x)
        assert np.linalg.norm(differences - reverse[k]) <= 1e-8 * max(1, np.linalg.norm(reverse[k]))


def random_graph_at(graph, seed, x):
    """random_graph with other values at its variables."""
    nodes = random_graph(graph, seed)
    new = dict(zip(nodes[:4], map(graph.variable, x), strict=True))
    for node in graph.topological_order(nodes):
        if node.inputs:
            values = tuple(new[operand].value for operand in node.inputs)
            new[node] = graph.Node(
                node.op.compute(*values), node.op, tuple(new[i] for i in node.inputs), values
            )
        elif node not in new:
            new[node] = graph.constant(node.value)
    return [new[node] for node in nodes]


@pytest.mark.parametrize("seed", range(6))
def test_tangents_and_adjoints_pair_to_the_same_number(graph, engine, seed):
    nodes = random_graph(graph, seed)
    draw = random.Random(seed)
    inputs, direction = nodes[:4], [draw.gauss(0, 1) for _ in range(4)]
    (tangent,) = engine.forward_mode(nodes[-1], inputs, direction)
    node_to_grad = engine.reverse_mode(nodes[-1], seed=-1.3)
    paired = sum(node_to_grad.get(node, 0.0) * d for node, d in zip(inputs, direction, strict=True))
    assert -1.3 * tangent == pytest.approx(paired, rel=1e-12, abs=1e-13)


def test_the_taylor_remainder_shrinks_by_order_two(graph, engine):
    def value(t):
        return running_example(graph, 2 + 0.3 * t, 5 - 0.8 * t)[-1].value

    v = running_example(graph)
    (slope,) = engine.forward_mode(v[-1], v[:2], [0.3, -0.8])
    remainder = [abs(value(h) - value(0) - h * slope) for h in (1e-2, 5e-3)]
    assert math.log2(remainder[0] / remainder[1]) == pytest.approx(2, abs=0.02)


def test_nothing_is_changed_and_twice_gives_the_same(graph, engine):
    nodes = random_graph(graph, 3)

    def state():
        return [(node.value, node.op, node.inputs, node.input_values) for node in nodes]

    before = state()
    inputs, outputs, direction = nodes[:4], nodes[-3:], [1.0, 2.0, 3.0, 4.0]
    for run in (
        lambda: engine.reverse_mode(nodes[-1]),
        lambda: engine.forward_mode(outputs, inputs, direction),
        lambda: engine.jacobian(outputs, inputs).tolist(),
        lambda: engine.jacobian(outputs, inputs, "forward").tolist(),
    ):
        assert run() == run()
    assert state() == before
    assert (inputs, outputs, direction) == (nodes[:4], nodes[-3:], [1.0, 2.0, 3.0, 4.0])


def test_derivatives_at_corners_follow_the_declared_policy(graph, engine):
    zero, two, minus_two = graph.variable(0.0), graph.variable(2.0), graph.variable(-2.0)
    for p, right in ((2, 0.0), (1, 1.0), (0, 0.0), (0.5, math.inf), (-1, -math.inf)):
        y = zero**p
        assert engine.reverse_mode(y)[zero] == engine.forward_mode(y, [zero], [1])[0] == right
    assert engine.reverse_mode(0.0**two)[two] == 0
    x = graph.variable(3.0)
    assert engine.reverse_mode(2**x)[x] == pytest.approx(8 * math.log(2))
    assert engine.reverse_mode(minus_two**3)[minus_two] == 12


# --- Jacobians


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_jacobian_has_a_row_for_each_output_and_a_column_for_each_input(graph, engine, mode):
    x, y, unused = (graph.variable(v) for v in (2.0, 3.0, 4.0))
    matrix = engine.jacobian([x * y, x, 7 * y, graph.constant(1)], [x, y, unused], mode=mode)
    assert matrix.tolist() == [[3, 2, 0], [1, 0, 0], [0, 7, 0], [0, 0, 0]]
    assert matrix.dtype == np.float64
    assert engine.jacobian(x * y, [x, x], mode).tolist() == [[3, 3]]
    assert engine.jacobian([], [x], mode).shape == (0, 1)
    assert engine.jacobian([x], [], mode).shape == (1, 0)


def test_another_mode_is_refused(graph, engine):
    x = graph.variable(1.0)
    with pytest.raises(ValueError, match=r'"reverse" or "forward", not \'both\'.*必须'):
        engine.jacobian(x, [x], mode="both")


# --- Tables


def test_a_tables_adjoint_is_a_dictionary_in_which_repeated_lookups_add(graph, engine):
    prices = graph.table({"cat": 3.0, 7: 2.0, "dog": 5.0})
    y = prices["cat"] * prices["cat"] * prices[7]
    record = {}
    node_to_grad = engine.reverse_mode(y, 0.5, record)
    assert node_to_grad[prices] == {"cat": 0.5 * 12, 7: 0.5 * 9}
    assert isinstance(node_to_grad[prices], dict)
    assert len(record[prices]) == 3
    assert prices.value == {"cat": 3.0, 7: 2.0, "dog": 5.0}


def test_a_tables_direction_is_a_dictionary(graph, engine):
    prices, x = graph.table({"cat": 3.0, 7: 2.0}), graph.variable(4.0)
    y = prices["cat"] * x + prices[7]
    assert engine.forward_mode(y, [prices, x], [{"cat": 10, 7: 1}, 2]) == [4 * 10 + 3 * 2 + 1]
    assert engine.forward_mode(y, [prices], [{}]) == [0.0]
    assert engine.forward_mode(prices, [prices], [{"cat": 1}]) == [{"cat": 1.0}]
    assert engine.reverse_mode(prices, {"cat": 2})[prices] == {"cat": 2.0}


def test_a_table_where_a_number_is_due_is_refused_and_the_other_way_round(graph, engine):
    prices, x = graph.table({"cat": 3.0}), graph.variable(1.0)
    for misuse in (
        lambda: engine.forward_mode(x, [x], [{"cat": 1.0}]),
        lambda: engine.forward_mode(x, [prices], [1.0]),
        lambda: engine.reverse_mode(x, seed={"cat": 1.0}),
        lambda: engine.jacobian(prices["cat"], [prices]),
        lambda: engine.reverse_mode([x]),
    ):
        with pytest.raises(TypeError, match=r"[\u4e00-\u9fff]"):
            misuse()


# --- Depth


def test_a_chain_of_900_000_nodes_at_the_default_recursion_limit(graph, engine):
    assert sys.getrecursionlimit() <= 1000
    x = y = graph.variable(1.0)
    for _ in range(900_000):
        y = -y
    assert engine.reverse_mode(y)[x] == 1.0
    assert engine.forward_mode(y, [x], [1.0]) == [1.0]
    del y
    gc.collect()
