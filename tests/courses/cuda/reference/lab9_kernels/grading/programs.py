"""What the checks run: kernels by the launcher alone, and the student's own launches."""

import numpy as np

from labkit import cuda


def scale(lab, x, factor, block):
    given, result = cuda.asarray(x), cuda.empty(x.shape, np.float32)
    blocks = (x.size + block - 1) // block
    kernel = lab.kernels.get_function("scale")
    kernel((blocks,), (block,), (given, result, np.float32(factor), np.int32(x.size)))
    return {"y": cuda.asnumpy(result)}


def scaled(lab, x, factor, launches):
    """Of the first n numbers in blocks of a size, for each launch (n, block)."""
    found = {
        f"n = {n}, block = {block}": scale(lab, x[:n], factor, block)["y"] for n, block in launches.tolist()
    }
    return {"y": found}


def total(lab, x):
    blocks = (x.size + 63) // 64
    given, result = cuda.asarray(x), cuda.empty(blocks, np.float32)
    lab.kernels.get_function("total")((blocks,), (64,), (given, result, np.int32(x.size)))
    return {"y": cuda.asnumpy(result)}


def doubled(lab, x):
    return {"y": lab.cuda_ops.doubled(x)}
