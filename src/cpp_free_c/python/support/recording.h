/* Recording: a thread notes elementwise operations instead of launching kernels.
 *
 * pycuda.fuse runs a function once with stand-ins: arrays with a layout and an address,
 * but without memory. While a thread records, its new arrays are stand-ins,
 * work that can be recorded calls the recorder, and other launches are refused.
 * python/array/recording.h has the stand-ins.
 *
 * Invariant: st->recorder is NULL or a tuple with PCU_RECORDER_ITEMS items, which never
 * changes once it is set. st->recording_thread is 0 or the thread that records. Called
 * by launches, kernels and the array rooms. */
#ifndef PYTHON_SUPPORT_RECORDING_H
#define PYTHON_SUPPORT_RECORDING_H

#include "python/support/base.h"

enum {
    PCU_RECORDER_CALL,   /* called with each operation */
    PCU_RECORDER_ARRAY,  /* the type of stand-ins, a subclass of GPUArray */
    PCU_RECORDER_MEMORY, /* the type of their memory, called with a size in bytes */
    PCU_RECORDER_ERROR,  /* the exception of refused work */
    PCU_RECORDER_KERNEL, /* called with a kernel of the program and its arguments */
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

/* What the recorder returns for a call of a kernel. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_record_kernel(const pcu_state *st, PyObject *kernel,
                                                  PyObject *const *args,
                                                  Py_ssize_t nargs, PyObject *kwnames);

#endif
