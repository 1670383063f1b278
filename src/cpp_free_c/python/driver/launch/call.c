/* The ordinary kernel call: f(*args, block=, grid=, stream=, shared=, texrefs=,
 * time_kernel=).
 *
 * One pass packs every argument into the parameter block, exact types first. Where the
 * driver says how the kernel's parameters lie (CUDA 12.4 and newer), each value goes to
 * its parameter's place and a wrong count or size is a TypeError; before, values are
 * laid out with natural alignment. No Python code runs unless an argument brings its
 * own.
 *
 * The interpreter lock is held throughout, unless the launch may have to wait for a
 * place in the queue or behind another thread's call: see PCU_STATUS. */
#include "python/support/base.h"

#include <time.h>

#include "python/support/buffer.h"
#include "python/support/convert.h"
#include "python/driver/context_stack.h"
#include "python/driver/launch/handlers.h"
#include "python/driver/launch/launch.h"
#include "python/driver/memory/managed.h"
#include "python/driver/module_struct.h"
#include "python/driver/texture/reference.h"
#include "python/driver/memory/gpuarray.h"
#include "python/driver/stream.h"

static const char launch_routine[] = "cuLaunchKernel";

/* -- the launch -------------------------------------------------------------------- */

static int
launch_bad_shape(pcu_function *self, const char *routine, const char *what,
                 const unsigned int dims[3], const char *why, unsigned long long limit)
{
    return pcu_raise_detail(self->st, routine, CUDA_ERROR_INVALID_VALUE,
                            "%s (%u, %u, %u) of %U %s %llu", what, dims[0], dims[1],
                            dims[2], self->name, why, limit);
}

/* Cold path: say which limit the shape breaks, if it is one known here. */
static int
launch_explain_shape(pcu_function *self, const pcu_launch_shape *s)
{
    static const char *const routine = "cuFuncSetBlockShape";
    const pcu_device_limits *device = &self->ctx->limits;
    unsigned long long threads =
        (unsigned long long)s->block[0] * s->block[1] * s->block[2];
    for (int i = 0; i < 3; i++) {
        if (s->block[i] == 0 || s->block[i] > (unsigned int)device->max_block[i]) {
            return launch_bad_shape(
                self, routine, "block", s->block,
                i == 0   ? "is outside the device's limits: x must be 1 to"
                : i == 1 ? "is outside the device's limits: y must be 1 to"
                         : "is outside the device's limits: z must be 1 to",
                (unsigned long long)device->max_block[i]);
        }
        if (s->grid[i] == 0 || s->grid[i] > (unsigned int)device->max_grid[i]) {
            return launch_bad_shape(
                self, "cuLaunchKernel", "grid", s->grid,
                i == 0   ? "is outside the device's limits: x must be 1 to"
                : i == 1 ? "is outside the device's limits: y must be 1 to"
                         : "is outside the device's limits: z must be 1 to",
                (unsigned long long)device->max_grid[i]);
        }
    }
    if (threads > (unsigned long long)self->max_threads) {
        return launch_bad_shape(self, routine, "block", s->block,
                                "has too many threads; this kernel takes at most",
                                (unsigned long long)self->max_threads);
    }
    return pcu_raise_detail(
        self->st, "cuLaunchKernel", CUDA_ERROR_INVALID_VALUE,
        "%U asks for %u bytes of dynamic shared memory beside its %zu static ones; it "
        "may "
        "have %zu, more only after "
        "set_attribute(function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, n)",
        self->name, s->shared, self->static_shared, self->max_dynamic);
}

/* 1 if device and kernel take the shape. A zero dimension wraps to a huge one. */
static inline int
launch_shape_fits(const pcu_function *self, const pcu_launch_shape *s)
{
    const pcu_device_limits *device = &self->ctx->limits;
    unsigned long long threads =
        (unsigned long long)s->block[0] * s->block[1] * s->block[2];
    int fits = threads <= (unsigned long long)self->max_threads &&
               s->shared <= self->max_dynamic;
    for (int i = 0; i < 3; i++) {
        fits &= s->block[i] - 1 < (unsigned int)device->max_block[i];
        fits &= s->grid[i] - 1 < (unsigned int)device->max_grid[i];
    }
    return fits;
}

int
pcu_launch_check(pcu_function *self, const pcu_launch_shape *shape)
{
    if (!self->ctx->alive &&
        pcu_resource_check((pcu_resource *)self->module, "cuLaunchKernel") < 0) {
        return -1;
    }
    if (launch_shape_fits(self, shape)) {
        return 0;
    }
    /* another Function of this kernel may have raised its limits: look again */
    pcu_function_forget(self);
    if (pcu_function_describe(self) < 0) {
        return -1;
    }
    return launch_shape_fits(self, shape) ? 0 : launch_explain_shape(self, shape);
}

/* What the driver calls an invalid handle may be a good one elsewhere. */
static const char *
launch_hint(const pcu_function *self, CUresult status)
{
    if (status == CUDA_ERROR_INVALID_CONTEXT && pcu_ctx_current == NULL) {
        return "; this thread has no current context; push() one, or import "
               "pycuda.autoinit";
    }
    if (status != CUDA_ERROR_INVALID_HANDLE || pcu_ctx_current == NULL) {
        return "";
    }
    return self->ctx->handle != pcu_ctx_current->handle
               ? "; the kernel belongs to another context than the current one"
               : "; is the stream one of the current context?";
}

int
pcu_launch_run(pcu_function *self, const pcu_launch_shape *s, void *params, size_t size)
{
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    if (pcu_launch_check(self, s) < 0) {
        return -1;
    }
    if (self->nparams > 0 && size < self->params_size) {
        PyErr_Format(PyExc_TypeError,
                     "%U takes %zu bytes of parameters, %zu were given", self->name,
                     self->params_size, size);
        return -1;
    }
    if (((pcu_module *)self->module)->refs != NULL &&
        pcu_refs_launch(self->module, s->stream) < 0) {
        return -1;
    }
    CUresult status;
    do {
        PCU_STATUS(
            status, LaunchKernel,
            (self->handle, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1],
             s->block[2], s->shared, s->stream, NULL, size == 0 ? NULL : extra));
    } while (status != CUDA_SUCCESS && pcu_context_repair(self->st, status) &&
             pcu_ctxrec_lives(self->ctx));
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    return pcu_raise_detail(
        self->st, "cuLaunchKernel", status,
        "%U with grid (%u, %u, %u), block (%u, %u, %u), %u bytes of "
        "dynamic shared memory%s",
        self->name, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1],
        s->block[2], s->shared, launch_hint(self, status));
}

/* -- packing ----------------------------------------------------------------------- */

typedef struct {
    pcu_function *function;
    pcu_argbuf *buffer;
    const CUstream *stream; /* of the launch; NULL: not known yet */
    Py_ssize_t index;       /* of the argument at hand */
    Py_ssize_t nargs;
    PyObject **handlers;      /* of pcu_launch_pack */
    unsigned char unused[16]; /* where bytes go that were converted already */
} launch_pack;

static int
launch_bad_size(launch_pack *p, PyObject *arg, size_t size)
{
    PyErr_Format(
        PyExc_TypeError,
        "argument %zd of %U is a %s of %zu bytes, but that parameter takes %zu",
        p->index, p->function->name, Py_TYPE(arg)->tp_name, size,
        p->function->params[p->index].size);
    return -1;
}

/* Learn from the source, if the module has one, which parameters are integers. */
static int
launch_ask_integers(pcu_function *fn)
{
    Py_ssize_t n = fn->nparams;
    const char *kinds = NULL;
    PyObject *source = PyObject_GetAttrString(fn->module, "_source");
    PyObject *found = NULL;
    if (source != NULL) {
        PyObject *module = PyImport_ImportModule("pycuda._parameter_types");
        found = module == NULL ? NULL
                               : PyObject_CallMethod(module, "integers", "OOn", source,
                                                     fn->name, n);
        Py_XDECREF(module);
        Py_DECREF(source);
    }
    else if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear(); /* code that was not compiled here: nothing is known */
        found = Py_NewRef(Py_None);
    }
    if (found == NULL) {
        return -1;
    }
    if (PyBytes_Check(found) && PyBytes_GET_SIZE(found) == n) {
        kinds = PyBytes_AS_STRING(found);
    }
    for (Py_ssize_t i = 0; i < n && i < fn->nparams; i++) {
        fn->params[i].integer = -1;
        if (kinds != NULL && kinds[i] != 0) {
            fn->params[i].integer = (signed char)kinds[i];
        }
    }
    Py_DECREF(found);
    return 0;
}

static int
launch_is_integer(PyObject *arg)
{
    return PyArray_IsScalar(arg, Integer) ||
           (PyArray_Check(arg) && PyArray_NDIM((PyArrayObject *)arg) == 0 &&
            PyTypeNum_ISINTEGER(PyArray_DESCR((PyArrayObject *)arg)->type_num));
}

/* 1 if bytes of that size fit before the next parameter. */
static int
launch_has_room(const pcu_function *fn, Py_ssize_t index, size_t size)
{
    const pcu_param *param = &fn->params[index];
    return size < param->size ||
           (index + 1 < fn->nparams && param[1].offset - param->offset >= size);
}

/* An argument of another size than its parameter. An integer is converted if the
 * parameter is one and can hold the value; its own bytes then go nowhere. A wider one
 * is right by PyCUDA's layout only where padding takes its upper half. */
static void *
launch_convert(launch_pack *p, PyObject *arg, size_t size)
{
    pcu_function *fn = p->function;
    unsigned long long bits = 0;
    char name[64];
    if (!launch_is_integer(arg) || size > sizeof(p->unused)) {
        launch_bad_size(p, arg, size);
        return NULL;
    }
    if (fn->params[p->index].integer == 0 && launch_ask_integers(fn) < 0) {
        return NULL;
    }
    const pcu_param *param = &fn->params[p->index];
    if (param->integer <= 0 || param->size > sizeof(bits) ||
        !launch_has_room(fn, p->index, size)) {
        launch_bad_size(p, arg, size);
        return NULL;
    }
    unsigned long long top = UINT64_MAX >> (64 - 8 * param->size);
    (void)PyOS_snprintf(name, sizeof(name), "argument %zd", p->index); /* fits */
    if (pcu_as_integer(arg, param->integer == 1 ? -(long long)(top >> 1) - 1 : 0,
                       param->integer == 1 ? top >> 1 : top, &bits, name) < 0) {
        return NULL;
    }
    memcpy(p->buffer->data + param->offset, &bits, param->size);
    return p->unused;
}

/* Where the argument's bytes go. A structure may lack its tail padding. */
static inline void *
launch_place(launch_pack *p, PyObject *arg, size_t size, size_t align, int structure)
{
    pcu_function *fn = p->function;
    if (fn->nparams < 0) {
        void *place = pcu_argbuf_reserve(p->buffer, size, align);
        if (place == NULL) {
            PyErr_NoMemory();
        }
        return place;
    }
    const pcu_param *param = &fn->params[p->index];
    if (size != param->size &&
        !(structure && size < param->size && param->size - size < 16)) {
        return launch_convert(p, arg, size);
    }
    return p->buffer->data + param->offset;
}

static inline int
launch_put(launch_pack *p, PyObject *arg, const void *bytes, size_t size, size_t align)
{
    void *place = launch_place(p, arg, size, align, 0);
    if (place == NULL) {
        return -1;
    }
    memcpy(place, bytes, size);
    return 0;
}

static inline int
launch_put_pointer(launch_pack *p, PyObject *arg, CUdeviceptr pointer)
{
    return launch_put(p, arg, &pointer, sizeof(pointer), sizeof(pointer));
}

/* Memory that was released may be another owner's by now. */
static inline int
launch_put_memory(launch_pack *p, PyObject *arg)
{
    pcu_resource *memory = (pcu_resource *)arg;
    return pcu_resource_check(memory, launch_routine) < 0
               ? -1
               : launch_put_pointer(p, arg, memory->handle.memory);
}

static inline int
launch_put_gpuarray(launch_pack *p, PyObject *arg)
{
    pcu_state *st = p->function->st;
    pcu_gpuarray *array = (pcu_gpuarray *)arg;
    PyObject *memory = array->memory;
    if (memory != NULL &&
        (Py_IS_TYPE(memory, st->DeviceAllocation) ||
         Py_IS_TYPE(memory, st->PooledDeviceAllocation)) &&
        pcu_resource_check((pcu_resource *)memory, launch_routine) < 0) {
        return -1;
    }
    if (!array->inside && st->check_array(arg) < 0) {
        return -1;
    }
    return launch_put_pointer(p, arg, array->address);
}

/* The alignment the device gives a structure of this dtype: vector types are aligned to
 * their size, others to their widest member. Used where the driver cannot tell. */
static size_t
launch_dtype_align(PyArray_Descr *dtype)
{
    size_t size = (size_t)PyDataType_ELSIZE(dtype);
    PyObject *fields = PyDataType_FIELDS(dtype);
    PyObject *names = PyDataType_NAMES(dtype);
    if (fields == NULL || fields == Py_None || names == NULL) {
        size_t align = (size_t)PyDataType_ALIGNMENT(dtype);
        return align == 0 ? 1 : align;
    }
    size_t widest = 1;
    Py_ssize_t n = PyTuple_GET_SIZE(names);
    int alike = n == 2 || n == 4;
    PyArray_Descr *first = NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        PyObject *field = PyDict_GetItemWithError(fields, name);
        if (field == NULL) {
            return widest; /* names and fields disagree: no dtype does that */
        }
        PyArray_Descr *member = (PyArray_Descr *)PyTuple_GET_ITEM(field, 0);
        size_t align = (size_t)PyDataType_ALIGNMENT(member);
        widest = align > widest ? align : widest;
        first = first == NULL ? member : first;
        alike &= member->type_num == first->type_num &&
                 PyUnicode_GET_LENGTH(name) == 1 &&
                 PyUnicode_READ_CHAR(name, 0) == (Py_UCS4) "xyzw"[i & 3];
    }
    size_t vector = size > 16 ? 16 : size;
    return alike && (vector & (vector - 1)) == 0 ? vector : widest;
}

/* By value, but for managed memory, which the device reaches by its address. */
static int
launch_put_array(launch_pack *p, PyObject *arg)
{
    PyArrayObject *array = (PyArrayObject *)arg;
    PyArray_Descr *dtype = PyArray_DESCR(array);
    size_t size = (size_t)PyArray_NBYTES(array);
    int structure = PyDataType_HASFIELDS(dtype) || dtype->type_num == NPY_VOID;
    if (pcu_array_check_meaning(array, "the value of a kernel argument") < 0) {
        return -1;
    }
    PyObject *managed = pcu_managed_of_array(p->function->st, array);
    if (managed != NULL) {
        return pcu_resource_check((pcu_resource *)managed, launch_routine) < 0
                   ? -1
                   : launch_put_pointer(p, arg, (uintptr_t)PyArray_DATA(array));
    }
    if (PyDataType_REFCHK(dtype)) {
        PyErr_Format(PyExc_TypeError,
                     "argument %zd of %U is an array of Python objects", p->index,
                     p->function->name);
        return -1;
    }
    if (!PyArray_IS_C_CONTIGUOUS(array)) {
        PyErr_Format(
            PyExc_ValueError,
            "argument %zd of %U is an array with gaps, which cannot be passed by "
            "value",
            p->index, p->function->name);
        return -1;
    }
    void *place = launch_place(p, arg, size, launch_dtype_align(dtype), structure);
    if (place == NULL) {
        return -1;
    }
    memcpy(place, PyArray_DATA(array), size);
    return 0;
}

/* The bytes of a scalar. For a dtype that a library registered (bfloat16), NumPy gives
 * their address instead. */
static void
launch_copy_scalar(PyObject *arg, PyArray_Descr *dtype, void *place, size_t size)
{
    void *bytes = NULL;
    if (PyTypeNum_ISUSERDEF(dtype->type_num)) {
        PyArray_ScalarAsCtype(arg, &bytes);
        memcpy(place, bytes, size);
    }
    else {
        PyArray_ScalarAsCtype(arg, place);
    }
}

/* np.void, np.datetime64, ...: by value. */
static int
launch_put_scalar(launch_pack *p, PyObject *arg)
{
    PyArray_Descr *dtype = PyArray_DescrFromScalar(arg);
    int rc = -1;
    if (dtype == NULL) {
        return -1;
    }
    size_t size = (size_t)PyDataType_ELSIZE(dtype);
    if (PyDataType_REFCHK(dtype) || PyArray_IsScalar(arg, Character) ||
        PyArray_IsScalar(arg, LongDouble) || PyArray_IsScalar(arg, CLongDouble)) {
        PyErr_Format(PyExc_TypeError, "argument %zd of %U: the device has no %s",
                     p->index, p->function->name, Py_TYPE(arg)->tp_name);
    }
    else if (PyArray_IsScalar(arg, Void)) {
        if (pcu_dtype_check_meaning(dtype, "the value of a kernel argument") < 0) {
            goto done;
        }
        void *place = launch_place(p, arg, size, launch_dtype_align(dtype), 1);
        if (place != NULL) {
            memcpy(place, ((PyVoidScalarObject *)arg)->obval, size);
            rc = 0;
        }
    }
    else {
        void *place = launch_place(p, arg, size, launch_dtype_align(dtype), 0);
        if (place != NULL) {
            launch_copy_scalar(arg, dtype, place, size);
            rc = 0;
        }
    }
done:
    Py_DECREF(dtype);
    return rc;
}

static int
launch_put_handler(launch_pack *p, PyObject *arg, int exact)
{
    CUdeviceptr pointer = 0;
    if (p->handlers == NULL) {
        p->handlers = PyMem_Calloc((size_t)p->nargs, sizeof(p->handlers[0]));
        if (p->handlers == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    if (exact) {
        p->handlers[p->index] = pcu_handler_alloc_new((pcu_handler *)arg, &pointer);
        if (p->handlers[p->index] == NULL) {
            return -1;
        }
    }
    else if (pcu_handler_method_pointer(arg, &pointer) < 0) {
        return -1;
    }
    return launch_put_pointer(p, arg, pointer);
}

/* The entry "stream" of a __cuda_array_interface__; NULL without an exception if it has
 * none. */
static PyObject *
launch_interface_stream_new(pcu_state *st, PyObject *interface)
{
    if (PyDict_CheckExact(interface)) {
        return Py_XNewRef(PyDict_GetItemWithError(interface, st->str_stream));
    }
    PyObject *stream = PyObject_GetItem(interface, st->str_stream);
    if (stream == NULL && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear(); /* the entry is optional */
    }
    return stream;
}

/* Let the launch come after the work that the interface's stream has queued. */
static int
launch_interface_order(launch_pack *p, PyObject *interface)
{
    pcu_state *st = p->function->st;
    unsigned long long bits = 0;
    PyObject *stream = launch_interface_stream_new(st, interface);
    int rc = -1;
    if (stream == NULL || stream == Py_None) {
        rc = PyErr_Occurred() ? -1 : 0;
    }
    else if (pcu_as_integer(stream, 1, UINT64_MAX, &bits,
                            "__cuda_array_interface__['stream']") == 0) {
        CUstream before = (CUstream)(uintptr_t)bits;
        rc = p->stream == NULL ? pcu_stream_synchronize(st, before)
                               : pcu_stream_order(st, before, *p->stream);
    }
    Py_XDECREF(stream);
    return rc;
}

/* The address in a __cuda_array_interface__: 1 if there is one, 0 if not. */
static int
launch_interface_pointer(launch_pack *p, PyObject *arg, unsigned long long *pointer)
{
    pcu_state *st = p->function->st;
    PyObject *interface = pcu_attribute_new(arg, st->str___cuda_array_interface__);
    PyObject *data = NULL;
    PyObject *address = NULL;
    int found = -1;
    if (interface == NULL || interface == Py_None || !PyMapping_Check(interface) ||
        PyMapping_Size(interface) <= 0) {
        found = PyErr_Occurred() ? -1 : 0;
        goto done;
    }
    data = PyObject_GetItem(interface, st->str_data);
    if (data != NULL && !PySequence_Check(data)) {
        PyErr_Format(PyExc_TypeError,
                     "argument %zd of %U: __cuda_array_interface__['data'] must be a "
                     "pair (address, read-only), not %s",
                     p->index, p->function->name, Py_TYPE(data)->tp_name);
        goto done;
    }
    address = data == NULL ? NULL : PySequence_GetItem(data, 0);
    if (address != NULL &&
        pcu_as_address(address, pointer, "__cuda_array_interface__['data'][0]") == 0 &&
        launch_interface_order(p, interface) == 0) {
        found = 1;
    }
done:
    Py_XDECREF(interface);
    Py_XDECREF(data);
    Py_XDECREF(address);
    return found;
}

static int
launch_refuse(launch_pack *p, PyObject *arg)
{
    const char *hint = "";
    if (PyBool_Check(arg)) {
        hint = "; wrap it, as in numpy.bool_(x) or numpy.int32(x)";
    }
    else if (PyLong_Check(arg)) {
        hint =
            "; wrap it in the parameter's type, as in numpy.int32(x), or "
            "numpy.uintp(x) "
            "for an address";
    }
    else if (PyFloat_Check(arg)) {
        hint = "; wrap it in the parameter's type, as in numpy.float32(x)";
    }
    else if (PyComplex_Check(arg)) {
        hint = "; wrap it in the parameter's type, as in numpy.complex64(x)";
    }
    PyErr_Format(PyExc_TypeError,
                 "argument %zd of %U is a %s, which has no fixed size%s", p->index,
                 p->function->name, Py_TYPE(arg)->tp_name, hint);
    return -1;
}

/* Arguments known by what they offer, not by their type. */
static int
launch_put_by_protocol(launch_pack *p, PyObject *arg)
{
    pcu_state *st = p->function->st;
    unsigned long long pointer = 0;
    int found = pcu_texture_argument(st, arg, &pointer);
    if (found == 0) {
        found = launch_interface_pointer(p, arg, &pointer);
    }
    if (found != 0) {
        return found < 0 ? -1 : launch_put_pointer(p, arg, pointer);
    }
    PyObject *gpudata = pcu_attribute_new(arg, st->str_gpudata);
    if (gpudata == NULL && PyErr_Occurred()) {
        return -1;
    }
    if (gpudata != NULL) {
        int rc = gpudata == Py_None ? 0 : pcu_as_address(gpudata, &pointer, "gpudata");
        Py_DECREF(gpudata);
        return rc < 0 ? -1 : launch_put_pointer(p, arg, pointer);
    }
    if (PyObject_TypeCheck(arg, st->PointerHolderBase)) {
        return pcu_as_integer(arg, 0, UINT64_MAX, &pointer, "get_pointer()") < 0
                   ? -1
                   : launch_put_pointer(p, arg, pointer);
    }
    if (PyObject_CheckBuffer(arg)) {
        pcu_buffer buffer = {0};
        if (pcu_buffer_acquire(&buffer, arg, 0, "a kernel argument") < 0) {
            return -1;
        }
        void *place = launch_place(p, arg, buffer.size, 1, 0);
        if (place != NULL) {
            memcpy(place, buffer.data, buffer.size);
        }
        pcu_buffer_release(&buffer);
        return place == NULL ? -1 : 0;
    }
    return launch_refuse(p, arg);
}

#define LAUNCH_SCALAR(Name, ctype, align)                                       \
    if (type == &Py##Name##ArrType_Type) {                                      \
        return launch_put(p, arg, &PyArrayScalar_VAL(arg, Name), sizeof(ctype), \
                          align);                                               \
    }

static int
launch_put_one(launch_pack *p, PyObject *arg)
{
    pcu_state *st = p->function->st;
    PyTypeObject *type = Py_TYPE(arg);
    if (type == st->DeviceAllocation || type == st->PooledDeviceAllocation) {
        return launch_put_memory(p, arg);
    }
    if (type == st->GPUArray) {
        return launch_put_gpuarray(p, arg);
    }
    LAUNCH_SCALAR(Int, npy_int, sizeof(npy_int))
    LAUNCH_SCALAR(Float, npy_float, sizeof(npy_float))
    LAUNCH_SCALAR(Double, npy_double, sizeof(npy_double))
    LAUNCH_SCALAR(Long, npy_long, sizeof(npy_long))
    LAUNCH_SCALAR(UInt, npy_uint, sizeof(npy_uint))
    LAUNCH_SCALAR(ULong, npy_ulong, sizeof(npy_ulong))
    if (type == st->In || type == st->Out || type == st->InOut) {
        return launch_put_handler(p, arg, 1);
    }
    LAUNCH_SCALAR(LongLong, npy_longlong, sizeof(npy_longlong))
    LAUNCH_SCALAR(ULongLong, npy_ulonglong, sizeof(npy_ulonglong))
    LAUNCH_SCALAR(Short, npy_short, sizeof(npy_short))
    LAUNCH_SCALAR(UShort, npy_ushort, sizeof(npy_ushort))
    LAUNCH_SCALAR(Byte, npy_byte, sizeof(npy_byte))
    LAUNCH_SCALAR(UByte, npy_ubyte, sizeof(npy_ubyte))
    LAUNCH_SCALAR(CFloat, npy_cfloat, sizeof(npy_float))
    LAUNCH_SCALAR(CDouble, npy_cdouble, sizeof(npy_double))
    if (PyArray_Check(arg)) {
        return launch_put_array(p, arg);
    }
    if (PyArray_IsScalar(arg, Generic)) {
        return launch_put_scalar(p, arg);
    }
    if (PyObject_TypeCheck(arg, st->ArgumentHandler)) {
        return launch_put_handler(p, arg, 0);
    }
    if (PyObject_TypeCheck(arg, st->DeviceAllocation)) {
        return launch_put_memory(p, arg);
    }
    if (PyObject_TypeCheck(arg, st->IPCMemoryHandle)) {
        return launch_put_pointer(p, arg, ((pcu_resource *)arg)->handle.ipc_memory);
    }
    return launch_put_by_protocol(p, arg);
}

int
pcu_launch_pack(pcu_function *self, PyObject *const *args, Py_ssize_t nargs,
                const CUstream *stream, pcu_argbuf *buffer, PyObject ***handlers)
{
    launch_pack p = {
        .function = self, .buffer = buffer, .stream = stream, .nargs = nargs};
    int rc = 0;
    if (self->nparams >= 0) {
        if (nargs != self->nparams) {
            PyErr_Format(PyExc_TypeError, "%U takes %zd argument%s (%zd given)",
                         self->name, self->nparams, self->nparams == 1 ? "" : "s",
                         nargs);
            return -1;
        }
        void *block = pcu_argbuf_reserve(buffer, self->params_size, 1);
        if (block == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        memset(block, 0, self->params_size);
    }
    for (p.index = 0; rc == 0 && p.index < nargs; p.index++) {
        rc = launch_put_one(&p, args[p.index]);
    }
    *handlers = p.handlers;
    return rc;
}

/* -- the call ---------------------------------------------------------------------- */

typedef struct {
    pcu_launch_shape shape;
    PyObject *stream; /* borrowed; Py_None if not given */
    int has_block;
    int timed;
} launch_call;

static int
launch_keyword(pcu_state *st, launch_call *call, PyObject *name, PyObject *value)
{
    if (name == st->str_block) {
        call->has_block = value != Py_None;
        return call->has_block ? pcu_as_dims(st, value, call->shape.block, "block") : 0;
    }
    if (name == st->str_grid) {
        return pcu_as_dims(st, value, call->shape.grid, "grid");
    }
    if (name == st->str_stream) {
        call->stream = value;
        return pcu_as_stream(st, value, &call->shape.stream, "stream");
    }
    if (name == st->str_shared) {
        return pcu_as_uint(st, value, &call->shape.shared, "shared");
    }
    if (name == st->str_texrefs) {
        return value == Py_None ? 0 : pcu_texrefs_check(st, value, 1);
    }
    if (name == st->str_time_kernel) {
        call->timed = PyObject_IsTrue(value);
        return call->timed < 0 ? -1 : 0;
    }
    return 1;
}

/* Names built at run time are not the interned ones: find the equal one. */
static int
launch_keyword_slow(pcu_state *st, launch_call *call, PyObject *name, PyObject *value)
{
    PyObject *known[] = {st->str_block,  st->str_grid,    st->str_stream,
                         st->str_shared, st->str_texrefs, st->str_time_kernel};
    for (size_t i = 0; i < Py_ARRAY_LENGTH(known); i++) {
        if (PyUnicode_Compare(name, known[i]) == 0) {
            return launch_keyword(st, call, known[i], value);
        }
    }
    if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_ValueError,
                     "a kernel call takes block, grid, stream, shared, texrefs and "
                     "time_kernel by keyword, not '%U'",
                     name);
    }
    return -1;
}

static int
launch_keywords(pcu_function *self, launch_call *call, PyObject *const *values,
                PyObject *kwnames)
{
    Py_ssize_t n = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        int rc = launch_keyword(self->st, call, name, values[i]);
        if (rc == 1) {
            rc = launch_keyword_slow(self->st, call, name, values[i]);
        }
        if (rc < 0) {
            return -1;
        }
    }
    if (!call->has_block) {
        PyErr_Format(PyExc_ValueError,
                     "%U: block= must be given, as in block=(256, 1, 1)", self->name);
        return -1;
    }
    return 0;
}

static double
launch_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Launch between two synchronisations; the seconds between them. */
static int
launch_timed(pcu_function *self, const launch_call *call, pcu_argbuf *buffer,
             double *seconds)
{
    if (pcu_launch_synchronize(self->st, call->shape.stream) < 0) {
        return -1;
    }
    double start = launch_seconds();
    if (pcu_launch_run(self, &call->shape, buffer->data, buffer->used) < 0 ||
        pcu_launch_synchronize(self->st, call->shape.stream) < 0) {
        return -1;
    }
    *seconds = launch_seconds() - start;
    return 0;
}

PyObject *
pcu_function_vectorcall(PyObject *op, PyObject *const *args, size_t nargsf,
                        PyObject *kwnames)
{
    pcu_function *self = (pcu_function *)op;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    launch_call call;
    pcu_argbuf buffer;
    double seconds = 0;
    PyObject **handlers = NULL;
    PyObject *result = NULL;
    memset(&call, 0, sizeof(call));
    call.shape.grid[0] = call.shape.grid[1] = call.shape.grid[2] = 1;
    call.shape.stream = pcu_current_stream();
    call.stream = Py_None;
    if (launch_keywords(self, &call, args + nargs, kwnames) < 0 ||
        (!self->described && pcu_function_describe(self) < 0)) {
        return NULL;
    }
    pcu_argbuf_init(&buffer);
    if (pcu_launch_check(self, &call.shape) < 0 ||
        pcu_launch_pack(self, args, nargs, &call.shape.stream, &buffer, &handlers) <
            0 ||
        (handlers != NULL &&
         pcu_handlers_before(self->st, args, nargs, handlers, call.stream) < 0)) {
        goto done;
    }
    if ((call.timed
             ? launch_timed(self, &call, &buffer, &seconds)
             : pcu_launch_run(self, &call.shape, buffer.data, buffer.used)) < 0) {
        goto done;
    }
    if (handlers != NULL && pcu_handlers_after(self->st, args, nargs, handlers,
                                               call.stream, call.shape.stream) < 0) {
        goto done;
    }
    result = call.timed ? PyFloat_FromDouble(seconds) : Py_NewRef(Py_None);
done:
    pcu_handlers_release(handlers, nargs);
    pcu_argbuf_free(&buffer);
    return result;
}
