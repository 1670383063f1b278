/* Context: the object behind every driver handle, and how other files find it. */
#ifndef PYTHON_DRIVER_CONTEXT_H
#define PYTHON_DRIVER_CONTEXT_H

#include "python/support/base.h"

#include "python/support/args.h"

#include "python/driver/context_struct.h"

/* The context new objects belong to: the top of this thread's stack, or a wrapper of
 * the context another library made current. LogicError naming routine if there is
 * neither. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_context_require(pcu_state *st, const char *routine);

/* The context of a handle, ours or somebody else's. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_context_find_new(pcu_state *st, CUcontext handle);

/* The handle of a Context that is alive, else LogicError naming routine and argument.
 */
PCU_HIDDEN PCU_RAISES CUcontext pcu_context_handle(pcu_state *st, PyObject *ctx,
                                                   const char *routine,
                                                   const char *name);

/* Make (owned) or retain (primary) a context of the device; device.c calls these. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_context_make(pcu_state *st, CUdevice device,
                                                 unsigned int flags);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_context_make_gl(pcu_state *st, CUdevice device,
                                                    unsigned int flags);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_context_retain_primary(pcu_state *st,
                                                           CUdevice device);

PCU_CONVERTER(pcu_as_context);         /* PyObject *: a Context */
PCU_CONVERTER(pcu_as_context_or_none); /* the same; untouched for None */

#endif
