"""Derivatives three ways: by finite differences, in forward mode, in reverse mode.
求导的三种办法：有限差分、前向模式、反向模式。

Differences only call the function. The two modes walk its computation graph and apply the chain rule with
each operation's local derivatives. Both compute numbers as they go (immediate computation) and add no node.
差分只调用函数；两种模式则遍历计算图，用每个运算的局部导数施行链式法则，边走边算出数值（立即计算），不添节点。

Source: Griewank & Walther, Evaluating Derivatives, 2nd ed., SIAM 2008, chapter 3;
Baydin et al., Automatic Differentiation in Machine Learning, JMLR 18(153), 2018, sections 2.1, 3.1, 3.2.
"""

import numpy as np
from graph import Entries, as_list, topological_order

# --- Finite differences / 有限差分 ------------------------------------------------------------------------


def forward_difference(f, x, h=None):
    """The gradient by (f(x + h e_i) - f(x)) / h for each i, and how often f was called. Error of order h.
    对每个 i 用 (f(x + h e_i) - f(x)) / h 求梯度，并给出 f 的调用次数。误差为 h 的一阶。

    f: vector of N -> number; x: float32 or float64, shape (N,). Returns (gradient, N + 1), gradient like x.
    f：N 维向量 -> 数；x：float32 或 float64，形状 (N,)。返回 (梯度, N + 1)，梯度的类型和形状同 x。
    f gets a fresh copy of x in every call, so it may write into its argument.
    每次调用 f 都给它一份新的 x，所以 f 可以改写自己的参数。
    """
    x = as_vector(x)
    steps = step_sizes(x, h, exponent=1 / 2)
    gradient = np.empty_like(x)
    here = f(x.copy())
    for i, step in enumerate(steps):
        ahead = x.copy()
        ahead[i] += step
        gradient[i] = (f(ahead) - here) / step
    return gradient, len(x) + 1


def central_difference(f, x, h=None):
    """The gradient by the central difference quotient, and how often f was called. Error of order h**2.
    用中心差商求梯度，并给出 f 的调用次数。误差为 h 的二阶。

    f: vector of N -> number; x: float32 or float64, shape (N,). Returns (gradient, 2 N), gradient like x.
    f：N 维向量 -> 数；x：float32 或 float64，形状 (N,)。返回 (梯度, 2 N)，梯度的类型和形状同 x。
    The step goes by the whole h to either side (as_vector and step_sizes help; here the exponent is 1/3).
    向两侧各走一整步 h（可用 as_vector 和 step_sizes，这里 exponent 取 1/3）。
    f gets a fresh copy of x in every call, so it may write into its argument.
    每次调用 f 都给它一份新的 x，所以 f 可以改写自己的参数。
    """
    x = as_vector(x)
    steps = step_sizes(x, h, exponent=1 / 3)
    gradient = np.empty_like(x)
    count = 0
    for i in range(x.size):
        values = []
        for sign in (1, -1):
            point = x.copy()
            point[i] += sign * steps[i]
            values.append(f(point))
            count += 1
        gradient[i] = (values[0] - values[1]) / (2 * steps[i])  # 中心差商，误差 O(h^2)
    return gradient, count


def as_vector(x):
    """x as a float32 or float64 array of shape (N,); anything else is refused.
    把 x 变成 float32 或 float64、形状 (N,) 的数组；其他一律拒绝。
    """
    x = np.asarray(x)
    if x.ndim != 1 or x.dtype not in (np.float32, np.float64):
        raise TypeError(
            f"x must be a float32 or float64 vector, not {x.dtype} of shape {x.shape}. "
            f"/ x 必须是 float32 或 float64 的向量，而不是形状 {x.shape} 的 {x.dtype}。"
        )
    return x


def step_sizes(x, h, exponent):
    """One step for each entry of x, in x's dtype: h if given, else about eps ** exponent * max(1, |x_i|).
    x 的每个分量一个步长，类型同 x：给了 h 就用 h，否则约为 eps ** exponent * max(1, |x_i|)。

    A larger step costs truncation error, a smaller one cancellation; these exponents balance the two.
    步长大则截断误差大，步长小则相消误差大；这样的指数使两者平衡。
    Source: Press et al., Numerical Recipes, 3rd ed., 2007, section 5.7.
    """
    if h is not None:
        if not h > 0:
            raise ValueError(f"the step h must be positive, not {h}. / 步长 h 必须为正，而不是 {h}。")
        return np.full_like(x, h)
    steps = (np.finfo(x.dtype).eps ** exponent * np.maximum(1, np.abs(x))).astype(x.dtype)
    return (x + steps) - x  # the step that x + step really makes after rounding


# --- The two modes / 两种模式 -----------------------------------------------------------------------------


def forward_mode(outputs, inputs, direction):
    """The tangents (切量) of the outputs as the inputs move in a direction, J v: one pass for all outputs.
    输入沿某方向变化时各输出的切量：J v，一次前向遍历得到所有输出。

    outputs: one or K nodes. inputs: N nodes. direction: N numbers (a dict for a table).
    outputs：一个或 K 个节点；inputs：N 个节点；direction：N 个数（表则是字典）。
    Returns a list of K tangents, in the order of outputs.
    返回 K 个切量的列表，次序同 outputs。
    Name of the rule: the chain rule, from inputs to users. node_to_tangent begins with the inputs that move.
    所用法则：链式法则，从输入到使用者。node_to_tangent 起初只有变化的输入。
    A node that depends on none of them contributes nothing, even where the local derivative is NaN: the 3 in
    x ** 3 at x < 0. An output like that has the tangent 0.0.
    不依赖它们的节点不作贡献，即使局部导数是 NaN：例如 x < 0 时 x ** 3 中的 3。这样的输出，切量为 0.0。
    """
    node_to_tangent = starting_tangents(inputs, direction)
    outputs = as_list(outputs)
    for node in topological_order(outputs):
        if node.op is None or node in node_to_tangent:
            continue
        partials = node.op.partials(node.input_values, node.value)
        terms = [p * node_to_tangent[u] for u, p in zip(node.inputs, partials) if u in node_to_tangent]
        if terms:
            node_to_tangent[node] = sum(terms)
    return [node_to_tangent.get(node, 0.0) for node in outputs]


def reverse_mode(output, seed=1.0, record=None):
    """The adjoints (伴随量) of the output's graph, {node: total adjoint}: one pass for all inputs.
    输出的计算图中各节点的伴随量 {节点: 总伴随量}：一次反向遍历得到所有输入。

    seed: the adjoint of the output itself (a dict for a table). Nodes outside the output's graph are no keys.
    seed：输出自己的伴随量（表则是字典）。输出的计算图以外的节点不是结果的键。
    Name of the rule: the chain rule, from users to inputs.
    所用法则：链式法则，从使用者到输入。
    A node with several uses (a bypass, 旁路) receives one partial adjoint (部分伴随) along each edge.
    Its total adjoint is their sum, and only the total travels on.
    被多处使用的节点（旁路）沿每条边收到一个部分伴随；总伴随量是它们的和，继续往回传的只能是总和。
    record: a dict to fill with {node: its partial adjoints in order of arrival}; the output's are [seed].
    record：一个字典，用来填入 {节点: 按到达次序排列的部分伴随}；输出的是 [seed]。
    """
    seed = as_derivative(output, seed)
    if record is not None:
        record.clear()
    node_to_grad = {output: seed}
    if record is not None:
        record[output] = [seed]
    for node in reversed(topological_order(output)):
        if not node.inputs:
            continue
        adjoint = node_to_grad[node]  # complete: every user of this node has been visited before
        for operand, partial in zip(node.inputs, node.op.partials(node.input_values, node.value)):
            partial_adjoint = partial * adjoint
            node_to_grad[operand] = node_to_grad.get(operand, 0.0) + partial_adjoint
            if record is not None:
                record.setdefault(operand, []).append(partial_adjoint)
    return node_to_grad


def jacobian(outputs, inputs, mode="reverse"):
    """The matrix of all derivatives d output_k / d input_n: float64, shape (K, N); 0 where nothing depends.
    所有导数 d output_k / d input_n 的矩阵：float64，形状 (K, N)；没有依赖处为 0。

    mode: "reverse" takes one reverse pass for each output (a row), "forward" one forward pass for each input
    (a column).
    mode："reverse" 为每个输出反向遍历一次（一行），"forward" 为每个输入前向遍历一次（一列）。
    """
    if mode not in ("reverse", "forward"):
        raise ValueError(
            f'mode must be "reverse" or "forward", not {mode!r}. '
            f'/ mode 必须是 "reverse" 或 "forward"，而不是 {mode!r}。'
        )
    outputs, inputs = as_list(outputs), as_list(inputs)
    if any(isinstance(node.value, dict) for node in outputs + inputs):
        raise TypeError(
            "a table has no row or column in a matrix: use reverse_mode or forward_mode. "
            "/ 表在矩阵里没有行或列：请用 reverse_mode 或 forward_mode。"
        )
    matrix = np.zeros((len(outputs), len(inputs)))
    if mode == "reverse":
        for k, output in enumerate(outputs):
            node_to_grad = reverse_mode(output)
            matrix[k] = [node_to_grad.get(node, 0.0) for node in inputs]
    else:
        for n, node in enumerate(inputs):
            matrix[:, n] = forward_mode(outputs, [node], [1.0])
    return matrix


def starting_tangents(inputs, direction):
    """Where forward mode starts: {input: tangent}. An input with direction 0 is held fixed and left out.
    前向模式的起点 {输入: 切量}。方向为 0 的输入保持不动，不在其中。
    """
    inputs, direction = as_list(inputs), list(direction)
    if len(inputs) != len(direction):
        raise ValueError(
            f"{len(inputs)} inputs need {len(inputs)} directions, not {len(direction)}. "
            f"/ {len(inputs)} 个输入需要 {len(inputs)} 个方向，而不是 {len(direction)} 个。"
        )
    tangents = {node: as_derivative(node, tangent) for node, tangent in zip(inputs, direction, strict=True)}
    return {node: tangent for node, tangent in tangents.items() if tangent}


def as_derivative(node, derivative):
    """A given tangent or adjoint of a node as the engine keeps it: a float, or Entries for a table.
    把给定的切量或伴随量变成引擎所用的形式：浮点数，表则是 Entries。
    """
    (node,) = as_list([node])
    if isinstance(node.value, dict) != isinstance(derivative, dict):
        raise TypeError(
            "the tangent or adjoint of a table is a dictionary, that of any other node a number. "
            "/ 表的切量或伴随量是字典，其他节点的是数。"
        )
    if isinstance(node.value, dict):
        return Entries({key: float(number) for key, number in derivative.items()})
    return float(derivative)
