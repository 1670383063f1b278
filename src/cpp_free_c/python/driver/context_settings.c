/* What the current context can be asked and told: limits, cache configuration, peer
 * access. Methods of Context; context.c adds them to the type. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/support/enums.h"
#include "python/driver/context.h"
#include "python/driver/context_stack.h"
#include "python/driver/device.h"

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
    rc = pcu_context_synchronize(st);
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}
CONTEXT_NOARGS_BODY(synchronize, context_synchronize_current)

PyDoc_STRVAR(context_get_device_doc,
             "get_device($type, /)\n--\n\nThe Device of the current context.");

static PyObject *
context_current_device_new(pcu_state *st)
{
    CUdevice device = 0;
    int rc;
    PCU_CALL_CURRENT(rc, st, CtxGetDevice, (&device));
    return rc < 0 ? NULL : pcu_device_new(st, device);
}
CONTEXT_NOARGS_BODY(get_device, context_current_device_new)

/* -- settings ---------------------------------------------------------------------- */

PyDoc_STRVAR(context_get_stream_priority_range_doc,
             "get_stream_priority_range($type, /)\n--\n\n"
             "The least and the greatest priority of streams: lower numbers go first.");

static PyObject *
context_stream_priorities_new(pcu_state *st)
{
    int least = 0;
    int greatest = 0;
    int rc;
    PCU_CALL_CURRENT(rc, st, CtxGetStreamPriorityRange, (&least, &greatest));
    return rc < 0 ? NULL : Py_BuildValue("(ii)", least, greatest);
}
CONTEXT_NOARGS_BODY(get_stream_priority_range, context_stream_priorities_new)

/* One or two positional objects: a member of the enumeration, and a value for it. */
typedef struct {
    pcu_state *st;
    unsigned int which;
    size_t value;
} context_setting;

/* Parse what the table names; enumeration is its slot in the state. */
static int
context_setting_parse(const pcu_argtable *table, size_t enumeration,
                      PyTypeObject *defining, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames, context_setting *set)
{
    PyObject *given[2] = {NULL, NULL};
    set->st = pcu_state_of_type(defining);
    PyObject *type = *(PyObject **)((char *)set->st + enumeration);
    if (pcu_args_parse(set->st, table, args, nargs, kwnames, given) < 0 ||
        pcu_enum_value(type, given[0], &set->which, table->specs[0].name) < 0) {
        return -1;
    }
    return given[1] == NULL
               ? 0
               : pcu_as_size(set->st, given[1], &set->value, table->specs[1].name);
}

static const pcu_argspec context_limit_specs[] = {
    {"limit", pcu_as_object, 0},
    {"value", pcu_as_object, sizeof(PyObject *)},
};
static const pcu_argspec context_config_specs[] = {{"config", pcu_as_object, 0}};

PyDoc_STRVAR(context_get_limit_doc,
             "get_limit($type, limit, /)\n--\n\n"
             "The value of a limit of the current context: bytes, or a count.");

static PyObject *
context_get_limit(PyObject *Py_UNUSED(type), PyTypeObject *defining,
                  PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argtable table = {"get_limit", context_limit_specs, 1, 1, 1};
    context_setting set = {0};
    size_t value = 0;
    int rc = context_setting_parse(&table, offsetof(pcu_state, enum_limit), defining,
                                   args, nargs, kwnames, &set);
    if (rc == 0) {
        PCU_CALL_CURRENT(rc, set.st, CtxGetLimit, (&value, set.which));
    }
    return rc < 0 ? NULL : PyLong_FromSize_t(value);
}

/* A method that parses its setting and gives it to the driver. */
#define CONTEXT_SET(name, specs, count, enumeration, driver, values)                   \
    static PyObject *context_##name(PyObject *Py_UNUSED(type), PyTypeObject *defining, \
                                    PyObject *const *args, Py_ssize_t nargs,           \
                                    PyObject *kwnames)                                 \
    {                                                                                  \
        static const pcu_argtable table = {#name, specs, count, count, count};         \
        context_setting set = {0};                                                     \
        int rc = context_setting_parse(&table, offsetof(pcu_state, enumeration),       \
                                       defining, args, nargs, kwnames, &set);          \
        if (rc == 0) {                                                                 \
            PCU_CALL_CURRENT(rc, set.st, driver, values);                              \
        }                                                                              \
        return rc < 0 ? NULL : Py_NewRef(Py_None);                                     \
    }

PyDoc_STRVAR(context_set_limit_doc,
             "set_limit($type, limit, value, /)\n--\n\n"
             "Set a limit of the current context: bytes, or a count.");
CONTEXT_SET(set_limit, context_limit_specs, 2, enum_limit, CtxSetLimit,
            (set.which, set.value))

/* The getter and the setter of a preference that is a member of an enumeration. */
#define CONTEXT_CONFIG(config, enumeration, Type, Get, Set, what)                 \
    PyDoc_STRVAR(context_get_##config##_doc,                                      \
                 "get_" #config "($type, /)\n--\n\nReturn " what                  \
                 " of the current context.");                                     \
    PyDoc_STRVAR(context_set_##config##_doc,                                      \
                 "set_" #config "($type, config, /)\n--\n\nSet " what             \
                 " of the current context.");                                     \
    static PyObject *context_##config##_new(pcu_state *st)                        \
    {                                                                             \
        Type value = 0;                                                           \
        int rc;                                                                   \
        PCU_CALL_CURRENT(rc, st, Get, (&value));                                  \
        return rc < 0 ? NULL : pcu_enum_member_new(st->enumeration, (long)value); \
    }                                                                             \
    CONTEXT_NOARGS_BODY(get_##config, context_##config##_new)                     \
    CONTEXT_SET(set_##config, context_config_specs, 1, enumeration, Set, (set.which))
CONTEXT_CONFIG(cache_config, enum_func_cache, CUfunc_cache, CtxGetCacheConfig,
               CtxSetCacheConfig,
               "the preferred split of on-chip memory, a func_cache,")
CONTEXT_CONFIG(shared_config, enum_shared_config, CUsharedconfig, CtxGetSharedMemConfig,
               CtxSetSharedMemConfig,
               "the width of shared-memory banks, a shared_config,")

/* -- peer access ------------------------------------------------------------------- */

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
    PCU_CALL_CURRENT(rc, st, CtxEnablePeerAccess, (peer, a.flags));
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
    PCU_CALL_CURRENT(rc, st, CtxDisablePeerAccess, (peer));
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
