"""Slides and the class page's analysis as a browser gets them: figures, topics, and nobody's text."""

import itertools
import re

import msgspec
import pytest
from graded import CHECKS, COURSE, HOSTILE, LAB, WRONG, Read, as_stored, detail, law, visible

from autograder.course import CourseError
from autograder.judging.details import Found
from autograder.judging.readable import Drawn
from autograder.judging.verdicts import Verdict, result_of
from autograder.reporting import pages
from autograder.reporting.pages.drawing import anonymous
from labkit.messages import Message

TITLES = '[family]\nbypass = { zh = "旁路处的累加", en = "Adding up at a bypass" }\n'
MUTANT = """
[[mutant]]
id = "overwritten"
family = "bypass"
file = "graph.py"
text = "a"
replacement = "b"
tasks = ["reverse"]
hint = { zh = "提示", en = "Hint" }
"""
HANDOUT = {
    "en": r"""# Scalars
## Common slips

| you may think | in fact |
|---|---|
| The last part is `all <b>`. | Each of the $2^{40}$ parts counts. <!-- mistakes: bypass, order --> |
| Nobody thinks so. | Right. |
""",
    "zh": """## 误解

| 以为 | 其实 |
|---|---|
| 最后一份就是全部。 | 每份都算。 <!-- mistakes: bypass --> |
""",
}
HINT = {"zh": "每份都要加。", "en": "Add each part."}


@pytest.fixture
def course(tmp_path):
    """A course with a handout and titles of mistakes."""
    for language, text in HANDOUT.items():
        (tmp_path / "handouts" / language).mkdir(parents=True)
        (tmp_path / "handouts" / language / "lab0.md").write_text(text, encoding="utf-8")
    reference = tmp_path / "reference" / "lab0"
    reference.mkdir(parents=True)
    (reference / "mutants.toml").write_text(TITLES + MUTANT, encoding="utf-8")
    lab = msgspec.structs.replace(LAB, reference=reference)
    return msgspec.structs.replace(COURSE, root=tmp_path, labs=(lab,))


def made(student, family="bypass", first="passed", message=WRONG, **changes):
    """A student whose mistake was recognised."""
    verdicts = [Verdict("one", first, message), Verdict("two", "wrong", message)]
    known = detail(family=family, families=(family,), hint=HINT, **changes)
    return as_stored(result_of(LAB, CHECKS, verdicts, student, 0), [known])


def right(student):
    return as_stored(result_of(LAB, CHECKS, [Verdict("one", "passed"), Verdict("two", "passed")], student, 0))


def class_of(course, many=4):
    return [made(f"w{number}") for number in range(many)] + [
        right(f"r{number}") for number in range(21 - many)
    ]


def slides_of(course, everybody):
    return pages.slides_page(course, course.labs[0], everybody).decode()


def class_page_of(course, everybody):
    return pages.class_page(course, course.labs[0], everybody).decode()


def english(page):
    return " ".join(visible(page.split('<section lang="en">')[1]).split())


def test_slides_are_well_formed_in_both_languages_and_ask_for_nothing_from_outside(course):
    page = slides_of(course, class_of(course))
    read = Read(page)
    assert [attributes["lang"] for tag, attributes in read.tags if tag == "section"] == ["zh", "en"]
    assert not {"script", "link", "img", "iframe", "form", "a"} & {tag for tag, _ in read.tags}
    assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]
    assert "url(" not in page and "@import" not in page and "default-src 'none'" in page
    for words in ("prefers-color-scheme: dark", "@media print", "@page", "max-width", "scroll-snap-type"):
        assert words in page
    levels = [int(tag[1]) for tag, _ in read.tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 2
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    for svg in re.findall(r"<svg.*?</svg>", page, re.S):
        assert re.search("<title>[^<]+</title><desc>[^<]+</desc>", svg)


def test_a_mistake_has_its_topic_count_graph_and_the_handouts_row(course):
    page = slides_of(course, class_of(course))
    text = english(page).split("Adding up at a bypass")[1]
    assert "4 of 21 students · Reverse" in text
    assert "the arrow marks the first wrong node" in text and "→ v₁" in text
    assert "adjoint 5.5" in text and "answered 0.9" in text
    assert "you may think The last part is all <b> ." in text and "Handout, Common slips" in text
    assert "<code>all &lt;b&gt;</code>" in page and "<msup>" in page and "$2" not in page
    assert "Nobody thinks so" not in text
    assert "旁路处的累加" in page and "以为</span> 最后一份就是全部。" in page


def test_slides_tell_pass_rates_discrimination_and_what_everybody_and_nobody_passes(course):
    text = english(slides_of(course, class_of(course)))
    assert "Order 100 % Reverse 80 %" in text
    assert "Everybody passes Inputs first Order" in text
    assert (
        "What was hard check passed discrimination Gradient Reverse 80 % –" in text
    )  # equal points elsewhere
    nobody = [made(f"w{number}", first="wrong" if number % 2 else "passed") for number in range(20)]
    text = english(slides_of(course, nobody))
    assert "Nobody passes yet Gradient Reverse" in text and "Everybody passes" not in text
    mixed = nobody + [right(f"r{number}") for number in range(5)]
    assert re.search(r"Inputs first Order 60 % \+0\.\d\d", english(slides_of(course, mixed)))


def test_what_fewer_than_three_did_is_not_shown(course):
    for many, there in ((2, False), (3, True)):
        text = english(slides_of(course, class_of(course, many)))
        assert ("Adding up at a bypass" in text) is ("What was hard" in text) is there
    few = english(slides_of(course, [made("a"), made("b")]))
    assert "2 students" in few and "would point at somebody" in few
    assert "%" not in few and "Gradient" not in few and "Adding" not in few
    Read(slides_of(course, []))


@pytest.mark.parametrize("page_of", [slides_of, class_page_of])
def test_large_graphs_are_cut_to_what_lies_around_the_mark(course, page_of):
    """A chain of 30 nodes with 10 more that use the first one."""
    chain = [Drawn("v1", "variable", [], "1", "")]
    chain += [Drawn(f"v{n + 1}", f"sin(v{n})", [n - 1], "1", "") for n in range(1, 30)]
    chain += [Drawn(f"v{n + 1}", "cos(v1)", [0], "1", "") for n in range(30, 40)]
    found = Found("value", 20, "1", "2", "", [], "")
    page = page_of(course, [made(name, nodes=chain, found=found) for name in "abc"])
    (svg, _) = re.findall(r"<svg[^>]*class=\"graph\".*?</svg>", page, re.S)
    assert svg.count("<g class=") - svg.count('<g class="edge"') == 8
    assert svg.count('<g class="edge"') == 7 and "cos" not in svg and "→ v₂₁" in svg


def test_without_a_graph_the_smallest_failing_call_is_shown(course):
    text = english(slides_of(course, [made(name, nodes=[], found=None) for name in "abc"]))
    assert "It shows in this call lecture(x=2, graph=a random graph of 1 rows)" in text


def test_hints_go_as_far_as_the_course_wants(course):
    everybody = class_of(course)
    for level, there in (("none", False), ("topic", False), ("mistake", True)):
        told = msgspec.structs.replace(course, hint_level=level)
        assert ("Next step: Add each part." in english(slides_of(told, everybody))) is there
        assert "Add each part. 4" in english(class_page_of(told, everybody))  # which students don't see
    unquoted = english(slides_of(course, [made(name, family="unheard-of") for name in "abc"]))
    assert "unheard-of 3 of 3 students" in unquoted and "Next step: A node's adjoint is a sum" in unquoted


def test_nobodys_name_id_or_text_is_on_the_slides(course):
    mark = "Xq7hostile"
    text = f"{mark} {HOSTILE}"
    hostile = Message("judging.wrong-value", {**WRONG.arguments, "call": text, "got": text, "quantity": text})
    everybody = []
    for number, kind in enumerate(("structure", "value", "partial", "tangent", "adjoint", "order") * 4):
        one = made(
            f"{mark}-{number}",
            message=law(text) if number % 2 else hostile,
            found=Found(kind, number % 3, "1", text, "v1", [], ""),
            reports=[hostile, law(text)],
        )
        detailed = msgspec.structs.replace(one.facts.details[0], message=hostile)
        result = msgspec.structs.replace(
            one.result, error=law(text) if number == 5 else None, notes=[law(text)]
        )
        everybody.append(as_stored(result, [detailed]))
    for level in ("none", "topic", "mistake"):
        told = msgspec.structs.replace(course, hint_level=level)
        page = slides_of(told, everybody)
        assert all(mark not in str(anonymous(one.facts.details[0], level, "en")) for one in everybody)
        assert mark not in page and "alert" not in page and "evil" not in page
        assert "Adding up at a bypass" in page
        assert not {"script", "img"} & {tag for tag, _ in Read(page).tags}
        analysis = class_page_of(told, everybody).split("Common mistakes")[1].split("Everybody")[0]
        assert mark not in analysis


@pytest.mark.parametrize("got", ["0.9", "-2.5e-07", "1e+22", "nan", "-inf", "3"])
def test_a_wrong_number_is_shown(course, got):
    found = Found("adjoint", 0, "5.5", got, "", [], "")
    assert f"answered {got}" in english(slides_of(course, [made(name, found=found) for name in "abc"]))


def test_the_class_page_tells_checks_in_figures(course):
    everybody = [made(f"w{n}", first="passed") for n in range(6)] + [
        made(f"b{n}", first="wrong") for n in range(2)
    ]
    everybody += [right(f"r{n}") for n in range(20)]
    page = class_page_of(course, everybody)
    text = english(page)
    assert len(Read(page).ids) == len(set(Read(page).ids))
    assert 'href="slides.html"' in page
    checks = text.split("Hardest checks")[1]
    assert re.search(
        r"Reverse Gradient 20 / 28 \+0\.\d\d Order Inputs first 26 / 28 \+0\.\d\d All 2 checks", checks
    )
    assert "It is calculated from 20 students on." in text
    assert "Every check is failed by somebody." in text and "Every check is passed by somebody." in text
    assert "Checks to read again" not in text
    nobody = english(class_page_of(course, [made("a"), made("b")]))
    assert "Checks that nobody passes 1 Reverse: Gradient" in nobody
    assert "2 of 2 students" in nobody and "–" in nobody


def test_checks_that_the_better_students_fail_are_to_be_read_again(course):
    odd = [
        result_of(LAB, CHECKS, [Verdict("one", "passed"), Verdict("two", "wrong")], f"a{n}", 0)
        for n in range(10)
    ]
    odd += [
        result_of(LAB, CHECKS, [Verdict("one", "wrong"), Verdict("two", "passed")], f"b{n}", 0)
        for n in range(10)
    ]
    page = class_page_of(course, list(map(as_stored, odd)))
    again = english(page).split("Checks to read again")[1].split("Hardest checks")[0]
    assert "Order Inputs first 10 / 20 −1.00" in again
    assert '<td class="number negative">−1.00' in page


def test_without_diagnoses_titles_or_a_handout_the_pages_are_whole():
    everybody = [as_stored(made(name).result, [detail()]) for name in "abc"]
    text = english(class_page_of(COURSE, everybody))
    assert "No typical mistake was recognised." in text
    Read(slides_of(COURSE, everybody))
    assert "bypass 3 of 3 students" in english(slides_of(COURSE, [made(name) for name in "abc"]))


def test_a_table_of_mistakes_that_cant_be_read_is_named(course):
    (course.labs[0].reference / "mutants.toml").write_text(
        "[family]\nbypass = 1\n" + MUTANT, encoding="utf-8"
    )
    with pytest.raises(CourseError, match=r"mutants\.toml: family"):
        slides_of(course, [])


def test_a_handout_that_cant_be_read_quotes_nothing(course):
    (course.root / "handouts/en/lab0.md").write_bytes(b"\xff")
    (course.root / "handouts/zh/lab0.md").write_text(
        "| a | b |\n|---|---|\n| $\\frac{$ | c <!-- mistakes: bypass --> |\n", encoding="utf-8"
    )
    page = slides_of(course, class_of(course))
    assert "Common slips" not in page and r"$\frac{$" in page
