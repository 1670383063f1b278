/* The report of a context: see report.h. */

#include "python/array/index/report.h"

#include "python/driver/current_context.h"
#include "python/driver/memory/memory.h"
#include "python/driver/resource.h"
#include "python/support/call_site.h"

enum { REPORT_MAPPED = 2 /* CU_MEMHOSTALLOC_DEVICEMAP */ };

/* What kernels write: index_report in cuda/pycuda-index.hpp. */
typedef struct {
    uint64_t state; /* 2: the other numbers are valid */
    uint64_t index;
    uint64_t length;
    int32_t axis;
    int32_t is_unsigned;
    uint64_t site; /* the statement's: call_site.h */
} report_note;

struct pcu_index_report {
    volatile report_note *note; /* page-locked */
    CUdeviceptr address;        /* of the note, on the device */
};

/* -- errors ------------------------------------------------------------------------ */

int
pcu_raise_index(PyObject *index, int axis, size_t length)
{
    PyErr_Format(PyExc_IndexError,
                 "index %S is out of bounds for axis %d of length %zu", index, axis,
                 length);
    return -1;
}

/* The end of a message: the statement that enqueued the kernel, if it is known. */
static PyObject *
report_place_new(const pcu_state *st, uint32_t site)
{
    pcu_line line = pcu_call_site_line(st, site);
    if (line.file == NULL) {
        return PyUnicode_FromString("");
    }
    PyObject *module = PyImport_ImportModule("pycuda._warning");
    PyObject *place = NULL, *text = NULL;
    if (module != NULL) {
        place = PyObject_CallMethod(module, "place_text", "Oi", line.file, line.line);
    }
    if (place != NULL) {
        text = PyUnicode_FromFormat(
            " (the index array of %S; the device found the "
            "index after that statement)",
            place);
    }
    Py_XDECREF(module);
    Py_XDECREF(place);
    return text;
}

/* Raise the IndexError of a note. */
static int
report_raise(const pcu_state *st, const report_note *note)
{
    PyObject *index;
    if (note->is_unsigned) {
        index = PyLong_FromUnsignedLongLong(note->index);
    }
    else {
        index = PyLong_FromLongLong((long long)note->index);
    }
    PyObject *place = report_place_new(st, (uint32_t)note->site);
    if (index != NULL && place != NULL) {
        PyErr_Format(PyExc_IndexError,
                     "index %S is out of bounds for axis %d of length %llu%U", index,
                     (int)note->axis, (unsigned long long)note->length, place);
    }
    Py_XDECREF(index);
    Py_XDECREF(place);
    return -1;
}

/* Raise and clear what a kernel noted. */
static int
report_check(pcu_context *ctx)
{
    struct pcu_index_report *report = ctx->index_report;
    if (report->note->state != 2) {
        return 0;
    }
    report_note note = *report->note;
    report->note->state = 0;
    return report_raise(ctx->st, &note);
}

/* -- life -------------------------------------------------------------------------- */

static void
report_free(pcu_context *ctx)
{
    struct pcu_index_report *report = ctx->index_report;
    if (report == NULL) {
        return;
    }
    pcu_handle handle = {.host = (void *)report->note};
    ctx->index_report = NULL;
    PyMem_Free(report);
    pcu_release_noraise(ctx->st, PCU_HANDLE_host, handle, (PyObject *)ctx);
}

/* The report of a context, made at its first use. */
static struct pcu_index_report *
report_of(pcu_context *ctx)
{
    pcu_state *st = ctx->st;
    void *note = NULL;
    CUdeviceptr address = 0;
    CUresult status;
    if (ctx->index_report != NULL) {
        return ctx->index_report;
    }
    struct pcu_index_report *report = PyMem_Calloc(1, sizeof(*report));
    if (report == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    PCU_ALLOCATE(status, MemHostAlloc, (&note, sizeof(report_note), REPORT_MAPPED));
    if (status != CUDA_SUCCESS) {
        PyMem_Free(report);
        pcu_raise(st, "cuMemHostAlloc", status);
        return NULL;
    }
    pcu_handle_created(PCU_HANDLE_host);
    if (ctx->index_report != NULL) { /* another thread made it meanwhile */
        pcu_handle handle = {.host = note};
        PyMem_Free(report);
        pcu_release_noraise(st, PCU_HANDLE_host, handle, (PyObject *)ctx);
        return ctx->index_report;
    }
    memset(note, 0, sizeof(report_note));
    report->note = note;
    ctx->end_part[PCU_CONTEXT_INDEX_REPORT] = report_free;
    ctx->check_index_report = report_check;
    ctx->index_report = report;
    PCU_STATUS(status, MemHostGetDevicePointer, (&address, note, 0));
    if (status != CUDA_SUCCESS) {
        report_free(ctx);
        pcu_raise(st, "cuMemHostGetDevicePointer", status);
        return NULL;
    }
    report->address = address;
    return report;
}

int
pcu_index_report_announce(pcu_context *ctx, CUdeviceptr *address, uint32_t *site)
{
    struct pcu_index_report *report = report_of(ctx);
    if (report == NULL) {
        return -1;
    }
    *address = report->address;
    *site = pcu_call_site(ctx->st);
    return 0;
}

int
pcu_index_report_check(pcu_state *st)
{
    PyObject *ctx = st->foreign_context; /* NULL, or that of another library */
    if (pcu_ctx_current != NULL) {
        ctx = pcu_ctx_current->owner;
    }
    if (ctx == NULL) {
        return 0;
    }
    return pcu_context_check_indices((pcu_context *)ctx);
}
