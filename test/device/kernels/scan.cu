// Prefix sums, each in its classical way, and a compaction built on one.

extern "C" {

__global__ void hillis_steele(int *out, const int *in, int n)
{
    extern __shared__ int pair[];
    int t = threadIdx.x, from = 0, to = 1;
    pair[t] = t < n ? in[blockIdx.x * n + t] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        pair[to * blockDim.x + t] =
            pair[from * blockDim.x + t] + (t >= d ? pair[from * blockDim.x + t - d] : 0);
        __syncthreads();
        from = to;
        to = 1 - from;
    }
    if (t < n) out[blockIdx.x * n + t] = pair[from * blockDim.x + t];
}

// Exclusive, two elements a thread, padded against bank conflicts.
__global__ void blelloch(float *out, const float *in, int n)
{
    extern __shared__ float tree[];
#define PAD(i) ((i) + ((i) >> 5))
    int t = threadIdx.x, base = blockIdx.x * n;
    tree[PAD(2 * t)] = in[base + 2 * t];
    tree[PAD(2 * t + 1)] = in[base + 2 * t + 1];
    int offset = 1;
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            tree[PAD(b)] += tree[PAD(a)];
        }
        offset *= 2;
    }
    if (t == 0) tree[PAD(n - 1)] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            float left = tree[PAD(a)];
            tree[PAD(a)] = tree[PAD(b)];
            tree[PAD(b)] += left;
        }
    }
    __syncthreads();
    out[base + 2 * t] = tree[PAD(2 * t)];
    out[base + 2 * t + 1] = tree[PAD(2 * t + 1)];
#undef PAD
}

__global__ void warp_scan(unsigned *out, const unsigned *in, int n)
{
    __shared__ unsigned sums[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned v = i < n ? in[i] : 0;
    for (int d = 1; d < 32; d *= 2) {
        unsigned w = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += w;
    }
    if (lane == 31) sums[warp] = v;
    __syncthreads();
    if (warp == 0) {
        unsigned s = lane < blockDim.x / 32 ? sums[lane] : 0;
        for (int d = 1; d < 32; d *= 2) {
            unsigned w = __shfl_up_sync(~0u, s, d);
            if (lane >= d) s += w;
        }
        sums[lane] = s;
    }
    __syncthreads();
    if (warp > 0) v += sums[warp - 1];
    if (i < n) out[i] = v;
}

// One pass: a block takes a ticket, publishes its sum, then looks back over the blocks
// before it until one has published its whole prefix.
__global__ void look_back(int *out, const int *in, volatile int *state, volatile int *sum,
                          volatile int *prefix, unsigned *ticket, int n)
{
    __shared__ int s[128];
    __shared__ unsigned mine;
    __shared__ int before;
    int t = threadIdx.x;
    if (t == 0) mine = atomicAdd(ticket, 1);
    __syncthreads();
    int i = mine * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (t == 0) {
        int all = s[blockDim.x - 1], carry = 0;
        if (mine == 0) {
            prefix[0] = all;
            __threadfence();
            state[0] = 2;
        } else {
            sum[mine] = all;
            __threadfence();
            state[mine] = 1;
            for (int b = (int)mine - 1; b >= 0;) {
                int seen = state[b];
                if (seen == 0) continue;
                __threadfence();
                if (seen == 2) {
                    carry += prefix[b];
                    break;
                }
                carry += sum[b--];
            }
            prefix[mine] = carry + all;
            __threadfence();
            state[mine] = 2;
        }
        before = carry;
    }
    __syncthreads();
    if (i < n) out[i] = s[t] + before;
}

// Keeps the elements above a limit, in order, within a block.
__global__ void compact(float *out, int *count, const float *in, float limit, int n)
{
    __shared__ int base[9];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    bool keep = t < n && in[t] > limit;
    unsigned votes = __ballot_sync(~0u, keep);
    if (lane == 0) base[warp + 1] = __popc(votes);
    __syncthreads();
    if (t == 0) {
        base[0] = 0;
        for (int w = 0; w < blockDim.x / 32; w++) base[w + 1] += base[w];
        *count = base[blockDim.x / 32];
    }
    __syncthreads();
    if (keep) out[base[warp] + __popc(votes & ((1u << lane) - 1))] = in[t];
}

}  // extern "C"
