/* Stand-ins: the arrays of a recording. See python/support/recording.h.
 *
 * pcu_gpuarray_check refuses all work on a stand-in, also after the recording. Called
 * by the array rooms. */
#ifndef PYTHON_ARRAY_RECORDING_H
#define PYTHON_ARRAY_RECORDING_H

#include "python/driver/memory/gpuarray.h"
#include "python/support/recording.h"

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
