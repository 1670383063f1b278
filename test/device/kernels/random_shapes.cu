// Distributions over the toolkit's counter-based generator, with its state kept.
#include <curand_kernel.h>

extern "C" {

__global__ void prepare(curandStatePhilox4_32_10_t *states, unsigned long long seed)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(seed, t, 0, &states[t]);
}

__global__ void distributions(curandStatePhilox4_32_10_t *states, float4 *four,
                              double2 *pair, float *log_normal, unsigned *poisson)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t state = states[t];
    four[t] = curand_normal4(&state);
    pair[t] = curand_normal2_double(&state);
    log_normal[t] = curand_log_normal(&state, 0.5f, 0.25f);
    poisson[t] = curand_poisson(&state, 4.5);
    states[t] = state;
}

}  // extern "C"
