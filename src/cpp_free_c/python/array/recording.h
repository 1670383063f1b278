/* Recording: a thread notes elementwise operations instead of launching kernels.
 *
 * pycuda.fuse runs a function once with stand-ins: arrays with a layout and an address,
 * but without memory. While a thread records, its new arrays are stand-ins, and
 * pcu_elementwise_enqueue calls the recorder. All other work on a stand-in is refused
 * by pcu_gpuarray_check, also after the recording.
 *
 * Invariant: st->recorder is NULL or a tuple with RECORDER_ITEMS items, which never
 * changes once it is set. st->recording_thread is 0 or the thread that records. Called
 * by the array rooms. */
#ifndef PYTHON_ARRAY_RECORDING_H
#define PYTHON_ARRAY_RECORDING_H

#include "python/driver/memory/gpuarray.h"

enum {
    PCU_RECORDER_CALL,   /* called with each operation */
    PCU_RECORDER_ARRAY,  /* the type of stand-ins, a subclass of GPUArray */
    PCU_RECORDER_MEMORY, /* the type of their memory, called with a size in bytes */
    PCU_RECORDER_ERROR,  /* the exception of refused work */
    PCU_RECORDER_ITEMS
};

static inline bool
pcu_is_recording(const pcu_state *st)
{
    return st->recording_thread != 0 &&
           st->recording_thread == PyThread_get_thread_ident();
}

/* An item of the recorder, which is set. */
static inline PyObject *
pcu_recorder_item(const pcu_state *st, int item)
{
    return PyTuple_GET_ITEM(st->recorder, item);
}

/* Whether the array has the memory of a stand-in. */
static inline bool
pcu_is_stand_in(const pcu_gpuarray *array)
{
    return array->memory != NULL && array->st->recorder != NULL &&
           (PyObject *)Py_TYPE(array->memory) ==
               pcu_recorder_item(array->st, PCU_RECORDER_MEMORY);
}

/* Raise the error of work that needs the elements of a stand-in. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_stand_in_refuse(const pcu_state *st);

extern PCU_HIDDEN PyMethodDef pcu_recording_functions[];

#endif
