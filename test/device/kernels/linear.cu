// Dense and sparse algebra, particles, transforms, graphs, dynamic programming.

extern "C" {

__global__ void matmul(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ float as[16][16], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float s = 0;
    for (int t = 0; t < k; t += 16) {
        as[ty][tx] = row < m && t + tx < k ? a[row * k + t + tx] : 0.0f;
        bs[ty][tx] = t + ty < k && column < n ? b[(t + ty) * n + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 16; e++) s += as[ty][e] * bs[e][tx];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = s;
}

__global__ void matmul_double(double *c, const double *a, const double *b, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    double s = 0;
    for (int e = 0; e < n; e++) s += a[row * n + e] * b[e * n + column];
    c[row * n + column] = s;
}

__global__ void sparse_times_vector(double *y, const int *start, const int *column,
                                    const double *value, const double *x, int rows)
{
    int lane = threadIdx.x & 31;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (row >= rows) return;
    double s = 0;
    for (int k = start[row] + lane; k < start[row + 1]; k += 32) s += value[k] * x[column[k]];
    for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(~0u, s, d);
    if (lane == 0) y[row] = s;
}

// Gaussian elimination with pivoting, a system a block, a row a thread.
__global__ void solve(double *x, const double *a, const double *b, int n)
{
    extern __shared__ double work[];
    __shared__ int pivot;
    int t = threadIdx.x, w = n + 1;
    for (int c = 0; c < n; c++) work[t * w + c] = a[(blockIdx.x * n + t) * n + c];
    work[t * w + n] = b[blockIdx.x * n + t];
    __syncthreads();
    for (int k = 0; k < n; k++) {
        if (t == k) {
            int best = k;
            for (int r = k + 1; r < n; r++)
                if (fabs(work[r * w + k]) > fabs(work[best * w + k])) best = r;
            pivot = best;
        }
        __syncthreads();
        if (pivot != k)
            for (int c = t; c < w; c += n) {
                double v = work[k * w + c];
                work[k * w + c] = work[pivot * w + c];
                work[pivot * w + c] = v;
            }
        __syncthreads();
        if (t != k) {
            double f = work[t * w + k] / work[k * w + k];
            for (int c = k; c < w; c++) work[t * w + c] -= f * work[k * w + c];
        }
        __syncthreads();
    }
    x[blockIdx.x * n + t] = work[t * w + n] / work[t * w + t];
}

__global__ void bodies(float4 *position, float3 *velocity, int n, float dt)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = position[i];
    float ax = 0, ay = 0, az = 0;
    for (int base = 0; base < n; base += blockDim.x) {
        tile[threadIdx.x] = position[base + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < blockDim.x; k++) {
            float4 o = tile[k];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
            float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
            float inverse = 1.0f / sqrtf(d2);
            float f = o.w * inverse * inverse * inverse;
            ax += f * dx;
            ay += f * dy;
            az += f * dz;
        }
        __syncthreads();
    }
    float3 v = velocity[i];
    velocity[i] = make_float3(v.x + ax * dt, v.y + ay * dt, v.z + az * dt);
}

__global__ void move(float4 *position, const float3 *velocity, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    position[i].x += velocity[i].x * dt;
    position[i].y += velocity[i].y * dt;
    position[i].z += velocity[i].z * dt;
}

// A transform of 256 points a block, radix 2, in shared memory.
__global__ void fft(double2 *data)
{
    __shared__ double2 s[256];
    int t = threadIdx.x;
    double2 *mine = data + blockIdx.x * 256;
    s[__brev(t) >> 24] = mine[t];
    s[__brev(t + 128) >> 24] = mine[t + 128];
    for (int half = 1; half < 256; half *= 2) {
        __syncthreads();
        int k = t & (half - 1), a = ((t & ~(half - 1)) << 1) + k, b = a + half;
        double sine, cosine;
        sincospi(-(double)k / half, &sine, &cosine);
        double2 u = s[a], v = s[b];
        double re = v.x * cosine - v.y * sine, im = v.x * sine + v.y * cosine;
        s[a] = make_double2(u.x + re, u.y + im);
        s[b] = make_double2(u.x - re, u.y - im);
    }
    __syncthreads();
    mine[t] = s[t];
    mine[t + 128] = s[t + 128];
}

__global__ void floyd_warshall(int *distance, int k, int n)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && j < n) {
        int through = distance[i * n + k] + distance[k * n + j];
        if (through < distance[i * n + j]) distance[i * n + j] = through;
    }
}

// One level of a breadth-first search.
__global__ void bfs_level(int *depth, int *changed, const int *start, const int *edge,
                          int level, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || depth[v] != level) return;
    for (int k = start[v]; k < start[v + 1]; k++)
        if (depth[edge[k]] < 0) {
            depth[edge[k]] = level + 1;
            *changed = 1;
        }
}

// Edit distance of two words a block, along the antidiagonals.
__global__ void edit_distance(int *out, const char *a, const char *b, int length)
{
    __shared__ int diagonal[3][65];
    int t = threadIdx.x;
    const char *x = a + blockIdx.x * length, *y = b + blockIdx.x * length;
    for (int d = 0; d <= 2 * length; d++) {
        int *now = diagonal[d % 3], *last = diagonal[(d + 2) % 3];
        int *before = diagonal[(d + 1) % 3];
        int i = t, j = d - t;  // now[i] is the distance of the first i and j letters
        if (i <= length && j >= 0 && j <= length) {
            if (i == 0 || j == 0)
                now[i] = i + j;
            else
                now[i] = min(min(last[i - 1], last[i]) + 1,
                             before[i - 1] + (x[i - 1] != y[j - 1]));
        }
        __syncthreads();
    }
    if (t == length) out[blockIdx.x] = diagonal[(2 * length) % 3][length];
}

// Nearest centre of each point, and the sums for the next centres in fixed point.
__global__ void kmeans(int *label, long long *sums, int *counts, const float2 *points,
                       const float2 *centres, int k, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 p = points[i];
    float best = 1e30f;
    int mine = 0;
    for (int c = 0; c < k; c++) {
        float dx = p.x - centres[c].x, dy = p.y - centres[c].y, d = dx * dx + dy * dy;
        if (d < best) {
            best = d;
            mine = c;
        }
    }
    label[i] = mine;
    atomicAdd((unsigned long long *)&sums[2 * mine], (unsigned long long)(p.x * 65536));
    atomicAdd((unsigned long long *)&sums[2 * mine + 1], (unsigned long long)(p.y * 65536));
    atomicAdd(&counts[mine], 1);
}

// Pi by darts that a hash throws.
__device__ unsigned scramble(unsigned x)
{
    x = (x ^ 61) ^ (x >> 16);
    x *= 9;
    x ^= x >> 4;
    x *= 0x27d4eb2d;
    return x ^ x >> 15;
}

__global__ void darts(unsigned *hits, int throws)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, inside = 0;
    for (int k = 0; k < throws; k++) {
        float x = scramble(2 * (i * throws + k)) * (1.0f / 4294967296.0f);
        float y = scramble(2 * (i * throws + k) + 1) * (1.0f / 4294967296.0f);
        inside += x * x + y * y < 1.0f;
    }
    for (int d = 16; d > 0; d >>= 1) inside += __shfl_down_sync(~0u, inside, d);
    if ((threadIdx.x & 31) == 0) atomicAdd(hits, inside);
}

// Runge-Kutta steps of the Lorenz system, one start a thread.
__global__ void lorenz(double3 *state, double dt, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double3 s = state[i];
    auto slope = [](double3 p) {
        return make_double3(10 * (p.y - p.x), p.x * (28 - p.z) - p.y, p.x * p.y - p.z * 8 / 3);
    };
    auto along = [](double3 p, double3 d, double h) {
        return make_double3(p.x + d.x * h, p.y + d.y * h, p.z + d.z * h);
    };
    for (int k = 0; k < steps; k++) {
        double3 a = slope(s), b = slope(along(s, a, dt / 2));
        double3 c = slope(along(s, b, dt / 2)), d = slope(along(s, c, dt));
        s.x += dt / 6 * (a.x + 2 * b.x + 2 * c.x + d.x);
        s.y += dt / 6 * (a.y + 2 * b.y + 2 * c.y + d.y);
        s.z += dt / 6 * (a.z + 2 * b.z + 2 * c.z + d.z);
    }
    state[i] = s;
}

}  // extern "C"
