"""What READMEs and docs claim is so: the sample class's grades, the commands, the paths, the links."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.reporting.table import SIGNS

ROOT = Path(__file__).parents[3]
LABS = ("lab1", "lab2")
READMES = ("README.md", "README.zh-CN.md")
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "examples/*.md",
        "handouts/**/*.md",
        "labs/**/*.md",
        "reference/**/*.md",
    )
    for path in ROOT.glob(pattern)
)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    """The fenced blocks of a page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", read(name), re.M | re.S)


def transcript(name: str) -> str:
    (block,) = blocks(name, "console")
    return block


def table(name: str, lab: str) -> str:
    """What a transcript shows of one lab."""
    (found,) = [one for one in re.split(r"^(?=lab\d )", transcript(name), flags=re.M) if one.startswith(lab)]
    return found


@pytest.mark.parametrize("lab", LABS)
@pytest.mark.parametrize("name", READMES)
def test_the_transcript_shows_the_points_and_outcomes_that_the_sample_class_has(name, lab):
    everybody = tomllib.loads(read("examples/expected.toml"))
    expected = {student: labs[lab] for student, labs in everybody.items() if lab in labs}
    tasks = [task.id for task in load_course(ROOT).lab(lab).tasks]
    wanted = {
        student: [str(one["points"]), *(SIGNS[one["outcomes"][task]] for task in tasks)]
        for student, one in expected.items()
    }
    lines = [line.split()[: 2 + len(tasks)] for line in table(name, lab).splitlines()]
    shown = {words[0]: words[1:] for words in lines if words and words[0] in expected}
    assert shown == {student: wanted[student] for student in shown}
    assert {sign for _, *signs in shown.values() for sign in signs} == {
        sign for _, *signs in wanted.values() for sign in signs
    }
    assert f"\n… {len(expected) - len(shown)} more\n" in table(name, lab)
    assert f"\n{len(expected)} graded at level full.\n" in table(name, lab)


@pytest.mark.parametrize("lab", LABS)
@pytest.mark.parametrize("name", READMES)
def test_the_transcript_names_the_labs_tasks_and_their_points(name, lab):
    tasks = "  ".join(
        f"{n} {task.id} ({task.points})" for n, task in enumerate(load_course(ROOT).lab(lab).tasks, 1)
    )
    assert (
        f"tasks: {tasks} signs: ".split()
        == re.search(r"^tasks: .*?^signs: ", table(name, lab), re.M | re.S)[0].split()
    )


def commands(name: str) -> list[str]:
    return [line.partition("#")[0].strip() for block in blocks(name, "sh") for line in block.splitlines()]


def test_both_readmes_show_the_same_transcript_and_give_the_same_commands():
    english, chinese = READMES
    assert transcript(english) == transcript(chinese)
    assert commands(english) == commands(chinese)
    assert "make grade" in commands(english)


def test_both_readmes_map_the_same_words_to_the_same_places():
    english, chinese = (re.findall(r"^\|.*\|$", read(name), re.M) for name in READMES)
    assert [re.findall(r"`[^`]+`", row) for row in english] == [
        re.findall(r"`[^`]+`", row) for row in chinese
    ]
    places = [place for row in english for place in re.findall(r"`([^`]+)`", row.split("|")[2])]
    assert len(places) > 9
    made = ("make ", "build/")  # commands, and what they write; verbs have a test of their own
    assert [place for place in places if not place.startswith(made) and not (ROOT / place).exists()] == []


@pytest.mark.parametrize("name", [page for page in PAGES if page.startswith(("README", "docs/"))])
def test_every_verb_that_a_page_names_is_a_verb_of_make(name):
    verbs = set(re.findall(r"^\.PHONY: (.*)$", read("Makefile"), re.M)[0].split())
    quoted = re.findall(r"`([^`\n]+)`", read(name)) + commands(name)
    assert {found[1] for text in quoted if (found := re.match(r"make ([a-z-]+)", text))} <= verbs


def links(name: str) -> Iterator[str]:
    """Targets of a page's links within the repository; those in a block are the block's own."""
    text = re.sub(r"^```.*?^```$", "", read(name), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:", target):
            yield target


def anchors(page: Path) -> set[str]:
    """The names GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_every_link_within_the_repository_leads_somewhere(name):
    astray = []
    for link in links(name):
        target, _, anchor = link.partition("#")
        place = (ROOT / name).parent / target if target else ROOT / name
        if not place.exists() or (anchor and anchor not in anchors(place)):
            astray.append(link)
    assert astray == []
