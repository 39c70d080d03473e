// Batches of images, N x C x H x W: windows that meet, and their gradients.

// right im2col
extern "C" __global__ void im2col_one_each(
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
        patches[i] = x[(plane * height + row + dy) * width + column + dx];
    }
}

// right col2im
extern "C" __global__ void col2im_atomics(
    const float* patches, float* x, int images, int channels, int height, int width, int window) {
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
        atomicAdd(&x[(plane * height + row + dy) * width + column + dx], patches[i]);
    }
}

// right convolve
extern "C" __global__ void convolve_direct(
    const float* x, const float* weights, float* y, int height, int width, int window) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int out_height = height - window + 1;
    int out_width = width - window + 1;
    if (row < out_height && column < out_width) {
        float sum = 0.0f;
        for (int dy = 0; dy < window; dy++) {
            for (int dx = 0; dx < window; dx++) {
                sum += weights[dy * window + dx] * x[(row + dy) * width + column + dx];
            }
        }
        y[row * out_width + column] = sum;
    }
}

// right max_pool
extern "C" __global__ void max_pool_with_places(
    const float* x, float* y, int* places, int planes, int height, int width) {
    int out_height = height / 2;
    int out_width = width / 2;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * out_height * out_width) return;
    int column = i % out_width;
    int row = i / out_width % out_height;
    int plane = i / (out_width * out_height);
    int best = (plane * height + 2 * row) * width + 2 * column;
    for (int k = 1; k < 4; k++) {
        int place = (plane * height + 2 * row + k / 2) * width + 2 * column + k % 2;
        if (x[place] > x[best]) best = place;
    }
    y[i] = x[best];
    places[i] = best;
}

// right max_pool_backward
extern "C" __global__ void max_pool_backward_atomics(const float* dy, const int* places, float* dx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&dx[places[i]], dy[i]);
}

// right average_pool_backward
extern "C" __global__ void average_pool_backward_gather(
    const float* dy, float* dx, int planes, int height, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * height * width) return;
    int column = i % width;
    int row = i / width % height;
    int plane = i / (width * height);
    int out_height = height / 2;
    int out_width = width / 2;
    bool inside = row / 2 < out_height && column / 2 < out_width;
    dx[i] = inside ? dy[(plane * out_height + row / 2) * out_width + column / 2] / 4.0f : 0.0f;
}
