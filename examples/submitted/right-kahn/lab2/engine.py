"""Derivatives by graph extension, and the executor that runs a graph on arrays.
用扩展计算图的办法求导，以及用数组运行计算图的执行器。

    x = variable((3,))
    y = sum(x * x * x)
    (g,) = gradients(y, [x])                 # a node: its graph holds y's, and can be differentiated again
    (h,) = hvp(y, [x], [np.ones(3)])
    run = Executor([y, g, h])                # plans once ...
    values = run({x: np.arange(3.0)})        # ... and runs for any feeds

Lab 1's engine computed numbers as it walked (immediate computation). This one adds nodes as it walks (graph
extension), so that a gradient is an ordinary tensor: reusable, differentiable, open to optimisation.
标量实验的引擎边走边算出数值（立即计算）；这里边走边添节点（扩展计算图），所以梯度也是普通的张量：可复用、可再求导、可优化。

Source: Griewank & Walther, Evaluating Derivatives, 2nd ed., SIAM 2008;
Pearlmutter, Fast Exact Multiplication by the Hessian, Neural Computation 6(1), 1994.
"""

import math
import operator

import numpy as np
from graph import (
    BroadcastTo,
    Node,
    as_list,
    as_node,
    astype,
    concatenate,
    constant,
    filled,
    is_float,
    reshape,
    topological_order,
    variable,
    zeros_like,
)

# --- Gradients / 梯度 -------------------------------------------------------------------------------------


def gradients(outputs, inputs, output_gradients=None):
    """The adjoints (伴随量) of the inputs, as new nodes: vᵀ J, by one reverse walk that extends the graph.
    各输入的伴随量，以新节点表示：vᵀ J，反向遍历一次，并把梯度添进计算图。

    outputs: one node or several. inputs: nodes anywhere in the graph. Returns a list in the order of inputs.
    outputs：一个或几个节点；inputs：图中任何位置的节点。按 inputs 的次序返回列表。
    output_gradients: the adjoint of each output, in its shape; may be left out where outputs are scalars: 1.
    output_gradients：每个输出的伴随量，形状与输出相同；输出都是标量时可省略，取 1。
    Each gradient has the shape and dtype of its input; zeros for an input that no output depends on.
    每个梯度的形状和类型与对应的输入相同；没有输出依赖的输入，梯度为零。
    Name of the rule: the chain rule, from users to inputs. A node with several uses (a bypass, 旁路) receives
    several partial adjoints (部分伴随); only their sum travels on. An output may be used by another output,
    be listed twice, or be an input. Cost: one vjp for each node that an adjoint reaches, no recursion.
    所用法则：链式法则，从使用者到输入。被多处使用的节点（旁路）收到几个部分伴随，继续往回传的只能是它们的和。
    一个输出可以被另一个输出使用、列出两次，或本身就是输入。代价：伴随量到达的每个节点调用一次 vjp，不递归。
    """
    outputs, inputs = differentiable(outputs), differentiable(inputs)
    adjoints = starting_adjoints(outputs, output_gradients)
    order = topological_order(outputs)
    users = {node: 0 for node in order}
    for node in order:
        for operand in node.inputs:
            users[operand] += 1
    grads = {}

    def add(node, part):
        grads[node] = grads[node] + part if node in grads else part

    for y, v in zip(outputs, adjoints):
        add(y, v)
    # Kahn 算法，从输出往回：使用者都处理完的节点才能继续
    ready = [node for node in order if users[node] == 0]
    while ready:
        node = ready.pop()
        parts = [None] * len(node.inputs)
        if node.op is not None and node in grads:
            parts = node.op.vjp(grads[node], node)
        for operand, part in zip(node.inputs, parts):
            if part is not None:
                add(operand, part)
            users[operand] -= 1
            if users[operand] == 0:
                ready.append(operand)
    return [grads.get(x, zeros_like(x)) for x in inputs]


def vjp(outputs, inputs, vectors):
    """Vector-Jacobian products vᵀ J, as new nodes: one vector for each output, one result for each input.
    向量-雅可比积 vᵀ J，以新节点表示：每个输出一个向量，每个输入一个结果。
    """
    return gradients(outputs, inputs, vectors)


def jvp(outputs, inputs, tangents):
    """Jacobian-vector products J t, the tangents (切量) of the outputs as the inputs move, as new nodes.
    雅可比-向量积 J t，即输入移动时各输出的切量，以新节点表示。

    tangents: one for each input, in its shape. Returns a list in the order of outputs.
    tangents：每个输入一个，形状与输入相同。按 outputs 的次序返回列表。
    From two vjps: vᵀ J is linear in v, and the vjp of that linear map is J. The values of v never matter, so
    stand-ins for it are never fed.
    由两次 vjp 得到：vᵀ J 对 v 是线性的，这个线性映射的 vjp 就是 J。v 取什么值无关紧要，所以它的替身不必给值。
    Source: Townsend, A new trick for calculating Jacobian vector products, 2017.
    """
    outputs, inputs = differentiable(outputs), differentiable(inputs)
    ones = [filled(1, y.shape, y.dtype) for y in outputs]
    return gradients(gradients(outputs, inputs, ones), ones, tangents)


def hvp(output, inputs, vectors):
    """Hessian-vector products H v of a scalar output, as new nodes: the matrix H itself is never built.
    标量输出的海森-向量积 H v，以新节点表示：并不建立矩阵 H。

    vectors: one for each input, in its shape. Returns a list in the order of inputs: for inputs a and b, the
    first result is H_aa v_a + H_ab v_b.
    vectors：每个输入一个，形状与输入相同。按 inputs 的次序返回列表：
    对 a、b 两个输入，第一个结果是 H_aa v_a + H_ab v_b。
    H is symmetric. Cost: a small multiple of the gradient's, whatever the number of entries.
    H 是对称的。代价是梯度的几倍，与元素个数无关。
    """
    return jvp(gradients(output, inputs), inputs, vectors)


def jacobian(output, input):
    """All derivatives of one tensor by another, as a node of shape output.shape + input.shape.
    一个张量对另一个张量的全部导数，是形状为 output.shape + input.shape 的节点。

    One reverse walk for each entry of the output, each a row: the graph grows with the size of the output.
    输出的每个元素反向遍历一次，得到一行：图的大小随输出的元素个数增长。
    """
    (output,), (input,) = differentiable([output]), differentiable([input])
    shape, columns = output.shape + input.shape, math.prod(input.shape)
    rows = []
    for vector in np.eye(math.prod(output.shape)):
        (row,) = gradients(output, input, vector.reshape(output.shape))
        rows.append(reshape(row, (1, columns)))
    return reshape(concatenate(rows), shape) if rows else filled(0, shape, input.dtype)


def hessian(output, input):
    """All second derivatives of a scalar output, as a node of shape input.shape + input.shape.
    标量输出的全部二阶导数，是形状为 input.shape + input.shape 的节点。
    """
    (gradient,) = gradients(output, input)
    return jacobian(gradient, input)


def differentiable(nodes):
    """The list of nodes, given one or several, which must hold floating-point numbers.
    由一个或几个节点得到列表；它们必须是浮点数。
    """
    nodes = as_list(nodes)
    for node in nodes:
        if not is_float(node):
            raise TypeError(
                f"gradients: only floating-point tensors have any, not {node}. "
                f"/ gradients：只有浮点张量才有梯度，{node} 没有。"
            )
    return nodes


def starting_adjoints(outputs, output_gradients):
    """The adjoints with which the outputs start, as nodes: those given, or 1 for scalars.
    各输出起始的伴随量，以节点表示：用给定的，或对标量取 1。
    """
    if output_gradients is None:
        for output in outputs:
            if output.shape != ():
                raise ValueError(
                    f"gradients: {output} is no scalar and needs an output gradient of its shape. "
                    f"/ gradients：{output} 不是标量，需要给出同样形状的 output_gradients。"
                )
        return [filled(1, (), output.dtype) for output in outputs]
    given = list(output_gradients) if isinstance(output_gradients, (list, tuple)) else [output_gradients]
    if len(given) != len(outputs):
        raise ValueError(
            f"gradients: {len(outputs)} tensors need as many gradients or directions, not {len(given)}. "
            f"/ gradients：{len(outputs)} 个张量需要同样多的梯度或方向，而不是 {len(given)} 个。"
        )
    return [_as_adjoint(output, gradient) for output, gradient in zip(outputs, given)]


def _as_adjoint(output, gradient):
    node = as_node(gradient)
    if node.shape != output.shape:
        raise ValueError(
            f"gradients: {output} needs a gradient or direction of its own shape, not {node.shape}. "
            f"/ gradients：{output} 的梯度或方向必须与它形状相同，而不是 {node.shape}。"
        )
    if isinstance(gradient, Node):
        return astype(node, output.dtype)
    return filled(gradient, output.shape, output.dtype)


# --- Execution / 执行 -------------------------------------------------------------------------------------


class Executor:
    """Runs the graph of some outputs: planned once, then called for any number of feeds.
    运行若干输出的计算图：计划一次，之后可对任意多组输入运行。

    What the outputs need is computed once a run. After its last use an array is let go, or is written over by
    the result that it was used for.
    输出所需的每样东西每次运行只算一次。数组在最后一次使用后就释放，或由那一步的结果直接覆盖。
    The arrays returned are the caller's own: they share memory with no feed, constant or other output.
    返回的数组归调用者所有：不与任何输入、常量或其他输出共享内存。
    backend: "numpy", or "cuda", which computes every node on the device of cuda_ops.py; all else is the same.
    backend："numpy"，或 "cuda"：每个节点都由 cuda_ops.py 的设备计算，其余完全相同。
    device: None with NumPy, else the Device.
    device：用 NumPy 时为 None，否则为 Device 对象。
    """

    def __init__(self, outputs, backend="numpy"):
        self.outputs = as_list(outputs)
        nodes = topological_order(self.outputs)
        self.device = device_of(backend, nodes)
        rule = self.device.rule if self.device else rule_of_numpy
        place = {node: i for i, node in enumerate(nodes)}
        self._constants = [node.value for node in nodes]  # None where there is something to feed or compute
        if self.device:
            self._constants = [a if a is None else self.device.asarray(a) for a in self._constants]
        self._variables = [(place[node], node) for node in nodes if is_variable(node)]
        self._steps = []
        needed = {place[output] for output in self.outputs}
        own = set() if self.device else temporaries(nodes)
        for node in reversed(nodes):  # going backwards, the first use met is the last
            if node.op is not None and place[node] in needed:
                compute, operands = rule(node)
                sources = [place[operand] for operand in operands]
                last_used = set(sources) - needed
                needed.update(sources)
                free = (place[one] for one in operands if one in own and fits(node, one))
                out = next((i for i in free if i in last_used), None)  # where the result may be written
                self._steps.append((compute, fetch(sources), out, place[node], tuple(last_used)))
        self._steps.reverse()
        first = {output: i for i, output in reversed(list(enumerate(self.outputs)))}
        self._returned = [
            (place[output], output.op is None or first[output] < i) for i, output in enumerate(self.outputs)
        ]

    def __call__(self, feeds):
        """The arrays of the outputs. feeds: {variable: array}, each in the variable's shape and dtype.
        各输出的数组。feeds：{变量: 数组}，形状和类型与变量相同。

        Numbers and lists are taken in the variable's dtype. Singular points give inf or NaN, silently.
        数和列表按变量的类型接收。奇异点给出 inf 或 NaN，不发警告。
        """
        arrays = self._constants.copy()
        for i, node in self._variables:
            array = feeds.get(node)
            fits = type(array) is np.ndarray and array.shape == node.shape and array.dtype == node.dtype
            arrays[i] = array if fits else as_feed(node, array)
        if len(feeds) > len(self._variables):
            refuse_other_feeds(feeds)
        if self.device:
            for i, _ in self._variables:
                arrays[i] = self.device.asarray(arrays[i])
        with np.errstate(all="ignore"):
            for compute, operands, out, target, last_used in self._steps:
                if out is None:
                    arrays[target] = compute(*operands(arrays))
                else:
                    arrays[target] = compute(*operands(arrays), out=arrays[out])
                for i in last_used:
                    arrays[i] = None
        if self.device:
            return [self.device.asnumpy(arrays[i]) for i, _ in self._returned]
        return [own_array(arrays[i], is_shared) for i, is_shared in self._returned]


def device_of(backend, nodes):
    """None for "numpy"; for "cuda" the device of cuda_ops.py, which is imported only then.
    "numpy" 返回 None；"cuda" 返回 cuda_ops.py 的设备，这时才导入该模块。
    """
    if backend == "numpy":
        return None
    if backend != "cuda":
        raise ValueError(
            f'there is no backend {backend!r}: "numpy", "cuda". / 没有后端 {backend!r}："numpy"、"cuda"。'
        )
    from cuda_ops import Device, refuse_other_floats

    refuse_other_floats(nodes)
    return Device()


def rule_of_numpy(node):
    """How NumPy computes a node: a function of arrays, and the nodes of its operands.
    NumPy 怎样计算一个节点：一个以数组为参数的函数，以及各操作数的节点。
    """
    return node.op.compute, operands_of(node)


def own_array(array, is_shared):
    """The array of an output; a copy of one that is shared or a view.
    输出的数组；若与别处共享或是视图，则给出副本。
    """
    return np.array(array) if is_shared or array.base is not None else np.asarray(array)


def fetch(places):
    """A function from a list to the entries at some places: faster than a loop, and called for every step.
    从列表取出若干位置上的元素的函数：比循环快，而每一步都要调用。
    """
    one = len(places) == 1
    return operator.itemgetter(slice(places[0], places[0] + 1)) if one else operator.itemgetter(*places)


def is_ufunc(node):
    """Whether a node is computed by a function of NumPy's own, which broadcasts and never returns a view.
    节点是否由 NumPy 自己的函数计算；这种函数会广播，也从不返回视图。
    """
    return node.op is not None and isinstance(node.op.compute, np.ufunc)


def operands_of(node):
    """The nodes whose arrays an operation reads: NumPy's functions broadcast by themselves.
    运算要读取其数组的节点：NumPy 的函数自己会广播。
    """
    whole = [operand for operand in node.inputs if type(operand.op) is not BroadcastTo]
    if is_ufunc(node) and whole:
        return [operand if operand in whole else operand.inputs[0] for operand in node.inputs]
    return node.inputs


def temporaries(nodes):
    """The nodes whose arrays may be written over after their last use: nobody else has their memory.
    用完以后可以覆盖其数组的节点：没有别人在用它们的内存。

    What another operation has read may live on in a view; a result of shape () is a number and no array.
    被其他运算读过的数组，可能还有视图在用；形状为 () 的结果是数，不是数组。
    """
    viewed = {operand for node in nodes if not is_ufunc(node) for operand in node.inputs}
    return {node for node in nodes if is_ufunc(node) and node.shape} - viewed


def fits(node, operand):
    """Whether a node is computed entry by entry and its array can take the place of an operand's.
    节点是否逐元素计算，且它的数组可以放在操作数的位置上。
    """
    is_elementwise = is_ufunc(node) and node.op.compute.signature is None
    return is_elementwise and node.shape == operand.shape and node.dtype == operand.dtype


def is_variable(node):
    """Whether a node is fed, rather than constant or computed.
    节点是否由输入给出，而不是常量或算出来的。
    """
    return node.op is None and node.value is None


def as_feed(node, value):
    """A value as the array of a variable: in its shape and dtype, or refused.
    把一个值变成变量的数组：形状和类型必须相符，否则拒绝。
    """
    if value is None:
        raise ValueError(f"{node} is needed and was not fed. / 需要 {node}，却没有给出。")
    array = np.asarray(value)
    if not isinstance(value, (np.ndarray, np.generic)) and np.can_cast(array.dtype, node.dtype, "same_kind"):
        array = array.astype(node.dtype)
    if array.shape != node.shape or array.dtype != node.dtype:
        raise (ValueError if array.shape != node.shape else TypeError)(
            f"{node} was fed {array.dtype} {array.shape}. / 给 {node} 的是 {array.dtype} {array.shape}。"
        )
    return array


def refuse_other_feeds(feeds):
    """Raises TypeError if anything but a variable is fed.
    若给变量以外的东西输入数组，则抛出 TypeError。
    """
    for node in feeds:
        if not (isinstance(node, Node) and is_variable(node)):
            raise TypeError(f"only variables can be fed, not {node!r}. / 只能给变量输入，而不是 {node!r}。")


def immediate_gradients(output, inputs, feeds):
    """Lab 1's way, for comparison: the gradients of a scalar output as arrays, computed while walking.
    标量实验的做法，供比较：边走边算，得到标量输出的梯度数组。

    The rules are the same; each is run at once on constants, and its nodes are thrown away. What is left are
    numbers without a graph, so they cannot be differentiated again.
    规则完全相同，只是每条规则立即在常量上算出，其节点随即丢弃。剩下的是没有图的数值，不能再求导。
    """
    (output,), inputs = differentiable(output), differentiable(inputs)
    (start,) = starting_adjoints([output], None)
    nodes = topological_order(output)
    node_to_array = dict(zip(nodes, Executor(nodes)(feeds)))
    node_to_grad = {node: np.zeros(node.shape, node.dtype) for node in [*nodes, *inputs]}
    node_to_grad[output] = np.array(start.value)
    for node in reversed(nodes):
        if node.op is None:
            continue
        operands = [constant(node_to_array[operand]) for operand in node.inputs]
        here = Node(node.op, operands, node.shape, node.dtype)
        for operand, partial in zip(node.inputs, node.op.vjp(constant(node_to_grad[node]), here)):
            if partial is not None:
                node_to_grad[operand] = node_to_grad[operand] + Executor(partial)({})[0]
    return [node_to_grad[node] for node in inputs]
