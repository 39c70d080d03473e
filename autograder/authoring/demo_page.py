"""An executed notebook as one page: mathematics as MathML, pictures inside, no address anywhere."""

import re
from pathlib import Path
from typing import Any

from nbconvert import HTMLExporter
from pygments.formatters import HtmlFormatter

from autograder.course import CourseError
from autograder.reporting.mathml import mathml

LIGHT, DARK = "a11y-high-contrast-light", "a11y-high-contrast-dark"  # as in the handouts
DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
INLINE = re.compile(r"(?<![\\$])\$(?!\s)([^$\n]+?)(?<!\s)\$")


def as_page(notebook: Any, templates: Path) -> str:
    """The page of an executed notebook, whose template stands in `templates`/page.

    Cells tagged `live` (sliders) are left out: they need a running Python.
    Raises: CourseError for a formula that can't be drawn.
    """
    exporter = HTMLExporter(template_name="page", extra_template_basedirs=[str(templates)])  # type: ignore[no-untyped-call]
    exporter.exclude_anchor_links = True
    notebook.cells = [cell for cell in notebook.cells if "live" not in cell.metadata.get("tags", ())]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = with_mathml(cell.source)
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "text/markdown" in data:
                data["text/markdown"] = with_mathml(data["text/markdown"])
    body, _ = exporter.from_notebook_node(notebook, resources={"code_style": _code_style()})
    return str(body).rstrip() + "\n"


def with_mathml(text: str) -> str:
    """Markdown in which $…$ and $$…$$ have become MathML, which browsers set without a script."""
    text = DISPLAY.sub(lambda found: _mathml(found[1], "block"), text)
    return INLINE.sub(lambda found: _mathml(found[1], "inline"), text)


def _mathml(formula: str, display: str) -> str:
    try:
        made = mathml(" ".join(formula.split()), display)
    except ValueError as error:
        raise CourseError(
            f"The demo's formula {formula.strip()}: {error}. Mend it in four_ways.py."
        ) from None
    return re.sub(r"[*_`]", lambda sign: f"&#{ord(sign[0])};", made)  # or Markdown would read them


def _code_style() -> str:
    """Colours of code, for light and dark pages."""
    light = HtmlFormatter(style=LIGHT).get_style_defs(".highlight")
    dark = HtmlFormatter(style=DARK).get_style_defs(".highlight")
    dark_rules = f"@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}"
    return f"{light}\n{dark_rules}\n.highlight {{ background: none }}"
