/* Making types while the module is set up: their methods and properties. */
#ifndef PYTHON_SUPPORT_TYPE_H
#define PYTHON_SUPPORT_TYPE_H

#include "python/support/base.h"

/* Make a type from a spec, keep it in *slot, add it to the module under its short name.
 */
PCU_HIDDEN PCU_RAISES int pcu_add_type(PyObject *m, PyTypeObject **slot,
                                       PyType_Spec *spec, PyObject *bases);

/* Give a type, while it is set up, the methods that another file defines. */
PCU_HIDDEN PCU_RAISES int pcu_add_methods(PyTypeObject *type, PyMethodDef *methods);

/* Properties named after the rows of a table, in lower case; the getter's closure is
 * the value. A program may assign one: the object then has that value until it is
 * deleted.
 */
typedef struct {
    const char *name;
    long value;
} pcu_property;

PCU_HIDDEN PCU_RAISES int pcu_add_properties(pcu_state *st, PyTypeObject *type,
                                             const pcu_property *rows, size_t count,
                                             getter get);

/* Free what pcu_add_properties has allocated. */
PCU_HIDDEN void pcu_free_properties(pcu_state *st);

#endif
