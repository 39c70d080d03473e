"""Python as HTML in few colours: with a span for each name and comma, pages take three times as long."""

from collections.abc import Iterator
from typing import Any

from pygments import highlight
from pygments.filter import Filter
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, String, Text

_COLOURED = (Comment, Keyword, Number, String, Name.Class, Name.Function)


class _FewColours(Filter):  # type: ignore[misc]  # pygments has no types
    def filter(self, lexer: Any, stream: Any) -> Iterator[tuple[Any, str]]:
        for kind, text in stream:
            yield (kind if any(kind in one for one in _COLOURED) else Text), text


def code_html(source: str, **_: Any) -> str:
    """HTML of a cell's code, in nbconvert's classes; nbconvert hands over more than is of use."""
    lexer = PythonLexer(stripnl=False)
    lexer.add_filter(_FewColours())
    made: str = highlight(source, lexer, HtmlFormatter(cssclass=" highlight hl-ipython3"))
    return made
