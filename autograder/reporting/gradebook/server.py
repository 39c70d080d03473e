"""A Jupyter server extension for formgrader: fresh scores after every push, and the list of questions.

Formgrader keeps one database session for as long as the server runs: it shows old scores after a
push, and after a lock nothing but errors. Here every request ends its session.
"""

import contextlib
import json
from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join
from nbgrader.api import Gradebook
from nbgrader.server_extensions.formgrader.base import BaseHandler
from tornado import web

from autograder.course import CourseError, load_course

from . import questions
from .book import Book
from .safe_markdown import safe_html
from .schemes import mark_schemes


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    BaseHandler.on_finish = _end_session
    place = url_path_join(server.web_app.settings["base_url"], r"/autograder/questions/([^/]+)")
    server.web_app.add_handlers(".*$", [(place, QuestionsHandler)])


def _end_session(handler: Any) -> None:
    gradebook = handler.settings.get("nbgrader_gradebook")
    if gradebook is not None:
        gradebook.db.remove()


def _schemes(root: str, lab: str) -> dict[tuple[str, str], str]:
    """Mark schemes as HTML, where the course's folder has the lab."""
    with contextlib.suppress(CourseError):
        found = mark_schemes(load_course(Book(Path(root)).class_()[0]).lab(lab))
        return {question: safe_html(scheme) for question, scheme in found.items()}
    return {}


def _release(root: str, lab: str) -> dict[str, Any]:
    """The notebook as it is handed out. Raises: HTTPError where there is none."""
    for path in (Path(root) / "release" / lab).glob("*.ipynb"):
        notebook: dict[str, Any] = json.loads(path.read_bytes())
        return notebook
    raise web.HTTPError(404)


class QuestionsHandler(JupyterHandler):
    """Questions graded by hand, each with links to the answers: so can they be shared out among TAs."""

    @web.authenticated
    def get(self, lab: str) -> None:
        """The page as it is now."""
        folders = self.settings["nbgrader_formgrader"].coursedir
        with Gradebook(folders.db_url, folders.course_id) as gradebook:
            release, schemes = _release(folders.root, lab), _schemes(folders.root, lab)
            page = questions.page(gradebook, lab, release, schemes, self.base_url.rstrip("/"))
        if page is None:
            raise web.HTTPError(404)
        self.finish(page)
