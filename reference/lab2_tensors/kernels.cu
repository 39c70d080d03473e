// The operations of graph.py on the device: forward only, since a gradient is more graph, of the same operations.
// graph.py 的运算在设备上的核函数：只有正向，因为梯度也是图，由同样的运算组成。
//
// What all kernels have in common: / 所有核函数的共同约定：
//   a, b          the operands / 操作数
//   v             the result: every entry must be written, nothing stands there before / 结果：每个元素都要写，原来什么都没有
//   n             the number of entries; thread i serves entry i / 元素个数；第 i 个线程负责第 i 个元素
//   rows, columns the shape of a matrix. Its rows lie one after the other: entry (i, j) is a[i * columns + j].
//                 矩阵的形状。各行依次存放：元素 (i, j) 是 a[i * columns + j]。
// A grid has whole blocks, so threads may be left over: those have no entry and must touch nothing.
// 网格由整块组成，会有多出来的线程：它们没有对应的元素，什么都不能碰。

// --- Entry by entry / 逐元素 -----------------------------------------------------------------------------

extern "C" __global__ void elementwise_add(const float* a, const float* b, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = a[i] + b[i];
    }
}

extern "C" __global__ void elementwise_subtract(const float* a, const float* b, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = a[i] - b[i];
    }
}

extern "C" __global__ void elementwise_multiply(const float* a, const float* b, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = a[i] * b[i];
    }
}

extern "C" __global__ void elementwise_divide(const float* a, const float* b, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = a[i] / b[i];
    }
}

extern "C" __global__ void elementwise_maximum(const float* a, const float* b, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = a[i] >= b[i] || a[i] != a[i] ? a[i] : b[i];  // a NaN on either side stays NaN / 任一边是 NaN，结果就是 NaN
    }
}

// An adjoint a times a derivative b, where an adjoint of 0 stays 0: see Chain in graph.py.
// 伴随量 a 乘以导数 b；伴随量为 0 时结果就是 0，见 graph.py 的 Chain。
extern "C" __global__ void elementwise_chain(const float* a, const float* b, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = a[i] == 0.0f ? a[i] : a[i] * b[i];
    }
}

extern "C" __global__ void elementwise_negative(const float* a, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = -a[i];
    }
}

extern "C" __global__ void elementwise_exp(const float* a, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = expf(a[i]);
    }
}

extern "C" __global__ void elementwise_log(const float* a, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = logf(a[i]);
    }
}

extern "C" __global__ void elementwise_sin(const float* a, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = sinf(a[i]);
    }
}

extern "C" __global__ void elementwise_cos(const float* a, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = cosf(a[i]);
    }
}

extern "C" __global__ void elementwise_tanh(const float* a, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = tanhf(a[i]);
    }
}

extern "C" __global__ void elementwise_sqrt(const float* a, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = sqrtf(a[i]);
    }
}

extern "C" __global__ void elementwise_abs(const float* a, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = fabsf(a[i]);
    }
}

extern "C" __global__ void relu(const float* a, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = a[i] < 0.0f ? 0.0f : a[i];
    }
}

extern "C" __global__ void elementwise_greater(const float* a, const float* b, bool* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = a[i] > b[i];
    }
}

extern "C" __global__ void elementwise_less(const float* a, const float* b, bool* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = a[i] < b[i];
    }
}

extern "C" __global__ void elementwise_equal(const float* a, const float* b, bool* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = a[i] == b[i];
    }
}

extern "C" __global__ void elementwise_where(const bool* condition, const float* a, const float* b, float* v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = condition[i] ? a[i] : b[i];
    }
}

// --- Shapes / 形状 ---------------------------------------------------------------------------------------

// v has n entries: each stretch of `inner` entries of a, `repeats` times. inner = 1 repeats single entries.
// v 有 n 个元素：a 中每 inner 个元素为一段，每段重复 repeats 次；inner = 1 就是逐个元素重复。
extern "C" __global__ void broadcast(const float* a, float* v, int repeats, int inner, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        v[i] = a[i / inner / repeats * inner + i % inner];
    }
}

// Tiles: a block of TILE x TILE threads works on a square of as many entries, which it shares.
// 分块：TILE x TILE 个线程的一块，负责同样大小的一方元素，并在块内共享它们。
#define TILE 16

// v = aᵀ, shape (columns, rows). Block: (TILE, TILE); grid: over columns, rows.
// v = aᵀ，形状 (columns, rows)。块 (TILE, TILE)，网格依次覆盖列和行。
extern "C" __global__ void transpose(const float* a, float* v, int rows, int columns)
{
    // One column more than needed: so the entries of a column lie in different banks of shared memory.
    // 多一列：这样同一列的元素落在共享内存的不同存储体里。
    __shared__ float tile[TILE][TILE + 1];
    int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
    int i = top + threadIdx.y, j = left + threadIdx.x;
    if (i < rows && j < columns) {
        tile[threadIdx.y][threadIdx.x] = a[i * columns + j];
    }
    __syncthreads();  // all threads of the block come here, also those without an entry / 块内所有线程都要到这里
    i = left + threadIdx.y;  // now a row of v, which was a column of a / 现在是 v 的行，即 a 的列
    j = top + threadIdx.x;
    if (i < columns && j < rows) {
        v[i * rows + j] = tile[threadIdx.x][threadIdx.y];
    }
}

// --- Products and sums / 乘积与求和 ------------------------------------------------------------------------

// v = a b, for a of shape (rows, inner) and b of shape (inner, columns). Block: (TILE, TILE); grid: over columns, rows.
// v = a b，a 形状 (rows, inner)，b 形状 (inner, columns)。块 (TILE, TILE)，网格依次覆盖列和行。
extern "C" __global__ void matmul(const float* a, const float* b, float* v, int rows, int inner, int columns)
{
    __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;
    float total = 0.0f;
    for (int start = 0; start < inner; start += TILE) {
        // Beyond the edge of a matrix a tile has zeros, which add nothing.
        // 超出矩阵边缘的部分填零，不影响和。
        of_a[y][x] = i < rows && start + x < inner ? a[i * inner + start + x] : 0.0f;
        of_b[y][x] = start + y < inner && j < columns ? b[(start + y) * columns + j] : 0.0f;
        __syncthreads();  // both tiles are there / 两个分块都已装好
        for (int k = 0; k < TILE; k++) {
            total += of_a[y][k] * of_b[k][x];
        }
        __syncthreads();  // nobody needs them any more / 没有线程再需要它们
    }
    if (i < rows && j < columns) {
        v[i * columns + j] = total;
    }
}

// v[j] = the sum of column j of a: the gradient of a bias, which is added to every row.
// v[j] = a 的第 j 列之和：加到每一行上的偏置，其梯度就是它。
//
// a: shape (rows, columns). v: shape (columns,). A thread for each column; rows may be 0: sums of nothing.
// a：形状 (rows, columns)；v：形状 (columns,)。每列一个线程；rows 可以是 0，此时和为 0。
extern "C" __global__ void column_sum(const float* a, float* v, int rows, int columns)
{
    // BEGIN SOLUTION
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < columns) {
        float total = 0.0f;
        for (int i = 0; i < rows; i++) {
            total += a[i * columns + j];
        }
        v[j] = total;
    }
    // END SOLUTION
}

// --- Softmax and its kin, a thread for each row / softmax 及其同类，每行一个线程 -------------------------------

#define LARGEST 3.402823466e38f  // of the finite floats / 最大的有限浮点数

// What to subtract before exp, so that nothing overflows: the greatest entry of a row, or the finite number nearest to it.
// 取 exp 之前要减去的数，以免溢出：一行中最大的元素，或离它最近的有限数。
__device__ float greatest(const float* row, int columns)
{
    float top = -LARGEST;
    for (int j = 0; j < columns; j++) {
        top = fmaxf(top, row[j]);
    }
    return fminf(top, LARGEST);
}

// The sum of exp(entry - top) over a row.
// 一行中 exp(元素 - top) 之和。
__device__ float sum_of_exp(const float* row, int columns, float top)
{
    float total = 0.0f;
    for (int j = 0; j < columns; j++) {
        total += expf(row[j] - top);
    }
    return total;
}

extern "C" __global__ void softmax(const float* a, float* v, int rows, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        const float* row = a + i * columns;
        float top = greatest(row, columns), total = sum_of_exp(row, columns, top);
        total = total < 1.0f ? 1.0f : total;  // less than 1: all entries are -inf, and 0 / 1 / 小于 1：所有元素都是 -inf
        for (int j = 0; j < columns; j++) {
            v[i * columns + j] = expf(row[j] - top) / total;
        }
    }
}

// v[i] = -log(softmax(row i of a)[labels[i]]); NaN for a label that is no column.
// v[i] = -log(softmax(a 的第 i 行)[labels[i]])；标签不是列号时为 NaN。
extern "C" __global__ void softmax_cross_entropy(
    const float* a, const long long* labels, float* v, int rows, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        const float* row = a + i * columns;
        float top = greatest(row, columns);
        bool known = 0 <= labels[i] && labels[i] < columns;
        v[i] = known ? logf(sum_of_exp(row, columns, top)) - (row[labels[i]] - top) : NAN;
    }
}

// v, of a's shape: the softmax of each row of a, less 1 at its label; NaN for a label that is no column.
// v 的形状同 a：a 每一行的 softmax，在标签处减 1；标签不是列号时为 NaN。
extern "C" __global__ void softmax_error(
    const float* a, const long long* labels, float* v, int rows, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        const float* row = a + i * columns;
        float top = greatest(row, columns), total = sum_of_exp(row, columns, top);
        total = total < 1.0f ? 1.0f : total;
        bool known = 0 <= labels[i] && labels[i] < columns;
        for (int j = 0; j < columns; j++) {
            v[i * columns + j] = known ? expf(row[j] - top) / total - (j == labels[i] ? 1.0f : 0.0f) : NAN;
        }
    }
}
