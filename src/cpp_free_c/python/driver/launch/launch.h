/* Kernels: the Function, its parameters and arguments, and the ways to launch it.
 *
 * One header for the files of launch/ and for the callers of them. Each section names
 * its source.
 *
 * Invariant: each launch of a Function passes through pcu_launch_run or, if it has
 * attributes, pcu_launch_run_attributes. Both store changed texture references first.
 * Generated kernels of arrays have no Function: python/array/ops/kernel_launch.c
 * launches them. */
#ifndef PYTHON_DRIVER_LAUNCH_LAUNCH_H
#define PYTHON_DRIVER_LAUNCH_LAUNCH_H

#include "python/support/base.h"

#include "python/support/element_dtype.h"
#include "python/driver/graph_resources.h"

#include "driver/argument_buffer.h"
#include "driver/context_record.h"
#include "driver/events.h"

/* -- the struct of a Function ------------------------------------------------------ */

/* Whether a parameter is an integer for sure. pycuda/_parameter_types.py uses the
 * values of the two kinds. */
typedef enum {
    PCU_INTEGER_UNKNOWN, /* the declaration was not read */
    PCU_INTEGER_SIGNED,
    PCU_INTEGER_UNSIGNED,
    PCU_INTEGER_NONE
} pcu_param_integer;

/* The place of a kernel parameter in the parameter block, as the driver reports it, and
 * what may be passed for it. */
typedef struct {
    size_t offset;
    size_t size;
    unsigned int values;   /* the types of values that it takes: parameter_types.c */
    unsigned int elements; /* those of arrays whose address it takes */
    unsigned char integer; /* pcu_param_integer */
    bool is_pointer;       /* for sure */
} pcu_param;

/* One value of a prepared call: its format character and the place of its bytes. */
typedef struct {
    char code;
    size_t size;
    size_t align;
    size_t offset;
    long long low; /* the range of an integer */
    unsigned long long high;
    size_t padded; /* of 's': the size of the parameter, if it is larger; else 0 */
    bool cuts;     /* the format is longer, and PyCUDA's layout is right */
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

    bool described;       /* the next five members are set */
    int max_threads;      /* of a block, for this kernel */
    size_t static_shared; /* bytes */
    size_t max_dynamic;   /* bytes of dynamic shared memory that a launch may use */
    Py_ssize_t nparams;   /* -1: the driver does not report them */
    pcu_param *params;    /* owned */
    size_t params_size;   /* bytes of the whole parameter block */
    bool typed;           /* the types of the parameters were read */
    struct pcu_argument_sites *sites; /* owned; NULL before the first warning */

    pcu_prepared *prepared; /* counted reference; NULL before prepare() */
    PyObject *arg_format;   /* strong: the format of `prepared`, or NULL */
    PyObject *texrefs;      /* strong: a tuple, the texrefs of prepare(), or NULL */

    /* The threads of a block for `size=`, and the dynamic shared memory that they are
     * for; 0: not known. */
    int size_threads;
    unsigned int size_shared;

    /* The state of the launch calls in old_calls.c. */
    unsigned int old_block[3];
    unsigned int old_shared;
    unsigned char *old_params; /* owned */
    size_t old_params_size;
} pcu_function;

/* -- function.c -------------------------------------------------------------------- */

/* Wrap a kernel of the module. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_function_new(pcu_state *st, PyObject *module,
                                                 CUfunction handle, PyObject *name);

/* Read the limits and, from CUDA 12.4 on, the parameters of the kernel, unless they are
 * known. */
PCU_HIDDEN PCU_RAISES int pcu_function_describe(pcu_function *self);

/* Make the next pcu_function_describe read the limits again. Call it after an attribute
 * was set. */
PCU_HIDDEN void pcu_function_forget(pcu_function *self);

/* -- parameter_types.c: the types of a kernel's parameters ------------------------- */

/* Each parameter has two sets of element types, as bits: the types of values that may
 * be passed, and those of arrays whose address may be passed. A launch tests one bit in
 * place of the size, so it costs the same. Both sets are empty before the first launch
 * reads the declaration. A value in the first set has the size of the parameter. */

/* The bits beside those of pcu_type: of an address whose elements are not known, and of
 * the elements of NumPy's arrays of bytes and characters. */
enum { PCU_ARGUMENT_ADDRESS = PCU_T_NONE + 1, PCU_ARGUMENT_TEXT };

/* Whether an argument of this type may be passed: a value, or the address of elements.
 */
static inline bool
pcu_parameter_takes(const pcu_param *param, unsigned int type)
{
    return param->values >> type & 1u;
}

static inline bool
pcu_parameter_takes_elements(const pcu_param *param, unsigned int type)
{
    return param->elements >> type & 1u;
}

/* Whether the parameter may be an integer or an address. */
PCU_HIDDEN bool pcu_parameter_takes_integers(const pcu_param *param);

/* Read the types, once. The driver has reported the parameters before. */
PCU_HIDDEN PCU_RAISES int pcu_parameter_types_read(pcu_function *fn);

/* Read which parameters are integers for sure: pcu_param.integer. */
PCU_HIDDEN PCU_RAISES int pcu_parameter_integers_read(pcu_function *fn);

/* Whether a value of the dtype lacks nothing of a structure of `size` bytes but the
 * padding at its end: its fields lie where CUDA C puts them. */
PCU_HIDDEN bool pcu_record_lacks_tail(PyArray_Descr *dtype, size_t size);

/* pcu_argument_forgive for an argument of another size than its parameter. */
PCU_HIDDEN PCU_RAISES int pcu_argument_forgive_size(pcu_function *fn, Py_ssize_t index,
                                                    PyObject *arg, size_t size);

/* -- argument_report.c: wrong arguments -------------------------------------------- */

/* A call site that has warned is remembered, so the next calls from there cost little.
 */

/* Warn that argument `index` is of another type than its parameter. `arg` is the
 * argument, or the str of its format character. With PYCUDA_STRICT=1 raise TypeError.
 */
PCU_HIDDEN PCU_RAISES int pcu_argument_report(pcu_function *fn, Py_ssize_t index,
                                              PyObject *arg);

/* The same for a format character of prepare(). */
PCU_HIDDEN PCU_RAISES int pcu_argument_report_format(pcu_function *fn, Py_ssize_t index,
                                                     char code);

/* Warn that argument `index` is an array with gaps, unless another argument is one of
 * its strides: the kernel gets the address of the first element, and nothing else. */
PCU_HIDDEN PCU_RAISES int pcu_argument_report_strided(pcu_function *fn,
                                                      Py_ssize_t index,
                                                      PyObject *const *args,
                                                      Py_ssize_t nargs);

/* Raise an exception for an argument that cannot be passed. `format` says what is wrong
 * after the words "argument INDEX of KERNEL". What is known of the parameter is added.
 * Return -1. */
PCU_HIDDEN PCU_RAISES int pcu_argument_raise(pcu_function *fn, Py_ssize_t index,
                                             PyObject *arg, PyObject *error,
                                             const char *format, ...);

/* The same for an argument that PyCUDA passes, and that is right on a GPU if the kernel
 * does not use it: raise only if such mistakes are errors. Otherwise warn, and return
 * 0. The driver must report the parameters. */
PCU_HIDDEN PCU_RAISES int pcu_argument_forgive(pcu_function *fn, Py_ssize_t index,
                                               PyObject *arg, PyObject *error,
                                               const char *format, ...);

/* Forget the call sites of a function, when it is freed. */
PCU_HIDDEN void pcu_argument_sites_free(struct pcu_argument_sites *sites);

/* -- handlers.c: In, Out and InOut during a call ----------------------------------- */

/* Only objects whose type is exactly In, Out or InOut are used directly. The methods of
 * derived types are called. */

/* In, Out, InOut and the handlers that programs derive. */
typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *array;
    PyObject *dev_alloc; /* NULL until the first call */
    size_t room;         /* bytes of our allocation; 0 if the program set dev_alloc */
    int finishing; /* post_calls that copy now; not 0: do not replace the memory */
    bool is_taken; /* the program has asked for the memory, and may use it */
    PyObject *dict;
    PyObject *weakrefs;
} pcu_handler;

/* Return the handler's device memory, and its address in *pointer. Allocate it if there
 * is none. The call holds this reference and copies from it: other code may give the
 * handler other memory during the call. */
PCU_HIDDEN PyObject *pcu_handler_alloc_new(pcu_handler *self, CUdeviceptr *pointer);

/* Read the address that get_device_alloc() of a derived type returns. */
PCU_HIDDEN PCU_RAISES int pcu_handler_method_pointer(PyObject *op,
                                                     CUdeviceptr *pointer);

/* Do the work of pre_call and post_call for the handlers among the arguments. `memory`
 * is the result of pcu_arguments_pack, `stream` the argument of the call, `handle` the
 * stream of the launch. */
PCU_HIDDEN PCU_RAISES int pcu_handlers_before(pcu_state *st, PyObject *const *args,
                                              Py_ssize_t nargs, PyObject *const *memory,
                                              PyObject *stream);
PCU_HIDDEN PCU_RAISES int pcu_handlers_after(pcu_state *st, PyObject *const *args,
                                             Py_ssize_t nargs, PyObject *const *memory,
                                             PyObject *stream, CUstream handle);
/* Tell the software device, for its next launch, which arguments have memory that only
 * the kernel uses: those of In. NULL: none. */
PCU_HIDDEN void pcu_handlers_tell_inputs(pcu_state *st, PyObject *const *args,
                                         Py_ssize_t nargs, PyObject *const *memory);
PCU_HIDDEN void pcu_handlers_release(PyObject **memory, Py_ssize_t nargs);

/* -- tensor_map.c ------------------------------------------------------------------ */

enum { PCU_TENSOR_MAP_SIZE = 128, PCU_TENSOR_MAP_ALIGN = 64 };

/* The bytes of a TensorMap, NULL if the object is none; borrowed from it. */
PCU_HIDDEN const void *pcu_tensor_map_bytes(pcu_state *st, PyObject *op);

/* -- arguments.c: packing the arguments of an ordinary call ------------------------ */

/* Pack the arguments of a call. If any argument is an ArgumentHandler, *memory becomes
 * an array of nargs pointers, also on failure. It holds the device memory of the
 * arguments whose type is exactly In, Out or InOut, and NULL for the others. Release it
 * with pcu_handlers_release.
 *
 * An argument with __cuda_array_interface__ may name the stream that produces its data.
 * *stream then waits for that stream; if `stream` is NULL, the calling thread waits. */
PCU_HIDDEN PCU_RAISES int pcu_arguments_pack(pcu_function *self, PyObject *const *args,
                                             Py_ssize_t nargs, const CUstream *stream,
                                             pcu_argument_buffer *buffer,
                                             PyObject ***memory);

/* -- kept_arguments.c: the arguments that a graph must keep ------------------------ */

/* The object that keeps the memory of an argument alive; NULL for numbers. Borrowed. */
PCU_HIDDEN PCU_BORROWED PyObject *pcu_argument_memory(pcu_state *st, PyObject *arg);

/* Keep the arguments whose memory the record of the graph does not see: objects of
 * other libraries, textures. */
PCU_HIDDEN PCU_RAISES int pcu_arguments_keep(pcu_graph_resources *resources,
                                             PyObject *const *args, Py_ssize_t nargs);

/* The same for all active captures of the current context. */
PCU_HIDDEN PCU_RAISES int pcu_captured_arguments(pcu_state *st, PyObject *const *args,
                                                 Py_ssize_t nargs);

/* -- launch.c ---------------------------------------------------------------------- */

/* Check the shape against the limits of the device and the kernel, then launch.
 * `params` holds `size` bytes. */
PCU_HIDDEN PCU_RAISES int pcu_launch_run(pcu_function *self,
                                         const pcu_launch_shape *shape, void *params,
                                         size_t size);

/* Check the shape without launching. */
PCU_HIDDEN PCU_RAISES int pcu_launch_check(pcu_function *self,
                                           const pcu_launch_shape *shape);

/* Wait for the work of a stream of the current context; for all work of the context if
 * the stream is NULL. pcu_stream_synchronize differs: it accepts streams of other
 * contexts, and for NULL it waits for the work of the default stream only. */
PCU_HIDDEN PCU_RAISES int pcu_launch_synchronize(pcu_state *st, CUstream stream);

/* -- occupancy.c ------------------------------------------------------------------- */

/* The threads of a block of at most `limit` threads, 0 for the kernel's limit, with
 * which most threads of the device are busy, and how many such blocks fill it. */
PCU_HIDDEN PCU_RAISES int pcu_occupancy_suggest(pcu_function *self, size_t shared,
                                                int limit, int *threads, int *blocks);

/* -- launch_size.c: calls with `size` ---------------------------------------------- */

/* The name of a keyword by which a call with `size` also chooses its shape, NULL if
 * there is none. Borrowed. */
PCU_HIDDEN PCU_BORROWED PyObject *pcu_launch_shape_keyword(PyObject *kwnames);

/* Set block and grid of the shape, so that there is a thread for each element of
 * `size`: a number, or up to three, x last. The limits of the kernel and shape->shared
 * are known. */
PCU_HIDDEN PCU_RAISES int pcu_launch_cover(pcu_function *self, PyObject *size,
                                           pcu_launch_shape *shape);

/* -- launch_attributes.c: what a launch asks for beyond its shape ------------------ */

enum { PCU_LAUNCH_ATTRIBUTES_MAX = 24 };

/* Only `count` needs to be initialised. */
typedef struct {
    unsigned int count;
    CUlaunchAttribute items[PCU_LAUNCH_ATTRIBUTES_MAX];
} pcu_launch_attributes;

/* The value of an attribute in a list, NULL if the list does not have it. */
PCU_HIDDEN CUlaunchAttributeValue *pcu_launch_attribute_find(
    pcu_launch_attributes *list, unsigned int id);

/* Set an attribute, in place of an earlier value. `event` may be NULL; otherwise it
 * receives a borrowed reference to the Event in the value, if there is one. */
PCU_HIDDEN PCU_RAISES int pcu_launch_attribute_set(pcu_state *st,
                                                   pcu_launch_attributes *list,
                                                   unsigned int id, PyObject *value,
                                                   const char *name, PyObject **event);

/* The interned name that is equal to a name, NULL if it is none of these keywords. */
PCU_HIDDEN PCU_BORROWED PyObject *pcu_launch_keyword_name(pcu_state *st,
                                                          PyObject *name);

/* Read a keyword with an interned name. A keyword replaces the attribute of a
 * LaunchConfig, whichever comes first. Return 1 if the name is none of the keywords. */
PCU_HIDDEN PCU_RAISES int pcu_launch_keyword(pcu_state *st, pcu_launch_attributes *list,
                                             PyObject *name, PyObject *value);

/* Do the same as pcu_launch_run, with the attributes, by cuLaunchKernelEx. */
PCU_HIDDEN PCU_RAISES int pcu_launch_run_attributes(pcu_function *self,
                                                    const pcu_launch_shape *shape,
                                                    pcu_launch_attributes *attributes,
                                                    void *params, size_t size);

/* -- launch_config.c --------------------------------------------------------------- */

/* The attributes of a LaunchConfig, which keeps them. TypeError for other objects, and
 * LogicError if one of its events was released. */
PCU_HIDDEN PCU_RAISES const pcu_launch_attributes *pcu_launch_config_list(
    pcu_state *st, PyObject *config);

/* -- call.c ------------------------------------------------------------------------ */

/* Function.__call__. */
PCU_HIDDEN PyObject *pcu_call_function(PyObject *op, PyObject *const *args,
                                       size_t nargsf, PyObject *kwnames);

/* -- old_calls.c: the launch calls of CUDA before 4.0 ------------------------------ */

extern PCU_HIDDEN PyMethodDef pcu_old_call_methods[];

/* -- prepared_format.c: from arg_types to a list of values ------------------------- */

/* Make one format string of the argument of prepare(): a str, or an iterable of NumPy
 * types and dtypes. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_prepared_format_new(PyObject *arg_types);

/* Compile a format into *prepared. The caller releases it. */
PCU_HIDDEN PCU_RAISES int pcu_prepared_compile(pcu_function *self, PyObject *format,
                                               pcu_prepared **prepared);

/* Drop a reference to a compiled format. NULL is allowed. */
PCU_HIDDEN void pcu_prepared_release(pcu_prepared *plan);

/* -- prepared_values.c: packing the values of a prepared call ---------------------- */

/* Convert value i of a plan and write it to the parameter block. struct.error if it
 * does not fit. */
PCU_HIDDEN PCU_RAISES int pcu_prepared_put(pcu_function *self, const pcu_prepared *plan,
                                           Py_ssize_t i, PyObject *value,
                                           unsigned char *block);

/* Convert the values by the compiled format and write them to the parameter block.
 * struct.error for a wrong count and for a value that does not fit. */
PCU_HIDDEN PCU_RAISES int pcu_prepared_pack(pcu_function *self,
                                            const pcu_prepared *plan,
                                            PyObject *const *args, Py_ssize_t nargs,
                                            pcu_argument_buffer *buffer);

/* -- prepared_call.c --------------------------------------------------------------- */

#define PCU_PREPARED_METHOD(name)                                                 \
    PCU_HIDDEN PyObject *pcu_function_##name(PyObject *op, PyObject *const *args, \
                                             Py_ssize_t nargs, PyObject *kwnames)
PCU_PREPARED_METHOD(prepared_call);
PCU_PREPARED_METHOD(prepared_async_call);
PCU_PREPARED_METHOD(prepared_timed_call);
#undef PCU_PREPARED_METHOD

/* Set the argument types of prepared calls, and return the function. texrefs may be
 * NULL. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_function_prepare(PyObject *op, PyObject *arg_types,
                                                     PyObject *texrefs);

PCU_HIDDEN PyObject *pcu_function_get_arg_format(PyObject *op, void *closure);
PCU_HIDDEN int pcu_function_set_arg_format(PyObject *op, PyObject *format,
                                           void *closure);

#endif
