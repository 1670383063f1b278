/* Memcpy2D, Memcpy3D, Memcpy3DPeer: copies of rectangles and boxes between host memory,
 * device memory and texture arrays.
 *
 * The three types share one struct. A program sets its fields; a call then passes them
 * to the driver as the descriptor of its kind. The two sides are in copy_side.c.
 *
 * Invariant: host buffers and Arrays are held until their side is set again, so an
 * enqueued copy may outlive the caller's own references. Python is the only caller. */
#include "python/support/base.h"

#include "python/support/buffer.h"
#include "python/support/convert.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/memory/memory.h"
#include "python/driver/memory/copy.h"
#include "python/driver/memory/texture_array.h"
#include "python/driver/stream.h"

/* -- docstrings -------------------------------------------------------------------- */

#define COPY_ND_DOC_BUFFER                                                             \
    "buffer : array_like\n"                                                            \
    "    Host buffer, which the object holds. A view of an array extends to the end\n" \
    "    of that array, so that a pitch can skip gaps.\n"

#define COPY_ND_DOC_DEVPTR                         \
    "devptr : DeviceAllocation, GPUArray or int\n" \
    "    Device memory, or its address. The object does not hold it.\n"

#define COPY_ND_DOC_ARRAY \
    "array : Array\n"     \
    "    Array, which the object holds.\n"

#define COPY_ND_DOC_UNIFIED        \
    "buffer : array_like or int\n" \
    "    Contiguous buffer, which the object holds, device memory, or an address.\n"

#define COPY_ND_DOC_CTX       \
    "ctx : Context or None\n" \
    "    Context; None is the current one at the time of the copy.\n"

#define COPY_ND_DOC_NO_BUFFER \
    "TypeError\n"             \
    "    If the object is no buffer, or holds Python objects.\n"

#define COPY_ND_DOC_READ_ONLY \
    "ValueError\n"            \
    "    If the buffer is read-only.\n"

#define COPY_ND_DOC_NOT_ARRAY \
    "TypeError\n"             \
    "    If the object is no Array.\n"

/* Everything that a call needs. */
typedef struct {
    pcu_copy_side src;
    pcu_copy_side dst;
    pcu_copy_extent extent;
    CUcontext src_context; /* set by a call of Memcpy3DPeer */
    CUcontext dst_context;
} copy_nd_job;

typedef enum { COPY_ND_2D, COPY_ND_3D, COPY_ND_PEER } copy_nd_kind;

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *dict;
    PyObject *weakrefs;
    copy_nd_kind kind; /* never changes */
    copy_nd_job job;
} copy_nd;

#define COPY_ND_SETTER(side, what, parameter, doc)                                \
    PyDoc_STRVAR(copy_nd_set_##side##_##what##_doc,                               \
                 "set_" #side "_" #what "($self, " parameter ", /)\n--\n\n" doc); \
    static PyObject *copy_nd_set_##side##_##what(PyObject *op, PyObject *value)   \
    {                                                                             \
        copy_nd *self = (copy_nd *)op;                                            \
        if (pcu_copy_side_set_##what(self->st, &self->job.side, value) < 0) {     \
            return NULL;                                                          \
        }                                                                         \
        Py_RETURN_NONE;                                                           \
    }
COPY_ND_SETTER(src, host, "buffer",
               "Copy from a host buffer.\n"
               "\nParameters\n----------\n" COPY_ND_DOC_BUFFER
               "\nRaises\n------\n" COPY_ND_DOC_NO_BUFFER)
COPY_ND_SETTER(dst, host, "buffer",
               "Copy to a writable host buffer.\n"
               "\nParameters\n----------\n" COPY_ND_DOC_BUFFER
               "\nRaises\n------\n" COPY_ND_DOC_NO_BUFFER COPY_ND_DOC_READ_ONLY)
COPY_ND_SETTER(src, device, "devptr",
               "Copy from device memory.\n"
               "\nParameters\n----------\n" COPY_ND_DOC_DEVPTR)
COPY_ND_SETTER(dst, device, "devptr",
               "Copy to device memory.\n"
               "\nParameters\n----------\n" COPY_ND_DOC_DEVPTR)
COPY_ND_SETTER(src, array, "array",
               "Copy from an Array.\n"
               "\nParameters\n----------\n" COPY_ND_DOC_ARRAY
               "\nRaises\n------\n" COPY_ND_DOC_NOT_ARRAY)
COPY_ND_SETTER(dst, array, "array",
               "Copy to an Array.\n"
               "\nParameters\n----------\n" COPY_ND_DOC_ARRAY
               "\nRaises\n------\n" COPY_ND_DOC_NOT_ARRAY)
COPY_ND_SETTER(src, unified, "buffer",
               "Copy from a buffer or an address whose kind the driver detects.\n"
               "\nParameters\n----------\n" COPY_ND_DOC_UNIFIED
               "\nRaises\n------\n"
               "ValueError\n"
               "    If the buffer is not contiguous.")
COPY_ND_SETTER(dst, unified, "buffer",
               "Copy to a buffer or an address whose kind the driver detects.\n"
               "\nParameters\n----------\n" COPY_ND_DOC_UNIFIED
               "\nRaises\n------\n"
               "ValueError\n"
               "    If the buffer is not contiguous, or read-only.")
COPY_ND_SETTER(src, context, "ctx",
               "Set the context of the source.\n"
               "\nParameters\n----------\n" COPY_ND_DOC_CTX)
COPY_ND_SETTER(dst, context, "ctx",
               "Set the context of the destination.\n"
               "\nParameters\n----------\n" COPY_ND_DOC_CTX)

/* -- fields ------------------------------------------------------------------------ */

/* A field that programs read and write. It is the closure of its property. */
typedef struct {
    const char *name;
    size_t offset; /* in copy_nd */
} copy_nd_field;

static int
copy_nd_refuse_deletion(PyObject *value, const char *name)
{
    if (value == NULL) {
        PyErr_Format(PyExc_AttributeError, "the %s of a copy cannot be deleted", name);
        return -1;
    }
    return 0;
}

static PyObject *
copy_nd_get_size(PyObject *op, void *closure)
{
    const void *place = (const char *)op + ((const copy_nd_field *)closure)->offset;
    return PyLong_FromSize_t(*(const size_t *)place);
}

static int
copy_nd_set_size(PyObject *op, PyObject *value, void *closure)
{
    const copy_nd_field *field = closure;
    size_t size = 0;
    if (copy_nd_refuse_deletion(value, field->name) < 0 ||
        pcu_as_size(((copy_nd *)op)->st, value, &size, field->name) < 0) {
        return -1;
    }
    void *place = (char *)op + field->offset;
    *(size_t *)place = size;
    return 0;
}

static PyObject *
copy_nd_get_pointer(PyObject *op, void *closure)
{
    const void *place = (const char *)op + ((const copy_nd_field *)closure)->offset;
    return PyLong_FromUnsignedLongLong(*(const CUdeviceptr *)place);
}

static int
copy_nd_set_pointer(PyObject *op, PyObject *value, void *closure)
{
    const copy_nd_field *field = closure;
    CUdeviceptr pointer = 0;
    if (copy_nd_refuse_deletion(value, field->name) < 0 ||
        pcu_as_pointer(((copy_nd *)op)->st, value, &pointer, field->name) < 0) {
        return -1;
    }
    void *place = (char *)op + field->offset;
    *(CUdeviceptr *)place = pointer;
    return 0;
}

static PyObject *
copy_nd_get_type(PyObject *op, void *closure)
{
    const void *place = (const char *)op + ((const copy_nd_field *)closure)->offset;
    return pcu_enum_member_new(((copy_nd *)op)->st->enum_memory_type,
                               (long)*(const CUmemorytype *)place);
}

static int
copy_nd_set_type(PyObject *op, PyObject *value, void *closure)
{
    const copy_nd_field *field = closure;
    unsigned int type = 0;
    if (copy_nd_refuse_deletion(value, field->name) < 0 ||
        pcu_enum_value(((copy_nd *)op)->st->enum_memory_type, value, &type,
                       field->name) < 0) {
        return -1;
    }
    void *place = (char *)op + field->offset;
    *(CUmemorytype *)place = type;
    return 0;
}

/* X(attribute, member of the job, kind of value, docstring) */
#define COPY_ND_FIELDS_SIDE_2D(X, side, to)                                     \
    X(side##_x_in_bytes, side.x, size, "Bytes of a row to skip.")               \
    X(side##_y, side.y, size, "Rows to skip.")                                  \
    X(side##_memory_type, side.type, type, "The memory_type to copy " to ".")   \
    X(side##_device, side.device, pointer, "The address of the device memory.") \
    X(side##_pitch, side.pitch, size, "Bytes from one row to the next.")
#define COPY_ND_FIELDS_SIDE_3D(X, side)                                  \
    X(side##_z, side.z, size, "Planes to skip.")                         \
    X(side##_lod, side.lod, size, "Level of detail; 0 is the only one.") \
    X(side##_height, side.height, size, "Rows from one plane to the next.")
#define COPY_ND_FIELDS_2D(X)                                         \
    COPY_ND_FIELDS_SIDE_2D(X, src, "from")                           \
    COPY_ND_FIELDS_SIDE_2D(X, dst, "to")                             \
    X(width_in_bytes, extent.width, size, "Bytes of a row to copy.") \
    X(height, extent.height, size, "Rows to copy.")
#define COPY_ND_FIELDS_3D(X)       \
    COPY_ND_FIELDS_2D(X)           \
    COPY_ND_FIELDS_SIDE_3D(X, src) \
    COPY_ND_FIELDS_SIDE_3D(X, dst) \
    X(depth, extent.depth, size, "Planes to copy.")

#define COPY_ND_FIELD(name, member, how, doc)                 \
    static const copy_nd_field copy_nd_field_##name = {#name, \
                                                       offsetof(copy_nd, job.member)};
COPY_ND_FIELDS_3D(COPY_ND_FIELD)

#define COPY_ND_PROPERTY(name, member, how, doc) \
    {#name, copy_nd_get_##how, copy_nd_set_##how, doc, (void *)&copy_nd_field_##name},
#define COPY_ND_DICT                                                             \
    {                                                                            \
        "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL \
    }

static PyGetSetDef copy_nd_2d_getset[] = {
    COPY_ND_FIELDS_2D(COPY_ND_PROPERTY) COPY_ND_DICT,
    {NULL, NULL, NULL, NULL, NULL},
};

static PyGetSetDef copy_nd_3d_getset[] = {
    COPY_ND_FIELDS_3D(COPY_ND_PROPERTY) COPY_ND_DICT,
    {NULL, NULL, NULL, NULL, NULL},
};

/* -- the call ---------------------------------------------------------------------- */

typedef enum { COPY_ND_SYNC, COPY_ND_UNALIGNED, COPY_ND_ASYNC } copy_nd_mode;

static const char *const copy_nd_routines[][3] = {
    [COPY_ND_2D] = {"cuMemcpy2D", "cuMemcpy2DUnaligned", "cuMemcpy2DAsync"},
    [COPY_ND_3D] = {"cuMemcpy3D", "cuMemcpy3D", "cuMemcpy3DAsync"},
    [COPY_ND_PEER] = {"cuMemcpy3DPeer", "cuMemcpy3DPeer", "cuMemcpy3DPeerAsync"},
};

/* The members of a driver's descriptor for one side; prefix is src or dst. */
#define COPY_ND_SIDE_2D(prefix, side)                               \
    .prefix##XInBytes = (side).x, .prefix##Y = (side).y,            \
    .prefix##MemoryType = (side).type, .prefix##Host = (side).host, \
    .prefix##Device = (side).device, .prefix##Array = (side).array, \
    .prefix##Pitch = (side).pitch
#define COPY_ND_SIDE_3D(prefix, side)                                                \
    COPY_ND_SIDE_2D(prefix, side), .prefix##Z = (side).z, .prefix##LOD = (side).lod, \
                                   .prefix##Height = (side).height

static CUresult
copy_nd_run_2d(const copy_nd_job *job, copy_nd_mode mode, CUstream stream)
{
    CUDA_MEMCPY2D c = {COPY_ND_SIDE_2D(src, job->src), COPY_ND_SIDE_2D(dst, job->dst),
                       .WidthInBytes = job->extent.width, .Height = job->extent.height};
    CUresult status;
    if (mode == COPY_ND_ASYNC) {
        PCU_STATUS(status, Memcpy2DAsync, (&c, stream));
    }
    else if (mode == COPY_ND_UNALIGNED) {
        PCU_STATUS(status, Memcpy2DUnaligned, (&c));
    }
    else {
        PCU_STATUS(status, Memcpy2D, (&c));
    }
    return status;
}

static CUresult
copy_nd_run_3d(const copy_nd_job *job, copy_nd_mode mode, CUstream stream)
{
    CUDA_MEMCPY3D c = {COPY_ND_SIDE_3D(src, job->src), COPY_ND_SIDE_3D(dst, job->dst),
                       .WidthInBytes = job->extent.width, .Height = job->extent.height,
                       .Depth = job->extent.depth};
    CUresult status;
    if (mode == COPY_ND_ASYNC) {
        PCU_STATUS(status, Memcpy3DAsync, (&c, stream));
    }
    else {
        PCU_STATUS(status, Memcpy3D, (&c));
    }
    return status;
}

static CUresult
copy_nd_run_peer(const copy_nd_job *job, copy_nd_mode mode, CUstream stream)
{
    CUDA_MEMCPY3D_PEER c = {
        COPY_ND_SIDE_3D(src, job->src),    COPY_ND_SIDE_3D(dst, job->dst),
        .srcContext = job->src_context,    .dstContext = job->dst_context,
        .WidthInBytes = job->extent.width, .Height = job->extent.height,
        .Depth = job->extent.depth};
    CUresult status;
    if (mode == COPY_ND_ASYNC) {
        PCU_STATUS(status, Memcpy3DPeerAsync, (&c, stream));
    }
    else {
        PCU_STATUS(status, Memcpy3DPeer, (&c));
    }
    return status;
}

/* "host memory from x 0, y 3 with pitch 64" */
static PyObject *
copy_nd_describe_side(const copy_nd *self, const pcu_copy_side *side)
{
    static const char *const kinds[] = {"nothing that was set", "host memory",
                                        "device memory", "an Array", "unified memory"};
    const char *kind =
        side->type < Py_ARRAY_LENGTH(kinds) ? kinds[side->type] : "no memory_type";
    if (self->kind == COPY_ND_2D) {
        return PyUnicode_FromFormat("%s at x %zu, y %zu with pitch %zu", kind, side->x,
                                    side->y, side->pitch);
    }
    return PyUnicode_FromFormat("%s at x %zu, y %zu, z %zu with pitch %zu, height %zu",
                                kind, side->x, side->y, side->z, side->pitch,
                                side->height);
}

/* The range of device memory that a side covers. Very large numbers wrap; the driver
 * refuses such a copy anyway, and the error message is then less exact. */
static pcu_copy_range
copy_nd_range(const copy_nd *self, const copy_nd_job *job, const pcu_copy_side *side,
              const char *name)
{
    pcu_copy_range range = {name, side->device, 0};
    if (side->type == CU_MEMORYTYPE_DEVICE && job->extent.height != 0 &&
        job->extent.depth != 0) {
        size_t planes = self->kind == COPY_ND_2D ? 0 : side->z + job->extent.depth - 1;
        size_t rows = planes * side->height + side->y + job->extent.height - 1;
        range.bytes = rows * side->pitch + side->x + job->extent.width;
    }
    return range;
}

static void
copy_nd_raise(const copy_nd *self, const copy_nd_job *job, const char *routine,
              CUresult status)
{
    const pcu_copy_range ranges[] = {
        copy_nd_range(self, job, &job->src, "the source"),
        copy_nd_range(self, job, &job->dst, "the destination")};
    if (pcu_copy_ranges_check(self->st, routine, status, ranges, 2) < 0) {
        return;
    }
    PyObject *src = copy_nd_describe_side(self, &job->src);
    PyObject *dst = NULL;
    if (src != NULL) {
        dst = copy_nd_describe_side(self, &job->dst);
    }
    if (dst != NULL && self->kind == COPY_ND_2D) {
        pcu_raise_detail(self->st, routine, status,
                         "%zu rows of %zu bytes from %U to %U", job->extent.height,
                         job->extent.width, src, dst);
    }
    else if (dst != NULL) {
        pcu_raise_detail(self->st, routine, status,
                         "%zu planes of %zu rows of %zu bytes from %U to %U",
                         job->extent.depth, job->extent.height, job->extent.width, src,
                         dst);
    }
    Py_XDECREF(src);
    Py_XDECREF(dst);
}

/* Copy the current fields and hold their objects: other threads may set fields during
 * the call. */
static copy_nd_job
copy_nd_take(copy_nd *self)
{
    copy_nd_job job = self->job;
    if (self->kind == COPY_ND_2D) {
        job.extent.depth = 1;
    }
    Py_XINCREF(job.src.owner);
    Py_XINCREF(job.dst.owner);
    Py_XINCREF(job.src.ctx);
    Py_XINCREF(job.dst.ctx);
    return job;
}

static void
copy_nd_release(copy_nd_job *job)
{
    Py_CLEAR(job->src.owner);
    Py_CLEAR(job->dst.owner);
    Py_CLEAR(job->src.ctx);
    Py_CLEAR(job->dst.ctx);
}

/* While a stream is captured: refuse a copy without a stream, and keep both sides. */
static int
copy_nd_captured(const copy_nd *self, const copy_nd_job *job, const char *routine)
{
    if (pcu_captures == NULL) {
        return 0;
    }
    if (pcu_captured_copy(self->st, routine) < 0 ||
        pcu_captured_object(job->src.owner) < 0 ||
        pcu_captured_object(job->dst.owner) < 0 ||
        pcu_captured_address(pcu_texture_array_word(self->st, job->src.owner)) < 0 ||
        pcu_captured_address(pcu_texture_array_word(self->st, job->dst.owner)) < 0 ||
        pcu_captured_address(job->src.device) < 0) {
        return -1;
    }
    return pcu_captured_address(job->dst.device);
}

static PyObject *
copy_nd_run(copy_nd *self, copy_nd_mode mode, CUstream stream)
{
    const char *routine = copy_nd_routines[self->kind][mode];
    copy_nd_job job = copy_nd_take(self);
    PyObject *result = NULL;
    CUresult status;
    if (pcu_current_context_ready(self->st) < 0 ||
        pcu_copy_side_check(self->st, &job.src, &job.extent, routine) < 0 ||
        pcu_copy_side_check(self->st, &job.dst, &job.extent, routine) < 0 ||
        copy_nd_captured(self, &job, routine) < 0) {
        goto done;
    }
    if (self->kind == COPY_ND_PEER &&
        (pcu_copy_side_context(self->st, &job.src, routine, &job.src_context) < 0 ||
         pcu_copy_side_context(self->st, &job.dst, routine, &job.dst_context) < 0)) {
        goto done;
    }
    if (mode != COPY_ND_ASYNC) {
        pcu_stream_note(NULL);
    }
    switch (self->kind) {
        case COPY_ND_2D:
            status = copy_nd_run_2d(&job, mode, stream);
            break;
        case COPY_ND_3D:
            status = copy_nd_run_3d(&job, mode, stream);
            break;
        default:
            status = copy_nd_run_peer(&job, mode, stream);
    }
    if (status == CUDA_SUCCESS) {
        result = Py_NewRef(Py_None);
    }
    else {
        copy_nd_raise(self, &job, routine, status);
    }
done:
    copy_nd_release(&job);
    return result;
}

typedef struct {
    PyObject *first; /* aligned, or the stream */
    PyObject *stream;
} copy_nd_call_args;

/* Store the stream to use in *stream and return 1. Return 0 if no stream was given;
 * None counts as none. */
static int
copy_nd_stream(pcu_state *st, PyObject *value, CUstream *stream, const char *name)
{
    if (value == NULL || value == Py_None) {
        return 0;
    }
    if (pcu_as_stream(st, value, stream, name) < 0) {
        return -1;
    }
    return 1;
}

/* bool, numpy.bool_, 0 and 1 */
static bool
copy_nd_is_truth(PyObject *value)
{
    return PyLong_Check(value) || PyArray_IsScalar(value, Bool);
}

static const pcu_word copy_nd_call_words[] = {
    PCU_WORD("aligned", pcu_as_object, copy_nd_call_args, first),
    PCU_WORD("stream", pcu_as_object, copy_nd_call_args, stream),
};

PCU_SIGNATURE(copy_nd_2d_call, copy_nd_call_words,
              "Memcpy2D.__call__(aligned=True, stream=None)\n--\n\n")
PCU_SIGNATURE(copy_nd_3d_call, copy_nd_call_words,
              "Memcpy3D.__call__(stream=None)\n--\n\n")
PCU_SIGNATURE(copy_nd_peer_call, copy_nd_call_words,
              "Memcpy3DPeer.__call__(stream=None)\n--\n\n")

/* copy(), copy(aligned), copy(stream) */
static PyObject *
copy_nd_call_2d(PyObject *op, PyObject *args, PyObject *kwargs)
{
    copy_nd *self = (copy_nd *)op;
    copy_nd_call_args a = {0};
    CUstream stream = NULL;
    const char *name = "stream";
    int aligned = 1;
    if (pcu_args_parse_tuple(self->st, &copy_nd_2d_call_signature, args, kwargs, &a) <
        0) {
        return NULL;
    }
    if (a.first == Py_None || (a.first != NULL && copy_nd_is_truth(a.first))) {
        aligned = PyObject_IsTrue(a.first);
    }
    else if (a.first != NULL && a.stream != NULL) {
        PyErr_SetString(PyExc_TypeError, "a copy takes one stream; two were given");
        return NULL;
    }
    else if (a.first != NULL) {
        a.stream = a.first;
        name = "aligned, or the stream,";
    }
    int queued = copy_nd_stream(self->st, a.stream, &stream, name);
    if (queued < 0) {
        return NULL;
    }
    copy_nd_mode mode = COPY_ND_SYNC;
    if (queued) {
        mode = COPY_ND_ASYNC;
    }
    else if (!aligned) {
        mode = COPY_ND_UNALIGNED;
    }
    return copy_nd_run(self, mode, stream);
}

/* copy(), copy(stream) */
static PyObject *
copy_nd_call_3d(PyObject *op, PyObject *args, PyObject *kwargs)
{
    copy_nd *self = (copy_nd *)op;
    const pcu_signature *signature = &copy_nd_peer_call_signature;
    copy_nd_call_args a = {0};
    CUstream stream = NULL;
    if (self->kind == COPY_ND_3D) {
        signature = &copy_nd_3d_call_signature;
    }
    if (pcu_args_parse_tuple(self->st, signature, args, kwargs, &a) < 0) {
        return NULL;
    }
    int queued = copy_nd_stream(self->st, a.stream, &stream, "stream");
    if (queued < 0) {
        return NULL;
    }
    return copy_nd_run(self, queued ? COPY_ND_ASYNC : COPY_ND_SYNC, stream);
}

/* -- the types --------------------------------------------------------------------- */

static PyObject *
copy_nd_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    pcu_state *st = pcu_state_of_type(type);
    if (st == NULL) {
        return NULL;
    }
    /* a derived type may take arguments of its own */
    bool exact =
        type == st->Memcpy2D || type == st->Memcpy3D || type == st->Memcpy3DPeer;
    if (exact && (PyTuple_GET_SIZE(args) != 0 ||
                  (kwargs != NULL && PyDict_GET_SIZE(kwargs) != 0))) {
        PyErr_Format(PyExc_TypeError, "%s() takes no arguments", type->tp_name);
        return NULL;
    }
    copy_nd *self = (copy_nd *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->st = st;
        self->job.dst.writable = true;
        self->kind = COPY_ND_PEER;
        if (PyType_IsSubtype(type, st->Memcpy2D)) {
            self->kind = COPY_ND_2D;
        }
        else if (PyType_IsSubtype(type, st->Memcpy3D)) {
            self->kind = COPY_ND_3D;
        }
    }
    return (PyObject *)self;
}

static int
copy_nd_traverse(PyObject *op, visitproc visit, void *arg)
{
    copy_nd *self = (copy_nd *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->dict);
    Py_VISIT(self->job.src.owner);
    Py_VISIT(self->job.dst.owner);
    Py_VISIT(self->job.src.ctx);
    Py_VISIT(self->job.dst.ctx);
    return 0;
}

static int
copy_nd_clear(PyObject *op)
{
    copy_nd *self = (copy_nd *)op;
    pcu_copy_side_clear(&self->job.src);
    pcu_copy_side_clear(&self->job.dst);
    Py_CLEAR(self->dict);
    return 0;
}

static void
copy_nd_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (((copy_nd *)op)->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    copy_nd_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
}

#define COPY_ND_METHOD(side, what)                                   \
    {                                                                \
        "set_" #side "_" #what, copy_nd_set_##side##_##what, METH_O, \
            copy_nd_set_##side##_##what##_doc                        \
    }

static PyMethodDef copy_nd_methods[] = {
    COPY_ND_METHOD(src, host),    COPY_ND_METHOD(dst, host),
    COPY_ND_METHOD(src, device),  COPY_ND_METHOD(dst, device),
    COPY_ND_METHOD(src, array),   COPY_ND_METHOD(dst, array),
    COPY_ND_METHOD(src, unified), COPY_ND_METHOD(dst, unified),
    {NULL, NULL, 0, NULL},
};

static PyMethodDef copy_nd_peer_methods[] = {
    COPY_ND_METHOD(src, context),
    COPY_ND_METHOD(dst, context),
    {NULL, NULL, 0, NULL},
};

static PyMemberDef copy_nd_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(copy_nd, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(copy_nd, weakrefs), Py_READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

#define COPY_ND_DOC                                                                  \
    "Set the fields, which are 0 initially, a source and a destination. Then call\n" \
    "the object. Fields in x, widths and pitches are bytes; heights count rows.\n"   \
    "Host buffers and Arrays are held until their side is set again.\n"
#define COPY_ND_DOC_CALL_2D                                                          \
    "``copy()`` waits. ``copy(aligned=False)`` too, and takes any pitch of device\n" \
    "memory. ``copy(stream)`` only enqueues the copy.\n"
#define COPY_ND_DOC_CALL_3D \
    "``copy()`` waits. ``copy(stream)`` only enqueues the copy.\n"
#define COPY_ND_DOC_SMALL                                                            \
    "The call raises a ValueError if a host buffer is too small, and a LogicError\n" \
    "if the driver refuses the copy.\n"
PyDoc_STRVAR(copy_nd_2d_doc,
             "Memcpy2D()\n--\n\n"
             "Copy a rectangle: rows of bytes, with a pitch on both sides.\n"
             "\n" COPY_ND_DOC COPY_ND_DOC_CALL_2D
             "\nSee Also\n--------\n"
             "Memcpy3D : Copy a box.\n"
             "mem_alloc_pitch : Allocate rows.\n"
             "\nNotes\n-----\n" COPY_ND_DOC_SMALL
             "\nExamples\n--------\n"
             ">>> a = np.arange(12, dtype=np.uint8).reshape(3, 4)\n"
             ">>> memory = drv.mem_alloc(6)\n"
             ">>> copy = drv.Memcpy2D()\n"
             ">>> copy.set_src_host(a)\n"
             ">>> copy.set_dst_device(memory)\n"
             ">>> copy.src_pitch, copy.dst_pitch = 4, 2\n"
             ">>> copy.width_in_bytes, copy.height = 2, 3\n"
             ">>> copy()\n"
             ">>> drv.from_device(memory, (3, 2), np.uint8)\n"
             "array([[0, 1],\n"
             "       [4, 5],\n"
             "       [8, 9]], dtype=uint8)");
PyDoc_STRVAR(
    copy_nd_3d_doc,
    "Memcpy3D()\n--\n\n"
    "Copy a box: planes of rows of bytes.\n"
    "\n" COPY_ND_DOC COPY_ND_DOC_CALL_3D
    "\nSee Also\n--------\n"
    "Memcpy2D : Copy a rectangle.\n"
    "Memcpy3DPeer : Copy between contexts.\n"
    "\nNotes\n-----\n" COPY_ND_DOC_SMALL
    "\nExamples\n--------\n"
    ">>> a = np.arange(8, dtype=np.uint8).reshape(2, 2, 2)\n"
    ">>> memory = drv.mem_alloc(8)\n"
    ">>> copy = drv.Memcpy3D()\n"
    ">>> copy.set_src_host(a)\n"
    ">>> copy.set_dst_device(memory)\n"
    ">>> copy.src_pitch = copy.src_height = copy.dst_pitch = copy.dst_height = 2\n"
    ">>> copy.width_in_bytes = copy.height = copy.depth = 2\n"
    ">>> copy()\n"
    ">>> drv.from_device(memory, 8, np.uint8)\n"
    "array([0, 1, 2, 3, 4, 5, 6, 7], dtype=uint8)");
PyDoc_STRVAR(copy_nd_peer_doc,
             "Memcpy3DPeer()\n--\n\n"
             "Copy a box between the memories of two contexts.\n"
             "\n" COPY_ND_DOC COPY_ND_DOC_CALL_3D
             "\nSee Also\n--------\n"
             "Memcpy3D : Copy within a context.\n"
             "memcpy_peer : Copy a range.\n"
             "\nNotes\n-----\n" COPY_ND_DOC_SMALL);

#define COPY_ND_TYPE(prefix, type_name, call, getset)    \
    static PyType_Slot prefix##_slots[] = {              \
        {Py_tp_doc, (void *)prefix##_doc},               \
        {Py_tp_new, copy_nd_new},                        \
        {Py_tp_call, call},                              \
        {Py_tp_traverse, copy_nd_traverse},              \
        {Py_tp_clear, copy_nd_clear},                    \
        {Py_tp_dealloc, copy_nd_dealloc},                \
        {Py_tp_members, copy_nd_members},                \
        {Py_tp_getset, getset},                          \
        {Py_tp_methods, copy_nd_methods},                \
        {0, NULL},                                       \
    };                                                   \
    static PyType_Spec prefix##_spec = {                 \
        "pycuda._driver." type_name, sizeof(copy_nd), 0, \
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, prefix##_slots}
COPY_ND_TYPE(copy_nd_2d, "Memcpy2D", copy_nd_call_2d, copy_nd_2d_getset);
COPY_ND_TYPE(copy_nd_3d, "Memcpy3D", copy_nd_call_3d, copy_nd_3d_getset);
COPY_ND_TYPE(copy_nd_peer, "Memcpy3DPeer", copy_nd_call_3d, copy_nd_3d_getset);

int
pcu_copy_nd_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->Memcpy2D, &copy_nd_2d_spec, NULL) < 0 ||
        pcu_add_type(m, &st->Memcpy3D, &copy_nd_3d_spec, NULL) < 0 ||
        pcu_add_type(m, &st->Memcpy3DPeer, &copy_nd_peer_spec, NULL) < 0 ||
        pcu_add_methods(st->Memcpy3DPeer, copy_nd_peer_methods) < 0) {
        return -1;
    }
    return 0;
}
