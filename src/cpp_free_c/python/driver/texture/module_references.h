/* The references of a module, for Module and for launches: get_texref, get_surfref, and
 * the check of texrefs=.
 *
 * Callers: module.c, call.c, prepared_call.c and function.c. */
#ifndef PYTHON_DRIVER_TEXTURE_MODULE_REFERENCES_H
#define PYTHON_DRIVER_TEXTURE_MODULE_REFERENCES_H

#include "python/support/base.h"

/* Check that texrefs is a sequence of texture and surface references. With `bound` also
 * check that each reference is bound. */
PCU_HIDDEN PCU_RAISES int pcu_module_references_check(pcu_state *st, PyObject *texrefs,
                                                      int bound);

/* Methods of Module: get_texref, get_surfref. */
extern PCU_HIDDEN PyMethodDef pcu_module_reference_methods[];

#endif
