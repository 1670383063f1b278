/* Packing the values of a prepared call.
 *
 * Callers: prepared_call.c, and python/array/type/kernel_call.c for the numbers among
 * the arguments of a program's array kernel. */
#ifndef PYTHON_DRIVER_LAUNCH_PREPARED_VALUES_H
#define PYTHON_DRIVER_LAUNCH_PREPARED_VALUES_H

#include "python/support/base.h"

#include "python/driver/launch/function_struct.h"

#include "driver/argument_buffer.h"

/* Convert value i of a plan and write it to the parameter block. struct.error if it
 * does not fit. */
PCU_HIDDEN PCU_RAISES int pcu_prepared_put(pcu_function *self, const pcu_prepared *plan,
                                           Py_ssize_t i, PyObject *value,
                                           unsigned char *block);

/* Convert the values by the compiled format and write them to the parameter block.
 * struct.error for a wrong count and for a value that does not fit. */
PCU_HIDDEN PCU_RAISES int pcu_prepared_pack(pcu_function *self,
                                            const pcu_prepared *plan,
                                            PyObject *const *args, Py_ssize_t nargs,
                                            pcu_argument_buffer *buffer);

#endif
