"""Where kernels run: on the GPU that CuPy finds, or on the CPU; and the arrays of that place."""

import functools
import importlib
import importlib.util
import os
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from labkit.cuda import arrays
from labkit.messages import both

BACKENDS = ("gpu", "cpu", "cpu-check")


@functools.cache
def cupy() -> Any:
    """CuPy, if it is installed and can use a GPU; else None."""
    if importlib.util.find_spec("cupy") is None:
        return None
    found = importlib.import_module("cupy")
    return found if found.cuda.is_available() else None


@functools.cache
def _found() -> str:
    """The backend of "auto"; says once on stderr when there is CuPy and no GPU."""
    if cupy():
        return "gpu"
    if importlib.util.find_spec("cupy"):
        print(both("cuda.no-device"), file=sys.stderr)
    return "cpu-check"


def choose(backend: str = "auto") -> str:
    """The backend meant. "auto": $ADKIT_CUDA_BACKEND, else the GPU if there is one, else "cpu-check"."""
    if backend == "auto":
        backend = os.environ.get("ADKIT_CUDA_BACKEND") or _found()
    if backend not in BACKENDS:
        raise ValueError(both("cuda.bad-backend", given=backend))
    if backend == "gpu" and not cupy():
        raise RuntimeError(both("cuda.no-gpu"))
    return backend


def backend_name() -> str:
    """The backend of "auto", and of the arrays made here: "gpu", "cpu" or "cpu-check"."""
    return choose()


def empty(shape: arrays.Shape, dtype: npt.DTypeLike = np.float32) -> Any:
    """A device array whose elements have no values yet."""
    return cupy().empty(shape, dtype) if choose() == "gpu" else arrays.empty(shape, dtype)


def zeros(shape: arrays.Shape, dtype: npt.DTypeLike = np.float32) -> Any:
    """A device array of zeros."""
    return cupy().zeros(shape, dtype) if choose() == "gpu" else arrays.zeros(shape, dtype)


def asarray(values: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Any:
    """A copy of `values` on the device, contiguous; what is there already stays itself."""
    return cupy().asarray(values, dtype, order="C") if choose() == "gpu" else arrays.asarray(values, dtype)


def asnumpy(array: Any) -> npt.NDArray[Any]:
    """A copy of a device array in the host's memory."""
    return np.asarray(array.get()) if hasattr(array, "get") else np.array(array)
