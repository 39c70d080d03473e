"""A tiny scalar graph with right and wrong engines, for the localiser: as a student might write them."""

import math


class Op:
    def __init__(self, name, compute, partials):
        self.name, self.compute, self.partials = name, compute, partials


class Node:
    def __init__(self, value, op=None, inputs=(), name=None):
        self.value, self.op, self.inputs, self.name = value, op, inputs, name


class Lookup(Op):
    def __init__(self, key):
        super().__init__("lookup", lambda table: table[key], lambda values, value: ({key: 1.0},))
        self.key = key


ADD = Op("+", lambda a, b: a + b, lambda values, value: (1.0, 1.0))
SUBTRACT = Op("-", lambda a, b: a - b, lambda values, value: (1.0, -1.0))
MULTIPLY = Op("*", lambda a, b: a * b, lambda values, value: (values[1], values[0]))
POWER = Op("**", math.pow, lambda v, value: (v[1] * math.pow(v[0], v[1] - 1), math.nan))
LOG = Op("log", math.log, lambda values, value: (1 / values[0],))
SIN = Op("sin", math.sin, lambda values, value: (math.cos(values[0]),))
WRONG_SIN = Op("sin", math.sin, lambda values, value: (-math.cos(values[0]),))
NO_TUPLE = Op("sin", math.sin, lambda values, value: math.cos(values[0]))
ABS = Op("abs", abs, lambda values, value: (math.copysign(1, values[0]),))


def node(op, *inputs):
    return Node(op.compute(*(one.value for one in inputs)), op, inputs)


def lecture(sine=SIN):
    """v1 to v7 of ln x1 + x1 x2 - sin x2 at (2, 5)."""
    v1, v2 = Node(2.0, name="x1"), Node(5.0, name="x2")
    v3, v4, v5 = node(LOG, v1), node(MULTIPLY, v1, v2), node(sine, v2)
    v6 = node(ADD, v3, v4)
    return [v1, v2, v3, v4, v5, v6, node(SUBTRACT, v6, v5)]


def postorder(output):
    order = []

    def visit(one):
        if one not in order:
            for operand in one.inputs:
                visit(operand)
            order.append(one)

    visit(output)
    return order


def preorder(output):
    """As postorder backwards, but wrong: a node may come before one of its users."""
    order = []

    def visit(one):
        if one not in order:
            order.append(one)
            for operand in one.inputs:
                visit(operand)

    visit(output)
    return order[::-1]


def right(output, seed=1.0, order=postorder, put=lambda old, part: old + part, skip=()):
    """Reverse mode; `order`, `put` and `skip` (edges: user, slot) make it wrong."""
    adjoints = {output: seed}
    for one in reversed(order(output)):
        if not one.inputs:
            continue
        partials = one.op.partials(tuple(operand.value for operand in one.inputs), one.value)
        for slot, operand in enumerate(one.inputs):
            if (one, slot) not in skip:
                part = scaled(partials[slot], adjoints.get(one, 0.0))
                adjoints[operand] = put(adjoints[operand], part) if operand in adjoints else part
    return adjoints


def scaled(partial, factor):
    if isinstance(partial, dict):
        return {key: number * factor for key, number in partial.items()}
    return partial * factor


def overwritten(output, seed=1.0):
    return right(output, seed, put=lambda old, part: part)


def tangents(nodes, inputs, direction, put=lambda old, part: old + part):
    """Forward mode for all nodes, in their order."""
    found = dict(zip(inputs, direction, strict=True))
    for one in nodes:
        if one.inputs:
            partials = one.op.partials(tuple(operand.value for operand in one.inputs), one.value)
            total = 0.0
            for slot, operand in enumerate(one.inputs):
                total = put(total, partials[slot] * found.get(operand, 0.0))
            found[one] = total
    return [found.get(one, 0.0) for one in nodes]
