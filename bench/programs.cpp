// The programs of bench_programs.py as plain C++. A function gets the arrays, those
// that it writes first, the size, and the number of threads among which it divides the
// work.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace {

// Calls part(k, begin, end) in thread k for an equal part of 0 .. n.
template <class Part>
void
divide(int threads, int64_t n, Part part)
{
    std::vector<std::thread> others;

    for (int k = 1; k < threads; k++) {
        others.emplace_back(part, k, n * k / threads, n * (k + 1) / threads);
    }
    part(0, int64_t(0), n / threads);
    for (std::thread &other : others) {
        other.join();
    }
}

const float *
floats(void **arrays, int k)
{
    return static_cast<const float *>(arrays[k]);
}

}  // namespace

extern "C" {

void
matmul(void **arrays, int64_t n, int threads)
{
    float *c = static_cast<float *>(arrays[0]);
    const float *a = floats(arrays, 1), *b = floats(arrays, 2);

    divide(threads, n, [=](int, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) {
            for (int64_t j = 0; j < n; j++) {
                c[i * n + j] = 0;
            }
            for (int64_t k = 0; k < n; k++) {
                for (int64_t j = 0; j < n; j++) {
                    c[i * n + j] += a[i * n + k] * b[k * n + j];
                }
            }
        }
    });
}

void
stencil(void **arrays, int64_t n, int threads)
{
    float *out = static_cast<float *>(arrays[0]);
    const float *in = floats(arrays, 1);

    divide(threads, n - 2, [=](int, int64_t begin, int64_t end) {
        for (int64_t y = begin + 1; y < end + 1; y++) {
            for (int64_t x = 1; x < n - 1; x++) {
                const float *p = in + y * n + x;

                out[y * n + x] = 0.5f * p[0] + 0.125f * (p[-1] + p[1] + p[-n] + p[n]);
            }
        }
    });
}

void
histogram(void **arrays, int64_t n, int threads)
{
    uint32_t *bins = static_cast<uint32_t *>(arrays[0]);
    const uint8_t *in = static_cast<const uint8_t *>(arrays[1]);
    std::vector<uint32_t> counts(256 * threads);

    divide(threads, n, [&](int k, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) {
            counts[256 * k + in[i]]++;
        }
    });
    for (int i = 0; i < 256; i++) {
        bins[i] = 0;
        for (int k = 0; k < threads; k++) {
            bins[i] += counts[256 * k + i];
        }
    }
}

void
radix_sort(void **arrays, int64_t n, int threads)
{
    uint32_t *to = static_cast<uint32_t *>(arrays[0]);
    std::vector<uint32_t> from(n), counts(256 * threads);

    std::memcpy(to, arrays[1], n * sizeof(uint32_t));
    for (int shift = 0; shift < 32; shift += 8) {
        std::memcpy(from.data(), to, n * sizeof(uint32_t));
        std::fill(counts.begin(), counts.end(), 0);
        divide(threads, n, [&](int k, int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; i++) {
                counts[256 * k + (from[i] >> shift & 255)]++;
            }
        });
        uint32_t before = 0;
        for (int d = 0; d < 256; d++) {
            for (int k = 0; k < threads; k++) {
                const uint32_t count = counts[256 * k + d];

                counts[256 * k + d] = before;
                before += count;
            }
        }
        divide(threads, n, [&](int k, int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; i++) {
                to[counts[256 * k + (from[i] >> shift & 255)]++] = from[i];
            }
        });
    }
}

// A square matrix of side n.
void
sum_rows(void **arrays, int64_t n, int threads)
{
    float *out = static_cast<float *>(arrays[0]);
    const float *in = floats(arrays, 1);

    divide(threads, n, [=](int, int64_t begin, int64_t end) {
        for (int64_t y = begin; y < end; y++) {
            float sum = 0;

            for (int64_t x = 0; x < n; x++) {
                sum += in[y * n + x];
            }
            out[y] = sum;
        }
    });
}

void
sum_columns(void **arrays, int64_t n, int threads)
{
    float *out = static_cast<float *>(arrays[0]);
    const float *in = floats(arrays, 1);

    divide(threads, n, [=](int, int64_t begin, int64_t end) {
        std::fill(out + begin, out + end, 0.0f);
        for (int64_t y = 0; y < n; y++) {
            for (int64_t x = begin; x < end; x++) {
                out[x] += in[y * n + x];
            }
        }
    });
}

void
sum_all(void **arrays, int64_t n, int threads)
{
    float *out = static_cast<float *>(arrays[0]);
    const float *in = floats(arrays, 1);
    std::vector<float> sums(threads);

    divide(threads, n, [&](int k, int64_t begin, int64_t end) {
        float sum = 0;

        for (int64_t i = begin; i < end; i++) {
            sum += in[i];
        }
        sums[k] = sum;
    });
    out[0] = 0;
    for (float sum : sums) {
        out[0] += sum;
    }
}

void
spmv(void **arrays, int64_t n, int threads)
{
    float *out = static_cast<float *>(arrays[0]);
    const float *values = floats(arrays, 1), *x = floats(arrays, 2);
    const int32_t *columns = static_cast<const int32_t *>(arrays[3]);
    const int32_t *starts = static_cast<const int32_t *>(arrays[4]);

    divide(threads, n, [=](int, int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; row++) {
            float sum = 0;

            for (int32_t k = starts[row]; k < starts[row + 1]; k++) {
                sum += values[k] * x[columns[k]];
            }
            out[row] = sum;
        }
    });
}

void
nbody(void **arrays, int64_t n, int threads)
{
    float *force = static_cast<float *>(arrays[0]);
    const float *bodies = floats(arrays, 1);

    divide(threads, n, [=](int, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) {
            const float *p = bodies + 4 * i;
            float f[3] = {0, 0, 0};

            for (int64_t j = 0; j < n; j++) {
                const float *q = bodies + 4 * j;
                const float x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];
                const float r = 1.0f / std::sqrt(x * x + y * y + z * z + 1e-3f);
                const float s = q[3] * r * r * r;

                f[0] += x * s;
                f[1] += y * s;
                f[2] += z * s;
            }
            force[4 * i] = f[0];
            force[4 * i + 1] = f[1];
            force[4 * i + 2] = f[2];
            force[4 * i + 3] = 0;
        }
    });
}

// The 64 steps of MD5 on a block of 16 words, all of which are the number i.
void
digest(void **arrays, int64_t n, int threads)
{
    uint32_t *out = static_cast<uint32_t *>(arrays[0]);
    const uint32_t *table = static_cast<const uint32_t *>(arrays[1]);
    static const int turns[4][4] = {
        {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

    divide(threads, n, [=](int, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) {
            uint32_t a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;

            for (int k = 0; k < 64; k++) {
                const uint32_t f = k < 16   ? (b & c) | (~b & d)
                                   : k < 32 ? (d & b) | (~d & c)
                                   : k < 48 ? b ^ c ^ d
                                            : c ^ (b | ~d);
                const uint32_t v = a + f + table[k] + uint32_t(i);
                const int turn = turns[k / 16][k % 4];

                a = d;
                d = c;
                c = b;
                b += v << turn | v >> (32 - turn);
            }
            out[i] = a ^ b ^ c ^ d;
        }
    });
}

void
saxpy_chain(void **arrays, int64_t n, int threads)
{
    float *y = static_cast<float *>(arrays[0]);
    const float *x = floats(arrays, 1);

    std::fill(y, y + n, 0.0f);
    for (int k = 0; k < 8; k++) {
        divide(threads, n, [=](int, int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; i++) {
                y[i] = 0.5f * y[i] + x[i];
            }
        });
    }
}

// Sums of 3 x 3 pixels of an image of n x n, without its last two rows and columns.
void
blur(void **arrays, int64_t n, int threads)
{
    uint16_t *out = static_cast<uint16_t *>(arrays[0]);
    const uint16_t *in = static_cast<const uint16_t *>(arrays[1]);

    divide(threads, n - 2, [=](int, int64_t begin, int64_t end) {
        for (int64_t y = begin; y < end; y++) {
            for (int64_t x = 0; x < n - 2; x++) {
                const uint16_t *p = in + y * n + x;
                int rows = 0;

                for (int k = 0; k < 3; k++) {
                    rows += (p[k * n] + p[k * n + 1] + p[k * n + 2]) / 3;
                }
                out[y * n + x] = uint16_t(rows / 3);
            }
        }
    });
}
}
