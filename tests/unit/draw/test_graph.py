"""draw.graph: the lecture's names, numbers beside nodes, folding, and graphs that are none."""

import re
import subprocess
import sys
import time
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labkit import draw
from labkit.draw import folding

HOSTILE = "</text></div><script>alert(1)</script>\x1b[2J\u202e\n&\"'"


class Node(SimpleNamespace):
    """A node of no lab."""

    __hash__ = object.__hash__


def node(name=None, *inputs, op=None, value=1.0):
    op = op or (SimpleNamespace(name="f") if inputs else None)
    return Node(name=name, inputs=inputs, op=op, value=value)


@pytest.fixture
def y(lab1):
    x1, x2 = lab1.graph.variable(2.0, "x1"), lab1.graph.variable(5.0, "x2")
    return lab1.graph.log(x1) + x1 * x2 - lab1.graph.sin(x2)


def test_the_running_example_has_the_names_and_numbers_of_the_lecture(lab1, y):
    drawing = draw.graph(y, adjoints=lab1.engine.reverse_mode(y), language="en")
    rows = [re.split(r" {2,}", line.strip()) for line in drawing.text.splitlines()]
    assert rows == [
        ["v1 = x1", "= 2", "adjoint 5.5"],
        ["v2 = x2", "= 5", "adjoint 1.7163"],
        ["v3 = log(v1)", "= 0.69315", "adjoint 1"],
        ["v4 = v1 * v2", "= 10", "adjoint 1"],
        ["v5 = sin(v2)", "= -0.95892", "adjoint -1"],
        ["v6 = v3 + v4", "= 10.693", "adjoint 1"],
        ["v7 = v6 - v5", "= 11.652", "adjoint 1"],
    ]
    assert str(drawing) == drawing.text
    ElementTree.fromstring(drawing.svg)


def test_constants_stand_in_formulas_where_variables_have_names(lab1):
    x = lab1.graph.variable(0.5, "l")
    assert draw.graph(4 * x * (-1 - x)).text.splitlines()[1].split("  ")[1] == "v2 = 4 * v1"
    assert "(-1) - v1" in draw.graph(4 * x * (-1 - x)).text


def test_without_names_every_leaf_is_a_node(lab1):
    assert "v3 = v1 * v2" in draw.graph(lab1.graph.variable(2.0) * lab1.graph.variable(3.0)).text


def test_names_given_replace_v1_and_stand_in_formulas(lab1):
    x = lab1.graph.variable(2.0)
    items = draw.graph(lab1.graph.sin(x) * 3, names={x: "学习率"}).items
    assert [item.label for item in items] == ["学习率", "v2 = sin(学习率)", "v3 = v2 * 3"]


def test_x2_comes_before_x10_whichever_is_used_first():
    assert [item.label for item in draw.graph(node("y", node("x10"), node("x2"))).items][:2] == [
        "v1 = x2",
        "v2 = x10",
    ]


def test_what_has_no_values_yet_is_drawn_with_its_shape():
    a, b = (Node(op=None, inputs=(), shape=shape, value=None) for shape in [(3, 4), (4,)])
    product = SimpleNamespace(op=SimpleNamespace(name="matmul"), inputs=(a, b), shape=(3,), value=None)
    items = draw.graph([product], shapes=True, language="en").items
    assert [(item.label, item.value, item.note) for item in items] == [
        ("v1", "", "shape (3, 4)"),
        ("v2", "", "shape (4,)"),
        ("v3 = v1 @ v2", "", "shape (3,)"),
    ]


def test_tangents_and_a_table_s_adjoint_stand_at_their_nodes(lab1):
    table = lab1.graph.table({"Cat": 2.0, "Dog": 3.0})
    cat = lab1.graph.lookup(table, "Cat")
    first, second = draw.graph(
        cat, tangents={cat: 0.5}, adjoints={table: {"Cat": 1.0}}, names={table: "P"}
    ).items
    assert first.value == "= {'Cat': 2, 'Dog': 3}"
    assert first.note == "伴随量 {'Cat': 1}"
    assert second.label == "v2 = P['Cat']"
    assert second.note == "切量 0.5"


@st.composite
def folded(drawn):
    size = drawn(st.integers(1, 40))
    inputs = [drawn(st.lists(st.integers(0, k - 1), max_size=3)) if k else [] for k in range(size)]
    outputs = drawn(st.lists(st.integers(0, size - 1), min_size=1, max_size=3))
    return inputs, outputs, drawn(st.integers(3, 45))


@given(folded())
@example(([[] for _ in range(20)], [19], 5))
def test_a_fold_keeps_the_number_and_hides_only_what_nothing_hidden_needs(case):
    inputs, outputs, most = case
    shown = folding.shown(inputs, outputs, most)
    assert len(shown) == len(set(shown))
    assert len(shown) == len(inputs) if len(inputs) <= most else len(shown) < most
    hidden = set(range(len(inputs))) - set(shown)
    for user in hidden:
        assert all(i in hidden or not inputs[i] for i in inputs[user])


@given(folded())
def test_folded_drawings_count_every_node_and_point_downwards(case):
    inputs, _, most = case
    nodes = []
    for own in inputs:
        nodes.append(node("x", *(nodes[i] for i in own)))
    drawing = draw.graph(nodes, fold=most, language="en")
    boxes = [item for item in drawing.items if item.folded]
    hidden = sum(int(item.value.split()[0]) for item in boxes)
    assert len(drawing.items) - len(boxes) + hidden == len(nodes)
    assert len(drawing.items) <= most
    assert bool(drawing.notes) == bool(boxes) == (len(nodes) > most)
    for row, item in enumerate(drawing.items):
        assert all(i < row for i in item.inputs)


def test_of_many_inputs_a_fold_keeps_a_row_that_fits_first_those_in_use():
    weights = [node(f"w{place}") for place in range(100)]
    loss = weights[0]
    for weight in weights[1:]:
        loss = node(None, loss, weight)

    def leaves(drawing):
        return [item.label for item in drawing.items if not item.inputs and not item.folded]

    assert leaves(draw.graph(loss, fold=7)) == ["v98 = w97", "v99 = w98", "v100 = w99"]
    assert len(leaves(draw.graph(loss))) == 8


def test_ten_thousand_nodes_are_folded_in_under_a_second():
    drawing = draw.graph(node("warm"))
    assert drawing.svg  # igraph is imported
    first = last = node("x1")
    for _ in range(9_999):
        last = node(None, last, first)
    begin = time.perf_counter()
    drawing = draw.graph(last, language="en")
    assert drawing.svg
    assert time.perf_counter() - begin < 1
    assert drawing.notes == [
        "59 of 10000 nodes are drawn: those next to the outputs, and inputs. The other 9941 are one box."
    ]
    assert drawing.items[0].label == "v1 = x1"
    assert drawing.items[-1].label.startswith("v10000 = ")


@pytest.mark.parametrize("wrong", [3, None, "v1", [3], object(), node("y", 3)])
def test_what_is_no_node_is_told_in_a_line(wrong):
    with pytest.raises(TypeError, match=r"^Only nodes of a graph can be drawn, not \w+: [^\n]+$"):
        draw.graph(wrong, language="en")


def test_nothing_to_draw_and_cycles_are_told_in_a_line():
    with pytest.raises(ValueError, match="nothing to draw"):
        draw.graph([], language="en")
    one = node("a", node("b"))
    one.inputs[0].inputs = (one,)
    with pytest.raises(ValueError, match=r"node [ab] depends on itself"):
        draw.graph(one, language="en")


@pytest.mark.parametrize("where", ["name", "op", "title", "names", "key"])
def test_hostile_words_stay_words(where):
    op = SimpleNamespace(name=HOSTILE if where == "op" else "lookup", key=HOSTILE)
    x = node(HOSTILE if where == "name" else "x")
    names = {x: HOSTILE} if where == "names" else None
    drawing = draw.graph(node(None, x, op=op), names=names, title=HOSTILE if where == "title" else "")
    assert "<script" not in drawing.html
    assert all(letter.isprintable() or letter == "\n" for letter in drawing.html + drawing.text)
    ElementTree.fromstring(drawing.html)


def test_a_page_follows_the_theme_of_jupyterlab_and_of_the_system(y):
    page = draw.graph(y)._repr_html_()
    assert '[data-jp-theme-light="false"]' in page
    assert "prefers-color-scheme:dark" in page
    assert page == draw.graph(y).html
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_without_igraph_a_page_shows_the_text_form_and_how_to_get_it(monkeypatch, y):
    monkeypatch.setitem(sys.modules, "igraph", None)
    drawing = draw.graph(y, language="en")
    with pytest.raises(ImportError, match=r"^No picture: [^\n]+ python -m pip install igraph [^\n]+$"):
        _ = drawing.svg
    assert "v₇ = v₆ - v₅" in drawing.html
    assert "pip install igraph" in drawing.html


def test_the_text_form_imports_neither_igraph_nor_numpy():
    code = (
        "import sys; from types import SimpleNamespace as N; from labkit import draw;"
        "print(draw.graph(N(op=None, inputs=(), name='x1', value=2)));"
        "print([name for name in ('igraph', 'numpy', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["v1", "=", "x1", "=", "2", "[]"]


def test_adjoints_in_a_list_are_told_in_one_line(y):
    with pytest.raises(
        TypeError, match=r"^Tangents and adjoints are a dictionary, {node: number}, not list\.$"
    ):
        draw.graph(y, adjoints=[1.0], language="en")


@pytest.mark.parametrize("shape", [5, "(3,)", [2, 3], None])
def test_an_odd_shape_is_shown_as_it_is(shape):
    value = SimpleNamespace(shape=shape)
    shown = draw.graph(node("x", value=value), shapes=True, language="en").text
    assert ("shape" in shown.partition("shape=")[2]) == (shape is not None)
