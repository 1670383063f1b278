/* User objects: data of a program that graphs keep alive.
 *
 * A user object has a destructor of the program, and counts references: those that the
 * program owns, those of graphs and those of executable graphs. The destructor runs
 * when the last one goes, in the thread of that call, after the API lock has been
 * released and before the call returns. On a GPU a thread of the driver runs it. Call
 * the functions with the API lock held. */
#ifndef DEVICE_API_ENTRY_USER_OBJECT_H
#define DEVICE_API_ENTRY_USER_OBJECT_H

#include <stdbool.h>

#include "abi/graph_abi.h"
#include "device/base/object.h"

typedef struct CUuserObject_st {
    emu_object object; /* of no context */
    void *data;
    CUhostFn destroy;
    uint64_t count;               /* references */
    struct CUuserObject_st *next; /* of those to be destroyed */
} emu_user_object;

/* References that a graph or an executable graph owns. */
typedef struct {
    struct emu_user_reference {
        emu_user_object *object;
        uint64_t count;
    } * items;
    size_t count;
} emu_user_references;

/* A new object; NULL: out of memory. */
emu_user_object *emu_user_object_new(void *data, CUhostFn destroy, uint64_t count);
/* The live object of a handle, or NULL. */
emu_user_object *emu_user_object_get(CUuserObject handle);
/* Give references back. More than there are count as all of them. */
void emu_user_object_release(emu_user_object *object, uint64_t count);

/* Add references to a list. False: out of memory. The object counts them only if
 * `create`; otherwise the caller gives away its own. */
bool emu_user_references_add(emu_user_references *list, emu_user_object *object,
                             uint64_t count, bool create);
/* Take references out of a list and release them. False: the list has fewer. */
bool emu_user_references_remove(emu_user_references *list, emu_user_object *object,
                                uint64_t count);
/* Add new references to all objects of another list. False: out of memory. */
bool emu_user_references_copy(emu_user_references *to, const emu_user_references *from);
/* Release all references of a list and empty it. */
void emu_user_references_drop(emu_user_references *list);

/* -- destructors ------------------------------------------------------------------- */

/* Take the objects to be destroyed, as a list; NULL: none. */
emu_user_object *emu_user_objects_take(void);
/* Run the destructors of the list and free it. Call it without the API lock. */
void emu_user_objects_destroy(emu_user_object *first);

#endif
