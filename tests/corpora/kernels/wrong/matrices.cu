// Mistakes with two and three indices.

// wrong matmul [17x35x20 block=8]: no tail guard
extern "C" __global__ void matmul_no_guard(const float* a, const float* b, float* c, int m, int k, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int j = 0; j < k; j++) sum += a[row * k + j] * b[j * n + column];  // expect: out-of-bounds
    c[row * n + column] = sum;  // may: race, out-of-bounds
}

// wrong matmul [17x35x20 block=8]: tail guard off by one
extern "C" __global__ void matmul_row_off_by_one(const float* a, const float* b, float* c, int m, int k, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row <= m && column < n) {
        float sum = 0.0f;
        for (int j = 0; j < k; j++) sum += a[row * k + j] * b[j * n + column];  // expect: out-of-bounds
        c[row * n + column] = sum;  // may: out-of-bounds
    }
}

// wrong matmul [17x35x20 block=8]: one step too many
extern "C" __global__ void matmul_sum_off_by_one(const float* a, const float* b, float* c, int m, int k, int n) {  // may: unwritten-output
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int j = 0; j <= k; j++) sum += a[row * k + j] * b[j * n + column];  // expect: out-of-bounds
        c[row * n + column] = sum;
    }
}

// wrong matmul [33x35x20 block=8]: rows and columns swapped
extern "C" __global__ void matmul_swapped(const float* a, const float* b, float* c, int m, int k, int n) {  // expect: unwritten-output
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int j = 0; j < k; j++) sum += a[row * k + j] * b[j * n + column];
        c[row * n + column] = sum;
    }
}

// wrong matmul [17x35x20 block=8]: wrong row length
extern "C" __global__ void matmul_row_length(const float* a, const float* b, float* c, int m, int k, int n) {  // may: unwritten-output
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int j = 0; j < k; j++) sum += a[row * k + j] * b[j * k + column];  // expect: out-of-bounds
        c[row * n + column] = sum;
    }
}

// wrong matmul [17x35x20 block=8]: sum not begun
extern "C" __global__ void matmul_sum_in_output(const float* a, const float* b, float* c, int m, int k, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        for (int j = 0; j < k; j++) {
            c[row * n + column] += a[row * k + j] * b[j * n + column];  // expect: uninitialised-read
        }
    }
}

// wrong matmul_tiles [17x35x20 block=8]: no barrier after the load
template <int TILE>
__global__ void matmul_no_barrier_after_load(const float* a, const float* b, float* c, int m, int k, int n) {
    __shared__ float left[TILE][TILE];
    __shared__ float right[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        left[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0.0f;           // expect: race
        right[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0.0f;  // expect: race
        for (int j = 0; j < TILE; j++) {
            sum += left[y][j] * right[j][x];  // expect: race // may: uninitialised-read
        }
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

// wrong matmul_tiles [17x35x20 block=8]: no barrier before the next load
template <int TILE>
__global__ void matmul_no_barrier_before_load(const float* a, const float* b, float* c, int m, int k, int n) {
    __shared__ float left[TILE][TILE];
    __shared__ float right[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        left[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0.0f;           // expect: race
        right[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0.0f;  // expect: race
        __syncthreads();
        for (int j = 0; j < TILE; j++) {
            sum += left[y][j] * right[j][x];  // expect: race
        }
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

// wrong matmul_tiles [17x35x20 block=8]: return before a barrier
template <int TILE>
__global__ void matmul_return_before_barrier(const float* a, const float* b, float* c, int m, int k, int n) {
    __shared__ float left[TILE][TILE];
    __shared__ float right[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        left[y][x] = start + x < k ? a[row * k + start + x] : 0.0f;
        right[y][x] = start + y < k ? b[(start + y) * n + column] : 0.0f;
        __syncthreads();  // expect: barrier-missed
        for (int j = 0; j < TILE; j++) {
            sum += left[y][j] * right[j][x];  // expect: uninitialised-read
        }
        __syncthreads();  // may: barrier-missed
    }
    c[row * n + column] = sum;
}

// wrong matmul_tiles [17x35x20 block=8]: inner index past its row
template <int TILE>
__global__ void matmul_tile_one_too_far(const float* a, const float* b, float* c, int m, int k, int n) {  // may: unwritten-output
    __shared__ float left[TILE][TILE];
    __shared__ float right[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        left[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0.0f;
        right[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0.0f;
        __syncthreads();  // may: barrier-missed
        for (int j = 0; j < TILE; j++) {
            sum += left[y][j + 1] * right[j][x];  // expect: out-of-bounds
        }
        __syncthreads();  // may: barrier-missed
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

// wrong matmul_tiles [17x35x20 block=8]: shared memory not filled
template <int TILE>
__global__ void matmul_tile_not_zeroed(const float* a, const float* b, float* c, int m, int k, int n) {
    __shared__ float left[TILE][TILE];
    __shared__ float right[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        if (row < m && start + x < k) left[y][x] = a[row * k + start + x];
        if (start + y < k && column < n) right[y][x] = b[(start + y) * n + column];
        __syncthreads();
        for (int j = 0; j < TILE; j++) {
            sum += left[y][j] * right[j][x];  // expect: uninitialised-read
        }
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

// wrong matmul_tiles [17x35x20 block=8]: the wrong one of two buffers
template <int TILE>
__global__ void matmul_loads_the_buffer_in_use(const float* a, const float* b, float* c, int m, int k, int n) {
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
            left[now][y][x] = row < m && next + x < k ? a[row * k + next + x] : 0.0f;            // expect: race
            right[now][y][x] = next + y < k && column < n ? b[(next + y) * n + column] : 0.0f;  // expect: race
        }
        for (int j = 0; j < TILE; j++) {
            sum += left[now][y][j] * right[now][j][x];  // expect: race // may: uninitialised-read
        }
        now = 1 - now;
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

// wrong matmul_tiles [17x35x20 block=8]: no barrier before the next load
template <int TILE>
__global__ void matmul_two_buffers_no_barrier(const float* a, const float* b, float* c, int m, int k, int n) {
    __shared__ float left[2][TILE][TILE];
    __shared__ float right[2][TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    int now = 0;
    float sum = 0.0f;
    left[0][y][x] = row < m && x < k ? a[row * k + x] : 0.0f;
    right[0][y][x] = y < k && column < n ? b[y * n + column] : 0.0f;
    __syncthreads();
    for (int start = 0; start < k; start += TILE) {
        int next = start + TILE;
        if (next < k) {
            left[1 - now][y][x] = row < m && next + x < k ? a[row * k + next + x] : 0.0f;            // expect: race
            right[1 - now][y][x] = next + y < k && column < n ? b[(next + y) * n + column] : 0.0f;  // expect: race
        }
        for (int j = 0; j < TILE; j++) {
            sum += left[now][y][j] * right[now][j][x];  // expect: race // may: uninitialised-read
        }
        now = 1 - now;
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

// wrong matmul_row_dynamic [3x37 block=64]: no barrier after the load
extern "C" __global__ void matmul_row_no_barrier(const float* a, const float* b, float* c, int m, int k, int n) {
    extern __shared__ float row_of_a[];
    int row = blockIdx.x;
    for (int j = threadIdx.x; j < k; j += blockDim.x) row_of_a[j] = a[row * k + j];  // expect: race
    for (int column = threadIdx.x; column < n; column += blockDim.x) {
        float sum = 0.0f;
        for (int j = 0; j < k; j++) {
            sum += row_of_a[j] * b[j * n + column];  // expect: race // may: uninitialised-read
        }
        c[row * n + column] = sum;
    }
}

// wrong transpose [17x40 block=8]: wrong row length
extern "C" __global__ void transpose_row_length(const float* x, float* y, int rows, int columns) {  // may: unwritten-output
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        y[row * columns + column] = x[column * columns + row];  // expect: out-of-bounds
    }
}

// wrong transpose [33x21 block=8]: half a tail guard
extern "C" __global__ void transpose_no_row_guard(const float* x, float* y, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < columns) y[column * rows + row] = x[row * columns + column];  // expect: out-of-bounds // may: race
}

// wrong transpose_tiles [33x21 block=8]: no barrier after the load
template <int TILE>
__global__ void transpose_no_barrier(const float* x, float* y, int rows, int columns) {
    __shared__ float tile[TILE][TILE + 1];
    int column = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && column < columns) {
        tile[threadIdx.y][threadIdx.x] = x[row * columns + column];  // expect: race
    }
    int to_row = blockIdx.x * TILE + threadIdx.y;
    int to_column = blockIdx.y * TILE + threadIdx.x;
    if (to_row < columns && to_column < rows) {
        y[to_row * rows + to_column] = tile[threadIdx.x][threadIdx.y];  // expect: race // may: uninitialised-read
    }
}

// wrong transpose_tiles [33x21 block=8]: rows and columns swapped
template <int TILE>
__global__ void transpose_blocks_not_swapped(const float* x, float* y, int rows, int columns) {  // may: unwritten-output
    __shared__ float tile[TILE][TILE + 1];
    int column = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = x[row * columns + column];
    __syncthreads();
    if (row < rows && column < columns) {
        y[row * rows + column] = tile[threadIdx.x][threadIdx.y];  // expect: out-of-bounds // may: race, uninitialised-read
    }
}

// wrong transpose_tiles [33x21 block=8]: return before a barrier
template <int TILE>
__global__ void transpose_return_before_barrier(const float* x, float* y, int rows, int columns) {  // expect: unwritten-output
    __shared__ float tile[TILE][TILE + 1];
    int column = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    if (row >= rows || column >= columns) return;
    tile[threadIdx.y][threadIdx.x] = x[row * columns + column];
    __syncthreads();  // expect: barrier-missed
    int to_row = blockIdx.x * TILE + threadIdx.y;
    int to_column = blockIdx.y * TILE + threadIdx.x;
    if (to_row < columns && to_column < rows) y[to_row * rows + to_column] = tile[threadIdx.x][threadIdx.y];
}

// wrong matvec [5x300 block=64]: part of the output unwritten
extern "C" __global__ void matvec_first_lane_of_the_block(const float* a, const float* x, float* y, int rows, int columns) {  // expect: unwritten-output
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int j = threadIdx.x % 32; j < columns; j += 32) sum += a[row * columns + j] * x[j];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (threadIdx.x == 0) y[row] = sum;
}

// wrong matvec [5x20 block=64]: shuffle without all lanes
extern "C" __global__ void matvec_short_row(const float* a, const float* x, float* y, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows || lane >= columns) return;
    float sum = 0.0f;
    for (int j = lane; j < columns; j += 32) sum += a[row * columns + j] * x[j];
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, offset);  // expect: warp-mask
    }
    if (lane == 0) y[row] = sum;
}

// wrong column_sum_atomic [33x10 block=64]: plain sum in global memory
extern "C" __global__ void column_sum_plain(const float* x, float* sums, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) sums[i % columns] += x[i];  // expect: race
}

// wrong column_sum [5x300 block=64]: no tail guard
extern "C" __global__ void column_sum_no_guard(const float* x, float* sums, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int row = 0; row < rows; row++) sum += x[row * columns + column];  // expect: out-of-bounds
    sums[column] = sum;  // may: out-of-bounds
}

// wrong add_bias [33x10 block=64]: wrong row length
extern "C" __global__ void add_bias_wrong_remainder(float* x, const float* bias, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) x[i] += bias[i % rows];  // expect: out-of-bounds
}

// wrong gather_backward [33x10 block=64]: plain sum in global memory
extern "C" __global__ void gather_backward_plain(
    const float* dy, const int* index, float* dtable, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) dtable[index[i / columns] * columns + i % columns] += dy[i];  // expect: race
}
