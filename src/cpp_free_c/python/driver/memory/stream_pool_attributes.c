/* Attributes of a MemoryPool, and the rights of other devices to use its memory:
 * methods of MemoryPool.
 *
 * Python is the only caller. */
#include "python/driver/memory/pool.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/driver_call.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/memory/memory.h"

/* -- docstrings -------------------------------------------------------------------- */

#define STREAM_POOL_DOC_ATTRIBUTE      \
    "attribute : mem_pool_attribute\n" \
    "    The attribute.\n"

/* Whether the attribute is an int of the driver; the others are 64-bit numbers. */
static bool
stream_pool_is_flag(unsigned int attribute)
{
    return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
           attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

static PyObject *
stream_pool_read(pcu_stream_pool *self, unsigned int attribute)
{
    uint64_t number = 0;
    int flag = 0;
    void *value = &number;
    int rc = pcu_stream_pool_check(self, "cuMemPoolGetAttribute");
    if (stream_pool_is_flag(attribute)) {
        value = &flag;
    }
    if (rc == 0) {
        PCU_CALL(rc, self->base.st, MemPoolGetAttribute,
                 (self->base.source, attribute, value));
    }
    if (rc < 0) {
        return NULL;
    }
    if (stream_pool_is_flag(attribute)) {
        return PyBool_FromLong(flag);
    }
    return PyLong_FromUnsignedLongLong(number);
}

static int
stream_pool_write(pcu_stream_pool *self, unsigned int attribute, PyObject *given)
{
    unsigned long long number = 0;
    int rc = pcu_stream_pool_check(self, "cuMemPoolSetAttribute");
    if (rc == 0) {
        rc = pcu_as_integer(given, 0, UINT64_MAX, &number, "value");
    }
    if (rc < 0) {
        return -1;
    }
    uint64_t wide = number;
    int flag = number != 0;
    void *value = &wide;
    if (stream_pool_is_flag(attribute)) {
        value = &flag;
    }
    PCU_CALL(rc, self->base.st, MemPoolSetAttribute,
             (self->base.source, attribute, value));
    return rc;
}

PyDoc_STRVAR(stream_pool_get_attribute_doc,
             "get_attribute($self, attribute, /)\n--\n\n"
             "Return an attribute of the driver's pool.\n"
             "\nParameters\n----------\n" STREAM_POOL_DOC_ATTRIBUTE
             "\nReturns\n-------\n"
             "int or bool\n"
             "    Bytes, or whether the pool may do it.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If there is no such attribute.\n"
             "\nSee Also\n--------\n"
             "MemoryPool.set_attribute : Set it.\n"
             "\nNotes\n-----\n"
             "Blocks that this object holds count as used.");

static PyObject *
stream_pool_get_attribute(PyObject *op, PyObject *attribute)
{
    pcu_stream_pool *self = (pcu_stream_pool *)op;
    unsigned int which = 0;
    if (pcu_as_uint(self->base.st, attribute, &which, "attribute") < 0) {
        return NULL;
    }
    return stream_pool_read(self, which);
}

/* The arguments of the functions here; objects are borrowed. */
typedef struct {
    unsigned int attribute;
    PyObject *value;
    CUdevice device;
    unsigned int flags;
} stream_pool_attribute_args;

static const pcu_word stream_pool_attribute_words[] = {
    PCU_WORD("attribute", pcu_as_uint, stream_pool_attribute_args, attribute),
    PCU_WORD("value", pcu_as_object, stream_pool_attribute_args, value),
    PCU_WORD("device", pcu_as_device, stream_pool_attribute_args, device),
    PCU_WORD("flags", pcu_as_uint, stream_pool_attribute_args, flags),
};

PCU_SIGNATURE(stream_pool_set_attribute, stream_pool_attribute_words,
              "set_attribute($self, attribute, value, /)\n--\n\n"
              "Set an attribute of the driver's pool.\n"
              "\nParameters\n----------\n" STREAM_POOL_DOC_ATTRIBUTE
              "value : int or bool\n"
              "    Bytes, or whether the pool may do it. The high marks can be set to\n"
              "    0 only.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If the attribute cannot be set to the value.\n"
              "\nSee Also\n--------\n"
              "MemoryPool.get_attribute : Return it.")

static PyObject *
stream_pool_set_attribute(PyObject *op, PyObject *const *args, Py_ssize_t nargs)
{
    pcu_stream_pool *self = (pcu_stream_pool *)op;
    stream_pool_attribute_args a = {0};
    if (pcu_args_parse(self->base.st, &stream_pool_set_attribute_signature, args, nargs,
                       NULL, &a) < 0 ||
        stream_pool_write(self, a.attribute, a.value) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
stream_pool_get_number(PyObject *op, void *closure)
{
    return stream_pool_read((pcu_stream_pool *)op, (unsigned int)(uintptr_t)closure);
}

static int
stream_pool_set_number(PyObject *op, PyObject *value, void *closure)
{
    if (value == NULL) {
        PyErr_SetString(PyExc_AttributeError, "this attribute cannot be deleted");
        return -1;
    }
    return stream_pool_write((pcu_stream_pool *)op, (unsigned int)(uintptr_t)closure,
                             value);
}

/* -- access by other devices ------------------------------------------------------- */

PCU_SIGNATURE(
    stream_pool_set_access, stream_pool_attribute_words,
    "set_access($self, /, device, flags=3)\n"
    "--\n\n"
    "Let kernels of another device use the memory of this pool, or forbid that.\n"
    "\nParameters\n----------\n" PCU_DOC_DEVICE PCU_DOC_ACCESS_FLAGS
    "\nRaises\n------\n"
    "LogicError\n"
    "    If the device cannot have the access.\n"
    "\nSee Also\n--------\n"
    "Device.can_access_peer : Ask whether a device can have access.")

static PyObject *
stream_pool_set_access(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames)
{
    pcu_stream_pool *self = (pcu_stream_pool *)op;
    stream_pool_attribute_args a = {.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    int rc = pcu_args_parse(self->base.st, &stream_pool_set_access_signature, args,
                            nargs, kwnames, &a);
    if (rc == 0) {
        rc = pcu_stream_pool_check(self, "cuMemPoolSetAccess");
    }
    if (rc == 0) {
        CUmemAccessDesc wish = {{CU_MEM_LOCATION_TYPE_DEVICE, a.device}, a.flags};
        PCU_CALL(rc, self->base.st, MemPoolSetAccess, (self->base.source, &wish, 1));
    }
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE_OF_ONE(stream_pool_get_access, "device", pcu_as_device,
                     "get_access($self, /, device)\n--\n\n"
                     "Return the rights of a device to use the memory of this pool.\n"
                     "\nParameters\n----------\n" PCU_DOC_DEVICE
                     "\nReturns\n-------\n"
                     "mem_access_flags\n"
                     "    The rights.\n"
                     "\nSee Also\n--------\n"
                     "MemoryPool.set_access : Set them.")

static PyObject *
stream_pool_get_access(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames)
{
    pcu_stream_pool *self = (pcu_stream_pool *)op;
    CUmemLocation place = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemAccess_flags flags = 0;
    int rc =
        pcu_args_parse(self->base.st, &stream_pool_get_access_signature, args, nargs,
                       kwnames, PCU_ONLY(stream_pool_get_access, &place.id));
    if (rc == 0) {
        rc = pcu_stream_pool_check(self, "cuMemPoolGetAccess");
    }
    if (rc == 0) {
        PCU_CALL(rc, self->base.st, MemPoolGetAccess,
                 (&flags, self->base.source, &place));
    }
    if (rc < 0) {
        return NULL;
    }
    return pcu_enum_member_new(self->base.st->enum_mem_access_flags, (long)flags);
}

#define STREAM_POOL_NUMBER(name, attribute, set, doc)        \
    {                                                        \
        name, stream_pool_get_number, set, doc,              \
            (void *)(uintptr_t)(CU_MEMPOOL_ATTR_##attribute) \
    }

static PyGetSetDef stream_pool_number_getset[] = {
    STREAM_POOL_NUMBER(
        "release_threshold", RELEASE_THRESHOLD, stream_pool_set_number,
        "The bytes that the driver keeps reserved when it synchronises."),
    STREAM_POOL_NUMBER("reserved_bytes", RESERVED_MEM_CURRENT, NULL,
                       "The bytes that the driver's pool has reserved on the device."),
    STREAM_POOL_NUMBER("used_bytes", USED_MEM_CURRENT, NULL,
                       "The bytes of the driver's pool that are in use or held."),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef stream_pool_attribute_methods[] = {
    STREAM_POOL_METHOD(get_attribute, METH_O),
    STREAM_POOL_METHOD(set_attribute, METH_FASTCALL),
    STREAM_POOL_METHOD(set_access, METH_FASTCALL | METH_KEYWORDS),
    STREAM_POOL_METHOD(get_access, METH_FASTCALL | METH_KEYWORDS),
    {NULL, NULL, 0, NULL},
};

int
pcu_stream_pool_attributes_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    if (pcu_add_methods(st->MemoryPool, stream_pool_attribute_methods) < 0) {
        return -1;
    }
    return pcu_add_getset(st->MemoryPool, stream_pool_number_getset);
}
