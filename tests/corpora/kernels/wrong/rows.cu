// Mistakes with a block or a thread for each row, and with windows of images.

// wrong softmax_thread [33x10 block=64]: no tail guard
extern "C" __global__ void softmax_thread_no_guard(const float* x, float* y, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    const float* in = x + row * columns;
    float* out = y + row * columns;
    float most = in[0];  // expect: out-of-bounds
    for (int j = 1; j < columns; j++) most = fmaxf(most, in[j]);  // may: out-of-bounds
    float sum = 0.0f;
    for (int j = 0; j < columns; j++) sum += expf(in[j] - most);  // may: out-of-bounds
    for (int j = 0; j < columns; j++) out[j] = expf(in[j] - most) / sum;  // may: out-of-bounds
}

// wrong softmax_thread_mild [33x10 block=64]: sum not begun
extern "C" __global__ void softmax_thread_adds_to_output(const float* x, float* y, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int j = 0; j < columns; j++) {
        y[row * columns + j] += expf(x[row * columns + j]);  // expect: uninitialised-read
        sum += y[row * columns + j];
    }
    for (int j = 0; j < columns; j++) y[row * columns + j] /= sum;
}

// wrong softmax_mild [5x300 block=64]: no barrier after the load
extern "C" __global__ void softmax_no_barrier_after_load(const float* x, float* y, int rows, int columns) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int j = t; j < columns; j += blockDim.x) sum += expf(x[blockIdx.x * columns + j]);
    s[t] = sum;  // expect: race
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];  // expect: race // may: uninitialised-read
        __syncthreads();
    }
    for (int j = t; j < columns; j += blockDim.x) y[blockIdx.x * columns + j] = expf(x[blockIdx.x * columns + j]) / s[0];
}

// wrong softmax [5x300 block=64]: no barrier before the next load
extern "C" __global__ void softmax_array_used_again(const float* x, float* y, int rows, int columns) {
    __shared__ float s[256];
    int t = threadIdx.x;
    const float* in = x + blockIdx.x * columns;
    float most = -INFINITY;
    for (int j = t; j < columns; j += blockDim.x) most = fmaxf(most, in[j]);
    s[t] = most;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] = fmaxf(s[t], s[t + k]);
        __syncthreads();
    }
    most = s[0];  // expect: race
    float sum = 0.0f;
    for (int j = t; j < columns; j += blockDim.x) sum += expf(in[j] - most);
    s[t] = sum;  // expect: race
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    for (int j = t; j < columns; j += blockDim.x) y[blockIdx.x * columns + j] = expf(in[j] - most) / s[0];
}

// wrong softmax_mild [5x300 block=64]: part of the output unwritten
extern "C" __global__ void softmax_first_columns_only(const float* x, float* y, int rows, int columns) {  // expect: unwritten-output
    __shared__ float s;
    int t = threadIdx.x;
    if (t == 0) s = 0.0f;
    __syncthreads();
    for (int j = t; j < columns; j += blockDim.x) atomicAdd(&s, expf(x[blockIdx.x * columns + j]));
    __syncthreads();
    if (t < columns) y[blockIdx.x * columns + t] = expf(x[blockIdx.x * columns + t]) / s;
}

// wrong softmax_mild [5x30 block=64]: return before a barrier
extern "C" __global__ void softmax_idle_threads_leave(const float* x, float* y, int rows, int columns) {
    __shared__ float s;
    int t = threadIdx.x;
    if (t == 0) s = 0.0f;
    if (t >= columns) return;
    __syncthreads();  // expect: barrier-missed
    atomicAdd(&s, expf(x[blockIdx.x * columns + t]));
    __syncthreads();  // may: barrier-missed
    y[blockIdx.x * columns + t] = expf(x[blockIdx.x * columns + t]) / s;
}

// wrong cross_entropy_mild [5x30 block=64]: plain sum in shared memory
extern "C" __global__ void cross_entropy_plain_sum(
    const float* logits, const int* labels, float* losses, float* dlogits, int rows, int columns) {
    __shared__ float s;
    int t = threadIdx.x;
    const float* in = logits + blockIdx.x * columns;
    if (t == 0) s = 0.0f;
    __syncthreads();
    if (t < columns) s += expf(in[t]);  // expect: race
    __syncthreads();
    if (t < columns) dlogits[blockIdx.x * columns + t] = expf(in[t]) / s - (t == labels[blockIdx.x] ? 1.0f : 0.0f);
    if (t == 0) losses[blockIdx.x] = logf(s) - in[labels[blockIdx.x]];
}

// wrong cross_entropy_mild [5x30 block=64]: index off by one
extern "C" __global__ void cross_entropy_labels_from_one(  // may: unwritten-output
    const float* logits, const int* labels, float* losses, float* dlogits, int rows, int columns) {
    __shared__ float s;
    int t = threadIdx.x;
    const float* in = logits + blockIdx.x * columns;
    if (t == 0) s = 0.0f;
    __syncthreads();
    if (t < columns) atomicAdd(&s, expf(in[t]));
    __syncthreads();
    if (t < columns) dlogits[blockIdx.x * columns + t] = expf(in[t]) / s - (t == labels[blockIdx.x] ? 1.0f : 0.0f);
    if (t == 0) losses[blockIdx.x] = logf(s) - in[labels[blockIdx.x + 1]];  // expect: out-of-bounds
}

// wrong cross_entropy_mild [5x30 block=64]: no barrier before the result is read
extern "C" __global__ void cross_entropy_read_too_early(
    const float* logits, const int* labels, float* losses, float* dlogits, int rows, int columns) {
    __shared__ float s;
    int t = threadIdx.x;
    const float* in = logits + blockIdx.x * columns;
    if (t == 0) s = 0.0f;
    __syncthreads();
    if (t < columns) atomicAdd(&s, expf(in[t]));  // expect: race
    if (t < columns) {
        dlogits[blockIdx.x * columns + t] = expf(in[t]) / s - (t == labels[blockIdx.x] ? 1.0f : 0.0f);  // expect: race
    }
    if (t == 0) losses[blockIdx.x] = logf(s) - in[labels[blockIdx.x]];  // expect: race
}

// wrong row_sum [5x300 block=64]: two barriers for one
extern "C" __global__ void row_sum_barrier_in_both_branches(const float* x, float* sums, int rows, int columns) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int j = t; j < columns; j += blockDim.x) sum += x[blockIdx.x * columns + j];
    s[t] = sum;
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) {
            __syncthreads();  // expect: barrier-divergent
            s[t] += s[t + k];
        } else {
            __syncthreads();  // expect: barrier-divergent
        }
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}

// wrong row_sum [5x300 block=64]: two threads, one element
extern "C" __global__ void row_sum_all_threads_write(const float* x, float* sums, int rows, int columns) {
    float sum = 0.0f;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += x[blockIdx.x * columns + j];
    sums[blockIdx.x] = sum;  // expect: race
}

// wrong normalise [5x300 block=64]: shared memory not filled
extern "C" __global__ void normalise_mean_never_stored(const float* x, float* y, int rows, int columns) {
    __shared__ float mean;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) {
        y[blockIdx.x * columns + j] = x[blockIdx.x * columns + j] - mean;  // expect: uninitialised-read
    }
}

// wrong best_class [5x300 block=64]: no barrier in the tree
extern "C" __global__ void best_class_no_barrier(const float* x, int* best, int rows, int columns) {
    __shared__ int place[256];
    int t = threadIdx.x;
    const float* in = x + blockIdx.x * columns;
    int where = t;
    for (int j = t; j < columns; j += blockDim.x) where = in[j] > in[where] ? j : where;
    place[t] = where;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k && in[place[t + k]] > in[place[t]]) place[t] = place[t + k];  // expect: race
    }
    if (t == 0) best[blockIdx.x] = place[0];
}

// wrong im2col [2x3x7x5x3 block=64]: no tail guard
extern "C" __global__ void im2col_no_guard(
    const float* x, float* patches, int images, int channels, int height, int width, int window) {
    int out_height = height - window + 1;
    int out_width = width - window + 1;
    for (int k = 0; k < 3; k++) {
        int i = (k * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        int column = i % out_width;
        int row = i / out_width % out_height;
        int patch = i / (out_width * out_height);
        int dx = patch % window;
        int dy = patch / window % window;
        int plane = patch / (window * window);
        patches[i] = x[(plane * height + row + dy) * width + column + dx];  // expect: out-of-bounds
    }
}

// wrong im2col [2x3x7x5x3 block=64]: wrong row length
extern "C" __global__ void im2col_height_for_width(  // may: unwritten-output
    const float* x, float* patches, int images, int channels, int height, int width, int window) {
    int out_height = height - window + 1;
    int out_width = width - window + 1;
    int count = images * channels * window * window * out_height * out_width;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int column = i % out_width;
        int row = i / out_width % out_height;
        int patch = i / (out_width * out_height);
        int dx = patch % window;
        int dy = patch / window % window;
        int plane = patch / (window * window);
        patches[i] = x[(plane * height + row + dy) * height + column + dx];  // expect: out-of-bounds
    }
}

// wrong col2im [2x3x7x5x3 block=64]: plain sum in global memory
extern "C" __global__ void col2im_plain(
    const float* patches, float* x, int images, int channels, int height, int width, int window) {
    int out_height = height - window + 1;
    int out_width = width - window + 1;
    int count = images * channels * window * window * out_height * out_width;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int column = i % out_width;
        int row = i / out_width % out_height;
        int patch = i / (out_width * out_height);
        int plane = patch / (window * window);
        int place = (plane * height + row + patch / window % window) * width + column + patch % window;
        x[place] += patches[i];  // expect: race
    }
}

// wrong convolve [17x40 block=8]: one step too many
extern "C" __global__ void convolve_window_too_large(  // may: unwritten-output
    const float* x, const float* weights, float* y, int height, int width, int window) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row > height - window || column > width - window) return;
    float sum = 0.0f;
    for (int dy = 0; dy <= window; dy++) {
        for (int dx = 0; dx < window; dx++) {
            sum += weights[dy * window + dx] * x[(row + dy) * width + column + dx];  // expect: out-of-bounds
        }
    }
    y[row * (width - window + 1) + column] = sum;
}

// wrong convolve [17x40 block=8]: half a tail guard
extern "C" __global__ void convolve_no_row_guard(
    const float* x, const float* weights, float* y, int height, int width, int window) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int out_width = width - window + 1;
    if (column >= out_width) return;
    float sum = 0.0f;
    for (int k = 0; k < window * window; k++) {
        sum += weights[k] * x[(row + k / window) * width + column + k % window];  // expect: out-of-bounds
    }
    y[row * out_width + column] = sum;  // may: out-of-bounds
}

// wrong max_pool [3x9x16 block=64]: part of the output unwritten
extern "C" __global__ void max_pool_first_plane(  // expect: unwritten-output
    const float* x, float* y, int* places, int planes, int height, int width) {
    int out_height = height / 2;
    int out_width = width / 2;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= out_height * out_width) return;
    int best = 2 * (i / out_width) * width + 2 * (i % out_width);
    for (int k = 1; k < 4; k++) {
        int place = (2 * (i / out_width) + k / 2) * width + 2 * (i % out_width) + k % 2;
        if (x[place] > x[best]) best = place;
    }
    y[i] = x[best];
    places[i] = best;
}

// wrong max_pool_backward: plain sum in global memory
extern "C" __global__ void max_pool_backward_plain(const float* dy, const int* places, float* dx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[places[i]] += dy[i];  // expect: race
}

// wrong max_pool_backward: no tail guard
extern "C" __global__ void max_pool_backward_no_guard(const float* dy, const int* places, float* dx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&dx[places[i]], dy[i]);  // expect: out-of-bounds
}

// wrong max_pool_backward: zeroed by the same launch
extern "C" __global__ void max_pool_backward_zeroes_first(const float* dy, const int* places, float* dx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2 + 1) dx[i] = 0.0f;  // expect: race
    __syncthreads();
    if (i < n) atomicAdd(&dx[places[i]], dy[i]);  // expect: race
}

// wrong average_pool_backward [3x9x16 block=64]: part of the output unwritten
extern "C" __global__ void average_pool_backward_odd_rest(const float* dy, float* dx, int planes, int height, int width) {  // expect: unwritten-output
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * height * width) return;
    int column = i % width;
    int row = i / width % height;
    int plane = i / (width * height);
    int out_height = height / 2;
    int out_width = width / 2;
    if (row / 2 < out_height && column / 2 < out_width) {
        dx[i] = dy[(plane * out_height + row / 2) * out_width + column / 2] / 4.0f;
    }
}
