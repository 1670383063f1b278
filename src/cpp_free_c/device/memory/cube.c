/* Cubes: directions, faces and edges. See cube.h. */
#include "device/memory/cube.h"

#include <math.h>

#ifdef __clang__
#    pragma STDC FP_CONTRACT OFF
#endif

/* The axes of a face: s to the right, t down, m out of the cube. Each is a component of
 * the direction (0 x, 1 y, 2 z), with a sign. */
typedef struct {
    uint8_t s, t, m;
    int8_t s_sign, t_sign, m_sign;
} cube_axes;

static const cube_axes cube_faces[6] = {{2, 1, 0, -1, -1, 1}, {2, 1, 0, 1, -1, -1},
                                        {0, 2, 1, 1, 1, 1},   {0, 2, 1, 1, -1, -1},
                                        {0, 1, 2, 1, -1, 1},  {0, 1, 2, -1, -1, -1}};

unsigned
emu_cube_face(const float d[3])
{
    const float x = fabsf(d[0]), y = fabsf(d[1]), z = fabsf(d[2]);

    if (z >= x && z >= y) {
        return 4 + (d[2] < 0.0f);
    }
    if (y >= x) {
        return 2 + (d[1] < 0.0f);
    }
    return d[0] < 0.0f;
}

void
emu_cube_project(const float d[3], unsigned face, double out[2])
{
    const cube_axes *f = &cube_faces[face];
    const double m = fabs((double)d[f->m]);

    out[0] = 0.5 * (f->s_sign * (double)d[f->s] / m + 1.0);
    out[1] = 0.5 * (f->t_sign * (double)d[f->t] / m + 1.0);
    if (!(out[0] >= 0.0 && out[0] <= 1.0)) {
        out[0] = 0.5; /* a zero, infinite or undefined direction */
    }
    if (!(out[1] >= 0.0 && out[1] <= 1.0)) {
        out[1] = 0.5;
    }
}

/* Texel centres are at odd places of a cube whose sides go from -n to n. */
void
emu_cube_cross_edge(unsigned *face, int64_t *x, int64_t *y, int64_t n)
{
    const cube_axes *f = &cube_faces[*face];
    int64_t p[3], s = 2 * *x + 1 - n, t = 2 * *y + 1 - n;
    unsigned out = f->t, next;

    if (s > n || s < -n) {
        out = f->s;
    }
    p[f->s] = s * f->s_sign;
    p[f->t] = t * f->t_sign;
    p[f->m] = (n - 1) * f->m_sign; /* one step down the neighbour */
    next = 2 * out + (p[out] < 0);
    f = &cube_faces[next];
    *face = next;
    *x = (p[f->s] * f->s_sign + n - 1) / 2;
    *y = (p[f->t] * f->t_sign + n - 1) / 2;
}

double
emu_cube_steps(const float at[3], const float d[3], size_t width)
{
    const cube_axes *f = &cube_faces[emu_cube_face(at)];
    const double m = fabs((double)at[f->m]), n = (double)width;
    const double dm = (double)d[f->m] * f->m_sign;
    const double s_part = f->s_sign * ((double)d[f->s] * m - (double)at[f->s] * dm);
    const double t_part = f->t_sign * ((double)d[f->t] * m - (double)at[f->t] * dm);

    return (s_part * s_part + t_part * t_part) * 0.25 * n * n / (m * m * m * m);
}
