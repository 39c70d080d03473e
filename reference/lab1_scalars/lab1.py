# %% [markdown] lang="zh"
# # 标量自动微分
# %% [markdown] lang="en"
# # Scalar automatic differentiation

# %% lang="zh"
import sys

sys.path[:0] = ["..", "../.."]  # labkit
from labkit.notebook import begin

begin(language="zh")

# %% lang="en"
import sys

sys.path[:0] = ["..", "../.."]  # labkit
from labkit.notebook import begin

begin(language="en")

# %% solution="student"
# cell: student
# 学号，例如 student = "2100012345" / your student id
### BEGIN SOLUTION
student = "2100012345"
### END SOLUTION

# %% setup="true"
import engine
import graph
from graph import constant, cos, exp, log, sin, variable
from labkit.notebook import check, expose, reveal
from labkit.predict import number

n = number(globals().get("student", ""))
x1, x2 = 2.0 + 0.25 * (n % 4), 4.0 + 0.5 * (n // 4)
print(f"x1 = {x1}, x2 = {x2}")

# %% solution="predict-tangents" answers="tangents:2"
# cell: predict-tangents
### BEGIN SOLUTION
v1, v2 = variable(x1), variable(x2)
v3, v4, v5 = log(v1), v1 * v2, sin(v2)
v6 = v3 + v4
v7 = v6 - v5
tangents = engine.forward_mode([v1, v2, v3, v4, v5, v6, v7], [v1, v2], [1.0, 0.0])
### END SOLUTION

# %%
reveal("predict-tangents")

# %% test="reflected-operators"
check("reflected-operators")

# %% test="local-derivatives"
check("local-derivatives")

# %% test="topological-order"
check("topological-order")

# %% test="central-difference"
check("central-difference")

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

# %% test="scale"
check("scale")

# %% test="corners"
check("corners")

# %% test="launch-configuration"
check("launch-configuration")

# %% test="multiply-backward"
check("multiply-backward")

# %% test="log-backward"
check("log-backward")
