"""Build every book of handouts/ into one static site; a warning is an error.

    build(load_course(root), root / "build/handouts")

A book is a folder of pages in one language, so that its search, its words and its `lang` are that language's.
Students' books hold no page for instructors: each can be published by itself.
"""

import html
import logging
import re
import shutil
import sys
import tempfile
from io import StringIO
from pathlib import Path
from warnings import catch_warnings, simplefilter

from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.locale import translators
from sphinx.util.docutils import docutils_namespace, patch_docutils

from autograder.authoring.handouts.facts import facts
from autograder.course import Course, CourseError

BOOKS = ("zh", "en", "instructor/zh", "instructor/en")
_SPHINX_LANGUAGE = {"zh": "zh_CN", "en": "en"}
_TITLE = {
    "zh": {"": "讲义", "instructor": "教师讲义"},
    "en": {"": "handouts", "instructor": "for instructors"},
}
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def build(course: Course, out: Path) -> None:
    """Replace `out` by the site. It changes only once every book is whole.

    Raises: CourseError with the first thing to mend, as FILE:LINE where there is a line.
    """
    source = course.root / "handouts"
    _check_pages(source)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=".handouts-") as made:
            site = Path(made) / "site"
            for book in BOOKS:
                _build_book(course, book, site, Path(made) / "doctrees" / book)
            (site / "index.html").write_text(_front_page(course), encoding="utf-8")
            shutil.rmtree(out, ignore_errors=True)
            site.rename(out)
    except OSError as error:
        raise CourseError(
            f"{error.filename or out} can't be written: {error.strerror}. Make room there."
        ) from None


def _check_pages(source: Path) -> None:
    """Every page can be read and stands in both languages, or the link between them would lead nowhere."""
    for book in BOOKS:
        if not (source / book / "index.md").is_file():
            raise CourseError(f"handouts/{book}/index.md is missing. Every book starts there: put it back.")
        other = (source / book).with_name("en" if book.endswith("zh") else "zh")
        for page in sorted((source / book).rglob("*.md")):
            name = page.relative_to(source / book)
            try:
                page.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                place = page.relative_to(source.parent).as_posix()
                raise CourseError(f"{place} is not UTF-8. Save it as UTF-8.") from None
            if not (other / name).is_file():
                place = (other / name).relative_to(source.parent).as_posix()
                raise CourseError(f"{place} is missing. Write it: the page stands in one language only.")


def _build_book(course: Course, book: str, site: Path, doctrees: Path) -> None:
    language, audience = Path(book).name, str(Path(book).parent).strip(".")
    settings = {
        "language": _SPHINX_LANGUAGE[language],
        "html_title": f"{course.name[language]} · {_TITLE[language][audience]}",
        "html_context": {"course_language": language, "languages": ["zh", "en"]},
        "myst_substitutions": facts(course, language),
    }
    warnings = StringIO()
    path = list(sys.path)
    try:
        with patch_docutils(course.root / "handouts"), docutils_namespace(), catch_warnings():
            simplefilter(
                "ignore"
            )  # of libraries about each other; what Sphinx says of pages goes to its stream
            app = Sphinx(
                srcdir=course.root / "handouts" / book,
                confdir=course.root / "handouts",
                outdir=site / book,
                doctreedir=doctrees,
                buildername="html",
                confoverrides=settings,
                status=None,
                warning=warnings,
                freshenv=True,
            )
            app.config.course = course
            app.build()
    except SphinxError as error:
        raise CourseError(f"handouts/{book}: {_one_line(str(error), course)}") from None
    finally:
        sys.path[:] = path
        _forget_sphinx()
    found = [line for line in _COLOUR.sub("", warnings.getvalue()).splitlines() if line.strip()]
    if found:
        more = f" ({len(found) - 1} more like it)" if len(found) > 1 else ""
        raise CourseError(f"{_one_line(found[0], course)}{more}. Mend it there.")
    for left in (".buildinfo", "objects.inv"):
        (site / book / left).unlink(missing_ok=True)


def _one_line(text: str, course: Course) -> str:
    """Without Sphinx's own words, and with paths as they are in the course."""
    text = text.replace(f"{course.root}/", "").replace("WARNING: ", "").replace("ERROR: ", "")
    return " ".join(text.split()).removesuffix(".")


def _forget_sphinx() -> None:
    """Sphinx keeps streams and translations for the process: the next book would get this one's."""
    logger = logging.getLogger("sphinx")
    for handler in logger.handlers[:]:
        logger.removeHandler(handler)
    translators.clear()


def _front_page(course: Course) -> str:
    """Where a browser arrives: a link to each language."""
    links = "".join(
        f'<p><a href="{language}/index.html" lang="{language}" hreflang="{language}">'
        f"{html.escape(course.name[language])} · {_TITLE[language]['']}</a></p>\n"
        for language in course.languages
    )
    return (
        f'<!doctype html>\n<html lang="{course.languages[0]}">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{html.escape(course.name[course.languages[0]])}</title>\n"
        "<style>body{font:1.25rem/1.6 system-ui,sans-serif;max-width:30rem;margin:15vh auto;padding:0 1rem}"
        f"</style>\n{links}</html>\n"
    )
