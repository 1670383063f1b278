/* RegisteredMapping: the time in which CUDA may use an object of OpenGL.
 *
 * Callers: opengl_registration.c, for map(). */
#ifndef PYTHON_DRIVER_EXCHANGE_OPENGL_MAPPING_H
#define PYTHON_DRIVER_EXCHANGE_OPENGL_MAPPING_H

#include "python/support/base.h"

#include "python/driver/exchange/opengl.h"

/* Map a registration. `stream` is the Stream or other object that was given, `handle`
 * its handle. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_opengl_map_new(pcu_opengl_registration *self,
                                                   PyObject *stream, CUstream handle);

#endif
