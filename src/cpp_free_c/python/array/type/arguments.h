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
    pcu_gpuarray *a;
    pcu_gpuarray *b;
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
    int keepdims;
    int include_initial;
} pcu_array_args;

/* The vocabulary: the names of the members. */
extern PCU_HIDDEN const pcu_word pcu_array_words[14];

/* What functions do without arguments: None, and the current stream. */
PCU_HIDDEN pcu_array_args pcu_array_defaults(void);

/* An array that is initialised; and one or None, which is NULL. Borrowed. */
PCU_CONVERTER(pcu_as_array, pcu_gpuarray *);
PCU_CONVERTER(pcu_as_optional_array, pcu_gpuarray *);

/* The same for a value that is no argument: an item of a tuple. */
PCU_HIDDEN PCU_RAISES int pcu_array_argument(pcu_state *st, const char *function,
                                             PyObject *value, pcu_gpuarray **array);

#endif
