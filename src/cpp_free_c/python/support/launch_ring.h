/* The last launches of a context, and which of them may still be running.
 *
 * The driver reports a failure of a kernel at a later call, which may be any. So each
 * launch notes its kernel, shape, stream and line. Nothing is converted to text before
 * an error needs it: a note costs a few nanoseconds.
 *
 * Waits note what they prove: pcu_launches_passed says that the launches of a stream
 * until a number have finished without an error. The other launches are the suspects of
 * an error; launch_error.c ranks them.
 *
 * Invariant: a ring belongs to a context record and is made and ended by the Context
 * that owns the record. Numbers count the launches of the process. The interpreter lock
 * guards all rings. Callers: files that launch or wait, and errors.c. */
#ifndef PYTHON_SUPPORT_LAUNCH_RING_H
#define PYTHON_SUPPORT_LAUNCH_RING_H

#include "python/support/base.h"

#include "python/support/caller.h"

#include "driver/context_record.h"

typedef struct {
    unsigned int grid[3];
    unsigned int block[3];
    unsigned int shared; /* bytes of dynamic shared memory */
    CUstream stream;
} pcu_launch_shape;

typedef enum {
    PCU_LAUNCH_KERNEL,  /* of a module of the program */
    PCU_LAUNCH_ARRAY,   /* a generated kernel of an array operation */
    PCU_LAUNCH_GRAPH,   /* an executable graph; it has no shape */
    PCU_LAUNCH_LIBRARY, /* a function of a library such as cuBLAS; no shape */
    PCU_LAUNCH_KINDS
} pcu_launch_kind;

typedef struct {
    unsigned long number; /* 0: no launch */
    pcu_launch_kind kind;
    PyObject *name;    /* strong: a str; NULL for generated kernels */
    CUfunction kernel; /* NULL for graphs and libraries */
    pcu_caller place;  /* strong */
    pcu_launch_shape shape;
} pcu_launch;

enum { PCU_RING_LAUNCHES = 64, PCU_RING_WAITS = 8 };

/* What a wait for a stream has proved. */
typedef struct {
    CUstream stream;
    unsigned long number; /* launches until this one have finished; 0: no wait */
} pcu_launch_wait;

typedef struct pcu_launch_ring {
    unsigned long count;  /* of launches in this context */
    unsigned long passed; /* all launches until this number have finished */
    unsigned int next_wait;
    pcu_launch_wait waits[PCU_RING_WAITS];
    PyObject *lost; /* a tuple: the suspects when the context was lost, else NULL */
    pcu_launch launches[PCU_RING_LAUNCHES];
} pcu_launch_ring;

/* Give a record its ring. */
PCU_HIDDEN PCU_RAISES int pcu_launch_ring_make(pcu_context_record *rec);
/* Free the ring of a record. May run Python code. */
PCU_HIDDEN void pcu_launch_ring_end(pcu_context_record *rec);

/* Note a launch that the driver has accepted. `name` is borrowed, NULL for a generated
 * kernel. */
PCU_HIDDEN void pcu_launch_note(const pcu_state *st, pcu_launch_ring *ring,
                                pcu_launch_kind kind, CUfunction kernel, PyObject *name,
                                const pcu_launch_shape *shape);

/* The number of the newest launch of the process. Read it before a wait. */
static inline unsigned long
pcu_launch_newest(void)
{
    return pcu_launch_count;
}

/* A wait for a stream has succeeded: its launches until `number` have finished. `rec`
 * may be NULL. */
PCU_HIDDEN void pcu_launches_passed(const pcu_context_record *rec, CUstream stream,
                                    unsigned long number);

/* The same for all streams of the context. */
PCU_HIDDEN void pcu_launches_passed_all(const pcu_context_record *rec,
                                        unsigned long number);

/* 1 if a wait has proved that the launch has finished. */
PCU_HIDDEN int pcu_launch_has_passed(const pcu_launch_ring *ring,
                                     const pcu_launch *launch);

#endif
