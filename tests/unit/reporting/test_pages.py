"""Feedback pages as a browser gets them: what they say, and what nobody can put into them."""

import itertools
import re

import msgspec
import pytest
from graded import CHECKS, COURSE, HOSTILE, LAB, WRONG, Read, as_stored, detail, law, stored, visible

from autograder.judging.details import Detail, Found, Part
from autograder.judging.readable import Drawn
from autograder.judging.verdicts import PRECEDENCE, Check, Verdict, result_of
from autograder.reporting import pages
from autograder.reporting.pages.markdown import markdown
from autograder.reporting.pages.render import render
from autograder.reporting.pages.view import view
from labkit.messages import Message


def page_of(one, name="feedback.html"):
    return pages.student_pages(COURSE, LAB, one)[name].decode()


def class_page_of(*everybody, refused=()):
    return pages.class_page(COURSE, LAB, everybody, refused).decode()


@pytest.fixture
def page():
    return page_of(stored(details=[detail()]))


def test_the_page_is_well_formed_and_every_id_is_there_once(page):
    read = Read(page)
    assert len(read.ids) == len(set(read.ids))
    targets = [attributes["href"][1:] for tag, attributes in read.tags if tag == "a"]
    assert targets and set(targets) <= set(read.ids)


def test_the_page_asks_for_nothing_from_outside_and_runs_no_script(page):
    read = Read(page)
    assert not {"script", "link", "img", "iframe", "object", "embed", "form"} & {tag for tag, _ in read.tags}
    for _, attributes in read.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "src"]
        assert attributes.get("href", "#").startswith("#")
    assert "url(" not in page and "@import" not in page
    assert "default-src 'none'" in page


def test_the_page_has_both_languages_each_named_the_first_one_first(page):
    sections = [attributes["lang"] for tag, attributes in Read(page).tags if tag == "section"]
    assert sections == ["zh", "en"]
    assert '<html lang="zh">' in page
    assert "6 / 10" not in page and "得分 4 / 10" in page and "4 of 10 points" in page


def test_the_page_follows_light_dark_phones_and_printers(page):
    for words in ("prefers-color-scheme: dark", "@media print", "max-width", 'name="viewport"'):
        assert words in page


def test_headings_go_down_without_a_step_left_out(page):
    levels = [int(tag[1]) for tag, _ in Read(page).tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 2  # one a language
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_every_picture_says_what_it_shows(page):
    svgs = re.findall(r"<svg.*?</svg>", page, re.S)
    assert len(svgs) == 2
    for svg in svgs:
        assert 'role="img"' in svg
        assert re.search("<title>[^<]+</title><desc>[^<]+</desc>", svg)


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("outcome", PRECEDENCE)
def test_total_and_what_to_do_stand_in_eight_lines(outcome, language):
    details = [detail()] if outcome == "wrong" else []
    shown = view(COURSE, LAB, stored(second=outcome, details=details), language)
    assert len(["title", "total", *shown.summary]) <= 8
    assert shown.first == "reverse"
    assert len(shown.summary) >= 3


def test_the_summary_names_the_task_why_where_and_the_next_step():
    shown = view(COURSE, LAB, stored(details=[detail()]), "en")
    lines = dict(shown.summary)
    assert lines["Look first at"] == "Reverse (0 of 6 points)"
    assert lines["Why"].startswith("lecture(x=2, graph=the graph drawn here): adjoints[1] should be 5")
    assert lines["Where"].startswith("The adjoint of v1 is 0.9; it should be 5.5.")
    assert lines["Next step"].startswith("A node's adjoint is a sum over its uses")


def test_a_task_that_fails_by_itself_comes_before_one_that_waits_for_a_person_or_a_task():
    verdicts = [Verdict("one", "grader-fault", WRONG), Verdict("two", "crashed", WRONG)]
    result = result_of(LAB, CHECKS, verdicts, "ann", 0)
    assert view(COURSE, LAB, as_stored(result), "en").first == "order"  # reverse only waits for it
    verdicts = [Verdict("one", "wrong", WRONG), Verdict("two", "wrong", WRONG)]
    result = result_of(LAB, CHECKS, verdicts, "ann", 0)
    assert view(COURSE, LAB, as_stored(result), "en").first == "order"


def test_details_are_folded_and_only_the_task_to_look_at_first_is_open():
    verdicts = [Verdict("one", "wrong", WRONG), Verdict("two", "wrong", WRONG)]
    both = as_stored(result_of(LAB, CHECKS, verdicts, "ann", 0))
    tags = Read(page_of(both)).tags
    assert [(a["id"], "open" in a) for tag, a in tags if tag == "details"] == [
        ("zh-order", True),
        ("zh-reverse", False),
        ("en-order", True),
        ("en-reverse", False),
    ]


def test_the_first_wrong_node_is_marked_in_the_picture_and_in_the_text(page):
    assert page.count('<g class="marked">') == 2
    text = visible(page)
    assert re.search(r"→ v1\s+= 2\s+adjoint 5.5, yours 0.9", text)
    assert "What arrives at v1: (-0.4) × 1 (along v2) + 0.9 × 1 (along v3) = 5.5" in text


def test_a_random_graph_is_shown_by_what_it_builds_and_not_by_numbers(page):
    text = visible(page)
    assert "a random graph of 10 rows" in text and "the graph drawn here" in text


@pytest.mark.parametrize(
    ("hints", "there", "absent"),
    [
        ("none", "The adjoint of v1", "What arrives at"),
        ("topic", "is a sum over its uses", "one path alone"),
        ("mistake", "one path alone", "is a sum over its uses"),
    ],
)
def test_hints_go_as_far_as_the_course_wants(hints, there, absent):
    course = msgspec.structs.replace(COURSE, hint_level=hints)
    shown = view(course, LAB, stored(details=[detail()]), "en")
    text = f"{shown.summary} {shown.tasks[1].checks[0].detail}"
    assert there in text and absent not in text


@pytest.mark.parametrize("hints", ["none", "topic", "mistake"])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_hint_of_a_recognised_mistake_is_told_where_the_course_tells_mistakes(hints, language):
    course = msgspec.structs.replace(COURSE, hint_level=hints)
    hint = {"zh": "几份伴随量怎样合成一份？", "en": "How do several adjoints become one?"}
    known = detail(family="bypass", families=("bypass",), hint=hint)
    shown = view(course, LAB, stored(details=[known]), language)
    assert (hint[language] in f"{shown.summary} {shown.tasks[1].checks[0].detail}") == (hints == "mistake")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_where_no_graph_tells_more_the_topic_of_a_recognised_mistake_is_told(language):
    course = msgspec.structs.replace(COURSE, hint_level="topic")
    topics = [{"zh": "还原广播", "en": "Undoing a broadcast"}, {"zh": "形状", "en": "Shapes"}]
    known = detail(found=None, families=("broadcast", "shape"), topics=topics)
    shown = view(course, LAB, stored(details=[known]), language)
    said = " / ".join(topic[language] for topic in topics)
    assert said in shown.tasks[1].checks[0].detail.next
    assert said in shown.summary[-1][1]
    silent = msgspec.structs.replace(COURSE, hint_level="none")
    assert said not in f"{view(silent, LAB, stored(details=[known]), language)}"


@pytest.mark.parametrize(
    ("hints", "next_step", "check"),
    [("mistake", "Add them up.", "three"), ("topic", "is a sum over its uses", "two")],
)
def test_the_summary_is_about_the_check_whose_mistake_was_recognised(hints, next_step, check):
    course = msgspec.structs.replace(COURSE, hint_level=hints)
    checks = [CHECKS[0], *(Check(id, "reverse", 3, CHECKS[1].title) for id in ("two", "three"))]
    verdicts = [Verdict("one", "passed"), *(Verdict(id, "wrong", law(id)) for id in ("two", "three"))]
    hint = {"zh": "加起来。", "en": "Add them up."}
    hinted = Detail("three", "", [], [], None, None, [], None, family="bypass", hint=hint)
    one = as_stored(result_of(LAB, checks, verdicts, "ann", 0), [detail(message=None), hinted])
    summary = view(course, LAB, one, "en").summary
    assert next_step in dict(summary)["Next step"] and check in dict(summary)["Why"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"kind": "structure", "expected": "1 - v1", "got": "v1 - 1"},
            "In your graph v3 is v1 - 1; it should be 1 - v1.",
        ),
        ({"kind": "value"}, "v3 = v1 * v2 has the value 0.9; it should be 5.5."),
        ({"kind": "partial", "other": "v1"}, "The local derivative of v3 = v1 * v2 by v1 is 0.9"),
        ({"kind": "tangent"}, "The tangent of v3 = v1 * v2 is 0.9"),
        ({"kind": "tangent", "parts": []}, "its direction"),
        ({"kind": "adjoint", "parts": []}, "the seed"),
        (
            {"kind": "adjoint", "got": "", "mistake": "missing"},
            "Your result holds no number for v3 = v1 * v2",
        ),
        ({"kind": "order", "other": "v1"}, "Your order has v3 before v1, although v3 = v1 * v2 uses v1."),
        ({"kind": "order", "got": "0"}, "v3 = v1 * v2 is missing from your order."),
        ({"kind": "order", "got": "2"}, "stands 2 times in your order"),
    ],
    ids=str,
)
def test_every_kind_of_wrong_node_has_its_sentence(changes, words):
    known = {"kind": "adjoint", "node": 2, "expected": "5.5", "got": "0.9", "other": "", "mistake": ""}
    found = Found(**{**known, "parts": [Part("v1", "1", "1")], **changes})
    for language in ("en", "zh"):
        shown = view(COURSE, LAB, stored(details=[detail(found=found)]), language)
        told = shown.tasks[1].checks[0].detail
        assert told.found and told.next
        if language == "en":
            assert told.found.startswith(words) or words in told.found


def test_full_points_are_short_and_need_no_details():
    page = page_of(stored(second="passed"))
    assert "<details" not in page
    assert "All checks passed." in visible(page)


@pytest.mark.parametrize("where", ["student", "message", "note", "error", "inputs", "formula", "got"])
def test_what_a_student_wrote_is_text_in_every_page(where):
    message, options, details = WRONG, {}, []
    if where == "message":
        message = law(HOSTILE)
    elif where in ("note", "error"):
        options = {"notes": [law(HOSTILE)]} if where == "note" else {"error": law(HOSTILE)}
    elif where == "inputs":
        details = [detail(inputs=[("x", HOSTILE)], smaller=[(HOSTILE, "1")])]
    elif where == "formula":
        details = [detail(nodes=[Drawn(HOSTILE, HOSTILE, [], HOSTILE, HOSTILE)] * 3)]
    elif where == "got":
        details = [detail(found=Found("structure", 0, HOSTILE, HOSTILE, HOSTILE, [], ""))]
    one = stored(message=message, details=details, **options)
    shown = [view(COURSE, LAB, one, language) for language in ("zh", "en")]
    if where == "student":
        shown = [view(COURSE, LAB, stored(HOSTILE), language) for language in ("zh", "en")]
    page, text = render("student.html", pages=shown), markdown(shown)
    read = Read(page)
    assert not {"script", "img"} & {tag for tag, _ in read.tags}
    assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]
    for content in (page, text):
        assert not [letter for letter in content if not letter.isprintable() and letter != "\n"]
    assert "alert(1)" in visible(page)


def test_the_class_page_escapes_too():
    hostile = law(HOSTILE)
    page = class_page_of(stored(message=hostile), refused=[hostile])
    assert not {"script", "img"} & {tag for tag, _ in Read(page).tags}
    assert not [letter for letter in page if not letter.isprintable() and letter != "\n"]
    assert visible(page).count("alert(1)") >= 4


def test_the_markdown_says_the_same_in_plain_form():
    text = page_of(stored(details=[detail()]), name="feedback.md").replace("\\", "")
    for words in (
        "**Look first at**: Reverse (0 of 6 points)",
        "The adjoint of v1 is 0.9; it should be 5.5.",
        "→ v1             = 2     adjoint 5.5, yours 0.9",
        "**A smaller input that fails too**: x = 2, graph = the graph drawn here",
        "**Next step**: A node's adjoint",
    ):
        assert words in text


# --- The class page ---------------------------------------------------------------------------------------


@pytest.fixture
def class_page():
    everybody = [stored(f"s{number}", second="passed") for number in range(5)]
    everybody += [stored(f"w{number}", details=[detail()]) for number in range(8)]
    everybody += [
        stored("late", "timed-out", Message("judging.timed-out-cpu", {"call": "f()", "limit": "2"}))
    ]
    everybody += [stored("open", "grader-fault", law("the disk is full"))]
    refused = [Message("intake.no-student", {"folder": "x y"})]
    return class_page_of(*everybody, refused=refused)


def test_the_class_page_counts_and_links_everybody(class_page):
    read = Read(class_page)
    links = {attributes["href"] for tag, attributes in read.tags if tag == "a"}
    assert {f"{name}/feedback.html" for name in ("s0", "w7", "late", "open")} <= links
    text = " ".join(visible(class_page).split())
    assert "15 students · median 4 of 10 · 5 with full points · 1 without a total yet" in text
    assert "9 to 10 points: 5" in text and "4 to 4 points: 9" in text


def test_the_class_page_groups_failures_by_kind_of_mistake_commonest_first(class_page):
    english = " ".join(visible(class_page.split('<section lang="en">')[1]).split())
    table = english.split("Commonest failures")[1].split("Hardest checks")[0]
    assert re.search(r"8 Reverse ✗ wrong Your number is what comes along one path alone.*and 2 more", table)
    assert table.index("8 Reverse") < table.index("1 Reverse ! timed out")
    assert "disk" not in table


def test_the_class_page_says_who_needs_a_person(class_page):
    english = " ".join(visible(class_page.split('<section lang="en">')[1]).split())
    needed = english.split("Needs a person")[1].split("Distribution")[0]
    assert "The folder “x y” was passed over" in needed
    assert "open : grader fault: " in needed and "the disk is full" in needed
    assert "late" not in needed


def test_the_class_page_tells_the_hardest_checks_and_those_that_nobody_fails(class_page):
    english = " ".join(visible(class_page.split('<section lang="en">')[1]).split())
    assert "Reverse Gradient 5 / 14" in english.split("Hardest checks")[1]
    assert "Order: Inputs first" in english.split("Checks that nobody fails")[1]


def test_an_empty_class_has_a_page():
    Read(class_page_of())


def test_names_of_students_are_quoted_in_links():
    page = class_page_of(stored("a%2F..@张"))
    assert 'href="a%252F..%40%E5%BC%A0/feedback.html"' in page
