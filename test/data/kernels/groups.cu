// Cooperative groups: tiles of a warp, coalesced threads, the whole grid.
// The tests compile this file, because its PTX contains code of NVIDIA's header.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" {

__global__ void groups(const int *x, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int v = x[block.thread_rank()];
    for (int k = tile.size() / 2; k; k /= 2) {
        v += tile.shfl_down(v, k);
    }
    v = tile.shfl(v, 0);
    if (v & 1) {
        cg::coalesced_group active = cg::coalesced_threads();
        v = v * 100 + active.size();
    }
    out[block.thread_rank()] = v;
}

__global__ void grid_sums(const int *x, int *out, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    int v = x[i];
    for (int r = 0; r < rounds; r++) {
        out[i] = v;
        grid.sync();
        v = out[(i + 1) % n] + out[(i + n - 1) % n];
        grid.sync();
    }
    out[i] = v;
}

}
