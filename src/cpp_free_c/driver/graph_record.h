/* What a graph uses, by address and by handle, and the handles that it keeps from
 * release.
 *
 * A graph stores addresses, not objects. So each graph has a record of the words that
 * its work contains: the start of each allocation, and handles such as those of texture
 * objects. When the program releases a handle that a living graph uses, the graph's
 * record takes the handle, and releases it when the graph and all executable graphs
 * made from it are gone. While a capture is active, its record takes every handle,
 * because a release would wait for the captured stream.
 *
 * Invariant: the registry has all records between pcu_graph_record_register and
 * pcu_graph_record_forget. Records are read and written under the interpreter lock
 * only. Callers: python/driver/resource.c and the pools ask before a release;
 * python/driver/graph_resources.c owns the records. */
#ifndef DRIVER_GRAPH_RECORD_H
#define DRIVER_GRAPH_RECORD_H

#include "driver/release.h"

/* A handle that is to be released later. */
typedef struct {
    pcu_handle_kind kind;
    pcu_handle handle;
    void *ctx; /* the Context, a strong reference of the record's owner */
} pcu_owed_handle;

typedef struct pcu_graph_record {
    struct pcu_graph_record *next; /* in the registry */
    CUcontext context;
    uint64_t *words; /* a hash table of `room` places; 0 is an empty place */
    size_t count;
    size_t room;
    pcu_owed_handle *owed; /* in the order of their releases */
    size_t owed_count;
    size_t owed_room;
    int capturing;        /* a capture of the graph is active */
    unsigned long thread; /* the thread that began it */
} pcu_graph_record;

/* All records, the newest first. NULL if no graph lives: then a release costs one load.
 */
extern PCU_HIDDEN pcu_graph_record *pcu_graph_records;

/* The number of active captures. 0: work that is enqueued notes nothing. */
extern PCU_HIDDEN unsigned int pcu_captures_active;

PCU_HIDDEN void pcu_graph_record_register(pcu_graph_record *rec);
PCU_HIDDEN void pcu_graph_record_forget(pcu_graph_record *rec);

/* Add a word; 0 is ignored. Return 0, or -1 if there is no memory for it. */
PCU_HIDDEN int pcu_graph_record_add(pcu_graph_record *rec, uint64_t word);
PCU_HIDDEN int pcu_graph_record_has(const pcu_graph_record *rec, uint64_t word);

/* The record that keeps this handle from release, or NULL. `thread` is the caller's. */
PCU_HIDDEN pcu_graph_record *pcu_graph_record_user(pcu_handle_kind kind,
                                                   pcu_handle handle, CUcontext context,
                                                   unsigned long thread);

/* Let the record release the handle later. Return 0, or -1 if there is no memory. */
PCU_HIDDEN int pcu_graph_record_take(pcu_graph_record *rec, pcu_handle_kind kind,
                                     pcu_handle handle, void *ctx);

/* Free the memory of a record that owes no handle. */
PCU_HIDDEN void pcu_graph_record_free(pcu_graph_record *rec);

#endif
