"""Reflected operators and dictionary lookup."""

import pytest

reflected, lookup = pytest.mark.task("reflected-operators"), pytest.mark.task("lookup")
points, cases = pytest.mark.points, pytest.mark.parametrize


@reflected
@points(1)
@cases("kind", ["int", "float"])
def test_a_number_minus_a_node(compare, draw, kind):
    """A number minus a node has the right value.
    数减节点，值正确。"""
    number = draw.integers(-9, 10) if kind == "int" else draw.normal()
    compare("number_on_the_left", operation="subtract", number=number, kind=kind, x=draw.uniform(1, 3))


@reflected
@points(1)
@cases("kind", ["int", "float"])
def test_a_number_over_a_node(compare, draw, kind):
    """A number over a node has the right value.
    数除以节点，值正确。"""
    number = draw.integers(2, 10) if kind == "int" else draw.uniform(-3, -1)
    compare("number_on_the_left", operation="divide", number=number, kind=kind, x=draw.uniform(0.5, 3))


@reflected
@points(1)
@cases("operation", ["subtract", "divide"])
@cases("kind", ["float64", "float32", "int64"])
def test_numpy_scalars_on_the_left(compare, draw, kind, operation):
    """The left operand may be a NumPy scalar.
    左操作数可以是 NumPy 标量。"""
    number = draw.integers(2, 10) if kind == "int64" else draw.uniform(1, 3)
    compare("number_on_the_left", operation=operation, number=number, kind=kind, x=draw.uniform(0.5, 3))


@reflected
@points(1)
def test_reflected_operators_nest(compare, draw):
    """Reflected operators inside each other, as in 1 - 3 / x.
    反射运算嵌套使用，例如 1 - 3 / x。"""
    compare("nested_reflections", x=draw.uniform(1.5, 4))


@reflected
@points(1)
@cases("operation", ["subtract", "divide"])
def test_the_result_is_a_node_of_the_graph(compare, draw, operation):
    """The result depends on its operand: the same graph gives the right value at another x as well.
    结果仍依赖操作数：同一张图换一个 x 重新计算，值也正确。"""
    x, elsewhere = draw.uniform(0.5, 3), draw.uniform(4, 9)
    compare(
        "recomputed_elsewhere", operation=operation, number=draw.uniform(-3, -1), x=x, elsewhere=elsewhere
    )


@reflected
@points(1)
@cases(
    "operation, number, x, slope",
    [("subtract", 1, 4, -1), ("divide", 1, 4, -0.0625), ("divide", -3, 2, 0.75)],
)
def test_slopes_of_reflected_operators_e67(compare, submission, operation, number, x, slope):
    """The slopes of 1 - x and 1 / x at 4 and of -3 / x at 2, by differences of their values.
    1 - x、1 / x 在 4 处与 -3 / x 在 2 处的斜率，由值的差分得到。"""
    at = {"operation": operation, "number": number, "kind": "int"}
    compare("number_on_the_left", **at, x=x + 1e-4)
    ahead, behind = (submission("number_on_the_left", **at, x=x + h)["value"] for h in (1e-4, -1e-4))
    found = (ahead - behind) / 2e-4
    assert abs(found - slope) < 1e-6, (
        f"slope {found:.6g} instead of {slope} / 斜率为 {found:.6g}，应为 {slope}"
    )


@lookup
@points(1)
def test_a_lookup_moves_with_its_own_entry(compare, draw):
    """Values and local derivatives of lookups by string keys.
    以字符串为键的查找：值和局部导数。"""
    compare("lookups", keys="string", numbers=draw.normal(3))


@lookup
@points(1)
def test_keys_need_not_be_strings(compare, draw):
    """Keys may be integers, tuples, None, or a mixture in which "1" and 1 differ.
    键可以是整数、元组、None，也可以混用（"1" 与 1 不同）。"""
    for keys in ("integer", "tuple", "mixed"):
        compare("lookups", keys=keys, numbers=draw.normal(3))


@lookup
@points(1)
def test_lookup_derivatives_scale_and_add(compare, draw):
    """The local derivative can be scaled, added, and multiplied with a tangent of the table.
    局部导数可以数乘、相加，并与表的切量作内积。"""
    compare("lookup_algebra", numbers=draw.normal(3), direction=draw.normal(3), factor=draw.normal())


@lookup
@points(1)
def test_a_missing_key_is_refused_and_the_others_work(compare, draw):
    """A missing key raises KeyError; a lookup in the same table still works.
    缺失的键抛出 KeyError；同一张表里的其他查找照常。"""
    compare("lookup_missing", numbers=draw.normal(3))


@lookup
@points(1)
def test_lookup_derivatives_are_made_afresh(compare, draw):
    """Writing into one answer changes neither the table nor the next answer.
    改写一次返回的结果，既不影响表，也不影响下一次的结果。"""
    compare("lookup_is_pure", numbers=draw.normal(3))


@lookup
@points(1)
def test_a_key_looked_up_twice_adds_up(compare, draw):
    """Reverse mode through a table: one key looked up twice, one once, one never.
    反向模式经过表：一个键查两次，一个查一次，一个不查。"""
    compare("table_reverse", numbers=draw.normal(3), x=draw.normal(), seed=draw.normal())
