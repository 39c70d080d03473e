"""CUDA kernels with a GPU and without one: the same kernels.cu, in the form of CuPy's RawModule.

module = RawModule(path="kernels.cu")
square = module.get_function("square")
x, y = asarray(values), empty(n, np.float32)
square((blocks,), (threads,), (x, y, n))
asnumpy(y)
for report in module.reports: print(report)
"""

from labkit.cuda.arguments import LaunchError
from labkit.cuda.compile import CompileError
from labkit.cuda.devices import asarray, asnumpy, backend_name, empty, zeros
from labkit.cuda.module import RawModule
from labkit.cuda.reports import Report

__all__ = [
    "CompileError",
    "LaunchError",
    "RawModule",
    "Report",
    "asarray",
    "asnumpy",
    "backend_name",
    "empty",
    "zeros",
]
