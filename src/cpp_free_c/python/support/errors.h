/* Exceptions and warnings for driver statuses.
 *
 * Invariant: no exception is pending when a function that raises is called; a failure
 * of a destructor is a warning and leaves a pending exception unchanged. Callers: any
 * code in python/. */
#ifndef PYTHON_SUPPORT_ERRORS_H
#define PYTHON_SUPPORT_ERRORS_H

#include "python/support/base.h"

#include "driver/context_record.h"
#include "driver/status.h"

/* Raise the exception of a driver status: "<routine> failed: <text>". Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_raise(pcu_state *st, const char *routine,
                                    CUresult status);

/* The same with " - <detail>" appended; detail is a format of PyUnicode_FromFormat.
 * Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_raise_detail(pcu_state *st, const char *routine,
                                           CUresult status, const char *detail, ...);

/* 0, or raise the exception of a status. For an invalid value it names the flags, and
 * whose members they are. */
PCU_HIDDEN PCU_RAISES int pcu_check_flags(pcu_state *st, const char *routine,
                                          CUresult status, unsigned int flags,
                                          const char *members);

/* Report a failed clean-up call by a PyCUDAWarning that names call and handle. Never
 * raises. */
PCU_HIDDEN void pcu_report_cleanup(pcu_state *st, const char *routine, uintptr_t handle,
                                   CUresult status);

/* Set the attribute jit_log of the pending exception, unless the log is empty. */
PCU_HIDDEN void pcu_error_attach_jit_log(PyObject *log);

/* A clean-up call found that a context is lost. If no exception has said so before,
 * report it, with the launches that it may come from, by a PyCUDAWarning. Never raises.
 */
PCU_HIDDEN void pcu_report_lost(pcu_state *st, const char *routine,
                                pcu_context_record *rec, CUresult status);

/* Raise TypeError for a value that is no array of the device. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_refuse_array(const char *function, PyObject *value);

/* The text of a report of the software device, about PTX of a text with this hash. The
 * lines of the source are looked up now. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_report_text_new(const char *message, uint64_t hash,
                                                    const unsigned lines[2]);

#endif
