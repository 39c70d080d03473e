"""Topological order, judged by its laws: any order that keeps them is right."""

import pytest

from labkit.localise import numbered

pytestmark = pytest.mark.task("topological-order")


def keeps_the_laws(expect, call, order, outputs):
    """Length, then nothing twice, then nothing missing, then every edge."""
    expect.holds(isinstance(order, (list, tuple)), call, order)
    place = {node: i for i, node in enumerate(order)}
    below = numbered(outputs)
    expect.equal(f"len({call})", len(order), len(below))
    expect.equal(f"len(set({call}))", len(place), len(below))
    for node in below:
        expect.holds(node in place, f"{node!r} in {call}", False)
        for operand in node.inputs:
            at, user = place.get(operand, -1), place[node]
            expect.holds(0 <= at < user, f"{call}.index", f"{operand!r}: {at}, {node!r}: {user}")


def test_the_lectures_example(lab, lecture, expect):
    """Every node appears once, and after its inputs; v1 to v7 of the lecture.
    每个节点出现一次，且在它的输入之后；课上的 v1 到 v7。"""
    output = lecture(2.0, 5.0)[-1]
    keeps_the_laws(expect, "topological_order(v7)", lab.graph.topological_order(output), [output])


def test_random_graphs(lab, random_graph, expect):
    """Every node appears once, and after its inputs; random graphs.
    每个节点出现一次，且在它的输入之后；随机的图。"""
    for _ in range(8):
        output = random_graph(12)[-1]
        keeps_the_laws(expect, "topological_order(y)", lab.graph.topological_order(output), [output])


def test_paths_of_unequal_length(lab, expect):
    """A node that is used near the output and far from it comes before both its users.
    离输出一近一远两处都用到的节点，排在两个使用者之前。"""
    a = lab.graph.variable(0.5, "a")
    u = a * a
    far = lab.graph.exp(u) + 1.0
    for output in (u * far, far - u, (far + a) * u - a):
        keeps_the_laws(expect, "topological_order(y)", lab.graph.topological_order(output), [output])


def test_several_outputs(lab, expect):
    """Several outputs: one may stand apart, be named twice, or be an input of another. The list stays as is.
    多个输出：可以互不相关、重复出现、或是另一个的输入。传入的列表保持不变。"""
    a, b = lab.graph.variable(0.5, "a"), lab.graph.variable(2.0, "b")
    u = a * b
    v, apart = lab.graph.exp(u) + u, lab.graph.cos(b)
    for outputs in ([v, apart], [u, v], [v, u, v], [apart, a, v]):
        given = list(outputs)
        keeps_the_laws(expect, "topological_order(outputs)", lab.graph.topological_order(given), outputs)
        expect.holds(given == outputs, "outputs", given)
