// Many elements, one result: trees in shared memory, shuffles, atomics.

// right sum
extern "C" __global__ void sum_tree(const float* x, float* total, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) atomicAdd(total, s[0]);
}

// right sum_dynamic
extern "C" __global__ void sum_tree_dynamic(const float* x, float* total, int n) {
    extern __shared__ float partial[];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    partial[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) partial[t] += partial[t + k];
        __syncthreads();
    }
    if (t == 0) atomicAdd(total, partial[0]);
}

// right sum
extern "C" __global__ void sum_tree_up(const float* x, float* total, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    for (int k = 1; k < blockDim.x; k *= 2) {
        __syncthreads();
        if (t % (2 * k) == 0) s[t] += s[t + k];
    }
    if (t == 0) atomicAdd(total, s[0]);
}

__device__ float warp_total(float v) {
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

// right sum
extern "C" __global__ void sum_shuffles(const float* x, float* total, int n) {
    __shared__ float s[32];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    float v = warp_total(i < n ? x[i] : 0.0f);
    if (t % 32 == 0) s[t / 32] = v;
    __syncthreads();
    if (t < 32) {
        v = warp_total(t < blockDim.x / 32 ? s[t] : 0.0f);
        if (t == 0) atomicAdd(total, v);
    }
}

// right sum_strided
extern "C" __global__ void sum_grid_stride(const float* x, float* total, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float v = 0.0f;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v += x[i];
    s[t] = v;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) atomicAdd(total, s[0]);
}

// right sum
extern "C" __global__ void sum_last_warp(const float* x, float* total, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k >= 32; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t < 32) {
        for (int k = 16; k > 0; k /= 2) {
            if (t < k) s[t] += s[t + k];
            __syncwarp();
        }
    }
    if (t == 0) atomicAdd(total, s[0]);
}

// right sum
extern "C" __global__ void sum_atomics_in_shared(const float* x, float* total, int n) {
    __shared__ float s;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) s = 0.0f;
    __syncthreads();
    if (i < n) atomicAdd(&s, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, s);
}

// right block_sums
extern "C" __global__ void block_sums_one_each(const float* x, float* sums, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}

// right largest
extern "C" __global__ void largest_int(const int* x, int* most, int n) {
    __shared__ int s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : -1000000;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] = max(s[t], s[t + k]);
        __syncthreads();
    }
    if (t == 0) atomicMax(most, s[0]);
}

__device__ void add_by_exchange(double* address, double value) {
    unsigned long long* bits = reinterpret_cast<unsigned long long*>(address);
    unsigned long long seen = *bits;
    unsigned long long assumed;
    do {
        assumed = seen;
        seen = atomicCAS(bits, assumed, __double_as_longlong(__longlong_as_double(assumed) + value));
    } while (assumed != seen);
}

// right dot
extern "C" __global__ void dot_compare_and_swap(const double* a, const double* b, double* total, int n) {
    __shared__ double s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? a[i] * b[i] : 0.0;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) add_by_exchange(total, s[0]);
}

// right count_positive
extern "C" __global__ void count_by_barrier(const float* x, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int here = __syncthreads_count(i < n && x[i] > 0.0f);
    if (threadIdx.x == 0) atomicAdd(count, here);
}

// right count_positive
extern "C" __global__ void count_by_ballot(const float* x, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned votes = __ballot_sync(0xffffffff, i < n && x[i] > 0.0f);
    if (threadIdx.x % 32 == 0) atomicAdd(count, __popc(votes));
}

// right histogram
extern "C" __global__ void histogram_global(const int* labels, int* counts, int n, int classes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[labels[i]], 1);
}

// right histogram
extern "C" __global__ void histogram_shared(const int* labels, int* counts, int n, int classes) {
    __shared__ int bins[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < classes) bins[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) atomicAdd(&bins[labels[i]], 1);
    __syncthreads();
    if (threadIdx.x < classes) atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

// right prefix_sums
extern "C" __global__ void prefix_sums_double_buffer(const float* x, float* y, int n) {
    __shared__ float s[2][256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    int now = 0;
    s[0][t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = 1; k < blockDim.x; k *= 2) {
        s[1 - now][t] = t >= k ? s[now][t] + s[now][t - k] : s[now][t];
        now = 1 - now;
        __syncthreads();
    }
    if (i < n) y[i] = s[now][t];
}

// right prefix_sums
extern "C" __global__ void prefix_sums_in_place(const float* x, float* y, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = 1; k < blockDim.x; k *= 2) {
        float v = t >= k ? s[t - k] : 0.0f;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (i < n) y[i] = s[t];
}

// right warp_prefix_sums
extern "C" __global__ void warp_prefix_sums_shuffle_up(const float* x, float* y, int n) {
    int lane = threadIdx.x % 32;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    for (int k = 1; k < 32; k *= 2) {
        float below = __shfl_up_sync(0xffffffff, v, k);
        if (lane >= k) v += below;
    }
    if (i < n) y[i] = v;
}
