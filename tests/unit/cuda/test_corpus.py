"""The kernel checker on the corpus: each wrong kernel reported by kind and line, each right one clean."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from kernels.corpus import FOLDER, Kernel, corpus
from kernels.detection import PAGE, VERSION, page, table
from kernels.problems import PROBLEMS
from kernels.running import ORDERS, default_case, impatient, missed, module_of, run

from labkit.cuda import compile as compiler

RIGHT, WRONG = corpus("right"), corpus("wrong")


@pytest.fixture(scope="module", autouse=True)
def endless_kernels_are_stopped_soon() -> Iterator[None]:
    with impatient():
        yield


def each(kernels: tuple[Kernel, ...]) -> Any:
    return pytest.mark.parametrize("kernel", kernels, ids=lambda kernel: kernel.name)


def test_the_corpus_is_as_large_as_promised() -> None:
    assert len(RIGHT) >= 40
    assert len(WRONG) >= 60
    assert len({kernel.mistake for kernel in WRONG}) >= 20
    assert len({kernel.problem for kernel in WRONG}) >= 12
    assert {kernel.problem for kernel in RIGHT + WRONG} == set(PROBLEMS)


def test_every_kernel_of_the_corpus_is_marked_and_every_wrong_one_expects_a_report() -> None:
    for path in FOLDER.rglob("*.cu"):
        assert len(re.findall(r"__global__ void", path.read_text("utf-8"))) == sum(
            kernel.path == path for kernel in RIGHT + WRONG
        ), path.name
    assert all(kernel.expected and kernel.mistake for kernel in WRONG)
    assert not any(kernel.allowed for kernel in RIGHT)
    names = [kernel.name for kernel in RIGHT + WRONG]
    assert len(names) == len(set(names))


@each(WRONG)
def test_a_wrong_kernel_is_reported_by_kind_and_line_and_the_same_on_three_runs(kernel: Kernel) -> None:
    checked = module_of(kernel.path, "cpu-check")
    first, *again = (run(checked, kernel, *default_case(kernel)).reports for _ in range(3))
    assert not missed(kernel, first)
    if "timeout" in kernel.expected:  # which thread the clock stops is chance
        assert all(
            {report.kind for report in reports} == {report.kind for report in first} for reports in again
        )
    else:
        assert again == [first, first]


@each(RIGHT)
def test_a_right_kernel_has_right_values_and_no_reports_in_any_mode(kernel: Kernel) -> None:
    family = PROBLEMS[kernel.problem].family
    modes = [("cpu-check", "forward"), *(("cpu", order) for order in ORDERS)]
    for backend, order in modes:
        module = module_of(kernel.path, backend, order)
        for block, size in family.everything() if order == "forward" else family.some():
            outcome = run(module, kernel, block, size)
            where = f"{backend} {order}, block {block}, size {size}"
            assert outcome.reports == (), where
            assert outcome.right, f"wrong values: {where}"


@pytest.mark.skipif(compiler.version("g++") != VERSION, reason=f"the table tells what g++ {VERSION} gives")
@pytest.mark.parametrize("cxx", ["g++"], indirect=True)
def test_the_detection_table_is_what_the_checker_sees_now() -> None:
    assert PAGE.read_text("utf-8") == page(table()), (
        "PYTHONPATH=tests/corpora python -m kernels.detection writes it anew"
    )
