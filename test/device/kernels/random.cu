// The toolkit's generators on the device: initialisation, skipping, distributions.
#include <curand_kernel.h>

template <typename STATE>
__device__ void draw(STATE *state, unsigned *raw, float *uniform, float *normal,
                     double *wide, int t, int per_thread)
{
    for (int k = 0; k < per_thread; k++) {
        raw[t * per_thread + k] = curand(state);
        uniform[t * per_thread + k] = curand_uniform(state);
        normal[t * per_thread + k] = curand_normal(state);
        wide[t * per_thread + k] = curand_uniform_double(state);
    }
}

extern "C" {

#define GENERATOR(name, type)                                                           \
    __global__ void name(unsigned *raw, float *uniform, float *normal, double *wide,    \
                         unsigned long long seed, unsigned long long offset,            \
                         int per_thread)                                                \
    {                                                                                   \
        int t = blockIdx.x * blockDim.x + threadIdx.x;                                  \
        type state;                                                                     \
        curand_init(seed, t, offset, &state);                                           \
        draw(&state, raw, uniform, normal, wide, t, per_thread);                        \
    }

GENERATOR(GENERATOR_NAME, GENERATOR_TYPE)

}  // extern "C"
