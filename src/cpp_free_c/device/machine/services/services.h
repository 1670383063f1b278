/* Services: functions that the device provides to kernels, and the state that they keep
 * for a context (the text of printf, the size of the heap, the texts of errors). */
#ifndef DEVICE_MACHINE_SERVICES_SERVICES_H
#define DEVICE_MACHINE_SERVICES_SERVICES_H

#include <pthread.h>
#include <stddef.h>

#include "device/machine/warp/machine.h"

/* In the `exec` field of a context. */
typedef struct {
    pthread_mutex_t lock; /* guards all of it */
    char *text;
    size_t size, room;
    size_t heap_used;            /* bytes that malloc in kernels has handed out */
    emu_allocation *error_texts; /* of dynamic_parallelism.c; NULL until needed */
} emu_services;

/* Copy the bytes of a parameter of the current call, at most `room`. */
void emu_service_parameter(const emu_warp *warp, const emu_insn *insn, unsigned index,
                           unsigned lane, void *value, size_t room);
/* A parameter of at most 8 bytes. */
uint64_t emu_service_word(const emu_warp *warp, const emu_insn *insn, unsigned index,
                          unsigned lane);
/* Store the result of the current call for a lane, if the call has one. */
void emu_service_return(emu_warp *warp, const emu_insn *insn, unsigned lane,
                        uint64_t value);
/* Copy a string of device memory. Return its length, at most room - 1, or -1 if an
 * address of it is not legal. */
int emu_service_string(emu_warp *warp, unsigned lane, uint64_t address, char *text,
                       size_t room);

/* Write the text that device printf collected to the standard output of the process.
 * Called at each synchronisation. */
void emu_services_flush(CUcontext context);
/* Flush, free the record and set context->exec to NULL. No kernel of the context may be
 * running. The blocks of the heap belong to the context, which frees them. */
void emu_services_close(CUcontext context);

/* The record of a context, created at its first use. NULL: out of memory. */
emu_services *emu_services_get(CUcontext context);

/* Append text to print. Without memory the text is lost, as on a device whose buffer is
 * full. Call with the lock of the services held. */
void emu_services_append_locked(emu_services *services, const char *text, size_t size);

#endif
