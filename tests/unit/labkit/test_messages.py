import ast
from pathlib import Path
from string import Formatter

import pytest

import autograder
import labkit
from labkit.messages import Message, catalogue


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


def test_a_message_is_put_into_words_in_either_language() -> None:
    message = Message("intake.missing", {"file": "graph.py"})
    assert message.text("en").startswith("graph.py is missing")
    assert "graph.py" in message.text("zh")


def test_of_a_text_in_both_languages_only_one_is_shown() -> None:
    message = Message("judging.law", {"text": "x / x is not 1 / 结果 x / x 不是 1"})
    assert message.text("en").endswith(": x / x is not 1")
    assert message.text("zh").endswith("：结果 x / x 不是 1")
    assert Message("judging.law", {"text": "a / b"}).text("zh").endswith("：a / b")


def test_braces_in_an_argument_stay_as_they_are() -> None:
    assert "{file.__class__}" in Message("intake.missing", {"file": "{file.__class__}"}).text("en")
