"""`gradients` on operations whose rules are given; every node's adjoint against differences."""

import numpy as np
import pytest

gradients, several = pytest.mark.task("gradients"), pytest.mark.task("several-outputs")
cases = pytest.mark.parametrize


@gradients
def test_the_lectures_numbers(lab, expect):
    """The lecture's example at (2, 5): gradients 5.5 and 1.716.
    课上的例子在 (2, 5)：梯度为 5.5 和 1.716。"""
    x1, x2 = lab.graph.variable(()), lab.graph.variable(())
    y = lab.graph.log(x1) + x1 * x2 - lab.graph.sin(x2)
    got = lab.engine.Executor(lab.engine.gradients(y, [x1, x2]))({x1: 2.0, x2: 5.0})
    expect.equal("gradients(y, [x1, x2])[0]", float(got[0]), 5.5)
    expect.equal("gradients(y, [x1, x2])[1]", float(got[1]), 1.7163378145367738)


@gradients
def test_random_graphs(lab, tensor, random_graph, adjoints):
    """The adjoint of every node of a random graph agrees with differences.
    随机图中每个节点的伴随量都与差分一致。"""
    for _ in range(3):
        variables = [lab.graph.variable((2, 2)) for _ in range(3)]
        feeds = {x: tensor(2, 2, low=-1.0, high=1.0) for x in variables}
        y = random_graph(variables)
        adjoints("gradients(y, nodes, [v])", [y], feeds, [tensor(2, 2)])


@gradients
@cases("name", ["x + x", "x - x", "x * x", "x / x", "x ** x", "concatenate([x, x])"])
def test_one_node_in_both_places(lab, tensor, adjoints, name):
    """A node in both places of an operation receives both parts.
    同一节点占两个位置时，两份都要得到。"""
    x = lab.graph.variable((2, 2))
    y = {
        "x + x": lambda: x + x,
        "x - x": lambda: x - x,
        "x * x": lambda: x * x,
        "x / x": lambda: x / x,
        "x ** x": lambda: x**x,
        "concatenate([x, x])": lambda: lab.graph.concatenate([x, x]),
    }[name]()
    adjoints(f"gradients({name}, nodes, [v])", [y], {x: tensor(2, 2, low=0.5)}, [tensor(*y.shape)])


@gradients
def test_paths_of_unequal_length(lab, tensor, adjoints):
    """A node with a short and a long path to the output gets its share along both.
    到输出有一短一长两条路径的节点，两边的份都要得到。"""
    x = lab.graph.variable((3,))
    u = lab.graph.cos(x) + x
    short = u * 0.5
    y = short * (lab.graph.exp(lab.graph.tanh(u) * u) + x) - u
    adjoints("gradients(y, nodes, [v])", [y], {x: tensor(3, low=-1.0, high=1.0)}, [tensor(3)])


@gradients
def test_conditions_and_labels_have_no_gradient(lab, tensor, adjoints, expect):
    """where, comparisons and labels: what has no gradient receives None.
    where、比较和标签：没有梯度的输入得到 None。"""
    a, b = lab.graph.variable((3,)), lab.graph.variable((3,))
    y = lab.graph.where(a > b, a * b, lab.graph.sin(b))
    adjoints("gradients(where(a > b, …), nodes, [v])", [y], {a: tensor(3), b: tensor(3)}, [tensor(3)])
    logits = lab.graph.variable((2, 3))
    loss = lab.graph.softmax_cross_entropy(logits * logits, [2, 0])
    adjoints("gradients(softmax_cross_entropy(…), nodes, [v])", [loss], {logits: tensor(2, 3)}, [tensor(2)])


@gradients
def test_what_no_output_depends_on(lab, expect):
    """What no output depends on has zeros of its shape and dtype; an output's own gradient is the given one.
    没有输出依赖的输入，梯度是同形状同类型的零；输出对自身的梯度就是给定的那个。"""
    x, unused = lab.graph.variable((2,)), lab.graph.variable((3, 1), np.float32)
    y = x * x
    vector = np.array([2.0, -1.0])
    got = lab.engine.Executor(lab.engine.gradients(y, [unused, y, x], [vector]))({x: np.array([1.0, 3.0])})
    expect.equal("gradients(x * x, [unused, y, x], [v])[0]", got[0], np.zeros((3, 1), np.float32))
    expect.equal("gradients(x * x, [unused, y, x], [v])[1]", got[1], vector)
    expect.equal("gradients(x * x, [unused, y, x], [v])[2]", got[2], np.array([4.0, -6.0]))
    (got,) = lab.engine.Executor(lab.engine.gradients(x, x, vector))({x: vector})
    expect.equal("gradients(x, x, v)[0]", got, vector)


@gradients
def test_a_second_call_starts_afresh(lab, tensor, adjoints):
    """Nothing of an earlier call is left over, and the lists given stay as they are.
    不残留上一次调用的结果，传入的列表也保持不变。"""
    x = lab.graph.variable((2,))
    u = lab.graph.sin(x)
    y = u * u + x
    for outputs in ([u], [y], [u], [y]):
        adjoints("gradients(outputs, nodes, [v])", outputs, {x: tensor(2)}, [tensor(2)])


@gradients
def test_dtypes(lab, expect):
    """Beside float64, a float32 input has a float32 gradient.
    与 float64 混用时，float32 的输入得到 float32 的梯度。"""
    a, b = lab.graph.variable((2,), np.float32), lab.graph.variable((2,))
    got = lab.engine.gradients(a * b + a, [a, b], [np.ones(2)])
    for name, one, right in zip("ab", got, ("float32", "float64")):
        expect.equal(f"gradients(a * b + a, [a, b], [v]), dtype by {name}", str(one.dtype), right)


@gradients
def test_one_walk_for_all_inputs(lab, expect):
    """The gradients by 2,000 inputs cost one walk, not 2,000.
    对 2,000 个输入的梯度只需一次遍历，而不是 2,000 次。"""
    inputs = [lab.graph.variable(()) for _ in range(2000)]
    y = inputs[0]
    for one, other in zip(inputs, inputs[1:]):
        y = y + one * other
    feeds = {x: i / 2000 for i, x in enumerate(inputs)}
    got = lab.engine.Executor(lab.engine.gradients(y, inputs))(feeds)
    expect.equal("gradients(y, inputs)[7]", float(got[7]), 14 / 2000)


@several
@cases("names", ["uv", "uw", "wu", "uu", "xu", "wvw"])
def test_several_outputs_add_up(lab, tensor, adjoints, names):
    """Several outputs, of different shapes, one above the other, listed twice, or inputs themselves.
    几个输出：形状不同、一个用到另一个、列出两次、本身就是输入。"""
    x, z = lab.graph.variable((2, 2)), lab.graph.variable((3,))
    u = lab.graph.sin(x) * x
    known = {"x": x, "u": u, "v": z * z, "w": lab.graph.reshape(lab.graph.tanh(u) * u, (4,))}
    outputs = [known[name] for name in names]
    feeds = {
        one: array
        for one, array in ((x, tensor(2, 2)), (z, tensor(3)))
        if one in known["v"].inputs or one is x
    }
    vectors = [tensor(*y.shape) for y in outputs]
    adjoints(f"gradients([{', '.join(names)}], nodes, vectors)", outputs, feeds, vectors)
