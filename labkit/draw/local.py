"""Values and local derivatives of every node, by each operation's own `compute` and `partials`.

What an operation can't say is None, and a line tells why; whatever follows from it is None too.
"""

from collections.abc import Sequence
from numbers import Real
from typing import Any

from labkit.messages import Message

from .nodes import Nodes, operation_name


class Local:
    """`values[k]` of node k, `partials[k][slot]`, and `notes` on what was missing, each said once."""

    def __init__(self, nodes: Nodes, language: str) -> None:
        self.notes: list[str] = []
        self._language = language
        known: dict[int, Any] = {}
        self.values: list[Any] = []
        self.partials: list[Sequence[Any]] = []
        for node in nodes.nodes:
            arguments = tuple(known.get(id(one), getattr(one, "value", None)) for one in node.inputs)
            value = _value(node, arguments)
            known[id(node)] = value
            self.values.append(value)
            self.partials.append(self._partials(node.op, arguments, value) if node.inputs else ())

    def _partials(self, op: Any, arguments: tuple[Any, ...], value: Any) -> Sequence[Any]:
        if not hasattr(op, "partials"):
            return self._unknown("lacks-partials", op, len(arguments))
        try:
            partials: Any = op.partials(arguments, value)
        except NotImplementedError:
            return self._unknown("no-partials", op, len(arguments))
        except Exception as error:  # a student's own code
            return self._unknown("broken-partials", op, len(arguments), error=type(error).__name__)
        if not isinstance(partials, tuple | list) or len(partials) != len(arguments):
            return self._unknown("odd-partials", op, len(arguments))
        if not all(isinstance(one, Real | dict) for one in partials):
            return self._unknown("odd-partials", op, len(arguments))
        return partials

    def _unknown(self, why: str, op: Any, count: int, **arguments: str) -> Sequence[Any]:
        message = Message(f"draw.{why}", {"op": operation_name(op), "count": count, **arguments})
        note = message.text(self._language)
        if note not in self.notes:
            self.notes.append(note)
        return (None,) * count


def _value(node: Any, arguments: tuple[Any, ...]) -> Any:
    if node.inputs:
        try:
            return node.op.compute(*arguments)
        except Exception:  # an array that isn't there yet, or a student's own code: the node may know better
            pass
    return getattr(node, "value", None)


def product(partial: Any, number: Any) -> Any:
    """A local derivative times a tangent or adjoint; None where one is unknown or they don't fit."""
    try:
        return None if partial is None or number is None else partial * number
    except TypeError:
        return None


def total(parts: Sequence[Any]) -> Any:
    """The sum of contributions, None where one is unknown or they don't fit."""
    result: Any = 0.0
    for part in parts:
        try:
            result = None if result is None or part is None else result + part
        except TypeError:
            return None
    return result
