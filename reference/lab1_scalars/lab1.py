# %% [markdown] lang="zh"
# # 标量自动微分
#
# 代码写在 `graph.py`、`engine.py`、`cuda_ops.py` 和 `kernels.cu` 里；这里用它们来预测、实验和作答。先预测、后运行：每道题都用你自己的数。保存文件之后运行任一单元格，改动就会载入，不必重启。
#
# 预测 15 分，`break_it` 5 分；`check` 单元格逐项报告全部 140 分的情况。请把每一行 `raise NotImplementedError` 换成你的答案。

# %% [markdown] lang="en"
# # Scalar automatic differentiation
#
# Code goes into `graph.py`, `engine.py`, `cuda_ops.py` and `kernels.cu`; here you predict, experiment and answer with it. Predict first, then run: each question uses numbers of your own. Save a file, run any cell, and the change is loaded; there is no need to restart.
#
# Predictions are worth 15 points and `break_it` 5; the cells with `check` report on all 140. Replace each line `raise NotImplementedError` by your answer.

# %% lang="zh"
import sys

sys.path[:0] = ["..", "../.."]  # labkit
from labkit import break_it, draw
from labkit.notebook import begin, check, expose, reveal, whose_numbers

language = "zh"
begin(language)

# %% lang="en"
import sys

sys.path[:0] = ["..", "../.."]  # labkit
from labkit import break_it, draw
from labkit.notebook import begin, check, expose, reveal, whose_numbers

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
from labkit.predict import number

n = number(globals().get("student", ""))  # 0 … 15
x1, x2 = [1.5, 2.5, 3.0, 4.0][n % 4], [1.0, 2.0, 3.0, 4.0][n // 4]
l0 = 0.11 + 0.05 * n
a, b, p = [(5, 3, 2), (7, 3, 2), (7, 5, 2), (5, 2, 3), (7, 2, 3), (9, 5, 4), (9, 2, 3), (8, 5, 3)][n // 2]
expression = f"{a} - {b} * x**{p}" if n % 2 == 0 else f"{b} * ({a} - x**{p})"
twice = [name for bit, name in enumerate("abcd") if (1 + n % 14) >> bit & 1]
formula = " + ".join(["a * b", "c * d", *(f"exp({name})" for name in twice)])
k = 2 + n % 4
theta = [0.3, 0.7, 0.9, 1.2, 1.4, 1.7, 1.9, 2.2][n % 8]

# %% setup="true"
import numpy as np

import engine
import graph
from graph import cos, exp, log, sin, tanh, variable

# %%
whose_numbers()

# %% [markdown] lang="zh"
# ## 1 图是怎样长出来的
#
# `x` 是变量。运行下面这行代码，节点按什么次序创建？

# %% [markdown] lang="en"
# ## 1 How the graph grows
#
# `x` is a variable. In which order are nodes created when this line of code runs?

# %%
print(expression)

# %% [markdown] lang="zh"
# `creation`：按创建次序列出 6 个新节点。常量写它的数，运算写它的符号，例如 `[4, "+", …]`。`x` 已经有了，不必写。

# %% [markdown] lang="en"
# `creation`: the 6 new nodes in order of creation. Write a constant as its number and an operation as its sign, as in `[4, "+", …]`. `x` is there already; leave it out.

# %% solution="predict-creation" answers="creation"
# cell: predict-creation
### BEGIN SOLUTION
creation = [p, "**", b, "*", a, "-"] if n % 2 == 0 else [p, "**", a, "-", b, "*"]
### END SOLUTION

# %%
reveal("predict-creation")
created, make = [], graph.Node.__init__


def noting(node, *given, **named):
    make(node, *given, **named)
    created.append(node)


x = variable(3.0, "x")
graph.Node.__init__ = noting  # 记下每个新节点 / note every new node
try:
    y = eval(expression)
finally:
    graph.Node.__init__ = make
print([node.op.name if node.op else node.value for node in created])
draw.graph(y, title=expression, language=language)

# %% [markdown] lang="zh"
# **书面回答**：是谁决定了这个次序？它和 `topological_order` 给出的次序是一回事吗？三四句话。

# %% [markdown] lang="en"
# **In words**: who decided this order? Is it the same thing as the order that `topological_order` gives? Three or four sentences.

# %% [markdown] manual="who-decided" points=3 lang="zh"
# *在这里作答。*
#
# ### BEGIN MARK SCHEME
# 1 分：Python 的语法（运算符优先级和括号）决定求值次序，节点在求值时产生。
# 1 分：数在左边时调用右操作数的反射方法（`__rmul__`、`__rsub__`），其中的数这时才变成常量节点；图的代码只是记录。
# 1 分：不是一回事。拓扑排序只要求输入在使用者之前，正确的次序往往有好几种；创建次序恰好是其中一种。
# ### END MARK SCHEME

# %% [markdown] manual="who-decided" points=3 lang="en"
# *Your answer here.*
#
# ### BEGIN MARK SCHEME
# 1 point: Python's grammar (precedence and parentheses) decides the order of evaluation, and evaluating makes the nodes.
# 1 point: where a number stands on the left, the reflected method of the right operand is called (`__rmul__`, `__rsub__`), and only then does the number become a node; the code of the graph just records.
# 1 point: not the same. A topological order only asks for inputs before users, so several are right; the order of creation happens to be one of them.
# ### END MARK SCHEME

# %% test="reflected-operators"
check("reflected-operators")

# %% test="local-derivatives"
check("local-derivatives")

# %% test="corners"
check("corners")

# %% [markdown] lang="zh"
# ## 2 同一个导数，五种求法
#
# 逻辑斯谛映射 $l \leftarrow 4\,l\,(1-l)$ 从 $l_0$ 起作用三次。先手算：每一步用一次链式法则，写成代码。

# %% [markdown] lang="en"
# ## 2 One derivative, five ways
#
# The logistic map $l \leftarrow 4\,l\,(1-l)$, applied three times from $l_0$. By hand first: one use of the chain rule in each step, written as code.


# %%
def logistic(l, times=3):
    for _ in range(times):
        l = 4 * l * (1 - l)
    return l


print(f"l0 = {l0:.2f}, l3 = {logistic(l0):.6f}")


# %% solution="by-hand"
# cell: by-hand
# 返回 dl3/dl0 的数值 / gives the number dl3/dl0
### BEGIN SOLUTION
def by_hand(l):
    slope = 1.0
    for _ in range(3):
        slope *= 4 - 8 * l
        l = 4 * l * (1 - l)
    return slope


### END SOLUTION

# %%
import sympy

symbol = sympy.Symbol("x")
derivative = sympy.diff(logistic(symbol), symbol)
print(derivative)


def by_mode(mode):
    x = variable(l0)
    y = logistic(x)
    return engine.forward_mode(y, x, [1.0])[0] if mode == "forward" else engine.reverse_mode(y)[x]


ways = {
    "手算 by hand": lambda: by_hand(l0),
    "符号 sympy": lambda: float(derivative.subs(symbol, l0)),
    "差分 central difference": lambda: engine.central_difference(lambda v: logistic(v[0]), [l0])[0][0],
    "前向模式 forward mode": lambda: by_mode("forward"),
    "反向模式 reverse mode": lambda: by_mode("reverse"),
}
for name, way in ways.items():
    try:
        print(f"{way():20.14f}  {name}")
    except (NotImplementedError, NameError):
        print(f"{'—':>20}  {name}: 尚未完成 / not there yet")

# %% [markdown] lang="zh"
# ## 3 两种模式
#
# 课上的例子 $y = \ln x_1 + x_1 x_2 - \sin x_2$，换成你的 $(x_1, x_2)$：$v_1 = x_1$，$v_2 = x_2$，$v_3 = \ln v_1$，$v_4 = v_1 v_2$，$v_5 = \sin v_2$，$v_6 = v_3 + v_4$，$v_7 = v_6 - v_5$。

# %% [markdown] lang="en"
# ## 3 Two modes
#
# The lecture's example $y = \ln x_1 + x_1 x_2 - \sin x_2$ at your own $(x_1, x_2)$: $v_1 = x_1$, $v_2 = x_2$, $v_3 = \ln v_1$, $v_4 = v_1 v_2$, $v_5 = \sin v_2$, $v_6 = v_3 + v_4$, $v_7 = v_6 - v_5$.

# %%
print(f"x1 = {x1}, x2 = {x2}")

# %% [markdown] lang="zh"
# `tangents`：前向模式、方向 $(1, 0)$ 时 $v_1 \dots v_7$ 的切量，7 个数，保留两位小数。

# %% [markdown] lang="en"
# `tangents`: the tangents of $v_1 \dots v_7$ in forward mode with direction $(1, 0)$, 7 numbers with two decimals.


# %% solution="predict-tangents" answers="tangents:2"
# cell: predict-tangents
### BEGIN SOLUTION
def nodes_of_the_example():
    v1, v2 = variable(x1), variable(x2)
    v3, v4, v5 = log(v1), v1 * v2, sin(v2)
    v6 = v3 + v4
    return [v1, v2, v3, v4, v5, v6, v6 - v5]


v = nodes_of_the_example()
tangents = engine.forward_mode(v, v[:2], [1.0, 0.0])
### END SOLUTION

# %% [markdown] lang="zh"
# `adjoints`：反向模式中 $v_1 \dots v_7$ 的（总）伴随量，7 个数，保留两位小数。`arrivals`：每个节点收到几个部分伴随；$v_7$ 收到种子，算 1 个。

# %% [markdown] lang="en"
# `adjoints`: the (total) adjoints of $v_1 \dots v_7$ in reverse mode, 7 numbers with two decimals. `arrivals`: how many partial adjoints each node receives; $v_7$ receives its seed, which counts as 1.

# %% solution="predict-adjoints" answers="adjoints:2 arrivals"
# cell: predict-adjoints
### BEGIN SOLUTION
v1, v2 = variable(x1), variable(x2)
v3, v4, v5 = log(v1), v1 * v2, sin(v2)
v6 = v3 + v4
v7 = v6 - v5
record = {}
found = engine.reverse_mode(v7, record=record)
adjoints = [found[node] for node in (v1, v2, v3, v4, v5, v6, v7)]
arrivals = [len(record[node]) for node in (v1, v2, v3, v4, v5, v6, v7)]
### END SOLUTION

# %%
reveal("predict-tangents")
v1, v2 = variable(x1, "x1"), variable(x2, "x2")
v3, v4, v5 = log(v1), v1 * v2, sin(v2)
v6 = v3 + v4
v7 = v6 - v5
for i, tangent in enumerate(engine.forward_mode([v1, v2, v3, v4, v5, v6, v7], [v1, v2], [1.0, 0.0]), 1):
    print(f"v{i}: {tangent:8.4f}")
draw.sweep(v7, mode="forward", inputs=[v1, v2], direction=[1.0, 0.0], title="∂/∂x₁", language=language)

# %%
reveal("predict-adjoints")
record = {}
found = engine.reverse_mode(v7, record=record)
for i, node in enumerate((v1, v2, v3, v4, v5, v6, v7), 1):
    print(f"v{i}: {found[node]:8.4f} =", " + ".join(f"({partial:.4f})" for partial in record[node]))
draw.sweep(v7, mode="reverse", title="∂y/∂·", language=language)

# %% test="topological-order"
check("topological-order")

# %% test="forward-mode"
check("forward-mode")

# %% test="reverse-mode"
check("reverse-mode")

# %% test="bypass"
check("bypass")

# %% test="lookup"
check("lookup")

# %% test="jacobian"
check("jacobian")

# %% [markdown] lang="zh"
# ## 4 有错的引擎
#
# `break_it.overwrite` 写的是 `node_to_grad[k] = g`，而不是 `+= g`。四个变量 a、b、c、d 各取一个正数。

# %% [markdown] lang="en"
# ## 4 Wrong engines
#
# `break_it.overwrite` says `node_to_grad[k] = g` instead of `+= g`. The variables a, b, c, d are positive numbers.

# %%
print("f =", formula)

# %% [markdown] lang="zh"
# `survivors`：哪些变量的梯度仍然正确？写成集合，例如 `{"a", "b"}`。

# %% [markdown] lang="en"
# `survivors`: which variables still get the right gradient? A set such as `{"a", "b"}`.

# %% solution="predict-survivors" answers="survivors"
# cell: predict-survivors
### BEGIN SOLUTION
survivors = set("abcd") - set(twice)
### END SOLUTION

# %%
reveal("predict-survivors")
named = {name: variable(value, name) for name, value in zip("abcd", (0.5, 1.5, 2.0, 3.0))}
f = eval(formula, {"exp": exp, **named})
overwritten, right = break_it.overwrite(f), engine.reverse_mode(f)
for name, node in named.items():
    print(f"{name}: overwrite {overwritten[node]:8.4f}   reverse_mode {right[node]:8.4f}")

# %% [markdown] lang="zh"
# `break_it.breadth_first` 会累加，但从输出开始一层一层地走：$v_1$ 是变量，$v_{i+1} = \sin v_i$ 直到 $v_6$，而 $v_7 = v_k + v_6$，你的 $k$ 如下。它先处理加号左边的输入。

# %% [markdown] lang="en"
# `break_it.breadth_first` adds up, but walks level by level from the output: $v_1$ is a variable, $v_{i+1} = \sin v_i$ up to $v_6$, and $v_7 = v_k + v_6$ with your $k$ below. Of the sum's inputs it takes the left one first.

# %%
print(f"k = {k}: v7 = v{k} + v6")

# %% [markdown] lang="zh"
# `wrong_nodes`：走完之后，哪些节点的伴随量是错的？写成集合，例如 `{"v6", "v7"}`。

# %% [markdown] lang="en"
# `wrong_nodes`: which nodes have a wrong adjoint in the end? A set such as `{"v6", "v7"}`.

# %% solution="predict-breadth-first" answers="wrong_nodes"
# cell: predict-breadth-first
### BEGIN SOLUTION
wrong_nodes = {f"v{i}" for i in range(1, k)}
### END SOLUTION

# %%
reveal("predict-breadth-first")
chain = [variable(0.8, "v1")]
while len(chain) < 6:
    chain.append(sin(chain[-1]))
chain.append(chain[k - 1] + chain[5])
found, right = break_it.breadth_first(chain[-1]), engine.reverse_mode(chain[-1])
for i, node in enumerate(chain, 1):
    print(f"v{i}: breadth_first {found[node]:8.4f}   reverse_mode {right[node]:8.4f}")

# %% [markdown] lang="zh"
# ### break_it
#
# `labkit/break_it.py` 里有三个错的引擎，先读一读。为每一个交出节点最少的图，让它对某个变量求错导：`(输出, 变量, [输出, …, 变量])`，最后是丢失的那条路径上的节点。常量也算节点；变量取什么值由你决定。

# %% [markdown] lang="en"
# ### break_it
#
# `labkit/break_it.py` holds three wrong engines; read them. For each, hand in the graph with the fewest nodes on which it gets a variable's derivative wrong: `(output, variable, [output, …, variable])`, where the last names the nodes along the lost path. Constants count as nodes; the variable's value is yours to choose.

# %% solution="overwrite"
# cell: overwrite
# overwrite = (output, variable, [output, …, variable])
### BEGIN SOLUTION
x = variable(3.0, "x")
y = x * x
overwrite = (y, x, [y, x])
### END SOLUTION

# %%
expose("overwrite")

# %% solution="breadth-first"
# cell: breadth-first
# breadth_first = (output, variable, [output, …, variable])
### BEGIN SOLUTION
x = variable(0.7, "x")
v = sin(x)
w = v * v
y = v + w
breadth_first = (y, x, [y, w, v, x])
### END SOLUTION

# %%
expose("breadth-first")

# %% solution="once-by-value"
# cell: once-by-value
# once_by_value = (output, variable, [output, …, variable])
### BEGIN SOLUTION
x = variable(0.0, "x")
v = sin(x)
y = sin(v)
once_by_value = (y, x, [y, v, x])
### END SOLUTION

# %%
expose("once-by-value")

# %% [markdown] lang="zh"
# ## 5 差分
#
# $f(\theta) = \theta^2 + 10^6$，用 float32 计算。$10^6$ 附近的 float32 相隔 1/16，运算结果舍入到最近的一个。

# %% [markdown] lang="en"
# ## 5 Differences
#
# $f(\theta) = \theta^2 + 10^6$, computed in float32. Near $10^6$, numbers of float32 lie 1/16 apart, and results are rounded to the nearest.

# %%
print(f"θ = {theta}, f'(θ) = {2 * theta:.1f}")

# %% [markdown] lang="zh"
# 中心差分 $(f(\theta+h)-f(\theta-h))/(2h)$ 会给出什么？`large_step`：$h = 1$；`small_step`：$h = 0.01$。保留两位小数。

# %% [markdown] lang="en"
# What does the central difference $(f(\theta+h)-f(\theta-h))/(2h)$ give? `large_step`: for $h = 1$; `small_step`: for $h = 0.01$. Two decimals.


# %% solution="predict-difference" answers="large_step:2 small_step:2"
# cell: predict-difference
### BEGIN SOLUTION
def rounded(value):
    return round(16 * value) / 16  # 10⁶ is a multiple of 1/16 itself


large_step, small_step = (
    (rounded((theta + h) ** 2) - rounded((theta - h) ** 2)) / (2 * h) for h in (1.0, 0.01)
)
### END SOLUTION

# %%
reveal("predict-difference")
for h in (1.0, 0.1, 0.01, 0.001):
    for dtype in (np.float32, np.float64):
        slope, _ = engine.central_difference(lambda v: v[0] ** 2 + 10**6, np.array([theta], dtype), h)
        print(f"h = {h:<6} {dtype.__name__}: {slope[0]:10.6f}")

# %% [markdown] lang="zh"
# 步长太大是截断误差，太小是舍入误差：误差画出来是 U 形。

# %% [markdown] lang="en"
# A large step costs truncation, a small one rounding: the error is shaped like a U.

# %%
import matplotlib.pyplot as plt

try:
    from tqdm.auto import tqdm
except ImportError:
    tqdm = list  # 没有 tqdm 也能用 / works without it

steps, around = np.logspace(0, -12, 61), np.linspace(0.9, 1.1, 21)


def worst_error(difference, dtype, h):
    slopes = [difference(lambda v: np.exp(v[0]), np.array([at], dtype), h)[0][0] for at in around]
    return max(abs(slopes / np.exp(around) - 1))


for dtype in (np.float32, np.float64):
    for difference in (engine.forward_difference, engine.central_difference):
        errors = [worst_error(difference, dtype, h) for h in tqdm(steps)]
        plt.loglog(steps, errors, label=f"{difference.__name__}, {dtype.__name__}")
plt.xlabel("h")
plt.ylabel("relative error of exp'")
plt.legend()
plt.show()

# %% test="central-difference"
check("central-difference")

# %% [markdown] lang="zh"
# ## 6 表达式膨胀
#
# 同一个函数：写成图有几个节点，展开成表达式又有几个？sympy 的导数有几次运算？

# %% [markdown] lang="en"
# ## 6 Expression swell
#
# One function: how many nodes has its graph, and how many its expression written out? How many operations has sympy's derivative?

# %%
print("times   graph   expression   sympy's derivative")
for times in range(1, 9):
    y = logistic(variable(l0), times)
    swollen = sympy.count_ops(sympy.diff(logistic(symbol, times), symbol))
    print(f"{times:5} {graph.graph_size(y):7} {graph.expression_size(y):12} {swollen:20}")

# %% [markdown] lang="zh"
# ## 7 代价与参数个数 N
#
# Rosenbrock 函数有 $N$ 个参数。差分要调用函数 $2N$ 次，反向模式只走一遍。

# %% [markdown] lang="en"
# ## 7 Cost against the number of parameters N
#
# Rosenbrock's function has $N$ parameters. Differences call it $2N$ times; reverse mode makes one pass.

# %%
import time


def rosenbrock(x):
    return sum((1 - x[i]) ** 2 + 100 * (x[i + 1] - x[i] ** 2) ** 2 for i in range(len(x) - 1))


def seconds(run, N):
    start = time.perf_counter()
    run(N)
    return time.perf_counter() - start


def by_differences(N):
    engine.central_difference(lambda v: rosenbrock(v.tolist()), np.linspace(0.5, 1.5, N))


def by_reverse(N):
    engine.reverse_mode(rosenbrock([variable(value) for value in np.linspace(0.5, 1.5, N)]))


sizes = [10, 20, 50, 100, 200, 500]
for way, look in ((by_differences, "o-"), (by_reverse, "s-")):
    plt.loglog(sizes, [seconds(way, N) for N in tqdm(sizes)], look, label=way.__name__)
plt.xlabel("N")
plt.ylabel("seconds for the whole gradient")
plt.legend()
plt.show()

# %% test="scale"
check("scale")

# %% [markdown] lang="zh"
# ## 8 核函数
#
# 同一张图，在许多点上由你的核函数求梯度，再与 `reverse_mode` 比较。没有 GPU 时，它们在处理器上运行。

# %% [markdown] lang="en"
# ## 8 Kernels
#
# The same graph at many points, its gradient computed by your kernels and compared with `reverse_mode`. Without a GPU they run on the processor.

# %%
import cuda_ops

v1, v2 = variable(x1, "x1"), variable(x2, "x2")
evaluator = cuda_ops.DeviceEvaluator(log(v1) + v1 * v2 - sin(v2), [v1, v2])
points = np.array([[x1, x2], [2.0, 5.0], [1.0, 3.0]])
print(evaluator.gradient(points))
for first, second in points:
    v1, v2 = variable(first), variable(second)
    found = engine.reverse_mode(log(v1) + v1 * v2 - sin(v2))
    print(f"reverse_mode: {found[v1]:.5f} {found[v2]:.5f}")

# %% test="launch-configuration"
check("launch-configuration")

# %% test="multiply-backward"
check("multiply-backward")

# %% test="log-backward"
check("log-backward")

# %% [markdown] lang="zh"
# **API 日记**：你在 CUDA 部分写过自己的算子。要让这张图能调用它，它的接口和内容要改什么？每处一句话，说明为什么。

# %% [markdown] lang="en"
# **API diary**: in the course's CUDA part you wrote operators of your own. What of their interface and their body must change so that this graph can call them? One sentence each, with the reason.

# %% [markdown] manual="api-diary" points=3 lang="zh"
# *在这里作答。*
#
# ### BEGIN MARK SCHEME
# 每说清一处并给出理由得 1 分，最多 3 分。例如：
# 反向核函数要接收前向的值和结果的伴随量，因为局部导数取决于它们；
# 要向操作数的伴随量累加而不是写入，因为一个节点可能有多处使用；
# 各点共用的操作数（步长 0）要原子加，否则竞争；
# 参数次序、float32 和点数 n 要与启动代码一致，n 不是块的整数倍时要有尾部判断。
# ### END MARK SCHEME

# %% [markdown] manual="api-diary" points=3 lang="en"
# *Your answer here.*
#
# ### BEGIN MARK SCHEME
# 1 point for each change that is clear and has its reason, 3 at most. For example:
# a backward kernel takes the forward values and the result's adjoint, as local derivatives depend on them;
# it adds to the adjoints of its operands instead of writing them, as a node may have several uses;
# an operand that all points share (stride 0) needs atomic addition, or threads race;
# order of arguments, float32 and the number of points n agree with the launching code, with a tail guard where n is no multiple of the block.
# ### END MARK SCHEME

# %% [markdown] lang="zh"
# 交作业前：菜单 Kernel → Restart Kernel and Run All Cells，从头到尾再看一遍；然后 `python -m labkit pack lab1`。

# %% [markdown] lang="en"
# Before you hand in: menu Kernel → Restart Kernel and Run All Cells, and read once more from top to bottom; then `python -m labkit pack lab1 --language en`.
