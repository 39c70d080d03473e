"""Programs of lab 2: each builds graphs of tensors with a lab's modules and returns arrays.

They run, with the same inputs, on a submission and on the reference, each in a worker of its own. What runs
beside a student's code decides nothing: a program hands over arrays, and the grading tests judge them.
Programs of the rules touch `lab.graph` only and walk the graph by themselves, so a broken `gradients` or a
missing engine.py costs them nothing; on the way they ask only operations that lead to the inputs, so a rule
answers for itself. An answer of a kind that makes no sense is handed on in words: the judge names it.
"""

import math
import operator
import sys
from pathlib import Path

import numpy as np

from labkit import cuda, predict
from labkit.trace import recorded

# --- Graphs built, walked and run ---------------------------------------------------------------------------


def leaves(lab, arrays):
    """A variable for each array."""
    return [lab.graph.variable(np.shape(array), np.asarray(array).dtype) for array in arrays]


def below(outputs):
    """All nodes that outputs depend on, inputs first."""
    found, waiting = set(), list(outputs)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(node.inputs)
    return sorted(found, key=operator.attrgetter("number"))


def no_node(lab, thing):
    """What to hand on instead of an array; "" for a node."""
    if isinstance(thing, lab.graph.Node):
        return ""
    return thing if isinstance(thing, Words) else f"{type(thing).__name__}, not a node"


class Words(str):
    """What is wrong with a node's adjoint, where there is none to go on with."""


def evaluated(lab, nodes, feeds):
    """The arrays of nodes by `compute` alone."""
    if not isinstance(nodes, (list, tuple)):
        return f"{type(nodes).__name__}, not a list of nodes"
    arrays = {}
    with np.errstate(all="ignore"):
        for node in below([node for node in nodes if not no_node(lab, node)]):
            if node.op is None:
                arrays[node] = feeds.get(node, node.value)
            else:
                arrays[node] = node.op.compute(*(arrays[operand] for operand in node.inputs))
    return [str(no_node(lab, node)) or np.array(arrays[node]) for node in nodes]


def ran(lab, nodes, feeds):
    """The arrays of nodes by the lab's own executor."""
    if isinstance(nodes, (list, tuple)) and not any(no_node(lab, node) for node in nodes):
        return lab.engine.Executor(list(nodes))(feeds)
    return evaluated(lab, nodes, feeds)


def partials_of(adjoint, node):
    """What a rule returns, if that is a tuple with an entry for each input."""
    answer = node.op.vjp(adjoint, node)
    if not isinstance(answer, (tuple, list)) or len(answer) != len(node.inputs):
        wanted, kind = len(node.inputs), type(answer).__name__
        count = f" of {len(answer)}" if isinstance(answer, (tuple, list)) else ""
        raise TypeError(
            f"vjp of {node.op.name} must return a tuple of {wanted}, not a {kind}{count}. "
            f"/ {node.op.name} 的 vjp 应返回含 {wanted} 项的元组，而不是 {kind}{count}。"
        )
    return answer


def misfit(lab, partial, operand, node):
    """What is wrong with a partial adjoint, in words; "" if it fits its operand.

    Operations broadcast: one of a wrong shape might be right again further down.
    """
    said = no_node(lab, partial)
    if not said and kind_of(lab, partial) != kind_of(lab, operand):
        said = f"{kind_of(lab, partial)}, where the input is {kind_of(lab, operand)}"
    return said and Words(f"vjp of {node.op.name} gives {said}")


def pulled_back(lab, outputs, inputs, adjoints):
    """The adjoints of inputs by the rules alone, as nodes; None for an input that nothing reaches.

    Only operations on the way to the inputs are asked. Where there is no way to go on: words for each input.
    """
    for words in filter(None, (no_node(lab, one) for one in outputs)):
        return [Words(words)] * len(inputs)
    order, moving = below(outputs), set(inputs)
    for node in order:
        if any(operand in moving for operand in node.inputs):
            moving.add(node)
    node_to_grad = {}

    def add(node, partial):
        node_to_grad[node] = node_to_grad[node] + partial if node in node_to_grad else partial

    for output, adjoint in zip(outputs, adjoints, strict=True):
        add(output, lab.graph.as_node(adjoint))
    for node in reversed(order):
        if node.op is not None and node in moving and node in node_to_grad:
            for operand, partial in zip(node.inputs, partials_of(node_to_grad[node], node)):
                if operand in moving and partial is not None:
                    if words := misfit(lab, partial, operand, node):
                        return [words] * len(inputs)
                    add(operand, partial)
    return [node_to_grad.get(node) for node in inputs]


def float_nodes(nodes):
    return [node for node in nodes if node.dtype.kind == "f"]


def axes(axis):
    """Axes as NumPy takes them: a tuple crosses the wire as a list."""
    return tuple(axis) if isinstance(axis, list) else axis


# --- Rules: one operation, by itself or in the middle of a chain --------------------------------------------

OPERATIONS = {
    "add": lambda graph, a, b: a + b,
    "subtract": lambda graph, a, b: a - b,
    "multiply": lambda graph, a, b: a * b,
    "divide": lambda graph, a, b: a / (b * b + 1.0),
    "power": lambda graph, a, b: (a * a + 1.0) ** b,
    "maximum": lambda graph, a, b: graph.maximum(a, b),
    "where": lambda graph, a, b, c: graph.where(a > 0.0, b, c),
    "broadcast_to": lambda graph, a, shape: graph.broadcast_to(a, tuple(shape)),
    "sum": lambda graph, a, axis=None, keepdims=False: graph.sum(a, axes(axis), keepdims),
    "mean": lambda graph, a, axis=None, keepdims=False: graph.mean(a, axes(axis), keepdims),
    "max": lambda graph, a, axis=None, keepdims=False: graph.max(a, axes(axis), keepdims),
    "logsumexp": lambda graph, a, axis=None, keepdims=False: graph.logsumexp(a, axes(axis), keepdims),
    "transpose": lambda graph, a, axes=None: graph.transpose(a, axes),
    "matmul": lambda graph, a, b: a @ b,
    "relu": lambda graph, a: graph.relu(a),
    "gather": lambda graph, a, indices, axis=0: graph.gather(a, indices, axis),
}


def bent(lab, node):
    """Something with a slope of its own above a float node, so that a chain has a before and an after."""
    return node * lab.graph.cos(node) if node.dtype.kind == "f" else node


def built(lab, operation, arrays, how, before=True, after=True):
    """An operation on variables, with something of a chain before and after: (output, variables, feeds)."""
    variables = leaves(lab, arrays)
    inner = [bent(lab, one) for one in variables] if before else variables
    y = OPERATIONS[operation](lab.graph, *inner, **(how or {}))
    return lab.graph.sin(y) if after else y, variables, dict(zip(variables, map(np.asarray, arrays)))


def rule(lab, operation, arrays, vector, how=None, alone=False):
    """The value of an operation in a chain, and the adjoints of its float inputs from one at the end."""
    y, variables, feeds = built(lab, operation, arrays, how, not alone, not alone)
    gradients = pulled_back(lab, [y], float_nodes(variables), [vector])
    value, scale = evaluated(lab, [y], feeds)[0], {"gradients": size_of_parts(arrays, vector)}
    return {"value": value, "gradients": evaluated(lab, gradients, feeds), "scale": scale}


def size_of_parts(arrays, vector):
    """The scale of adjoints where one of them may be a single number: what is added up there may cancel."""
    single = any(np.size(array) == 1 for array in arrays) and np.size(vector) > 1
    return float(np.linalg.norm(vector)) if single else 0.0


def rule_twice(lab, operation, arrays, vector, directions, how=None, after=True):
    """The same, and the adjoints of these adjoints: what a rule returns must be a graph with rules.

    With nothing after it, the operation's own adjoint does not move: no other rule is asked for that.
    """
    y, variables, feeds = built(lab, operation, arrays, how, after=after)
    inputs = float_nodes(variables)
    first = pulled_back(lab, [y], inputs, [vector])
    second = pulled_back(lab, first, inputs, directions)
    told = {"first": evaluated(lab, first, feeds), "second": evaluated(lab, second, feeds)}
    return {**told, "scale": size_of_parts(arrays, vector)}


def kind_of(lab, partial):
    """Kind, dtype and shape of a partial adjoint before anything is computed."""
    if partial is None or no_node(lab, partial):
        return "None" if partial is None else no_node(lab, partial)
    return f"{partial.dtype} {tuple(map(int, partial.shape))}"


def kinds_of_partials(lab, operation, arrays, how=None):
    """Of an operation's rule: how many partial adjoints it returns, and of which dtypes and shapes."""
    y, _, _ = built(lab, operation, arrays, how, False, False)
    partials = partials_of(lab.graph.variable(y.shape, y.dtype), y)
    return {"partials": [kind_of(lab, partial) for partial in partials]}


def one_operation_for_all(lab, operation, uses, vectors, how=None):
    """One operation object at several nodes: the adjoints of each, then of the first once more.

    `state`: what the object holds afterwards, where that is not what it held before.
    """
    first, _, _ = built(lab, operation, uses[0], how, False, False)
    op, answers = first.op, []
    held = repr(sorted(vars(op).items()))
    for arrays, vector in zip([*uses, uses[0]], [*vectors, vectors[0]]):
        variables = leaves(lab, arrays)
        shape = op.compute(*map(np.asarray, arrays)).shape
        node = lab.graph.Node(op, variables, shape, first.dtype)
        gradients = pulled_back(lab, [node], float_nodes(variables), [vector])
        answers.append(evaluated(lab, gradients, dict(zip(variables, arrays))))
    now = repr(sorted(vars(op).items()))
    return {"gradients": answers, "state": "" if now == held else now}


def undisturbed(lab, operation, arrays, vector, how=None):
    """The adjoints from a fed adjoint that serves another node too, twice; how far what was fed has moved."""
    y, variables, feeds = built(lab, operation, arrays, how, False, False)
    beside, adjoint = leaves(lab, [vector, vector])
    inputs = [*float_nodes(variables), beside]
    gradients = pulled_back(lab, [y + beside], inputs, [adjoint])
    feeds |= {beside: np.zeros_like(vector), adjoint: vector}
    before = [np.array(array) for array in feeds.values()]
    runs = [evaluated(lab, gradients, feeds) for _ in range(2)]
    moved = [np.asarray(array) - old for array, old in zip(feeds.values(), before)]
    return {"first": runs[0], "second": runs[1], "moved": moved}


def both_slots(lab, operation, x, vector):
    """One node in both slots of an operation, by the rules alone."""
    (node,) = leaves(lab, [x])
    inner = bent(lab, node)
    y = OPERATIONS[operation](lab.graph, inner, inner)
    gradients = pulled_back(lab, [y], [node], [vector])
    return {"gradients": evaluated(lab, gradients, {node: np.asarray(x)})}


def relu_at_its_kink(lab, x, vector):
    """Whether relu passes from 0 to 1 of the adjoint where its input is 0; what it passes elsewhere."""
    told = rule(lab, "relu", [x], vector, alone=True)["gradients"][0]
    if isinstance(told, str):
        return {"elsewhere": told, "passes_a_share": False}
    shares = (told / vector)[x == 0]
    return {"elsewhere": told[x != 0], "passes_a_share": bool(np.all((shares >= 0) & (shares <= 1)))}


# --- Formulas of given operations, for the engine -----------------------------------------------------------


def fold(graph, x):
    """A vector of length 2 ** k made one number by halves: no sum, since its rule is a blank."""
    while x.shape[0] > 1:
        half = x.shape[0] // 2
        x = graph.sin(x[:half]) * x[half:] + x[:half]
    return x[0]


def logistic(graph, x, n):
    """The logistic map, applied n times."""
    for _ in range(n):
        x = 4 * x * (1 - x)
    return x


def unequal(graph, x, short_first):
    """From u on, one path of two operations and one of six, built in either order."""
    u = graph.cos(x)
    paths = [lambda: u * 0.5, lambda: graph.tanh(graph.exp(-u) * u) + x]
    short, long = [path() for path in paths] if short_first else reversed([path() for path in paths[::-1]])
    return short * long


FORMULAS = {
    "lecture": lambda graph, x1, x2: graph.log(x1) + x1 * x2 - graph.sin(x2),
    "square_plus": lambda graph, x: x * x + x,
    "plus_square": lambda graph, x: x + x * x,
    "add": lambda graph, x: x + x,
    "subtract": lambda graph, x: x - x + x * x,
    "multiply": lambda graph, x: x * x,
    "divide": lambda graph, x: x / x + x,
    "power": lambda graph, x: x**x,
    "maximum": lambda graph, x: graph.maximum(x, x) * x,
    "concatenate": lambda graph, x: graph.concatenate([x, x * x, x]),
    "short_first": lambda graph, x: unequal(graph, x, True),
    "long_first": lambda graph, x: unequal(graph, x, False),
    "logistic_1": lambda graph, x: logistic(graph, x, 1),
    "logistic_3": lambda graph, x: logistic(graph, x, 3),
    "logistic_6": lambda graph, x: logistic(graph, x, 6),
    "conditions": lambda graph, a, b: graph.where(a > b, a * b, graph.where(a < 0.0, b, a / b)) * b,
    "labels": lambda graph, logits, labels: graph.softmax_cross_entropy(graph.sin(logits), labels),
    "mixed": lambda graph, a, b: graph.sin(a) * b + a,
    "slices": lambda graph, a: graph.reshape(a[1:], (-1,)) * graph.reshape(a[:-1], (-1,)),
    "wave": lambda graph, x, y: fold(graph, graph.sin(x) * y + x / (y * y + 1.0)),
    "bowl": lambda graph, x: fold(graph, graph.exp(graph.tanh(x)) * x),
    "flat": lambda graph, x, y: x[0] * 3.0 - x[1] + y[0] * y[1] * 0.0,
}


def gradient(lab, formula, arrays, vectors=None):
    """The value of a formula and its gradients by all float variables."""
    variables = leaves(lab, arrays)
    y = FORMULAS[formula](lab.graph, *variables)
    gradients = lab.engine.gradients(y, float_nodes(variables), vectors)
    feeds = dict(zip(variables, arrays))
    return {"value": ran(lab, [y], feeds)[0], "gradients": ran(lab, gradients, feeds)}


# What random graphs are made of: given operations only, all of one shape, and values stay tame.
TAME = (
    lambda graph, a, b: a + b,
    lambda graph, a, b: a - b,
    lambda graph, a, b: graph.tanh(a * b),
    lambda graph, a, b: graph.cos(a) * b,
    lambda graph, a, b: a / (b * b + 2.0),
    lambda graph, a, b: graph.exp(-(a * a)) + b,
    lambda graph, a, b: graph.concatenate([a[1:], b[:1]]),
    lambda graph, a, b: graph.where(a > b, a, graph.sin(b)),
    lambda graph, a, b: graph.reshape(graph.reshape(a, (-1,))[::-1], a.shape) * 0.5 + b,
)


def ladder(lab, operations, graph, arrays):
    """Nodes of any graph, as data: variables, one more for each row (operation, i, j), and a top."""
    nodes = leaves(lab, arrays)
    for operation, i, j in np.asarray(graph).tolist():
        a, b = nodes[i % len(nodes)], nodes[j % len(nodes)]
        nodes.append(operations[operation % len(operations)](lab.graph, a, b))
    y = nodes[-1] * nodes[-2] - nodes[-3]
    for node in nodes[: len(arrays)]:
        y = y + node * 0.3
    return [*nodes, y + lab.graph.cos(y) * 0.5]


def graph_gradients(lab, graph, arrays, chosen, vectors, every_node=False):
    """Gradients of chosen nodes of a random graph by its variables, or by every node."""
    nodes = ladder(lab, TAME, graph, arrays)
    inputs = nodes if every_node else nodes[: len(arrays)]
    gradients = lab.engine.gradients([nodes[i] for i in chosen], inputs, vectors)
    feeds = dict(zip(nodes, arrays))
    scale = float(np.linalg.norm(vectors[0]))  # contributions may cancel
    return {"gradients": ran(lab, gradients, feeds), "scale": {"gradients": scale}}


def gradients_of_one(lab, formula, arrays, vector, wrapped):
    """Outputs, inputs and output gradients given as single things or in lists."""
    variables = leaves(lab, arrays)
    y = FORMULAS[formula](lab.graph, *variables)
    outputs, vectors, inputs = ([y], [vector], variables) if wrapped else (y, vector, variables[0])
    gradients = lab.engine.gradients(outputs, inputs, vectors)
    return {"gradients": ran(lab, gradients, dict(zip(variables, arrays)))}


def without_influence(lab, arrays, vector):
    """By an input without influence, one in a comparison only, the output itself, an ordinary input."""
    a, b, unused = leaves(lab, arrays)
    y = lab.graph.where(b > 0.0, a * a, a)
    feeds = dict(zip((a, b, unused), arrays))
    told = lab.engine.gradients(y, [unused, b, y, a], [vector])
    of_input = lab.engine.gradients(a, [a, unused], [vector])
    return {"gradients": ran(lab, told, feeds), "of_an_input": ran(lab, of_input, feeds)}


def gradients_again(lab, arrays, vectors):
    """Gradients of one node, of one above it, of the first again; whether the lists given were kept."""
    a, b = variables = leaves(lab, arrays)
    u = a * lab.graph.sin(b)
    y = u * u + b
    outputs, inputs, adjoints = [y], [b, a], [vectors[1]]
    first = lab.engine.gradients(u, [a, b], [vectors[0]])
    above = lab.engine.gradients(outputs, inputs, adjoints)
    again = lab.engine.gradients(u, [a, b], [vectors[0]])
    feeds = dict(zip(variables, arrays))
    kept = outputs == [y] and inputs == [b, a] and len(adjoints) == 1 and adjoints[0] is vectors[1]
    told = {"first": first, "above": above, "again": again}
    return {name: ran(lab, nodes, feeds) for name, nodes in told.items()} | {"lists_kept": kept}


def fifty_feeds(lab, batches, vector):
    """One graph run on many feeds: no node is made by that, nothing fed changes, answers are one's own."""
    a = lab.graph.variable(batches.shape[1:])
    y = lab.graph.tanh(a) * a
    (g,) = lab.engine.gradients(y, [a], [vector])
    run, before = lab.engine.Executor([g, y, g]), batches.copy()
    made = lab.graph.variable(()).number
    answers = []
    for batch in batches:
        found = run({a: batch})
        answers.append(found[0].copy())
        for array in found:
            array += 1.0
    made = lab.graph.variable(()).number - made - 1
    return {"gradients": np.array(answers), "moved": batches - before, "nodes_made": made}


# --- Several outputs ----------------------------------------------------------------------------------------


def several(lab, arrays, names, vectors):
    """Gradients of outputs chosen by name: u and v stand apart, w lies above u, a is an input."""
    a, b = leaves(lab, arrays)
    u = a * lab.graph.sin(a)
    w = lab.graph.reshape(lab.graph.tanh(u) * u, (-1,))
    known = {"a": a, "u": u, "v": b * b, "w": w}
    outputs = tuple(known[name] for name in names)
    gradients = lab.engine.gradients(outputs, (a, b, u), vectors)
    return {"gradients": ran(lab, gradients, {a: arrays[0], b: arrays[1]})}


# --- Jacobian-vector products -------------------------------------------------------------------------------


def pushed_forward(lab, formula, arrays, tangents):
    """The value of a formula, and its tangent as all float variables move; only the variables are fed."""
    variables = leaves(lab, arrays)
    y = FORMULAS[formula](lab.graph, *variables)
    feeds = dict(zip(variables, arrays))
    told = lab.engine.jvp(y, float_nodes(variables), tangents)
    return {"value": ran(lab, [y], feeds)[0], "tangents": ran(lab, told, feeds)}


def graph_tangents(lab, graph, arrays, tangents, chosen=(-1,)):
    """Tangents of chosen nodes of a random graph, in this order."""
    nodes = ladder(lab, TAME, graph, arrays)
    told = lab.engine.jvp([nodes[i] for i in chosen], nodes[: len(arrays)], tangents)
    scale = float(np.linalg.norm(tangents[0]))
    return {"tangents": ran(lab, told, dict(zip(nodes, arrays))), "scale": {"tangents": scale}}


def tangents_without_influence(lab, arrays, tangents):
    """Of outputs that no moving input reaches, of an input, of a mixture, with their dtypes and shapes."""
    a, b, still = leaves(lab, arrays)
    outputs = [lab.graph.reshape(still * 2.0, (-1,)), b, a * b, a]
    told = lab.engine.jvp(outputs, [b, a], tangents)
    return {"tangents": ran(lab, told, dict(zip((a, b, still), arrays)))}


def tangent_of_tangent(lab, arrays, tangents):
    """Along two directions one after the other, and the gradient of a tangent."""
    (x,) = leaves(lab, arrays)
    y = lab.graph.exp(lab.graph.sin(x)) * x[::-1]  # an entry depends on two
    (once,) = lab.engine.jvp(y, [x], [tangents[0]])
    twice = lab.engine.jvp(once, [x], [tangents[1]])
    back = lab.engine.gradients(once, [x], [tangents[1]])
    feeds = {x: arrays[0]}
    return {"once": ran(lab, [once], feeds), "twice": ran(lab, twice, feeds), "back": ran(lab, back, feeds)}


# --- Hessians -----------------------------------------------------------------------------------------------


def hessian_product(lab, formula, arrays, vectors):
    """The gradient, and the Hessian times vectors, of a scalar formula by all its variables."""
    variables = leaves(lab, arrays)
    y = FORMULAS[formula](lab.graph, *variables)
    feeds = dict(zip(variables, arrays))
    first = lab.engine.gradients(y, variables)
    told = lab.engine.hvp(y, variables, vectors)
    return {"gradients": ran(lab, first, feeds), "products": ran(lab, told, feeds)}


def hessian_and_product(lab, x, vector):
    """The whole Hessian by the given function, and its product with a vector."""
    (node,) = leaves(lab, [x])
    y = FORMULAS["bowl"](lab.graph, node)
    matrix = lab.engine.hessian(y, node)
    return {
        "hessian": ran(lab, [matrix], {node: x})[0],
        "products": ran(lab, lab.engine.hvp(y, [node], [vector]), {node: x}),
    }


# --- Everything together ------------------------------------------------------------------------------------

# All blanks among them; inputs are two matrices of one square shape.
ANYTHING = (
    lambda graph, a, b: a + b,
    lambda graph, a, b: graph.tanh(a @ b),
    lambda graph, a, b: graph.transpose(a) * b,
    lambda graph, a, b: graph.relu(a) - b,
    lambda graph, a, b: graph.sin(a) + graph.mean(b, axis=0),
    lambda graph, a, b: graph.softmax(a, axis=0) * graph.sum(b, axis=1, keepdims=True),
    lambda graph, a, b: graph.gather(a, np.array([1, 1, 0]), 0) - b,
    lambda graph, a, b: graph.broadcast_to(graph.logsumexp(a, axis=-1), a.shape) + graph.cos(b),
    lambda graph, a, b: a / (b * b + 2.0),
)

ROWS = np.array([0, 2, 2, 1])
SECOND_ORDER = {
    "broadcast_to": lambda graph, a, b: graph.sin(graph.broadcast_to(a[0], a.shape)) * b,
    "stretch": lambda graph, a, b: (a * b[:, :1]) ** 2,
    "sum": lambda graph, a, b: graph.sum(a * b, axis=0) ** 3,
    "mean": lambda graph, a, b: graph.exp(graph.mean(a * b, axis=(1, 0))),
    "transpose": lambda graph, a, b: graph.transpose(a) ** 2 * b,
    "matmul": lambda graph, a, b: graph.sin(a @ b),
    "stack": lambda graph, a, b: graph.reshape(a, (3, 1, 3)) @ graph.reshape(b, (1, 3, 3)) * 0.5,
    "relu": lambda graph, a, b: graph.relu(a * b) * a,
    "gather": lambda graph, a, b: graph.gather(a * a, ROWS, 1) * graph.gather(b, ROWS, 1),
    "logsumexp": lambda graph, a, b: graph.logsumexp(a * b, axis=1),
    "softmax": lambda graph, a, b: graph.softmax(a * b, axis=0),
    "cross_entropy": lambda graph, a, b: graph.softmax_cross_entropy(a * b, ROWS[:3]),
    "max": lambda graph, a, b: graph.max(a * a * b, axis=0) ** 2,
}


def second_order(lab, formula, arrays, vector, directions):
    """Gradients of a formula of any operations, and the gradients of these gradients."""
    variables = leaves(lab, arrays)
    y = SECOND_ORDER[formula](lab.graph, *variables)
    first = lab.engine.gradients(y, variables, [vector])
    second = lab.engine.gradients(first, variables, directions)
    feeds = dict(zip(variables, arrays))
    return {"first": ran(lab, first, feeds), "second": ran(lab, second, feeds)}


def anything(lab, graph, arrays, vector, directions):
    """A random graph in which every operation occurs once, to second order."""
    graph = np.array(graph)
    graph[:, 0] = np.arange(len(graph))
    *nodes, _ = ladder(lab, ANYTHING, graph, arrays)
    y, inputs = nodes[0], nodes[: len(arrays)]
    for node in nodes[1:]:
        y = y + lab.graph.sin(node)
    first = lab.engine.gradients(y, inputs, [vector])
    second = lab.engine.gradients(first, inputs, directions)
    feeds = dict(zip(inputs, arrays))
    scale = float(np.linalg.norm(vector))
    return {"first": ran(lab, first, feeds), "second": ran(lab, second, feeds), "scale": scale}


def orders(lab, x, order):
    """A tensor's function and the sums of its derivatives, each the gradient of the one before."""
    (node,) = leaves(lab, [x])
    y = lab.graph.sum(lab.graph.tanh(node) * node)
    told = [y]
    for _ in range(order):
        (slope,) = lab.engine.gradients(y, [node])
        y = lab.graph.sum(slope * lab.graph.cos(node))
        told += [slope, y]
    return {"derivatives": ran(lab, told, {node: x})}


def perceptron(lab, variables, labels):
    """A loss with one hidden layer."""
    x, first, bias, second = variables
    hidden = lab.graph.relu(x @ first + bias)
    return lab.graph.mean(lab.graph.logsumexp(hidden @ second, axis=1)) + lab.graph.mean(
        lab.graph.softmax_cross_entropy(hidden @ second, labels)
    )


def network(lab, arrays, labels, vectors):
    """Loss, gradients and Hessian products of a perceptron."""
    variables = leaves(lab, arrays)
    loss = perceptron(lab, variables, labels)
    feeds = dict(zip(variables, arrays))
    first = lab.engine.gradients(loss, variables)
    told = lab.engine.hvp(loss, variables, vectors)
    return {
        "loss": ran(lab, [loss], feeds)[0],
        "gradients": ran(lab, first, feeds),
        "products": ran(lab, told, feeds),
    }


def whole_hessian(lab, x):
    """The Hessian of a smooth maximum of all entries."""
    (node,) = leaves(lab, [x])
    y = lab.graph.logsumexp(node * node, axis=0)
    y = lab.graph.sum(y * y)
    return {"hessian": ran(lab, [lab.engine.hessian(y, node)], {node: x})[0]}


def penalty(lab, x, weights, bias):
    """The gradient by the weights of the squared norm of the gradient by the data."""
    a, w, b = variables = leaves(lab, [x, weights, bias])
    score = lab.graph.sum(lab.graph.tanh(a @ w + b))
    (slope,) = lab.engine.gradients(score, [a])
    nested = lab.graph.sum(slope * slope)
    feeds = dict(zip(variables, (x, weights, bias)))
    return {
        "penalty": ran(lab, [nested], feeds)[0],
        "gradients": ran(lab, lab.engine.gradients(nested, [w, b]), feeds),
    }


# --- Size ---------------------------------------------------------------------------------------------------

RECURSION_LIMIT = 1000  # Python's own; set again here, since an import may have raised it


def deep_chain(lab, x, factor, vector, depth):
    """A chain of so many operations, and its gradients; the recursion limit afterwards."""
    sys.setrecursionlimit(RECURSION_LIMIT)
    a, c = leaves(lab, [x, factor])
    y = a
    for step in range(depth):
        y = y * c if step % 2 else y + a
    told = lab.engine.gradients(y, [a, c], [vector])
    feeds = {a: x, c: factor}
    return {"gradients": ran(lab, told, feeds), "recursion_limit": sys.getrecursionlimit()}


def doublings(lab, x, vector, times):
    """So many times y + y: 2 ** times paths."""
    (a,) = leaves(lab, [x])
    y = a
    for _ in range(times):
        y = y + y
    return {"gradients": ran(lab, lab.engine.gradients(y, [a], [vector]), {a: x})}


def growth(lab, x, lengths):
    """By how many nodes the graph of a gradient grows for each further step, and whether evenly."""
    sizes = []
    for length in lengths:
        (a,) = leaves(lab, [x])
        y = logistic(lab.graph, a, length)
        size = len(below([y]))
        gradients = lab.engine.gradients(y, [a], [np.ones_like(x)])
        sizes.append((len(below(gradients)) - size) / size)
    return {"few_nodes_for_each": max(sizes) < 8, "evenly": max(sizes) < 2 * min(sizes)}


def wide(lab, x, vector):
    """The gradients by thousands of inputs, in one walk."""
    inputs = level = leaves(lab, list(x))
    while len(level) > 1:  # a tree: recursion is another mistake
        pairs = zip(level[::2], level[1::2])
        level = [one * 0.9 + lab.graph.sin(one) * other for one, other in pairs]
    y = level[0]
    told = lab.engine.gradients(y, inputs, [vector])
    found = ran(lab, told, dict(zip(inputs, x)))
    return {"gradients": np.array(found) if isinstance(found, list) else found}


def large_product(lab, x, vector):
    """The Hessian of a function of thousands of variables, times a vector."""
    (node,) = leaves(lab, [x])
    told = lab.engine.hvp(FORMULAS["bowl"](lab.graph, node), [node], [vector])
    return {"products": ran(lab, told, {node: x})}


# --- Given code ---------------------------------------------------------------------------------------------

GIVEN = {
    "negative": lambda graph, a, b: -a,
    "exp": lambda graph, a, b: graph.exp(a),
    "log": lambda graph, a, b: graph.log(a),
    "sin": lambda graph, a, b: graph.sin(a),
    "cos": lambda graph, a, b: graph.cos(a),
    "tanh": lambda graph, a, b: graph.tanh(a),
    "sqrt": lambda graph, a, b: graph.sqrt(a),
    "abs": lambda graph, a, b: abs(a - 1.2),
    "add": lambda graph, a, b: a + b,
    "subtract": lambda graph, a, b: a - b,
    "multiply": lambda graph, a, b: a * b,
    "divide": lambda graph, a, b: a / b,
    "power": lambda graph, a, b: a**b,
    "square": lambda graph, a, b: a**2 + b**-1 + a**0.5 + b**0,
    "maximum": lambda graph, a, b: graph.maximum(a, b),
    "where": lambda graph, a, b: graph.where(a > b, a * a, b),
    "reshape": lambda graph, a, b: graph.reshape(a * b, (-1,)),
    "concatenate": lambda graph, a, b: graph.concatenate([a, b, a], axis=1),
    "slice": lambda graph, a, b: a[1:, ::-1] * b[:-1],
    "softmax": lambda graph, a, b: graph.softmax(a * b),
    "max": lambda graph, a, b: graph.max(a * b, axis=1),
    "cross_entropy": lambda graph, a, b: graph.softmax_cross_entropy(a * b, np.array([1, 0])),
    "numbers": lambda graph, a, b: 2 - a + 3 / b - (1.5 * a) / 2,
}


def given_rule(lab, name, arrays):
    """Value and adjoints of a given operation, from an adjoint that differs in every entry."""
    variables = leaves(lab, arrays)
    y = GIVEN[name](lab.graph, *variables)
    vector = np.cos(np.arange(math.prod(y.shape)) * 2.0 + 1.0).reshape(y.shape)
    feeds = dict(zip(variables, arrays))
    gradients = [one for one in pulled_back(lab, [y], variables, [vector]) if one is not None]
    return {"value": evaluated(lab, [y], feeds)[0], "gradients": evaluated(lab, gradients, feeds)}


def given_value(lab, operation, arrays, how=None):
    """The value of an operation whose rule is a blank."""
    y, _, feeds = built(lab, operation, arrays, how, False, False)
    return {"value": evaluated(lab, [y], feeds)[0], "kind": f"{y.dtype} {y.shape}"}


def errors_of(attempts):
    """The kinds of error that attempts end with."""
    kinds = []
    for attempt in attempts:
        try:
            kinds.append(f"none, but {type(attempt()).__name__}")
        except (TypeError, ValueError, IndexError) as error:
            kinds.append(type(error).__name__)
    return kinds


def refusals(lab):
    """What the graph refuses."""
    graph = lab.graph
    a, b, i = graph.variable((2, 3)), graph.variable((4,)), graph.variable((2,), np.int64)
    return {
        "errors": errors_of(
            [
                lambda: a + b,
                lambda: a @ b,
                lambda: graph.sum(a, 2),
                lambda: graph.sum(a, (0, 0)),
                lambda: graph.transpose(a, (0, 0)),
                lambda: graph.reshape(a, (4, 2)),
                lambda: graph.broadcast_to(a, (2,)),
                lambda: graph.gather(a, b),
                lambda: graph.softmax_cross_entropy(a, graph.variable((3,), np.int64)),
                lambda: np.exp(a),
                lambda: bool(a > 0.0),
                lambda: graph.where(i, a, a),
            ]
        )
    }


def engine_refusals(lab):
    """What the engine and the executor refuse."""
    graph, engine = lab.graph, lab.engine
    a, i = graph.variable((2, 3)), graph.variable((2,), np.int64)
    run = engine.Executor(a * 2.0)
    return {
        "errors": errors_of(
            [
                lambda: engine.gradients(a, [a]),
                lambda: engine.gradients(a, [i], [np.ones((2, 3))]),
                lambda: engine.gradients(a, [a], [np.ones(2)]),
                lambda: engine.gradients(a, [a], [np.ones((2, 3))] * 2),
                lambda: run({}),
                lambda: run({a: np.ones(3)}),
                lambda: run({a: np.ones((2, 3), np.float32)}),
                lambda: engine.Executor(a, backend="abacus"),
            ]
        )
    }


def executed(lab, arrays):
    """The given executor: shared nodes, a constant, a view and a repeated output."""
    a, b = leaves(lab, arrays)
    u = lab.graph.exp(a) * b
    c = lab.graph.constant(np.arange(3.0))
    outputs = [u + u, c, lab.graph.reshape(u, (-1,)), u, u]
    return {"arrays": ran(lab, outputs, {a: arrays[0], b: arrays[1]})}


# --- What a program did -------------------------------------------------------------------------------------


def trace(lab, program, inputs):
    """The grader asks what a program's graph looked like; numbers of tensors do not fit into a drawing."""
    return {"passes": []}


# --- cuda_ops.py --------------------------------------------------------------------------------------------


def on_device(array):
    """A device array, as the device computes with: float32."""
    return cuda.asarray(np.float32(array))


def on_host(answer):
    """The array of a device array; what is none is handed on in words."""
    known = hasattr(answer, "get") and not isinstance(answer, np.ndarray)
    return cuda.asnumpy(answer) if known else f"{type(answer).__name__}, not a device array"


def launching(lab, function, *arguments):
    """What a function returns, and by what it was computed."""
    with recorded(Path(lab.cuda_ops.__file__).parent) as calls:
        answer = function(*arguments)
    return answer, "kernels" if any("<<<" in call.name for call in calls) else "no kernel"


def product_adjoint(lab, name, pairs):
    """The adjoint of a factor of each product, by one device: pairs are what its rule is given, in order."""
    rule = getattr(lab.cuda_ops.Device(), name)
    told = [launching(lab, rule, on_device(first), on_device(second)) for first, second in pairs]
    by_kernels = any(by == "kernels" for _, by in told)  # a product of no entries needs none
    return {
        "adjoint": [on_host(answer) for answer, _ in told],
        "computed_by": "kernels" if by_kernels else "no kernel",
    }


def undisturbed_on_device(lab, left, right, adjoint):
    """Both adjoints of a product, twice, and what was handed in, afterwards."""
    device, (a, b, g) = lab.cuda_ops.Device(), map(on_device, (left, right, adjoint))
    told = [on_host(one) for _ in range(2) for one in (device.left_adjoint(g, b), device.right_adjoint(a, g))]
    return {"adjoints": told, "operands_afterwards": [on_host(one) for one in (a, b, g)]}


def wiring(lab, left, right, adjoint):
    """What the device makes of A B and of the two products in its vjp: the operands it asks for, and values.

    The last product is of two transposes: there either of them may be asked for as it was before.
    """
    graph, device = lab.graph, lab.cuda_ops.Device()
    arrays = [np.float32(array) for array in (left, right, adjoint)]
    a, b, g = leaves(lab, arrays)
    names = {a: "A", b: "B", g: "G"}
    products = {"A B": a @ b, "G Bt": g @ graph.transpose(b), "At G": graph.transpose(a) @ g}
    operands, values, computed_by = {}, {}, {}
    for name, node in (products | {"Bt At": graph.transpose(b) @ graph.transpose(a)}).items():
        compute, asked = device.product(node)
        there = evaluated(lab, list(asked), dict(zip((a, b, g), arrays)))
        answer, computed_by[name] = launching(lab, compute, *map(cuda.asarray, there))
        values[name] = on_host(answer)
        if name in products:
            operands[name] = " ".join(names.get(one, "another node") for one in asked)
    return {"operands": operands, "values": values, "computed_by": computed_by}


def layers(lab, arrays):
    """The mean loss of a perceptron with biases, in float32, and its variables: five arrays, labels last."""
    graph = lab.graph
    nodes = x, w, b, u, c, labels = leaves(lab, arrays)
    logits = graph.relu(x @ w + b) @ u + c
    return graph.mean(graph.softmax_cross_entropy(logits, labels)), nodes


def single(arrays):
    """Arrays as the device takes them: floats in float32."""
    arrays = map(np.asarray, arrays)
    return [array.astype(np.float32) if array.dtype.kind == "f" else array for array in arrays]


def device_step(lab, batches, weights):
    """Loss and gradients of a perceptron on the device, by one executor for several batches (x, labels)."""
    told, weights = [], single(weights)
    x, labels = batches[0]
    loss, nodes = layers(lab, [*single([x]), *weights, labels])
    run = lab.engine.Executor([loss, *lab.engine.gradients(loss, nodes[:5])], backend="cuda")
    for x, labels in batches:
        told.append(run(dict(zip(nodes, [*single([x]), *weights, labels]))))
    return {
        "loss": [np.asarray(one[0]) for one in told],
        "gradients": [[np.asarray(gradient) for gradient in one[1:]] for one in told],
    }


def descent(lab, x, labels, weights, rate, steps):
    """The weights after so many steps of gradient descent on one batch."""
    (x,), weights = single([x]), single(weights)
    loss, nodes = layers(lab, [x, *weights, labels])
    run = lab.engine.Executor(lab.engine.gradients(loss, nodes[1:5]), backend="cuda")
    for _ in range(steps):
        slopes = run(dict(zip(nodes, [x, *weights, labels])))
        weights = [w - np.float32(rate) * np.asarray(slope) for w, slope in zip(weights, slopes, strict=True)]
    return {"weights": weights}


# --- kernels.cu ---------------------------------------------------------------------------------------------
# This runs beside the kernels alone: `lab` has nothing but `lab.kernels`.


def column_sums(lab, numbers, launches):
    """The column sums of a matrix for each launch (rows, columns, block); its entries are the first numbers.

    The scale is the size of what is added up in a column.
    """
    launch = lab.kernels.get_function("column_sum")
    sums, longest = {}, 1
    for rows, columns, block in launches.tolist():
        a = np.float32(numbers[: rows * columns]).reshape(rows, columns)
        v = cuda.empty(columns, np.float32)
        arguments = (cuda.asarray(a), v, np.int32(rows), np.int32(columns))
        launch((max(1, -(-columns // block)),), (block,), arguments)
        sums[f"a: ({rows}, {columns}), block = {block}"] = cuda.asnumpy(v)
        longest = max(longest, rows)
    finite = numbers[np.isfinite(numbers)]
    return {"sums": sums, "scale": float(np.sqrt(longest) * np.abs(finite).max())}


# --- lab2.ipynb ---------------------------------------------------------------------------------------------


def answered(lab, number, cell, names):
    """Answers of a cell by name, each entry as the notebook reads it; nobody looks at the cell's others."""
    space = lab.cell(cell, number)
    return {name: list(map(spelt, predict.entries(getattr(space, name)))) for name in names}


def spelt(entry):
    return predict.written(entry, None)


def predict_fitting(lab, number, names):
    return answered(lab, number, "predict-fitting", names)


def predict_second(lab, number, names):
    return answered(lab, number, "predict-second", names)


def predict_sizes(lab, number, names):
    return answered(lab, number, "predict-sizes", names)


def predict_passes(lab, number, names):
    return answered(lab, number, "predict-passes", names)


def predict_clock(lab, number, names):
    return answered(lab, number, "predict-clock", names)


def step_of_descent(lab, weights, gradients, rate):
    """The weights after one step, and what was handed in, afterwards."""
    weights, gradients = ([np.array(array) for array in arrays] for arrays in (weights, gradients))
    stepped = lab.cell("sgd-step", 0).sgd_step(weights, gradients, rate)
    return {"stepped": list(stepped), "weights": weights, "gradients": gradients}
