"""Compiled kernels in a worker: found in a cache that a compiler's jail filled, loaded once for each mode."""

import os

from labkit import cuda
from labkit.cuda import launcher

from . import codec

RESERVED_BYTES = launcher.ARENA_BYTES


def use(cache: str) -> None:
    """From now on modules come from this folder, which nobody can write to, and run fast unless told else."""
    os.environ["ADKIT_CUDA_CACHE"] = cache
    os.environ["ADKIT_CUDA_BACKEND"] = "cpu"


class Kernels:
    """The kernels of one file, as the call at hand wants them run."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._loaded: dict[codec.Mode, cuda.RawModule] = {}
        self._mode: codec.Mode = "forward"

    def begin(self, mode: codec.Mode) -> None:
        """A call begins, which runs kernels so; what was reported before is nothing to it."""
        self._mode = mode or "forward"
        if mode == "checked":
            self.module.reports.clear()

    @property
    def module(self) -> cuda.RawModule:
        """The module, loaded when first asked for."""
        if self._mode not in self._loaded:
            checked = self._mode == "checked"
            self._loaded[self._mode] = cuda.RawModule(
                path=self._file,
                backend="cpu-check" if checked else "cpu",
                order="forward" if checked else self._mode,
            )
        return self._loaded[self._mode]

    def reports(self) -> list[codec.Report]:
        """What the checked mode saw in this call, errors first."""
        if self._mode != "checked":
            return []
        found = sorted(self.module.reports, key=lambda report: report.severity != "error")
        return [_told(report) for report in found[: codec.MAX_REPORTS]]


def _told(report: cuda.Report) -> codec.Report:
    return codec.Report(
        report.kind,
        "error" if report.severity == "error" else "warning",
        report.kernel[: codec.MAX_NAME],
        report.file[: codec.MAX_NAME],
        report.line,
        report.thread and list(report.thread),
        report.block and list(report.block),
        report.element,
        report.count,
        report.message[: codec.MAX_TEXT],
    )
