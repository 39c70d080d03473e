// Two and three indices: products, transposes, sums of rows and columns.

// right matmul
extern "C" __global__ void matmul_naive(const float* a, const float* b, float* c, int m, int k, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int j = 0; j < k; j++) sum += a[row * k + j] * b[j * n + column];
        c[row * n + column] = sum;
    }
}

// right matmul_tiles
template <int TILE>
__global__ void matmul_tiled(const float* a, const float* b, float* c, int m, int k, int n) {
    __shared__ float left[TILE][TILE];
    __shared__ float right[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        left[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0.0f;
        right[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0.0f;
        __syncthreads();
        for (int j = 0; j < TILE; j++) sum += left[y][j] * right[j][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

// right matmul_tiles
template <int TILE>
__global__ void matmul_double_buffered(const float* a, const float* b, float* c, int m, int k, int n) {
    __shared__ float left[2][TILE][TILE];
    __shared__ float right[2][TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    int now = 0;
    float sum = 0.0f;
    left[0][y][x] = row < m && x < k ? a[row * k + x] : 0.0f;
    right[0][y][x] = y < k && column < n ? b[y * n + column] : 0.0f;
    for (int start = 0; start < k; start += TILE) {
        __syncthreads();
        int next = start + TILE;
        if (next < k) {
            left[1 - now][y][x] = row < m && next + x < k ? a[row * k + next + x] : 0.0f;
            right[1 - now][y][x] = next + y < k && column < n ? b[(next + y) * n + column] : 0.0f;
        }
        for (int j = 0; j < TILE; j++) sum += left[now][y][j] * right[now][j][x];
        now = 1 - now;
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

// right matmul_row_dynamic
extern "C" __global__ void matmul_row_in_shared(const float* a, const float* b, float* c, int m, int k, int n) {
    extern __shared__ float line[];
    int row = blockIdx.x;
    for (int j = threadIdx.x; j < k; j += blockDim.x) line[j] = a[row * k + j];
    __syncthreads();
    for (int column = threadIdx.x; column < n; column += blockDim.x) {
        float sum = 0.0f;
        for (int j = 0; j < k; j++) sum += line[j] * b[j * n + column];
        c[row * n + column] = sum;
    }
}

// right transpose
extern "C" __global__ void transpose_naive(const float* x, float* y, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) y[column * rows + row] = x[row * columns + column];
}

// right transpose_tiles
template <int TILE>
__global__ void transpose_tiled(const float* x, float* y, int rows, int columns) {
    __shared__ float tile[TILE][TILE + 1];
    int column = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = x[row * columns + column];
    __syncthreads();
    int to_row = blockIdx.x * TILE + threadIdx.y;
    int to_column = blockIdx.y * TILE + threadIdx.x;
    if (to_row < columns && to_column < rows) y[to_row * rows + to_column] = tile[threadIdx.x][threadIdx.y];
}

// right matvec
extern "C" __global__ void matvec_warp_a_row(const float* a, const float* x, float* y, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int j = lane; j < columns; j += 32) sum += a[row * columns + j] * x[j];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (lane == 0) y[row] = sum;
}

// right column_sum
extern "C" __global__ void column_sum_one_each(const float* x, float* sums, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        float sum = 0.0f;
        for (int row = 0; row < rows; row++) sum += x[row * columns + column];
        sums[column] = sum;
    }
}

// right column_sum_atomic
extern "C" __global__ void column_sum_atomics(const float* x, float* sums, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) atomicAdd(&sums[i % columns], x[i]);
}

// right add_bias
extern "C" __global__ void add_bias_to_rows(float* x, const float* bias, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) x[i] += bias[i % columns];
}

// right gather
extern "C" __global__ void gather_rows(
    const float* table, const int* index, float* y, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) y[i] = table[index[i / columns] * columns + i % columns];
}

// right gather_backward
extern "C" __global__ void gather_backward_scatter(
    const float* dy, const int* index, float* dtable, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) atomicAdd(&dtable[index[i / columns] * columns + i % columns], dy[i]);
}
