/* The type LaunchConfig.
 *
 * Invariant: a LaunchConfig never changes after __new__, so that a call may read its
 * list while other code runs. It holds the events among its values. */
#include "python/driver/launch/launch.h"

#include "python/support/convert.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/resource.h"

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *values; /* strong: a dict {launch_attribute: value}, not shared */
    PyObject *events; /* strong: a list of the events among the values */
    pcu_launch_attributes list;
} launch_config;

const pcu_launch_attributes *
pcu_launch_config_list(pcu_state *st, PyObject *config)
{
    if (!PyObject_TypeCheck(config, st->LaunchConfig)) {
        PyErr_Format(PyExc_TypeError, "launch_config must be a LaunchConfig, not %s",
                     Py_TYPE(config)->tp_name);
        return NULL;
    }
    launch_config *self = (launch_config *)config;
    Py_ssize_t n = 0;
    if (self->events != NULL) {
        n = PyList_GET_SIZE(self->events);
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (pcu_resource_check((pcu_resource *)PyList_GET_ITEM(self->events, i),
                               "cuLaunchKernelEx") < 0) {
            return NULL;
        }
    }
    return &self->list;
}

/* Set an attribute and keep its value. */
static int
config_set(launch_config *self, unsigned int id, PyObject *value, const char *name)
{
    PyObject *event = NULL;
    if (pcu_launch_attribute_set(self->st, &self->list, id, value, name, &event) < 0 ||
        (event != NULL && PyList_Append(self->events, event) < 0)) {
        return -1;
    }
    PyObject *member = pcu_enum_member_new(self->st->enum_launch_attribute, (long)id);
    int rc = -1;
    if (member != NULL) {
        rc = PyDict_SetItem(self->values, member, value);
        Py_DECREF(member);
    }
    return rc;
}

/* The name of a member in messages, such as "attributes[PRIORITY]". */
static PyObject *
config_item_name_new(PyObject *key)
{
    PyObject *member = PyObject_GetAttrString(key, "name");
    if (member == NULL) {
        PyErr_Clear(); /* a plain number has no name */
        return PyUnicode_FromFormat("attributes[%R]", key);
    }
    PyObject *name = PyUnicode_FromFormat("attributes[%S]", member);
    Py_DECREF(member);
    return name;
}

/* Set one item of the mapping `attributes`. */
static int
config_set_item(launch_config *self, PyObject *key, PyObject *value)
{
    unsigned int id = 0;
    if (pcu_enum_value(self->st->enum_launch_attribute, key, &id,
                       "a key of attributes") < 0) {
        return -1;
    }
    PyObject *name = config_item_name_new(key);
    int rc = -1;
    if (name != NULL) {
        const char *text = PyUnicode_AsUTF8(name);
        if (text != NULL) {
            rc = config_set(self, id, value, text);
        }
        Py_DECREF(name);
    }
    return rc;
}

static int
config_set_mapping(launch_config *self, PyObject *mapping)
{
    PyObject *items = NULL;
    int rc = 0;
    if (PyMapping_Check(mapping) && !PyList_Check(mapping) && !PyTuple_Check(mapping) &&
        !PyUnicode_Check(mapping)) {
        items = PyMapping_Items(mapping);
    }
    else {
        PyErr_Format(PyExc_TypeError,
                     "attributes must be a mapping from launch_attribute to values, "
                     "not %s",
                     Py_TYPE(mapping)->tp_name);
    }
    if (items == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0; rc == 0 && i < PyList_GET_SIZE(items); i++) {
        PyObject *pair = PyList_GET_ITEM(items, i);
        rc =
            config_set_item(self, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1));
    }
    Py_DECREF(items);
    return rc;
}

typedef struct {
    PyObject *cooperative;
    PyObject *cluster;
    PyObject *programmatic;
    PyObject *priority;
    PyObject *attributes;
} config_args;

/* Set an attribute that has a keyword of its own. */
static int
config_set_keyword(launch_config *self, unsigned int id, PyObject *value,
                   const char *name)
{
    if (value == NULL || value == Py_None) {
        return 0;
    }
    return config_set(self, id, value, name);
}

static const pcu_word config_words[] = {
    PCU_WORD("cooperative", pcu_as_object, config_args, cooperative),
    PCU_WORD("cluster", pcu_as_object, config_args, cluster),
    PCU_WORD("programmatic", pcu_as_object, config_args, programmatic),
    PCU_WORD("priority", pcu_as_object, config_args, priority),
    PCU_WORD("attributes", pcu_as_object, config_args, attributes),
};

PCU_SIGNATURE(config, config_words,
              "LaunchConfig(cooperative=None, cluster=None, programmatic=None, "
              "priority=None,\n"
              "             attributes=None)\n"
              "--\n\n"
              "Attributes for launches, given to calls as ``launch_config=``.\n"
              "\nParameters\n----------\n"
              "cooperative : bool, optional\n"
              "    If true, all blocks are on the device together, so that they can\n"
              "    wait for each other.\n"
              "cluster : int or tuple of int, optional\n"
              "    Blocks of a cluster, in up to 3 dimensions.\n"
              "programmatic : bool, optional\n"
              "    If true, the kernel may begin before the kernel ahead of it in the\n"
              "    stream has ended.\n"
              "priority : int, optional\n"
              "    Priority, as of streams: a lower number is a higher priority.\n"
              "attributes : mapping, optional\n"
              "    Values of members of ``launch_attribute``: an int; a tuple for\n"
              "    attributes of several fields; an ``Event``; or the bytes of the\n"
              "    driver's union.\n"
              "\nRaises\n------\n"
              "TypeError\n"
              "    If a value has a wrong type.\n"
              "\nSee Also\n--------\n"
              "Function : Calls also take the first four as keywords.\n"
              "\nNotes\n-----\n"
              "Keywords of a call replace these attributes. Launches with attributes\n"
              "need CUDA 11.6.\n"
              "\nExamples\n--------\n"
              ">>> from pycuda.compiler import SourceModule\n"
              ">>> f = SourceModule(\"__global__ void f() {}\").get_function(\"f\")\n"
              ">>> together = drv.LaunchConfig(cooperative=True)\n"
              ">>> f(block=32, grid=2, launch_config=together)")

static PyObject *
config_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    pcu_state *st = pcu_state_of_type(type);
    config_args a = {NULL, NULL, NULL, NULL, NULL};
    if (st == NULL ||
        pcu_args_parse_tuple(st, &config_signature, args, kwargs, &a) < 0) {
        return NULL;
    }
    launch_config *self = (launch_config *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->st = st;
    self->values = PyDict_New();
    self->events = PyList_New(0);
    if (self->values == NULL || self->events == NULL ||
        (a.attributes != NULL && a.attributes != Py_None &&
         config_set_mapping(self, a.attributes) < 0) ||
        config_set_keyword(self, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, a.cooperative,
                           "cooperative") < 0 ||
        config_set_keyword(self, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, a.cluster,
                           "cluster") < 0 ||
        config_set_keyword(self, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                           a.programmatic, "programmatic") < 0 ||
        config_set_keyword(self, CU_LAUNCH_ATTRIBUTE_PRIORITY, a.priority, "priority") <
            0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int
config_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((launch_config *)op)->values);
    Py_VISIT(((launch_config *)op)->events);
    return 0;
}

/* A call reads the list only, so the values may go first. */
static int
config_clear(PyObject *op)
{
    Py_CLEAR(((launch_config *)op)->values);
    return 0;
}

static void
config_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    config_clear(op);
    Py_CLEAR(((launch_config *)op)->events);
    type->tp_free(op);
    Py_DECREF(type);
}

static PyObject *
config_repr(PyObject *op)
{
    launch_config *self = (launch_config *)op;
    return PyUnicode_FromFormat("LaunchConfig(attributes=%R)", self->values);
}

static PyObject *
config_get_attributes(PyObject *op, void *Py_UNUSED(closure))
{
    return PyDict_Copy(((launch_config *)op)->values);
}

static PyGetSetDef config_getset[] = {
    {"attributes", config_get_attributes, NULL,
     "The attributes as a new dict {launch_attribute: value}.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot config_slots[] = {
    {Py_tp_doc, (void *)config_doc},   {Py_tp_new, config_new},
    {Py_tp_traverse, config_traverse}, {Py_tp_clear, config_clear},
    {Py_tp_dealloc, config_dealloc},   {Py_tp_repr, config_repr},
    {Py_tp_getset, config_getset},     {0, NULL},
};

static PyType_Spec config_spec = {
    "pycuda._driver.LaunchConfig", sizeof(launch_config), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, config_slots};

int
pcu_launch_config_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->LaunchConfig, &config_spec, NULL);
}
