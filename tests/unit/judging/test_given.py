"""Edited given code is named, and nothing a student can write stops the grader from looking."""

import time

import pytest

from autograder.judging.given import LONGEST, notes

SKELETON = '''\
"""A lab."""

import math


class Node:
    """A node,
    over two lines.
    """

    def __add__(self, other):
        """Their sum,
        as a node.
        """
        return Node(self.value + other.value)  # eager

    def __rsub__(self, other):
        """The difference."""
        # YOUR CODE HERE
        raise NotImplementedError


def sine(x):
    """sin x"""
    if x == 0:
        return 0.0
    return math.sin(x)


def order(output):
    # YOUR CODE HERE
    raise NotImplementedError
'''
DONE = SKELETON.replace("# YOUR CODE HERE\n        raise NotImplementedError", "return -(self + -other)")


def remarks(text, skeleton=SKELETON):
    return list(notes("graph.py", skeleton, text))


def changed(text):
    """The names of given functions that are said to differ."""
    found = [note.arguments["names"] for note in remarks(text) if note.id == "judging.note-given-differs"]
    return found[0].split(", ") if found else []


def test_filled_blanks_are_no_change():
    assert remarks(SKELETON) == []
    assert remarks(DONE) == []


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("self.value + other.value", "self.value - other.value", "Node.__add__"),
        ("return 0.0", "return 0", "sine"),
        ("math.sin(x)", "math.sin(x) + 1e-9", "sine"),
        ('    """sin x"""\n', "", "sine"),
        ("def sine(x):", "def sine(x, y=0):", "sine"),
        ("def __add__", "def __iadd__", "Node.__add__"),
    ],
)
def test_an_edited_given_function_is_named(old, new, name):
    assert DONE.count(old) == 1
    assert changed(DONE.replace(old, new)) == [name]


def test_all_edited_functions_are_named_together():
    text = DONE.replace("0.0", "0.5").replace("self.value + other.value", "1")
    assert changed(text) == ["Node.__add__", "sine"]
    assert "Node.__add__, sine" in remarks(text)[0].text("en")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  # eager", ""),
        ("if x == 0:", "if x==0 :  # 零"),
        ("    return math.sin(x)", "\n\n    # my remark\n    return math.sin( x )"),
        ("import math\n", "import math\nimport numpy as np\n\n\ndef helper():\n    return 3\n"),
        ("    ", "  "),
        ("    ", "\t"),
        ("\n", "\r\n"),
    ],
)
def test_comments_layout_and_additions_are_no_change(old, new):
    assert changed(DONE.replace(old, new)) == []


def test_a_file_that_is_no_python_accuses_nobody():
    for broken in ("def f(:\n", "x = 'unfinished\n", "?", "((((", '"""open', "\tx\n  y\n"):
        assert changed(broken + DONE.replace("0.0", "0.5")) == []
        assert changed(DONE.replace("0.0", "0.5") + broken) in ([], ["sine"])


@pytest.mark.parametrize(
    ("line", "noted"),
    [
        ("from turtle import right", True),
        ("import tkinter as tk", True),
        ("    breakpoint()", True),
        ("x = 1; import pdb; pdb.set_trace()", True),
        ("# import turtle", False),
        ("  # breakpoint()", False),
        ("import turtles", False),
        ("no_breakpoint = 3", False),
    ],
)
def test_lines_that_editors_and_debuggers_leave_are_named_with_their_number(line, noted):
    found = [note for note in remarks(DONE + line + "\n") if note.id == "judging.note-accident"]
    assert bool(found) == noted
    if noted:
        assert found[0].arguments["line"] == DONE.count("\n") + 1
        assert line.strip() in found[0].text("en")


HOSTILE = {
    "200 nested brackets": "x = " + "[" * 200 + "]" * 200,
    "only opening brackets": "(" * 1_000_000,
    "an unterminated string": "x = '" + "a" * 1_000_000,
    "quotes that never close": "'" + "\\'" * 500_000,
    "a docstring without end": '"""' + "\n" * 1_000_000,
    "zero bytes": "x = 1\n" + "\0" * 1_000_000,
    "one line of a megabyte": "a=1;" * 250_000,
    "a digit string": "1" * 1_000_000,
    "deep indentation": "".join(" " * depth + "if 1:\n" for depth in range(900)),
    "backslashes": "\\\n" * 500_000,
    "accidents everywhere": "breakpoint()" * 80_000,
    "nearly accidents": "breakpoint" * 100_000,
    "blank space": " " * 1_000_000,
    "f-strings in f-strings": "f'{" * 300_000,
    "lone surrogates and odd spaces": "\ud800\u2028\u3000\x0c" * 250_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_looked_at_in_bounded_time(name):
    start = time.process_time()
    for text in (HOSTILE[name], HOSTILE[name][: LONGEST - 10]):
        for note in remarks(text):
            assert note.text("en").isprintable()
            assert len(note.text("zh")) < 500
    assert time.process_time() - start < 3


def test_many_accidents_do_not_drown_the_report():
    assert len(remarks("breakpoint()\n" * 10_000)) <= 10


def test_an_accident_shows_no_control_characters():
    (note,) = [n for n in remarks(DONE + "breakpoint()  # \x1b[2J\n") if n.id == "judging.note-accident"]
    assert note.text("en").isprintable()
