// Mistakes with one result an element.

// wrong add: no tail guard
extern "C" __global__ void add_no_guard(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];  // expect: out-of-bounds
}

// wrong add [100 block=64]: tail guard off by one
extern "C" __global__ void add_guard_less_or_equal(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {
        c[i] = a[i] + b[i];  // expect: out-of-bounds
    }
}

// wrong add: index of the thread alone
extern "C" __global__ void add_thread_index_only(const float* a, const float* b, float* c, int n) {  // expect: unwritten-output
    int i = threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

// wrong add: part of the output unwritten
extern "C" __global__ void add_every_other(const float* a, const float* b, float* c, int n) {  // expect: unwritten-output
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) c[i] = a[i] + b[i];
}

// wrong add: input written
extern "C" __global__ void add_into_input(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float* sum = (float*)a;
        sum[i] += b[i];  // expect: write-to-const
        c[i] = sum[i];
    }
}

// wrong add: null pointer
extern "C" __global__ void add_pointer_never_set(const float* a, const float* b, float* c, int n) {  // may: unwritten-output
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float* to = nullptr;
    if (i < 900) to = c;
    if (i < n) to[i] = a[i] + b[i];  // expect: null-pointer
}

// wrong add [1000 block=2048]: block too large
extern "C" __global__ void add_in_one_block(const float* a, const float* b, float* c, int n) {  // expect: launch // may: unwritten-output
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

// wrong add_quarter [1000 block=64]: vector not aligned
extern "C" __global__ void add_float4_from_one(const float* a, const float* b, float* c, int n) {  // may: unwritten-output
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x) + 1;
    if (i + 3 < n) {
        float4 left = *reinterpret_cast<const float4*>(a + i);  // expect: misaligned
        float4 right = *reinterpret_cast<const float4*>(b + i);  // may: misaligned
        *reinterpret_cast<float4*>(c + i) =  // may: misaligned
            make_float4(left.x + right.x, left.y + right.y, left.z + right.z, left.w + right.w);
    }
}

// wrong add_quarter [1001 block=64]: no tail guard
extern "C" __global__ void add_float4_no_tail(const float* a, const float* b, float* c, int n) {  // may: unwritten-output
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        float4 left = *reinterpret_cast<const float4*>(a + i);  // expect: out-of-bounds
        float4 right = *reinterpret_cast<const float4*>(b + i);  // may: out-of-bounds
        *reinterpret_cast<float4*>(c + i) =  // may: out-of-bounds
            make_float4(left.x + right.x, left.y + right.y, left.z + right.z, left.w + right.w);
    }
}

// wrong add_plane [33x21 block=8]: rows and columns swapped
extern "C" __global__ void add_plane_swapped(const float* a, const float* b, float* c, int rows, int columns) {  // expect: unwritten-output
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        c[row * columns + column] = a[row * columns + column] + b[row * columns + column];
    }
}

// wrong add_plane [33x21 block=8]: wrong row length
extern "C" __global__ void add_plane_row_length(const float* a, const float* b, float* c, int rows, int columns) {  // may: unwritten-output
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        int i = row * rows + column;
        c[i] = a[i] + b[i];  // expect: out-of-bounds
    }
}

// wrong add_plane [17x40 block=8]: half a tail guard
extern "C" __global__ void add_plane_no_row_guard(const float* a, const float* b, float* c, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < columns) {
        c[row * columns + column] = a[row * columns + column] + b[row * columns + column];  // expect: out-of-bounds
    }
}

// wrong add_plane [33x21 block=8]: half a tail guard
extern "C" __global__ void add_plane_no_column_guard(const float* a, const float* b, float* c, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows) {
        c[row * columns + column] = a[row * columns + column] + b[row * columns + column];  // expect: out-of-bounds
    }
}

// wrong axpy_strided: step too small
extern "C" __global__ void axpy_step_of_a_block(float factor, const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) {
        y[i] += factor * x[i];  // expect: race
    }
}

// wrong relu: part of the output unwritten
extern "C" __global__ void relu_no_loop(const float* x, float* y, int n) {  // expect: unwritten-output
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

// wrong relu: part of the output unwritten
extern "C" __global__ void relu_only_positive(const float* x, float* y, int n) {  // expect: unwritten-output
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        if (x[i] > 0.0f) y[i] = x[i];
    }
}

// wrong relu [100 block=64]: tail guard off by one
extern "C" __global__ void relu_until_n(const float* x, float* y, int n) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += step) {
        y[i] = fmaxf(x[i], 0.0f);  // expect: out-of-bounds
    }
}

// wrong relu_backward: sum not begun
extern "C" __global__ void relu_backward_adds_to_nothing(const float* x, const float* dy, float* dx, int n) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        dx[i] += x[i] > 0.0f ? dy[i] : 0.0f;  // expect: uninitialised-read
    }
}

// wrong relu_backward: part of the output unwritten
extern "C" __global__ void relu_backward_skips_zeros(const float* x, const float* dy, float* dx, int n) {  // expect: unwritten-output
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        if (x[i] <= 0.0f) continue;
        dx[i] = dy[i];
    }
}

// wrong multiply_backward: part of the output unwritten
extern "C" __global__ void multiply_backward_one_output(  // expect: unwritten-output
    const double* a, const double* b, const double* dy, double* da, double* db, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) da[i] = dy[i] * b[i];
}

// wrong log_backward: no tail guard
extern "C" __global__ void log_backward_no_guard(const double* x, const double* dy, double* dx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    dx[i] += dy[i] / x[i];  // expect: out-of-bounds
}

// wrong log_backward: two threads, one element
extern "C" __global__ void log_backward_first_element(const double* x, const double* dy, double* dx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i / 2] += dy[i] / x[i];  // expect: race
}

// wrong pixels: division by zero
extern "C" __global__ void pixels_divided_by_nothing(const unsigned char* pixels, float* y, int n) {  // may: unwritten-output
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int largest = n / 1001;
    if (i < n) y[i] = pixels[i] / largest;  // expect: division-by-zero
}

// wrong reverse_blocks: no barrier after the load
extern "C" __global__ void reverse_no_barrier(const float* x, float* y, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;  // expect: race
    y[i] = s[blockDim.x - 1 - t];  // expect: race // may: uninitialised-read
}

// wrong reverse_blocks: index off by one
extern "C" __global__ void reverse_past_the_end(const float* x, float* y, int n) {  // may: unwritten-output
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    y[i] = s[blockDim.x - t];  // expect: out-of-bounds
}

// wrong smooth: neighbour past the end
extern "C" __global__ void smooth_past_the_end(const float* x, float* y, int n) {  // may: unwritten-output
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float before = i > 0 ? x[i - 1] : 0.0f;
        y[i] = (before + x[i] + x[i + 1]) / 3.0f;  // expect: out-of-bounds
    }
}

// wrong smooth: neighbour before the start
extern "C" __global__ void smooth_before_the_start(const float* x, float* y, int n) {  // may: unwritten-output
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float after = i + 1 < n ? x[i + 1] : 0.0f;
        y[i] = (x[i - 1] + x[i] + after) / 3.0f;  // expect: out-of-bounds
    }
}

// wrong smooth: shared array too small
extern "C" __global__ void smooth_no_room_for_halo(const float* x, float* y, int n) {  // may: unwritten-output
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t + 1] = i < n ? x[i] : 0.0f;  // expect: out-of-bounds
    if (t == 0) s[0] = i > 0 && i < n ? x[i - 1] : 0.0f;
    if (t == blockDim.x - 1) s[t + 2] = i + 1 < n ? x[i + 1] : 0.0f;  // may: out-of-bounds
    __syncthreads();  // may: barrier-missed
    if (i < n) y[i] = (s[t] + s[t + 1] + s[t + 2]) / 3.0f;  // may: out-of-bounds, uninitialised-read
}

// wrong smooth: shared memory not filled
extern "C" __global__ void smooth_halo_not_loaded(const float* x, float* y, int n) {
    __shared__ float s[256 + 2];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t + 1] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] = (s[t] + s[t + 1] + s[t + 2]) / 3.0f;  // expect: uninitialised-read
}

// wrong shift: update in place beside a neighbour
extern "C" __global__ void shift_in_place(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) x[i] = x[i + 1];  // expect: race
}

// wrong shift: barrier for the whole grid
extern "C" __global__ void shift_in_place_barrier(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float next = i + 1 < n ? x[i + 1] : i < n ? x[i] : 0.0f;  // expect: race
    __syncthreads();
    if (i < n) x[i] = next;  // expect: race
}

__device__ float halve(float x) {  // expect: stack-overflow
    if (x > 1e30f) return x;
    float y = halve(0.5f * x);  // expect: stack-overflow
    return 0.5f * y;
}

// wrong sigmoid: endless recursion
extern "C" __global__ void sigmoid_recursion(const float* x, float* y, int n) {  // may: unwritten-output
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = halve(x[i]);  // may: stack-overflow
}

// wrong pixels: local array too small
extern "C" __global__ void pixels_by_four_steps(const unsigned char* pixels, float* y, int n) {  // may: unwritten-output
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float steps[4] = {1 / 255.0f, 1 / 255.0f, 1 / 255.0f, 1 / 255.0f};
    if (i < n) y[i] = steps[i % 5] * pixels[i];  // expect: out-of-bounds
}
