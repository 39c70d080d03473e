import importlib.util
from pathlib import Path

from labkit import trace

LAB = """
import numpy as np
from labkit import cuda

class Node:
    def __init__(self, op, inputs, value=None):
        self.op, self.inputs, self.value = op, inputs, value
    def __mul__(self, other):
        return Node("multiply", [self, other])

def launch(module, op, arrays):
    out = cuda.empty(4)
    module.get_function(op)((1,), (4,), (*arrays, out, 4))
    return out

def run(node, module):
    arrays = [cuda.asarray(input.value) for input in node.inputs]
    return launch(module, node.op, arrays)
"""
KERNELS = """// multiply
extern "C" __global__ void multiply(const float* x, const float* y, float* z, int n) {
    if (threadIdx.x < n) z[threadIdx.x] = x[threadIdx.x] * y[threadIdx.x];
}
"""


def test_a_product_is_followed_from_the_operator_to_the_kernels_line(tmp_path: Path) -> None:
    (tmp_path / "lab.py").write_text(LAB)
    (tmp_path / "kernels.cu").write_text(KERNELS)
    spec = importlib.util.spec_from_file_location("traced_lab", tmp_path / "lab.py")
    assert spec and spec.loader
    lab = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lab)
    module = lab.cuda.RawModule(path=tmp_path / "kernels.cu", backend="cpu")
    x, y = (lab.Node("input", [], lab.np.full(4, value, "f4")) for value in (3, 5))
    with trace.recorded(tmp_path) as calls:
        out = lab.run(x * y, module)
    assert out.get().tolist() == [15] * 4
    assert trace.text(calls).splitlines() == [
        "Node.__mul__  lab.py:8",
        "  Node.__init__  lab.py:6",
        "run  lab.py:16",
        "  launch  lab.py:11",
        "    multiply<<<(1,), (4,)>>>  kernels.cu:2",
    ]
