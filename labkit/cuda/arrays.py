"""Arrays of the CPU's "device": they lie in the host's memory but, as on a GPU, only kernels use them."""

from collections.abc import Callable
from types import EllipsisType
from typing import Any

import numpy as np
import numpy.typing as npt

from labkit.messages import both

Shape = int | tuple[int, ...]
Basic = int | slice | EllipsisType | None


class Storage:
    """The bytes of an array and of all views of it, and which elements a kernel or the host has stored."""

    def __init__(self, elements: npt.NDArray[Any], written: npt.NDArray[np.uint8]) -> None:
        self.elements, self.written = elements, written
        self.on_read: Callable[[], None] | None = None  # of the module whose kernel had it last to store to


class Array:
    """An array on the device: kernels take it, `asnumpy` brings it back; slices and reshapes are views."""

    def __init__(self, storage: Storage, view: npt.NDArray[Any]) -> None:
        self.storage, self._view = storage, view

    @property
    def shape(self) -> tuple[int, ...]:
        """As of a NumPy array."""
        return self._view.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """As of a NumPy array."""
        return self._view.dtype

    @property
    def ndim(self) -> int:
        """As of a NumPy array."""
        return self._view.ndim

    @property
    def size(self) -> int:
        """As of a NumPy array."""
        return int(self._view.size)

    @property
    def nbytes(self) -> int:
        """As of a NumPy array."""
        return self._view.nbytes

    @property
    def flags(self) -> Any:
        """As of a NumPy array; kernels need `flags.c_contiguous`."""
        return self._view.flags

    @property
    def offset(self) -> int:
        """Bytes from the start of the storage to the first element."""
        return int(self._view.ctypes.data) - int(self.storage.elements.ctypes.data)

    def reshape(self, *shape: Any) -> "Array":
        """The same elements in another shape."""
        view = self._view.reshape(*shape)
        if not np.shares_memory(view, self._view) and view.size:
            raise ValueError(both("cuda.not-contiguous-view"))
        return Array(self.storage, view)

    def get(self) -> npt.NDArray[Any]:
        """A copy in the host's memory."""
        if self.storage.on_read:
            self.storage.on_read()
        return self._view.copy()

    def __getitem__(self, index: Basic | tuple[Basic, ...]) -> "Array":
        if isinstance(index, list | np.ndarray):
            raise IndexError(both("cuda.basic-index"))
        indices = index if isinstance(index, tuple) else (index,)
        view = self._view[indices if Ellipsis in indices else (*indices, ...)]  # a view, of one element too
        if not isinstance(view, np.ndarray) or (view.size and not np.shares_memory(view, self._view)):
            raise IndexError(both("cuda.basic-index"))
        return Array(self.storage, view)

    def __len__(self) -> int:
        return len(self._view)

    def __array__(self, *_: Any, **__: Any) -> npt.NDArray[Any]:
        raise TypeError(both("cuda.implicit"))

    def __repr__(self) -> str:
        return f"<device array {self.dtype}{list(self.shape)}>"


def empty(shape: Shape, dtype: npt.DTypeLike = np.float32) -> Array:
    """An array whose elements have no values yet (here: all bits set, which is NaN)."""
    elements = np.empty(shape, dtype)
    elements.reshape(-1).view(np.uint8).fill(0xFF)
    return _array(elements, 0)


def zeros(shape: Shape, dtype: npt.DTypeLike = np.float32) -> Array:
    """An array of zeros."""
    return _array(np.zeros(shape, dtype), 1)


def asarray(values: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Array:
    """A copy of `values` on the device; an array that is there already stays itself."""
    if isinstance(values, Array):
        if dtype is not None and values.dtype != dtype:
            raise TypeError(both("cuda.convert"))
        return values
    return _array(np.array(values, dtype, order="C"), 1)


def _array(elements: npt.NDArray[Any], written: int) -> Array:
    if elements.dtype.kind not in "biufc":
        raise TypeError(both("cuda.no-number", dtype=str(elements.dtype)))
    return Array(Storage(elements, np.full(elements.size + 1, written, np.uint8)), elements)
