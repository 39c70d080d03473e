"""`{demo} NAME CAPTION`: what the lecture's demo draws, made while the handouts are built: it cannot drift.

A plot is a picture with its caption in words; a sweep stands in the page itself, with its steps as a table.
"""

import base64
import hashlib
import html
import json
import subprocess
import sys
from pathlib import Path

from docutils import nodes  # type: ignore[import-untyped]
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from autograder.course import CourseError

SCRIPT = Path("handouts/demo/handout.py")
LIMIT_S = 120  # seconds, on a slow machine
_MADE: dict[str, str] = {}


class Demo(SphinxDirective):
    """A figure from the demo."""

    required_arguments = 2
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The figure, or an error with its place."""
        name, caption = self.arguments
        try:
            drawn = json.loads(_drawn(self.config.course.root))[self.config.language[:2]]
        except CourseError as error:
            raise self.error(str(error)) from None
        if name not in drawn:
            raise self.error(f"the demo draws no {name!r}; it draws {', '.join(sorted(drawn))}.")
        words, messages = self.parse_inline(caption)
        figure = nodes.figure("", nodes.raw("", _shown(drawn[name], caption), format="html"))
        figure += nodes.caption("", "", *words)
        return [figure, *messages]


def _shown(drawing: str, caption: str) -> str:
    if not drawing.startswith("<svg"):
        return drawing
    data = base64.b64encode(drawing.encode()).decode()
    return f'<img class="plot" alt="{html.escape(caption)}" src="data:image/svg+xml;base64,{data}">'


def _drawn(root: Path) -> str:
    """What the script prints; it runs once for the same sources, however many books there are."""
    sources = [*sorted((root / SCRIPT).parent.glob("*.py")), *sorted((root / "reference").glob("*/*.py"))]
    key = hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()
    if key not in _MADE:
        _MADE[key] = _run(root / SCRIPT)
    return _MADE[key]


def _run(script: Path) -> str:
    try:
        done = subprocess.run(
            [sys.executable, "-B", script], capture_output=True, encoding="utf-8", timeout=LIMIT_S
        )
    except subprocess.TimeoutExpired:
        raise CourseError(f"{SCRIPT} takes longer than {LIMIT_S} s.") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["it says nothing"]
        raise CourseError(f"{SCRIPT} fails: {said[-1]}")
    return done.stdout


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_directive("demo", Demo)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
