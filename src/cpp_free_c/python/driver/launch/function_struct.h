/* The struct of a Function, which the files of the launch look into: a kernel, what the
 * driver says of it, and its prepared calls. */
#ifndef PYTHON_DRIVER_LAUNCH_FUNCTION_STRUCT_H
#define PYTHON_DRIVER_LAUNCH_FUNCTION_STRUCT_H

#include "python/support/base.h"

#include "driver/context_record.h"

/* A kernel parameter's place in the parameter block, as the driver says. */
typedef struct {
    size_t offset;
    size_t size;
    signed char integer; /* 1 signed, 2 unsigned, -1 no integer; 0: not asked yet */
} pcu_param;

/* One value of a prepared call: a format character and where its bytes go. */
typedef struct {
    char code;
    size_t size;
    size_t align;
    size_t offset;
    long long low; /* what an integer may be */
    unsigned long long high;
} pcu_prepared_arg;

/* What prepare() compiled. A call holds it while it packs: converting a value may run
 * code that prepares anew. The count changes under the interpreter lock. */
typedef struct {
    Py_ssize_t references;
    Py_ssize_t count;
    size_t size; /* bytes of the parameter block */
    pcu_prepared_arg items[];
} pcu_prepared;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    pcu_state *st;
    PyObject *module; /* strong: a loaded function keeps its code */
    PyObject *name;   /* str */
    PyObject *dict;
    PyObject *weakrefs;
    CUfunction handle;
    const pcu_ctxrec *ctx; /* the module's context, which module holds */

    int described;        /* the next five are known */
    int max_threads;      /* of a block, for this kernel */
    size_t static_shared; /* bytes */
    size_t max_dynamic;   /* bytes of dynamic shared memory a launch may ask */
    Py_ssize_t nparams;   /* -1: the driver cannot tell */
    pcu_param *params;    /* owned */
    size_t params_size;   /* bytes of the whole parameter block */

    pcu_prepared *prepared; /* counted reference; NULL before prepare() */
    PyObject *arg_format;   /* strong: the format of `prepared`, or NULL */
    PyObject *texrefs;      /* strong: the tuple that prepare() was given, or NULL */

    /* The launch state of the old param_*, launch_* calls. */
    unsigned int old_block[3];
    unsigned int old_shared;
    unsigned char *old_params; /* owned */
    size_t old_params_size;
} pcu_function;

#endif
