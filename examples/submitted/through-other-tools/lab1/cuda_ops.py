"""The graph of graph.py, evaluated at many points at once by the kernels of kernels.cu.
用 kernels.cu 里的核函数，一次在许多点上对 graph.py 的计算图求值、求导。

    x1, x2 = variable(2.0), variable(5.0)
    y = log(x1) + x1 * x2 - sin(x2)
    evaluator = DeviceEvaluator(y, [x1, x2])
    evaluator.value([[2, 5], [1, 3]])        # float32, shape (2,): 11.652..., 2.858...
    evaluator.gradient([[2, 5], [1, 3]])     # float32, shape (2, 2); the first row is 5.5, 1.716...

The device is a GPU where there is one, else this computer's processor (see labkit.cuda). Either way the same
kernels run, and compute in float32.
有 GPU 时，设备就是 GPU；没有时就是本机的处理器（见 labkit.cuda）。
两种情况下运行的是同样的核函数，都用 float32 计算。
"""

from pathlib import Path

import numpy as np
from graph import as_list, topological_order

from labkit import cuda

BLOCK = 256  # threads in a block; any multiple of 32 up to 1024 will do
# The kernels of an operation are called NAME_forward and NAME_backward.
# 一个运算的两个核函数叫 NAME_forward 和 NAME_backward。
KERNELS = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "**": "power",
    "neg": "negate",
    "exp": "exp",
    "log": "log",
    "sin": "sin",
    "cos": "cos",
    "tanh": "tanh",
}


def launch_configuration(n, block):
    """The grid and block of a launch with a thread for each of n points: ((blocks,), (threads in a block,)).
    为 n 个点各配一个线程的启动配置：((块数,), (每块线程数,))。

    n: an int, 0 or more. block: the threads in a block, an int from 1 to 1024. All four numbers are ints.
    n：整数，不小于 0；block：每块的线程数，1 到 1024 的整数。返回的都是整数。
    The grid has as few blocks as are enough for n threads, but at least one: CUDA refuses a grid of none.
    块数取够用的最小值，但至少一块：CUDA 不接受没有块的网格。
    Name of the formula: division rounded up (向上取整的除法).
    """
    if n < 0 or not 1 <= block <= 1024:
        raise ValueError(
            f"{n} points in blocks of {block} can't be launched: n must be 0 or more, block 1 to 1024. "
            f"/ {n} 个点、每块 {block} 个线程无法启动：n 不能为负，block 应在 1 到 1024 之间。"
        )
    return (max(1, (n + block - 1) // block),), (block,)


class DeviceEvaluator:
    """A graph of scalars at N points at once, forward and backward: one launch for each operation.
    在 N 个点上同时正向、反向计算一张标量计算图：每个运算启动一次核函数。

    output: a node. inputs: variables, whose values differ from point to point. All other leaves (constants
    and other variables, the parameters) keep the value they were made with, the same at all points.
    output：一个节点；inputs：随点变化的变量。其余的叶节点（常量和别的变量，即参数）保持建立时的值，
    对所有点都一样。
    points: numbers, shape (N, inputs). They are rounded to float32, and so is every result.
    points：形状 (N, 输入个数) 的数，舍入为 float32；所有结果也是 float32。
    backend: as for labkit.cuda.RawModule; with "cpu-check", `evaluator.module.reports` lists what went wrong.
    backend：同 labkit.cuda.RawModule；取 "cpu-check" 时，`evaluator.module.reports` 列出发现的问题。
    """

    def __init__(self, output, inputs, backend="auto"):
        self._output = output
        self._inputs = as_list(inputs)
        self._column_of = {node: column for column, node in enumerate(self._inputs)}
        self._order = topological_order(output)
        if any(node.inputs for node in self._column_of):
            raise TypeError(
                "the inputs must be variables, not results of operations. "
                "/ inputs 必须是变量，不能是运算的结果。"
            )
        if any(isinstance(node.value, dict) for node in self._order):
            raise TypeError(
                "a table stays on the host: only graphs of numbers run on the device, without lookup. "
                "/ 表不能放到设备上：设备上只能算由数组成的图，不能有 lookup。"
            )
        self.module = cuda.RawModule(path=str(Path(__file__).with_name("kernels.cu")), backend=backend)

    def value(self, points):
        """The output at each point: float32, shape (N,).
        输出在每个点的值：float32，形状 (N,)。
        """
        points = self._checked(points)
        value = cuda.asnumpy(self._forward(points)[self._output])
        return np.array(np.broadcast_to(value, len(points)))

    def gradient(self, points):
        """The derivatives of the output by the inputs, a row for each point: float32, shape (N, inputs).
        输出对各输入的导数，每个点一行：float32，形状 (N, 输入个数)。
        """
        points = self._checked(points)
        adjoints = self._backward(points)
        gradient = np.zeros(points.shape, np.float32)
        for column, node in enumerate(self._inputs):
            if node in adjoints:
                gradient[:, column] = cuda.asnumpy(adjoints[node])
        return gradient

    def parameter_gradient(self, points, parameters):
        """The derivatives of the output, summed over all points, by parameters: float32, shape (parameters,).
        输出对所有点求和后，对各参数的导数：float32，形状 (参数个数,)。

        This is the gradient that trains a network: every point of a batch uses the same weights.
        训练网络用的就是这个梯度：一批数据的每个点都用同样的权重。
        """
        points = self._checked(points)
        adjoints = self._backward(points)
        parameters = as_list(parameters)
        if any(node.inputs or node in self._column_of for node in parameters):
            raise TypeError(
                "a parameter is a variable that is not among the inputs. / 参数是 inputs 之外的变量。"
            )
        sums = [cuda.asnumpy(adjoints[node])[0] if node in adjoints else 0.0 for node in parameters]
        return np.array(sums, np.float32)

    def _forward(self, points):
        """The values of all nodes, {node: array on the device}: shape (N,), or (1,) where points share one.
        所有节点的值 {节点: 设备上的数组}：形状 (N,)；各点共用一个值时为 (1,)。
        """
        values = {}
        for node in self._order:
            if node in self._column_of:
                values[node] = cuda.asarray(np.ascontiguousarray(points[:, self._column_of[node]]))
            elif self._is_shared(node):
                values[node] = cuda.asarray(np.array([node.value], np.float32))
            else:
                values[node] = cuda.empty(len(points), np.float32)
                self._launch(node, "forward", [values[node]], values, len(points))
        return values

    def _backward(self, points):
        """The adjoints of all nodes, in their values' shapes; those of parameters are sums over the points.
        所有节点的伴随量，形状与值相同；参数的伴随量是对所有点求和的结果。
        """
        values = self._forward(points)
        adjoints = {node: cuda.zeros(self._shape(node, len(points)), np.float32) for node in self._order}
        seed = np.ones(len(points), np.float32)
        if self._is_shared(self._output):
            seed = seed.sum(keepdims=True)
        adjoints[self._output] = cuda.asarray(seed)
        for node in reversed(self._order):
            if node.inputs:
                arguments = [values[node], adjoints[node], *(adjoints[operand] for operand in node.inputs)]
                self._launch(node, "backward", arguments, values, len(points))
        return adjoints

    def _launch(self, node, direction, arguments, values, n):
        """Launch a kernel of a node's operation: its operands with their strides, then the arguments, then n.
        启动节点所属运算的一个核函数：先是各操作数和步长，再是 arguments，最后是 n。
        """
        kernel = self.module.get_function(f"{KERNELS[node.op.name]}_{direction}")
        operands = []
        for operand in node.inputs:
            operands += [values[operand], np.int32(0 if self._is_shared(operand) else 1)]
        kernel(*launch_configuration(n, BLOCK), (*operands, *arguments, np.int32(n)))

    def _is_shared(self, node):
        """Whether all points share one value of the node.
        是否所有点共用该节点的一个值。
        """
        return not node.inputs and node not in self._column_of

    def _shape(self, node, n):
        return 1 if self._is_shared(node) else n

    def _checked(self, points):
        points = np.asarray(points, np.float32)
        if points.ndim != 2 or points.shape[1] != len(self._inputs):
            raise ValueError(
                f"points must have the shape (N, {len(self._inputs)}), not {points.shape}. "
                f"/ points 的形状必须是 (N, {len(self._inputs)})，而不是 {points.shape}。"
            )
        return points
