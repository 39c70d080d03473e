"""Kernels that are graded: values in three orders, reports where a check asks for them."""

import shutil
from collections.abc import Callable
from typing import Any

import pytest

from autograder import key
from autograder.batch import depends
from autograder.batch.store import Store
from autograder.course import CourseError, load_course
from autograder.reporting.pages import student_pages
from labkit.cuda import compile as cuda
from labkit.cuda import nvrtc

pytestmark = pytest.mark.skipif(cuda.compiler() is None, reason="no C++ compiler on this machine")

EVALUATE, SCALE, INSIDE = (
    "test_launch.py::test_doubled",
    "test_kernels.py::test_scale",
    "test_kernels.py::test_scale_stays_inside",
)
TOTAL, WAITS = "test_kernels.py::test_total", "test_kernels.py::test_total_waits"
GUARD, ADDED = "if (i < n) {\n        y[i]", "part[t] += part[t + half];\n        }\n        __syncthreads();"


def edited(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


WORK: dict[str, Callable[[str], dict[str, str | None]]] = {
    "right": lambda text: {},
    "no_guard": lambda text: {"kernels": edited(text, "if (i < n) {\n        y[i]", "{\n        y[i]")},
    "no_barrier": lambda text: {
        "kernels": edited(text, "t + half];\n        }\n        __syncthreads();", "t + half];\n        }")
    },
    "wrong": lambda text: {"kernels": edited(text, "factor * x[i]", "factor + x[i]")},
    "no_code": lambda text: {"kernels": edited(text, "factor * x[i];", "factor * z[i];")},
    "asm": lambda text: {"kernels": edited(text, "factor * x[i];", 'factor * x[i]; asm("nop");')},
    "calls": lambda text: {
        "kernels": "int system(const char*);\n" + edited(text, "factor * x[i];", 'system("true");')
    },
    "missing": lambda text: {"kernels": None},
    "renamed": lambda text: {"kernels": edited(text, "void scale(", "void scaled(")},
    "endless": lambda text: {
        "kernels": edited(text, "if (i < n) {\n        y[i]", "while (true) {\n        y[i]")
    },
    "null": lambda text: {"kernels": edited(text, "y[i] = factor * x[i];", "float* volatile p = 0; *p = 1;")},
    "forward_only": lambda text: {
        "kernels": edited(
            text, "= factor * x[i];", "= !i || y[i - 1] == factor * x[i - 1] ? factor * x[i] : 0;"
        )
    },
    "only_gnu": lambda text: {
        "kernels": edited(text, "y[i] = factor * x[i];", "y[i] = ({ float own = factor * x[i]; own; });")
    },
    "ops": lambda text: {"cuda_ops": "def doubled(x):\n    return 3 * x\n"},
    "launch": lambda text: {
        "cuda_ops": "import numpy as np\nfrom labkit import cuda\n"
        "def doubled(x):\n"
        "    y = cuda.empty(x.shape, np.float32)\n"
        "    cuda.RawModule(path='kernels.cu').get_function('scale')((1,), (2048,), (cuda.asarray(x), y))\n"
        "    return cuda.asnumpy(y)\n"
    },
}


@pytest.fixture(scope="module")
def graded(cuda_course: Any) -> Any:
    text = cuda_course.solved["kernels.cu"]
    for student, change in WORK.items():
        cuda_course.hand_in(student, **change(text))
    cuda_course.hand_in(
        "untouched", kernels=cuda_course.skeleton["kernels.cu"], cuda_ops=cuda_course.skeleton["cuda_ops.py"]
    )
    return cuda_course.grade()


def test_the_reference_passes_its_own_checks(graded: Any) -> None:
    assert graded.class_.faults == {}
    assert graded.points("right") == [8, 2, 3, 3]


def test_a_kernel_still_blank_is_not_attempted(graded: Any) -> None:
    assert graded.outcomes("untouched") == ["not-attempted"] * 3
    assert "kernels.cu, line" in graded.message("untouched", SCALE)


def test_wrong_values_cost_the_checks_on_values(graded: Any) -> None:
    assert graded.outcomes("wrong") == ["wrong", "wrong", "passed"]
    assert "y[0] should be" in graded.message("wrong", SCALE)


def test_a_report_costs_points_only_where_a_check_asks_for_it(graded: Any) -> None:
    assert graded.points("no_guard") == [7, 2, 2, 3]
    message = graded.message("no_guard", INSIDE)
    assert "kernels.cu, line 4, kernel scale: Thread (8,0,0) of block (1,0,0) uses x[40]" in message, message


def test_a_missing_barrier_is_told_with_its_lines(graded: Any) -> None:
    assert graded.outcomes("no_barrier") == ["passed", "passed", "wrong"]
    assert "part" in graded.message("no_barrier", WAITS)


def test_an_answer_that_depends_on_the_order_of_threads_is_wrong(graded: Any) -> None:
    assert "threads in reverse" in graded.message("forward_only", SCALE)


@pytest.mark.parametrize(
    ("student", "outcome", "words"),
    [
        ("no_code", "crashed", "kernels.cu:4: "),
        ("asm", "forbidden-action", "kernels.cu:4: asm"),
        ("calls", "forbidden-action", "kernels.cu, line 1: kernels may not call system"),
        ("missing", "crashed", "kernels.cu is missing"),
    ],
)
def test_a_file_that_can_not_be_used_is_told_by_its_line_to_every_task_that_needs_it(
    graded: Any, student: str, outcome: str, words: str
) -> None:
    assert graded.outcomes(student)[1:] == [outcome, outcome]
    assert words in graded.message(student, SCALE)
    assert graded.points(student)[0] == 0


@pytest.mark.parametrize(
    ("student", "outcomes"),
    [
        ("renamed", ["crashed", "crashed", "passed"]),
        ("endless", ["timed-out", "timed-out", "passed"]),
        ("null", ["wrong", "wrong", "passed"]),
        ("ops", ["wrong", "passed", "passed"]),
        ("launch", ["crashed", "passed", "passed"]),
    ],
)
def test_other_tasks_are_unharmed(graded: Any, student: str, outcomes: list[str]) -> None:
    assert graded.outcomes(student) == outcomes


def test_a_page_shows_what_the_checked_mode_saw(graded: Any) -> None:
    (detail,) = graded.file("no_barrier", "facts.json")["details"]
    assert detail["reports"] and detail["check"] in (TOTAL, WAITS) and detail["kind"] == "race"


def test_a_page_shows_the_smallest_launch_that_fails_by_itself(graded: Any) -> None:
    (detail,) = graded.file("no_guard", "facts.json")["details"]
    assert (detail["check"], detail["kind"]) == (INSIDE, "out-of-bounds")
    assert dict(detail["smaller"])["launches"] == "[[33, 32]]"
    assert "x[33], but the size of x is 33" in detail["message"]["arguments"]["text"]


@pytest.mark.skipif(nvrtc.version() is None, reason="NVRTC is not installed")
def test_what_the_real_compiler_says_is_a_fact_on_the_page_and_costs_nothing(
    cuda_course: Any, graded: Any
) -> None:
    assert graded.points("only_gnu") == [8, 2, 3, 3]
    (told,) = [one["gate"] for one in graded.file("only_gnu", "facts.json")["checks"] if "gate" in one]
    assert told[0].startswith("kernels.cu:4: ")
    assert not [one for one in graded.file("right", "facts.json")["checks"] if "gate" in one]
    stored = Store(graded.out / "lab9", key.key_id(key.load_key())).load("only_gnu")
    assert stored is not None
    pages = student_pages(load_course(cuda_course.root), cuda_course.lab, stored)
    assert "NVRTC" in pages["feedback.md"].decode() and "NVRTC" in pages["feedback.html"].decode()


@pytest.fixture
def page(cuda_course: Any, graded: Any) -> Callable[[str], str]:
    """A student's page in Markdown."""

    def page(student: str) -> str:
        stored = Store(graded.out / "lab9", key.key_id(key.load_key())).load(student)
        assert stored is not None
        return student_pages(load_course(cuda_course.root), cuda_course.lab, stored)["feedback.md"].decode()

    return page


def test_the_page_lists_reports_in_both_languages(page: Callable[[str], str]) -> None:
    shown = page("no_barrier")
    assert "kernels.cu, line 16, kernel total" in shown and "kernels.cu 第 16 行，核函数 total" in shown


@pytest.mark.parametrize(
    ("student", "words"),
    [
        ("no_barrier", "between"),
        ("no_guard", "which if keeps it away"),
        ("no_code", "the end of the one above"),
    ],
)
def test_the_next_step_is_about_kernels(page: Callable[[str], str], student: str, words: str) -> None:
    assert words in page(student).split("Next step", 1)[1].splitlines()[0]


def test_grading_twice_gives_the_same_bytes(cuda_course: Any, graded: Any) -> None:
    some = cuda_course.root / "some"
    for student in ("right", "no_barrier", "no_guard", "asm"):
        shutil.copytree(cuda_course.submitted / student, some / student)
    again = cuda_course.grade(out=cuda_course.root / "again", submitted=some)
    for student in again.results:
        assert again.file(student) == graded.file(student)


def test_without_a_compiler_the_lab_is_refused_in_one_line(
    cuda_course: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda, "compiler", lambda: None)
    with pytest.raises(CourseError, match=r"lab9: its kernels need a C\+\+ compiler.*apt-get install g\+\+"):
        depends.dependencies(cuda_course.lab)
