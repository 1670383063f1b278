/* The references of a module: finding them, and bringing what changed to the device.
 *
 * A VARIABLE is set by a copy of eight bytes in the order of the launch's stream. Who
 * reads it must not see it change, and who comes later must not read it too early:
 *
 *  - Launches before the store, in its stream: the stream keeps the order. In another
 *    stream: the store waits for the context.
 *  - Launches after it, in its stream: the same. In another stream: that one is made to
 *    wait for an event behind the store, until the event is known to have passed.
 *  - The object that was replaced is destroyed once that event has passed, for then
 *    every launch that read it has.
 *
 * While a stream is captured the store becomes part of the graph, and the reference
 * stays due: a later launch outside the graph cannot rely on it.
 *
 * The copy reads the handle in the object itself, which outlives it. */
#include "python/support/base.h"

#include "python/driver/context_stack.h"
#include "python/driver/memory/texture_array.h"
#include "python/driver/module_struct.h"
#include "python/driver/texture/reference.h"

enum {
    REFS_MARK_TEXTURE = 0x66657274, /* as pycuda-textures.hpp writes them */
    REFS_MARK_SURFACE = 0x66657273,
    REFS_RETIRED_MAX = 64,
    REFS_EVENT_FLAGS = 2, /* no timing */
    REFS_CAPTURE_ACTIVE = 1,
    REFS_CAPTURE_RELAXED = 2
};

/* The bytes of a VARIABLE. */
typedef struct {
    unsigned long long object;
    unsigned int mark;
    unsigned int declared;
} refs_variable;

static inline pcu_module *
refs_module(PyObject *module)
{
    return (pcu_module *)module;
}

/* -- finding ----------------------------------------------------------------------- */

static pcu_ref *
refs_find(const pcu_refs *refs, const char *name, int is_surface)
{
    pcu_ref *ref = refs == NULL ? NULL : refs->first;
    while (ref != NULL &&
           (ref->is_surface != is_surface || strcmp(ref->name, name) != 0)) {
        ref = ref->next;
    }
    return ref;
}

/* The address of a variable of this name and of the size of ours. A static one has the
 * name that the C++ ABI gives it. A name of something else, as a reference of the
 * driver's own, is an invalid value to the driver of an H200. */
static CUresult
refs_find_variable(CUmodule module, const char *name, CUdeviceptr *pointer)
{
    char mangled[512];
    size_t size = 0;
    CUresult status;
    PCU_STATUS(status, ModuleGetGlobal, (pointer, &size, module, name));
    if (status == CUDA_ERROR_NOT_FOUND) {
        PyOS_snprintf(mangled, sizeof(mangled), "_ZL%zu%s", strlen(name), name);
        PCU_STATUS(status, ModuleGetGlobal, (pointer, &size, module, mangled));
    }
    return status == CUDA_SUCCESS && size != sizeof(refs_variable)
               ? CUDA_ERROR_NOT_FOUND
               : status;
}

/* Look for a variable of ours: 1 found, 0 not, -1 raised. *status: what the driver said
 * of the name. */
static int
refs_read_variable(pcu_resource *module, const char *name, pcu_ref *ref,
                   CUresult *status)
{
    refs_variable variable = {0};
    CUdeviceptr pointer = 0;
    int rc;
    *status = refs_find_variable(module->handle.module, name, &pointer);
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
    unsigned int mark = ref->is_surface ? REFS_MARK_SURFACE : REFS_MARK_TEXTURE;
    if (variable.mark != mark) {
        return 0;
    }
    ref->kind = PCU_REF_VARIABLE;
    ref->variable = pointer;
    ref->declared = variable.declared;
    return 1;
}

/* Find what the name stands for. */
static int
refs_resolve(pcu_resource *module, const char *name, pcu_ref *ref)
{
    const char *routine = ref->is_surface ? "cuModuleGetSurfRef" : "cuModuleGetTexRef";
    const char *what = ref->is_surface ? "surface" : "texture";
    CUresult first = CUDA_SUCCESS;
    int found = refs_read_variable(module, name, ref, &first);
    if (found != 0) {
        return found < 0 ? -1 : 0;
    }
    ref->kind = PCU_REF_DRIVER;
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
                                "the module has no %s reference '%s'", what, name);
    }
    return status == CUDA_SUCCESS ? 0 : pcu_raise(module->st, routine, status);
}

/* Memory for a reference in its first state. */
static pcu_ref *
refs_new_ref(const char *name, int is_surface)
{
    pcu_ref *ref = PyMem_Calloc(1, sizeof(*ref));
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
    ref->changed = 1;
    for (int i = 0; i < 3; i++) {
        ref->modes[i] = CU_TR_ADDRESS_MODE_CLAMP;
    }
    return ref;
}

pcu_ref *
pcu_ref_new_free(void)
{
    return refs_new_ref("", 0);
}

pcu_ref *
pcu_refs_get(PyObject *module, const char *name, int is_surface)
{
    pcu_module *self = refs_module(module);
    pcu_ref *ref = refs_find(self->refs, name, is_surface);
    if (ref != NULL) {
        return ref;
    }
    ref = refs_new_ref(name, is_surface);
    if (ref == NULL || refs_resolve(&self->base, name, ref) < 0) {
        goto failed;
    }
    pcu_ref *other = refs_find(self->refs, name, is_surface);
    if (other != NULL) { /* another thread was here while the variable was read */
        pcu_ref_free(ref);
        return other;
    }
    if (self->refs == NULL) {
        self->refs = PyMem_Calloc(1, sizeof(*self->refs));
        if (self->refs == NULL) {
            PyErr_NoMemory();
            goto failed;
        }
    }
    if ((ref->declared & 0xff) != 0) {
        ref->format = ref->declared & 0xff;
        ref->channels = (int)(ref->declared >> 8 & 0xff);
    }
    ref->next = self->refs->first;
    self->refs->first = ref;
    return ref;
failed:
    pcu_ref_free(ref);
    return NULL;
}

void
pcu_ref_free(pcu_ref *ref)
{
    if (ref != NULL) {
        Py_CLEAR(ref->object);
        Py_CLEAR(ref->array);
        PyMem_Free(ref->name);
        PyMem_Free(ref);
    }
}

void
pcu_ref_touch(PyObject *module, pcu_ref *ref)
{
    ref->changed = 1;
    if (ref->kind == PCU_REF_VARIABLE && ref->bound != PCU_BOUND_NOT) {
        refs_module(module)->refs->changed = 1;
    }
}

/* -- from state to object ---------------------------------------------------------- */

/* The flags of the texture object. What was declared says how integers are read: the
 * code was compiled for that. A float takes what the program set. */
static unsigned int
refs_flags(const pcu_ref *ref)
{
    unsigned int flags = ref->flags;
    unsigned int declared = ref->declared & 0xff;
    unsigned int mode = ref->declared >> 16 & 0xff;
    if (pcu_array_format_is_integer(declared)) {
        flags &= ~(unsigned int)CU_TRSF_READ_AS_INTEGER;
        flags |= mode == 0 ? CU_TRSF_READ_AS_INTEGER : 0;
    }
    if (!pcu_array_format_is_integer(ref->format)) {
        flags &= ~(unsigned int)CU_TRSF_READ_AS_INTEGER;
    }
    return flags;
}

static int
refs_describe(const pcu_ref *ref, pcu_texture_spec *spec)
{
    CUDA_RESOURCE_DESC *resource = &spec->resource;
    memset(spec, 0, sizeof(*spec));
    spec->name = ref->name;
    spec->format = ref->format;
    spec->channels = (unsigned int)ref->channels;
    memcpy(spec->texture.addressMode, ref->modes, sizeof(ref->modes));
    spec->texture.filterMode = ref->filter;
    spec->texture.flags = refs_flags(ref);
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
    /* read by element number only: a filter would be refused */
    spec->texture.filterMode = CU_TR_FILTER_MODE_POINT;
    spec->texture.flags &= ~(unsigned int)CU_TRSF_NORMALIZED_COORDINATES;
    resource->resType = CU_RESOURCE_TYPE_LINEAR;
    resource->res.linear.devPtr = ref->address;
    resource->res.linear.format = ref->format;
    resource->res.linear.numChannels = spec->channels;
    resource->res.linear.sizeInBytes = ref->bytes;
    return 0;
}

/* Refuse an array that was released, naming the reference. */
static int
refs_check_array(pcu_state *st, const pcu_ref *ref)
{
    if (ref->bound != PCU_BOUND_ARRAY || ((pcu_resource *)ref->array)->live ||
        pcu_texture_array_is_borrowed(ref->array)) {
        return 0;
    }
    return pcu_raise_detail(st, "cuLaunchKernel", CUDA_ERROR_INVALID_HANDLE,
                            "the array that the %s reference '%s' is bound to was "
                            "released",
                            ref->is_surface ? "surface" : "texture", ref->name);
}

/* The array is held: making the object may collect garbage, and that run code which
 * binds another. */
static PyObject *
refs_object_new(pcu_state *st, PyObject *ctx, const pcu_ref *ref)
{
    pcu_texture_spec spec;
    PyObject *object = NULL;
    if (refs_check_array(st, ref) < 0) {
        return NULL;
    }
    PyObject *source = Py_NewRef(ref->bound == PCU_BOUND_ARRAY ? ref->array : Py_None);
    if (ref->is_surface) {
        object = pcu_surface_new(st, ctx, source);
    }
    else if (refs_describe(ref, &spec) == 0) {
        object = pcu_texture_new(st, ctx, &spec, source);
    }
    Py_DECREF(source);
    return object;
}

/* -- the order of streams ---------------------------------------------------------- */

/* 1 if a stream is certainly the one that was noted: a driver may give the handle of a
 * destroyed stream to a new one, so after any was destroyed nothing is certain. */
static inline int
refs_is_stream(const pcu_refs *refs, CUstream noted, CUstream stream)
{
    return noted == stream && refs->epoch == pcu_handle_released(PCU_HANDLE_stream);
}

/* Drop a list of objects that nobody reads any more; steals it. NULL is fine. */
static void
refs_drop(PyObject *retired)
{
    for (Py_ssize_t i = 0; retired != NULL && i < PyList_GET_SIZE(retired); i++) {
        ((pcu_texture *)PyList_GET_ITEM(retired, i))->used = 0;
    }
    Py_XDECREF(retired);
}

/* Wait until all launches and stores have passed. Others may launch meanwhile, so the
 * caller looks again. */
static int
refs_wait_for_context(pcu_state *st, pcu_refs *refs)
{
    unsigned long stores = refs->stores;
    PyObject *retired = refs->retired;
    int rc;
    refs->retired = NULL;
    refs->readers = 0;
    rc = pcu_context_synchronize(st);
    if (rc < 0) {
        refs->readers = 2;
        Py_XDECREF(retired);
        return -1;
    }
    if (refs->stores == stores) {
        refs->unsettled = 0;
    }
    refs_drop(retired);
    return 0;
}

/* Ask whether the last store has passed, which every launch before it has then too.
 * Launches of several streams are only there if a graph was captured. */
static CUresult
refs_poll(pcu_refs *refs)
{
    CUresult status = drv.EventQuery(((pcu_resource *)refs->event)->handle.event);
    if (status == CUDA_SUCCESS) {
        PyObject *retired = refs->readers == 2 ? NULL : refs->retired;
        refs->retired = retired == NULL ? refs->retired : NULL;
        refs->unsettled = 0;
        refs_drop(retired);
    }
    return status;
}

/* Order a stream behind the last store. */
static int
refs_wait(pcu_state *st, pcu_refs *refs, CUstream stream)
{
    CUresult status = refs_poll(refs);
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    if (status != CUDA_ERROR_NOT_READY) {
        return pcu_raise(st, "cuEventQuery", status);
    }
    if (pcu_context_ready(st) < 0) {
        return -1;
    }
    CUevent event = ((pcu_resource *)refs->event)->handle.event;
    /* keeps the lock: no other thread may launch between the order and its use */
    status = drv.StreamWaitEvent(stream, event, 0);
    return status == CUDA_SUCCESS ? 0 : pcu_raise(st, "cuStreamWaitEvent", status);
}

/* -- storing ----------------------------------------------------------------------- */

/* Remember an object that launches may still read; `list` is for the first of them. */
static int
refs_retire(pcu_refs *refs, PyObject *object, PyObject *list)
{
    if (object == NULL) {
        return 0;
    }
    if (refs->retired == NULL) {
        refs->retired = Py_NewRef(list);
    }
    return PyList_Append(refs->retired, object);
}

/* Make the object of a reference show its state. Making it may collect garbage, and
 * that run code which binds the reference anew, a change of its own, or even launches:
 * then the object that was made for that launch is the newer one. */
static int
refs_rebuild(pcu_module *module, pcu_ref *ref)
{
    PyObject *before = Py_XNewRef(ref->object);
    PyObject *list = PyList_New(0);
    ref->changed = 0;
    PyObject *object =
        list == NULL ? NULL : refs_object_new(module->base.st, module->base.ctx, ref);
    int rc = object == NULL ? -1 : 0;
    if (rc == 0 && ref->object == before) {
        rc = refs_retire(module->refs, before, list);
        if (rc == 0) {
            ((pcu_texture *)object)->used = 1;
            Py_XSETREF(ref->object, Py_NewRef(object));
        }
    }
    if (rc < 0) {
        ref->changed = 1;
    }
    ref->stored = 0;
    Py_XDECREF(object);
    Py_XDECREF(list);
    Py_XDECREF(before);
    return rc;
}

static int
refs_store_one(pcu_state *st, pcu_ref *ref, CUstream stream)
{
    const pcu_handle *handle = &((pcu_texture *)ref->object)->base.handle;
    /* keeps the lock: no launch may come between the store and its mark */
    CUresult status = drv.MemcpyHtoDAsync(ref->variable, handle, 8, stream);
    return status == CUDA_SUCCESS
               ? 0
               : pcu_raise_detail(st, "cuMemcpyHtoDAsync", status,
                                  "setting the %s reference '%s'",
                                  ref->is_surface ? "surface" : "texture", ref->name);
}

/* Store what is due. *stored counts the copies that were queued. */
static int
refs_store_all(pcu_module *module, CUstream stream, int capturing, int *stored)
{
    for (pcu_ref *ref = module->refs->first; ref != NULL; ref = ref->next) {
        if (ref->kind != PCU_REF_VARIABLE || ref->bound == PCU_BOUND_NOT ||
            (!ref->changed && ref->stored)) {
            continue;
        }
        if ((ref->changed && refs_rebuild(module, ref) < 0) ||
            refs_store_one(module->base.st, ref, stream) < 0) {
            return -1;
        }
        ref->stored = !capturing;
        *stored += 1;
    }
    return 0;
}

static int
refs_need_event(pcu_state *st, PyObject *ctx, pcu_refs *refs)
{
    pcu_handle handle = {0};
    int rc;
    if (refs->event != NULL) {
        return 0;
    }
    PCU_CALL(rc, st, EventCreate, (&handle.event, REFS_EVENT_FLAGS));
    if (rc < 0) {
        return -1;
    }
    PyObject *event = pcu_resource_new(st, st->Event, ctx, PCU_HANDLE_event, handle);
    if (event == NULL) {
        return -1;
    }
    if (refs->event == NULL) {
        refs->event = event;
    }
    else { /* making it collected garbage, and that launched */
        Py_DECREF(event);
    }
    return 0;
}

/* Put the event behind the stores. If that fails nothing is known to be stored. */
static int
refs_mark(pcu_state *st, pcu_refs *refs, CUstream stream)
{
    CUevent event = ((pcu_resource *)refs->event)->handle.event;
    /* keeps the lock: see refs_store_one */
    CUresult status = drv.EventRecord(event, stream);
    refs->unsettled = 1;
    refs->stores++;
    refs->store_stream = stream;
    refs->readers = 0;
    refs->epoch = pcu_handle_released(PCU_HANDLE_stream);
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    for (pcu_ref *ref = refs->first; ref != NULL; ref = ref->next) {
        ref->stored = 0;
    }
    refs->changed = 1;
    refs->readers = 2;
    return pcu_raise(st, "cuEventRecord", status);
}

static int
refs_is_captured(CUstream stream)
{
    CUstreamCaptureStatus status = 0;
    return stream != NULL && drv.StreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
           status == REFS_CAPTURE_ACTIVE;
}

/* 1 if a store into the stream could overtake a launch or another store. */
static int
refs_must_wait(const pcu_refs *refs, CUstream stream)
{
    return refs->readers == 2 ||
           (refs->readers == 1 && !refs_is_stream(refs, refs->reader, stream)) ||
           (refs->unsettled && !refs_is_stream(refs, refs->store_stream, stream)) ||
           (refs->retired != NULL && PyList_GET_SIZE(refs->retired) > REFS_RETIRED_MAX);
}

static int
refs_store(pcu_module *module, CUstream stream)
{
    pcu_state *st = module->base.st;
    pcu_refs *refs = module->refs;
    int capturing = refs_is_captured(stream);
    int stored = 0;
    if (refs_need_event(st, module->base.ctx, refs) < 0) {
        return -1;
    }
    if (!capturing && refs->unsettled) {
        (void)refs_poll(refs); /* if it cannot tell, the last store is still to pass */
    }
    while (!capturing && refs_must_wait(refs, stream)) {
        if (refs_wait_for_context(st, refs) < 0) {
            return -1;
        }
    }
    refs->changed = capturing;
    if (capturing) {
        refs->readers = 2; /* no event tells when the graph has run */
    }
    /* Making an object puts nothing into a stream, but where a capture is not relaxed
     * the driver refuses it and spoils the capture. */
    CUstreamCaptureMode mode = REFS_CAPTURE_RELAXED;
    int relaxed =
        capturing && drv.ThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS;
    int rc = refs_store_all(module, stream, capturing, &stored);
    if (relaxed) {
        (void)drv.ThreadExchangeStreamCaptureMode(&mode); /* as it was: cannot fail */
    }
    if (rc < 0) {
        refs->changed = 1;
    }
    if (stored != 0 && !capturing) {
        pcu_saved_error pending;
        pcu_error_save(&pending);
        int marked = refs_mark(st, refs, stream);
        if (rc < 0 || marked == 0) {
            if (marked < 0) {
                PyErr_Clear(); /* the first error is the one to report */
            }
            pcu_error_restore(&pending);
        }
        rc = rc < 0 || marked < 0 ? -1 : 0;
    }
    return rc;
}

/* Note a launch into a stream. */
static inline void
refs_note_reader(pcu_refs *refs, CUstream stream)
{
    if (refs->readers == 0) {
        refs->readers = 1;
        refs->reader = stream;
        if (!refs->unsettled) {
            refs->epoch = pcu_handle_released(PCU_HANDLE_stream);
        }
    }
    else if (refs->readers == 1 && !refs_is_stream(refs, refs->reader, stream)) {
        refs->readers = 2;
    }
}

/* A launch without a change, while the last store may still be to come. */
static int
refs_follow(pcu_state *st, pcu_refs *refs, CUstream stream)
{
    int same = refs_is_stream(refs, refs->store_stream, stream);
    if ((same && refs->retired == NULL) || refs_is_captured(stream)) {
        return 0; /* a graph may neither ask nor wait: it runs later anyway */
    }
    if (same) {
        (void)refs_poll(refs); /* only for the sake of what could be dropped */
        return 0;
    }
    return refs_wait(st, refs, stream);
}

int
pcu_refs_launch(PyObject *op, CUstream stream)
{
    pcu_module *module = refs_module(op);
    pcu_refs *refs = module->refs;
    if (refs->changed) {
        pcu_scope scope;
        if (pcu_context_ready(module->base.st) < 0) {
            return -1;
        }
        CUresult status = pcu_scope_enter(&scope, pcu_context_rec(module->base.ctx));
        if (status != CUDA_SUCCESS) {
            return pcu_raise(module->base.st, "cuCtxPushCurrent", status);
        }
        int rc = refs_store(module, stream);
        status = pcu_scope_leave(&scope);
        if (rc == 0 && status != CUDA_SUCCESS) {
            rc = pcu_raise(module->base.st, "cuCtxPopCurrent", status);
        }
        if (rc < 0) {
            return -1;
        }
    }
    else if (refs->unsettled && refs_follow(module->base.st, refs, stream) < 0) {
        return -1;
    }
    refs_note_reader(refs, stream);
    return 0;
}

/* -- for Module's slots ------------------------------------------------------------ */

int
pcu_refs_traverse(pcu_refs *refs, visitproc visit, void *arg)
{
    if (refs == NULL) {
        return 0;
    }
    for (pcu_ref *ref = refs->first; ref != NULL; ref = ref->next) {
        Py_VISIT(ref->array);
        Py_VISIT(ref->object);
    }
    Py_VISIT(refs->event);
    Py_VISIT(refs->retired);
    return 0;
}

void
pcu_refs_free(pcu_refs *refs)
{
    if (refs == NULL) {
        return;
    }
    while (refs->first != NULL) {
        pcu_ref *ref = refs->first;
        refs->first = ref->next;
        pcu_ref_free(ref);
    }
    Py_CLEAR(refs->retired);
    Py_CLEAR(refs->event);
    PyMem_Free(refs);
}
