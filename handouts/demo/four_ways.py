# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 四种求导方法 · Four ways to differentiate
#
# $$\theta \leftarrow \theta - \frac{a}{B} \sum_{i=1}^{B} \nabla_\theta\, l\big(h_\theta(x^{(i)}),\, y^{(i)}\big)$$
#
# 训练的每一步都要算 $\nabla_\theta l$：参数可达几百亿个，损失只有一个数。手算、符号、数值、自动，哪一种算得动？
#
# Every step of training needs $\nabla_\theta l$: billions of parameters, one number as loss. By hand, symbolic, numeric, automatic: which way is up to it?

# %% tags=["parameters"]
ENGINE = None  # 学生自己的引擎 / a student's own engine: make demo ENGINE=path

# %% tags=["verdict", "folded"]
import sys
import textwrap

sys.path.insert(0, "../../handouts/demo")

from pathlib import Path

import numpy as np
import sympy
from IPython.display import Markdown, display

import differences
import figures
from cost import (
    by_differences,
    by_fast_differences,
    by_forward,
    by_reverse,
    counted_ratio,
    gradient_seconds,
    measured_ratio,
)
from engine_trial import try_engine
from extended import descend, tanh_by_formula, tanh_derivatives
from growth import sizes as growth_by_order
from jacobians import filling
from labkit import draw
from plots import side_by_side
from programs import lecture, logistic, logistic_slope, rosenbrock_point
from says import Said, power, said
from sliders import slide
from solved import load
from swell import by_hand, crossing, derivative, shared_operations, sizes, times, written

lab1 = load("lab1_scalars")
graph, engine = lab1.graph, lab1.engine
mine = try_engine(Path(ENGINE)) if ENGINE else None
Said(mine.verdict()) if mine else said("demo.engine-none")

# %% [markdown]
# ## 1 手算 · By hand
#
# 逻辑斯谛映射 $l \leftarrow 4\,l\,(1-l)$，从 $l_0 = x$ 开始迭代 $n$ 次（即作用 $n$ 次）。
#
# The logistic map $l \leftarrow 4\,l\,(1-l)$ from $l_0 = x$; $n$ iterations are $n$ applications.

# %%
numbers = range(1, 7)
formulas = [by_hand(n) for n in numbers]
Markdown("\n\n".join(written(n, *formulas[n - 1]) for n in (1, 2, 3, 4)))

# %%
side_by_side(figures.maps(range(1, 5)), figures.letters(numbers, formulas))

# %% [markdown]
# **结论**：从第二次起，每多迭代一次，导数的公式就长到近三倍；手算只适合小题目。
#
# **So**: from the second on, each application makes the derivative's formula nearly three times as long; hands are for small problems.

# %% [markdown]
# ## 2 符号微分 · Symbolic
#
# 只写前向代码，sympy 用重载的运算符记下表达式，再按法则推出导数：结果是一棵表达式树，打印出来才成为字符串。
#
# We write forward code only; sympy's overloaded operators keep the expression and `diff` applies the rules. The result is an expression tree, which only printing turns into a string.

# %%
x = sympy.Symbol("x")
df_dx = sympy.diff(logistic(x, 3), x)
print(textwrap.fill(str(df_dx), 90))
run = sympy.lambdify(x, df_dx)
print("x = 0.3:", run(0.3), " truth:", logistic_slope(0.3, 3))

# %%
swell = sizes(lab1, range(1, 11))
timed = times(lab1, range(1, 9))
slower_from = crossing(timed)
side_by_side(figures.sizes(swell), figures.build_times(timed), figures.run_times(timed, slower_from, mine))

# %%
last = swell[-1]
said("demo.swell-sizes", n=last.n, tree=last.tree, shared=last.shared, sweeps=last.sweeps)

# %%
if slower_from:
    told = said("demo.swell-crossing", n=slower_from)
else:
    told = said("demo.swell-no-crossing", n=timed[-1].n)
told

# %% [markdown]
# **结论**：膨胀来自丢失的共享：同一个中间量被反复展开；把它们合并，规模从指数降到二次；在图上直接算，只有线性。
#
# **So**: the swell is lost sharing. Each intermediate value is written out again and again; shared once more, exponential becomes quadratic; computed on the graph, linear.

# %% tags=["live"]
slide(
    lambda n: print(f"n = {n}: {shared_operations(derivative(n))} operations after sharing\n{derivative(n)}"),
    n=[1, 2, 3, 4, 5],
)

# %% [markdown]
# ## 3 数值微分 · Numeric
#
# $$f'(\theta) \approx \frac{f(\theta+h)-f(\theta)}{h}$$
#
# $$f'(\theta) \approx \frac{f(\theta+h)-f(\theta-h)}{2h}$$
#
# ### 3.1 步长 · The step
#
# $h$ 太大是截断误差，太小是舍入误差。中心差分误差最小的步长是 $h^* = \sqrt[3]{3\varepsilon |f| / |f'''|}$，前向差分是 $2\sqrt{\varepsilon |f| / |f''|}$，$\varepsilon$ 是一次舍入的最大相对误差：float64 为 $2^{-53}$，float32 为 $2^{-24}$。
#
# A large $h$ costs truncation, a small one rounding. The best step of the central difference is $h^* = \sqrt[3]{3\varepsilon |f| / |f'''|}$, that of the forward one $2\sqrt{\varepsilon |f| / |f''|}$, with $\varepsilon$ the largest relative error of one rounding: $2^{-53}$ in float64, $2^{-24}$ in float32.

# %%
steps, found = differences.curves(lab1, differences.EXPONENTIAL)
figures.u_curves(differences.EXPONENTIAL, steps, found)

# %%
for dtype in differences.DTYPES:
    measured = {method: power(steps[found[method, dtype].argmin()]) for method in differences.METHODS}
    theory = {
        f"{method}_theory": power(differences.best_step(differences.EXPONENTIAL, method, dtype))
        for method in differences.METHODS
    }
    display(said("demo.best-steps", dtype=dtype, **measured, **theory))

# %% [markdown]
# **结论**：再好的步长，中心差分也只留下约三分之二的有效数字；$10^{-5}$ 到 $10^{-6}$ 只适合 float64 的中心差分。
#
# **So**: even with the best step, a central difference keeps about two thirds of the digits; $10^{-5}$ to $10^{-6}$ suits central differences in float64 only.

# %% tags=["live"]
slide(
    lambda function, dtype: figures.u_curves(function, *differences.curves(lab1, function, dtypes=[dtype])),
    function=[(example.label, example) for example in differences.EXAMPLES],
    dtype=list(differences.DTYPES),
)

# %% [markdown]
# ### 3.2 相消 · Cancellation
#
# 损失可能很大：$f(\theta) = \theta^2 + 10^6$，在 $\theta = 0.7$ 处真值是 1.4。float32 的数在 $10^6$ 附近相隔 0.0625。
#
# A loss may be large: $f(\theta) = \theta^2 + 10^6$ at $\theta = 0.7$, where the truth is 1.4. Near $10^6$, numbers of float32 lie 0.0625 apart.

# %%
hs = [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6]
estimates = {
    dtype: [differences.estimate(lab1, differences.SHIFTED, "central", dtype, h) for h in hs]
    for dtype in differences.DTYPES
}
print("h       ", *(f"{h:8.0e}" for h in hs))
for dtype in differences.DTYPES:
    print(dtype.ljust(8), *(f"{estimate:8.4f}" for estimate in estimates[dtype]))
figures.cancellation(hs, estimates, truth=1.4)

# %% [markdown]
# **结论**：两个接近的大数相减，有效数字抵消殆尽：float32 在 $h \le 0.01$ 时得到的恰好是 0。
#
# **So**: two large numbers close to each other cancel digit by digit: in float32 the answer is exactly 0 for $h \le 0.01$.

# %% tags=["live"]
slide(
    lambda h, dtype: print(differences.estimate(lab1, differences.SHIFTED, "central", dtype, h)),
    h=[(f"1e{exponent}", 10.0**exponent) for exponent in range(0, -13, -1)],
    dtype=list(differences.DTYPES),
)

# %% [markdown]
# ### 3.3 代价 · Cost
#
# Rosenbrock 函数，$N$ 个参数，一个损失。差分用两种写法：与反向模式同样的 Python 代码，以及快得多的 NumPy。
#
# Rosenbrock's function: $N$ parameters, one loss. Differences run the same Python code as reverse mode, and NumPy, which is far faster.

# %%
few, many = [10, 30, 100, 300, 1000], [10, 100, 1000, 10_000]
counted = [by_fast_differences(lab1, rosenbrock_point(size))[1] for size in many]
ways = {
    "differences, Python": (few, [gradient_seconds(lab1, by_differences, size) for size in few]),
    "differences, NumPy": (many, [gradient_seconds(lab1, by_fast_differences, size) for size in many]),
    "reverse mode, lab 1": (many, [gradient_seconds(lab1, by_reverse, size) for size in many]),
}
side_by_side(figures.evaluations(many, counted), figures.costs(ways, mine))

# %%
said("demo.evaluations", size=many[-1], evaluations=counted[-1])

# %% [markdown]
# **结论**：每个参数要算两次函数，总代价按 $N^2$ 增长；反向模式只按 $N$ 增长。
#
# **So**: two evaluations for each parameter make the cost grow like $N^2$; reverse mode's grows like $N$.

# %% [markdown]
# ## 4 自动微分 · Automatic
#
# $y = \ln\, x_1 + x_1 x_2 - \sin\, x_2$ 在 $(2, 5)$：节点是运算，边是数据。
#
# $y = \ln\, x_1 + x_1 x_2 - \sin\, x_2$ at $(2, 5)$: nodes are operations, edges are data.

# %%
x1, x2 = graph.variable(2.0, "x1"), graph.variable(5.0, "x2")
v1, v2, v3, v4, v5, v6, v7 = lecture(x1, x2, graph.log, graph.sin)
adjoints = engine.reverse_mode(v7)
for name, node in zip("v1 v2 v3 v4 v5 v6 v7".split(), (v1, v2, v3, v4, v5, v6, v7)):
    print(f"{name} = {node.value:7.3f}   dy/d{name} = {adjoints[node]:7.3f}")
draw.graph(v7, adjoints=adjoints, title="y = ln x₁ + x₁ x₂ − sin x₂")

# %% [markdown]
# ### 4.1 前向模式 · Forward mode
#
# 切量 $\dot v_i = \partial v_i / \partial x_1$ 从输入走到输出：一遍得到所有输出对**一个**输入的导数。
#
# Tangents $\dot v_i = \partial v_i / \partial x_1$ travel from inputs to outputs: one pass gives the derivatives by **one** input.

# %%
draw.sweep(v7, mode="forward", inputs=[x1, x2], direction=[1.0, 0.0], title="∂/∂x₁")

# %% [markdown]
# ### 4.2 反向模式 · Reverse mode
#
# 伴随量 $\bar v_i = \partial y / \partial v_i$ 从输出走回输入；一个值被多处使用（旁路），各路的部分伴随相加。一遍得到**一个**输出对所有输入的导数。
#
# Adjoints $\bar v_i = \partial y / \partial v_i$ travel back from the output; where one value is used several times (a bypass), its partial adjoints add up. One pass gives the derivatives of **one** output.

# %%
draw.sweep(v7, mode="reverse", title="∂y/∂·")

# %% [markdown]
# ### 4.3 $N$ 遍与 1 遍 · $N$ passes against one

# %%
widths = [2, 5, 10, 30, 100, 300]
figures.passes(
    widths,
    [gradient_seconds(lab1, by_forward, size) for size in widths],
    [gradient_seconds(lab1, by_reverse, size) for size in widths],
)

# %% [markdown]
# 雅可比矩阵：前向模式每遍填一列，反向模式每遍填一行；损失只有一个数，所以只有一行。
#
# The Jacobian: a forward pass fills a column, a reverse pass a row. A loss is one number, so there is one row.

# %%
a, b, c = (graph.variable(value) for value in (2.0, 5.0, 0.5))
outputs = [graph.log(a) + a * b - graph.sin(b), b * c]
display(filling(lab1, outputs, [a, b, c], "forward"))
display(filling(lab1, outputs, [a, b, c], "reverse"))

# %% [markdown]
# ### 4.4 Griewank 界 · Griewank's bound
#
# 按运算次数计，同时求值和整个梯度的代价至多是只求值的 3 到 4 倍，与 $N$ 无关。
#
# Counted in operations, value and whole gradient together cost at most 3 to 4 times the value, whatever $N$ is.

# %%
operations = [counted_ratio(lab1, size) for size in many]
ratios = [measured_ratio(lab1, size) for size in many]
figures.griewank(many, operations, ratios)

# %%
said(
    "demo.griewank",
    counted=f"{operations[-1]:.2f}",
    low=f"{min(ratios):.1f}",
    high=f"{max(ratios):.1f}",
)

# %% [markdown]
# **结论**：自动微分在图上传递数值，不展开公式：结果精确到舍入误差，一遍反向就得到全部 $N$ 个导数。
#
# **So**: automatic differentiation sends numbers through the graph and writes no formula out: exact up to rounding, and one reverse pass gives all $N$ derivatives.

# %% [markdown]
# ## 5 不只是数学 · Not only mathematics
#
# 取字典的一项 $P[\text{'Cat'}] \rightarrow a_0$ 也能求导：伴随量只回到被取的那一项。
#
# Looking up $P[\text{'Cat'}] \rightarrow a_0$ has a derivative too: the adjoint returns to the entry that was read, and to no other.

# %%
P = graph.table({"Cat": 0.3, "Dog": 0.9})
loss = (P["Cat"] * 2 - 1) ** 2
print(engine.reverse_mode(loss)[P])
draw.graph(loss, adjoints=engine.reverse_mode(loss), names={P: "P"}, title="(2 P['Cat'] − 1)²")

# %% [markdown]
# 计算图也不是网络的结构图：网络里数据进、预测出，权重在边上；计算图里**权重进、损失出**。
#
# The graph is not the network's diagram either: there, data go in, predictions come out, weights stand on edges; here **weights go in, the loss comes out**.

# %%
w1, w2 = graph.variable(0.8, "w1"), graph.variable(-0.5, "w2")
loss = (graph.tanh(w1 * 1.5) * w2 - 0.2) ** 2
drawing = draw.graph(
    loss, adjoints=engine.reverse_mode(loss), names={w1: "w₁", w2: "w₂"}, title="(w₂ tanh(w₁ x) − t)²"
)
side_by_side(figures.network(), drawing)

# %% [markdown]
# **结论**：凡是能说清前向做什么、伴随量怎么回传的操作，都能进入计算图；求导的对象是损失对权重。
#
# **So**: whatever has a clear forward value and a rule for its adjoint can stand in the graph; what is differentiated is the loss, by the weights.

# %% [markdown]
# ## 6 扩展计算图 · Graph extension
#
# ### 6.1 立即计算与扩展计算图 · Immediate against extended
#
# 实验一的反向模式边走边算（立即计算）。把它给出的梯度再交给它自己求导：
#
# Lab 1's reverse mode computes as it goes: immediate computation. Feed the gradient that it gives to it once more:

# %%
x1, x2 = graph.variable(2.0, "x1"), graph.variable(5.0, "x2")
y = lecture(x1, x2, graph.log, graph.sin)[-1]
slope = engine.reverse_mode(y)[x1]
print(f"dy/dx1 = {slope}, a {type(slope).__name__}")
try:
    engine.reverse_mode(slope)
except TypeError as error:
    print(error)
again = engine.reverse_mode(graph.constant(slope))
print(f"as a constant: {again}, with x1 in it: {x1 in again}")

# %% [markdown]
# 得到的是一个数，没有图：它不知道自己从 $x_1$ 来。实验二的 `gradients` 走同样的路，但添的是节点（扩展计算图），梯度与 $y$ 在同一张图里：
#
# What came out is a number without a graph: it does not know that it came from $x_1$. Lab 2's `gradients` walks the same way and adds nodes; the gradient stands in the same graph as $y$:

# %%
lab2 = load("lab2_tensors")
t1, t2 = lab2.graph.variable((), name="x1"), lab2.graph.variable((), name="x2")
y = lecture(t1, t2, lab2.graph.log, lab2.graph.sin)[-1]
slopes = lab2.engine.gradients(y, [t1, t2])
second = [lab2.engine.gradients(slope, [x])[0] for slope, x in zip(slopes, [t1, t2])]
names = ["y", "dy/dx1", "dy/dx2", "d2y/dx1^2", "d2y/dx2^2"]
for name, value in zip(names, lab2.engine.Executor([y, *slopes, *second])({t1: 2.0, t2: 5.0})):
    print(f"{name:9} = {value:7.3f}")
draw.graph([y, slopes[0]], title="y, ∂y/∂x₁")

# %% [markdown]
# ### 6.2 复用 · Reuse
#
# 梯度的图只建一次、计划一次，就能换数据反复运行：梯度下降的每一步都是同一张图。
#
# The graph of a gradient is built and planned once, and then runs for any data: each step of gradient descent is the same graph.

# %%
steps = descend(lab2, size=10, steps=2000)
figures.descent(steps.losses)

# %%
said(
    "demo.reuse",
    nodes=steps.nodes,
    runs=len(steps.losses),
    made=steps.made,
    build=f"{1e3 * steps.build_seconds:.2f}",
    run=f"{1e3 * steps.run_seconds:.3f}",
)

# %% [markdown]
# ### 6.3 二阶、三阶导数 · Second and third derivative
#
# 对梯度的图再求一次导，再求一次。圆点是 $\tanh$ 各阶导数的公式。
#
# Differentiate the graph of the gradient again, and once more. Dots are the known formulas of $\tanh$'s derivatives.

# %%
points = np.linspace(-3, 3, 301)
found, known = tanh_derivatives(lab2, points, 3), tanh_by_formula(points)
for order, (ours, formula) in enumerate(zip(found, known)):
    print(f"order {order}: largest error {abs(ours - formula).max():.0e}")
figures.orders(points, found, known)

# %% [markdown]
# ### 6.4 随阶数的增长 · Growth by order
#
# 每升一阶，规则又要作用于上一阶添出的节点。把计算同一个量的节点合并，能使增长变慢。
#
# With each order, rules apply to the nodes that the last order added. Merging nodes that compute the same thing slows the growth.

# %%
by_order = growth_by_order(lab2, 8)
figures.growth(by_order)

# %%
said("demo.growth", order=by_order[-1].order, nodes=by_order[-1].nodes, merged=by_order[-1].merged)

# %% [markdown]
# **结论**：伴随量成了节点，梯度就能复用、再求导、再优化；代价是图要先存下来，并随阶数成倍变大。
#
# **So**: with adjoints as nodes, a gradient can be used again, differentiated again and optimised; the price is a graph to keep, which grows by a factor with each order.

# %% [markdown]
# ## 7 接下来 · What comes next
#
# ### 7.1 优化 · Optimisation
#
# 留待实验三。整张图在执行之前就可以化简、合并。
#
# Comes with lab 3. A whole graph can be simplified and fused before it runs.
