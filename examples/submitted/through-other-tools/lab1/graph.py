"""A computation graph of scalars that builds itself while ordinary Python code runs.
一张标量计算图：普通的 Python 代码运行时，它自己就建好了。

    x1, x2 = variable(2.0), variable(5.0)
    y = log(x1) + x1 * x2 - sin(x2)          # y.value is 11.652...

Every operation computes its value at once and leaves a Node behind.
每个运算都立即求出自己的值，并留下一个节点。
The graph above is v1 = x1, v2 = x2, v3 = ln v1, v4 = v1 v2, v5 = sin v2, v6 = v3 + v4, v7 = v6 - v5.
上面的图就是课上的 v1 到 v7。

Source: Baydin et al., Automatic Differentiation in Machine Learning, JMLR 18(153), 2018, section 3;
Griewank & Walther, Evaluating Derivatives, 2nd ed., SIAM 2008, chapters 2 and 3.
"""

import math
import operator
from numbers import Real

import numpy as np

# --- Arithmetic that never raises / 不抛异常的算术 ---------------------------------------------------------
# Python raises where IEEE 754 (and NumPy, and a GPU) answers inf or NaN; these four answer as NumPy does.
# Python 会抛异常的地方，IEEE 754（以及 NumPy 和 GPU）给出 inf 或 NaN；下面四个函数与 NumPy 一致。


def ieee_divide(a, b):
    """a / b: 1/0 is inf, 0/0 is NaN.
    除法：1/0 得 inf，0/0 得 NaN。
    """
    try:
        return a / b
    except ZeroDivisionError:
        return _as_numpy(np.divide, a, b)


def ieee_power(a, b):
    """a ** b as a real number: 0 ** -1 is inf, (-2) ** 0.5 is NaN (never complex).
    实数的乘方：0 ** -1 得 inf，(-2) ** 0.5 得 NaN（绝不给复数）。
    """
    try:
        return math.pow(a, b)
    except (ValueError, OverflowError):
        return _as_numpy(np.power, a, b)


def ieee_exp(a):
    """e ** a: overflow is inf.
    指数：溢出得 inf。
    """
    try:
        return math.exp(a)
    except OverflowError:
        return math.inf


def ieee_log(a):
    """ln a: ln 0 is -inf, the logarithm of a negative number is NaN.
    自然对数：ln 0 得 -inf，负数的对数得 NaN。
    """
    try:
        return math.log(a)
    except ValueError:
        return _as_numpy(np.log, a)


def _as_numpy(function, *values):
    with np.errstate(all="ignore"):
        return float(function(*values))


# --- Nodes / 节点 -----------------------------------------------------------------------------------------


class Node:
    """One value of the computation graph, with the operation and the input nodes it came from.
    计算图中的一个值，连同算出它的运算和输入节点。

    value: a float (a dict for a table). op: an Op, None for a variable or constant. inputs: a tuple of nodes.
    value：浮点数（表则是字典）；op：运算，变量和常量为 None；inputs：输入节点的元组。
    input_values: the values of the inputs, a tuple, kept because Op.partials asks for them.
    input_values：各输入的值的元组，留给 Op.partials 使用。
    Nodes are compared and hashed by identity: `a == b` asks whether both are the same node.
    节点按身份比较和哈希：`a == b` 问的是“是不是同一个节点”。
    """

    __slots__ = ("value", "op", "inputs", "input_values", "name")

    def __init__(self, value, op=None, inputs=(), input_values=(), name=None):
        self.value = value
        self.op = op
        self.inputs = inputs
        self.input_values = input_values
        self.name = name

    def __repr__(self):
        what = self.name or ("leaf" if self.op is None else self.op.name)
        return f"<Node {what}: {self.value}>"

    # Operator overloading (操作符重载): for a + b Python calls a.__add__(b). Where a is a number and only b
    # is a node, it calls the reflected method of the right operand instead: b.__radd__(a).
    # 遇到 a + b，Python 调用 a.__add__(b)；若 a 是数、只有 b 是节点，则调用右操作数的反射方法 b.__radd__(a)。

    def __add__(self, other):
        return binary(ADD, self, other)

    def __radd__(self, other):
        return binary(ADD, other, self)

    def __sub__(self, other):
        return binary(SUBTRACT, self, other)

    def __rsub__(self, other):
        """The node of `other - self`, where other is a number.
        `other - self` 的节点，其中 other 是数。
        """
        return -(self - other)

    def __mul__(self, other):
        return binary(MULTIPLY, self, other)

    def __rmul__(self, other):
        return binary(MULTIPLY, other, self)

    def __truediv__(self, other):
        return binary(DIVIDE, self, other)

    def __rtruediv__(self, other):
        """The node of `other / self`, where other is a number.
        `other / self` 的节点，其中 other 是数。
        """
        return binary(DIVIDE, other, self)

    def __pow__(self, other):
        return binary(POWER, self, other)

    def __rpow__(self, other):
        return binary(POWER, other, self)

    def __neg__(self):
        return unary(NEGATE, self)

    def __getitem__(self, key):
        return lookup(self, key)

    # What a node refuses to be, each time with one sentence that says what to write instead.
    # 节点不能当作什么：每次都用一句话说明该怎么写。

    __iter__ = None

    def __float__(self):
        raise TypeError(
            "a Node is not a plain number: use exp, log, sin, cos or tanh from graph.py, not math or NumPy, "
            "or x.value for its number. / 节点不是普通的数：请用 graph.py 里的 exp、log、sin、cos、tanh"
            "（不要用 math 或 NumPy 的），只要数值时写 x.value。"
        )

    def __bool__(self):
        raise TypeError(
            "a Node is neither true nor false, nor greater or less: write x.value, as in `if x.value > 0`. "
            "/ 节点没有真假和大小：请写 x.value，例如 `if x.value > 0`。"
        )

    def _refuse_comparison(self, other):
        return self.__bool__()

    __lt__ = __le__ = __gt__ = __ge__ = _refuse_comparison

    def __array_ufunc__(self, function, method, *operands, **options):
        """NumPy asks here what np.float64(2) * x is (a Node) and what np.exp(x) is (refused).
        NumPy 在这里询问 np.float64(2) * x（得到节点）和 np.exp(x)（拒绝）的含义。
        """
        symbol = _SYMBOL_OF_UFUNC.get(function.__name__)
        if symbol is None or method != "__call__" or len(operands) != 2:
            return self.__bool__() if function.__name__ in _COMPARISONS else self.__float__()
        left, right = (x if isinstance(x, Node) else _number(x) for x in operands)
        return symbol(left, right)


_SYMBOL_OF_UFUNC = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
}
_COMPARISONS = {"less", "less_equal", "greater", "greater_equal"}


def variable(value, name=None):
    """A leaf to differentiate by. Value: a real number, kept as a float.
    可对其求导的叶节点。value 为实数，存为浮点数。
    """
    return Node(_number(value), name=name)


def constant(value):
    """A leaf for a number that stands in a formula, such as the 4 in 4 * x.
    公式中数字的叶节点，例如 4 * x 里的 4。
    """
    return Node(_number(value))


def table(entries):
    """A leaf whose value is a dictionary {key: number}; its tangent and adjoint are dictionaries too.
    值为字典 {键: 数} 的叶节点；它的切量和伴随量也是字典。
    """
    if not isinstance(entries, dict):
        raise TypeError("table needs a dictionary {key: number}. / table 需要一个字典 {键: 数}。")
    return Node({key: _number(number) for key, number in entries.items()})


def _number(value):
    if type(value) in (float, int) or isinstance(value, Real):  # the first test is only for speed
        return float(value)
    raise TypeError(
        f"a graph of scalars needs a real number or a Node here, not {type(value).__name__}. "
        f"/ 标量计算图在这里需要实数或节点，而不是 {type(value).__name__}。"
    )


def unary(op, a):
    """The node of an operation with one operand; a plain number becomes a constant.
    一元运算的节点；普通的数变成常量节点。
    """
    if type(a) is not Node:
        a = constant(a)
    values = (a.value,)
    return Node(op.compute(*values), op, (a,), values)


def binary(op, a, b):
    """The node of an operation with two operands; a plain number becomes a constant.
    二元运算的节点；普通的数变成常量节点。
    """
    if type(a) is not Node:
        a = constant(a)
    if type(b) is not Node:
        b = constant(b)
    values = (a.value, b.value)
    return Node(op.compute(*values), op, (a, b), values)


# --- Operations / 运算 ------------------------------------------------------------------------------------


class Op:
    """An elementary operation v = f(a, b, ...): how to compute it and its local derivatives.
    一个基本运算 v = f(a, b, ...)：怎样求值，以及它的局部导数。

    Both modes use the same local derivatives; neither knows any operation by name.
    两种模式用的是同样的局部导数，都不认识具体的运算。
    Local derivatives follow IEEE arithmetic at singular points: inf or NaN, never an exception.
    在奇异点，局部导数遵循 IEEE 算术：给出 inf 或 NaN，不抛异常。
    """

    name = "op"

    def compute(self, *values):
        """The value of the operation, from the values of its inputs.
        由各输入的值算出运算的值。
        """
        raise NotImplementedError

    def partials(self, values, value):
        """The local derivatives (dv/da, dv/db, ...), one for each input, as a tuple.
        局部导数 (dv/da, dv/db, ...)，每个输入一个，以元组返回。

        values: the values of the inputs (node.input_values); value: what compute gave for them (node.value).
        values：各输入的值（node.input_values）；value：compute 由它们算出的值（node.value）。
        """
        raise NotImplementedError


class Add(Op):
    name = "+"

    def compute(self, a, b):
        return a + b

    def partials(self, values, value):
        return 1.0, 1.0


class Subtract(Op):
    name = "-"

    def compute(self, a, b):
        return a - b

    def partials(self, values, value):
        return 1.0, -1.0


class Multiply(Op):
    name = "*"

    def compute(self, a, b):
        return a * b

    def partials(self, values, value):
        a, b = values
        return b, a


class Divide(Op):
    name = "/"

    def compute(self, a, b):
        return ieee_divide(a, b)

    def partials(self, values, value):
        """The quotient rule: (dv/da, dv/db) of v = a / b.
        商的求导法则：v = a / b 的 (dv/da, dv/db)。

        b may be 0: ieee_divide answers instead of raising.
        b 可能为 0：请用 ieee_divide，它不抛异常。
        """
        a, b = values
        return (ieee_divide(1.0, b), -ieee_divide(a, b * b))


class Power(Op):
    name = "**"

    def compute(self, a, b):
        return ieee_power(a, b)

    def partials(self, values, value):
        """The power rule for a and the exponential rule for b: (dv/da, dv/db) of v = a ** b.
        对 a 用幂法则，对 b 用指数法则：v = a ** b 的 (dv/da, dv/db)。

        dv/da: 0 wherever b = 0, also at a = 0. At a = 0: +inf for 0 < b < 1, -inf for b = -1. At a < 0 the
        rule holds as it stands.
        dv/da：b = 0 时处处为 0（a = 0 也是）；a = 0 时，0 < b < 1 得 +inf，b = -1 得 -inf；a < 0 时法则照用。
        dv/db: NaN for a < 0; at a = 0 it is 0 for b > 0, else -inf.
        dv/db：a < 0 时为 NaN；a = 0 时，b > 0 得 0，否则得 -inf。
        Use ieee_power and ieee_log: they answer inf or NaN instead of raising.
        请用 ieee_power 和 ieee_log：它们给出 inf 或 NaN，不抛异常。
        """
        a, b = values
        if b == 0:
            da = 0.0
        else:
            da = b * ieee_power(a, b - 1)
        if a == 0 and b > 0:
            db = 0.0
        else:
            db = value * ieee_log(a)
        return da, db


class Negate(Op):
    name = "neg"

    def compute(self, a):
        return -a

    def partials(self, values, value):
        return (-1.0,)


class Exp(Op):
    name = "exp"

    def compute(self, a):
        return ieee_exp(a)

    def partials(self, values, value):
        return (value,)  # d exp(a) / da = exp(a), which compute has already found


class Log(Op):
    name = "log"

    def compute(self, a):
        return ieee_log(a)

    def partials(self, values, value):
        """The derivative of the natural logarithm, as a tuple of one; +inf at a = 0.
        自然对数的导数，一个元素的元组；a = 0 时为 +inf。
        """
        a = values[0]
        return (ieee_divide(1, a),)


class Sin(Op):
    name = "sin"

    def compute(self, a):
        return math.sin(a) if math.isfinite(a) else math.nan

    def partials(self, values, value):
        """The derivative of the sine, as a tuple of one.
        正弦的导数，一个元素的元组。
        """
        (a,) = values
        return (COS.compute(a),)


class Cos(Op):
    name = "cos"

    def compute(self, a):
        return math.cos(a) if math.isfinite(a) else math.nan

    def partials(self, values, value):
        (a,) = values
        return (-SIN.compute(a),)


class Tanh(Op):
    name = "tanh"

    def compute(self, a):
        return math.tanh(a)

    def partials(self, values, value):
        return (1.0 - value * value,)


class Entries(dict):
    """A sparse vector {key: number}: the tangent or adjoint of a table. Absent keys stand for 0.
    稀疏向量 {键: 数}：表的切量或伴随量。没有的键表示 0。

    It adds, scales, and gives the inner product of two, so both modes treat it like a number:
    它能相加、数乘，两个之间能作内积，所以两种模式可以把它当作数来用：

        Entries({"cat": 1.0}) * 3.0                  # {"cat": 3.0}: what reverse mode needs
        Entries({"cat": 1.0}) * Entries({"cat": 5.0, "dog": 7.0})      # 5.0: what forward mode needs
    """

    __slots__ = ()
    __array_ufunc__ = None  # lets np.float64(2) * entries arrive at __rmul__

    def __add__(self, other):
        total = Entries(self)
        if isinstance(other, dict):
            for key, number in other.items():
                total[key] = total.get(key, 0.0) + number
        elif other != 0:
            return NotImplemented
        return total

    __radd__ = __add__  # 0.0 + entries, as sum() begins

    def __mul__(self, other):
        if isinstance(other, dict):
            return sum((number * other[key] for key, number in self.items() if key in other), 0.0)
        return Entries({key: number * other for key, number in self.items()})

    __rmul__ = __mul__


class Lookup(Op):
    """v = table[key] for one fixed key.
    对一个固定的键取值：v = table[key]。
    """

    name = "lookup"

    def __init__(self, key):
        self.key = key

    def compute(self, entries):
        if self.key not in entries:
            raise KeyError(f"the table has no key {self.key!r}. / 表中没有键 {self.key!r}。")
        return entries[self.key]

    def partials(self, values, value):
        """The unit vector of the key, as a tuple of one Entries: v moves with its own entry and no other.
        该键的单位向量，一个 Entries 的元组：v 只随自己的那一项变化。
        """
        return (Entries({self.key: 1.0}),)


# One object of each operation serves every node: operations keep no state.
# 每种运算一个对象，供所有节点共用：运算不保存状态。
ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER = Add(), Subtract(), Multiply(), Divide(), Power()
NEGATE, EXP, LOG, SIN, COS, TANH = Negate(), Exp(), Log(), Sin(), Cos(), Tanh()


def exp(x):
    """e ** x."""
    return unary(EXP, x)


def log(x):
    """ln x."""
    return unary(LOG, x)


def sin(x):
    """sin x."""
    return unary(SIN, x)


def cos(x):
    """cos x."""
    return unary(COS, x)


def tanh(x):
    """tanh x."""
    return unary(TANH, x)


def lookup(table, key):
    """The node of table[key]; KeyError if the table has no such key.
    table[key] 的节点；没有这个键时抛出 KeyError。
    """
    if not (isinstance(table, Node) and isinstance(table.value, dict)):
        raise TypeError(
            "only a table can be looked up: make one with table({...}). "
            "/ 只有表能查找：请用 table({...}) 建表。"
        )
    return unary(Lookup(key), table)


# --- Walks through the graph / 图的遍历 --------------------------------------------------------------------


def as_list(outputs):
    """The list of output nodes, given one node or a sequence of nodes.
    由一个节点或一列节点得到输出节点的列表。
    """
    nodes = [outputs] if isinstance(outputs, Node) else list(outputs)
    for node in nodes:
        if not isinstance(node, Node):
            name = type(node).__name__
            raise TypeError(f"expected a Node, not {name}. / 这里需要节点，而不是 {name}。")
    return nodes


def topological_order(outputs):
    """Every node the outputs depend on, and the outputs, each once, inputs before the nodes that use them.
    输出所依赖的所有节点及输出本身，各出现一次，输入排在使用它的节点之前。

    outputs: one node or a sequence of nodes (as_list helps); where several orders are right, any is.
    outputs：一个节点或一列节点（可用 as_list）；有多种正确的顺序时，任何一种都行。
    Graphs may be 10,000 nodes deep or have 2**40 paths: no recursion, and cost linear in nodes and edges.
    图可能深达 10,000 层，或有 2**40 条路径：不要递归，代价与节点数加边数成正比。
    """
    # Kahn 算法：先数每个节点还差几个输入，差 0 个的先排。
    missing, users = {}, {}
    stack = as_list(outputs)
    while stack:
        node = stack.pop()
        if node in missing:
            continue
        missing[node] = len(node.inputs)
        for operand in node.inputs:
            users.setdefault(operand, []).append(node)
            stack.append(operand)
    ready = [node for node in missing if missing[node] == 0]
    order = []
    while ready:
        node = ready.pop()
        order.append(node)
        for user in users.get(node, []):
            missing[user] -= 1
            if missing[user] == 0:
                ready.append(user)
    return order


def graph_size(outputs):
    """The number of nodes in the graph (a DAG, 有向无环图) of the outputs, constants included.
    输出的计算图（有向无环图）的节点数，常量也算在内。
    """
    found = set(as_list(outputs))
    waiting = list(found)
    while waiting:
        for node in waiting.pop().inputs:
            if node not in found:
                found.add(node)
                waiting.append(node)
    return len(found)


def expression_size(output):
    """The number of nodes when the graph is written out as an expression: a shared node counts each time.
    把图展开成表达式（树）后的节点数：共享的节点出现几次就算几次。

    An exact integer; it can double with every operation, which is the swell of symbolic differentiation.
    精确的整数；每个运算都可能使它翻倍，这就是符号微分的表达式膨胀。
    A node appears once for every path to it from the output. `paths` counts those of one length, which then
    all grow by one edge.
    从输出到某节点有几条路径，它就出现几次。`paths` 数的是同一长度的路径，然后让它们各延长一条边。
    """
    paths = {output: 1}
    size = 0
    while paths:
        size += sum(paths.values())
        longer = {}
        for node, number in paths.items():
            for operand in node.inputs:
                longer[operand] = longer.get(operand, 0) + number
        paths = longer
    return size
