/* The type _GraphResources: what a graph and its executable graphs own. See
 * graph_resources.h.
 *
 * Work names memory by address. So the words among the parameters of kernels are noted,
 * and for addresses the starts of their allocations. A release then finds out by the
 * start whether a graph uses the memory. Objects are kept
 * only where the release cannot be seen: buffers of the host, memory of other
 * libraries, functions of the program.
 *
 * Invariant: the record is registered as long as the object exists. There is no
 * tp_clear: a cycle through a function of the program ends where a Graph or GraphExec
 * is cleared, which releases the driver's graph first. */
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
    self->rec.context = pcu_context_rec(ctx)->handle;
    pcu_graph_record_register(&self->rec);
    self->kept = PyList_New(0);
    self->functions = PyDict_New();
    self->bodies = PyDict_New();
    self->pools = PyList_New(0);
    if (self->kept == NULL || self->functions == NULL || self->bodies == NULL ||
        self->pools == NULL) {
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

static int
graph_resources_add(pcu_graph_resources *self, uint64_t word)
{
    if (pcu_graph_record_add(&self->rec, word) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* The driver answers for addresses of device memory, and refuses all other words. */
int
pcu_graph_resources_note(pcu_graph_resources *self, uint64_t word)
{
    CUdeviceptr base = 0;
    size_t size = 0;
    if (pcu_graph_record_has(&self->rec, word)) {
        return 0;
    }
    if (word >= GRAPH_LOWEST_ADDRESS &&
        drv.MemGetAddressRange(&base, &size, word) == CUDA_SUCCESS && base != word &&
        graph_resources_add(self, base) < 0) {
        return -1;
    }
    return graph_resources_add(self, word);
}

int
pcu_graph_resources_note_all(pcu_graph_resources *self, const void *bytes, size_t size)
{
    uint64_t word;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i + sizeof(word) <= size; i += sizeof(word)) {
        memcpy(&word, (const char *)bytes + i, sizeof(word));
        rc = pcu_graph_resources_note(self, word);
    }
    return rc;
}

/* -- captures ---------------------------------------------------------------------- */

int
pcu_graph_resources_begin(pcu_graph_resources *self, PyObject *pool, int early)
{
    PyObject *workspaces = PyDict_New();
    if (workspaces == NULL || PyList_Append(self->kept, workspaces) < 0 ||
        PyList_Append(self->pools, pool) < 0) {
        Py_XDECREF(workspaces);
        return -1;
    }
    self->workspaces = workspaces;
    self->pool = Py_NewRef(pool);
    self->forked = 0;
    self->following = NULL;
    self->early = early;
    self->rec.thread = PyThread_get_thread_ident();
    self->rec.capturing = 1;
    pcu_captures_active++;
    return 0;
}

/* Release the handles that the record took. A handle that a graph uses is taken again.
 */
static void
graph_resources_pay(pcu_graph_resources *self)
{
    pcu_owed_handle *owed = self->rec.owed;
    size_t count = self->rec.owed_count;
    self->rec.owed = NULL;
    self->rec.owed_count = self->rec.owed_room = 0;
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
    if (self->rec.capturing) {
        self->rec.capturing = 0;
        pcu_captures_active--;
    }
    Py_CLEAR(self->pool);
    Py_CLEAR(self->workspaces); /* `kept` has them, too */
    graph_resources_pay(self);
}

/* The resources of the active capture of the current context that follows `last`; the
 * first one for NULL. */
static pcu_graph_resources *
captured_next(const pcu_graph_resources *last)
{
    pcu_graph_record *rec = pcu_graph_records;
    if (last != NULL) {
        rec = last->rec.next;
    }
    while (rec != NULL &&
           !(rec->capturing &&
             (pcu_ctx_current == NULL || pcu_ctx_current->handle == rec->context))) {
        rec = rec->next;
    }
    if (rec == NULL) {
        return NULL;
    }
    return (pcu_graph_resources *)(void *)((char *)rec -
                                           offsetof(pcu_graph_resources, rec));
}

int
pcu_captured_launch_slow(const void *params, size_t size, CUfunction handle,
                         PyObject *function)
{
    int rc = 0;
    for (pcu_graph_resources *r = captured_next(NULL); rc == 0 && r != NULL;
         r = captured_next(r)) {
        rc = pcu_graph_resources_note_all(r, params, size);
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
        rc = pcu_graph_resources_note(r, word);
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
        if (r->rec.thread == thread) {
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
            r->forked = 1;
            PyObject *done = PyObject_CallMethod(r->pool, "stop_holding", NULL);
            Py_XDECREF(done);
            if (done == NULL) {
                return -1;
            }
        }
    }
    return 0;
}

/* The node for which the next work of a captured stream waits; NULL if there is none,
 * or more than one. */
static CUgraphNode
captured_last(CUstream stream)
{
    CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphNode *nodes = NULL;
    const CUgraphEdgeData *data = NULL;
    size_t count = 0;
    if ((uintptr_t)stream <= (uintptr_t)CU_STREAM_PER_THREAD ||
        drv.StreamGetCaptureInfo(stream, &state, NULL, NULL, &nodes, &data, &count) !=
            CUDA_SUCCESS ||
        state != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1) {
        return NULL;
    }
    return nodes[0];
}

int
pcu_captured_follows(CUstream stream)
{
    CUgraphNode last = captured_last(stream);
    pcu_graph_resources *r = captured_next(NULL);
    while (r != NULL && r->following != last) {
        r = captured_next(r);
    }
    if (last == NULL || r == NULL || !r->early) {
        return 0;
    }
    r->has_early = 1;
    return 1;
}

void
pcu_captured_note_following(CUstream stream)
{
    CUgraphNode last = captured_last(stream);
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
    while (r != NULL && r->rec.thread != thread) {
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
    pcu_graph_record_forget(&self->rec);
    if (self->rec.capturing) {
        self->rec.capturing = 0;
        pcu_captures_active--;
    }
    graph_resources_stop_pools(self);
    Py_CLEAR(self->pool);
    Py_CLEAR(self->workspaces);
    Py_CLEAR(self->pools);
    Py_CLEAR(self->kept);
    Py_CLEAR(self->functions);
    Py_CLEAR(self->bodies);
    graph_resources_pay(self);
    pcu_graph_record_free(&self->rec);
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
