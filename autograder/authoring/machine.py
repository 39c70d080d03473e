"""Mistakes that a machine makes in a lab's solutions: each a small change of one expression or statement.

If no hidden test sees one of them, the tests have a hole, or the change changes nothing: then it stands in
the lab's equivalents.toml, with the reason.

Source: DeMillo, Lipton & Sayward, Hints on Test Data Selection, IEEE Computer 11(4), 1978.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper, PositionProvider

from autograder.authoring import cutter
from autograder.authoring.mutants import Modules, shown, solved_modules, source
from autograder.course import Lab

_OPERATORS: dict[type[cst.CSTNode], cst.CSTNode] = {
    cst.Add: cst.Subtract(),
    cst.Subtract: cst.Add(),
    cst.Multiply: cst.Divide(),
    cst.Divide: cst.Multiply(),
    cst.Power: cst.Multiply(),
    cst.FloorDivide: cst.Multiply(),
    cst.Modulo: cst.FloorDivide(),
    cst.AddAssign: cst.SubtractAssign(),
    cst.SubtractAssign: cst.AddAssign(),
    cst.MultiplyAssign: cst.DivideAssign(),
    cst.DivideAssign: cst.MultiplyAssign(),
    cst.LessThan: cst.LessThanEqual(),
    cst.LessThanEqual: cst.LessThan(),
    cst.GreaterThan: cst.GreaterThanEqual(),
    cst.GreaterThanEqual: cst.GreaterThan(),
    cst.Equal: cst.NotEqual(),
    cst.NotEqual: cst.Equal(),
    cst.Is: cst.IsNot(),
    cst.IsNot: cst.Is(),
    cst.In: cst.NotIn(),
    cst.NotIn: cst.In(),
    cst.And: cst.Or(),
    cst.Or: cst.And(),
}
_TERMS = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide)
_ORDERED = (cst.Subtract, cst.Divide, cst.MatrixMultiply, cst.Power)
_ATOMS = (cst.Name, cst.Integer, cst.Float, cst.Call, cst.Subscript, cst.Attribute)

Rewrites = Iterator[tuple[str, cst.CSTNode, cst.CSTNode]]  # kind, node, what stands there now


@dataclass(frozen=True)
class Change:
    """One change. `line` counts in the solved file, marks and all; `was`, `becomes`: the lines it changes."""

    file: str
    line: int
    kind: str
    was: str
    becomes: str
    modules: Modules

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.kind}: {self.was} → {self.becomes or '(nothing)'}"


def changes(lab: Lab) -> list[Change]:
    """All changes inside the lab's solutions in Python, in the order of the files; no two are the same.

    Raises: CourseError.
    """
    solved = solved_modules(lab)
    return [change for name in lab.modules for change in _of_file(lab, name, solved)]


def _of_file(lab: Lab, name: str, solved: Modules) -> Iterator[Change]:
    text = source(lab, name)
    tree = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    finder = _Finder(_solution_rows(text, shown(lab, name)))
    tree.visit(finder)
    content, seen = text.encode(), {solved[name]}
    for line, start, length, kind, changed in finder.found:
        inserted = tree.module.code_for_node(changed).encode()
        mutated = (content[:start] + inserted + content[start + length :]).decode()
        module = cutter.without_marks(mutated, shown(lab, name))
        if module not in seen:
            seen.add(module)
            was, becomes = _differing(text.splitlines(), mutated.splitlines())
            yield Change(name, line, kind, was, becomes, solved | {name: module})


def _differing(old: list[str], new: list[str]) -> tuple[str, str]:
    """The lines between those that are the same, each text on one line."""
    start = next(row for row, pair in enumerate(zip_longest(old, new)) if pair[0] != pair[1])
    end = next(row for row, pair in enumerate(zip(old[::-1], new[::-1], strict=False)) if pair[0] != pair[1])
    was, becomes = (" ".join(" ".join(one[start : len(one) - end]).split()) for one in (old, new))
    return was, becomes


def _solution_rows(text: str, name: str) -> set[int]:
    """The numbers of the lines that students write."""
    return {
        row
        for first, solution in cutter.solutions(text, name)
        for row in range(first, first + solution.count("\n") + 1)
    }


class _Finder(cst.CSTVisitor):
    """Collects changes in some rows of a file: line, first byte, length, kind, what stands there now."""

    METADATA_DEPENDENCIES = (PositionProvider, ByteSpanPositionProvider)

    def __init__(self, rows: set[int]) -> None:
        super().__init__()
        self._rows = rows
        self.found: list[tuple[int, int, int, str, cst.CSTNode]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Note what can be made of a node, and look below it; but what an error says is not graded."""
        if isinstance(node, cst.Raise | cst.Annotation):
            return False
        if self.get_metadata(PositionProvider, node).start.line in self._rows:
            for kind, old, new in _rewrites(node):
                line = self.get_metadata(PositionProvider, old).start.line
                span = self.get_metadata(ByteSpanPositionProvider, old)
                if getattr(old, "lpar", ()) and hasattr(new, "lpar"):  # brackets are no part of a span
                    new = new.with_changes(lpar=(), rpar=())
                self.found.append((line, span.start, span.length, kind, new))
        return True


def _rewrites(node: cst.CSTNode) -> Rewrites:
    """What a machine makes of one node and of those right below it."""
    match node:
        case cst.BinaryOperation():
            yield from _of_binary(node)
        case cst.BooleanOperation() | cst.ComparisonTarget():
            yield from _other_operator(node.operator)
        case cst.UnaryOperation(operator=cst.Minus() | cst.Not()):
            yield "sign dropped", node, _operand(node.expression)
        case cst.Integer():
            yield "off by one", node, cst.Integer(str(node.evaluated_value + 1))
            if node.evaluated_value > 0:
                yield "off by one", node, cst.Integer(str(node.evaluated_value - 1))
        case cst.Name(value="True" | "False"):
            yield "constant", node, cst.Name(str(node.value == "False"))
        case cst.If() | cst.While() | cst.IfExp() | cst.CompIf():
            yield "condition negated", node.test, cst.UnaryOperation(cst.Not(), _operand(node.test))
            yield "condition never true", node.test, cst.Name("False")
            if not isinstance(node, cst.While):
                yield "condition always true", node.test, cst.Name("True")
        case cst.AugAssign():
            yield from _other_operator(node.operator)
            yield "update made assignment", node, cst.Assign([cst.AssignTarget(node.target)], node.value)
            yield "statement dropped", node, cst.Pass()
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript())]) | cst.Expr(value=cst.Call()):
            yield "statement dropped", node, cst.Pass()
        case cst.Call():
            yield from _of_call(node)
        case cst.Tuple():
            for place, (one, other) in enumerate(pairwise(node.elements)):
                elements = _exchanged(node.elements, place, one.value, other.value)
                yield "elements swapped", node, node.with_changes(elements=elements)
        case cst.Break():
            yield "jump", node, cst.Continue()
        case cst.Continue():
            yield "jump", node, cst.Break()


def _of_binary(node: cst.BinaryOperation) -> Rewrites:
    yield from _other_operator(node.operator)
    if isinstance(node.operator, _TERMS):
        yield "term dropped", node, _operand(node.left)
        yield "term dropped", node, _operand(node.right)
    if isinstance(node.operator, _ORDERED):
        swapped = node.with_changes(left=_operand(node.right), right=_operand(node.left))
        yield "operands swapped", node, swapped


def _other_operator(operator: cst.CSTNode) -> Rewrites:
    if other := _OPERATORS.get(type(operator)):
        space = {"whitespace_before": cst.SimpleWhitespace(""), "whitespace_after": cst.SimpleWhitespace("")}
        yield "operator", operator, other.with_changes(**space)


def _of_call(node: cst.Call) -> Rewrites:
    for place, (one, other) in enumerate(pairwise(node.args)):
        if one.keyword is None and other.keyword is None:
            arguments = _exchanged(node.args, place, one.value, other.value)
            yield "arguments swapped", node, node.with_changes(args=arguments)
    if len(node.args) == 1 and not node.args[0].star:
        yield "call dropped", node, _operand(node.args[0].value)
    elif not node.args and isinstance(node.func, cst.Attribute):
        yield "call dropped", node, node.func.value
    for place in range(len(node.args)):
        kept = [one for index, one in enumerate(node.args) if index != place]
        if kept:
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        yield "argument dropped", node, node.with_changes(args=kept)


def _exchanged(
    nodes: Sequence[cst.CSTNode], place: int, one: cst.BaseExpression, other: cst.BaseExpression
) -> list[cst.CSTNode]:
    """The nodes with the values at `place` and behind it exchanged."""
    exchanged = list(nodes)
    exchanged[place] = nodes[place].with_changes(value=other)
    exchanged[place + 1] = nodes[place + 1].with_changes(value=one)
    return exchanged


def _operand(expression: cst.BaseExpression) -> cst.BaseExpression:
    """The expression so that it stays whole, whatever operator stands beside it."""
    if isinstance(expression, _ATOMS) or expression.lpar:
        return expression
    return expression.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
