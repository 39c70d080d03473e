"""Programs of lab 1: each builds graphs with a lab's modules and returns numbers.

They run, with the same inputs, on a submission and on the reference, each in a worker of its own.
Programs of graph.py's tasks touch `lab.graph` only, so a broken engine.py costs them nothing. An answer of a
kind that makes no sense is handed on as it is, or as None: the judge names it.
"""

import itertools
import math
import sys
from numbers import Real

import numpy as np

# --- Helpers ------------------------------------------------------------------------------------------------


def vector(numbers):
    """A list or tuple of numbers as a float64 array; anything else unchanged."""
    if isinstance(numbers, (list, tuple)) and all(isinstance(number, Real) for number in numbers):
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


def straight_line(lab, code, x):
    """The nodes of any graph, as data: x are the inputs, row (operation, i, j) of code appends a node."""
    nodes = variables(lab, x)
    for operation, i, j in code.tolist():
        a, b = nodes[i % len(nodes)], nodes[j % len(nodes)]
        nodes.append(TAME[operation % len(TAME)](lab.graph, a, b))
    return nodes


def summit(lab, code, x):
    """The nodes of straight_line and one output on top, in which the last three and every input take part."""
    nodes = straight_line(lab, code, x)
    y = nodes[-1] * nodes[-2] - nodes[-3]
    for node in nodes[: len(x)]:
        y = y + node * 0.3
    return nodes + [y]


def lecture(lab, x1, x2):
    """v1 to v7 of the lecture's y = ln x1 + x1 x2 - sin x2."""
    v1, v2 = variables(lab, [x1, x2])
    v3 = lab.graph.log(v1)
    v4 = v1 * v2
    v5 = lab.graph.sin(v2)
    v6 = v3 + v4
    return [v1, v2, v3, v4, v5, v6, v6 - v5]


def cosine_chain(lab, x, n):
    """One input, n outputs, each one above the one before."""
    chain = [x]
    for _ in range(n):
        chain.append(lab.graph.cos(chain[-1]) + x)
    return chain[1:]


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


def below(outputs):
    """All nodes that outputs depend on, by id."""
    found, stack = {}, list(outputs)
    while stack:
        node = stack.pop()
        if id(node) not in found:
            found[id(node)] = node
            stack.extend(node.inputs)
    return found


def order_facts(order, outputs):
    """How often an order breaks each of its three laws. No list is prescribed; a missing node breaks all."""
    if not isinstance(order, (list, tuple)):
        return {"order": None}
    wanted = below(outputs)
    times, place = {}, {}
    for position, node in enumerate(order):
        times[id(node)] = times.get(id(node), 0) + 1
        place.setdefault(id(node), position)
    edges = [(id(operand), user) for user, node in wanted.items() for operand in node.inputs]
    return {
        "edges_broken": sum(not place.get(a, len(order)) < place.get(b, -1) for a, b in edges),
        "not_exactly_once": sum(times.get(node, 0) != 1 for node in wanted),
        "missing_or_foreign": len(wanted.keys() ^ times.keys()),
    }


def order_of_graph(lab, code, x, chosen, law):
    """One law on a random graph; nodes that the chosen outputs do not depend on are there as well."""
    nodes = straight_line(lab, code, x)
    outputs = [nodes[i] for i in chosen]
    return {law: order_facts(lab.graph.topological_order(outputs), outputs).get(law)}


def order_of_outputs(lab, x, chosen):
    """All laws for outputs of a small graph in which u feeds v, both feed w, and t stands apart."""
    a, b = variables(lab, x)
    u = a * b
    v = lab.graph.exp(u) + u
    named = {"a": a, "u": u, "v": v, "w": u - v * v, "t": lab.graph.cos(b)}
    outputs = [named[name] for name in chosen]
    given = list(outputs)
    facts = order_facts(lab.graph.topological_order(given), outputs)
    return facts | {"outputs_as_given": [id(node) for node in given] == [id(node) for node in outputs]}


def order_of_one_node(lab, x, leaf):
    a, b = variables(lab, x)
    node = a if leaf else a * b + a
    return order_facts(lab.graph.topological_order(node), [node])


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
    """The same with what the function saw, and x afterwards."""
    seen, before = set(), x.copy()

    def watched(point):
        seen.add(f"{point.dtype} {point.shape}")
        return FUNCTIONS[function](point)

    gradient = gradient_of(lab.engine.central_difference(watched, x, h))
    return {"points": sorted(seen), "gradient": gradient, "x_unchanged": bool(np.array_equal(x, before))}


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


def graph_forward(lab, code, x, direction, chosen=(-1,), order=None):
    """Tangents of chosen nodes (the top one unless told); inputs and their directions in any common order."""
    nodes = summit(lab, code, x)
    outputs = [nodes[i] for i in chosen]
    order = order or range(len(x))
    ways = [float(direction[i]) for i in order]
    tangents = lab.engine.forward_mode(outputs, [nodes[i] for i in order], ways)
    return {"values": values_of(outputs), "tangents": vector(tangents)}


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


def forward_again(lab, code, x, direction):
    """Along a direction, along its opposite, along it again: no pass leaves a trace."""
    nodes = summit(lab, code, x)
    before, inputs = values_of(nodes), nodes[: len(x)]
    directions = (direction, -direction, direction)
    runs = [vector(lab.engine.forward_mode(nodes[-1], inputs, way.tolist())) for way in directions]
    return {"runs": runs, "values_unchanged": bool(np.array_equal(before, values_of(nodes)))}


def many_outputs_forward(lab, x, direction, n):
    """Tangents of all n nodes along a chain: one pass gives them all."""
    x = lab.graph.variable(x)
    return {"tangents": vector(lab.engine.forward_mode(cosine_chain(lab, x, n), [x], [direction]))}


# --- engine.py: reverse mode --------------------------------------------------------------------------------


def lecture_reverse(lab, x1, x2, seed):
    v = lecture(lab, x1, x2)
    return {"values": values_of(v), "adjoints": adjoints(lab.engine.reverse_mode(v[-1], seed), v)}


def graph_reverse(lab, code, x, seed=None, every_node=False):
    """Value and gradient of a random graph, or the adjoints of all its nodes."""
    nodes = summit(lab, code, x)
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
    """Backward from y, again from y, from a node above it, and values afterwards: no pass leaves a trace."""
    a, b = variables(lab, x)
    y = a * b + a
    z = y * y
    before = values_of([a, b, y, z])
    runs = [adjoints(lab.engine.reverse_mode(output, seed), [a, b]) for output in (y, z, y, z)]
    return {"runs": runs, "values_unchanged": bool(np.array_equal(before, values_of([a, b, y, z])))}


def bowl(graph, x):
    """A convex function, so no direction is without curvature."""
    y = x[0] * x[0]
    for left, right in itertools.pairwise(x):
        y = y + graph.exp(right * 0.5) + (left - right) * (left - right)
    return y


def taylor(lab, x, direction, h):
    """f(x + h d) - f(x) - h g.d for h and h / 2."""
    inputs = variables(lab, x)
    y = bowl(lab.graph, inputs)
    gradient = adjoints(lab.engine.reverse_mode(y), inputs)
    remainders = []
    for step in (h, h / 2):
        ahead = bowl(lab.graph, variables(lab, x + step * direction)).value
        remainders.append(ahead - y.value - step * float(np.dot(gradient, direction)))
    return {
        "value": y.value,
        "gradient": gradient,
        "remainders": vector(remainders),
        "scale": {"remainders": abs(y.value)},
    }


# --- engine.py: bypass --------------------------------------------------------------------------------------


def square_plus_itself(lab, x, square_first, seed):
    x = lab.graph.variable(x)
    y = x * x + x if square_first else x + x * x
    return {"value": y.value, "gradient": adjoints(lab.engine.reverse_mode(y, seed), [x])}


def both_slots(lab, name, x, seed):
    """The scale is one path's contribution: two of them may cancel."""
    leaf = lab.graph.variable(x)
    y = OPERATIONS[name](lab.graph, leaf, leaf)
    one_path = {"add": seed, "subtract": seed, "multiply": seed * x, "divide": seed / x}[name]
    gradient = adjoints(lab.engine.reverse_mode(y, seed), [leaf])
    return {"value": y.value, "gradient": gradient, "scale": {"value": abs(x), "gradient": abs(one_path)}}


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


def graph_jacobian(lab, code, x, chosen, mode):
    nodes = summit(lab, code, x)
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


def jacobian_products(lab, code, x, chosen, direction, weights):
    """The bilinear form w.J v, by either mode's passes and by either mode's matrix."""
    nodes = summit(lab, code, x)
    outputs, inputs = [nodes[i] for i in chosen], nodes[: len(x)]
    forward, reverse = (lab.engine.jacobian(outputs, inputs, mode) for mode in ("forward", "reverse"))
    pushed = vector(lab.engine.forward_mode(outputs, inputs, direction.tolist()))
    pulled = sum(adjoints(lab.engine.reverse_mode(y, w), inputs) for y, w in zip(outputs, weights.tolist()))
    return {
        "by_forward_mode": float(weights @ pushed),
        "by_reverse_mode": float(pulled @ direction),
        "by_forward_matrix": float(weights @ forward @ direction),
        "by_reverse_matrix": float(weights @ reverse @ direction),
        "scale": float(np.linalg.norm(weights) * np.linalg.norm(reverse) * np.linalg.norm(direction)),
    }


def jacobian_of_wide(lab, x, mode):
    """Many inputs and one output for reverse mode, the other way round for forward mode."""
    inputs = variables(lab, x)
    if mode == "reverse":
        return {"jacobian": lab.engine.jacobian([neighbours(lab.graph, inputs)], inputs, mode)}
    return {"jacobian": lab.engine.jacobian(cosine_chain(lab, inputs[0], len(x)), inputs[:1], mode)}


# --- Size ---------------------------------------------------------------------------------------------------

RECURSION_LIMIT = 1000  # Python's own; set again here, since an import may have raised it (case G46)


def chain(graph, x):
    """10,000 operations deep, alternately times a factor and plus a constant."""
    y, factor = x[0], x[1].value
    for step in range(10_000):
        y = y * factor if step % 2 else y + 1e-3
    return y


def doublings(graph, x):
    """40 times y + y: 2**40 paths along 80 edges."""
    y = x[0]
    for _ in range(40):
        y = y + y
    return y


def neighbours(graph, x):
    """x0 + x0 x1 + x1 x2 + ...: a long sum."""
    y = x[0]
    for left, right in itertools.pairwise(x):
        y = y + left * right
    return y


def tree(graph, x):
    """A balanced tree: shallow, and as wide as there are inputs."""
    level = [graph.cos(leaf) for leaf in x]
    while len(level) > 1:
        level = [a - b for a, b in zip(level[::2], level[1::2])]
    return level[0] * level[0]


LARGE = {"chain": chain, "doublings": doublings, "neighbours": neighbours, "tree": tree}


def large(lab, shape, x, mode, number=1.0):
    """A large graph: its order, the tangent as x0 moves by `number`, or the adjoints from that seed."""
    sys.setrecursionlimit(RECURSION_LIMIT)
    inputs = variables(lab, x)
    y = LARGE[shape](lab.graph, inputs)
    result = {"value": y.value}
    if mode == "order":
        result |= order_facts(lab.graph.topological_order(y), [y])
    elif mode == "forward":
        result["tangents"] = vector(lab.engine.forward_mode(y, inputs[:1], [number]))
    else:
        result["gradient"] = adjoints(lab.engine.reverse_mode(y, number), inputs)
    return result | {"recursion_limit": sys.getrecursionlimit()}


# --- Given code ---------------------------------------------------------------------------------------------


def python_numbers(lab, x):
    a = lab.graph.variable(x)
    python = [a + 2, 2 + a, a - 2, 2 * a, a * 2.5, a / 4, a**2, 2.5**a, -a]
    numpy = [np.float64(2) * a, np.int64(3) + a, a - np.float32(0.5)]
    leaves = [a, lab.graph.constant(3), (a + 2).inputs[1]]
    return {
        "values": values_of(python + numpy + leaves),
        "leaves": [leaf.op is None and leaf.inputs == () for leaf in leaves],
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
