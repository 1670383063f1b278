/* Numbers that kernels tell the host: see true_count.h.
 *
 * The page is an attribute of the context. Word 0 of the page has a bit for each number
 * that is taken, word 1 the address of the page on the device; the numbers follow. The
 * interpreter lock guards word 0. */

#include "python/array/index/true_count.h"

#include "python/driver/current_context.h"
#include "python/driver/memory/host.h"
#include "python/driver/resource.h"

enum {
    COUNT_PLACES = 64, /* words of a page */
    COUNT_FIRST = 2,   /* the first word of a number */
    COUNT_MAPPED = 2   /* CU_MEMHOSTALLOC_DEVICEMAP */
};

#define COUNT_ATTRIBUTE "_page_of_true_counts"

static volatile uint64_t *
count_words(PyObject *page)
{
    return ((pcu_resource *)page)->handle.host;
}

/* A new page, with no number taken. */
static PyObject *
count_page_new(pcu_state *st)
{
    void *data = NULL;
    CUdeviceptr address = 0;
    int rc;
    PyObject *page =
        pcu_pagelocked_alloc(st, COUNT_PLACES * sizeof(uint64_t), COUNT_MAPPED, &data);
    if (page == NULL) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, st, MemHostGetDevicePointer, (&address, data, 0));
    if (rc < 0) {
        Py_DECREF(page);
        return NULL;
    }
    count_words(page)[0] = 0;
    count_words(page)[1] = address;
    return page;
}

/* The page of a context; a new one if it has none, or if its numbers are all taken. */
static PyObject *
count_page_of(pcu_context *ctx)
{
    PyObject *page = NULL;
    PyObject *name = PyUnicode_InternFromString(COUNT_ATTRIBUTE);
    if (name == NULL) {
        return NULL;
    }
    if (ctx->dict != NULL) {
        page = Py_XNewRef(PyDict_GetItemWithError(ctx->dict, name));
    }
    if (page == NULL && !PyErr_Occurred()) {
        page = count_page_new(ctx->st);
        if (page != NULL && PyObject_SetAttr((PyObject *)ctx, name, page) < 0) {
            Py_CLEAR(page);
        }
    }
    Py_DECREF(name);
    if (page != NULL &&
        count_words(page)[0] >> COUNT_FIRST == UINT64_MAX >> COUNT_FIRST) {
        Py_DECREF(page);
        return count_page_new(ctx->st);
    }
    return page;
}

int
pcu_true_count_take(pcu_context *ctx, pcu_true_count *self, CUdeviceptr *address)
{
    self->page = count_page_of(ctx);
    if (self->page == NULL) {
        return -1;
    }
    volatile uint64_t *words = count_words(self->page);
    self->place = COUNT_FIRST;
    while ((words[0] >> self->place & 1) != 0) {
        self->place++;
    }
    words[0] |= UINT64_C(1) << self->place;
    words[self->place] = 0;
    *address = words[1] + (CUdeviceptr)self->place * sizeof(uint64_t);
    return 0;
}

int
pcu_true_count_read(pcu_state *st, const pcu_true_count *self, CUstream stream,
                    size_t *count)
{
    int rc;
    PCU_CALL_CURRENT(rc, st, StreamSynchronize, (stream));
    if (rc == 0) {
        *count = count_words(self->page)[self->place];
    }
    return rc;
}

void
pcu_true_count_give_back(pcu_true_count *self)
{
    if (self->page != NULL) {
        count_words(self->page)[0] &= ~(UINT64_C(1) << self->place);
        Py_CLEAR(self->page);
    }
}
