/* The struct of a Module.
 *
 * Callers: module.c, the references of texture/, and launch.c. */
#ifndef PYTHON_DRIVER_MODULE_STRUCT_H
#define PYTHON_DRIVER_MODULE_STRUCT_H

#include "python/support/base.h"

#include "python/driver/resource.h"

struct pcu_reference_store;

typedef struct {
    pcu_resource base;
    struct pcu_reference_store *references; /* owned; NULL before the first use */
    PyObject *owner; /* keeps a foreign module loaded; never in tp_clear */
    PyObject
        *entries; /* str: the kernels' declarations in PTX; NULL if none is known */
    int foreign;  /* another library unloads it */
} pcu_module;

#endif
