"""Lookups in a table, whose derivatives are dictionaries."""

import pytest

pytestmark = pytest.mark.task("lookup")


def test_the_local_derivative(lab, draw, expect):
    """A lookup moves with its own entry and no other; keys need not be strings.
    查找的结果只随自己的那一项变化；键不一定是字符串。"""
    for keys in (["cat", "dog", "owl"], [7, -1, (0, 1)]):
        table = lab.graph.table(dict(zip(keys, draw.many(3, 2, 5))))
        for key in keys:
            expect.partials(f"partials: table[{key!r}]", table[key])


def test_the_local_derivative_is_fresh(lab, expect):
    """Each call gives a new answer: changing one does not change the next.
    每次调用都给出新的结果：改动一个，不影响下一个。"""
    node = lab.graph.table({"cat": 1.0, "dog": 2.0})["cat"]
    (answer,) = node.op.partials(tuple(one.value for one in node.inputs), node.value)
    answer.update({"dog": 5.0})
    expect.partials("partials: table['cat']", node)


def test_adjoints_of_a_table(lab, draw, expect):
    """The adjoint of a table agrees with differences, entry by entry; a key looked up twice adds up.
    表的伴随量逐项与差分一致；同一个键查两次，贡献相加。"""
    table = lab.graph.table({"cat": draw.signed(1, 2), "dog": draw.signed(1, 2), 3: 0.5})
    x = lab.graph.variable(draw.signed(1, 2), "x")
    y = table["cat"] * x + lab.graph.cos(table["cat"]) - table[3] * table["dog"]
    seed = draw.signed(1, 2)
    expect.adjoints(f"reverse_mode(y, {seed})", y, lab.engine.reverse_mode(y, seed), seed)


def test_tangents_of_a_table(lab, draw, expect):
    """Forward mode along a direction that is a dictionary.
    方向为字典时的前向模式。"""
    a, b = draw.signed(1, 2), draw.signed(1, 2)
    table = lab.graph.table({"cat": a, "dog": b})
    y = table["cat"] * table["dog"] + table["cat"]
    got = lab.engine.forward_mode(y, [table], [{"cat": 2.0}])
    expect.equal('forward_mode(y, [table], [{"cat": 2.0}])', got, [2.0 * (b + 1)])
