"""Launches kernels."""

from pathlib import Path

import numpy as np

from labkit import cuda


def doubled(x):
    """Twice a float32 vector, by the kernel `scale`."""
    ### BEGIN SOLUTION
    module = cuda.RawModule(path=str(Path(__file__).with_name("kernels.cu")))
    given, result = cuda.asarray(x), cuda.empty(x.shape, np.float32)
    blocks = (x.size + 63) // 64
    module.get_function("scale")((blocks,), (64,), (given, result, np.float32(2), np.int32(x.size)))
    return cuda.asnumpy(result)
    ### END SOLUTION
