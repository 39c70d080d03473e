"""The device backend of Executor: the operations of a graph by the kernels of kernels.cu.
Executor 的设备后端：用 kernels.cu 里的核函数完成计算图的各个运算。

    run = Executor([loss, *gradients(loss, weights)], backend="cuda")
    values = run(feeds)                      # NumPy arrays, as from the NumPy backend
    run.device.fallbacks                     # which operations had no kernel, and how often NumPy helped

Arrays stay on the device from the feeds to the outputs. An operation without a kernel is computed by NumPy:
its operands are copied to the host and its result back, which is slow, and `fallbacks` counts it.
从输入到输出，数组一直在设备上。没有核函数的运算由 NumPy 计算：
操作数拷回主机，结果再拷到设备，这很慢，`fallbacks` 会计数。
Floats on the device are float32, and a graph of others is refused. The device is a GPU where there is one,
else this computer's processor (see labkit.cuda).
设备上的浮点数都是 float32，其他浮点类型的图会被拒绝。
有 GPU 时，设备就是 GPU；没有时就是本机的处理器（见 labkit.cuda）。
"""

import math
import tomllib
from collections import Counter
from pathlib import Path

import numpy as np

from labkit import cuda

BLOCKS = {1: (256,), 2: (16, 16)}  # threads in a block, by axes; kernels.cu relies on 16 x 16, its TILE
ELEMENTWISE = {
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "chain",
    "negative",
    "exp",
    "log",
    "sin",
    "cos",
}
ELEMENTWISE |= {"tanh", "sqrt", "abs", "greater", "less", "equal", "where"}
# The kernels that operators.toml may replace, and the names of what they are given.
# 可以用 operators.toml 替换的核函数，以及它们的参数的名字。
OPERATORS = {
    "matmul": ("a", "b", "v", "rows", "inner", "columns"),
    "transpose": ("a", "v", "rows", "columns"),
    "relu": ("a", "v", "n"),
    "softmax": ("a", "v", "rows", "columns"),
}
AXES = {"matmul": 2, "transpose": 2, "relu": 1, "softmax": 1}


class Device:
    """Where a graph runs: device arrays, the kernels that compute on them, and a rule for every node.
    计算图运行的地方：设备上的数组、在其上计算的核函数，以及每个节点的算法。

    backend: as for labkit.cuda.RawModule. folder: where kernels.cu lies, and operators.toml if there is one.
    backend：同 labkit.cuda.RawModule；folder：kernels.cu 所在的文件夹，operators.toml 若有也在这里。
    fallbacks: {name of an operation: how often NumPy computed it}.
    fallbacks：{运算的名字：由 NumPy 计算的次数}。
    """

    def __init__(self, backend="auto", folder=None):
        folder = Path(folder or Path(__file__).parent)
        self._given = cuda.RawModule(path=str(folder / "kernels.cu"), backend=backend)
        self._modules = [self._given]
        self._own = {}  # name: (kernel, names of its arguments, block), from operators.toml
        for name, operator in read_operators(folder).items():
            module = cuda.RawModule(path=str(folder / operator["file"]), backend=backend)
            self._modules.append(module)
            kernel = module.get_function(operator["kernel"])
            self._own[name] = kernel, operator["arguments"], operator["block"]
        self.fallbacks = Counter()

    asarray, asnumpy = staticmethod(cuda.asarray), staticmethod(cuda.asnumpy)

    @property
    def reports(self):
        """What the checked mode found in any kernel so far, as a list.
        检查模式到目前为止在各核函数中发现的问题，列表。
        """
        return [report for module in self._modules for report in module.reports]

    def launch(self, name, threads, **arguments):
        """Launch a kernel with at least so many threads along each axis, one axis or two.
        启动一个核函数，每个轴（一个或两个）上至少有这么多线程。

        arguments: by their names, in the order of the given kernel; device arrays and ints.
        arguments：带名字，按已给核函数的次序；设备数组和整数。
        """
        if name in self._own:
            kernel, names, block = self._own[name]
            arguments = {one: arguments[one] for one in names}
        else:
            kernel, block = self._given.get_function(name), BLOCKS[len(threads)]
        grid = tuple(max(1, -(-count // size)) for count, size in zip(threads, block))
        kernel(grid, block, tuple(arguments.values()))

    # --- Operations on device arrays / 设备数组上的运算 ---------------------------------------------------

    def matmul(self, a, b):
        """The product A B of two matrices, (M, K) and (K, N): shape (M, N).
        两个矩阵的乘积 A B，形状 (M, K) 与 (K, N)：结果形状 (M, N)。
        """
        (rows, inner), columns = a.shape, b.shape[1]
        product = cuda.empty((rows, columns), np.float32)
        self.launch("matmul", (columns, rows), a=a, b=b, v=product, rows=rows, inner=inner, columns=columns)
        return product

    def transpose(self, a):
        """The transpose Aᵀ of a matrix (M, N): a new array of shape (N, M).
        矩阵 (M, N) 的转置 Aᵀ：形状 (N, M) 的新数组。
        """
        rows, columns = a.shape
        turned = cuda.empty((columns, rows), np.float32)
        self.launch("transpose", (columns, rows), a=a, v=turned, rows=rows, columns=columns)
        return turned

    def left_adjoint(self, adjoint, right):
        """The adjoint of A in C = A B, given the adjoint of C and B, as a new device array.
        C = A B 中 A 的伴随量，由 C 的伴随量和 B 得到，是设备上的新数组。

        adjoint: (M, N), right: B, (K, N); result: (M, K). All are matrices on the device; none is changed.
        adjoint：(M, N)；right：B，(K, N)；结果：(M, K)。都是设备上的矩阵，都不改动。
        """
        return self.matmul(adjoint, self.transpose(right))

    def right_adjoint(self, left, adjoint):
        """The adjoint of B in C = A B, given A and the adjoint of C, as a new device array.
        C = A B 中 B 的伴随量，由 A 和 C 的伴随量得到，是设备上的新数组。

        left: A, (M, K), adjoint: (M, N); result: (K, N). All are matrices on the device; none is changed.
        left：A，(M, K)；adjoint：(M, N)；结果：(K, N)。都是设备上的矩阵，都不改动。
        """
        return self.matmul(self.transpose(left), adjoint)

    def column_sum(self, a):
        """The sum of each column of a matrix (M, N): shape (N,).
        矩阵 (M, N) 每一列的和：形状 (N,)。
        """
        rows, columns = a.shape
        sums = cuda.empty(columns, np.float32)
        self.launch("column_sum", (columns,), a=a, v=sums, rows=rows, columns=columns)
        return sums

    def broadcast(self, a, repeats, inner, shape):
        """Each stretch of `inner` entries of an array, `repeats` times, in a new shape.
        数组中每 inner 个元素为一段，每段重复 repeats 次，排成新形状。
        """
        whole = cuda.empty(shape, np.float32)
        self.launch("broadcast", (whole.size,), a=a, v=whole, repeats=repeats, inner=inner, n=whole.size)
        return whole

    def relu(self, a):
        """max(a, 0), entry by entry.
        逐元素的 max(a, 0)。
        """
        result = cuda.empty(a.shape, np.float32)
        self.launch("relu", (a.size,), a=a, v=result, n=a.size)
        return result

    def softmax(self, a):
        """The softmax of each row of a matrix.
        矩阵每一行的 softmax。
        """
        rows, columns = a.shape
        shares = cuda.empty(a.shape, np.float32)
        self.launch("softmax", (rows,), a=a, v=shares, rows=rows, columns=columns)
        return shares

    # --- Nodes / 节点 -------------------------------------------------------------------------------------

    def product(self, node):
        """How a product of two matrices is computed: a function of device arrays, and its operands' nodes.
        两个矩阵的乘积怎样计算：一个以设备数组为参数的函数，以及它的操作数的节点。

        node: a matmul node with two axes. A plain product is (self.matmul, node.inputs). The two products in
        the vjp of MatMul are left_adjoint and right_adjoint, which take a matrix as it was before it was
        transposed. What isn't named as an operand is not computed. See is_transposed.
        node：有两个轴的 matmul 节点。普通的乘积是 (self.matmul, node.inputs)。MatMul 的 vjp 里的两个乘积
        由 left_adjoint 和 right_adjoint 计算，它们要的是转置以前的矩阵。没有列为操作数的节点就不会被计算。
        见 is_transposed。
        """
        left, right = node.inputs
        if is_transposed(left):
            return self.right_adjoint, (left.inputs[0], right)
        if is_transposed(right):
            return lambda g, b: self.left_adjoint(g, b), (left, right.inputs[0])
        return self.matmul, (left, right)

    def rule(self, node):
        """How a node is computed here: a function of device arrays, and the nodes of its operands.
        一个节点在这里怎样计算：一个以设备数组为参数的函数，以及各操作数的节点。
        """
        rule = RULES.get(node.op.name)
        wanted = DTYPES.get(node.op.name, [np.float32] * len(node.inputs))
        if rule and all(one.dtype == dtype for one, dtype in zip(node.inputs, wanted)):
            found = rule(self, node)
            if found:
                return found
        return self._by_numpy(node), node.inputs

    def _by_numpy(self, node):
        """What stands in for a missing kernel: NumPy on copies, counted.
        代替缺少的核函数：用 NumPy 在副本上计算，并计数。
        """

        def compute(*arrays):
            self.fallbacks[node.op.name] += 1
            return cuda.asarray(node.op.compute(*map(cuda.asnumpy, arrays)))

        return compute

    def _elementwise(self, node):
        name, shape, dtype, n = f"elementwise_{node.op.name}", node.shape, node.dtype, math.prod(node.shape)

        def compute(*operands):
            result = cuda.empty(shape, dtype)
            self.launch(name, (n,), **dict(zip(("first", "second", "third"), operands)), v=result, n=n)
            return result

        return compute, node.inputs

    def _relu(self, node):
        return self.relu, node.inputs

    def _reshape(self, node):
        shape = node.shape
        return lambda a: a.reshape(shape), node.inputs

    def _broadcast_to(self, node):
        """Where the axes that repeat lie side by side.
        适用于重复的轴彼此相邻的情形。
        """
        shape, (a,) = node.shape, node.inputs
        before = (1,) * (len(shape) - a.ndim) + a.shape
        repeated = [axis for axis in range(len(shape)) if before[axis] != shape[axis]]
        first, end = (repeated[0], repeated[-1] + 1) if repeated else (0, 0)
        if any(length != 1 for length in before[first:end]):
            return None
        repeats, inner = math.prod(shape[first:end]), math.prod(shape[end:])
        return lambda a: self.broadcast(a, repeats, inner, shape), node.inputs

    def _transpose(self, node):
        return (self.transpose, node.inputs) if is_transposed(node) else None

    def _matmul(self, node):
        return self.product(node) if node.ndim == 2 else None

    def _sum(self, node):
        """Over the first axes; or over the last ones, which come first in the transpose.
        沿最前面的几个轴；或最后面的几个轴，它们在转置中就是最前面的。
        """
        (a,), axes, shape = node.inputs, node.op.axes, node.shape
        summed, kept = math.prod(a.shape[axis] for axis in axes), math.prod(shape)
        if axes == tuple(range(len(axes))):
            return lambda a: self.column_sum(a.reshape((summed, kept))).reshape(shape), node.inputs
        if axes == tuple(range(a.ndim - len(axes), a.ndim)):
            return (
                lambda a: self.column_sum(self.transpose(a.reshape((kept, summed)))).reshape(shape),
                node.inputs,
            )
        return None

    def _softmax(self, node):
        shape = node.shape
        if node.op.axes != (len(shape) - 1,):
            return None
        rows = (math.prod(shape[:-1]), shape[-1])
        return lambda a: self.softmax(a.reshape(rows)).reshape(shape), node.inputs

    def _labelled(self, node):
        """The cross-entropy or its derivative: a thread for each row of logits.
        交叉熵或其导数：logits 的每一行一个线程。
        """
        name, shape, labels = node.op.name, node.shape, node.inputs[1]
        rows, columns = math.prod(labels.shape), node.inputs[0].shape[-1]

        def compute(logits, labels):
            result = cuda.empty(shape, np.float32)
            self.launch(name, (rows,), a=logits, labels=labels, v=result, rows=rows, columns=columns)
            return result

        return compute, node.inputs


def is_transposed(node):
    """Whether a node is the transpose of a matrix.
    节点是否为某个矩阵的转置。
    """
    return node.op is not None and node.op.name == "transpose" and node.op.axes == (1, 0)


def refuse_other_floats(nodes):
    """Raises TypeError if a node holds floats that are not float32.
    若有节点的浮点数不是 float32，则抛出 TypeError。
    """
    for node in nodes:
        if node.dtype.kind == "f" and node.dtype != np.float32:
            raise TypeError(
                f"the device computes in float32 alone, not {node}: build the graph in float32. "
                f"/ 设备只用 float32 计算，不能用于 {node}：请用 float32 建图。"
            )


# The rule of an operation, by its name; None from a rule means that it doesn't fit this node.
# 各运算的算法，按名字查找；算法返回 None 表示不适用于该节点。
RULES = {
    **dict.fromkeys(ELEMENTWISE, Device._elementwise),
    "relu": Device._relu,
    "reshape": Device._reshape,
    "broadcast_to": Device._broadcast_to,
    "transpose": Device._transpose,
    "matmul": Device._matmul,
    "sum": Device._sum,
    "softmax": Device._softmax,
    "softmax_cross_entropy": Device._labelled,
    "softmax_error": Device._labelled,
}
# The dtypes of operands, where not all are float32.
# 操作数的类型（不全是 float32 的运算）。
DTYPES = {
    "where": (bool, np.float32, np.float32),
    "softmax_cross_entropy": (np.float32, np.int64),
    "softmax_error": (np.float32, np.int64),
}


# --- Your own kernels / 换成自己的核函数 -----------------------------------------------------------------


def read_operators(folder):
    """The table operators.toml of a folder, checked: {name: {"file", "kernel", "arguments", "block"}}.
    文件夹里 operators.toml 的表，已检查：{名字: {"file", "kernel", "arguments", "block"}}。

        [matmul]
        file = "mine.cu"
        kernel = "my_matmul"
        arguments = ["a", "b", "v", "rows", "inner", "columns"]
        block = [16, 16]

    Names and arguments: see OPERATORS; arguments stand in the order in which the kernel takes them.
    block: threads along columns and rows. There is a thread for each entry of v; of softmax, for each row.
    名字和参数见 OPERATORS；arguments 按核函数接收的次序排列；block 是列方向和行方向的线程数。
    v 的每个元素一个线程；softmax 是每行一个线程。
    Without the file, {}. Raises ValueError for what is wrong in it, FileNotFoundError for a missing .cu file.
    没有这个文件则返回 {}。内容有误抛出 ValueError；所指的 .cu 文件不存在则抛出 FileNotFoundError。
    """
    path = Path(folder) / "operators.toml"
    if not path.exists():
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"operators.toml: {error} / operators.toml：无法解析：{error}") from None
    return {name: _operator(name, entry, path.parent) for name, entry in table.items()}


def _operator(name, entry, folder):
    """One entry of operators.toml, with its block as a tuple."""
    where = f"operators.toml [{name}]"
    if name not in OPERATORS:
        known = ", ".join(OPERATORS)
        raise ValueError(f"{where}: there is no such operator, only {known}. / 没有这个运算，只有 {known}。")
    keys = ["file", "kernel", "arguments", "block"]
    if not isinstance(entry, dict) or sorted(entry) != sorted(keys):
        wanted = ", ".join(keys)
        raise ValueError(f"{where}: it needs just {wanted}. / 需要且只需要 {wanted}。")
    file, kernel, arguments, block = (entry[key] for key in keys)
    if not all(isinstance(text, str) and text for text in (file, kernel)):
        raise ValueError(f"{where}: file and kernel are texts. / file 和 kernel 应为字符串。")
    if not isinstance(arguments, list) or any(one not in OPERATORS[name] for one in arguments):
        known = ", ".join(OPERATORS[name])
        raise ValueError(f"{where}: arguments is a list of {known}. / arguments 是由 {known} 组成的列表。")
    if len(set(arguments)) < len(arguments) or "v" not in arguments:
        raise ValueError(f"{where}: arguments names v, and nothing twice. / arguments 必须有 v，且不能重复。")
    sizes = block if isinstance(block, list) else [block]
    whole = all(type(size) is int and size > 0 for size in sizes)
    if len(sizes) != AXES[name] or not whole or math.prod(sizes) > 1024:
        count = AXES[name]
        raise ValueError(
            f"{where}: block has {count} whole numbers, with a product up to 1024. "
            f"/ block 是 {count} 个正整数，乘积不超过 1024。"
        )
    if not (folder / file).is_file():
        raise FileNotFoundError(f"{where}: there is no file {file} beside it. / 旁边没有文件 {file}。")
    return {"file": file, "kernel": kernel, "arguments": arguments, "block": tuple(sizes)}
