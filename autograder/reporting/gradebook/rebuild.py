"""A notebook that is safe to show: the one handed out, with the student's cells put in by grade id.

What a student moved, deleted or retyped needs no repair, and outputs, attachments and cells of their own
never come along: they are not taken.
"""

import ast
import copy
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.course import Lab, Task
from labkit.messages import Argument, Message

from .register import graded_cells, kind
from .report import plain

Notebook = dict[str, Any]
LONGEST = 100_000  # characters of an answer or module; how long Markdown takes may grow with their square
LONGEST_CODE = 200_000  # characters of a cell or module that are shown


def rebuilt(
    lab: Lab,
    release: Notebook,
    answers: Mapping[str, str],
    files: Mapping[str, str],
    problems: Mapping[str, Message],
    reports: Mapping[str, str],
    language: str,
    page: str,
) -> Notebook:
    """The notebook that formgrader shows and feedback is made of.

    `answers`: grade id -> text of solution cells; `files`, `problems`: of modules; `page`: our report's file.
    """
    notebook = copy.deepcopy(release)
    shown: set[str] = set()
    cells = [_words("report", "to-report", language, page=page)]
    for cell in notebook["cells"]:
        mark = cell["metadata"].get("nbgrader", {})
        id = mark.get("grade_id", "")
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
        if mark.get("solution") and id in answers:
            cell["source"] = _bounded(answers[id], cell["cell_type"], language)
        if id in reports and cell["cell_type"] == "code":
            cells += _code_of(lab.task(id), files, shown, language)
            cell["metadata"]["title"] = lab.task(id).title[language]
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": reports[id]}]
        cells.append(cell)
    notebook["cells"] = cells + _modules(lab, files, problems, language)
    return notebook


def unanswered(given: Sequence[Notebook], answers: Mapping[str, str]) -> set[str]:
    """Hand-graded questions whose cell is gone or still says what it said when it was handed out.

    `given`: the notebook in each of the course's languages.
    """
    texts = {
        (mark["grade_id"], text_of(cell).strip())
        for notebook in given
        for cell, mark in graded_cells(notebook)
        if kind(mark) == "by hand"
    }
    said = {id: answers.get(id, "").strip() for id, _ in texts}
    return {id for id, text in said.items() if not text or (id, text) in texts}


def text_of(cell: Mapping[str, Any]) -> str:
    """A cell's source as one text."""
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def _bounded(text: str, cell_type: str, language: str) -> str:
    most = LONGEST if cell_type == "markdown" else LONGEST_CODE
    return plain(text) if len(text) <= most else _say("too-long", language, count=len(text))


def _code_of(task: Task, files: Mapping[str, str], shown: set[str], language: str) -> list[dict[str, Any]]:
    """The definitions that a task asks for, from each module, but for those in `shown`, which grows."""
    cells = []
    for name in task.files:
        found = definitions(files.get(name, ""), [blank.name for blank in task.blanks])
        if found and name.endswith(".py"):
            id = f"{task.id}-{name.removesuffix('.py')}"
            new = [text for text in found if text not in shown]
            about = "code" if new else "code-above"
            cells.append(_words(f"about-{id}", about, language, title=task.title[language], file=name))
            cells += [_code(f"code-{id}", "\n\n".join(new), language)] if new else []
            shown.update(new)
    return cells


def definitions(text: str, names: list[str]) -> list[str]:
    """The source of functions and methods, such as `Node.__rsub__`, as far as they are there."""
    found = _all_definitions(text)
    return [found[name] for name in names if name in found]


@functools.lru_cache(maxsize=16)  # several tasks look into the same module
def _all_definitions(text: str) -> dict[str, str]:
    """Qualified name -> source."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    lines = text.split("\n")
    found: dict[str, str] = {}
    places: list[tuple[str, ast.AST]] = [("", tree)]
    while places:
        prefix, node = places.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                found.setdefault(prefix + child.name, "\n".join(lines[first - 1 : child.end_lineno]))
                if isinstance(child, ast.ClassDef):
                    places.append((f"{prefix}{child.name}.", child))
    return found


def _modules(
    lab: Lab, files: Mapping[str, str], problems: Mapping[str, Message], language: str
) -> list[dict[str, Any]]:
    """Whole modules at the end, helpers among them; for one that can't be read, why.

    In one colour: pages with three times as many spans take three times as long to make.
    """
    cells = []
    for number, name in enumerate([*lab.texts, *sorted(files.keys() - set(lab.texts))]):
        if name in files:
            about = _words(f"about-module-{number}", "module", language, file=name)
            cells.append(about | {"source": f"{about['source']}\n\n{_fenced(files[name], language)}"})
        elif name in problems:
            why = problems[name].text(language)
            cells.append(_words(f"about-module-{number}", "no-file", language, file=name, why=why))
    return cells


def _fenced(text: str, language: str) -> str:
    """Text as a block of code in Markdown, whatever backticks it has."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{_bounded(text, 'markdown', language)}\n{fence}"


def _say(id: str, language: str, /, **arguments: Argument) -> str:
    return Message(f"gradebook.{id}", arguments).text(language)


def _words(cell: str, id: str, language: str, /, **arguments: Argument) -> dict[str, Any]:
    text = " ".join(plain(_say(id, language, **arguments)).split())
    return {"cell_type": "markdown", "id": cell[:64], "metadata": {}, "source": text}


def _code(cell: str, text: str, language: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": cell[:64],
        "metadata": {},
        "source": _bounded(text, "code", language),
        "outputs": [],
        "execution_count": None,
    }
