"""Loss and six gradients of a perceptron, 784-256-128-10, batch 64, float32: lab 2, by hand, and peers."""

import functools
import itertools
from collections.abc import Callable
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Arrays = tuple[Array, ...]

BATCH, WIDTHS = 64, (784, 256, 128, 10)
_random = np.random.default_rng(7)
IMAGES = _random.standard_normal((BATCH, WIDTHS[0])).astype(np.float32)
LABELS = _random.integers(0, WIDTHS[-1], BATCH)
WEIGHTS: Arrays = tuple(
    (0.05 * _random.standard_normal(shape)).astype(np.float32)
    for rows, columns in itertools.pairwise(WIDTHS)
    for shape in ((rows, columns), (columns,))
)


def ours(graph: ModuleType, engine: ModuleType) -> Callable[[], list[Array]]:
    """Lab 2's executor, planned once."""
    x, labels = graph.variable(IMAGES.shape, np.float32), graph.variable(LABELS.shape, LABELS.dtype)
    variables = w1, b1, w2, b2, w3, b3 = [graph.variable(one.shape, np.float32) for one in WEIGHTS]
    hidden = graph.relu(graph.relu(x @ w1 + b1) @ w2 + b2)
    loss = graph.mean(graph.softmax_cross_entropy(hidden @ w3 + b3, labels))
    run = engine.Executor([loss, *engine.gradients(loss, variables)])
    feeds = {x: IMAGES, labels: LABELS, **dict(zip(variables, WEIGHTS, strict=True))}
    return functools.partial(run, feeds)


def hand() -> Arrays:
    """What a careful person writes in NumPy: in place wherever nothing is lost, one softmax for both uses."""
    w1, b1, w2, b2, w3, b3 = WEIGHTS
    h1 = IMAGES @ w1
    h1 += b1
    np.maximum(h1, 0, out=h1)
    h2 = h1 @ w2
    h2 += b2
    np.maximum(h2, 0, out=h2)
    logits = h2 @ w3
    logits += b3
    logits -= logits.max(1, keepdims=True)
    shares = np.exp(logits)
    total = shares.sum(1, keepdims=True)
    rows = np.arange(BATCH)
    loss = (np.log(total)[:, 0] - logits[rows, LABELS]).mean()
    shares /= total
    shares[rows, LABELS] -= 1
    shares /= np.float32(BATCH)
    dw3, db3 = h2.T @ shares, shares.sum(0)
    adjoint = shares @ w3.T
    adjoint *= h2 > 0
    dw2, db2 = h1.T @ adjoint, adjoint.sum(0)
    adjoint = adjoint @ w2.T
    adjoint *= h1 > 0
    return loss, IMAGES.T @ adjoint, adjoint.sum(0), dw2, db2, dw3, db3


def products() -> Arrays:
    """The eight products of matrices alone, on arrays of their shapes: what no engine can do without."""
    w1, _, w2, _, w3, _ = WEIGHTS
    h1, h2, out = (IMAGES[:, :width] for width in WIDTHS[1:])
    forward = IMAGES @ w1, h1 @ w2, h2 @ w3
    return *forward, h2.T @ out, out @ w3.T, h1.T @ h2, h2 @ w2.T, IMAGES.T @ h1


def torch() -> Callable[[], object]:
    """PyTorch in eager mode, with its fused addmm and cross_entropy."""
    import torch

    torch.set_num_threads(1)
    x, labels = torch.tensor(IMAGES), torch.tensor(LABELS)
    weights = w1, b1, w2, b2, w3, b3 = [torch.tensor(one, requires_grad=True) for one in WEIGHTS]

    def run() -> object:
        for one in weights:
            one.grad = None
        hidden = torch.relu(torch.addmm(b2, torch.relu(torch.addmm(b1, x, w1)), w2))
        loss = torch.nn.functional.cross_entropy(torch.addmm(b3, hidden, w3), labels)
        loss.backward()
        return [loss.detach().numpy(), *(one.grad.numpy() for one in weights)]

    return run


def autograd() -> Callable[[], object]:
    """HIPS autograd, the loss from its own operations as its users write it."""
    import autograd
    import autograd.numpy as anp

    def loss_of(weights):  # type: ignore[no-untyped-def]
        w1, b1, w2, b2, w3, b3 = weights
        hidden = anp.maximum(anp.dot(anp.maximum(anp.dot(IMAGES, w1) + b1, 0), w2) + b2, 0)
        logits = anp.dot(hidden, w3) + b3
        shifted = logits - anp.max(logits, axis=1, keepdims=True)
        chosen = shifted[anp.arange(BATCH), LABELS]
        return anp.mean(anp.log(anp.sum(anp.exp(shifted), axis=1)) - chosen)

    both = autograd.value_and_grad(loss_of)

    def run() -> object:
        loss, found = both(WEIGHTS)
        return [loss, *found]

    return run
