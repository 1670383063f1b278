/* Large copies of ordinary host memory, through page-locked pieces.
 *
 * The driver copies pageable memory with one thread, which is slower than the bus. Here
 * a few threads copy between the host memory and pieces of page-locked memory, while
 * the bus moves the other pieces. The functions of the table `drv` are replaced, so all
 * copies between host and device use the pieces: from a size on, outside of captures,
 * and if the host memory is unknown to the driver. All other copies are the driver's.
 *
 * Each context has its own pieces and threads, made by the first large copies. One copy
 * at a time uses them; a second one in another thread is the driver's. The threads
 * never call the driver, and only the thread of the copy does, without any lock held.
 *
 * A copy keeps what the driver promises for pageable memory, in both forms: it begins
 * after the earlier work of the stream, and when the call returns the bytes are in
 * place. A failure or a signal in the middle ends the copy after the pieces that are on
 * the way.
 *
 * The variable PYCUDA_STAGING sets the bytes of the pieces of a context; 0 leaves all
 * copies to the driver. The software device copies by itself unless the variable is
 * set.
 *
 * Invariant: in a forked child the driver is not READY, and nothing here is used.
 * Callers: see the functions. */
#ifndef DRIVER_STAGING_H
#define DRIVER_STAGING_H

#include "driver/table.h"

/* Replace the copies of the loaded driver. `host` is the callback of
 * abi/software_device.h. Later calls do nothing. Call it before pcu_waits_begin, whose
 * functions wait in front of these. */
PCU_HIDDEN void pcu_staging_begin(int (*host)(int question));

/* Free the pieces of a context and end its threads, after the copy that uses them.
 * Return the bytes of the pieces. The caller does not hold the interpreter lock. The
 * next large copy makes pieces again, and the variable is read again. */
PCU_HIDDEN size_t pcu_staging_release(CUcontext context);

#endif
