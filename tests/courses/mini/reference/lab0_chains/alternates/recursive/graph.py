"""A graph of numbers with two operations."""


class Node:
    """A value, the nodes it was computed from, and its derivative by each of them."""

    def __init__(self, value, inputs=(), partials=()):
        self.value = value
        self.inputs = inputs
        self.partials = partials


def variable(value):
    """A leaf."""
    return Node(float(value))


def multiply(a, b):
    """The product of two nodes,
    which may be one node twice.
    """
    return Node(a.value * b.value, (a, b), (b.value, a.value))


def square(a):
    """The square of a node."""
    ### BEGIN SOLUTION
    return Node(a.value * a.value, (a,), (2 * a.value,))
    ### END SOLUTION


def topological_order(output):
    """Every node that `output` rests on and itself, inputs before users."""
    ### BEGIN SOLUTION
    order = {}

    def visit(node):
        if node not in order:
            for one in node.inputs:
                visit(one)
            order[node] = True

    visit(output)
    return list(order)
    ### END SOLUTION
