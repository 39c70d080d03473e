"""Texts that attack the compiler's jail, and objects that want more than a kernel may, at every level."""

import base64
import json
import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.course import CompileLimits
from autograder.sandbox import compile_jail, compiling, objects
from autograder.sandbox.client import Level, SandboxError
from autograder.sandbox.compiling import Made, compile_safely
from autograder.sandbox.gate import look
from labkit.cuda import nvrtc

GXX = shutil.which("g++")
pytestmark = pytest.mark.skipif(GXX is None, reason="no g++ on this machine")
LIMITS = CompileLimits(cpu_s=1, memory_mb=400)
SECRET = "only_the_grader_reads_this"
RUNTIME = {"cu_barrier"}
Compile = Callable[..., Made]


@pytest.fixture(scope="module", params=["full", "portable"])
def compile_text(request: pytest.FixtureRequest) -> Iterator[Compile]:
    """Compiles a C++ text in the jail."""

    def compile_text(text: str, *flags: str, limits: CompileLimits = LIMITS) -> Made:
        command = [str(GXX), "-w", "-pipe", "-fPIC", *flags, "-c", "k.cpp", "-o", compiling.MADE]
        return compile_safely(request.param, command, {"k.cpp": text.encode()}, [], limits)

    try:
        compile_text("")
    except SandboxError as error:
        pytest.skip(str(error))
    yield compile_text


def test_an_honest_text_becomes_an_object(compile_text: Compile) -> None:
    text = '#include <cmath>\nextern "C" float f(float x) { return sinf(x); }'
    made = compile_text(text, limits=CompileLimits())
    assert made.succeeded and not made.timed_out
    assert objects.refusals(made.content, RUNTIME, checked=False) == []


def test_an_error_is_told_with_its_line(compile_text: Compile) -> None:
    made = compile_text("int f() {\n  return y;\n}")
    assert not made.succeeded and not made.content
    assert "k.cpp:2:10: error: " in made.said


@pytest.mark.parametrize(
    "text",
    [
        '#include "{}"',
        "#include <{}>",
        "#define NAME <{}>\n#include NAME",
        'asm(".incbin \\"{}\\"");',
        'asm(".include \\"{}\\"");',
        '#if __has_include("{0}")\n#include "{0}"\n#endif\n#error nothing',
        "#include <{}/../../../etc/passwd>",
    ],
)
def test_no_file_but_the_toolchain_s_own_can_be_read(
    compile_text: Compile, text: str, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text(f"int {SECRET} = +;\n")
    secret.chmod(0o644)
    for path in (str(secret), "/etc/passwd", os.path.abspath(__file__)):
        made = compile_text(text.format(path))
        assert not made.succeeded
        assert SECRET not in made.said and "root:" not in made.said and "import" not in made.said


@pytest.mark.parametrize(
    "text",
    [
        # exponentially many templates; constant evaluation; a file that includes itself twice
        "template<int N, int M> struct A { static const int v = A<N-1, 2*M>::v + A<N-1, 2*M+1>::v; };\n"
        "template<int M> struct A<0, M> { static const int v = M; };\nint x = A<26, 0>::v;",
        "constexpr int f() { int s = 0; for (long i = 0; i < 1L << 40; i++) s ^= 1; return s; }\n"
        "int a[1 + f()];",
        '#include "k.cpp"\n#include "k.cpp"',
    ],
)
def test_a_compile_bomb_ends_at_its_limit(compile_text: Compile, text: str) -> None:
    made = compile_text(text, "-fconstexpr-ops-limit=100000000000", "-fconstexpr-loop-limit=2000000000")
    assert made.timed_out and not made.succeeded
    assert made.cpu_s <= compiling.WALL * LIMITS.cpu_s  # on a busy machine the wall clock ends it


def test_memory_ends_at_its_limit_too(compile_text: Compile) -> None:
    ten = "#define A{0}(x) A{1}(x) A{1}(x) A{1}(x) A{1}(x) A{1}(x) A{1}(x) A{1}(x) A{1}(x) A{1}(x) A{1}(x)\n"
    text = "#define A0(x) x,\n" + "".join(ten.format(n, n - 1) for n in range(1, 8)) + "int a[] = { A7(1) };"
    made = compile_text(text, limits=CompileLimits(cpu_s=10, memory_mb=120))
    assert not made.succeeded
    assert made.timed_out or "memory" in made.said or "internal compiler error" in made.said


@pytest.mark.parametrize("megabytes", [9, 100])
def test_a_giant_object_is_not_taken(compile_text: Compile, megabytes: int) -> None:
    made = compile_text(f"char a[{megabytes} << 20] = {{1}};")
    assert not made.content
    assert made.too_large or not made.succeeded


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("__attribute__((constructor)) void f() {}", ("constructor", ".init_array")),
        ("__attribute__((constructor(200))) void f() {}", ("constructor", ".init_array.00200")),
        ("__attribute__((destructor)) void f() {}", ("constructor", ".fini_array")),
        ("struct A { A(); }; A::A() {} A a;", ("constructor", ".init_array")),
        ('__attribute__((section(".ctors"))) void (*p)() = 0;', ("constructor", ".ctors")),
        ("thread_local int x; int f() { return x++; }", ("thread-local", "x")),
        (
            'extern "C" { static void* r() { return 0; } void f() __attribute__((ifunc("r"))); }',
            ("indirect", "f"),
        ),
        ('extern "C" int system(const char*); void f() { system("id"); }', ("symbol", "system")),
        ('extern "C" void exit(int); void f() { exit(0); }', ("symbol", "exit")),
        (
            'extern "C" void* dlsym(void*, const char*); void* p() { return dlsym(0, ""); }',
            ("symbol", "dlsym"),
        ),
        ("namespace a { int secret(int); } int f() { return a::secret(3); }", ("symbol", "secret")),
        ("int* f() { return new int[3]; }", ("symbol", "_Znam")),
        ('extern "C" void __tsan_write4(void*) {}', ("defines", "__tsan_write4")),
        ('extern "C" void cu_barrier(int) {}', ("defines", "cu_barrier")),
        ('extern "C" float expf(float x) { return x; }', ("defines", "expf")),
        ('__attribute__((section(".mine"))) int x = 3;', ("section", ".mine")),
        (
            'extern "C" __attribute__((constructor(99))) void _sub_I_00099_0() {}',
            ("constructor", ".init_array.00099"),
        ),
    ],
)
def test_an_object_that_wants_more_than_a_kernel_may_is_refused(
    compile_text: Compile, text: str, refusal: tuple[str, str]
) -> None:
    made = compile_text(text)
    assert made.succeeded, made.said
    assert refusal in objects.refusals(made.content, RUNTIME, checked=False)


def test_the_checked_mode_s_own_start_up_function_passes_and_no_other_beside_it(
    compile_text: Compile,
) -> None:
    honest = 'extern "C" float f(float* x) { return *x; }'
    hostile = honest + '\nextern "C" __attribute__((constructor(99))) void start() {}'
    checked = [compile_text(text, "-fsanitize=thread") for text in (honest, hostile)]
    found = [objects.refusals(made.content, RUNTIME, checked=True) for made in checked]
    assert found == [[], [("constructor", ".init_array.00099")]]
    assert objects.refusals(checked[0].content, RUNTIME, checked=False)


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF" + bytes(500), os.urandom(4096)])
def test_what_is_no_object_is_refused_in_words(content: bytes) -> None:
    (refusal,) = objects.refusals(content, RUNTIME, checked=False)
    assert refusal.kind == "unreadable"


def test_an_object_whose_bytes_were_changed_raises_nothing(compile_text: Compile) -> None:
    content = compile_text('extern "C" float f(float* x) { return *x; }').content
    for place in range(0, len(content), 31):
        changed = bytearray(content)
        changed[place] ^= 0xFF
        objects.refusals(bytes(changed), RUNTIME, checked=False)


@pytest.mark.skipif(nvrtc.version() is None, reason="NVRTC is not installed")
@pytest.mark.parametrize("level", ["full", "portable"])
def test_nvrtc_reads_nothing_of_the_grader_s_and_ends(level: Level, tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text(f"int {SECRET} = +;\n")
    bomb = "template<int N, int M> struct A { static const int v = A<N-1, 2*M>::v ^ A<N-1, 2*M+1>::v; };\n"
    bomb += "template<int M> struct A<0, M> { static const int v = M; };\n__device__ int x = A<30, 0>::v;"
    kernel = 'extern "C" __global__ void k(float* y) {{ y[0] = {}; }}'
    assert look(level, kernel.format("1"), "kernels.cu") == ()
    assert look(level, kernel.format("\nz"), "kernels.cu")[0].startswith("kernels.cu:2: ")
    (told,) = look(level, f'#include "{secret}"', "kernels.cu")
    assert told.startswith("kernels.cu:1: cannot open source file") and SECRET not in told
    assert all("out of memory" in line for line in look(level, bomb, "kernels.cu"))


@pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/usr/bin/python3").exists(), reason="needs root and a Python for all users"
)
@pytest.mark.parametrize("level", ["full", "portable"])
def test_the_jail_holds_for_a_user_as_it_does_for_root(level: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        request = {
            "level": level,
            "world": compiling.toolchain(str(GXX)),
            "headers": [],
            "folder": None if level == "full" else folder,
            "command": [os.path.realpath(str(GXX)), "-c", "-pipe", "k.cpp", "-o", "made"],
            "files": {"k.cpp": base64.b64encode(b'#include "/etc/passwd"\n').decode()},
            "made": "made",
            "largest": 1 << 20,
            "cpu_s": 5,
            "memory_mb": 1024,
        }
        told = subprocess.run(
            ["/usr/bin/python3", "-P", "-s", "-S", "-B", str(Path(compile_jail.__file__))],
            input=json.dumps(request).encode(),
            capture_output=True,
            check=False,
            user=12345,
            group=12345,
            extra_groups=[],
            env={},
        ).stdout
    (length,) = struct.unpack_from("<I", told)
    head = json.loads(told[4 : 4 + length])
    if "fault" in head:
        pytest.skip(head["fault"])
    assert head["status"] == 1 and "/etc/passwd" in head["said"] and "root:" not in head["said"]
