"""Public tests on the course's machine: everybody gets what `labkit check` says, whatever was handed in."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.labs import write_labs
from autograder.batch.precheck import Precheck, Prechecked
from autograder.course import load_course
from autograder.reporting.precheck import pages
from autograder.sandbox import public_tests
from autograder.sandbox.client import ForkServer, Level, SandboxError
from labkit.cuda import nvrtc
from labkit.cuda.compile import compiler

RIGHT_HERE_ALONE = """
extern "C" __global__ void large(float* y)
{
    __shared__ float s[20000];
    s[threadIdx.x] = y[0];
    __syncthreads();
    y[0] = s[1];
}
"""
PUBLIC = '''
import pytest

@pytest.mark.task("square")
def test_square(lab, expect):
    """The square of 3 is 9.
    3 的平方是 9。
    """
    expect.equal("square(3)", lab.graph.square(lab.graph.variable(3.0)).value, 9.0)

@pytest.mark.task("order")
def test_order(lab, expect):
    """A leaf stands alone.
    单个节点自成一列。
    """
    x = lab.graph.variable(1.0)
    expect.equal("order", len(lab.graph.topological_order(x)), 1)
'''


@pytest.fixture(params=["full", "portable"])
def at_level(request: pytest.FixtureRequest) -> Level:
    try:
        with ForkServer(request.param):
            return request.param
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture
def look(mini: Any, at_level: Level) -> Callable[[], dict[str, Prechecked]]:
    tests = mini.lab.reference / "tests"
    tests.mkdir()
    (tests / "test_public.py").write_text(PUBLIC, encoding="utf-8")
    write_labs(load_course(mini.root))
    return lambda: {
        one.student: one for one in Precheck(mini.lab, mini.submitted, at_level).run(1, lambda: None)
    }


def text(mini: Any, result: Prechecked) -> str:
    made = pages(load_course(mini.root), Precheck(mini.lab, mini.submitted, "full").shown, result)
    return made["precheck.md"].decode()


def test_right_wrong_unwritten_and_missing_work_is_told_apart(
    mini: Any, look: Callable[[], dict[str, Prechecked]]
) -> None:
    wrong = mini.solved["graph.py"].replace("def square(", "def square(a):\n    return a\n\ndef other(")
    mini.hand_in("right")
    mini.hand_in("wrong", graph=wrong)
    mini.hand_in("blank", graph=mini.skeleton["graph.py"])
    mini.hand_in("missing", graph=None)
    results = look()
    kinds = {
        student: [one.kind for one in result.run.outcomes.values()] if result.run else None
        for student, result in results.items()
    }
    assert kinds == {
        "right": ["passed", "passed"],
        "wrong": ["wrong", "passed"],
        "blank": ["unwritten", "unwritten"],
        "missing": ["broken", "broken"],
    }
    assert "graph.py is missing" in text(mini, results["missing"])
    assert "3 的平方是 9" in text(mini, results["wrong"])


HOSTILE = {
    "exits": "import os\nos._exit(0)",
    "crashes": "import ctypes\nctypes.string_at(8)",
    "speaks": "import os\nfor fd in range(3, 20):\n    try: os.write(fd, b'[' * 100_000 + b'\\n')\n"
    "    except OSError: pass",
    "floods": "import os\nfor fd in range(3, 20):\n    try:\n        while True: os.write(fd, b'x' * 65536)\n"
    "    except OSError: pass",
    "forks": "import os\nos.fork()",
    "reads": "open('{secret}').read()",
    "writes": "open('{secret}', 'w')",
    "connects": "import socket\nsocket.create_connection(('127.0.0.1', 9))",
}


def test_hostile_work_gets_a_page_and_reaches_nothing(
    mini: Any, look: Callable[[], dict[str, Prechecked]], tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("only the grader reads this")
    for student, code in HOSTILE.items():
        mini.hand_in(student, engine=code.format(secret=secret) if "{secret}" in code else code)
    mini.hand_in("right")
    results = look()
    assert secret.read_text() == "only the grader reads this"
    assert {student for student, result in results.items() if result.run} >= {"right", "exits", "crashes"}
    for student in ("forks", "reads", "writes", "connects"):
        run = results[student].run
        assert run is not None and run.imports["engine.py"].details["error"] in (
            "PermissionError",
            "FileNotFoundError",
        )
    for result in results.values():
        assert "only the grader" not in text(mini, result)


def test_who_tells_of_new_tests_for_ever_is_stopped(
    mini: Any, look: Callable[[], dict[str, Prechecked]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(public_tests, "STARTS", 3)
    code = """
def square(a):
    import os, json, random
    told = {"event": "collected", "tests": [{"test": str(random.random()), "task": "", "law": {}}]}
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, json.dumps(told).encode() + bytes([10]))
        except OSError:
            pass
    os._exit(0)

def other("""
    mini.hand_in("endless", graph=mini.solved["graph.py"].replace("def square(", code))
    result = look()["endless"]
    assert result.run is None
    assert "could not be run to their end" in text(mini, result)


PUBLIC_KERNELS = '''
import numpy as np
import pytest

from labkit import cuda

@pytest.mark.task("scale")
def test_scale(kernels, expect):
    """A vector is scaled.
    向量被缩放。
    """
    module = kernels.ready("scale")
    x, y = cuda.asarray(np.ones(40, np.float32)), cuda.empty(40, np.float32)
    module.get_function("scale")((2,), (32,), (x, y, np.float32(3), np.int32(40)))
    expect.no_reports("scale, n = 40", module)
    expect.equal("y[39]", float(cuda.asnumpy(y)[39]), 3.0)
'''


@pytest.mark.skipif(compiler() is None, reason="no C++ compiler on this machine")
def test_kernels_are_compiled_for_who_can_not_compile_them(cuda_course: Any, at_level: Level) -> None:
    root = cuda_course.root.parent / f"public-{at_level}"
    shutil.copytree(cuda_course.root, root)
    course = load_course(root)
    (course.labs[0].reference / "tests").mkdir()
    (course.labs[0].reference / "tests" / "test_public.py").write_text(PUBLIC_KERNELS, encoding="utf-8")
    write_labs(course)
    text = cuda_course.solved["kernels.cu"]
    for student, kernels in {
        "right": text,
        "no-guard": text.replace("if (i < n) {\n        y[i]", "{\n        y[i]"),
        "no-code": text.replace("factor * x[i];", "factor * z[i];"),
        "asm": text.replace("factor * x[i];", 'factor * x[i]; asm("nop");'),
        "untouched": cuda_course.skeleton["kernels.cu"],
        "not-CUDA": text + RIGHT_HERE_ALONE,
    }.items():
        folder = root / "class" / student / "lab9"
        folder.mkdir(parents=True)
        (folder / "kernels.cu").write_text(kernels, encoding="utf-8")
        (folder / "cuda_ops.py").write_text(cuda_course.solved["cuda_ops.py"], encoding="utf-8")
    checks = Precheck(course.labs[0], root / "class", at_level)
    results = {one.student: one for one in checks.run(1, lambda: None)}
    kinds = {
        one.student: [test.kind for test in one.run.outcomes.values()] for one in results.values() if one.run
    }
    assert kinds == {
        "right": ["passed"],
        "no-guard": ["reported"],
        "no-code": ["broken"],
        "asm": ["broken"],
        "untouched": ["unwritten"],
        "not-CUDA": ["passed"],
    }
    made = {student: pages(course, checks.shown, result) for student, result in results.items()}
    read = {student: page["precheck.md"].decode() for student, page in made.items()}
    assert "kernels.cu, line 4" in read["no-guard"]
    assert "kernels.cu:4: " in read["no-code"] and "kernels.cu:4: asm" in read["asm"]
    assert ("NVRTC" in read["not-CUDA"]) == (nvrtc.version() is not None) and "NVRTC" not in read["right"]
    shown = made["no-guard"]["precheck.html"].decode()
    assert "kernels.cu, line 4" in shown and "kernels.cu 第 4 行" in shown and "y[i] =" in shown
