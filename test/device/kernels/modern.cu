// What compute capability 8 brought: copies in the background, reductions, bfloat16.
#include <cuda_bf16.h>
#include <cuda_pipeline.h>

extern "C" {

__global__ void staged_copy(float *out, const float *in, int n)
{
    __shared__ __align__(16) float stage[2][128];
    int t = threadIdx.x, steps = n / 128;
    __pipeline_memcpy_async(&stage[0][t], &in[t], 4);
    __pipeline_commit();
    float s = 0;
    for (int k = 0; k < steps; k++) {
        if (k + 1 < steps && t < 32)
            __pipeline_memcpy_async(&stage[(k + 1) & 1][4 * t], &in[(k + 1) * 128 + 4 * t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        s += stage[k & 1][127 - t] * (k + 1);
        __syncthreads();
    }
    out[t] = s;
}

__global__ void warp_reduce(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    int *o = out + 6 * i;
    o[0] = __reduce_add_sync(~0u, v);
    o[1] = __reduce_min_sync(~0u, v);
    o[2] = (int)__reduce_max_sync(~0u, (unsigned)v);
    o[3] = (int)__reduce_and_sync(~0u, (unsigned)v | 0xff);
    o[4] = (int)__reduce_or_sync(~0u, (unsigned)v & 0xf0f0);
    o[5] = threadIdx.x & 1 ? (int)__reduce_xor_sync(0xaaaaaaaau, (unsigned)v) : 0;
}

__global__ void bfloat(__nv_bfloat16 *out, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat16 x = __float2bfloat16(a[i]), y = __float2bfloat16(b[i]);
    out[4 * i] = __hadd(x, y);
    out[4 * i + 1] = __hmul(x, y);
    out[4 * i + 2] = __hfma(x, y, x);
    out[4 * i + 3] = __hgt(x, y) ? x : __hneg(y);
}

}  // extern "C"
