/* The arguments that functions on arrays share: one struct, one vocabulary, and what is
 * read of the values.
 *
 * Callers: the files of this folder. */
#ifndef PYTHON_ARRAY_TYPE_ARGUMENTS_H
#define PYTHON_ARRAY_TYPE_ARGUMENTS_H

#include "python/array/element_type.h"
#include "python/driver/memory/pool.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"

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
    bool keepdims;
    bool include_initial;
} pcu_array_args;

/* The rows of a vocabulary for a struct whose member `shared` is a pcu_array_args. A
 * row before them with the same name is used instead. */
#define PCU_ARRAY_WORDS(struct_)                                            \
    PCU_WORD("a", pcu_as_array, struct_, shared.a),                         \
        PCU_WORD("b", pcu_as_array, struct_, shared.b),                     \
        PCU_WORD("inputs", pcu_as_object, struct_, shared.inputs),          \
        PCU_WORD("axis", pcu_as_object, struct_, shared.axis),              \
        PCU_WORD("out", pcu_as_object, struct_, shared.out),                \
        PCU_WORD("initial", pcu_as_object, struct_, shared.initial),        \
        PCU_WORD("where", pcu_as_object, struct_, shared.where),            \
        PCU_WORD("allocator", pcu_as_allocator, struct_, shared.allocator), \
        PCU_WORD("stream", pcu_as_stream, struct_, shared.stream),          \
        PCU_WORD("ddof", pcu_as_double, struct_, shared.ddof),              \
        PCU_WORD("op", pcu_as_int, struct_, shared.op),                     \
        PCU_WORD("dtype", pcu_as_type, struct_, shared.dtype),              \
        PCU_WORD("keepdims", pcu_as_bool, struct_, shared.keepdims),        \
        PCU_WORD("include_initial", pcu_as_bool, struct_, shared.include_initial)

/* The vocabulary of functions without arguments of their own. */
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
