"""Graphs drawn: nothing overlaps, nothing points upwards, nothing escapes, the mark is more than a colour."""

import itertools
import re
import sys
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labkit.draw import Item, as_svg, as_text
from labkit.draw.layers import arrange
from labkit.width import columns

HOSTILE = "</text><script>alert(1)</script>\x1b[2J\u202e\n\x00&\"'"
LECTURE = [
    Item("v1", (), "2", "adjoint 5.5"),
    Item("v2", (), "5", "adjoint 1.7"),
    Item("v3 = log(v1)", (0,), "0.69"),
    Item("v4 = v1 * v2", (0, 1), "10", "adjoint 1", marked=True),
    Item("v5 = sin(v2)", (1,), "-0.96"),
    Item("v6 = v3 + v4", (2, 3), "10.7"),
    Item("v7 = v6 - v5", (5, 4), "11.7"),
]
SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def graphs(draw, most=30):
    """Inputs of nodes that come after them; the same one may come several times."""
    size = draw(st.integers(1, most))
    return [
        draw(st.lists(st.integers(max(0, node - 6) if draw(st.booleans()) else 0, node - 1), max_size=3))
        if node
        else []
        for node in range(size)
    ]


def boxes(svg):
    """Left, top, right and bottom of every unmarked node, from the drawing itself."""
    numbers = [[float(r.get(name)) for name in ("x", "y", "width", "height")] for r in svg.iter(f"{SVG}rect")]
    return [(x, y, x + width, y + height) for x, y, width, height in numbers]


def test_the_text_has_a_line_a_node_and_an_arrow_at_the_marked_one():
    lines = as_text(LECTURE).splitlines()
    assert len(lines) == len(LECTURE)
    assert [line.startswith("→ ") for line in lines] == [item.marked for item in LECTURE]
    assert lines[3].split() == ["→", "v4", "=", "v1", "*", "v2", "10", "adjoint", "1"]


def test_columns_of_the_text_stay_aligned_beside_chinese_words():
    one, other = as_text([Item("v1", (), "节点", "a"), Item("v2 = v1", (0,), "5", "b")]).splitlines()
    assert one.index("a") + 2 == other.index("b")  # two letters of double width


@given(st.lists(st.tuples(st.text(max_size=8), st.text("节点v1é ", max_size=6), st.booleans()), min_size=1))
def test_columns_of_the_text_stay_aligned_whatever_the_words(rows):
    items = [Item(label, (), value, "|", marked) for label, value, marked in rows]
    ends = {columns(line[: line.rindex("|")]) for line in as_text(items).split("\n")}
    assert len(ends) == 1


def all_spots(layout):
    spots = itertools.chain(layout.spots, *layout.edges.values())
    return list({id(spot): spot for spot in spots}.values())


@given(graphs())
@example([[], [0], [1], [2, 0], [3, 0], [4, 0]])  # one input of many
def test_inputs_stand_above_their_users_and_no_two_spots_of_a_layer_overlap(inputs):
    layout = arrange(inputs)
    for user, own in enumerate(inputs):
        assert all(layout.spots[i].layer < layout.spots[user].layer for i in own)
    for _, row in itertools.groupby(
        sorted(all_spots(layout), key=lambda spot: (spot.layer, spot.x)), lambda spot: spot.layer
    ):
        for left, right in itertools.pairwise(row):
            assert right.x - left.x >= (left.width + right.width) / 2 - 1e-6


@given(graphs())
def test_every_edge_leads_through_every_layer_from_an_input_to_its_user(inputs):
    layout = arrange(inputs)
    assert layout.edges.keys() == {(i, user) for user, own in enumerate(inputs) for i in own}
    for (i, user), edge in layout.edges.items():
        assert edge[0] is layout.spots[i]
        assert edge[-1] is layout.spots[user]
        assert [spot.layer for spot in edge] == list(range(edge[0].layer, edge[-1].layer + 1))


def test_an_input_that_is_used_at_every_step_passes_in_one_narrow_column():
    chain = [[], *([node - 1, 0] for node in range(1, 20))]
    xs = [spot.x for spot in all_spots(arrange(chain))]
    assert max(xs) - min(xs) < 2


def test_a_small_tree_is_drawn_without_crossings():
    spots = arrange([[], [], [], [], [0, 2], [1, 3], [4, 5]]).spots
    left, right = (4, 5) if spots[4].x < spots[5].x else (5, 4)
    below = {4: (0, 2), 5: (1, 3)}
    assert max(spots[i].x for i in below[left]) < min(spots[i].x for i in below[right])


@given(graphs(16))
def test_boxes_lie_within_the_picture_and_apart_and_edges_go_down(inputs):
    svg = ElementTree.fromstring(as_svg([Item(f"v{k}", tuple(own)) for k, own in enumerate(inputs)], "y"))
    _, _, width, height = map(float, svg.get("viewBox").split())
    drawn = boxes(svg)
    assert len(drawn) == len(inputs)
    for left, top, right, bottom in drawn:
        assert -0.5 <= left < right <= width + 0.5 and -0.5 <= top < bottom <= height + 0.5
    for one, other in itertools.combinations(drawn, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    edges = [group for group in svg.iter(f"{SVG}g") if group.get("class") == "edge"]
    assert len(edges) == sum(map(len, inputs))  # an input that is used twice has two
    for edge in edges:
        runs = [[float(number) for number in run.split()] for run in re.split("[MCV]", edge[0].get("d"))]
        heights = [y for run in runs for y in (run[1::2] or run)]  # V has no x
        assert heights == sorted(heights)


def test_the_picture_has_a_title_and_says_everything_in_words_too():
    svg = ElementTree.fromstring(as_svg(LECTURE, "The graph of y"))
    assert svg.get("role") == "img"
    assert svg.find(f"{SVG}title").text == "The graph of y"
    assert "→ v₄ = v₁ * v₂ 10 adjoint 1" in svg.find(f"{SVG}desc").text


def test_the_marked_node_differs_by_shape_border_and_sign():
    svg = ElementTree.fromstring(as_svg(LECTURE, "y"))
    (marked,) = [group for group in svg.iter(f"{SVG}g") if group.get("class") == "marked"]
    shape, first, *_ = marked
    assert shape.tag == f"{SVG}path" and shape.get("stroke-width") == "3"
    assert first.text.startswith("→ ")


@pytest.mark.parametrize("field", ["label", "value", "note"])
def test_hostile_words_stay_words(field):
    items = [Item(**{"label": "v1", field: HOSTILE})]
    svg = as_svg(items, HOSTILE)
    ElementTree.fromstring(svg)
    for text in (svg, as_text(items)):
        assert not [letter for letter in text if not letter.isprintable()]
    assert "<script" not in svg


def test_long_words_are_cut_in_the_picture():
    assert "x" * 60 not in re.sub("<desc>.*</desc>", "", as_svg([Item("x" * 200)], "y"))


def test_without_igraph_the_text_form_stays(monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    assert as_text(LECTURE)
    with pytest.raises(ImportError):
        as_svg(LECTURE, "y")


def test_no_nodes_make_an_empty_picture():
    ElementTree.fromstring(as_svg([], "nothing"))
    assert as_text([]) == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("v10 = v2 * v1", "v₁₀ = v₂ * v₁"),
        ("∂v7/∂v6 v̄3", "∂v₇/∂v₆ v̄₃"),
        ("w2", "w₂"),
        ("v1x lv2 1e5", "v1x lv2 1e5"),
    ],
)
def test_nodes_have_the_lecture_s_low_numbers_and_other_names_keep_theirs(text, shown):
    assert f">{shown}</text>" in as_svg([Item(text)], "")
