/* The device of the current context, and access to the memory of contexts on other
 * devices: Context.get_device, enable_peer_access, disable_peer_access.
 *
 * Invariant: these are class methods of Context that act on the current context;
 * nothing is kept here. context_device_setup adds them to the type, which context.c
 * made. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "driver/stream_use.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"

PyDoc_STRVAR(context_get_device_doc,
             "get_device($type, /)\n"
             "--\n\n"
             "Return the device of the current context.\n"
             "\nReturns\n-------\n"
             "Device\n"
             "    A new object.\n"
             "\nRaises\n------\n" PCU_DOC_NO_CONTEXT
             "\nSee Also\n--------\n"
             "Context.get_current : The context.\n"
             "\nExamples\n--------\n"
             ">>> drv.Context.get_device() == drv.Device(0)\n"
             "True");

static PyObject *
context_get_device(PyObject *type, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    CUdevice device = 0;
    int rc;
    PCU_CALL_CURRENT(rc, st, CtxGetDevice, (&device));
    if (rc < 0) {
        return NULL;
    }
    return pcu_device_new(st, device);
}

typedef struct {
    PyObject *peer; /* borrowed */
    unsigned int flags;
} context_peer_args;

/* Parse the arguments, and return the handle of the peer, which is alive. NULL with an
 * exception. */
static CUcontext
context_parse_peer(pcu_state *st, const pcu_signature *signature, const char *routine,
                   PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                   context_peer_args *a)
{
    if (pcu_args_parse(st, signature, args, nargs, kwnames, a) < 0) {
        return NULL;
    }
    return pcu_context_handle(st, a->peer, routine, "peer");
}

/* Count a context whose memory the current one may use, or no longer. */
static void
context_count_peers(pcu_state *st, int change)
{
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        PyErr_Clear(); /* the context has just ended */
        return;
    }
    ctx->peers += change;
}

static const pcu_word context_peer_words[] = {
    PCU_WORD("peer", pcu_as_context, context_peer_args, peer),
    PCU_WORD("flags", pcu_as_uint, context_peer_args, flags),
};

PCU_SIGNATURE(context_enable_peer_access, context_peer_words,
              "enable_peer_access($type, /, peer, flags=0)\n"
              "--\n\n"
              "Let the current context read and write the memory of another one.\n"
              "\nParameters\n----------\n"
              "peer : Context\n"
              "    The owner of the memory, on another device.\n"
              "flags : int, optional\n"
              "    Must be 0.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If the devices cannot do it, if access is enabled already, or if\n"
              "    ``peer`` has ended.\n"
              "\nSee Also\n--------\n"
              "Device.can_access_peer : Whether the devices can do it.\n"
              "Context.disable_peer_access : Undo it.\n"
              "\nNotes\n-----\n"
              "Access has one direction. The call waits for the current context if\n"
              "work was ordered by its default stream.")

static PyObject *
context_enable_peer_access(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    context_peer_args a = {0};
    int rc;
    CUcontext peer =
        context_parse_peer(st, &context_enable_peer_access_signature,
                           "cuCtxEnablePeerAccess", args, nargs, kwnames, &a);
    if (peer == NULL) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, st, CtxEnablePeerAccess, (peer, a.flags));
    if (rc < 0) {
        return NULL;
    }
    context_count_peers(st, 1);
    /* From now on streams of one context may use the pooled memory of the other, and
     * also the work that was ordered by the default stream until now. */
    pcu_context_record *other = pcu_context_record_find(peer);
    if ((pcu_ctx_current != NULL && !pcu_stream_table_share(pcu_ctx_current)) ||
        (other != NULL && !pcu_stream_table_share(other))) {
        return PyErr_NoMemory();
    }
    if (pcu_stream_followers != 0 && pcu_current_context_synchronize(st) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE(context_disable_peer_access, context_peer_words,
              "disable_peer_access($type, /, peer)\n"
              "--\n\n"
              "Stop the access of the current context to the memory of another one.\n"
              "\nParameters\n----------\n"
              "peer : Context\n"
              "    The owner of the memory.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If access is not enabled, or if ``peer`` has ended.\n"
              "\nSee Also\n--------\n"
              "Context.enable_peer_access : Enable it.")

static PyObject *
context_disable_peer_access(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    context_peer_args a = {0};
    int rc;
    CUcontext peer =
        context_parse_peer(st, &context_disable_peer_access_signature,
                           "cuCtxDisablePeerAccess", args, nargs, kwnames, &a);
    if (peer == NULL) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, st, CtxDisablePeerAccess, (peer));
    if (rc < 0) {
        return NULL;
    }
    context_count_peers(st, -1);
    Py_RETURN_NONE;
}

static PyMethodDef context_device_methods[] = {
    {"get_device", context_get_device, METH_CLASS | METH_NOARGS,
     context_get_device_doc},
    {"enable_peer_access", (PyCFunction)(void (*)(void))context_enable_peer_access,
     METH_CLASS | METH_FASTCALL | METH_KEYWORDS, context_enable_peer_access_doc},
    {"disable_peer_access", (PyCFunction)(void (*)(void))context_disable_peer_access,
     METH_CLASS | METH_FASTCALL | METH_KEYWORDS, context_disable_peer_access_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_context_device_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    return pcu_add_methods(st->Context, context_device_methods);
}
