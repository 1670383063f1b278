/* _gather: the arguments of a program's own elementwise, reduction or scan kernel,
 * checked and converted to the arguments of a prepared call.
 *
 * It accepts the usual cases. pycuda/_array/kernels/kernel_arguments.py handles all
 * others. */

#include "python/array/type/kernel_arguments.h"

#include "python/array/element_type.h"
#include "python/array/memory.h"
#include "python/array/type/members.h"
#include "python/array/type/plain_array.h"
#include "python/driver/context.h"
#include "python/driver/resource.h"

/* 1 if the elements of the array are certainly what the kernel declares. Integers may
 * have another sign. */
static int
gather_matches(const pcu_gpuarray *array, PyArray_Descr *declared)
{
    if (array->dtype == declared) {
        return 1;
    }
    int type = pcu_type_of_dtype(declared);
    if (!pcu_type_is_number(type)) {
        return 0;
    }
    if (!pcu_type_is_integer(type)) {
        return type == array->type;
    }
    return pcu_type_is_integer(array->type) &&
           PyDataType_ELSIZE(declared) == PyDataType_ELSIZE(array->dtype);
}

static int
gather_accepts(const pcu_kernel_arguments *call, const pcu_gpuarray *array,
               PyObject *declared, int use)
{
    return array->dtype != NULL && pcu_gpuarray_is_plain(array) &&
           PyArray_DescrCheck(declared) &&
           (array->contiguous & call->first->contiguous) != 0 &&
           (use != PCU_USE_ELEMENTS || array->count >= call->extent) &&
           gather_matches(array, (PyArray_Descr *)declared);
}

/* 1 if the memory of the array belongs to another context than the current one. */
static int
gather_is_elsewhere(const pcu_gpuarray *array)
{
    const pcu_resource *memory = pcu_gpuarray_allocation(array);
    return memory != NULL && pcu_context_rec(memory->ctx) != pcu_ctx_current;
}

int
pcu_kernel_arguments_check(const pcu_kernel_arguments *call, Py_ssize_t i)
{
    PyObject *value = call->args[i];
    pcu_gpuarray *array = (pcu_gpuarray *)value;
    if (!pcu_is_array(call->st, value) ||
        !gather_accepts(call, array, PyTuple_GET_ITEM(call->dtypes, i),
                        call->uses[i])) {
        return 0;
    }
    int is_view = array->gpudata == NULL; /* else the memory is checked when packed */
    if ((is_view || !array->inside || gather_is_elsewhere(array)) &&
        pcu_gpuarray_check_current(array) < 0) {
        return -1;
    }
    return 1;
}

int
pcu_kernel_arguments_address(const pcu_kernel_arguments *call, Py_ssize_t i,
                             CUdeviceptr *address)
{
    int known = pcu_kernel_arguments_check(call, i);
    if (known <= 0) {
        return known;
    }
    const pcu_gpuarray *array = (const pcu_gpuarray *)call->args[i];
    PyObject *memory = array->gpudata;
    *address = array->address;
    if (memory == NULL) {
        return 1; /* a view */
    }
    if (memory == Py_None) {
        *address = 0;
        return 1;
    }
    if (Py_IS_TYPE(memory, call->st->DeviceAllocation) ||
        Py_IS_TYPE(memory, call->st->PooledDeviceAllocation)) {
        *address = ((pcu_resource *)memory)->handle.memory;
        if (pcu_resource_check((pcu_resource *)memory, "cuLaunchKernel") < 0) {
            return -1;
        }
        return 1;
    }
    return PyLong_CheckExact(memory);
}

/* -- _gather ----------------------------------------------------------------------- */

/* The argument for an array: an allocation or an address. NULL without an exception if
 * Python has to handle the call. */
static PyObject *
gather_array(const pcu_kernel_arguments *call, Py_ssize_t i)
{
    if (pcu_kernel_arguments_check(call, i) <= 0) {
        return NULL;
    }
    pcu_gpuarray *array = (pcu_gpuarray *)call->args[i];
    if (array->gpudata == Py_None) {
        return PyLong_FromLong(0);
    }
    if (array->gpudata == NULL) {
        array->gpudata = PyLong_FromUnsignedLongLong(array->address);
    }
    return Py_XNewRef(array->gpudata);
}

static PyObject *
gather_argument(const pcu_kernel_arguments *call, Py_ssize_t i)
{
    if (call->uses[i] == PCU_USE_SCALAR) {
        return Py_NewRef(call->args[i]);
    }
    return gather_array(call, i);
}

/* The list of arguments; None if Python has to handle the call. */
static PyObject *
gather_list_new(const pcu_kernel_arguments *call)
{
    PyObject *values = PyList_New(call->count);
    if (values == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < call->count; i++) {
        PyObject *given = gather_argument(call, i);
        if (given == NULL) {
            Py_DECREF(values);
            if (PyErr_Occurred()) {
                return NULL;
            }
            Py_RETURN_NONE;
        }
        PyList_SET_ITEM(values, i, given);
    }
    return values;
}

static int
gather_check_types(PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs == 5 && PyTuple_Check(args[0]) && PyTuple_Check(args[1]) &&
        PyBytes_Check(args[2]) && PyLong_Check(args[3]) && PyLong_Check(args[4]) &&
        PyTuple_GET_SIZE(args[0]) == PyTuple_GET_SIZE(args[1]) &&
        PyTuple_GET_SIZE(args[0]) == PyBytes_GET_SIZE(args[2])) {
        return 0;
    }
    PyErr_SetString(PyExc_TypeError, "_gather takes two tuples, bytes and two ints");
    return -1;
}

PyDoc_STRVAR(
    gather_doc,
    "_gather($module, args, dtypes, uses, first, extent, /)\n--\n\n"
    "Return the arguments of a prepared kernel as a list.\n\n"
    "None if an array is not certainly what the kernel declares. uses has a byte for\n"
    "each argument: 0 for a number, 1 for an array, 2 for an array of which the "
    "kernel\n"
    "uses elements 0 to extent - 1 (-1: as many as the first array has).");

static PyObject *
gather(PyObject *m, PyObject *const *args, Py_ssize_t nargs)
{
    pcu_kernel_arguments call = {.st = pcu_state_of_module(m)};
    if (gather_check_types(args, nargs) < 0) {
        return NULL;
    }
    call.args = ((PyTupleObject *)args[0])->ob_item;
    call.dtypes = args[1];
    call.uses = PyBytes_AS_STRING(args[2]);
    call.count = PyTuple_GET_SIZE(args[0]);
    Py_ssize_t number = PyLong_AsSsize_t(args[3]);
    Py_ssize_t extent = PyLong_AsSsize_t(args[4]);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (number < 0 || number >= call.count ||
        !Py_IS_TYPE(call.args[number], call.st->GPUArray)) {
        Py_RETURN_NONE;
    }
    call.first = (pcu_gpuarray *)call.args[number];
    call.extent = (size_t)extent;
    if (extent < 0) {
        call.extent = call.first->count;
    }
    return gather_list_new(&call);
}

PyMethodDef pcu_kernel_arguments_functions[] = {
    {"_gather", (PyCFunction)(void (*)(void))gather, METH_FASTCALL, gather_doc},
    {NULL, NULL, 0, NULL},
};
