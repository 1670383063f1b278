/* Streams and events: the current stream of a thread, order and waiting, and the
 * converter.
 *
 * Invariant: see stream.c and event.c. Callers: every file that enqueues work. */
#ifndef PYTHON_DRIVER_STREAM_H
#define PYTHON_DRIVER_STREAM_H

#include "python/support/base.h"

#include "python/support/args.h"
#include "python/driver/current_context.h"
#include "python/driver/resource.h"

#include "driver/capture.h"
#include "driver/stream_use.h"

/* The current Stream of this thread; NULL if the default stream is current. Never
 * raises. */
PCU_HIDDEN PCU_BORROWED pcu_resource *pcu_stream_find_borrow(void);
PCU_HIDDEN CUstream pcu_stream_find_handle(void);

/* The stream for work that names no stream: that of the innermost `with stream:` block
 * of this thread whose stream belongs to the current context, else the default stream
 * (NULL). */
static inline CUstream
pcu_stream_peek(void)
{
    if (pcu_stream_top == NULL) {
        return NULL;
    }
    return pcu_stream_find_handle();
}

/* The same for a caller that enqueues work in it now. */
static inline CUstream
pcu_stream_current(void)
{
    CUstream stream = pcu_stream_peek();
    pcu_stream_note(stream);
    return stream;
}

/* Let work that is enqueued in `after` from now on wait for the work already enqueued
 * in `before`. The calling thread waits only if the streams belong to different
 * contexts. If `after` is captured and `before` is not, nothing is done: the program
 * orders the launch of the graph. */
PCU_HIDDEN PCU_RAISES int pcu_stream_order(pcu_state *st, CUstream before,
                                           CUstream after);

/* Wait until all work of the stream has finished. The stream may belong to a context
 * that is not current. */
PCU_HIDDEN PCU_RAISES int pcu_stream_synchronize(pcu_state *st, CUstream handle);

/* Converter: CUstream, from a Stream, an object with __cuda_stream__, or None, which is
 * the current stream. */
PCU_CONVERTER(pcu_as_stream, CUstream);

/* -- event.c: events as arguments -------------------------------------------------- */

/* Read the handle of an Event, or of another library's event: cuda.core, CuPy, PyTorch,
 * Numba. `routine` is named if ours was released. */
PCU_HIDDEN PCU_RAISES int pcu_event_handle(pcu_state *st, PyObject *event, CUevent *out,
                                           const char *routine);

#endif
