"""What pages take from the course itself, so that they can't drift: tables of a lab, drawings of graphs.

The words are the page's, in its language; the directive gives the numbers.
"""

import ast
from collections.abc import Iterable, Sequence

from docutils import nodes  # type: ignore[import-untyped]
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from autograder.course import Course, CourseError, Lab
from labkit.cuda import blanks
from labkit.draw import Item, as_svg


class _Table(SphinxDirective):
    """A table of a lab. Its content, with | between: the heads of the columns, and the word for the total."""

    required_arguments = 1
    has_content = True
    columns: int

    def run(self) -> list[nodes.Node]:
        course: Course = self.config.course
        words = [word.strip() for word in " ".join(self.content).split("|")]
        if len(words) != self.columns + 1:
            raise self.error(
                f"{self.name} needs {self.columns} heads and the word for the total, not {len(words)}."
            )
        *heads, total = words
        try:
            rows = self.rows(course.lab(self.arguments[0]), total)
        except CourseError as error:
            raise self.error(str(error)) from None
        lines = [heads, [":--"] * len(heads), *rows]
        return self.parse_text_to_nodes("\n".join(f"| {' | '.join(line)} |" for line in lines))

    @property
    def language(self) -> str:
        """zh or en."""
        return str(self.config.language[:2])

    def rows(self, lab: Lab, total: str) -> list[list[str]]:
        """The cells below the heads, as Markdown."""
        raise NotImplementedError


class Blanks(_Table):
    """The way through a lab, in the order of its tasks: file, blank, minutes, the tasks it counts in."""

    columns = 4

    def rows(self, lab: Lab, total: str) -> list[list[str]]:
        """A row for each blank; a blank of several tasks has the sum of their minutes."""
        minutes: dict[str, int] = {}
        tasks: dict[str, list[str]] = {}
        for task in lab.tasks:
            for blank in task.blanks:
                minutes[blank.name] = minutes.get(blank.name, 0) + blank.minutes
                tasks.setdefault(blank.name, []).append(task.title[self.language])
        join = "、" if self.language == "zh" else ", "
        files = _files(lab)
        for name in minutes:
            if name not in files:
                raise CourseError(f"no file has the blank {name!r} of reference/{lab.folder}/lab.toml.")
        rows = [[files[name], f"`{name}`", str(minutes[name]), join.join(tasks[name])] for name in minutes]
        return [*rows, [total, "", str(sum(minutes.values())), ""]]


class Tasks(_Table):
    """Task, points, what it needs, processor seconds and memory of one of its checks."""

    columns = 5

    def rows(self, lab: Lab, total: str) -> list[list[str]]:
        """A row for each task."""
        join = "、" if self.language == "zh" else ", "
        rows = [
            [
                task.title[self.language],
                str(task.points),
                join.join(lab.task(need).title[self.language] for need in task.needs),
                f"{task.limits.cpu_s:g} s",
                f"{task.limits.memory_mb} MB",
            ]
            for task in lab.tasks
        ]
        return [*rows, [total, str(lab.max_points), "", "", ""]]


def _files(lab: Lab) -> dict[str, str]:
    """The file in which each function, method, kernel and cell of a lab stands."""
    found: dict[str, str] = {}
    for task in lab.tasks:
        if lab.notebook in task.files:  # the builder holds these names to its cells
            found |= {blank.name: str(lab.notebook) for blank in task.blanks}
    for name in lab.kernels:
        text = (lab.reference / name).read_text(encoding="utf-8-sig")
        found |= dict.fromkeys(blanks.kernels(text), name)
    for module in lab.modules:
        try:
            tree = ast.parse((lab.reference / module).read_text(encoding="utf-8-sig"))
        except SyntaxError as error:
            raise CourseError(f"reference/{lab.folder}/{module}, line {error.lineno}: {error.msg}.") from None
        found |= dict.fromkeys(_functions(tree.body, ""), module)
    return found


def _functions(body: Iterable[ast.stmt], prefix: str) -> Iterable[str]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            yield prefix + statement.name
        elif isinstance(statement, ast.ClassDef):
            yield from _functions(statement.body, f"{statement.name}.")


class Graph(SphinxDirective):
    """A drawn computation graph. Argument: its caption. Each line is a node: label | inputs | value | note.

    Inputs are places of earlier lines, from 1, with spaces between; values and notes may be left out.
    """

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """A figure that holds the drawing itself, so that it follows the page's colours."""
        caption = self.arguments[0]
        try:
            drawing = as_svg([_item(line, place) for place, line in enumerate(self.content)], caption)
        except ValueError as error:
            raise self.error(f"graph: {error}.") from None
        figure = nodes.figure("", nodes.raw("", f'<div class="graph">{drawing}</div>', format="html"))
        words, messages = self.parse_inline(caption)
        figure += nodes.caption("", "", *words)
        return [figure, *messages]


def _item(line: str, place: int) -> Item:
    label, inputs, value, note = _cells(line)
    numbers = [int(number) - 1 for number in inputs.split()]
    if not all(0 <= number < place for number in numbers):
        raise ValueError(f"the inputs of {label!r} must be lines above it, not {inputs}")
    return Item(label, tuple(numbers), value, note)


def _cells(line: str) -> Sequence[str]:
    cells = [cell.strip() for cell in line.split("|")]
    if len(cells) > 4:
        raise ValueError(f"{line!r} has more than label | inputs | value | note")
    return cells + [""] * (4 - len(cells))


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_config_value("course", None, "", types=[Course])
    for name, directive in (("blanks", Blanks), ("tasks", Tasks), ("graph", Graph)):
        app.add_directive(name, directive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
