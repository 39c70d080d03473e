"""Where the functions, methods and kernels stand that blanks of lab.toml are named after."""

import ast
from collections.abc import Iterator

from labkit.cuda import screen


def places(text: str, file: str) -> dict[str, range]:
    """The lines, from 1, of each function, CLASS.METHOD or kernel of a file's text."""
    if file.endswith(".py"):
        return dict(_functions(ast.parse(text).body))
    kernels = screen.kernels(text)
    ends = [*(kernel.line for kernel in kernels[1:]), text.count("\n") + 2]
    return {kernel.name: range(kernel.line, end) for kernel, end in zip(kernels, ends, strict=True)}


def blank_at(text: str, file: str, line: int) -> str:
    """What stands at a line, "" if it is nothing that a blank can be named after."""
    return next((name for name, lines in places(text, file).items() if line in lines), "")


def _functions(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, range]]:
    for one in body:
        if isinstance(one, ast.FunctionDef):
            yield owner + one.name, range(one.lineno, (one.end_lineno or one.lineno) + 2)  # a mark may follow
        elif isinstance(one, ast.ClassDef):
            yield from _functions(one.body, f"{one.name}.")
