// The kernel of the fat binaries: which of their entries runs.
extern "C" __global__ void capability(int *out)
{
    *out = __CUDA_ARCH__;
}
