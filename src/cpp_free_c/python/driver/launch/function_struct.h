/* The struct of a Function: a kernel, its description by the driver, and the compiled
 * format of its prepared calls.
 *
 * Callers: the files of launch/. */
#ifndef PYTHON_DRIVER_LAUNCH_FUNCTION_STRUCT_H
#define PYTHON_DRIVER_LAUNCH_FUNCTION_STRUCT_H

#include "python/support/base.h"

#include "driver/context_record.h"

/* The place of a kernel parameter in the parameter block, as the driver reports it, and
 * what may be passed for it. */
typedef struct {
    size_t offset;
    size_t size;
    unsigned int values;      /* the types of values that it takes: parameter_types.h */
    unsigned int elements;    /* those of arrays whose address it takes */
    signed char integer;      /* 1 signed, 2 unsigned, -1 no integer; 0 not known */
    unsigned char is_pointer; /* 1: for sure */
} pcu_param;

/* One value of a prepared call: its format character and the place of its bytes. */
typedef struct {
    char code;
    size_t size;
    size_t align;
    size_t offset;
    long long low; /* the range of an integer */
    unsigned long long high;
    bool cuts;             /* the format is longer, and PyCUDA's layout is right */
    unsigned int elements; /* of 'P': the types of arrays whose address it takes */
} pcu_prepared_arg;

/* A compiled format. A call holds a reference while it packs, because converting a
 * value may run code that calls prepare(). The count changes under the interpreter
 * lock. */
typedef struct {
    Py_ssize_t references;
    Py_ssize_t count;
    size_t size; /* bytes of the parameter block */
    pcu_prepared_arg items[];
} pcu_prepared;

struct pcu_argument_sites;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    pcu_state *st;
    PyObject *module;      /* strong: the module owns the code */
    PyObject *name;        /* str, as the program gave it */
    PyObject *launch_name; /* borrowed: see pcu_launch_name_keep */
    PyObject *dict;
    PyObject *weakrefs;
    CUfunction handle;
    pcu_context_record *ctx; /* the module's context; the module holds it */

    int described;        /* 1 if the next five members are set */
    int max_threads;      /* of a block, for this kernel */
    size_t static_shared; /* bytes */
    size_t max_dynamic;   /* bytes of dynamic shared memory that a launch may use */
    Py_ssize_t nparams;   /* -1: the driver does not report them */
    pcu_param *params;    /* owned */
    size_t params_size;   /* bytes of the whole parameter block */
    int typed;            /* 1 if the types of the parameters were read */
    struct pcu_argument_sites *sites; /* owned; NULL before the first warning */

    pcu_prepared *prepared; /* counted reference; NULL before prepare() */
    PyObject *arg_format;   /* strong: the format of `prepared`, or NULL */
    PyObject *texrefs;      /* strong: a tuple, the texrefs of prepare(), or NULL */

    /* The state of the launch calls in old_calls.c. */
    unsigned int old_block[3];
    unsigned int old_shared;
    unsigned char *old_params; /* owned */
    size_t old_params_size;
} pcu_function;

#endif
