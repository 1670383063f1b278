/* Contexts: making them, and finding the context of new objects. Devices.
 *
 * current_context.h has the stack of each thread, and makes the thread's context the
 * driver's current one (PCU_CALL_CURRENT). resource.h has the struct.
 *
 * Invariant: see context.c. Callers: device.c makes contexts; every file that makes
 * driver objects requires one. */
#ifndef PYTHON_DRIVER_CONTEXT_H
#define PYTHON_DRIVER_CONTEXT_H

#include "python/support/base.h"

#include "python/support/args.h"
#include "python/driver/resource.h"

/* The context to which new objects belong: the top of this thread's stack, or a wrapper
 * of the context that another library made current. If there is neither, LogicError
 * that names routine. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_context_require(pcu_state *st, const char *routine);

/* The same for the work that is enqueued next. Borrowed from the calling thread's
 * stack. The error names cuLaunchKernel. */
PCU_HIDDEN PCU_RAISES PCU_BORROWED pcu_context *pcu_context_launch_borrow(
    pcu_state *st);

/* The Context of a handle: the known one, or a new wrapper of another library's. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_context_find_new(pcu_state *st, CUcontext handle);

/* The handle of a Context. If it has ended, LogicError that names routine and argument,
 * and the result is NULL. */
PCU_HIDDEN PCU_RAISES CUcontext pcu_context_handle(pcu_state *st, PyObject *ctx,
                                                   const char *routine,
                                                   const char *name);

/* Make a context of the device and push it, or retain the primary context. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_context_make(pcu_state *st, CUdevice device,
                                                 unsigned int flags);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_context_make_gl(pcu_state *st, CUdevice device,
                                                    unsigned int flags);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_context_retain_primary(pcu_state *st,
                                                           CUdevice device);

PCU_CONVERTER(pcu_as_context, PyObject *);         /* a Context */
PCU_CONVERTER(pcu_as_context_or_none, PyObject *); /* the same; None stores nothing */

/* -- device.c ---------------------------------------------------------------------- */

/* A Device for a handle of the driver. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_device_new(pcu_state *st, CUdevice handle);

/* The CUdevice of a Device. */
PCU_HIDDEN CUdevice pcu_device_handle(PyObject *device);

#endif
