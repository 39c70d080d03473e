"""The adjoints of a product on the device by their law, and a training step against the NumPy backend.

Kernels run in the checked mode; without a compiler nothing here runs.
"""

import numpy as np
import pytest

from labkit import cuda

SHAPES = [
    (1, 1, 1),
    (2, 3, 4),
    (4, 3, 2),
    (5, 5, 5),
    (17, 16, 33),
    (1, 20, 3),
    (3, 1, 18),
    (3, 0, 2),
    (0, 2, 3),
]
matmul_adjoints = pytest.mark.task("matmul-adjoints")
device_step = pytest.mark.task("device-step")


@pytest.fixture
def device(lab, kernels, monkeypatch):
    """The student's device in the checked mode."""
    kernels.ready()
    monkeypatch.setenv("ADKIT_CUDA_BACKEND", "cpu-check")
    return lab.cuda_ops.Device()


@pytest.fixture
def matrix(tensor):
    """A random matrix in float32."""
    return lambda *shape: tensor(*shape).astype(np.float32)


@matmul_adjoints
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["left_adjoint", "right_adjoint"])
def test_an_adjoint_tells_how_the_product_moves(device, matrix, expect, name, shape):
    """For C = A B and any move dA: adjoint of C times dA B is adjoint of A times dA. The same for B.
    对 C = A B 和任意移动 dA：C 的伴随与 dA B 的内积等于 A 的伴随与 dA 的内积；B 也一样。"""
    rows, inner, columns = shape
    of_left = name == "left_adjoint"
    adjoint, other = matrix(rows, columns), matrix(*((inner, columns) if of_left else (rows, inner)))
    there = [cuda.asarray(array) for array in ((adjoint, other) if of_left else (other, adjoint))]
    got = getattr(device, name)(*there)
    call = f"Device.{name}, A: {(rows, inner)}, B: {(inner, columns)}"
    expect.holds(hasattr(got, "get"), f"type({call})", type(got).__name__)
    wanted = (rows, inner) if of_left else (inner, columns)
    expect.equal(f"{call}, dtype and shape", f"{got.dtype} {got.shape}", f"float32 {wanted}")
    got = cuda.asnumpy(got)
    for _ in range(3):
        move = matrix(*wanted)
        moved = [cuda.asarray(array) for array in ((move, other) if of_left else (other, move))]
        told = np.vdot(adjoint, cuda.asnumpy(device.matmul(*moved)))
        size = 1 + float(np.abs(got).sum())
        expect.equal(
            f"{call}: adjoint times move", float(np.vdot(got, move) / size), float(told / size), 1e-5
        )
    expect.no_reports(call, device)


@matmul_adjoints
def test_products_leave_their_operands_alone(device, matrix, expect):
    """Adjoint and factor are as before.
    伴随量和因子保持原样。"""
    adjoint, left, right = matrix(4, 5), matrix(4, 3), matrix(3, 5)
    there = [cuda.asarray(array) for array in (adjoint, left, right)]
    device.left_adjoint(there[0], there[2])
    device.right_adjoint(there[1], there[0])
    for name, one, before in zip(("adjoint", "left", "right"), there, (adjoint, left, right)):
        expect.equal(f"{name} after left_adjoint and right_adjoint", cuda.asnumpy(one), before)


@device_step
@pytest.mark.parametrize("batch", [1, 16, 37])
def test_a_layer_on_the_device_has_the_gradients_of_the_numpy_backend(
    lab, kernels, device, matrix, draw, expect, batch
):
    """Loss and gradients of a network with biases agree on both backends, to float32 accuracy; no copies.
    带偏置的网络，两个后端给出同样的损失和梯度，精确到 float32，且不经过主机拷贝。"""
    kernels.ready("column_sum")
    graph, engine = lab.graph, lab.engine
    shapes = [(batch, 6), (6, 19), (19,), (19, 4), (4,)]
    nodes = x, w, b, u, c = [graph.variable(shape, np.float32) for shape in shapes]
    labels = graph.variable((batch,), np.int64)
    logits = graph.tanh(x @ w + b) @ u + c
    loss = graph.sum(graph.softmax_cross_entropy(logits, labels))
    outputs = [loss, *engine.gradients(loss, nodes)]
    feeds = {node: matrix(*node.shape) for node in nodes}
    feeds[labels] = np.array([draw.index(4) for _ in range(batch)], np.int64)
    run = engine.Executor(outputs, backend="cuda")
    names = ["loss", *(f"its gradient by {name}" for name in ("x", "w", "b", "u", "c"))]
    arrays = run(feeds)
    expect.no_reports(f'Executor(backend="cuda"), batch of {batch}', run.device)
    for name, got, right in zip(names, arrays, engine.Executor(outputs)(feeds)):
        size = np.float32(1 + np.abs(right).max())
        got, right = np.asarray(got / size), np.asarray(right / size)
        expect.equal(f'Executor(backend="cuda"), batch of {batch}: {name}', got, right, 1e-4)
    expect.holds(not run.device.fallbacks, "run.device.fallbacks", run.device.fallbacks)
