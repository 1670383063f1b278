// Sorting: networks in shared and global memory, a radix pass, a merge.

extern "C" {

__global__ void bitonic_block(unsigned *data)
{
    __shared__ unsigned s[512];
    int t = threadIdx.x;
    unsigned *mine = data + blockIdx.x * 512;
    s[t] = mine[t];
    s[t + 256] = mine[t + 256];
    for (int size = 2; size <= 512; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            int a = 2 * t - (t & (d - 1));
            bool up = (a & size) == 0;
            unsigned x = s[a], y = s[a + d];
            if ((x > y) == up) {
                s[a] = y;
                s[a + d] = x;
            }
        }
    __syncthreads();
    mine[t] = s[t];
    mine[t + 256] = s[t + 256];
}

__global__ void bitonic_step(float *keys, int *values, int distance, int size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ distance;
    if (other <= i) return;
    bool up = (i & size) == 0;
    if ((keys[i] > keys[other]) == up) {
        float k = keys[i];
        keys[i] = keys[other];
        keys[other] = k;
        int v = values[i];
        values[i] = values[other];
        values[other] = v;
    }
}

__global__ void odd_even(short *data, int n)
{
    for (int round = 0; round < n; round++) {
        int i = 2 * threadIdx.x + (round & 1);
        if (i + 1 < n && data[i] > data[i + 1]) {
            short x = data[i];
            data[i] = data[i + 1];
            data[i + 1] = x;
        }
        __syncthreads();
    }
}

// One 4-bit digit of a radix sort of one block: stable, by ranks within the warps.
__global__ void radix_pass(unsigned *to, const unsigned *from, int shift)
{
    __shared__ unsigned counts[16][9];
    __shared__ unsigned base[16];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    if (t < 144) counts[t / 9][t % 9] = 0;
    __syncthreads();
    unsigned key = from[t], digit = key >> shift & 15;
    unsigned same = ~0u;
    for (int bit = 0; bit < 4; bit++) {
        unsigned votes = __ballot_sync(~0u, digit >> bit & 1);
        same &= digit >> bit & 1 ? votes : ~votes;
    }
    unsigned rank = __popc(same & ((1u << lane) - 1));
    if (rank == 0) counts[digit][warp + 1] = __popc(same);
    __syncthreads();
    if (t < 16)
        for (int w = 0; w < 8; w++) counts[t][w + 1] += counts[t][w];
    __syncthreads();
    if (t == 0) {
        unsigned s = 0;
        for (int d = 0; d < 16; d++) {
            base[d] = s;
            s += counts[d][8];
        }
    }
    __syncthreads();
    to[base[digit] + counts[digit][warp] + rank] = key;
}

// Two sorted arrays: each thread finds by bisection where its element goes.
__global__ void merge_by_rank(long long *out, const long long *a, const long long *b, int n,
                              int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n + m) return;
    bool first = i < n;
    long long v = first ? a[i] : b[i - n];
    const long long *other = first ? b : a;
    int low = 0, high = first ? m : n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (first ? other[middle] < v : other[middle] <= v)
            low = middle + 1;
        else
            high = middle;
    }
    out[low + (first ? i : i - n)] = v;
}

}  // extern "C"
