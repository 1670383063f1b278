/* Packing the arguments of an ordinary kernel call into the parameter block.
 *
 * Invariant: each argument is an object of fixed size, or gives an address. Callers:
 * call.c, and old_calls.c for param_set(). */
#ifndef PYTHON_DRIVER_LAUNCH_ARGUMENTS_H
#define PYTHON_DRIVER_LAUNCH_ARGUMENTS_H

#include "python/support/base.h"

#include "python/driver/launch/function_struct.h"

#include "driver/argument_buffer.h"

/* Pack the arguments of a call. If any argument is an ArgumentHandler, *memory becomes
 * an array of nargs pointers, also on failure. It holds the device memory of the
 * arguments whose type is exactly In, Out or InOut, and NULL for the others. Release it
 * with pcu_handlers_release.
 *
 * An argument with __cuda_array_interface__ may name the stream that produces its data.
 * *stream then waits for that stream; if `stream` is NULL, the calling thread waits. */
PCU_HIDDEN PCU_RAISES int pcu_arguments_pack(pcu_function *self, PyObject *const *args,
                                             Py_ssize_t nargs, const CUstream *stream,
                                             pcu_argument_buffer *buffer,
                                             PyObject ***memory);

#endif
