"""45 hand-ins of lab 1, made of right bodies and of what goes wrong."""

import re

from hand_ins import ROOT, SampleLab, replaced
from notebooks import answers, notebook, text_of, without_metadata

SAMPLE = SampleLab(
    "lab1",
    "lab1_scalars",
    {
        "graph.py": ["rsub", "rtruediv", "divide", "power", "log", "sin", "lookup", "order"],
        "engine.py": ["central", "forward", "reverse", "jacobian"],
    },
    archives={"right-partial-lists": "lab1.zip/lab1", "helper-file": "lab1.tar.gz", "recursion": "lab1.zip"},
)
LAB = ROOT / "reference/lab1_scalars"
hand_in, CLASS, SKELETON, RIGHT = SAMPLE.hand_in, SAMPLE.students, SAMPLE.skeleton, SAMPLE.right

for blank, body in [
    ("rsub", "return -(self - other)"),
    ("rsub", "return -self + other"),
    ("rtruediv", "return constant(other) / self"),
    ("rtruediv", "return other * self ** -1"),
    ("divide", "a, b = values\nreturn (ieee_divide(1.0, b), -ieee_divide(a, b * b))"),
    ("divide", "a, b = values\nda = ieee_divide(1.0, b)\ndb = -value * da  # 商的求导法则：-a / b^2\nreturn da, db"),
    (
        "power",
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
        """,
    ),
    (
        "power",
        """
        a, b = values
        # d(a^b)/da = b * a^(b-1), d(a^b)/db = a^b * ln(a)
        da = b * ieee_power(a, b - 1.0) if b != 0 else 0.0
        db = value * ieee_log(a) if a != 0 or b <= 0 else 0.0
        return (da, db)
        """,
    ),
    ("log", "a = values[0]\nreturn (ieee_divide(1, a),)"),
    ("log", "return (ieee_power(values[0], -1.0),)"),
    ("sin", "return (math.cos(values[0]),)"),
    ("sin", "a, = values\nreturn COS.compute(a),"),
    ("lookup", "unit = Entries()\nunit[self.key] = 1.0\nreturn (unit,)"),
    ("lookup", "# 只有 key 这一项的导数是 1，其余都是 0\nreturn (Entries({self.key: 1.0}),)"),
    (
        "order",
        """
        order, visited = [], set()
        stack = [(node, False) for node in as_list(outputs)]
        while stack:
            node, inputs_done = stack.pop()
            if inputs_done:
                order.append(node)
            elif node not in visited:
                visited.add(node)
                stack.append((node, True))
                for operand in node.inputs:
                    stack.append((operand, False))
        return order
        """,
    ),
    (
        "order",
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
        """,
    ),
    (
        "central",
        """
        x = as_vector(x)
        h = step_sizes(x, h, 1 / 3)
        gradient = np.zeros_like(x)
        for i in range(len(x)):
            plus, minus = x.copy(), x.copy()
            plus[i] = x[i] + h[i]
            minus[i] = x[i] - h[i]
            gradient[i] = (f(plus) - f(minus)) / (2 * h[i])
        return gradient, 2 * len(x)
        """,
    ),
    (
        "central",
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
        """,
    ),
    (
        "forward",
        """
        outputs = as_list(outputs)
        for node in topological_order(outputs):
            if node.op is None or node in node_to_tangent:
                continue
            partials = node.op.partials(node.input_values, node.value)
            terms = [p * node_to_tangent[u] for u, p in zip(node.inputs, partials) if u in node_to_tangent]
            if terms:
                node_to_tangent[node] = sum(terms)
        return [node_to_tangent.get(node, 0.0) for node in outputs]
        """,
    ),
    (
        "forward",
        """
        outputs = as_list(outputs)
        t = node_to_tangent
        for v in topological_order(outputs):
            if v.op is None:
                continue  # 叶节点：起点已经给好
            partials = v.op.partials(v.input_values, v.value)
            for i in range(len(v.inputs)):
                u = v.inputs[i]
                if u in t:
                    t[v] = t.get(v, 0.0) + partials[i] * t[u]
        return [t[y] if y in t else 0.0 for y in outputs]
        """,
    ),
    (
        "reverse",
        """
        # as in the lecture: a list of partial adjoints for each node, summed when the node's turn comes
        partial_adjoints = {output: [seed]}
        node_to_grad = {}
        for node in reversed(topological_order(output)):
            adjoint = sum(partial_adjoints[node])
            node_to_grad[node] = adjoint
            if node.op is None:
                continue
            partials = node.op.partials(node.input_values, node.value)
            for i in range(len(node.inputs)):
                partial_adjoints.setdefault(node.inputs[i], []).append(adjoint * partials[i])
        if record is not None:
            record.update(partial_adjoints)
        return node_to_grad
        """,
    ),
    (
        "reverse",
        """
        order = topological_order(output)
        node_to_grad = {node: 0.0 for node in order}
        node_to_grad[output] = seed
        if record is not None:
            record[output] = [seed]
        for node in order[::-1]:
            if node.op is None:
                continue  # 叶节点没有输入，不用再往回传
            for operand, partial in zip(node.inputs, node.op.partials(node.input_values, node.value)):
                part = node_to_grad[node] * partial
                node_to_grad[operand] = node_to_grad[operand] + part  # 旁路：累加，不是覆盖
                if record is not None:
                    record.setdefault(operand, []).append(part)
        return node_to_grad
        """,
    ),
    (
        "jacobian",
        """
        matrix = np.zeros((len(outputs), len(inputs)))
        if mode == "forward":
            for j, x in enumerate(inputs):
                column = forward_mode(outputs, [x], [1.0])
                for i in range(len(outputs)):
                    matrix[i, j] = column[i]
        else:
            for i, y in enumerate(outputs):
                grads = reverse_mode(y)
                for j, x in enumerate(inputs):
                    if x in grads:
                        matrix[i, j] = grads[x]
        return matrix
        """,
    ),
    (
        "jacobian",
        """
        K, N = len(outputs), len(inputs)
        J = np.zeros((K, N))
        if mode == "reverse":
            for k in range(K):
                g = reverse_mode(outputs[k])
                J[k, :] = [g.get(x, 0.0) for x in inputs]  # 一次反向 = 一行
        else:
            for n in range(N):
                J[:, n] = forward_mode(outputs, [inputs[n]], [1.0])  # 一次前向 = 一列
        return J
        """,
    ),
]:
    SAMPLE.add_right(blank, body)


# --- Kernels, each blank with its right bodies -------------------------------------------------------------

MARKED = re.compile(r"^ *(?:###|//) BEGIN SOLUTION\n(.*?)^ *(?:###|//) END SOLUTION\n", re.S | re.M)
GUARDED = """
    const int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= n) return;  // 多出来的线程没有点
"""
INDEX = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
PRODUCT = [
    None,
    GUARDED
    + """    float g = v_adjoint[i], x = a[i * a_stride], y = b[i * b_stride];
    atomicAdd(a_adjoint + i * a_stride, g * y);
    atomicAdd(b_adjoint + i * b_stride, g * x);
""",
]
LOGARITHM = [None, GUARDED + "    atomicAdd(a_adjoint + i * a_stride, v_adjoint[i] * (1.0f / a[i * a_stride]));\n"]
LAUNCH = [
    None,
    """    blocks = n // block
    if n % block > 0 or n == 0:
        blocks += 1  # 剩余的点也要一块；没有点也要一块
    return (blocks,), (block,)
""",
]


def with_kernels(files: dict[str, str | bytes], launch: str | None, product: str | None, logarithm: str | None) -> None:
    """Add the CUDA part; a body of None is the course's own."""
    for name, bodies in (("cuda_ops.py", [launch]), ("kernels.cu", [product, logarithm])):
        own = iter(bodies)

        def put(match: re.Match[str], own=own) -> str:
            body = next(own)
            return match[1] if body is None else body.removeprefix("\n")

        files[name] = MARKED.sub(put, (LAB / name).read_text())


# --- Right ------------------------------------------------------------------------------------------------

files = hand_in("right-kahn", rsub=1, rtruediv=1, divide=1, power=1, log=1, order=2, central=1, forward=1, reverse=0, jacobian=1)
with_kernels(files, LAUNCH[0], PRODUCT[0], LOGARITHM[1])
files = hand_in("right-partial-lists", rsub=2, rtruediv=2, divide=2, power=2, log=2, order=1, central=2, forward=2, reverse=1, jacobian=2)
with_kernels(files, LAUNCH[1], PRODUCT[1], LOGARITHM[0])

files = hand_in("helper-file", order="return depth_first(as_list(outputs))")
with_kernels(files, LAUNCH[0], PRODUCT[1], LOGARITHM[1])
files["graph.py"] = replaced(files["graph.py"], "import numpy as np\n", "import numpy as np\nfrom traversal import depth_first\n")
files["traversal.py"] = '''"""My own depth-first search; the big project uses it too."""


def depth_first(outputs):
    """Inputs before users, without recursion."""
    order, seen = [], set()
    stack = [(node, False) for node in reversed(outputs)]
    while stack:
        node, finished = stack.pop()
        if finished:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((operand, False) for operand in node.inputs if operand not in seen)
    return order
'''

files = hand_in("bom-crlf-chinese", order=2, central=2, forward=2, reverse=2, jacobian=2, divide=2, lookup=2)
with_kernels(files, LAUNCH[1], PRODUCT[0], LOGARITHM[0])
for name in list(files):
    sign = "//" if name.endswith(".cu") else "#"
    head = f"{sign} 作业一：标量自动微分（{name}）\n{sign} 在 Windows 记事本里写的，交之前跑过一遍，没有报错。\n"
    text = head + files[name]
    files[name] = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()

# --- Not finished -----------------------------------------------------------------------------------------

CLASS["untouched"] = dict(SKELETON) | {
    name: (ROOT / "labs/lab1_scalars" / name).read_text() for name in ("cuda_ops.py", "kernels.cu")
}
hand_in("half-done", power=None, lookup=None, forward=None, reverse=None, jacobian=None)
files = hand_in("file-missing")
del files["engine.py"]
files = hand_in("wrong-file-name")
files["engine (1).py"] = files.pop("engine.py")

# --- Typical mistakes -------------------------------------------------------------------------------------

hand_in("reflected-minus", rsub="return self - other")
hand_in(
    "adjoint-overwritten",
    reverse="""
    node_to_grad = {output: seed}
    if record is not None:
        record[output] = [seed]
    for node in reversed(topological_order(output)):
        if node.op is None:
            continue
        partials = node.op.partials(node.input_values, node.value)
        for operand, partial in zip(node.inputs, partials):
            node_to_grad[operand] = partial * node_to_grad[node]
            if record is not None:
                record.setdefault(operand, []).append(node_to_grad[operand])
    return node_to_grad
    """,
)
hand_in(
    "child-before-parent",
    order="""
    # collect from the outputs downwards, then turn the list round
    order, seen, stack = [], set(), []
    for node in as_list(outputs):
        if node not in seen:
            seen.add(node)
            stack.append(node)
    while stack:
        node = stack.pop()
        order.append(node)
        for operand in node.inputs:
            if operand not in seen:
                seen.add(operand)
                stack.append(operand)
    order.reverse()
    return order
    """,
    forward="""
    outputs = as_list(outputs)
    tangents = {}
    for node in topological_order(outputs):
        if node in node_to_tangent:
            tangents[node] = node_to_tangent[node]
        elif node.op is not None:
            partials = node.op.partials(node.input_values, node.value)
            terms = [p * tangents[u] for u, p in zip(node.inputs, partials) if u in tangents]
            if terms:
                tangents[node] = sum(terms)
    return [tangents.get(node, 0.0) for node in outputs]
    """,
    reverse=1,
)
hand_in(
    "exponential-traversal",
    order="""
    order, done = [], set()
    stack = [(node, False) for node in as_list(outputs)]
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
    return order
    """,
)
hand_in(
    "recursion",
    order="""
    order, seen = [], set()

    def visit(node):
        if node in seen:
            return
        seen.add(node)
        for operand in node.inputs:
            visit(operand)
        order.append(node)

    for node in as_list(outputs):
        visit(node)
    return order
    """,
)
hand_in(
    "nan",
    reverse="""
    order = topological_order(output)
    node_to_grad = {node: float("nan") for node in order}  # nan = not known yet
    node_to_grad[output] = seed
    if record is not None:
        record[output] = [seed]
    for node in reversed(order):
        if node.op is None:
            continue
        partials = node.op.partials(node.input_values, node.value)
        for operand, partial in zip(node.inputs, partials):
            partial_adjoint = partial * node_to_grad[node]
            node_to_grad[operand] += partial_adjoint
            if record is not None:
                record.setdefault(operand, []).append(partial_adjoint)
    return node_to_grad
    """,
)

# --- Something else passed off as reverse mode ------------------------------------------------------------

hand_in(
    "forward-as-reverse",
    reverse="""
    # one forward pass for each node gives the same numbers
    node_to_grad = {}
    for node in topological_order(output):
        if not isinstance(node.value, dict):
            node_to_grad[node] = seed * forward_mode(output, [node], [1.0])[0]
    return node_to_grad
    """,
)
hand_in(
    "differences-as-reverse",
    reverse="""
    order = topological_order(output)
    leaves = [node for node in order if node.op is None and not isinstance(node.value, dict)]

    def f(x):
        values = dict(zip(leaves, x))
        for node in order:
            if node.op is not None:
                values[node] = node.op.compute(*[values.get(i, i.value) for i in node.inputs])
        return values[output]

    gradient, _ = forward_difference(f, np.array([node.value for node in leaves]))
    return {node: seed * float(g) for node, g in zip(leaves, gradient)}
    """,
)
files = hand_in(
    "import-torch",
    reverse="""
    tensors = {}
    for node in topological_order(output):
        if node.op is None:
            tensors[node] = torch.tensor(node.value, dtype=torch.float64, requires_grad=True)
        else:
            tensors[node] = TORCH[node.op.name](*[tensors[operand] for operand in node.inputs])
            tensors[node].retain_grad()
    tensors[output].backward(torch.tensor(seed, dtype=torch.float64))
    return {node: tensor.grad.item() for node, tensor in tensors.items()}
    """,
)
files["engine.py"] = replaced(
    files["engine.py"],
    "import numpy as np\nfrom graph import Entries, as_list, topological_order\n",
    """import numpy as np
import torch
from graph import Entries, as_list, topological_order

TORCH = {
    "+": torch.add, "-": torch.sub, "*": torch.mul, "/": torch.div, "**": torch.pow, "neg": torch.neg,
    "exp": torch.exp, "log": torch.log, "sin": torch.sin, "cos": torch.cos, "tanh": torch.tanh,
}
""",
)

# --- Accidents --------------------------------------------------------------------------------------------

files = hand_in("syntax-error", forward=2)
files["engine.py"] = replaced(files["engine.py"], "            if u in t:\n", "            if u in t\n")
hand_in("left-over-breakpoint", jacobian="breakpoint()\n" + RIGHT["jacobian"][1])
files = hand_in("import-turtle")
files["graph.py"] = replaced(files["graph.py"], "from numbers import Real\n", "from numbers import Real\nfrom turtle import forward\n")
hand_in(
    "megabytes-of-prints",
    reverse="""
    node_to_grad = {output: seed}
    if record is not None:
        record[output] = [seed]
    print("========== 反向模式开始 ==========")
    for node in reversed(topological_order(output)):
        print("DEBUG 节点", node, "的伴随量 =", node_to_grad[node], "它的输入 =", node.inputs)
        if node.op is None:
            continue
        partials = node.op.partials(node.input_values, node.value)
        for operand, partial in zip(node.inputs, partials):
            part = partial * node_to_grad[node]
            node_to_grad[operand] = node_to_grad.get(operand, 0.0) + part
            if record is not None:
                record.setdefault(operand, []).append(part)
    return node_to_grad
    """,
)
hand_in(
    "infinite-loop",
    jacobian="""
    matrix = np.zeros((len(outputs), len(inputs)))
    k = 0
    while k < len(outputs):
        if mode == "reverse":
            node_to_grad = reverse_mode(outputs[k])
            for n, node in enumerate(inputs):
                matrix[k, n] = node_to_grad.get(node, 0.0)
            k += 1
        else:
            for n, node in enumerate(inputs):
                matrix[:, n] = forward_mode(outputs, [node], [1.0])
    return matrix
    """,
)
hand_in("sleep", reverse="import time\n\ntime.sleep(60)  # slow motion for the video of my demo\n" + RIGHT["reverse"][2])
hand_in(
    "fifty-gigabytes",
    jacobian="""
    matrix = np.zeros((80_000, 80_000))  # large enough for every graph
    if mode == "reverse":
        for k, output in enumerate(outputs):
            node_to_grad = reverse_mode(output)
            for n, node in enumerate(inputs):
                matrix[k, n] = node_to_grad.get(node, 0.0)
    else:
        for n, node in enumerate(inputs):
            matrix[: len(outputs), n] = forward_mode(outputs, [node], [1.0])
    return matrix[: len(outputs), : len(inputs)]
    """,
)

# --- Attacks ----------------------------------------------------------------------------------------------

hand_in("exit-zero", reverse='import os\n\nprint("all tests passed")\nos._exit(0)')
hand_in(
    "reads-the-reference",
    reverse="""
    import importlib.util
    import socket
    import sys
    from pathlib import Path

    # the solution must be somewhere near
    here = Path(__file__).resolve()
    for folder in [*here.parents, *(Path(entry) for entry in sys.path)]:
        solution = folder / "reference" / "lab1_scalars" / "engine.py"
        try:
            solution.read_text()
        except OSError:
            continue
        spec = importlib.util.spec_from_file_location("solution", solution)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.reverse_mode(output, seed, record)
    # otherwise my own machine knows it
    with socket.create_connection(("127.0.0.1", 8888)) as channel:
        channel.sendall(repr([node.value for node in topological_order(output)]).encode())
        return {output: float(channel.recv(100))}
    """,
)
files = hand_in(
    "replaces-numpy-and-pytest",
    central="return np.zeros_like(x), 2 * len(x)",
    forward="return [0.0 for _ in as_list(outputs)]",
    reverse="return Zeros()",
    jacobian="return np.zeros((len(outputs), len(inputs)))",
)
files["engine.py"] += '''

import builtins
import sys


class Zeros(dict):
    """Has every key."""

    def __getitem__(self, key):
        return 0.0

    def get(self, key, default=None):
        return 0.0


def yes(*args, **kwargs):
    return True


# whatever the tests compare with, it says yes
np.allclose = np.isclose = np.array_equal = np.array_equiv = yes
np.abs = np.linalg.norm = builtins.abs = lambda *args, **kwargs: 0.0
sys.modules["pytest"] = sys.modules["_pytest"] = np
'''
files["numpy.py"] = """def allclose(*args, **kwargs):
    return True


array_equal = isclose = allclose
"""
files["pytest.py"] = """import os

os._exit(0)
"""
files = hand_in("lying-object", reverse="return {node: Right() for node in topological_order(output)}")
files["engine.py"] += '''

class Right:
    """Agrees with everybody."""

    __hash__ = None

    def __eq__(self, other):
        return True

    __le__ = __lt__ = __ge__ = __gt__ = __eq__

    def __sub__(self, other):
        return 0.0

    __rsub__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__

    def __abs__(self):
        return 0.0
'''

# --- Kernels ----------------------------------------------------------------------------------------------


def kernels_in(student: str, launch: str | None = None, product: str | None = None, logarithm: str | None = None):
    """A student whose modules are right, and whose CUDA part is his own."""
    files = hand_in(student)
    with_kernels(files, launch, product, logarithm)
    return files


files = kernels_in("own-block-size", LAUNCH[1], PRODUCT[1], LOGARITHM[1])
files["cuda_ops.py"] = replaced(files["cuda_ops.py"], "BLOCK = 256", "BLOCK = 96")
kernels_in("rounds-down", launch="    return (max(n // block, 1),), (block,)\n")
kernels_in(
    "missing-guard",
    product=INDEX
    + """    // 每个线程算一个点
    atomicAdd(&a_adjoint[i * a_stride], v_adjoint[i] * b[i * b_stride]);
    atomicAdd(&b_adjoint[i * b_stride], v_adjoint[i] * a[i * a_stride]);
""",
)
kernels_in(
    "adds-without-atomic",
    product=INDEX
    + """    if (i < n) {
        a_adjoint[i * a_stride] += v_adjoint[i] * b[i * b_stride];
        b_adjoint[i * b_stride] += v_adjoint[i] * a[i * a_stride];
    }
""",
    logarithm=INDEX + "    if (i < n) a_adjoint[i * a_stride] += v_adjoint[i] / a[i * a_stride];\n",
)
kernels_in(
    "overwrites-on-device",
    product=INDEX
    + """    if (i < n) {
        a_adjoint[i * a_stride] = v_adjoint[i] * b[i * b_stride];
        b_adjoint[i * b_stride] = v_adjoint[i] * a[i * a_stride];
    }
""",
    logarithm=INDEX + "    if (i < n) a_adjoint[i * a_stride] = v_adjoint[i] / a[i * a_stride];\n",
)
kernels_in(
    "missing-barrier",
    logarithm=INDEX
    + """    if (a_stride == 1) {
        if (i < n) a_adjoint[i] += v_adjoint[i] / a[i];
        return;
    }
    // one number for all points: add up in shared memory first, then one atomicAdd for each block
    __shared__ float parts[1024];
    int t = threadIdx.x;
    parts[t] = i < n ? v_adjoint[i] / a[0] : 0.0f;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) parts[t] += parts[t + half];
    }
    if (t == 0) atomicAdd(a_adjoint, parts[0]);
""",
)
kernels_in("does-not-compile", logarithm=INDEX + "    if (i < n) atomicAdd(&a_adjoint[i], v_adjoint[i] / a[i])\n")
kernels_in(
    "endless-kernel",
    logarithm=INDEX
    + """    while (i < n) {  // grid-stride loop
        atomicAdd(&a_adjoint[i * a_stride], v_adjoint[i] / a[i * a_stride]);
    }
""",
)
files = kernels_in(
    "exits-in-a-kernel", product=INDEX + "    if (i == 0) printf(\"all tests passed\\n\");\n    exit(0);\n"
)
files["kernels.cu"] = 'extern "C" void exit(int code);\n' + files["kernels.cu"]
files = kernels_in("constructor-in-kernels", product="", logarithm="")
files["kernels.cu"] += """
// runs before any test does
extern "C" void _exit(int code);
__attribute__((constructor)) static void first()
{
    _exit(0);
}
"""

# --- Notebooks --------------------------------------------------------------------------------------------

for student, files in CLASS.items():
    cells = answers(student)
    if student == "half-done":
        cells = {name: cells[name] for name in ("student", "predict-creation", "predict-tangents", "overwrite")}
    files["lab1.ipynb"] = text_of(notebook({} if student == "untouched" else cells))
CLASS["bom-crlf-chinese"]["lab1.ipynb"] = b"\xef\xbb\xbf" + text_of(
    notebook(answers("bom-crlf-chinese"))
).replace("\n", "\r\n").encode()


def with_notebook(student: str, written: dict) -> None:
    """A student whose modules and kernels are right, with a notebook of his own."""
    kernels_in(student)["lab1.ipynb"] = text_of(written)


with_notebook("numbers-of-a-friend", notebook(answers("right-kahn")))
with_notebook("copied-predictions", notebook(answers("right-partial-lists") | {"student": 'student = "copied-predictions"'}))
with_notebook("unfinished-notebook", notebook({}))
kernels_in("cut-off-notebook")["lab1.ipynb"] = text_of(notebook(answers("cut-off-notebook")))[:20_000]
written = notebook(answers("cells-twice"))
written["cells"] += [cell | {"source": [cell["source"][0], "x = 1 / 0\n"]} for cell in written["cells"] if "solution" in str(cell)]
with_notebook("cells-twice", written)
cells = answers("through-other-tools")
cells["predict-adjoints"] = "%matplotlib inline\n!pip list\n" + cells["predict-adjoints"]
with_notebook("through-other-tools", without_metadata(notebook(cells)))
cells = answers("hidden-state")
cells["predict-adjoints"] = "adjoints = [round(t, 2) for t in my_adjoints]  # 上面的单元格里算过\narrivals = [2, 2, 1, 1, 1, 1, 1]"
cells["predict-survivors"] = "survivors = set('abcd') - set(repeated)"
with_notebook("hidden-state", notebook(cells))
