/* Code that modules and links load: images, and the options of the JIT compiler.
 *
 * Callers: module.c and linker.c. */
#ifndef PYTHON_DRIVER_MODULE_MODULE_H
#define PYTHON_DRIVER_MODULE_MODULE_H

#include "python/support/base.h"

#include "python/support/buffer.h"

/* -- image.c: code in memory, as the driver's loading functions take it ------------ */

/* An image ends in a NUL, because PTX must, and a fat binary is as long as its header
 * says, because the driver relies on the header. */

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

/* -- jit.c: the options and the logs of the JIT compiler --------------------------- */

/* The driver writes into the logs while a module is loaded, and until a link is
 * destroyed. */

enum { PCU_JIT_LOG_BYTES = 32768, PCU_JIT_OPTIONS_MAX = 40 };

/* The options of one load or link: first those of the caller, then verbosity, then the
 * two logs. */
typedef struct {
    unsigned int count;
    CUjit_option keys[PCU_JIT_OPTIONS_MAX + 5];
    void *values[PCU_JIT_OPTIONS_MAX + 5];
    char *info; /* owned; PCU_JIT_LOG_BYTES each */
    char *error;
} pcu_jit;

/* Read `options`: an iterable of pairs (jit_option, int), NULL or None. Call
 * pcu_jit_finish afterwards, also after an error. */
PCU_HIDDEN PCU_RAISES int pcu_jit_init(pcu_state *st, pcu_jit *jit, PyObject *options,
                                       bool verbose);
PCU_HIDDEN void pcu_jit_finish(pcu_jit *jit);

/* Call the handler (NULL or None: none) with success, info log and error log. Then
 * raise if the status is a failure, with the error log as detail. An exception of the
 * handler comes first. */
PCU_HIDDEN PCU_RAISES int pcu_jit_report(pcu_state *st, const pcu_jit *jit,
                                         PyObject *handler, const char *routine,
                                         CUresult status);

#endif
