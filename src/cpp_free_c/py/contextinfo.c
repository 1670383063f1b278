/* What the current context can be asked and told: limits, cache configuration, peer
 * access. Methods of Context; context.c adds them to the type. */

#include "pcu.h"

#define CONTEXT_NOARGS_BODY(name, action)                                              \
    static PyObject *context_##name(PyObject *Py_UNUSED(type), PyTypeObject *defining, \
                                    PyObject *const *args, Py_ssize_t nargs,           \
                                    PyObject *kwnames)                                 \
    {                                                                                  \
        static const pcu_argtable table = {#name, NULL, 0, 0, 0};                      \
        pcu_state *st = pcu_state_of_type(defining);                                   \
        if (pcu_args_parse(st, &table, args, nargs, kwnames, NULL) < 0) {              \
            return NULL;                                                               \
        }                                                                              \
        return action(st);                                                             \
    }

PyDoc_STRVAR(context_synchronize_doc,
             "synchronize($type, /)\n--\n\n"
             "Wait until the current context has nothing left to do.");

static PyObject *
context_synchronize_current(pcu_state *st)
{
    int rc;
    PCU_CALL(rc, st, CtxSynchronize, ());
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}
CONTEXT_NOARGS_BODY(synchronize, context_synchronize_current)

PyDoc_STRVAR(context_get_device_doc,
             "get_device($type, /)\n--\n\nThe Device of the current context.");

static PyObject *
context_current_device_new(pcu_state *st)
{
    CUdevice device;
    int rc;
    PCU_CALL(rc, st, CtxGetDevice, (&device));
    return rc < 0 ? NULL : pcu_device_new(st, device);
}
CONTEXT_NOARGS_BODY(get_device, context_current_device_new)

PyDoc_STRVAR(context_get_cache_config_doc,
             "get_cache_config($type, /)\n--\n\n"
             "The func_cache of the current context.");

static PyObject *
context_cache_config_new(pcu_state *st)
{
    CUfunc_cache config;
    int rc;
    PCU_CALL(rc, st, CtxGetCacheConfig, (&config));
    return rc < 0 ? NULL : pcu_enum_member_new(st->enum_func_cache, (long)config);
}
CONTEXT_NOARGS_BODY(get_cache_config, context_cache_config_new)

PyDoc_STRVAR(context_get_shared_config_doc,
             "get_shared_config($type, /)\n--\n\n"
             "The shared_config of the current context.");

static PyObject *
context_shared_config_new(pcu_state *st)
{
    CUsharedconfig config;
    int rc;
    PCU_CALL(rc, st, CtxGetSharedMemConfig, (&config));
    return rc < 0 ? NULL : pcu_enum_member_new(st->enum_shared_config, (long)config);
}
CONTEXT_NOARGS_BODY(get_shared_config, context_shared_config_new)

PyDoc_STRVAR(context_get_stream_priority_range_doc,
             "get_stream_priority_range($type, /)\n--\n\n"
             "The least and the greatest priority of streams: lower numbers go first.");

static PyObject *
context_stream_priorities_new(pcu_state *st)
{
    int least = 0;
    int greatest = 0;
    int rc;
    PCU_CALL(rc, st, CtxGetStreamPriorityRange, (&least, &greatest));
    return rc < 0 ? NULL : Py_BuildValue("(ii)", least, greatest);
}
CONTEXT_NOARGS_BODY(get_stream_priority_range, context_stream_priorities_new)

typedef struct {
    pcu_state *st;
    PyObject *which;
    PyObject *value;
} context_setting;

/* Parse one or two positional objects named by the table. */
static pcu_state *
context_setting_parse(const pcu_argtable *table, PyTypeObject *defining,
                      PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                      context_setting *setting)
{
    setting->st = pcu_state_of_type(defining);
    return pcu_args_parse(setting->st, table, args, nargs, kwnames, setting) < 0
               ? NULL
               : setting->st;
}

static const pcu_argspec context_limit_specs[] = {
    {"limit", pcu_as_object, offsetof(context_setting, which)},
    {"value", pcu_as_object, offsetof(context_setting, value)},
};
static const pcu_argspec context_config_specs[] = {
    {"config", pcu_as_object, offsetof(context_setting, which)},
};

PyDoc_STRVAR(context_get_limit_doc,
             "get_limit($type, limit, /)\n--\n\n"
             "The value of a limit of the current context: bytes, or a count.");

static PyObject *
context_get_limit(PyObject *Py_UNUSED(type), PyTypeObject *defining,
                  PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argtable table = {"get_limit", context_limit_specs, 1, 1, 1};
    context_setting set = {0};
    unsigned int limit = 0;
    size_t value = 0;
    int rc;
    pcu_state *st = context_setting_parse(&table, defining, args, nargs, kwnames, &set);
    if (st == NULL || pcu_enum_value(st->enum_limit, set.which, &limit, "limit") < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, CtxGetLimit, (&value, limit));
    return rc < 0 ? NULL : PyLong_FromSize_t(value);
}

PyDoc_STRVAR(context_set_limit_doc,
             "set_limit($type, limit, value, /)\n--\n\n"
             "Set a limit of the current context: bytes, or a count.");

static PyObject *
context_set_limit(PyObject *Py_UNUSED(type), PyTypeObject *defining,
                  PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argtable table = {"set_limit", context_limit_specs, 2, 2, 2};
    context_setting set = {0};
    unsigned int limit = 0;
    size_t value = 0;
    int rc;
    pcu_state *st = context_setting_parse(&table, defining, args, nargs, kwnames, &set);
    if (st == NULL || pcu_enum_value(st->enum_limit, set.which, &limit, "limit") < 0 ||
        pcu_as_size(st, set.value, &value, "value") < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, CtxSetLimit, (limit, value));
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(context_set_cache_config_doc,
             "set_cache_config($type, config, /)\n--\n\n"
             "Prefer a split of on-chip memory (a func_cache) in the current context.");

static PyObject *
context_set_cache_config(PyObject *Py_UNUSED(type), PyTypeObject *defining,
                         PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argtable table = {"set_cache_config", context_config_specs, 1, 1,
                                       1};
    context_setting set = {0};
    unsigned int config = 0;
    int rc;
    pcu_state *st = context_setting_parse(&table, defining, args, nargs, kwnames, &set);
    if (st == NULL ||
        pcu_enum_value(st->enum_func_cache, set.which, &config, "config") < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, CtxSetCacheConfig, (config));
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(context_set_shared_config_doc,
             "set_shared_config($type, config, /)\n--\n\n"
             "Ask for a width of shared-memory banks (a shared_config) in the current "
             "context.");

static PyObject *
context_set_shared_config(PyObject *Py_UNUSED(type), PyTypeObject *defining,
                          PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argtable table = {"set_shared_config", context_config_specs, 1, 1,
                                       1};
    context_setting set = {0};
    unsigned int config = 0;
    int rc;
    pcu_state *st = context_setting_parse(&table, defining, args, nargs, kwnames, &set);
    if (st == NULL ||
        pcu_enum_value(st->enum_shared_config, set.which, &config, "config") < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, CtxSetSharedMemConfig, (config));
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

typedef struct {
    PyObject *peer;
    unsigned int flags;
} context_peer_args;

static const pcu_argspec context_peer_specs[] = {
    {"peer", pcu_as_context, offsetof(context_peer_args, peer)},
    {"flags", pcu_as_uint, offsetof(context_peer_args, flags)},
};

PyDoc_STRVAR(context_enable_peer_access_doc,
             "enable_peer_access($type, /, peer, flags=0)\n--\n\n"
             "Let the current context read and write the memory of `peer`.\n\n"
             "LogicError if the devices cannot, or if it is enabled already.");

static PyObject *
context_enable_peer_access(PyObject *Py_UNUSED(type), PyTypeObject *defining,
                           PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argtable table = {"enable_peer_access", context_peer_specs, 2, 1,
                                       0};
    pcu_state *st = pcu_state_of_type(defining);
    context_peer_args a = {0};
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    CUcontext peer = pcu_context_handle(st, a.peer, "cuCtxEnablePeerAccess", "peer");
    if (peer == NULL) {
        return NULL;
    }
    PCU_CALL(rc, st, CtxEnablePeerAccess, (peer, a.flags));
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(context_disable_peer_access_doc,
             "disable_peer_access($type, /, peer)\n--\n\n"
             "Undo enable_peer_access.");

static PyObject *
context_disable_peer_access(PyObject *Py_UNUSED(type), PyTypeObject *defining,
                            PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argtable table = {"disable_peer_access", context_peer_specs, 1, 1,
                                       0};
    pcu_state *st = pcu_state_of_type(defining);
    context_peer_args a = {0};
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    CUcontext peer = pcu_context_handle(st, a.peer, "cuCtxDisablePeerAccess", "peer");
    if (peer == NULL) {
        return NULL;
    }
    PCU_CALL(rc, st, CtxDisablePeerAccess, (peer));
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(context_get_api_version_doc,
             "get_api_version($self, /)\n--\n\n"
             "The version of the driver interface this context was made with.");

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
    return rc < 0 ? NULL : PyLong_FromUnsignedLong(version);
}

#define CONTEXT_STATIC(name)                                          \
    {                                                                 \
#        name, (PyCFunction)(void (*)(void))context_##name,           \
            METH_CLASS | METH_METHOD | METH_FASTCALL | METH_KEYWORDS, \
            context_##name##_doc                                      \
    }

PyMethodDef pcu_contextinfo_methods[] = {
    CONTEXT_STATIC(synchronize),
    CONTEXT_STATIC(get_device),
    CONTEXT_STATIC(get_limit),
    CONTEXT_STATIC(set_limit),
    CONTEXT_STATIC(get_cache_config),
    CONTEXT_STATIC(set_cache_config),
    CONTEXT_STATIC(get_shared_config),
    CONTEXT_STATIC(set_shared_config),
    CONTEXT_STATIC(get_stream_priority_range),
    CONTEXT_STATIC(enable_peer_access),
    CONTEXT_STATIC(disable_peer_access),
    {"get_api_version", context_get_api_version, METH_NOARGS,
     context_get_api_version_doc},
    {NULL, NULL, 0, NULL},
};
