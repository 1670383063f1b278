/* The common part of every wrapper of a driver handle: construction, release, garbage
 * collection.
 *
 * Invariant: while `live` is 1, this object must release the handle, driver/release.c
 * counts it, and `ctx` holds its context. tp_clear never drops ctx, because the handle
 * is released in it. Callers: see resource.h. */
#include "python/driver/resource.h"

#include "python/support/driver_call.h"

#include "driver/capture.h"
#include "driver/waits.h"

PyMemberDef pcu_resource_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(pcu_resource, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(pcu_resource, weakrefs), Py_READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

/* The bits of a handle, for warnings. */
static uintptr_t
resource_bits(pcu_handle_kind kind, pcu_handle handle)
{
    uintptr_t bits;
    if (kind == PCU_HANDLE_range) {
        return (uintptr_t)handle.range->base;
    }
    memcpy(&bits, &handle, sizeof(bits));
    return bits;
}

/* -- releasing --------------------------------------------------------------------- */

static CUresult
release_run(pcu_release *r, int blocking)
{
    if (pcu_release_begin(r)) {
        PyThreadState *thread = NULL;
        if (pcu_must_unlock(blocking)) {
            thread = pcu_unlock();
        }
        pcu_release_call(r);
        if (thread != NULL) {
            pcu_lock(thread);
        }
    }
    CUresult status = pcu_release_finish(r);
    if (r->lost != CUDA_SUCCESS) {
        pcu_report_lost(((pcu_context *)r->ctx->owner)->st, r->routine, r->ctx,
                        r->lost);
    }
    return status;
}

/* Whether a graph uses the handle, and releases it in the end. */
static bool
release_is_owed(pcu_handle_kind kind, pcu_handle handle, const pcu_context_record *rec)
{
    pcu_memory_note *note = NULL;
    uint64_t address = pcu_handle_address(kind, handle);
    if (pcu_memory_map.kept != 0 && address != 0) {
        note = pcu_memory_find(address, rec);
    }
    if (note == NULL || note->graphs == 0) {
        return false;
    }
    note->owed = true;
    note->handle_kind = (uint8_t)kind;
    return true;
}

bool
pcu_context_works(pcu_context_record *rec, uint64_t patience)
{
    pcu_scope scope;
    CUresult status = CUDA_SUCCESS;
    if (rec->stuck && pcu_scope_enter(&scope, rec) == CUDA_SUCCESS) {
        status = pcu_wait_for_context(rec, patience);
        (void)pcu_scope_leave(&scope);
    }
    return status == CUDA_ERROR_NOT_READY;
}

void
pcu_release_late(PyObject *ctx)
{
    pcu_context *self = (pcu_context *)ctx;
    pcu_capture_record *late = self->rec.late;
    if (late == NULL || (pcu_context_record_usable(&self->rec) &&
                         pcu_context_works(&self->rec, PCU_LOOK_NS))) {
        return;
    }
    self->rec.late = NULL;
    for (size_t i = 0; i < late->owed_count; i++) {
        pcu_release_noraise(self->st, late->owed[i].kind, late->owed[i].handle, ctx);
        Py_DECREF(ctx); /* the caller has a reference */
    }
    free(late->owed);
    free(late);
}

/* A release that waits for work that may never end is made later. */
static bool
release_is_late(pcu_handle_kind kind, pcu_handle handle, PyObject *ctx)
{
    pcu_context_record *rec = pcu_context_rec(ctx);
    bool waits = pcu_handle_blocking(kind) == PCU_BLOCKING_IDLE ||
                 kind == PCU_HANDLE_ordered || kind == PCU_HANDLE_range;
    if (!rec->stuck || !waits || !pcu_context_works(rec, PCU_LOOK_NS)) {
        if (rec->late != NULL && !rec->stuck) {
            pcu_release_late(ctx);
        }
        return false;
    }
    if (rec->late == NULL) {
        rec->late = calloc(1, sizeof(*rec->late));
    }
    return rec->late != NULL && pcu_capture_take(rec->late, kind, handle, ctx) == 0;
}

bool
pcu_release_is_taken(pcu_handle_kind kind, pcu_handle handle, PyObject *ctx)
{
    const pcu_context_record *rec = pcu_context_rec(ctx);
    pcu_capture_record *capture = NULL;
    if ((pcu_captures == NULL && pcu_memory_map.kept == 0 && !pcu_wait_was_ended) ||
        !pcu_context_record_usable(rec)) {
        return false;
    }
    if (pcu_wait_was_ended && release_is_late(kind, handle, ctx)) {
        Py_INCREF(ctx);
        return true;
    }
    if (pcu_captures != NULL) {
        capture = pcu_capture_delays(rec->handle, PyThread_get_thread_ident());
    }
    if ((capture == NULL || pcu_capture_take(capture, kind, handle, ctx) < 0) &&
        !release_is_owed(kind, handle, rec)) {
        return false;
    }
    Py_INCREF(ctx);
    return true;
}

CUresult
pcu_release_handle(pcu_handle_kind kind, pcu_handle handle, PyObject *ctx,
                   const char **routine, bool *ended)
{
    if (pcu_release_is_taken(kind, handle, ctx)) {
        *ended = 1;
        return CUDA_SUCCESS;
    }
    pcu_release r = {.kind = kind, .handle = handle, .ctx = &((pcu_context *)ctx)->rec};
    CUresult status = release_run(&r, pcu_handle_blocking(kind));
    *routine = r.routine;
    *ended = r.ended;
    return status;
}

CUresult
pcu_release_mapping(CUgraphicsResource resource, CUstream stream, PyObject *ctx,
                    const char **routine, bool *ended)
{
    pcu_release r = {.kind = PCU_HANDLE_graphics,
                     .handle = {.graphics = resource},
                     .unmaps = true,
                     .stream = stream,
                     .ctx = &((pcu_context *)ctx)->rec};
    CUresult status = release_run(&r, PCU_BLOCKING_OF_GraphicsUnmapResources);
    *routine = r.routine;
    *ended = r.ended;
    return status;
}

CUresult
pcu_release_async(pcu_handle_kind kind, pcu_handle handle, CUstream stream,
                  PyObject *ctx, const char **routine, bool *ended)
{
    if (pcu_release_is_taken(kind, handle, ctx)) {
        *ended = 1;
        return CUDA_SUCCESS;
    }
    pcu_release r = {.kind = kind,
                     .handle = handle,
                     .async = true,
                     .stream = stream,
                     .ctx = &((pcu_context *)ctx)->rec};
    CUresult status = release_run(&r, PCU_BLOCKING_OF_MemFreeAsync);
    *routine = r.routine;
    *ended = r.ended;
    return status;
}

void
pcu_release_noraise(pcu_state *st, pcu_handle_kind kind, pcu_handle handle,
                    PyObject *ctx)
{
    const char *routine = "";
    uintptr_t bits = resource_bits(kind, handle);
    bool ended;
    CUresult status = pcu_release_handle(kind, handle, ctx, &routine, &ended);
    if (status == CUDA_ERROR_TIMEOUT && pcu_context_rec(ctx)->stuck) {
        status = pcu_release_handle(kind, handle, ctx, &routine, &ended); /* later */
    }
    if (!ended) {
        pcu_handle_abandon(kind);
        pcu_memory_forget(pcu_handle_address(kind, handle), pcu_context_rec(ctx));
        if (kind == PCU_HANDLE_range) {
            pcu_virtual_range_free(handle.range);
        }
    }
    if (status != CUDA_SUCCESS) {
        pcu_report_cleanup(st, routine, bits, status);
    }
}

/* -- the wrappers ------------------------------------------------------------------ */

PyObject *
pcu_resource_blank_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
                       PyObject *Py_UNUSED(kwargs))
{
    pcu_state *st = pcu_state_of_type(type);
    pcu_resource *self = NULL;
    if (st != NULL) {
        self = (pcu_resource *)type->tp_alloc(type, 0);
    }
    if (self != NULL) {
        self->st = st;
    }
    return (PyObject *)self;
}

void
pcu_resource_adopt(pcu_resource *self, PyObject *ctx, pcu_handle_kind kind,
                   pcu_handle handle)
{
    pcu_handle old = self->handle;
    PyObject *old_ctx = self->ctx;
    pcu_handle_kind old_kind = self->kind;
    bool old_live = self->live;
    uint64_t address = pcu_handle_address(kind, handle);
    pcu_handle_created(kind);
    if (address != 0) {
        (void)pcu_memory_add(address, pcu_context_rec(ctx)); /* or it has no note */
    }
    self->ctx = Py_NewRef(ctx);
    self->handle = handle;
    self->kind = kind;
    self->live = true;
    if (old_live) { /* a second __init__ */
        pcu_release_noraise(self->st, old_kind, old, old_ctx);
    }
    Py_XDECREF(old_ctx);
}

PyObject *
pcu_resource_new(pcu_state *st, PyTypeObject *type, PyObject *ctx, pcu_handle_kind kind,
                 pcu_handle handle)
{
    pcu_resource *self = (pcu_resource *)type->tp_alloc(type, 0);
    if (self == NULL) {
        pcu_saved_error pending;
        pcu_error_save(&pending);
        pcu_handle_created(kind);
        pcu_release_noraise(st, kind, handle, ctx);
        pcu_error_restore(&pending);
        return NULL;
    }
    self->st = st;
    pcu_resource_adopt(self, ctx, kind, handle);
    return (PyObject *)self;
}

PyObject *
pcu_resource_with_size(PyObject *self, size_t size)
{
    if (self != NULL) {
        ((pcu_resource *)self)->size = size;
        ((pcu_resource *)self)->has_size = true;
    }
    return self;
}

int
pcu_resource_free(pcu_resource *self)
{
    if (!self->live) {
        return pcu_resource_check_slow(self, pcu_handle_release_routine(self->kind));
    }
    self->live = false; /* no other thread releases it during the call */
    const char *routine = "";
    bool ended;
    CUresult status =
        pcu_release_handle(self->kind, self->handle, self->ctx, &routine, &ended);
    self->live = !ended;
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    return pcu_raise(self->st, routine, status);
}

int
pcu_resource_free_async(pcu_resource *self, CUstream stream)
{
    const char *routine = "";
    bool ended;
    if (!self->live) {
        return pcu_resource_check_slow(self, "cuMemFreeAsync");
    }
    self->live = false; /* no other thread releases it during the call */
    CUresult status = pcu_release_async(self->kind, self->handle, stream, self->ctx,
                                        &routine, &ended);
    self->live = !ended;
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    return pcu_raise(self->st, routine, status);
}

int
pcu_resource_check_slow(pcu_resource *self, const char *routine)
{
    if (self->live && pcu_context_record_lives(pcu_context_rec(self->ctx))) {
        return 0;
    }
    const char *why = "this %s was released before";
    if (self->ctx == NULL) {
        why = "the __init__ of this %s was not called";
    }
    else if (self->live) {
        why = "the context of this %s was detached";
    }
    return pcu_raise_detail(self->st, routine, CUDA_ERROR_INVALID_HANDLE, why,
                            Py_TYPE(self)->tp_name);
}

int
pcu_resource_traverse(PyObject *op, visitproc visit, void *arg)
{
    pcu_resource *self = (pcu_resource *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->ctx);
    Py_VISIT(self->dict);
    return 0;
}

int
pcu_resource_clear(PyObject *op)
{
    Py_CLEAR(((pcu_resource *)op)->dict);
    return 0;
}

void
pcu_resource_dealloc(PyObject *op)
{
    pcu_resource *self = (pcu_resource *)op;
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    if (self->live) {
        self->live = false;
        pcu_release_noraise(self->st, self->kind, self->handle, self->ctx);
    }
    pcu_resource_clear(op);
    Py_CLEAR(self->ctx);
    type->tp_free(op);
    Py_DECREF(type);
}
