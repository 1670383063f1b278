/* Stand-ins: the arrays of a recording. See python/support/recording.h.
 *
 * pcu_gpuarray_check refuses all work on a stand-in, also after the recording. Work
 * that can be recorded calls pcu_record instead. Called by the array rooms. */
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

/* Call the recorder with the name of an operation, the name of the type in which it
 * computes ("raw": each input as it is), a tuple of the inputs, one of the outputs, and
 * a tuple of what else the operation needs. A scalar is a tuple of its type's name and
 * its bytes. Takes the references to the tuples, which may be NULL with an exception.
 */
PCU_HIDDEN PCU_RAISES int pcu_record(const pcu_state *st, const char *name,
                                     const char *compute, PyObject *inputs,
                                     PyObject *outputs, PyObject *details);

/* A tuple of arrays. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_record_arrays_new(pcu_gpuarray *const *arrays,
                                                      Py_ssize_t count);

extern PCU_HIDDEN PyMethodDef pcu_recording_functions[];

#endif
