/* The JIT compiler's options and logs. See jit.h. */
#include "python/driver/module/jit.h"

#include "python/support/convert.h"
#include "python/support/enums.h"
#include "python/support/errors.h"

static void
jit_add(pcu_jit *jit, CUjit_option key, uintptr_t value)
{
    jit->keys[jit->count] = key;
    jit->values[jit->count] = (void *)value;
    jit->count++;
}

static int
jit_add_pair(pcu_state *st, pcu_jit *jit, PyObject *pair)
{
    unsigned int key = 0;
    unsigned long long value = 0;
    PyObject *items = PySequence_Tuple(pair);
    if (items == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_SetString(PyExc_TypeError, "options must be pairs (jit_option, int)");
        }
        return -1;
    }
    int rc = -1;
    if (PyTuple_GET_SIZE(items) != 2) {
        PyErr_SetString(PyExc_TypeError, "options must be pairs (jit_option, int)");
    }
    else if (jit->count >= PCU_JIT_OPTIONS_MAX) {
        PyErr_Format(PyExc_ValueError, "at most %d options are possible",
                     PCU_JIT_OPTIONS_MAX);
    }
    else if (pcu_enum_value(st->enum_jit_option, PyTuple_GET_ITEM(items, 0), &key,
                            "option") == 0 &&
             pcu_as_integer(PyTuple_GET_ITEM(items, 1), 0, UINT_MAX, &value,
                            "option value") == 0) {
        jit_add(jit, key, (uintptr_t)value);
        rc = 0;
    }
    Py_DECREF(items);
    return rc;
}

static int
jit_add_pairs(pcu_state *st, pcu_jit *jit, PyObject *options)
{
    PyObject *pair;
    PyObject *iterator = PyObject_GetIter(options);
    if (iterator == NULL) {
        return -1;
    }
    while ((pair = PyIter_Next(iterator)) != NULL) {
        int rc = jit_add_pair(st, jit, pair);
        Py_DECREF(pair);
        if (rc < 0) {
            break;
        }
    }
    Py_DECREF(iterator);
    return PyErr_Occurred() ? -1 : 0;
}

int
pcu_jit_init(pcu_state *st, pcu_jit *jit, PyObject *options, int verbose)
{
    memset(jit, 0, sizeof(*jit));
    jit->info = PyMem_Calloc(2, PCU_JIT_LOG_BYTES);
    if (jit->info == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    jit->error = jit->info + PCU_JIT_LOG_BYTES;
    if (options != NULL && options != Py_None && jit_add_pairs(st, jit, options) < 0) {
        return -1;
    }
    if (verbose) {
        jit_add(jit, CU_JIT_LOG_VERBOSE, 1);
    }
    jit_add(jit, CU_JIT_INFO_LOG_BUFFER, (uintptr_t)jit->info);
    jit_add(jit, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, PCU_JIT_LOG_BYTES);
    jit_add(jit, CU_JIT_ERROR_LOG_BUFFER, (uintptr_t)jit->error);
    jit_add(jit, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, PCU_JIT_LOG_BYTES);
    return 0;
}

void
pcu_jit_finish(pcu_jit *jit)
{
    PyMem_Free(jit->info);
    jit->info = jit->error = NULL;
}

/* The text of a log: up to its NUL. (The size that the driver stores over the value of
 * the option comes only with some calls of a link.) */
static PyObject *
jit_log_new(const char *log)
{
    const char *end = memchr(log, '\0', PCU_JIT_LOG_BYTES);
    Py_ssize_t length = end == NULL ? PCU_JIT_LOG_BYTES : (Py_ssize_t)(end - log);
    return PyUnicode_DecodeUTF8(log, length, "replace");
}

static int
jit_call_handler(PyObject *handler, int success, PyObject *info, PyObject *error)
{
    if (handler == NULL || handler == Py_None) {
        return 0;
    }
    Py_INCREF(handler); /* its owner may drop it meanwhile */
    PyObject *result = PyObject_CallFunctionObjArgs(
        handler, success ? Py_True : Py_False, info, error, NULL);
    Py_DECREF(handler);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

int
pcu_jit_tell(pcu_state *st, const pcu_jit *jit, PyObject *handler, const char *routine,
             CUresult status)
{
    PyObject *info = jit_log_new(jit->info);
    PyObject *error = jit_log_new(jit->error);
    int rc = -1;
    if (info != NULL && error != NULL) {
        rc = jit_call_handler(handler, status == CUDA_SUCCESS, info, error);
    }
    if (rc == 0 && status != CUDA_SUCCESS) {
        rc = PyUnicode_GET_LENGTH(error) != 0
                 ? pcu_raise_detail(st, routine, status, "%U", error)
                 : pcu_raise(st, routine, status);
    }
    Py_XDECREF(info);
    Py_XDECREF(error);
    return rc;
}

/* -- images ------------------------------------------------------------------------ */

/* What a fat binary begins with. */
typedef struct {
    uint32_t magic;
    uint16_t version;
    uint16_t header_size;
    uint64_t size; /* of what follows the header */
} fatbin_header;

static int
image_check_length(pcu_state *st, const pcu_image *image, const char *name,
                   const char *routine)
{
    static const uint32_t magic = 0xBA55ED50;
    fatbin_header header = {.header_size = sizeof(header)};
    if (image->size < sizeof(magic) ||
        memcmp(image->data, &magic, sizeof(magic)) != 0) {
        return 0;
    }
    if (image->size >= sizeof(header)) {
        memcpy(&header, image->data, sizeof(header));
    }
    if (header.header_size <= image->size &&
        header.size <= image->size - header.header_size) {
        return 0;
    }
    return pcu_raise_detail(st, routine, CUDA_ERROR_INVALID_IMAGE,
                            "%s, of %zu bytes, is a fat binary that is cut off", name,
                            image->size);
}

int
pcu_image_acquire(pcu_state *st, pcu_image *image, PyObject *source, const char *what,
                  const char *name, const char *routine)
{
    memset(image, 0, sizeof(*image));
    if (PyUnicode_Check(source)) {
        PyErr_Format(PyExc_TypeError, "%s from bytes, not str; encode PTX text first",
                     what);
        return -1;
    }
    if (pcu_buffer_acquire(&image->buffer, source, 0, name) < 0) {
        return -1;
    }
    image->data = image->buffer.data;
    image->size = image->buffer.size;
    if (!PyBytes_Check(source)) {
        image->copy = PyMem_Malloc(image->size + 1);
        if (image->copy == NULL) {
            pcu_image_release(image);
            PyErr_NoMemory();
            return -1;
        }
        memcpy(image->copy, image->buffer.data, image->size);
        image->copy[image->size] = '\0';
        image->data = image->copy;
    }
    if (image_check_length(st, image, name, routine) < 0) {
        pcu_image_release(image);
        return -1;
    }
    return 0;
}

void
pcu_image_release(pcu_image *image)
{
    PyMem_Free(image->copy);
    image->copy = NULL;
    pcu_buffer_release(&image->buffer);
}
