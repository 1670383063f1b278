"""The sources of the kernels of ``pycuda.curandom``, which publishes most of them."""
# -- rand ------------------------------------------------------------------------------

# The digest of a message of one block: 16 words of 32 bits, which include the padding
# and the length.
md5_code = """
__device__ __forceinline__ void md5_of_block(const unsigned int *words,
                                             unsigned int *digest)
{
    const unsigned int start[4] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};
    const unsigned int turns[16] = {7, 12, 17, 22, 5, 9, 14, 20,
                                    4, 11, 16, 23, 6, 10, 15, 21};
    unsigned int a = start[0], b = start[1], c = start[2], d = start[3];
    for (int i = 0; i < 64; i++)
    {
        unsigned int mixed;
        int word;
        if (i < 16) { mixed = (b & c) | (~b & d); word = i; }
        else if (i < 32) { mixed = (d & b) | (~d & c); word = (5 * i + 1) & 15; }
        else if (i < 48) { mixed = b ^ c ^ d; word = (3 * i + 5) & 15; }
        else { mixed = c ^ (b | ~d); word = (7 * i) & 15; }
        /* the whole part of 2 ** 32 * abs(sin(i + 1)) */
        const unsigned int sine = (unsigned int)(fabs(sin(i + 1.0)) * 4294967296.0);
        const unsigned int sum = a + mixed + sine + words[word];
        const unsigned int turn = turns[(i / 16) * 4 + (i & 3)];
        a = d;
        d = c;
        c = b;
        b += (sum << turn) | (sum >> (32 - turn));
    }
    digest[0] = start[0] + a;
    digest[1] = start[1] + b;
    digest[2] = start[2] + c;
    digest[3] = start[3] + d;
}
"""

# A round of Philox 4x32, after Salmon and others, 2011.
_PHILOX_ROUND = """
__device__ __forceinline__ uint4 philox_round(uint4 c, uint2 key)
{
    const unsigned long long x = 0xd2511f53ull * c.x, z = 0xcd9e8d57ull * c.z;
    return make_uint4((unsigned int)(z >> 32) ^ c.y ^ key.x, (unsigned int)z,
                      (unsigned int)(x >> 32) ^ c.w ^ key.y, (unsigned int)x);
}
"""

# Philox 4x32 with 10 rounds and no state: four words from a pack's number and a key.
_PHILOX = (
    _PHILOX_ROUND
    + """
__device__ __forceinline__ uint4 philox(unsigned long long number, uint2 key)
{
    uint4 c = make_uint4((unsigned int)number, (unsigned int)(number >> 32), 0, 0);
#pragma unroll
    for (int round = 0; round < 10; round++)
    {
        c = philox_round(c, key);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return c;
}

/* The results are below 1. */
__device__ __forceinline__ float in_float(unsigned int x)
{
    return (x >> 8) * (1.0f / 16777216.0f);
}

__device__ __forceinline__ double in_double(unsigned int x, unsigned int y)
{
    const unsigned long long both = ((unsigned long long)x << 32) | y;
    return (both >> 11) * (1.0 / 9007199254740992.0);
}

__device__ __forceinline__ uint4 made(uint4 x, unsigned int)
{
    return x;
}

__device__ __forceinline__ float4 made(uint4 x, float)
{
    return make_float4(in_float(x.x), in_float(x.y), in_float(x.z), in_float(x.w));
}

__device__ __forceinline__ double2 made(uint4 x, double)
{
    return make_double2(in_double(x.x, x.y), in_double(x.z, x.w));
}
"""
)

_RAND = """
extern "C" __global__ void __launch_bounds__(256)
%(name)s(%(type)s *out, unsigned long long n, uint2 key)
{
    const unsigned int size = 16 / sizeof(*out);
    const unsigned long long step = (unsigned long long)gridDim.x * 256;
    unsigned long long pack = (unsigned long long)blockIdx.x * 256 + threadIdx.x;
    const unsigned long long whole = (unsigned long long)out & 15 ? 0 : n / size;
    for (; pack < whole; pack += step)
        ((%(type)s%(lanes)s *)out)[pack] = made(philox(pack, key), (%(type)s)0);
    for (; pack * size < n; pack += step)
    {
        const %(type)s%(lanes)s v = made(philox(pack, key), (%(type)s)0);
        const %(type)s *items = (const %(type)s *)&v;
        for (unsigned int k = 0; k < size && pack * size + k < n; k++)
            out[pack * size + k] = items[k];
    }
}
"""


def rand_text() -> str:
    """Return the source of rand()'s kernels."""
    text = _PHILOX + "typedef unsigned int uint;\n"
    for name, lanes in (("uint", 4), ("float", 4), ("double", 2)):
        text += _RAND % {"name": f"rand_{name}", "type": name, "lanes": lanes}
    return text


# -- the text of generators ------------------------------------------------------------

# The part that all generators share: the loop over runs of N elements, which are made
# and stored together. ``draw...`` makes one run.
random_source = """
#include <curand_kernel.h>

typedef %(state_type)s random_state;
typedef unsigned long long random_size;

template <class T, int N> struct run_of
{
    enum { size = N };
    T items[N];
};

/* A run that one instruction stores. */
template <class T, int N> struct __align__(sizeof(T) * N) wide_run_of
{
    run_of<T, N> run;
};

__device__ __forceinline__ unsigned int upper(unsigned int x)
{
    return x;
}

__device__ __forceinline__ int trailing_zeros(unsigned int x)
{
    return __ffs(x) - 1;
}

__device__ __forceinline__ int trailing_zeros(unsigned long long x)
{
    return __ffsll(x) - 1;
}

/* The low bits of a short sequence of Sobol numbers are all zero. */
__device__ __forceinline__ unsigned int upper(unsigned long long x)
{
    return (unsigned int)(x >> 32);
}

%(draws)s

/* Run k has the elements k * N to k * N + N - 1. A thread makes the runs id, id + count
   and so on. Only one thread makes the run that n cuts short. */
template <int N, class T, class Draw>
__device__ __forceinline__ void fill_runs(random_state *states, unsigned int count,
                                          T *out, random_size n, Draw draw)
{
    const unsigned int id = blockIdx.x * blockDim.x + threadIdx.x;
    random_size at = id;
    if (id >= count || at * N >= n)
        return;
    held_state state = states[id];
    at = fill_most<N>(&state, out, at, n, count, draw);
    for (; at * N < n; at += count)
    {
        run_of<T, N> made;
        T *to = out + at * N;
        const unsigned int here = n - at * N < N ? n - at * N : N;
#pragma unroll
        for (unsigned int k = 0; k < N; k++)
            made.items[k] = Draw::reads && k < here ? to[k] : T(0);
        draw(&state, made);
#pragma unroll
        for (unsigned int k = 0; k < N; k++)
            if (k < here)
                to[k] = made.items[k];
    }
    give_back<Draw::fixed>(&states[id], state);
}

template <class T, class Draw>
__device__ __forceinline__ void fill(random_state *states, unsigned int count, T *out,
                                     random_size n, Draw draw)
{
%(fill)s
}
"""

# A pseudorandom state stays in registers from the first run to the last.
_HELD = """
typedef random_state held_state;

template <int N, class T> __device__ __forceinline__ bool is_aligned(const T *out)
{
    return N == 1 || (random_size)out % (N * sizeof(T)) == 0;
}
"""
_GIVE_BACK = """
template <bool is_fixed> __device__ __forceinline__
void give_back(random_state *place, held_state state)
{
    *place = state;
}
"""

# PyCUDA's order: each state makes one element, or one pair of normal numbers if the
# number of elements is even. Neighbouring threads store neighbouring elements. The loop
# is unrolled so that four stores are in flight.
_STEPPED = (
    _HELD
    + _GIVE_BACK
    + """
template <int N, class T, class Draw>
__device__ __forceinline__ random_size fill_most(random_state *state, T *out,
                                                 random_size at, random_size n,
                                                 unsigned int count, Draw draw)
{
    if (!Draw::fixed || !is_aligned<N>(out))
        return at;
    wide_run_of<T, N> *runs = (wide_run_of<T, N> *)out;
    const random_size end = n / N, far = 3 * (random_size)count;
    while (at + far < end)
    {
#pragma unroll
        for (int k = 0; k < 4; k++)
        {
            wide_run_of<T, N> made;
            draw(state, made.run);
            runs[at] = made;
            at += count;
        }
    }
    return at;
}
"""
)

# Sobol numbers follow a Gray code: from one point to the next, one direction vector is
# added or removed. Within eight points from a multiple of eight on, only the first
# three vectors change. So one step in eight must look up a vector.
_GRAY = """
/* Most of a state are its direction vectors. They stay in memory. */
typedef random_state &held_state;

template <bool is_fixed> __device__ __forceinline__
void give_back(random_state *, held_state)
{
}

template <class T, class Draw>
__device__ __forceinline__ random_size fill_points(random_state *state, T *out,
                                                   random_size at, random_size n,
                                                   unsigned int count, Draw draw)
{
    run_of<T, 1> made;
    for (; at < n && (state->i & 7) != 0; at += count)
    {
        draw(state, made);
        out[at] = made.items[0];
    }
    const random_size far = 7 * (random_size)count;
    const auto *vectors = state->direction_vectors;
    const auto a = vectors[0], b = vectors[1], c = vectors[2];
    const decltype(state->x + 0) steps[8] = {0,     a,         a ^ b, b,
                                             b ^ c, a ^ b ^ c, a ^ c, c};
    auto x = state->x;
    auto i = state->i;
    random_state one; /* draws use only its x */
    for (; at + far < n; at += count)
    {
#pragma unroll
        for (int k = 0; k < 8; k++)
        {
            one.x = x ^ steps[k];
            one.i = 0;
            draw(&one, made);
            out[at] = made.items[0];
            if (k < 7)
                at += count;
        }
        i += 8;
        x ^= c ^ vectors[i == 0 ? sizeof(x) * 8 - 1 : trailing_zeros(i)];
    }
    state->x = x;
    state->i = i;
    return at;
}

template <int N, class T, class Draw>
__device__ __forceinline__ random_size fill_most(random_state *state, T *out,
                                                 random_size at, random_size n,
                                                 unsigned int count, Draw draw)
{
    if (Draw::fixed)
        at = fill_points(state, out, at, n, count, draw);
    return at;
}
"""

_ONE_ELEMENT = """
template <class T> __device__ __forceinline__
void draw(random_state *s, run_of<T, 1> &r) { r.items[0] = upper(curand(s)); }

__device__ __forceinline__
void draw(random_state *s, run_of<unsigned long long, 1> &r) { r.items[0] = curand(s); }

template <class T> __device__ __forceinline__
void draw_uniform(random_state *s, run_of<T, 1> &r) { r.items[0] = curand_uniform(s); }

template <class T> __device__ __forceinline__
void draw_uniform_double(random_state *s, run_of<T, 1> &r)
{ r.items[0] = curand_uniform_double(s); }

template <class T> __device__ __forceinline__
void draw_normal(random_state *s, run_of<T, 1> &r) { r.items[0] = curand_normal(s); }

template <class T> __device__ __forceinline__
void draw_normal_double(random_state *s, run_of<T, 1> &r)
{ r.items[0] = curand_normal_double(s); }

template <class T> __device__ __forceinline__
void draw_log_normal(random_state *s, run_of<T, 1> &r, float mean, float stddev)
{ r.items[0] = curand_log_normal(s, mean, stddev); }

template <class T> __device__ __forceinline__
void draw_log_normal_double(random_state *s, run_of<T, 1> &r, double mean,
                            double stddev)
{ r.items[0] = curand_log_normal_double(s, mean, stddev); }
"""

# Each quasirandom state is a dimension and makes one element at a time.
SINGLE_DRAWS = _GRAY + _ONE_ELEMENT
SINGLE_FILL = "    fill_runs<1>(states, count, out, n, draw);"

# The Box-Muller transform makes two normal numbers from two words.
PAIRED_DRAWS = (
    _STEPPED
    + _ONE_ELEMENT
    + """
#define MAKE_PAIR(pair)        \\
    {                          \\
        const auto two = pair; \\
        r.items[0] = two.x;    \\
        r.items[1] = two.y;    \\
    }

template <class T> __device__ __forceinline__
void draw_normal(random_state *s, run_of<T, 2> &r) { MAKE_PAIR(curand_normal2(s)) }

template <class T> __device__ __forceinline__
void draw_normal_double(random_state *s, run_of<T, 2> &r)
{ MAKE_PAIR(curand_normal2_double(s)) }

template <class T> __device__ __forceinline__
void draw_log_normal(random_state *s, run_of<T, 2> &r, float mean, float stddev)
{ MAKE_PAIR(curand_log_normal2(s, mean, stddev)) }

template <class T> __device__ __forceinline__
void draw_log_normal_double(random_state *s, run_of<T, 2> &r, double mean,
                            double stddev)
{ MAKE_PAIR(curand_log_normal2_double(s, mean, stddev)) }
"""
)
PAIRED_FILL = """\
    if (Draw::paired && n % 2 != 0)
        fill_runs<1>(states, count, out, n, draw);
    else
        fill_runs<1 + Draw::paired>(states, count, out, n, draw);"""

# Philox makes four words at once from a counter. Only the lowest word of the counter
# changes from run to run: values that depend on the other three words, and the keys of
# the rounds, are computed once. ``keep`` makes the compiler hold them in registers
# instead of computing them again.
PHILOX_FILL = "    fill_runs<16 / sizeof(T)>(states, count, out, n, draw);"
PHILOX_DRAWS = (
    _HELD
    + _PHILOX_ROUND
    + """
/* Draws of a fixed number of words change only the counter and its output, half of
   the state. A fill of few elements spends as much time on states as on them. */
template <bool is_fixed> __device__ __forceinline__
void give_back(random_state *place, const held_state &state)
{
    if (is_fixed)
    {
        place->ctr = state.ctr;
        place->output = state.output;
    }
    else
        *place = state;
}

__device__ __forceinline__ unsigned int keep(unsigned int x)
{
    asm volatile("" : "+r"(x));
    return x;
}

template <int N, class T, class Draw>
__device__ __forceinline__ random_size fill_most(random_state *state, T *to,
                                                 random_size at, random_size n,
                                                 unsigned int count, Draw draw)
{
    if (!is_aligned<N>(to))
        return at;
    wide_run_of<T, N> *out = (wide_run_of<T, N> *)to;
    const random_size end = n / N;
    if (state->STATE != 0 || !Draw::fixed)
    {
        for (; at < end; at += count)
        {
            wide_run_of<T, N> made;
            if (Draw::reads)
                made = out[at];
            draw(state, made.run);
            out[at] = made;
        }
        return at;
    }
    uint2 keys[10];
#pragma unroll
    for (int k = 0; k < 10; k++)
        keys[k] = make_uint2(keep(state->key.x + k * 0x9e3779b9u),
                             keep(state->key.y + k * 0xbb67ae85u));
    uint4 counter = state->ctr;
    random_state one = *state;
    while (at < end)
    {
        /* The parts of the first two rounds that do not depend on counter.x. */
        const uint4 first = philox_round(counter, keys[0]);
        const unsigned int y = keep(first.y);
        const uint4 second = philox_round(make_uint4(first.x, y, 0, 0), keys[1]);
        const unsigned int z = keep(second.z), w = keep(second.w);
        const unsigned int mask = keep(counter.w ^ keys[0].y);
        const unsigned int key = keep(y ^ keys[1].x);
        do
        {
            const unsigned long long x = 0xd2511f53ull * counter.x;
            const unsigned long long product =
                0xcd9e8d57ull * ((unsigned int)(x >> 32) ^ mask);
            uint4 c = make_uint4((unsigned int)(product >> 32) ^ key,
                                 (unsigned int)product, z ^ (unsigned int)x, w);
#pragma unroll
            for (int k = 2; k < 10; k++)
                c = philox_round(c, keys[k]);
            one.output = c; /* draws use only the output */
            wide_run_of<T, N> made;
            draw(&one, made.run);
            one.STATE = 0;
            out[at] = made;
            at += count;
            counter.x++;
        } while (at < end && counter.x != 0);
        if (counter.x == 0 && ++counter.y == 0 && ++counter.z == 0)
            ++counter.w;
    }
    state->ctr = counter;
#pragma unroll
    for (int k = 0; k < 10; k++)
        counter = philox_round(counter, keys[k]);
    state->output = counter;
    return at;
}

#define FOR_FOUR(four)         \\
    {                          \\
        const auto all = four; \\
        r.items[0] = all.x;    \\
        r.items[1] = all.y;    \\
        r.items[2] = all.z;    \\
        r.items[3] = all.w;    \\
    }
#define FOR_TWO(pair)          \\
    {                          \\
        const auto two = pair; \\
        r.items[0] = two.x;    \\
        r.items[1] = two.y;    \\
    }

__device__ __forceinline__
void draw(random_state *s, run_of<unsigned int, 4> &r) { FOR_FOUR(curand4(s)) }

__device__ __forceinline__
void draw_uniform(random_state *s, run_of<float, 4> &r)
{ FOR_FOUR(curand_uniform4(s)) }

__device__ __forceinline__
void draw_uniform_double(random_state *s, run_of<double, 2> &r)
{ FOR_TWO(curand_uniform2_double(s)) }

__device__ __forceinline__
void draw_normal(random_state *s, run_of<float, 4> &r) { FOR_FOUR(curand_normal4(s)) }

__device__ __forceinline__
void draw_normal_double(random_state *s, run_of<double, 2> &r)
{ FOR_TWO(curand_normal2_double(s)) }

__device__ __forceinline__
void draw_log_normal(random_state *s, run_of<float, 4> &r, float mean, float stddev)
{ FOR_FOUR(curand_log_normal4(s, mean, stddev)) }

__device__ __forceinline__
void draw_log_normal_double(random_state *s, run_of<double, 2> &r, double mean,
                            double stddev)
{ FOR_TWO(curand_log_normal2_double(s, mean, stddev)) }
"""
)

gen_template = """
struct make_%(name)s
{
    enum { reads = 0, fixed = 1, paired = %(paired)d };
    template <class Run>
    __device__ __forceinline__ void operator()(random_state *s, Run &r) const
    {
        draw%(suffix)s(s, r);
    }
};

extern "C" __global__ void __launch_bounds__(1024)
%(name)s(random_state *states, unsigned int count, %(out_type)s *out, random_size n)
{
    fill(states, count, out, n, make_%(name)s());
}
"""

gen_log_template = """
struct make_%(name)s
{
    enum { reads = 0, fixed = 1, paired = %(paired)d };
    %(out_type)s mean, stddev;
    template <class Run>
    __device__ __forceinline__ void operator()(random_state *s, Run &r) const
    {
        draw%(suffix)s(s, r, mean, stddev);
    }
};

extern "C" __global__ void __launch_bounds__(1024)
%(name)s(random_state *states, unsigned int count, %(out_type)s *out, random_size n,
         %(out_type)s mean, %(out_type)s stddev)
{
    make_%(name)s draw = {mean, stddev};
    fill(states, count, out, n, draw);
}
"""

gen_poisson_template = """
struct make_%(name)s
{
    enum { reads = 0, fixed = 0, paired = 0 };
    double mean;
    template <class Run>
    __device__ __forceinline__ void operator()(random_state *s, Run &r) const
    {
#pragma unroll 1
        for (int k = 0; k < Run::size; k++)
            r.items[k] = curand_poisson%(suffix)s(s, mean);
    }
};

extern "C" __global__ void __launch_bounds__(1024)
%(name)s(random_state *states, unsigned int count, %(out_type)s *out, random_size n,
         double mean)
{
    make_%(name)s draw = {mean};
    fill(states, count, out, n, draw);
}
"""

gen_poisson_inplace_template = """
struct make_%(name)s
{
    enum { reads = 1, fixed = 0, paired = 0 };
    template <class Run>
    __device__ __forceinline__ void operator()(random_state *s, Run &r) const
    {
#pragma unroll 1
        for (int k = 0; k < Run::size; k++)
            r.items[k] = curand_poisson%(suffix)s(s, r.items[k]);
    }
};

extern "C" __global__ void __launch_bounds__(1024)
%(name)s(random_state *states, unsigned int count, %(out_type)s *out, random_size n)
{
    fill(states, count, out, n, make_%(name)s());
}
"""

STATE_SAMPLE = """
__device__ random_state state_sample;
"""

_SKIP_TEMPLATE = """
extern "C" __global__ void %(name)s(random_state *states, unsigned int count,
                                    %(type)s by)
{
    const unsigned int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < count)
        %(call)s(by, &states[id]);
}

extern "C" __global__ void %(name)s_array(random_state *states, unsigned int count,
                                          const %(type)s *by)
{
    const unsigned int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < count)
        %(call)s(by[id], &states[id]);
}
"""


def _skip_source(name: str, call: str, c_type: str = "unsigned long long") -> str:
    return _SKIP_TEMPLATE % {"name": name, "call": call, "type": c_type}


random_skip_ahead32_source: str = _skip_source(
    "skip_ahead", "skipahead", "unsigned int"
)
random_skip_ahead64_source: str = _skip_source("skip_ahead", "skipahead")
xorwow_skip_ahead_sequence_source: str = _skip_source(
    "skip_ahead_sequence", "skipahead_sequence"
)
mrg32k3a_skip_ahead_sequence_source: str = (
    xorwow_skip_ahead_sequence_source
    + _skip_source("skip_ahead_subsequence", "skipahead_subsequence")
)

# Each thread's state has a subsequence of its own, for any seeds.
xorwow_random_source = """
extern "C" __global__ void prepare(random_state *states, unsigned int count,
                                   const int *seeds, unsigned long long offset)
{
    const unsigned int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < count)
        curand_init((unsigned long long)(long long)seeds[id], id, offset, &states[id]);
}
"""
mrg32k3a_random_source = xorwow_random_source
philox_random_source = xorwow_random_source

sobol_random_source = """
extern "C" __global__ void prepare(random_state *states, unsigned int count,
                                   %(vector_type)s *vectors,
                                   %(offset_type)s offset)
{
    const unsigned int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < count)
        curand_init(vectors[id], offset, &states[id]);
}
"""

scrambledsobol_random_source = """
extern "C" __global__ void prepare(random_state *states, unsigned int count,
                                   %(vector_type)s *vectors,
                                   const %(scramble_type)s *constants,
                                   %(offset_type)s offset)
{
    const unsigned int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < count)
        curand_init(vectors[id], constants[id], offset, &states[id]);
}
"""
