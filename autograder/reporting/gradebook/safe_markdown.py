"""Markdown as HTML that can do nothing: students' answers are shown in the TA's own Jupyter session."""

import html
import re

import nh3
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from .formulas import drawn
from .rebuild import LONGEST

REPORT = "feedback.html"
_TAGS = (
    "p h1 h2 h3 h4 h5 h6 strong em b i u s del code pre blockquote ul ol li dl dt dd br hr a "
    "table thead tbody tr th td sub sup div span"
)
_HIGHLIGHTED = set("highlight hll k kc kn kr ow o n nb nc nf nn s s1 s2 sa se si m mi mf c c1 p w bp".split())
_FORMULAS = {"inline-formula", "block-formula"}
_FORMULA = re.compile(r'<span class="(inline|block)-formula">([^<]*)</span>')


class _Renderer(IPythonRenderer):
    """Leaves formulas where they stand, to be drawn in what nh3 has made safe."""

    def inline_math(self, body: str) -> str:
        return f'<span class="inline-formula">{html.escape(body)}</span>'

    def block_math(self, body: str) -> str:
        return f'<span class="block-formula">{html.escape(body)}</span>'

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")


def safe_html(source: str) -> str:
    """HTML of Markdown without scripts, pictures, ids, or links but to the web and to our report.

    Formulas are MathML; one that can't be drawn stands there as it was typed.
    """
    if len(source) > LONGEST:
        return _as_it_is(source)
    try:
        renderer = _Renderer(escape=False, exclude_anchor_links=True)
        made = MarkdownWithMath(renderer=renderer).render(source)
    except Exception:  # of a missing attachment, for one: an answer that can't be drawn is still an answer
        return _as_it_is(source)
    clean = nh3.clean(
        made,
        tags=set(_TAGS.split()),
        attributes={"a": {"href", "title"}, "th": {"align"}, "td": {"align"}, "ol": {"start"}},
        attribute_filter=_kept,
        allowed_classes={"div": _HIGHLIGHTED, "span": _HIGHLIGHTED | _FORMULAS},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )
    return _FORMULA.sub(lambda found: _drawn(html.unescape(found[2]), found[1]), clean)


def _drawn(formula: str, display: str) -> str:
    sign = "$" if display == "inline" else "$$"
    return drawn(formula, display) or html.escape(f"{sign}{formula}{sign}")


def _kept(tag: str, attribute: str, value: str) -> str | None:
    """A link to a page of this server could do things in the TA's name; the report beside is ours."""
    away = value.casefold().startswith(("http://", "https://", "mailto:"))
    return value if attribute != "href" or away or value == REPORT else None


def _as_it_is(source: str) -> str:
    return f"<pre>{html.escape(source)}</pre>"
