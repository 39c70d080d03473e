"""The text of a kernels.cu: its kernels, what has no place in it, and what C++ needs rewritten."""

import re
from typing import NamedTuple

_OPAQUE = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|(?<!\w)'(?:\\.[0-9a-fA-F]*|[^'\\\n])'",
    re.DOTALL,
)
_CONTINUED = re.compile(r"(?:[^\n]*\\\r?\n)+[^\n]*")
_KERNEL = re.compile(
    r"__global__\b(?:\s+|static\b|inline\b|__forceinline__\b|__launch_bounds__\s*\([^)]*\))*?\bvoid\b\s*"
    r"(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)"
)
_TEMPLATE = re.compile(r"\btemplate\s*<[^;{}]*>\s*(?:static\s+|inline\s+)*$")
_DYNAMIC_SHARED = re.compile(
    r"\bextern\s+__shared__\s+(?:__align__\s*\(\s*\d+\s*\)\s*)?([\w:\s]+?)\s*\b(\w+)\s*\[\s*\]\s*;"
)
# What a kernel file may not hold, and the name of the problem (cuda.screen-NAME in the messages).
_FORBIDDEN = {
    "include": r"^[ \t]*(?:#|%:|\?\?=)[ \t]*(?:(?:include\w*|import|embed|line)\b|pragma[ \t]+(?!unroll)|\d)",
    "paste": r"##|%:%:|\b\w*R\"|(?<![0-9a-fA-F])'|'(?![0-9a-fA-F])|\"(?!C\"|(?<=C\"))",
    "launch": r"<<<",
    "assembly": r"\b(?:asm|__asm|__asm__)\b",
    "attribute": r"\b(?:__attribute__|__attribute|__declspec|_Pragma|__extension__)\b|\[\s*\[",
    "host": r"\b(?:cuda[A-Z]\w*|std)\b",
    "builtin": r"\b(?:__(?:builtin|sync|atomic|sanitizer|tsan|ubsan)_\w+|(?:cu|CU|host)_\w*)\b",
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
    """The text with comments and strings, but for `kept`, made of spaces: same length, same lines."""
    return _OPAQUE.sub(lambda found: found[0] if found[0] == kept else re.sub(r"[^\n]", " ", found[0]), text)


def screen(text: str) -> list[Problem]:
    """What has no place in a kernel file, by line; empty for an honest one."""

    def joined(found: re.Match[str]) -> str:
        parts = re.split(r"\\\r?\n", found[0])
        return "".join(parts) + "\n" * (len(parts) - 1)

    code = _CONTINUED.sub(joined, blanked(text, kept='"C"'))
    found = []
    for kind, pattern in _PROBLEMS.items():
        for match in pattern.finditer(code):
            line = code.count("\n", 0, match.start()) + 1
            found.append(Problem(line, kind, " ".join(match[0].split())))
    return sorted(found)


def kernels(text: str) -> list[KernelText]:
    """All kernels of a text, in its order."""
    code = blanked(text)
    found = []
    for match in _KERNEL.finditer(code):
        line = code.count("\n", 0, match.start(1)) + 1
        before = re.sub(r"\bextern\s*$", "", code[: match.start()].rstrip())
        is_template = bool(_TEMPLATE.search(before + " "))
        found.append(KernelText(match[1], line, is_template, _parameters(match[2])))
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
    result = text
    for match in reversed(list(_DYNAMIC_SHARED.finditer(blanked(text)))):
        kind, name = match[1], match[2]
        lines = "\n" * match[0].count("\n")
        pointer = f"{kind}* {name} = ({kind}*)cu_dynamic_shared();{lines}"
        result = result[: match.start()] + pointer + result[match.end() :]
    return result
