"""A computation graph of tensors that is built first and computed later.
一张张量计算图：先建图，后计算。

    x, w = variable((64, 784)), variable((784, 10))
    y = mean(logsumexp(x @ w, axis=1))       # a Node: its shape () and dtype are known, its value is not

Nothing is computed here: engine.py extends the graph by its own gradient, and an Executor runs it on arrays.
这里什么都不计算：engine.py 把梯度添进同一张图，Executor 再用数组运行它。
Shapes and dtypes follow NumPy, and what does not fit is refused while the graph is built.
形状和类型遵循 NumPy 的规则；不相容的在建图时就被拒绝。
Operands that differ in shape or dtype are made alike by nodes of their own (broadcast_to, astype), so the
rule of an operation need not know of broadcasting.
形状或类型不同的操作数先由单独的节点（broadcast_to、astype）变得一致，所以各运算的规则不必考虑广播。

Source: Griewank & Walther, Evaluating Derivatives, 2nd ed., SIAM 2008;
Giles, Collected Matrix Derivative Results for Forward and Reverse Mode AD, 2008.
"""

import itertools
import math
import operator
from numbers import Real

import numpy as np

# --- Nodes / 节点 -----------------------------------------------------------------------------------------

_creation = itertools.count()


class Node:
    """One tensor of the computation graph, not yet computed: the operation and input nodes that will give it.
    计算图中一个尚未计算的张量：记下将要算出它的运算和输入节点。

    op: an Op, None for a leaf. inputs: a tuple of nodes. shape: a tuple of ints. dtype: a NumPy dtype.
    op：运算，叶节点为 None；inputs：输入节点的元组；shape：整数元组；dtype：NumPy 类型。
    value: the array of a constant, else None. number: how many nodes were made before this one.
    value：常量的数组，其他节点为 None；number：在它之前建了多少个节点。
    Nodes are compared and hashed by identity: `a == b` asks whether both are the same node.
    节点按身份比较和哈希：`a == b` 问的是“是不是同一个节点”。
    """

    __slots__ = ("op", "inputs", "shape", "dtype", "value", "name", "number")

    def __init__(self, op, inputs, shape, dtype, value=None, name=None):
        self.op = op
        self.inputs = tuple(inputs)
        self.shape = shape
        self.dtype = dtype
        self.value = value
        self.name = name
        self.number = next(_creation)

    @property
    def ndim(self):
        """The number of axes.
        轴的个数。
        """
        return len(self.shape)

    def __repr__(self):
        leaf = "variable" if self.value is None else "constant"
        what = self.name or (leaf if self.op is None else self.op.name)
        return f"<Node {what}: {self.dtype} {self.shape}>"

    # Operator overloading (操作符重载): for a + b Python calls a.__add__(b), or b.__radd__(a) where only b is
    # a node. Numbers and arrays that stand beside a node become constants.
    # 遇到 a + b，Python 调用 a.__add__(b)；若只有 b 是节点，则调用 b.__radd__(a)。式中的数和数组变成常量。

    def __add__(self, other):
        return elementwise(ADD, self, other)

    def __radd__(self, other):
        return elementwise(ADD, other, self)

    def __sub__(self, other):
        return elementwise(SUBTRACT, self, other)

    def __rsub__(self, other):
        return elementwise(SUBTRACT, other, self)

    def __mul__(self, other):
        return elementwise(MULTIPLY, self, other)

    def __rmul__(self, other):
        return elementwise(MULTIPLY, other, self)

    def __truediv__(self, other):
        return elementwise(DIVIDE, self, other)

    def __rtruediv__(self, other):
        return elementwise(DIVIDE, other, self)

    def __pow__(self, other):
        return power(self, other)

    def __rpow__(self, other):
        return power(other, self)

    def __matmul__(self, other):
        return matmul(self, other)

    def __rmatmul__(self, other):
        return matmul(other, self)

    def __neg__(self):
        return elementwise(NEGATIVE, self)

    def __abs__(self):
        return abs(self)

    def __gt__(self, other):
        return elementwise(GREATER, self, other)

    def __lt__(self, other):
        return elementwise(LESS, self, other)

    def __ge__(self, other):
        return elementwise(GREATER_EQUAL, self, other)

    def __le__(self, other):
        return elementwise(LESS_EQUAL, self, other)

    def __getitem__(self, index):
        return slice_of(self, index)

    # What a node refuses to be, each time with one sentence that says what to write instead.
    # 节点不能当作什么：每次都用一句话说明该怎么写。

    __iter__ = None

    def __bool__(self):
        raise TypeError(
            "a Node has no value yet, so it is neither true nor false: write where(x > 0, a, b), "
            "or decide on arrays that an Executor gave. "
            "/ 节点还没有值，无所谓真假：请写 where(x > 0, a, b)，或对 Executor 算出的数组作判断。"
        )

    def __float__(self):
        raise TypeError(
            "a Node has no value yet: use the functions of graph.py, not those of math or NumPy, "
            "and Executor(outputs)(feeds) for numbers. "
            "/ 节点还没有值：请用 graph.py 里的函数（不要用 math 或 NumPy 的），"
            "要数值请用 Executor(outputs)(feeds)。"
        )

    def __array__(self, dtype=None, copy=None):
        return self.__float__()

    def __array_function__(self, function, types, operands, options):
        return self.__float__()

    def __array_ufunc__(self, function, method, *operands, **options):
        """NumPy asks here what array * x is (a Node) and what np.exp(x) is (refused).
        NumPy 在这里询问 array * x（得到节点）和 np.exp(x)（拒绝）的含义。
        """
        if method == "__call__" and not options:
            if function is np.matmul:
                return matmul(*operands)
            if function in _OF_OPERATORS:
                return elementwise(_OF_OPERATORS[function], *operands)
        return self.__float__()


def variable(shape, dtype=np.float64, name=None):
    """A leaf whose array is fed when the graph runs: a weight, a batch of data, labels.
    叶节点，它的数组在运行时才给出：权重、一批数据、标签。

    shape: an int or a tuple of ints. dtype: float, integer or bool.
    shape：一个整数或整数元组；dtype：浮点、整数或布尔类型。
    """
    shape = as_shape(shape)
    if any(length < 0 for length in shape):
        raise ValueError(f"variable: no shape {shape}. / variable：没有形状 {shape}。")
    return Node(None, (), shape, _supported(np.dtype(dtype)), name=name)


def constant(array):
    """A leaf that keeps a copy of an array or number, which nobody can change.
    叶节点，保存数组或数的一份副本，谁也不能改动它。
    """
    array = np.array(array)
    return filled(array, array.shape, array.dtype)


def filled(value, shape, dtype):
    """A constant of a shape, from a number or an array that broadcasts to it.
    给定形状的常量，由一个数或可广播到该形状的数组得到。
    """
    array = np.array(value, dtype=_supported(np.dtype(dtype)))
    array.flags.writeable = False
    return Node(None, (), shape, array.dtype, value=np.broadcast_to(array, shape))


def zeros_like(a):
    """A constant of zeros with the shape and dtype of a node.
    形状和类型与某节点相同的零常量。
    """
    return filled(0, a.shape, a.dtype)


def as_node(a):
    """A node as it is, anything else as a constant.
    节点保持不变，其他的变成常量。
    """
    return a if isinstance(a, Node) else constant(a)


def is_float(a):
    """Whether a node has floating-point numbers; others have no gradient.
    节点是否为浮点数；其他类型没有梯度。
    """
    return a.dtype.kind == "f"


def _supported(dtype):
    if dtype.kind in "fiub" and dtype.itemsize <= 8:
        return dtype
    raise TypeError(
        f"a tensor holds real numbers, integers or bools, not {dtype}. "
        f"/ 张量可以是实数、整数或布尔值，不能是 {dtype}。"
    )


# --- Shapes and dtypes / 形状和类型 ------------------------------------------------------------------------


def as_shape(shape):
    """A shape, or one length, as a tuple of ints.
    把形状或一个长度变成整数元组。
    """
    lengths = shape if isinstance(shape, (tuple, list)) else (shape,)
    return tuple(operator.index(length) for length in lengths)


def broadcast_shape(name, shapes):
    """NumPy's rule of broadcasting (广播): shapes are aligned at the right; an axis of length 1 stretches.
    NumPy 的广播规则：形状从右端对齐，长度为 1 的轴可以拉长。
    """
    if len(set(shapes)) == 1:
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        pairs = ", ".join(map(str, shapes))
        raise ValueError(
            f"{name}: the shapes {pairs} do not broadcast. / {name}：形状 {pairs} 无法广播。"
        ) from None


def normal_axes(name, axis, shape):
    """Axes as a sorted tuple of numbers from 0: None means all; negative ones count from the end.
    把轴变成从 0 数起、排好序的元组：None 表示全部，负数从末尾数起。
    """
    if axis is None:
        return tuple(range(len(shape)))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [operator.index(one) for one in given]
    if any(not -len(shape) <= one < len(shape) for one in axes):
        raise ValueError(
            f"{name}: axis {axis} is out of range for shape {shape}. / {name}：形状 {shape} 没有轴 {axis}。"
        )
    axes = sorted(one % len(shape) for one in axes)
    if len(set(axes)) < len(axes):
        raise ValueError(
            f"{name}: axis {axis} names one axis of shape {shape} twice. "
            f"/ {name}：轴 {axis} 在形状 {shape} 中有重复。"
        )
    return tuple(axes)


def reduced_shape(shape, axes, keepdims):
    """A shape after its axes were reduced: they are gone, or with keepdims they have length 1.
    归约若干轴以后的形状：这些轴消失，若 keepdims 则长度变为 1。
    """
    if keepdims:
        return tuple(1 if i in axes else length for i, length in enumerate(shape))
    return tuple(length for i, length in enumerate(shape) if i not in axes)


def common_dtype(operands, function=np.result_type):
    """The dtype in which NumPy's function computes on these operands.
    NumPy 的函数在这些操作数上计算时所用的类型。

    A number beside a tensor takes the tensor's dtype where its kind allows: float32 stays float32.
    张量旁边的数尽量采用张量的类型：float32 仍是 float32。
    """
    dtypes = {one.dtype if isinstance(one, Node) else None for one in operands}
    if len(dtypes) == 1 and (dtype := dtypes.pop()) is not None and dtype.kind == "f":
        return dtype
    samples = [_sample(one) for one in operands]
    try:
        result = function(*samples)
    except TypeError:
        names = ", ".join(str(np.asarray(sample).dtype) for sample in samples)
        raise TypeError(
            f"{function.__name__}: not for {names}. / {function.__name__}：不能用于 {names}。"
        ) from None
    return result if isinstance(result, np.dtype) else result.dtype


def _sample(operand):
    """What stands for an operand when NumPy is asked for a dtype: no entries of it, or a Python number."""
    if isinstance(operand, (Real, np.bool_)):
        return operand.item() if isinstance(operand, np.generic) else operand
    return np.empty(0, _supported(operand.dtype if isinstance(operand, Node) else np.asarray(operand).dtype))


def shape_of(operand):
    """The shape of a node, an array or a number.
    节点、数组或数的形状。
    """
    return operand.shape if isinstance(operand, Node) else np.shape(operand)


def alike(operands, shape, dtype):
    """The operands as nodes of one shape and dtype.
    把操作数变成形状和类型都相同的节点。
    """
    return [
        broadcast_to(astype(one, dtype), shape) if isinstance(one, Node) else filled(one, shape, dtype)
        for one in operands
    ]


# --- Operations / 运算 ------------------------------------------------------------------------------------


class Op:
    """An operation on tensors: how its array is computed, and which nodes carry its adjoint back.
    一个张量运算：怎样算出数组，以及用哪些节点把伴随量传回去。

    Operations keep no state: one object may serve many nodes.
    运算不保存状态：一个对象可以供许多节点使用。
    """

    name = "op"

    def compute(self, *arrays):
        """The array of the operation, from those of its inputs, which it never changes.
        由各输入的数组算出运算的数组，不改动输入。
        """
        raise NotImplementedError

    def vjp(self, adjoint, node):
        """The vector-Jacobian product: the partial adjoint (部分伴随) of each input, as a tuple of new nodes.
        向量-雅可比积：每个输入的部分伴随，以新节点的元组返回。

        adjoint: the node of the adjoint of `node`, with its shape and dtype. node.inputs: the inputs.
        adjoint：`node` 的伴随量的节点，形状和类型与 node 相同；node.inputs：各输入。
        Each partial adjoint has the shape and dtype of its input; None for an input that has no gradient.
        每个部分伴随的形状和类型与对应的输入相同；没有梯度的输入为 None。
        """
        raise NotImplementedError


# --- Entry by entry / 逐元素的运算 -------------------------------------------------------------------------
# Inputs have one shape and one dtype, so a partial adjoint is the adjoint times the local derivative.
# 各输入的形状和类型相同，所以部分伴随就是伴随量乘以局部导数。


def elementwise(op, *operands):
    """The node of an elementwise operation; op.compute is NumPy's function for it.
    逐元素运算的节点；op.compute 就是 NumPy 的对应函数。
    """
    shape = broadcast_shape(op.name, [shape_of(one) for one in operands])
    compares = isinstance(op, Compare)
    dtype = common_dtype(operands, np.result_type if compares else op.compute)
    return Node(op, alike(operands, shape, dtype), shape, np.dtype(bool) if compares else dtype)


class Add(Op):
    name = "add"
    compute = np.add

    def vjp(self, adjoint, node):
        return adjoint, adjoint


class Subtract(Op):
    name = "subtract"
    compute = np.subtract

    def vjp(self, adjoint, node):
        return adjoint, -adjoint


class Multiply(Op):
    name = "multiply"
    compute = np.multiply

    def vjp(self, adjoint, node):
        a, b = node.inputs
        return adjoint * b, adjoint * a


class Chain(Op):
    """Adjoint times local derivative, where an adjoint of 0 stays 0 even if the derivative is inf or NaN.
    伴随量乘局部导数；伴随量为 0 时结果就是 0，即使导数是 inf 或 NaN。

    So a branch that where() did not take sends back nothing, also at a pole: where(x > 0, log(x), 0) at 0.
    这样 where() 没有选中的分支即使在奇点也不传回任何东西，例如 where(x > 0, log(x), 0) 在 0 处。
    """

    name = "chain"

    def compute(self, adjoint, derivative):
        return choose(adjoint == 0, adjoint, adjoint * derivative)

    def vjp(self, adjoint, node):
        first, derivative = node.inputs
        return chain(adjoint, derivative), chain(first, adjoint)


def chain(adjoint, derivative):
    """Adjoint times a local derivative that may be singular, by the rule of Chain.
    按 Chain 的规则，把伴随量乘以可能奇异的局部导数。
    """
    return elementwise(CHAIN, adjoint, derivative)


def choose(condition, a, b):
    """np.where on arrays of one dtype, without the branch that makes it slow where conditions are random.
    相同类型数组上的 np.where，但不逐元素分支（条件随机时分支很慢）。

    Floats are chosen by their bits, as integers: b ^ ((a ^ b) * condition), where a condition is 1 or 0.
    浮点数按位选择，把位看作整数：b ^ ((a ^ b) * 条件)，条件为 1 或 0。
    """
    if a.dtype.kind != "f":
        return np.where(condition, a, b)
    integer = np.dtype(f"i{a.itemsize}")
    chosen = condition.astype(integer)
    if b.size and not any(b.strides) and b.view(integer).item(0) == 0:  # most often b is a constant 0
        chosen *= a.view(integer)
    else:
        chosen *= a.view(integer) ^ b.view(integer)
        chosen ^= b.view(integer)
    return chosen.view(a.dtype)


class Divide(Op):
    name = "divide"
    compute = np.divide

    def vjp(self, adjoint, node):
        _, b = node.inputs
        has_no_pole = b.value is not None and b.value.all()
        by_a = adjoint / b if has_no_pole else chain(adjoint, 1.0 / b)
        return by_a, chain(by_a, -node)


class Power(Op):
    """a ** b. By a: 0 wherever b = 0. By b: NaN for a < 0; at a = 0 it is 0 for b > 0, else -inf.
    a ** b。对 a：b = 0 处为 0；对 b：a < 0 时为 NaN，a = 0 时若 b > 0 得 0，否则得 -inf。
    """

    name = "power"
    compute = np.power

    def vjp(self, adjoint, node):
        a, b = node.inputs
        by_a = where(equal(b, 0.0), 0.0, b * a ** (b - 1.0))
        by_b = where(equal(a, 0.0), where(b > 0.0, zeros_like(b), -np.inf), node * log(a))
        return chain(adjoint, by_a), chain(adjoint, by_b)


class PowerBy(Op):
    """a ** n for a fixed number n. The derivative of a ** 0 is 0 everywhere, also at a = 0.
    固定指数 n 的 a ** n。a ** 0 的导数处处为 0，在 a = 0 也是。
    """

    name = "power"

    def __init__(self, exponent):
        self.exponent = exponent

    def compute(self, a):
        return a ** a.dtype.type(self.exponent)

    def vjp(self, adjoint, node):
        (a,) = node.inputs
        if self.exponent == 0:
            return (zeros_like(a),)
        derivative = self.exponent * a ** (self.exponent - 1)
        return (adjoint * derivative if self.exponent >= 1 else chain(adjoint, derivative),)


def power(a, b):
    """a ** b, entry by entry; a number as exponent is no input of the node.
    逐元素的 a ** b；指数是数时，它不是节点的输入。
    """
    if isinstance(a, Node) and isinstance(b, Real):
        base = astype(a, common_dtype([a, b], np.power))
        return base if b == 1 else Node(PowerBy(b), (base,), base.shape, base.dtype)
    return elementwise(POWER, a, b)


class Negative(Op):
    name = "negative"
    compute = np.negative

    def vjp(self, adjoint, node):
        return (-adjoint,)


class Exp(Op):
    name = "exp"
    compute = np.exp

    def vjp(self, adjoint, node):
        return (chain(adjoint, node),)  # d exp(a) / da = exp(a), which the graph has already


class Log(Op):
    name = "log"
    compute = np.log

    def vjp(self, adjoint, node):
        (a,) = node.inputs
        return (chain(adjoint, 1.0 / a),)


class Sin(Op):
    name = "sin"
    compute = np.sin

    def vjp(self, adjoint, node):
        (a,) = node.inputs
        return (adjoint * cos(a),)


class Cos(Op):
    name = "cos"
    compute = np.cos

    def vjp(self, adjoint, node):
        (a,) = node.inputs
        return (-(adjoint * sin(a)),)


class Tanh(Op):
    name = "tanh"
    compute = np.tanh

    def vjp(self, adjoint, node):
        return (adjoint * (1.0 - node * node),)


class Sqrt(Op):
    name = "sqrt"
    compute = np.sqrt

    def vjp(self, adjoint, node):
        return (chain(adjoint, 0.5 / node),)


class Abs(Op):
    """|a|. The derivative at 0 is 0.
    绝对值。在 0 处的导数取 0。
    """

    name = "abs"
    compute = np.abs

    def vjp(self, adjoint, node):
        (a,) = node.inputs
        return (where(a > 0.0, adjoint, where(a < 0.0, -adjoint, 0.0)),)


class Relu(Op):
    """max(a, 0); NaN stays NaN.
    max(a, 0)；NaN 仍是 NaN。
    """

    name = "relu"

    def compute(self, a):
        return np.maximum(a, a.dtype.type(0))

    def vjp(self, adjoint, node):
        """The adjoint where a > 0, else 0, also at a = 0. An adjoint may be infinite: choose, don't multiply.
        a > 0 处为伴随量，其他处为 0，在 a = 0 也取 0。伴随量可能是无穷：要选择，不要乘以 0。
        """
        (a,) = node.inputs
        positive = a > 0.0  # 布尔节点
        return (where(positive, adjoint, 0.0),)


class Maximum(Op):
    """The greater of a and b. Where they are equal, each has half of the adjoint.
    a 与 b 中的较大者。相等处，伴随量各得一半。
    """

    name = "maximum"
    compute = np.maximum

    def vjp(self, adjoint, node):
        a, b = node.inputs
        shared = where(equal(a, b), 0.5 * adjoint, 0.0)
        return where(a > b, adjoint, shared), where(b > a, adjoint, shared)


class Compare(Op):
    """A comparison; its entries jump, so it has no gradient.
    比较；结果是跳变的，没有梯度。
    """

    def __init__(self, name, ufunc):
        self.name = name
        self.compute = ufunc

    def vjp(self, adjoint, node):
        return None, None


class Where(Op):
    """Entries of a where the condition holds, of b elsewhere. Its rule chooses: 0 * inf would be NaN.
    条件成立处取 a，其他处取 b。它的规则也用选择：0 * inf 会得 NaN。
    """

    name = "where"

    def compute(self, condition, a, b):
        return choose(condition, a, b)

    def vjp(self, adjoint, node):
        condition = node.inputs[0]
        return None, where(condition, adjoint, 0.0), where(condition, 0.0, adjoint)


class AsType(Op):
    """The same numbers in another dtype.
    同样的数，换一种类型。
    """

    name = "astype"

    def __init__(self, dtype):
        self.dtype = dtype

    def compute(self, a):
        return a.astype(self.dtype)

    def vjp(self, adjoint, node):
        (a,) = node.inputs
        return (astype(adjoint, a.dtype) if is_float(a) else None,)


# One object of each operation serves every node.
# 每种运算一个对象，供所有节点共用。
ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER = Add(), Subtract(), Multiply(), Divide(), Power()
NEGATIVE, MAXIMUM, CHAIN, WHERE = Negative(), Maximum(), Chain(), Where()
EXP, LOG, SIN, COS, TANH, SQRT, ABS, RELU = Exp(), Log(), Sin(), Cos(), Tanh(), Sqrt(), Abs(), Relu()
GREATER, GREATER_EQUAL = Compare("greater", np.greater), Compare("greater_equal", np.greater_equal)
LESS, LESS_EQUAL = Compare("less", np.less), Compare("less_equal", np.less_equal)
EQUAL = Compare("equal", np.equal)
_OF_OPERATORS = {
    op.compute: op
    for op in (ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL)
}


def exp(a):
    """e ** a, entry by entry."""
    return elementwise(EXP, as_node(a))


def log(a):
    """The natural logarithm, entry by entry."""
    return elementwise(LOG, as_node(a))


def sin(a):
    """sin a, entry by entry."""
    return elementwise(SIN, as_node(a))


def cos(a):
    """cos a, entry by entry."""
    return elementwise(COS, as_node(a))


def tanh(a):
    """tanh a, entry by entry."""
    return elementwise(TANH, as_node(a))


def sqrt(a):
    """The square root, entry by entry."""
    return elementwise(SQRT, as_node(a))


def abs(a):
    """|a|, entry by entry."""
    return elementwise(ABS, as_node(a))


def relu(a):
    """max(a, 0), entry by entry."""
    return elementwise(RELU, as_node(a))


def maximum(a, b):
    """The greater of a and b, entry by entry."""
    return elementwise(MAXIMUM, a, b)


def equal(a, b):
    """Where a and b are equal: a bool node (a == b asks whether they are the same node).
    a 与 b 在哪里相等：布尔节点（a == b 问的是“是不是同一个节点”）。
    """
    return elementwise(EQUAL, a, b)


def where(condition, a, b):
    """Entries of a where the condition (bool) holds, of b elsewhere.
    条件（布尔）成立处取 a，其他处取 b。
    """
    if isinstance(condition, bool):
        raise TypeError(
            "where: the condition is no tensor; a == b asks whether both are the same node: use equal(a, b). "
            "/ where：条件不是张量；a == b 问的是“是不是同一个节点”，请用 equal(a, b)。"
        )
    condition = as_node(condition)
    if condition.dtype != bool:
        raise TypeError(
            f"where: the condition must be bool, as x > 0 is, not {condition.dtype}. "
            f"/ where：条件必须是布尔类型（例如 x > 0），而不是 {condition.dtype}。"
        )
    shape = broadcast_shape("where", [condition.shape, shape_of(a), shape_of(b)])
    dtype = common_dtype([a, b])
    return Node(WHERE, [broadcast_to(condition, shape), *alike([a, b], shape, dtype)], shape, dtype)


def astype(a, dtype):
    """The same numbers in another dtype; a itself if it has that dtype.
    同样的数，换一种类型；类型已相同就返回 a 本身。
    """
    a, dtype = as_node(a), _supported(np.dtype(dtype))
    return a if a.dtype == dtype else Node(AsType(dtype), (a,), a.shape, dtype)


# --- Shapes / 形状的运算 -----------------------------------------------------------------------------------


class BroadcastTo(Op):
    """NumPy's broadcasting: new axes come in front, axes of length 1 are repeated.
    NumPy 的广播：新轴加在前面，长度为 1 的轴重复。
    """

    name = "broadcast_to"

    def __init__(self, shape):
        self.shape = shape

    def compute(self, a):
        return np.broadcast_to(a, self.shape)

    def vjp(self, adjoint, node):
        """The sum of the adjoint over every axis along which entries were repeated, in the input's shape.
        把伴随量沿所有重复过的轴求和，形状与输入相同。

        Shapes are aligned at the right; lengths may be equal by chance, and may be 0.
        形状从右端对齐；长度可能碰巧相等，也可能为 0。
        """
        (a,) = node.inputs
        new = node.ndim - a.ndim
        repeated = [axis for axis in range(node.ndim) if axis < new or a.shape[axis - new] == 1]
        return (reshape(sum(adjoint, repeated), a.shape),)


def broadcast_to(a, shape):
    """a repeated to a shape by NumPy's rule; a itself if it has that shape.
    按 NumPy 的规则把 a 重复成给定形状；形状已相同就返回 a 本身。
    """
    a, shape = as_node(a), as_shape(shape)
    if a.shape == shape:
        return a
    if len(shape) < a.ndim or broadcast_shape("broadcast_to", [a.shape, shape]) != shape:
        raise ValueError(
            f"broadcast_to: shape {a.shape} does not broadcast to {shape}. "
            f"/ broadcast_to：形状 {a.shape} 无法广播成 {shape}。"
        )
    return Node(BroadcastTo(shape), (a,), shape, a.dtype)


class Reshape(Op):
    name = "reshape"

    def __init__(self, shape):
        self.shape = shape

    def compute(self, a):
        return a.reshape(self.shape)

    def vjp(self, adjoint, node):
        (a,) = node.inputs
        return (reshape(adjoint, a.shape),)


def reshape(a, shape):
    """The same entries in another shape, in C order; one length may be -1. a itself if it has that shape.
    同样的元素按 C 次序排成另一形状，其中一个长度可为 -1；形状已相同就返回 a 本身。
    """
    a, wanted = as_node(a), as_shape(shape)
    size, rest = math.prod(a.shape), math.prod(length for length in wanted if length != -1)
    if wanted.count(-1) == 1 and rest > 0:
        wanted = tuple(size // rest if length == -1 else length for length in wanted)
    if math.prod(wanted) != size or any(length < 0 for length in wanted):
        raise ValueError(
            f"reshape: {a.shape} does not fit into {shape}. / reshape：形状 {a.shape} 无法变成 {shape}。"
        )
    return a if a.shape == wanted else Node(Reshape(wanted), (a,), wanted, a.dtype)


class Transpose(Op):
    """Axis i of the result is axis axes[i] of the input.
    结果的第 i 轴是输入的第 axes[i] 轴。
    """

    name = "transpose"

    def __init__(self, axes):
        self.axes = axes

    def compute(self, a):
        return a.transpose(self.axes)

    def vjp(self, adjoint, node):
        """The adjoint with its axes back in the places of the input (the inverse permutation).
        把伴随量的轴放回输入中的位置（逆置换）。
        """
        back = sorted(range(node.ndim), key=lambda axis: self.axes[axis])
        return (transpose(adjoint, back),)


def transpose(a, axes=None):
    """The axes in another order; reversed, if none is given.
    把轴换一种次序；不给次序就全部倒过来。
    """
    a = as_node(a)
    axes = tuple(reversed(range(a.ndim))) if axes is None else tuple(operator.index(axis) for axis in axes)
    if len(normal_axes("transpose", axes, a.shape)) != a.ndim:
        raise ValueError(
            f"transpose: axes {axes} do not name each axis of shape {a.shape} once. "
            f"/ transpose：axes {axes} 没有把形状 {a.shape} 的每个轴各列一次。"
        )
    axes = tuple(axis % a.ndim for axis in axes)
    return Node(Transpose(axes), (a,), tuple(a.shape[axis] for axis in axes), a.dtype)


def swap_last(a):
    """Matrices transposed: the last two axes change places.
    矩阵转置：最后两个轴互换。
    """
    axes = range(a.ndim)
    return transpose(a, [*axes[:-2], a.ndim - 1, a.ndim - 2])


class Concatenate(Op):
    name = "concatenate"

    def __init__(self, axis):
        self.axis = axis

    def compute(self, *arrays):
        return np.concatenate(arrays, self.axis)

    def vjp(self, adjoint, node):
        before = (slice(None),) * self.axis
        ends = list(itertools.accumulate(a.shape[self.axis] for a in node.inputs))
        return tuple(
            adjoint[(*before, slice(end - a.shape[self.axis], end))] for a, end in zip(node.inputs, ends)
        )


def concatenate(tensors, axis=0):
    """Tensors joined along one axis; their other lengths must be equal.
    沿一个轴把张量接起来；其他各轴的长度必须相同。
    """
    nodes = [as_node(a) for a in tensors]
    shapes = [a.shape for a in nodes]
    first = shapes[0] if shapes else ()
    (axis,) = normal_axes("concatenate", operator.index(axis), first)
    if len({(*shape[:axis], *shape[axis + 1 :], len(shape)) for shape in shapes}) > 1:
        listed = ", ".join(map(str, shapes))
        raise ValueError(
            f"concatenate: the shapes {listed} differ beside axis {axis}. "
            f"/ concatenate：形状 {listed} 在轴 {axis} 以外不一致。"
        )
    ends = list(itertools.accumulate(shape[axis] for shape in shapes))
    dtype = common_dtype(nodes)
    shape = (*first[:axis], ends[-1], *first[axis + 1 :])
    return Node(Concatenate(axis), [astype(a, dtype) for a in nodes], shape, dtype)


class Slice(Op):
    """a[index], for integers, slices, None and an ellipsis.
    a[index]，下标可以是整数、切片、None 和省略号。
    """

    name = "slice"

    def __init__(self, index):
        self.index = index

    def compute(self, a):
        return a[self.index]

    def vjp(self, adjoint, node):
        (a,) = node.inputs
        return (Node(PutSlice(self.index, a.shape), (adjoint,), a.shape, a.dtype),)


class PutSlice(Op):
    """Zeros of a shape, with a[index] filled: the way back of a slice.
    给定形状的零，其中 [index] 处填入 a：切片的逆过程。
    """

    name = "put_slice"

    def __init__(self, index, shape):
        self.index = index
        self.shape = shape

    def compute(self, a):
        whole = np.zeros(self.shape, a.dtype)
        whole[self.index] = a
        return whole

    def vjp(self, adjoint, node):
        return (adjoint[self.index],)


def slice_of(a, index):
    """a[index]: integers, slices, None and an ellipsis, as in NumPy.
    a[index]：整数、切片、None 和省略号，与 NumPy 相同。
    """
    index = index if isinstance(index, tuple) else (index,)
    kinds = (slice, int, np.integer, type(None), type(...))
    if not all(isinstance(one, kinds) and not isinstance(one, bool) for one in index):
        raise TypeError(
            "slice: an index is an integer, a slice, None or an ellipsis; for several indices use gather. "
            "/ slice：下标是整数、切片、None 或省略号；一次取多个下标请用 gather。"
        )
    try:
        shape = np.broadcast_to(False, a.shape)[index].shape
    except (IndexError, TypeError) as error:
        raise IndexError(
            f"slice: no {index} in shape {a.shape}: {error}. / slice：形状 {a.shape} 中没有 {index}。"
        ) from None
    return Node(Slice(index), (a,), shape, a.dtype)


class Gather(Op):
    """Looks up entries of a along one axis by an integer tensor, as np.take does.
    按整数张量沿一个轴查找 a 的元素，与 np.take 相同。
    """

    name = "gather"

    def __init__(self, axis):
        self.axis = axis

    def compute(self, a, indices):
        check_indices(self.name, indices, -a.shape[self.axis], a.shape[self.axis])
        return np.take(a, indices, self.axis)

    def vjp(self, adjoint, node):
        """Each entry of the adjoint goes back where it was looked up; what was looked up twice adds up.
        伴随量的每个元素回到它被取出的地方；取过两次的要相加。

        Integers have no gradient. The graph has an operation for this: see ScatterAdd.
        整数没有梯度。图中有一个运算可用：见 ScatterAdd。
        """
        a, indices = node.inputs
        return scatter_add(adjoint, indices, a.shape, self.axis), None


class ScatterAdd(Op):
    """Zeros of a shape, to which entries are added at indices along one axis; repeated indices add up.
    给定形状的零，沿一个轴在各下标处加上元素；重复的下标相加。
    """

    name = "scatter_add"

    def __init__(self, shape, axis):
        self.shape = shape
        self.axis = axis

    def compute(self, a, indices):
        total = np.zeros(self.shape, a.dtype)
        np.add.at(total, (slice(None),) * self.axis + (indices,), a)
        return total

    def vjp(self, adjoint, node):
        return gather(adjoint, node.inputs[1], self.axis), None


def gather(a, indices, axis=0):
    """Entries of a at integer indices along one axis: a's shape with that axis replaced by indices' shape.
    沿一个轴按整数下标取出 a 的元素：结果的形状是把 a 的该轴换成 indices 的形状。

    Negative indices count from the end. Raises IndexError when it runs, if an index is out of range.
    负下标从末尾数起。运行时下标越界则抛出 IndexError。
    """
    a, indices = as_node(a), integers("gather", indices)
    (axis,) = normal_axes("gather", operator.index(axis), a.shape)
    return Node(Gather(axis), (a, indices), gathered_shape(a.shape, indices.shape, axis), a.dtype)


def scatter_add(a, indices, shape, axis=0):
    """Zeros of a shape, plus the entries of a at integer indices along one axis: gather's way back.
    给定形状的零，沿一个轴在整数下标处加上 a 的元素：gather 的逆过程。
    """
    a, indices, shape = as_node(a), integers("scatter_add", indices), as_shape(shape)
    (axis,) = normal_axes("scatter_add", operator.index(axis), shape)
    if a.shape != gathered_shape(shape, indices.shape, axis):
        raise ValueError(
            f"scatter_add: {a.shape} is not what indices {indices.shape} take from {shape} on axis {axis}. "
            f"/ scatter_add：{a.shape} 不是用下标 {indices.shape} 从 {shape} 沿轴 {axis} 取出的形状。"
        )
    return Node(ScatterAdd(shape, axis), (a, indices), shape, a.dtype)


def gathered_shape(shape, indices_shape, axis):
    """A shape whose axis is replaced by the shape of indices.
    把一个轴换成下标的形状以后的形状。
    """
    return (*shape[:axis], *indices_shape, *shape[axis + 1 :])


def integers(name, indices):
    """Indices or labels as a node of integers.
    把下标或标签变成整数节点。
    """
    node = as_node(indices)
    if node.dtype.kind not in "iu":
        raise TypeError(
            f"{name}: indices must be integers, not {node.dtype}. "
            f"/ {name}：下标必须是整数，而不是 {node.dtype}。"
        )
    return node


def check_indices(name, indices, lowest, length):
    """Raises IndexError unless lowest <= index < length for all indices.
    除非所有下标都满足 lowest <= 下标 < length，否则抛出 IndexError。
    """
    if indices.size and (indices.min() < lowest or indices.max() >= length):
        wrong = indices.max() if indices.max() >= length else indices.min()
        raise IndexError(
            f"{name}: index {wrong} is out of range for length {length}. "
            f"/ {name}：下标 {wrong} 超出长度 {length}。"
        )


# --- Sums and products / 求和与乘积 -------------------------------------------------------------------------


class Reduction(Op):
    """An operation over some axes: sorted numbers from 0.
    沿若干轴的运算；轴已排好序，从 0 数起。
    """

    def __init__(self, axes, keepdims):
        self.axes = axes
        self.keepdims = keepdims


class Sum(Reduction):
    name = "sum"

    def compute(self, a):
        return np.add.reduce(a, axis=self.axes, keepdims=self.keepdims)

    def vjp(self, adjoint, node):
        """Each entry of the input counted once in its sum: it receives the adjoint of that sum.
        输入的每个元素在它所属的和里计了一次：它得到这个和的伴随量。
        """
        (a,) = node.inputs
        kept = reduced_shape(a.shape, self.axes, keepdims=True)
        return (broadcast_to(reshape(adjoint, kept), a.shape),)


def sum(a, axis=None, keepdims=False):
    """The sum over all axes (None), one (an int) or several (a tuple, which may be empty).
    沿全部轴（None）、一个轴（整数）或几个轴（元组，可为空）求和。
    """
    a = as_node(a)
    axes = normal_axes("sum", axis, a.shape)
    dtype = np.add.reduce(np.empty(0, a.dtype)).dtype
    return Node(Sum(axes, keepdims), (a,), reduced_shape(a.shape, axes, keepdims), dtype)


def mean(a, axis=None, keepdims=False):
    """The mean over all axes (None), one (an int) or several (a tuple); NaN over no entries.
    沿全部轴（None）、一个轴（整数）或几个轴（元组）求平均；没有元素时为 NaN。
    """
    a = as_node(a)
    count = math.prod(a.shape[axis] for axis in normal_axes("mean", axis, a.shape))
    return sum(a, axis, keepdims) / float(count)


class Max(Reduction):
    """The greatest entry; equal greatest entries share the adjoint evenly.
    最大的元素；并列最大的元素平分伴随量。
    """

    name = "max"

    def compute(self, a):
        return np.maximum.reduce(a, axis=self.axes, keepdims=self.keepdims)

    def vjp(self, adjoint, node):
        (a,) = node.inputs
        kept = reduced_shape(a.shape, self.axes, keepdims=True)
        greatest = astype(equal(a, reshape(node, kept)), a.dtype)
        shares = reshape(adjoint, kept) / sum(greatest, self.axes, keepdims=True)
        return (where(greatest > 0.0, shares, 0.0),)


def max(a, axis=None, keepdims=False):
    """The greatest entry over all axes (None), one (an int) or several (a tuple).
    沿全部轴（None）、一个轴（整数）或几个轴（元组）取最大元素。
    """
    a = as_node(a)
    axes = normal_axes("max", axis, a.shape)
    if any(a.shape[axis] == 0 for axis in axes):
        raise ValueError(
            f"max: shape {a.shape} has no entries along axes {axes}. "
            f"/ max：形状 {a.shape} 沿轴 {axes} 没有元素。"
        )
    return Node(Max(axes, keepdims), (a,), reduced_shape(a.shape, axes, keepdims), a.dtype)


class MatMul(Op):
    """Products of matrices, which stand in the last two axes; the axes before are equal in both inputs.
    矩阵乘法；矩阵在最后两个轴上，前面的轴在两个输入中相同。
    """

    name = "matmul"
    compute = np.matmul

    def vjp(self, adjoint, node):
        """The adjoints of A and B in C = A B: each is a product of the adjoint and the other factor.
        C = A B 中 A 和 B 的伴随量：各是伴随量与另一个因子的乘积。
        """
        a, b = node.inputs
        return matmul(adjoint, swap_last(b)), matmul(swap_last(a), adjoint)


def matmul(a, b):
    """The product of matrices, by NumPy's rule: a vector counts as one row on the left, one column on the
    right; axes before the last two are batches and broadcast.
    矩阵乘法，遵循 NumPy 的规则：向量在左边当作一行，在右边当作一列；最后两轴以前的轴是批，可以广播。

    reshape makes matrices of vectors and broadcast_to makes batches alike, so that MatMul sees only matrices.
    reshape 把向量变成矩阵，broadcast_to 使批一致，所以 MatMul 只看到矩阵。
    """
    dtype = common_dtype([a, b])
    a, b = astype(a, dtype), astype(b, dtype)
    left = reshape(a, (1, *a.shape)) if a.ndim == 1 else a
    right = reshape(b, (*b.shape, 1)) if b.ndim == 1 else b
    if not (a.ndim and b.ndim) or left.shape[-1] != right.shape[-2]:
        raise ValueError(
            f"matmul: the shapes {a.shape} and {b.shape} do not fit. "
            f"/ matmul：形状 {a.shape} 与 {b.shape} 不相容。"
        )
    batch = broadcast_shape("matmul", [left.shape[:-2], right.shape[:-2]])
    left, right = (broadcast_to(one, batch + one.shape[-2:]) for one in (left, right))
    product = Node(MATMUL, (left, right), (*batch, left.shape[-2], right.shape[-1]), dtype)
    rows = left.shape[-2:-1] if a.ndim > 1 else ()
    columns = right.shape[-1:] if b.ndim > 1 else ()
    return reshape(product, batch + rows + columns)


MATMUL = MatMul()


# --- Softmax and its kin / softmax 及其同类 -----------------------------------------------------------------
# All subtract the greatest entry before they take exp, so that nothing overflows.
# 它们都先减去最大的元素再取 exp，这样不会溢出。


def _greatest(a, axes):
    """What to subtract: the greatest entry along the axes, or the finite number nearest to it."""
    finite = np.finfo(a.dtype)
    return np.minimum(np.maximum.reduce(a, axis=axes, keepdims=True, initial=finite.min), finite.max)


class LogSumExp(Reduction):
    """log(sum(exp(a))): a smooth maximum; -inf where all entries are -inf.
    log(sum(exp(a)))：光滑的最大值；所有元素都是 -inf 时为 -inf。
    """

    name = "logsumexp"

    def compute(self, a):
        top = _greatest(a, self.axes)
        result = np.log(np.add.reduce(np.exp(a - top), axis=self.axes, keepdims=True)) + top
        return result if self.keepdims else np.squeeze(result, self.axes)

    def vjp(self, adjoint, node):
        """The softmax over the same axes tells how much each entry counts. It must not overflow.
        同样那些轴上的 softmax 说明每个元素占多大份额。不可溢出。
        """
        (a,) = node.inputs
        keep = reduced_shape(a.shape, self.axes, True)
        share = exp(a - reshape(node, keep))  # exp(a) / sum(exp(a))，不会溢出
        return (reshape(adjoint, keep) * share,)


def logsumexp(a, axis=None, keepdims=False):
    """log(sum(exp(a))) over all axes (None), one (an int) or several (a tuple).
    沿全部轴（None）、一个轴（整数）或几个轴（元组）求 log(sum(exp(a)))。
    """
    a = as_node(a)
    a = astype(a, common_dtype([a], np.exp))
    axes = normal_axes("logsumexp", axis, a.shape)
    return Node(LogSumExp(axes, keepdims), (a,), reduced_shape(a.shape, axes, keepdims), a.dtype)


class Softmax(Op):
    """exp(a) / sum(exp(a)); zeros where all entries are -inf.
    exp(a) / sum(exp(a))；所有元素都是 -inf 时为零。
    """

    name = "softmax"

    def __init__(self, axes):
        self.axes = axes

    def compute(self, a):
        return shares_of(a, self.axes)

    def vjp(self, adjoint, node):
        weighted = adjoint * node
        return (weighted - node * sum(weighted, self.axes, keepdims=True),)


def shares_of(a, axes):
    """The softmax of an array.
    数组的 softmax。
    """
    weights = np.exp(a - _greatest(a, axes))
    total = np.add.reduce(weights, axis=axes, keepdims=True)
    return weights / np.maximum(total, 1)  # the greatest counts 1, so less means: all are -inf, and 0 / 1


def softmax(a, axis=-1):
    """Positive shares that sum to 1 along an axis, several (a tuple) or all (None).
    沿一个轴、几个轴（元组）或全部轴（None）和为 1 的正数份额。
    """
    a = as_node(a)
    a = astype(a, common_dtype([a], np.exp))
    return Node(Softmax(normal_axes("softmax", axis, a.shape)), (a,), a.shape, a.dtype)


class SoftmaxCrossEntropy(Op):
    """-log(softmax(logits)[label]) for each row of logits.
    对 logits 的每一行求 -log(softmax(logits)[label])。
    """

    name = "softmax_cross_entropy"

    def compute(self, logits, labels):
        check_indices(self.name, labels, 0, logits.shape[-1])
        shifted = logits - _greatest(logits, -1)
        chosen = shifted.reshape(-1, shifted.shape[-1])[np.arange(labels.size), labels.ravel()]
        return np.log(np.add.reduce(np.exp(shifted), axis=-1)) - chosen.reshape(labels.shape)

    def vjp(self, adjoint, node):
        logits = node.inputs[0]
        errors = Node(SOFTMAX_ERROR, node.inputs, logits.shape, logits.dtype)
        return reshape(adjoint, (*node.shape, 1)) * errors, None


class SoftmaxError(Op):
    """The derivative of the cross-entropy by the logits: the softmax, less 1 at the label.
    交叉熵对 logits 的导数：softmax，在标签处减 1。
    """

    name = "softmax_error"

    def compute(self, logits, labels):
        errors = shares_of(logits, -1)
        rows = errors.reshape(-1, errors.shape[-1])
        rows[np.arange(labels.size), labels.ravel()] -= 1
        return errors

    def vjp(self, adjoint, node):
        shares = softmax(node.inputs[0])
        return *shares.op.vjp(adjoint, shares), None


def softmax_cross_entropy(logits, labels):
    """The loss of each row of logits, given its class: -log(softmax(logits)[label]), of labels' shape.
    给定类别，每一行 logits 的损失：-log(softmax(logits)[label])，形状同 labels。

    logits: shape (..., classes). labels: integers of shape (...), from 0. mean makes one loss of a batch.
    logits：形状 (..., 类别数)；labels：形状 (...) 的整数，从 0 起。一批的损失用 mean(...) 得到。
    """
    logits, labels = as_node(logits), integers("softmax_cross_entropy", labels)
    logits = astype(logits, common_dtype([logits], np.exp))
    if logits.ndim == 0 or logits.shape[:-1] != labels.shape:
        raise ValueError(
            f"softmax_cross_entropy: logits {logits.shape} do not fit labels {labels.shape}. "
            f"/ softmax_cross_entropy：logits {logits.shape} 与标签 {labels.shape} 的形状不相容。"
        )
    return Node(SOFTMAX_CROSS_ENTROPY, (logits, labels), labels.shape, logits.dtype)


SOFTMAX_CROSS_ENTROPY, SOFTMAX_ERROR = SoftmaxCrossEntropy(), SoftmaxError()


# --- Walks through the graph / 图的遍历 ---------------------------------------------------------------------


def as_list(nodes):
    """The list of nodes, given one node or a sequence of nodes.
    由一个节点或一列节点得到节点的列表。
    """
    nodes = [nodes] if isinstance(nodes, Node) else list(nodes)
    for node in nodes:
        if not isinstance(node, Node):
            name = type(node).__name__
            raise TypeError(f"expected a Node, not {name}. / 这里需要节点，而不是 {name}。")
    return nodes


def topological_order(outputs):
    """Every node the outputs depend on, and the outputs, each once, inputs before the nodes that use them.
    输出所依赖的所有节点及输出本身，各出现一次，输入排在使用它的节点之前。

    A node is made after its inputs, so the order of creation is such an order.
    节点总是在它的输入之后建成，所以建立的先后就是这样的次序。
    """
    found = set()
    waiting = as_list(outputs)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(node.inputs)
    return sorted(found, key=operator.attrgetter("number"))


def graph_size(outputs):
    """The number of nodes in the graph of the outputs, constants included.
    输出的计算图的节点数，常量也算在内。
    """
    return len(topological_order(outputs))
