"""Random inputs of checks: explicit, seeded by the key, the same for everybody of a variant."""

from typing import Any

import numpy as np


class Draw:
    """The `draw` fixture of a grading test."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def uniform(self, low: float, high: float, shape: Any = None) -> Any:
        """Numbers from [low, high): a float, or a float64 array of `shape`."""
        return self._plain(self._generator.uniform(low, high, shape))

    def normal(self, shape: Any = None) -> Any:
        """Standard normal numbers: a float, or a float64 array of `shape`."""
        return self._plain(self._generator.standard_normal(shape))

    def integers(self, low: int, high: int, shape: Any = None) -> Any:
        """Integers from [low, high): an int, or an int64 array of `shape`."""
        drawn = self._generator.integers(low, high, shape)
        return drawn if isinstance(drawn, np.ndarray) else int(drawn)

    def dag(self, size: int) -> np.ndarray:
        """A straight-line program as data: int64 array (size, 3) of rows (operator, i, j).

        A program of the lab reads the operator modulo its list, i and j modulo the nodes made so far.
        """
        return self._generator.integers(0, 1000, (size, 3))

    @staticmethod
    def _plain(drawn: Any) -> Any:
        return drawn if isinstance(drawn, np.ndarray) else float(drawn)
