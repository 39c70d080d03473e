"""draw.sweep: its numbers are the chain rule's, its steps are told, and a student's gaps do no harm."""

import math
import re
import time
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit import draw


@pytest.fixture
def running(lab1):
    x1, x2 = lab1.graph.variable(2.0, "x1"), lab1.graph.variable(5.0, "x2")
    return lab1.graph.log(x1) + x1 * x2 - lab1.graph.sin(x2), x1, x2


def last_number(step):
    return float(re.search(r"= (\S+)$", step.now)[1])


def test_forward_goes_from_inputs_to_the_output(running):
    y, x1, x2 = running
    steps = draw.sweep(y, "forward", inputs=[x1, x2], direction=[1.0, 0.0], language="en").steps
    assert [step.name for step in steps] == [f"v{k}" for k in range(1, 8)]
    assert [last_number(step) for step in steps] == [1, 0, 0.5, 5, 0, 5.5, 5.5]
    assert steps[3].lines == (
        "v4 = v1 * v2 = 10",
        "v̇4 = ∂v4/∂v1 · v̇1 + ∂v4/∂v2 · v̇2 = 5 × 1 + 2 × 0 = 5",
    )


def test_reverse_adds_each_contribution_and_shows_the_sum_over_a_bypass(running):
    steps = draw.sweep(running[0], "reverse", language="en").steps
    assert steps[0].lines == ("v̄7 = 1  (seed)",)
    assert steps[1].lines == ("v̄6 += ∂v7/∂v6 · v̄7 = 1 × 1 = 1",)
    assert [step.now for step in steps if step.name == "v1"] == ["v̄1 = 5 + …", "v̄1 = 5.5"]
    assert steps[-1].lines == (
        "v̄1 += ∂v3/∂v1 · v̄3 = 0.5 × 1 = 0.5",
        "bypass: used 2 times, the sum: v̄1 = 5 + 0.5 = 5.5",
    )
    found = {step.name: last_number(step) for step in steps if "…" not in step.now}
    assert found["v2"] == pytest.approx(2 - math.cos(5), abs=1e-4)


@given(st.lists(st.sampled_from(["+", "-", "*", "sin", "exp", "tanh"]), min_size=1, max_size=8), st.data())
def test_both_modes_end_with_the_engine_s_numbers(lab1, operations, data):
    graph = lab1.graph
    inputs = nodes = [graph.variable(0.7, "x1"), graph.variable(-0.4, "x2")]
    for operation in operations:
        a, b = (data.draw(st.sampled_from(nodes)) for _ in range(2))
        binary = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}.get(operation)
        nodes = [*nodes, binary(a, b) if binary else getattr(graph, operation)(a)]
    y = nodes[-1]
    adjoints = lab1.engine.reverse_mode(y, 2.0)
    reverse = draw.sweep(y, "reverse", seed=2.0)
    for x in inputs:
        place = reverse.nodes.find(x)
        if place is not None:
            ends = [step for step in reverse.steps if step.place == place]
            assert last_number(ends[-1]) == pytest.approx(adjoints[x], rel=1e-3, abs=1e-6)
    direction = [0.5, -1.0]
    (tangent,) = lab1.engine.forward_mode(y, inputs, direction)
    forward = draw.sweep(y, "forward", inputs=inputs, direction=direction)
    assert last_number(forward.steps[forward.nodes.find(y)]) == pytest.approx(tangent, rel=1e-3, abs=1e-6)


def test_a_node_that_an_operation_uses_twice_gets_two_contributions(lab1):
    x = lab1.graph.variable(3.0, "x")
    sweep = draw.sweep(x * x, "reverse", language="en")
    assert [line for step in sweep.steps for line in step.lines] == [
        "v̄2 = 1  (seed)",
        "v̄1 += ∂v2/∂(1) · v̄2 = 3 × 1 = 3",
        "v̄1 += ∂v2/∂(2) · v̄2 = 3 × 1 = 3",
        "bypass: used 2 times, the sum: v̄1 = 3 + 3 = 6",
    ]
    svg = ElementTree.fromstring(re.search("<svg.*?</svg>", sweep.html)[0])
    lit = [
        group.get("data-on")
        for group in svg.iter("{http://www.w3.org/2000/svg}g")
        if group.get("class") == "edge"
    ]
    assert lit == ["1", "2"]


def test_a_table_has_a_table_for_its_adjoint(lab1):
    table = lab1.graph.table({"Cat": 2.0, "Dog": 3.0})
    steps = draw.sweep(3 * lab1.graph.lookup(table, "Cat"), "reverse").steps
    assert steps[-1].now == "v̄1 = {'Cat': 3}"


def test_several_outputs_take_one_seed_each(lab1):
    x = lab1.graph.variable(3.0, "x")
    outputs = [x * 2, x * 5]
    assert draw.sweep(outputs, "reverse", seed=[1.0, 10.0]).steps[-1].now == "v̄1 = 52"
    with pytest.raises(ValueError, match="2 outputs need one seed or 2, not 3"):
        draw.sweep(outputs, "reverse", seed=[1.0, 2.0, 3.0], language="en")


def test_an_input_held_fixed_adds_nothing_even_beside_a_nan(lab1):
    x, exponent = lab1.graph.variable(-2.0, "x"), lab1.graph.variable(3.0, "n")
    sweep = draw.sweep(x**exponent, "forward", inputs=[x, exponent], direction=[1.0, 0.0])
    assert sweep.steps[-1].now == "v̇3 = 12"


def unfilled(*_):
    raise NotImplementedError


def broken(*_):
    raise KeyError


@pytest.mark.parametrize(
    ("partials", "note"),
    [
        (unfilled, "f: partials isn't written yet"),
        (broken, "f: partials raised KeyError"),
        (lambda *_: 3.0, "f: partials should give a tuple of 1"),
        (lambda *_: (1.0, 2.0), "f: partials should give a tuple of 1"),
        (lambda *_: ("a",), "f: partials should give a tuple of 1"),
        (None, "f has no partials"),
    ],
)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_gap_in_a_student_s_operation_is_drawn_as_such(partials, note, mode):
    op = SimpleNamespace(name="f", compute=lambda a: a + 1)
    if partials:
        op.partials = partials
    x = SimpleNamespace(name="x", op=None, inputs=(), value=2.0)
    y = SimpleNamespace(name=None, op=op, inputs=(x,), value=99.0)
    sweep = draw.sweep(y, mode, language="en")
    (told,) = sweep.notes
    assert told.startswith(note)
    assert told in sweep.text
    assert sweep.steps[-1].now.endswith("= ?")
    assert "= 3</text>" in sweep.html  # by compute, whatever the node says


def test_wrong_arguments_are_told_in_a_line(running):
    y, x1, x2 = running
    with pytest.raises(ValueError, match='mode is "forward" or "reverse", not \'back\''):
        draw.sweep(y, "back", language="en")
    with pytest.raises(ValueError, match="2 inputs need 2 numbers of direction, not 1"):
        draw.sweep(y, "forward", inputs=[x1, x2], direction=[1.0], language="en")


def test_a_deep_graph_folds_and_its_hidden_steps_are_counted(lab1):
    l = lab1.graph.variable(0.3, "l1")
    for _ in range(400):
        l = 4 * l * (1 - l)
    sweep = draw.sweep(l, "reverse", language="en")
    hidden = re.search(r"<td>(\d+) steps at nodes that are not drawn</td>", sweep.html)
    rows = sweep.html.count("<tr data-count=")
    assert int(hidden[1]) + rows - 1 == len(sweep.steps)
    assert rows < 120


def test_the_page_is_self_contained_and_its_bytes_depend_on_the_input_alone(running):
    first, second = (draw.sweep(running[0], "reverse").html for _ in range(2))
    assert first == second
    assert " id=" not in first
    assert "http" not in first.replace("http://www.w3.org/2000/svg", "")
    assert first.count("<tr data-count=") == 9


def test_without_a_script_the_last_numbers_are_the_visible_ones(running):
    svg = ElementTree.fromstring(re.search("<svg.*?</svg>", draw.sweep(running[0], "reverse").html)[0])
    texts = [text for text in svg.iter("{http://www.w3.org/2000/svg}text") if text.get("class") == "moving"]
    assert {text.text for text in texts if text.get("visibility") is None} >= {"v̄₁ = 5.5", "v̄₇ = 1"}
    assert [text.text for text in texts if text.get("visibility")] == ["v̄₁ = 5 + …", "v̄₂ = -0.28366 + …"]


def test_hostile_names_stay_words(lab1):
    name = "</td></script><script>alert(1)</script>\u202e\x07"
    x = lab1.graph.variable(3.0, name)
    sweep = draw.sweep(x * x, "forward", title=name)
    assert "<script>alert" not in sweep.html
    assert all(letter.isprintable() or letter == "\n" for letter in sweep.html + sweep.text)


def test_a_value_used_ten_thousand_times_is_summed_in_seconds(lab1):
    x = lab1.graph.variable(1.0, "x")
    y = x
    for _ in range(10_000):
        y = y + x
    begin = time.perf_counter()
    sweep = draw.sweep(y, "reverse", language="en")
    assert len(sweep.html) < 1_000_000
    assert time.perf_counter() - begin < 5
    assert sweep.steps[-1].lines[-1] == (
        "bypass: used 10001 times, the sum: v̄1 = 1 + 1 + 1 + 1 + … + 1 + 1 + 1 + 1 = 10001"
    )
