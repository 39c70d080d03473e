"""Figures of a class against mathematics: discrimination in closed forms and laws, mistakes counted."""

import math
import statistics

import msgspec
import pytest
from graded import CHECKS, LAB, as_stored, detail, stored
from hypothesis import given
from hypothesis import strategies as st

from autograder.batch.record import SCHEMA, Record
from autograder.batch.store import Facts, Stored
from autograder.judging.readable import Drawn
from autograder.judging.verdicts import Verdict, result_of
from autograder.reporting.analysis import LEAST, check_figures, discrimination, recognised

PAIRS = st.lists(st.tuples(st.booleans(), st.integers(0, 140)), min_size=LEAST, max_size=60)


def test_a_check_that_splits_the_class_as_all_others_do_discriminates_fully():
    best, worst = [(True, 90)] * 7, [(False, 10)] * 13
    assert discrimination(best + worst) == pytest.approx(1)
    assert discrimination([(not passed, points) for passed, points in best + worst]) == pytest.approx(-1)


def test_discrimination_is_the_point_biserial_correlation():
    """By hand: means 2 and 1, variance 25/20, halves pass and fail, so (2 - 1) / sqrt(5/4) * 1/2."""
    passing, failing = [(True, 3), (True, 1)] * 5, [(False, 2), (False, 0)] * 5
    assert discrimination(passing + failing) == pytest.approx(1 / math.sqrt(5))
    uneven = [(True, 5)] * 4 + [(True, 1)] * 1 + [(False, 1)] * 15  # means 4.2 and 1, p = 1/4, variance 2.56
    assert discrimination(uneven) == pytest.approx(3.2 / 1.6 * math.sqrt(3 / 16))


def test_a_check_that_has_nothing_to_do_with_the_others_discriminates_nothing():
    assert discrimination([(passed, points) for passed in (True, False) for points in range(10)]) == 0


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [(True, 1), (False, 0)] * 9 + [(True, 2)],  # 19 students
        [(True, points) for points in range(30)],
        [(False, points) for points in range(30)],
        [(True, 50), (False, 50)] * 15,
    ],
    ids=["nobody", "few", "all pass", "all fail", "equal points"],
)
def test_without_students_or_variance_there_is_no_discrimination(pairs):
    assert discrimination(pairs) is None


@given(PAIRS)
def test_discrimination_is_none_exactly_without_variance_and_else_a_correlation(pairs):
    passed, points = zip(*pairs, strict=True)
    found = discrimination(pairs)
    assert (found is None) == (len(set(passed)) == 1 or len(set(points)) == 1)
    assert found is None or -1 <= found <= 1


@given(PAIRS, st.integers(1, 9), st.integers(-50, 50), st.randoms())
def test_neither_order_nor_unit_of_points_matters_and_failing_is_the_opposite_of_passing(
    pairs, scale, shift, random
):
    found = discrimination(pairs)
    other = [(passed, scale * points + shift) for passed, points in pairs]
    random.shuffle(other)
    opposite = [(not passed, points) for passed, points in pairs]
    if found is None:
        assert discrimination(other) is discrimination(opposite) is None
    else:
        assert discrimination(other) == pytest.approx(found, abs=1e-12)
        assert discrimination(opposite) == pytest.approx(-found, abs=1e-12)


@given(PAIRS, st.integers(1, 20))
def test_it_is_the_correlation_with_the_total_after_guilfords_correction(pairs, worth):
    """(r s_t - s_i) / sqrt(s_t² + s_i² - 2 r s_t s_i), r with the total that holds the check's own points."""
    found = discrimination(pairs)
    own = [worth * passed for passed, _ in pairs]
    total = [points + mine for (_, points), mine in zip(pairs, own, strict=True)]
    if found is not None and len(set(total)) > 1:
        r, s_t, s_i = statistics.correlation(own, total), statistics.pstdev(total), statistics.pstdev(own)
        corrected = (r * s_t - s_i) / math.sqrt(s_t**2 + s_i**2 - 2 * r * s_t * s_i)
        assert found == pytest.approx(corrected, abs=1e-8)


def figures(*pairs):
    """Of students who end the two checks so."""
    results = [
        result_of(LAB, CHECKS, [Verdict("one", one), Verdict("two", two)], f"s{number}", 0)
        for number, (one, two) in enumerate(pairs)
    ]
    return check_figures(results)


def test_a_checks_own_points_are_not_among_those_it_is_compared_with():
    halves = [("passed", "passed"), ("passed", "wrong"), ("wrong", "passed"), ("wrong", "wrong")]
    one, two = figures(*halves * 5)
    assert (one.title["en"], one.task["en"], one.passed, one.failed) == ("Inputs first", "Order", 10, 10)
    assert (one.percent, one.share) == (50, 0.5)
    assert one.discrimination == two.discrimination == 0


def test_what_a_person_must_decide_counts_neither_as_passed_nor_as_failed():
    one, two = figures(*[("passed", "passed"), ("wrong", "wrong")] * 10, *[("passed", "grader-fault")] * 5)
    assert (two.passed, two.decided) == (10, 20) and (one.passed, one.decided) == (15, 25)
    assert one.discrimination == two.discrimination == pytest.approx(1)
    assert [one.title["en"] for one in figures(("grader-fault", "wrong"))] == ["Gradient"]
    assert check_figures([]) == []


def test_a_hundred_percent_means_everybody():
    one, _ = figures(*[("passed", "wrong")] * 299, ("wrong", "wrong"))
    assert (one.percent, one.failed) == (99, 1)


# --- Recognised mistakes ------------------------------------------------------------------------------------

HINTS = [{"zh": "每份都要加。", "en": "Add each part."}, {"zh": "从零开始。", "en": "Begin with 0."}]


def made(student, *families, hint=0, **changes):
    """A student with diagnosed mistakes, each found in both tasks."""
    details = [
        detail(check, family=family, families=(family,), hint=HINTS[hint], **changes)
        for family in families
        for check in ("two", "one")
    ]
    return as_stored(
        result_of(LAB, CHECKS, [Verdict("one", "wrong"), Verdict("two", "wrong")], student, 0), details
    )


def test_mistakes_are_counted_by_student_commonest_first():
    found = recognised(
        [made("a", "order"), made("b", "bypass", "order"), made("c", "bypass"), made("d", "order")]
    )
    assert [(one.family, one.students) for one in found] == [("order", 3), ("bypass", 2)]
    assert [task["en"] for task in found[0].tasks] == ["Order", "Reverse"]


def test_hints_of_a_family_are_counted_too():
    (found,) = recognised([made("a", "bypass", hint=1), made("b", "bypass"), made("c", "bypass")])
    assert found.hints == [(HINTS[0], 2), (HINTS[1], 1)]


def test_where_no_family_was_named_nothing_is_recognised():
    assert recognised([]) == []
    assert recognised([stored(details=[detail()]), stored(details=[detail(families=("a", "b"))])]) == []


def test_records_from_before_there_were_diagnoses_are_read():
    one = stored(details=[detail()])
    facts = msgspec.to_builtins(one.facts)
    for name in ("family", "families", "hint"):
        del facts["details"][0][name]
    old = Stored(Record(SCHEMA, "k", {}, one.result), msgspec.convert(facts, Facts), "")
    assert recognised([old]) == []


def test_the_example_is_the_simplest_failure_whoever_made_it():
    large = made("a", "bypass", nodes=[Drawn("v1", "variable", [], "2", "1")] * 9)
    unmarked = made("b", "bypass", found=None)
    undrawn, untold = (
        made("c", "bypass", nodes=[], found=None),
        made("d", "bypass", nodes=[], program="", found=None),
    )
    marked = made("e", "bypass")
    order = [marked, large, unmarked, undrawn, untold]
    for best in range(len(order)):
        for everybody in (order[best:], order[best:][::-1]):
            (found,) = recognised(everybody)
            assert found.example in order[best].facts.details
