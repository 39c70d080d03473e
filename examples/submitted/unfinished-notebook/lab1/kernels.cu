// The operations of graph.py for N points at once: a kernel for each direction, a thread for each point.
// graph.py 的各个运算，一次算 N 个点：每个方向一个核函数，每个点一个线程。
//
// What all kernels have in common: / 所有核函数的共同约定：
//   n             the number of points; thread i serves point i / 点数；第 i 个线程负责第 i 个点
//   a, b          the values of the operands / 操作数的值
//   a_stride      1: the operand has a value for each point, shape (n,), and point i has a[i].
//   (b_stride)    0: all points share one value, shape (1,): a constant, or a parameter of a model.
//                 So the value at point i is a[i * a_stride].
//                 为 1：每个点一个值，形状 (n,)，第 i 个点的值是 a[i]；为 0：所有点共用一个值，形状 (1,)，
//                 例如常量或模型的参数。所以第 i 个点的值总是 a[i * a_stride]。
//   v             the values of the result, shape (n,) / 结果的值，形状 (n,)
//   v_adjoint     the adjoints of the result, shape (n,): complete / 结果的伴随量，形状 (n,)：已经齐全
//   a_adjoint     the adjoint of the operand, of the operand's own shape; (b_adjoint) so at a_adjoint[i * a_stride].
//                 操作数的伴随量，形状与操作数相同，第 i 个点的在 a_adjoint[i * a_stride]。
//
// A backward kernel hands each operand its partial adjoint. The operand may have other users (a bypass): what
// has arrived from them already stands in its adjoint and must survive. Of x * x both adjoints are one array.
// 反向的核函数把部分伴随交给每个操作数。操作数可能还有别的使用者（旁路）：它们交来的已经在伴随量里，
// 不能丢掉。对 x * x，两个伴随量就是同一个数组。
// A grid has whole blocks, so threads may be left over: those have no point and must touch nothing.
// 网格由整块组成，会有多出来的线程：它们没有对应的点，什么都不能碰。

extern "C" __global__ void add_forward(
    const float* a, int a_stride, const float* b, int b_stride, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = a[i * a_stride] + b[i * b_stride];
    }
}

extern "C" __global__ void add_backward(
    const float* a, int a_stride, const float* b, int b_stride, const float* v, const float* v_adjoint,
    float* a_adjoint, float* b_adjoint, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        // Where the stride is 0, all threads add to one number: atomicAdd lets them do it one after another.
        // 步长为 0 时，所有线程都往同一个数上加：atomicAdd 让它们一个接一个地加。
        atomicAdd(&a_adjoint[i * a_stride], v_adjoint[i]);
        atomicAdd(&b_adjoint[i * b_stride], v_adjoint[i]);
    }
}

extern "C" __global__ void subtract_forward(
    const float* a, int a_stride, const float* b, int b_stride, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = a[i * a_stride] - b[i * b_stride];
    }
}

extern "C" __global__ void subtract_backward(
    const float* a, int a_stride, const float* b, int b_stride, const float* v, const float* v_adjoint,
    float* a_adjoint, float* b_adjoint, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&a_adjoint[i * a_stride], v_adjoint[i]);
        atomicAdd(&b_adjoint[i * b_stride], -v_adjoint[i]);
    }
}

extern "C" __global__ void multiply_forward(
    const float* a, int a_stride, const float* b, int b_stride, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = a[i * a_stride] * b[i * b_stride];
    }
}

// The partial adjoints of both operands of v = a b, by the product rule.
// v = a b 的两个操作数的部分伴随，用乘积法则。
//
// a, b, a_adjoint, b_adjoint: shape (n,) where the stride is 1, (1,) where it is 0. v, v_adjoint: shape (n,).
// a、b、a_adjoint、b_adjoint：步长为 1 时形状 (n,)，为 0 时形状 (1,)；v、v_adjoint：形状 (n,)。
extern "C" __global__ void multiply_backward(
    const float* a, int a_stride, const float* b, int b_stride, const float* v, const float* v_adjoint,
    float* a_adjoint, float* b_adjoint, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&a_adjoint[i * a_stride], v_adjoint[i] * b[i * b_stride]);
        atomicAdd(&b_adjoint[i * b_stride], v_adjoint[i] * a[i * a_stride]);
    }
}

extern "C" __global__ void negate_forward(const float* a, int a_stride, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = -a[i * a_stride];
    }
}

extern "C" __global__ void negate_backward(
    const float* a, int a_stride, const float* v, const float* v_adjoint, float* a_adjoint, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&a_adjoint[i * a_stride], -v_adjoint[i]);
    }
}

extern "C" __global__ void exp_forward(const float* a, int a_stride, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = expf(a[i * a_stride]);
    }
}

extern "C" __global__ void exp_backward(
    const float* a, int a_stride, const float* v, const float* v_adjoint, float* a_adjoint, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&a_adjoint[i * a_stride], v_adjoint[i] * v[i]);
    }
}

extern "C" __global__ void log_forward(const float* a, int a_stride, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = logf(a[i * a_stride]);
    }
}

// The partial adjoint of the operand of v = ln a, by the derivative of the natural logarithm.
// v = ln a 的操作数的部分伴随，用自然对数的导数。
//
// a, a_adjoint: shape (n,) where the stride is 1, (1,) where it is 0. v, v_adjoint: shape (n,).
// a、a_adjoint：步长为 1 时形状 (n,)，为 0 时形状 (1,)；v、v_adjoint：形状 (n,)。
extern "C" __global__ void log_backward(
    const float* a, int a_stride, const float* v, const float* v_adjoint, float* a_adjoint, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&a_adjoint[i * a_stride], v_adjoint[i] / a[i * a_stride]);
    }
}

extern "C" __global__ void cos_forward(const float* a, int a_stride, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = cosf(a[i * a_stride]);
    }
}

extern "C" __global__ void cos_backward(
    const float* a, int a_stride, const float* v, const float* v_adjoint, float* a_adjoint, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&a_adjoint[i * a_stride], -v_adjoint[i] * sinf(a[i * a_stride]));
    }
}

extern "C" __global__ void tanh_forward(const float* a, int a_stride, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = tanhf(a[i * a_stride]);
    }
}

extern "C" __global__ void tanh_backward(
    const float* a, int a_stride, const float* v, const float* v_adjoint, float* a_adjoint, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&a_adjoint[i * a_stride], v_adjoint[i] * (1.0f - v[i] * v[i]));
    }
}

// --- Three rules that you write in graph.py / 三条法则由你写在 graph.py 里 ------------------------------
// So they don't stand here. Differences in double stand in for them: at ordinary points they are right to all
// digits of a float, at singular points they are not. Put your own rules in their place, if you like.
// 所以这里不写出来，而用双精度的差分代替：在普通的点上，float 的每一位都对；在奇异点则不然。
// 愿意的话，可以换成你自己的法则。

// The step of a difference at x, in proportion to x: large enough for rounding, small enough for truncation.
// 差分在 x 处的步长，与 x 成比例：对舍入足够大，对截断足够小。
__device__ double step_at(double x)
{
    return 1e-5 * fmax(fabs(x), 1e-5);
}

extern "C" __global__ void divide_forward(
    const float* a, int a_stride, const float* b, int b_stride, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = a[i * a_stride] / b[i * b_stride];
    }
}

extern "C" __global__ void divide_backward(
    const float* a, int a_stride, const float* b, int b_stride, const float* v, const float* v_adjoint,
    float* a_adjoint, float* b_adjoint, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double x = a[i * a_stride], y = b[i * b_stride];
        double h = step_at(x), k = step_at(y);
        double by_a = ((x + h) / y - (x - h) / y) / (2.0 * h);
        double by_b = (x / (y + k) - x / (y - k)) / (2.0 * k);
        atomicAdd(&a_adjoint[i * a_stride], (float)(v_adjoint[i] * by_a));
        atomicAdd(&b_adjoint[i * b_stride], (float)(v_adjoint[i] * by_b));
    }
}

extern "C" __global__ void power_forward(
    const float* a, int a_stride, const float* b, int b_stride, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = powf(a[i * a_stride], b[i * b_stride]);
    }
}

extern "C" __global__ void power_backward(
    const float* a, int a_stride, const float* b, int b_stride, const float* v, const float* v_adjoint,
    float* a_adjoint, float* b_adjoint, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double x = a[i * a_stride], y = b[i * b_stride];
        double h = step_at(x), k = 1e-5;
        double by_a = (pow(x + h, y) - pow(x - h, y)) / (2.0 * h);
        double by_b = (pow(x, y + k) - pow(x, y - k)) / (2.0 * k);
        atomicAdd(&a_adjoint[i * a_stride], (float)(v_adjoint[i] * by_a));
        atomicAdd(&b_adjoint[i * b_stride], (float)(v_adjoint[i] * by_b));
    }
}

extern "C" __global__ void sin_forward(const float* a, int a_stride, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = sinf(a[i * a_stride]);
    }
}

extern "C" __global__ void sin_backward(
    const float* a, int a_stride, const float* v, const float* v_adjoint, float* a_adjoint, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double x = a[i * a_stride], h = 1e-5;
        double by_a = (sin(x + h) - sin(x - h)) / (2.0 * h);
        atomicAdd(&a_adjoint[i * a_stride], (float)(v_adjoint[i] * by_a));
    }
}
