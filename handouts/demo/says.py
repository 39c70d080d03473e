"""Sentences with measured numbers, Chinese and English one under the other."""

from dataclasses import dataclass
from html import escape

from labkit.messages import Argument, Message

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Said:
    """A message in both languages, for a page and for a terminal."""

    message: Message

    def _repr_html_(self) -> str:
        texts = ((language, escape(self.message.text(language))) for language in ("zh", "en"))
        return "".join(f'<p class="said" lang="{language}">{text}</p>' for language, text in texts)

    def __repr__(self) -> str:
        return "\n".join(self.message.text(language) for language in ("zh", "en"))


def said(id: str, **arguments: Argument) -> Said:
    """The message of an id, with its arguments."""
    return Said(Message(id, arguments))


def power(number: float) -> str:
    """A number as people write it: 8.7e-06 is 8.7·10⁻⁶."""
    mantissa, _, exponent = f"{number:.1e}".partition("e")
    return f"{mantissa}·10{str(int(exponent)).translate(SUPERSCRIPTS)}"
