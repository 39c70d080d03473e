"""Three engines that look right and are not. Find the smallest graph that exposes each.
三个看上去正确、其实有错的引擎。请为每一个找出能暴露它的最小的图。

Each takes the output of a graph and gives {node: adjoint}, as reverse_mode does.
每一个都接收图的输出，返回 {节点: 伴随量}，和 reverse_mode 一样。
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

MOST_NODES = 1000
LONGEST_PATH = 10  # nodes; each step is one of up to three numbers, and all choices are tried


def overwrite(output: Any) -> dict[Any, float]:
    """Every node after all of its users; what arrives replaces what was there.
    使用者全部处理完，才轮到节点自己；新到的值取代原有的值。
    """
    adjoints = {output: 1.0}
    for node in reversed(_inputs_first(output)):
        for operand, partial in _edges(node):
            adjoints[operand] = partial * adjoints[node]
    return adjoints


def breadth_first(output: Any) -> dict[Any, float]:
    """From the output, level by level; what arrives is added up.
    从输出开始，一层一层地走；到来的值逐个累加。
    """
    adjoints = {output: 1.0}
    queue = [output]
    for node in queue:  # it grows on the way
        for operand, partial in _edges(node):
            if operand not in adjoints:
                queue.append(operand)
            adjoints[operand] = adjoints.get(operand, 0.0) + partial * adjoints[node]
    return adjoints


def once_by_value(output: Any) -> dict[Any, float]:
    """Every node after all of its users, added up; `value in done` sees to it that none has two turns.
    使用者全部处理完才轮到节点自己，并且累加；用 `value in done` 保证谁也不会轮到两次。
    """
    adjoints = {output: 1.0}
    done = set()
    for node in reversed(_inputs_first(output)):
        if node.value in done:
            continue
        done.add(node.value)
        for operand, partial in _edges(node):
            adjoints[operand] = adjoints.get(operand, 0.0) + partial * adjoints.get(node, 0.0)
    return adjoints


# By the id of the notebook's cell; the least number of nodes of a graph that exposes each.
ENGINES: dict[str, Callable[[Any], dict[Any, float]]] = {
    "overwrite": overwrite,
    "breadth-first": breadth_first,
    "once-by-value": once_by_value,
}
SMALLEST = {"overwrite": 2, "breadth-first": 4, "once-by-value": 3}


class NoAnswer(Exception):
    """What was handed in can't be examined; reason: "form", "graph", "path" or "size"."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True)
class Examined:
    """What an engine makes of a graph: the right derivative, the one it found, and the number of nodes.

    accounted: along the path named, which is not long, the local derivatives multiply to what is missing.
    """

    right: float
    found: float
    nodes: int
    exposed: bool
    smallest: bool
    accounted: bool

    @property
    def missing(self) -> float:
        """What the engine has lost of the derivative."""
        return self.right - self.found


def examine(engine: str, answer: Any) -> Examined:
    """An answer (output, input, path): does it expose the engine, is it smallest, is the path the lost one?

    path: the nodes from the output to the input along which a contribution is lost.
    Raises: NoAnswer.
    """
    if not isinstance(answer, tuple | list) or len(answer) != 3:
        raise NoAnswer("form")
    output, leaf, path = answer
    if not _is_node(output) or not _is_node(leaf):
        raise NoAnswer("form")
    order = _inputs_first(output)
    if not any(node is leaf for node in order) or leaf.inputs:
        raise NoAnswer("graph")
    right = _right(output, order).get(leaf, 0.0)
    found = ENGINES[engine](output).get(leaf, 0.0)
    exposed = math.isfinite(right) and not math.isclose(right, found, rel_tol=1e-6, abs_tol=1e-9)
    nodes = len(order)
    return Examined(
        right, found, nodes, exposed, nodes == SMALLEST[engine], _accounts(output, leaf, path, right - found)
    )


def _accounts(output: Any, leaf: Any, path: Any, missing: float) -> bool:
    if not isinstance(path, tuple | list) or len(path) < 2 or not all(map(_is_node, path)):
        raise NoAnswer("path")
    if path[0] is not output or path[-1] is not leaf:
        raise NoAnswer("path")
    if len(path) > LONGEST_PATH:
        return False
    steps = []
    for user, operand in itertools.pairwise(path):
        partials = [partial for one, partial in _edges(user) if one is operand]
        if not partials:
            raise NoAnswer("path")
        steps.append({*partials, sum(partials)})  # x * x has two edges: one of them, or both
    return any(
        math.isclose(math.prod(choice), missing, rel_tol=1e-6, abs_tol=1e-9)
        for choice in itertools.product(*steps)
    )


def _right(output: Any, order: list[Any]) -> dict[Any, float]:
    adjoints = {output: 1.0}
    for node in reversed(order):
        for operand, partial in _edges(node):
            adjoints[operand] = adjoints.get(operand, 0.0) + partial * adjoints[node]
    return adjoints


def _edges(node: Any) -> Iterator[tuple[Any, float]]:
    if node.inputs:
        yield from zip(node.inputs, node.op.partials(node.input_values, node.value), strict=True)


def _inputs_first(output: Any) -> list[Any]:
    order: list[Any] = []
    seen: set[Any] = set()
    stack = [(output, False)]
    while stack:
        node, inputs_are_in = stack.pop()
        if inputs_are_in:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            if len(seen) > MOST_NODES:
                raise NoAnswer("size")
            stack.append((node, True))
            stack += [(operand, False) for operand in node.inputs]
    return order


def _is_node(thing: Any) -> bool:
    return all(hasattr(thing, name) for name in ("value", "op", "inputs", "input_values"))
