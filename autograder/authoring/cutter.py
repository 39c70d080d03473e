"""Cut what students get, and what they would hand in, from a solved source with marks.

    def partials(self, values, value):
        ### BEGIN SOLUTION
        return (1 / values[0],)
        ### END SOLUTION

Whatever could be a mark and isn't exactly one is an error: a mark overlooked publishes the solution.
"""

import ast
import difflib
import io
import re
import tokenize
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import NoReturn

from autograder.course import CourseError

MARKS = {
    ".py": ("### BEGIN SOLUTION", "### END SOLUTION"),
    ".cu": ("// BEGIN SOLUTION", "// END SOLUTION"),
}
BLANKS = {
    ".py": ("# YOUR CODE HERE", "raise NotImplementedError"),
    ".cu": ("// YOUR CODE HERE",),
}
RAISE_ROW = 1  # where the blank of a .py file raises, counted from its first row

ALMOST_MARKS = (
    "BEGINSOLUTION",
    "ENDSOLUTION",
    "BEGINOFSOLUTION",
    "ENDOFSOLUTION",
    "SOLUTIONBEGIN",
    "SOLUTIONEND",
    "STARTSOLUTION",
    "SOLUTIONSTART",
)
CUDA_SPAN = re.compile(
    r"""(?P<line>//(?:\\\n|[^\n])*) | /\*.*?\*/ | R"(?P<d>[^\s()\\]{0,16})\(.*?\)(?P=d)"
      | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])'""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True)
class Region:
    """A solution: the rows (from 0) of its marks, and their indentation."""

    begin: int
    end: int
    indent: str


def cut(text: str, name: str, notebook: bool = False) -> str:
    """The skeleton of a solved .py or .cu source: every solution replaced by a blank, lines ended by LF.

    notebook: the text of cells, of which each raises on its own; of a module, only functions may.
    Raises: CourseError with `name`, the line and the mend, for marks that are not exactly right.
    """
    lines, regions = _parse(text, name)
    blank = BLANKS[PurePath(name).suffix]
    kept: list[tuple[int, str]] = []
    start = 0
    for region in regions:
        kept += [(row, lines[row]) for row in range(start, region.begin)]
        kept += [(region.begin, region.indent + line) for line in blank]
        start = region.end + 1
    kept += [(row, lines[row]) for row in range(start, len(lines))]
    skeleton = "\n".join(line for _, line in kept)
    if name.endswith(".py"):
        origins = [row for row, _ in kept]
        tree = _compile(skeleton, name, origins, "with the solutions cut out this is not Python")
        if not notebook:
            _check_in_functions(tree, name, origins, {region.begin for region in regions})
    return skeleton


def without_marks(text: str, name: str) -> str:
    """The solved source as a student would hand it in: only the marks gone, lines ended by LF.

    Raises: CourseError as `cut`.
    """
    lines, regions = _parse(text, name)
    marks = {row for region in regions for row in (region.begin, region.end)}
    return "\n".join(line for row, line in enumerate(lines) if row not in marks)


def solutions(text: str, name: str) -> list[tuple[int, str]]:
    """Each solution of a solved source, with the number of its first line.

    Raises: CourseError as `cut`.
    """
    lines, regions = _parse(text, name)
    return [(one.begin + 2, "\n".join(lines[one.begin + 1 : one.end])) for one in regions]


def unmarked(text: str, name: str) -> str:
    """A text that is given as it stands, lines ended by LF.

    Raises: CourseError if it holds anything like a mark.
    """
    lines = _lines(text)
    for row, line in enumerate(lines):
        if _like_a_mark(line):
            _fail(name, row, "this looks like a mark, and the file is given whole", "Reword the line.")
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    # Only what Python and C take for line ends: str.splitlines would also cut at a form feed.
    text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))
    return text.split("\n") if text.endswith("\n") or not text else [*text.split("\n"), ""]


def _parse(text: str, name: str) -> tuple[list[str], list[Region]]:
    """The lines, and the regions in their order, each checked."""
    lines = _lines(text)
    source = "\n".join(lines)
    if name.endswith(".py"):
        _compile(source, name, range(len(lines)), "this is not Python")
        regions = _paired(name, lines, _python_comments(source))
        _check_python_regions(name, source, lines, regions)
    else:
        regions = _paired(name, lines, _cuda_comments(source))
        _check_cuda_regions(name, source, regions)
    return lines, regions


def _paired(name: str, lines: list[str], comments: set[tuple[int, int]]) -> list[Region]:
    """The marks of a file in pairs; `comments` are the places (row, column) where one begins."""
    begin, end = MARKS[PurePath(name).suffix]
    regions: list[Region] = []
    opened: int | None = None
    for row, mark in _marks(name, lines, comments):
        if mark == end:
            if opened is None:
                _fail(name, row, "a solution ends here and none began", f"Write {begin!r} above it.")
            regions.append(_region(name, lines, opened, row))
            opened = None
        elif opened is not None:
            what = f"this solution begins inside the one of line {opened + 1}"
            _fail(name, row, what, f"Write {end!r} above, or remove this mark.")
        else:
            opened = row
    if opened is not None:
        _fail(name, opened, "this solution never ends", f"Write {end!r} below it.")
    return regions


def _marks(name: str, lines: list[str], comments: set[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    begin, end = MARKS[PurePath(name).suffix]
    exactly = f"Write exactly {begin!r} or {end!r} on a line of its own, or reword the line."
    for row, line in enumerate(lines):
        mark = line.strip(" \t")
        if mark in (begin, end):
            if (row, line.index(mark)) not in comments:
                what = "a mark inside a string or a longer comment marks nothing"
                _fail(name, row, what, "Move it out, or reword the line.")
            yield row, mark
        elif _like_a_mark(line):
            _fail(name, row, "this looks like a mark and is none", exactly)


def _region(name: str, lines: list[str], begin: int, end: int) -> Region:
    indents = [line[: len(line) - len(line.lstrip(" \t"))] for line in (lines[begin], lines[end])]
    if indents[0] != indents[1]:
        what = f"this mark is indented otherwise than its begin in line {begin + 1}"
        _fail(name, end, what, "Indent both like the code between them.")
    return Region(begin, end, indents[0])


def _like_a_mark(line: str) -> bool:
    line = unicodedata.normalize("NFKC", line)  # a Chinese keyboard's wide ＃ and spaces
    if "SOLUTION" in line:
        return True
    for comment in re.split(r"#+|//+|/\*+", line)[1:]:
        words = re.findall("[A-Z]+", comment.upper())
        starts = {"".join(words[:count]) for count in range(1, 5)}
        if any(
            difflib.SequenceMatcher(None, start, almost).ratio() > 0.9
            for start in starts
            for almost in ALMOST_MARKS
        ):
            return True
    return False


def _python_comments(source: str) -> set[tuple[int, int]]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {(token.start[0] - 1, token.start[1]) for token in tokens if token.type == tokenize.COMMENT}


def _cuda_comments(source: str) -> set[tuple[int, int]]:
    starts = [match.start() for match in CUDA_SPAN.finditer(source) if match["line"] is not None]
    return {(source.count("\n", 0, start), start - source.rfind("\n", 0, start) - 1) for start in starts}


def _check_python_regions(name: str, source: str, lines: list[str], regions: list[Region]) -> None:
    """Each solution holds whole statements, none further left than its marks, the first as far right."""
    rows = _statement_rows(source)
    for region in regions:
        inside = [row for row in range(region.begin + 1, region.end) if row in rows]
        if not inside:
            _fail(name, region.begin, "this solution holds no statement", "Fill it, or remove its marks.")
        for row in inside:
            rest = lines[row].removeprefix(region.indent)
            if not lines[row].startswith(region.indent) or (row == inside[0] and rest[:1] in (" ", "\t")):
                _fail(
                    name,
                    row,
                    f"this line is indented otherwise than the mark in line {region.begin + 1}",
                    "Indent the marks like the code between them.",
                )


def _statement_rows(source: str) -> set[int]:
    """The rows (from 0) in which a logical line begins."""
    rows, fresh = set(), True
    layout = {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NEWLINE:
            fresh = True
        elif fresh and token.type not in layout:
            rows.add(token.start[0] - 1)
            fresh = False
    return rows


def _check_cuda_regions(name: str, source: str, regions: list[Region]) -> None:
    """Each solution holds code, and closes the braces it opens."""
    # Strings and comments become blanks of as many lines.
    bare = CUDA_SPAN.sub(lambda span: "\n" * span[0].count("\n"), source).split("\n")
    for region in regions:
        code = "".join(bare[region.begin + 1 : region.end])
        if not code.strip():
            _fail(name, region.begin, "this solution holds no code", "Fill it, or remove its marks.")
        if code.count("{") != code.count("}"):
            _fail(
                name,
                region.begin,
                "this solution opens and closes unequal numbers of braces",
                "Move the marks so that what is left still has its braces in pairs.",
            )


def _check_in_functions(tree: ast.Module, name: str, origins: list[int], begins: set[int]) -> None:
    """Importing the skeleton raises nothing: every blank stands in a function."""
    in_functions = {
        statement.lineno - 1
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for statement in ast.walk(function)
        if isinstance(statement, ast.Raise)
    }
    for begin in begins:
        if origins.index(begin) + RAISE_ROW not in in_functions:
            _fail(
                name,
                begin,
                "this solution stands outside a function, so its blank would raise at import",
                "Move the marks into a function.",
            )


def _compile(source: str, name: str, origins: list[int] | range, what: str) -> ast.Module:
    try:
        compile(source, name, "exec", dont_inherit=True)
        return ast.parse(source, name)
    except SyntaxError as error:
        row = min(max((error.lineno or 1) - 1, 0), len(origins) - 1)
        _fail(name, origins[row], f"{what}: {error.msg}", "Mend the code or the marks.")
    except ValueError as error:  # a NUL character
        _fail(name, 0, f"{what}: {error}", "Mend the file.")


def _fail(name: str, row: int, what: str, mend: str) -> NoReturn:
    raise CourseError(f"{name}:{row + 1}: {what}. {mend}")
