/* A cuFFT for tests on the software device, whose addresses the processor can read. It
 * checks the arguments of each call, transforms in loops, destroys the input of inverse
 * transforms to real elements as the library does, and counts what is alive and what
 * was called. */

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLANS = 4096, WORK = 64 };
enum { C2C = 0x29, R2C = 0x2a, C2R = 0x2c, Z2Z = 0x69, D2Z = 0x6a, Z2D = 0x6c };

typedef struct {
    int alive, rank, type, automatic;
    long long n[3], in_embed[3], out_embed[3];
    long long in_step, in_distance, out_step, out_distance, batch;
    void *work, *stream;
} plan;

static plan plans[PLANS];

int fake_alive, fake_made, fake_executed;
int fake_failing;                      /* the status that executions return */
int fake_refusing;                     /* the status that new plans return */
void *fake_stream;                     /* of the last execution */
int (*fake_synchronize)(void *stream); /* set by the test */

int
cufftCreate(int *handle)
{
    for (int i = 0; i < PLANS; i++) {
        if (!plans[i].alive) {
            memset(&plans[i], 0, sizeof(plans[i]));
            plans[i].alive = 1;
            plans[i].automatic = 1;
            fake_alive++;
            *handle = i;
            return 0;
        }
    }
    return 5;
}

int
cufftDestroy(int handle)
{
    if (!plans[handle].alive) {
        return 1;
    }
    plans[handle].alive = 0;
    fake_alive--;
    return 0;
}

int
cufftGetVersion(int *version)
{
    *version = 12103;
    return 0;
}

int
cufftSetAutoAllocation(int handle, int automatic)
{
    plans[handle].automatic = automatic;
    return 0;
}

int
cufftMakePlanMany64(int handle, int rank, long long *n, long long *inembed,
                    long long istride, long long idist, long long *onembed,
                    long long ostride, long long odist, int type, long long batch,
                    size_t *work)
{
    plan *p = &plans[handle];
    if (fake_refusing) {
        return fake_refusing;
    }
    if (!p->alive || rank < 1 || rank > 3 || istride < 1 || ostride < 1 || idist < 1 ||
        odist < 1 || batch < 1) {
        return 4;
    }
    p->rank = rank;
    p->type = type;
    for (int k = 0; k < 3; k++) {
        p->n[k] = k < rank ? n[k] : 1;
        p->in_embed[k] = k < rank ? inembed[k] : 1;
        p->out_embed[k] = k < rank ? onembed[k] : 1;
    }
    p->in_step = istride;
    p->in_distance = idist;
    p->out_step = ostride;
    p->out_distance = odist;
    p->batch = batch;
    *work = WORK;
    fake_made++;
    return 0;
}

int
cufftSetWorkArea(int handle, void *work)
{
    plans[handle].work = work;
    return 0;
}

int
cufftSetStream(int handle, void *stream)
{
    plans[handle].stream = stream;
    return 0;
}

/* The place of an element of a transform of that rank. */
static long long
place(const plan *p, const long long *index, int is_in)
{
    const long long *embed = is_in ? p->in_embed : p->out_embed;
    long long at = index[0];
    for (int k = 1; k < p->rank; k++) {
        at = at * embed[k] + index[k];
    }
    return at * (is_in ? p->in_step : p->out_step);
}

static double complex
read_number(const void *data, long long at, int is_double, int is_real)
{
    if (is_real) {
        return is_double ? ((const double *)data)[at] : ((const float *)data)[at];
    }
    if (is_double) {
        return ((const double complex *)data)[at];
    }
    return ((const float complex *)data)[at];
}

static void
write_number(void *data, long long at, int is_double, int is_real, double complex value)
{
    if (is_real && is_double) {
        ((double *)data)[at] = creal(value);
    }
    else if (is_real) {
        ((float *)data)[at] = (float)creal(value);
    }
    else if (is_double) {
        ((double complex *)data)[at] = value;
    }
    else {
        ((float complex *)data)[at] = (float complex)value;
    }
}

/* The loops over the elements of a transform. last: the length of the last axis. */
static int
next(const plan *p, long long *index, long long last)
{
    for (int k = p->rank - 1; k >= 0; k--) {
        if (++index[k] < (k == p->rank - 1 ? last : p->n[k])) {
            return 1;
        }
        index[k] = 0;
    }
    return 0;
}

/* Where an element is in the packed numbers. */
static long long
packed(const plan *p, const long long *index)
{
    long long at = index[0];
    for (int k = 1; k < p->rank; k++) {
        at = at * p->n[k] + index[k];
    }
    return at;
}

static void
transform_axis(double complex *numbers, long long count, long long n, long long step,
               int direction)
{
    double complex *line = malloc((size_t)n * sizeof(*line));
    for (long long first = 0; first < count; first++) {
        if (first / step % n != 0) {
            continue;
        }
        for (long long k = 0; k < n; k++) {
            line[k] = 0;
            for (long long j = 0; j < n; j++) {
                double angle =
                    direction * 2 * acos(-1) * (double)(j * k % n) / (double)n;
                line[k] += numbers[first + j * step] * cexp(angle * I);
            }
        }
        for (long long k = 0; k < n; k++) {
            numbers[first + k * step] = line[k];
        }
    }
    free(line);
}

static int
execute(int handle, void *in, void *out, int direction)
{
    plan *p = &plans[handle];
    int is_double = p->type >= Z2Z;
    int from_real = p->type == R2C || p->type == D2Z;
    int to_real = p->type == C2R || p->type == Z2D;
    long long count = p->n[0] * p->n[1] * p->n[2];
    long long last = p->n[p->rank - 1];
    long long in_last = to_real ? last / 2 + 1 : last;
    long long out_last = from_real ? last / 2 + 1 : last;
    if (fake_failing) {
        return fake_failing;
    }
    if (!p->alive || p->automatic || p->work == NULL) {
        return 13;
    }
    fake_synchronize(p->stream);
    fake_stream = p->stream;
    fake_executed++;
    double complex *numbers = calloc((size_t)count, sizeof(*numbers));
    for (long long b = 0; b < p->batch; b++) {
        long long index[3] = {0};
        do {
            long long at = b * p->in_distance + place(p, index, 1);
            double complex value = read_number(in, at, is_double, from_real);
            if (to_real && 2 * index[p->rank - 1] % last == 0) {
                value = creal(value) + cimag(value); /* cuFFT may use the part too */
            }
            numbers[packed(p, index)] = value;
            if (to_real && index[p->rank - 1] > 0 && 2 * index[p->rank - 1] < last) {
                long long mirror[3] = {0};
                for (int k = 0; k < p->rank; k++) {
                    mirror[k] = (p->n[k] - index[k]) % p->n[k];
                }
                numbers[packed(p, mirror)] = conj(value);
            }
            if (to_real) {
                write_number(in, at, is_double, 0, NAN);
            }
        } while (next(p, index, in_last));
        long long step = 1;
        for (int k = p->rank - 1; k >= 0; k--) {
            transform_axis(numbers, count, p->n[k], step, direction);
            step *= p->n[k];
        }
        do {
            write_number(out, b * p->out_distance + place(p, index, 0), is_double,
                         to_real, numbers[packed(p, index)]);
        } while (next(p, index, out_last));
    }
    free(numbers);
    return 0;
}

int
cufftExecC2C(int handle, void *in, void *out, int direction)
{
    return plans[handle].type == C2C ? execute(handle, in, out, direction) : 3;
}

int
cufftExecZ2Z(int handle, void *in, void *out, int direction)
{
    return plans[handle].type == Z2Z ? execute(handle, in, out, direction) : 3;
}

int
cufftExecR2C(int handle, void *in, void *out)
{
    return plans[handle].type == R2C ? execute(handle, in, out, -1) : 3;
}

int
cufftExecD2Z(int handle, void *in, void *out)
{
    return plans[handle].type == D2Z ? execute(handle, in, out, -1) : 3;
}

int
cufftExecC2R(int handle, void *in, void *out)
{
    return plans[handle].type == C2R ? execute(handle, in, out, 1) : 3;
}

int
cufftExecZ2D(int handle, void *in, void *out)
{
    return plans[handle].type == Z2D ? execute(handle, in, out, 1) : 3;
}
