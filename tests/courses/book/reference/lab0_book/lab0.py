# %% [markdown] lang="zh"
# # 平方

# %% [markdown] lang="en"
# # Squares

# %% solution="student"
# cell: student
### BEGIN SOLUTION
student = "2100012345"
### END SOLUTION

# %% setup="true"
from labkit.predict import number

n = number(globals().get("student", ""))
x = 1.5 + n

# %% setup="true"
from square import square

# %% solution="predict-square" answers="slope:2"
# cell: predict-square
### BEGIN SOLUTION
slope = 2 * x
### END SOLUTION

# %% solution="use-square"
# cell: use-square
### BEGIN SOLUTION
fourth = square(square(x))
### END SOLUTION

# %% test="square"
check("square")

# %% test="predict"
check("predict")

# %% test="use"
check("use")
