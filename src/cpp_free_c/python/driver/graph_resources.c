/* The type _GraphResources: what a graph and its executable graphs own. See
 * graph_resources.h.
 *
 * Work names memory by address, and a program may pass an address as an integer. So
 * when work is captured or added, each word among its parameters that is an address is
 * looked up in the map of this package's memory (driver/memory_map.h), and the graph
 * keeps the note that it finds. Memory of other libraries, buffers of the host and
 * functions of the program are kept as objects.
 *
 * Invariant: there is no tp_clear: a cycle through a function of the program ends where
 * a Graph or GraphExec is cleared, which releases the driver's graph first. The garbage
 * collector does not see the set of notes, or it could empty the set before the notes
 * are let go; numbers are in no cycle. */
#include "python/driver/graph_resources.h"

#include "python/support/driver_call.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/resource.h"

enum { GRAPH_LOWEST_ADDRESS = 4096 }; /* smaller words are no addresses */

/* -- making and keeping ------------------------------------------------------------ */

pcu_graph_resources *
pcu_graph_resources_new(pcu_state *st, PyObject *ctx)
{
    PyTypeObject *type = st->_GraphResources;
    pcu_graph_resources *self = (pcu_graph_resources *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->st = st;
    self->ctx = Py_NewRef(ctx);
    self->capture.context = pcu_context_rec(ctx)->handle;
    self->kept = PyList_New(0);
    self->memory = PySet_New(NULL);
    self->functions = PyDict_New();
    self->bodies = PyDict_New();
    self->pools = PyList_New(0);
    if (self->kept == NULL || self->memory == NULL || self->functions == NULL ||
        self->bodies == NULL || self->pools == NULL) {
        Py_CLEAR(self);
    }
    return self;
}

int
pcu_graph_resources_keep(pcu_graph_resources *self, PyObject *object)
{
    Py_ssize_t n = PyList_GET_SIZE(self->kept);
    if (n > 0 && PyList_GET_ITEM(self->kept, n - 1) == object) {
        return 0; /* consecutive work often uses the same object */
    }
    return PyList_Append(self->kept, object);
}

int
pcu_graph_resources_keep_function(pcu_graph_resources *self, CUfunction handle,
                                  PyObject *function)
{
    PyObject *key = PyLong_FromVoidPtr((void *)handle);
    int rc = -1;
    if (key != NULL) {
        rc = PyDict_SetItem(self->functions, key, function);
    }
    Py_XDECREF(key);
    return rc;
}

PyObject *
pcu_graph_resources_function(pcu_graph_resources *self, CUfunction handle)
{
    PyObject *key = PyLong_FromVoidPtr((void *)handle);
    PyObject *found = NULL;
    if (key != NULL) {
        found = PyDict_GetItemWithError(self->functions, key);
        Py_DECREF(key);
    }
    return found;
}

/* The note of the memory that an address is in. The driver answers for addresses of
 * device memory, and refuses all other words. */
static pcu_memory_note *
graph_memory_at(uint64_t word)
{
    CUdeviceptr base = 0;
    size_t size = 0;
    pcu_memory_note *note = pcu_memory_find(word, NULL);
    if (note != NULL || word < GRAPH_LOWEST_ADDRESS) {
        return note;
    }
    const pcu_virtual_range *range = pcu_virtual_range_at(word);
    if (range != NULL) {
        return pcu_memory_find(range->base, NULL);
    }
    if (drv.MemGetAddressRange(&base, &size, word) == CUDA_SUCCESS) {
        return pcu_memory_find(base, NULL);
    }
    return NULL;
}

int
pcu_graph_resources_keep_word(pcu_graph_resources *self, uint64_t word)
{
    pcu_memory_note *note = graph_memory_at(word);
    if (note == NULL) {
        return 0;
    }
    PyObject *key = PyLong_FromVoidPtr(note);
    int rc = -1;
    if (key != NULL) {
        rc = PySet_Contains(self->memory, key);
    }
    if (rc == 0 && (rc = PySet_Add(self->memory, key)) == 0) {
        pcu_memory_keep(note);
    }
    Py_XDECREF(key);
    return rc < 0 ? -1 : 0;
}

int
pcu_graph_resources_keep_words(pcu_graph_resources *self, const void *bytes,
                               size_t size)
{
    uint64_t word;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i + sizeof(word) <= size; i += sizeof(word)) {
        memcpy(&word, (const char *)bytes + i, sizeof(word));
        rc = pcu_graph_resources_keep_word(self, word);
    }
    return rc;
}

/* Let go of memory. What the program has released meanwhile, the last graph that used
 * it releases. */
static void
graph_memory_let_go(const pcu_graph_resources *self, pcu_memory_note *note)
{
    if (pcu_memory_let_go(note)) {
        PyObject *ctx = note->ctx->owner;
        pcu_release_noraise(self->st, note->handle_kind, pcu_handle_owed(note), ctx);
        Py_DECREF(ctx);
    }
}

int
pcu_graph_resources_lend(pcu_graph_resources *self, PyObject *memory, uint64_t address)
{
    pcu_memory_note *note = graph_memory_at(address);
    for (Py_ssize_t i = PyList_GET_SIZE(self->kept) - 1; memory != NULL && i >= 0;
         i--) {
        if (PyList_GET_ITEM(self->kept, i) == memory &&
            PyList_SetSlice(self->kept, i, i + 1, NULL) < 0) {
            return -1;
        }
    }
    PyObject *key = note == NULL ? Py_NewRef(Py_None) : PyLong_FromVoidPtr(note);
    int rc = key == NULL ? -1 : PySet_Discard(self->memory, key);
    if (rc == 1) {
        graph_memory_let_go(self, note);
    }
    Py_XDECREF(key);
    return rc < 0 ? -1 : 0;
}

/* Let go of all memory. */
static void
graph_resources_let_go(pcu_graph_resources *self)
{
    while (self->memory != NULL && PySet_GET_SIZE(self->memory) > 0) {
        PyObject *key = PySet_Pop(self->memory);
        pcu_memory_note *note = PyLong_AsVoidPtr(key);
        Py_DECREF(key);
        graph_memory_let_go(self, note);
    }
    Py_CLEAR(self->memory);
}

/* -- captures ---------------------------------------------------------------------- */

int
pcu_graph_resources_begin(pcu_graph_resources *self, PyObject *pool, bool early)
{
    PyObject *workspaces = PyDict_New();
    if (workspaces == NULL || PyList_Append(self->kept, workspaces) < 0 ||
        PyList_Append(self->pools, pool) < 0) {
        Py_XDECREF(workspaces);
        return -1;
    }
    self->workspaces = workspaces;
    self->pool = Py_NewRef(pool);
    self->forked = false;
    self->following = NULL;
    self->early = early;
    self->capture.thread = PyThread_get_thread_ident();
    self->capturing = true;
    pcu_capture_begin(&self->capture);
    return 0;
}

/* Release the handles that the capture took. One that a graph uses stays until the
 * graph is gone. */
static void
capture_pay(pcu_graph_resources *self)
{
    pcu_owed_handle *owed = self->capture.owed;
    size_t count = self->capture.owed_count;
    self->capture.owed = NULL;
    self->capture.owed_count = self->capture.owed_room = 0;
    for (size_t i = 0; i < count; i++) {
        PyObject *ctx = (PyObject *)owed[i].ctx;
        pcu_release_noraise(self->st, owed[i].kind, owed[i].handle, ctx);
        Py_DECREF(ctx);
    }
    free(owed);
}

void
pcu_graph_resources_end(pcu_graph_resources *self)
{
    if (self->capturing) {
        self->capturing = false;
        pcu_capture_end(&self->capture);
    }
    Py_CLEAR(self->pool);
    Py_CLEAR(self->workspaces); /* `kept` has them, too */
    capture_pay(self);
}

/* The resources of the active capture of the current context that follows `last`; the
 * first one for NULL. */
static pcu_graph_resources *
captured_next(const pcu_graph_resources *last)
{
    pcu_capture_record *rec = pcu_captures;
    if (last != NULL) {
        rec = last->capture.next;
    }
    while (rec != NULL && pcu_ctx_current != NULL &&
           pcu_ctx_current->handle != rec->context) {
        rec = rec->next;
    }
    if (rec == NULL) {
        return NULL;
    }
    return (pcu_graph_resources *)(void *)((char *)rec -
                                           offsetof(pcu_graph_resources, capture));
}

int
pcu_captured_launch_slow(const void *params, size_t size, CUfunction handle,
                         PyObject *function)
{
    int rc = 0;
    for (pcu_graph_resources *r = captured_next(NULL); rc == 0 && r != NULL;
         r = captured_next(r)) {
        rc = pcu_graph_resources_keep_words(r, params, size);
        r->seen++;
        if (rc == 0 && function != NULL) {
            rc = pcu_graph_resources_keep_function(r, handle, function);
        }
    }
    return rc;
}

int
pcu_captured_address_slow(uint64_t word)
{
    int rc = 0;
    for (pcu_graph_resources *r = captured_next(NULL); rc == 0 && r != NULL;
         r = captured_next(r)) {
        rc = pcu_graph_resources_keep_word(r, word);
    }
    return rc;
}

int
pcu_captured_object_slow(PyObject *object)
{
    int rc = 0;
    for (pcu_graph_resources *r = captured_next(NULL); rc == 0 && r != NULL;
         r = captured_next(r)) {
        rc = pcu_graph_resources_keep(r, object);
    }
    return rc;
}

int
pcu_captured_copy_slow(pcu_state *st, const char *routine)
{
    unsigned long thread = PyThread_get_thread_ident();
    size_t length = strlen(routine);
    if (length > 5 && strcmp(routine + length - 5, "Async") == 0) {
        for (pcu_graph_resources *r = captured_next(NULL); r != NULL;
             r = captured_next(r)) {
            r->seen++;
        }
        return 0;
    }
    for (pcu_graph_resources *r = captured_next(NULL); r != NULL;
         r = captured_next(r)) {
        if (r->capture.thread == thread) {
            return pcu_raise_detail(
                st, routine, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                "the call would copy now, not when the graph is launched; use the "
                "function with a stream, such as memcpy_htod_async, or make the call "
                "before the capture");
        }
    }
    return 0;
}

int
pcu_captured_fork_slow(void)
{
    for (pcu_graph_resources *r = captured_next(NULL); r != NULL;
         r = captured_next(r)) {
        if (!r->forked) {
            r->forked = true;
            PyObject *done = PyObject_CallMethod(r->pool, "stop_holding", NULL);
            Py_XDECREF(done);
            if (done == NULL) {
                return -1;
            }
        }
    }
    return 0;
}

CUgraphNode
pcu_captured_last(CUstream stream)
{
    CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphNode *nodes = NULL;
    const CUgraphEdgeData *data = NULL;
    size_t count = 0;
    if (drv.StreamGetCaptureInfo(stream, &state, NULL, NULL, &nodes, &data, &count) !=
            CUDA_SUCCESS ||
        state != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1) {
        return NULL;
    }
    return nodes[0];
}

bool
pcu_captured_follows(CUstream stream)
{
    CUgraphNode last = pcu_captured_last(stream);
    pcu_graph_resources *r = captured_next(NULL);
    while (r != NULL && r->following != last) {
        r = captured_next(r);
    }
    if (last == NULL || r == NULL || !r->early) {
        return false;
    }
    r->has_early = true;
    return true;
}

void
pcu_captured_note_following(CUstream stream)
{
    CUgraphNode last = pcu_captured_last(stream);
    for (pcu_graph_resources *r = captured_next(NULL); r != NULL;
         r = captured_next(r)) {
        r->following = last;
    }
}

/* The resources of the capture that this thread began. */
static pcu_graph_resources *
captured_by_thread(void)
{
    unsigned long thread = PyThread_get_thread_ident();
    pcu_graph_resources *r = captured_next(NULL);
    while (r != NULL && r->capture.thread != thread) {
        r = captured_next(r);
    }
    return r;
}

PyObject *
pcu_captured_pool_slow(void)
{
    const pcu_graph_resources *r = captured_by_thread();
    if (r == NULL) {
        return NULL;
    }
    return r->pool;
}

PyObject *
pcu_captured_workspaces(void)
{
    const pcu_graph_resources *r = captured_by_thread();
    if (r == NULL) {
        return NULL;
    }
    return r->workspaces;
}

/* -- the type ---------------------------------------------------------------------- */

static int
graph_resources_traverse(PyObject *op, visitproc visit, void *arg)
{
    pcu_graph_resources *self = (pcu_graph_resources *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->ctx);
    Py_VISIT(self->kept);
    Py_VISIT(self->functions);
    Py_VISIT(self->bodies);
    Py_VISIT(self->pools);
    Py_VISIT(self->pool);
    Py_VISIT(self->workspaces);
    return 0;
}

/* Let the pools release their blocks, also if an array of the program keeps a pool. */
static void
graph_resources_stop_pools(pcu_graph_resources *self)
{
    pcu_saved_error pending;
    Py_ssize_t n = 0;
    if (self->pools != NULL) {
        n = PyList_GET_SIZE(self->pools);
    }
    pcu_error_save(&pending);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *done =
            PyObject_CallMethod(PyList_GET_ITEM(self->pools, i), "stop_holding", NULL);
        Py_XDECREF(done);
        PyErr_Clear(); /* the blocks are then released with the pool */
    }
    pcu_error_restore(&pending);
}

static void
graph_resources_dealloc(PyObject *op)
{
    pcu_graph_resources *self = (pcu_graph_resources *)op;
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    pcu_graph_resources_end(self);
    graph_resources_let_go(self);
    graph_resources_stop_pools(self);
    Py_CLEAR(self->pools);
    Py_CLEAR(self->kept);
    Py_CLEAR(self->functions);
    Py_CLEAR(self->bodies);
    Py_CLEAR(self->ctx);
    type->tp_free(op);
    Py_DECREF(type);
}

PyDoc_STRVAR(graph_resources_doc,
             "What a graph and the executable graphs made from it own. Internal.");

static PyType_Slot graph_resources_slots[] = {
    {Py_tp_doc, (void *)graph_resources_doc},
    {Py_tp_traverse, graph_resources_traverse},
    {Py_tp_dealloc, graph_resources_dealloc},
    {0, NULL},
};

static PyType_Spec graph_resources_spec = {
    "pycuda._driver._GraphResources", sizeof(pcu_graph_resources), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    graph_resources_slots};

int
pcu_graph_resources_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->_GraphResources, &graph_resources_spec, NULL);
}
