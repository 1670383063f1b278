// Cooperative groups: tiles, coalesced threads, and the whole grid.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

template <int SIZE>
__device__ int tile_sum(cg::thread_block block, int v)
{
    cg::thread_block_tile<SIZE> tile = cg::tiled_partition<SIZE>(block);
    for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
    return tile.shfl(v, 0) * 100 + tile.thread_rank();
}

extern "C" {

__global__ void tiles(int *out, const int *in)
{
    cg::thread_block block = cg::this_thread_block();
    int i = block.group_index().x * block.size() + block.thread_rank();
    int *o = out + 5 * i;
    o[0] = tile_sum<32>(block, in[i]);
    o[1] = tile_sum<16>(block, in[i]);
    o[2] = tile_sum<8>(block, in[i]);
    o[3] = tile_sum<4>(block, in[i]);
    auto eight = cg::tiled_partition<8>(block);
    o[4] = eight.any(in[i] == 3) + 2 * eight.all(in[i] > 0) + 4 * (int)eight.ballot(in[i] & 1) +
           4096 * (int)eight.meta_group_rank();
    block.sync();
}

__global__ void coalesced(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int r = -1;
    if (in[i] % 3 == 1) {
        cg::coalesced_group g = cg::coalesced_threads();
        r = (int)(g.size() * 1000 + g.thread_rank() * 10) + (g.shfl(in[i], 0) & 7);
    }
    out[i] = r;
}

__global__ void group_reduce(int *sums, float *most, int *prefix, const int *in)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[i] = cg::reduce(tile, in[i], cg::plus<int>());
    most[i] = cg::reduce(tile, in[i] * 0.5f, cg::greater<float>());
    prefix[i] = cg::inclusive_scan(tile, in[i], cg::plus<int>());
}

// Every block needs what all blocks wrote in the step before.
__global__ void grid_steps(int *a, int *b, int steps)
{
    cg::grid_group grid = cg::this_grid();
    int i = (int)grid.thread_rank(), n = (int)grid.size();
    int *from = a, *to = b;
    for (int k = 0; k < steps; k++) {
        to[i] = from[(i + n / 2) % n] * 3 + from[(i + n - 1) % n] + k;
        grid.sync();
        int *x = from;
        from = to;
        to = x;
    }
}

}  // extern "C"
