/* Calls of the functions that pycuda.fuse recorded.
 *
 * A _FusedRun (fused_run.c) has the steps of a recording for arguments of one key:
 * kernels with their parameters, calls of Python, and what they allocate. Invariant:
 * apart from `used`, the spare arrays and the graphs it never changes. fused_graph.c
 * enqueues the steps as a CUDA graph from the second call on. A _FusedCall
 * (fused_call.c) is the base of FusedFunction: it compares the arguments of a call with
 * the keys of the last runs, and hands all other calls to Python. */
#ifndef PYTHON_ARRAY_TYPE_FUSED_H
#define PYTHON_ARRAY_TYPE_FUSED_H

#include "python/driver/context.h"
#include "python/driver/launch/launch.h"
#include "python/driver/memory/gpuarray.h"

/* A step. The objects are borrowed from the run's tuple. */
typedef struct {
    PyObject *work;        /* a prepared Function, another callable, or None */
    PyObject *begins;      /* tuple: the blocks that it allocates */
    PyObject *layouts;     /* tuple: an array without memory for each of them */
    PyObject *ends;        /* tuple: the blocks that no later step uses */
    PyObject *pointers;    /* tuple: the blocks whose addresses the kernel gets first */
    PyObject *offsets;     /* tuple: the bytes from there on, for each of them */
    pcu_prepared *plan;    /* counted reference: where the parameters are */
    unsigned char *params; /* owned: all parameters, without the addresses */
    pcu_launch_shape shape;
} pcu_fused_step;

/* The blocks of a call: an array for each, NULL if it has no memory yet. */
typedef struct {
    pcu_state *st;
    Py_ssize_t count;
    PyObject **arrays;   /* strong */
    PyObject *allocator; /* borrowed from an argument; NULL: the default one */
    CUdeviceptr *used;   /* NULL, or an address for each block, which kernels note */
} pcu_fused_memory;

/* A node that copies an array of the call into memory of the graph, or out. */
typedef struct {
    Py_ssize_t block;
    CUdeviceptr own;     /* the first byte in the graph */
    CUdeviceptr address; /* the first element of the call's array */
    Py_ssize_t low;      /* the first byte from there on */
    size_t size;
    CUgraphNode node; /* NULL: there is nothing to copy */
    bool out;
} pcu_fused_copy;

/* A graph of a run. `addresses` are those of all blocks that its kernels and copies
 * use, and of those that plain functions use. */
typedef struct {
    PyObject *exec;         /* strong: a GraphExec; NULL: none */
    PyObject *graph;        /* strong: the Graph, which has the nodes */
    CUdeviceptr *addresses; /* owned */
    CUgraphNode *nodes;     /* owned: the node of each step that is a kernel */
    pcu_fused_copy *copies; /* owned: those in, then those out */
    Py_ssize_t used;        /* the number of the last launch */
    bool busy;              /* a thread changes and launches it */
} pcu_fused_graph;

enum { PCU_FUSED_GRAPHS = 4 };

typedef struct {
    PyObject *stream;  /* strong: the Stream that is captured; NULL: no graphs */
    PyObject *blocks;  /* strong: a tuple of the blocks of results with new memory */
    PyObject *layouts; /* strong: a tuple of their layouts */
    PyObject *fixed;   /* strong: a tuple of the arguments of which a graph serves one
                          address each: plain functions use them */
    PyObject *ins;     /* strong: a tuple of the arguments that a graph copies first */
    PyObject *outs;    /* strong: a tuple of the results that it copies in the end */
    Py_ssize_t calls;  /* of the run */
    Py_ssize_t hits;   /* calls that launched a graph which was there */
    Py_ssize_t made;   /* captures */
    bool capturing;    /* a thread captures */
    pcu_fused_graph items[PCU_FUSED_GRAPHS];
} pcu_fused_graphs;

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *weakrefs;
    PyObject *context; /* strong, as are the objects below */
    PyObject *key;     /* tuple: the layout or the value of each argument; or None */
    PyObject *sources; /* tuple: for each block None, a number of an array among the
                          arguments, or an array from outside */
    PyObject *written; /* tuple: the blocks from outside that steps may change */
    PyObject *steps;   /* tuple: holds what `items` borrows */
    PyObject *result;  /* a tuple of blocks, or a callable */
    PyObject *layouts; /* tuple: the layout of a result that may be in memory that the
                          program gives, else None */
    PyObject *donated; /* tuple: the arrays among the arguments that calls give up */
    PyObject *spare;   /* tuple: those of the last call, or NULL */
    CUstream spare_stream;
    Py_ssize_t used;       /* the number of the last call, of all runs */
    Py_ssize_t count;      /* of items */
    pcu_fused_step *items; /* owned */
    pcu_fused_graphs graphs;
} pcu_fused_run;

/* Enqueue the steps. `arrays` are those among the arguments. Results are in the arrays
 * of the tuple `outs` where these fit. NULL: in donated arrays where these fit. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_fused_run_call(pcu_fused_run *self,
                                                   PyObject *const *arrays,
                                                   Py_ssize_t count, PyObject *outs);

/* Enqueue a step. */
PCU_HIDDEN PCU_RAISES int pcu_fused_step_run(const pcu_fused_step *step,
                                             pcu_fused_memory *memory,
                                             const pcu_context *ctx);

/* Give a block new memory, unless it has memory. */
PCU_HIDDEN PCU_RAISES int pcu_fused_memory_allocate(pcu_fused_memory *memory,
                                                    Py_ssize_t block,
                                                    const pcu_gpuarray *layout);

/* The address of an array's first element, which work in the context may use. */
PCU_HIDDEN PCU_RAISES int pcu_fused_address(pcu_gpuarray *array, const pcu_context *ctx,
                                            CUdeviceptr *address);

/* Enqueue the steps as a graph: 1 if that was done, 0 if the steps have to be enqueued
 * one by one. */
PCU_HIDDEN PCU_RAISES int pcu_fused_graph_launch(pcu_fused_run *self,
                                                 pcu_fused_memory *memory,
                                                 const pcu_context *ctx);
/* Read what graphs need from a tuple (stream, blocks, layouts, fixed, ins, outs). */
PCU_HIDDEN PCU_RAISES int pcu_fused_graphs_read(const pcu_state *st,
                                                pcu_fused_graphs *self,
                                                PyObject *given);
PCU_HIDDEN int pcu_fused_graphs_traverse(const pcu_fused_graphs *self, visitproc visit,
                                         void *arg);
PCU_HIDDEN void pcu_fused_graphs_clear(pcu_fused_graphs *self);

/* Item i of a tuple of blocks. */
static inline Py_ssize_t
pcu_fused_block(PyObject *blocks, Py_ssize_t i)
{
    return PyLong_AsSsize_t(PyTuple_GET_ITEM(blocks, i));
}

/* Whether two arrays have the same dtype, shape and strides, and the same alignment up
 * to 16 bytes. */
PCU_HIDDEN bool pcu_fused_has_layout(const pcu_gpuarray *array,
                                     const pcu_gpuarray *layout);

/* Whether a block that steps change shares memory with another one. */
PCU_HIDDEN bool pcu_fused_run_conflicts(const pcu_fused_run *self,
                                        PyObject *const *arrays, Py_ssize_t count);

#endif
