"""`python -m labkit check` on kernels: what the checked mode sees, and what is said without a compiler."""

import pytest

from labkit.cuda import compile

PRODUCT = "        atomicAdd(&a_adjoint[i * a_stride], v_adjoint[i] * b[i * b_stride]);\n"
KERNELS = {"multiply-backward", "log-backward"}
compiled = pytest.mark.skipif(compile.compiler() is None, reason="no C++ compiler")


def line_of(kit, text):
    """The line of kernels.cu that holds `text`."""
    whole = (kit.lab / "kernels.cu").read_text(encoding="utf-8")
    assert whole.count(text) == 1
    return whole[: whole.index(text)].count("\n") + 1


def others(kit, printed):
    """The tasks that did not pass."""
    return {task for task, state in kit.states(printed).items() if state != "passed"}


@compiled
def test_a_missing_guard_is_named_with_its_line_and_thread(kit):
    kit.solve().edit("kernels.cu", "    if (i < n) {\n" + PRODUCT, "    {\n" + PRODUCT)
    code, printed, errors = kit.run("check", "lab1", "--language", "en")
    assert (code, errors) == (1, "")
    assert others(kit, printed) == {"multiply-backward"}
    assert f"kernels.cu, line {line_of(kit, PRODUCT)}, multiply_backward" in printed
    assert "multiply_backward, n = 1, block = 64" in printed


@compiled
def test_a_race_that_numbers_do_not_show_is_named(kit):
    plain = "        a_adjoint[i * a_stride] += v_adjoint[i] * b[i * b_stride];\n"
    kit.solve().edit("kernels.cu", PRODUCT, plain)
    code, printed, _ = kit.run("check", "lab1")
    assert code == 1
    assert others(kit, kit.run("check", "lab1", "--language", "en")[1]) == {"multiply-backward"}
    assert f"kernels.cu 第 {line_of(kit, plain)} 行" in printed


@compiled
def test_what_does_not_compile_is_told_once_with_its_line(kit):
    kit.solve().edit("kernels.cu", PRODUCT, PRODUCT.replace(";", ""))
    code, printed, errors = kit.run("check", "lab1", "--language", "en")
    assert (code, errors) == (1, "")
    assert others(kit, printed) == {"launch-configuration", *KERNELS}
    assert sum("kernels.cu" in line and "expected" in line for line in printed.splitlines()) == 1


@compiled
def test_an_endless_kernel_is_stopped_and_the_rest_is_checked(kit):
    kit.solve().edit("kernels.cu", "    if (i < n) {\n" + PRODUCT, "    while (i < n) {\n" + PRODUCT)
    code, printed, _ = kit.run("check", "lab1", "--language", "en")
    assert code == 1
    assert others(kit, printed) == {"multiply-backward"}


def test_without_a_compiler_one_line_says_so_and_nothing_fails(kit, tmp_path):
    none = {"ADKIT_CXX": "no-such-compiler", "ADKIT_CUDA_CACHE": str(tmp_path / "nothing compiled yet")}
    kit.solve()
    code, printed, errors = kit.run("check", "lab1", "--language", "en", **none)
    assert (code, errors) == (0, "")
    found = kit.states(printed)
    assert {task for task, state in found.items() if state == "not checked"} == {*KERNELS}
    assert set(found.values()) == {"passed", "not checked"}
    assert printed.count("no C++ compiler") == 1
    assert "课程机器" in kit.run("check", "lab1", **none)[1]
    kit.edit("kernels.cu", PRODUCT, "        // YOUR CODE HERE\n")
    code, printed, _ = kit.run("check", "lab1", "--language", "en", **none)
    assert code == 1
    assert kit.states(printed)["multiply-backward"] == "not written yet"
