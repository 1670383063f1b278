/* The argument parser. The text signature of a function is its only description.
 *
 * PCU_SIGNATURE defines the docstring of a function, which begins with the text
 * signature, and a record of it. The names of the parameters are looked up in a
 * vocabulary: the converter and the place of each name that a family of functions uses.
 * When the module starts, pcu_args_setup reads all texts; a text that it cannot read
 * and a name that the vocabulary lacks are a SystemError.
 *
 * Invariant: a parameter that was not given leaves the caller's struct unchanged, so
 * the caller stores the defaults before. Converters run from left to right, after all
 * values were assigned to parameters. Records are written once, when the module starts
 * first, and stay until the process ends. Callers: every function of Python in python/.
 */
#ifndef PYTHON_SUPPORT_ARGS_H
#define PYTHON_SUPPORT_ARGS_H

#include "python/support/base.h"

/* Convert value to *out. Return 0, or -1 with an exception that names the argument.
 * References are stored borrowed unless the converter says otherwise. */
typedef int (*pcu_converter)(pcu_state *st, PyObject *value, void *out,
                             const char *name);

/* Declare a converter and the type that it stores. */
#define PCU_CONVERTER(name_, type_)                                            \
    typedef type_ name_##_stores;                                              \
    PCU_HIDDEN PCU_RAISES int name_(pcu_state *st, PyObject *value, void *out, \
                                    const char *name)

/* A name of a vocabulary, which is an array of them. */
typedef struct {
    const char *name;
    pcu_converter convert;
    size_t offset; /* of the converted value in the caller's struct */
} pcu_word;

/* A row of a vocabulary. It compiles only if the member has the type that the converter
 * stores. Functions with one parameter may do without a struct: the row of the name is
 * then {name, convert, 0}, and nothing checks the type of the caller's variable. */
#define PCU_WORD(name, convert, struct_, member)                     \
    {                                                                \
        name, convert,                                               \
            offsetof(struct_, member) +                              \
                _Generic(&((struct_ *)0)->member, convert##_stores * \
                         : (size_t)0)                                \
    }

/* The vocabulary of a function whose signature has no parameters. */
extern PCU_HIDDEN const pcu_word pcu_no_words[1];

typedef struct {
    PyObject *name; /* interned */
    const char *text;
    pcu_converter convert;
    size_t offset;
} pcu_parameter;

enum { PCU_ARGS_MAX = 16 };

/* The signature of one function. */
typedef struct pcu_signature {
    const char *doc; /* "name($self, a, /, b=None, *, c=None)\n--\n\n..." */
    const pcu_word *words;
    size_t words_count;
    const pcu_parameter *parameters;
    const char *function;
    int count;
    int required;
    int positional_only; /* parameters that cannot be keywords: the first ones */
    int places;          /* parameters that can be positional: the first ones */
    struct pcu_signature *next;
} pcu_signature;

/* Define name_doc, a docstring, and name_signature, the record of its text signature.
 */
#define PCU_SIGNATURE(name, words_, text)                                            \
    static const char name##_doc[] = text;                                           \
    static pcu_signature name##_signature = {                                        \
        .doc = name##_doc, .words = words_, .words_count = Py_ARRAY_LENGTH(words_)}; \
    __attribute__((constructor)) static void name##_add_signature(void)              \
    {                                                                                \
        pcu_signature_add(&name##_signature);                                        \
    }

/* The row of such a function in a table of methods. */
#define PCU_METHOD(name, function)                                                  \
    {                                                                               \
        name, (PyCFunction)(void (*)(void))function, METH_FASTCALL | METH_KEYWORDS, \
            function##_doc                                                          \
    }

/* Add a record to those that pcu_args_setup reads. The loader calls it. */
PCU_HIDDEN void pcu_signature_add(pcu_signature *signature);

/* Parse the arguments of a vectorcall into the struct at `out`. */
PCU_HIDDEN PCU_RAISES int pcu_args_parse(pcu_state *st, const pcu_signature *signature,
                                         PyObject *const *args, Py_ssize_t nargs,
                                         PyObject *kwnames, void *out);

/* The same with a tuple and a dictionary, for tp_new and tp_init. */
PCU_HIDDEN PCU_RAISES int pcu_args_parse_tuple(pcu_state *st,
                                               const pcu_signature *signature,
                                               PyObject *args, PyObject *kwargs,
                                               void *out);

#endif
