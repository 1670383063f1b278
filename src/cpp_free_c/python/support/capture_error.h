/* The errors of calls that a stream capture refuses: an explanation, and the line of
 * the program.
 *
 * Invariant: none of the functions changes the exception that is raised. Caller:
 * errors.c. */
#ifndef PYTHON_SUPPORT_CAPTURE_ERROR_H
#define PYTHON_SUPPORT_CAPTURE_ERROR_H

#include "python/support/base.h"

/* 1 for the codes with which a capture refuses calls. */
static inline int
pcu_status_is_of_capture(CUresult status)
{
    return status >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
           status <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

/* The detail of such an error: `detail`, or an explanation if it is empty, and the line
 * of the program that made the call. The first such call is stored in the state, for
 * the error at the end of the capture. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_capture_detail_new(pcu_state *st,
                                                       const char *routine,
                                                       CUresult status,
                                                       PyObject *detail);

#endif
