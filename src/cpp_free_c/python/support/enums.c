/* The enumerations of pycuda.driver: int subclasses whose members have names.
 *
 * Invariant: a class has two dictionaries, `names` (name -> member) and `values` (int
 * -> member; if names share an int, the member of the last row). A member stores only
 * its int. Its name is found by identity in `names`, so two names of one int are two
 * members. Callers: see enums.h. */
#include "python/support/enums.h"

#include "python/support/convert.h"
#include "python/support/setup.h"

#include "abi/device_attributes.h"
#include "abi/function_attributes.h"

#define ENUM_MODULE "pycuda._driver."

/* The name of a member, borrowed; NULL without an exception for an unnamed value. */
static PyObject *
enum_name_borrow(PyObject *self)
{
    PyObject *names = PyObject_GetAttrString((PyObject *)Py_TYPE(self), "names");
    PyObject *key;
    PyObject *member;
    PyObject *found = NULL;
    Py_ssize_t position = 0;
    if (names == NULL) {
        return NULL;
    }
    while (found == NULL && PyDict_Next(names, &position, &key, &member)) {
        if (member == self) {
            found = key;
        }
    }
    Py_DECREF(names); /* the class keeps it */
    return found;
}

static PyObject *
enum_get_name(PyObject *self, void *Py_UNUSED(closure))
{
    PyObject *name = enum_name_borrow(self);
    if (name == NULL && PyErr_Occurred()) {
        return NULL;
    }
    return Py_NewRef(name == NULL ? Py_None : name);
}

static PyObject *
enum_repr(PyObject *self)
{
    PyObject *result = NULL;
    PyObject *name = enum_name_borrow(self);
    if (name != NULL) {
        return PyUnicode_FromFormat("%s.%U", Py_TYPE(self)->tp_name, name);
    }
    PyObject *number = NULL;
    if (!PyErr_Occurred()) {
        number = PyLong_Type.tp_repr(self);
    }
    if (number != NULL) {
        result = PyUnicode_FromFormat("%s(%U)", Py_TYPE(self)->tp_name, number);
        Py_DECREF(number);
    }
    return result;
}

static PyObject *
enum_str(PyObject *self)
{
    PyObject *name = enum_name_borrow(self);
    if (name != NULL) {
        return Py_NewRef(name);
    }
    if (PyErr_Occurred()) {
        return NULL;
    }
    return PyLong_Type.tp_repr(self);
}

/* The named member with this value, or an instance without a name. */
static PyObject *
enum_lookup_new(PyTypeObject *type, PyObject *value)
{
    PyObject *member = NULL;
    PyObject *args = NULL;
    PyObject *values = PyObject_GetAttrString((PyObject *)type, "values");
    if (values == NULL) {
        return NULL;
    }
    member = Py_XNewRef(PyDict_GetItemWithError(values, value));
    if (member == NULL && !PyErr_Occurred()) {
        args = PyTuple_Pack(1, value);
        if (args != NULL) {
            member = PyLong_Type.tp_new(type, args, NULL);
        }
    }
    Py_XDECREF(args);
    Py_DECREF(values);
    return member;
}

static PyObject *
enum_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *value;
    if (kwargs != NULL && PyDict_GET_SIZE(kwargs) != 0) {
        PyErr_Format(PyExc_TypeError, "%s() takes no keyword arguments", type->tp_name);
        return NULL;
    }
    if (PyTuple_GET_SIZE(args) != 1) {
        PyErr_Format(PyExc_TypeError, "%s() takes exactly 1 argument (%zd given)",
                     type->tp_name, PyTuple_GET_SIZE(args));
        return NULL;
    }
    value = PyTuple_GET_ITEM(args, 0);
    PyObject *index = PyNumber_Index(value);
    PyObject *member = NULL;
    if (index != NULL) {
        member = enum_lookup_new(type, index);
    }
    Py_XDECREF(index);
    return member;
}

static PyGetSetDef enum_getset[] = {
    {"name", enum_get_name, NULL, "The member's name; None for a value without one.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* A new instance of exactly `type`, without the look-up in enum_new. */
static PyObject *
enum_instance_new(PyTypeObject *type, long value)
{
    PyObject *args = Py_BuildValue("(l)", value);
    PyObject *member = NULL;
    if (args != NULL) {
        member = PyLong_Type.tp_new(type, args, NULL);
    }
    Py_XDECREF(args);
    return member;
}

static int
enum_add_member(PyObject *type, const char *name, long value)
{
    PyObject *names = NULL;
    PyObject *values = NULL;
    PyObject *number = NULL;
    PyObject *member = NULL;
    int rc = -1;
    names = PyObject_GetAttrString(type, "names");
    values = PyObject_GetAttrString(type, "values");
    number = PyLong_FromLong(value);
    if (names == NULL || values == NULL || number == NULL) {
        goto done;
    }
    member = enum_instance_new((PyTypeObject *)type, value);
    if (member == NULL || PyDict_SetItemString(names, name, member) < 0 ||
        PyDict_SetItem(values, number, member) < 0 ||
        PyObject_SetAttrString(type, name, member) < 0) {
        goto done;
    }
    rc = 0;
done:
    Py_XDECREF(names);
    Py_XDECREF(values);
    Py_XDECREF(number);
    Py_XDECREF(member);
    return rc;
}

/* The name of a class without that of the module, which is a prefix of all here. */
static const char *
enum_short_name(const char *full_name)
{
    return full_name + sizeof(ENUM_MODULE) - 1;
}

/* `full_name` must last: before Python 3.11 a type keeps the pointer. */
static PyObject *
enum_class_new(PyObject *m, const char *full_name, const char *doc)
{
    PyType_Slot slots[] = {
        {Py_tp_new, enum_new},
        {Py_tp_repr, enum_repr},
        {Py_tp_str, enum_str},
        {Py_tp_getset, enum_getset},
        {Py_tp_doc, (void *)(uintptr_t)doc},
        {0, NULL},
    };
    PyType_Spec spec = {full_name, 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                        slots};
    PyObject *type = NULL;
    PyObject *names = PyDict_New();
    PyObject *values = PyDict_New();
    PyObject *bases = PyTuple_Pack(1, (PyObject *)&PyLong_Type);
    if (names != NULL && values != NULL && bases != NULL) {
        type = PyType_FromModuleAndSpec(m, &spec, bases);
    }
    if (type != NULL &&
        (PyObject_SetAttrString(type, "names", names) < 0 ||
         PyObject_SetAttrString(type, "values", values) < 0 ||
         PyModule_AddObjectRef(m, enum_short_name(full_name), type) < 0)) {
        Py_CLEAR(type);
    }
    Py_XDECREF(names);
    Py_XDECREF(values);
    Py_XDECREF(bases);
    return type;
}

int
pcu_enum_value(PyObject *type, PyObject *value, unsigned int *out, const char *name)
{
    unsigned long long number = 0;
    bool mine = PyObject_TypeCheck(value, (PyTypeObject *)type);
    bool plain =
        PyLong_CheckExact(value) || (!PyLong_Check(value) && pcu_is_one_integer(value));
    if (!mine && !plain) {
        PyErr_Format(PyExc_TypeError, "%s must be a %s or an int, not %s", name,
                     ((PyTypeObject *)type)->tp_name, Py_TYPE(value)->tp_name);
        return -1;
    }
    if (pcu_as_integer(value, 0, UINT_MAX, &number, name) < 0) {
        return -1;
    }
    *out = (unsigned int)number;
    return 0;
}

PyObject *
pcu_enum_member_new(PyObject *type, long value)
{
    PyObject *number = PyLong_FromLong(value);
    PyObject *member = NULL;
    if (number != NULL) {
        member = enum_lookup_new((PyTypeObject *)type, number);
    }
    Py_XDECREF(number);
    return member;
}

typedef struct {
    const char *full_name;
    const char *doc;
    size_t slot;
} enum_class_row;

typedef struct {
    size_t slot;
    const char *name;
    long value;
    const char *doc;
} enum_member_row;

#define ENUM_SLOT(class_) offsetof(pcu_state, enum_##class_)
#define ENUM_CLASS(class_, doc) {ENUM_MODULE #class_, doc, ENUM_SLOT(class_)},
static const enum_class_row enum_classes[] = {PCU_ENUM_CLASSES(ENUM_CLASS)};

#define ENUM_MEMBER(class_, name, value, doc) {ENUM_SLOT(class_), #name, value, doc},
#define ENUM_DEVICE(name, value, kind, doc) \
    {ENUM_SLOT(device_attribute), #name, value, doc},
#define ENUM_FUNCTION(name, value, doc) \
    {ENUM_SLOT(function_attribute), #name, value, doc},
static const enum_member_row enum_members[] = {
    PCU_ENUMS(ENUM_MEMBER) PCU_DEVICE_ATTRS(ENUM_DEVICE) PCU_FUNC_ATTRS(ENUM_FUNCTION)};

/* -- docstrings of members --------------------------------------------------------- */

/* The row of a class, NULL for a subclass that a program made. */
static const enum_class_row *
enum_class_find(const char *full_name)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(enum_classes); i++) {
        if (strcmp(enum_classes[i].full_name, full_name) == 0) {
            return &enum_classes[i];
        }
    }
    return NULL;
}

static const char *
enum_member_doc(const enum_class_row *class_, const char *name)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(enum_members); i++) {
        const enum_member_row *row = &enum_members[i];
        if (row->slot == class_->slot && strcmp(row->name, name) == 0) {
            return row->doc;
        }
    }
    return NULL;
}

/* `__doc__` of a class, and of its members. It is found at each use, so that import
 * makes no strings. */
static PyObject *
enum_doc_get(PyObject *Py_UNUSED(op), PyObject *member, PyObject *type)
{
    const char *doc = NULL;
    if (member == NULL || member == Py_None) {
        doc = type == NULL ? NULL : ((PyTypeObject *)type)->tp_doc;
    }
    else {
        const enum_class_row *class_ = enum_class_find(Py_TYPE(member)->tp_name);
        PyObject *name = class_ == NULL ? NULL : enum_name_borrow(member);
        const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name);
        if (PyErr_Occurred()) {
            return NULL;
        }
        doc = text == NULL ? NULL : enum_member_doc(class_, text);
    }
    return doc == NULL ? Py_NewRef(Py_None) : PyUnicode_FromString(doc);
}

static PyType_Slot enum_doc_slots[] = {
    {Py_tp_descr_get, enum_doc_get},
    {0, NULL},
};

static PyType_Spec enum_doc_spec = {
    ENUM_MODULE "_EnumerationDoc", sizeof(PyObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, enum_doc_slots};

/* The descriptor that all classes share. */
static PyObject *
enum_doc_new(PyObject *m)
{
    PyObject *type = PyType_FromModuleAndSpec(m, &enum_doc_spec, NULL);
    PyObject *descriptor = NULL;
    if (type != NULL) {
        descriptor = ((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, 0);
        Py_DECREF(type); /* the descriptor keeps it */
    }
    return descriptor;
}

/* -- classes of plain ints --------------------------------------------------------- */

/* The docstring of a class has numpydoc's list of the members: ints have none. */
#define PLAIN_MEMBER_DOC(class_, name, value, doc) name " : int\n    " doc "\n"
#define PLAIN_CLASS(class_, doc, rows) \
    {ENUM_MODULE #class_, doc "\n\nAttributes\n----------\n" rows(PLAIN_MEMBER_DOC)},
static const struct {
    const char *full_name;
    const char *doc;
} plain_classes[] = {PCU_PLAIN_CLASSES(PLAIN_CLASS)};

#define PLAIN_MEMBER(class_, name, value, doc) {#class_, name, value},
#define PLAIN_MEMBERS(class_, doc, rows) rows(PLAIN_MEMBER)
static const struct {
    const char *class_name;
    const char *name;
    long value;
} plain_members[] = {PCU_PLAIN_CLASSES(PLAIN_MEMBERS)};

static int
plain_class_add(PyObject *m, const char *full_name, const char *doc)
{
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)(uintptr_t)doc},
        {0, NULL},
    };
    PyType_Spec spec = {full_name, 0, 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    PyObject *type = PyType_FromModuleAndSpec(m, &spec, NULL);
    int rc = -1;
    if (type != NULL) {
        rc = PyModule_AddObjectRef(m, enum_short_name(full_name), type);
        Py_DECREF(type);
    }
    return rc;
}

static int
plain_member_add(PyObject *m, const char *class_name, const char *name, long value)
{
    PyObject *type = PyObject_GetAttrString(m, class_name);
    PyObject *number = PyLong_FromLong(value);
    int rc = -1;
    if (type != NULL && number != NULL) {
        rc = PyObject_SetAttrString(type, name, number);
    }
    Py_XDECREF(type);
    Py_XDECREF(number);
    return rc;
}

static int
enum_setup_plain(PyObject *m)
{
    for (size_t i = 0; i < Py_ARRAY_LENGTH(plain_classes); i++) {
        if (plain_class_add(m, plain_classes[i].full_name, plain_classes[i].doc) < 0) {
            return -1;
        }
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(plain_members); i++) {
        if (plain_member_add(m, plain_members[i].class_name, plain_members[i].name,
                             plain_members[i].value) < 0) {
            return -1;
        }
    }
    return 0;
}

/* -- setup ------------------------------------------------------------------------- */

static int
enum_setup_classes(PyObject *m, pcu_state *st)
{
    PyObject *docs = enum_doc_new(m);
    int rc = docs == NULL ? -1 : 0;
    for (size_t i = 0; rc == 0 && i < Py_ARRAY_LENGTH(enum_classes); i++) {
        PyObject *type =
            enum_class_new(m, enum_classes[i].full_name, enum_classes[i].doc);
        *(PyObject **)((char *)st + enum_classes[i].slot) = type;
        rc = type == NULL ? -1 : PyObject_SetAttrString(type, "__doc__", docs);
    }
    Py_XDECREF(docs);
    return rc;
}

int
pcu_enums_setup(PyObject *m, pcu_state *st)
{
    if (enum_setup_classes(m, st) < 0) {
        return -1;
    }
    for (size_t i = 0; i < Py_ARRAY_LENGTH(enum_members); i++) {
        PyObject *type = *(PyObject **)((char *)st + enum_members[i].slot);
        if (enum_add_member(type, enum_members[i].name, enum_members[i].value) < 0) {
            return -1;
        }
    }
    return enum_setup_plain(m);
}
