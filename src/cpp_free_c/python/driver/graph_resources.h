/* What a graph and the executable graphs made from it own together: objects, pools of
 * memory, and the handles that the program released while the graph used them. Also the
 * hooks by which work that is captured says what it uses.
 *
 * Invariant: an object of this type is shared by a Graph, its bodies and children, and
 * its GraphExecs; when the last of them is gone, it releases what it owns. Callers:
 * python/driver/graph, and all files that enqueue work. */
#ifndef PYTHON_DRIVER_GRAPH_RESOURCES_H
#define PYTHON_DRIVER_GRAPH_RESOURCES_H

#include "python/support/base.h"

#include "driver/context_record.h"
#include "driver/capture.h"

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *ctx;        /* strong; dropped last */
    PyObject *kept;       /* a list: objects that work uses */
    PyObject *memory;     /* a set: the addresses of the notes of memory that it uses */
    PyObject *functions;  /* {handle: Function} of the kernels */
    PyObject *bodies;     /* {node: (type, *graphs)} of conditional nodes, as ints */
    PyObject *pools;      /* a list of the DeviceMemoryPools of its captures */
    PyObject *pool;       /* of the active capture, else NULL */
    PyObject *workspaces; /* {stream: memory} for libraries, of the active capture */
    size_t seen;          /* pieces of work that the hooks noted */
    bool calls_host;      /* a node calls a function of the host */
    bool allocates;       /* a node allocates memory */
    bool forked;          /* the active capture may have work in a second stream */
    CUgraphNode following; /* the last kernel of pcu_captured_note_following */
    bool early;            /* the active capture launches small operations early */
    bool has_early;        /* it did so */
    bool capturing;        /* a capture is active */
    pcu_capture_record capture;
} pcu_graph_resources;

PCU_HIDDEN PCU_NEWREF pcu_graph_resources *pcu_graph_resources_new(pcu_state *st,
                                                                   PyObject *ctx);

/* Keep an object as long as the graph. */
PCU_HIDDEN PCU_RAISES int pcu_graph_resources_keep(pcu_graph_resources *self,
                                                   PyObject *object);
/* Remember the Function of a kernel's handle, and keep it. */
PCU_HIDDEN PCU_RAISES int pcu_graph_resources_keep_function(pcu_graph_resources *self,
                                                            CUfunction handle,
                                                            PyObject *function);
/* The Function of a handle; NULL without an exception if it is not known. */
PCU_HIDDEN PCU_BORROWED PyObject *pcu_graph_resources_function(
    pcu_graph_resources *self, CUfunction handle);

/* Work contains this word. If it is the address of memory of this package, or the
 * handle of an array or a texture, keep that. */
PCU_HIDDEN PCU_RAISES int pcu_graph_resources_keep_word(pcu_graph_resources *self,
                                                        uint64_t word);
/* The same for the words among `size` bytes of kernel parameters. */
PCU_HIDDEN PCU_RAISES int pcu_graph_resources_keep_words(pcu_graph_resources *self,
                                                         const void *bytes,
                                                         size_t size);

/* Do not keep what an array has its memory in: its object, which may be NULL, and the
 * allocation at its address. Each caller that launches the graph has an array there. */
PCU_HIDDEN PCU_RAISES int pcu_graph_resources_lend(pcu_graph_resources *self,
                                                   PyObject *memory, uint64_t address);

/* Begin and end a capture: releases wait, memory comes from a new pool. `early`: small
 * operations may be launched early. */
PCU_HIDDEN PCU_RAISES int pcu_graph_resources_begin(pcu_graph_resources *self,
                                                    PyObject *pool, bool early);
PCU_HIDDEN void pcu_graph_resources_end(pcu_graph_resources *self);

/* -- hooks: no-ops unless a capture is active -------------------------------------- */

PCU_HIDDEN PCU_RAISES int pcu_captured_launch_slow(const void *params, size_t size,
                                                   CUfunction handle,
                                                   PyObject *function);
PCU_HIDDEN PCU_RAISES int pcu_captured_address_slow(uint64_t word);
PCU_HIDDEN PCU_RAISES int pcu_captured_object_slow(PyObject *object);
PCU_HIDDEN PCU_RAISES int pcu_captured_copy_slow(pcu_state *st, const char *routine);
PCU_HIDDEN PCU_RAISES int pcu_captured_fork_slow(void);
PCU_HIDDEN PCU_BORROWED PyObject *pcu_captured_pool_slow(void);

/* Whether the next work of a captured stream waits for nothing but the last kernel that
 * pcu_captured_note_following noted. */
PCU_HIDDEN bool pcu_captured_follows(CUstream stream);

/* The node for which the next work of a captured stream waits; NULL if there is none,
 * or more than one. */
PCU_HIDDEN CUgraphNode pcu_captured_last(CUstream stream);

/* Note the kernel that was just enqueued in a captured stream. It waits for the work
 * ahead before it does anything. */
PCU_HIDDEN void pcu_captured_note_following(CUstream stream);

/* The memory that libraries use in the streams that this thread captures: a dict with
 * the streams as ints, for the caller to fill. The graph keeps the memory. NULL without
 * a capture. */
PCU_HIDDEN PCU_BORROWED PyObject *pcu_captured_workspaces(void);

/* A kernel is launched with packed parameters. `function` may be NULL. */
static inline PCU_RAISES int
pcu_captured_launch(const void *params, size_t size, CUfunction handle,
                    PyObject *function)
{
    if (pcu_captures == NULL) {
        return 0;
    }
    return pcu_captured_launch_slow(params, size, handle, function);
}

/* Work uses device memory at an address, or an array by its handle. */
static inline PCU_RAISES int
pcu_captured_address(uint64_t word)
{
    if (pcu_captures == NULL) {
        return 0;
    }
    return pcu_captured_address_slow(word);
}

/* Work uses memory that the object keeps alive. */
static inline PCU_RAISES int
pcu_captured_object(PyObject *object)
{
    if (pcu_captures == NULL || object == NULL) {
        return 0;
    }
    return pcu_captured_object_slow(object);
}

/* A copy or fill is called. Refuse the functions that do not take a stream. */
static inline PCU_RAISES int
pcu_captured_copy(pcu_state *st, const char *routine)
{
    if (pcu_captures == NULL) {
        return 0;
    }
    return pcu_captured_copy_slow(st, routine);
}

/* Streams are ordered by an event, so work may be captured in several streams. */
static inline PCU_RAISES int
pcu_captured_fork(void)
{
    if (pcu_captures == NULL) {
        return 0;
    }
    return pcu_captured_fork_slow();
}

/* The pool for memory that this thread allocates while it captures, else NULL. */
static inline PCU_BORROWED PyObject *
pcu_captured_pool(void)
{
    if (pcu_captures == NULL) {
        return NULL;
    }
    return pcu_captured_pool_slow();
}

#endif
