"""Ten functions of NumPy, as small as an exercise gets."""

import numpy as np


def mean(x):
    """The mean of a vector."""
    ### BEGIN SOLUTION
    return x.sum() / len(x)
    ### END SOLUTION


def variance(x):
    """The mean squared distance from the mean."""
    return mean((x - mean(x)) ** 2)


def standardise(x):
    """A vector moved and scaled to mean 0 and variance 1."""
    return (x - mean(x)) / np.sqrt(variance(x))


def softmax(x):
    """Positive numbers with sum 1, in the proportions of exp(x)."""
    e = np.exp(x - x.max())
    return e / e.sum()


def outer(x, y):
    """The products of every entry of x with every entry of y."""
    return x[:, None] * y[None, :]


def row_sums(m):
    """The sum of each row."""
    return m.sum(axis=1)


def normalise_rows(m):
    """Rows scaled to length 1."""
    return m / np.sqrt((m**2).sum(axis=1, keepdims=True))


def distances(x):
    """The distances between every two entries."""
    return np.abs(x[:, None] - x[None, :])


def one_hot(labels, count):
    """One row for each label, with a 1 at the label's place."""
    return (labels[:, None] == np.arange(count)).astype(np.float64)


def running_maximum(x):
    """The largest entry so far."""
    return np.maximum.accumulate(x)
