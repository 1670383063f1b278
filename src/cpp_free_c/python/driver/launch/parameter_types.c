/* Reading the types of a kernel's parameters.
 *
 * pycuda/_argument_types.py reads the declaration: two characters for each parameter,
 * which pycuda/_parameter_types.py describes. The table here says which arguments each
 * type takes. A type leaves out only what is a mistake for sure. */
#include "python/driver/launch/launch.h"

#include "python/driver/resource.h"

#define TYPE(name) (1u << PCU_T_##name)

enum {
    TYPES_BYTE = TYPE(BOOL) | TYPE(INT8) | TYPE(UINT8),
    TYPES_SHORT = TYPE(INT16) | TYPE(UINT16),
    TYPES_HALF = TYPE(FLOAT16) | TYPE(BFLOAT16),
    TYPES_INT = TYPE(INT32) | TYPE(UINT32),
    TYPES_LONG = TYPE(INT64) | TYPE(UINT64),
    TYPES_INTEGER = TYPES_BYTE | TYPES_SHORT | TYPES_INT | TYPES_LONG,
    TYPES_ADDRESS = TYPES_LONG | 1 << PCU_ARGUMENT_ADDRESS,
    TYPES_RAW = TYPE(RAW) | TYPE(NONE),
    TYPES_ALL = (1 << (PCU_ARGUMENT_TEXT + 1)) - 1
};

typedef struct {
    char letter;
    unsigned int values;   /* passed for a parameter of this type */
    unsigned int elements; /* passed by address for a pointer to this type */
} parameter_type;

/* Integers of either sign have the same bytes. Pairs of floats are complex numbers, and
 * an array of one is often read as the other. The bits of 16-bit floats travel as
 * unsigned short, where a source does not include their type. char is the type of raw
 * memory. */
static const parameter_type parameter_types[] = {
    {'?', TYPES_BYTE, TYPES_BYTE},
    {'c', TYPES_BYTE, TYPES_ALL},
    {'b', TYPES_BYTE, TYPES_BYTE},
    {'B', TYPES_BYTE, TYPES_BYTE},
    {'h', TYPES_SHORT, TYPES_SHORT},
    {'H', TYPES_SHORT | TYPES_HALF, TYPES_SHORT | TYPES_HALF},
    {'i', TYPES_INT, TYPES_INT},
    {'I', TYPES_INT, TYPES_INT},
    {'l', TYPES_LONG, TYPES_LONG},
    {'L', TYPES_LONG, TYPES_LONG},
    {'e', TYPE(FLOAT16) | TYPE(UINT16), TYPE(FLOAT16) | TYPE(UINT16)},
    {'E', TYPE(BFLOAT16) | TYPE(UINT16), TYPE(BFLOAT16) | TYPE(UINT16)},
    {'f', TYPE(FLOAT32), TYPE(FLOAT32) | TYPE(COMPLEX64)},
    {'d', TYPE(FLOAT64), TYPE(FLOAT64) | TYPE(COMPLEX128)},
    {'F', TYPE(COMPLEX64), TYPE(COMPLEX64) | TYPE(FLOAT32)},
    {'D', TYPE(COMPLEX128), TYPE(COMPLEX128) | TYPE(FLOAT64)},
    {'a', TYPES_ADDRESS, TYPES_LONG},
    {'u', TYPES_ALL, TYPES_ALL},
};

/* The row of a letter; that of an unknown type for other letters. */
static const parameter_type *
parameter_type_find(char letter)
{
    const parameter_type *row = parameter_types;
    const parameter_type *last = row + Py_ARRAY_LENGTH(parameter_types) - 1;
    while (row != last && row->letter != letter) {
        row++;
    }
    return row;
}

/* The types of values that have this size. */
static unsigned int
parameter_types_of_size(size_t size)
{
#define TYPE_SIZE(CODE, name, bytes, align, KIND) \
    if (size == (bytes)) {                        \
        types |= 1u << PCU_T_##CODE;              \
    }
    unsigned int types = 0;
    PCU_DTYPES(TYPE_SIZE)
#undef TYPE_SIZE
    if (size == sizeof(CUdeviceptr)) {
        types |= 1u << PCU_ARGUMENT_ADDRESS;
    }
    return types;
}

/* Set what a parameter takes. `level` is 'p' for a pointer, 'v' for a value. */
static void
parameter_set_types(pcu_param *param, char level, char letter)
{
    const parameter_type *row = parameter_type_find(letter);
    unsigned int values = row->values;
    unsigned int elements = 0;
    if (level == 'p') {
        values = TYPES_ADDRESS;
        elements = row->elements | TYPES_RAW | 1u << PCU_ARGUMENT_ADDRESS;
        if ((elements & (TYPES_BYTE | TYPES_INT)) != 0) {
            elements |= 1u << PCU_ARGUMENT_TEXT; /* characters have 1 or 4 bytes */
        }
    }
    else if (values >> PCU_ARGUMENT_ADDRESS & 1) {
        elements = TYPES_ALL; /* any array has an address */
    }
    param->is_pointer = level == 'p';
    param->values = values & parameter_types_of_size(param->size);
    param->elements = 0;
    if (param->size == sizeof(CUdeviceptr)) {
        param->elements = elements;
    }
}

bool
pcu_parameter_takes_integers(const pcu_param *param)
{
    return (param->values & (TYPES_INTEGER | 1u << PCU_ARGUMENT_ADDRESS)) != 0;
}

/* Call a function of pycuda/_argument_types.py with what is known of the kernel. */
static PyObject *
parameter_ask_new(pcu_function *fn, const char *function)
{
    PyObject *entries = ((pcu_module *)fn->module)->entries;
    PyObject *module = PyImport_ImportModule("pycuda._argument_types");
    if (module == NULL) {
        return NULL;
    }
    if (entries == NULL) {
        entries = Py_None;
    }
    PyObject *found = PyObject_CallMethod(module, function, "OOOn", fn->module, entries,
                                          fn->name, fn->nparams);
    Py_DECREF(module);
    return found;
}

int
pcu_parameter_types_read(pcu_function *fn)
{
    if (fn->typed) {
        return 0;
    }
    PyObject *found = parameter_ask_new(fn, "characters");
    const char *letters = NULL;
    if (found == NULL) {
        return -1;
    }
    if (PyBytes_Check(found) && PyBytes_GET_SIZE(found) == 2 * fn->nparams) {
        letters = PyBytes_AS_STRING(found);
    }
    for (Py_ssize_t i = 0; i < fn->nparams; i++) {
        char level = 'v';
        char letter = 'u';
        if (letters != NULL) {
            level = letters[2 * i];
            letter = letters[2 * i + 1];
        }
        parameter_set_types(&fn->params[i], level, letter);
    }
    fn->typed = true;
    Py_DECREF(found);
    return 0;
}

int
pcu_parameter_integers_read(pcu_function *fn)
{
    PyObject *found = parameter_ask_new(fn, "integers");
    const char *kinds = NULL;
    if (found == NULL) {
        return -1;
    }
    if (PyBytes_Check(found) && PyBytes_GET_SIZE(found) == fn->nparams) {
        kinds = PyBytes_AS_STRING(found);
    }
    for (Py_ssize_t i = 0; i < fn->nparams; i++) {
        fn->params[i].integer = PCU_INTEGER_NONE;
        if (kinds != NULL && kinds[i] != 0) {
            fn->params[i].integer = (unsigned char)kinds[i];
        }
    }
    Py_DECREF(found);
    return 0;
}
