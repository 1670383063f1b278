/* Images: code in memory, in the form that the driver's loading functions take.
 *
 * Invariant: an image ends in a NUL, because PTX must, and a fat binary is as long as
 * its header says, because the driver relies on the header.
 *
 * Callers: module.c and linker.c. */
#ifndef PYTHON_DRIVER_MODULE_IMAGE_H
#define PYTHON_DRIVER_MODULE_IMAGE_H

#include "python/support/base.h"

#include "python/support/buffer.h"

typedef struct {
    const void *data;
    size_t size; /* a NUL follows */
    pcu_buffer buffer;
    char *copy; /* owned */
} pcu_image;

/* Take the code of a bytes object or buffer. `what` begins the message that refuses a
 * str, `name` is the argument, `routine` the driver function that gets the image. */
PCU_HIDDEN PCU_RAISES int pcu_image_acquire(pcu_state *st, pcu_image *image,
                                            PyObject *source, const char *what,
                                            const char *name, const char *routine);
PCU_HIDDEN void pcu_image_release(pcu_image *image);

/* The declarations of the kernels in PTX, as a str: the types of their parameters. NULL
 * without an exception if the bytes are no PTX. */
PCU_HIDDEN PCU_RAISES int pcu_image_entries(const void *data, size_t size,
                                            PyObject **entries);

/* The same for the first `size` bytes of a file. A file that cannot be read has none.
 */
PCU_HIDDEN PCU_RAISES int pcu_image_entries_of_file(const char *path, size_t size,
                                                    PyObject **entries);

#endif
