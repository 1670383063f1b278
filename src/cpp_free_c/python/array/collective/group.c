/* The type Group and the functions that need no communicator: see group.h. */

#include "python/array/collective/group.h"

#include "python/array/collective/library.h"
#include "python/driver/current_context.h"
#include "python/support/setup.h"
#include "python/support/type.h"

/* Groups of one thread may be nested; the outermost enqueues. */
static PCU_THREAD int group_depth;
static PCU_THREAD PyObject *group_held; /* a list, while depth > 0 */

bool
pcu_group_is_open(void)
{
    return group_depth > 0;
}

int
pcu_group_hold(PyObject *object)
{
    if (group_depth == 0) {
        return 0;
    }
    return PyList_Append(group_held, object);
}

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    int entered; /* the number of `with` blocks of this object that are open */
} group_object;

static PyObject *
group_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, ":group", names)) {
        return NULL;
    }
    PyObject *op = type->tp_alloc(type, 0);
    if (op != NULL) {
        ((group_object *)op)->st = pcu_state_of_type(type);
    }
    return op;
}

static void
group_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    type->tp_free(op);
    Py_DECREF(type);
}

static PyObject *
group_enter(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    group_object *self = (group_object *)op;
    if (pcu_nccl_require(self->st) < 0) {
        return NULL;
    }
    if (group_depth == 0) {
        group_held = PyList_New(0);
        if (group_held == NULL) {
            return NULL;
        }
    }
    int status = pcu_nccl.GroupStart();
    if (status != PCU_NCCL_SUCCESS) {
        if (group_depth == 0) {
            Py_CLEAR(group_held);
        }
        pcu_nccl_raise(self->st, "ncclGroupStart", status);
        return NULL;
    }
    group_depth++;
    self->entered++;
    return Py_NewRef(op);
}

/* End the group of NCCL. It works in the contexts of all communicators, and then lets
 * the runtime API make device 0 current again: where no context was current, the
 * primary one of that device would be. */
static int
group_end(void)
{
    CUcontext before = NULL, after = NULL;
    bool known = drv.CtxGetCurrent(&before) == CUDA_SUCCESS;
    PyThreadState *thread = pcu_unlock(); /* connects to the other processes */
    int status = pcu_nccl.GroupEnd();
    pcu_lock(thread);
    if (known && drv.CtxGetCurrent(&after) == CUDA_SUCCESS && after != before) {
        (void)drv.CtxSetCurrent(before); /* it was current, so it is valid */
    }
    return status;
}

/* NCCL cannot forget exchanges, so those of a block that raised are enqueued, too. The
 * arguments come as an array: a tuple needs memory, and without memory the group would
 * stay open. */
static PyObject *
group_exit(PyObject *op, PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(nargs))
{
    group_object *self = (group_object *)op;
    if (self->entered == 0 || group_depth == 0) {
        PyErr_SetString(self->st->exc_LogicError,
                        "group: __exit__ without __enter__ in this thread");
        return NULL;
    }
    int status = group_end();
    self->entered--;
    group_depth--;
    if (group_depth == 0) {
        Py_CLEAR(group_held);
    }
    if (status != PCU_NCCL_SUCCESS) {
        pcu_nccl_raise(self->st, "ncclGroupEnd", status);
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(group_enter_doc, "__enter__($self, /)\n--\n\nReturn the object.");
PyDoc_STRVAR(group_exit_doc,
             "__exit__($self, /, *args)\n--\n\nEnqueue the exchanges of the block.");

static PyMethodDef group_methods[] = {
    {"__enter__", group_enter, METH_NOARGS, group_enter_doc},
    {"__exit__", (PyCFunction)(void (*)(void))group_exit, METH_FASTCALL,
     group_exit_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(group_doc,
             "group()\n--\n\n"
             "The exchanges of a `with group():` block are enqueued together when the "
             "block ends.\n\n"
             "Use it for send() and recv() that wait for each other, and for the "
             "communicators of one thread. If the block raises, the exchanges until "
             "then are enqueued.");

static PyType_Slot group_slots[] = {
    {Py_tp_doc, (void *)group_doc},
    {Py_tp_new, group_new},
    {Py_tp_dealloc, group_dealloc},
    {Py_tp_methods, group_methods},
    {0, NULL},
};

static PyType_Spec group_spec = {"pycuda.nccl.group", sizeof(group_object), 0,
                                 Py_TPFLAGS_DEFAULT, group_slots};

PyDoc_STRVAR(group_unique_id_doc,
             "_nccl_unique_id($module, /)\n--\n\n"
             "Return the bytes that the processes of a new communicator share.");

static PyObject *
group_unique_id(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_module(m);
    pcu_nccl_id id;
    if (pcu_nccl_require(st) < 0) {
        return NULL;
    }
    PyThreadState *thread = pcu_unlock(); /* opens the network */
    int status = pcu_nccl.GetUniqueId(&id);
    pcu_lock(thread);
    if (status != PCU_NCCL_SUCCESS) {
        pcu_nccl_raise(st, "ncclGetUniqueId", status);
        return NULL;
    }
    return PyBytes_FromStringAndSize(id.bytes, sizeof(id.bytes));
}

PyDoc_STRVAR(group_version_doc,
             "_nccl_version($module, /)\n--\n\n"
             "Return NCCL's version as a tuple of three ints.");

static PyObject *
group_version(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_module(m);
    int version = 0;
    if (pcu_nccl_require(st) < 0) {
        return NULL;
    }
    int status = pcu_nccl.GetVersion(&version);
    if (status != PCU_NCCL_SUCCESS) {
        pcu_nccl_raise(st, "ncclGetVersion", status);
        return NULL;
    }
    return Py_BuildValue("iii", version / 10000, version / 100 % 100, version % 100);
}

static PyMethodDef group_functions[] = {
    {"_nccl_unique_id", group_unique_id, METH_NOARGS, group_unique_id_doc},
    {"_nccl_version", group_version, METH_NOARGS, group_version_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_group_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_private_type(m, &st->group, &group_spec, "_nccl_group") < 0) {
        return -1;
    }
    return PyModule_AddFunctions(m, group_functions);
}
