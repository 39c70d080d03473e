"""Lab 2 on the device: every kernel alone in the checked mode, and graphs against NumPy."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from autograder.authoring import cutter
from autograder.course import load_course
from labkit import cuda
from labkit.cuda import blanks, compile

ROOT = Path(__file__).parents[3]
LAB = ROOT / "reference" / "lab2_tensors"
CHINESE = re.compile("[\u4e00-\u9fff]")
RANDOM = np.random.default_rng(7)
LENGTHS = (0, 1, 31, 32, 33, 255, 256, 257, 519, 1000)
SHAPES = ((0, 3), (3, 0), (1, 1), (1, 33), (31, 1), (15, 17), (16, 16), (32, 33), (257, 3), (3, 519))
pytestmark = pytest.mark.skipif(compile.compiler() is None, reason="no C++ compiler")
UNARY = {"negative": np.negative, "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos}
UNARY |= {"tanh": np.tanh, "sqrt": np.sqrt, "abs": np.abs}
BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}
BINARY |= {"maximum": np.maximum, "greater": np.greater, "less": np.less, "equal": np.equal}


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    monkeypatch.setenv("ADKIT_CUDA_BACKEND", "cpu-check")


@pytest.fixture(scope="module")
def device(lab2):
    """One device in the checked mode; what it reports is asked after every test."""
    return lab2["cuda_ops"].Device("cpu-check")


@pytest.fixture
def kernels(device):
    """The device; nothing was reported when the test is over."""
    yield device
    assert device.reports == []


def floats(*shape):
    return RANDOM.uniform(0.2, 3, shape).astype(np.float32)


def near(got, right, size=1.0):
    assert got.dtype == right.dtype
    assert got.shape == right.shape
    assert got == pytest.approx(right, rel=2e-6 * size, abs=2e-6 * size, nan_ok=True)


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_entry_by_entry(kernels, name):
    function = UNARY.get(name) or BINARY[name]
    for n in LENGTHS:
        operands = [floats(n) for _ in range(function.nin)]
        if name == "equal":
            operands[1][::2] = operands[0][::2]
        right = function(*operands)
        v = cuda.empty(n, right.dtype)
        kernels.launch(f"elementwise_{name}", (n,), **on_device(operands), v=v, n=n)
        near(cuda.asnumpy(v), right)


def on_device(arrays):
    return {f"operand{i}": cuda.asarray(array) for i, array in enumerate(arrays)}


def test_choices_and_chains(kernels, lab2):
    graph, special = lab2["graph"], np.array([0, -0.0, 1, np.inf, -np.inf, np.nan], np.float32)
    a, b = (array.ravel() for array in np.meshgrid(special, special))
    for op, operands in (
        (graph.CHAIN, (a, b)),
        (graph.MAXIMUM, (a, b)),
        (graph.WHERE, (np.arange(36) % 3 == 0, a, b)),
    ):
        with np.errstate(all="ignore"):
            right = op.compute(*operands)
        v = cuda.empty(36, np.float32)
        kernels.launch(f"elementwise_{op.name}", (36,), **on_device(operands), v=v, n=36)
        near(cuda.asnumpy(v), right)
    assert cuda.asnumpy(kernels.relu(cuda.asarray(special))).tolist()[:5] == [0, 0, 1, math.inf, 0]
    assert np.isnan(cuda.asnumpy(kernels.relu(cuda.asarray(special)))[5])


@pytest.mark.parametrize("shape", SHAPES)
def test_matrices(kernels, shape):
    a = floats(*shape)
    near(cuda.asnumpy(kernels.transpose(cuda.asarray(a))), np.ascontiguousarray(a.T))
    near(cuda.asnumpy(kernels.column_sum(cuda.asarray(a))), a.sum(0), 8)
    near(cuda.asnumpy(kernels.relu(cuda.asarray(a - 1))), np.maximum(a - 1, 0))
    if shape[1]:
        near(cuda.asnumpy(kernels.softmax(cuda.asarray(30 * a))), softmax(30 * a), 8)


def softmax(a):
    weights = np.exp(a - a.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)


@pytest.mark.parametrize(("rows", "inner", "columns"), [(0, 3, 2), (3, 0, 5), (1, 1, 1), (33, 17, 31)])
def test_products_and_their_adjoints(kernels, rows, inner, columns):
    a, b, g = floats(rows, inner) - 1, floats(inner, columns) - 1, floats(rows, columns) - 1
    here = [cuda.asarray(array) for array in (a, b, g)]
    near(cuda.asnumpy(kernels.matmul(*here[:2])), a @ b, 8)
    near(cuda.asnumpy(kernels.left_adjoint(here[2], here[1])), g @ b.T, 8)
    near(cuda.asnumpy(kernels.right_adjoint(here[0], here[2])), a.T @ g, 8)


@pytest.mark.parametrize("block", [1, 32, 100, 256])
def test_the_column_sum_with_any_block(device, block):
    module = cuda.RawModule(path=LAB / "kernels.cu", backend="cpu-check")
    a = floats(13, 257)
    v = cuda.empty(257, np.float32)
    module.get_function("column_sum")((-(-257 // block),), (block,), (cuda.asarray(a), v, 13, 257))
    near(cuda.asnumpy(v), a.sum(0), 8)
    assert list(module.reports) == []


def outputs(graph, a, b, row, labels):
    """Graphs of float32 that have a kernel for every node, gradients included; a, b: (5, 3), row: (3,)."""
    return {
        "arithmetic": graph.sum((a + row) * b - a / (b + 4.0)),
        "functions": graph.sum(graph.exp(-a) * graph.sin(b) + graph.log(graph.sqrt(a * a + 2.0))),
        "kinks": graph.sum(graph.relu(a) * graph.abs(b) + graph.maximum(a, b) * graph.tanh(a)),
        "axes": graph.sum(graph.sum(a * b, 1) * graph.sum(a, -1)) + graph.mean(graph.sum(b, 0) * row),
        "products": graph.sum(graph.tanh(a @ graph.transpose(b)) @ (b @ (row + 1.0))),
        "softmax": graph.sum(graph.softmax(a) * b) + graph.mean(graph.softmax_cross_entropy(a * b, labels)),
        "stretched": graph.sum(a * graph.reshape(graph.sum(b, 1), (5, 1)) * 2.0 ** graph.mean(row * 0.0)),
    }


NAMES = ["arithmetic", "functions", "kinks", "axes", "products", "softmax", "stretched"]


@pytest.mark.parametrize("name", NAMES)
def test_graphs_and_their_gradients_agree_with_numpy(lab2, name):
    graph, engine = lab2["graph"], lab2["engine"]
    inputs = [graph.variable(shape, np.float32) for shape in ((5, 3), (5, 3), (3,))]
    labels = graph.variable(5, np.int64)
    y = outputs(graph, *inputs, labels)[name]
    nodes = [y, *engine.gradients(y, inputs)]
    feeds = {node: floats(*node.shape) - 1.5 for node in inputs} | {labels: np.array([0, 2, 1, 1, 0])}
    run = engine.Executor(nodes, backend="cuda")
    for got, right in zip(run(feeds), engine.Executor(nodes)(feeds), strict=True):
        near(got, right, 16)
    assert run.device.reports == []
    assert set(run.device.fallbacks) <= ({"power"} if name == "stretched" else set())


def test_second_derivatives_on_the_device(lab2):
    graph, engine = lab2["graph"], lab2["engine"]
    x, w = graph.variable((4, 3), np.float32), graph.variable((3, 2), np.float32)
    y = graph.sum(graph.tanh(x @ w))
    product = engine.hvp(y, [w, x], [np.ones((3, 2)), np.ones((4, 3))])
    feeds = {x: floats(4, 3), w: floats(3, 2)}
    run = engine.Executor(product, backend="cuda")
    for got, right in zip(run(feeds), engine.Executor(product)(feeds), strict=True):
        near(got, right, 16)
    assert not run.device.fallbacks


def test_what_has_no_kernel_is_computed_by_numpy_and_counted(lab2):
    graph, engine = lab2["graph"], lab2["engine"]
    a, k = graph.variable((2, 3, 4), np.float32), graph.variable(2, np.int64)
    nodes = [
        graph.gather(a, k, axis=1),
        graph.logsumexp(a, axis=1),
        graph.transpose(a, (2, 0, 1)),
        graph.sum(a, (0, 2)),
        a @ graph.transpose(a, (0, 2, 1)),
        graph.astype(k, np.float32) + 1.0,
    ]
    feeds = {a: floats(2, 3, 4), k: np.array([2, 2])}
    run = engine.Executor(nodes, backend="cuda")
    for turn in (1, 2):
        for got, right in zip(run(feeds), engine.Executor(nodes)(feeds), strict=True):
            near(got, right, 4)
        assert run.device.fallbacks == {
            name: turn * times
            for name, times in {
                "gather": 1,
                "logsumexp": 1,
                "transpose": 2,
                "sum": 1,
                "matmul": 1,
                "astype": 1,
            }.items()
        }


def test_empty_and_scalar_tensors(lab2):
    graph, engine = lab2["graph"], lab2["engine"]
    x, s = graph.variable((0, 3), np.float32), graph.variable((), np.float32)
    nodes = [graph.sum(x * 2.0, 0), x * s, graph.exp(s), graph.broadcast_to(s, (2, 2)), s, s]
    got = engine.Executor(nodes, backend="cuda")({x: np.zeros((0, 3), np.float32), s: 2.0})
    assert [one.shape for one in got] == [(3,), (0, 3), (), (2, 2), (), ()]
    assert got[0].tolist() == [0, 0, 0]
    got[4][...] = 9
    assert got[5] == 2


def test_a_label_that_is_no_class_gives_nan(lab2):
    graph, engine = lab2["graph"], lab2["engine"]
    a, labels = graph.variable((2, 3), np.float32), graph.variable(2, np.int64)
    loss = graph.softmax_cross_entropy(a, labels)
    run = engine.Executor([loss, *engine.gradients(graph.sum(loss), a)], backend="cuda")
    got = run({a: floats(2, 3), labels: np.array([3, 1])})
    assert np.isnan(got[0]).tolist() == [True, False]
    assert np.isnan(got[1]).all(1).tolist() == [True, False]
    assert run.device.reports == []


def test_other_floats_and_backends_are_refused_in_one_line(lab2):
    graph, engine = lab2["graph"], lab2["engine"]
    x = graph.variable(3)
    for backend, error in (("cuda", TypeError), ("gpu", ValueError)):
        with pytest.raises(error) as refusal:
            engine.Executor(x * x, backend=backend)
        assert "\n" not in str(refusal.value)
        assert CHINESE.search(str(refusal.value))


# --- operators.toml ---------------------------------------------------------------------------------------

MINE = """
extern "C" __global__ void mine(
    int columns, int rows, int inner, const float* right, const float* left, float* out)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows && j < columns) {
        float total = 0.0f;
        for (int k = 0; k < inner; k++) {
            total += left[i * inner + k] * right[k * columns + j];
        }
        out[i * columns + j] = total;
    }
}
"""
ENTRY = """[matmul]
file = "mine.cu"
kernel = "mine"
arguments = ["columns", "rows", "inner", "b", "a", "v"]
block = [8, 4]
"""


@pytest.fixture
def folder(tmp_path):
    """The given kernels and one's own."""
    (tmp_path / "kernels.cu").write_bytes((LAB / "kernels.cu").read_bytes())
    (tmp_path / "mine.cu").write_text(MINE)
    return tmp_path


def test_a_kernel_of_ones_own_takes_the_place_of_a_given_one(lab2, folder):
    (folder / "operators.toml").write_text(ENTRY)
    device = lab2["cuda_ops"].Device("cpu-check", folder)
    a, b, g = floats(9, 5), floats(5, 17), floats(9, 17)
    near(cuda.asnumpy(device.matmul(cuda.asarray(a), cuda.asarray(b))), a @ b, 8)
    near(cuda.asnumpy(device.left_adjoint(cuda.asarray(g), cuda.asarray(b))), g @ b.T, 8)
    assert device.reports == []
    (folder / "mine.cu").write_text(MINE.replace("i < rows && ", ""))
    device = lab2["cuda_ops"].Device("cpu-check", folder)
    device.matmul(cuda.asarray(a), cuda.asarray(b))
    assert {(report.file, report.kernel, report.kind) for report in device.reports} >= {
        ("mine.cu", "mine", "out-of-bounds")
    }


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (("mine.cu", "yours.cu"), FileNotFoundError, "no file yours.cu"),
        (("[matmul]", "[conv]"), ValueError, "[conv]: there is no such operator, only matmul, transpose"),
        (('"b", ', '"c", '), ValueError, "arguments is a list of a, b, v, rows, inner, columns"),
        ((', "v"', ""), ValueError, "arguments names v"),
        (('"a"', '"b"'), ValueError, "nothing twice"),
        (("[8, 4]", "8"), ValueError, "block has 2 whole numbers"),
        (("[8, 4]", "[64, 32]"), ValueError, "up to 1024"),
        (("kernel =", "name ="), ValueError, "it needs just file, kernel, arguments, block"),
        (('"mine"', "3"), ValueError, "file and kernel are texts"),
        (("[matmul]", "[matmul"), ValueError, "operators.toml: "),
        (('"mine"', '"other"'), cuda.LaunchError, "other"),
    ],
)
def test_what_is_wrong_in_operators_toml_is_said_in_one_line(lab2, folder, change, error, said):
    assert change[0] in ENTRY
    (folder / "operators.toml").write_text(ENTRY.replace(*change, 1))
    with pytest.raises(error) as refusal:
        lab2["cuda_ops"].Device("cpu-check", folder)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert CHINESE.search(str(refusal.value))


def test_blank_kernels_are_those_of_lab_toml():
    text = (LAB / "kernels.cu").read_text(encoding="utf-8")
    tasks = [task for task in load_course(ROOT).lab("lab2").tasks if task.files == ("kernels.cu",)]
    assert list(blanks.unwritten(cutter.cut(text, "kernels.cu"))) == [
        blank.name for task in tasks for blank in task.blanks
    ]
    assert blanks.unwritten(text) == {}
