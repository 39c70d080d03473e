"""Sphinx's mathematics as MathML in the page itself: no script, no font, no network.

Every browser of today draws it, screen readers read it, and print keeps it sharp.
"""

from typing import Any

from docutils import nodes  # type: ignore[import-untyped]
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

from autograder.reporting.mathml import mathml

_logger = logging.getLogger(__name__)


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
