// Text from the device: every conversion that programs use.

extern "C" __global__ void say(const int *in, int n)
{
    int t = threadIdx.x;
    if (t < n) {
        printf("thread %d has %d, %u, %x, %08X\n", t, in[t], (unsigned)in[t], in[t], in[t]);
        printf("%2d: %f %.3e %g|%8.2f|%-8.1f|\n", t, in[t] * 0.5f, in[t] * 1e10,
               (double)in[t] / 3, in[t] * 0.25, (float)t);
        printf("%2d long %lld %llu %c 100%% %s\n", t, in[t] * 10000000000LL,
               0xffffffffffffffffULL - t, 'a' + t, t & 1 ? "odd" : "even");
    }
    if (t == 0) printf("no arguments\n");
}
