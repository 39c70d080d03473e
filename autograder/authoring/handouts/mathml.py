"""Mathematics as MathML in the page itself: no script, no font, no network.

Every browser of today draws it, screen readers read it, and print keeps it sharp.
"""

import re
from typing import Any

from docutils import nodes  # type: ignore[import-untyped]
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

_logger = logging.getLogger(__name__)

_THIN = '<mspace width="0.167em" />'
# Spaces as in print: none around signs of derivatives and before primes, thin ones around a function's name.
_SPACING = (
    (re.compile(r"<mo>(&#x0220[27];)</mo>"), r'<mi mathvariant="normal">\1</mi>'),
    (re.compile(r"<mi>(&#x0203[2-4];)</mi>"), r"<mo>\1</mo>"),
    (re.compile(r"(<mi>(?:exp|ln|sin|cos|tanh)</mi>)(?=<m[isnr])"), rf"\1{_THIN}"),
    (re.compile(r"(</m(?:i|n|sub)>)(?=<mi>(?:exp|ln|sin|cos|tanh)</mi>)"), rf"\1{_THIN}"),
)


def mathml(formula: str, display: str) -> str:
    """A formula of LaTeX as a `<math>` element; `display` is "inline" or "block".

    Raises: ValueError for what the converter refuses, and for what it would draw wrongly without a word.
    """
    bare = formula.replace(r"\{", "").replace(r"\}", "")
    if bare.count("{") != bare.count("}"):
        raise ValueError("its braces are not balanced")
    try:
        made = convert(formula, display=display)
    except Exception as error:  # the converter has twelve kinds of its own, and IndexError
        raise ValueError(f"it can't be read ({type(error).__name__})") from None
    _, unknown, rest = made.partition("<mi>\\")
    if unknown:
        raise ValueError(f"\\{rest.partition('<')[0]} is not known")
    for pattern, replacement in _SPACING:
        made = pattern.sub(replacement, made)
    return made


def _visitor(display: str) -> Any:
    def visit(translator: HTML5Translator, node: nodes.Element) -> None:
        try:
            made = mathml(node.astext(), display)
        except ValueError as error:
            _logger.warning("the formula %s: %s", node.astext(), error, location=node)
        else:
            translator.body.append(f'<div class="math">{made}</div>' if display == "block" else made)
        raise nodes.SkipNode

    return visit


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_html_math_renderer("mathml", (_visitor("inline"), None), (_visitor("block"), None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
