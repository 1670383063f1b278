/* What the device's runtime keeps for a context: the text of printf, the heap. */
#ifndef DEVICE_MACHINE_SERVICES_H
#define DEVICE_MACHINE_SERVICES_H

#include <pthread.h>
#include <stddef.h>

#include "device/machine/machine.h"

/* Hangs on a context's `exec`. */
typedef struct {
    pthread_mutex_t lock; /* guards all of it */
    char *text;
    size_t size, room;
    size_t heap_used;            /* bytes that malloc in kernels has handed out */
    emu_allocation *error_texts; /* of the device's runtime; NULL until asked for */
} emu_services;

/* The address of memory from the heap of malloc, 0 for none; whether an address was one
 * and is free now. */
uint64_t emu_heap_allocate(CUcontext context, uint64_t size);
bool emu_heap_free(CUcontext context, uint64_t address);

/* The bytes of a parameter of the current call, at most `room`; a result of it. */
void emu_service_parameter(const emu_warp *warp, const emu_insn *insn, unsigned index,
                           unsigned lane, void *value, size_t room);
void emu_service_give(emu_warp *warp, const emu_insn *insn, unsigned lane,
                      uint64_t value);

/* The record of a context, made at its first use; NULL: no memory. */
emu_services *emu_services_get(CUcontext context);

#endif
