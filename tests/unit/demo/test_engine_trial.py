"""Students' engines of every kind: each is tried, none stops the demo, and nothing is left running."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine_trial import APPLICATIONS, PARAMETERS, Trial, find_engine, truth, try_engine
from figures import students
from programs import rosenbrock_gradient, rosenbrock_point

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "reference" / "lab1_scalars"
ALL = 1 + len(APPLICATIONS) + len(PARAMETERS)


@pytest.fixture
def engine(tmp_path: Path) -> Callable[[str], Path]:
    """A folder with an engine.py that holds a text."""

    def written(text: str) -> Path:
        (tmp_path / "engine.py").write_text(text, encoding="utf-8")
        return tmp_path

    return written


def only(body: str) -> str:
    """A reverse_mode with a body."""
    return f"def reverse_mode(output, seed=1.0, record=None):\n    {body}\n"


def test_the_course_s_own_engine_is_right_at_every_point() -> None:
    trial = try_engine(REFERENCE)
    assert trial.verdict().text("en") == f"Your engine: all {ALL} gradients are right."
    assert [point.size for point in trial.points] == [2, *APPLICATIONS, *PARAMETERS]
    assert trial.points[-1].gradient == pytest.approx(rosenbrock_gradient(rosenbrock_point(10_000)))
    sizes, seconds, right = trial.curve("rosenbrock")
    assert (tuple(sizes), right) == (PARAMETERS, True)
    assert seconds[0] < seconds[-1]
    (line,) = students(trial, "rosenbrock")
    assert (line.label, line.x) == ("your engine", sizes)


def test_a_wrong_engine_is_named_with_the_number_it_gives() -> None:
    trial = try_engine(ROOT / "examples" / "submitted" / "adjoint-overwritten" / "lab1")
    said = "y = ln x1 + x1 x2 - sin x2: derivative 1 is 5, but should be 5.5"
    assert said in trial.verdict().text("en")
    assert "应为 5.5" in trial.verdict().text("zh")
    assert [line.label for line in students(trial, "logistic")] == ["your engine (WRONG)"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def", "raises an error at import: SyntaxError"),
        ("import torch_that_nobody_has", "raises an error at import: ModuleNotFoundError"),
        (
            only("raise NotImplementedError"),
            "at y = ln x1 + x1 x2 - sin x2: NotImplementedError",
        ),
        (only("return 3"), "raises an error at y = ln x1 + x1 x2 - sin x2: TypeError"),
        (only("exit(0)"), "raises an error at y = ln x1 + x1 x2 - sin x2: SystemExit: 0"),
        ("import os; os._exit(0)", "process ended without an answer, at import"),
        (only("import ctypes; ctypes.string_at(0)"), "ended without an answer, at y = ln"),
        ("import os; os.write(1, b'{}'); x = bytearray(2**40)", "raises an error at import: MemoryError"),
    ],
    ids=["syntax", "import", "unwritten", "wrong kind", "exit", "os exit", "segfault", "memory"],
)
def test_an_engine_that_breaks_is_told_in_one_line(
    engine: Callable[[str], Path], text: str, said: str
) -> None:
    trial = try_engine(engine(text))
    for language in ("en", "zh"):
        assert "\n" not in trial.verdict().text(language)
    assert said in trial.verdict().text("en")
    assert students(trial, "logistic") == []


def test_an_engine_that_hangs_is_stopped_and_all_it_started_ends(
    engine: Callable[[str], Path], running: Callable[[], list[str]]
) -> None:
    forks = "import os, time\nif os.fork() == 0:\n    time.sleep(60)\nos.fork()\n"
    trial = try_engine(engine(forks + only("while True: pass")), limit=1.0)
    assert "was stopped after 1 s, at y = ln" in trial.verdict().text("en")


def test_what_an_engine_prints_is_no_answer(engine: Callable[[str], Path]) -> None:
    lie = """{"gradient": [5.5, 1.7], "seconds": 0.0}"""
    trial = try_engine(engine(only(f"print({lie!r}, flush=True); return {{}}")))
    assert "raises an error at y = ln x1 + x1 x2 - sin x2: KeyError" in trial.verdict().text("en")
    assert trial.points == []


def test_whoever_has_left_the_group_is_not_waited_for(engine: Callable[[str], Path]) -> None:
    text = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(12)\n    os._exit(0)\n"
    begin = time.monotonic()
    trial = try_engine(engine(text + only("raise ValueError")))
    assert time.monotonic() - begin < 10
    assert "ValueError" in trial.verdict().text("en")


@pytest.mark.parametrize(
    "told",
    [
        b'{"at": "end", "size": 0}',
        b'{"at": "rosenbrock", "size": -1}',
        b'{"at": "lecture"}',
        b'{"at": "lecture", "size": 2}\n{"gradient": [5.5], "seconds": 0.1}',
        b'{"at": "lecture", "size": 2}\n{"gradient": [5.5, null], "seconds": 0.1}',
        b'{"at": "logistic", "size": 1}\n{"gradient": [1.6], "seconds": Infinity}',
        b'{"gradient": [5.5, 1.7], "seconds": 0.1}',
        b"[" * 900_000,
        b"\xff\x00",
    ],
    ids=lambda told: told[:30].decode(errors="replace"),
)
def test_a_lie_on_the_channel_is_no_answer(engine: Callable[[str], Path], told: bytes) -> None:
    (engine("") / "lie").write_bytes(told)
    text = "import os, pathlib\nlie = pathlib.Path(__file__).with_name('lie').read_bytes()\n"
    text += "for number in range(3, 30):\n"
    text += "    try: os.write(number, lie + b'\\n')\n    except OSError: pass\nos._exit(0)\n"
    trial = try_engine(engine(text))
    assert "ended without an answer" in trial.verdict().text("en")
    assert trial.points == []


def test_an_error_can_t_turn_or_colour_a_line(engine: Callable[[str], Path]) -> None:
    said = try_engine(engine(only(r"raise ValueError('\u202e\x1b[31m' + 'x' * 999)"))).verdict().text("en")
    assert said.isprintable()
    assert len(said) < 300


def test_points_told_before_the_end_are_kept(engine: Callable[[str], Path]) -> None:
    text = (REFERENCE / "engine.py").read_text(encoding="utf-8")
    text += "\nright = reverse_mode\ncalls = 0\n"
    text += "def reverse_mode(output, seed=1.0, record=None):\n"
    text += "    if len(topological_order(output)) > 50: import os; os._exit(3)\n    return right(output)\n"
    trial = try_engine(engine(text))
    assert trial.curve("logistic")[0] == list(APPLICATIONS)
    assert trial.verdict().text("en").endswith("ended without an answer, at Rosenbrock, N = 10.")


def test_an_engine_file_may_have_any_name_and_no_graph_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "engine (1).py"
    file.write_bytes((REFERENCE / "engine.py").read_bytes())
    assert find_engine(file) == file
    assert find_engine(tmp_path) is None


def test_a_path_without_an_engine_is_said(tmp_path: Path) -> None:
    said = try_engine(tmp_path / "nowhere").verdict()
    assert said.text("en").startswith(f"No engine at {tmp_path / 'nowhere'}: ENGINE must be a folder")


def test_without_an_engine_there_is_no_curve() -> None:
    assert students(None, "logistic") == students(Trial(), "logistic") == []


def test_truth_is_known_of_every_program() -> None:
    assert truth("lecture", 2)[0] == 5.5
    assert truth("logistic", 1) == pytest.approx((4 * (1 - 2 * 0.3),))
