// Kinds of memory: constant, dynamic shared, local, initialised variables, the heap.

struct params {
    char tag;
    double scale;
    short shift[3];
    float2 offset;
    long long bias;
};

struct node {
    int value;
    node *next;
};

__constant__ int lookup[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int table[4] = {10, 20, 30, 40};
__device__ int *reference = &table[2];
__device__ float matrix[2][3] = {{1.5f, 2.5f, 3.5f}, {-1.0f, 0.25f, 1e-3f}};
__device__ const char *words[3] = {"zero", "one", "two"};
__device__ double counter = 0.5;

extern "C" {

__constant__ double poly[6];
__device__ int visible[32];

__global__ void constants(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * lookup[i & 7] + (float)table[i & 3] + *reference;
}

__global__ void polynomial(double *out, const double *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = in[i], s = 0;
    for (int k = 5; k >= 0; k--) s = s * x + poly[k];
    out[i] = s;
    if (i < 32) visible[i] = (int)(s * 100);
}

__global__ void initialised(float *out, int *letters)
{
    int i = threadIdx.x;
    if (i < 6) out[i] = matrix[i / 3][i % 3];
    if (i < 3) {
        int s = 0;
        for (const char *p = words[i]; *p; p++) s = s * 31 + *p;
        letters[i] = s;
    }
    if (i == 0) out[6] = (float)(counter += 1.25);
}

// Three arrays in one piece of dynamic shared memory, reversed through it.
__global__ void dynamic_shared(double *d, short *s, unsigned char *c)
{
    extern __shared__ __align__(16) unsigned char raw[];
    __shared__ int total;
    int t = threadIdx.x, n = blockDim.x;
    double *sd = (double *)raw;
    short *ss = (short *)(sd + n);
    unsigned char *sc = (unsigned char *)(ss + n);
    if (t == 0) total = 0;
    sd[t] = d[t];
    ss[t] = s[t];
    sc[t] = c[t];
    __syncthreads();
    atomicAdd(&total, sc[t]);
    __syncthreads();
    d[t] = sd[n - 1 - t] + total;
    s[t] = ss[n - 1 - t] ^ (short)t;
    c[t] = sc[(t * 7) % n];
}

__global__ void local_array(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int digits[16];
    for (int k = 0; k < 16; k++) digits[k] = 0;
    unsigned v = (unsigned)in[i];
    for (int k = 0; k < 8; k++) {
        digits[v & 15] += k + 1;
        v >>= 4;
    }
    for (int k = 1; k < 16; k++) {  // an insertion sort, indices known at run time only
        int x = digits[k], p = k - 1;
        while (p >= 0 && digits[p] > x) {
            digits[p + 1] = digits[p];
            p--;
        }
        digits[p + 1] = x;
    }
    int s = 0;
    for (int k = 0; k < 16; k++) s = s * 7 + digits[k];
    if (i < n) out[i] = s;
}

__global__ void by_value(double *out, params p, const int *in, int4 q, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const short *shift = p.shift;
    out[i] = in[i] * p.scale + (in[i] >> shift[i % 3]) + p.offset.x - p.offset.y * p.tag +
             p.bias + (i & 1 ? q.x + q.y : q.z * q.w);
}

// Each thread builds a list on the device's heap, walks it and gives it back.
__global__ void heap_lists(int *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, length = t % 9 + 1;
    node *head = 0;
    for (int k = 0; k < length; k++) {
        node *fresh = (node *)malloc(sizeof(node));
        if (!fresh) {
            out[t] = -1;
            return;
        }
        fresh->value = t * k + 1;
        fresh->next = head;
        head = fresh;
    }
    int s = 0;
    while (head) {
        s = s * 3 + head->value;
        node *next = head->next;
        free(head);
        head = next;
    }
    out[t] = s;
}

// One block's buffer comes from the heap and is shared by its threads.
__global__ void heap_shared(long long *out)
{
    __shared__ int *buffer;
    int t = threadIdx.x;
    if (t == 0) buffer = new int[blockDim.x];
    __syncthreads();
    buffer[t] = t * t - (int)blockIdx.x;
    __syncthreads();
    if (t == 0) {
        long long s = 0;
        for (int k = 0; k < blockDim.x; k++) s = s * 5 + buffer[k];
        out[blockIdx.x] = s;
        delete[] buffer;
    }
}

__global__ void bit_casts(unsigned *out, const float *f, const double *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    union {
        double value;
        unsigned words[2];
        unsigned char bytes[8];
    } u;
    u.value = d[i];
    unsigned hash = 2166136261u;
    for (int k = 0; k < 8; k++) hash = (hash ^ u.bytes[k]) * 16777619u;
    out[4 * i] = hash;
    out[4 * i + 1] = u.words[0] ^ __float_as_uint(f[i]);
    out[4 * i + 2] = (unsigned)__double2hiint(d[i]);
    out[4 * i + 3] =
        (unsigned)(__double_as_longlong(__hiloint2double(i, __float_as_int(f[i]))) >> 7);
}

// Unaligned offsets, bytes written one by one, read back as words.
__global__ void bytes_to_words(unsigned *words, unsigned char *bytes, int n)
{
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++) bytes[4 * t + k] = (unsigned char)(t * 5 + k * k);
    __syncthreads();
    words[t] = ((unsigned *)bytes)[(t + 1) % n] + ((unsigned short *)bytes)[2 * t + 1];
}

}  // extern "C"
