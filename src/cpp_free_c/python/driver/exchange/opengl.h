/* The rules and the common parts of the files about OpenGL.
 *
 * Registering makes an object of OpenGL known to CUDA. Between map and unmap CUDA may
 * use the object and OpenGL may not. A mapping holds its registration, and the arrays
 * of a mapping hold the mapping: nothing that is in use is unmapped or unregistered. An
 * explicit unregister() of a mapped object is refused. An explicit unmap() makes the
 * arrays unusable.
 *
 * Invariant: the driver requires all calls, the release too, in the thread where the
 * context of OpenGL is current. Callers: the opengl_*.c files. */
#ifndef PYTHON_DRIVER_EXCHANGE_OPENGL_H
#define PYTHON_DRIVER_EXCHANGE_OPENGL_H

#include "python/support/base.h"

#include "python/driver/resource.h"

typedef struct {
    pcu_resource base; /* handle.graphics */
    GLuint name;
    bool mapped; /* a live mapping uses it */
} pcu_opengl_registration;

/* Warn that a function or type belongs to the interface before CUDA 3. */
PCU_HIDDEN PCU_RAISES int pcu_opengl_warn_deprecated(const char *what,
                                                     const char *instead);

/* What such functions and types warn. */
#define PCU_OPENGL_DOC_DEPRECATED \
    "DeprecationWarning\n"        \
    "    Always.\n"

/* The attribute table of all types: __dict__. */
extern PCU_HIDDEN PyGetSetDef pcu_opengl_getset[];

/* -- opengl_mapping.c -------------------------------------------------------------- */

/* Map a registration. `stream` is the Stream or other object that was given, `handle`
 * its handle. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_opengl_map_new(pcu_opengl_registration *self,
                                                   PyObject *stream, CUstream handle);

#endif
