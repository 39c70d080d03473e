# %% [markdown] lang="zh"
# # 张量与扩展计算图
#
# 代码写在 `graph.py`、`engine.py`、`cuda_ops.py` 和 `kernels.cu` 里；这里用它们来预测、实验和作答。先预测、后运行：每道题都用你自己的数。保存文件之后运行任一单元格，改动就会载入，不必重启。
#
# 预测 17 分，`sgd_step` 3 分；`check` 单元格逐项报告全部 140 分的情况。请把每一行 `raise NotImplementedError` 换成你的答案。

# %% [markdown] lang="en"
# # Tensors and graph extension
#
# Code goes into `graph.py`, `engine.py`, `cuda_ops.py` and `kernels.cu`; here you predict, experiment and answer with it. Predict first, then run: each question uses numbers of your own. Save a file, run any cell, and the change is loaded; there is no need to restart.
#
# Predictions are worth 17 points and `sgd_step` 3; the cells with `check` report on all 140. Replace each line `raise NotImplementedError` by your answer.

# %% lang="zh"
import sys

sys.path[:0] = ["..", "../.."]  # labkit
from labkit import cuda, draw
from labkit.notebook import begin, check, reveal, whose_numbers

language = "zh"
begin(language)

# %% lang="en"
import sys

sys.path[:0] = ["..", "../.."]  # labkit
from labkit import cuda, draw
from labkit.notebook import begin, check, reveal, whose_numbers

language = "en"
begin(language)

# %% [markdown] lang="zh"
# 写上你的学号，例如 `student = "2100012345"`。题目里的数由它决定。

# %% [markdown] lang="en"
# Write your student id, as in `student = "2100012345"`. It decides the numbers in the questions.

# %% solution="student"
# cell: student
### BEGIN SOLUTION
student = "2100012345"
### END SOLUTION

# %% setup="true"
import numpy as np

from labkit.predict import number

n = number(globals().get("student", ""))  # 0 … 15
u, v = 2 + n % 4, 6 + n // 4
M, K, N = [(u, v, v), (v, u, v), (v, v, u)][n % 3]
symmetric = "BG"[n % 2]
a, c = 2 + n % 4, [0.5, 1.5, 2.0, 2.5][n // 4]
function, times = ["sin", "cos", "exp", "tanh"][n % 4], 3 + n // 4
features, classes, points = 2 + n % 4, 2 + n // 4, 5 + n
rows, columns = [(3 + n % 5, 9 + n % 7), (9 + n % 7, 3 + n % 5)][n % 2]
w, g = np.array([1.0, -2.0, 3.0]), np.array([0.5, 4.0, -1.0])
rate = (1 + n) / 100
launches, queueing, long_kernel, short_kernel = 10 + n, 4 + n % 4, 50 + 10 * (n // 4), 2 + n % 2

# %% setup="true"
import engine
import graph
from graph import constant, cos, exp, log, sin, tanh, variable

# %%
whose_numbers()

# %% [markdown] lang="zh"
# ## 1 和标量实验相比，什么变了
#
# | | 标量 | 张量 |
# |---|---|---|
# | 节点 | 一建成就有值 | 只有形状和类型；还没有值 |
# | 运行 | 建图就是运行 | `Executor(outputs)(feeds)`，一张图可以运行多次 |
# | 运算的规则 | `partials(values, value)` 给出数 | `vjp(adjoint, node)` 给出新节点 |
# | 梯度 | 字典里的数 | 节点：可以运行、再求导、优化 |
# | 形状不同的操作数 | 没有这回事 | 先由节点 `broadcast_to` 变得一致 |
# | 错误 | 运行时出现 | 形状和类型的错误，建图时就报告 |

# %% [markdown] lang="en"
# ## 1 What changes from lab 1
#
# | | scalars | tensors |
# |---|---|---|
# | a node | has its value at once | has a shape and a dtype, no value yet |
# | running | is building | `Executor(outputs)(feeds)`, often, for one graph |
# | an operation's rule | `partials(values, value)` gives numbers | `vjp(adjoint, node)` gives new nodes |
# | a gradient | a number in a dictionary | a node: to be run, differentiated again, optimised |
# | operands of different shapes | do not occur | are made alike by a node `broadcast_to` |
# | mistakes | show when it runs | those in shapes and dtypes show while you build |

# %%
x = variable((3,), name="x")
y = exp(x) * 2.0
print(y, "·", y.value)
run = engine.Executor(y)  # 计划一次 / planned once
print(*run({x: np.zeros(3)}), *run({x: np.ones(3)}))
for attempt in (lambda: x + variable(4), lambda: 1.0 if x > 0 else 0.0):
    try:
        attempt()
    except (ValueError, TypeError) as error:
        print(f"{type(error).__name__}: {error}")

# %% [markdown] lang="zh"
# ## 2 规则
#
# $C = AB$，$A$ 的形状为 $(M, K)$，$B$ 为 $(K, N)$；$C$ 的伴随量 $G$ 为 $(M, N)$。$A$ 的伴随量 $\bar A$ 是两个不同矩阵之积，各自可以转置：下面列出 24 个，`t` 表示转置，例如 `"GtB"` 是 $G^\top B$。

# %% [markdown] lang="en"
# ## 2 Rules
#
# $C = AB$ with $A$ of shape $(M, K)$ and $B$ of $(K, N)$; the adjoint $G$ of $C$ has $(M, N)$. The adjoint $\bar A$ of $A$ is a product of two different matrices, each of which may be transposed. These 24 there are; `t` means transposed, so `"GtB"` is $G^\top B$.

# %%
from itertools import permutations, product

products = [f"{p}{s}{q}{t}" for p, q in permutations("GAB", 2) for s, t in product(("", "t"), repeat=2)]
print(*products)
print(f"M = {M}, K = {K}, N = {N}")

# %% [markdown] lang="zh"
# `fitting`：对你的 $M, K, N$，哪些乘积存在并且形状与 $A$ 相同？写成集合。`trap`：其中由 $G$ 和 $B$ 组成、但不是 $\bar A$ 的那一个。

# %% [markdown] lang="en"
# `fitting`: for your $M, K, N$, which products exist and have the shape of $A$? A set. `trap`: the one among them that is made of $G$ and $B$ and is not $\bar A$.

# %%
print(f"{symmetric} = {symmetric}t")

# %% [markdown] lang="zh"
# `same_numbers`：若三个矩阵都是方阵，24 个乘积的形状全都对。假如上面这个矩阵碰巧对称，哪个错的乘积连数值也对？

# %% [markdown] lang="en"
# `same_numbers`: if all three matrices are square, all 24 have the right shape. If by chance the matrix above is symmetric, which wrong one gives even the right numbers?

# %% solution="predict-fitting" answers="fitting trap same_numbers"
# cell: predict-fitting
### BEGIN SOLUTION
fitting = [{"GBt", "GB", "AB", "ABt"}, {"GBt", "GtBt", "GA", "GtA"}, {"GBt", "BGt"}][n % 3]
trap = ["GB", "GtBt", "BGt"][n % 3]
same_numbers = {"B": "GB", "G": "GtBt"}[symmetric]
### END SOLUTION

# %%
reveal("predict-fitting")


def by_differences(A, B, G):
    """The derivative of sum(G * (A @ B)) by each entry of A."""
    slopes = np.zeros_like(A)
    for entry in np.ndindex(*A.shape):
        step = np.zeros_like(A)
        step[entry] = 1.0
        slopes[entry] = np.sum(G * ((A + step) @ B)) - np.sum(G * (A @ B))
    return slopes


def compared(A, B, G):
    """The products with the shape of A, and how far each is from the derivative."""
    factors = {"A": A, "B": B, "G": G, "At": A.T, "Bt": B.T, "Gt": G.T}
    right = by_differences(A, B, G)
    for name in products:
        second = max(name.rfind(letter) for letter in "GAB")
        left, other = factors[name[:second]], factors[name[second:]]
        if left.shape[1] == other.shape[0] and (left @ other).shape == A.shape:
            yield name, abs(left @ other - right).max()


random = np.random.default_rng(n)
A, B, G = (random.normal(size=shape) for shape in ((M, K), (K, N), (M, N)))
for name, error in compared(A, B, G):
    print(f"{name:5} {A.shape}, off by {error:.1e}")
square = dict(compared(*random.normal(size=(3, 4, 4))))
print(f"4 × 4: {len(square)} fit, {sum(error < 1e-9 for error in square.values())} right")

# %% test="predict-products"
check("predict-products")

# %% test="relu"
check("relu")

# %% test="transpose"
check("transpose")

# %% test="sum"
check("sum")

# %% test="broadcast-to"
check("broadcast-to")

# %% test="matmul"
check("matmul")

# %% test="gather"
check("gather")

# %% test="logsumexp"
check("logsumexp")

# %% test="corners"
check("corners")

# %% [markdown] lang="zh"
# ## 3 导数的导数
#
# $y = a x^3$ 在 $x = c$。`immediate_gradients` 像标量实验的引擎一样边走边算：`(slope,) = immediate_gradients(y, x, {x: c})`。

# %% [markdown] lang="en"
# ## 3 The derivative of a derivative
#
# $y = a x^3$ at $x = c$. `immediate_gradients` computes while it walks, as lab 1's engine did: `(slope,) = immediate_gradients(y, x, {x: c})`.

# %%
print(f"a = {a}, c = {c}")

# %% [markdown] lang="zh"
# `kind`：`slope` 是 `"node"` 还是 `"number"`？再求一次导：`again` 是 `gradients(constant(slope), x)` 的值，`extended` 是 `gradients(gradients(y, x), x)` 的值，都在 $x = c$ 处。

# %% [markdown] lang="en"
# `kind`: is `slope` a `"node"` or a `"number"`? Then differentiate once more: `again` is the value of `gradients(constant(slope), x)`, `extended` that of `gradients(gradients(y, x), x)`, both at $x = c$.

# %% solution="predict-second" answers="kind again extended"
# cell: predict-second
### BEGIN SOLUTION
kind = "number"
again = 0
extended = 6 * a * c
### END SOLUTION

# %%
reveal("predict-second")
x = variable((), name="x")
y = a * x**3
(slope,) = engine.immediate_gradients(y, x, {x: c})
print(f"immediate_gradients: {type(slope).__name__}, {slope}")
first = engine.gradients(y, x)
second = engine.gradients(first, x)
print("gradients:", *first, *second)
print(*engine.Executor([*engine.gradients(constant(slope), x), *second])({x: c}))
draw.graph(second, values=False, title="y''", language=language)

# %% test="predict-immediate"
check("predict-immediate")

# %% test="gradients"
check("gradients")

# %% test="several-outputs"
check("several-outputs")

# %% test="scale"
check("scale")

# %% [markdown] lang="zh"
# ## 4 图随阶数增长
#
# 从变量 $x$ 起，同一个函数作用若干次：

# %% [markdown] lang="en"
# ## 4 Growth with the order
#
# One function, applied several times from a variable $x$:

# %%
print(f"y = {f'{function}(' * times}x{')' * times}")

# %% [markdown] lang="zh"
# `graph_size` 数出节点所依赖的全部节点，包括它自己和常量。`size`：$y$ 的图有几个节点？`slope_size`：`gradients(y, x)` 的图有几个？函数的 `vjp` 写在 `graph.py` 里：数它建的节点；不再被用到的节点不算。

# %% [markdown] lang="en"
# `graph_size` counts all nodes that a node depends on, itself and constants included. `size`: how many has the graph of $y$? `slope_size`: how many has that of `gradients(y, x)`? The function's `vjp` stands in `graph.py`: count the nodes it makes. Those that nothing uses any more don't count.

# %% solution="predict-sizes" answers="size slope_size"
# cell: predict-sizes
### BEGIN SOLUTION
size = times + 1
added = {"sin": 2, "cos": 3, "exp": 1, "tanh": 4}[function]  # by each rule
chain = size if function in ("exp", "tanh") else size - 1  # a rule of sin or cos does not use its own node
slope_size = chain + 1 + added * times  # 1: the seed
### END SOLUTION

# %%
reveal("predict-sizes")


def sizes(times, orders=5):
    """The size of the graph of y, y', y'', …"""
    x = variable((), name="x")
    y = x
    for _ in range(times):
        y = getattr(graph, function)(y)
    counted = [graph.graph_size(y)]
    for _ in range(orders):
        (y,) = engine.gradients(y, x)
        counted.append(graph.graph_size(y))
    return counted


print(f"{'order':>14}", *(f"{order:6}" for order in range(6)))
for count in (times, 2 * times, 4 * times):
    print(f"{count:6} × {function:5}", *(f"{size:6}" for size in sizes(count)))

# %% [markdown] lang="zh"
# 横看：每多求一阶，图约大到三倍。竖看：阶数固定时，图与 $y$ 的图成正比。下一个实验会合并相同的节点。

# %% [markdown] lang="en"
# Along a row, each order makes the graph about three times as large. Down a column, at a fixed order, it is proportional to the graph of $y$. The next lab merges equal nodes.

# %% test="predict-growth"
check("predict-growth")

# %% test="higher-order"
check("higher-order")

# %% [markdown] lang="zh"
# ## 5 两种模式要走几遍
#
# 求整个雅可比矩阵，每一遍给出它的一列（`jvp`）或一行（`vjp`）。四个函数：
#
# 1. 一层网络的损失，对权重 `W` 和偏置 `b`；数据是常量
# 2. 一个角 `t` 决定的曲线上各点的坐标 `(cos kt, sin kt)`
# 3. `A @ z`，对向量 `z`；`A` 是常量
# 4. 函数 1 的梯度，对 `W` 和 `b`

# %% [markdown] lang="en"
# ## 5 How many passes each mode makes
#
# For a whole Jacobian matrix, each pass gives a column (`jvp`) or a row (`vjp`). Four functions:
#
# 1. the loss of a layer, by its weights `W` and biases `b`; the data are constant
# 2. the coordinates `(cos kt, sin kt)` of points on a curve, by one angle `t`
# 3. `A @ z`, by the vector `z`; `A` is constant
# 4. the gradient of function 1, by `W` and `b`

# %%
print(f"1, 4:  W ({features}, {classes}), b ({classes},)")
print(f"2:     k = 0 … {points - 1}")
print(f"3:     A ({rows}, {columns})")

# %% [markdown] lang="zh"
# `forward`、`reverse`：两种模式各要几遍，各 4 个数。`better`：哪种遍数少，4 个词：`"forward"`、`"reverse"`，或者一样多时 `"either"`。

# %% [markdown] lang="en"
# `forward`, `reverse`: how many passes each mode makes, 4 numbers each. `better`: which makes fewer, 4 words: `"forward"`, `"reverse"`, or `"either"` if there is no difference.

# %% solution="predict-passes" answers="forward reverse better"
# cell: predict-passes
### BEGIN SOLUTION
weights = features * classes + classes
forward = [weights, 1, columns, weights]
reverse = [1, 2 * points, rows, weights]
better = ["reverse", "forward", "reverse" if rows < columns else "forward", "either"]
### END SOLUTION

# %%
reveal("predict-passes")
random = np.random.default_rng(n)
data, labels = constant(random.normal(size=(8, features))), constant(random.integers(classes, size=8))
W, b = variable((features, classes), name="W"), variable(classes, name="b")
loss = graph.mean(graph.softmax_cross_entropy(data @ W + b, labels))
t, z = variable((), name="t"), variable(columns, name="z")
angles = t * np.arange(points)
functions = [
    ([loss], [W, b]),
    ([cos(angles), sin(angles)], [t]),
    ([constant(random.normal(size=(rows, columns))) @ z], [z]),
    (engine.gradients(loss, [W, b]), [W, b]),
]
feeds = {node: random.normal(size=node.shape) for node in (W, b, t, z)}


def directions(nodes):
    """For every entry of every node: 1 there and 0 elsewhere."""
    for place, node in enumerate(nodes):
        for entry in np.ndindex(*node.shape):
            arrays = [np.zeros(one.shape) for one in nodes]
            arrays[place][entry] = 1.0
            yield arrays


def ran(passes):
    """The arrays of each pass, joined to one vector."""
    found = [engine.Executor(nodes)(feeds) for nodes in passes]
    return np.array([np.concatenate([np.ravel(array) for array in arrays]) for arrays in found])


for outputs, inputs in functions:
    by_columns = ran([engine.jvp(outputs, inputs, one) for one in directions(inputs)]).T
    by_rows = ran([engine.vjp(outputs, inputs, one) for one in directions(outputs)])
    K_, N_ = by_columns.shape
    print(f"J ({K_}, {N_}): {N_} × jvp, {K_} × vjp, difference {abs(by_columns - by_rows).max():.1e}")

# %% test="predict-modes"
check("predict-modes")

# %% test="jvp"
check("jvp")

# %% test="hvp"
check("hvp")

# %% [markdown] lang="zh"
# ## 6 网络与损失，两张图
#
# 第一张是用网络的人看到的：数据进，得分出，权重是常量。第二张是训练时求导的函数：权重进，损失出，数据是常量。同一段代码建出两张图。

# %% [markdown] lang="en"
# ## 6 Network and loss, two graphs
#
# The first is what users of a network see: data in, scores out, weights constant. The second is the function that training differentiates: weights in, loss out, data constant. The same code builds both.

# %%
from IPython.display import HTML


def network(x, W, U):
    return graph.relu(x @ W) @ U


def pictured(title, output, constants):
    return draw.graph(output, shapes=True, names=constants, title=title, language=language).html


shapes = {"W": (64, 32), "U": (32, 10)}
x, fixed = variable((8, 64), name="x"), {name: constant(np.ones(shape)) for name, shape in shapes.items()}
left = pictured("网络 network", network(x, **fixed), {node: name for name, node in fixed.items()})
x, labels = constant(np.ones((8, 64))), constant(np.zeros(8, int))
weights = {name: variable(shape, name=name) for name, shape in shapes.items()}
loss = graph.mean(graph.softmax_cross_entropy(network(x, **weights), labels))
right = pictured("损失 loss", loss, {x: "x", labels: "y"})
HTML(f'<div style="display: flex; flex-wrap: wrap; align-items: start">{left}{right}</div>')

# %% [markdown] lang="zh"
# 写出梯度下降的一步：新的权重是旧权重减去学习率乘梯度。不改动传入的数组。

# %% [markdown] lang="en"
# Write a step of gradient descent: the new weights are the old ones, less the learning rate times the gradient. Leave the arrays that are handed in as they are.


# %% solution="sgd-step" answers="stepped:4"
# cell: sgd-step
def sgd_step(weights, gradients, rate):
    """New weights as a list of arrays, from lists of arrays of equal shapes.
    由两列形状相同的数组给出新的权重。"""
    ### BEGIN SOLUTION
    return [weight - rate * gradient for weight, gradient in zip(weights, gradients)]
    ### END SOLUTION


stepped = sgd_step([w], [g], rate)[0]

# %% test="descent"
check("descent")

# %% [markdown] lang="zh"
# 手写数字：1437 张学习，360 张测试，网络带偏置。你的引擎求梯度，你的 `sgd_step` 走步，几秒之内测试正确率应达到 95 %。

# %% [markdown] lang="en"
# Handwritten digits: 1437 to learn from, 360 to test, and a network with biases. Your engine gives the gradients, your `sgd_step` takes the steps, and within seconds at least 95 % of the test should be right.

# %%
from labkit.data import digits

try:
    from tqdm.auto import tqdm
except ImportError:
    tqdm = list  # 没有 tqdm 也能用 / works without it

BATCH, SHAPES = 32, {"W": (64, 128), "b": (128,), "U": (128, 10), "c": (10,)}
images, truth = digits()
images = images.reshape(len(images), -1)
order = np.random.default_rng(2026).permutation(len(images))
learn, test = order[:1437], order[1437:]


def nodes_for(batch):
    """Nodes of images and labels, of the scores, and of the weights."""
    x, labels = variable((batch, 64), np.float32), variable(batch, np.int64)
    weights = W, b, U, c = [variable(shape, np.float32) for shape in SHAPES.values()]
    return x, labels, graph.relu(x @ W + b) @ U + c, weights


def beginning(shape):
    """A matrix by He's rule, or biases of zero."""
    scale = np.sqrt(2 / shape[0]) if len(shape) == 2 else 0.0
    return (scale * random.normal(size=shape)).astype(np.float32)


random = np.random.default_rng(n)
arrays = [beginning(shape) for shape in SHAPES.values()]
x, labels, given, weights = nodes_for(BATCH)
loss = graph.mean(graph.softmax_cross_entropy(given, labels))
step = engine.Executor([loss, *engine.gradients(loss, weights)])
losses = []
for _ in tqdm(range(30)):
    random.shuffle(learn)
    for start in range(0, len(learn) - BATCH + 1, BATCH):
        chosen = learn[start : start + BATCH]
        value, *slopes = step({x: images[chosen], labels: truth[chosen], **dict(zip(weights, arrays))})
        arrays = sgd_step(arrays, slopes, 0.3)
        losses.append(float(value))

x, _, given, weights = nodes_for(len(test))
(found,) = engine.Executor(given)({x: images[test], **dict(zip(weights, arrays))})
share = np.mean(found.argmax(axis=1) == truth[test])
print(f"loss {np.mean(losses[:44]):.3f} → {np.mean(losses[-44:]):.3f}")
print(f"test {share:.1%} {'✓' if share >= 0.95 else '✗'}")

# %% [markdown] lang="zh"
# ## 7 设备
#
# 启动核函数只是排队：处理器不等它算完。设备按次序逐个运行，第一个一排好就开始。

# %% [markdown] lang="en"
# ## 7 The device
#
# A launch only joins a queue: the processor does not wait for the kernel. The device runs them in turn, the first as soon as it is queued.

# %%
print(f"{launches} launches, {queueing} µs each to queue one")
print(f"a kernel runs {long_kernel} µs (long) or {short_kernel} µs (short)")

# %% [markdown] lang="zh"
# 秒表从第一次排队之前走起。`long`、`short`：核函数长或短时，`[不同步, 同步]` 的读数，以 µs 计：不同步就在排完最后一个时停表；同步则等设备算完才停。

# %% [markdown] lang="en"
# A clock starts before the first is queued. `long`, `short`: what it says for long and for short kernels, `[without, with]` synchronise, in µs. Without, it is stopped when the last has been queued; with it, when the device has finished.

# %% solution="predict-clock" answers="long short"
# cell: predict-clock
### BEGIN SOLUTION
long = [launches * queueing, queueing + launches * long_kernel]
short = [launches * queueing, launches * queueing + short_kernel]
### END SOLUTION

# %%
reveal("predict-clock")
import matplotlib.pyplot as plt


def simulated(kernel):
    """For each launch when it is queued, starts and ends, in µs, by the rules above."""
    free, told = 0, []
    for launch in range(1, launches + 1):
        start = max(launch * queueing, free)
        free = start + kernel
        told.append((launch * queueing, start, free))
    return told


figure, axes = plt.subplots(2, figsize=(9, 3), layout="constrained")
figure.suptitle("Simulated with the numbers above: no measurement")
for kernel, plot in zip((long_kernel, short_kernel), axes):
    told = simulated(kernel)
    queued, finished = told[-1][0], told[-1][-1]
    print(f"{kernel:4} µs: without synchronise {queued}, with {finished} (模拟 / simulated)")
    plot.broken_barh([(end - queueing, 0.9 * queueing) for end, _, _ in told], (1, 0.8), color="tab:blue")
    plot.broken_barh([(start, 0.9 * kernel) for _, start, _ in told], (0, 0.8), color="tab:orange")
    plot.set_yticks([0.4, 1.4], ["device", "processor"])
    plot.axvline(queued, color="black", linestyle=":")
    plot.axvline(finished, color="black")
axes[-1].set_xlabel("µs; dotted: clock without synchronise, solid: with")
plt.show()

# %% [markdown] lang="zh"
# 上面是按你的数**模拟**的，不是实测。有 GPU 时，下面实测一次 CuPy 的矩阵乘法；没有就略过。

# %% [markdown] lang="en"
# The picture above is **simulated** with your numbers, not measured. Where there is a GPU, products of matrices by CuPy are measured here; elsewhere, nothing is.

# %%
import time

if cuda.backend_name() == "gpu":
    import cupy

    matrix = cupy.ones((2048, 2048), cupy.float32)
    for count in (1, launches):  # 第一遍是热身 / the first is a warm-up
        start = time.perf_counter()
        for _ in range(count):
            matrix @ matrix
        queued = time.perf_counter() - start
        cupy.cuda.get_current_stream().synchronize()
        finished = time.perf_counter() - start
    print(f"without synchronise {1e6 * queued:.0f} µs, with {1e6 * finished:.0f} µs (实测 / measured)")
else:
    print("没有 GPU，没有实测 / no GPU, nothing measured")

# %% test="predict-launches"
check("predict-launches")

# %% [markdown] lang="zh"
# 同样的一步训练，由你的核函数和由 NumPy 计算。没有 GPU 时，核函数在处理器上运行。

# %% [markdown] lang="en"
# The same step of training, by your kernels and by NumPy. Without a GPU, kernels run on the processor.

# %%
x, labels, given, weights = nodes_for(8)
loss = graph.mean(graph.softmax_cross_entropy(given, labels))
feeds = {x: images[:8], labels: truth[:8], **dict(zip(weights, arrays))}
wanted = [loss, *engine.gradients(loss, weights)]
device = engine.Executor(wanted, backend="cuda")
for name, one, other in zip(["loss", *SHAPES], device(feeds), engine.Executor(wanted)(feeds)):
    print(f"{name:5} {np.linalg.norm(one):8.4f}   difference {np.linalg.norm(one - other):.1e}")
print("fallbacks:", dict(device.device.fallbacks), "reports:", device.device.reports)

# %% test="column-sum"
check("column-sum")

# %% test="matmul-adjoints"
check("matmul-adjoints")

# %% test="device-step"
check("device-step")

# %% [markdown] lang="zh"
# **API 日记**：你在 CUDA 部分写过矩阵乘法或 softmax。要让这张图（经 `operators.toml`）调用它，它的接口和内容要改什么？标量实验里需要的，现在有什么不再需要？每处一句话，说明为什么。

# %% [markdown] lang="en"
# **API diary**: in the course's CUDA part you wrote a matrix product or a softmax. What of its interface and its body must change so that this graph can call it (through `operators.toml`)? What that lab 1 needed is not needed any more? One sentence each, with the reason.

# %% [markdown] manual="api-diary" points=3 lang="zh"
# *在这里作答。*
#
# ### BEGIN MARK SCHEME
# 每说清一处并给出理由得 1 分，最多 3 分。例如：
# 不再需要反向核函数：梯度也是图，矩阵乘法的伴随量就是矩阵乘法和转置，正向的核函数两个方向都用；
# 不再向伴随量累加：核函数写入新的数组，求和由加法节点完成，因此每个元素都必须写到；
# 输出由调用者分配，核函数不分配、不拷贝、不同步，因为执行器只是按次序启动；
# 参数的名字、次序和块的大小要写进 operators.toml，类型为 float32，任意行列数都要有边界判断；
# 不得改动输入，因为别的节点还要用它。
# ### END MARK SCHEME

# %% [markdown] manual="api-diary" points=3 lang="en"
# *Your answer here.*
#
# ### BEGIN MARK SCHEME
# 1 point for each change that is clear and has its reason, 3 at most. For example:
# no backward kernel any more: a gradient is graph, the adjoints of a matrix product are products and transposes, so forward kernels serve both ways;
# it does not add to adjoints: it writes a new array, as addition is a node of its own, and so it must write every entry;
# the caller allocates the output; the kernel does not allocate, copy or synchronise, as the executor just launches in order;
# names and order of arguments and the block stand in operators.toml; float32; guards for any numbers of rows and columns;
# it leaves its inputs alone, as other nodes use them.
# ### END MARK SCHEME

# %% [markdown] lang="zh"
# 交作业前：菜单 Kernel → Restart Kernel and Run All Cells，从头到尾再看一遍；然后 `python -m labkit pack lab2`。

# %% [markdown] lang="en"
# Before you hand in: menu Kernel → Restart Kernel and Run All Cells, and read once more from top to bottom; then `python -m labkit pack lab2 --language en`.
