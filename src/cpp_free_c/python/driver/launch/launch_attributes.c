/* The list of a launch's attributes, and the keywords of calls that set them. */
#include "python/driver/launch/launch.h"

#include "python/support/convert.h"
#include "python/driver/resource.h"

/* -- the list ---------------------------------------------------------------------- */

CUlaunchAttributeValue *
pcu_launch_attribute_find(pcu_launch_attributes *list, unsigned int id)
{
    for (unsigned int i = 0; i < list->count; i++) {
        if (list->items[i].id == id) {
            return &list->items[i].value;
        }
    }
    return NULL;
}

/* Store a value that was read before, in place of an earlier one. */
static int
launch_attribute_store(pcu_launch_attributes *list, unsigned int id,
                       const CUlaunchAttributeValue *value)
{
    CUlaunchAttributeValue *place = pcu_launch_attribute_find(list, id);
    if (place == NULL) {
        if (list->count == PCU_LAUNCH_ATTRIBUTES_MAX) {
            PyErr_Format(PyExc_ValueError, "a launch has at most %d attributes",
                         PCU_LAUNCH_ATTRIBUTES_MAX);
            return -1;
        }
        CUlaunchAttribute *item = &list->items[list->count];
        memset(item, 0, sizeof(*item));
        item->id = id;
        place = &item->value;
        list->count++;
    }
    *place = *value;
    return 0;
}

/* -- values ------------------------------------------------------------------------ */

static int
attribute_read_int(PyObject *value, int *out, const char *name)
{
    unsigned long long bits = 0;
    if (pcu_as_integer(value, INT_MIN, UINT_MAX, &bits, name) < 0) {
        return -1;
    }
    *out = (int)(unsigned int)bits;
    return 0;
}

/* A tuple of the items of a value, which must be `least` to `most` many. */
static PyObject *
attribute_items_new(PyObject *value, Py_ssize_t least, Py_ssize_t most,
                    const char *name, const char *what)
{
    PyObject *items = NULL;
    if (PyTuple_Check(value) || PyList_Check(value)) {
        items = PySequence_Tuple(value);
        if (items == NULL) {
            return NULL;
        }
    }
    if (items == NULL || PyTuple_GET_SIZE(items) < least ||
        PyTuple_GET_SIZE(items) > most) {
        Py_XDECREF(items);
        PyErr_Format(PyExc_TypeError, "%s must be %s, not %R", name, what, value);
        return NULL;
    }
    return items;
}

static int
attribute_read_window(PyObject *value, CUlaunchAttributeValue *out, const char *name)
{
    PyObject *items = attribute_items_new(
        value, 5, 5, name,
        "(address, bytes, hit ratio, access property of hits, of misses)");
    CUaccessPolicyWindow *window = &out->accessPolicyWindow;
    CUdeviceptr address = 0;
    unsigned long long bytes = 0;
    int hit = 0;
    int miss = 0;
    if (items == NULL) {
        return -1;
    }
    double ratio = PyFloat_AsDouble(PyTuple_GET_ITEM(items, 2));
    int rc = -1;
    if (!(ratio == -1.0 && PyErr_Occurred()) &&
        pcu_as_address(PyTuple_GET_ITEM(items, 0), &address, name) == 0 &&
        pcu_as_integer(PyTuple_GET_ITEM(items, 1), 0, SIZE_MAX, &bytes, name) == 0 &&
        attribute_read_int(PyTuple_GET_ITEM(items, 3), &hit, name) == 0 &&
        attribute_read_int(PyTuple_GET_ITEM(items, 4), &miss, name) == 0) {
        window->base_ptr = (void *)(uintptr_t)address;
        window->num_bytes = (size_t)bytes;
        window->hitRatio = (float)ratio;
        window->hitProp = (CUaccessProperty)hit;
        window->missProp = (CUaccessProperty)miss;
        rc = 0;
    }
    Py_DECREF(items);
    return rc;
}

/* An Event, or a tuple of an Event, the flags of its record and whether each block
 * triggers it at its start. */
static int
attribute_read_event(pcu_state *st, PyObject *value, CUlaunchAttributeValue *out,
                     const char *name, PyObject **event)
{
    PyObject *items = NULL;
    PyObject *found = value;
    int flags = 0;
    int trigger = 0;
    int rc = -1;
    if (!PyObject_TypeCheck(value, st->Event)) {
        items = attribute_items_new(value, 1, 3, name,
                                    "an Event or (Event, flags, trigger at start)");
        if (items == NULL) {
            return -1;
        }
        found = PyTuple_GET_ITEM(items, 0);
    }
    if (!PyObject_TypeCheck(found, st->Event)) {
        PyErr_Format(PyExc_TypeError, "%s must be an Event, not %s", name,
                     Py_TYPE(found)->tp_name);
        goto done;
    }
    if (items != NULL && PyTuple_GET_SIZE(items) > 1 &&
        attribute_read_int(PyTuple_GET_ITEM(items, 1), &flags, name) < 0) {
        goto done;
    }
    if (items != NULL && PyTuple_GET_SIZE(items) > 2) {
        trigger = PyObject_IsTrue(PyTuple_GET_ITEM(items, 2));
    }
    if (trigger < 0 || pcu_resource_check((pcu_resource *)found, "cuLaunchKernelEx")) {
        goto done;
    }
    out->programmaticEvent.event = ((pcu_resource *)found)->handle.event;
    out->programmaticEvent.flags = flags;
    out->programmaticEvent.triggerAtBlockStart = trigger;
    if (event != NULL) {
        *event = found; /* the value or its items hold it; see launch_config.c */
    }
    rc = 0;
done:
    Py_XDECREF(items);
    return rc;
}

static int
attribute_read_domains(PyObject *value, CUlaunchAttributeValue *out, const char *name)
{
    PyObject *items = attribute_items_new(value, 2, 2, name, "(default, remote)");
    unsigned long long first = 0;
    unsigned long long second = 0;
    int rc = -1;
    if (items == NULL) {
        return -1;
    }
    if (pcu_as_integer(PyTuple_GET_ITEM(items, 0), 0, UCHAR_MAX, &first, name) == 0 &&
        pcu_as_integer(PyTuple_GET_ITEM(items, 1), 0, UCHAR_MAX, &second, name) == 0) {
        out->memSyncDomainMap.default_ = (unsigned char)first;
        out->memSyncDomainMap.remote = (unsigned char)second;
        rc = 0;
    }
    Py_DECREF(items);
    return rc;
}

/* The bytes of a value that this package does not know. */
static int
attribute_read_bytes(PyObject *value, CUlaunchAttributeValue *out, const char *name)
{
    size_t size = (size_t)PyBytes_GET_SIZE(value);
    if (size > sizeof(*out)) {
        PyErr_Format(PyExc_ValueError, "%s takes at most %zu bytes, not %zu", name,
                     sizeof(*out), size);
        return -1;
    }
    memcpy(out, PyBytes_AS_STRING(value), size);
    return 0;
}

static int
attribute_read(pcu_state *st, unsigned int id, PyObject *value,
               CUlaunchAttributeValue *out, const char *name, PyObject **event)
{
    unsigned int dims[3];
    if (PyBytes_Check(value)) {
        return attribute_read_bytes(value, out, name);
    }
    switch (id) {
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
            return attribute_read_window(value, out, name);
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
            out->cooperative = PyObject_IsTrue(value);
            if (out->cooperative < 0) {
                return -1;
            }
            return 0;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
            if (pcu_as_dims(st, value, dims, name) < 0) {
                return -1;
            }
            out->clusterDim.x = dims[0];
            out->clusterDim.y = dims[1];
            out->clusterDim.z = dims[2];
            return 0;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
            return attribute_read_event(st, value, out, name, event);
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
            return attribute_read_domains(value, out, name);
        default:
            return attribute_read_int(value, &out->priority, name);
    }
}

int
pcu_launch_attribute_set(pcu_state *st, pcu_launch_attributes *list, unsigned int id,
                         PyObject *value, const char *name, PyObject **event)
{
    CUlaunchAttributeValue read;
    memset(&read, 0, sizeof(read));
    if (attribute_read(st, id, value, &read, name, event) < 0) {
        return -1;
    }
    return launch_attribute_store(list, id, &read);
}

/* -- keywords of calls ------------------------------------------------------------- */

/* Add the attributes of a LaunchConfig that the list does not have yet. */
static int
launch_add_config(pcu_state *st, pcu_launch_attributes *list, PyObject *config)
{
    const pcu_launch_attributes *added = pcu_launch_config_list(st, config);
    if (added == NULL) {
        return -1;
    }
    for (unsigned int i = 0; i < added->count; i++) {
        const CUlaunchAttribute *item = &added->items[i];
        if (pcu_launch_attribute_find(list, item->id) == NULL &&
            launch_attribute_store(list, item->id, &item->value) < 0) {
            return -1;
        }
    }
    return 0;
}

int
pcu_launch_keyword(pcu_state *st, pcu_launch_attributes *list, PyObject *name,
                   PyObject *value)
{
    const char *text;
    unsigned int id;
    if (name == st->str_launch_config) {
        if (value == Py_None) {
            return 0;
        }
        return launch_add_config(st, list, value);
    }
    if (name == st->str_cooperative) {
        id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        text = "cooperative";
    }
    else if (name == st->str_cluster) {
        id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        text = "cluster";
    }
    else if (name == st->str_programmatic) {
        id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        text = "programmatic";
    }
    else if (name == st->str_priority) {
        id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
        text = "priority";
    }
    else {
        return 1;
    }
    if (value == Py_None) {
        return 0;
    }
    return pcu_launch_attribute_set(st, list, id, value, text, NULL);
}

PyObject *
pcu_launch_keyword_name(pcu_state *st, PyObject *name)
{
    PyObject *known[] = {st->str_cooperative, st->str_cluster, st->str_programmatic,
                         st->str_priority, st->str_launch_config};
    for (size_t i = 0; i < Py_ARRAY_LENGTH(known); i++) {
        if (name == known[i] || PyUnicode_Compare(name, known[i]) == 0) {
            return known[i];
        }
    }
    return NULL;
}
