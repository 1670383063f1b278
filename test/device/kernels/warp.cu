// Operations of a warp: votes, matches, shuffles of every mode, barriers that count.

__device__ unsigned agreement(int v)
{
    int same;
    unsigned mask = __match_all_sync(~0u, v >> 7, &same);
    return same ? mask : 1u;
}

extern "C" {

__global__ void votes(unsigned *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    unsigned *o = out + 6 * i;
    o[0] = __ballot_sync(~0u, v > 0);
    o[1] = __any_sync(~0u, v == 17) + 2 * __all_sync(~0u, v > -100);
    o[2] = 0;
    if (v & 1) {
        unsigned odd = __activemask();
        o[2] = odd;
        o[3] = __ballot_sync(odd, v > 50);
    } else
        o[3] = 0x80000000u | (unsigned)v;
    __syncwarp();
    unsigned lower = 0x0000ffffu;
    o[4] = 7;
    if ((threadIdx.x & 31) < 16) o[4] = __ballot_sync(lower, v & 2);
    o[5] = agreement(v);
}

__global__ void matches(unsigned *out, const int *in, const unsigned long long *wide)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[3 * i] = __match_any_sync(~0u, in[i] & 7);
    out[3 * i + 1] = __match_any_sync(~0u, wide[i]);
    int same;
    out[3 * i + 2] = __match_all_sync(~0u, wide[i / 32 * 32], &same) + same;
}

__global__ void shuffles(int *out, const int *in, const double *wide, double *wide_out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int v = in[i], *o = out + 10 * i;
    o[0] = __shfl_sync(~0u, v, 5);
    o[1] = __shfl_sync(~0u, v, (lane * 7) & 31);
    o[2] = __shfl_sync(~0u, v, lane + 1, 8);
    o[3] = __shfl_up_sync(~0u, v, 3);
    o[4] = __shfl_up_sync(~0u, v, 1, 4);
    o[5] = __shfl_down_sync(~0u, v, 9);
    o[6] = __shfl_down_sync(~0u, v, 2, 16);
    o[7] = __shfl_xor_sync(~0u, v, 21);
    o[8] = __shfl_xor_sync(~0u, v, 4, 8);
    o[9] = -1;
    if (lane & 4) o[9] = __shfl_xor_sync(0xf0f0f0f0u, v, 3);
    wide_out[i] = __shfl_down_sync(~0u, wide[i], 1) + __shfl_up_sync(~0u, wide[i], 1);
}

__global__ void counting_barriers(int *out, const int *in)
{
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int a = __syncthreads_count(in[i] > 20);
    int b = __syncthreads_and(in[i] > -1000);
    int c = __syncthreads_or(in[i] == 99);
    out[i] = a * 4 + (b != 0) * 2 + (c != 0);
}

// Named barriers: two halves of a block hand a value back and forth.
__global__ void named_barriers(int *out)
{
    __shared__ int box[64];
    int t = threadIdx.x;
    if (t < 64) {
        for (int k = 0; k < 4; k++) {
            box[t] = t * 10 + k;
            asm volatile("bar.sync 1, 128;" ::: "memory");
            asm volatile("bar.sync 2, 128;" ::: "memory");
        }
    } else {
        int s = 0;
        for (int k = 0; k < 4; k++) {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            s = s * 3 + box[t - 64];
            asm volatile("bar.sync 2, 128;" ::: "memory");
        }
        out[blockIdx.x * 64 + t - 64] = s;
    }
}

// Lanes leave the loop one by one; the rest meet and count themselves.
__global__ void thinning(int *out)
{
    int lane = threadIdx.x & 31, i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    unsigned mask = ~0u;
    for (int k = 0; k < 32; k++) {
        mask = __ballot_sync(mask, lane >= k);
        if (lane < k) break;
        s += __popc(mask) * (k + 1) + __shfl_sync(mask, lane, 31);
    }
    out[i] = s;
}

// Divergence within divergence, with early returns.
__global__ void nested(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i], r = 0;
    for (int a = 0; a < (v & 7); a++) {
        if (a == 5) break;
        for (int b = 0; b < (v >> 3 & 7); b++) {
            if ((a + b) % 3 == 2) continue;
            if (a * b > 12) {
                out[i] = r + 1000;
                return;
            }
            r += (a ^ b) + (v & 1 ? a : b);
        }
    }
    out[i] = r;
}

}  // extern "C"
