// Texture and surface objects.

extern "C" {

__global__ void fetch_linear(float *out, cudaTextureObject_t t, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(t, i) * 2 + tex1Dfetch<float>(t, n - 1 - i);
}

__global__ void sample_2d(float *out, cudaTextureObject_t t, float x0, float y0, float step,
                          int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = tex2D<float>(t, x0 + x * step, y0 + y * step);
}

__global__ void sample_float4(float4 *out, cudaTextureObject_t t, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = tex2D<float4>(t, x * 0.75f + 0.3f, y * 1.25f - 0.4f);
}

__global__ void sample_uchar4(uchar4 *out, cudaTextureObject_t t, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        uchar4 p = tex2D<uchar4>(t, width - 0.5f - x, y + 0.5f);
        out[y * width + x] = make_uchar4(p.w, p.z, p.y, p.x);
    }
}

__global__ void sample_1d(float *out, cudaTextureObject_t t, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1D<float>(t, (i - 8) * 0.31f);
}

__global__ void sample_3d(float *out, cudaTextureObject_t t, int width, int height, int depth)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height * depth) return;
    int x = i % width, y = i / width % height, z = i / (width * height);
    out[i] = tex3D<float>(t, x + 0.75f, y + 0.5f, z + 0.25f);
}

__global__ void invert_surface(cudaSurfaceObject_t s, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        float v = surf2Dread<float>(s, x * 4, y);
        surf2Dwrite(1.0f - v * v, s, x * 4, y);
    }
}

}  // extern "C"
