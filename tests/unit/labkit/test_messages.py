import ast
import re
from pathlib import Path
from string import Formatter

import pytest

import autograder
import labkit
from autograder.judging.verdicts import PRECEDENCE
from labkit.messages import Message, catalogue

AUTOGRADER = Path(autograder.__path__[0])
# Where each file's messages are said, and by which function of a page; test_student_texts.py has the others.
SAID_IN = {
    "feedback": (AUTOGRADER / "reporting/pages", "words"),
    "report": (AUTOGRADER / "reporting/pages", "report_words"),
    "judging": (AUTOGRADER / "judging", None),
    "intake": (AUTOGRADER / "intake", None),
    "release": (AUTOGRADER / "authoring", None),
}


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def _messages_in_code() -> list[tuple[str, str]]:
    """Where and id of every `Message("…", …)` in the sources."""
    found = []
    for package in (autograder, labkit):
        assert package.__file__ is not None
        for path in sorted(Path(package.__file__).parent.rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                match node:
                    case ast.Call(func=ast.Name("Message"), args=[ast.Constant(str() as id), *_]):
                        found.append((f"{path.name}:{node.lineno}", id))
    return found


def test_there_are_messages() -> None:
    assert len(catalogue()) > 20


@pytest.mark.parametrize("id", sorted(catalogue()))
def test_a_message_has_both_languages_and_nothing_else(id: str) -> None:
    assert sorted(catalogue()[id]) == ["en", "zh"]
    assert all(text.strip() == text != "" for text in catalogue()[id].values())


@pytest.mark.parametrize("id", sorted(catalogue()))
def test_a_message_has_the_same_plain_placeholders_in_both_languages(id: str) -> None:
    english, chinese = (_placeholders(catalogue()[id][language]) for language in ("en", "zh"))
    assert english == chinese
    assert all(name.isidentifier() for name in english)


def test_every_message_that_the_code_makes_is_in_the_catalogue() -> None:
    assert [(where, id) for where, id in _messages_in_code() if id not in catalogue()] == []


def _in_templates(folder: Path, speaker: str | None) -> set[str]:
    """Names that templates have a function of the page say."""
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.html")]
    return {name for text in texts for name in re.findall(rf"(?<!\w){speaker}\(\s*\"([\w-]+)\"", text)}


def _in_sources(folder: Path) -> tuple[set[str], set[str]]:
    """Strings that may name a message, with its file or without, and the beginnings of names put together."""
    names, beginnings = set(), set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Constant(str() as text) if re.fullmatch(r"([a-z]+\.)?[a-z0-9-]+", text):
                    names.add(text.rpartition(".")[2])
                case ast.JoinedStr(values=[ast.Constant(str() as head), *_]) if re.fullmatch(
                    r"[a-z.-]+-", head
                ):
                    beginnings.add(head.rpartition(".")[2])
    return names, beginnings


@pytest.mark.parametrize("room", SAID_IN)
def test_no_message_is_there_for_nothing(room: str) -> None:
    folder, speaker = SAID_IN[room]
    names, beginnings = _in_sources(folder)
    names |= _in_templates(folder, speaker)
    ours = [name for file, _, name in (id.partition(".") for id in catalogue()) if file == room]
    assert [name for name in ours if name not in names and not name.startswith(tuple(beginnings))] == []


@pytest.mark.parametrize("room", ["feedback", "report"])
def test_every_message_that_a_template_says_is_in_the_catalogue(room: str) -> None:
    said = _in_templates(*SAID_IN[room])
    assert len(said) > 2 and [name for name in said if f"{room}.{name}" not in catalogue()] == []


@pytest.mark.parametrize("outcome", PRECEDENCE)
def test_every_outcome_has_its_words_and_its_next_step(outcome: str) -> None:
    assert {f"report.outcome-{outcome}", f"feedback.next-{outcome}"} <= catalogue().keys()


def test_a_message_is_put_into_words_in_either_language() -> None:
    message = Message("intake.missing", {"file": "graph.py"})
    assert message.text("en").startswith("graph.py is missing")
    assert "graph.py" in message.text("zh")


def test_of_a_text_in_both_languages_only_one_is_shown() -> None:
    message = Message("judging.law", {"text": "x / x is not 1 / 结果 x / x 不是 1"})
    assert message.text("en").endswith(": x / x is not 1")
    assert message.text("zh").endswith("：结果 x / x 不是 1")
    chinese = Message("judging.law", {"text": "x: 1 / x is no 0 / x：1 / x 不是 0"}).text("zh")
    assert chinese.endswith("：x：1 / x 不是 0")
    for one in ("a / b", "1 / x 不对", "结果 a / b", "so a / b"):
        assert Message("judging.law", {"text": one}).text("zh").endswith(f"：{one}")


def test_braces_in_an_argument_stay_as_they_are() -> None:
    assert "{file.__class__}" in Message("intake.missing", {"file": "{file.__class__}"}).text("en")
