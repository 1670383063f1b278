/* Calls of InclusiveScanKernel and ExclusiveScanKernel: see kernel_call.c. */
#ifndef PYTHON_ARRAY_TYPE_SCAN_CALL_H
#define PYTHON_ARRAY_TYPE_SCAN_CALL_H

#include "python/array/type/call_launch.h"

/* Run a scan. 1 and *out, the output, if done, 0 if Python has to handle the call, -1
 * on error. */
PCU_HIDDEN PCU_RAISES int pcu_call_scan(pcu_state *st, pcu_call_run *run,
                                        PyObject *const *args, Py_ssize_t nargs,
                                        PyObject *kwnames, PyObject **out);

#endif
