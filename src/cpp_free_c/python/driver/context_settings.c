/* Settings of the current context: limits, the preferred split of on-chip memory, the
 * width of shared-memory banks, the range of stream priorities, the interface version.
 *
 * Invariant: all but get_api_version are class methods of Context that ask the driver
 * about the current context; nothing is kept here. context_settings_setup adds the
 * methods to the type, which context.c made before. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"

/* -- limits ------------------------------------------------------------------------ */

typedef struct {
    PyObject *limit; /* borrowed */
    size_t value;
} context_limit_args;

PyDoc_STRVAR(context_get_limit_doc,
             "get_limit($type, limit, /)\n"
             "--\n\n"
             "Return a limit of the current context.\n"
             "\nParameters\n----------\n"
             "limit : limit\n"
             "    Which one.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    Bytes, or a count.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If no context is current, or if the device does not have the limit.\n"
             "\nSee Also\n--------\n"
             "Context.set_limit : Change it.\n"
             "\nExamples\n--------\n"
             ">>> drv.Context.get_limit(drv.limit.STACK_SIZE)\n"
             "1024");

static PyObject *
context_get_limit(PyObject *type, PyObject *limit)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    unsigned int which = 0;
    size_t value = 0;
    int rc;
    if (pcu_enum_value(st->enum_limit, limit, &which, "limit") < 0) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, st, CtxGetLimit, (&value, which));
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromSize_t(value);
}

static const pcu_word context_limit_words[] = {
    PCU_WORD("limit", pcu_as_object, context_limit_args, limit),
    PCU_WORD("value", pcu_as_size, context_limit_args, value),
};

PCU_SIGNATURE(
    context_set_limit, context_limit_words,
    "set_limit($type, limit, value, /)\n"
    "--\n\n"
    "Set a limit of the current context.\n"
    "\nParameters\n----------\n"
    "limit : limit\n"
    "    Which one.\n"
    "value : int\n"
    "    Bytes, or a count.\n"
    "\nRaises\n------\n"
    "LogicError\n"
    "    If no context is current, if the device does not have the limit, or\n"
    "    if it can no longer be changed.\n"
    "\nSee Also\n--------\n"
    "Context.get_limit : Read it; the driver may round the value.\n"
    "\nNotes\n-----\n"
    "Buffers of kernels, such as PRINTF_FIFO_SIZE, are set before the first\n"
    "launch that uses them.")

static PyObject *
context_set_limit(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    context_limit_args a = {0};
    unsigned int which = 0;
    int rc;
    if (pcu_args_parse(st, &context_set_limit_signature, args, nargs, kwnames, &a) <
            0 ||
        pcu_enum_value(st->enum_limit, a.limit, &which, "limit") < 0) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, st, CtxSetLimit, (which, a.value));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- preferences ------------------------------------------------------------------- */

PyDoc_STRVAR(context_get_cache_config_doc,
             "get_cache_config($type, /)\n"
             "--\n\n"
             "Return the preferred split of on-chip memory in the current context.\n"
             "\nReturns\n-------\n"
             "func_cache\n"
             "    The preference.\n"
             "\nRaises\n------\n" PCU_DOC_NO_CONTEXT
             "\nSee Also\n--------\n"
             "Context.set_cache_config : Change it.");

static PyObject *
context_get_cache_config(PyObject *type, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    CUfunc_cache config = 0;
    int rc;
    PCU_CALL_CURRENT(rc, st, CtxGetCacheConfig, (&config));
    if (rc < 0) {
        return NULL;
    }
    return pcu_enum_member_new(st->enum_func_cache, (long)config);
}

PyDoc_STRVAR(context_set_cache_config_doc,
             "set_cache_config($type, config, /)\n"
             "--\n\n"
             "Set the preferred split of on-chip memory in the current context.\n"
             "\nParameters\n----------\n"
             "config : func_cache\n"
             "    The preference.\n"
             "\nRaises\n------\n" PCU_DOC_NO_CONTEXT
             "\nSee Also\n--------\n"
             "Function.set_cache_config : The preference of one kernel.\n"
             "\nNotes\n-----\n"
             "Devices on which L1 cache and shared memory have fixed sizes ignore it.");

static PyObject *
context_set_cache_config(PyObject *type, PyObject *value)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    unsigned int config = 0;
    int rc;
    if (pcu_enum_value(st->enum_func_cache, value, &config, "config") < 0) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, st, CtxSetCacheConfig, (config));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(context_get_shared_config_doc,
             "get_shared_config($type, /)\n"
             "--\n\n"
             "Return the width of shared-memory banks in the current context.\n"
             "\nReturns\n-------\n"
             "shared_config\n"
             "    The width.\n"
             "\nRaises\n------\n" PCU_DOC_NO_CONTEXT
             "\nSee Also\n--------\n"
             "Context.set_shared_config : Change it.");

static PyObject *
context_get_shared_config(PyObject *type, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    CUsharedconfig config = 0;
    int rc;
    PCU_CALL_CURRENT(rc, st, CtxGetSharedMemConfig, (&config));
    if (rc < 0) {
        return NULL;
    }
    return pcu_enum_member_new(st->enum_shared_config, (long)config);
}

PyDoc_STRVAR(context_set_shared_config_doc,
             "set_shared_config($type, config, /)\n"
             "--\n\n"
             "Set the width of shared-memory banks in the current context.\n"
             "\nParameters\n----------\n"
             "config : shared_config\n"
             "    The width.\n"
             "\nRaises\n------\n" PCU_DOC_NO_CONTEXT
             "\nSee Also\n--------\n"
             "Function.set_shared_config : The width for one kernel.\n"
             "\nNotes\n-----\n"
             "Devices whose banks have a fixed width ignore it.");

static PyObject *
context_set_shared_config(PyObject *type, PyObject *value)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    unsigned int config = 0;
    int rc;
    if (pcu_enum_value(st->enum_shared_config, value, &config, "config") < 0) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, st, CtxSetSharedMemConfig, (config));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- values that cannot be set ----------------------------------------------------- */

PyDoc_STRVAR(context_get_stream_priority_range_doc,
             "get_stream_priority_range($type, /)\n"
             "--\n\n"
             "Return the priorities that streams of the current context can have.\n"
             "\nReturns\n-------\n"
             "tuple of int\n"
             "    The least and the greatest priority. A lower number is a higher\n"
             "    priority.\n"
             "\nRaises\n------\n" PCU_DOC_NO_CONTEXT
             "\nSee Also\n--------\n"
             "Stream : Takes a priority.\n"
             "\nExamples\n--------\n"
             ">>> least, greatest = drv.Context.get_stream_priority_range()\n"
             ">>> stream = drv.Stream(priority=greatest)");

static PyObject *
context_get_stream_priority_range(PyObject *type, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    int least = 0;
    int greatest = 0;
    int rc;
    PCU_CALL_CURRENT(rc, st, CtxGetStreamPriorityRange, (&least, &greatest));
    if (rc < 0) {
        return NULL;
    }
    return Py_BuildValue("(ii)", least, greatest);
}

PyDoc_STRVAR(context_get_api_version_doc,
             "get_api_version($self, /)\n"
             "--\n\n"
             "Return the version of the driver's interface for this context.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    The version.\n"
             "\nRaises\n------\n" PCU_DOC_CONTEXT_ENDED
             "\nSee Also\n--------\n"
             "get_driver_version : The CUDA version of the driver.");

static PyObject *
context_get_api_version(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_context *self = (pcu_context *)op;
    unsigned int version = 0;
    int rc;
    if (!self->rec.alive) {
        pcu_raise_detail(self->st, "cuCtxGetApiVersion", CUDA_ERROR_INVALID_CONTEXT,
                         "this context was detached");
        return NULL;
    }
    PCU_CALL(rc, self->st, CtxGetApiVersion, (self->rec.handle, &version));
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromUnsignedLong(version);
}

static PyMethodDef context_settings_methods[] = {
    {"get_limit", context_get_limit, METH_CLASS | METH_O, context_get_limit_doc},
    {"set_limit", (PyCFunction)(void (*)(void))context_set_limit,
     METH_CLASS | METH_FASTCALL | METH_KEYWORDS, context_set_limit_doc},
    {"get_cache_config", context_get_cache_config, METH_CLASS | METH_NOARGS,
     context_get_cache_config_doc},
    {"set_cache_config", context_set_cache_config, METH_CLASS | METH_O,
     context_set_cache_config_doc},
    {"get_shared_config", context_get_shared_config, METH_CLASS | METH_NOARGS,
     context_get_shared_config_doc},
    {"set_shared_config", context_set_shared_config, METH_CLASS | METH_O,
     context_set_shared_config_doc},
    {"get_stream_priority_range", context_get_stream_priority_range,
     METH_CLASS | METH_NOARGS, context_get_stream_priority_range_doc},
    {"get_api_version", context_get_api_version, METH_NOARGS,
     context_get_api_version_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_context_settings_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    return pcu_add_methods(st->Context, context_settings_methods);
}
