"""How often feedback names the right mistake, and whether it names one where there is none; a mini course."""

import shutil

import pytest

from autograder.authoring.audit_diagnosis import Diagnosed, Named, diagnosed
from autograder.authoring.lookalikes import read_lookalikes
from autograder.authoring.unfinished import read_unfinished
from autograder.course import CourseError

OVERWRITTEN = '''[[lookalike]]
id = "last-writer-wins"
family = "bypass"
file = "engine.py"
blank = "reverse_mode"
body = """
adjoints = {output: seed}
for user in topological_order(output)[::-1]:
    for below, slope in zip(user.inputs, user.partials):
        adjoints[below] = slope * adjoints[user]
return adjoints
"""
'''
ZEROS = """[[lookalike]]
id = "zeros"
family = "bypass"
file = "engine.py"
blank = "reverse_mode"
body = "return dict.fromkeys(topological_order(output), 0.0)"
"""


def write(mini, text):
    (mini.lab.reference / "lookalikes.toml").write_text(text, encoding="utf-8")


def test_a_body_takes_the_place_of_the_solution(mini):
    write(mini, OVERWRITTEN)
    ((family, modules),) = read_lookalikes(mini.lab).values()
    assert family == "bypass"
    assert modules["graph.py"] == mini.solved["graph.py"]
    assert "\n    adjoints = {output: seed}\n" in modules["engine.py"]
    assert "node_to_grad" not in modules["engine.py"] and "SOLUTION" not in modules["engine.py"]


def measured(mini, level):
    return diagnosed(mini.lab, lambda: level, 1, lambda _: None, lambda: None)


def test_the_audit_counts_where_the_right_family_is_named(mini, level):
    write(mini, OVERWRITTEN + ZEROS)
    told = measured(mini, level)
    data = told.as_data()
    assert (data["right"], data["total"]) == (data["total"], data["total"])
    assert data["total"] > 0
    assert (data["right_code"], data["hints_on_right_code"]) == (4, 0)  # an alternate, three blanks left
    assert data["lookalikes"] == {"right": 1, "total": 2, "missed": ["lookalike.zeros"]}
    _, others, right = told.figures()
    assert others == ("files that are no mutants whose family is named", "1 of 2", "lookalike.zeros: nothing")
    assert right == ("right solutions, whole or with a blank left, that get a hint", "none of 4", "")
    (defect,) = told.defects()
    assert defect.startswith("work of lookalikes.toml: the right family is named in 1 of 2, must be in 70 %.")


def test_each_blank_is_left_once_and_all_else_is_right(mini):
    made = dict(read_unfinished(mini.lab))
    assert list(made) == [
        "the reference without square",
        "recursive without topological_order",
        "the reference without reverse_mode",
    ]
    square, order, reverse = ("".join(modules.values()) for modules in made.values())
    assert ("2 * a.value" in square, "stack.pop" in square, "node_to_grad" in square) == (False, True, True)
    assert ("2 * a.value" in order, "visit(" in order, "node_to_grad" in order) == (True, False, True)
    assert ("2 * a.value" in reverse, "stack.pop" in reverse, "node_to_grad" in reverse) == (
        True,
        True,
        False,
    )
    for text in (square, order, reverse):
        assert text.count("raise NotImplementedError") == 1 and "SOLUTION" not in text


UNWRITTEN = """
[[mutant]]
id = "not-written"
family = "unwritten"
file = "graph.py"
text = "return Node(a.value * a.value, (a,), (2 * a.value,))"
replacement = "return Node(1.0, (), (1.0,))"
tasks = ["square"]
hint = { zh = "想一想。", en = "Think." }
"""


def test_a_hint_on_work_that_is_only_unfinished_is_found(mini, level):
    """Here a program answers for a blank, and a mutant answers the same."""
    with (mini.lab.reference / "mutants.toml").open("a", encoding="utf-8") as file:
        file.write(UNWRITTEN)
    mini.edit(
        "reference/lab0_chains/grading/programs.py",
        "    node = lab.graph.square(lab.graph.variable(x))\n",
        "    try:\n        node = lab.graph.square(lab.graph.variable(x))\n"
        "    except NotImplementedError:\n        node = lab.graph.Node(1.0, (), (1.0,))\n",
    )
    told = measured(mini, level)
    assert [one.named for one in told.right] == [(), ("unwritten",), (), ()]
    assert told.as_data()["hints_on_right_code"] == 1
    assert list(told.defects()) == [
        "the reference without square holds no mistake, and gets the hint of unwritten. Mend that mutant."
    ]


def found(rightly, total):
    return tuple(Named(str(n), "bypass", ("bypass",) if n < rightly else ()) for n in range(total))


@pytest.mark.parametrize(
    ("remade", "lookalikes", "lines"),
    [
        (found(9, 10), found(7, 10), []),
        (found(9, 10), (), []),
        (found(89, 100), found(69, 100), ["mistakes remade in alternates: ", "work of lookalikes.toml: "]),
        ((), found(1, 1), ["no mutant could be made again in an alternate: "]),
    ],
)
def test_too_few_that_are_named_rightly_are_a_defect(remade, lookalikes, lines):
    said = list(Diagnosed(remade, lookalikes, ()).defects())
    assert len(said) == len(lines)
    assert all(one.startswith(line) for one, line in zip(said, lines, strict=True))


def test_a_lab_whose_mutants_fit_into_no_alternate_is_told(mini, level):
    shutil.rmtree(mini.lab.reference / "alternates")
    assert any("made again" in line for line in measured(mini, level).defects())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"bypass"', '"unheard-of"', "no mutant is of the family unheard-of"),
        ('"reverse_mode"', '"forward_mode"', "engine.py has no forward_mode"),
        ('"engine.py"', '"motor.py"', "motor.py has no reverse_mode"),
    ],
)
def test_what_fits_nowhere_is_named(mini, old, new, said):
    write(mini, OVERWRITTEN.replace(old, new))
    with pytest.raises(CourseError, match=said):
        read_lookalikes(mini.lab)


def test_an_id_stands_there_once(mini):
    write(mini, ZEROS + ZEROS)
    with pytest.raises(CourseError, match=r"zeros.*twice"):
        read_lookalikes(mini.lab)
