/* The references of a module, and storing changed ones on the device. See
 * reference.h.
 *
 * A store is a copy of eight bytes to a VARIABLE, in the stream of a launch. A launch
 * that reads the variable must not see it change, and must not read it before the
 * store:
 *
 *  - Earlier launches in the same stream: the stream keeps the order. Earlier launches
 *    in another stream: the store waits for the context.
 *  - Later launches in the same stream: the stream keeps the order. Later launches in
 *    another stream: that stream waits for an event after the store, until the event is
 *    known to have passed.
 *  - The object that was replaced is released when the event has passed: every launch
 *    that read it has then finished.
 *
 * While a stream is captured, the store becomes part of the graph. The reference still
 * counts as changed, because a later launch outside the graph needs its own store.
 *
 * The copy reads the handle from the object, which lives longer than the copy. */
#include "python/driver/texture/reference.h"

#include "python/driver/current_context.h"
#include "python/driver/graph_resources.h"
#include "python/driver/memory/texture_array.h"
#include "python/driver/resource.h"

enum {
    STORE_RETIRED_MAX = 64,
    STORE_EVENT_FLAGS = 2, /* no timing */
    STORE_CAPTURE_RELAXED = 2
};

/* -- the list ---------------------------------------------------------------------- */

static pcu_reference *
store_find(const pcu_reference_store *store, const char *name, bool is_surface)
{
    pcu_reference *ref = NULL;
    if (store != NULL) {
        ref = store->first;
    }
    while (ref != NULL &&
           (ref->is_surface != is_surface || strcmp(ref->name, name) != 0)) {
        ref = ref->next;
    }
    return ref;
}

pcu_reference *
pcu_reference_store_get(PyObject *module, const char *name, bool is_surface)
{
    pcu_module *self = (pcu_module *)module;
    pcu_reference *ref = store_find(self->references, name, is_surface);
    if (ref != NULL) {
        return ref;
    }
    ref = pcu_reference_new(name, is_surface);
    if (ref == NULL || pcu_reference_resolve(&self->base, ref) < 0) {
        goto failed;
    }
    pcu_reference *other = store_find(self->references, name, is_surface);
    if (other != NULL) { /* another thread made it while this one read the variable */
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
    ref->changed = true;
    if (ref->kind == PCU_REFERENCE_VARIABLE && ref->bound != PCU_BOUND_NOT) {
        ((pcu_module *)module)->references->changed = true;
    }
}

/* -- the order of streams ---------------------------------------------------------- */

/* Whether a stream is certainly the noted one. The driver may reuse the handle of a
 * destroyed stream, so the answer is 0 after any stream was destroyed. */
static inline bool
store_is_stream(const pcu_reference_store *store, CUstream noted, CUstream stream)
{
    return noted == stream && store->epoch == pcu_handle_released(PCU_HANDLE_stream);
}

/* Release a list of objects that no launch reads any more. Steals the list; NULL is
 * allowed. */
static void
store_drop(PyObject *retired)
{
    for (Py_ssize_t i = 0; retired != NULL && i < PyList_GET_SIZE(retired); i++) {
        ((pcu_texture *)PyList_GET_ITEM(retired, i))->used = 0;
    }
    Py_XDECREF(retired);
}

/* Wait until all launches and stores have finished. Other threads may launch meanwhile,
 * so the caller checks again. */
static int
store_wait_for_context(pcu_state *st, pcu_reference_store *store)
{
    unsigned long stores = store->stores;
    PyObject *retired = store->retired;
    store->retired = NULL;
    store->readers = PCU_READERS_NONE;
    int rc = pcu_current_context_synchronize(st);
    if (rc < 0) {
        store->readers = PCU_READERS_OTHERS;
        Py_XDECREF(retired);
        return -1;
    }
    if (store->stores == stores) {
        store->unsettled = false;
    }
    store_drop(retired);
    return 0;
}

/* Ask whether the last store has finished. Every launch before it has then finished
 * too, except the launches of a captured graph: those count as launches in several
 * streams. */
static CUresult
store_poll(pcu_reference_store *store)
{
    CUresult status = drv.EventQuery(((pcu_resource *)store->event)->handle.event);
    if (status == CUDA_SUCCESS) {
        store->unsettled = false;
        if (store->readers != PCU_READERS_OTHERS) {
            PyObject *retired = store->retired;
            store->retired = NULL;
            store_drop(retired);
        }
    }
    return status;
}

/* Make a stream wait for the last store. */
static int
store_wait(pcu_state *st, pcu_reference_store *store, CUstream stream)
{
    CUresult status = store_poll(store);
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    if (status != CUDA_ERROR_NOT_READY) {
        return pcu_raise(st, "cuEventQuery", status);
    }
    if (pcu_current_context_ready(st) < 0) {
        return -1;
    }
    CUevent event = ((pcu_resource *)store->event)->handle.event;
    /* keeps the lock: no other thread may launch before this one */
    status = drv.StreamWaitEvent(stream, event, 0);
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    return pcu_raise(st, "cuStreamWaitEvent", status);
}

/* -- storing ----------------------------------------------------------------------- */

/* Keep an object that launches may still read. `list` is used for the first one. */
static int
store_retire(pcu_reference_store *store, PyObject *object, PyObject *list)
{
    if (object == NULL) {
        return 0;
    }
    if (store->retired == NULL) {
        store->retired = Py_NewRef(list);
    }
    return PyList_Append(store->retired, object);
}

/* Make a new object from the state of a reference. That may collect garbage, and
 * garbage collection may run code that binds the reference again, or launches. After
 * such a launch its object is the newer one and stays. */
static int
store_rebuild(pcu_module *module, pcu_reference *ref)
{
    PyObject *before = Py_XNewRef(ref->object);
    PyObject *list = PyList_New(0);
    ref->changed = false;
    PyObject *object = NULL;
    if (list != NULL) {
        object = pcu_reference_object_new(module->base.st, module->base.ctx, ref);
    }
    int rc = 0;
    if (object == NULL) {
        rc = -1;
    }
    else if (ref->object == before) {
        rc = store_retire(module->references, before, list);
        if (rc == 0) {
            ((pcu_texture *)object)->used = true;
            Py_XSETREF(ref->object, Py_NewRef(object));
        }
    }
    if (rc < 0) {
        ref->changed = true;
    }
    ref->stored = false;
    Py_XDECREF(object);
    Py_XDECREF(list);
    Py_XDECREF(before);
    return rc;
}

static int
store_put_one(pcu_state *st, pcu_reference *ref, CUstream stream)
{
    const pcu_handle *handle = &((pcu_texture *)ref->object)->base.handle;
    /* keeps the lock: no launch may come between the store and its event */
    CUresult status = drv.MemcpyHtoDAsync(ref->variable, handle, 8, stream);
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    return pcu_raise_detail(st, "cuMemcpyHtoDAsync", status,
                            "setting the %s reference '%s'", pcu_reference_noun(ref),
                            ref->name);
}

/* Store the references that changed. *stored counts the copies that were enqueued. */
static int
store_put_all(pcu_module *module, CUstream stream, bool capturing, int *stored)
{
    for (pcu_reference *ref = module->references->first; ref != NULL; ref = ref->next) {
        if (ref->kind != PCU_REFERENCE_VARIABLE || ref->bound == PCU_BOUND_NOT ||
            (!ref->changed && ref->stored)) {
            continue;
        }
        if ((ref->changed && store_rebuild(module, ref) < 0) ||
            store_put_one(module->base.st, ref, stream) < 0 ||
            (capturing && pcu_captured_object(ref->object) < 0)) {
            return -1; /* a graph copies the handle out of the object at each launch */
        }
        ref->stored = !capturing;
        *stored += 1;
    }
    return 0;
}

/* Make the event, unless there is one. */
static int
store_need_event(pcu_state *st, PyObject *ctx, pcu_reference_store *store)
{
    pcu_handle handle = {0};
    int rc;
    if (store->event != NULL) {
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
    if (store->event == NULL) {
        store->event = event;
    }
    else { /* garbage collection ran a launch that made one */
        Py_DECREF(event);
    }
    return 0;
}

/* Record the event after the stores. If that fails, every reference counts as not
 * stored. */
static int
store_mark(pcu_state *st, pcu_reference_store *store, CUstream stream)
{
    CUevent event = ((pcu_resource *)store->event)->handle.event;
    /* keeps the lock: see store_put_one */
    CUresult status = drv.EventRecord(event, stream);
    store->unsettled = true;
    store->stores++;
    store->store_stream = stream;
    store->readers = PCU_READERS_NONE;
    store->epoch = pcu_handle_released(PCU_HANDLE_stream);
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    for (pcu_reference *ref = store->first; ref != NULL; ref = ref->next) {
        ref->stored = false;
    }
    store->changed = true;
    store->readers = PCU_READERS_OTHERS;
    return pcu_raise(st, "cuEventRecord", status);
}

/* Whether a store into the stream could overtake a launch or another store. */
static bool
store_must_wait(const pcu_reference_store *store, CUstream stream)
{
    return store->readers == PCU_READERS_OTHERS ||
           (store->readers == PCU_READERS_ONE_STREAM &&
            !store_is_stream(store, store->reader, stream)) ||
           (store->unsettled && !store_is_stream(store, store->store_stream, stream)) ||
           (store->retired != NULL &&
            PyList_GET_SIZE(store->retired) > STORE_RETIRED_MAX);
}

/* Wait until a store into the stream keeps the order. */
static int
store_wait_for_order(pcu_state *st, pcu_reference_store *store, CUstream stream)
{
    if (store->unsettled) {
        (void)store_poll(
            store); /* without an answer the last store counts as pending */
    }
    while (store_must_wait(store, stream)) {
        if (store_wait_for_context(st, store) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Store the changed references in a stream that is being captured. Making an object
 * enqueues nothing, but unless the capture mode is relaxed, the driver refuses it and
 * invalidates the capture. */
static int
store_put_captured(pcu_module *module, CUstream stream)
{
    CUstreamCaptureMode mode = STORE_CAPTURE_RELAXED;
    pcu_reference_store *store = module->references;
    int stored = 0;
    store->changed = true; /* launches outside the graph need their own store */
    store->readers = PCU_READERS_OTHERS; /* no event tells when the graph has run */
    bool relaxed = drv.ThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS;
    int rc = store_put_all(module, stream, true, &stored);
    if (relaxed) {
        (void)drv.ThreadExchangeStreamCaptureMode(&mode); /* restore: cannot fail */
    }
    return rc;
}

/* Record the event after the stores, whose result was `rc`. */
static int
store_mark_after(pcu_state *st, pcu_reference_store *store, CUstream stream, int rc)
{
    pcu_saved_error pending;
    pcu_error_save(&pending);
    int marked = store_mark(st, store, stream);
    if (rc == 0 && marked < 0) {
        return -1;
    }
    if (marked < 0) {
        PyErr_Clear(); /* the error of the stores is the one to report */
    }
    pcu_error_restore(&pending);
    return rc;
}

/* Store the changed references, in the stream of the next launch. */
static int
store_changes(pcu_module *module, CUstream stream)
{
    pcu_state *st = module->base.st;
    pcu_reference_store *store = module->references;
    int stored = 0;
    bool capturing = pcu_is_captured(stream);
    if (store_need_event(st, module->base.ctx, store) < 0) {
        return -1;
    }
    if (capturing) {
        return store_put_captured(module, stream);
    }
    if (store_wait_for_order(st, store, stream) < 0) {
        return -1;
    }
    store->changed = false;
    int rc = store_put_all(module, stream, false, &stored);
    if (rc < 0) {
        store->changed = true;
    }
    if (stored != 0) {
        rc = store_mark_after(st, store, stream, rc);
    }
    return rc;
}

/* Note a launch into a stream. */
static inline void
store_note_reader(pcu_reference_store *store, CUstream stream)
{
    if (store->readers == PCU_READERS_NONE) {
        store->readers = PCU_READERS_ONE_STREAM;
        store->reader = stream;
        if (!store->unsettled) {
            store->epoch = pcu_handle_released(PCU_HANDLE_stream);
        }
    }
    else if (store->readers == PCU_READERS_ONE_STREAM &&
             !store_is_stream(store, store->reader, stream)) {
        store->readers = PCU_READERS_OTHERS;
    }
}

/* Order a launch after the last store, which may not have run yet. */
static int
store_follow(pcu_state *st, pcu_reference_store *store, CUstream stream)
{
    bool same = store_is_stream(store, store->store_stream, stream);
    if ((same && store->retired == NULL) || pcu_is_captured(stream)) {
        return 0; /* a captured stream can neither ask nor wait; the graph runs later */
    }
    if (same) {
        (void)store_poll(store); /* it may release retired objects */
        return 0;
    }
    return store_wait(st, store, stream);
}

int
pcu_reference_store_launch(PyObject *op, CUstream stream)
{
    pcu_module *module = (pcu_module *)op;
    pcu_reference_store *store = module->references;
    if (store->changed) {
        pcu_scope scope;
        if (pcu_current_context_ready(module->base.st) < 0) {
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
    else if (store->unsettled && store_follow(module->base.st, store, stream) < 0) {
        return -1;
    }
    store_note_reader(store, stream);
    return 0;
}

/* -- slots of Module --------------------------------------------------------------- */

int
pcu_reference_store_traverse(pcu_reference_store *store, visitproc visit, void *arg)
{
    if (store == NULL) {
        return 0;
    }
    for (pcu_reference *ref = store->first; ref != NULL; ref = ref->next) {
        Py_VISIT(ref->array);
        Py_VISIT(ref->object);
    }
    Py_VISIT(store->event);
    Py_VISIT(store->retired);
    return 0;
}

void
pcu_reference_store_free(pcu_reference_store *store)
{
    if (store == NULL) {
        return;
    }
    while (store->first != NULL) {
        pcu_reference *ref = store->first;
        store->first = ref->next;
        pcu_reference_free(ref);
    }
    Py_CLEAR(store->retired);
    Py_CLEAR(store->event);
    PyMem_Free(store);
}
