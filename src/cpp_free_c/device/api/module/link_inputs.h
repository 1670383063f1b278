/* The inputs of a link: texts that are gathered and then loaded together.
 *
 * cuLink* (link.c) and nvJitLink* (jit_link.c) gather them. Nothing here needs cuInit
 * or the API lock. */
#ifndef DEVICE_API_MODULE_LINK_INPUTS_H
#define DEVICE_API_MODULE_LINK_INPUTS_H

#include "device/api/module/module.h"

/* CUjitInputType */
enum {
    EMU_INPUT_CUBIN = 0,
    EMU_INPUT_PTX = 1,
    EMU_INPUT_FATBINARY = 2,
    EMU_INPUT_OBJECT = 3,
    EMU_INPUT_LIBRARY = 4,
    EMU_INPUT_NVVM = 5
};

typedef struct {
    emu_jit jit;
    emu_source *texts; /* copies, with copies of their names */
    size_t count, room;
    char *problem; /* of a library whose code may not be needed, or NULL */
} emu_link_inputs;

/* Add a copy of the PTX in [data, data + size) that suits the device best. `name` may
 * be NULL; `max_registers` is the limit of this input, or 0. INVALID_VALUE,
 * INVALID_IMAGE, NO_BINARY_FOR_GPU, OUT_OF_MEMORY; the error log says why. */
CUresult emu_link_add_data(emu_link_inputs *inputs, const emu_device *device,
                           CUjitInputType type, const char *data, size_t size,
                           const char *name, unsigned max_registers);
/* The same for a file. FILE_NOT_FOUND if it cannot be opened. */
CUresult emu_link_add_file(emu_link_inputs *inputs, const emu_device *device,
                           CUjitInputType type, const char *path,
                           unsigned max_registers);

/* Load the texts together, so that an undefined symbol is found here and not later. The
 * variables are in the context while it loads; of the context, only its device is read.
 * The codes are those of emu_program_load. */
CUresult emu_link_try(emu_link_inputs *inputs, emu_context *context);

/* Free the texts, not the record. */
void emu_link_inputs_free(emu_link_inputs *inputs);

#endif
