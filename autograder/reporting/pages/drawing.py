"""From a stored detail to what is drawn and said of its graph, in one language."""

import dataclasses
import re
from dataclasses import dataclass

import msgspec

from autograder.course import HintLevel
from autograder.judging.details import Detail, Found
from autograder.judging.shrink import CODE
from labkit.draw import Item
from labkit.messages import Argument, Message

_LARGE = re.compile(r"(?:float|int)\d+\[")  # an array of which only the shape is told
_REPORTS = {
    "race": "race",
    "out-of-bounds": "out-of-bounds",
    "uninitialised-read": "uninitialised-read",
    "barrier-missed": "barrier",
    "barrier-divergent": "barrier",
    "timeout": "timeout",
}
_READABLE = 8  # nodes of a slide
_NUMERIC = re.compile(r"-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf|nan)\Z")
_NUMBERS = {"reverse_mode": "adjoint", "forward_mode": "tangent"}


@dataclass(frozen=True)
class Explained:
    """A failed check explained: texts as they are shown, "" where there is nothing to say."""

    inputs: list[tuple[str, str]]
    smaller: list[tuple[str, str]]
    smaller_says: str
    found: str
    sum: str
    next: str
    caption: str
    items: list[Item]
    reports: list[str]


def words(id: str, language: str, /, **arguments: Argument) -> str:
    """A text of the page."""
    return Message(f"feedback.{id}", arguments).text(language)


def explained(detail: Detail, hints: HintLevel, language: str) -> Explained:
    """What a page says beyond the verdict."""
    smaller = _inputs(detail.smaller, detail, language, drawn=True)
    says = ""
    if detail.message:
        few = [f"{name}={value}" for name, value in smaller if not _LARGE.match(value)]
        call = f"{detail.program}({', '.join(few)})"
        says = Message(detail.message.id, {**detail.message.arguments, "call": call}).text(language)
    found = detail.found
    caption = words("graph-smaller" if detail.smaller else "graph", language)
    return Explained(
        _inputs(detail.inputs, detail, language, drawn=not detail.smaller),
        smaller,
        says,
        _found(found, detail, language) if found else "",
        _sum(found, detail, language) if found and hints != "none" else "",
        _next_step(detail, hints, language),
        words("marked", language, graph=caption) if found else caption,
        _items(detail, language, "yours"),
        [report.text(language) for report in detail.reports],
    )


def anonymous(detail: Detail, hints: HintLevel, language: str) -> Explained:
    """What of it a class may see: the reference's graph and numbers, and of the student's one number at most.

    The names of operations, what was raised and the reports of kernels are texts of the student's.
    """
    found = detail.found
    if found and not _NUMERIC.match(found.got):
        found = msgspec.structs.replace(found, got="")
    detail = msgspec.structs.replace(detail, message=None, reports=[], found=found)
    items = _items(detail, language, "answered")
    near = _near(items)
    caption = "seen-in" if not found else "first-wrong" if near == items else "around-first-wrong"
    shown = explained(detail, hints, language)
    return dataclasses.replace(shown, found="", items=near, caption=words(caption, language))


def _near(items: list[Item]) -> list[Item]:
    """Of a large graph with a mark what lies next above and below it, as much as can be read from afar."""
    kept = above = below = [place for place, item in enumerate(items) if item.marked]
    if not kept or len(items) <= _READABLE:
        return items
    while len(kept) < _READABLE and (above or below):
        above = [i for place in above for i in items[place].inputs]
        below = [user for user, item in enumerate(items) if not set(below).isdisjoint(item.inputs)]
        kept = list(dict.fromkeys([*kept, *above, *below]))
    new = {place: number for number, place in enumerate(sorted(kept[:_READABLE]))}
    return [
        dataclasses.replace(items[place], inputs=tuple(new[i] for i in items[place].inputs if i in new))
        for place in new
    ]


def _next_step(detail: Detail, hints: HintLevel, language: str) -> str:
    """One hint: on the mistake where the course tells so much and it is known, else on the topic.

    Where nothing was found in the graph, the topic is that of the typical mistakes that explain it.
    """
    found = detail.found
    if hints == "none":
        return ""
    if hints == "mistake" and detail.hint:
        return detail.hint[language]
    if detail.kind:
        return words(f"next-report-{_REPORTS.get(detail.kind, 'other')}", language)
    if not found and detail.topics:
        topics = " / ".join(topic[language] for topic in detail.topics)
        return words("next-topic", language, topics=topics)
    if not found:
        return ""
    if hints == "mistake" and found.mistake:
        return words(f"mistake-{found.mistake}", language)
    at_the_start = found.kind in ("tangent", "adjoint") and not found.parts
    return words(f"next-{found.kind}{'-start' if at_the_start else ''}", language)


def _inputs(
    values: list[tuple[str, str]], detail: Detail, language: str, drawn: bool
) -> list[tuple[str, str]]:
    """A random graph is shown by what it builds, where that is drawn, and never by its numbers."""
    graph = "graph-drawn" if drawn and len(detail.nodes) > 1 else "a-graph"
    return [(name, words(graph, language, rows=value) if name == CODE else value) for name, value in values]


def _node(found: Found, detail: Detail) -> str:
    node = detail.nodes[found.node]
    return f"{node.name} = {node.formula}" if node.inputs else node.name


def _found(found: Found, detail: Detail, language: str) -> str:
    kind: str = found.kind
    if kind == "order":
        kind = "order-early" if found.other else "order-missing" if found.got == "0" else "order-again"
    elif found.mistake == "missing":
        kind = "missing"
    elif kind in ("tangent", "adjoint") and not found.parts:
        kind += "-start"
    return words(
        f"found-{kind}",
        language,
        name=detail.nodes[found.node].name,
        node=_node(found, detail),
        other=found.other,
        expected=found.expected,
        got=found.got,
    )


def _sum(found: Found, detail: Detail, language: str) -> str:
    if len(found.parts) < 2:
        return ""
    name = detail.nodes[found.node].name
    parts = [
        words("part", language, **_signed(part.partial, part.number), name=part.name) for part in found.parts
    ]
    return words(f"sum-{found.kind}", language, name=name, sum=" + ".join(parts), expected=found.expected)


def _signed(partial: str, number: str) -> dict[str, Argument]:
    """Negative numbers in brackets."""
    pair = {"partial": partial, "number": number}
    return {name: f"({text})" if text.startswith("-") else text for name, text in pair.items()}


def _items(detail: Detail, language: str, got: str) -> list[Item]:
    """The graph to draw, [] where there is none; `got`: the words for a wrong number."""
    items: list[Item] = []
    if len(detail.nodes) < 2:
        return items
    for place, node in enumerate(detail.nodes):
        number = _NUMBERS.get(detail.mode or "", "")
        notes = [words(number, language, number=node.number)] if number and node.number else []
        found = detail.found if detail.found and detail.found.node == place else None
        if found:
            notes = _at_the_mark(found, notes, language, got)
        label = f"{node.name} = {node.formula}" if node.inputs else node.name
        items.append(Item(label, tuple(node.inputs), f"= {node.value}", "\n".join(notes), bool(found)))
    return items


def _at_the_mark(found: Found, notes: list[str], language: str, got: str) -> list[str]:
    if found.kind == "partial":
        notes = [words("by", language, other=found.other, number=found.expected)]
    if found.kind == "order" or not found.got:
        return notes
    return [*notes, words(got, language, number=found.got)]
