// A block for each row: softmax and its relatives.

__device__ float block_largest(float v, float* s) {
    int t = threadIdx.x;
    s[t] = v;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] = fmaxf(s[t], s[t + k]);
        __syncthreads();
    }
    v = s[0];
    __syncthreads();
    return v;
}

__device__ float block_total(float v, float* s) {
    int t = threadIdx.x;
    s[t] = v;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    v = s[0];
    __syncthreads();
    return v;
}

// right softmax
extern "C" __global__ void softmax_block_a_row(const float* x, float* y, int rows, int columns) {
    __shared__ float s[256];
    int row = blockIdx.x;
    float most = -INFINITY;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) most = fmaxf(most, x[row * columns + j]);
    most = block_largest(most, s);
    float sum = 0.0f;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += expf(x[row * columns + j] - most);
    sum = block_total(sum, s);
    for (int j = threadIdx.x; j < columns; j += blockDim.x) {
        y[row * columns + j] = expf(x[row * columns + j] - most) / sum;
    }
}

// right softmax_thread
extern "C" __global__ void softmax_thread_a_row(const float* x, float* y, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* in = x + row * columns;
    float* out = y + row * columns;
    float most = in[0];
    for (int j = 1; j < columns; j++) most = fmaxf(most, in[j]);
    float sum = 0.0f;
    for (int j = 0; j < columns; j++) {
        out[j] = expf(in[j] - most);
        sum += out[j];
    }
    for (int j = 0; j < columns; j++) out[j] /= sum;
}

// right cross_entropy
extern "C" __global__ void cross_entropy_both_ways(
    const float* logits, const int* labels, float* losses, float* dlogits, int rows, int columns) {
    __shared__ float s[256];
    int row = blockIdx.x;
    const float* in = logits + row * columns;
    float most = -INFINITY;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) most = fmaxf(most, in[j]);
    most = block_largest(most, s);
    float sum = 0.0f;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += expf(in[j] - most);
    sum = block_total(sum, s);
    for (int j = threadIdx.x; j < columns; j += blockDim.x) {
        float p = expf(in[j] - most) / sum;
        dlogits[row * columns + j] = p - (j == labels[row] ? 1.0f : 0.0f);
    }
    if (threadIdx.x == 0) losses[row] = logf(sum) + most - in[labels[row]];
}

// right row_sum
extern "C" __global__ void row_sum_block_a_row(const float* x, float* sums, int rows, int columns) {
    __shared__ float s[256];
    float sum = 0.0f;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += x[blockIdx.x * columns + j];
    sum = block_total(sum, s);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// right normalise
extern "C" __global__ void normalise_rows(const float* x, float* y, int rows, int columns) {
    __shared__ float s[256];
    int row = blockIdx.x;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += x[row * columns + j];
    float mean = block_total(sum, s) / columns;
    float square = 0.0f;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) {
        float d = x[row * columns + j] - mean;
        square += d * d;
    }
    float scale = rsqrtf(block_total(square, s) / columns + 1e-3f);
    for (int j = threadIdx.x; j < columns; j += blockDim.x) {
        y[row * columns + j] = (x[row * columns + j] - mean) * scale;
    }
}

// right best_class
extern "C" __global__ void best_class_of_row(const float* x, int* best, int rows, int columns) {
    __shared__ float value[256];
    __shared__ int place[256];
    int t = threadIdx.x;
    float most = -INFINITY;
    int where = 0;
    for (int j = t; j < columns; j += blockDim.x) {
        if (x[blockIdx.x * columns + j] > most) {
            most = x[blockIdx.x * columns + j];
            where = j;
        }
    }
    value[t] = most;
    place[t] = where;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) {
            bool first = place[t + k] < place[t];
            if (value[t + k] > value[t] || (value[t + k] == value[t] && first)) {
                value[t] = value[t + k];
                place[t] = place[t + k];
            }
        }
        __syncthreads();
    }
    if (t == 0) best[blockIdx.x] = place[0];
}
