/* What C asks of Python when a context does not have a kernel yet: see
 * kernel_request.h. */

#include "python/array/ops/kernel_request.h"

#include "python/array/element_type.h"
#include "python/array/ops/operations.h"

#define REQUEST_NAME(NAME, name) name,
static const char *const request_families[] = {PCU_KERNEL_FAMILIES(REQUEST_NAME) NULL};
static const char *const request_passing[] = {PCU_OPERAND_PASSING(REQUEST_NAME) NULL};
static const char *const request_variants[] = {PCU_KERNEL_VARIANTS(REQUEST_NAME) NULL};
static const char *const request_fourier_words[] = {PCU_FOURIER_WORDS(REQUEST_NAME)
                                                        NULL};
#undef REQUEST_NAME

/* -- a view: what Python gets for the number in a field ---------------------------- */

typedef PyObject *(*request_view)(const pcu_kernel_key *key, unsigned long number);

static PyObject *
request_NUMBER(const pcu_kernel_key *Py_UNUSED(key), unsigned long number)
{
    return PyLong_FromUnsignedLong(number);
}

static PyObject *
request_FLAG(const pcu_kernel_key *Py_UNUSED(key), unsigned long number)
{
    return PyBool_FromLong(number != 0);
}

static PyObject *
request_TYPE(const pcu_kernel_key *Py_UNUSED(key), unsigned long number)
{
    if (number >= PCU_T_RAW) {
        return PyUnicode_FromString("raw");
    }
    return PyUnicode_FromString(pcu_types[number].name);
}

static PyObject *
request_OPERATION(const pcu_kernel_key *key, unsigned long number)
{
    if (key->family == PCU_FAMILY_REDUCTION) {
        return PyUnicode_FromString(pcu_reductions[number].name);
    }
    return PyUnicode_FromString(pcu_ops[number].name);
}

static PyObject *
request_FAMILY(const pcu_kernel_key *Py_UNUSED(key), unsigned long number)
{
    return PyUnicode_FromString(request_families[number]);
}

static PyObject *
request_PASSING(const pcu_kernel_key *Py_UNUSED(key), unsigned long number)
{
    return PyUnicode_FromString(request_passing[number]);
}

static PyObject *
request_VARIANT(const pcu_kernel_key *Py_UNUSED(key), unsigned long number)
{
    return PyUnicode_FromString(request_variants[number]);
}

/* A tuple of the names whose bits are set. */
static PyObject *
request_FOURIER(const pcu_kernel_key *Py_UNUSED(key), unsigned long number)
{
    PyObject *words = PyList_New(0);
    for (int i = 0; words != NULL && request_fourier_words[i] != NULL; i++) {
        if ((number >> i & 1) == 0) {
            continue;
        }
        PyObject *word = PyUnicode_FromString(request_fourier_words[i]);
        if (word == NULL || PyList_Append(words, word) < 0) {
            Py_CLEAR(words);
        }
        Py_XDECREF(word);
    }
    if (words == NULL) {
        return NULL;
    }
    PyObject *tuple = PyList_AsTuple(words);
    Py_DECREF(words);
    return tuple;
}

/* -- the record -------------------------------------------------------------------- */

typedef struct {
    const char *name;
    size_t offset; /* in pcu_kernel_key */
    size_t size;   /* of one value */
    bool is_list;  /* a value for each operand */
    request_view view;
} request_row;

#define REQUEST_FIELD(ctype, name, VIEW, meaning) \
    {#name, offsetof(pcu_kernel_key, name), sizeof(ctype), false, request_##VIEW},
#define REQUEST_LIST(ctype, name, VIEW, meaning) \
    {#name, offsetof(pcu_kernel_key, name), sizeof(ctype), true, request_##VIEW},
static const request_row request_rows[] = {
    PCU_KERNEL_REQUEST(REQUEST_FIELD, REQUEST_LIST)};
#undef REQUEST_FIELD
#undef REQUEST_LIST

static unsigned long
request_number(const unsigned char *place, size_t size)
{
    uint8_t byte;
    uint16_t half;
    uint32_t word;
    switch (size) {
        case sizeof(byte):
            return *place;
        case sizeof(half):
            memcpy(&half, place, sizeof(half));
            return half;
        default:
            memcpy(&word, place, sizeof(word));
            return word;
    }
}

static PyObject *
request_list_new(const pcu_kernel_key *key, const request_row *row)
{
    int count = key->inputs + key->outputs;
    const unsigned char *place = (const unsigned char *)key + row->offset;
    PyObject *values = PyTuple_New(count);
    if (values == NULL) {
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        unsigned long number = request_number(place + (size_t)i * row->size, row->size);
        PyObject *value = row->view(key, number);
        if (value == NULL) {
            Py_DECREF(values);
            return NULL;
        }
        PyTuple_SET_ITEM(values, i, value);
    }
    return values;
}

static PyObject *
request_value_new(const pcu_kernel_key *key, const request_row *row)
{
    if (row->is_list) {
        return request_list_new(key, row);
    }
    const unsigned char *place = (const unsigned char *)key + row->offset;
    return row->view(key, request_number(place, row->size));
}

static PyObject *
request_new(pcu_state *st, const pcu_kernel_key *key)
{
    PyObject *request = PyStructSequence_New(st->_KernelRequest);
    if (request == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(request_rows); i++) {
        PyObject *value = request_value_new(key, &request_rows[i]);
        if (value == NULL) {
            Py_DECREF(request);
            return NULL;
        }
        PyStructSequence_SetItem(request, (Py_ssize_t)i, value);
    }
    return request;
}

/* A tuple of the records of some keys. */
static PyObject *
requests_new(pcu_state *st, size_t count, const pcu_kernel_key *keys)
{
    PyObject *requests = PyTuple_New((Py_ssize_t)count);
    if (requests == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *request = request_new(st, &keys[i]);
        if (request == NULL) {
            Py_DECREF(requests);
            return NULL;
        }
        PyTuple_SET_ITEM(requests, (Py_ssize_t)i, request);
    }
    return requests;
}

/* Check that Python returned an image for each request. */
static int
request_check_images(PyObject *images, size_t count)
{
    if (!PyTuple_Check(images) || PyTuple_GET_SIZE(images) != (Py_ssize_t)count) {
        PyErr_SetString(PyExc_TypeError, "the images of kernels must be a tuple");
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *image = PyTuple_GET_ITEM(images, (Py_ssize_t)i);
        if (!PyBytes_Check(image)) {
            PyErr_Format(PyExc_TypeError, "a kernel's image must be bytes, not %s",
                         Py_TYPE(image)->tp_name);
            return -1;
        }
    }
    return 0;
}

PyObject *
pcu_kernel_request_images_new(pcu_state *st, size_t count, const pcu_kernel_key *keys)
{
    PyObject *images = NULL;
    PyObject *requests = requests_new(st, count, keys);
    if (requests == NULL) {
        return NULL;
    }
    PyObject *module = PyImport_ImportModule("pycuda._array.kernels.compilation");
    if (module == NULL) {
        goto done;
    }
    images = PyObject_CallMethod(module, "kernel_images", "(O)", requests);
    if (images != NULL && request_check_images(images, count) < 0) {
        Py_CLEAR(images);
    }
done:
    Py_XDECREF(module);
    Py_DECREF(requests);
    return images;
}

int
pcu_kernel_may_differ(void)
{
    if (pcu_drv_info.device == NULL) {
        return 0;
    }
    PyObject *module = PyImport_ImportModule("pycuda._array.kernels.compilation");
    PyObject *answer = NULL;
    int may = -1;
    if (module != NULL) {
        answer = PyObject_CallMethod(module, "may_differ", NULL);
        Py_DECREF(module);
    }
    if (answer != NULL) {
        may = PyObject_IsTrue(answer);
        Py_DECREF(answer);
    }
    return may;
}

/* -- the module's part ------------------------------------------------------------- */

#define REQUEST_DOC(ctype, name, VIEW, meaning) {#name, meaning},
static PyStructSequence_Field request_fields[] = {
    PCU_KERNEL_REQUEST(REQUEST_DOC, REQUEST_DOC){NULL, NULL}};
#undef REQUEST_DOC

static PyStructSequence_Desc request_desc = {
    .name = "pycuda._driver._KernelRequest",
    .doc = "The generated kernel that a context needs: what its source depends on.",
    .fields = request_fields,
    .n_in_sequence = (int)Py_ARRAY_LENGTH(request_rows),
};

static int
request_add_names(PyObject *m, const char *name, const char *const *names)
{
    Py_ssize_t count = 0;
    while (names[count] != NULL) {
        count++;
    }
    PyObject *tuple = PyTuple_New(count);
    if (tuple == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyUnicode_FromString(names[i]);
        if (item == NULL) {
            Py_DECREF(tuple);
            return -1;
        }
        PyTuple_SET_ITEM(tuple, i, item);
    }
    int rc = PyModule_AddObjectRef(m, name, tuple);
    Py_DECREF(tuple);
    return rc;
}

int
pcu_kernel_request_setup(PyObject *m, pcu_state *st)
{
    st->_KernelRequest = PyStructSequence_NewType(&request_desc);
    if (st->_KernelRequest == NULL) {
        return -1;
    }
    if (PyModule_AddType(m, st->_KernelRequest) < 0 ||
        request_add_names(m, "_kernel_families", request_families) < 0 ||
        request_add_names(m, "_operand_passing", request_passing) < 0) {
        return -1;
    }
    if (request_add_names(m, "_kernel_variants", request_variants) < 0) {
        return -1;
    }
    return request_add_names(m, "_fourier_words", request_fourier_words);
}
