"""Data that labs are tried on. Each comes with the kit, so nothing is fetched."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVELS = 16  # of grey above white


def digits() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """1,797 small images of handwritten digits, and the digit on each. No two calls share memory.

    Shapes: images (1797, 8, 8), labels (1797,). Units: images from 0 (white) to 1 (black) in steps of 1/16.
    The images of one writer follow one another: shuffle before you put some aside for a test.
    Source: E. Alpaydin, C. Kaynak: Optical Recognition of Handwritten Digits, UCI Machine Learning Repository
    1998, the test set, doi:10.24432/C50P49, CC BY 4.0; as scikit-learn's load_digits gives it.
    """
    rows: NDArray[Any] = np.load(Path(__file__).with_name("digits.npy"), allow_pickle=False)
    images = rows[:, :-1].reshape(-1, 8, 8).astype(np.float32) / np.float32(LEVELS)
    return images, rows[:, -1].astype(np.int64)
