/* Notes about the memory of wrappers: see memory_note.h. */
#include "python/driver/memory_note.h"

#include "python/driver/resource.h"

PyObject *
pcu_memory_noted(PyObject *self, pcu_memory_kind kind, size_t size)
{
    if (self != NULL && pcu_memory_map.recording) {
        pcu_resource *resource = (pcu_resource *)self;
        pcu_memory_record(kind, pcu_handle_address(resource->kind, resource->handle),
                          size, pcu_call_site(resource->st),
                          pcu_context_rec(resource->ctx));
    }
    return self;
}
