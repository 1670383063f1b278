/* A cuBLAS for tests on the software device, whose addresses the processor can read. It
 * checks the arguments of each call, multiplies in loops, and counts what is alive and
 * what was called. */

#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    void *stream;
    int mode;
    void *workspace; /* NULL: that of the library */
} context;

int fake_alive, fake_products, fake_failing; /* the status that products return */
void *fake_stream;
void *fake_workspace;                  /* of the last product */
int (*fake_synchronize)(void *stream); /* set by the test */

int
cublasCreate_v2(context **handle)
{
    *handle = calloc(1, sizeof(**handle));
    fake_alive++;
    return 0;
}

int
cublasDestroy_v2(context *handle)
{
    free(handle);
    fake_alive--;
    return 0;
}

int
cublasGetVersion_v2(context *handle, int *version)
{
    *version = handle == NULL ? 0 : 130102;
    return 0;
}

int
cublasSetStream_v2(context *handle, void *stream)
{
    handle->stream = stream;
    handle->workspace = NULL; /* as the real function does */
    fake_stream = stream;
    return 0;
}

int
cublasSetWorkspace_v2(context *handle, void *workspace, size_t bytes)
{
    if (((uintptr_t)workspace & 255) != 0 || bytes == 0) {
        return 7;
    }
    handle->workspace = workspace;
    return 0;
}

int
cublasSetMathMode(context *handle, int mode)
{
    handle->mode = mode;
    return 0;
}

static double
half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023;
    double value = ldexp(fraction, -24);
    if (exponent == 31) {
        value = fraction != 0 ? NAN : INFINITY;
    }
    else if (exponent != 0) {
        value = ldexp(1024 + fraction, exponent - 25);
    }
    return bits & 0x8000 ? -value : value;
}

static double complex
read_item(const void *from, int type, int64_t i)
{
    switch (type) {
        case 0:
            return ((const float *)from)[i];
        case 1:
            return ((const double *)from)[i];
        case 2:
            return half_value(((const uint16_t *)from)[i]);
        case 14: {
            uint32_t bits = (uint32_t)((const uint16_t *)from)[i] << 16;
            float value;
            memcpy(&value, &bits, sizeof(value));
            return value;
        }
        case 4:
            return ((const float complex *)from)[i];
        default:
            return ((const double complex *)from)[i];
    }
}

/* Rounds halves away from zero, which a GPU does not; no test depends on it. */
static uint16_t
half_bits(double value)
{
    int exponent = 0;
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double fraction = frexp(fabs(value), &exponent); /* 0.5 .. 1 */
    if (value == 0) {
        return sign;
    }
    if (isnan(value)) {
        return 0x7e00;
    }
    if (exponent > 16 || isinf(value)) {
        return sign | 0x7c00;
    }
    if (exponent < -13) {
        return (uint16_t)(sign | (int)lround(ldexp(fabs(value), 24)));
    }
    return (uint16_t)(sign |
                      ((exponent + 14) * 1024 + (int)lround(fraction * 2048) - 1024));
}

static void
write_item(void *to, int type, int64_t i, double complex value)
{
    switch (type) {
        case 0:
            ((float *)to)[i] = (float)creal(value);
            break;
        case 1:
            ((double *)to)[i] = creal(value);
            break;
        case 2:
            ((uint16_t *)to)[i] = half_bits(creal(value));
            break;
        case 14: {
            float exact = (float)creal(value);
            uint32_t bits;
            memcpy(&bits, &exact, sizeof(bits));
            ((uint16_t *)to)[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
            break;
        }
        case 4:
            ((float complex *)to)[i] = (float complex)value;
            break;
        default:
            ((double complex *)to)[i] = value;
    }
}

static int64_t
place(int op, int64_t row, int64_t column, int64_t leading)
{
    return op == 0 ? row + column * leading : column + row * leading;
}

static int
is_valid(int op, int64_t rows, int64_t columns, int64_t leading)
{
    int64_t least = op == 0 ? rows : columns;
    return (op == 0 || op == 1) && leading >= (least > 1 ? least : 1);
}

int
cublasGemmStridedBatchedEx_64(context *handle, int op_a, int op_b, int64_t m, int64_t n,
                              int64_t k, const void *alpha, const void *a, int type_a,
                              int64_t lda, long long step_a, const void *b, int type_b,
                              int64_t ldb, long long step_b, const void *beta, void *c,
                              int type_c, int64_t ldc, long long step_c, int64_t count,
                              int compute, int algorithm)
{
    int is_double = type_a == 1 || type_a == 5;
    if (fake_failing != 0) {
        return fake_failing;
    }
    if (!is_valid(op_a, m, k, lda) || !is_valid(op_b, k, n, ldb) ||
        !is_valid(0, m, n, ldc) || type_a != type_b || type_a != type_c ||
        compute != (is_double ? 70 : 68) || handle->mode != 16 || algorithm != -1) {
        return 7;
    }
    double one = is_double ? *(const double *)alpha : *(const float *)alpha;
    double zero = is_double ? *(const double *)beta : *(const float *)beta;
    if (one != 1 || zero != 0 || fake_synchronize(handle->stream) != 0) {
        return 13;
    }
    for (int64_t i = 0; i < count; i++) {
        for (int64_t row = 0; row < m; row++) {
            for (int64_t column = 0; column < n; column++) {
                double complex sum = 0;
                for (int64_t j = 0; j < k; j++) {
                    sum +=
                        read_item(a, type_a, i * step_a + place(op_a, row, j, lda)) *
                        read_item(b, type_b, i * step_b + place(op_b, j, column, ldb));
                }
                write_item(c, type_c, i * step_c + row + column * ldc, sum);
            }
        }
    }
    fake_products++;
    fake_workspace = handle->workspace;
    return 0;
}

int
cublasGemmStridedBatchedEx(context *handle, int op_a, int op_b, int m, int n, int k,
                           const void *alpha, const void *a, int type_a, int lda,
                           long long step_a, const void *b, int type_b, int ldb,
                           long long step_b, const void *beta, void *c, int type_c,
                           int ldc, long long step_c, int count, int compute,
                           int algorithm)
{
    return cublasGemmStridedBatchedEx_64(
        handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, step_a, b, type_b, ldb,
        step_b, beta, c, type_c, ldc, step_c, count, compute, algorithm);
}

int
cublasGemmEx(context *handle, int op_a, int op_b, int m, int n, int k,
             const void *alpha, const void *a, int type_a, int lda, const void *b,
             int type_b, int ldb, const void *beta, void *c, int type_c, int ldc,
             int compute, int algorithm)
{
    return cublasGemmStridedBatchedEx_64(handle, op_a, op_b, m, n, k, alpha, a, type_a,
                                         lda, 0, b, type_b, ldb, 0, beta, c, type_c,
                                         ldc, 0, 1, compute, algorithm);
}
