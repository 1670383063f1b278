/* A cuSPARSE for tests on the software device, whose addresses the processor can read:
 * float64 with 32-bit indices. It counts what is alive and what was called. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    int64_t rows, columns, nnz;
    const int *indptr, *indices;
    const double *values;
} matrix;

typedef struct {
    int64_t size;
    double *values;
} vector;

typedef struct {
    void *stream;
} context;

int fake_alive, fake_products, fake_failing;
void *fake_stream, *fake_buffer;

int
cusparseCreate(void **handle)
{
    if (fake_failing == 1) {
        return 1;
    }
    *handle = calloc(1, sizeof(context));
    fake_alive++;
    return 0;
}

static int
release(void *handle)
{
    free(handle);
    fake_alive--;
    return 0;
}

int
cusparseDestroy(void *handle)
{
    return release(handle);
}

int
cusparseDestroySpMat(void *handle)
{
    return release(handle);
}

int
cusparseDestroyDnVec(void *handle)
{
    return release(handle);
}

int
cusparseGetProperty(int number, int *value)
{
    *value = 12 + number;
    return 0;
}

int
cusparseSetStream(void *handle, void *stream)
{
    ((context *)handle)->stream = stream;
    return 0;
}

int
cusparseCreateCsr(void **handle, int64_t rows, int64_t columns, int64_t nnz,
                  const int *indptr, const int *indices, const double *values,
                  int offsets, int columns_type, int base, int type)
{
    if (offsets != 2 || columns_type != 2 || base != 0 || type != 1) {
        return 3;
    }
    matrix *made = malloc(sizeof(*made));
    *made = (matrix){rows, columns, nnz, indptr, indices, values};
    *handle = made;
    fake_alive++;
    return 0;
}

int
cusparseCreateDnVec(void **handle, int64_t size, double *values, int type)
{
    if (type != 1 || fake_failing == 2) {
        return 3;
    }
    vector *made = malloc(sizeof(*made));
    *made = (vector){size, values};
    *handle = made;
    fake_alive++;
    return 0;
}

int
cusparseDnVecSetValues(void *handle, double *values)
{
    ((vector *)handle)->values = values;
    return 0;
}

int
cusparseSpMV_bufferSize(void *handle, int op, const double *alpha, const matrix *a,
                        const vector *x, const double *beta, const vector *y, int type,
                        int algorithm, size_t *size)
{
    *size = 1000;
    return 0;
}

int
cusparseSpMV(void *handle, int op, const double *alpha, const matrix *a,
             const vector *x, const double *beta, const vector *y, int type,
             int algorithm, void *buffer)
{
    if (fake_failing == 3) {
        return 6;
    }
    for (int64_t row = 0; row < a->rows; row++) {
        double sum = 0;
        for (int j = a->indptr[row]; j < a->indptr[row + 1]; j++) {
            sum += a->values[j] * x->values[a->indices[j]];
        }
        y->values[row] = *alpha * sum;
    }
    fake_products++;
    fake_stream = ((context *)handle)->stream;
    fake_buffer = buffer;
    return 0;
}
