/* The stack of contexts of each thread. See context_stack.h. */
#include "device/api/entry/context_stack.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct {
    emu_context *context;
    CUcontext handle; /* what the program gave */
    uint64_t id;
} stack_entry;

typedef struct {
    stack_entry *entries;
    size_t count, room;
} context_stack;

static _Thread_local context_stack stack;
static pthread_key_t stack_key; /* frees a thread's stack when the thread ends */
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;

static void
stack_free_entries(void *entries)
{
    free(entries);
}

static void
stack_make_key(void)
{
    /* Without a key, a thread's few bytes stay until the process ends. */
    (void)pthread_key_create(&stack_key, stack_free_entries);
}

static bool
stack_grow(void)
{
    size_t room = stack.room * 2;
    stack_entry *entries;

    if (room == 0) {
        room = 8;
    }
    entries = realloc(stack.entries, room * sizeof(*entries));
    if (entries == NULL) {
        return false;
    }
    stack.entries = entries;
    stack.room = room;
    pthread_once(&stack_once, stack_make_key);
    (void)pthread_setspecific(stack_key, entries); /* see stack_make_key */
    return true;
}

CUresult
emu_context_push(emu_context *context, CUcontext handle)
{
    if (stack.count == stack.room && !stack_grow()) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    stack.entries[stack.count].context = context;
    stack.entries[stack.count].handle = handle;
    stack.entries[stack.count].id = context->id;
    stack.count++;
    return CUDA_SUCCESS;
}

void
emu_context_pop(void)
{
    if (stack.count > 0) {
        stack.count--;
    }
}

emu_context *
emu_context_get(CUcontext handle)
{
    emu_context *context = emu_object_get(handle, EMU_CONTEXT);
    const emu_green_context *green;

    if (context != NULL) {
        return context;
    }
    green = emu_green_context_get(handle);
    if (green == NULL) {
        return NULL;
    }
    return emu_object_get(green->primary, EMU_CONTEXT);
}

emu_context *
emu_context_top(void)
{
    if (stack.count == 0) {
        return NULL;
    }
    return stack.entries[stack.count - 1].context;
}

CUcontext
emu_context_top_handle(void)
{
    if (stack.count == 0) {
        return NULL;
    }
    return stack.entries[stack.count - 1].handle;
}

CUresult
emu_context_current(emu_context **context)
{
    const stack_entry *top;

    *context = NULL;
    if (stack.count == 0) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    top = &stack.entries[stack.count - 1];
    *context = emu_object_get(top->context, EMU_CONTEXT);
    if (*context == NULL || (*context)->id != top->id) {
        *context = NULL;
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    return CUDA_SUCCESS;
}

void
emu_context_fail(emu_context *context, CUresult status)
{
    int sound = 0;

    (void)atomic_compare_exchange_strong(&context->sticky, &sound, (int)status);
}

/* -- contexts that have ended ------------------------------------------------------ */

static _Thread_local CUresult ended_fault;

void
emu_context_note_end(const emu_context *context)
{
    ended_fault = emu_context_status(context);
}

CUresult
emu_ended_fault(void)
{
    CUresult status = ended_fault;

    ended_fault = CUDA_SUCCESS;
    return status;
}
