/* Images: checking and copying code for the driver. See image.h. */
#include "python/driver/module/module.h"

#include "python/support/errors.h"

/* The header of a fat binary. */
typedef struct {
    uint32_t magic;
    uint16_t version;
    uint16_t header_size;
    uint64_t size; /* bytes after the header */
} image_fatbin_header;

/* Refuse a fat binary that is shorter than its header says. */
static int
image_check_length(pcu_state *st, const pcu_image *image, const char *name,
                   const char *routine)
{
    static const uint32_t magic = 0xBA55ED50;
    image_fatbin_header header = {.header_size = sizeof(header)};
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
                            "%s (%zu bytes) is a truncated fat binary", name,
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
    if (pcu_buffer_acquire(&image->buffer, source, false, name) < 0) {
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

/* Whether the bytes are text: PTX, and no ELF file or fat binary. */
static bool
image_is_text(const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size && i < 64 && data[i] != '\0'; i++) {
        if (data[i] >= 127 || (data[i] < ' ' && !Py_ISSPACE(data[i]))) {
            return false;
        }
    }
    return size != 0;
}

/* Append one declaration, from `.entry` to the parenthesis, to the list. Return the
 * place behind it, NULL on error. */
static const char *
image_add_entry(PyObject *list, const char *start, const char *end)
{
    const char *close = memchr(start, ')', (size_t)(end - start));
    if (close == NULL) {
        return end;
    }
    PyObject *text = PyUnicode_DecodeUTF8(start, close + 1 - start, "replace");
    int rc = -1;
    if (text != NULL) {
        rc = PyList_Append(list, text);
    }
    Py_XDECREF(text);
    if (rc < 0) {
        return NULL;
    }
    return close + 1;
}

int
pcu_image_entries(const void *data, size_t size, PyObject **entries)
{
    static const char word[] = ".entry";
    const char *place = data;
    const char *end = place + size;
    *entries = NULL;
    if (!image_is_text(data, size)) {
        return 0;
    }
    PyObject *list = PyList_New(0);
    PyObject *between = PyUnicode_FromString("\n");
    while (list != NULL && place != NULL) {
        place = memmem(place, (size_t)(end - place), word, sizeof(word) - 1);
        if (place == NULL) {
            break;
        }
        place = image_add_entry(list, place, end);
        if (place == NULL) {
            Py_CLEAR(list);
        }
    }
    if (list != NULL && between != NULL) {
        *entries = PyUnicode_Join(between, list);
    }
    Py_XDECREF(list);
    Py_XDECREF(between);
    if (*entries == NULL) {
        return -1;
    }
    return 0;
}

int
pcu_image_entries_of_file(const char *path, size_t size, PyObject **entries)
{
    int rc = 0;
    *entries = NULL;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return 0;
    }
    char *data = PyMem_Malloc(Py_MAX(size, 1));
    if (data == NULL) {
        PyErr_NoMemory();
        rc = -1;
    }
    else {
        size = fread(data, 1, size, file);
        rc = pcu_image_entries(data, size, entries);
    }
    PyMem_Free(data);
    (void)fclose(file); /* it was only read */
    return rc;
}
