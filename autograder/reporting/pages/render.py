"""Jinja with everything escaped: what a student wrote is text in every page, and moves no cursor."""

import functools
from pathlib import Path
from typing import Any

import jinja2

from autograder.judging.verdicts import UNDECIDED
from autograder.reporting.analysis import LEAST
from labkit.draw import as_svg, as_text
from labkit.messages import Message

from .drawing import words
from .view import report_words

TEMPLATES = Path(__file__).with_name("templates")
SIGNS = {"passed": "✓", "wrong": "✗", "not-attempted": "○", "blocked": "↳"} | dict.fromkeys(UNDECIDED, "?")


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_plain,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "words": words,
        "report_words": report_words,
        "gradebook_words": lambda id, language: Message(f"gradebook.{id}").text(language),
        "sign": lambda outcome: SIGNS.get(outcome, "!"),
        "as_svg": as_svg,  # it escapes by itself
        "as_text": as_text,
        "style": (TEMPLATES / "style.css").read_text(encoding="utf-8"),
        "slides_style": (TEMPLATES / "slides.css").read_text(encoding="utf-8"),
        "signed": _signed,
        "least": LEAST,
    }
    return environment


def _signed(number: float | None) -> str:
    """A correlation to two digits; – where there is none."""
    return "–" if number is None else f"{round(number, 2) + 0.0:+.2f}".replace("-", "−")


def render(template: str, **values: Any) -> str:
    """A page from a template."""
    return _environment().get_template(template).render(**values)


def _plain(value: Any) -> Any:
    """Texts without control characters and marks that turn lines around; line breaks stay."""
    if type(value) is not str or value.isprintable():
        return value
    return "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in value)
