/* MipmappedArray: an image on the device at several sizes, for textures.
 *
 * Invariant: a MipmappedArray is a pcu_resource. Its levels are Arrays that hold it and
 * borrow their handles from the driver, which ends them with the whole. Callers: see
 * texture_array.h. */
#include "python/driver/memory/texture_array.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/memory/memory.h"
#include "python/driver/resource.h"

typedef struct {
    pcu_resource base;
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* of level 0 */
    unsigned int levels;
} mipmapped_array;

/* The number of levels down to one element: the layers of a layered array stay. */
static unsigned int
mipmap_full_chain(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    size_t size = Py_MAX(d->Width, d->Height);
    unsigned int levels = 1;
    if ((d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) == 0) {
        size = Py_MAX(size, d->Depth);
    }
    while (size > 1) {
        size /= 2;
        levels++;
    }
    return levels;
}

typedef struct {
    PyObject *descriptor;
    unsigned int levels;
} mipmap_args;

/* The bytes of all levels. Each has half the lengths of the one before, rounded down.
 */
static size_t
mipmap_bytes(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int levels)
{
    CUDA_ARRAY3D_DESCRIPTOR level = *d;
    size_t bytes = 0;
    for (unsigned int i = 0; i < levels; i++) {
        bytes += pcu_array_descriptor_bytes(&level);
        level.Width = Py_MAX(level.Width / 2, 1);
        level.Height = Py_MAX(level.Height / 2, 1);
        level.Depth /= 2;
    }
    return bytes;
}

static const pcu_word mipmap_words[] = {
    PCU_WORD("descriptor", pcu_as_object, mipmap_args, descriptor),
    PCU_WORD("levels", pcu_as_uint, mipmap_args, levels),
};

PCU_SIGNATURE(mipmap, mipmap_words,
              "MipmappedArray(descriptor, levels=0)\n--\n\n"
              "Hold an image on the device at several sizes, for textures.\n"
              "\n"
              "Each size is half the one before. ``get_level()`` returns one as an\n"
              "Array, which copies fill. A TextureObject reads between the levels.\n"
              "\nParameters\n----------\n"
              "descriptor : ArrayDescriptor or ArrayDescriptor3D\n"
              "    Description of the largest level.\n"
              "levels : int, optional\n"
              "    Number of sizes. The default 0 is all, down to one element.\n"
              "\nRaises\n------\n"
              "TypeError\n"
              "    If the argument is no descriptor.\n"
              "LogicError\n"
              "    If the driver refuses the description.\n"
              "\nSee Also\n--------\n"
              "Array : An image at one size.\n"
              "TextureObject : Read the image.\n"
              "\nExamples\n--------\n"
              ">>> descriptor = drv.ArrayDescriptor()\n"
              ">>> descriptor.width = descriptor.height = 8\n"
              ">>> descriptor.format = drv.array_format.FLOAT\n"
              ">>> descriptor.num_channels = 1\n"
              ">>> image = drv.MipmappedArray(descriptor)\n"
              ">>> image.levels, image.get_level(1).get().shape\n"
              "(4, (4, 4))")

static int
mipmap_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    mipmapped_array *self = (mipmapped_array *)op;
    pcu_state *st = self->base.st;
    mipmap_args a = {NULL, 0};
    const CUDA_ARRAY3D_DESCRIPTOR *given = NULL;
    pcu_handle handle = {0};
    if (pcu_args_parse_tuple(st, &mipmap_signature, args, kwargs, &a) < 0 ||
        pcu_as_array_descriptor(st, a.descriptor, &given, "descriptor") < 0) {
        return -1;
    }
    if (self->base.live) {
        PyErr_SetString(PyExc_TypeError,
                        "__init__ of this MipmappedArray was called before");
        return -1;
    }
    CUDA_ARRAY3D_DESCRIPTOR d = *given;
    if (!PyObject_TypeCheck(a.descriptor, st->ArrayDescriptor3D)) {
        d.Depth = 0;
        d.Flags = 0;
    }
    unsigned int most = mipmap_full_chain(&d);
    if (a.levels == 0) {
        a.levels = most;
    }
    PyObject *ctx = pcu_context_require(st, "cuMipmappedArrayCreate");
    if (ctx == NULL) {
        return -1;
    }
    CUresult status;
    PCU_STATUS(status, MipmappedArrayCreate, (&handle.mipmapped_array, &d, a.levels));
    if (status == CUDA_SUCCESS) {
        self->descriptor = d;
        self->levels = Py_MIN(a.levels, most); /* the driver makes no more than that */
        pcu_resource_adopt(&self->base, ctx, PCU_HANDLE_mipmapped_array, handle);
        pcu_memory_noted(op, PCU_MEMORY_ARRAY, mipmap_bytes(&d, self->levels));
    }
    Py_DECREF(ctx);
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    return pcu_raise_detail(st, "cuMipmappedArrayCreate", status,
                            "%u levels of %zu x %zu x %zu elements, format %u, "
                            "num_channels %u, flags %u",
                            a.levels, d.Width, d.Height, d.Depth, d.Format,
                            d.NumChannels, d.Flags);
}

int
pcu_mipmapped_array_handle(PyObject *op, const char *routine, CUmipmappedArray *out,
                           CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    mipmapped_array *self = (mipmapped_array *)op;
    *out = self->base.handle.mipmapped_array;
    *descriptor = self->descriptor;
    return pcu_resource_check(&self->base, routine);
}

PyDoc_STRVAR(mipmap_get_level_doc,
             "get_level($self, level, /)\n--\n\n"
             "Return a level of the array.\n"
             "\nParameters\n----------\n"
             "level : int\n"
             "    Number of the level; 0 is the largest.\n"
             "\nReturns\n-------\n"
             "Array\n"
             "    The level, which keeps the whole array.\n"
             "\nRaises\n------\n"
             "IndexError\n"
             "    If there is no such level.\n" PCU_DOC_RELEASED);

static PyObject *
mipmap_get_level(PyObject *op, PyObject *level)
{
    mipmapped_array *self = (mipmapped_array *)op;
    pcu_state *st = self->base.st;
    unsigned int number = 0;
    CUarray handle = NULL;
    int rc;
    if (pcu_as_uint(st, level, &number, "level") < 0 ||
        pcu_resource_check(&self->base, "cuMipmappedArrayGetLevel") < 0) {
        return NULL;
    }
    if (number >= self->levels) {
        PyErr_Format(PyExc_IndexError, "level %u of a MipmappedArray of %u levels",
                     number, self->levels);
        return NULL;
    }
    PCU_CALL_CURRENT(rc, st, MipmappedArrayGetLevel,
                     (&handle, self->base.handle.mipmapped_array, number));
    if (rc < 0) {
        return NULL;
    }
    return pcu_texture_array_wrap_new(st, self->base.ctx, handle, op);
}

PyDoc_STRVAR(mipmap_free_doc,
             "free($self, /)\n--\n\n"
             "Release the array and its levels now.\n"
             "\nRaises\n------\n" PCU_DOC_RELEASED);

static PyObject *
mipmap_free(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    if (pcu_resource_free((pcu_resource *)op) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(mipmap_get_descriptor_3d_doc,
             "get_descriptor_3d($self, /)\n--\n\n"
             "Return the description of the largest level.\n"
             "\nReturns\n-------\n"
             "ArrayDescriptor3D\n"
             "    A new descriptor.");

static PyObject *
mipmap_get_descriptor_3d(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    mipmapped_array *self = (mipmapped_array *)op;
    pcu_state *st = self->base.st;
    return pcu_array_descriptor_new(st, st->ArrayDescriptor3D, &self->descriptor);
}

static PyMethodDef mipmap_methods[] = {
    {"get_level", mipmap_get_level, METH_O, mipmap_get_level_doc},
    {"get_descriptor_3d", mipmap_get_descriptor_3d, METH_NOARGS,
     mipmap_get_descriptor_3d_doc},
    {"free", mipmap_free, METH_NOARGS, mipmap_free_doc},
    {NULL, NULL, 0, NULL},
};

static PyObject *
mipmap_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromVoidPtr(((pcu_resource *)op)->handle.mipmapped_array);
}

static PyObject *
mipmap_get_levels(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLong(((mipmapped_array *)op)->levels);
}

static PyGetSetDef mipmap_getset[] = {
    {"handle", mipmap_get_handle, NULL, "The CUmipmappedArray as an int.", NULL},
    {"levels", mipmap_get_levels, NULL, "The number of levels.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot mipmap_slots[] = {
    {Py_tp_doc, (void *)mipmap_doc},
    {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, mipmap_init},
    {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear},
    {Py_tp_dealloc, pcu_resource_dealloc},
    {Py_tp_members, pcu_resource_members},
    {Py_tp_getset, mipmap_getset},
    {Py_tp_methods, mipmap_methods},
    {0, NULL},
};

static PyType_Spec mipmap_spec = {
    "pycuda._driver.MipmappedArray", sizeof(mipmapped_array), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, mipmap_slots};

int
pcu_mipmapped_array_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->MipmappedArray, &mipmap_spec, NULL);
}
