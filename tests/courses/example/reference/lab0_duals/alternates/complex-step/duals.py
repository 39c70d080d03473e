"""Dual numbers: a value and its tangent travel through a program together."""


class Dual:
    """A value, and its tangent: how fast it moves with the input."""

    def __init__(self, value, tangent=0.0):
        self.value = float(value)
        self.tangent = float(tangent)

    def __add__(self, other):
        other = lifted(other)
        return Dual(self.value + other.value, self.tangent + other.tangent)

    def __mul__(self, other):
        """The product with a dual or a plain number; its tangent by the product rule.
        与对偶数或普通数的乘积；切量由乘积法则得出。
        """
        ### BEGIN SOLUTION
        other = lifted(other)
        return Dual(self.value * other.value, self.tangent * other.value + self.value * other.tangent)
        ### END SOLUTION

    __radd__, __rmul__ = __add__, __mul__


def lifted(x):
    """x if it is a dual number, else a constant: its tangent is 0."""
    return x if isinstance(x, Dual) else Dual(x)


def derivative(f, x):
    """The derivative at x, a float, of a function made of sums and products; it may be constant.
    由加法和乘法组成的函数（可以是常数）在 x 处的导数，float。
    """
    ### BEGIN SOLUTION
    return complex(f(complex(x, 1e-20))).imag / 1e-20
    ### END SOLUTION
