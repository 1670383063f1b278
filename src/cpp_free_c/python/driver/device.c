/* The type Device: a GPU. context_device.c has its methods that make contexts,
 * launch/occupancy.c those about occupancy.
 *
 * Invariant: a Device owns no driver object. Its handle is the ordinal; devices are
 * equal if their ordinals are equal. Callers: Python, and context_device.c by device.h.
 */
#include "python/driver/context.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/driver_call.h"
#include "python/support/enums.h"
#include "python/support/type.h"
#include "python/support/setup.h"

#include "abi/device_attributes.h"

typedef struct {
    pcu_instance base;
    pcu_state *st;
    CUdevice handle; /* the ordinal in all known drivers; -1 before __init__ */
} device;

static PyObject *
device_wrap_new(pcu_state *st, PyTypeObject *type, CUdevice handle)
{
    device *self = (device *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->st = st;
        self->handle = handle;
    }
    return (PyObject *)self;
}

PyObject *
pcu_device_new(pcu_state *st, CUdevice handle)
{
    return device_wrap_new(st, st->Device, handle);
}

CUdevice
pcu_device_handle(PyObject *op)
{
    return ((device *)op)->handle;
}

/* Find the handle of an ordinal or a PCI bus id. */
static int
device_find(pcu_state *st, PyObject *which, CUdevice *handle)
{
    unsigned long long ordinal = 0;
    CUresult status;
    if (PyUnicode_Check(which)) {
        const char *bus_id = pcu_as_name(which, "the PCI bus id");
        if (bus_id == NULL) {
            return -1;
        }
        PCU_STATUS(status, DeviceGetByPCIBusId, (handle, bus_id));
        if (status == CUDA_ERROR_INVALID_DEVICE || status == CUDA_ERROR_INVALID_VALUE) {
            return pcu_raise_detail(st, "cuDeviceGetByPCIBusId", status,
                                    "no device has the PCI bus id %R; Device(0) takes "
                                    "its number",
                                    which);
        }
        if (status != CUDA_SUCCESS) {
            return pcu_raise(st, "cuDeviceGetByPCIBusId", status);
        }
        return 0;
    }
    if (pcu_as_integer(which, INT_MIN, INT_MAX, &ordinal, "device number") < 0) {
        return -1;
    }
    status = drv.DeviceGet(handle, (int)ordinal);
    if (status == CUDA_ERROR_INVALID_DEVICE) {
        int count = 0;
        if (drv.DeviceGetCount(&count) == CUDA_SUCCESS) {
            return pcu_raise_detail(st, "cuDeviceGet", status,
                                    "device %d was asked for; this machine has %d",
                                    (int)ordinal, count);
        }
    }
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    return pcu_raise(st, "cuDeviceGet", status);
}

static PyObject *
device_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    pcu_state *st = pcu_state_of_type(type);
    if (st == NULL) {
        return NULL;
    }
    return device_wrap_new(st, type, -1);
}

PCU_SIGNATURE_OF_ONE(
    device, "number_or_pci_bus_id", pcu_as_object,
    "Device(number_or_pci_bus_id, /)\n"
    "--\n\n"
    "A GPU, identified by its number or its PCI bus id.\n"
    "\nParameters\n----------\n"
    "number_or_pci_bus_id : int or str\n"
    "    Number of the device, from 0, or its PCI bus id.\n"
    "\nRaises\n------\n"
    "LogicError\n"
    "    If there is no such device, or if ``init`` was not called.\n"
    "\nSee Also\n--------\n"
    "Device.count : The number of devices.\n"
    "Device.make_context : Make a context.\n"
    "\nNotes\n-----\n"
    "Each member of ``device_attribute`` is also a property with its name in\n"
    "lower case. Two objects are equal if their numbers are equal.\n"
    "\nExamples\n--------\n"
    ">>> device = drv.Device(0)\n"
    ">>> device.warp_size\n"
    "32")

static int
device_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    device *self = (device *)op;
    PyObject *which = NULL;
    if (pcu_args_parse_tuple(self->st, &device_signature, args, kwargs,
                             PCU_ONLY(device, &which)) < 0) {
        return -1;
    }
    return device_find(self->st, which, &self->handle);
}

static PyObject *
device_repr(PyObject *op)
{
    return PyUnicode_FromFormat("<%s %d>", Py_TYPE(op)->tp_name,
                                ((device *)op)->handle);
}

static PyObject *
device_richcompare(PyObject *a, PyObject *b, int op)
{
    pcu_state *st = ((device *)a)->st;
    if ((op != Py_EQ && op != Py_NE) || !PyObject_TypeCheck(b, st->Device)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    bool same = ((device *)a)->handle == ((device *)b)->handle;
    return PyBool_FromLong(op == Py_EQ ? same : !same);
}

static Py_hash_t
device_hash(PyObject *op)
{
    return ((device *)op)->handle;
}

/* -- attributes -------------------------------------------------------------------- */

static PyObject *
device_attribute_new(device *self, long attribute)
{
    int value = 0;
    int rc;
    PCU_CALL(rc, self->st, DeviceGetAttribute,
             (&value, (CUdevice_attribute)attribute, self->handle));
    if (rc < 0) {
        return NULL;
    }
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) {
        return pcu_enum_member_new(self->st->enum_compute_mode, value);
    }
    return PyLong_FromLong(value);
}

PyDoc_STRVAR(device_get_attribute_doc,
             "get_attribute($self, attr, /)\n"
             "--\n\n"
             "Return an attribute of the device.\n"
             "\nParameters\n----------\n"
             "attr : device_attribute\n"
             "    Which one.\n"
             "\nReturns\n-------\n"
             "int or compute_mode\n"
             "    The value. A member of ``compute_mode`` for COMPUTE_MODE.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the driver does not know the attribute.\n"
             "\nSee Also\n--------\n"
             "Device.get_attributes : All attributes.\n"
             "\nNotes\n-----\n"
             "The property with the name in lower case has the same value.\n"
             "\nExamples\n--------\n"
             ">>> drv.Device(0).get_attribute(drv.device_attribute.WARP_SIZE)\n"
             "32");

static PyObject *
device_get_attribute(PyObject *op, PyObject *attr)
{
    device *self = (device *)op;
    unsigned int attribute = 0;
    if (pcu_enum_value(self->st->enum_device_attribute, attr, &attribute, "attr") < 0) {
        return NULL;
    }
    return device_attribute_new(self, (long)attribute);
}

/* Add one attribute to the dictionary. An attribute that the driver does not know is
 * left out. */
static int
device_collect_attribute(device *self, PyObject *dict, PyObject *member)
{
    PyObject *value = NULL;
    int rc = -1;
    value = device_get_attribute((PyObject *)self, member);
    if (value != NULL) {
        rc = PyDict_SetItem(dict, member, value);
        Py_DECREF(value);
        return rc;
    }
    pcu_saved_error failure;
    if (!PyErr_ExceptionMatches(self->st->exc_Error)) {
        return -1;
    }
    pcu_error_save(&failure);
    CUresult known = drv.DeviceGetAttribute(&rc, 1, self->handle);
    if (known != CUDA_SUCCESS) {
        pcu_error_restore(&failure);
        return -1; /* the device fails for known attributes too */
    }
    pcu_error_restore(&failure);
    PyErr_Clear(); /* this driver does not know the attribute */
    return 0;
}

PyDoc_STRVAR(device_get_attributes_doc,
             "get_attributes($self, /)\n"
             "--\n\n"
             "Return all attributes of the device that the driver knows.\n"
             "\nReturns\n-------\n"
             "dict\n"
             "    The value of each ``device_attribute``.\n"
             "\nSee Also\n--------\n"
             "Device.get_attribute : One attribute.\n"
             "\nExamples\n--------\n"
             ">>> attributes = drv.Device(0).get_attributes()\n"
             ">>> attributes[drv.device_attribute.WARP_SIZE]\n"
             "32");

static PyObject *
device_get_attributes(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    device *self = (device *)op;
    PyObject *names = NULL;
    PyObject *result = NULL;
    PyObject *key;
    PyObject *member;
    Py_ssize_t position = 0;
    names = PyObject_GetAttrString(self->st->enum_device_attribute, "names");
    result = PyDict_New();
    if (names == NULL || result == NULL) {
        goto error;
    }
    while (PyDict_Next(names, &position, &key, &member)) {
        if (device_collect_attribute(self, result, member) < 0) {
            goto error;
        }
    }
    Py_DECREF(names);
    return result;
error:
    Py_XDECREF(names);
    Py_XDECREF(result);
    return NULL;
}

static PyObject *
device_get_attribute_property(PyObject *op, void *closure)
{
    return device_attribute_new((device *)op, (long)(intptr_t)closure);
}

/* -- methods ----------------------------------------------------------------------- */

PCU_SIGNATURE(device_count, pcu_no_words,
              "count($type, /)\n"
              "--\n\n"
              "Return the number of GPUs that this process can use.\n"
              "\nReturns\n-------\n"
              "int\n"
              "    The number.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If ``init`` was not called.\n"
              "\nSee Also\n--------\n"
              "Device : A device by its number.\n"
              "\nNotes\n-----\n"
              "The environment variable ``CUDA_VISIBLE_DEVICES`` hides devices.\n"
              "\nExamples\n--------\n"
              ">>> drv.Device.count() > 0\n"
              "True")

static PyObject *
device_count(PyObject *type, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    int count = 0;
    int rc;
    if (pcu_args_parse(st, &device_count_signature, args, nargs, kwnames, NULL) < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, DeviceGetCount, (&count));
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromLong(count);
}

PyDoc_STRVAR(device_name_doc,
             "name($self, /)\n"
             "--\n\n"
             "Return the name of the device.\n"
             "\nReturns\n-------\n"
             "str\n"
             "    The name.\n"
             "\nSee Also\n--------\n"
             "Device.pci_bus_id : Tells devices of the same name apart.\n"
             "\nExamples\n--------\n"
             ">>> isinstance(drv.Device(0).name(), str)\n"
             "True");

static PyObject *
device_name(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    device *self = (device *)op;
    char name[256] = "";
    int rc;
    PCU_CALL(rc, self->st, DeviceGetName, (name, sizeof(name), self->handle));
    if (rc < 0) {
        return NULL;
    }
    return PyUnicode_FromString(name);
}

PyDoc_STRVAR(device_pci_bus_id_doc,
             "pci_bus_id($self, /)\n"
             "--\n\n"
             "Return the PCI bus id of the device.\n"
             "\nReturns\n-------\n"
             "str\n"
             "    The id, which ``Device`` accepts.\n"
             "\nSee Also\n--------\n"
             "Device.name : The name of the device.\n"
             "\nExamples\n--------\n"
             ">>> device = drv.Device(0)\n"
             ">>> drv.Device(device.pci_bus_id()) == device\n"
             "True");

static PyObject *
device_pci_bus_id(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    device *self = (device *)op;
    char bus_id[64] = "";
    int rc;
    PCU_CALL(rc, self->st, DeviceGetPCIBusId, (bus_id, sizeof(bus_id), self->handle));
    if (rc < 0) {
        return NULL;
    }
    return PyUnicode_FromString(bus_id);
}

PyDoc_STRVAR(device_compute_capability_doc,
             "compute_capability($self, /)\n"
             "--\n\n"
             "Return the compute capability of the device.\n"
             "\nReturns\n-------\n"
             "tuple of int\n"
             "    Major and minor number.\n"
             "\nSee Also\n--------\n"
             "Device.get_attribute : Single properties of the device.\n"
             "\nExamples\n--------\n"
             ">>> drv.Device(0).compute_capability() >= (7, 0)\n"
             "True");

static PyObject *
device_compute_capability(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    device *self = (device *)op;
    int major = 0;
    int minor = 0;
    int rc;
    PCU_CALL(rc, self->st, DeviceGetAttribute,
             (&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, self->handle));
    if (rc == 0) {
        PCU_CALL(rc, self->st, DeviceGetAttribute,
                 (&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, self->handle));
    }
    if (rc < 0) {
        return NULL;
    }
    return Py_BuildValue("(ii)", major, minor);
}

PyDoc_STRVAR(device_total_memory_doc,
             "total_memory($self, /)\n"
             "--\n\n"
             "Return the size of the device's memory.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    Bytes.\n"
             "\nSee Also\n--------\n"
             "mem_get_info : The free memory.");

static PyObject *
device_total_memory(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    device *self = (device *)op;
    size_t bytes = 0;
    int rc;
    PCU_CALL(rc, self->st, DeviceTotalMem, (&bytes, self->handle));
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromSize_t(bytes);
}

PCU_SIGNATURE_OF_ONE(
    device_make_context, "flags", pcu_as_uint,
    "make_context($self, /, flags=0)\n"
    "--\n\n"
    "Make a context and push it on this thread's stack.\n"
    "\nParameters\n----------\n"
    "flags : int, optional\n"
    "    Or-ed ``ctx_flags``.\n"
    "\nReturns\n-------\n"
    "Context\n"
    "    The new context, which is current.\n"
    "\nRaises\n------\n"
    "LogicError\n"
    "    If the flags are invalid.\n" PCU_DOC_NO_MEMORY
    "\nSee Also\n--------\n"
    "Device.retain_primary_context : Share the context of other libraries.\n"
    "Context.detach : End the context.\n"
    "\nNotes\n-----\n"
    "A context takes memory of the device, and time to make.\n"
    "\nExamples\n--------\n"
    ">>> ctx = drv.Device(0).make_context()\n"
    ">>> ctx.detach()")

static PyObject *
device_make_context(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    device *self = (device *)op;
    unsigned int flags = 0;
    if (pcu_args_parse(self->st, &device_make_context_signature, args, nargs, kwnames,
                       PCU_ONLY(device_make_context, &flags)) < 0) {
        return NULL;
    }
    return pcu_context_make(self->st, self->handle, flags);
}

PyDoc_STRVAR(device_retain_primary_context_doc,
             "retain_primary_context($self, /)\n"
             "--\n\n"
             "Retain the primary context of the device.\n"
             "\nReturns\n-------\n"
             "Context\n"
             "    The context. It is not made current: call ``push``.\n"
             "\nRaises\n------\n" PCU_DOC_NO_MEMORY
             "\nSee Also\n--------\n"
             "Device.make_context : A context of this program only.\n"
             "Context.detach : Give it up.\n"
             "\nNotes\n-----\n"
             "The CUDA runtime, and libraries that use it, work in this context.\n"
             "\nExamples\n--------\n"
             ">>> ctx = drv.Device(0).retain_primary_context()\n"
             ">>> ctx.push()\n"
             ">>> drv.Context.pop()\n"
             ">>> ctx.detach()");

static PyObject *
device_retain_primary_context(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    device *self = (device *)op;
    return pcu_context_retain_primary(self->st, self->handle);
}

PyDoc_STRVAR(device_can_access_peer_doc,
             "can_access_peer($self, other, /)\n"
             "--\n\n"
             "Return whether this device can use the memory of another one.\n"
             "\nParameters\n----------\n"
             "other : Device\n"
             "    The owner of the memory.\n"
             "\nReturns\n-------\n"
             "bool\n"
             "    True if it can read and write the memory.\n"
             "\nRaises\n------\n"
             "TypeError\n"
             "    If ``other`` is no ``Device``.\n"
             "\nSee Also\n--------\n"
             "Context.enable_peer_access : Enable it.\n"
             "\nExamples\n--------\n"
             ">>> device = drv.Device(0)\n"
             ">>> device.can_access_peer(device)\n"
             "False");

static PyObject *
device_can_access_peer(PyObject *op, PyObject *other)
{
    device *self = (device *)op;
    int possible = 0;
    int rc;
    if (!PyObject_TypeCheck(other, self->st->Device)) {
        PyErr_Format(PyExc_TypeError, "other must be a Device, not %s",
                     Py_TYPE(other)->tp_name);
        return NULL;
    }
    PCU_CALL(rc, self->st, DeviceCanAccessPeer,
             (&possible, self->handle, ((device *)other)->handle));
    if (rc < 0) {
        return NULL;
    }
    return PyBool_FromLong(possible);
}

static PyGetSetDef device_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef device_methods[] = {
    {"count", (PyCFunction)(void (*)(void))device_count,
     METH_CLASS | METH_FASTCALL | METH_KEYWORDS, device_count_doc},
    {"name", device_name, METH_NOARGS, device_name_doc},
    {"pci_bus_id", device_pci_bus_id, METH_NOARGS, device_pci_bus_id_doc},
    {"compute_capability", device_compute_capability, METH_NOARGS,
     device_compute_capability_doc},
    {"total_memory", device_total_memory, METH_NOARGS, device_total_memory_doc},
    {"get_attribute", device_get_attribute, METH_O, device_get_attribute_doc},
    {"get_attributes", device_get_attributes, METH_NOARGS, device_get_attributes_doc},
    PCU_METHOD("make_context", device_make_context),
    {"retain_primary_context", device_retain_primary_context, METH_NOARGS,
     device_retain_primary_context_doc},
    {"can_access_peer", device_can_access_peer, METH_O, device_can_access_peer_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot device_slots[] = {
    {Py_tp_doc, (void *)device_doc},
    {Py_tp_new, device_new},
    {Py_tp_init, device_init},
    {Py_tp_traverse, pcu_instance_traverse},
    {Py_tp_clear, pcu_instance_clear},
    {Py_tp_dealloc, pcu_instance_dealloc},
    {Py_tp_repr, device_repr},
    {Py_tp_richcompare, device_richcompare},
    {Py_tp_hash, device_hash},
    {Py_tp_members, pcu_instance_members},
    {Py_tp_getset, device_getset},
    {Py_tp_methods, device_methods},
    {0, NULL},
};

static PyType_Spec device_spec = {
    "pycuda._driver.Device", sizeof(device), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, device_slots};

#define DEVICE_PROPERTY(name, value, kind, doc) {#name, value, doc},
static const pcu_property device_properties[] = {PCU_DEVICE_ATTRS(DEVICE_PROPERTY)};
#undef DEVICE_PROPERTY

int
pcu_device_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->Device, &device_spec, NULL) < 0) {
        return -1;
    }
    return pcu_add_properties(st, st->Device, device_properties,
                              Py_ARRAY_LENGTH(device_properties),
                              device_get_attribute_property);
}
