/* The references of a module: finding them, and bringing what changed to the device.
 *
 * A VARIABLE is set by a copy of eight bytes in the order of the launch's stream. Who
 * reads it must not see it change, and who comes later must not read it too early:
 *
 *  - Launches before the store, in its stream: the stream keeps the order. In another
 *    stream: the store waits for the context.
 *  - Launches after it, in its stream: the same. In another stream: that one is made to
 *    wait for an event behind the store, until the event is known to have passed.
 *  - The object that was replaced is destroyed once that event has passed, for then
 *    every launch that read it has.
 *
 * While a stream is captured the store becomes part of the graph, and the reference
 * stays due: a later launch outside the graph cannot rely on it.
 *
 * The copy reads the handle in the object itself, which outlives it. */
#include "python/driver/texture/reference_store.h"

#include "python/driver/context_stack.h"
#include "python/driver/memory/texture_array.h"
#include "python/driver/module_struct.h"

enum {
    STORE_RETIRED_MAX = 64,
    STORE_EVENT_FLAGS = 2, /* no timing */
    STORE_CAPTURE_ACTIVE = 1,
    STORE_CAPTURE_RELAXED = 2
};

static inline pcu_module *
store_module(PyObject *module)
{
    return (pcu_module *)module;
}

/* -- the list ---------------------------------------------------------------------- */

static pcu_reference *
store_find(const pcu_reference_store *refs, const char *name, int is_surface)
{
    pcu_reference *ref = NULL;
    if (refs != NULL) {
        ref = refs->first;
    }
    while (ref != NULL &&
           (ref->is_surface != is_surface || strcmp(ref->name, name) != 0)) {
        ref = ref->next;
    }
    return ref;
}

pcu_reference *
pcu_reference_store_get(PyObject *module, const char *name, int is_surface)
{
    pcu_module *self = store_module(module);
    pcu_reference *ref = store_find(self->references, name, is_surface);
    if (ref != NULL) {
        return ref;
    }
    ref = pcu_reference_new(name, is_surface);
    if (ref == NULL || pcu_reference_resolve(&self->base, ref) < 0) {
        goto failed;
    }
    pcu_reference *other = store_find(self->references, name, is_surface);
    if (other != NULL) { /* another thread was here while the variable was read */
        pcu_reference_free(ref);
        return other;
    }
    if (self->references == NULL) {
        self->references = PyMem_Calloc(1, sizeof(*self->references));
        if (self->references == NULL) {
            PyErr_NoMemory();
            goto failed;
        }
    }
    if ((ref->declared & 0xff) != 0) {
        ref->format = ref->declared & 0xff;
        ref->channels = (int)(ref->declared >> 8 & 0xff);
    }
    ref->next = self->references->first;
    self->references->first = ref;
    return ref;
failed:
    pcu_reference_free(ref);
    return NULL;
}

void
pcu_reference_store_touch(PyObject *module, pcu_reference *ref)
{
    ref->changed = 1;
    if (ref->kind == PCU_REFERENCE_VARIABLE && ref->bound != PCU_BOUND_NOT) {
        store_module(module)->references->changed = 1;
    }
}

/* -- the order of streams ---------------------------------------------------------- */

/* 1 if a stream is certainly the one that was noted: a driver may give the handle of a
 * destroyed stream to a new one, so after any was destroyed nothing is certain. */
static inline int
store_is_stream(const pcu_reference_store *refs, CUstream noted, CUstream stream)
{
    return noted == stream && refs->epoch == pcu_handle_released(PCU_HANDLE_stream);
}

/* Drop a list of objects that nobody reads any more; steals it. NULL is fine. */
static void
store_drop(PyObject *retired)
{
    for (Py_ssize_t i = 0; retired != NULL && i < PyList_GET_SIZE(retired); i++) {
        ((pcu_texture *)PyList_GET_ITEM(retired, i))->used = 0;
    }
    Py_XDECREF(retired);
}

/* Wait until all launches and stores have passed. Others may launch meanwhile, so the
 * caller looks again. */
static int
store_wait_for_context(pcu_state *st, pcu_reference_store *refs)
{
    unsigned long stores = refs->stores;
    PyObject *retired = refs->retired;
    int rc;
    refs->retired = NULL;
    refs->readers = 0;
    rc = pcu_context_synchronize(st);
    if (rc < 0) {
        refs->readers = 2;
        Py_XDECREF(retired);
        return -1;
    }
    if (refs->stores == stores) {
        refs->unsettled = 0;
    }
    store_drop(retired);
    return 0;
}

/* Ask whether the last store has passed, which every launch before it has then too.
 * Launches of several streams are only there if a graph was captured. */
static CUresult
store_poll(pcu_reference_store *refs)
{
    CUresult status = drv.EventQuery(((pcu_resource *)refs->event)->handle.event);
    if (status == CUDA_SUCCESS) {
        PyObject *retired = NULL;
        if (refs->readers != 2) {
            retired = refs->retired;
        }
        if (retired != NULL) {
            refs->retired = NULL;
        }
        refs->unsettled = 0;
        store_drop(retired);
    }
    return status;
}

/* Order a stream behind the last store. */
static int
store_wait(pcu_state *st, pcu_reference_store *refs, CUstream stream)
{
    CUresult status = store_poll(refs);
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    if (status != CUDA_ERROR_NOT_READY) {
        return pcu_raise(st, "cuEventQuery", status);
    }
    if (pcu_context_ready(st) < 0) {
        return -1;
    }
    CUevent event = ((pcu_resource *)refs->event)->handle.event;
    /* keeps the lock: no other thread may launch between the order and its use */
    status = drv.StreamWaitEvent(stream, event, 0);
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    return pcu_raise(st, "cuStreamWaitEvent", status);
}

/* -- storing ----------------------------------------------------------------------- */

/* Remember an object that launches may still read; `list` is for the first of them. */
static int
store_retire(pcu_reference_store *refs, PyObject *object, PyObject *list)
{
    if (object == NULL) {
        return 0;
    }
    if (refs->retired == NULL) {
        refs->retired = Py_NewRef(list);
    }
    return PyList_Append(refs->retired, object);
}

/* Make the object of a reference show its state. Making it may collect garbage, and
 * that run code which binds the reference anew, a change of its own, or even launches:
 * then the object that was made for that launch is the newer one. */
static int
store_rebuild(pcu_module *module, pcu_reference *ref)
{
    PyObject *before = Py_XNewRef(ref->object);
    PyObject *list = PyList_New(0);
    ref->changed = 0;
    PyObject *object = NULL;
    if (list != NULL) {
        object = pcu_reference_object_new(module->base.st, module->base.ctx, ref);
    }
    int rc = -1;
    if (object != NULL) {
        rc = 0;
    }
    if (rc == 0 && ref->object == before) {
        rc = store_retire(module->references, before, list);
        if (rc == 0) {
            ((pcu_texture *)object)->used = 1;
            Py_XSETREF(ref->object, Py_NewRef(object));
        }
    }
    if (rc < 0) {
        ref->changed = 1;
    }
    ref->stored = 0;
    Py_XDECREF(object);
    Py_XDECREF(list);
    Py_XDECREF(before);
    return rc;
}

static int
store_put_one(pcu_state *st, pcu_reference *ref, CUstream stream)
{
    const pcu_handle *handle = &((pcu_texture *)ref->object)->base.handle;
    /* keeps the lock: no launch may come between the store and its mark */
    CUresult status = drv.MemcpyHtoDAsync(ref->variable, handle, 8, stream);
    return status == CUDA_SUCCESS
               ? 0
               : pcu_raise_detail(st, "cuMemcpyHtoDAsync", status,
                                  "setting the %s reference '%s'",
                                  ref->is_surface ? "surface" : "texture", ref->name);
}

/* Store what is due. *stored counts the copies that were queued. */
static int
store_put_all(pcu_module *module, CUstream stream, int capturing, int *stored)
{
    for (pcu_reference *ref = module->references->first; ref != NULL; ref = ref->next) {
        if (ref->kind != PCU_REFERENCE_VARIABLE || ref->bound == PCU_BOUND_NOT ||
            (!ref->changed && ref->stored)) {
            continue;
        }
        if ((ref->changed && store_rebuild(module, ref) < 0) ||
            store_put_one(module->base.st, ref, stream) < 0) {
            return -1;
        }
        ref->stored = !capturing;
        *stored += 1;
    }
    return 0;
}

static int
store_need_event(pcu_state *st, PyObject *ctx, pcu_reference_store *refs)
{
    pcu_handle handle = {0};
    int rc;
    if (refs->event != NULL) {
        return 0;
    }
    PCU_CALL(rc, st, EventCreate, (&handle.event, STORE_EVENT_FLAGS));
    if (rc < 0) {
        return -1;
    }
    PyObject *event = pcu_resource_new(st, st->Event, ctx, PCU_HANDLE_event, handle);
    if (event == NULL) {
        return -1;
    }
    if (refs->event == NULL) {
        refs->event = event;
    }
    else { /* making it collected garbage, and that launched */
        Py_DECREF(event);
    }
    return 0;
}

/* Put the event behind the stores. If that fails nothing is known to be stored. */
static int
store_mark(pcu_state *st, pcu_reference_store *refs, CUstream stream)
{
    CUevent event = ((pcu_resource *)refs->event)->handle.event;
    /* keeps the lock: see refs_store_one */
    CUresult status = drv.EventRecord(event, stream);
    refs->unsettled = 1;
    refs->stores++;
    refs->store_stream = stream;
    refs->readers = 0;
    refs->epoch = pcu_handle_released(PCU_HANDLE_stream);
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    for (pcu_reference *ref = refs->first; ref != NULL; ref = ref->next) {
        ref->stored = 0;
    }
    refs->changed = 1;
    refs->readers = 2;
    return pcu_raise(st, "cuEventRecord", status);
}

static int
store_is_captured(CUstream stream)
{
    CUstreamCaptureStatus status = 0;
    return stream != NULL && drv.StreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
           status == STORE_CAPTURE_ACTIVE;
}

/* 1 if a store into the stream could overtake a launch or another store. */
static int
store_must_wait(const pcu_reference_store *refs, CUstream stream)
{
    return refs->readers == 2 ||
           (refs->readers == 1 && !store_is_stream(refs, refs->reader, stream)) ||
           (refs->unsettled && !store_is_stream(refs, refs->store_stream, stream)) ||
           (refs->retired != NULL &&
            PyList_GET_SIZE(refs->retired) > STORE_RETIRED_MAX);
}

static int
store_changes(pcu_module *module, CUstream stream)
{
    pcu_state *st = module->base.st;
    pcu_reference_store *refs = module->references;
    int capturing = store_is_captured(stream);
    int stored = 0;
    if (store_need_event(st, module->base.ctx, refs) < 0) {
        return -1;
    }
    if (!capturing && refs->unsettled) {
        (void)store_poll(refs); /* if it cannot tell, the last store is still to pass */
    }
    while (!capturing && store_must_wait(refs, stream)) {
        if (store_wait_for_context(st, refs) < 0) {
            return -1;
        }
    }
    refs->changed = capturing;
    if (capturing) {
        refs->readers = 2; /* no event tells when the graph has run */
    }
    /* Making an object puts nothing into a stream, but where a capture is not relaxed
     * the driver refuses it and spoils the capture. */
    CUstreamCaptureMode mode = STORE_CAPTURE_RELAXED;
    int relaxed =
        capturing && drv.ThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS;
    int rc = store_put_all(module, stream, capturing, &stored);
    if (relaxed) {
        (void)drv.ThreadExchangeStreamCaptureMode(&mode); /* as it was: cannot fail */
    }
    if (rc < 0) {
        refs->changed = 1;
    }
    if (stored != 0 && !capturing) {
        pcu_saved_error pending;
        pcu_error_save(&pending);
        int marked = store_mark(st, refs, stream);
        if (rc < 0 || marked == 0) {
            if (marked < 0) {
                PyErr_Clear(); /* the first error is the one to report */
            }
            pcu_error_restore(&pending);
        }
        if (rc < 0 || marked < 0) {
            rc = -1;
        }
        else {
            rc = 0;
        }
    }
    return rc;
}

/* Note a launch into a stream. */
static inline void
store_note_reader(pcu_reference_store *refs, CUstream stream)
{
    if (refs->readers == 0) {
        refs->readers = 1;
        refs->reader = stream;
        if (!refs->unsettled) {
            refs->epoch = pcu_handle_released(PCU_HANDLE_stream);
        }
    }
    else if (refs->readers == 1 && !store_is_stream(refs, refs->reader, stream)) {
        refs->readers = 2;
    }
}

/* A launch without a change, while the last store may still be to come. */
static int
store_follow(pcu_state *st, pcu_reference_store *refs, CUstream stream)
{
    int same = store_is_stream(refs, refs->store_stream, stream);
    if ((same && refs->retired == NULL) || store_is_captured(stream)) {
        return 0; /* a graph may neither ask nor wait: it runs later anyway */
    }
    if (same) {
        (void)store_poll(refs); /* only for the sake of what could be dropped */
        return 0;
    }
    return store_wait(st, refs, stream);
}

int
pcu_reference_store_launch(PyObject *op, CUstream stream)
{
    pcu_module *module = store_module(op);
    pcu_reference_store *refs = module->references;
    if (refs->changed) {
        pcu_scope scope;
        if (pcu_context_ready(module->base.st) < 0) {
            return -1;
        }
        CUresult status = pcu_scope_enter(&scope, pcu_context_rec(module->base.ctx));
        if (status != CUDA_SUCCESS) {
            return pcu_raise(module->base.st, "cuCtxPushCurrent", status);
        }
        int rc = store_changes(module, stream);
        status = pcu_scope_leave(&scope);
        if (rc == 0 && status != CUDA_SUCCESS) {
            rc = pcu_raise(module->base.st, "cuCtxPopCurrent", status);
        }
        if (rc < 0) {
            return -1;
        }
    }
    else if (refs->unsettled && store_follow(module->base.st, refs, stream) < 0) {
        return -1;
    }
    store_note_reader(refs, stream);
    return 0;
}

/* -- for Module's slots ------------------------------------------------------------ */

int
pcu_reference_store_traverse(pcu_reference_store *refs, visitproc visit, void *arg)
{
    if (refs == NULL) {
        return 0;
    }
    for (pcu_reference *ref = refs->first; ref != NULL; ref = ref->next) {
        Py_VISIT(ref->array);
        Py_VISIT(ref->object);
    }
    Py_VISIT(refs->event);
    Py_VISIT(refs->retired);
    return 0;
}

void
pcu_reference_store_free(pcu_reference_store *refs)
{
    if (refs == NULL) {
        return;
    }
    while (refs->first != NULL) {
        pcu_reference *ref = refs->first;
        refs->first = ref->next;
        pcu_reference_free(ref);
    }
    Py_CLEAR(refs->retired);
    Py_CLEAR(refs->event);
    PyMem_Free(refs);
}
