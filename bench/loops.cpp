// The kernels of bench_loops.py as plain loops, each for a part of the work: elements,
// rows or bodies from `begin` to `end`. The arithmetic is that of the kernels.
#include <cmath>
#include <cstdint>

extern "C" {

void vector_add(float *c, const float *a, const float *b, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        c[i] = a[i] + b[i];
    }
}

// The matrices are n x n. The inner loop goes along rows: the order that is fastest
// without tiles.
void matmul(float *c, const float *a, const float *b, int64_t n, int64_t begin,
            int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        for (int64_t j = 0; j < n; j++) {
            c[i * n + j] = 0;
        }
        for (int64_t k = 0; k < n; k++) {
            const float x = a[i * n + k];

            for (int64_t j = 0; j < n; j++) {
                c[i * n + j] += x * b[k * n + j];
            }
        }
    }
}

struct body {
    float x, y, z, mass;
};

void nbody(body *force, const body *bodies, int64_t n, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        const body p = bodies[i];
        float fx = 0, fy = 0, fz = 0;

        for (int64_t j = 0; j < n; j++) {
            const body q = bodies[j];
            const float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
            const float square = dx * dx + dy * dy + dz * dz + 1e-3f;
            const float inverse = 1.0f / std::sqrt(square);
            const float s = q.mass * inverse * inverse * inverse;

            fx += dx * s;
            fy += dy * s;
            fz += dz * s;
        }
        force[i] = {fx, fy, fz, 0};
    }
}

float reduction(const float *a, int64_t begin, int64_t end)
{
    float sum = 0;

    for (int64_t i = begin; i < end; i++) {
        sum += a[i];
    }
    return sum;
}

// The normal distribution: a polynomial of 1 / (1 + 0.2316419 |x|).
static float normal(float x)
{
    const float k = 1.0f / (1.0f + 0.2316419f * std::fabs(x));
    const float p =
        k * (0.31938153f +
             k * (-0.356563782f +
                  k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.3989422804f * std::exp(-0.5f * x * x) * p;

    return x > 0 ? 1.0f - tail : tail;
}

void black_scholes(float *call, float *put, const float *price, const float *strike,
                   const float *years, float rate, float volatility, int64_t begin,
                   int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        const float s = price[i], x = strike[i], t = years[i];
        const float root = volatility * std::sqrt(t);
        const float d1 =
            (std::log(s / x) + (rate + 0.5f * volatility * volatility) * t) / root;
        const float d2 = d1 - root;
        const float discounted = x * std::exp(-rate * t);
        const float n1 = normal(d1), n2 = normal(d2);

        call[i] = s * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
    }
}
}
