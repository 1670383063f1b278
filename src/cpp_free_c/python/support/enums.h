/* The enumerations of abi/enums.h as Python classes.
 *
 * Invariant: see enums.c. Callers: any code in python/ that takes or returns members.
 */
#ifndef PYTHON_SUPPORT_ENUMS_H
#define PYTHON_SUPPORT_ENUMS_H

#include "python/support/base.h"

/* Convert an int, or a member of the enumeration `type`. Members of other enumerations
 * are TypeError. */
PCU_HIDDEN PCU_RAISES int pcu_enum_value(PyObject *type, PyObject *value,
                                         unsigned int *out, const char *name);

/* The member with this value, or an unnamed instance if there is none. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_enum_member_new(PyObject *type, long value);

#endif
