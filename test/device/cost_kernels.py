"""Kernels whose costs on an H200 are recorded; the software device counts the same.

All take (float *out, const float *in, const int *index, int n). `index` has a random
permutation. The arrays have room for MOST elements.
"""

from collections import Counter

import numpy as np

import pycuda.driver as drv
from pycuda.profile import _opcodes

MOST = 1 << 17
N = 1 << 14

HEAD = """
#define KERNEL(name) extern "C" __global__ void name(float *__restrict__ out, \\
    const float *__restrict__ in, const int *__restrict__ index, int n)
#define T threadIdx.x
#define ID (blockIdx.x * blockDim.x + threadIdx.x)
struct Body { float x, y, z, mass, vx, vy, vz, age; };
"""

#: name: (block, grid, body)
ROWS = {
    # copies
    "copy": (256, N // 256, "int i = ID; if (i < n) out[i] = in[i];"),
    "copy_guard": (256, N // 256, "int i = ID; if (i < n - 100) out[i] = in[i];"),
    "copy_char": (256, N // 256, "((char *)out)[ID] = ((const char *)in)[ID];"),
    "copy_short": (256, N // 256, "((short *)out)[ID] = ((const short *)in)[ID];"),
    "copy_double": (256, N // 256, "((double *)out)[ID] = ((const double *)in)[ID];"),
    "copy_float4": (256, N // 1024, "((float4 *)out)[ID] = ((const float4 *)in)[ID];"),
    "copy_offset": (256, N // 256, "out[ID + 1] = in[ID + 3];"),
    "copy_reverse": (256, N // 256, "out[n - 1 - ID] = in[ID];"),
    "copy_stride2": (256, N // 256, "out[ID * 2] = in[ID * 2];"),
    "copy_stride5": (256, N // 256, "out[ID * 5] = in[ID * 5];"),
    "copy_stride8_double": (
        256,
        N // 1024,
        "((double *)out)[ID * 8] = ((const double *)in)[ID * 8 + 1];",
    ),
    "copy_stride_float4": (
        256,
        N // 1024,
        "((float4 *)out)[ID * 3] = ((const float4 *)in)[ID * 2];",
    ),
    "gather": (256, N // 256, "out[ID] = in[index[ID]];"),
    "gather_double": (
        256,
        N // 256,
        "((double *)out)[ID] = ((const double *)in)[index[ID]];",
    ),
    "gather_float4": (
        256,
        N // 1024,
        "((float4 *)out)[ID] = ((const float4 *)in)[index[ID]];",
    ),
    "scatter": (256, N // 256, "out[index[ID]] = in[ID];"),
    "same_address": (256, N // 256, "out[ID] = in[blockIdx.x];"),
    "fill_half_warps": (256, N // 256, "if (T & 16) out[ID] = 1;"),
    "grid_stride": (
        256,
        8,
        "for (int i = ID; i < n; i += gridDim.x * blockDim.x) out[i] = 2 * in[i];",
    ),
    # transposes of 128 x 128
    "transpose_read": (
        256,
        N // 256,
        "int r = ID / 128, c = ID % 128; out[r * 128 + c] = in[c * 128 + r];",
    ),
    "transpose_write": (
        256,
        N // 256,
        "int r = ID / 128, c = ID % 128; out[c * 128 + r] = in[r * 128 + c];",
    ),
    "transpose_tile": (
        1024,
        16,
        """__shared__ float tile[32][32];
    int x = T % 32, y = T / 32, bx = blockIdx.x % 4 * 32, by = blockIdx.x / 4 * 32;
    tile[y][x] = in[(by + y) * 128 + bx + x];
    __syncthreads();
    out[(bx + y) * 128 + by + x] = tile[x][y];""",
    ),
    "transpose_padded": (
        1024,
        16,
        """__shared__ float tile[32][33];
    int x = T % 32, y = T / 32, bx = blockIdx.x % 4 * 32, by = blockIdx.x / 4 * 32;
    tile[y][x] = in[(by + y) * 128 + bx + x];
    __syncthreads();
    out[(bx + y) * 128 + by + x] = tile[x][y];""",
    ),
    # reductions
    "reduce_interleaved": (
        256,
        N // 256,
        """__shared__ float s[256];
    s[T] = in[ID];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        if (T % (2 * step) == 0) s[T] += s[T + step];
        __syncthreads();
    }
    if (T == 0) out[blockIdx.x] = s[0];""",
    ),
    "reduce_strided": (
        256,
        N // 256,
        """__shared__ float s[256];
    s[T] = in[ID];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int i = 2 * step * T;
        if (i < 256) s[i] += s[i + step];
        __syncthreads();
    }
    if (T == 0) out[blockIdx.x] = s[0];""",
    ),
    "reduce_sequential": (
        256,
        N // 256,
        """__shared__ float s[256];
    s[T] = in[ID];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (T < step) s[T] += s[T + step];
        __syncthreads();
    }
    if (T == 0) out[blockIdx.x] = s[0];""",
    ),
    "reduce_shuffle": (
        256,
        N // 256,
        """float x = in[ID];
    for (int step = 16; step > 0; step /= 2) x += __shfl_down_sync(~0u, x, step);
    if (T % 32 == 0) out[ID / 32] = x;""",
    ),
    "sum_atomics": (256, N // 256, "atomicAdd(&out[blockIdx.x % 4], in[ID]);"),
    # histograms
    "histogram_global": (
        256,
        N // 256,
        "atomicAdd(&((int *)out)[index[ID] % 64], index[ID] & 3);",
    ),
    "histogram_wide": (
        256,
        N // 256,
        "atomicAdd(&((int *)out)[index[ID]], index[ID] & 3);",
    ),
    "histogram_shared": (
        256,
        N // 256,
        """__shared__ int s[64];
    if (T < 64) s[T] = 0;
    __syncthreads();
    atomicAdd(&s[index[ID] % 64], index[ID] & 3);
    __syncthreads();
    if (T < 64) atomicAdd(&((int *)out)[T], s[T]);""",
    ),
    # stencils
    "stencil_3": (
        256,
        N // 256,
        """int i = ID;
    if (i > 0 && i < n - 1) out[i] = in[i - 1] + in[i] + in[i + 1];""",
    ),
    "stencil_shared": (
        256,
        N // 256,
        """__shared__ float s[258];
    int i = ID;
    s[T + 1] = in[i];
    if (T == 0) s[0] = i > 0 ? in[i - 1] : 0;
    if (T == 255) s[257] = i < n - 1 ? in[i + 1] : 0;
    __syncthreads();
    out[i] = s[T] + s[T + 1] + s[T + 2];""",
    ),
    "stencil_5": (
        256,
        N // 256,
        """int x = ID % 128, y = ID / 128, i = ID;
    if (x > 0 && x < 127 && y > 0 && y < 127)
        out[i] = in[i - 1] + in[i + 1] + in[i - 128] + in[i + 128] - 4 * in[i];""",
    ),
    # products of 64 x 64
    "product_naive": (
        256,
        16,
        """int r = ID / 64, c = ID % 64;
    float sum = 0;
    for (int k = 0; k < 64; k++) sum += in[r * 64 + k] * in[4096 + k * 64 + c];
    out[ID] = sum;""",
    ),
    "product_tiled": (
        256,
        16,
        """__shared__ float a[16][16], b[16][16];
    int x = T % 16, y = T / 16, bx = blockIdx.x % 4 * 16, by = blockIdx.x / 4 * 16;
    float sum = 0;
    for (int k = 0; k < 64; k += 16) {
        a[y][x] = in[(by + y) * 64 + k + x];
        b[y][x] = in[4096 + (k + y) * 64 + bx + x];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += a[y][j] * b[j][x];
        __syncthreads();
    }
    out[(by + y) * 64 + bx + x] = sum;""",
    ),
    # branches
    "branch_parity": (
        256,
        N // 256,
        """float x = in[ID];
    if (T % 2) { for (int k = 0; k < 20; k++) x = x * x + 0.25f; out[ID] = x; }
    else { for (int k = 0; k < 20; k++) x = sqrtf(x) + 1; out[ID] = x * 3; }""",
    ),
    "branch_warp": (
        256,
        N // 256,
        """float x = in[ID];
    if (T / 32 % 2) { for (int k = 0; k < 20; k++) x = x * x + 0.25f; out[ID] = x; }
    else { for (int k = 0; k < 20; k++) x = sqrtf(x) + 1; out[ID] = x * 3; }""",
    ),
    "loop_by_lane": (
        256,
        N // 256,
        """float x = in[ID];
    #pragma unroll 1
    for (int k = 0; k < index[ID] % 40; k++) x = x * x + 0.25f;
    out[ID] = x;""",
    ),
    "early_return": (
        256,
        N // 256,
        """if (index[ID] % 5 == 0) return;
    float x = in[ID];
    #pragma unroll 1
    for (int k = 0; k < 30; k++) x = x * x + 0.25f;
    out[ID] = x;""",
    ),
    # structs
    "array_of_structs": (
        256,
        N // 1024,
        """const Body *b = (const Body *)in;
    out[ID] = b[ID].x * b[ID].mass;""",
    ),
    "struct_of_arrays": (256, N // 1024, "out[ID] = in[ID] * in[ID + n / 4];"),
    "array_of_float3": (
        256,
        N // 1024,
        """const float3 p = ((const float3 *)in)[ID];
    out[ID] = p.x + p.y + p.z;""",
    ),
    # shared memory
    "shared_stride2": (
        256,
        8,
        """__shared__ float s[512];
    s[T * 2] = in[T]; s[T * 2 + 1] = in[T + 1];
    __syncthreads();
    out[ID] = s[T * 2] + s[T];""",
    ),
    "shared_stride32": (
        128,
        8,
        """__shared__ float s[128 * 32];
    s[T * 32] = in[T];
    __syncthreads();
    out[ID] = s[(T ^ 1) * 32];""",
    ),
    "shared_stride33": (
        128,
        8,
        """__shared__ float s[128 * 33];
    s[T * 33] = in[T];
    __syncthreads();
    out[ID] = s[(T ^ 1) * 33];""",
    ),
    "shared_double": (
        256,
        8,
        """__shared__ double s[256];
    s[T] = in[T];
    __syncthreads();
    out[ID] = s[T ^ 1] + s[255 - T];""",
    ),
    "shared_double_stride": (
        128,
        8,
        """__shared__ double s[128 * 16];
    s[T * 16] = in[T];
    __syncthreads();
    out[ID] = s[(T ^ 1) * 16];""",
    ),
    "shared_float4": (
        256,
        8,
        """__shared__ float4 s[256];
    s[T] = ((const float4 *)in)[T];
    __syncthreads();
    float4 v = s[T ^ 1];
    out[ID] = v.x + v.y + v.z + v.w;""",
    ),
    "shared_float4_stride": (
        128,
        8,
        """__shared__ float4 s[128 * 4];
    s[T * 4] = ((const float4 *)in)[T];
    __syncthreads();
    float4 v = s[(T ^ 1) * 4];
    out[ID] = v.x + v.y + v.z + v.w;""",
    ),
    "shared_char": (
        256,
        8,
        """__shared__ char s[1024];
    ((int *)s)[T] = index[T];
    s[T * 4] = in[T];
    __syncthreads();
    out[ID] = s[T] + s[(T ^ 1) * 4];""",
    ),
    "shared_random": (
        256,
        8,
        """__shared__ float s[256];
    s[T] = in[T];
    __syncthreads();
    out[ID] = s[index[ID] % 256];""",
    ),
    "shared_random_double": (
        256,
        8,
        """__shared__ double s[256];
    s[T] = in[T];
    __syncthreads();
    out[ID] = s[index[ID] % 256];""",
    ),
    "shared_random_float4": (
        256,
        8,
        """__shared__ float4 s[256];
    s[T] = ((const float4 *)in)[T];
    __syncthreads();
    float4 v = s[index[ID] % 256];
    out[ID] = v.x + v.y + v.z + v.w;""",
    ),
    "shared_one_word": (
        256,
        8,
        """__shared__ float s[256];
    s[T] = in[T];
    __syncthreads();
    out[ID] = s[in[0] > 2 ? 3 : 5];""",
    ),
    "shared_some_lanes": (
        256,
        8,
        """__shared__ double s[256];
    s[T] = in[T];
    __syncthreads();
    if (index[ID] % 3) out[ID] = s[(T * 4) % 256];""",
    ),
    # whole algorithms
    "scan": (
        256,
        N // 256,
        """__shared__ float s[256];
    s[T] = in[ID];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        float v = T >= step ? s[T - step] : 0;
        __syncthreads();
        s[T] += v;
        __syncthreads();
    }
    out[ID] = s[T];""",
    ),
    "softmax_row": (
        128,
        64,
        """__shared__ float s[4];
    float x = in[ID], m = x, sum;
    for (int step = 16; step > 0; step /= 2)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, step));
    if (T % 32 == 0) s[T / 32] = m;
    __syncthreads();
    m = fmaxf(fmaxf(s[0], s[1]), fmaxf(s[2], s[3]));
    __syncthreads();
    x = __expf(x - m);
    sum = x;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (T % 32 == 0) s[T / 32] = sum;
    __syncthreads();
    out[ID] = x / (s[0] + s[1] + s[2] + s[3]);""",
    ),
    "rows_of_matrix": (
        64,
        2,
        """float sum = 0;
    for (int k = 0; k < 128; k++) sum += in[ID * 128 + k];
    out[ID] = sum;""",
    ),
    "local_array": (
        128,
        8,
        """float a[16];
    for (int k = 0; k < 16; k++) a[k] = in[ID + k];
    for (int k = 0; k < 16; k++) a[index[k] & 15] += a[(index[ID] + k) & 15];
    out[ID] = a[index[ID] & 15];""",
    ),
    "functions": (
        256,
        N // 256,
        "float x = in[ID]; out[ID] = sinf(x) * expf(x) + logf(x + 1) / (x + 2);",
    ),
    "doubles": (
        256,
        N // 256,
        "double x = in[ID]; out[ID] = (x * x + 1.0) / (x + 2.0);",
    ),
    "integers": (
        256,
        N // 256,
        "int i = index[ID]; out[ID] = i / (n >> 3) + i % 7 * (i / 13);",
    ),
}


def source():
    """Return the text of all kernels."""
    kernels = [f"KERNEL({name}) {{\n    {row[2]}\n}}\n" for name, row in ROWS.items()]
    return HEAD + "".join(kernels)


def run(module):
    """Launch each kernel once, with the same data everywhere."""
    rng = np.random.default_rng(7)
    numbers = rng.random(4 * MOST, np.float32) + np.float32(0.5)
    data = drv.to_device(numbers)
    index = drv.to_device(rng.permutation(MOST // 4).astype(np.int32))
    out = drv.mem_alloc(16 * MOST)
    for name, (block, grid, _) in ROWS.items():
        drv.memset_d8(out, 0, 16 * MOST)
        kernel = module.get_function(name)
        kernel(out, data, index, np.int32(N), block=(block, 1, 1), grid=(grid, 1))
        drv.Context.synchronize()


def costs(programs):
    """Return what the software device counts for each kernel, by column of the table.

    The values are those of record_kernel_costs.py. Of instructions, it is an estimate
    of ``warps``.
    """
    found = {}
    for program in programs:
        for each in program.instructions:
            row = found.setdefault(program.functions[each.function].name, Counter())
            row["warps"] += _opcodes.weight(each.text) * each.warps
            if each.choice and each.text.startswith("bra"):
                row["divergent"] += each.choice.divided
            if not each.access:
                continue
            kind = {"ld": "load", "st": "store"}.get(each.text[:2], "atomic")
            access = each.access
            row[f"{kind}_requests"] += access.requests
            row[f"{kind}_sectors"] += access.sectors
            row[f"local_{kind}s"] += access.local_requests
            row[f"shared_{kind}s"] += access.wavefronts
            if kind != "atomic":
                conflicts = access.wavefronts - access.least_wavefronts
                row[f"{kind}_conflicts"] += conflicts
    return found


if __name__ == "__main__":
    import pycuda.autoinit  # noqa: F401  makes a context
    from pycuda.compiler import SourceModule

    run(SourceModule(source(), no_extern_c=True, options=["-lineinfo"]))
