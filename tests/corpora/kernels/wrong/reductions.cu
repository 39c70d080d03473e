// Mistakes where many elements become one.

// wrong sum: no barrier after the load
extern "C" __global__ void sum_no_barrier_after_load(const float* x, float* total, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;  // expect: race
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];  // expect: race // may: uninitialised-read
        __syncthreads();
    }
    if (t == 0) atomicAdd(total, s[0]);
}

// wrong sum: no barrier in the tree
extern "C" __global__ void sum_no_barrier_in_tree(const float* x, float* total, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];  // expect: race
    }
    if (t == 0) atomicAdd(total, s[0]);
}

// wrong sum: barrier in a branch
extern "C" __global__ void sum_barrier_in_branch(const float* x, float* total, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) {
            s[t] += s[t + k];
            __syncthreads();  // expect: barrier-missed
        }
    }
    if (t == 0) atomicAdd(total, s[0]);
}

// wrong sum: return before a barrier
extern "C" __global__ void sum_return_before_barrier(const float* x, float* total, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    if (i >= n) return;
    s[t] = x[i];
    __syncthreads();  // expect: barrier-missed
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];  // expect: uninitialised-read
        __syncthreads();  // may: barrier-missed
    }
    if (t == 0) atomicAdd(total, s[0]);
}

// wrong sum: two barriers for one
extern "C" __global__ void sum_barrier_in_both_branches(const float* x, float* total, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    if (i < n) {
        s[t] = x[i];
        __syncthreads();  // expect: barrier-divergent
    } else {
        s[t] = 0.0f;
        __syncthreads();  // expect: barrier-divergent
    }
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) atomicAdd(total, s[0]);
}

// wrong sum: shared memory not filled
extern "C" __global__ void sum_tail_not_zeroed(const float* x, float* total, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    if (i < n) s[t] = x[i];
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];  // expect: uninitialised-read
        __syncthreads();
    }
    if (t == 0) atomicAdd(total, s[0]);
}

// wrong sum: shared array too small
extern "C" __global__ void sum_shared_too_small(const float* x, float* total, int n) {
    __shared__ float s[128];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;  // expect: out-of-bounds
    __syncthreads();  // may: barrier-missed
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];  // may: out-of-bounds
        __syncthreads();  // may: barrier-missed
    }
    if (t == 0) atomicAdd(total, s[0]);  // may: uninitialised-read
}

// wrong sum: index off by one
extern "C" __global__ void sum_half_a_block_too_far(const float* x, float* total, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t <= k) s[t] += s[t + k];  // expect: out-of-bounds, race
        __syncthreads();  // may: barrier-missed
    }
    if (t == 0) atomicAdd(total, s[0]);
}

// wrong sum_dynamic_half: dynamic shared memory too small
extern "C" __global__ void sum_half_the_bytes(const float* x, float* total, int n) {
    extern __shared__ float partial[];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    partial[t] = i < n ? x[i] : 0.0f;  // expect: out-of-bounds
    __syncthreads();  // may: barrier-missed
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) partial[t] += partial[t + k];  // may: out-of-bounds
        __syncthreads();  // may: barrier-missed
    }
    if (t == 0) atomicAdd(total, partial[0]);  // may: uninitialised-read
}

// wrong sum_dynamic: no barrier in the tree
extern "C" __global__ void sum_dynamic_no_barrier(const float* x, float* total, int n) {
    extern __shared__ float partial[];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    partial[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) partial[t] += partial[t + k];  // expect: race
    }
    if (t == 0) atomicAdd(total, partial[0]);
}

// wrong sum: plain sum in global memory
extern "C" __global__ void sum_plain(const float* x, float* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) total[0] += x[i];  // expect: race
}

// wrong sum: plain sum in global memory
extern "C" __global__ void sum_plain_between_blocks(const float* x, float* total, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) *total += s[0];  // expect: race
}

// wrong sum: plain sum in shared memory
extern "C" __global__ void sum_plain_in_shared(const float* x, float* total, int n) {
    __shared__ float s;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) s = 0.0f;
    __syncthreads();
    if (i < n) s += x[i];  // expect: race
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, s);
}

// wrong sum: no barrier after the load
extern "C" __global__ void sum_no_barrier_after_zero(const float* x, float* total, int n) {
    __shared__ float s;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) s = 0.0f;  // expect: race
    if (i < n) atomicAdd(&s, x[i]);  // expect: race // may: uninitialised-read
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, s);
}

// wrong sum: no barrier before the result is read
extern "C" __global__ void sum_result_read_too_early(const float* x, float* total, int n) {
    __shared__ float s;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) s = 0.0f;
    __syncthreads();
    if (i < n) atomicAdd(&s, x[i]);  // expect: race
    if (threadIdx.x == 0) atomicAdd(total, s);  // expect: race
}

// wrong sum_into_nothing: sum not begun
extern "C" __global__ void sum_not_begun(const float* x, float* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(total, x[i]);  // expect: uninitialised-read
}

// wrong sum_into_nothing: sum begun by each block
extern "C" __global__ void sum_begun_by_each_block(const float* x, float* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) *total = 0.0f;  // expect: race
    __syncthreads();
    if (i < n) atomicAdd(total, x[i]);  // expect: race
}

// wrong sum: shuffle without all lanes
extern "C" __global__ void sum_shuffle_in_guard(const float* x, float* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(0xffffffff, v, k);  // expect: warp-mask
        if (threadIdx.x % 32 == 0) atomicAdd(total, v);
    }
}

// wrong sum: shuffle without all lanes
extern "C" __global__ void sum_shuffle_in_half_a_warp(const float* x, float* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    float v = i < n ? x[i] : 0.0f;
    for (int k = 16; k > 0; k /= 2) {
        if (lane < k) v += __shfl_down_sync(0xffffffff, v, k);  // expect: warp-mask
    }
    if (lane == 0) atomicAdd(total, v);
}

// wrong sum: warp steps without __syncwarp
extern "C" __global__ void sum_no_syncwarp(const float* x, float* total, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k >= 32; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    for (int k = 16; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];  // expect: race
    }
    if (t == 0) atomicAdd(total, s[0]);
}

// wrong sum: no barrier between warps
extern "C" __global__ void sum_no_barrier_between_warps(const float* x, float* total, int n) {
    __shared__ float s[32];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    float v = i < n ? x[i] : 0.0f;
    for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(0xffffffff, v, k);
    if (t % 32 == 0) s[t / 32] = v;  // expect: race
    if (t < 32) {
        v = t < blockDim.x / 32 ? s[t] : 0.0f;  // expect: race // may: uninitialised-read
        for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(0xffffffff, v, k);
        if (t == 0) atomicAdd(total, v);
    }
}

__device__ void put(float* to, int place, float value) {
    to[place] = value;  // expect: out-of-bounds
}

// wrong block_sums: pointer past a shared array
extern "C" __global__ void block_sums_past_by_pointer(const float* x, float* sums, int n) {  // may: unwritten-output
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    put(s, t + 1, i < n ? x[i] : 0.0f);
    __syncthreads();  // may: barrier-missed
    if (t == 0) {
        float sum = 0.0f;
        for (int k = 1; k < blockDim.x; k++) sum += s[k];
        sums[blockIdx.x] = sum;
    }
}

// wrong block_sums: another block's result
extern "C" __global__ void block_sums_all_in_the_first(const float* x, float* sums, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = s[0];  // expect: race
    __syncthreads();
    if (i == 0) {
        for (int k = 1; k < gridDim.x; k++) sums[0] += sums[k];  // expect: race // may: uninitialised-read
    }
}

// wrong block_sums: waits for another block
extern "C" __global__ void block_sums_wait_for_the_next(const float* x, float* sums, int n) {  // may: unwritten-output
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float* seen = sums;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        while (!(seen[1] > -1e30f)) {  // expect: timeout // may: race, uninitialised-read
        }
    }
    if (threadIdx.x == 0 && i < n) sums[blockIdx.x] = x[i];  // may: race
}

// wrong largest: plain sum in global memory
extern "C" __global__ void largest_compare_then_store(const int* x, int* most, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > *most) {  // expect: race
        *most = x[i];  // expect: race
    }
}

// wrong dot: no tail guard
extern "C" __global__ void dot_no_guard(const double* a, const double* b, double* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(total, a[i] * b[i]);  // expect: out-of-bounds
}

// wrong sum_dynamic_too_much: too much shared memory
extern "C" __global__ void sum_64_kilobytes(const float* x, float* total, int n) {  // expect: launch
    extern __shared__ float partial[];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    partial[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (t == 0) {
        for (int k = 0; k < blockDim.x; k++) atomicAdd(total, partial[k]);
    }
}

// wrong sum: endless loop
extern "C" __global__ void sum_down_to_zero(const float* x, float* total, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k >= 0; k /= 2) {  // expect: timeout
        if (t < k) s[t] += s[t + k];                // expect: timeout
        __syncthreads();                            // expect: timeout
    }
    if (t == 0) atomicAdd(total, s[0]);
}

// wrong count_positive: barrier in a branch
extern "C" __global__ void count_in_guard(const float* x, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int here = __syncthreads_count(x[i] > 0.0f);  // expect: barrier-missed
        if (threadIdx.x == 0) atomicAdd(count, here);
    }
}

// wrong histogram: plain sum in global memory
extern "C" __global__ void histogram_plain(const int* labels, int* counts, int n, int classes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) counts[labels[i]]++;  // expect: race
}

// wrong histogram: plain sum in shared memory
extern "C" __global__ void histogram_plain_in_shared(const int* labels, int* counts, int n, int classes) {
    __shared__ int bins[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < classes) bins[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) bins[labels[i]] += 1;  // expect: race
    __syncthreads();
    if (threadIdx.x < classes) atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

// wrong histogram: no barrier before the result is read
extern "C" __global__ void histogram_read_too_early(const int* labels, int* counts, int n, int classes) {
    __shared__ int bins[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < classes) bins[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) atomicAdd(&bins[labels[i]], 1);  // expect: race
    if (threadIdx.x < classes) atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);  // expect: race
}

// wrong histogram: shared memory not filled
extern "C" __global__ void histogram_bins_not_zeroed(const int* labels, int* counts, int n, int classes) {
    __shared__ int bins[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[labels[i]], 1);  // expect: uninitialised-read
    __syncthreads();
    if (threadIdx.x < classes) atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

// wrong histogram: index off by one
extern "C" __global__ void histogram_bins_from_one(const int* labels, int* counts, int n, int classes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[labels[i] + 1], 1);  // expect: out-of-bounds
}

// wrong prefix_sums: no barrier between read and write
extern "C" __global__ void prefix_sums_one_barrier(const float* x, float* y, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = 1; k < blockDim.x; k *= 2) {
        float v = t >= k ? s[t - k] : 0.0f;  // expect: race
        s[t] += v;  // expect: race
        __syncthreads();
    }
    if (i < n) y[i] = s[t];
}

// wrong prefix_sums: neighbour before the start
extern "C" __global__ void prefix_sums_before_the_start(const float* x, float* y, int n) {  // may: unwritten-output
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = 1; k < blockDim.x; k *= 2) {
        float v = s[t - k];  // expect: out-of-bounds
        __syncthreads();  // may: barrier-missed
        s[t] += v;
        __syncthreads();  // may: barrier-missed
    }
    if (i < n) y[i] = s[t];
}

// wrong prefix_sums: the wrong one of two buffers
extern "C" __global__ void prefix_sums_same_buffer(const float* x, float* y, int n) {
    __shared__ float s[2][256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    int now = 0;
    s[0][t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = 1; k < blockDim.x; k *= 2) {
        s[now][t] = t >= k ? s[now][t] + s[now][t - k] : s[now][t];  // expect: race
        __syncthreads();
    }
    if (i < n) y[i] = s[now][t];
}

// wrong prefix_sums: the wrong one of two buffers
extern "C" __global__ void prefix_sums_reads_the_other(const float* x, float* y, int n) {
    __shared__ float s[2][256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    int now = 0;
    s[0][t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = 1; k < blockDim.x; k *= 2) {
        s[1 - now][t] = t >= k ? s[1 - now][t] + s[now][t - k] : s[now][t];  // expect: uninitialised-read
        now = 1 - now;
        __syncthreads();
    }
    if (i < n) y[i] = s[now][t];
}

// wrong warp_prefix_sums: shuffle without all lanes
extern "C" __global__ void warp_prefix_sums_early_return(const float* x, float* y, int n) {
    int lane = threadIdx.x % 32;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int k = 1; k < 32; k *= 2) {
        float below = __shfl_up_sync(0xffffffff, v, k);  // expect: warp-mask
        if (lane >= k) v += below;
    }
    y[i] = v;
}
