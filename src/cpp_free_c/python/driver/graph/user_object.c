/* The type UserObject: a function that is called when the last graph that refers to the
 * object is gone.
 *
 * The driver counts the references: those of this object, of graphs, of executable
 * graphs, and of their launches that run. It calls the function when none is left, in a
 * thread of its own on a GPU, in the thread of the last call on the software device.
 *
 * Invariant: the driver's object owns a user_call, which owns the function. A
 * UserObject has one reference to the driver's object while `live` is 1. A user object
 * belongs to no context. Python is the only caller. */
#include "python/driver/graph/graph.h"

#include "python/support/args.h"
#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/driver_call.h"
#include "python/support/driver_thread.h"
#include "python/support/setup.h"
#include "python/support/type.h"

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    CUuserObject handle;
    PyObject *dict;
    PyObject *weakrefs;
    bool live;
} user_object;

/* What the driver gives to user_call_run. */
typedef struct {
    PyObject *function; /* strong */
} user_call;

/* -- the call ---------------------------------------------------------------------- */

/* Called by the driver when the last reference is gone. */
static void
user_call_run(void *data)
{
    user_call *call = data;
    pcu_driver_thread thread;
    if (!pcu_driver_thread_enter(&thread)) {
        return;
    }
    PyObject *result = PyObject_CallNoArgs(call->function);
    if (result == NULL) {
        PyErr_WriteUnraisable(call->function);
    }
    Py_XDECREF(result);
    Py_DECREF(call->function);
    PyMem_RawFree(call);
    pcu_driver_thread_leave(&thread);
}

/* -- making and releasing ---------------------------------------------------------- */

PCU_SIGNATURE_OF_ONE(
    user_object, "function", pcu_as_object,
    "UserObject(function)\n"
    "--\n\n"
    "A function that is called when no graph refers to this object any more.\n"
    "\nParameters\n----------\n" PCU_DOC_HOST_FUNCTION
    "\nRaises\n------\n" PCU_DOC_NOT_CALLABLE
    "\nSee Also\n--------\n"
    "Graph.retain : Let a graph refer to the object.\n"
    "\nNotes\n-----\n"
    "The function is called once, when the graphs, the executable graphs\n"
    "made from them and this object are gone and all launches have finished.\n"
    "A thread of the driver may call it. An exception goes to\n"
    "``sys.unraisablehook``. If the process ends first, the function is not\n"
    "called.\n"
    "\nExamples\n--------\n"
    ">>> import threading\n"
    ">>> gone = threading.Event()\n"
    ">>> graph = drv.Graph()\n"
    ">>> graph.retain(drv.UserObject(gone.set))\n"
    ">>> del graph\n"
    ">>> gone.wait(60)\n"
    "True")

static int
user_object_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    user_object *self = (user_object *)op;
    PyObject *function = NULL;
    int rc;
    if (pcu_args_parse_tuple(self->st, &user_object_signature, args, kwargs,
                             PCU_ONLY(user_object, &function)) < 0) {
        return -1;
    }
    if (!PyCallable_Check(function)) {
        PyErr_Format(PyExc_TypeError, "function must be callable, not %s",
                     Py_TYPE(function)->tp_name);
        return -1;
    }
    if (self->live) {
        return pcu_raise_detail(self->st, "cuUserObjectCreate",
                                CUDA_ERROR_INVALID_VALUE,
                                "__init__ of this UserObject was called before");
    }
    user_call *call = PyMem_RawMalloc(sizeof(*call));
    if (call == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    call->function = Py_NewRef(function);
    PCU_CALL(
        rc, self->st, UserObjectCreate,
        (&self->handle, call, user_call_run, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    self->live = rc == 0;
    if (rc < 0) {
        Py_DECREF(call->function);
        PyMem_RawFree(call);
    }
    return rc;
}

static PyObject *
user_object_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
                PyObject *Py_UNUSED(kwargs))
{
    pcu_state *st = pcu_state_of_type(type);
    user_object *self = NULL;
    if (st != NULL) {
        self = (user_object *)type->tp_alloc(type, 0);
    }
    if (self != NULL) {
        self->st = st;
    }
    return (PyObject *)self;
}

/* Check that the object has its reference. */
static int
user_object_check(user_object *self, const char *routine)
{
    if (self->live) {
        return 0;
    }
    return pcu_raise_detail(self->st, routine, CUDA_ERROR_INVALID_HANDLE,
                            "this UserObject was released");
}

PyDoc_STRVAR(user_object_release_doc,
             "release($self, /)\n"
             "--\n\n"
             "Give up the reference of this object.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the object was released before.\n"
             "\nSee Also\n--------\n"
             "Graph.release : Give up references of a graph.\n"
             "\nNotes\n-----\n"
             "If no graph refers to it, the function is called. Deleting the object\n"
             "does the same.");

static PyObject *
user_object_release(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    user_object *self = (user_object *)op;
    int rc;
    if (user_object_check(self, "cuUserObjectRelease") < 0) {
        return NULL;
    }
    self->live = false;
    PCU_CALL(rc, self->st, UserObjectRelease, (self->handle, 1));
    if (rc < 0) {
        self->live = true;
        return NULL;
    }
    Py_RETURN_NONE;
}

static int
user_object_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((user_object *)op)->dict);
    return 0;
}

static int
user_object_clear(PyObject *op)
{
    Py_CLEAR(((user_object *)op)->dict);
    return 0;
}

static void
user_object_dealloc(PyObject *op)
{
    user_object *self = (user_object *)op;
    PyTypeObject *type = Py_TYPE(op);
    pcu_saved_error pending;
    PyObject_GC_UnTrack(op);
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    if (self->live) {
        CUresult status;
        self->live = false;
        pcu_error_save(&pending);
        PCU_STATUS(status, UserObjectRelease, (self->handle, 1));
        if (status != CUDA_SUCCESS && pcu_drv_info.state == PCU_DRV_READY) {
            pcu_report_cleanup(self->st, "cuUserObjectRelease", (uintptr_t)self->handle,
                               status);
        }
        pcu_error_restore(&pending);
    }
    user_object_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
}

static PyObject *
user_object_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    user_object *self = (user_object *)op;
    if (user_object_check(self, "UserObject.handle") < 0) {
        return NULL;
    }
    return PyLong_FromVoidPtr((void *)self->handle);
}

/* -- Graph.retain, Graph.release --------------------------------------------------- */

#define DOC_USER_OBJECT          \
    "user_object : UserObject\n" \
    "    The object.\n"          \
    "count : int, optional\n"    \
    "    Number of references. The default is 1.\n"

typedef struct {
    PyObject *object;
    unsigned int count;
} graph_retain_args;

/* Read the arguments of the two methods. */
static user_object *
graph_read_user_object(pcu_graph *self, const pcu_signature *signature,
                       PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                       graph_retain_args *a, const char *routine)
{
    pcu_state *st = self->head.st;
    if (pcu_args_parse(st, signature, args, nargs, kwnames, a) < 0) {
        return NULL;
    }
    if (!PyObject_TypeCheck(a->object, st->UserObject)) {
        PyErr_Format(PyExc_TypeError, "user_object must be a UserObject, not %s",
                     Py_TYPE(a->object)->tp_name);
        return NULL;
    }
    if (pcu_graph_check(self, routine) < 0 ||
        user_object_check((user_object *)a->object, routine) < 0) {
        return NULL;
    }
    return (user_object *)a->object;
}

static const pcu_word graph_retain_words[] = {
    PCU_WORD("user_object", pcu_as_object, graph_retain_args, object),
    PCU_WORD("count", pcu_as_uint, graph_retain_args, count),
};

PCU_SIGNATURE(graph_retain, graph_retain_words,
              "retain($self, /, user_object, count=1)\n"
              "--\n\n"
              "Let the graph have references to a user object.\n"
              "\nParameters\n----------\n" DOC_USER_OBJECT
              "\nRaises\n------\n"
              "TypeError\n"
              "    If ``user_object`` is no ``UserObject``.\n"
              "LogicError\n"
              "    If the object was released.\n"
              "\nSee Also\n--------\n"
              "Graph.release : Give them up.\n"
              "\nNotes\n-----\n"
              "Copies of the graph, and executable graphs made from it afterwards,\n"
              "have as many. A reference of an executable graph ends when that is\n"
              "deleted and its last launch has finished.")

static PyObject *
graph_retain(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const routine = "cuGraphRetainUserObject";
    pcu_graph *self = (pcu_graph *)op;
    graph_retain_args a = {NULL, 1};
    int rc;
    const user_object *object = graph_read_user_object(
        self, &graph_retain_signature, args, nargs, kwnames, &a, routine);
    if (object == NULL) {
        return NULL;
    }
    PCU_CALL(rc, self->head.st, GraphRetainUserObject,
             (self->head.handle.graph, object->handle, a.count, 0));
    if (rc < 0) {
        return NULL;
    }
    self->resources->calls_host = true;
    Py_RETURN_NONE;
}

PCU_SIGNATURE(graph_release, graph_retain_words,
              "release($self, /, user_object, count=1)\n"
              "--\n\n"
              "Give up references of the graph to a user object.\n"
              "\nParameters\n----------\n" DOC_USER_OBJECT
              "\nRaises\n------\n"
              "TypeError\n"
              "    If ``user_object`` is no ``UserObject``.\n"
              "LogicError\n"
              "    If the object was released.\n"
              "\nSee Also\n--------\n"
              "Graph.retain : Add references.\n"
              "\nNotes\n-----\n"
              "The graph must have that many; some drivers do not check it.")

static PyObject *
graph_release(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const routine = "cuGraphReleaseUserObject";
    pcu_graph *self = (pcu_graph *)op;
    graph_retain_args a = {NULL, 1};
    int rc;
    const user_object *object = graph_read_user_object(
        self, &graph_release_signature, args, nargs, kwnames, &a, routine);
    if (object == NULL) {
        return NULL;
    }
    PCU_CALL(rc, self->head.st, GraphReleaseUserObject,
             (self->head.handle.graph, object->handle, a.count));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- the type ---------------------------------------------------------------------- */

static PyMethodDef user_object_methods[] = {
    {"release", user_object_release, METH_NOARGS, user_object_release_doc},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef graph_user_methods[] = {
    PCU_METHOD("retain", graph_retain),
    PCU_METHOD("release", graph_release),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef user_object_getset[] = {
    {"handle", user_object_get_handle, NULL, "The CUuserObject as an int.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef user_object_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(user_object, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(user_object, weakrefs), Py_READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot user_object_slots[] = {
    {Py_tp_doc, (void *)user_object_doc}, {Py_tp_new, user_object_new},
    {Py_tp_init, user_object_init},       {Py_tp_traverse, user_object_traverse},
    {Py_tp_clear, user_object_clear},     {Py_tp_dealloc, user_object_dealloc},
    {Py_tp_members, user_object_members}, {Py_tp_getset, user_object_getset},
    {Py_tp_methods, user_object_methods}, {0, NULL},
};

static PyType_Spec user_object_spec = {
    "pycuda._driver.UserObject", sizeof(user_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, user_object_slots};

int
pcu_user_object_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->UserObject, &user_object_spec, NULL) < 0) {
        return -1;
    }
    return pcu_add_methods(st->Graph, graph_user_methods);
}
