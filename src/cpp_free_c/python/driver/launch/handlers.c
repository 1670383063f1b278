/* ArgumentHandler, In, Out, InOut: kernel arguments that copy a host array to the
 * device before the launch, and back after it.
 *
 * A handler allocates device memory at its first call and keeps it for the next. The
 * functions in handlers.h serve objects whose type is exactly In, Out or InOut, without
 * a method call. For types that programs derive, the methods below are looked up. */
#include "python/driver/launch/launch.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/driver_call.h"
#include "python/support/settings.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/current_context.h"
#include "python/driver/memory/memory.h"
#include "python/driver/memory/copy.h"
#include "python/driver/resource.h"
#include "python/driver/stream.h"

/* -- docstrings -------------------------------------------------------------------- */

#define HANDLER_DOC_ARRAY  \
    "array : array_like\n" \
    "    NumPy array, or another contiguous buffer with ``nbytes``.\n"

#define HANDLER_DOC_NO_ARRAY \
    "TypeError\n"            \
    "    If the object has no ``nbytes``.\n"

#define HANDLER_DOC_STREAM      \
    "stream : Stream or None\n" \
    "    Stream of the launch; None is the default stream.\n"

#define HANDLER_DOC_MEMORY                                                         \
    "The first launch allocates the memory; later launches with the same object\n" \
    "use it again. The keyword may also be ``ary``.\n"

/* -- during a call ----------------------------------------------------------------- */

/* The array, as a new reference: reading it may run code that replaces it. */
static PyObject *
handler_array_new(pcu_handler *self)
{
    if (self->array == NULL) {
        PyErr_SetString(PyExc_AttributeError, "the array of this handler was deleted");
    }
    return Py_XNewRef(self->array);
}

/* The name of the type without its module. */
static const char *
handler_type_name(const pcu_handler *self)
{
    const char *name = Py_TYPE(self)->tp_name;
    const char *dot = strrchr(name, '.');
    if (dot != NULL) {
        return dot + 1;
    }
    return name;
}

/* The array in messages: these words, then the name of the type. */
static const char handler_words[] = "the array of ";

/* Read the size of the array in bytes. nbytes is read only if there is no buffer. */
static int
handler_size(pcu_handler *self, size_t *size)
{
    PyObject *array = handler_array_new(self);
    PyObject *nbytes = NULL;
    int rc = -1;
    if (array == NULL) {
        return -1;
    }
    if (PyArray_Check(array)) {
        *size = (size_t)PyArray_NBYTES((PyArrayObject *)array);
        rc = 0;
    }
    else if (PyObject_CheckBuffer(array)) {
        pcu_buffer buffer = {0};
        rc = pcu_buffer_acquire_of(&buffer, array, false, handler_words,
                                   handler_type_name(self));
        *size = buffer.size;
        pcu_buffer_release(&buffer);
    }
    else {
        nbytes = PyObject_GetAttr(array, self->st->str_nbytes);
        if (nbytes != NULL) {
            rc = pcu_as_size(self->st, nbytes, size, "nbytes");
        }
    }
    Py_XDECREF(nbytes);
    Py_DECREF(array);
    return rc;
}

/* Refuse a NumPy array whose elements a kernel cannot use or would misread, such as
 * Python objects and those with swapped bytes. */
static int
handler_check_meaning(pcu_handler *self)
{
    if (self->array == NULL || !PyArray_Check(self->array)) {
        return 0;
    }
    PyObject *array = Py_NewRef(self->array);
    int rc = pcu_array_check_elements((PyArrayObject *)array, handler_words,
                                      handler_type_name(self));
    Py_DECREF(array);
    return rc;
}

/* Whether the present device memory serves for this call. Memory from an earlier call
 * may be too small, if the program replaced the array, or may belong to another
 * context. Memory that the program set always serves. */
static bool
handler_has_memory(const pcu_handler *self, size_t size)
{
    if (self->dev_alloc == NULL || self->dev_alloc == Py_None) {
        return false;
    }
    if (self->room == 0 || self->finishing) {
        return true;
    }
    const pcu_resource *memory = (const pcu_resource *)self->dev_alloc;
    return size <= self->room && memory->live &&
           (pcu_ctx_current == NULL ||
            pcu_ctx_current->handle == pcu_context_rec(memory->ctx)->handle);
}

PyObject *
pcu_handler_alloc_new(pcu_handler *self, CUdeviceptr *pointer)
{
    pcu_state *st = self->st;
    size_t size = 0;
    bool given = self->room == 0 && handler_has_memory(self, 0);
    if (handler_check_meaning(self) < 0 || (!given && handler_size(self, &size) < 0)) {
        return NULL;
    }
    PyObject *alloc;
    if (handler_has_memory(self, size)) {
        alloc = Py_NewRef(self->dev_alloc);
    }
    else {
        alloc = pcu_allocation_new(st, size);
        if (alloc == NULL) {
            return NULL;
        }
        self->room = size;
        Py_XSETREF(self->dev_alloc, Py_NewRef(alloc)); /* other threads may run */
    }
    if (pcu_as_pointer(st, alloc, pointer, "dev_alloc") < 0) {
        Py_CLEAR(alloc);
    }
    else if (given && pcu_drv_info.device != NULL) {
        /* The array may be longer than what the program asked a pool for: copies use
         * the whole block, as PyCUDA's do, so kernels may. */
        pcu_drv_info.device->lend(*pointer, 0);
    }
    return alloc;
}

/* The result of get_device_alloc(), which a derived type may override. */
static PyObject *
handler_method_alloc_new(PyObject *op, CUdeviceptr *pointer)
{
    pcu_state *st = ((pcu_handler *)op)->st;
    PyObject *alloc = PyObject_CallMethodNoArgs(op, st->str_get_device_alloc);
    if (alloc != NULL && pcu_as_pointer(st, alloc, pointer, "get_device_alloc()") < 0) {
        Py_CLEAR(alloc);
    }
    return alloc;
}

int
pcu_handler_method_pointer(PyObject *op, CUdeviceptr *pointer)
{
    PyObject *alloc = handler_method_alloc_new(op, pointer);
    Py_XDECREF(alloc);
    if (alloc == NULL) {
        return -1;
    }
    return 0;
}

static bool
handler_is_ours(pcu_state *st, PyObject *alloc)
{
    return PyObject_TypeCheck(alloc, st->DeviceAllocation) ||
           PyObject_TypeCheck(alloc, st->PooledDeviceAllocation);
}

/* Copy between the array and its device memory. Compare the sizes again: nbytes may
 * differ from the size of the buffer, and the program may have replaced the array or
 * the memory. */
static int
handler_copy(pcu_handler *self, CUdeviceptr pointer, PyObject *alloc, bool upload)
{
    pcu_state *st = self->st;
    pcu_buffer buffer = {0};
    int rc = -1;
    const char *routine = "cuMemcpyDtoH";
    if (upload) {
        routine = "cuMemcpyHtoD";
    }
    PyObject *array = handler_array_new(self);
    if (array == NULL ||
        (PyArray_Check(array) &&
         pcu_array_check_elements((PyArrayObject *)array, handler_words,
                                  handler_type_name(self)) < 0) ||
        pcu_buffer_acquire_of(&buffer, array, !upload, handler_words,
                              handler_type_name(self)) < 0) {
        goto done;
    }
    pcu_resource *memory = (pcu_resource *)alloc;
    bool ours = handler_is_ours(st, alloc);
    if (ours && pcu_resource_check(memory, routine) < 0) {
        goto done;
    }
    /* a block of a pool may have more; if not, the driver refuses the copy */
    if (ours && memory->has_size && buffer.size > memory->size &&
        pcu_forgive(PyExc_ValueError, "%s%s has %zu bytes, its device memory has %zu",
                    handler_words, handler_type_name(self), buffer.size,
                    memory->size) < 0) {
        goto done;
    }
    if (upload) {
        rc = pcu_copy_to_device(st, pointer, &buffer);
    }
    else {
        rc = pcu_copy_from_device(st, &buffer, pointer);
    }
done:
    pcu_buffer_release(&buffer);
    Py_XDECREF(array);
    return rc;
}

static int
handler_upload(pcu_handler *self, PyObject *alloc)
{
    CUdeviceptr pointer = 0;
    if (pcu_as_pointer(self->st, alloc, &pointer, "dev_alloc") < 0) {
        return -1;
    }
    return handler_copy(self, pointer, alloc, true);
}

/* Wait for the launch that writes to the memory. Use the context of the memory: a
 * post_call or a signal handler may have made another one current. */
static int
handler_wait(pcu_state *st, PyObject *alloc, CUstream stream)
{
    pcu_resource *memory = (pcu_resource *)alloc;
    if (stream != NULL || !handler_is_ours(st, alloc)) {
        return pcu_launch_synchronize(st, stream);
    }
    if (pcu_resource_check(memory, "cuCtxSynchronize") < 0) {
        return -1;
    }
    if (pcu_context_rec(memory->ctx) == pcu_ctx_current) {
        return pcu_launch_synchronize(st, NULL);
    }
    const char *routine;
    CUresult status = pcu_context_wait(pcu_context_rec(memory->ctx), &routine);
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    return pcu_raise(st, routine, status);
}

static int
handler_download(pcu_handler *self, PyObject *alloc, CUstream stream)
{
    CUdeviceptr pointer = 0;
    if (handler_wait(self->st, alloc, stream) < 0 ||
        pcu_as_pointer(self->st, alloc, &pointer, "dev_alloc") < 0) {
        return -1;
    }
    return handler_copy(self, pointer, alloc, false);
}

/* Call pre_call of a derived type. */
static int
handler_call_pre(pcu_state *st, PyObject *arg, PyObject *stream)
{
    PyObject *result = PyObject_CallMethodOneArg(arg, st->str_pre_call, stream);
    Py_XDECREF(result);
    if (result == NULL) {
        return -1;
    }
    return 0;
}

/* Call post_call of a derived type. The method is optional. */
static int
handler_call_post(pcu_state *st, PyObject *arg, PyObject *stream)
{
    PyObject *post_call = pcu_attribute_new(arg, st->str_post_call);
    if (post_call == NULL) {
        if (PyErr_Occurred()) {
            return -1;
        }
        return 0;
    }
    PyObject *result = PyObject_CallOneArg(post_call, stream);
    Py_DECREF(post_call);
    Py_XDECREF(result);
    if (result == NULL) {
        return -1;
    }
    return 0;
}

int
pcu_handlers_before(pcu_state *st, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *const *memory, PyObject *stream)
{
    for (Py_ssize_t i = 0; i < nargs; i++) {
        PyTypeObject *type = Py_TYPE(args[i]);
        int rc = 0;
        if (memory[i] != NULL && (type == st->In || type == st->InOut)) {
            rc = handler_upload((pcu_handler *)args[i], memory[i]);
        }
        else if (type != st->Out && PyObject_TypeCheck(args[i], st->ArgumentHandler)) {
            rc = handler_call_pre(st, args[i], stream);
        }
        if (rc < 0) {
            return -1;
        }
    }
    return 0;
}

int
pcu_handlers_after(pcu_state *st, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *const *memory, PyObject *stream, CUstream handle)
{
    for (Py_ssize_t i = 0; i < nargs; i++) {
        PyTypeObject *type = Py_TYPE(args[i]);
        int rc = 0;
        if (memory[i] != NULL && (type == st->Out || type == st->InOut)) {
            rc = handler_download((pcu_handler *)args[i], memory[i], handle);
        }
        else if (type != st->In && PyObject_TypeCheck(args[i], st->ArgumentHandler)) {
            rc = handler_call_post(st, args[i], stream);
        }
        if (rc < 0) {
            return -1;
        }
    }
    return 0;
}

void
pcu_handlers_tell_inputs(pcu_state *st, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *const *memory)
{
    uint64_t inputs = 0;
    if (pcu_drv_info.device == NULL) {
        return;
    }
    for (Py_ssize_t i = 0; memory != NULL && i < nargs && i < 64; i++) {
        if (memory[i] != NULL && Py_TYPE(args[i]) == st->In) {
            const pcu_handler *in = (const pcu_handler *)args[i];
            inputs |= (uint64_t)(in->room != 0 && !in->is_taken) << i;
        }
    }
    pcu_drv_info.device->set_inputs(inputs);
}

void
pcu_handlers_release(PyObject **memory, Py_ssize_t nargs)
{
    if (memory == NULL) {
        return;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        Py_XDECREF(memory[i]);
    }
    PyMem_Free(memory);
}

/* -- methods ----------------------------------------------------------------------- */

static PyObject *
handler_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    pcu_state *st = pcu_state_of_type(type);
    pcu_handler *self = NULL;
    if (st != NULL) {
        self = (pcu_handler *)type->tp_alloc(type, 0);
    }
    if (self != NULL) {
        self->st = st;
        self->array = Py_NewRef(Py_None);
    }
    return (PyObject *)self;
}

typedef struct {
    PyObject *array; /* borrowed, as is the other */
    PyObject *stream;
} handler_args;

static const pcu_word handler_vocabulary[] = {
    PCU_WORD("array", pcu_as_object, handler_args, array),
    PCU_WORD("ary", pcu_as_object, handler_args, array),
    PCU_WORD("stream", pcu_as_object, handler_args, stream),
};

PCU_SIGNATURE(handler, handler_vocabulary,
              "ArgumentHandler(array)\n--\n\n"
              "Base class of kernel arguments that act before and after the launch.\n"
              "\n"
              "Override ``get_device_alloc()``, ``pre_call(stream)`` and\n"
              "``post_call(stream)``.\n"
              "\nParameters\n----------\n" HANDLER_DOC_ARRAY
              "\nRaises\n------\n" HANDLER_DOC_NO_ARRAY
              "\nSee Also\n--------\n"
              "In : Copy to the device before the launch.\n"
              "Out : Copy back after the launch.\n"
              "InOut : Do both.")

/* The keyword is `array` or, in many programs, `ary`. */
PCU_SIGNATURE(handler_ary, handler_vocabulary, "ArgumentHandler(ary)\n--\n\n")

static int
handler_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_handler *self = (pcu_handler *)op;
    bool short_name = kwargs != NULL && PyDict_GetItemString(kwargs, "ary") != NULL;
    pcu_signature signature = handler_signature;
    if (short_name) {
        signature = handler_ary_signature;
    }
    signature.function = handler_type_name(self);
    handler_args a = {NULL, NULL};
    if (pcu_args_parse_tuple(self->st, &signature, args, kwargs, &a) < 0) {
        return -1;
    }
    PyObject *nbytes = pcu_attribute_new(a.array, self->st->str_nbytes);
    if (nbytes == NULL) {
        if (PyErr_Occurred()) {
            return -1;
        }
        PyErr_Format(
            PyExc_TypeError,
            "an argument handler takes an array (an object with nbytes), not %s",
            Py_TYPE(a.array)->tp_name);
        return -1;
    }
    Py_DECREF(nbytes);
    Py_XSETREF(self->array, Py_NewRef(a.array));
    return 0;
}

static int
handler_traverse(PyObject *op, visitproc visit, void *arg)
{
    pcu_handler *self = (pcu_handler *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->array);
    Py_VISIT(self->dev_alloc);
    Py_VISIT(self->dict);
    return 0;
}

static int
handler_clear(PyObject *op)
{
    pcu_handler *self = (pcu_handler *)op;
    Py_CLEAR(self->array);
    Py_CLEAR(self->dev_alloc);
    Py_CLEAR(self->dict);
    return 0;
}

static void
handler_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    Py_TRASHCAN_BEGIN(op, handler_dealloc) /* handlers may form a long chain */
        if (((pcu_handler *)op)->weakrefs != NULL)
    {
        PyObject_ClearWeakRefs(op);
    }
    handler_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
    Py_TRASHCAN_END
}

static PyObject *
handler_get_dev_alloc(PyObject *op, void *Py_UNUSED(closure))
{
    PyObject *alloc = ((pcu_handler *)op)->dev_alloc;
    ((pcu_handler *)op)->is_taken = true;
    if (alloc == NULL) {
        Py_RETURN_NONE;
    }
    return Py_NewRef(alloc);
}

PyDoc_STRVAR(handler_get_device_alloc_doc,
             "get_device_alloc($self, /)\n--\n\n"
             "Return the device memory of this argument.\n"
             "\nReturns\n-------\n"
             "DeviceAllocation\n"
             "    The memory, which the first call allocates.\n"
             "\nRaises\n------\n" PCU_DOC_NO_MEMORY
             "\nNotes\n-----\n"
             "The size is that of the array.");

static PyObject *
handler_get_device_alloc(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    CUdeviceptr pointer;
    ((pcu_handler *)op)->is_taken = true;
    return pcu_handler_alloc_new((pcu_handler *)op, &pointer);
}

/* The stream argument of pre_call and post_call. Borrowed; NULL with an exception. */
static PyObject *
handler_stream_borrow(PyObject *op, const pcu_signature *signature,
                      PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    handler_args a = {NULL, NULL};
    if (pcu_args_parse(((pcu_handler *)op)->st, signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    return a.stream;
}

PCU_SIGNATURE(handler_base_pre_call, handler_vocabulary,
              "pre_call($self, /, stream)\n--\n\n"
              "Prepare the launch; this method does nothing.\n"
              "\nParameters\n----------\n" HANDLER_DOC_STREAM)

static PyObject *
handler_base_pre_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    if (handler_stream_borrow(op, &handler_base_pre_call_signature, args, nargs,
                              kwnames) == NULL) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE(handler_in_pre_call, handler_vocabulary,
              "pre_call($self, /, stream)\n--\n\n"
              "Copy the array to the device.\n"
              "\nParameters\n----------\n"
              "stream : Stream or None\n"
              "    Stream of the launch. The copy does not use it.\n"
              "\nRaises\n------\n"
              "ValueError\n"
              "    If the array is not contiguous.\n"
              "\nNotes\n-----\n"
              "The copy is in the default stream, like that of ``memcpy_htod``.")

static PyObject *
handler_in_pre_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    CUdeviceptr pointer = 0;
    if (handler_stream_borrow(op, &handler_in_pre_call_signature, args, nargs,
                              kwnames) == NULL) {
        return NULL;
    }
    PyObject *alloc = handler_method_alloc_new(op, &pointer);
    int rc = -1;
    if (alloc != NULL) {
        rc = handler_copy((pcu_handler *)op, pointer, alloc, true);
    }
    Py_XDECREF(alloc);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE(handler_out_post_call, handler_vocabulary,
              "post_call($self, /, stream)\n--\n\n"
              "Copy the device memory back to the array.\n"
              "\nParameters\n----------\n" HANDLER_DOC_STREAM
              "\nRaises\n------\n"
              "ValueError\n"
              "    If the array is not contiguous, or is read-only.\n"
              "\nNotes\n-----\n"
              "The call waits for the launch and for the copy.")

static PyObject *
handler_out_post_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    pcu_handler *self = (pcu_handler *)op;
    PyObject *stream = handler_stream_borrow(op, &handler_out_post_call_signature, args,
                                             nargs, kwnames);
    CUdeviceptr pointer = 0;
    CUstream handle = NULL;
    if (stream == NULL || pcu_as_stream(self->st, stream, &handle, "stream") < 0) {
        return NULL;
    }
    self->finishing++;
    PyObject *alloc = handler_method_alloc_new(op, &pointer);
    self->finishing--;
    int rc = -1;
    if (alloc != NULL) {
        rc = handler_wait(self->st, alloc, handle);
    }
    if (rc == 0) {
        rc = handler_copy(self, pointer, alloc, false);
    }
    Py_XDECREF(alloc);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static int
handler_set_dev_alloc(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    ((pcu_handler *)op)->room = 0;
    Py_XSETREF(((pcu_handler *)op)->dev_alloc, Py_XNewRef(value));
    return 0;
}

static PyMemberDef handler_members[] = {
    {"array", Py_T_OBJECT_EX, offsetof(pcu_handler, array), 0, "The host array."},
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(pcu_handler, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(pcu_handler, weakrefs), Py_READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef handler_getset[] = {
    {"dev_alloc", handler_get_dev_alloc, handler_set_dev_alloc,
     "The device memory, None before the first call.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef handler_methods[] = {
    {"get_device_alloc", handler_get_device_alloc, METH_NOARGS,
     handler_get_device_alloc_doc},
    PCU_METHOD("pre_call", handler_base_pre_call),
    {NULL, NULL, 0, NULL},
};

static PyMethodDef in_methods[] = {
    PCU_METHOD("pre_call", handler_in_pre_call),
    {NULL, NULL, 0, NULL},
};

static PyMethodDef out_methods[] = {
    PCU_METHOD("post_call", handler_out_post_call),
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    in_doc,
    "In(array)\n--\n\n"
    "Pass an array to a kernel, and copy it to the device before the launch.\n"
    "\nParameters\n----------\n" HANDLER_DOC_ARRAY
    "\nRaises\n------\n" HANDLER_DOC_NO_ARRAY
    "\nSee Also\n--------\n"
    "InOut : Copy back, too.\n"
    "mem_alloc : Allocate memory that stays.\n"
    "\nNotes\n-----\n" HANDLER_DOC_MEMORY
    "\nExamples\n--------\n"
    ">>> from pycuda.compiler import SourceModule\n"
    ">>> module = SourceModule('''\n"
    "... __global__ void twice(float *out, const float *a) {\n"
    "...     out[threadIdx.x] = 2 * a[threadIdx.x];\n"
    "... }''')\n"
    ">>> a = np.arange(3, dtype=np.float32)\n"
    ">>> out = np.empty_like(a)\n"
    ">>> module.get_function(\"twice\")(drv.Out(out), drv.In(a), block=(3, 1, 1))\n"
    ">>> out\n"
    "array([0., 2., 4.], dtype=float32)");
PyDoc_STRVAR(
    out_doc,
    "Out(array)\n--\n\n"
    "Pass device memory to a kernel, and copy it to an array after the launch.\n"
    "\nParameters\n----------\n" HANDLER_DOC_ARRAY
    "\nRaises\n------\n" HANDLER_DOC_NO_ARRAY
    "\nSee Also\n--------\n"
    "InOut : Copy to the device, too.\n"
    "In : Copy to the device only.\n"
    "\nNotes\n-----\n"
    "The memory is undefined when the kernel starts. The launch waits for\n"
    "the kernel.\n" HANDLER_DOC_MEMORY
    "\nExamples\n--------\n"
    ">>> from pycuda.compiler import SourceModule\n"
    ">>> module = SourceModule('''\n"
    "... __global__ void count(int *out) { out[threadIdx.x] = threadIdx.x; }\n"
    "... ''')\n"
    ">>> out = np.empty(4, dtype=np.int32)\n"
    ">>> module.get_function(\"count\")(drv.Out(out), block=(4, 1, 1))\n"
    ">>> out\n"
    "array([0, 1, 2, 3], dtype=int32)");
PyDoc_STRVAR(inout_doc,
             "InOut(array)\n--\n\n"
             "Pass an array to a kernel, and copy it before and after the launch.\n"
             "\nParameters\n----------\n" HANDLER_DOC_ARRAY
             "\nRaises\n------\n" HANDLER_DOC_NO_ARRAY
             "\nSee Also\n--------\n"
             "In : Copy to the device only.\n"
             "Out : Copy back only.\n"
             "\nNotes\n-----\n"
             "The launch waits for the kernel.\n" HANDLER_DOC_MEMORY
             "\nExamples\n--------\n"
             ">>> from pycuda.compiler import SourceModule\n"
             ">>> module = SourceModule('''\n"
             "... __global__ void twice(float *a) { a[threadIdx.x] *= 2; }\n"
             "... ''')\n"
             ">>> a = np.arange(3, dtype=np.float32)\n"
             ">>> module.get_function(\"twice\")(drv.InOut(a), block=(3, 1, 1))\n"
             ">>> a\n"
             "array([0., 2., 4.], dtype=float32)");

static PyType_Slot handler_slots[] = {
    {Py_tp_doc, (void *)handler_doc}, {Py_tp_new, handler_new},
    {Py_tp_init, handler_init},       {Py_tp_traverse, handler_traverse},
    {Py_tp_clear, handler_clear},     {Py_tp_dealloc, handler_dealloc},
    {Py_tp_members, handler_members}, {Py_tp_getset, handler_getset},
    {Py_tp_methods, handler_methods}, {0, NULL},
};

#define HANDLER_DERIVED(name, methods)                                       \
    static PyType_Slot name##_slots[] = {                                    \
        {Py_tp_doc, (void *)name##_doc}, {Py_tp_traverse, handler_traverse}, \
        {Py_tp_clear, handler_clear},    {Py_tp_dealloc, handler_dealloc},   \
        {Py_tp_methods, methods},        {0, NULL},                          \
    }
static PyMethodDef inout_methods[] = {{NULL, NULL, 0, NULL}};
HANDLER_DERIVED(in, in_methods);
HANDLER_DERIVED(out, out_methods);
HANDLER_DERIVED(inout, inout_methods);

enum { HANDLER_FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE };

static PyType_Spec handler_spec = {"pycuda._driver.ArgumentHandler",
                                   sizeof(pcu_handler), 0, HANDLER_FLAGS,
                                   handler_slots};
static PyType_Spec in_spec = {"pycuda._driver.In", sizeof(pcu_handler), 0,
                              HANDLER_FLAGS, in_slots};
static PyType_Spec out_spec = {"pycuda._driver.Out", sizeof(pcu_handler), 0,
                               HANDLER_FLAGS, out_slots};
static PyType_Spec inout_spec = {"pycuda._driver.InOut", sizeof(pcu_handler), 0,
                                 HANDLER_FLAGS, inout_slots};

int
pcu_handlers_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->ArgumentHandler, &handler_spec, NULL) < 0) {
        return -1;
    }
    PyObject *base = PyTuple_Pack(1, (PyObject *)st->ArgumentHandler);
    PyObject *both = NULL;
    int rc = -1;
    if (base != NULL) {
        rc = pcu_add_type(m, &st->In, &in_spec, base);
    }
    if (rc == 0) {
        rc = pcu_add_type(m, &st->Out, &out_spec, base);
    }
    if (rc == 0) {
        both = PyTuple_Pack(2, (PyObject *)st->In, (PyObject *)st->Out);
        if (both == NULL) {
            rc = -1;
        }
        else {
            rc = pcu_add_type(m, &st->InOut, &inout_spec, both);
        }
    }
    Py_XDECREF(base);
    Py_XDECREF(both);
    return rc;
}
