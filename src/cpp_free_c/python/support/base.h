/* The base of every file in python/: Python, NumPy, the contract macros and the
 * module's state.
 *
 * Invariant: Python.h is included before any other system header, so this header is the
 * first include of a file, directly or through another header. */
#ifndef PYTHON_SUPPORT_BASE_H
#define PYTHON_SUPPORT_BASE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "python/support/compat.h"

/* The extension has one table of NumPy's functions, which module.c fills. */
#define PY_ARRAY_UNIQUE_SYMBOL pcu_numpy_api
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#ifndef PCU_IMPORT_NUMPY
#    define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include "driver/table.h"

/* Contracts of prototypes, for readers. They expand to nothing. */
#define PCU_NEWREF    /* returns a new reference, or NULL with an exception */
#define PCU_BORROWED  /* returns a borrowed reference */
#define PCU_STEALS(n) /* takes over the reference in argument n, also on failure */
#define PCU_RAISES    /* NULL, or -1, means that an exception is set */

#include "python/support/state.h"

#endif
