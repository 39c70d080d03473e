"""Programs of lab 1: each builds graphs with a lab's modules and returns numbers.

They run, with the same inputs, on a submission and on the reference, each in a worker of its own. What runs
beside a student's code decides nothing: a program hands over numbers, and the grading tests judge them.
Programs of graph.py's tasks touch `lab.graph` only, so a broken engine.py costs them nothing. An answer of a
kind that makes no sense is handed on as it is, or as None: the judge names it.
"""

import itertools
import json
import math
import sys
from numbers import Real

import numpy as np

from labkit import cuda, predict
from labkit.localise import numbered

# --- Helpers ------------------------------------------------------------------------------------------------


def vector(numbers):
    """A list or tuple of numbers as a float64 array; anything else unchanged."""
    if isinstance(numbers, (list, tuple)) and all(issubclass(kind, Real) for kind in set(map(type, numbers))):
        return np.array(numbers, dtype=np.float64)
    return numbers


def variables(lab, values):
    return [lab.graph.variable(float(value)) for value in values]


def values_of(nodes):
    return vector([node.value for node in nodes])


def local_derivatives(node):
    return vector(node.op.partials(tuple(operand.value for operand in node.inputs), node.value))


def adjoints(node_to_grad, nodes):
    """The adjoints of nodes, 0 where the output does not depend on one."""
    if isinstance(node_to_grad, dict):
        return vector([node_to_grad.get(node, 0.0) for node in nodes])


def dense(entries, keys):
    """A table's sparse derivative over all keys."""
    if isinstance(entries, dict):
        return vector([entries.get(key, 0.0) for key in keys])


def errors_of(attempts):
    """The kinds of error that attempts end with."""
    kinds = []
    for attempt in attempts:
        try:
            kinds.append(f"none, but {type(attempt()).__name__}")
        except (TypeError, ValueError, KeyError) as error:
            kinds.append(type(error).__name__)
    return kinds


def table_of(lab, keys, numbers):
    return lab.graph.table(dict(zip(keys, numbers.tolist())))


OPERATIONS = {
    "add": lambda graph, a, b: a + b,
    "subtract": lambda graph, a, b: a - b,
    "multiply": lambda graph, a, b: a * b,
    "divide": lambda graph, a, b: a / b,
    "power": lambda graph, a, b: a**b,
    "negate": lambda graph, a: -a,
    "exp": lambda graph, a: graph.exp(a),
    "log": lambda graph, a: graph.log(a),
    "sin": lambda graph, a: graph.sin(a),
    "cos": lambda graph, a: graph.cos(a),
    "tanh": lambda graph, a: graph.tanh(a),
}

# What random graphs are made of: given operations only, and values stay tame.
TAME = (
    lambda graph, a, b: a + b,
    lambda graph, a, b: a - b,
    lambda graph, a, b: graph.tanh(a * b),
    lambda graph, a, b: graph.cos(a) * b,
    lambda graph, a, b: graph.exp(-(a * a)) + b,
)


def straight_line(lab, operations, graph, x):
    """The nodes of any graph, as data: the inputs x, and for each row (operation, i, j) of graph one more."""
    nodes = variables(lab, x)
    for operation, i, j in graph.tolist():
        a, b = nodes[i % len(nodes)], nodes[j % len(nodes)]
        nodes.append(operations[operation % len(operations)](lab.graph, a, b))
    return nodes


def summit(lab, graph, x):
    """The nodes of a random graph and one output on top, in which the last three and every input take part.

    The cosine makes sure that no difference quotient is exact; its factor, that no slope vanishes.
    """
    nodes = straight_line(lab, TAME, graph, x)
    y = nodes[-1] * nodes[-2] - nodes[-3]
    for node in nodes[: len(x)]:
        y = y + node * 0.3
    return nodes + [y + lab.graph.cos(y) * 0.5]


def lecture(lab, x1, x2):
    """v1 to v7 of the lecture's y = ln x1 + x1 x2 - sin x2."""
    v1, v2 = variables(lab, [x1, x2])
    v3 = lab.graph.log(v1)
    v4 = v1 * v2
    v5 = lab.graph.sin(v2)
    v6 = v3 + v4
    return [v1, v2, v3, v4, v5, v6, v6 - v5]


# --- graph.py: operators and local derivatives --------------------------------------------------------------

NUMBERS = {"int": int, "float": float, "float64": np.float64, "float32": np.float32, "int64": np.int64}


def number_on_the_left(lab, operation, number, kind, x):
    node = OPERATIONS[operation](lab.graph, NUMBERS[kind](number), lab.graph.variable(x))
    return {"value": node.value}


def nested_reflections(lab, x):
    a = lab.graph.variable(x)
    return {"values": values_of([1 - 3 / a, 3 / (1 - a), 2 - (5 - a), 7 / (2 / a), 1.5 - a * (4 / a - 3)])}


def recomputed_elsewhere(lab, operation, number, x, elsewhere):
    """The value that the same graph has at another x, recomputed from the leaves up."""
    leaf = lab.graph.variable(x)
    node = OPERATIONS[operation](lab.graph, number, leaf * leaf)
    values = {leaf: elsewhere}
    stack = [node]
    while stack:
        top = stack[-1]
        waiting = [operand for operand in top.inputs if operand not in values]
        if waiting:
            stack += waiting
            continue
        if top not in values:
            values[top] = top.op.compute(*(values[i] for i in top.inputs)) if top.inputs else top.value
        stack.pop()
    return {"value": node.value, "elsewhere": values[node], "leaf": leaf.value}


def operation(lab, name, at, value_only=False):
    node = OPERATIONS[name](lab.graph, *variables(lab, at))
    return {"value": node.value} if value_only else {"value": node.value, "partials": local_derivatives(node)}


def power_by_base(lab, base, exponent):
    """The derivative by the base alone: for a negative base the other one is not asked for."""
    node = lab.graph.variable(base) ** exponent
    partials = local_derivatives(node)
    return {"value": node.value, "by_base": partials[0] if isinstance(partials, np.ndarray) else partials}


def one_node_in_both_slots(lab, name, x):
    node = lab.graph.variable(x)
    return {"partials": local_derivatives(OPERATIONS[name](lab.graph, node, node))}


def partials_along_a_chain(lab, x, y):
    """Local derivatives of nodes whose inputs are themselves results."""
    x, y = variables(lab, [x, y])
    chain = [lab.graph.log(x * x)]
    chain.append(chain[-1] / (y + 0.5))
    chain.append(lab.graph.sin(chain[-1]))
    chain.append((chain[-1] + 3) ** (y * 0.5))
    chain.append(chain[0] / chain[-1])
    return {"values": values_of(chain), "partials": [local_derivatives(node) for node in chain]}


def partials_again(lab, name, at, elsewhere):
    """One operation object asked at a point, at another, and at the first again."""
    node = OPERATIONS[name](lab.graph, *variables(lab, at))
    given = [operand.value for operand in node.inputs]
    first = vector(node.op.partials(given, node.value))
    other = elsewhere.tolist()
    between = vector(node.op.partials(other, node.op.compute(*other)))
    again = vector(node.op.partials(given, node.value))
    return {"first": first, "between": between, "again": again, "point": vector(given), "value": node.value}


# --- graph.py: lookup ---------------------------------------------------------------------------------------

KEYS = {
    "string": ["cat", "dog", "owl"],
    "integer": [7, -1, 0],
    "tuple": [(0, 1), (1, 0), (1, 1)],
    "mixed": ["1", 1, None],
}


def lookups(lab, keys, numbers):
    keys = KEYS[keys]
    table = table_of(lab, keys, numbers)
    nodes = [lab.graph.lookup(table, key) for key in keys]
    partials = [node.op.partials((table.value,), node.value) for node in nodes]
    rows = [dense(*one, keys) if len(one) == 1 else None for one in partials]
    return {"values": values_of(nodes), "partials": rows}


def lookup_algebra(lab, numbers, direction, factor):
    """What the two modes do with a lookup's local derivative: scale, add, inner product."""
    keys = KEYS["string"]
    table = table_of(lab, keys, numbers)
    (cat,), (owl,) = (node.op.partials((table.value,), node.value) for node in (table["cat"], table["owl"]))
    return {
        "scaled": dense(cat * factor, keys),
        "sum": dense(cat * factor + owl + cat, keys),
        "inner_product": owl * lab.graph.Entries(zip(keys, direction.tolist())),
    }


def lookup_missing(lab, numbers):
    keys = KEYS["string"]
    table = table_of(lab, keys, numbers)
    node = table["dog"]
    errors = errors_of([lambda: lab.graph.lookup(table, "cow"), lambda: table[0]])
    return {"errors": errors, "partials": dense(*node.op.partials((table.value,), node.value), keys)}


def lookup_is_pure(lab, numbers):
    keys = KEYS["string"]
    table = table_of(lab, keys, numbers)
    node = table["dog"]
    (spoilt,) = node.op.partials((table.value,), node.value)
    spoilt.update(dict.fromkeys(keys, 5.0))
    again = node.op.partials((table.value,), node.value)
    return {"table": dense(table.value, keys), "partials": dense(*again, keys)}


# --- graph.py: topological order ----------------------------------------------------------------------------

# One node for each row, so that a grading test knows the edges without asking anybody.
PLAIN = (lambda graph, a, b: a + b, lambda graph, a, b: a - b, lambda graph, a, b: a * b)


def positions(some, nodes):
    """Where each of some nodes stands among nodes; their number for one that does not."""
    position = {id(node): i for i, node in enumerate(nodes)}
    return np.array([position.get(id(node), len(nodes)) for node in some], dtype=np.int64)


def nodes_and_outputs(lab, graph, x, chosen):
    nodes = straight_line(lab, PLAIN, graph, x)
    return nodes, nodes[chosen] if isinstance(chosen, int) else [nodes[i] for i in chosen]


def order_of_graph(lab, graph, x, chosen):
    """Of each node: whether it is in the order, how often, and the place where it first stands, else -1.

    Nodes are named by their position among the inputs and the rows of graph; `other_nodes` counts the rest.
    Places are for a law alone, since several orders are right.
    """
    nodes, outputs = nodes_and_outputs(lab, graph, x, chosen)
    order = lab.graph.topological_order(outputs)
    if not isinstance(order, (list, tuple)):
        return dict.fromkeys(("places", "in_the_order", "times_in_the_order"), order)
    found = positions(order, nodes)
    places = np.full(len(nodes) + 1, -1)
    places[found[::-1]] = np.arange(len(found))[::-1]
    *times, others = np.bincount(found, minlength=len(nodes) + 1).tolist()
    return {
        "places": places[:-1],
        "in_the_order": np.array(times) > 0,
        "times_in_the_order": times,
        "other_nodes": others,
    }


def outputs_after_ordering(lab, graph, x, chosen):
    """The positions of the outputs in the list that topological_order was given, afterwards."""
    nodes, outputs = nodes_and_outputs(lab, graph, x, chosen)
    lab.graph.topological_order(outputs)
    return {"outputs": positions(outputs, nodes)}


# --- engine.py: differences ---------------------------------------------------------------------------------


def wave(x):
    return np.sum(np.sin(x) * x[::-1]) + np.prod(np.cos(x))


def writes_into_its_argument(x):
    x += 1
    return np.sum(x * x)


FUNCTIONS = {
    "cubes": lambda x: np.sum(x**3),
    "exponentials": lambda x: np.sum(np.exp(x)),
    "wave": wave,
    "writes_into_its_argument": writes_into_its_argument,
}


def gradient_of(answer):
    """What a difference function says without its count; an answer that is no pair as it is."""
    return answer[0] if isinstance(answer, tuple) and len(answer) == 2 else answer


def difference(lab, function, x, h=None, method="central_difference"):
    return {"gradient": gradient_of(getattr(lab.engine, method)(FUNCTIONS[function], x, h))}


def difference_seen(lab, function, x, h=None):
    """The same with what the function saw, how far x has moved, and the gradient after another call."""
    seen, before = set(), x.copy()

    def watched(point):
        seen.add(f"{point.dtype} {point.shape}")
        return FUNCTIONS[function](point)

    answer = lab.engine.central_difference(watched, x, h)
    gradient = gradient_of(answer)
    kept = gradient.copy() if isinstance(gradient, np.ndarray) else gradient
    told = {"points": sorted(seen), "gradient": kept, "x_moved_by": x - before}
    lab.engine.central_difference(FUNCTIONS[function], before + 1, h)
    return told | {"gradient_after_another_call": gradient}


def evaluations(lab, x, h, method="central_difference"):
    """How often the function is called, and how often the answer says it was."""
    calls = 0

    def counted(point):
        nonlocal calls
        calls += 1
        return wave(point)

    answer = getattr(lab.engine, method)(counted, x, h)
    said = answer[1] if isinstance(answer, tuple) and len(answer) == 2 else None
    return {"calls": calls, "evaluations": int(said) if isinstance(said, np.integer) else said}


# --- engine.py: forward mode --------------------------------------------------------------------------------


def lecture_forward(lab, x1, x2, direction):
    v = lecture(lab, x1, x2)
    tangents = lab.engine.forward_mode(v, v[:2], direction.tolist())
    return {"values": values_of(v), "tangents": vector(tangents)}


def graph_forward(lab, graph, x, direction, chosen=(-1,), order=None):
    """Tangents of chosen nodes (the top one unless told); inputs and their directions in any common order.

    What the inputs contribute may cancel, so the scale is the direction's own size.
    """
    nodes = summit(lab, graph, x)
    outputs = [nodes[i] for i in chosen]
    order = order or range(len(x))
    ways = [float(direction[i]) for i in order]
    tangents = lab.engine.forward_mode(outputs, [nodes[i] for i in order], ways)
    scale = {"tangents": float(np.linalg.norm(direction))}
    return {"values": values_of(outputs), "tangents": vector(tangents), "scale": scale}


def forward_without_influence(lab, x, direction):
    """Outputs that depend on an input that moves, only on one that is held fixed, and on none."""
    a, b, unused = variables(lab, x)
    outputs = [a * b, lab.graph.cos(b), lab.graph.exp(lab.graph.constant(0.5)), a]
    mixed = lab.engine.forward_mode(outputs, [a, b, unused], [direction[0], 0.0, direction[1]])
    fixed = lab.engine.forward_mode(outputs, [unused], [direction[1]])
    return {"tangents": vector(mixed), "nothing_moves": vector(fixed)}


def forward_inputs_as_outputs(lab, x, direction):
    a, b = variables(lab, x)
    tangents = lab.engine.forward_mode([b, a * b, a, b], [a, b], direction.tolist())
    return {"tangents": vector(tangents)}


def forward_fixed_exponent(lab, x, exponent, direction):
    """A negative base: the constant exponent's own derivative is NaN and must stay where it is."""
    leaf = lab.graph.variable(x)
    y = leaf**exponent
    return {"value": y.value, "tangents": vector(lab.engine.forward_mode(y, [leaf], [direction]))}


def forward_again(lab, graph, x, direction):
    """Along a direction, along its opposite, along it again; and how far the values have moved."""
    nodes = summit(lab, graph, x)
    before, inputs = values_of(nodes), nodes[: len(x)]
    directions = (direction, -direction, direction)
    runs = [vector(lab.engine.forward_mode(nodes[-1], inputs, way.tolist())) for way in directions]
    scale = {"runs": float(np.linalg.norm(direction))}
    return {"runs": runs, "values_moved_by": values_of(nodes) - before, "scale": scale}


# --- engine.py: reverse mode --------------------------------------------------------------------------------


def lecture_reverse(lab, x1, x2, seed):
    v = lecture(lab, x1, x2)
    return {"values": values_of(v), "adjoints": adjoints(lab.engine.reverse_mode(v[-1], seed), v)}


def graph_reverse(lab, graph, x, seed=None, every_node=False):
    """Value and gradient of a random graph, or the adjoints of all its nodes."""
    nodes = summit(lab, graph, x)
    y = nodes[-1]
    node_to_grad = lab.engine.reverse_mode(y) if seed is None else lab.engine.reverse_mode(y, seed)
    wanted = nodes if every_node else nodes[: len(x)]
    return {"value": y.value, "gradient": adjoints(node_to_grad, wanted)}


def adjoints_recorded(lab, x, seed):
    """The partial adjoints of each node: as many as edges lead up from it, and their sum is the total."""
    a, b = variables(lab, x)
    u = a * b
    v = u * lab.graph.cos(u) + a
    y = v * v - u
    record = {}
    total = adjoints(lab.engine.reverse_mode(y, seed, record), [a, b, u, v, y])
    parts = [record.get(node, []) for node in (a, b, u, v, y)]
    return {
        "value": y.value,
        "totals": total,
        "sums": vector([sum(part) for part in parts]),
        "parts": [vector(sorted(part)) for part in parts],
    }


def reverse_without_influence(lab, x, seed):
    """An input that is the output, and inputs that the output does not need."""
    a, b, unused = variables(lab, x)
    y = a * b
    later = lab.graph.exp(y) * unused
    return {
        "used": adjoints(lab.engine.reverse_mode(y, seed), [a, b, unused, later]),
        "input_is_output": adjoints(lab.engine.reverse_mode(a, seed), [a, b]),
    }


def reverse_again(lab, x, seed):
    """Backward from y and from a node above it, twice in turn; and how far the values have moved."""
    a, b = variables(lab, x)
    y = a * b + a
    z = y * y
    before = values_of([a, b, y, z])
    runs = [adjoints(lab.engine.reverse_mode(output, seed), [a, b]) for output in (y, z, y, z)]
    return {"runs": runs, "values_moved_by": values_of([a, b, y, z]) - before}


def bowl(graph, x):
    """A convex function, so no direction is without curvature."""
    y = x[0] * x[0]
    for left, right in itertools.pairwise(x):
        y = y + graph.exp(right * 0.5) + (left - right) * (left - right)
    return y


def taylor(lab, x, direction, h):
    """The values at x, at x + h d and at x + h / 2 d, and the gradient at x."""
    inputs = variables(lab, x)
    y = bowl(lab.graph, inputs)
    gradient = adjoints(lab.engine.reverse_mode(y), inputs)
    ahead = [bowl(lab.graph, variables(lab, x + step * direction)).value for step in (h, h / 2)]
    return {"values": vector([y.value, *ahead]), "gradient": gradient}


# --- engine.py: bypass --------------------------------------------------------------------------------------


def square_plus_itself(lab, x, square_first, seed):
    x = lab.graph.variable(x)
    y = x * x + x if square_first else x + x * x
    return {"value": y.value, "gradient": adjoints(lab.engine.reverse_mode(y, seed), [x])}


def both_slots(lab, name, x, seed):
    """The adjoints of a node and of the result; paths may cancel, so the scale is what one contributes."""
    leaf = lab.graph.variable(x)
    y = OPERATIONS[name](lab.graph, leaf, leaf)
    one_path = {"add": seed, "subtract": seed, "multiply": seed * x, "divide": seed / x}[name]
    found = adjoints(lab.engine.reverse_mode(y, seed), [leaf, y])
    return {"value": y.value, "adjoints": found, "scale": {"value": abs(x), "adjoints": abs(one_path)}}


def unequal_paths(lab, x, short_first, left, seed):
    """From u to y one path has two operations, the other six; built and written in either order."""
    x = lab.graph.variable(x)
    u = lab.graph.cos(x)
    paths = [lambda: u * 0.5, lambda: lab.graph.tanh(lab.graph.exp(-u) * u) + x]
    short, long = [path() for path in paths] if short_first else reversed([path() for path in paths[::-1]])
    y = short * long if left else long * short
    return {"value": y.value, "adjoints": adjoints(lab.engine.reverse_mode(y, seed), [x, u, short, long])}


def logistic_map(lab, l1, n):
    x = y = lab.graph.variable(l1)
    for _ in range(n):
        y = 4 * y * (-y + 1)
    return {"value": y.value, "gradient": adjoints(lab.engine.reverse_mode(y), [x])}


def table_reverse(lab, numbers, x, seed):
    """One key looked up twice, one once, one never."""
    keys = KEYS["string"]
    table, x = table_of(lab, keys, numbers), lab.graph.variable(x)
    y = table["cat"] * lab.graph.cos(table["cat"]) + x * table["owl"]
    node_to_grad = lab.engine.reverse_mode(y, seed)
    if not isinstance(node_to_grad, dict):
        return {"value": y.value, "table": None}
    return {"value": y.value, "table": dense(node_to_grad.get(table), keys), "x": adjoints(node_to_grad, [x])}


# --- engine.py: Jacobians -----------------------------------------------------------------------------------


def graph_jacobian(lab, graph, x, chosen, mode):
    nodes = summit(lab, graph, x)
    return {"jacobian": lab.engine.jacobian([nodes[i] for i in chosen], nodes[: len(x)], mode)}


def jacobian_of_inputs(lab, x, mode):
    """Rows of an input that is an output and of a repeated output; the column of an unused input."""
    a, b, unused = variables(lab, x)
    y = a * b - lab.graph.cos(a)
    return {"jacobian": lab.engine.jacobian([y, b, y, lab.graph.constant(3.0)], [a, unused, b], mode)}


def jacobian_of_one(lab, x, n, mode):
    """One output, or one input: still a matrix."""
    inputs = variables(lab, x)
    y = inputs[0] * inputs[1] + lab.graph.tanh(inputs[2])
    return {
        "row": lab.engine.jacobian(y, inputs[:n], mode),
        "column": lab.engine.jacobian([y, inputs[0]][:n], [inputs[0]], mode),
    }


def jacobian_beside_nan(lab, x, mode):
    """The row of an output that has nothing to do with the NaN in the other one."""
    a, b = variables(lab, x)
    matrix = lab.engine.jacobian([a * lab.graph.variable(float("nan")), a * b + a], [a, b], mode)
    return {"row": matrix[1] if isinstance(matrix, np.ndarray) and matrix.ndim == 2 else matrix}


def jacobian_products(lab, graph, x, chosen, direction, weights):
    """J v by forward mode, w J by reverse mode, and J by either."""
    nodes = summit(lab, graph, x)
    outputs, inputs = [nodes[i] for i in chosen], nodes[: len(x)]
    rows = [adjoints(lab.engine.reverse_mode(y, w), inputs) for y, w in zip(outputs, weights.tolist())]
    return {
        "tangents": vector(lab.engine.forward_mode(outputs, inputs, direction.tolist())),
        "weighted_rows": rows,
        "forward_matrix": lab.engine.jacobian(outputs, inputs, "forward"),
        "reverse_matrix": lab.engine.jacobian(outputs, inputs, "reverse"),
    }


def jacobian_of_wide(lab, x, mode):
    """Many inputs and one output in reverse mode, one input and twice as many outputs in forward mode."""
    inputs = variables(lab, x)
    if mode == "reverse":
        return {"jacobian": lab.engine.jacobian(tree(lab.graph, inputs)[-1], inputs, mode)}
    return {"jacobian": lab.engine.jacobian(fan(lab.graph, inputs)[-2 * len(x) :], inputs[:1], mode)}


# --- Size ---------------------------------------------------------------------------------------------------

RECURSION_LIMIT = 1000  # Python's own; set again here, since an import may have raised it (case G46)


def chain(graph, x):
    """10,000 operations deep above the first input, in turn plus the third and times the second."""
    nodes, y = list(x), x[0]
    for step in range(10_000):
        y = y * x[1] if step % 2 else y + x[2]
        nodes.append(y)
    return nodes


def doublings(graph, x):
    """40 times y + y: 2**40 paths along 80 edges."""
    nodes = list(x)
    for _ in range(40):
        nodes.append(nodes[-1] + nodes[-1])
    return nodes


def tree(graph, x, below=()):
    """All nodes of below (by default x), and above x a tree: two neighbours become one, again and again."""
    nodes = list(x)
    for k in range(0, 2 * len(x) - 2, 2):
        a, b = nodes[k], nodes[k + 1]
        nodes.append(a * b if k < len(x) else a - b)
    return [*(below or x), *nodes[len(x) :], nodes[-1] * nodes[-1]]


def fan(graph, x):
    """A tree over the inputs, and above it two outputs for each of them."""
    nodes = tree(graph, x)
    top = nodes[-1]
    return nodes + [top * leaf for leaf in x] + [top - leaf for leaf in x]


def hourglass(graph, x):
    """A fan, and a tree over its outputs."""
    nodes = fan(graph, x)
    return tree(graph, nodes[-2 * len(x) :], nodes)


def river(graph, x):
    """Layers in which a node serves two above it, a tree over them, and from its top 20 long branches.

    Most nodes have thousands below them, and inputs are used to the last, so whoever carries a tangent for
    every node runs out of time or memory. Recursion, 640 deep, and walks along every path, 20 from the top,
    do not: those mistakes cost points elsewhere.
    """
    nodes = level = list(x)
    for shift in (1, len(x) // 3):
        level = [graph.cos(a - b) for a, b in zip(level, level[shift:] + level[:shift])]
        nodes = nodes + [node.inputs[0] for node in level] + level
    nodes = tree(graph, level, nodes)
    ends = [nodes[-1]] * 20
    leaves = itertools.cycle(x)
    for _ in range(len(x) * 3 // 5):
        ends = [leaf - end for end, leaf in zip(ends, leaves)]
        nodes = nodes + ends
    return tree(graph, ends, nodes)


LARGE = {shape.__name__: shape for shape in (chain, doublings, fan, hourglass, river)}


def large(lab, shape, x, seed=None, direction=None):
    """A large graph: the adjoints of every node from a seed, the tangents as its first input moves."""
    nodes = LARGE[shape](lab.graph, variables(lab, x))
    told = {"value": nodes[-1].value}
    if seed is not None:
        told["adjoints"] = adjoints(lab.engine.reverse_mode(nodes[-1], seed), nodes)
    if direction is not None:
        told["tangents"] = vector(lab.engine.forward_mode(nodes, nodes[:1], [direction]))
    return told


def at_the_recursion_limit(lab, what, **inputs):
    """Another program at Python's own limit, and the limit afterwards."""
    sys.setrecursionlimit(RECURSION_LIMIT)
    told = {"order": order_of_graph, "modes": large}[what](lab, **inputs)
    return told | {"recursion_limit": sys.getrecursionlimit()}


# --- Given code ---------------------------------------------------------------------------------------------


def python_numbers(lab, x):
    a = lab.graph.variable(x)
    python = [a + 2, 2 + a, a - 2, 2 * a, a * 2.5, a / 4, a**2, 2.5**a, -a]
    numpy = [np.float64(2) * a, np.int64(3) + a, a - np.float32(0.5)]
    leaves = [a, lab.graph.constant(3), (a + 2).inputs[1]]
    return {
        "values": values_of(python + numpy + leaves),
        "operations": [leaf.op and leaf.op.name for leaf in leaves],
        "inputs": [len(leaf.inputs) for leaf in leaves],
    }


def refusals(lab, x):
    """What a node refuses to be."""
    a = lab.graph.variable(x, name="a")
    attempts = [
        lambda: math.sin(a),
        lambda: np.exp(a),
        lambda: bool(a > 0),
        lambda: np.ones(2) * a,
        lambda: lab.graph.lookup(a, "key"),
    ]
    return {"errors": errors_of(attempts), "name": a.name}


def table_given(lab, numbers, factor):
    keys = KEYS["mixed"]
    table = table_of(lab, keys, numbers)
    one, two = lab.graph.Entries({keys[0]: 1.0}), lab.graph.Entries(zip(keys, numbers.tolist()))
    return {
        "values": values_of([table[key] for key in keys]),
        "sum": dense(one + two, keys),
        "scaled": dense(factor * two, keys),
        "inner_product": two * two,
    }


def sizes(lab, x, n):
    y = a = lab.graph.variable(x)
    for _ in range(n):
        y = y * y + a
    return {"graph": lab.graph.graph_size([y, a]), "tree": lab.graph.expression_size(y)}


def engine_refusals(lab, x):
    a = lab.graph.variable(x)
    attempts = [
        lambda: lab.engine.forward_mode(a, [a], []),
        lambda: lab.engine.jacobian(a, [a], "sideways"),
        lambda: lab.engine.forward_difference(np.sum, np.array([x]), -1.0),
    ]
    return {"errors": errors_of(attempts)}


# --- What a program did, node by node: explains a wrong answer and never judges one -------------------------

DRAWABLE = 60  # nodes of a graph that is worth looking at
PASSES = 6  # of a program that are told


def trace(lab, program, inputs):
    """Run a program and tell every pass it asked for: its graph, values, local derivatives, what came out."""
    seen = Watched(lab)
    try:
        globals()[program](lab, **inputs)
    except Exception:
        if not seen.passes:
            raise
    if not seen.passes:  # a program of graph.py alone: its graph is what nobody uses further
        used = {id(operand) for node in seen.made for operand in node.inputs}
        seen.passes.append(("graph", [node for node in seen.made if id(node) not in used], {}))
    told = [seen.tell(*one) for one in seen.passes[:PASSES]]
    return {"passes": [one for one in told if one]}


def below(outputs):
    """All nodes that outputs depend on, by id."""
    found, stack = {}, list(outputs)
    while stack:
        node = stack.pop()
        if id(node) not in found:
            found[id(node)] = node
            stack.extend(node.inputs)
    return found


class Watched:
    """Keeps the nodes a lab makes, in order of creation, and every pass through a graph with its result."""

    def __init__(self, lab):
        self.made, self.named, self.passes = [], set(), []
        self.depth = 0
        try:
            self.engine = lab.engine
        except Exception:  # a broken engine.py tells nothing about a graph
            self.engine = None
        for name in ("forward_mode", "reverse_mode"):
            if hasattr(self.engine, name):
                setattr(self.engine, name, self.watch(name, getattr(self.engine, name)))
        graph = lab.graph
        graph.topological_order = self.watch("order", graph.topological_order)
        initialise, variable = graph.Node.__init__, graph.variable

        def keep(node, *arguments, **options):
            initialise(node, *arguments, **options)
            self.made.append(node)

        def name(*arguments, **options):
            node = variable(*arguments, **options)
            self.named.add(id(node))
            return node

        graph.Node.__init__, graph.variable = keep, name

    def watch(self, name, function):
        def watched(outputs, *arguments, **options):
            if self.depth:
                return function(outputs, *arguments, **options)
            self.depth += 1
            try:
                result = function(outputs, *arguments, **options)
            finally:
                self.depth -= 1
            nodes = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
            self.passes.append((name, nodes, {"result": result, "arguments": (arguments, options)}))
            return result

        return watched

    def tell(self, kind, outputs, call):
        wanted = below(outputs)
        if not wanted or len(wanted) > DRAWABLE:
            return None
        nodes = [node for node in self.made if id(node) in wanted]
        place = {id(node): i for i, node in enumerate(nodes)}
        numbers = {"reverse_mode": self.adjoints, "forward_mode": self.tangents, "order": self.places}
        return {
            "kind": kind,
            "names": [self.name(node) for node in nodes],
            "counts": [len(node.inputs) for node in nodes],
            "inputs": [place[id(operand)] for node in nodes for operand in node.inputs],
            "outputs": [place[id(node)] for node in outputs],
            "values": [number(node.value) for node in nodes],
            "partials": [partial for node in nodes for partial in partials_or_none(node)],
            "numbers": numbers[kind](nodes, outputs, call) if kind in numbers else [],
        }

    def name(self, node):
        """Its operation; of a leaf "variable" or "table", and "" for a constant."""
        if node.op:
            return node.op.name
        return "table" if isinstance(node.value, dict) else "variable" if id(node) in self.named else ""

    def adjoints(self, nodes, outputs, call):
        node_to_grad = call["result"]
        return [number(node_to_grad.get(node)) for node in nodes] if isinstance(node_to_grad, dict) else []

    def tangents(self, nodes, outputs, call):
        """Of every node, by one more pass of the same engine; of the outputs as the program got them."""
        self.depth += 1
        arguments, options = call["arguments"]
        try:
            every = [number(one) for one in self.engine.forward_mode(list(nodes), *arguments, **options)]
        except Exception:
            every = []
        finally:
            self.depth -= 1
        known = dict(zip(map(id, nodes), every)) | dict(zip(map(id, outputs), map(number, call["result"])))
        return [known.get(id(node)) for node in nodes]

    def places(self, nodes, outputs, call):
        """Where each node stands in an order; -1 where it is missing, -n where it stands n times."""
        order = list(map(id, call["result"]))
        times = [order.count(id(node)) for node in nodes]
        return [float(order.index(id(node)) if n == 1 else -max(n, 1)) for node, n in zip(nodes, times)]


def number(value):
    """A float, or None for what is no number."""
    return float(value) if isinstance(value, Real) else None


def partials_or_none(node):
    """As many local derivatives as inputs, None for what is no number."""
    try:
        partials = [number(one) for one in node.op.partials(tuple(i.value for i in node.inputs), node.value)]
    except Exception:
        partials = []
    return (partials + [None] * len(node.inputs))[: len(node.inputs)]


# --- cuda_ops.py --------------------------------------------------------------------------------------------


def plain(answer):
    """Tuples as lists and NumPy's integers as int, at any depth; all else unchanged."""
    if isinstance(answer, (list, tuple)):
        return [plain(item) for item in answer]
    return int(answer) if isinstance(answer, np.integer) else answer


def configurations(lab, n, block):
    """The launch configuration of each number of points."""
    found = {
        f"n = {points}": plain(lab.cuda_ops.launch_configuration(points, block)) for points in n.tolist()
    }
    return {"configuration": found}


def evaluated(lab, points, parameter, sizes):
    """A graph of given operations at the first points, for several numbers of points."""
    graph = lab.graph
    x, z, p = variables(lab, [0.5, 0.5, parameter])
    evaluator = lab.cuda_ops.DeviceEvaluator(graph.sin(x) / (p + graph.exp(z)), [x, z])
    answers = {"value": {}, "gradient": {}, "parameter_gradient": {}}
    for n in sizes.tolist():
        name, some = f"n = {n}", points[:n]
        answers["value"][name] = evaluator.value(some)
        answers["gradient"][name] = evaluator.gradient(some)
        answers["parameter_gradient"][name] = evaluator.parameter_gradient(some, [p])
    return answers


# --- kernels.cu ---------------------------------------------------------------------------------------------
# These run beside the kernels alone: `lab` has nothing but `lab.kernels`.


def adjoints_after(kernel, n, block, operands, v, upstream, before, aliased):
    """The adjoints that a backward kernel leaves in the operands' arrays, for n points in blocks of a size.

    operands, before: for each operand a vector, of n numbers or of one that all points share.
    """
    values = [cuda.asarray(operand) for operand in operands]
    adjoints = [cuda.asarray(one) for one in before]
    if aliased:
        values, adjoints = [values[0]] * len(values), [adjoints[0]] * len(adjoints)
    strides = [np.int32(len(operand) == n) for operand in operands]
    described = [argument for pair in zip(values, strides, strict=True) for argument in pair]
    arguments = [*described, cuda.asarray(v), cuda.asarray(upstream), *adjoints, np.int32(n)]
    kernel((max(1, -(-n // block)),), (block,), tuple(arguments))
    return [cuda.asnumpy(adjoint) for adjoint in adjoints]


def backward(lab, kernel, launches, operands, v, upstream, before, shared=(), aliased=False):
    """The adjoints after a backward kernel, for each launch (n, block) on the first n points.

    operands, before: a row for each operand; of a shared one only the first number counts. aliased: one node
    stands in all places. The scale is the size of what is added up.
    """
    launch = lab.kernels.get_function(kernel)
    names = "ab"[: len(operands)]
    answers = {f"{name}_adjoint": {} for name in names}
    single = [np.float32(row) for row in (operands, before)]
    for n, block in launches.tolist():
        ends = [1 if i in shared else n for i in range(len(names))]
        rows = [[row[:end] for row, end in zip(array, ends, strict=True)] for array in single]
        found = adjoints_after(
            launch, n, block, rows[0], np.float32(v[:n]), np.float32(upstream[:n]), rows[1], aliased
        )
        for name, adjoint in zip(names, found, strict=True):
            answers[f"{name}_adjoint"][f"n = {n}, block = {block}"] = adjoint
    return answers | {"scale": float(np.linalg.norm(upstream))}


# --- lab1.ipynb ---------------------------------------------------------------------------------------------


def words(answer):
    """The entries of an answer as the notebook reads them: lower-case text, numbers at full precision."""
    return [predict.written(entry, None) for entry in predict.entries(answer)]


def rounded_numbers(answer):
    return vector([float(entry) for entry in predict.entries(answer)])


def predict_creation(lab, number):
    return {"creation": words(lab.cell("predict-creation", number).creation)}


def predict_tangents(lab, number):
    return {"tangents": rounded_numbers(lab.cell("predict-tangents", number).tangents)}


def predict_adjoints(lab, number):
    return {"adjoints": rounded_numbers(lab.cell("predict-adjoints", number).adjoints)}


def predict_arrivals(lab, number):
    return {"arrivals": words(lab.cell("predict-adjoints", number).arrivals)}


def predict_survivors(lab, number):
    return {"survivors": words(lab.cell("predict-survivors", number).survivors)}


def predict_breadth_first(lab, number):
    return {"wrong_nodes": words(lab.cell("predict-breadth-first", number).wrong_nodes)}


def predict_difference(lab, number, step):
    return {step: float(getattr(lab.cell("predict-difference", number), step))}


def break_it(lab, engine):
    """The student's graph as text: the wrong engine runs on it where no student's code is."""
    answer = getattr(lab.cell(engine, 0), engine.replace("-", "_"))
    try:
        return {"engine": engine, "graph": graph_as_text(*answer)}
    except (TypeError, AttributeError, KeyError):
        return {"engine": engine, "graph": ""}


def graph_as_text(output, leaf, path):
    """Nodes, inputs first, as [operation, places of inputs, value]; then the places of leaf and path."""
    places = {node: place for place, node in enumerate(numbered([output]))}
    nodes = [
        [node.op.name if node.inputs else "", [places[operand] for operand in node.inputs], float(node.value)]
        for node in places
    ]
    return json.dumps([nodes, places[leaf], [places[node] for node in path]])
