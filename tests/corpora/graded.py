"""A class of a small course as grading leaves it, and its pages as a browser gets them."""

import html
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

from autograder.batch.record import SCHEMA, Record
from autograder.batch.store import Facts, Stored
from autograder.course import Course, Lab, Late, Limits, Task
from autograder.judging.details import Detail, Found, Part
from autograder.judging.readable import Drawn
from autograder.judging.verdicts import Check, Verdict, result_of
from labkit.messages import Message

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LAB = Lab(
    "lab0",
    "lab0",
    {"zh": "标量", "en": "Scalars"},
    *(NOW, NOW, NOW),
    ("graph.py",),
    (),
    None,
    Limits(),
    (
        Task("order", 4, {"zh": "拓扑序", "en": "Order"}, ("graph.py",), (), (), Limits()),
        Task("reverse", 6, {"zh": "反向", "en": "Reverse"}, ("graph.py",), (), ("order",), Limits()),
    ),
    Path("/"),
    Path("/"),
)
NAME = {"zh": "课", "en": "C"}
COURSE = Course(Path("/"), "c", NAME, ("zh", "en"), "topic", Path("/s"), Path("/o"), "", Late(), (LAB,))
CHECKS = [
    Check("one", "order", 4, {"zh": "先输入", "en": "Inputs first"}),
    Check("two", "reverse", 6, {"zh": "梯度", "en": "Gradient"}),
]
CONTROL = "\x1b[2J\u202eevil\x00\u2066"
HOSTILE = "<script>alert(1)</script> [a](javascript:b) **b** `c` | # & $x$ " + CONTROL
HOSTILE += "\"'><img src=x onerror=alert(1)></title></style>"
VOID = {"meta", "input", "br", "link", "img", "hr"}
WRONG = Message(
    "judging.wrong-value",
    {"call": "lecture(x=2.1)", "quantity": "adjoints[1]", "expected": "5", "got": "3", "tolerance": "1e-11"},
)


def law(text):
    return Message("judging.law", {"text": text})


def detail(check="two", **changes):
    """What grading finds out about an adjoint that was written over."""
    nodes = [
        Drawn("v1", "variable", [], "2", "5.5"),
        Drawn("v2", "sin(v1)", [0], "0.9", "1"),
        Drawn("v3", "v1 * v2", [0, 1], "1.8", "1"),
    ]
    parts = [Part("v2", "-0.4", "1"), Part("v3", "0.9", "1")]
    found = Found("adjoint", 0, "5.5", "0.9", "", parts, "one-path")
    known = {
        "check": check,
        "program": "lecture",
        "inputs": [("x", "2.1"), ("graph", "10")],
        "smaller": [("x", "2"), ("graph", "1")],
        "message": Message(WRONG.id, {**WRONG.arguments, "call": "lecture"}),
        "mode": "reverse_mode",
        "nodes": nodes,
        "found": found,
    }
    return Detail(**known | changes)


def stored(student="ann", second="wrong", message=WRONG, details=(), **options):
    verdicts = [Verdict("one", "passed"), Verdict("two", second, message if second != "passed" else None)]
    return as_stored(result_of(LAB, CHECKS, verdicts, student, 0, **options), details)


def as_stored(result, details=()):
    return Stored(Record(SCHEMA, "k", {}, result), Facts("", "full", "", [], list(details)), "")


class Read(HTMLParser):
    """The page as a parser sees it: it must be well-formed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.texts, self.ids = [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.texts.append((self.open[-1], data))

    def section(self, tag):
        return [text.strip() for one, text in self.texts if one == tag and text.strip()]


def visible(page):
    return html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.S))
