"""Texts of kernels that hide from the screen, or keep it busy: the grader reads them before any jail does."""

import time

import pytest

from labkit.cuda import screen

LENGTH = 1 << 20  # what is taken of a file


@pytest.mark.parametrize(
    ("text", "named"),
    [
        # what g++ takes for one line
        ('#inc\\\nlude "/etc/passwd"', "#include"),
        ('#inc\\ \t\nlude "/etc/passwd"', "#include"),
        ('#inc\\\f\r\nlude "/etc/passwd"', "#include"),
        ('as\\ \nm("nop");', "asm"),
        # blanks of a directive
        ('\f#include "/etc/passwd"', "include"),
        ('#\v\0include "/etc/passwd"', "include"),
        ('#/*\n*/include "/etc/passwd"', "include"),
        ("#pragma/*\n*/GCC optimize(3)", "pragma"),
        ("#pragma\vGCC optimize(3)", "pragma"),
        # a comment for g++ whose quotation mark begins a string for who joins lines later
        ('/\\\n* " *\\\n/ asm("nop"); //"', "asm"),
        ('/\\\n/ "\nasm("nop"); //"', "asm"),
        # a raw string, behind which all is turned inside out
        ('const char* s = R"(")"; asm("nop"); //"', 'R"'),
        ('const char* s = u8R"x(")x"; asm("nop"); //"', 'R"'),
        # to be another kernel in the mode that looks for races
        ("#ifdef __SANITIZE_THREAD__", "__SANITIZE_THREAD__"),
        ("#if __has_feature(thread_sanitizer)", "__has_feature"),
        ("#ifdef CU_CHECK", "CU_CHECK"),
        ('#if __has_include("/etc/shadow")', "__has_include"),
    ],
)
def test_no_way_of_writing_hides_a_word_from_the_screen(text: str, named: str) -> None:
    found = [" ".join(problem.text.split("\0")) for problem in screen.screen(text)]
    assert any(named in words for words in found), found


def test_lines_keep_their_numbers_where_lines_are_joined() -> None:
    (problem,) = screen.screen("int a = 1 + \\\n  2; \\ \n\nint b;\nasm;")
    assert problem.line == 5


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        *(("", piece) for piece in (
            "a ", "\\", "\\\n", '"', '\\"', "/*", "'\\a", "[ ", "# ", "\n\t", "__x", "extern ", "asm ",
            "template <", "static ", "__launch_bounds__(", "__global__ ", "__global__ void k(",
            "__global__ void k()", "extern __shared__ ", "extern __shared__ float s[];",
        )),
        ("__global__", " "),
        ("__global__ ", "static "),
        ("__global__ ", "__launch_bounds__("),
        ("__global__ void k(", "<"),
        ("__global__ void k(", "int a, "),
        ("template <", "template <int>\n"),
        ("extern __shared__", " "),
        ("extern __shared__ ", "a "),
        ("extern __shared__ ", "a"),
        ("extern __shared__ ", '"'),
        ("extern __shared__ __align__(", "1"),
    ],
)  # fmt: skip
def test_reading_takes_no_longer_than_the_text_is_long(head: str, piece: str) -> None:
    text = head + piece * (LENGTH // 16 // len(piece))
    for read in (screen.screen, screen.kernels, screen.rewrite):
        began = time.process_time()
        read(text)
        assert time.process_time() - began < 0.7, read  # a tenth of it; what isn't linear takes minutes
