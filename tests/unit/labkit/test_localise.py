"""The localiser names the node at which wrong engines go wrong, and never accuses a right one."""

import importlib.util
import math
import random
from pathlib import Path

import pytest

from labkit.localise import locate, locate_tangent, numbered, replayed

spec = importlib.util.spec_from_file_location("engines", Path(__file__).with_name("engines.py"))
engines = importlib.util.module_from_spec(spec)
spec.loader.exec_module(engines)

Node, node = engines.Node, engines.node
ADD, MULTIPLY, SIN = engines.ADD, engines.MULTIPLY, engines.SIN


def random_graph(seed, size=10):
    """A random graph on three inputs, all values tame."""
    draw = random.Random(seed)
    nodes = [Node(draw.uniform(-1.5, 1.5)) for _ in range(3)]
    for _ in range(size):
        op = draw.choice([ADD, engines.SUBTRACT, MULTIPLY, SIN])
        nodes.append(node(op, *(draw.choice(nodes) for _ in range(1 if op is SIN else 2))))
    return node(ADD, node(SIN, nodes[-1]), node(SIN, nodes[-2]))


def test_nodes_are_numbered_as_in_the_lecture():
    nodes = engines.lecture()
    names = numbered([nodes[-1]])
    assert [names[one] for one in nodes] == ["v1", "v2", "v3", "v4", "v5", "v6", "v7"]


def test_a_right_engine_is_never_accused():
    for seed in range(200):
        output, factor = random_graph(seed), random.Random(seed).choice([-2.0, 0.3, 1.0])
        assert locate(output, engines.right(output, factor), factor) is None, seed


def test_an_overwritten_adjoint_is_named_with_the_path_that_remained():
    *_, output = engines.lecture()
    finding = locate(output, engines.overwritten(output))
    assert (finding.kind, finding.place, finding.by) == ("one-path", "v2", "v4")
    assert finding.got == pytest.approx(2)
    assert finding.expected == pytest.approx(2 - math.cos(5))
    assert [line.name for line in finding.lines if line.wrong] == ["v1", "v2"]


def test_the_lines_draw_the_graph_with_both_adjoints():
    *_, output = engines.lecture()
    lines = {line.name: line for line in locate(output, engines.overwritten(output)).lines}
    assert list(lines) == ["v1", "v2", "v3", "v4", "v5", "v6", "v7"]
    assert [lines[name].formula for name in ("v1", "v4", "v5", "v7")] == [
        "x1",
        "v1 * v2",
        "sin(v2)",
        "v6 - v5",
    ]
    assert (lines["v2"].value, lines["v2"].wrong, lines["v5"].wrong) == (5.0, True, False)


def test_a_missing_path_is_named_at_the_node_that_misses_it():
    nodes = engines.lecture()
    finding = locate(nodes[-1], engines.right(nodes[-1], skip={(nodes[3], 0)}))  # v4 gives v1 nothing
    assert (finding.kind, finding.place, finding.by) == ("one-path", "v1", "v3")


def test_a_node_without_any_adjoint_is_named_as_missing():
    nodes = engines.lecture()
    finding = locate(nodes[-1], engines.right(nodes[-1], skip={(nodes[6], 1)}))
    assert (finding.kind, finding.place, finding.got) == ("missing", "v5", None)
    assert finding.expected == pytest.approx(-1)


def test_a_wrong_local_derivative_is_named_before_the_adjoints_it_spoils():
    nodes = engines.lecture(engines.WRONG_SIN)
    finding = locate(nodes[-1], engines.right(nodes[-1]))
    assert (finding.kind, finding.place, finding.by) == ("partials", "v5", "v2")
    assert (finding.got, finding.expected) == pytest.approx((-math.cos(5), math.cos(5)))


def test_partials_that_are_no_tuple_are_named():
    nodes = engines.lecture(engines.NO_TUPLE)
    finding = locate(nodes[-1], {})
    assert (finding.kind, finding.place, finding.expected) == ("shape", "v5", 1)


def test_a_node_visited_before_all_its_users_is_found_where_its_share_is_lost():
    x = Node(0.5)
    u = node(SIN, x)
    far = node(SIN, node(SIN, u))
    output = node(MULTIPLY, u, far)
    finding = locate(output, engines.right(output, order=engines.preorder))
    assert finding.place == numbered([output])[x]  # u was passed on before far's share arrived
    assert finding.kind == "adjoint"
    assert [line.wrong for line in finding.lines] == [True, False, False, False, False]


def test_the_wrong_node_nearest_to_the_output_is_the_one_that_is_named():
    x = Node(0.7)
    u = node(SIN, x)
    v = node(MULTIPLY, u, u)
    output = node(SIN, v)
    adjoints = engines.right(output)
    for one in (x, u):
        adjoints[one] *= 3
    assert locate(output, adjoints).place == numbered([output])[u]


def test_a_seed_that_is_ignored_is_found_at_the_output():
    *_, output = engines.lecture()
    finding = locate(output, engines.right(output, 1.0), seed=-2.5)
    assert (finding.kind, finding.place, finding.got) == ("seed", "v7", 1.0)
    assert finding.expected == pytest.approx(-2.5)


def test_one_node_in_both_slots_counts_twice():
    x = Node(1.3)
    output = node(MULTIPLY, x, x)
    assert locate(output, engines.right(output)) is None
    assert locate(output, engines.overwritten(output)).place == "v1"


@pytest.mark.parametrize("answer", [math.nan, math.inf, True, "1", [1.0], {}, Node(1.0)])
def test_an_answer_that_is_no_finite_number_is_wrong(answer):
    x = Node(0.0)
    output = node(SIN, x)
    assert locate(output, {x: answer, output: 1.0}).place == "v1"


def test_where_differences_do_not_settle_nothing_is_claimed():
    x, exponent = Node(-2.0), Node(3.0)
    cube = node(engines.POWER, x, exponent)  # by the exponent there is no derivative
    assert locate(cube, engines.right(cube)) is None
    kink = Node(0.0)
    output = node(engines.ABS, kink)
    assert locate(output, {kink: 0.25, output: 1.0}) is None
    assert locate(output, {kink: 0.25, output: 1.0}, seed=2.0).place == "v2"


def test_a_table_is_compared_entry_by_entry():
    table, x = Node({"cat": 2.0, "dog": 3.0, 7: 1.0}), Node(0.4)
    cat, again = node(engines.Lookup("cat"), table), node(engines.Lookup("cat"), table)
    output = node(ADD, node(MULTIPLY, cat, x), node(SIN, again))
    total = {"cat": 0.4 + math.cos(2.0)}
    adjoints = dict.fromkeys(engines.postorder(output), 1.0)
    adjoints |= {x: 2.0, cat: 0.4, again: math.cos(2.0), table: total}
    assert locate(output, adjoints) is None
    for wrong in ({"cat": 0.4}, {"cat": total["cat"], "dog": 1.0}, {"cat": total["cat"], "cow": 0.0}, 1.0):
        finding = locate(output, adjoints | {table: wrong})
        assert finding.place == "v1", wrong


def test_a_wrong_tangent_is_named_where_those_of_its_inputs_are_right():
    nodes = engines.lecture()
    direction = [1.0, -0.5]
    good = engines.tangents(nodes, nodes[:2], direction)
    assert locate_tangent(nodes, good, nodes[:2], direction) is None
    bad = engines.tangents(nodes, nodes[:2], direction, put=lambda old, part: part)
    finding = locate_tangent(nodes, bad, nodes[:2], direction)
    assert (finding.quantity, finding.kind, finding.place) == ("tangent", "tangent", "v4")
    assert (finding.got, finding.expected) == pytest.approx((-1.0, 5 - 1.0))


def test_replaying_changes_nothing_in_the_graph():
    nodes = engines.lecture()
    before = [one.value for one in nodes]
    (value,) = replayed([nodes[-1]], {nodes[0]: 3.0})
    assert value == pytest.approx(math.log(3) + 15 - math.sin(5))
    assert [one.value for one in nodes] == before


def test_deep_graphs_do_not_recurse():
    output = Node(1.0)
    for _ in range(3000):
        output = node(SIN, output)
    assert len(numbered([output])) == 3001
