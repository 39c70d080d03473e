"""Which typical mistake was made, told by answers: a class of the mini course, graded by real workers."""

import itertools
import os
import re

import msgspec
import pytest

from autograder import key
from autograder.judging.remembered import Remembered
from autograder.judging.testimony import Said

MUTANTS = "reference/lab0_chains/mutants.toml"
POWER = "test_engine.py::test_gradient_of_a_power"
BYPASS = {"zh": "收到几份伴随量，要加起来。", "en": "Several adjoints add up."}

# Other code than the mutant's, with its mistake: what a node gets last is all that it gets.
OVERWRITTEN = """
    adjoints = {output: seed}
    order = topological_order(output)
    for place in range(len(order) - 1, -1, -1):
        user = order[place]
        for which in range(len(user.inputs)):
            adjoints[user.inputs[which]] = adjoints[user] * user.partials[which]
    return adjoints
"""
ALWAYS_THREE = (
    "    return dict.fromkeys(topological_order(output), 3.0)"  # at x = 3, n = 2 what OVERWRITTEN gives
)
SQUARE_BY_ITSELF = "    x = a.value\n    return Node(x ** 2, (a,), (x,))"
# Each of these is a mistake of nobody's.
HOSTILE = {
    "huge": "    return dict.fromkeys(topological_order(output), 1e308 * 10)",
    "largest": "    return dict.fromkeys(topological_order(output), 1.7e308)",
    "no-number": "    return dict.fromkeys(topological_order(output), float('nan'))",
    "never-the-same": "    import random\n    return {k: random.random() for k in topological_order(output)}",
    "long-text": "    return dict.fromkeys(topological_order(output), 'x' * 10**6)",
    "deep": "    raise ValueError('adjoint ' * 10**5)",
    "floods": "    return dict.fromkeys(topological_order(output), [1.0] * 10**5)",
}
ANOTHER = """
[[mutant]]
id = "sum-begun-anew"
family = "another"
file = "engine.py"
text = "node_to_grad.get(one, 0.0) + partial"
replacement = "0.0 + partial"
tasks = ["reverse"]
hint = { zh = "想一想。", en = "Think." }
"""


def filled(text, blank, body):
    """A skeleton with a body in one blank."""
    return re.sub(rf"(def {blank}\(.*\n.*\n)    # YOUR CODE HERE\n.*\n", rf"\1{body}\n", text)


def hand_in_engine(course, student, body):
    course.hand_in(student, engine=filled(course.skeleton["engine.py"], "reverse_mode", body))


def diagnoses(graded, student):
    """The details of a student in which a family is named, as they are stored."""
    return [one for one in graded.file(student, "facts.json")["details"] if one["families"]]


def named(graded, student):
    return {one["family"] for one in diagnoses(graded, student)}


def ids_of_one_variant(student, count=2):
    """Further ids with the variant of the first."""
    secret = key.load_key()
    ids = (f"{student}-{number}" for number in itertools.count())
    wanted = key.variant_of(secret, student)
    return list(itertools.islice((id for id in ids if key.variant_of(secret, id) == wanted), count))


@pytest.fixture(scope="module")
def course(mini_course, tmp_path_factory):
    return mini_course(tmp_path_factory.mktemp("diagnosis") / "course")


@pytest.fixture(scope="module")
def graded(course):
    course.hand_in("right")
    course.hand_in("untouched", graph=course.skeleton["graph.py"], engine=course.skeleton["engine.py"])
    recursive = course.lab.reference / "alternates/recursive/engine.py"
    course.hand_in("right-otherwise", engine=recursive.read_text(encoding="utf-8"))
    course.hand_in(
        "square",
        graph=course.solved["graph.py"].replace(
            "    return Node(a.value * a.value, (a,), (2 * a.value,))", SQUARE_BY_ITSELF
        ),
    )
    hand_in_engine(course, "overwritten", OVERWRITTEN)
    hand_in_engine(course, "always-three", ALWAYS_THREE)
    hand_in_engine(course, "halved", OVERWRITTEN.replace("adjoints[user] *", "0.5 * adjoints[user] *"))
    for student, body in HOSTILE.items():
        hand_in_engine(course, student, body)
    return course.grade()


def test_a_mistake_in_code_that_is_no_mutants_gets_the_hint_of_its_family(graded):
    (found,) = diagnoses(graded, "overwritten")
    assert (found["family"], found["families"], found["hint"]) == ("bypass", ["bypass"], BYPASS)
    assert found["check"] == POWER
    assert named(graded, "square") == {"local"}  # one check: the inputs of another variant bear it out


@pytest.mark.parametrize("student", ["right", "right-otherwise", "untouched"])
def test_code_without_a_mistake_gets_no_hint(graded, student):
    assert diagnoses(graded, student) == []


def test_one_call_that_agrees_is_not_enough(graded):
    assert graded.outcomes("always-three")[-1] == "wrong"
    assert diagnoses(graded, "always-three") == []


def test_another_mistake_in_the_same_place_is_not_taken_for_a_known_one(graded):
    assert diagnoses(graded, "halved") == []


@pytest.mark.parametrize("student", HOSTILE)
def test_hostile_answers_get_no_hint_and_cost_nobody_anything(graded, student):
    assert graded.outcomes(student)[:2] == ["passed", "passed"]
    assert graded.outcomes(student)[-1] in ("wrong", "crashed", "malformed-reply")
    assert diagnoses(graded, student) == []
    assert graded.class_.complete
    assert len(str(graded.file(student, "facts.json"))) < 20_000


def test_of_two_families_that_both_fit_none_is_named(mini):
    with (mini.root / MUTANTS).open("a", encoding="utf-8") as file:
        file.write(ANOTHER)
    hand_in_engine(mini, "overwritten", OVERWRITTEN)
    (found,) = diagnoses(mini.grade(), "overwritten")
    assert (found["family"], found["families"], found["hint"]) == ("", ["bypass", "another"], {})


def test_changed_given_code_that_only_a_check_without_points_sees_is_recognised(mini):
    with (mini.root / MUTANTS).open("a", encoding="utf-8") as file:
        file.write(
            ANOTHER.replace("sum-begun-anew", "product-off-by-one")
            .replace("another", "given")
            .replace("engine.py", "graph.py")
            .replace("node_to_grad.get(one, 0.0) + partial", "a.value * b.value, (a, b)")
            .replace("0.0 + partial", "a.value * b.value + 1, (a, b)")
            .replace('["reverse"]', '["square"]')
        )
    given = mini.solved["graph.py"].replace("a.value * b.value, (a, b)", "1 + b.value * a.value, (a, b)")
    mini.hand_in("ann", graph=given)
    assert "given" in named(mini.grade(), "ann")


def remembered(course):
    """The files of mutants' answers."""
    return sorted((course.out / course.lab.id / ".diagnosis").glob("*/*"))


def test_what_mutants_answer_is_computed_once_and_forgotten_when_they_change(mini):
    first, second, third = "ann", *ids_of_one_variant("ann")
    hand_in_engine(mini, first, OVERWRITTEN)
    assert named(mini.grade(), first) == {"bypass"}
    for file in remembered(mini):  # as if mutants were right: nobody is like them any more
        known = msgspec.msgpack.decode(file.read_bytes())
        file.write_bytes(msgspec.msgpack.encode({mutant: [] for mutant in known}))
    hand_in_engine(mini, second, OVERWRITTEN)
    assert named(mini.grade(), second) == set()

    mini.edit(MUTANTS, "Several adjoints add up.", "Add them up.")
    hand_in_engine(mini, third, OVERWRITTEN)
    graded = mini.grade()
    assert [one["hint"]["en"] for one in diagnoses(graded, third)] == ["Add them up."]
    assert len({file.parent for file in remembered(mini)}) == 1


@pytest.mark.parametrize("content", [b"", b"\x00", b"\x81\xa1a"])
def test_answers_that_cannot_be_read_are_computed_again(mini, content):
    first, second = "ann", *ids_of_one_variant("ann", 1)
    hand_in_engine(mini, first, OVERWRITTEN)
    mini.grade()
    for file in remembered(mini):
        file.write_bytes(content)
    hand_in_engine(mini, second, OVERWRITTEN)
    assert named(mini.grade(), second) == {"bypass"}


def test_ctrl_c_leaves_the_answers_of_before_and_no_half_of_new_ones(tmp_path, monkeypatch):
    answer = Said("call", "", "raised ValueError", [])
    first = Remembered(tmp_path)
    first.of("check", 3)["mutant"] = [answer]
    first.keep("check", 3)

    def interrupted(*_):
        raise KeyboardInterrupt

    second = Remembered(tmp_path)
    second.of("check", 3)["other"] = []
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(os, "replace", interrupted)
        second.keep("check", 3)
    assert [path.name for path in tmp_path.iterdir()] == ["check.3"]
    assert Remembered(tmp_path).of("check", 3) == {"mutant": [answer]}


def test_what_a_killed_grader_left_unfinished_is_removed(mini):
    hand_in_engine(mini, "ann", OVERWRITTEN)
    mini.grade()
    left = remembered(mini)[0].with_name("half.unfinished")
    left.write_bytes(b"half")
    hand_in_engine(mini, "bob", OVERWRITTEN)
    mini.grade()
    assert not left.exists()
