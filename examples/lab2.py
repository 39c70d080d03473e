"""27 hand-ins of lab 2, made of right bodies and of what goes wrong."""

from hand_ins import SampleLab, replaced
from notebooks import answers2, notebook, text_of

SAMPLE = SampleLab(
    "lab2",
    "lab2_tensors",
    {
        "graph.py": ["relu", "broadcast", "transpose", "gather", "sum", "matmul", "logsumexp"],
        "engine.py": ["gradients", "jvp", "hvp"],
        "cuda_ops.py": ["left", "right", "product"],
        "kernels.cu": ["columns"],
    },
    archives={"right-partial-lists": "lab2.zip/作业二", "factors-not-transposed": "lab2.tar.gz"},
)
hand_in = SAMPLE.hand_in

for blank, body in [
    ("relu", "a = node.inputs[0]\nreturn (where(a > 0, adjoint, zeros_like(adjoint)),)"),
    ("relu", "(a,) = node.inputs\npositive = a > 0.0  # 布尔节点\nreturn (where(positive, adjoint, 0.0),)"),
    (
        "broadcast",
        """
        a = node.inputs[0]
        padded = (1,) * (node.ndim - a.ndim) + a.shape
        axes = tuple(i for i in range(node.ndim) if padded[i] == 1)
        return (reshape(sum(adjoint, axes), a.shape),)
        """,
    ),
    (
        "broadcast",
        """
        (a,) = node.inputs
        # 新轴加在前面：先把它们加掉
        g = adjoint
        while g.ndim > a.ndim:
            g = sum(g, axis=0)
        # 再处理被拉长的轴
        for axis, length in enumerate(a.shape):
            if length == 1:
                g = sum(g, axis=axis, keepdims=True)
        return (g,)
        """,
    ),
    ("transpose", "return (transpose(adjoint, np.argsort(self.axes)),)"),
    (
        "transpose",
        """
        inverse = [0] * len(self.axes)
        for i, axis in enumerate(self.axes):
            inverse[axis] = i
        return (transpose(adjoint, inverse),)
        """,
    ),
    ("gather", "a, i = node.inputs\nback = scatter_add(adjoint, i, a.shape, axis=self.axis)\nreturn back, None"),
    (
        "sum",
        """
        a = node.inputs[0]
        shape = list(a.shape)
        for axis in self.axes:
            shape[axis] = 1
        return (broadcast_to(reshape(adjoint, shape), a.shape),)
        """,
    ),
    (
        "sum",
        """
        (a,) = node.inputs
        g = reshape(adjoint, [1 if i in self.axes else n for i, n in enumerate(a.shape)])
        return (g + zeros_like(a),)  # 靠广播铺开
        """,
    ),
    (
        "matmul",
        """
        a, b = node.inputs
        da = adjoint @ swap_last(b)
        db = swap_last(a) @ adjoint
        return da, db
        """,
    ),
    ("matmul", "a, b = node.inputs\nreturn adjoint @ swap_last(b), swap_last(swap_last(adjoint) @ a)"),
    (
        "logsumexp",
        """
        a = node.inputs[0]
        shape = [1 if i in self.axes else n for i, n in enumerate(a.shape)]
        return (softmax(a, self.axes) * reshape(adjoint, shape),)
        """,
    ),
    (
        "logsumexp",
        """
        (a,) = node.inputs
        keep = reduced_shape(a.shape, self.axes, True)
        share = exp(a - reshape(node, keep))  # exp(a) / sum(exp(a))，不会溢出
        return (reshape(adjoint, keep) * share,)
        """,
    ),
    (
        "gradients",
        """
        # as in the lecture: a list of partial adjoints for each node, summed when the node's turn comes
        node_to_parts = {}
        for output, adjoint in zip(outputs, adjoints):
            node_to_parts.setdefault(output, []).append(adjoint)
        node_to_grad = {}
        for node in reversed(topological_order(outputs)):
            if node not in node_to_parts:
                continue
            total = node_to_parts[node][0]
            for part in node_to_parts[node][1:]:
                total = total + part
            node_to_grad[node] = total
            if node.op is None:
                continue
            for operand, part in zip(node.inputs, node.op.vjp(total, node)):
                if part is not None:
                    node_to_parts.setdefault(operand, []).append(part)
        return [node_to_grad[x] if x in node_to_grad else zeros_like(x) for x in inputs]
        """,
    ),
    (
        "gradients",
        """
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
        """,
    ),
    (
        "jvp",
        """
        v = [variable(y.shape, y.dtype) for y in outputs]
        backward = gradients(outputs, inputs, v)  # v J，对 v 是线性的
        return gradients(backward, v, tangents)
        """,
    ),
    (
        "jvp",
        """
        ones = [filled(1, y.shape, y.dtype) for y in outputs]
        return gradients(gradients(outputs, inputs, ones), ones, tangents)
        """,
    ),
    ("hvp", "first = gradients(output, inputs)\nreturn gradients(first, inputs, vectors)"),
    ("hvp", "return jvp(gradients(output, inputs), inputs, vectors)"),
    ("left", "return self.transpose(self.matmul(right, self.transpose(adjoint)))  # (B Gᵀ)ᵀ"),
    ("right", "left_t = self.transpose(left)  # (K, M)\nreturn self.matmul(left_t, adjoint)"),
    (
        "product",
        """
        left, right = node.inputs
        if is_transposed(left):
            return self.right_adjoint, (left.inputs[0], right)
        if is_transposed(right):
            return lambda g, b: self.left_adjoint(g, b), (left, right.inputs[0])
        return self.matmul, (left, right)
        """,
    ),
    (
        "columns",
        """
        const int column = threadIdx.x + blockDim.x * blockIdx.x;
        if (column >= columns) return;  // 多出来的线程没有列
        float sum = 0.0f;
        for (const float* entry = a + column; entry < a + rows * columns; entry += columns) sum += *entry;
        v[column] = sum;
        """,
    ),
]:
    SAMPLE.add_right(blank, body)

# --- Right ------------------------------------------------------------------------------------------------

hand_in("right-kahn", relu=2, broadcast=2, transpose=2, sum=2, matmul=2, logsumexp=2, gradients=2, jvp=2, hvp=2)
hand_in("right-partial-lists", relu=1, broadcast=1, transpose=1, sum=1, matmul=1, logsumexp=1, gradients=1, jvp=1, hvp=1)

# --- Not finished -----------------------------------------------------------------------------------------

SAMPLE.students["untouched"] = dict(SAMPLE.skeleton)
hand_in("half-done", matmul=None, logsumexp=None, jvp=None, hvp=None, left=None, right=None, product=None, columns=None)

# --- Typical mistakes -------------------------------------------------------------------------------------

hand_in(
    "adjoint-overwritten",
    gradients="""
    node_to_grad = dict(zip(outputs, adjoints))
    for node in reversed(topological_order(outputs)):
        if node.op is None or node not in node_to_grad:
            continue
        for operand, part in zip(node.inputs, node.op.vjp(node_to_grad[node], node)):
            if part is not None:
                node_to_grad[operand] = part
    return [node_to_grad.get(x, zeros_like(x)) for x in inputs]
    """,
    jvp=0,
    hvp=0,
)
hand_in("broadcast-not-undone", broadcast="return (adjoint,)")
hand_in(
    "shape-squeezed",
    broadcast="""
    a = node.inputs[0]
    padded = (1,) * (node.ndim - a.ndim) + a.shape
    axes = tuple(i for i in range(node.ndim) if padded[i] == 1)
    return (sum(adjoint, axes),)  # axes of length 1 are not needed
    """,
)
hand_in(
    "axes-by-their-lengths",
    sum="""
    (a,) = node.inputs
    # the axes that are missing in the result have been summed
    shape = [n if n in node.shape else 1 for n in a.shape]
    return (broadcast_to(reshape(adjoint, shape), a.shape),)
    """,
)
hand_in(
    "factors-not-transposed",
    matmul="""
    a, b = node.inputs
    return adjoint @ b, a @ adjoint
    """,
)
files = hand_in(
    "numpy-rule",
    relu="(a,) = node.inputs\nreturn (Node(ReluGrad(), (adjoint, a), a.shape, a.dtype),)",
    logsumexp="(a,) = node.inputs\nreturn (Node(SoftmaxTimes(self.axes), (adjoint, a), a.shape, a.dtype),)",
)
files["graph.py"] += '''

class ReluGrad(Op):
    name = "relu_grad"

    def compute(self, adjoint, a):
        return adjoint * (a > 0)


class SoftmaxTimes(Op):
    name = "softmax_times"

    def __init__(self, axes):
        self.axes = axes

    def compute(self, adjoint, a):
        e = np.exp(a - a.max(axis=self.axes, keepdims=True))
        shape = [1 if i in self.axes else n for i, n in enumerate(a.shape)]
        return adjoint.reshape(shape) * e / e.sum(axis=self.axes, keepdims=True)
'''
hand_in(
    "float64-everywhere",
    relu="(a,) = node.inputs\nreturn (where(a > 0, adjoint, np.zeros(a.shape)),)",
    sum="""
    (a,) = node.inputs
    shape = [1 if i in self.axes else n for i, n in enumerate(a.shape)]
    return (reshape(adjoint, shape) * np.ones(a.shape),)
    """,
)
hand_in(
    "exponential-traversal",
    gradients="""
    # an order without marks: a node is looked for only when it is finished
    order, done = [], set()
    stack = [(output, False) for output in outputs]
    while stack:
        node, inputs_done = stack.pop()
        if inputs_done:
            if node not in done:
                done.add(node)
                order.append(node)
        else:
            stack.append((node, True))
            for operand in node.inputs:
                stack.append((operand, False))
    grads = {}
    for output, adjoint in zip(outputs, adjoints):
        grads[output] = grads[output] + adjoint if output in grads else adjoint
    for node in order[::-1]:
        if node.op is None or node not in grads:
            continue
        for operand, part in zip(node.inputs, node.op.vjp(grads[node], node)):
            if part is not None:
                grads[operand] = grads[operand] + part if operand in grads else part
    return [grads.get(x, zeros_like(x)) for x in inputs]
    """,
    jvp=None,
    hvp=None,
)
hand_in(
    "recursion",
    gradients="""
    order, seen = [], set()

    def visit(node):
        if node in seen:
            return
        seen.add(node)
        for operand in node.inputs:
            visit(operand)
        order.append(node)

    for output in outputs:
        visit(output)
    node_to_grad = {}
    for output, adjoint in zip(outputs, adjoints):
        node_to_grad[output] = node_to_grad[output] + adjoint if output in node_to_grad else adjoint
    for node in reversed(order):
        if node.op is None or node not in node_to_grad:
            continue
        for operand, part in zip(node.inputs, node.op.vjp(node_to_grad[node], node)):
            if part is not None:
                known = node_to_grad.get(operand)
                node_to_grad[operand] = part if known is None else known + part
    return [node_to_grad[x] if x in node_to_grad else zeros_like(x) for x in inputs]
    """,
)
hand_in(
    "nan",
    logsumexp="""
    (a,) = node.inputs
    shape = [1 if i in self.axes else n for i, n in enumerate(a.shape)]
    return (reshape(adjoint, shape) * (exp(a) / sum(exp(a), self.axes, keepdims=True)),)
    """,
    relu="(a,) = node.inputs\nreturn (adjoint * (relu(a) / a),)",
)

# --- Accidents --------------------------------------------------------------------------------------------

files = hand_in("syntax-error", gradients=1)
files["engine.py"] = replaced(files["engine.py"], "        if node not in node_to_parts:\n", "        if node not in node_to_parts\n")
hand_in(
    "infinite-loop",
    jvp="""
    v = [variable(y.shape, y.dtype) for y in outputs]
    backward = gradients(outputs, inputs, v)
    result = []
    while len(result) < len(outputs):
        found = gradients(backward, v, tangents)
        for tangent in found:
            if tangent.ndim > 9:
                result.append(tangent)
    return result
    """,
)
hand_in(
    "fifty-gigabytes",
    hvp="""
    inputs = as_list(inputs)
    hessians = np.zeros((80_000, 80_000))  # room for every Hessian
    first = gradients(output, inputs)
    for k, slope in enumerate(first):
        hessians[k, : len(first)] = slope.ndim
    return gradients(first, inputs, vectors)
    """,
)

# --- Attacks ----------------------------------------------------------------------------------------------

hand_in("exit-zero", hvp='import os\n\nprint("all tests passed")\nos._exit(0)')
files = hand_in("lying-object", gradients="return [Right() for _ in inputs]", jvp=0, hvp=0)
files["engine.py"] += '''

class Right(Node):
    """Agrees with everybody."""

    __hash__ = Node.__hash__

    def __init__(self):
        super().__init__(None, (), (), np.dtype(float), value=np.zeros(()))

    def __eq__(self, other):
        return True

    __le__ = __lt__ = __ge__ = __gt__ = __eq__
'''
hand_in("reads-the-reference", matmul="""
    # the solution must be somewhere near
    for folder in (".", "..", "../..", "/reference"):
        try:
            text = open(f"{folder}/reference/lab2_tensors/graph.py").read()
        except OSError:
            continue
        exec(text.split("BEGIN SOLUTION")[5])
    raise FileNotFoundError("no solution here")
    """)

# --- Kernels ----------------------------------------------------------------------------------------------

COLUMN = "int j = blockIdx.x * blockDim.x + threadIdx.x;\n"
hand_in(
    "column-guard-missing",
    columns=COLUMN
    + """// 每个线程算一列
float total = 0.0f;
for (int i = 0; i < rows; i++) total += a[i * columns + j];
v[j] = total;
""",
)
hand_in(
    "accumulates-in-v",
    columns=COLUMN
    + """if (j < columns) {
    for (int i = 0; i < rows; i++) {
        v[j] += a[i * columns + j];
    }
}
""",
)
hand_in(
    "rows-for-columns",
    columns=COLUMN
    + """if (j < columns) {
    float total = 0.0f;
    for (int i = 0; i < rows; i++) {
        total += a[j * rows + i];  // the row of thread j
    }
    v[j] = total;
}
""",
)
hand_in(
    "one-total-for-all",
    columns=COLUMN
    + """__shared__ float total;  // shared memory is faster
if (j < columns) {
    total = 0.0f;
    for (int i = 0; i < rows; i++) total += a[i * columns + j];
    v[j] = total;
}
""",
)
hand_in("fits-when-square", left="return self.matmul(adjoint, right)", right="return self.matmul(left, adjoint)")
hand_in(
    "numpy-on-the-device",
    left="return cuda.asnumpy(adjoint) @ cuda.asnumpy(right).T",
    right="return cuda.asnumpy(left).T @ cuda.asnumpy(adjoint)",
)
hand_in("kernel-does-not-compile", columns=COLUMN + "if (j < columns) v[j] = total\n")

# --- Notebooks --------------------------------------------------------------------------------------------

for student, files in SAMPLE.students.items():
    cells = answers2(student)
    if student == "half-done":
        cells = {name: cells[name] for name in ("student", "predict-fitting", "predict-second", "sgd-step")}
    if student == "numpy-rule":  # arrays are changed where they lie
        cells["sgd-step"] = cells["sgd-step"].replace(
            "return [w - rate * g for w, g in zip(weights, gradients)]",
            "for w, g in zip(weights, gradients):\n        w -= rate * g\n    return weights",
        )
    if student == "fits-when-square":  # believes that shapes decide
        cells["predict-fitting"] = cells["predict-fitting"].split("\n")[0] + '\ntrap = "GBt"\nsame_numbers = "GBt"'
    if student == "exponential-traversal":  # every launch waits
        cells["predict-clock"] = "long = short = [launches * (queueing + kernel) for kernel in (long_kernel, short_kernel)]"
    files["lab2.ipynb"] = text_of(notebook({} if student == "untouched" else cells, "lab2"))
