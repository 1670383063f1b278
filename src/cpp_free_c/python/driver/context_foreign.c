/* Context.from_handle: contexts of other libraries, green contexts among them.
 *
 * A green context has a part of the device's multiprocessors. The driver gives it an
 * ordinary handle, by which it is used as any context.
 *
 * Invariant: another library ends the context. Python is the only caller. */
#include "python/support/base.h"

#include "python/support/convert.h"
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

PCU_SIGNATURE(
    context_from_handle, foreign_words,
    "from_handle($type, /, handle, owner=None, green=False)\n--\n\n"
    "Return the Context of another library's context, which also ends it.\n\n"
    "handle: a CUcontext as an int, or an object of another library with the\n"
    "attribute handle. green: it is a CUgreenCtx, a context with a part of the\n"
    "device (cuCtxFromGreenCtx, CUDA 12.4). owner is kept alive; by default it is\n"
    "the object that was given. The handle must be valid: the driver does not check\n"
    "it. push() makes the context current.")

static PyObject *
context_from_handle(PyObject *Py_UNUSED(type), PyTypeObject *defining,
                    PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"handle", "_handle", NULL};
    pcu_state *st = pcu_state_of_type(defining);
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
     METH_CLASS | METH_METHOD | METH_FASTCALL | METH_KEYWORDS, context_from_handle_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_context_foreign_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    return pcu_add_methods(st->Context, context_foreign_methods);
}
