"""What a student's file says besides its blanks: given code that differs, lines an editor left.

Only tokens are compared, never parsed: a parser of our own would run on hostile text.
"""

import ast
import functools
import io
import itertools
import re
import textwrap
import tokenize
from collections.abc import Iterator

from labkit.messages import Message

from .explain import clean

_IGNORED = (tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER)
# How wide an indentation is doesn't count, but where it ends does.
_STRUCTURE = {tokenize.NEWLINE: ";", tokenize.INDENT: "{", tokenize.DEDENT: "}"}
LONGEST = 100_000  # characters of a file that is compared
ACCIDENTS = 3  # of a file that are told
_ACCIDENT = re.compile(r"^\s*(?:from|import)\s+(?:turtle|tkinter)\b.*|^.*\b(?:breakpoint|set_trace)\(\).*")


def notes(file: str, skeleton: str, text: str) -> Iterator[Message]:
    """What a reader of this file should know; nothing here costs points."""
    own = _tokens(text)
    if own and (changed := [name for name, tokens in given_code(skeleton) if tokens not in own]):
        arguments = {"file": file, "names": ", ".join(changed)}
        yield Message("judging.note-given-differs", arguments)
    lines = enumerate(text.split("\n"), 1)
    left = ((number, line) for number, line in lines if _ACCIDENT.match(line) and line.lstrip()[0] != "#")
    for number, line in itertools.islice(left, ACCIDENTS):
        yield Message("judging.note-accident", {"file": file, "line": number, "code": clean(line)})


def _tokens(text: str) -> str:
    """The file's tokens on one line, without comments and layout; "" for what is no Python or too long."""
    found = []
    if len(text) > LONGEST:
        return ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.ERRORTOKEN:  # a quote without an end costs a scan of its line each
                return ""
            if token.type not in _IGNORED:
                words = " ".join(token.string.split())  # docstrings are indented too
                found.append(_STRUCTURE.get(token.type, words))
    except (tokenize.TokenError, SyntaxError):
        return ""
    return " " + " ".join(found) + " "


@functools.cache
def given_code(skeleton: str) -> list[tuple[str, str]]:
    """Name and tokens of every function and method of the skeleton that holds no blank.

    Raises: SyntaxError.
    """
    lines = skeleton.splitlines(keepends=True)
    found = []
    for name, node in _functions(ast.parse(skeleton), ""):
        source = textwrap.dedent("".join(lines[node.lineno - 1 : node.end_lineno]))
        if "raise NotImplementedError" not in source:
            found.append((name, _tokens(source)))
    return found


def _functions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
