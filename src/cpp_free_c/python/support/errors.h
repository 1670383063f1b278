/* The exceptions of driver statuses. */
#ifndef PYTHON_SUPPORT_ERRORS_H
#define PYTHON_SUPPORT_ERRORS_H

#include "python/support/base.h"

#include "driver/status.h"

/* Raise the exception of a driver status: "<routine> failed: <text>". Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_raise(pcu_state *st, const char *routine,
                                    CUresult status);

/* The same with " - <detail>"; detail is a PyUnicode_FromFormat format. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_raise_detail(pcu_state *st, const char *routine,
                                           CUresult status, const char *detail, ...);

/* Say that a clean-up call failed: a PyCUDAWarning with call and handle; never raises.
 */
PCU_HIDDEN void pcu_report_cleanup(pcu_state *st, const char *routine, uintptr_t handle,
                                   CUresult status);

#endif
