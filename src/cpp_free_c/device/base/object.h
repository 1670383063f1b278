/* Objects: the records behind the handles of the driver interface, and their registry.
 *
 * A handle that a program passes is looked up before it is dereferenced. So a handle
 * that was destroyed, or is of another kind, or was never valid, gives an error code
 * and never a crash. Invariant: an object is in the registry, and in the list of its
 * context, from its creation until it is unlisted. Call all functions with the API lock
 * held. */
#ifndef DEVICE_BASE_OBJECT_H
#define DEVICE_BASE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/cuda_abi.h"

typedef enum {
    EMU_CONTEXT,
    EMU_MODULE,
    EMU_FUNCTION,
    EMU_STREAM,
    EMU_EVENT,
    EMU_ARRAY,
    EMU_MIPMAP,
    EMU_TEXTURE,
    EMU_SURFACE,
    EMU_TEXREF,
    EMU_SURFREF,
    EMU_LINK,
    EMU_POOL,
    EMU_PHYSICAL, /* memory without addresses: cuMemCreate */
    EMU_GRAPH,
    EMU_GRAPH_NODE,
    EMU_GRAPH_EXEC,
    EMU_USER_OBJECT,
    EMU_GRAPHICS,
    EMU_LIBRARY,
    EMU_KERNEL, /* of a library */
    EMU_GREEN_CONTEXT,
    EMU_KINDS
} emu_kind;

typedef struct emu_object {
    emu_kind kind;
    uint64_t serial; /* never reused: distinguishes two objects with the same address */
    CUcontext context;                    /* NULL: it belongs to no context */
    struct emu_object *owned;             /* of a context: the first object in it */
    struct emu_object *next, *previous;   /* in its context's list */
    void (*destroy)(struct emu_object *); /* release its resources, then the object */
    int users;                            /* running work that needs it */
    const char *site; /* of the call that made it (site.h); NULL: unknown */
    bool is_part;     /* of another object, which ends it: it is not counted */
} emu_object;

/* The serial of the newest object. */
uint64_t emu_object_last_serial(void);
/* Create a zeroed object of `size` bytes and list it. NULL: out of memory. */
void *emu_object_new(emu_kind kind, size_t size, CUcontext context,
                     void (*destroy)(emu_object *));

/* The live object of that kind behind a handle, or NULL. */
void *emu_object_get(const void *handle, emu_kind kind);
/* The live object of that kind, if its serial number is `serial`, or NULL. */
void *emu_object_get_same(const void *handle, emu_kind kind, uint64_t serial);

/* Remove an object from the registry: its handle is invalid from now on. */
void emu_object_unlist(emu_object *object);

/* Put an object of no context back into the registry. False: out of memory. */
bool emu_object_list(emu_object *object);

/* Free the memory of an object; unlist it first if it is listed. */
void emu_object_free(emu_object *object);

/* Count an object as a part of another one: as a program sees it, it has no release. */
void emu_object_make_part(emu_object *object);

size_t emu_object_count(emu_kind kind);

/* Call `see` for each listed object; it may not list or unlist any. */
void emu_object_each(void (*see)(void *data, emu_object *object), void *data);

#endif
