/* Compiling the format of prepared calls.
 *
 * If the driver reports the parameters and the format has one item for each of them,
 * the values go to the places of the parameters, and integers take the sizes of the
 * parameters. Formats that use pointer-sized items for everything then still pass the
 * right values. Otherwise the layout is that of the format, with natural alignment. */
#include "python/driver/launch/launch.h"

#include "python/support/convert.h"
#include "python/support/settings.h"

/* How the values of a format character are converted. */
typedef enum {
    FORMAT_OTHER,
    FORMAT_SIGNED,
    FORMAT_UNSIGNED,
    FORMAT_ADDRESS /* an integer of either sign, or an object with an address */
} format_kind;

typedef struct {
    unsigned char size; /* bytes; 0 for a character that is no format */
    unsigned char align;
    unsigned char kind; /* a format_kind */
} format_code;

static const format_code format_codes[128] = {
    ['x'] = {1, 1, FORMAT_OTHER},
    ['c'] = {1, 1, FORMAT_OTHER},
    ['s'] = {1, 1, FORMAT_OTHER},
    ['p'] = {1, 1, FORMAT_OTHER},
    ['?'] = {1, 1, FORMAT_UNSIGNED},
    ['b'] = {1, 1, FORMAT_SIGNED},
    ['B'] = {1, 1, FORMAT_UNSIGNED},
    ['h'] = {2, 2, FORMAT_SIGNED},
    ['H'] = {2, 2, FORMAT_UNSIGNED},
    ['e'] = {2, 2, FORMAT_OTHER},
    ['i'] = {4, 4, FORMAT_SIGNED},
    ['I'] = {4, 4, FORMAT_UNSIGNED},
    ['f'] = {4, 4, FORMAT_OTHER},
    ['l'] = {sizeof(long), sizeof(long), FORMAT_SIGNED},
    ['L'] = {sizeof(long), sizeof(long), FORMAT_UNSIGNED},
    ['q'] = {8, 8, FORMAT_SIGNED},
    ['Q'] = {8, 8, FORMAT_UNSIGNED},
    ['n'] = {8, 8, FORMAT_SIGNED},
    ['N'] = {8, 8, FORMAT_UNSIGNED},
    ['d'] = {8, 8, FORMAT_OTHER},
    ['P'] = {8, 8, FORMAT_ADDRESS},
    ['F'] = {8, 4, FORMAT_OTHER},
    ['D'] = {16, 8, FORMAT_OTHER},
};

/* The row of a character. A character that is no format has size 0. */
static const format_code *
format_find(char code)
{
    unsigned char index = (unsigned char)code;
    if (index >= Py_ARRAY_LENGTH(format_codes)) {
        index = 0;
    }
    return &format_codes[index];
}

static bool
format_code_is_integer(char code)
{
    return format_find(code)->kind != FORMAT_OTHER;
}

typedef struct {
    pcu_prepared_arg *items;
    Py_ssize_t count;
    Py_ssize_t capacity;
    size_t used; /* bytes of the natural layout */
    bool padded; /* 'x' occurs: the layout is that of the format */
} format_plan;

/* Append one value to the plan. */
static int
format_add(format_plan *plan, char code, size_t size)
{
    if (plan->count == plan->capacity) {
        Py_ssize_t capacity = 8;
        if (plan->capacity != 0) {
            capacity = 2 * plan->capacity;
        }
        pcu_prepared_arg *items =
            PyMem_Realloc(plan->items, (size_t)capacity * sizeof(*items));
        if (items == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        plan->items = items;
        plan->capacity = capacity;
    }
    size_t align = format_find(code)->align;
    size_t offset = (plan->used + align - 1) & ~(align - 1);
    plan->items[plan->count++] = (pcu_prepared_arg){
        .code = code, .size = size, .align = align, .offset = offset, .elements = ~0u};
    plan->used = offset + size;
    return 0;
}

/* Parse "[@]{[count]char}" into the plan. */
static int
format_parse(format_plan *plan, const char *format)
{
    const char *c = format;
    if (*c == '@') {
        c++;
    }
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
        size_t size = format_find(*c)->size;
        if (size == 0 || count > 65536) {
            PyErr_Format(PyExc_ValueError, "bad argument format '%s' at '%s'", format,
                         c);
            return -1;
        }
        if (*c == 'x') {
            plan->used += count;
            plan->padded = true;
        }
        else if (*c == 's' || *c == 'p') {
            if (format_add(plan, *c, count) < 0) {
                return -1;
            }
        }
        else {
            for (size_t i = 0; i < count; i++) {
                if (format_add(plan, *c, size) < 0) {
                    return -1;
                }
            }
        }
    }
    return 0;
}

/* Whether values of a format character have the type of the parameter. Any integer is
 * converted to the size of an integer. */
static bool
format_has_type(char code, const pcu_param *param)
{
    switch (code) {
        case 'e':
            return pcu_parameter_takes(param, PCU_T_FLOAT16);
        case 'f':
            return pcu_parameter_takes(param, PCU_T_FLOAT32);
        case 'd':
            return pcu_parameter_takes(param, PCU_T_FLOAT64);
        case 'F':
            return pcu_parameter_takes(param, PCU_T_COMPLEX64);
        case 'D':
            return pcu_parameter_takes(param, PCU_T_COMPLEX128);
        default:
            return !format_code_is_integer(code) || pcu_parameter_takes_integers(param);
    }
}

/* Whether the items, with the natural layout of the format, have the places of the
 * kernel's parameters. The last one may be shorter than its parameter. */
static bool
format_has_places(const pcu_function *self, const format_plan *plan)
{
    for (Py_ssize_t i = 0; i < plan->count; i++) {
        if (plan->items[i].offset != self->params[i].offset) {
            return false;
        }
    }
    return plan->used <= self->params_size;
}

/* Give item i the place of the kernel's parameter i. `passes`: PyCUDA passes the bytes
 * of the format, and a kernel that does not use the parameter is right. */
static int
format_fit(pcu_function *self, pcu_prepared_arg *item, Py_ssize_t i, bool passes)
{
    static const char text[] =
        "argument %zd of %U is '%c' of %zu bytes, but that parameter takes %zu";
    const pcu_param *param = &self->params[i];
    bool resizable =
        format_code_is_integer(item->code) &&
        (param->size == 1 || param->size == 2 || param->size == 4 || param->size == 8);
    bool structure =
        item->code == 's' && item->size < param->size && param->size - item->size < 16;
    if (item->size != param->size && !resizable && !structure) {
        if (passes) {
            return pcu_forgive(PyExc_TypeError, text, i, self->name, item->code,
                               item->size, param->size);
        }
        PyErr_Format(PyExc_TypeError, text, i, self->name, item->code, item->size,
                     param->size);
        return -1;
    }
    if (resizable) {
        item->cuts = passes && item->size > param->size;
        item->size = param->size;
    }
    item->padded = structure ? param->size : 0;
    item->offset = param->offset;
    item->elements = param->elements;
    if (!format_has_type(item->code, param)) {
        return pcu_argument_report_format(self, i, item->code);
    }
    return 0;
}

/* The size of the layout, with the tail padding of a structure as the last parameter.
 */
static size_t
format_padded_size(const pcu_function *self, const format_plan *plan)
{
    size_t align = 1;
    size_t last = 0;
    if (self->nparams != 0) {
        last = self->params[self->nparams - 1].offset;
    }
    for (Py_ssize_t i = 0; i < plan->count; i++) {
        const pcu_prepared_arg *item = &plan->items[i];
        if (item->offset >= last && item->align > align) {
            align = item->align;
        }
    }
    return (plan->used + align - 1) & ~(align - 1);
}

/* Whether each item lies inside one parameter, as the members of structures do. */
static bool
format_items_lie_inside(const pcu_function *self, const format_plan *plan)
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
            return false;
        }
    }
    return true;
}

/* Check a format that has another number of items than the kernel has parameters. If it
 * lists the members of structures, its own layout equals that of the kernel. PyCUDA
 * passes any other one that is not too long, which is right for a kernel that does not
 * use the parameters at the end, or if the program has packed two of them into one. */
static int
format_check_count(const pcu_function *self, const format_plan *plan)
{
    static const char text[] =
        "the format describes %zd argument%s of %zu bytes, but %U takes %zd of %zu";
    const char *plural = "s";
    size_t padded = format_padded_size(self, plan);
    if ((plan->used == self->params_size || padded == self->params_size) &&
        format_items_lie_inside(self, plan)) {
        return 0;
    }
    if (plan->count == 1) {
        plural = "";
    }
    if (plan->used <= self->params_size) {
        return pcu_forgive(PyExc_TypeError, text, plan->count, plural, plan->used,
                           self->name, self->nparams, self->params_size);
    }
    PyErr_Format(PyExc_TypeError, text, plan->count, plural, plan->used, self->name,
                 self->nparams, self->params_size);
    return -1;
}

/* Fit the plan to the kernel's parameters. A format with one item for each parameter
 * takes the places of the parameters. Any other format keeps its own layout. */
static int
format_fit_all(pcu_function *self, format_plan *plan)
{
    if (self->nparams < 0) {
        return 0;
    }
    if (plan->count != self->nparams || plan->padded) {
        if (format_check_count(self, plan) < 0) {
            return -1;
        }
        plan->used = self->params_size;
        return 0;
    }
    if (pcu_parameter_types_read(self) < 0) {
        return -1;
    }
    bool passes = format_has_places(self, plan);
    for (Py_ssize_t i = 0; i < plan->count; i++) {
        if (format_fit(self, &plan->items[i], i, passes) < 0) {
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

/* Set the range of an integer. A parameter that is shorter than its format takes the
 * numbers of either sign: PyCUDA passes the bytes of the format, and the kernel reads
 * the lowest ones. */
static void
format_set_range(pcu_prepared_arg *item)
{
    format_kind kind = (format_kind)format_find(item->code)->kind;
    unsigned long long top = UINT64_MAX;
    if (item->size < 8) {
        top = (1ULL << (8 * item->size)) - 1;
    }
    item->low = 0;
    item->high = top;
    if (kind == FORMAT_SIGNED && item->size >= format_find(item->code)->size) {
        item->high = top >> 1;
    }
    if (kind != FORMAT_UNSIGNED) {
        item->low = -(long long)(top >> 1) - 1;
    }
}

/* Copy the plan into a compiled format, and free the plan's items. */
static pcu_prepared *
format_new(format_plan *plan)
{
    size_t bytes = (size_t)plan->count * sizeof(plan->items[0]);
    for (Py_ssize_t i = 0; i < plan->count; i++) {
        if (format_code_is_integer(plan->items[i].code)) {
            format_set_range(&plan->items[i]);
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

/* The format of one item of arg_types, as a new reference. */
static PyObject *
format_element_format(PyObject *element)
{
    PyArray_Descr *dtype = NULL;
    if (PyUnicode_Check(element)) {
        return Py_NewRef(element);
    }
    bool scalar_type = PyType_Check(element) &&
                       PyType_IsSubtype((PyTypeObject *)element, &PyNumberArrType_Type);
    if (!scalar_type && !PyArray_DescrCheck(element)) {
        return PyUnicode_FromString("P");
    }
    if (!PyArray_DescrConverter(element, &dtype)) {
        return NULL;
    }
    PyObject *format;
    if (PyDataType_HASFIELDS(dtype) || dtype->type_num == NPY_VOID) {
        format = PyUnicode_FromFormat("%zds", (Py_ssize_t)PyDataType_ELSIZE(dtype));
    }
    else {
        format = PyUnicode_FromFormat("%c", dtype->type);
    }
    Py_DECREF(dtype);
    return format;
}

PyObject *
pcu_prepared_format_new(PyObject *arg_types)
{
    if (PyUnicode_Check(arg_types)) {
        return Py_NewRef(arg_types);
    }
    PyObject *items = PySequence_Tuple(arg_types);
    PyObject *parts = NULL;
    if (items != NULL) {
        parts = PyList_New(0);
    }
    PyObject *empty = NULL;
    if (parts != NULL) {
        empty = PyUnicode_FromString("");
    }
    PyObject *format = NULL;
    if (empty == NULL) {
        goto done;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++) {
        PyObject *part = format_element_format(PyTuple_GET_ITEM(items, i));
        int rc = -1;
        if (part != NULL) {
            rc = PyList_Append(parts, part);
        }
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

int
pcu_prepared_compile(pcu_function *self, PyObject *format, pcu_prepared **prepared)
{
    format_plan plan = {0};
    const char *text = pcu_as_name(format, "the format");
    if (text == NULL || pcu_function_describe(self) < 0 ||
        format_parse(&plan, text) < 0 || format_fit_all(self, &plan) < 0) {
        PyMem_Free(plan.items);
        return -1;
    }
    *prepared = format_new(&plan);
    if (*prepared == NULL) {
        return -1;
    }
    return 0;
}
