/* What is known of a sort of packed lines before it is enqueued.
 *
 * Filled in by line_sort.c and radix_passes.c. */
#ifndef PYTHON_ARRAY_SORT_LINE_PLAN_H
#define PYTHON_ARRAY_SORT_LINE_PLAN_H

#include "python/driver/context.h"

/* How lines are sorted. */
typedef enum {
    PCU_SORT_BY_LANES, /* some lanes of a warp for each line */
    PCU_SORT_BY_BLOCK, /* a block for each line */
    PCU_SORT_BY_PASSES /* a count of all digits, then a launch for each digit of the
                          keys */
} pcu_sort_method;

/* One sort of lines that follow each other in memory. The caller sets the fields of the
 * first group, pcu_line_sort_plan the others. */
typedef struct {
    pcu_state *st;
    int type;        /* pcu_type of the elements */
    bool keys;       /* the sorted elements are a result */
    bool indices;    /* their int64 indices before the sort are a result */
    bool descending; /* equal elements keep their order in both directions */
    size_t length;   /* of a line */
    size_t lines;

    pcu_sort_method method;
    size_t itemsize;
    size_t digits;        /* of a key: bytes */
    unsigned int threads; /* of a block; BY_LANES: the lanes of a line */
    unsigned int items;   /* elements of a thread */
    unsigned int shared;  /* BY_PASSES: bytes of shared memory of a block */
    bool wide;            /* BY_PASSES: counts and indices have 64 bits */
    size_t tiles;         /* BY_PASSES: blocks of a line */
    size_t workspace;     /* bytes of device memory that the launches need */
} pcu_line_sort;

/* The kernels of a sort. */
typedef struct {
    CUfunction sort;
    CUfunction count; /* BY_PASSES: counts all digits */
} pcu_sort_kernels;

/* The addresses of a sort. */
typedef struct {
    CUdeviceptr source;
    CUdeviceptr keys;      /* 0 if the elements are no result */
    CUdeviceptr indices;   /* 0 if the indices are none */
    CUdeviceptr workspace; /* of the bytes of the plan, at a multiple of 16 */
} pcu_sort_memory;

#endif
