"""Predictions in the notebook, with each student's own numbers; the mathematics stands here once more."""

import itertools

import pytest

from labkit import predict

points = pytest.mark.points


@pytest.fixture
def answer(compare, personal):
    """answer(program, name=right, ...): these answers are the reference's, and the reference's are right."""

    def check(program, **right):
        told = compare(program, only=[*right], number=personal)
        for name, value in right.items():
            spelt = [predict.written(entry, None) for entry in predict.entries(value)]
            assert told[name] == spelt, f"{name}: the reference's answer is not {spelt}"

    return check


# --- Products of matrices


def lengths(number):
    """M, K and N: two of them are equal."""
    small, large = 2 + number % 4, 6 + number // 4
    return [(small, large, large), (large, small, large), (large, large, small)][number % 3]


def fitting(number):
    """Products of two different factors, each transposed or not, that have A's shape."""
    m, k, n = lengths(number)
    shapes = {"A": (m, k), "B": (k, n), "G": (m, n)}
    shapes |= {f"{name}t": shape[::-1] for name, shape in shapes.items()}
    return {
        left + right
        for left, right in itertools.permutations(shapes, 2)
        if left[0] != right[0]
        and shapes[left][1] == shapes[right][0]
        and (shapes[left][0], shapes[right][1]) == (m, k)
    }


@points(2)
@pytest.mark.task("predict-products")
def test_products_that_fit(answer, personal):
    """Which products have the shape of A.
    哪些乘积的形状与 A 相同。"""
    answer("predict_fitting", fitting=fitting(personal))


@points(1)
@pytest.mark.task("predict-products")
def test_the_wrong_product_that_fits(answer, personal):
    """The one of G and B that fits although it is wrong.
    由 G 和 B 组成、形状对而内容错的那一个。"""
    answer("predict_fitting", trap=[one for one in fitting(personal) if "A" not in one and one != "GBt"])


@points(1)
@pytest.mark.task("predict-products")
def test_the_wrong_product_that_a_symmetric_factor_hides(answer, personal):
    """The one that is right by chance: G B if B is symmetric, Gᵀ Bᵀ if G is.
    碰巧算对的那一个：B 对称时是 G B，G 对称时是 Gᵀ Bᵀ。"""
    answer("predict_fitting", same_numbers="GtBt" if personal % 2 else "GB")


# --- Derivatives of derivatives


@points(1)
@pytest.mark.task("predict-immediate")
def test_what_computing_at_once_leaves(answer):
    """What computing while walking leaves behind.
    边走边算留下的是什么。"""
    answer("predict_second", kind="number")


@points(1)
@pytest.mark.task("predict-immediate")
def test_the_derivative_of_a_number(answer):
    """The derivative of what was computed: a constant.
    对算出的数再求导：它是常量。"""
    answer("predict_second", again=0)


@points(1)
@pytest.mark.task("predict-immediate")
def test_the_derivative_of_a_derivative_that_is_graph(answer, personal):
    """The second derivative of a x³.
    a x³ 的二阶导数。"""
    a, x = 2 + personal % 4, (0.5, 1.5, 2.0, 2.5)[personal // 4]
    answer("predict_second", extended=6 * a * x)


# --- Growth


@points(1)
@pytest.mark.task("predict-growth")
def test_nodes_of_a_chain(answer, personal):
    """A variable, and a node for each use of the function.
    一个变量，以及函数每次作用的一个节点。"""
    answer("predict_sizes", size=1 + 3 + personal // 4)


@points(2)
@pytest.mark.task("predict-growth")
def test_nodes_of_the_gradient_of_a_chain(answer, personal):
    """The chain as far as its rules need it, the seed, and what each rule adds.
    规则用到的那部分链、种子，以及每条规则添上的节点。"""
    times = 3 + personal // 4
    # sin: cos, times; cos: sin, times, minus; exp: times; tanh: square, 1, minus, times
    added, last_is_needed = ((2, False), (3, False), (1, True), (4, True))[personal % 4]
    answer("predict_sizes", slope_size=1 + times - (not last_is_needed) + 1 + added * times)


# --- Passes


def jacobians(number):
    """The shape (K, N) of each function's Jacobian matrix."""
    features, classes = 2 + number % 4, 2 + number // 4
    weights = (features + 1) * classes
    few, many = 3 + number % 5, 9 + number % 7
    return [
        (1, weights),
        (2 * (5 + number), 1),
        (many, few) if number % 2 else (few, many),
        (weights, weights),
    ]


@points(2)
@pytest.mark.task("predict-modes")
def test_passes_of_forward_mode(answer, personal):
    """Forward mode: one pass for each entry of the inputs.
    前向模式：输入的每个元素一遍。"""
    answer("predict_passes", forward=[inputs for _, inputs in jacobians(personal)])


@points(2)
@pytest.mark.task("predict-modes")
def test_passes_of_reverse_mode(answer, personal):
    """Reverse mode: one pass for each entry of the outputs.
    反向模式：输出的每个元素一遍。"""
    answer("predict_passes", reverse=[outputs for outputs, _ in jacobians(personal)])


@points(1)
@pytest.mark.task("predict-modes")
def test_the_mode_with_fewer_passes(answer, personal):
    """Which mode makes fewer passes.
    哪种模式走的遍数少。"""
    signs = [(inputs > outputs) - (inputs < outputs) for outputs, inputs in jacobians(personal)]
    answer("predict_passes", better=[("either", "reverse", "forward")[sign] for sign in signs])


# --- Launches


def clock(number, kernel):
    """What the clock says without and with synchronise: kernels run in turn, each once it is queued."""
    queueing, free = 4 + number % 4, 0
    for launch in range(1, 11 + number):
        free = max(free, launch * queueing) + kernel
    return [(10 + number) * queueing, free]


@points(1)
@pytest.mark.task("predict-launches")
def test_the_clock_beside_long_kernels(answer, personal):
    """Long kernels: without synchronise, only queueing is measured.
    核函数长：不同步时只测到了排队。"""
    answer("predict_clock", long=clock(personal, 50 + 10 * (personal // 4)))


@points(1)
@pytest.mark.task("predict-launches")
def test_the_clock_beside_short_kernels(answer, personal):
    """Short kernels: the device waits for the next launch.
    核函数短：设备在等下一次启动。"""
    answer("predict_clock", short=clock(personal, 2 + personal % 2))
