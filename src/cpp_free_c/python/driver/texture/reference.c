/* Texture and surface references: finding them in a module, and making the texture
 * object that shows the state of one. See reference.h. */
#include "python/driver/texture/reference.h"

#include "python/support/driver_call.h"
#include "python/driver/memory/texture_array.h"
#include "python/driver/resource.h"

enum { /* the marks that pycuda-textures.hpp writes */
       REFERENCE_MARK_TEXTURE = 0x66657274,
       REFERENCE_MARK_SURFACE = 0x66657273
};

/* The bytes of a VARIABLE. */
typedef struct {
    unsigned long long object;
    unsigned int mark;
    unsigned int declared;
} reference_variable;

/* -- finding ----------------------------------------------------------------------- */

/* Find the address of a variable that has this name and the right size. A static
 * variable has the name that the C++ ABI gives it. For a name of another kind, such as
 * a reference of the driver, the driver of an H200 returns CUDA_ERROR_INVALID_VALUE. */
static CUresult
reference_find_variable(CUmodule module, const char *name, CUdeviceptr *pointer)
{
    char mangled[512];
    size_t size = 0;
    CUresult status;
    PCU_STATUS(status, ModuleGetGlobal, (pointer, &size, module, name));
    if (status == CUDA_ERROR_NOT_FOUND) {
        PyOS_snprintf(mangled, sizeof(mangled), "_ZL%zu%s", strlen(name), name);
        PCU_STATUS(status, ModuleGetGlobal, (pointer, &size, module, mangled));
    }
    if (status == CUDA_SUCCESS && size != sizeof(reference_variable)) {
        return CUDA_ERROR_NOT_FOUND;
    }
    return status;
}

/* Find a variable that pycuda-textures.hpp declared. Return 1, or 0 if there is none.
 * *status is the driver's answer for the name. */
static int
reference_read_variable(pcu_resource *module, const char *name, pcu_reference *ref,
                        CUresult *status)
{
    reference_variable variable = {0};
    CUdeviceptr pointer = 0;
    int rc;
    *status = reference_find_variable(module->handle.module, name, &pointer);
    if (*status == CUDA_ERROR_NOT_FOUND || *status == CUDA_ERROR_INVALID_VALUE) {
        return 0;
    }
    if (*status != CUDA_SUCCESS) {
        return pcu_raise(module->st, "cuModuleGetGlobal", *status);
    }
    PCU_CALL(rc, module->st, MemcpyDtoH, (&variable, pointer, sizeof(variable)));
    if (rc < 0) {
        return -1;
    }
    unsigned int mark = REFERENCE_MARK_TEXTURE;
    if (ref->is_surface) {
        mark = REFERENCE_MARK_SURFACE;
    }
    if (variable.mark != mark) {
        return 0;
    }
    ref->kind = PCU_REFERENCE_VARIABLE;
    ref->variable = pointer;
    ref->declared = variable.declared;
    return 1;
}

int
pcu_reference_resolve(pcu_resource *module, pcu_reference *ref)
{
    const char *name = ref->name;
    const char *routine = "cuModuleGetTexRef";
    if (ref->is_surface) {
        routine = "cuModuleGetSurfRef";
    }

    CUresult first = CUDA_SUCCESS;
    int found = reference_read_variable(module, name, ref, &first);
    if (found != 0) {
        if (found < 0) {
            return -1;
        }
        return 0;
    }
    ref->kind = PCU_REFERENCE_DRIVER;
    CUresult status;
    if (ref->is_surface) {
        PCU_STATUS(status, ModuleGetSurfRef,
                   (&ref->surfref, module->handle.module, name));
    }
    else {
        PCU_STATUS(status, ModuleGetTexRef,
                   (&ref->texref, module->handle.module, name));
    }
    if (first == CUDA_ERROR_INVALID_VALUE &&
        (status == CUDA_ERROR_NOT_FOUND || status == CUDA_ERROR_INVALID_VALUE)) {
        routine = "cuModuleGetGlobal";
        status = first;
    }
    if (status == CUDA_ERROR_NOT_FOUND || status == CUDA_ERROR_INVALID_VALUE) {
        return pcu_raise_detail(module->st, routine, status,
                                "the module has no %s reference '%s'",
                                pcu_reference_noun(ref), name);
    }
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    return pcu_raise(module->st, routine, status);
}

/* -- making and freeing ------------------------------------------------------------ */

pcu_reference *
pcu_reference_new(const char *name, bool is_surface)
{
    pcu_reference *ref = PyMem_Calloc(1, sizeof(*ref));
    size_t size = strlen(name) + 1;
    if (ref == NULL || (ref->name = PyMem_Malloc(size)) == NULL) {
        PyMem_Free(ref);
        PyErr_NoMemory();
        return NULL;
    }
    memcpy(ref->name, name, size);
    ref->is_surface = is_surface;
    ref->format = CU_AD_FORMAT_FLOAT;
    ref->channels = 1;
    ref->changed = true;
    for (int i = 0; i < 3; i++) {
        ref->modes[i] = CU_TR_ADDRESS_MODE_CLAMP;
    }
    return ref;
}

void
pcu_reference_free(pcu_reference *ref)
{
    if (ref != NULL) {
        Py_CLEAR(ref->object);
        Py_CLEAR(ref->array);
        PyMem_Free(ref->name);
        PyMem_Free(ref);
    }
}

/* -- from state to object ---------------------------------------------------------- */

/* The flags of the texture object. For integers the declaration decides how they are
 * read, because the code was compiled for it. For floats the flags of the program
 * apply. */
static unsigned int
reference_flags(const pcu_reference *ref)
{
    unsigned int flags = ref->flags;
    unsigned int declared = ref->declared & 0xff;
    unsigned int mode = ref->declared >> 16 & 0xff;
    if (pcu_array_format_is_integer(declared)) {
        flags &= ~(unsigned int)CU_TRSF_READ_AS_INTEGER;
        if (mode == 0) {
            flags |= CU_TRSF_READ_AS_INTEGER;
        }
    }
    if (!pcu_array_format_is_integer(ref->format)) {
        flags &= ~(unsigned int)CU_TRSF_READ_AS_INTEGER;
    }
    return flags;
}

static int
reference_describe(const pcu_reference *ref, pcu_texture_spec *spec)
{
    CUDA_RESOURCE_DESC *resource = &spec->resource;
    memset(spec, 0, sizeof(*spec));
    spec->name = ref->name;
    spec->format = ref->format;
    spec->channels = (unsigned int)ref->channels;
    memcpy(spec->texture.addressMode, ref->modes, sizeof(ref->modes));
    spec->texture.filterMode = ref->filter;
    spec->texture.flags = reference_flags(ref);
    switch (ref->bound) {
        case PCU_BOUND_ARRAY:
            resource->resType = CU_RESOURCE_TYPE_ARRAY;
            return pcu_texture_array_handle(ref->array, "cuTexObjectCreate",
                                            &resource->res.array.hArray);
        case PCU_BOUND_PITCHED:
            resource->resType = CU_RESOURCE_TYPE_PITCH2D;
            resource->res.pitch2D.devPtr = ref->address;
            resource->res.pitch2D.format = ref->format;
            resource->res.pitch2D.numChannels = spec->channels;
            resource->res.pitch2D.width = ref->width;
            resource->res.pitch2D.height = ref->height;
            resource->res.pitch2D.pitchInBytes = ref->pitch;
            return 0;
        case PCU_BOUND_LINEAR:
        case PCU_BOUND_NOT:
            break;
    }
    /* linear memory is read by index only: the driver refuses a filter */
    spec->texture.filterMode = CU_TR_FILTER_MODE_POINT;
    spec->texture.flags &= ~(unsigned int)CU_TRSF_NORMALIZED_COORDINATES;
    resource->resType = CU_RESOURCE_TYPE_LINEAR;
    resource->res.linear.devPtr = ref->address;
    resource->res.linear.format = ref->format;
    resource->res.linear.numChannels = spec->channels;
    resource->res.linear.sizeInBytes = ref->bytes;
    return 0;
}

/* Raise if the bound array was released. */
static int
reference_check_array(pcu_state *st, const pcu_reference *ref)
{
    if (ref->bound != PCU_BOUND_ARRAY || ((pcu_resource *)ref->array)->live ||
        pcu_texture_array_is_borrowed(ref->array)) {
        return 0;
    }
    return pcu_raise_detail(st, "cuLaunchKernel", CUDA_ERROR_INVALID_HANDLE,
                            "the array that the %s reference '%s' is bound to was "
                            "released",
                            pcu_reference_noun(ref), ref->name);
}

/* Hold the array: making the object may collect garbage, and garbage collection may run
 * code that binds another array. */
PyObject *
pcu_reference_object_new(pcu_state *st, PyObject *ctx, const pcu_reference *ref)
{
    pcu_texture_spec spec;
    PyObject *object = NULL;
    if (reference_check_array(st, ref) < 0) {
        return NULL;
    }
    PyObject *source = Py_None;
    if (ref->bound == PCU_BOUND_ARRAY) {
        source = ref->array;
    }
    Py_INCREF(source);
    if (ref->is_surface) {
        object = pcu_surface_new(st, ctx, source);
    }
    else if (reference_describe(ref, &spec) == 0) {
        object = pcu_texture_new(st, ctx, &spec, source);
    }
    Py_DECREF(source);
    return object;
}
