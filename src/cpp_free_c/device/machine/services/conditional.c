/* The variables of conditional nodes. See services.h. */
#include "device/machine/services/services.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct conditional {
    uint64_t handle;
    CUcontext context;
    unsigned int value, initial;
    bool assigns; /* the initial value, at each launch */
    bool bound;   /* a node uses it */
    size_t holders;
    size_t launches; /* that run */
    struct conditional *next;
} conditional;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the rest */
static conditional *conditionals;
static uint64_t last_handle;

static conditional *
conditional_find_locked(uint64_t handle)
{
    conditional *found = conditionals;

    while (found != NULL && found->handle != handle) {
        found = found->next;
    }
    return found;
}

static bool
conditionals_append(emu_conditionals *list, uint64_t handle)
{
    uint64_t *handles =
        realloc(list->handles, (list->count + 1) * sizeof(*list->handles));

    if (handles == NULL) {
        return false;
    }
    list->handles = handles;
    handles[list->count++] = handle;
    return true;
}

uint64_t
emu_conditional_new(emu_conditionals *list, CUcontext context, unsigned int value,
                    bool assigns)
{
    conditional *made = calloc(1, sizeof(*made));
    uint64_t handle = 0;

    if (made == NULL) {
        return 0;
    }
    pthread_mutex_lock(&mutex);
    if (conditionals_append(list, last_handle + 1)) {
        handle = ++last_handle;
        *made = (conditional){.handle = handle,
                              .context = context,
                              .initial = value,
                              .assigns = assigns,
                              .holders = 1,
                              .next = conditionals};
        conditionals = made;
    }
    pthread_mutex_unlock(&mutex);
    if (handle == 0) {
        free(made);
    }
    return handle;
}

bool
emu_conditionals_copy(emu_conditionals *to, const emu_conditionals *from)
{
    bool good = true;

    pthread_mutex_lock(&mutex);
    for (size_t i = 0; good && i < from->count; i++) {
        good = conditionals_append(to, from->handles[i]);
        if (good) {
            conditional_find_locked(from->handles[i])->holders++;
        }
    }
    pthread_mutex_unlock(&mutex);
    return good;
}

static void
conditional_release_locked(uint64_t handle)
{
    conditional **link = &conditionals;
    conditional *found;

    while ((*link)->handle != handle) { /* a holder releases it, so it is listed */
        link = &(*link)->next;
    }
    found = *link;
    found->holders--;
    if (found->holders == 0) {
        *link = found->next;
        free(found);
    }
}

void
emu_conditionals_drop(emu_conditionals *list)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < list->count; i++) {
        conditional_release_locked(list->handles[i]);
    }
    pthread_mutex_unlock(&mutex);
    free(list->handles);
    *list = (emu_conditionals){0};
}

void
emu_conditionals_begin(const emu_conditionals *list)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < list->count; i++) {
        conditional *found = conditional_find_locked(list->handles[i]);

        found->launches++;
        if (found->assigns) {
            found->value = found->initial;
        }
    }
    pthread_mutex_unlock(&mutex);
}

void
emu_conditionals_end(const emu_conditionals *list)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < list->count; i++) {
        conditional_find_locked(list->handles[i])->launches--;
    }
    pthread_mutex_unlock(&mutex);
}

CUcontext
emu_conditional_context(uint64_t handle)
{
    const conditional *found;
    CUcontext context = NULL;

    pthread_mutex_lock(&mutex);
    found = conditional_find_locked(handle);
    if (found != NULL) {
        context = found->context;
    }
    pthread_mutex_unlock(&mutex);
    return context;
}

static void
conditional_mark(uint64_t handle, bool bound)
{
    conditional *found;

    pthread_mutex_lock(&mutex);
    found = conditional_find_locked(handle);
    if (found != NULL) {
        found->bound = bound;
    }
    pthread_mutex_unlock(&mutex);
}

void
emu_conditional_bind(uint64_t handle)
{
    conditional_mark(handle, true);
}

void
emu_conditional_unbind(uint64_t handle)
{
    conditional_mark(handle, false);
}

bool
emu_conditional_is_bound(uint64_t handle)
{
    const conditional *found;
    bool bound;

    pthread_mutex_lock(&mutex);
    found = conditional_find_locked(handle);
    bound = found != NULL && found->bound;
    pthread_mutex_unlock(&mutex);
    return bound;
}

unsigned int
emu_conditional_value(uint64_t handle)
{
    const conditional *found;
    unsigned int value = 0;

    pthread_mutex_lock(&mutex);
    found = conditional_find_locked(handle);
    if (found != NULL) {
        value = found->value;
    }
    pthread_mutex_unlock(&mutex);
    return value;
}

bool
emu_conditional_set(uint64_t handle, CUcontext context, unsigned int value)
{
    conditional *found;
    bool good;

    pthread_mutex_lock(&mutex);
    found = conditional_find_locked(handle);
    good = found != NULL && found->context == context && found->launches > 0;
    if (good) {
        found->value = value;
    }
    pthread_mutex_unlock(&mutex);
    return good;
}
