/* Prepared calls: the argument types are compiled once into (character, size, place),
 * then each call packs without looking at types or keywords.
 *
 * Where the driver says how the parameters lie and the format has one item per
 * parameter, values go to the parameters' places, and integers take the parameter's
 * size, so that formats written with pointer-sized items for everything still pass the
 * right values. Otherwise the layout is the format's own, with natural alignment. */
#include "python/support/base.h"

#include <complex.h>

#include "python/support/buffer.h"
#include "python/support/convert.h"
#include "python/driver/launch/launch.h"
#include "python/driver/memory/pointer.h"
#include "python/driver/stream.h"
#include "python/driver/texture/reference.h"

/* -- the format -------------------------------------------------------------------- */

/* The size of a format character, 0 if there is no such character. */
static size_t
prepared_code_size(char code)
{
    switch (code) {
        case 'x':
        case 'b':
        case 'B':
        case 'c':
        case '?':
        case 's':
        case 'p':
            return 1;
        case 'h':
        case 'H':
        case 'e':
            return 2;
        case 'i':
        case 'I':
        case 'f':
            return 4;
        case 'l':
        case 'L':
            return sizeof(long);
        case 'q':
        case 'Q':
        case 'n':
        case 'N':
        case 'd':
        case 'P':
        case 'F':
            return 8;
        case 'D':
            return 16;
        default:
            return 0;
    }
}

static size_t
prepared_code_align(char code)
{
    size_t size = prepared_code_size(code);
    return code == 'F' || code == 'D' ? size / 2 : size;
}

static int
prepared_code_is_integer(char code)
{
    return strchr("bBhHiIlLnNqQP?", code) != NULL;
}

typedef struct {
    pcu_prepared_arg *items;
    Py_ssize_t count;
    Py_ssize_t capacity;
    size_t used; /* bytes of the natural layout */
    int padded;  /* 'x' occurs: the layout is the format's own */
} prepared_plan;

static int
prepared_add(prepared_plan *plan, char code, size_t size)
{
    if (plan->count == plan->capacity) {
        Py_ssize_t capacity = plan->capacity == 0 ? 8 : 2 * plan->capacity;
        pcu_prepared_arg *items =
            PyMem_Realloc(plan->items, (size_t)capacity * sizeof(*items));
        if (items == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        plan->items = items;
        plan->capacity = capacity;
    }
    size_t align = prepared_code_align(code);
    size_t offset = (plan->used + align - 1) & ~(align - 1);
    plan->items[plan->count++] = (pcu_prepared_arg){
        .code = code, .size = size, .align = align, .offset = offset};
    plan->used = offset + size;
    return 0;
}

/* Parse "[@]{[count]char}" into the plan. */
static int
prepared_parse(prepared_plan *plan, const char *format)
{
    const char *c = format[0] == '@' ? format + 1 : format;
    for (; *c != '\0'; c++) {
        size_t count = 1;
        if (Py_ISSPACE(*c)) {
            continue;
        }
        if (Py_ISDIGIT(*c)) {
            char *end = NULL;
            count = strtoul(c, &end, 10);
            c = end;
        }
        if (prepared_code_size(*c) == 0 || count > 65536) {
            PyErr_Format(PyExc_ValueError, "bad argument format '%s' at '%s'", format,
                         c);
            return -1;
        }
        if (*c == 'x') {
            plan->used += count;
            plan->padded = 1;
        }
        else if (*c == 's' || *c == 'p') {
            if (prepared_add(plan, *c, count) < 0) {
                return -1;
            }
        }
        else {
            for (size_t i = 0; i < count; i++) {
                if (prepared_add(plan, *c, prepared_code_size(*c)) < 0) {
                    return -1;
                }
            }
        }
    }
    return 0;
}

/* Put item i where the kernel's parameter i is. */
static int
prepared_fit(pcu_function *self, pcu_prepared_arg *item, Py_ssize_t i)
{
    const pcu_param *param = &self->params[i];
    int resizable =
        prepared_code_is_integer(item->code) &&
        (param->size == 1 || param->size == 2 || param->size == 4 || param->size == 8);
    int structure =
        item->code == 's' && item->size < param->size && param->size - item->size < 16;
    if (item->size != param->size && !resizable && !structure) {
        PyErr_Format(
            PyExc_TypeError,
            "argument %zd of %U is '%c' of %zu bytes, but that parameter takes %zu", i,
            self->name, item->code, item->size, param->size);
        return -1;
    }
    if (resizable) {
        item->size = param->size;
    }
    item->offset = param->offset;
    return 0;
}

/* The size of a layout with the padding at the end that a structure has which holds
 * the items of the last parameter. */
static size_t
prepared_padded_size(const pcu_function *self, const prepared_plan *plan)
{
    size_t align = 1;
    size_t last = self->nparams == 0 ? 0 : self->params[self->nparams - 1].offset;
    for (Py_ssize_t i = 0; i < plan->count; i++) {
        const pcu_prepared_arg *item = &plan->items[i];
        if (item->offset >= last && item->align > align) {
            align = item->align;
        }
    }
    return (plan->used + align - 1) & ~(align - 1);
}

/* 1 if each item lies within one parameter, as the members of structures do. */
static int
prepared_items_lie_inside(const pcu_function *self, const prepared_plan *plan)
{
    Py_ssize_t k = 0;
    for (Py_ssize_t i = 0; i < plan->count; i++) {
        const pcu_prepared_arg *item = &plan->items[i];
        while (k < self->nparams &&
               item->offset >= self->params[k].offset + self->params[k].size) {
            k++;
        }
        if (item->code != 's' &&
            (k == self->nparams || item->offset < self->params[k].offset ||
             item->offset + item->size >
                 self->params[k].offset + self->params[k].size)) {
            return 0;
        }
    }
    return 1;
}

/* A format with one item for each parameter takes the parameters' places. Another one
 * names the members of structures: then its own layout has to be the kernel's. */
static int
prepared_fit_all(pcu_function *self, prepared_plan *plan)
{
    if (self->nparams < 0) {
        return 0;
    }
    if (plan->count != self->nparams || plan->padded) {
        if ((plan->used != self->params_size &&
             prepared_padded_size(self, plan) != self->params_size) ||
            !prepared_items_lie_inside(self, plan)) {
            PyErr_Format(PyExc_TypeError,
                         "the format describes %zd argument%s of %zu bytes, but %U "
                         "takes %zd of %zu",
                         plan->count, plan->count == 1 ? "" : "s", plan->used,
                         self->name, self->nparams, self->params_size);
            return -1;
        }
        plan->used = self->params_size;
        return 0;
    }
    for (Py_ssize_t i = 0; i < plan->count; i++) {
        if (prepared_fit(self, &plan->items[i], i) < 0) {
            return -1;
        }
    }
    plan->used = self->params_size;
    return 0;
}

void
pcu_prepared_release(pcu_prepared *plan)
{
    if (plan != NULL && --plan->references == 0) {
        PyMem_Free(plan);
    }
}

/* What an integer may be. */
static void
prepared_set_range(pcu_prepared_arg *item)
{
    int is_signed = strchr("bhilnq", item->code) != NULL;
    unsigned int width = (unsigned int)(8 * item->size);
    unsigned long long top = width >= 64 ? UINT64_MAX : (1ULL << width) - 1;
    item->low = is_signed || item->code == 'P' ? -(long long)(top >> 1) - 1 : 0;
    item->high = is_signed ? top >> 1 : top;
}

/* The finished plan; frees the array it was built in. */
static pcu_prepared *
prepared_new(prepared_plan *plan)
{
    size_t bytes = (size_t)plan->count * sizeof(plan->items[0]);
    for (Py_ssize_t i = 0; i < plan->count; i++) {
        if (prepared_code_is_integer(plan->items[i].code)) {
            prepared_set_range(&plan->items[i]);
        }
    }
    pcu_prepared *prepared = PyMem_Malloc(sizeof(*prepared) + bytes);
    if (prepared == NULL) {
        PyErr_NoMemory();
    }
    else {
        prepared->references = 1;
        prepared->count = plan->count;
        prepared->size = plan->used;
        if (bytes != 0) {
            memcpy(prepared->items, plan->items, bytes);
        }
    }
    PyMem_Free(plan->items);
    return prepared;
}

/* -- prepare()
 * ------------------------------------------------------------------------------------
 */

/* The format of one element of arg_types. New reference. */
static PyObject *
prepared_element_format(PyObject *element)
{
    PyArray_Descr *dtype = NULL;
    if (PyUnicode_Check(element)) {
        return Py_NewRef(element);
    }
    int scalar_type = PyType_Check(element) &&
                      PyType_IsSubtype((PyTypeObject *)element, &PyNumberArrType_Type);
    if (!scalar_type && !PyArray_DescrCheck(element)) {
        return PyUnicode_FromString("P");
    }
    if (!PyArray_DescrConverter(element, &dtype)) {
        return NULL;
    }
    PyObject *format =
        PyDataType_HASFIELDS(dtype) || dtype->type_num == NPY_VOID
            ? PyUnicode_FromFormat("%zds", (Py_ssize_t)PyDataType_ELSIZE(dtype))
            : PyUnicode_FromFormat("%c", dtype->type);
    Py_DECREF(dtype);
    return format;
}

static PyObject *
prepared_format_new(PyObject *arg_types)
{
    if (PyUnicode_Check(arg_types)) {
        return Py_NewRef(arg_types);
    }
    PyObject *items = PySequence_Tuple(arg_types);
    PyObject *parts = items == NULL ? NULL : PyList_New(0);
    PyObject *empty = parts == NULL ? NULL : PyUnicode_FromString("");
    PyObject *format = NULL;
    if (empty == NULL) {
        goto done;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++) {
        PyObject *part = prepared_element_format(PyTuple_GET_ITEM(items, i));
        int rc = part == NULL ? -1 : PyList_Append(parts, part);
        Py_XDECREF(part);
        if (rc < 0) {
            goto done;
        }
    }
    format = PyUnicode_Join(empty, parts);
done:
    Py_XDECREF(items);
    Py_XDECREF(parts);
    Py_XDECREF(empty);
    return format;
}

typedef struct {
    PyObject *arg_types;
    PyObject *texrefs;
} prepare_args;

/* Take the texture references of prepare(). */
static int
prepared_take_texrefs(PyObject *op, PyObject *texrefs)
{
    pcu_state *st = ((pcu_function *)op)->st;
    PyObject *list = texrefs == NULL || texrefs == Py_None ? PyList_New(0)
                                                           : PySequence_List(texrefs);
    PyObject *kept = list == NULL ? NULL : PySequence_Tuple(list);
    int rc = kept == NULL || pcu_texrefs_check(st, kept, 0) < 0 ||
                     PyObject_SetAttr(op, st->str_texrefs, list) < 0
                 ? -1
                 : 0;
    if (rc == 0) {
        PyObject *none = PyTuple_GET_SIZE(kept) == 0 ? NULL : Py_NewRef(kept);
        Py_XSETREF(((pcu_function *)op)->texrefs, none);
    }
    Py_XDECREF(kept);
    Py_XDECREF(list);
    return rc;
}

/* Compile a format into *prepared, which the caller releases. */
static int
prepared_compile(pcu_function *self, PyObject *format, pcu_prepared **prepared)
{
    prepared_plan plan = {0};
    const char *text = pcu_as_name(format, "the format");
    if (text == NULL || pcu_function_describe(self) < 0 ||
        prepared_parse(&plan, text) < 0 || prepared_fit_all(self, &plan) < 0) {
        PyMem_Free(plan.items);
        return -1;
    }
    *prepared = prepared_new(&plan);
    return *prepared == NULL ? -1 : 0;
}

/* From here on prepared calls use this plan; takes it over. */
static void
prepared_install(pcu_function *self, PyObject *format, pcu_prepared *prepared)
{
    pcu_prepared_release(self->prepared);
    self->prepared = prepared;
    Py_XSETREF(self->arg_format, Py_NewRef(format));
}

PyObject *
pcu_function_prepare(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"arg_types", pcu_as_object, offsetof(prepare_args, arg_types)},
        {"texrefs", pcu_as_object, offsetof(prepare_args, texrefs)},
    };
    static const pcu_argtable table = {"prepare", specs, 2, 1, 0};
    pcu_function *self = (pcu_function *)op;
    prepare_args a = {0};
    pcu_prepared *prepared = NULL;
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    PyObject *format = prepared_format_new(a.arg_types);
    if (format == NULL || prepared_compile(self, format, &prepared) < 0 ||
        prepared_take_texrefs(op, a.texrefs) < 0) {
        pcu_prepared_release(prepared);
        Py_XDECREF(format);
        return NULL;
    }
    prepared_install(self, format, prepared);
    Py_DECREF(format);
    return Py_NewRef(op);
}

PyObject *
pcu_function_get_arg_format(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_function *self = (pcu_function *)op;
    if (self->arg_format == NULL) {
        PyErr_Format(PyExc_AttributeError,
                     "%U has no arg_format: call prepare(), or set it", self->name);
        return NULL;
    }
    return Py_NewRef(self->arg_format);
}

int
pcu_function_set_arg_format(PyObject *op, PyObject *format, void *Py_UNUSED(closure))
{
    pcu_function *self = (pcu_function *)op;
    pcu_prepared *prepared = NULL;
    if (format == NULL) {
        pcu_prepared_release(self->prepared);
        self->prepared = NULL;
        Py_CLEAR(self->arg_format);
        return 0;
    }
    if (!PyUnicode_Check(format)) {
        PyErr_Format(PyExc_TypeError,
                     "arg_format must be a str such as 'Pif', not %s; prepare() takes "
                     "lists of types",
                     Py_TYPE(format)->tp_name);
        return -1;
    }
    if (prepared_compile(self, format, &prepared) < 0) {
        return -1;
    }
    prepared_install(self, format, prepared);
    return 0;
}

/* -- packing
 * ----------------------------------------------------------------------------------------
 */

static int
prepared_put_integer(const pcu_prepared_arg *item, PyObject *value,
                     unsigned char *place)
{
    unsigned long long bits = 0;
    if (pcu_as_integer(value, item->low, item->high, &bits, "the value") < 0) {
        return -1;
    }
    memcpy(place, &bits, item->size); /* little-endian, as every host of CUDA is */
    return 0;
}

static int
prepared_put_bytes(const pcu_prepared_arg *item, PyObject *value, unsigned char *place)
{
    static const char *const what = "the value of a kernel argument";
    pcu_buffer buffer = {0};
    size_t skip = item->code == 'p' ? 1 : 0;
    if (PyArray_Check(value) &&
        pcu_array_check_meaning((PyArrayObject *)value, what) < 0) {
        return -1;
    }
    if (PyArray_IsScalar(value, Void) &&
        pcu_dtype_check_meaning(((PyVoidScalarObject *)value)->descr, what) < 0) {
        return -1;
    }
    if (pcu_buffer_acquire(&buffer, value, 0, "the value") < 0) {
        return -1;
    }
    size_t room = item->size > skip ? item->size - skip : 0;
    size_t n = buffer.size < room ? buffer.size : room;
    memset(place, 0, item->size);
    if (skip != 0 && item->size != 0) {
        place[0] = (unsigned char)(n > 255 ? 255 : n);
    }
    memcpy(place + skip, buffer.data, n);
    pcu_buffer_release(&buffer);
    return 0;
}

static int
prepared_put_float(const pcu_prepared_arg *item, PyObject *value, unsigned char *place)
{
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        return -1;
    }
    if (item->code == 'd') {
        memcpy(place, &number, sizeof(number));
        return 0;
    }
    if (item->code == 'e') {
#if PY_VERSION_HEX < 0x030B0000
        return _PyFloat_Pack2(number, place, 1);
#else
        return PyFloat_Pack2(number, (char *)place, 1);
#endif
    }
    float single = (float)number;
    memcpy(place, &single, sizeof(single));
    return 0;
}

static int
prepared_put_complex(const pcu_prepared_arg *item, PyObject *value,
                     unsigned char *place)
{
    Py_complex number = PyComplex_AsCComplex(value);
    if (number.real == -1.0 && PyErr_Occurred()) {
        return -1;
    }
    double parts[2] = {number.real, number.imag};
    float singles[2] = {(float)number.real, (float)number.imag};
    memcpy(place, item->code == 'D' ? (void *)parts : (void *)singles, item->size);
    return 0;
}

/* What 'P' stands for: device memory, a texture or a surface. */
static int
prepared_pointer(pcu_state *st, PyObject *value, CUdeviceptr *pointer)
{
    int found = pcu_texture_argument(st, value, pointer);
    if (found != 0) {
        return found < 0 ? -1 : 0;
    }
    return pcu_as_pointer(st, value, pointer, "the value");
}

static int
prepared_put(pcu_state *st, const pcu_prepared_arg *item, PyObject *value,
             unsigned char *place)
{
    CUdeviceptr pointer = 0;
    int found;
    int truth;
    switch (item->code) {
        case 'P':
            if ((Py_IS_TYPE(value, st->DeviceAllocation) ||
                 Py_IS_TYPE(value, st->PooledDeviceAllocation)) &&
                item->size == sizeof(pointer)) {
                memcpy(place, &((pcu_resource *)value)->handle.memory, sizeof(pointer));
                return pcu_resource_check((pcu_resource *)value, "cuLaunchKernel");
            }
            if (item->size != sizeof(pointer) || PyLong_Check(value) ||
                PyArray_IsScalar(value, Integer)) {
                return prepared_put_integer(item, value, place);
            }
            if (prepared_pointer(st, value, &pointer) < 0) {
                return -1;
            }
            memcpy(place, &pointer, sizeof(pointer));
            return 0;
        case 'f':
            if (Py_IS_TYPE(value, &PyFloatArrType_Type)) {
                memcpy(place, &PyArrayScalar_VAL(value, Float), sizeof(float));
                return 0;
            }
            return prepared_put_float(item, value, place);
        case 'd':
        case 'e':
            return prepared_put_float(item, value, place);
        case 'i':
            if (Py_IS_TYPE(value, &PyIntArrType_Type) && item->size == sizeof(int)) {
                memcpy(place, &PyArrayScalar_VAL(value, Int), sizeof(int));
                return 0;
            }
            return prepared_put_integer(item, value, place);
        case 'F':
        case 'D':
            return prepared_put_complex(item, value, place);
        case 's':
        case 'p':
        case 'c':
            return prepared_put_bytes(item, value, place);
        case '?':
            truth = PyObject_IsTrue(value);
            memset(place, 0, item->size);
            place[0] = (unsigned char)(truth > 0);
            return truth < 0 ? -1 : 0;
        default:
            found = item->size == sizeof(pointer) && !PyIndex_Check(value)
                        ? pcu_texture_argument(st, value, &pointer)
                        : 0;
            if (found == 0) {
                return prepared_put_integer(item, value, place);
            }
            memcpy(place, &pointer, sizeof(pointer));
            return found < 0 ? -1 : 0;
    }
}

/* The class struct.error of _pvt_struct. */
static PyObject *
prepared_error_class_new(void)
{
    PyObject *module = PyImport_ImportModule("pycuda._pvt_struct");
    PyObject *error = module == NULL ? NULL : PyObject_GetAttrString(module, "error");
    Py_XDECREF(module);
    return error;
}

static int
prepared_bad_count(pcu_function *self, Py_ssize_t wanted, Py_ssize_t given)
{
    PyObject *error = prepared_error_class_new();
    if (error != NULL) {
        PyErr_Format(error, "%U was prepared for %zd arguments, %zd were given",
                     self->name, wanted, given);
        Py_DECREF(error);
    }
    return -1;
}

/* A value that does not fit its format is a struct.error with the position, caused by
 * what the conversion raised. Anything else that was raised stays what it is. */
static int
prepared_bad_value(pcu_function *self, char code, Py_ssize_t i)
{
    if (!PyErr_ExceptionMatches(PyExc_TypeError) &&
        !PyErr_ExceptionMatches(PyExc_ValueError) &&
        !PyErr_ExceptionMatches(PyExc_OverflowError)) {
        return -1;
    }
    PyObject *type = NULL;
    PyObject *cause = NULL;
    PyObject *traceback = NULL;
    PyErr_Fetch(&type, &cause, &traceback);
    PyErr_NormalizeException(&type, &cause, &traceback);
    PyObject *error = prepared_error_class_new();
    PyObject *text = error == NULL
                         ? NULL
                         : PyUnicode_FromFormat("argument %zd of %U ('%c'): %S", i,
                                                self->name, code, cause);
    PyObject *exception = text == NULL ? NULL : PyObject_CallOneArg(error, text);
    if (exception != NULL) {
        PyException_SetCause(exception, Py_NewRef(cause));
        PyErr_SetObject(error, exception);
    }
    Py_XDECREF(type);
    Py_XDECREF(cause);
    Py_XDECREF(traceback);
    Py_XDECREF(error);
    Py_XDECREF(text);
    Py_XDECREF(exception);
    return -1;
}

static int
prepared_pack(pcu_function *self, const pcu_prepared *plan, PyObject *const *args,
              Py_ssize_t nargs, pcu_argbuf *buffer)
{
    if (nargs != plan->count) {
        return prepared_bad_count(self, plan->count, nargs);
    }
    unsigned char *block = pcu_argbuf_reserve(buffer, plan->size, 1);
    if (block == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memset(block, 0, plan->size);
    for (Py_ssize_t i = 0; i < plan->count; i++) {
        const pcu_prepared_arg *item = &plan->items[i];
        if (prepared_put(self->st, item, args[i], block + item->offset) < 0) {
            return prepared_bad_value(self, item->code, i);
        }
    }
    return 0;
}

/* -- the calls
 * ----------------------------------------------------------------------------------------
 */

/* The leading parameters, by their place or by keyword, and shared_size. fixed holds
 * those that were given by their place; count is 2, or 3 with a stream. */
static int
prepared_keywords(pcu_function *self, const char *function, PyObject **fixed,
                  Py_ssize_t count, pcu_launch_shape *shape, PyObject *const *values,
                  PyObject *kwnames)
{
    static const char *const names[] = {"grid", "block", "stream"};
    Py_ssize_t n = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        Py_ssize_t k = 0;
        if (name == self->st->str_shared_size ||
            PyUnicode_CompareWithASCIIString(name, "shared_size") == 0) {
            if (pcu_as_uint(self->st, values[i], &shape->shared, "shared_size") < 0) {
                return -1;
            }
            continue;
        }
        while (k < count && PyUnicode_CompareWithASCIIString(name, names[k]) != 0) {
            k++;
        }
        if (k == count || fixed[k] != NULL) {
            PyErr_Format(PyExc_TypeError,
                         k == count ? "%s() got an unexpected keyword argument '%U'"
                                    : "%s() got multiple values for argument '%U'",
                         function, name);
            return -1;
        }
        fixed[k] = values[i];
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        if (fixed[k] == NULL) {
            PyErr_Format(PyExc_TypeError, "%s() needs grid, block%s and the arguments",
                         function, count == 3 ? ", stream" : "");
            return -1;
        }
    }
    return 0;
}

/* Programs older than CUDA 4 gave the block to prepare(), so that the first value
 * stands in its place. 1 if that is how this one calls. */
static int
prepared_block_is_missing(PyObject *block)
{
    if (PyTuple_Check(block) || PyList_Check(block)) {
        return 0;
    }
    return PyErr_WarnEx(PyExc_DeprecationWarning,
                        "prepared calls take the block size after the grid size", 1) < 0
               ? -1
               : 1;
}

/* Parse grid, block and, with `async`, the stream; pack. Any conversion may run code
 * that prepares the function anew, so the caller holds the plan. */
static int
prepared_parse_call(pcu_function *self, const pcu_prepared *plan, const char *function,
                    int async, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames, pcu_argbuf *buffer, pcu_launch_shape *shape)
{
    PyObject *fixed[3] = {NULL};
    Py_ssize_t count = async ? 3 : 2;
    Py_ssize_t given = nargs < count ? nargs : count;
    for (Py_ssize_t i = 0; i < given; i++) {
        fixed[i] = args[i];
    }
    memset(shape, 0, sizeof(*shape));
    shape->stream = pcu_current_stream();
    if ((kwnames != NULL || given < count) &&
        prepared_keywords(self, function, fixed, count, shape, args + nargs, kwnames) <
            0) {
        return -1;
    }
    int missing = given == count ? prepared_block_is_missing(fixed[1]) : 0;
    if (missing < 0 || pcu_as_dims(self->st, fixed[0], shape->grid, "grid") < 0) {
        return -1;
    }
    memcpy(shape->block, self->old_block, sizeof(shape->block));
    if (!missing && pcu_as_dims(self->st, fixed[1], shape->block, "block") < 0) {
        return -1;
    }
    if (async &&
        pcu_as_stream(self->st, fixed[2 - missing], &shape->stream, "stream") < 0) {
        return -1;
    }
    if ((!self->described && pcu_function_describe(self) < 0) ||
        (self->texrefs != NULL && pcu_texrefs_check(self->st, self->texrefs, 1) < 0)) {
        return -1;
    }
    given -= missing;
    return prepared_pack(self, plan, args + given, nargs - given, buffer);
}

static int
prepared_launch(pcu_function *self, const char *function, int async,
                PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                pcu_argbuf *buffer, pcu_launch_shape *shape)
{
    pcu_prepared *plan = self->prepared;
    if (plan == NULL) {
        PyErr_Format(PyExc_AttributeError,
                     "%U: call prepare(), or set arg_format, before %s()", self->name,
                     function);
        return -1;
    }
    plan->references++;
    int rc = prepared_parse_call(self, plan, function, async, args, nargs, kwnames,
                                 buffer, shape);
    pcu_prepared_release(plan);
    return rc;
}

static PyObject *
prepared_call(PyObject *op, const char *function, int async, PyObject *const *args,
              Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_function *self = (pcu_function *)op;
    pcu_launch_shape shape;
    pcu_argbuf buffer;
    pcu_argbuf_init(&buffer);
    int rc =
        prepared_launch(self, function, async, args, nargs, kwnames, &buffer, &shape);
    if (rc == 0) {
        rc = pcu_launch_run(self, &shape, buffer.data, buffer.used);
    }
    pcu_argbuf_free(&buffer);
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

PyObject *
pcu_function_prepared_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames)
{
    return prepared_call(op, "prepared_call", 0, args, nargs, kwnames);
}

PyObject *
pcu_function_prepared_async_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                 PyObject *kwnames)
{
    return prepared_call(op, "prepared_async_call", 1, args, nargs, kwnames);
}

/* -- timing
 * -------------------------------------------------------------------------------------------
 */

PyDoc_STRVAR(
    prepared_get_call_time_doc,
    "get_call_time($self, /)\n--\n\nWait for the launch; the seconds it took.");

/* self is the tuple (start event, end event). */
static PyObject *
prepared_get_call_time(PyObject *events, PyObject *Py_UNUSED(ignored))
{
    PyObject *start = PyTuple_GET_ITEM(events, 0);
    PyObject *end = PyTuple_GET_ITEM(events, 1);
    PyObject *waited = PyObject_CallMethod(end, "synchronize", NULL);
    if (waited == NULL) {
        return NULL;
    }
    Py_DECREF(waited);
    PyObject *milliseconds = PyObject_CallMethod(end, "time_since", "O", start);
    if (milliseconds == NULL) {
        return NULL;
    }
    double seconds = PyFloat_AsDouble(milliseconds) * 1e-3;
    Py_DECREF(milliseconds);
    return PyFloat_FromDouble(seconds);
}

static PyMethodDef prepared_timer_def = {"get_call_time", prepared_get_call_time,
                                         METH_NOARGS, prepared_get_call_time_doc};

static int
prepared_record(PyObject *event)
{
    PyObject *recorded = PyObject_CallMethod(event, "record", NULL);
    Py_XDECREF(recorded);
    return recorded == NULL ? -1 : 0;
}

PyObject *
pcu_function_prepared_timed_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                 PyObject *kwnames)
{
    pcu_function *self = (pcu_function *)op;
    pcu_launch_shape shape;
    pcu_argbuf buffer;
    PyObject *timer = NULL;
    PyObject *events = NULL;
    PyObject *start = PyObject_CallNoArgs((PyObject *)self->st->Event);
    PyObject *end =
        start == NULL ? NULL : PyObject_CallNoArgs((PyObject *)self->st->Event);
    pcu_argbuf_init(&buffer);
    if (end != NULL &&
        prepared_launch(self, "prepared_timed_call", 0, args, nargs, kwnames, &buffer,
                        &shape) == 0 &&
        prepared_record(start) == 0 &&
        pcu_launch_run(self, &shape, buffer.data, buffer.used) == 0 &&
        prepared_record(end) == 0) {
        events = PyTuple_Pack(2, start, end);
        timer = events == NULL ? NULL : PyCFunction_New(&prepared_timer_def, events);
    }
    pcu_argbuf_free(&buffer);
    Py_XDECREF(start);
    Py_XDECREF(end);
    Py_XDECREF(events);
    return timer;
}
