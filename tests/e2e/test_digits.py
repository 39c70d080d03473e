"""Lab 2's engine in real use: a perceptron learns handwritten digits, and every gradient is the right one."""

import importlib
import itertools
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from labkit.cuda import compile
from labkit.data import digits

REFERENCE = Path(__file__).parents[2] / "reference" / "lab2_tensors"
WIDTHS = (64, 128, 64, 10)
BATCH, EPOCHS, RATE = 32, 15, 0.2  # no product is so large that BLAS would take a second thread
DEVICE_EPOCHS = 6
Arrays = list[NDArray[Any]]


@pytest.fixture(scope="module")
def lab() -> tuple[ModuleType, ModuleType]:
    """Lab 2's solved graph and engine; taken out of sys.modules again, where other labs have theirs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(REFERENCE)
        graph, engine = (importlib.import_module(name) for name in ("graph", "engine"))
        for name in ("graph", "engine"):
            del sys.modules[name]
    return graph, engine


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `Executor(backend="cuda")` imports, for one test, and the CPU as the device, unchecked: fast."""
    monkeypatch.syspath_prepend(REFERENCE)
    importlib.import_module("cuda_ops")
    monkeypatch.setitem(sys.modules, "cuda_ops", sys.modules.pop("cuda_ops"))  # gone after the test
    monkeypatch.setenv("ADKIT_CUDA_BACKEND", "cpu")


@pytest.fixture(scope="module")
def parts() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Images as rows with their labels: 1,437 to learn from and 360 to test."""
    images, labels = digits()
    order = np.random.default_rng(2026).permutation(len(labels))
    rows = images.reshape(len(labels), -1)
    learn, test = order[:1437], order[1437:]
    return (rows[learn], labels[learn]), (rows[test], labels[test])


def weights(dtype: Any) -> Arrays:
    """Matrices by He's rule and biases of zero."""
    random = np.random.default_rng(1)
    shapes = itertools.pairwise(WIDTHS)
    pairs = [
        (random.normal(0, np.sqrt(2 / rows), (rows, columns)), np.zeros(columns)) for rows, columns in shapes
    ]
    return [array.astype(dtype) for pair in pairs for array in pair]


def perceptron(graph: ModuleType, batch: int, dtype: Any) -> tuple[Any, Any, Any, list[Any]]:
    """Nodes: images, labels, logits, weights."""
    x, labels = graph.variable((batch, WIDTHS[0]), dtype), graph.variable((batch,), np.int64)
    nodes = w1, b1, w2, b2, w3, b3 = [graph.variable(one.shape, dtype) for one in weights(dtype)]
    hidden = graph.relu(graph.relu(x @ w1 + b1) @ w2 + b2)
    return x, labels, hidden @ w3 + b3, nodes


def by_hand(x: NDArray[Any], labels: NDArray[Any], arrays: Arrays) -> Arrays:
    """The mean cross-entropy and its six gradients, forward and backward pass written out."""
    w1, b1, w2, b2, w3, b3 = arrays
    a1 = x @ w1 + b1
    h1 = np.maximum(a1, 0)
    a2 = h1 @ w2 + b2
    h2 = np.maximum(a2, 0)
    logits = h2 @ w3 + b3
    shifted = logits - logits.max(1, keepdims=True)
    log_shares = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    one_hot = np.eye(logits.shape[1])[labels]
    loss = -(one_hot * log_shares).sum(1).mean()
    d3 = (np.exp(log_shares) - one_hot) / len(x)
    d2 = (d3 @ w3.T) * (a2 > 0)
    d1 = (d2 @ w2.T) * (a1 > 0)
    return [loss, x.T @ d1, d1.sum(0), h1.T @ d2, d2.sum(0), h2.T @ d3, d3.sum(0)]


def test_gradients_of_every_batch_are_those_written_by_hand(lab: Any, parts: Any) -> None:
    graph, engine = lab
    (images, truth), _ = parts
    x, labels, logits, nodes = perceptron(graph, BATCH, np.float64)
    loss = graph.mean(graph.softmax_cross_entropy(logits, labels))
    step = engine.Executor([loss, *engine.gradients(loss, nodes)])
    arrays, batches = weights(np.float64), range(0, len(images) - BATCH, BATCH)
    assert len(batches) == 44
    for start in batches:
        rows, classes = images[start : start + BATCH].astype(np.float64), truth[start : start + BATCH]
        got = step({x: rows, labels: classes, **dict(zip(nodes, arrays, strict=True))})
        for one, right in zip(got, by_hand(rows, classes, arrays), strict=True):
            assert np.linalg.norm(one - right) <= 1e-12 * np.linalg.norm(right)
        arrays = [array - RATE * gradient for array, gradient in zip(arrays, got[1:], strict=True)]


def learn(lab: Any, examples: Any, epochs: int, backend: str) -> tuple[Arrays, list[float], Any]:
    """The weights after so many epochs in float32, the losses on the way, and the executor of a step."""
    graph, engine = lab
    images, truth = examples
    x, labels, logits, nodes = perceptron(graph, BATCH, np.float32)
    loss = graph.mean(graph.softmax_cross_entropy(logits, labels))
    step = engine.Executor([loss, *engine.gradients(loss, nodes)], backend=backend)
    arrays, random = weights(np.float32), np.random.default_rng(3)
    losses = []
    for _ in range(epochs):
        order = random.permutation(len(images))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            feeds = {x: images[chosen], labels: truth[chosen], **dict(zip(nodes, arrays, strict=True))}
            value, *gradients = step(feeds)
            arrays = [array - np.float32(RATE) * one for array, one in zip(arrays, gradients, strict=True)]
            losses.append(float(value))
    assert all(array.dtype == np.float32 for array in arrays)
    return arrays, losses, step


def accuracy(lab: Any, examples: Any, arrays: Arrays, backend: str) -> float:
    """The part of the images whose greatest score stands at their label."""
    graph, engine = lab
    images, truth = examples
    x, _, logits, nodes = perceptron(graph, len(images), np.float32)
    feeds = {x: images, **dict(zip(nodes, arrays, strict=True))}
    (scores,) = engine.Executor(logits, backend=backend)(feeds)
    return float((scores.argmax(1) == truth).mean())


def test_minibatch_descent_learns_the_digits(lab: Any, parts: Any) -> None:
    arrays, losses, _ = learn(lab, parts[0], EPOCHS, "numpy")
    assert np.mean(losses[-20:]) < np.mean(losses[:20]) / 20
    assert accuracy(lab, parts[1], arrays, "numpy") >= 0.95


@pytest.mark.skipif(compile.compiler() is None, reason="no C++ compiler")
def test_gradients_on_the_device_are_those_written_by_hand(lab: Any, parts: Any, on_device: None) -> None:
    graph, engine = lab
    (images, truth), _ = parts
    x, labels, logits, nodes = perceptron(graph, BATCH, np.float32)
    loss = graph.mean(graph.softmax_cross_entropy(logits, labels))
    step = engine.Executor([loss, *engine.gradients(loss, nodes)], backend="cuda")
    arrays = weights(np.float32)
    for start in range(0, 20 * BATCH, BATCH):
        rows, classes = images[start : start + BATCH], truth[start : start + BATCH]
        got = step({x: rows, labels: classes, **dict(zip(nodes, arrays, strict=True))})
        right = by_hand(*(rows.astype(np.float64), classes), [array.astype(np.float64) for array in arrays])
        for one, other in zip(got, right, strict=True):
            assert one.dtype == np.float32
            assert np.linalg.norm(one - other) <= 2e-6 * np.linalg.norm(other)
        arrays = [array - np.float32(RATE) * one for array, one in zip(arrays, got[1:], strict=True)]
    assert not step.device.fallbacks


@pytest.mark.skipif(compile.compiler() is None, reason="no C++ compiler")
def test_the_device_learns_the_digits(lab: Any, parts: Any, on_device: None) -> None:
    arrays, losses, step = learn(lab, parts[0], DEVICE_EPOCHS, "cuda")
    assert not step.device.fallbacks
    assert np.mean(losses[-20:]) < np.mean(losses[:20]) / 5
    assert accuracy(lab, parts[1], arrays, "cuda") >= 0.95
