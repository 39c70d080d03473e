"""`gradients` on operations whose rules are given, with random signed output gradients; test_outputs.py has
several outputs."""

import numpy as np
import pytest

pytestmark = pytest.mark.task("gradients")
points, cases = pytest.mark.points, pytest.mark.parametrize

GRAPHS = (
    1e-11  # random graphs of 14 nodes: right answers in other orders of summation differ by 1e-14 at most
)


def graph(draw, rows=10, shape=(2, 3)):
    return {"graph": draw.dag(rows), "arrays": [draw.uniform(-1.5, 1.5, shape) for _ in range(3)]}


@points(1)
def test_the_lectures_example(compare, draw):
    """ln x1 + x1 x2 - sin x2, a scalar: its output gradient is 1 unless given.
    ln x1 + x1 x2 - sin x2 是标量：不给 output_gradients 时取 1。"""
    compare("gradient", formula="lecture", arrays=[draw.uniform(0.5, 3), draw.uniform(-3, 3)])


@points(1)
@cases("shape", [(3,), (2, 2), (2, 1, 3)], ids=str)
def test_output_gradients_of_tensors(compare, draw, shape):
    """The same entry by entry, from an output gradient that differs in every entry.
    同一公式逐元素计算，output_gradients 的每个元素都不同。"""
    arrays, vector = [draw.uniform(0.5, 3, shape), draw.normal(shape)], draw.normal(shape)
    compare("gradient", formula="lecture", arrays=arrays, vectors=[vector])


@points(1)
def test_random_graphs(compare, draw):
    """Gradients of random graphs by their three inputs.
    随机图对三个输入的梯度。"""
    for _ in range(3):
        compare("graph_gradients", GRAPHS, **graph(draw), chosen=[-1], vectors=[draw.normal((2, 3))])


@points(1)
def test_gradients_by_every_node(compare, draw):
    """Inputs may be any nodes of the graph: the adjoints of all of them at once.
    inputs 可以是图中任何节点：一次给出所有节点的伴随量。"""
    for _ in range(2):
        vectors = [draw.normal((2, 3))]
        compare("graph_gradients", GRAPHS, **graph(draw), chosen=[-1], vectors=vectors, every_node=True)


@points(1)
@cases("formula", ["add", "subtract", "multiply", "square_plus", "plus_square"])
def test_a_node_used_twice_collects_both_parts(compare, draw, formula):
    """x + x, x - x, x * x, x * x + x: every use contributes.
    x + x、x - x、x * x、x * x + x：每次使用都有贡献。"""
    compare("gradient", formula=formula, arrays=[draw.normal((2, 3))], vectors=[draw.normal((2, 3))])


@points(1)
@cases("formula", ["divide", "power", "maximum"])
def test_one_node_in_both_slots_of_an_uneven_operation(compare, draw, formula):
    """x / x, x ** x, maximum(x, x): the slots have different partial adjoints.
    x / x、x ** x、maximum(x, x)：两个位置的部分伴随不同。"""
    arrays, vectors = [draw.uniform(0.5, 2, (2, 3))], [draw.normal((2, 3))]
    compare("gradient", formula=formula, arrays=arrays, vectors=vectors)


@points(1)
def test_one_node_three_times_in_a_concatenation(compare, draw):
    """One tensor three times in a concatenation; overlapping slices of one tensor.
    同一张量在拼接中出现三次；同一张量的重叠切片。"""
    compare("gradient", formula="concatenate", arrays=[draw.normal((2, 3))], vectors=[draw.normal((6, 3))])
    compare("gradient", formula="slices", arrays=[draw.normal((4, 2))], vectors=[draw.normal(6)])


@points(1)
@cases("formula", ["short_first", "long_first"])
def test_paths_of_unequal_length(compare, draw, formula):
    """A short and a long path from one node, built in either order: an adjoint waits until it is complete.
    从同一节点出发的一短一长两条路径，以任意次序构造：伴随量收齐后才继续往回传。"""
    compare(
        "gradient", formula=formula, arrays=[draw.uniform(0.3, 1.2, (2, 2))], vectors=[draw.normal((2, 2))]
    )


@points(1)
@cases("n", [1, 3, 6])
def test_the_logistic_map(compare, draw, n):
    """The logistic map l = 4 l (1 - l), in which every step uses its input twice.
    逻辑斯谛映射 l = 4 l (1 - l)，每一步都两次用到输入。"""
    arrays, vectors = [draw.uniform(0.1, 0.9, 4)], [draw.normal(4)]
    compare("gradient", GRAPHS, formula=f"logistic_{n}", arrays=arrays, vectors=vectors)


@points(1)
def test_gradients_are_linear_in_the_output_gradient(compare, submission, draw):
    """A combination of output gradients gives the combination of the gradients.
    output_gradients 的线性组合，得到梯度的线性组合。"""
    at, u, v, a, b = graph(draw), draw.normal((2, 3)), draw.normal((2, 3)), draw.normal(), draw.normal()
    combination = a * u + b * v
    for vector in (combination, u, v):
        compare("graph_gradients", GRAPHS, **at, chosen=[-1], vectors=[vector])
    whole, one, two = (
        np.concatenate(submission("graph_gradients", **at, chosen=[-1], vectors=[vector])["gradients"])
        for vector in (combination, u, v)
    )
    scale = np.linalg.norm(a * one) + np.linalg.norm(b * two)  # of the parts: they may cancel
    assert np.linalg.norm(whole - (a * one + b * two)) <= 1e-11 * scale, (
        "(a u + b v) J is not a u J + b v J / (a u + b v) J 不等于 a u J + b v J"
    )


@points(1)
def test_inputs_without_influence_and_outputs_as_inputs(compare, draw):
    """What no output depends on has zeros of its shape and dtype; an output's own gradient is the given one.
    没有输出依赖的输入，梯度是同形状同类型的零；输出对自身的梯度就是给定的那个。"""
    unused = draw.normal((3, 1)).astype(np.float32)
    compare(
        "without_influence",
        arrays=[draw.normal((2, 2)), draw.normal((2, 2)), unused],
        vector=draw.normal((2, 2)),
    )


@points(1)
def test_dtypes_and_inputs_that_have_no_gradient(compare, draw):
    """float32 beside float64: each gradient has its input's dtype. Conditions and labels have no gradient.
    float32 与 float64 混用：每个梯度的类型与输入相同。条件和标签没有梯度。"""
    single, double, vector = draw.normal((2, 2)).astype(np.float32), draw.normal((2, 2)), draw.normal((2, 2))
    compare("gradient", 1e-5, formula="mixed", arrays=[single, double], vectors=[vector])
    compare("gradient", formula="mixed", arrays=[single, single[::-1]], vectors=[vector.astype(np.float32)])
    compare("gradient", formula="conditions", arrays=[double, draw.uniform(0.5, 1, (2, 2))], vectors=[vector])
    compare("gradient", formula="labels", arrays=[draw.normal((2, 3)), np.array([2, 0])], vectors=[vector[0]])


@points(1)
def test_a_second_call_starts_afresh_and_a_graph_runs_again(compare, draw):
    """Three calls and fifty runs: nothing is left over, no node is made by running, nothing given is changed.
    三次调用、五十次运行：不残留任何东西，运行时不新建节点，不改动给定的东西。"""
    arrays, vectors = [draw.normal((2, 2)), draw.normal((2, 2))], [draw.normal((2, 2)), draw.normal((2, 2))]
    compare("gradients_again", arrays=arrays, vectors=vectors)
    compare("fifty_feeds", batches=draw.normal((50, 3)), vector=draw.normal(3))
    for wrapped in (True, False):
        compare("gradients_of_one", formula="multiply", arrays=arrays[:1], vector=vectors[0], wrapped=wrapped)


@points(1)
def test_one_walk_gives_the_gradients_by_all_inputs(compare, draw):
    """The gradients by 1,024 inputs cost one walk; one for each input would take half a minute.
    对 1,024 个输入的梯度只需一次遍历；每个输入遍历一次要半分钟。"""
    compare("wide", x=draw.uniform(-1, 1, 1024), vector=draw.normal())


@points(0)
def test_rules_that_were_given(compare, draw):
    """Values and rules of the operations that were given.
    已给出的运算的值和规则。"""
    names = (
        *(
            "negative",
            "exp",
            "log",
            "sin",
            "cos",
            "tanh",
            "sqrt",
            "abs",
            "add",
            "subtract",
            "multiply",
            "divide",
        ),
        *("power", "square", "maximum", "where", "reshape", "concatenate", "slice", "softmax", "max"),
        *("cross_entropy", "numbers"),
    )
    for name in names:
        compare("given_rule", name=name, arrays=[draw.uniform(0.5, 2, (2, 3)), draw.uniform(0.5, 2, (2, 3))])


@points(0)
def test_what_the_graph_refuses(compare):
    """Shapes that do not fit, axes that are none, indices that are no integers, nodes as numbers.
    不相容的形状、不存在的轴、不是整数的下标、把节点当作数。"""
    compare("refusals")


@points(0)
def test_what_the_engine_refuses(compare):
    """Output gradients and feeds that are missing or do not fit.
    缺少或不相容的 output_gradients 与输入数组。"""
    compare("engine_refusals")


@points(0)
def test_the_executor(compare, draw):
    """Arrays of shared nodes, constants, views and repeated outputs.
    共享节点、常量、视图和重复的输出的数组。"""
    compare("executed", arrays=[draw.normal((2, 3)), draw.normal((2, 3))])
