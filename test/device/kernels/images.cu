// Pictures and grids: neighbourhoods, halos in shared memory, escape times.

extern "C" {

__constant__ float taps[9];

__global__ void life(unsigned char *to, const unsigned char *from, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                alive += from[(y + dy + height) % height * width + (x + dx + width) % width];
    to[y * width + x] = alive == 3 || (alive == 2 && from[y * width + x]);
}

__global__ void mandelbrot(int *out, double left, double top, double step, int width,
                           int height, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    double cr = left + x * step, ci = top - y * step, zr = 0, zi = 0;
    int k = 0;
    while (k < limit && zr * zr + zi * zi <= 4.0) {
        double t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        k++;
    }
    out[y * width + x] = k;
}

__global__ void julia(float *out, float cr, float ci, int width, int limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float zr = (i % width) * (3.0f / width) - 1.5f;
    float zi = (i / width) * (3.0f / width) - 1.5f;
    int k;
    for (k = 0; k < limit && zr * zr + zi * zi < 16.0f; k++) {
        float t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = t;
    }
    out[i] = k < limit ? k + 1 - log2f(log2f(zr * zr + zi * zi) * 0.5f) : 0.0f;
}

__global__ void transpose(float *out, const float *in, int width, int height)
{
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int k = 0; k < 16; k += 8)
        if (x < width && y + k < height)
            tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    for (int k = 0; k < 16; k += 8)
        if (x < height && y + k < width)
            out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}

__global__ void sobel(unsigned char *out, const unsigned char *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
#define AT(dx, dy) \
    in[min(max(y + (dy), 0), height - 1) * width + min(max(x + (dx), 0), width - 1)]
    int gx = AT(1, -1) + 2 * AT(1, 0) + AT(1, 1) - AT(-1, -1) - 2 * AT(-1, 0) - AT(-1, 1);
    int gy = AT(-1, 1) + 2 * AT(0, 1) + AT(1, 1) - AT(-1, -1) - 2 * AT(0, -1) - AT(1, -1);
#undef AT
    out[y * width + x] = (unsigned char)min(255, (int)sqrtf((float)(gx * gx + gy * gy)));
}

// A 17-tap filter over rows: the block's part and its halo lie in shared memory.
__global__ void convolve_rows(float *out, const float *in, int width)
{
    __shared__ float line[64 + 16];
    int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y;
    for (int k = threadIdx.x; k < 80; k += 64) {
        int from = blockIdx.x * 64 + k - 8;
        line[k] = from >= 0 && from < width ? in[y * width + from] : 0.0f;
    }
    __syncthreads();
    if (x >= width) return;
    float s = 0;
#pragma unroll
    for (int k = 0; k < 9; k++) s += taps[k] * (line[threadIdx.x + k] + line[threadIdx.x + 16 - k]);
    out[y * width + x] = s;
}

__device__ void order(unsigned char &a, unsigned char &b)
{
    unsigned char low = min(a, b);
    b = max(a, b);
    a = low;
}

__global__ void median(unsigned char *out, const unsigned char *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    unsigned char v[9];
    for (int k = 0; k < 9; k++) v[k] = in[(y + k / 3 - 1) * width + x + k % 3 - 1];
    for (int round = 0; round < 9; round++)
        for (int k = round & 1; k + 1 < 9; k += 2) order(v[k], v[k + 1]);
    out[y * width + x] = v[4];
}

__global__ void grey(unsigned char *out, const uchar4 *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 p = in[i];
    out[i] = (unsigned char)(0.299f * p.x + 0.587f * p.y + 0.114f * p.z + 0.5f);
}

__global__ void heat(float *to, const float *from, float k, int width, int height)
{
    __shared__ float tile[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    bool inside = x < width && y < height;
    float c = inside ? from[y * width + x] : 0.0f;
    tile[ty][tx] = c;
    if (threadIdx.x == 0) tile[ty][0] = inside && x > 0 ? from[y * width + x - 1] : 0.0f;
    if (threadIdx.x == 31)
        tile[ty][33] = inside && x + 1 < width ? from[y * width + x + 1] : 0.0f;
    if (threadIdx.y == 0) tile[0][tx] = inside && y > 0 ? from[(y - 1) * width + x] : 0.0f;
    if (threadIdx.y == 7)
        tile[9][tx] = inside && y + 1 < height ? from[(y + 1) * width + x] : 0.0f;
    __syncthreads();
    if (!inside) return;
    float around = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx];
    to[y * width + x] = c + k * (around - 4 * c);
}

}  // extern "C"
