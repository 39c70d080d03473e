"""What an ended call is called, and the sentence about it."""

from pathlib import Path

import numpy as np
import pytest

from autograder.course import Blank, Limits, Task
from autograder.judging.explain import clean, describe, explain, in_full
from autograder.sandbox.client import Answer
from autograder.worker.codec import Failure, Frame

LIMITS = Limits(cpu_s=5, idle_s=3, wall_s=60, memory_mb=512)
TASK = Task("t", 1, {}, ("engine.py",), (Blank("reverse_mode", 40), Blank("Divide.partials", 5)), (), LIMITS)
CALL = "power(x=3)"


def raised(name, text="words", *functions, builtin=None, code="return 1 / 0"):
    frames = [Frame("engine.py", 7, function, code) for function in functions]
    return Answer("raised", failure=Failure(name, builtin or name, text, frames))


def explained(answer, **options):
    outcome, message = explain(answer, CALL, TASK, LIMITS, **options)
    return outcome, message.text("en"), message.text("zh")


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        (Answer("timed-out", detail="cpu"), "timed-out", "computed for more than 5 s"),
        (Answer("timed-out", detail="idle"), "timed-out", "waited 3 s"),
        (Answer("timed-out", detail="wall"), "timed-out", "had not ended after 60 s"),
        (Answer("out-of-memory"), "out-of-memory", "more than the 512 MB"),
        (Answer("crashed", detail="SIGSEGV"), "crashed", "SIGSEGV"),
        (Answer("exited-early", detail="exit code 0"), "exited-early", "exit code 0"),
        (Answer("malformed-reply", detail="two answers"), "malformed-reply", "two answers"),
        (Answer("forbidden-action", detail="a system call"), "forbidden-action", "a system call"),
        (Answer("grader-fault", detail="the jail is gone"), "grader-fault", "not your code"),
        (raised("ZeroDivisionError", "division", "f"), "crashed", "engine.py, line 7: return 1 / 0"),
        (raised("RecursionError", "deep", "f"), "crashed", "use a loop with a stack of your own"),
        (raised("SyntaxError", "bad", "<module>"), "crashed", "engine.py, line 7 is not valid Python"),
        (raised("TabError", "bad", "<module>"), "crashed", "not valid Python"),
        (raised("ModuleNotFoundError", "No module named 'torch'", "<module>"), "crashed", "numpy only"),
        (
            raised("ImportError", "cannot import name 'f' from 'graph'", "<module>"),
            "crashed",
            "import each other",
        ),
        (raised("AssertionError", "", "f"), "crashed", "stopped with AssertionError (engine.py, line 7: re"),
        (raised("SyntaxError", "bad", "<module>", code=""), "crashed", "bad (…)"),
        (raised("BdbQuit", "", "f", builtin="Exception"), "crashed", "debugger was left"),
        (raised("EOFError", "EOF when reading a line", "f"), "crashed", "keyboard input"),
        (raised("PermissionError", "no", "f"), "crashed", "without network"),
        (raised("KeyError", "x"), "crashed", "No line of yours raised it"),
        (raised("BadMessage", "y: expected a number, got Node", builtin="ValueError"), "wrong", "got Node"),
    ],
)
def test_each_ending_has_an_outcome_and_a_sentence(answer, outcome, words):
    found, english, chinese = explained(answer)
    assert found == outcome
    assert words in english
    assert english != chinese


def test_only_the_course_team_reads_what_failed_on_our_side():
    _, message = explain(Answer("grader-fault", detail="the jail is gone"), CALL, TASK, LIMITS)
    assert "jail" not in message.text("en") + message.text("zh")
    assert in_full(message).endswith("the jail is gone")
    _, other = explain(Answer("out-of-memory"), CALL, TASK, LIMITS)
    assert in_full(other) == other.text("en")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.1 + 0.2, "0.3"),
        (3, "3"),
        (None, "None"),
        ("add", "add"),
        (np.array([1.0, -0.5, 1 / 3]), "[1, -0.5, 0.333333333]"),
        (np.array([[1, 2], [3, 4]]), "[[1, 2], [3, 4]]"),
        (np.array([True, False]), "[True, False]"),
        (np.array(2.5, np.float32), "2.5"),
        (np.zeros(0), "[]"),
        (np.zeros((2, 0)), "float64[2×0]"),
        (np.arange(42).reshape(14, 3), "int64[14×3]"),
        (np.zeros(7, np.float32), "float32[7]"),
        ([13, 6, 12], "[13, 6, 12]"),
        ([1.5, [0, "a"]], "[1.5, [0, a]]"),
        ([0] * 7, "list[7]"),
        ({"a": 1.0, "b": np.zeros(9)}, "{a: 1, b: float64[9]}"),
        ("two\nlines\x1b[2J", "two lines\ufffd[2J"),
    ],
    ids=repr,
)
def test_an_input_is_shown_in_full_if_it_is_small_and_as_its_size_if_not(value, shown):
    assert describe("f", {"x": value}) == f"f(x={shown})"


def test_a_call_stays_on_one_line_of_bounded_length():
    inputs = {f"input{number}": "x" * 1000 for number in range(100)}
    assert len(describe("f", inputs)) <= 160


def test_a_blank_of_the_task_that_is_not_written_is_not_attempted():
    outcome, english, _ = explained(raised("NotImplementedError", "", "jacobian", "reverse_mode"))
    assert outcome == "not-attempted"
    assert english == "reverse_mode is not written yet (engine.py, line 7)."


def test_a_method_that_is_a_blank_is_known_by_its_qualified_name():
    assert explained(raised("NotImplementedError", "", "Divide.partials"))[0] == "not-attempted"


def test_a_blank_of_another_task_that_is_not_written_blocks():
    outcome, english, _ = explained(raised("NotImplementedError", "", "topological_order"))
    assert outcome == "blocked"
    assert "topological_order" in english


def test_a_subclass_of_not_implemented_error_counts_as_it():
    answer = raised("Later", "", "reverse_mode", builtin="NotImplementedError")
    assert explained(answer)[0] == "not-attempted"


def test_a_syntax_error_tells_its_place_once():
    _, english, _ = explained(
        raised("SyntaxError", "invalid syntax (engine.py, line 7)", "<module>", code="x = =")
    )
    assert english == "engine.py, line 7 is not valid Python: invalid syntax (x = =)."


@pytest.mark.parametrize("hurry", ["again", "slow"])
@pytest.mark.parametrize("detail", ["cpu", "idle", "wall"])
def test_under_limits_cut_short_no_number_of_seconds_is_told(hurry, detail):
    outcome, english, chinese = explained(Answer("timed-out", detail=detail), hurry=hurry)
    assert outcome == "timed-out"
    assert CALL in english and CALL in chinese
    assert not set("0123456789") & set((english + chinese).replace(CALL, ""))


def test_what_differs_from_run_to_run_is_left_out_of_a_message():
    first = clean("<Node object at 0x7f12ab34cd56> in /tmp/adkit-sub-ab12_xyz/graph.py")
    second = clean("<Node object at 0x7fffffffffff> in /var/folders/x/adkit-sub-qq99zz77/graph.py")
    assert first == second == clean("<Node object at 0x7f0000000000> in /sub/graph.py")
    assert clean("'sums/sub/total' and 0xff stay") == "'sums/sub/total' and 0xff stay"


def test_a_students_words_become_one_short_line_without_control_characters():
    line = clean("first\r\n\tsecond\x1b[2Jthird\x00\u202efourth\u2028fifth  中文" + "x" * 10_000)
    assert line.isprintable()
    assert "\x1b" not in line and "\u202e" not in line
    assert line.startswith("first second") and "中文" in line
    assert len(line) <= 200


@pytest.mark.parametrize("place", ["name", "text", "file", "function", "code"])
def test_every_word_of_a_forged_failure_is_cleaned(place):
    evil = "\x1b]0;owned\x07\n# heading\n" + "A" * 1_000_000
    words = {"name": "E", "text": "t", "file": "engine.py", "function": "f", "code": "c", place: evil}
    for builtin in ("ValueError", "NotImplementedError", "SyntaxError"):
        frame = Frame(words["file"], 1, words["function"], words["code"])
        failure = Failure(words["name"], builtin, words["text"], [frame])
        _, english, chinese = explained(Answer("raised", failure=failure))
        for sentence in (english, chinese):
            assert sentence.isprintable() and len(sentence) < 1000


def test_a_hostile_text_is_cleaned_in_bounded_time():
    for text in ("/a" * 500_000, "/adkit-sub-" * 50_000, "0x" * 500_000, " " * 1_000_000):
        assert len(clean(text)) <= 200


def test_no_sentence_shows_a_path_of_ours():
    answer = raised("ImportError", "cannot import name 'x' from 'graph' (/sub/graph.py)", "<module>")
    assert str(Path("/sub")) not in explained(answer)[1]
