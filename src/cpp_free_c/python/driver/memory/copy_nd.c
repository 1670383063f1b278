/* Memcpy2D, Memcpy3D, Memcpy3DPeer: copies of rectangles and boxes between host memory,
 * device memory and Arrays.
 *
 * The three are one object whose fields are filled in first; the call hands them to the
 * driver as the descriptor of its kind. Host buffers and Arrays are held until the side
 * is set anew, so a queued copy may outlive the caller's own references. A host buffer
 * that is too small for the rectangle is found before the driver is called: it would
 * read and write past the end.
 *
 * Invariant: a side whose owner is NULL points into no memory that it should hold. */
#include "python/support/base.h"

#include "python/support/buffer.h"
#include "python/support/convert.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/memory/pointer.h"
#include "python/driver/memory/range.h"
#include "python/driver/memory/texture_array.h"
#include "python/driver/stream.h"

/* One side of the copy. */
typedef struct {
    size_t x; /* bytes */
    size_t y;
    size_t z;
    size_t lod;
    CUmemorytype type; /* says which of the next three counts; 0: none was set */
    void *host;
    CUdeviceptr device; /* also of unified memory */
    CUarray array;
    size_t pitch;    /* bytes from row to row */
    size_t height;   /* rows from plane to plane */
    PyObject *owner; /* strong: an array or memoryview of host memory, or an Array */
    char *start;     /* of the owner's memory, NULL for an Array */
    size_t size;     /* bytes from there to its end */
    PyObject *ctx;   /* strong: a Context; NULL is the current one */
} copynd_side;

/* All that a call needs. */
typedef struct {
    copynd_side src;
    copynd_side dst;
    size_t width; /* bytes */
    size_t height;
    size_t depth;
    CUcontext src_context; /* filled in by the call, for Memcpy3DPeer */
    CUcontext dst_context;
} copynd_job;

typedef enum { COPYND_2D, COPYND_3D, COPYND_PEER } copynd_kind;

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *dict;
    PyObject *weakrefs;
    copynd_kind kind; /* never changes */
    copynd_job job;
} copynd;

/* -- memory of a side -------------------------------------------------------------- */

/* Host memory that an object offers. */
typedef struct {
    PyObject *owner; /* new reference: keeps the memory in place */
    char *start;
    size_t size; /* bytes from start on that are there */
} copynd_memory;

/* One past the last byte of an array in memory. */
static char *
copynd_end(char *data, int ndim, const Py_ssize_t *shape, const Py_ssize_t *strides,
           Py_ssize_t itemsize)
{
    char *end = data + itemsize;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0) {
            return data;
        }
        end += strides[i] > 0 ? (shape[i] - 1) * strides[i] : 0;
    }
    return end;
}

static char *
copynd_array_end(PyArrayObject *array)
{
    return copynd_end(PyArray_BYTES(array), PyArray_NDIM(array), PyArray_DIMS(array),
                      PyArray_STRIDES(array), PyArray_ITEMSIZE(array));
}

/* A view may be copied past its own end, into the array that it is a view of: pitch and
 * height say what is meant. */
static int
copynd_hold_array(PyArrayObject *array, int writable, copynd_memory *out)
{
    if (writable && !PyArray_ISWRITEABLE(array)) {
        PyErr_SetString(PyExc_ValueError, "buffer is read-only");
        return -1;
    }
    if (PyDataType_REFCHK(PyArray_DESCR(array))) {
        PyErr_SetString(PyExc_TypeError,
                        "buffer holds Python objects, which no GPU can read");
        return -1;
    }
    char *end = copynd_array_end(array);
    PyObject *base = PyArray_BASE(array);
    while (base != NULL && PyArray_Check(base)) {
        char *other = copynd_array_end((PyArrayObject *)base);
        end = other > end ? other : end;
        base = PyArray_BASE((PyArrayObject *)base);
    }
    *out = (copynd_memory){.owner = Py_NewRef((PyObject *)array),
                           .start = PyArray_BYTES(array),
                           .size = (size_t)(end - PyArray_BYTES(array))};
    return 0;
}

static int
copynd_hold_buffer(PyObject *object, int writable, copynd_memory *out)
{
    if (!PyObject_CheckBuffer(object)) {
        PyErr_Format(PyExc_TypeError, "buffer must be an array or a buffer, not %s",
                     Py_TYPE(object)->tp_name);
        return -1;
    }
    PyObject *owner = PyMemoryView_FromObject(object);
    if (owner == NULL) {
        return -1;
    }
    const Py_buffer *view = PyMemoryView_GET_BUFFER(owner);
    const char *problem = writable && view->readonly ? "buffer is read-only"
                          : view->suboffsets != NULL
                              ? "buffer is a table of pointers, not one piece of memory"
                              : NULL;
    if (problem != NULL) {
        PyErr_SetString(PyExc_ValueError, problem);
        Py_DECREF(owner);
        return -1;
    }
    char *start = view->buf;
    char *end =
        copynd_end(start, view->ndim, view->shape, view->strides, view->itemsize);
    *out =
        (copynd_memory){.owner = owner, .start = start, .size = (size_t)(end - start)};
    return 0;
}

static int
copynd_hold(PyObject *object, int writable, copynd_memory *out)
{
    return PyArray_Check(object)
               ? copynd_hold_array((PyArrayObject *)object, writable, out)
               : copynd_hold_buffer(object, writable, out);
}

/* Make the side's memory another one. Takes over memory's reference. */
static void
copynd_replace(copynd_side *side, CUmemorytype type, copynd_memory memory)
{
    PyObject *old = side->owner;
    if (side->start != NULL && side->device == (uintptr_t)side->start) {
        side->device = 0;
    }
    side->type = type;
    side->host = type == CU_MEMORYTYPE_HOST ? memory.start : NULL;
    side->array = NULL;
    side->owner = memory.owner;
    side->start = memory.start;
    side->size = memory.size;
    Py_XDECREF(old); /* last: it may run code that looks at the side */
}

static int
copynd_put_host(copynd *self, copynd_side *side, PyObject *value)
{
    copynd_memory memory = {0};
    if (copynd_hold(value, side == &self->job.dst, &memory) < 0) {
        return -1;
    }
    copynd_replace(side, CU_MEMORYTYPE_HOST, memory);
    return 0;
}

static int
copynd_put_device(copynd *self, copynd_side *side, PyObject *value)
{
    CUdeviceptr pointer = 0;
    if (pcu_as_pointer(self->st, value, &pointer, "devptr") < 0) {
        return -1;
    }
    copynd_replace(side, CU_MEMORYTYPE_DEVICE, (copynd_memory){0});
    side->device = pointer;
    return 0;
}

static int
copynd_put_array(copynd *self, copynd_side *side, PyObject *value)
{
    CUarray array = NULL;
    if (pcu_as_array(self->st, value, &value, "array") < 0 ||
        pcu_array_handle(value, "array", &array) < 0) {
        return -1;
    }
    copynd_replace(side, CU_MEMORYTYPE_ARRAY,
                   (copynd_memory){.owner = Py_NewRef(value)});
    side->array = array;
    return 0;
}

static int
copynd_put_unified(copynd *self, copynd_side *side, PyObject *value)
{
    copynd_memory memory = {0};
    CUdeviceptr pointer = 0;
    if (PyArray_Check(value) || PyObject_CheckBuffer(value)) {
        pcu_buffer buffer = {0}; /* to hear whether it is contiguous */
        int writable = side == &self->job.dst;
        if (pcu_buffer_acquire(&buffer, value, writable, "buffer") < 0) {
            return -1;
        }
        pcu_buffer_release(&buffer);
        if (copynd_hold(value, writable, &memory) < 0) {
            return -1;
        }
        pointer = (uintptr_t)memory.start;
    }
    else if (pcu_as_pointer(self->st, value, &pointer, "buffer") < 0) {
        return -1;
    }
    copynd_replace(side, CU_MEMORYTYPE_UNIFIED, memory);
    side->device = pointer;
    return 0;
}

static int
copynd_put_context(copynd *self, copynd_side *side, PyObject *value)
{
    PyObject *ctx = NULL;
    if (pcu_as_context_or_none(self->st, value, &ctx, "ctx") < 0) {
        return -1;
    }
    Py_XSETREF(side->ctx, Py_XNewRef(ctx));
    return 0;
}

#define COPYND_SETTER(side, what, parameter, doc)                                 \
    PyDoc_STRVAR(copynd_set_##side##_##what##_doc,                                \
                 "set_" #side "_" #what "($self, " parameter ", /)\n--\n\n" doc); \
    static PyObject *copynd_set_##side##_##what(PyObject *op, PyObject *value)    \
    {                                                                             \
        copynd *self = (copynd *)op;                                              \
        return copynd_put_##what(self, &self->job.side, value) < 0                \
                   ? NULL                                                         \
                   : Py_NewRef(Py_None);                                          \
    }
COPYND_SETTER(src, host, "buffer",
              "Copy from a host buffer, which is held. Gaps are skipped by the pitch.")
COPYND_SETTER(dst, host, "buffer",
              "Copy to a writable host buffer, which is held. The pitch makes gaps.")
COPYND_SETTER(src, device, "devptr", "Copy from device memory, which is not held.")
COPYND_SETTER(dst, device, "devptr", "Copy to device memory, which is not held.")
COPYND_SETTER(src, array, "array", "Copy from an Array, which is held.")
COPYND_SETTER(dst, array, "array", "Copy to an Array, which is held.")
COPYND_SETTER(src, unified, "buffer",
              "Copy from a contiguous buffer, which is held, or from a device pointer; "
              "the\ndriver finds out where it is.")
COPYND_SETTER(dst, unified, "buffer",
              "Copy to a contiguous writable buffer, which is held, or to a device "
              "pointer;\nthe driver finds out where it is.")
COPYND_SETTER(src, context, "ctx",
              "The Context of the device memory to copy from; None: the current one.")
COPYND_SETTER(dst, context, "ctx",
              "The Context of the device memory to copy to; None: the current one.")

/* -- fields ------------------------------------------------------------------------ */

/* A field that programs read and write, the closure of its property. */
typedef struct {
    const char *name;
    size_t offset; /* in copynd */
} copynd_field;

static int
copynd_refuse_deletion(PyObject *value, const char *name)
{
    if (value == NULL) {
        PyErr_Format(PyExc_AttributeError, "the %s of a copy cannot be deleted", name);
        return -1;
    }
    return 0;
}

static PyObject *
copynd_get_size(PyObject *op, void *closure)
{
    const void *place = (const char *)op + ((const copynd_field *)closure)->offset;
    return PyLong_FromSize_t(*(const size_t *)place);
}

static int
copynd_set_size(PyObject *op, PyObject *value, void *closure)
{
    const copynd_field *field = closure;
    size_t size = 0;
    if (copynd_refuse_deletion(value, field->name) < 0 ||
        pcu_as_size(((copynd *)op)->st, value, &size, field->name) < 0) {
        return -1;
    }
    void *place = (char *)op + field->offset;
    *(size_t *)place = size;
    return 0;
}

static PyObject *
copynd_get_pointer(PyObject *op, void *closure)
{
    const void *place = (const char *)op + ((const copynd_field *)closure)->offset;
    return PyLong_FromUnsignedLongLong(*(const CUdeviceptr *)place);
}

static int
copynd_set_pointer(PyObject *op, PyObject *value, void *closure)
{
    const copynd_field *field = closure;
    CUdeviceptr pointer = 0;
    if (copynd_refuse_deletion(value, field->name) < 0 ||
        pcu_as_pointer(((copynd *)op)->st, value, &pointer, field->name) < 0) {
        return -1;
    }
    void *place = (char *)op + field->offset;
    *(CUdeviceptr *)place = pointer;
    return 0;
}

static PyObject *
copynd_get_type(PyObject *op, void *closure)
{
    const void *place = (const char *)op + ((const copynd_field *)closure)->offset;
    return pcu_enum_member_new(((copynd *)op)->st->enum_memory_type,
                               (long)*(const CUmemorytype *)place);
}

static int
copynd_set_type(PyObject *op, PyObject *value, void *closure)
{
    const copynd_field *field = closure;
    unsigned int type = 0;
    if (copynd_refuse_deletion(value, field->name) < 0 ||
        pcu_enum_value(((copynd *)op)->st->enum_memory_type, value, &type,
                       field->name) < 0) {
        return -1;
    }
    void *place = (char *)op + field->offset;
    *(CUmemorytype *)place = type;
    return 0;
}

/* X(attribute, member of the job, how it is read and written, docstring) */
#define COPYND_FIELDS_SIDE_2D(X, side, to)                                      \
    X(side##_x_in_bytes, side.x, size, "Bytes of a row before what is copied.") \
    X(side##_y, side.y, size, "Rows before what is copied.")                    \
    X(side##_memory_type, side.type, type, "The memory_type to copy " to ".")   \
    X(side##_device, side.device, pointer, "The address of the device memory.") \
    X(side##_pitch, side.pitch, size, "Bytes from one row to the next.")
#define COPYND_FIELDS_SIDE_3D(X, side)                                   \
    X(side##_z, side.z, size, "Planes before what is copied.")           \
    X(side##_lod, side.lod, size, "Level of detail; 0 is the only one.") \
    X(side##_height, side.height, size, "Rows from one plane to the next.")
#define COPYND_FIELDS_2D(X)                                   \
    COPYND_FIELDS_SIDE_2D(X, src, "from")                     \
    COPYND_FIELDS_SIDE_2D(X, dst, "to")                       \
    X(width_in_bytes, width, size, "Bytes of a row to copy.") \
    X(height, height, size, "Rows to copy.")
#define COPYND_FIELDS_3D(X)       \
    COPYND_FIELDS_2D(X)           \
    COPYND_FIELDS_SIDE_3D(X, src) \
    COPYND_FIELDS_SIDE_3D(X, dst) \
    X(depth, depth, size, "Planes to copy.")

#define COPYND_FIELD(name, member, how, doc)                \
    static const copynd_field copynd_field_##name = {#name, \
                                                     offsetof(copynd, job.member)};
COPYND_FIELDS_3D(COPYND_FIELD)

#define COPYND_PROPERTY(name, member, how, doc) \
    {#name, copynd_get_##how, copynd_set_##how, doc, (void *)&copynd_field_##name},
#define COPYND_DICT                                                              \
    {                                                                            \
        "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL \
    }

static PyGetSetDef copynd_2d_getset[] = {
    COPYND_FIELDS_2D(COPYND_PROPERTY) COPYND_DICT,
    {NULL, NULL, NULL, NULL, NULL},
};

static PyGetSetDef copynd_3d_getset[] = {
    COPYND_FIELDS_3D(COPYND_PROPERTY) COPYND_DICT,
    {NULL, NULL, NULL, NULL, NULL},
};

/* -- the call ---------------------------------------------------------------------- */

typedef enum { COPYND_SYNC, COPYND_UNALIGNED, COPYND_ASYNC } copynd_mode;

static const char *const copynd_routines[][3] = {
    [COPYND_2D] = {"cuMemcpy2D", "cuMemcpy2DUnaligned", "cuMemcpy2DAsync"},
    [COPYND_3D] = {"cuMemcpy3D", "cuMemcpy3D", "cuMemcpy3DAsync"},
    [COPYND_PEER] = {"cuMemcpy3DPeer", "cuMemcpy3DPeer", "cuMemcpy3DPeerAsync"},
};

/* The bytes of host memory that a side needs from its start on; SIZE_MAX if they cannot
 * be counted. A pitch or height of 0 stands for rows, planes without gaps. */
static size_t
copynd_needed(const copynd_job *job, const copynd_side *side)
{
    size_t pitch = side->pitch;
    size_t rows = side->height;
    size_t planes = 0;
    size_t bytes = 0;
    if (job->width == 0 || job->height == 0 || job->depth == 0) {
        return 0;
    }
    if ((pitch == 0 && pcu_add_size(side->x, job->width, &pitch) < 0) ||
        (rows == 0 && pcu_add_size(side->y, job->height, &rows) < 0) ||
        pcu_add_size(side->z, job->depth - 1, &planes) < 0 ||
        pcu_mul_size(planes, rows, &rows) < 0 ||
        pcu_add_size(rows, side->y, &rows) < 0 ||
        pcu_add_size(rows, job->height - 1, &rows) < 0 ||
        pcu_mul_size(rows, pitch, &bytes) < 0 ||
        pcu_add_size(bytes, side->x, &bytes) < 0 ||
        pcu_add_size(bytes, job->width, &bytes) < 0) {
        return SIZE_MAX;
    }
    return bytes;
}

/* 1 if the side is in its owner's memory, of which *size bytes are there for it. The
 * address of unified memory may have been moved within. */
static int
copynd_is_in_owner(const copynd_side *side, size_t *size)
{
    size_t skipped = 0;
    if (side->start == NULL) {
        return 0;
    }
    if (side->type == CU_MEMORYTYPE_UNIFIED) {
        skipped = (size_t)(side->device - (uintptr_t)side->start);
    }
    else if (side->type != CU_MEMORYTYPE_HOST) {
        return 0;
    }
    *size = side->size - skipped;
    return skipped <= side->size;
}

static int
copynd_check_side(pcu_state *st, const copynd_job *job, copynd_side *side,
                  const char *routine, const char *what)
{
    size_t size = 0;
    size_t needed = copynd_needed(job, side);
    if (copynd_is_in_owner(side, &size) && needed > size) {
        PyErr_Format(PyExc_ValueError,
                     "the copy needs %zu bytes of the %s buffer, which has %zu", needed,
                     what, size);
        return -1;
    }
    if (side->type == CU_MEMORYTYPE_HOST && side->host == NULL && needed != 0) {
        /* a program set the type after set_*_device; the driver may read address 0 */
        const char *name = side == &job->src ? "src" : "dst";
        return pcu_raise_detail(
            st, routine, CUDA_ERROR_INVALID_VALUE,
            "the copy is %s host memory, for %s_memory_type is "
            "HOST, but no buffer was given: call set_%s_host(buffer)",
            side == &job->src ? "from" : "to", name, name);
    }
    if (side->type != CU_MEMORYTYPE_ARRAY || side->owner == NULL) {
        return 0;
    }
    return pcu_array_handle(side->owner,
                            PyObject_TypeCheck(side->owner, st->Array) ? routine : what,
                            &side->array);
}

static int
copynd_side_context(pcu_state *st, const copynd_side *side, const char *routine,
                    const char *what, CUcontext *context)
{
    int rc = 0;
    if (side->ctx != NULL) {
        *context = pcu_context_handle(st, side->ctx, routine, what);
        return *context == NULL ? -1 : 0;
    }
    PCU_CALL_CURRENT(rc, st, CtxGetCurrent, (context));
    return rc;
}

/* X = member of a descriptor without its src or dst. */
#define COPYND_SIDE_2D(prefix, side)                                \
    .prefix##XInBytes = (side).x, .prefix##Y = (side).y,            \
    .prefix##MemoryType = (side).type, .prefix##Host = (side).host, \
    .prefix##Device = (side).device, .prefix##Array = (side).array, \
    .prefix##Pitch = (side).pitch
#define COPYND_SIDE_3D(prefix, side)                                                \
    COPYND_SIDE_2D(prefix, side), .prefix##Z = (side).z, .prefix##LOD = (side).lod, \
                                  .prefix##Height = (side).height

static CUresult
copynd_run_2d(const copynd_job *job, copynd_mode mode, CUstream stream)
{
    CUDA_MEMCPY2D c = {COPYND_SIDE_2D(src, job->src), COPYND_SIDE_2D(dst, job->dst),
                       .WidthInBytes = job->width, .Height = job->height};
    CUresult status;
    if (mode == COPYND_ASYNC) {
        PCU_STATUS(status, Memcpy2DAsync, (&c, stream));
    }
    else if (mode == COPYND_UNALIGNED) {
        PCU_STATUS(status, Memcpy2DUnaligned, (&c));
    }
    else {
        PCU_STATUS(status, Memcpy2D, (&c));
    }
    return status;
}

static CUresult
copynd_run_3d(const copynd_job *job, copynd_mode mode, CUstream stream)
{
    CUDA_MEMCPY3D c = {COPYND_SIDE_3D(src, job->src), COPYND_SIDE_3D(dst, job->dst),
                       .WidthInBytes = job->width, .Height = job->height,
                       .Depth = job->depth};
    CUresult status;
    if (mode == COPYND_ASYNC) {
        PCU_STATUS(status, Memcpy3DAsync, (&c, stream));
    }
    else {
        PCU_STATUS(status, Memcpy3D, (&c));
    }
    return status;
}

static CUresult
copynd_run_peer(const copynd_job *job, copynd_mode mode, CUstream stream)
{
    CUDA_MEMCPY3D_PEER c = {COPYND_SIDE_3D(src, job->src),
                            COPYND_SIDE_3D(dst, job->dst),
                            .srcContext = job->src_context,
                            .dstContext = job->dst_context,
                            .WidthInBytes = job->width,
                            .Height = job->height,
                            .Depth = job->depth};
    CUresult status;
    if (mode == COPYND_ASYNC) {
        PCU_STATUS(status, Memcpy3DPeerAsync, (&c, stream));
    }
    else {
        PCU_STATUS(status, Memcpy3DPeer, (&c));
    }
    return status;
}

/* "host memory from x 0, y 3 with pitch 64" */
static PyObject *
copynd_describe_side(const copynd *self, const copynd_side *side)
{
    static const char *const kinds[] = {"nothing that was set", "host memory",
                                        "device memory", "an Array", "unified memory"};
    const char *kind =
        side->type < Py_ARRAY_LENGTH(kinds) ? kinds[side->type] : "no memory_type";
    return self->kind == COPYND_2D
               ? PyUnicode_FromFormat("%s at x %zu, y %zu with pitch %zu", kind,
                                      side->x, side->y, side->pitch)
               : PyUnicode_FromFormat(
                     "%s at x %zu, y %zu, z %zu with pitch %zu, height %zu", kind,
                     side->x, side->y, side->z, side->pitch, side->height);
}

/* The device memory that a side spans. Numbers too large for it wrap: such a copy is
 * refused by the driver, and then the words may be less exact. */
static pcu_range
copynd_range(const copynd *self, const copynd_job *job, const copynd_side *side,
             const char *name)
{
    pcu_range range = {name, side->device, 0};
    if (side->type == CU_MEMORYTYPE_DEVICE && job->height != 0 && job->depth != 0) {
        size_t planes = self->kind == COPYND_2D ? 0 : side->z + job->depth - 1;
        size_t rows = planes * side->height + side->y + job->height - 1;
        range.bytes = rows * side->pitch + side->x + job->width;
    }
    return range;
}

static void
copynd_raise(const copynd *self, const copynd_job *job, const char *routine,
             CUresult status)
{
    const pcu_range ranges[] = {copynd_range(self, job, &job->src, "the source"),
                                copynd_range(self, job, &job->dst, "the destination")};
    if (pcu_ranges_check(self->st, routine, status, ranges, 2) < 0) {
        return;
    }
    PyObject *src = copynd_describe_side(self, &job->src);
    PyObject *dst = src == NULL ? NULL : copynd_describe_side(self, &job->dst);
    if (dst != NULL && self->kind == COPYND_2D) {
        pcu_raise_detail(self->st, routine, status,
                         "%zu rows of %zu bytes from %U to %U", job->height, job->width,
                         src, dst);
    }
    else if (dst != NULL) {
        pcu_raise_detail(self->st, routine, status,
                         "%zu planes of %zu rows of %zu bytes from %U to %U",
                         job->depth, job->height, job->width, src, dst);
    }
    Py_XDECREF(src);
    Py_XDECREF(dst);
}

/* A copy of what is set now, holding it: other threads may set it anew meanwhile. */
static copynd_job
copynd_take(copynd *self)
{
    copynd_job job = self->job;
    job.depth = self->kind == COPYND_2D ? 1 : job.depth;
    Py_XINCREF(job.src.owner);
    Py_XINCREF(job.dst.owner);
    Py_XINCREF(job.src.ctx);
    Py_XINCREF(job.dst.ctx);
    return job;
}

static void
copynd_release(copynd_job *job)
{
    Py_CLEAR(job->src.owner);
    Py_CLEAR(job->dst.owner);
    Py_CLEAR(job->src.ctx);
    Py_CLEAR(job->dst.ctx);
}

static PyObject *
copynd_run(copynd *self, copynd_mode mode, CUstream stream)
{
    const char *routine = copynd_routines[self->kind][mode];
    copynd_job job = copynd_take(self);
    PyObject *result = NULL;
    CUresult status;
    if (pcu_context_ready(self->st) < 0 ||
        copynd_check_side(self->st, &job, &job.src, routine, "source") < 0 ||
        copynd_check_side(self->st, &job, &job.dst, routine, "destination") < 0) {
        goto done;
    }
    if (self->kind == COPYND_PEER &&
        (copynd_side_context(self->st, &job.src, routine, "the source's context",
                             &job.src_context) < 0 ||
         copynd_side_context(self->st, &job.dst, routine, "the destination's context",
                             &job.dst_context) < 0)) {
        goto done;
    }
    status = self->kind == COPYND_2D   ? copynd_run_2d(&job, mode, stream)
             : self->kind == COPYND_3D ? copynd_run_3d(&job, mode, stream)
                                       : copynd_run_peer(&job, mode, stream);
    if (status == CUDA_SUCCESS) {
        result = Py_NewRef(Py_None);
    }
    else {
        copynd_raise(self, &job, routine, status);
    }
done:
    copynd_release(&job);
    return result;
}

typedef struct {
    PyObject *first; /* aligned, or the stream */
    PyObject *stream;
} copynd_call_args;

/* The stream to use into *stream: 1, or 0 if none was given (None is none). */
static int
copynd_stream(pcu_state *st, PyObject *value, CUstream *stream, const char *name)
{
    if (value == NULL || value == Py_None) {
        return 0;
    }
    return pcu_as_stream(st, value, stream, name) < 0 ? -1 : 1;
}

/* bool, numpy.bool_, 0 and 1 */
static int
copynd_is_truth(PyObject *value)
{
    return PyLong_Check(value) || PyArray_IsScalar(value, Bool);
}

/* copy(), copy(aligned), copy(stream) */
static PyObject *
copynd_call_2d(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const pcu_argspec specs[] = {
        {"aligned", pcu_as_object, offsetof(copynd_call_args, first)},
        {"stream", pcu_as_object, offsetof(copynd_call_args, stream)},
    };
    static const pcu_argtable table = {"Memcpy2D.__call__", specs, 2, 0, 0};
    copynd *self = (copynd *)op;
    copynd_call_args a = {0};
    CUstream stream = NULL;
    const char *name = "stream";
    int aligned = 1;
    if (pcu_args_parse_tuple(self->st, &table, args, kwargs, &a) < 0) {
        return NULL;
    }
    if (a.first == Py_None || (a.first != NULL && copynd_is_truth(a.first))) {
        aligned = PyObject_IsTrue(a.first);
    }
    else if (a.first != NULL && a.stream != NULL) {
        PyErr_SetString(PyExc_TypeError, "a copy takes one stream, two were given");
        return NULL;
    }
    else if (a.first != NULL) {
        a.stream = a.first;
        name = "aligned, or the stream,";
    }
    int queued = copynd_stream(self->st, a.stream, &stream, name);
    return queued < 0 ? NULL
                      : copynd_run(self,
                                   queued    ? COPYND_ASYNC
                                   : aligned ? COPYND_SYNC
                                             : COPYND_UNALIGNED,
                                   stream);
}

/* copy(), copy(stream) */
static PyObject *
copynd_call_3d(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const pcu_argspec specs[] = {{"stream", pcu_as_object, 0}};
    copynd *self = (copynd *)op;
    const pcu_argtable table = {
        self->kind == COPYND_3D ? "Memcpy3D.__call__" : "Memcpy3DPeer.__call__", specs,
        1, 0, 0};
    PyObject *given = NULL;
    CUstream stream = NULL;
    if (pcu_args_parse_tuple(self->st, &table, args, kwargs, &given) < 0) {
        return NULL;
    }
    int queued = copynd_stream(self->st, given, &stream, "stream");
    return queued < 0 ? NULL
                      : copynd_run(self, queued ? COPYND_ASYNC : COPYND_SYNC, stream);
}

/* -- the types --------------------------------------------------------------------- */

static PyObject *
copynd_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    pcu_state *st = pcu_state_of_type(type);
    if (st == NULL) {
        return NULL;
    }
    /* a derived type may take arguments of its own */
    int exact =
        type == st->Memcpy2D || type == st->Memcpy3D || type == st->Memcpy3DPeer;
    if (exact && (PyTuple_GET_SIZE(args) != 0 ||
                  (kwargs != NULL && PyDict_GET_SIZE(kwargs) != 0))) {
        PyErr_Format(PyExc_TypeError, "%s() takes no arguments", type->tp_name);
        return NULL;
    }
    copynd *self = (copynd *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->st = st;
        self->kind = PyType_IsSubtype(type, st->Memcpy2D)   ? COPYND_2D
                     : PyType_IsSubtype(type, st->Memcpy3D) ? COPYND_3D
                                                            : COPYND_PEER;
    }
    return (PyObject *)self;
}

static int
copynd_traverse(PyObject *op, visitproc visit, void *arg)
{
    copynd *self = (copynd *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->dict);
    Py_VISIT(self->job.src.owner);
    Py_VISIT(self->job.dst.owner);
    Py_VISIT(self->job.src.ctx);
    Py_VISIT(self->job.dst.ctx);
    return 0;
}

static int
copynd_clear(PyObject *op)
{
    copynd *self = (copynd *)op;
    copynd_replace(&self->job.src, 0, (copynd_memory){0});
    copynd_replace(&self->job.dst, 0, (copynd_memory){0});
    Py_CLEAR(self->job.src.ctx);
    Py_CLEAR(self->job.dst.ctx);
    Py_CLEAR(self->dict);
    return 0;
}

static void
copynd_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (((copynd *)op)->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    copynd_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
}

#define COPYND_METHOD(side, what)                                   \
    {                                                               \
        "set_" #side "_" #what, copynd_set_##side##_##what, METH_O, \
            copynd_set_##side##_##what##_doc                        \
    }

static PyMethodDef copynd_methods[] = {
    COPYND_METHOD(src, host),    COPYND_METHOD(dst, host),
    COPYND_METHOD(src, device),  COPYND_METHOD(dst, device),
    COPYND_METHOD(src, array),   COPYND_METHOD(dst, array),
    COPYND_METHOD(src, unified), COPYND_METHOD(dst, unified),
    {NULL, NULL, 0, NULL},
};

static PyMethodDef copynd_peer_methods[] = {
    COPYND_METHOD(src, context),
    COPYND_METHOD(dst, context),
    {NULL, NULL, 0, NULL},
};

static PyMemberDef copynd_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(copynd, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(copynd, weakrefs), Py_READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

#define COPYND_DOC                                                                   \
    "Fill in the fields (all are 0 at first), set a source and a destination, call " \
    "it.\n\nHost buffers and Arrays are held until the side is set anew. "
PyDoc_STRVAR(
    copynd_2d_doc,
    "Memcpy2D()\n--\n\nA copy of height rows of width_in_bytes bytes.\n\n" COPYND_DOC
    "copy() or\ncopy(aligned) waits; aligned=False tolerates any "
    "pitch of device memory.\ncopy(stream) queues. A host buffer that is too "
    "small is a ValueError.");
PyDoc_STRVAR(
    copynd_3d_doc,
    "Memcpy3D()\n--\n\n"
    "A copy of depth planes of height rows of width_in_bytes bytes.\n\n" COPYND_DOC
    "copy()\nwaits, copy(stream) queues. A host buffer that is too "
    "small is a ValueError.");
PyDoc_STRVAR(
    copynd_peer_doc,
    "Memcpy3DPeer()\n--\n\n"
    "A copy like Memcpy3D's between the memories of two contexts.\n\n" COPYND_DOC
    "copy()\nwaits, copy(stream) queues.");

#define COPYND_TYPE(prefix, type_name, call, getset)    \
    static PyType_Slot prefix##_slots[] = {             \
        {Py_tp_doc, (void *)prefix##_doc},              \
        {Py_tp_new, copynd_new},                        \
        {Py_tp_call, call},                             \
        {Py_tp_traverse, copynd_traverse},              \
        {Py_tp_clear, copynd_clear},                    \
        {Py_tp_dealloc, copynd_dealloc},                \
        {Py_tp_members, copynd_members},                \
        {Py_tp_getset, getset},                         \
        {Py_tp_methods, copynd_methods},                \
        {0, NULL},                                      \
    };                                                  \
    static PyType_Spec prefix##_spec = {                \
        "pycuda._driver." type_name, sizeof(copynd), 0, \
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, prefix##_slots}
COPYND_TYPE(copynd_2d, "Memcpy2D", copynd_call_2d, copynd_2d_getset);
COPYND_TYPE(copynd_3d, "Memcpy3D", copynd_call_3d, copynd_3d_getset);
COPYND_TYPE(copynd_peer, "Memcpy3DPeer", copynd_call_3d, copynd_3d_getset);

int
pcu_memcpynd_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->Memcpy2D, &copynd_2d_spec, NULL) < 0 ||
                   pcu_add_type(m, &st->Memcpy3D, &copynd_3d_spec, NULL) < 0 ||
                   pcu_add_type(m, &st->Memcpy3DPeer, &copynd_peer_spec, NULL) < 0 ||
                   pcu_add_methods(st->Memcpy3DPeer, copynd_peer_methods) < 0
               ? -1
               : 0;
}
