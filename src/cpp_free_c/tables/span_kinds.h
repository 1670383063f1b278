/* What a span of a timeline is.
 *
 *   X(KIND, "name", it is work of a stream, which the device does later) */
#ifndef TABLES_SPAN_KINDS_H
#define TABLES_SPAN_KINDS_H

/* clang-format off */
#define PCU_SPAN_KINDS(X) \
    X(KERNEL, "kernel", 1)         \
    X(GRAPH, "graph", 1)           \
    X(HOST_FUNCTION, "host function", 1) \
    X(COPY_IN, "copy to device", 1)      \
    X(COPY_OUT, "copy to host", 1)       \
    X(COPY, "copy", 1)             \
    X(FILL, "fill", 1)             \
    X(WAIT, "wait", 0)             \
    X(ALLOCATE, "allocate", 0)     \
    X(FREE, "free", 0)             \
    X(LOAD, "load", 0)             \
    X(COMPILE, "compile", 0)       \
    X(RANGE, "range", 0)
/* clang-format on */

#endif
