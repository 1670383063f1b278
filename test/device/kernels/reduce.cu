// Reductions: trees in shared memory, volatile tails, shuffles, pairs, several passes.

template <typename T>
__device__ void warp_tail(volatile T *s, int t)
{
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}

template <typename T, int SIZE>
__device__ void sum_volatile(T *out, const T *in, int n)
{
    __shared__ T s[SIZE + 32];
    int t = threadIdx.x;
    int i = blockIdx.x * SIZE * 2 + t;
    T v = 0;
    if (i < n) v += in[i];
    if (i + SIZE < n) v += in[i + SIZE];
    s[t] = v;
    __syncthreads();
    if (SIZE >= 512) {
        if (t < 256) s[t] += s[t + 256];
        __syncthreads();
    }
    if (SIZE >= 256) {
        if (t < 128) s[t] += s[t + 128];
        __syncthreads();
    }
    if (SIZE >= 128) {
        if (t < 64) s[t] += s[t + 64];
        __syncthreads();
    }
    if (t < 32) warp_tail<T>(s, t);
    if (t == 0) out[blockIdx.x] = s[0];
}

__inline__ __device__ float warp_sum(float v)
{
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

extern "C" {

__global__ void sum_tree(float *out, const float *in, int n)
{
    extern __shared__ float s[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void sum_interleaved(int *out, const int *in, int n)
{
    extern __shared__ int si[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    si[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0) si[t] += si[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = si[0];
}

__global__ void sum_volatile_float(float *out, const float *in, int n)
{
    sum_volatile<float, 256>(out, in, n);
}

__global__ void sum_volatile_int(int *out, const int *in, int n)
{
    sum_volatile<int, 512>(out, in, n);
}

__global__ void sum_volatile_double(double *out, const double *in, int n)
{
    sum_volatile<double, 64>(out, in, n);
}

__global__ void sum_shuffle(float *out, const float *in, int n)
{
    __shared__ float parts[32];
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        v += in[i];
    v = warp_sum(v);
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0) parts[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? parts[lane] : 0.0f;
    if (warp == 0) {
        v = warp_sum(v);
        if (lane == 0) out[blockIdx.x] = v;
    }
}

// The place of the largest value, the first one among equals.
__global__ void arg_max(int *where, float *what, const float *in, int n)
{
    __shared__ float best[128];
    __shared__ int place[128];
    int t = threadIdx.x;
    float b = -1e30f;
    int p = -1;
    for (int i = t; i < n; i += blockDim.x)
        if (in[i] > b) {
            b = in[i];
            p = i;
        }
    best[t] = b;
    place[t] = p;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d && (best[t + d] > best[t] ||
                      (best[t + d] == best[t] && place[t + d] < place[t]))) {
            best[t] = best[t + d];
            place[t] = place[t + d];
        }
        __syncthreads();
    }
    if (t == 0) {
        *where = place[0];
        *what = best[0];
    }
}

// Mean and squared deviations of each row, merged pairwise.
__global__ void row_moments(double *mean, double *m2, const float *in, int columns)
{
    double n = 0, mu = 0, s = 0;
    for (int i = threadIdx.x; i < columns; i += 32) {
        double x = in[blockIdx.x * columns + i];
        n += 1;
        double d = x - mu;
        mu += d / n;
        s += d * (x - mu);
    }
    for (int d = 16; d > 0; d >>= 1) {
        double n2 = __shfl_xor_sync(~0u, n, d), mu2 = __shfl_xor_sync(~0u, mu, d);
        double s2 = __shfl_xor_sync(~0u, s, d);
        double total = n + n2, delta = mu2 - mu;
        s += s2 + delta * delta * n * n2 / total;
        mu = (n * mu + n2 * mu2) / total;
        n = total;
    }
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = mu;
        m2[blockIdx.x] = s;
    }
}

// One launch: the block that arrives last adds the others' sums.
__device__ unsigned arrived = 0;

__global__ void sum_last_block(long long *out, volatile long long *parts, const int *in,
                               int n)
{
    __shared__ long long s[128];
    __shared__ bool last;
    int t = threadIdx.x;
    long long v = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        v += (long long)in[i] * in[i];
    s[t] = v;
    __syncthreads();
    for (int d = 64; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        parts[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        long long total = 0;
        for (int b = 0; b < gridDim.x; b++) total += parts[b];
        *out = total;
    }
}

}  // extern "C"
