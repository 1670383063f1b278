/* The collection of garbage at exit, for the check of leaks of the software device:
 * last_collection.c.
 *
 * Caller: the function that loads the driver. */
#ifndef PYTHON_SUPPORT_LAST_COLLECTION_H
#define PYTHON_SUPPORT_LAST_COLLECTION_H

#include "python/support/base.h"

/* Register the collection with atexit, once. Does nothing unless PYCUDA_CHECK has the
 * word leak and the driver is the software device. */
PCU_HIDDEN PCU_RAISES int pcu_last_collection_setup(pcu_state *st);

#endif
