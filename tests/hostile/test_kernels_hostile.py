"""Kernels that attack, first on the way every submission takes, then past all screens, in the worker itself.

The second half compiles without screening: what a kernel could do that got through. The worker's end is told
by the machine's kernel, the next worker is as before, the grader's own process and file are unharmed.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from autograder.course import Limits
from autograder.judging.kernels import message_of
from autograder.judging.workshop import Workshop
from autograder.sandbox.client import Answer, Facts, ForkServer, Kernels, SandboxError
from autograder.worker import codec
from labkit.cuda import compile as cuda
from labkit.cuda import screen

pytestmark = pytest.mark.skipif(cuda.compiler() is None, reason="no C++ compiler on this machine")

HEAD = 'extern "C" __global__ void k(float* y, int n) {'
LIMITS = Limits(cpu_s=1, idle_s=1, wall_s=10, memory_mb=256, reply_mb=4)
PROGRAM = """
import numpy as np
from labkit import cuda
def run(lab, n):
    y = cuda.empty(n, np.float32)
    lab.kernels.get_function("k")((2,), (32,), (y, np.int32(n)))
    return {"y": cuda.asnumpy(y)}
"""


@pytest.fixture(scope="module")
def workshop(cuda_course: Any, level: Any) -> Workshop:
    return Workshop(cuda_course.lab, level)


PASTE = "#define J(a, b) a##b\n"
REFUSED = {
    "a constructor": ("__attribute__((constructor)) void f() {}\n" + HEAD + "}", "__attribute__"),
    "a constructor by macro": (
        PASTE + "J(__attri, bute__)((constructor)) void f() {}\n" + HEAD + "}",
        "__attribute__",
    ),
    "a constructor by [[…]]": ("[[gnu::constructor]] void f() {}\n" + HEAD + "}", "[["),
    "an object with a constructor": (
        "struct A { int x; A() { x = 3; } };\nA a[3];\n" + HEAD + "}",
        "constructor",
    ),
    "assembly": (HEAD + 'asm("syscall"); }', "asm"),
    "assembly by macro": (PASTE + HEAD + 'J(as, m)("syscall"); }', "asm"),
    "assembly by macro where only the header's names are": (
        "#ifdef __syncthreads\n#define J(a, b) a##b\n#else\n#define J(a, b)\n#endif\n"
        + HEAD
        + 'J(as, m)("x"); }',
        "asm",
    ),
    "assembly in two lines": (HEAD + 'a\\\nsm("syscall"); }', "asm"),
    "assembly behind a marker": ('#line 1 "language.h"\n' + PASTE + HEAD + 'J(as, m)("x"); }', "#"),
    "assembly behind the table": (
        HEAD + '}\n#line 1 "launch table"\n' + PASTE + 'void f() { J(as, m)("x"); }',
        "#",
    ),
    "a function of the C library": ("int system(const char*);\n" + HEAD + 'system("id"); }', "system"),
    "the same with C linkage": ('extern "C" int system(const char*);\n' + HEAD + 'system("id"); }', "extern"),
    "the same by macro": (PASTE + 'J(ex, tern) "C" void exit(int);\n' + HEAD + "exit(0); }", "exit"),
    "the runtime's own": (PASTE + "void J(host, _clear)();\n" + HEAD + "J(host, _clear)(); }", "host_clear"),
    "a hook of its own": (
        PASTE + 'J(ex, tern) "C" void J(__ts, an_write4)(void*) {}\n' + HEAD + "}",
        "__tsan_write4",
    ),
    "a file of the grader's": ('#include "/etc/passwd"\n' + HEAD + "}", "#include"),
    "a file by digraph": ('%:include "/etc/passwd"\n' + HEAD + "}", "include"),
    "a pragma": ('_Pragma("GCC optimize(\\"O3\\")")\n' + HEAD + "}", "_Pragma"),
    "thread-local data": (PASTE + "J(thread_, local) int q;\n" + HEAD + "q = 1; }", "thread-local"),
}


def test_names_that_are_gigabytes_in_full_end_at_a_bound(workshop: Workshop) -> None:
    twice = "template<class A, class B> struct P {};\ntypedef P<int, int> T0;\n"
    twice += "".join(f"typedef P<T{n}, T{n}> T{n + 1};\n" for n in range(15))
    long = "".join(f"__device__ int f{n}(T15*) {{ static int s; return s++; }}\n" for n in range(60))
    built = workshop.build({"kernels.cu": twice + long + HEAD + "}"})["kernels.cu"]
    assert built.problem and built.problem[0] == "crashed"
    assert "8 MB" in built.problem[1].text("en") and "模板" in built.problem[1].text("zh")


PASTED = [what for what, (text, named) in REFUSED.items() if "##" in text and named != "#"]


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_kernel_is_refused_with_its_line(workshop: Workshop, what: str) -> None:
    text, named = REFUSED[what]
    built = workshop.build({"kernels.cu": text})["kernels.cu"]
    assert built.problem is not None
    outcome, message = built.problem
    assert outcome == "forbidden-action"
    # Names that macros put together are refused as such, whatever they would have become.
    first = "##" if what in PASTED else named
    assert first in message.text("en") and "kernels.cu" in message.text("zh")
    assert "root:" not in message.text("en")


@pytest.mark.parametrize("what", PASTED)
def test_what_macros_put_together_would_be_found_behind_the_first_screen_too(
    cuda_course: Any, level: Any, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "screen", lambda text: [])
    text, named = REFUSED[what]
    built = Workshop(cuda_course.lab, level).build({"kernels.cu": text})["kernels.cu"]
    assert built.problem and built.problem[0] == "forbidden-action"
    assert named in built.problem[1].text("en")


def test_a_giant_object_and_a_compile_bomb_are_told(workshop: Workshop) -> None:
    giant = workshop.build({"kernels.cu": "__device__ char a[20 << 20] = {1};\n" + HEAD + "}"})["kernels.cu"]
    bomb = (
        "template<int N, int M> struct A { static const int v = A<N-1, M>::v ^ A<N-1, M + (1 << N)>::v; };\n"
        "template<int M> struct A<0, M> { static const int v = M; };\n__device__ int x = A<27, 0>::v;\n"
    )
    exploded = workshop.build({"kernels.cu": bomb + HEAD + "}"})["kernels.cu"]
    assert giant.problem and "more than 8 MB" in giant.problem[1].text("en")
    assert exploded.problem and exploded.problem[0] in ("timed-out", "crashed")
    assert exploded.cpu_s < 10


def test_an_honest_file_passes_every_screen(workshop: Workshop) -> None:
    text = (
        '// asm("x"), #include <x>, __attribute__\n__constant__ float c[3];\n'
        "template<int N> __device__ __forceinline__ float f() {\n"
        "    __shared__ __align__(16) float s[N];\n    s[0] = c[1];\n    return s[0];\n}\n"
        + HEAD
        + "\n    extern __shared__ float d[];\n#pragma unroll\n"
        "    for (int i = 0; i < 2; i++) y[0] = f<3>();\n"
        '    printf("%d asm\\n", n);\n    assert(n > 0);\n    atomicAdd(y, powf(d[0], 2) + __popc(n));\n'
        "    __syncthreads();\n    y[1] = __shfl_down_sync(0xffffffffu, y[0], 1);\n}\n"
    )
    built = workshop.build({"kernels.cu": text})["kernels.cu"]
    assert built.problem is None
    assert built.cpu_s < 3


# --- past the screens


@pytest.fixture(scope="module", params=["full", "portable"])
def server(request: pytest.FixtureRequest) -> Iterator[ForkServer]:
    try:
        with ForkServer(request.param, kernels=True) as server:
            server.session({}, "", []).close()
            yield server
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture
def launch(server: ForkServer) -> Callable[..., tuple[Answer, Facts, Answer]]:
    """Runs a kernel that no screen saw, then an honest one in the same session."""

    def launch(body: str, before: str = "", mode: codec.Mode = "forward", n: int = 64) -> Any:
        text = f"{before}\n{HEAD}{body}\n}}\n"
        compiled = {}
        for kind in cuda.MODES:
            library = cuda.build(text, "kernels.cu", kind)
            compiled |= {path.name: path.read_bytes() for path in (library, library.with_suffix(".json"))}
        runtime = cuda.build_runtime()
        compiled[runtime.name] = runtime.read_bytes()
        with server.session({"kernels.cu": text}, PROGRAM, [], Kernels(compiled, "kernels.cu")) as session:
            worker = session.worker(LIMITS)
            answer = worker.run("run", {"n": n}, mode)
            facts = worker.end()
            assert facts is not None
            other = session.worker(LIMITS)
            after = other.run("nothing", {})
            other.end()
        assert (
            after.failure and after.failure.name == "KeyError"
        )  # the session lives, and has no such program
        return answer, facts

    return launch


LIBC = 'extern "C" { void exit(int); void abort(); int munmap(void*, unsigned long); int raise(int); }'
INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x; "


@pytest.mark.parametrize("mode", ["forward", "checked"])
@pytest.mark.parametrize(
    ("body", "before", "outcomes"),
    [
        ("exit(0);", LIBC, "exited-early"),
        ("exit(7);", LIBC, "exited-early"),
        ("abort();", LIBC, "crashed"),
        ("raise(11);", LIBC, "ok crashed"),  # as a null pointer: the runtime may take it for one
        ("for (;;) y[0] = n;", "", "timed-out ok"),  # the runtime has a clock of its own
        ("float* volatile p = nullptr; *p = 1;", "", "ok"),
        ("munmap((void*)((unsigned long)y & ~((1ul << 28) - 1)), 1ul << 32);", LIBC, "ok crashed"),
        ("for (unsigned long i = 0; i < 5ul << 30; i += 1024) y[i] = 1;", "", "ok crashed"),  # 20 GB
        ("for (long i = 0; ; i -= 1024) y[i] = 1;", "", "ok crashed"),
        ("volatile float big[1 << 24]; big[n] = 1; y[0] = big[1];", "", "ok crashed"),
        ("((void (*)())y)();", "", "ok crashed"),
    ],
)
def test_a_kernel_that_got_through_ends_as_the_machine_says(
    launch: Any, body: str, before: str, outcomes: str, mode: codec.Mode
) -> None:
    began = time.monotonic()
    answer, facts = launch(body, before, mode)
    assert answer.outcome in outcomes.split()
    assert facts.memory_mb < 600
    assert time.monotonic() - began < 30


def test_memory_ends_with_the_allowance_and_the_arena(launch: Any) -> None:
    before = 'extern "C" { void* mmap(void*, long, int, int, int, long); int mprotect(void*, long, int); }'
    body = """
        if (threadIdx.x || blockIdx.x) return;
        y[0] = y[1] = 0;
        for (int i = 0; i < 200; i++) {
            char* piece = (char*)mmap(0, 16l << 20, 3, i & 1 ? 0x21 : 0x22, -1, 0);
            if (piece == (char*)-1) continue;
            for (long at = 0; at < 16l << 20; at += 4096) piece[at] = 1;
            y[0] += 16;
        }
        for (int i = 1; i < 20; i++) {
            char* slot = (char*)(((unsigned long)y & ~4095ul) + ((unsigned long)i << 28));
            if (mprotect(slot, 1l << 28, 3) == 0) y[1] += 256;
        }
    """
    answer, facts = launch(body, before)
    assert answer.outcome == "ok"
    taken, opened = answer.result["y"][:2]
    assert 0 < taken <= LIMITS.memory_mb and opened <= 24 * 256
    assert facts.memory_mb < LIMITS.memory_mb + 100


def test_a_kernel_reaches_no_file_process_or_network(launch: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("only the grader reads this")
    before = 'extern "C" { int open(const char*, int), fork(), socket(int, int, int), kill(int, int); }'
    body = f"""
        if (threadIdx.x || blockIdx.x) return;
        y[0] = open("{secret}", 0); y[1] = fork(); y[2] = socket(2, 1, 0); y[3] = kill({os.getpid()}, 9);
        for (int i = 4; i < n; i++) y[i] = 0;
    """
    answer, _ = launch(body, before)
    assert answer.outcome == "ok"
    np.testing.assert_array_equal(answer.result["y"][:4], [-1, -1, -1, -1])


def test_a_hundred_thousand_reports_are_merged_and_bounded(launch: Any) -> None:
    answer, _ = launch(INDEX + "for (int j = 0; j < 2000; j++) y[n + i + j] = 1;", "", "checked")
    assert answer.outcome == "ok"
    assert 1 <= len(answer.reports) <= codec.MAX_REPORTS
    lines = [message_of(report).text("en") for report in answer.reports]
    assert all(len(line) < 1000 for line in lines)


MADE_UP: dict[str, Any] = {
    "kind": "race",
    "severity": "error",
    "kernel": "k",
    "file": "kernels.cu",
    "line": 3,
    "thread": [0, 0, 0],
    "block": [0, 0, 0],
    "element": 1,
    "count": 1,
    "text": "you have {points} points\x1b[2J\n" + "x" * 400,
}


def test_a_report_that_is_made_up_stays_a_bounded_line_of_text() -> None:
    message = message_of(msgspec.convert(MADE_UP, codec.Report))
    assert "{points}" in message.text("en") and message.text("en").isprintable()
    assert len(message.text("en")) < 600


@pytest.mark.parametrize(
    "change",
    [
        {"severity": "fatal"},
        {"line": "3"},
        {"kernel": "k" * 300},
        {"thread": [0] * 4},
        {"text": ["nested"]},
        {"more": 1},
    ],
)
def test_reports_that_are_none_make_a_malformed_reply(change: dict[str, Any]) -> None:
    good = msgspec.msgpack.encode({"name": "run", "result": {}, "reports": [MADE_UP]})
    assert codec.decode_reply(good).reports[0].line == 3
    for reports in ([MADE_UP | change], [MADE_UP] * (codec.MAX_REPORTS + 1)):
        data = msgspec.msgpack.encode({"name": "run", "result": {}, "reports": reports})
        with pytest.raises(codec.BadMessage):
            codec.decode_reply(data)
