"""The text of a kernels.cu: its kernels, what has no place in it, and what C++ needs rewritten."""

import re
from bisect import bisect
from collections.abc import Callable
from typing import NamedTuple

# No pattern may take longer than a text is long, whatever the text: the grader reads hostile ones.
_OPAQUE = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|(?<!R)\"(?:\\.|[^\"\\\n])*+\"?|(?<!\w)'(?:\\.[0-9a-fA-F]*|[^'\\\n])'",
    re.DOTALL,
)
_SPLICE = re.compile(r"\\[ \t\f\v]*+\r?$")  # at a line's end: g++ takes blanks behind the backslash too
_LONGEST = 2000  # letters of a kernel's parameters, or of what stands before it
_KERNEL = re.compile(
    r"__global__\b(?:\s|static\b|inline\b|__forceinline__\b|__launch_bounds__\s*+\([^();]*+\))*+\bvoid\b\s*+"
    rf"(?:__launch_bounds__\s*+\([^();]*+\)\s*+)?(\w+)\s*+\(([^)]{{0,{_LONGEST}}}+)\)"
)
_TEMPLATE = re.compile(r"\btemplate\s*<[^;{}]*>\s*(?:static\b\s*|inline\b\s*|extern\b\s*)*+")
_DYNAMIC_SHARED = re.compile(
    r"\bextern\s++__shared__\s++(?:__align__\s*\(\s*\d+\s*\)\s*+)?([\w:\s]{1,200}?)\s*+\b(\w++)\s*+\[\s*+\]\s*+;"
)
# What a kernel file may not hold, and the name of the problem (cuda.screen-NAME in the messages).
_FORBIDDEN = {
    "include": (
        r"^[ \t\r\f\v\0]*+(?:#|%:|\?\?=)[\s\0]*+"  # a comment of several lines may stand in a directive
        r"(?:(?:include\w*|import|embed|line)\b|pragma\b[\s\0]*+(?!unroll)|\d)"
    ),
    "paste": r"##|%:%:|\b\w*R\"|(?<![0-9a-fA-F])'|'(?![0-9a-fA-F])|\"(?!C\"|(?<=C\"))",
    "launch": r"<<<",
    "assembly": r"\b(?:asm|__asm|__asm__)\b",
    "attribute": r"\b(?:__attribute__|__attribute|__declspec|_Pragma|__extension__)\b|\[\s*\[",
    "host": r"\b(?:cuda[A-Z]\w*|std)\b",
    "builtin": r"\b(?:__(?:builtin|sync|atomic|sanitizer|tsan|ubsan|SANITIZE|has)_\w+|(?:cu|CU|host)_\w*)\b",
    "extern": r"\bextern\b(?!\s*\"C\"\s*(?:__global__|__device__|\{)|\s*__shared__)",
    "thread-local": r"\b(?:thread_local|__thread|constinit|typeid|throw|try|catch|new|delete|virtual)\b",
}
_PROBLEMS = {kind: re.compile(pattern, re.MULTILINE) for kind, pattern in _FORBIDDEN.items()}


class Parameter(NamedTuple):
    """One parameter of a kernel as it is written: `const float* x`."""

    type: str
    pointer: bool
    name: str


class KernelText(NamedTuple):
    """A kernel as it is written."""

    name: str
    line: int
    is_template: bool
    parameters: tuple[Parameter, ...]


class Problem(NamedTuple):
    """Something that has no place in a kernel file; `kind` is a message `cuda.screen-KIND`."""

    line: int
    kind: str
    text: str


def blanked(text: str, kept: str = "") -> str:
    """The text with comments and strings, but for `kept`, made of spaces: same length, same lines.

    A string without an end stays, and so does a raw one: both are refused.
    """

    def blank(found: re.Match[str]) -> str:
        token = found[0]
        endless = token.startswith('"') and (len(token) == 1 or not token.endswith('"'))
        return token if token == kept or endless else re.sub(r"[^\n]", " ", token)

    return _OPAQUE.sub(blank, text)


def screen(text: str) -> list[Problem]:
    """What has no place in a kernel file, by line; empty for an honest one."""
    code = blanked(_joined(text), kept='"C"')
    line_of = _lines(code)
    found = []
    for kind, pattern in _PROBLEMS.items():
        for match in pattern.finditer(code):
            found.append(Problem(line_of(match.start()), kind, " ".join(match[0].split())))
    return sorted(found)


def _joined(text: str) -> str:
    """The text with lines joined as a compiler does it first of all; each keeps its number."""
    joined, owed = [], 0
    for line in text.split("\n"):
        if part := _SPLICE.search(line):
            joined.append(line[: part.start()])
            owed += 1
        else:
            joined.append(f"{line}\n" + "\n" * owed)
            owed = 0
    return "".join(joined)


def _lines(text: str) -> Callable[[int], int]:
    """What tells the line of a place."""
    ends = [found.start() for found in re.finditer(r"\n", text)]
    return lambda place: bisect(ends, place - 1) + 1


def kernels(text: str) -> list[KernelText]:
    """All kernels of a text, in its order."""
    code = blanked(text)
    line_of = _lines(code)
    found = []
    for match in _KERNEL.finditer(code):
        start = match.start()
        at = code.rfind("template", max(0, start - _LONGEST), start)
        is_template = at >= 0 and bool(_TEMPLATE.fullmatch(code, at, start))
        found.append(KernelText(match[1], line_of(match.start(1)), is_template, _parameters(match[2])))
    return found


def _parameters(text: str) -> tuple[Parameter, ...]:
    found = []
    for part in filter(str.strip, text.split(",")):
        words = re.findall(
            r"\w+|\*|&|<[^>]*>", re.sub(r"\b(?:__restrict__|__restrict|restrict)\b", " ", part)
        )
        name = words[-1] if len(words) > 1 and words[-1].isidentifier() else ""
        kind = " ".join(word for word in (words[:-1] if name else words) if word != "*")
        found.append(Parameter(kind, "*" in words, name))
    return tuple(found)


def rewrite(text: str) -> str:
    """The text with `extern __shared__ T name[];` made a pointer, which is what C++ can say; lines stay."""
    pieces, end = [], 0
    for match in _DYNAMIC_SHARED.finditer(blanked(text)):
        kind, name = match[1], match[2]
        lines = "\n" * match[0].count("\n")
        pieces += [text[end : match.start()], f"{kind}* {name} = ({kind}*)cu_dynamic_shared();{lines}"]
        end = match.end()
    return "".join([*pieces, text[end:]])
