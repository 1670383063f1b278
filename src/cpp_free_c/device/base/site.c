/* The texts of sites, in a hash table. See site.h. */
#define _GNU_SOURCE
#include "device/base/site.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SITE_ROOM = 512, FIRST_SLOTS = 256 };

static _Atomic emu_caller registered;
static _Atomic bool is_wanted;
static _Thread_local bool is_asked;
static _Thread_local const char *entered; /* the site of this thread's last call */

/* Open addressing with linear probing; guarded by the mutex. */
static struct {
    pthread_mutex_t mutex;
    char **slots;
    size_t room; /* a power of two, or 0 */
    size_t count;
} sites = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void
emu_set_caller(emu_caller caller)
{
    atomic_store(&registered, caller);
}

void
emu_set_asked(int asked)
{
    is_asked = asked != 0;
}

bool
emu_site_is_asked(void)
{
    return is_asked || atomic_load(&registered) == NULL;
}

void
emu_site_want(bool wanted)
{
    atomic_store(&is_wanted, wanted);
}

static uint64_t
site_hash(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    while (*text != 0) {
        hash = (hash ^ (unsigned char)*text++) * UINT64_C(1099511628211);
    }
    return hash ^ hash >> 32;
}

/* The slot of a text, or the empty slot for it. */
static size_t
site_slot(const char *text)
{
    size_t at = (size_t)site_hash(text) & (sites.room - 1);

    while (sites.slots[at] != NULL && strcmp(sites.slots[at], text) != 0) {
        at = (at + 1) & (sites.room - 1);
    }
    return at;
}

/* Make room for one more text. False: out of memory. */
static bool
site_make_room(void)
{
    char **old = sites.slots, **slots;
    const size_t old_room = sites.room;
    size_t room = FIRST_SLOTS;

    if (2 * (sites.count + 1) <= old_room) {
        return true;
    }
    if (old_room > 0) {
        room = 2 * old_room;
    }
    slots = calloc(room, sizeof(*slots));
    if (slots == NULL) {
        return false;
    }
    sites.slots = slots;
    sites.room = room;
    for (size_t i = 0; i < old_room; i++) {
        if (old[i] != NULL) {
            slots[site_slot(old[i])] = old[i];
        }
    }
    free(old);
    return true;
}

static const char *
site_keep_locked(const char *text)
{
    size_t at;

    if (!site_make_room()) {
        return NULL;
    }
    at = site_slot(text);
    if (sites.slots[at] == NULL) {
        sites.slots[at] = strdup(text);
        sites.count += sites.slots[at] != NULL;
    }
    return sites.slots[at];
}

const char *
emu_site_ask(void)
{
    char text[SITE_ROOM];
    emu_caller caller;
    const char *kept;

    if (!atomic_load_explicit(&is_wanted, memory_order_relaxed)) {
        return NULL;
    }
    caller = atomic_load(&registered);
    if (caller == NULL || caller(text, sizeof(text)) == 0) {
        return NULL;
    }
    pthread_mutex_lock(&sites.mutex);
    kept = site_keep_locked(text);
    pthread_mutex_unlock(&sites.mutex);
    return kept;
}

void
emu_site_enter(void)
{
    entered = emu_site_ask();
}

const char *
emu_site_now(void)
{
    return entered;
}
