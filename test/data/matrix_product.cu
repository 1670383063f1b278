/* Products of 64 by 64 matrices of halves on tensor cores, as programs write them. */
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>

using namespace nvcuda;

enum { SIDE = 64 };

__device__ static uint32_t
shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* Four warps, 16 rows each. b has a column after the other. */
extern "C" __global__ void
with_wmma(const half *a, const half *b, float *c)
{
    const unsigned row = threadIdx.x / 32 * 16;

    for (unsigned column = 0; column < SIDE; column += 16) {
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;

        wmma::fill_fragment(sum, 0.0f);
        for (unsigned k = 0; k < SIDE; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;

            wmma::load_matrix_sync(left, a + row * SIDE + k, SIDE);
            wmma::load_matrix_sync(right, b + column * SIDE + k, SIDE);
            wmma::mma_sync(sum, left, right, sum);
        }
        for (unsigned i = 0; i < sum.num_elements; i++) {
            sum.x[i] += 1.0f;
        }
        wmma::store_matrix_sync(c + row * SIDE + column, sum, SIDE, wmma::mem_row_major);
    }
}

/* The same with ldmatrix and mma. */
extern "C" __global__ void
with_mma(const half *a, const half *b, float *c)
{
    __shared__ __align__(16) half left[SIDE][SIDE], right[SIDE][SIDE];
    const unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16;

    for (unsigned i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) {
        left[i / SIDE][i % SIDE] = a[i];
        right[i % SIDE][i / SIDE] = b[i];
    }
    __syncthreads();
    for (unsigned column = 0; column < SIDE; column += 8) {
        float d[4] = {1.0f, 1.0f, 1.0f, 1.0f};

        for (unsigned k = 0; k < SIDE; k += 16) {
            uint32_t x[4], y[2];

            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                         : "r"(shared_address(&left[row + lane % 16][k + lane / 16 * 8])));
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                         : "=r"(y[0]), "=r"(y[1])
                         : "r"(shared_address(&right[k + lane % 16][column])));
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                         "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                         : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]),
                           "r"(y[1]));
        }
        for (unsigned i = 0; i < 4; i++) {
            c[(row + lane / 4 + i / 2 * 8) * SIDE + column + lane % 4 * 2 + i % 2] = d[i];
        }
    }
}

/* The descriptor of rows of 128 bytes that are swizzled. */
__device__ static uint64_t
descriptor(const void *p)
{
    return (uint64_t)(shared_address(p) >> 4 & 0x3fff) | (uint64_t)1 << 16 |
           (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}

__device__ static unsigned
swizzled(unsigned row, unsigned k)
{
    return row * SIDE + ((k / 8 ^ row % 8) * 8 + k % 8);
}

/* The same with wgmma: one group of four warps. */
extern "C" __global__ void
with_wgmma(const half *a, const half *b, float *c)
{
    __shared__ __align__(1024) half left[SIDE * SIDE], right[SIDE * SIDE];
    const unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16;
    float d[32];

    for (unsigned i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) {
        left[swizzled(i / SIDE, i % SIDE)] = a[i];
        right[swizzled(i / SIDE, i % SIDE)] = b[i];
    }
    for (unsigned i = 0; i < 32; i++) {
        d[i] = 1.0f;
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (unsigned k = 0; k < SIDE; k += 16) {
        asm volatile(
            "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
            "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
            "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "
            "%31}, %32, %33, 1, 1, 1, 0, 0;"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
              "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
              "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
              "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
              "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]),
              "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
            : "l"(descriptor(left) + k * 2 / 16), "l"(descriptor(right) + k * 2 / 16)
            : "memory");
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (unsigned i = 0; i < 32; i++) {
        c[(row + lane / 4 + i / 2 % 2 * 8) * SIDE + i / 4 * 8 + lane % 4 * 2 + i % 2] =
            d[i];
    }
}
