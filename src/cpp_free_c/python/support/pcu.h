/* First include of every file in python/: Python, NumPy, the contract macros, the driver
 * table. */
#ifndef PYTHON_SUPPORT_PCU_H
#define PYTHON_SUPPORT_PCU_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "python/support/compat.h"

/* One table of NumPy's functions for the whole extension; module.c fills it. */
#define PY_ARRAY_UNIQUE_SYMBOL pcu_numpy_api
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#ifndef PCU_IMPORT_NUMPY
#    define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include "driver/table.h"
#include "driver/status.h"
#include "driver/context_record.h"
#include "driver/release.h"
#include "driver/shape.h"

/* Contracts of prototypes, for the reader. */
#define PCU_NEWREF    /* returns a new reference, or NULL with an exception */
#define PCU_BORROWED  /* returns a borrowed reference */
#define PCU_STEALS(n) /* takes over the reference in argument n, also on failure */
#define PCU_RAISES    /* NULL, or -1, means that an exception is set */

#include "python/support/state.h"
#include "python/support/types.h"

/* Release and retake the interpreter lock around a call of the driver that may wait. */
static inline PyThreadState *
pcu_unlock(void)
{
    pcu_calls_waiting++;
    return PyEval_SaveThread();
}

static inline void
pcu_lock(PyThreadState *thread)
{
    PyEval_RestoreThread(thread);
    pcu_calls_waiting--;
}

/* 1 if the lock has to be released around a call with that entry in the table, which is
 * a constant. Calls that take a place in a queue are counted. */
static inline int
pcu_must_unlock(int blocking)
{
    int full = (blocking == PCU_BLOCKING_QUEUE || blocking == PCU_BLOCKING_COPY) &&
               pcu_queue_may_be_full();
    return full || blocking >= PCU_BLOCKING_COPY ||
           (blocking != PCU_BLOCKING_GIL && pcu_calls_waiting != 0);
}

/* Call the driver. The row of the function decides whether the interpreter lock is
 * released meanwhile: all calls of rows other than GIL are made by this macro.
 */
#define PCU_STATUS(status, name, args)                 \
    do {                                               \
        if (pcu_must_unlock(PCU_WAITS_##name)) {       \
            PyThreadState *pcu_thread_ = pcu_unlock(); \
            (status) = drv.name args;                  \
            pcu_lock(pcu_thread_);                     \
        }                                              \
        else {                                         \
            (status) = drv.name args;                  \
        }                                              \
    } while (0)

/* The same, and raise the exception of the code on failure. rc becomes 0 or -1. */
#define PCU_CALL(rc, st, name, args)                                                   \
    do {                                                                               \
        CUresult pcu_status_;                                                          \
        PCU_STATUS(pcu_status_, name, args);                                           \
        (rc) = pcu_status_ == CUDA_SUCCESS ? 0                                         \
                                           : pcu_raise((st), "cu" #name, pcu_status_); \
    } while (0)

/* The same for a call that depends on the current context: not inside of a scope. */
#define PCU_CALL_CURRENT(rc, st, name, args)       \
    do {                                           \
        if (((rc) = pcu_context_ready(st)) == 0) { \
            PCU_CALL(rc, st, name, args);          \
        }                                          \
    } while (0)

/* -- errors.c ---------------------------------------------------------------------- */

/* Raise the exception of a driver status: "<routine> failed: <text>". Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_raise(pcu_state *st, const char *routine,
                                    CUresult status);

/* The same with " - <detail>"; detail is a PyUnicode_FromFormat format. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_raise_detail(pcu_state *st, const char *routine,
                                           CUresult status, const char *detail, ...);

/* Say that a clean-up call failed: a PyCUDAWarning with call and handle; never raises.
 */
PCU_HIDDEN void pcu_report_cleanup(pcu_state *st, const char *routine, uintptr_t handle,
                                   CUresult status);

/* -- interrupt.c ------------------------------------------------------------------- */

/* Raise what a signal handler raised during the call that returned the status: 1, or 0
 * if no handler did. */
PCU_HIDDEN int pcu_interrupt_raise(CUresult status);

/* Run the handlers of signals that have come. 1 if one raised: end the call with
 * CUDA_ERROR_TIMEOUT, for which pcu_interrupt_raise raises the exception. If none does,
 * the exception is raised as soon as Python code runs. */
PCU_HIDDEN int pcu_interrupt_check(void);

/* Let the software device, if that is the driver, run signal handlers. */
PCU_HIDDEN PCU_RAISES int pcu_interrupt_setup(void);

/* -- range.c ---------------------------------------------------------------------- */

/* Device memory that a copy or a fill reads or writes: bytes from an address on. */
typedef struct {
    const char *name; /* of the parameter */
    CUdeviceptr start;
    size_t bytes; /* 0: the copy has no such side */
} pcu_range;

/* A copy or a fill failed with that status. If a range lies in no allocation, or ends
 * behind one, raise that with the sizes; otherwise 0. */
PCU_HIDDEN PCU_RAISES int pcu_ranges_check(pcu_state *st, const char *routine,
                                           CUresult status, const pcu_range *ranges,
                                           int count);

/* The same, and raise the plain failure where nothing can be said. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_raise_ranges(pcu_state *st, const char *routine,
                                           CUresult status, const pcu_range *ranges,
                                           int count);

/* PCU_CALL_CURRENT for a copy or a fill; the device memory that it accesses follows. */
#define PCU_CALL_ON(rc, st, name, args, ...)                                    \
    do {                                                                        \
        CUresult pcu_copied_ = CUDA_SUCCESS;                                    \
        (rc) = pcu_context_ready(st);                                           \
        if ((rc) == 0) {                                                        \
            PCU_STATUS(pcu_copied_, name, args);                                \
        }                                                                       \
        if (pcu_copied_ != CUDA_SUCCESS) {                                      \
            const pcu_range pcu_ranges_[] = {__VA_ARGS__};                      \
            (rc) = pcu_raise_ranges((st), "cu" #name, pcu_copied_, pcu_ranges_, \
                                    (int)Py_ARRAY_LENGTH(pcu_ranges_));         \
        }                                                                       \
    } while (0)

/* Wait for all work of the current context. */
PCU_HIDDEN PCU_RAISES int pcu_synchronize(pcu_state *st);
/* -- ctxstack.c -------------------------------------------------------------------- */

/* Make the context that this thread works in the driver's current one: the top of its
 * stack, else the context that pycuda.autoinit lends. Leaves the driver alone if there
 * is neither. */
PCU_HIDDEN PCU_RAISES int pcu_context_settle(pcu_state *st);

/* The same at the price of one look where nothing has to be done. */
static inline PCU_RAISES int
pcu_context_ready(pcu_state *st)
{
    CUcontext current = NULL;
    if (pcu_ctx_current != NULL && pcu_ctx_current->alive) {
        CUresult status = drv.CtxGetCurrent(&current);
        if (status == CUDA_SUCCESS && current == pcu_ctx_current->handle) {
            return 0;
        }
        if (status != CUDA_SUCCESS && pcu_drv_info.state == PCU_DRV_READY) {
            return pcu_raise(st, "cuCtxGetCurrent", status);
        }
    }
    return pcu_context_settle(st);
}

/* 1 if a call failed with this status because the driver's current context was not this
 * thread's, which it is now: call again. Never raises. For calls that are too frequent
 * for pcu_context_ready and fail in the wrong context. */
PCU_HIDDEN int pcu_context_repair(pcu_state *st, CUresult status);

/* -- args.c ------------------------------------------------------------------------ */

/* Convert value into *out; 0, or -1 with an exception that names the argument. Objects
 * are stored borrowed. */
typedef int (*pcu_converter)(pcu_state *st, PyObject *value, void *out,
                             const char *name);

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

/* -- convert.c: converters and their relatives ------------------------------------- */

#define PCU_CONVERTER(name_)                                                   \
    PCU_HIDDEN PCU_RAISES int name_(pcu_state *st, PyObject *value, void *out, \
                                    const char *name)

PCU_CONVERTER(pcu_as_object);  /* PyObject *, as it is */
PCU_CONVERTER(pcu_as_int);     /* int */
PCU_CONVERTER(pcu_as_uint);    /* unsigned int: any __index__ */
PCU_CONVERTER(pcu_as_uint8);   /* unsigned char */
PCU_CONVERTER(pcu_as_uint16);  /* unsigned short */
PCU_CONVERTER(pcu_as_size);    /* size_t: any __index__ */
PCU_CONVERTER(pcu_as_pointer); /* CUdeviceptr: int, allocation, pointer holder, ... */
/* CUstream: a Stream, an object with __cuda_stream__, or None, which is the current
 * stream. A parameter of this kind that was not given is the current stream too. */
PCU_CONVERTER(pcu_as_stream);
PCU_CONVERTER(pcu_as_context);         /* PyObject *: a Context */
PCU_CONVERTER(pcu_as_context_or_none); /* the same; untouched for None */
PCU_CONVERTER(pcu_as_bool);            /* int */
PCU_CONVERTER(pcu_as_dtype);           /* PyArray_Descr *: NEW reference */
PCU_CONVERTER(pcu_as_order);           /* NPY_ORDER: "C" or "F" */

/* Any integer (int, numpy integer, enum member, __index__) between low and high, else
 * OverflowError or TypeError naming `name`. */
PCU_HIDDEN PCU_RAISES int pcu_as_integer(PyObject *value, long long low,
                                         unsigned long long high,
                                         unsigned long long *out, const char *name);

/* 1 if the value has __index__ and is not an array with axes. */
PCU_HIDDEN int pcu_is_one_integer(PyObject *value);

/* An address: an integer, or anything else (no float) with __int__. */
PCU_HIDDEN PCU_RAISES int pcu_as_address(PyObject *value, CUdeviceptr *out,
                                         const char *name);

/* An attribute; NULL without an exception if the object does not have it. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_attribute_new(PyObject *object, PyObject *name);

/* The UTF-8 text of a str without null characters; borrowed from it. */
PCU_HIDDEN PCU_RAISES const char *pcu_as_name(PyObject *value, const char *name);

/* The bytes of a path: str, bytes or os.PathLike. */
PCU_HIDDEN PyObject *pcu_as_path_new(PyObject *value, const char *name);

/* A block or grid: an int or a sequence of 1 to 3 of them; missing dimensions are 1. */
PCU_HIDDEN PCU_RAISES int pcu_as_dims(pcu_state *st, PyObject *value,
                                      unsigned int dims[3], const char *name);

/* A shape: an int or an iterable of them. At most PCU_MAX_NDIM. */
typedef struct {
    int ndim;
    npy_intp dims[PCU_MAX_NDIM];
} pcu_shape;
PCU_CONVERTER(pcu_as_shape); /* pcu_shape */
/* An allocator of arrays, a borrowed PyObject *: None, a DeviceMemoryPool, or what can
 * be called. TypeError for all else. */
PCU_CONVERTER(pcu_as_allocator);

/* 0 if the elements mean on the device what they mean in the program; TypeError with a
 * hint for numbers in the byte order of other machines, and for masked arrays. */
PCU_HIDDEN PCU_RAISES int pcu_array_check_meaning(PyArrayObject *array,
                                                  const char *name);

/* The same for a dtype. */
PCU_HIDDEN PCU_RAISES int pcu_dtype_check_meaning(PyArray_Descr *dtype,
                                                  const char *name);

/* Raise TypeError for a dtype that holds Python objects. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_refuse_objects(PyArray_Descr *dtype, const char *name);

/* Contiguous memory of an array or of any buffer; held until pcu_buffer_release. */
typedef struct {
    void *data;
    size_t size;
    PyObject *array; /* strong, if the memory is an array's */
    int held;        /* view owns a reference */
    Py_buffer view;
} pcu_buffer;

PCU_HIDDEN PCU_RAISES int pcu_buffer_acquire(pcu_buffer *buffer, PyObject *object,
                                             int writable, const char *name);

PCU_HIDDEN void pcu_buffer_release(pcu_buffer *buffer);

/* -- enums.c ----------------------------------------------------------------------- */

/* An int, or a member of the enumeration `type`; members of others are TypeError. */
PCU_HIDDEN PCU_RAISES int pcu_enum_value(PyObject *type, PyObject *value,
                                         unsigned int *out, const char *name);

/* The member for a value; an unnamed instance if there is none. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_enum_member_new(PyObject *type, long value);

/* -- resource.c: what every wrapper of a driver handle does alike ------------------ */

/* Wrap a fresh handle; on failure the handle is released. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_resource_new(pcu_state *st, PyTypeObject *type,
                                                 PyObject *ctx, pcu_res_kind kind,
                                                 pcu_res_handle handle);

/* tp_new of constructible types: an object without a handle. Their tp_init creates one
 * and lets the object adopt it, which cannot fail. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_resource_blank_new(PyTypeObject *type,
                                                       PyObject *args,
                                                       PyObject *kwargs);
PCU_HIDDEN void pcu_resource_adopt(pcu_resource *self, PyObject *ctx, pcu_res_kind kind,
                                   pcu_res_handle handle);

/* Say how many bytes the memory at the handle has. Returns self, which may be NULL. */
PCU_HIDDEN PyObject *pcu_resource_with_size(PyObject *self, size_t size);

/* Release a handle in its context. This function makes every release: it gives the
 * interpreter lock back where the driver's call may wait for the device, so other
 * threads run meanwhile. The caller first takes the handle away from where they could
 * find it, and reads nothing borrowed afterwards.
 *
 * On failure *routine names the call; *ended says whether the handle is gone. */
PCU_HIDDEN CUresult pcu_release_handle(pcu_res_kind kind, pcu_res_handle handle,
                                       PyObject *ctx, const char **routine, int *ended);

/* The same for handles that no caller can release later: they count as gone, and a
 * failure is a warning. */
PCU_HIDDEN void pcu_release_noraise(pcu_state *st, pcu_res_kind kind,
                                    pcu_res_handle handle, PyObject *ctx);

/* Unmap a graphics resource, likewise. */
PCU_HIDDEN CUresult pcu_release_mapping(CUgraphicsResource resource, CUstream stream,
                                        PyObject *ctx, const char **routine,
                                        int *ended);

/* Explicit release: raises LogicError (invalid handle) the second time. After a failure
 * the handle is live as before, and may be released again. */
PCU_HIDDEN PCU_RAISES int pcu_resource_free(pcu_resource *self);

/* pcu_resource_check, off the fast path. */
PCU_HIDDEN PCU_RAISES int pcu_resource_check_slow(pcu_resource *self,
                                                  const char *routine);

PCU_HIDDEN int pcu_resource_traverse(PyObject *op, visitproc visit, void *arg);
PCU_HIDDEN int pcu_resource_clear(PyObject *op);
PCU_HIDDEN void pcu_resource_dealloc(PyObject *op);

extern PCU_HIDDEN PyMemberDef pcu_resource_members[];

/* -- context.c --------------------------------------------------------------------- */

/* The context new objects belong to: the top of this thread's stack, or a wrapper of
 * the context another library made current. LogicError naming routine if there is
 * neither. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_context_require(pcu_state *st, const char *routine);

/* The context of a handle, ours or somebody else's. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_context_find_new(pcu_state *st, CUcontext handle);

/* The handle of a Context that is alive, else LogicError naming routine and argument.
 */
PCU_HIDDEN PCU_RAISES CUcontext pcu_context_handle(pcu_state *st, PyObject *ctx,
                                                   const char *routine,
                                                   const char *name);

static inline const pcu_ctxrec *
pcu_context_rec(PyObject *ctx)
{
    return &((pcu_context *)ctx)->rec;
}

/* 0 if the driver may be given the handle, else LogicError naming routine: a real
 * driver may crash on the handles of a context that was destroyed. */
static inline PCU_RAISES int
pcu_resource_check(pcu_resource *self, const char *routine)
{
    return self->live && pcu_context_rec(self->ctx)->alive
               ? 0
               : pcu_resource_check_slow(self, routine);
}

/* 0 unless the object is device memory of ours that was released, or whose context was:
 * its address may be somebody else's by now. */
PCU_HIDDEN PCU_RAISES int pcu_memory_check(pcu_state *st, PyObject *value,
                                           const char *routine);

/* Make (owned) or retain (primary) a context of the device; device.c calls these. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_context_make(pcu_state *st, CUdevice device,
                                                 unsigned int flags);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_context_make_gl(pcu_state *st, CUdevice device,
                                                    unsigned int flags);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_context_retain_primary(pcu_state *st,
                                                           CUdevice device);

/* -- stream.c ---------------------------------------------------------------------- */

/* The stream of the innermost `with stream:` of this thread, NULL outside of any. For
 * pcu_current_stream. */
extern PCU_HIDDEN PCU_THREAD pcu_resource *pcu_stream_top;

/* The current Stream; NULL if the default stream is current. Never raises. */
PCU_HIDDEN PCU_BORROWED pcu_resource *pcu_stream_find_borrow(void);
PCU_HIDDEN CUstream pcu_stream_find_handle(void);

/* The stream of work that names none: that of the innermost `with stream:` of this
 * thread whose stream is one of the current context, else the default stream (NULL). */
static inline CUstream
pcu_current_stream(void)
{
    return pcu_stream_top == NULL ? NULL : pcu_stream_find_handle();
}

/* Let what is queued to `after` from now on wait for what is queued to `before`. The
 * caller waits only if the two are of different contexts. */
PCU_HIDDEN PCU_RAISES int pcu_stream_order(pcu_state *st, CUstream before,
                                           CUstream after);

/* Wait for what is queued to the stream. */
PCU_HIDDEN PCU_RAISES int pcu_stream_wait(pcu_state *st, CUstream handle);

/* The handle of another library's stream, by its __cuda_stream__: 1 if it has that, 0
 * if not. */
PCU_HIDDEN PCU_RAISES int pcu_stream_from_protocol(pcu_state *st, PyObject *value,
                                                   CUstream *out, const char *name);

/* -- device.c, devmem.c, memcpy.c, launch.c ---------------------------------------- */

PCU_HIDDEN PCU_NEWREF PyObject *pcu_device_new(pcu_state *st, CUdevice handle);

/* The CUdevice of a Device. */
PCU_HIDDEN CUdevice pcu_device_handle(PyObject *device);

/* Run the garbage collector, also where a program has switched the automatic runs off.
 */
PCU_HIDDEN void pcu_collect_garbage(void);

/* Make an allocating call of the driver; when memory is short, collect garbage and make
 * it again. */
#define PCU_ALLOCATE(status, name, args)            \
    do {                                            \
        PCU_STATUS(status, name, args);             \
        if ((status) == CUDA_ERROR_OUT_OF_MEMORY) { \
            pcu_collect_garbage();                  \
            PCU_STATUS(status, name, args);         \
        }                                           \
    } while (0)

/* Raise the failure of an allocation of device memory, with the figures that explain
 * it. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_devmem_raise(pcu_state *st, const char *routine,
                                           CUresult status, size_t size);

/* Device memory in the current context. Collects garbage and retries once when short.
 */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_devmem_alloc(pcu_state *st, size_t size);

/* Copy between a buffer that the caller holds and the device, without the interpreter
 * lock. */
PCU_HIDDEN PCU_RAISES int pcu_copy_to_device(pcu_state *st, CUdeviceptr dest,
                                             const pcu_buffer *source);
PCU_HIDDEN PCU_RAISES int pcu_copy_from_device(pcu_state *st, const pcu_buffer *dest,
                                               CUdeviceptr source);

/* -- hostmem.c, managed.c, hostarray.c, ipc.c -------------------------------------- */

/* Host memory of the current context; *data is where it is. flags are the driver's;
 * alignment is a power of two, else LogicError. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_pagelocked_alloc(pcu_state *st, size_t bytes,
                                                     unsigned int flags, void **data);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_aligned_alloc(pcu_state *st, size_t bytes,
                                                  size_t alignment, void **data);

/* Memory that host and device share. flags 0 is mem_attach_flags.GLOBAL. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_managed_alloc(pcu_state *st, size_t bytes,
                                                  unsigned int flags, void **data);

/* The ManagedAllocation whose memory an array is or views; NULL if there is none. */
PCU_HIDDEN PCU_BORROWED PyObject *pcu_managed_of_array(pcu_state *st,
                                                       PyArrayObject *array);

/* The bytes of a shape of this dtype; ValueError if they have no size_t. */
PCU_HIDDEN PCU_RAISES int pcu_array_bytes(const pcu_shape *shape, PyArray_Descr *dtype,
                                          size_t *bytes);

/* An array over the memory at data, which base keeps. Takes over dtype and base. */
PCU_HIDDEN PCU_NEWREF PCU_STEALS(2)
    PCU_STEALS(5) PyObject *pcu_array_over_new(const pcu_shape *shape,
                                               PyArray_Descr *dtype, NPY_ORDER order,
                                               void *data, PyObject *base);

/* The handles of other processes' memory and events travel as a bytearray. */
enum { PCU_IPC_BYTES = 64 };
PCU_HIDDEN PCU_NEWREF PyObject *pcu_ipc_bytes_new(const void *handle);

/* The bytes of such an object (bytes will do); LogicError naming routine if it is none.
 */
PCU_HIDDEN PCU_RAISES int pcu_ipc_bytes(pcu_state *st, PyObject *value,
                                        const char *routine, void *handle);

/* Wrap a kernel of the module. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_function_new(pcu_state *st, PyObject *module,
                                                 CUfunction handle, PyObject *name);

PCU_HIDDEN PyObject *pcu_function_vectorcall(PyObject *op, PyObject *const *args,
                                             size_t nargsf, PyObject *kwnames);

/* -- one setup per type file; module.c calls them in the order of its table -------- */

#define PCU_SETUP(name) \
    PCU_HIDDEN PCU_RAISES int pcu_##name##_setup(PyObject *m, pcu_state *st)
PCU_SETUP(errors);
PCU_SETUP(enums);
PCU_SETUP(device);
PCU_SETUP(context);
PCU_SETUP(stream);
PCU_SETUP(event);
PCU_SETUP(devmem);
PCU_SETUP(managed);
PCU_SETUP(hostmem);
PCU_SETUP(mempool);
PCU_SETUP(dlpack);
PCU_SETUP(hostarray);
PCU_SETUP(ipc);
PCU_SETUP(memcpy);
PCU_SETUP(memcpynd);
PCU_SETUP(cumodule);
PCU_SETUP(linker);
PCU_SETUP(gl);
PCU_SETUP(profiler);
PCU_SETUP(curand);
PCU_SETUP(function);
PCU_SETUP(handlers);
PCU_SETUP(library);
PCU_SETUP(array);
PCU_SETUP(texture);
PCU_SETUP(texref);
PCU_SETUP(gpuarray);

/* Make a type from a spec, keep it in *slot, add it to the module under its short name.
 */
PCU_HIDDEN PCU_RAISES int pcu_add_type(PyObject *m, PyTypeObject **slot,
                                       PyType_Spec *spec, PyObject *bases);

/* Give a type, while it is set up, the methods that another file defines. */
PCU_HIDDEN PCU_RAISES int pcu_add_methods(PyTypeObject *type, PyMethodDef *methods);

extern PCU_HIDDEN PyMethodDef pcu_contextinfo_methods[];

/* Properties named after the rows of a table, in lower case; the getter's closure is
 * the value. A program may assign one: the object then has that value until it is
 * deleted.
 */
typedef struct {
    const char *name;
    long value;
} pcu_property;

PCU_HIDDEN PCU_RAISES int pcu_add_properties(pcu_state *st, PyTypeObject *type,
                                             const pcu_property *rows, size_t count,
                                             getter get);

/* The module's definition, for finding the state from a type. */
extern PCU_HIDDEN struct PyModuleDef pcu_module_def;

static inline pcu_state *
pcu_state_of_type(PyTypeObject *type)
{
    PyObject *module = PyType_GetModuleByDef(type, &pcu_module_def);
    return module == NULL ? NULL : (pcu_state *)PyModule_GetState(module);
}

static inline pcu_state *
pcu_state_of_module(PyObject *module)
{
    return (pcu_state *)PyModule_GetState(module);
}

#endif
