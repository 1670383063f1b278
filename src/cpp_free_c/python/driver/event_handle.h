/* Events as arguments: ours, and those of other libraries.
 *
 * Callers: event.c, stream.c and the graphs. */
#ifndef PYTHON_DRIVER_EVENT_HANDLE_H
#define PYTHON_DRIVER_EVENT_HANDLE_H

#include "python/support/base.h"

/* Read the handle of an Event, or of another library's event: cuda.core, CuPy, PyTorch,
 * Numba. `routine` is named if ours was released. */
PCU_HIDDEN PCU_RAISES int pcu_event_handle(pcu_state *st, PyObject *event, CUevent *out,
                                           const char *routine);

#endif
