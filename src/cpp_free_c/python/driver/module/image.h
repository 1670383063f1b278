/* Images: code in memory, in the form that the driver's loading functions take.
 *
 * Callers: module.c and linker.c. */
#ifndef PYTHON_DRIVER_MODULE_IMAGE_H
#define PYTHON_DRIVER_MODULE_IMAGE_H

#include "python/support/base.h"

#include "python/support/buffer.h"

/* Code as the driver wants it, valid until pcu_image_release: PTX must end in a NUL,
 * which only bytes promise, and a fat binary must be as long as its header says, since
 * the driver goes by that. `what` is what is made of it, where a str is refused;
 * `routine` is the driver function that takes it. */
typedef struct {
    const void *data;
    size_t size; /* a NUL follows */
    pcu_buffer buffer;
    char *copy; /* owned */
} pcu_image;

PCU_HIDDEN PCU_RAISES int pcu_image_acquire(pcu_state *st, pcu_image *image,
                                            PyObject *source, const char *what,
                                            const char *name, const char *routine);
PCU_HIDDEN void pcu_image_release(pcu_image *image);

#endif
