"""Given code, as it was handed out: shown to a student only if one of these fails."""

import pytest

points, cases, task = pytest.mark.points, pytest.mark.parametrize, pytest.mark.task

PLACES = {
    "add": 2, "subtract": 2, "multiply": 2, "divide": 2, "power": 2,
    "negate": 1, "exp": 1, "log": 1, "sin": 1, "cos": 1, "tanh": 1,
}  # fmt: skip


@points(0)
@task("local-derivatives")
def test_values_of_operations(compare, draw):
    """The value of every operation.
    每个运算的值。"""
    for name, places in PLACES.items():
        compare("operation", name=name, at=draw.uniform(0.5, 2, places), value_only=True)


@points(0)
@task("local-derivatives")
def test_given_local_derivatives(compare, draw):
    """The local derivatives of the operations that were given.
    已给出的运算的局部导数。"""
    for name in ("add", "subtract", "multiply", "negate", "exp", "cos", "tanh"):
        compare("operation", name=name, at=draw.uniform(-2, 2, PLACES[name]))


@points(0)
@task("local-derivatives")
def test_python_numbers_as_operands(compare, draw):
    """Python and NumPy numbers as operands, and the leaves they become.
    Python 和 NumPy 的数作为操作数，以及由此而来的叶节点。"""
    compare("python_numbers", x=draw.uniform(0.5, 2))


@points(0)
@task("reflected-operators")
def test_what_a_node_refuses_to_be(compare, draw):
    """A node is no plain number, no condition and no table.
    节点不是普通的数，不是条件，也不是表。"""
    compare("refusals", x=draw.uniform(0.5, 2))


@points(0)
@task("lookup")
def test_tables_and_their_entries(compare, draw):
    """Values of lookups; entries add, scale and multiply.
    查找的值；Entries 的相加、数乘与内积。"""
    compare("table_given", numbers=draw.normal(3), factor=draw.normal())


@points(0)
@task("topological-order")
def test_sizes_of_graphs(compare, draw):
    """graph_size and expression_size.
    graph_size 和 expression_size。"""
    compare("sizes", x=draw.uniform(0.1, 0.2), n=9)


@points(0)
@task("central-difference")
@cases("h", [None, 0.125])
@cases("dtype", ["float64", "float32"])
def test_forward_difference(compare, draw, h, dtype):
    """forward_difference: quotient, count, dtype.
    forward_difference：差商、次数、类型。"""
    # The default steps divide rounding by themselves: 1e-16 / 1e-8 and 1e-7 / 3e-4.
    tolerance = 1e-5 if dtype == "float64" else 5e-2
    x = draw.uniform(-1, 1, 3).astype(dtype)
    compare("evaluations", x=x, h=h, method="forward_difference")
    compare("difference", tolerance, function="wave", x=x, h=h, method="forward_difference")


@points(0)
@task("jacobian")
def test_wrong_arguments_are_refused(compare, draw):
    """Too few directions, an unknown mode and a negative step are refused.
    方向太少、未知的模式、负的步长都会被拒绝。"""
    compare("engine_refusals", x=draw.uniform(0.5, 2))
