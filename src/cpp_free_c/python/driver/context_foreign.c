/* Context.from_handle: contexts of other libraries, green contexts among them.
 *
 * A green context has a part of the device's multiprocessors. The driver gives it an
 * ordinary handle, by which it is used as any context.
 *
 * Invariant: another library ends the context. Python is the only caller. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/driver_call.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/foreign_handle.h"

typedef struct {
    PyObject *handle;
    PyObject *owner;
    bool green;
} foreign_args;

static const pcu_word foreign_words[] = {
    PCU_WORD("handle", pcu_as_object, foreign_args, handle),
    PCU_WORD("owner", pcu_as_object, foreign_args, owner),
    PCU_WORD("green", pcu_as_bool, foreign_args, green),
};

PCU_SIGNATURE(context_from_handle, foreign_words,
              "from_handle($type, /, handle, owner=None, green=False)\n"
              "--\n\n"
              "Return the context of another library.\n"
              "\nParameters\n----------\n"
              "handle : int or object\n"
              "    A CUcontext, or an object with the attribute ``handle`` or\n"
              "    ``_handle``.\n" PCU_DOC_OWNER
              "green : bool, optional\n"
              "    If true, the handle is a CUgreenCtx: a context with a part of the\n"
              "    device's multiprocessors.\n"
              "\nReturns\n-------\n"
              "Context\n"
              "    The known object of this handle, or a new one, which is not\n"
              "    current.\n"
              "\nRaises\n------\n" PCU_DOC_NO_HANDLE
              "LogicError\n"
              "    If the driver does not have green contexts, which came with CUDA\n"
              "    12.4.\n"
              "\nSee Also\n--------\n"
              "Context.push : Make it current.\n"
              "Context.attach : Take the context that is current in the driver.\n"
              "\nNotes\n-----\n"
              "The other library ends the context. The driver does not check the\n"
              "handle: a wrong one may end the process.")

static PyObject *
context_from_handle(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    static const char *const names[] = {"handle", "_handle", NULL};
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    foreign_args a = {NULL, NULL, false};
    unsigned long long bits = 0;
    int rc = 0;
    if (st == NULL ||
        pcu_args_parse(st, &context_from_handle_signature, args, nargs, kwnames, &a) <
            0 ||
        pcu_as_foreign_handle(a.handle, names, "CUcontext", &bits) < 0) {
        return NULL;
    }
    CUcontext handle = (CUcontext)(uintptr_t)bits;
    if (a.green) {
        PCU_CALL(rc, st, CtxFromGreenCtx, (&handle, (CUgreenCtx)(uintptr_t)bits));
    }
    if (rc < 0) {
        return NULL;
    }
    PyObject *owner = pcu_foreign_owner(a.owner, a.handle);
    PyObject *self = pcu_context_find_new(st, handle);
    if (self != NULL && owner != NULL &&
        PyObject_SetAttrString(self, "owner", owner) < 0) {
        Py_CLEAR(self);
    }
    return self;
}

static PyMethodDef context_foreign_methods[] = {
    {"from_handle", (PyCFunction)(void (*)(void))context_from_handle,
     METH_CLASS | METH_FASTCALL | METH_KEYWORDS, context_from_handle_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_context_foreign_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    return pcu_add_methods(st->Context, context_foreign_methods);
}
