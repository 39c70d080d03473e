"""How wide a terminal shows a text, so that columns line up in Chinese too."""

import unicodedata


def columns(text: str) -> int:
    """The columns a text takes: two for a Chinese character, none for an accent on the letter before."""
    if text.isascii():
        return len(text)
    return sum(
        2 if unicodedata.east_asian_width(sign) in "WF" else 0 if unicodedata.combining(sign) else 1
        for sign in text
    )


def padded(text: str, width: int) -> str:
    """The text with spaces up to a number of columns."""
    return text + " " * (width - columns(text))
