/* What every handle of the driver interface points to: a header, listed in a registry.
 *
 * A handle that a program passes in is looked up before it is touched, so one that was
 * destroyed, or is of another kind, or is plain rubbish, is an error code and never a
 * crash. Invariant: an object is in the registry from its making to its freeing, and in
 * its context's list as long. All functions are called under the API lock. */
#ifndef DEVICE_BASE_OBJECT_H
#define DEVICE_BASE_OBJECT_H

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
    EMU_GRAPH,
    EMU_GRAPH_EXEC,
    EMU_GRAPHICS,
    EMU_KINDS
} emu_kind;

typedef struct emu_object {
    emu_kind kind;
    uint64_t serial;                      /* of all objects ever: tells two apart that
                                           * have had the same address */
    CUcontext context;                    /* NULL for contexts and pools */
    struct emu_object *owned;             /* of a context: the first object in it */
    struct emu_object *next, *previous;   /* in its context's list */
    void (*destroy)(struct emu_object *); /* releases what it holds, then itself */
    int users;                            /* work under way that needs it */
} emu_object;

/* A zeroed object of `size` bytes, listed. NULL: out of memory. */
void *emu_object_new(emu_kind kind, size_t size, CUcontext context,
                     void (*destroy)(emu_object *));

/* The live object of that kind behind a handle, or NULL. */
void *emu_object_get(const void *handle, emu_kind kind);
/* The same, if it is still the object of that serial number. */
void *emu_object_get_same(const void *handle, emu_kind kind, uint64_t serial);

/* Takes an object out of the registry: its handle is dead from now on. */
void emu_object_unlist(emu_object *object);

/* Frees an object's own memory, unlisting it if need be. */
void emu_object_free(emu_object *object);

size_t emu_object_count(emu_kind kind);

#endif
