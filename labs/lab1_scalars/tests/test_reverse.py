"""Reverse mode: every node's adjoint against differences, and the lecture's numbers."""

import pytest

pytestmark = pytest.mark.task("reverse-mode")


def test_the_lectures_numbers(lab, lecture, expect):
    """The lecture's example at (2, 5): value 11.652, gradient (5.5, 1.716).
    课上的例子在 (2, 5)：值 11.652，梯度 (5.5, 1.716)。"""
    v1, v2, *_, v7 = lecture(2.0, 5.0)
    node_to_grad = lab.engine.reverse_mode(v7)
    expect.adjoints("reverse_mode(v7)", v7, node_to_grad)
    expect.equal("v7.value", v7.value, 11.652071455223084, 1e-12)
    expect.equal("reverse_mode(v7)[v1]", node_to_grad[v1], 5.5, 1e-12)
    expect.equal("reverse_mode(v7)[v2]", node_to_grad[v2], 1.7163378145367738, 1e-12)


def test_the_logistic_map(lab, expect):
    """The logistic map l <- 4 l (1 - l), three times from 0.2: value and derivative.
    逻辑斯谛映射 l <- 4 l (1 - l)，从 0.2 开始三次：值和导数。"""
    x = lab.graph.variable(0.2, "x")
    l = x
    for _ in range(3):
        l = 4 * l * (1 - l)
    node_to_grad = lab.engine.reverse_mode(l)
    expect.adjoints("reverse_mode(l)", l, node_to_grad)
    expect.equal("l.value", l.value, 0.28901376, 1e-12)
    expect.equal("reverse_mode(l)[x]", node_to_grad[x], 9.0660864, 1e-12)


def test_random_graphs(lab, random_graph, draw, expect):
    """The adjoint of every node, from a random seed, agrees with differences.
    seed 随机，每个节点的伴随量都与差分一致。"""
    for _ in range(4):
        output, seed = random_graph()[-1], draw.signed(0.5, 2)
        expect.adjoints(f"reverse_mode(y, {seed})", output, lab.engine.reverse_mode(output, seed), seed)


def test_record_lists_what_arrives(lab, lecture, draw, expect):
    """record lists a node's partial adjoints, one a use; their sum is its total. The output's is [seed].
    record 为节点的每次使用列出一个部分伴随；它们的和就是总伴随量，输出的是 [seed]。"""
    v, seed = lecture(draw.uniform(1, 3), draw.signed(0.5, 3)), draw.signed(0.5, 2)
    record = {}
    node_to_grad = lab.engine.reverse_mode(v[6], seed, record)
    for i, edges in enumerate([2, 2, 1, 1, 1, 1, 1], start=1):
        node = v[i - 1]
        expect.holds(isinstance(record.get(node), list), f"record[v{i}]", record.get(node))
        expect.equal(f"len(record[v{i}])", len(record[node]), edges)
        expect.equal(f"sum(record[v{i}])", float(sum(record[node])), float(node_to_grad[node]))
    expect.equal("record[v7]", record[v[6]], [seed])


def test_the_keys_of_the_result(lab, lecture, expect):
    """The result holds every node of the output's graph, and no other.
    结果包含输出的计算图中的每个节点，且没有其他节点。"""
    v = lecture(2.0, 5.0)
    node_to_grad = lab.engine.reverse_mode(v[5])
    expect.equal("len(reverse_mode(v6))", len(node_to_grad), 5)
    expect.holds(v[4] not in node_to_grad, "v5 in reverse_mode(v6)", True)
    expect.equal("reverse_mode(v1, 3.0)[v1]", lab.engine.reverse_mode(v[0], 3.0).get(v[0]), 3.0)


def test_a_second_pass_starts_afresh(lab, lecture, expect):
    """Nothing of an earlier pass is left over.
    不残留上一次遍历的结果。"""
    v = lecture(2.0, 5.0)
    for call, output in (("v7", v[6]), ("v6", v[5]), ("v7", v[6])):
        expect.adjoints(f"reverse_mode({call}, -0.5)", output, lab.engine.reverse_mode(output, -0.5), -0.5)
    expect.equal("len(reverse_mode(v6))", len(lab.engine.reverse_mode(v[5])), 5)


def test_one_pass_for_all_inputs(lab, sum_of_products, expect):
    """The gradient by 5,000 inputs costs one pass, not 5,000.
    对 5,000 个输入求梯度只需一次遍历，而不是 5,000 次。"""
    inputs, output = sum_of_products(5000)
    node_to_grad = lab.engine.reverse_mode(output)
    expect.equal("reverse_mode(y)[inputs[7]]", node_to_grad[inputs[7]], 14 / 5000)


@pytest.mark.task("bypass")
def test_one_node_in_both_places(lab, draw, expect):
    """x + x, x - x, x * x, x / x, x ** x: both places count.
    x + x、x - x、x * x、x / x、x ** x：两个位置都要算。"""
    x = lab.graph.variable(draw.uniform(0.5, 2), "x")
    for formula, y in (
        ("x + x", x + x),
        ("x - x", x - x),
        ("x * x", x * x),
        ("x / x", x / x),
        ("x ** x", x**x),
    ):
        expect.adjoints(f"reverse_mode({formula})", y, lab.engine.reverse_mode(y))


@pytest.mark.task("bypass")
def test_paths_of_unequal_length(lab, draw, expect):
    """A node with a short and a long path to the output gets its share along both.
    到输出有一短一长两条路径的节点，两边的份都要得到。"""
    x = lab.graph.variable(draw.signed(0.3, 1), "x")
    u = lab.graph.cos(x) + x
    y = u * (lab.graph.exp(lab.graph.tanh(u)) + x) - u
    expect.adjoints("reverse_mode(y)", y, lab.engine.reverse_mode(y))


@pytest.mark.task("bypass")
def test_doubling_again_and_again(lab, draw, expect):
    """Five times y = y + y * y: every node is used three times.
    做五次 y = y + y * y：每个节点被用三次。"""
    y = lab.graph.variable(draw.uniform(0.05, 0.2), "x")
    for _ in range(5):
        y = y + y * y
    expect.adjoints("reverse_mode(y, -1.5)", y, lab.engine.reverse_mode(y, -1.5), -1.5)
