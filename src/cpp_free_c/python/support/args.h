/* The argument parser: one table for each function.
 *
 * Invariant: a parameter that was not given leaves the caller's struct unchanged, so
 * the caller stores the defaults before. Converters run from left to right, after all
 * values were assigned to parameters. Callers: every function of Python in python/. */
#ifndef PYTHON_SUPPORT_ARGS_H
#define PYTHON_SUPPORT_ARGS_H

#include "python/support/base.h"

/* Convert value to *out. Return 0, or -1 with an exception that names the argument.
 * References are stored borrowed unless the converter says otherwise. */
typedef int (*pcu_converter)(pcu_state *st, PyObject *value, void *out,
                             const char *name);

/* Declare a converter. */
#define PCU_CONVERTER(name_)                                                   \
    PCU_HIDDEN PCU_RAISES int name_(pcu_state *st, PyObject *value, void *out, \
                                    const char *name)

typedef struct {
    const char *name;
    pcu_converter convert;
    size_t offset; /* of the converted value in the caller's struct */
} pcu_argspec;

/* The parameters of one function. */
typedef struct {
    const char *function;
    const pcu_argspec *specs;
    int count;
    int required;
    int positional; /* the number of leading positional-only parameters */
} pcu_argtable;

enum { PCU_ARGS_MAX = 16 };

/* Parse the arguments of a vectorcall into the struct at `out`. */
PCU_HIDDEN PCU_RAISES int pcu_args_parse(pcu_state *st, const pcu_argtable *table,
                                         PyObject *const *args, Py_ssize_t nargs,
                                         PyObject *kwnames, void *out);

/* The same with a tuple and a dictionary, for tp_new and tp_init. */
PCU_HIDDEN PCU_RAISES int pcu_args_parse_tuple(pcu_state *st, const pcu_argtable *table,
                                               PyObject *args, PyObject *kwargs,
                                               void *out);

#endif
