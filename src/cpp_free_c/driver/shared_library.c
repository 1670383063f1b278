/* Libraries that are opened at run time: see shared_library.h. */

#include "driver/shared_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* dlsym relies on pointers to functions and to objects being alike. memcpy avoids a
 * cast that C does not define. */
static int
library_fill(void *library, const pcu_library_entry *entries, int count, void *table,
             char *detail, size_t size)
{
    for (int i = 0; i < count; i++) {
        void *function = dlsym(library, entries[i].symbol);
        if (function == NULL && entries[i].required) {
            (void)snprintf(detail, size, "the library has no %s", entries[i].symbol);
            return -1;
        }
        memcpy((char *)table + entries[i].offset, &function, sizeof(function));
    }
    return 0;
}

int
pcu_library_load(const char *path, const pcu_library_entry *entries, int count,
                 void *table, char *detail, size_t size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        if (reason == NULL) {
            reason = path;
        }
        (void)snprintf(detail, size, "%s", reason);
        return -1;
    }
    if (library_fill(library, entries, count, table, detail, size) < 0) {
        (void)dlclose(library); /* no call into it has been made */
        return -1;
    }
    return 0;
}
