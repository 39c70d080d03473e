"""What the checks run, on a student's modules and on the reference."""


def product(lab, a, b):
    return {"value": lab.graph.multiply(lab.graph.variable(a), lab.graph.variable(b)).value}


def square(lab, x):
    node = lab.graph.square(lab.graph.variable(x))
    return {"value": node.value, "partials": list(node.partials)}


def edges(lab, length):
    """For each edge of a chain of products, how far the user stands behind the input."""
    nodes = [lab.graph.variable(0.5)]
    for _ in range(length):
        nodes.append(lab.graph.multiply(nodes[-1], nodes[-1]))
    order = lab.graph.topological_order(nodes[-1])
    place = {node: number for number, node in enumerate(order)}
    steps = [place[user] - place[one] for user in nodes for one in user.inputs]
    return {"size": len(order), "right_way": all(step > 0 for step in steps)}


def power(lab, x, n, seed):
    """x ** n by products, and its derivative times the seed."""
    leaf = y = lab.graph.variable(x)
    for _ in range(n - 1):
        y = lab.graph.multiply(y, leaf)
    return {"value": y.value, "gradient": lab.engine.reverse_mode(y, seed)[leaf]}
