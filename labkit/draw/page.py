"""Drawings as HTML: a piece of a page with its own style, which follows JupyterLab's theme or the system."""

import html

from .item import typeset

_LIGHT = (
    "--graph-ink:#57606a;--graph-paper:#fff;--graph-mark:#b04400;--graph-mark-paper:#fdeee4;"
    "--graph-page:#fff;--graph-text:#1b1f24;color-scheme:light"
)
_DARK = (
    "--graph-ink:#a3acb8;--graph-paper:#1d2127;--graph-mark:#ff9a57;--graph-mark-paper:#3d2413;"
    "--graph-page:#14171b;--graph-text:#e6e9ed;color-scheme:dark"
)
_STYLE = f"""
.labkit-draw{{{_LIGHT};background:var(--graph-page);color:var(--graph-text);
font:14px/1.5 system-ui,"Noto Sans","PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif;
padding:.5rem;border-radius:6px;margin:.5rem 0}}
@media (prefers-color-scheme:dark){{.labkit-draw{{{_DARK}}}}}
[data-jp-theme-light="true"] .labkit-draw{{{_LIGHT}}}
[data-jp-theme-light="false"] .labkit-draw{{{_DARK}}}
@media print{{.labkit-draw.labkit-draw{{{_LIGHT}}}.labkit-draw svg{{max-width:100%!important}}}}
.labkit-draw .scroll{{overflow-x:auto}}
.labkit-draw .scroll svg{{display:block;margin:0 auto}}
.labkit-draw .title{{font-weight:600;margin:0 0 .4rem}}
.labkit-draw .note{{opacity:.85;font-size:.9em;margin:.4rem 0 0}}
.labkit-draw pre{{overflow-x:auto;margin:0;color:inherit;background:none}}
"""


def fragment(title: str, body: str, notes: list[str], style: str = "", script: str = "") -> str:
    """A `<div>` with a title and notes (texts, escaped here) around a body (HTML)."""
    parts = [f"<style>{_STYLE}{style}</style>"]
    parts += [f'<p class="title">{escape(title)}</p>'] if title else []
    parts += [body, *(f'<p class="note">{escape(note)}</p>' for note in notes)]
    parts += [f"<script>{script}</script>"] if script else []
    return f'<div class="labkit-draw">{"".join(parts)}</div>'


def scrolled(svg: str, label: str) -> str:
    """A picture that scrolls sideways where the page is narrow, with the keyboard too."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">{svg}</div>'


def escape(text: str) -> str:
    """A text as HTML shows it, typeset and without control characters."""
    return html.escape(typeset(text))


def escape_lines(text: str) -> str:
    """Several lines as HTML shows them."""
    return "\n".join(map(escape, text.split("\n")))
