/* Libraries other than the driver that are opened at run time: a table of functions is
 * filled from one.
 *
 * The library is never closed once its table is filled. No process-wide data: the table
 * is the caller's. Callers: the files driver/..._table.c of the libraries. */
#ifndef DRIVER_SHARED_LIBRARY_H
#define DRIVER_SHARED_LIBRARY_H

#include <stddef.h>

#include "driver/table.h"

/* A function: its exported name, and the place of its pointer in the table. A missing
 * function that is not required is NULL. */
typedef struct {
    const char *symbol;
    int required;
    size_t offset;
} pcu_library_entry;

/* Open the library at a path, or by a name for the loader, and fill the table. Return
 * 0, or -1 with the reason in `detail`: then the contents of the table are undefined.
 */
PCU_HIDDEN int pcu_library_load(const char *path, const pcu_library_entry *entries,
                                int count, void *table, char *detail, size_t size);

#endif
