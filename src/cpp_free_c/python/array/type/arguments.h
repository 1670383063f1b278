/* The arguments that functions on arrays share: one struct, one vocabulary, and what is
 * read of the values.
 *
 * Callers: the files of this folder. */
#ifndef PYTHON_ARRAY_TYPE_ARGUMENTS_H
#define PYTHON_ARRAY_TYPE_ARGUMENTS_H

#include "python/array/element_type.h"
#include "python/support/args.h"

/* Objects are borrowed. */
typedef struct {
    PyObject *a;
    PyObject *b;
    PyObject *inputs;
    PyObject *axis;
    PyObject *out;
    PyObject *initial;
    PyObject *where;
    PyObject *allocator;
    CUstream stream;
    double ddof;
    int op;
    int dtype; /* pcu_type; NONE: not given */
    bool keepdims;
    bool include_initial;
} pcu_array_args;

/* The vocabulary: the names of the members. */
extern PCU_HIDDEN const pcu_word pcu_array_words[14];

/* What functions do without arguments: None, and the current stream. */
PCU_HIDDEN pcu_array_args pcu_array_defaults(void);

/* An argument as an array that is initialised. TypeError names the function, and
 * says how to copy an array of NumPy to the device. */
PCU_HIDDEN PCU_RAISES int pcu_array_argument(pcu_state *st, const char *function,
                                             PyObject *value, pcu_gpuarray **array);

#endif
