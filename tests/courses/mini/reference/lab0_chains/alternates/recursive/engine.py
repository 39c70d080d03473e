"""Derivatives in reverse mode."""

from graph import topological_order


def reverse_mode(output, seed=1.0):
    """The adjoint of every node of the output's graph."""
    ### BEGIN SOLUTION
    node_to_grad = {output: seed}
    for node in reversed(topological_order(output)):
        for one, partial in zip(node.inputs, node.partials, strict=True):
            node_to_grad[one] = node_to_grad.get(one, 0.0) + partial * node_to_grad[node]
    return node_to_grad
    ### END SOLUTION
