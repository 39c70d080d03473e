"""A square."""


def square(x):
    """x times itself."""
    ### BEGIN SOLUTION
    return x * x
    ### END SOLUTION
