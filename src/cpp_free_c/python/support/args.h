/* The argument parser: one table for each function. */
#ifndef PYTHON_SUPPORT_ARGS_H
#define PYTHON_SUPPORT_ARGS_H

#include "python/support/base.h"

/* Convert value into *out; 0, or -1 with an exception that names the argument. Objects
 * are stored borrowed. */
typedef int (*pcu_converter)(pcu_state *st, PyObject *value, void *out,
                             const char *name);

/* Declares a converter. */
#define PCU_CONVERTER(name_)                                                   \
    PCU_HIDDEN PCU_RAISES int name_(pcu_state *st, PyObject *value, void *out, \
                                    const char *name)

typedef struct {
    const char *name;
    pcu_converter convert;
    size_t offset; /* of the converted value in the caller's struct */
} pcu_argspec;

/* The parameters of one function; the caller's struct holds the defaults beforehand. */
typedef struct {
    const char *function;
    const pcu_argspec *specs;
    int count;
    int required;
    int positional; /* the first this many take no keyword */
} pcu_argtable;

enum { PCU_ARGS_MAX = 12 };

PCU_HIDDEN PCU_RAISES int pcu_args_parse(pcu_state *st, const pcu_argtable *table,
                                         PyObject *const *args, Py_ssize_t nargs,
                                         PyObject *kwnames, void *out);

/* For tp_new and tp_init. */
PCU_HIDDEN PCU_RAISES int pcu_args_parse_tuple(pcu_state *st, const pcu_argtable *table,
                                               PyObject *args, PyObject *kwargs,
                                               void *out);

#endif
