// Shared memory and barriers.
// shared.ptx is made from this file as test/data/README.rst says.

extern "C" {

// The tail of the reduction relies on the order of a warp's own volatile accesses.
__global__ void sum_volatile(const float *x, float *out, int n)
{
    __shared__ volatile float s[256];
    int t = threadIdx.x;
    float v = 0;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) {
        v += x[i];
    }
    s[t] = v;
    __syncthreads();
    for (int k = 128; k > 32; k >>= 1) {
        if (t < k) {
            s[t] = s[t] + s[t + k];
        }
        __syncthreads();
    }
    if (t < 32) {
        s[t] = s[t] + s[t + 32];
        s[t] = s[t] + s[t + 16];
        s[t] = s[t] + s[t + 8];
        s[t] = s[t] + s[t + 4];
        s[t] = s[t] + s[t + 2];
        s[t] = s[t] + s[t + 1];
    }
    if (t == 0) {
        out[blockIdx.x] = s[0];
    }
}

__global__ void scan(const int *in, int *out)
{
    extern __shared__ int buffer[];
    int t = threadIdx.x, n = blockDim.x;
    buffer[t] = in[blockIdx.x * n + t];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        int v = t >= d ? buffer[t - d] : 0;
        __syncthreads();
        buffer[t] += v;
        __syncthreads();
    }
    out[blockIdx.x * n + t] = buffer[t];
}

__global__ void two_shared(const int *in, int *out)
{
    __shared__ int fixed[64];
    extern __shared__ int buffer[];
    int t = threadIdx.x;
    fixed[t] = in[t];
    buffer[t] = in[t] * 10;
    __syncthreads();
    out[t] = fixed[63 - t] + buffer[(t + 1) % 64];
}

__global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float s[16][16], u[16][17];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        s[y][x] = a[row * n + k + x];
        u[y][x] = b[(k + y) * n + col];
        __syncthreads();
        for (int i = 0; i < 16; i++) {
            sum += s[y][i] * u[i][x];
        }
        __syncthreads();
    }
    c[row * n + col] = sum;
}

__global__ void bitonic(int *data)
{
    __shared__ int s[512];
    int t = threadIdx.x;
    s[t] = data[t];
    for (int k = 2; k <= 512; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            int other = t ^ j;
            if (other > t && (s[t] > s[other]) == ((t & k) == 0)) {
                int v = s[t];
                s[t] = s[other];
                s[other] = v;
            }
            __syncthreads();
        }
    }
    data[t] = s[t];
}

__global__ void histogram(const unsigned char *x, unsigned *out, int n)
{
    __shared__ unsigned bins[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        bins[i] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&bins[x[i]], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        atomicAdd(&out[i], bins[i]);
    }
}

__global__ void counted_barriers(const int *x, int *out)
{
    int t = threadIdx.x, v = x[t];
    out[t] = __syncthreads_count(v > 10) + 1000 * __syncthreads_and(v > 0) +
             10000 * __syncthreads_or(v > 99);
}

// Lanes that are done leave before the others meet at the barrier.
__global__ void early_exit(int *out, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t;
    if (t >= n) {
        return;
    }
    __syncthreads();
    out[t] = s[n - 1 - t];
}

// Half of the block never comes to the barrier that the other half waits at.
__global__ void missing_barrier(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    if (t < 32) {
        __syncthreads();
        out[t] = s[63 - t];
    }
    else {
        asm volatile("bar.sync 1, 96;");
    }
}

// Four warps hand a token round, two at a time, over two barriers of 64 threads.
__global__ void producer_consumer(int *out)
{
    __shared__ int box[32];
    int lane = threadIdx.x % 32, producer = threadIdx.x < 32;
    for (int i = 0; i < 10; i++) {
        if (producer) {
            box[lane] = i * 32 + lane;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
        }
        else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[i * 32 + lane] = box[31 - lane];
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}

}
