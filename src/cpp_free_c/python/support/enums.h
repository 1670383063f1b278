/* The enumerations of abi/enums.h as Python classes. */
#ifndef PYTHON_SUPPORT_ENUMS_H
#define PYTHON_SUPPORT_ENUMS_H

#include "python/support/base.h"

/* An int, or a member of the enumeration `type`; members of others are TypeError. */
PCU_HIDDEN PCU_RAISES int pcu_enum_value(PyObject *type, PyObject *value,
                                         unsigned int *out, const char *name);

/* The member for a value; an unnamed instance if there is none. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_enum_member_new(PyObject *type, long value);

#endif
