/* Parameters and launch of a generated kernel, which is a CUfunction without a
 * Function. The launch of a Function is in python/driver/launch/launch.c.
 *
 * Called by the files that launch kernels: elementwise_kernel.c, reduction.c,
 * transpose.c. */
#ifndef PYTHON_ARRAY_OPS_KERNEL_LAUNCH_H
#define PYTHON_ARRAY_OPS_KERNEL_LAUNCH_H

#include "python/support/base.h"

#include "driver/argument_buffer.h"

/* Append a value to the parameters, at a multiple of `align`. Inline: every parameter
 * of every launch calls it, with constant sizes. */
PCU_RAISES static inline int
pcu_kernel_put(pcu_argument_buffer *params, const void *bytes, size_t size,
               size_t align)
{
    void *place = pcu_argument_buffer_reserve(params, size, align);
    if (place == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(place, bytes, size);
    return 0;
}

/* Append an address. */
PCU_RAISES static inline int
pcu_kernel_put_address(pcu_argument_buffer *params, CUdeviceptr address)
{
    return pcu_kernel_put(params, &address, sizeof(address), sizeof(address));
}

/* Append an index: 64 bits if `wide`, else 32. */
PCU_RAISES static inline int
pcu_kernel_put_index(pcu_argument_buffer *params, bool wide, ptrdiff_t value)
{
    int32_t narrow = (int32_t)value;
    int64_t full = value;
    if (wide) {
        return pcu_kernel_put(params, &full, 8, 8);
    }
    return pcu_kernel_put(params, &narrow, 4, 4);
}

/* Append a length, and the numbers by which a kernel divides an index n by it without a
 * division: (high half of n * multiplier + n) >> shift, for n below half of the index's
 * range. See quotient() in cuda/pycuda-array.hpp. */
PCU_HIDDEN PCU_RAISES int pcu_kernel_put_divisor(pcu_argument_buffer *params, bool wide,
                                                 size_t length);

/* Enqueue a kernel of the current context with packed parameters. The second function
 * gives each block `shared` bytes of dynamic shared memory. */
PCU_HIDDEN PCU_RAISES int pcu_kernel_launch(pcu_state *st, CUfunction kernel,
                                            size_t blocks, unsigned int threads,
                                            CUstream stream,
                                            pcu_argument_buffer *params);
PCU_HIDDEN PCU_RAISES int pcu_kernel_launch_shared(pcu_state *st, CUfunction kernel,
                                                   size_t blocks, unsigned int threads,
                                                   unsigned int shared, CUstream stream,
                                                   pcu_argument_buffer *params);

/* Enqueue a kernel that begins with follow() of cuda/pycuda-array.hpp. In a captured
 * stream, behind another such kernel, it may be launched before that one has ended: it
 * waits itself. That saves a third of the time of small kernels in a graph. Kernels of
 * more blocks than this are launched as usual; follow() has the same number. */
enum { PCU_FOLLOWING_BLOCKS_MOST = 256 };
PCU_HIDDEN PCU_RAISES int pcu_kernel_launch_following(pcu_state *st, CUfunction kernel,
                                                      size_t blocks,
                                                      unsigned int threads,
                                                      CUstream stream,
                                                      pcu_argument_buffer *params);

#endif
