/* Streams: the current one of a thread, waiting, and how other files convert one. */
#ifndef PYTHON_DRIVER_STREAM_H
#define PYTHON_DRIVER_STREAM_H

#include "python/support/base.h"

#include "python/support/args.h"
#include "python/driver/context_stack.h"
#include "python/driver/resource.h"

/* The current Stream; NULL if the default stream is current. Never raises. */
PCU_HIDDEN PCU_BORROWED pcu_resource *pcu_stream_find_borrow(void);
PCU_HIDDEN CUstream pcu_stream_find_handle(void);

/* The stream of work that names none: that of the innermost `with stream:` of this
 * thread whose stream is one of the current context, else the default stream (NULL). */
static inline CUstream
pcu_current_stream(void)
{
    if (pcu_stream_top == NULL) {
        return NULL;
    }
    return pcu_stream_find_handle();
}

/* Let what is queued to `after` from now on wait for what is queued to `before`. The
 * caller waits only if the two are of different contexts. */
PCU_HIDDEN PCU_RAISES int pcu_stream_order(pcu_state *st, CUstream before,
                                           CUstream after);

/* Wait for what is queued to the stream. */
PCU_HIDDEN PCU_RAISES int pcu_stream_synchronize(pcu_state *st, CUstream handle);

/* The handle of another library's stream, by its __cuda_stream__: 1 if it has that, 0
 * if not. */
PCU_HIDDEN PCU_RAISES int pcu_stream_from_protocol(pcu_state *st, PyObject *value,
                                                   CUstream *out, const char *name);

/* CUstream: a Stream, an object with __cuda_stream__, or None, which is the current
 * stream. */
PCU_CONVERTER(pcu_as_stream);

#endif
