/* Lookups in a loaded program. See program_lookup.h. */
#include "device/compile/program_lookup.h"

#include <string.h>

#include "device/ptx/words.h"

/* -- kernels ----------------------------------------------------------------------- */

const emu_kernel *
emu_program_kernel(const emu_program *program, const char *name)
{
    for (size_t i = 0; i < program->kernel_count; i++) {
        if (strcmp(program->kernels[i].info.name, name) == 0) {
            return &program->kernels[i];
        }
    }
    return NULL;
}

size_t
emu_program_kernel_count(const emu_program *program)
{
    return program->kernel_count;
}

const emu_kernel *
emu_program_kernel_at(const emu_program *program, size_t index)
{
    if (index >= program->kernel_count) {
        return NULL;
    }
    return &program->kernels[index];
}

const emu_kernel_info *
emu_kernel_get_info(const emu_kernel *kernel)
{
    return &kernel->info;
}

/* -- variables --------------------------------------------------------------------- */

/* The variable of a name and of a kind: `reference` is PTX_W_texref, PTX_W_surfref or
 * 0. A visible variable is preferred. Returns NULL if there is none. */
static const emu_variable *
lookup_variable(const emu_program *program, const char *name, unsigned reference)
{
    const emu_variable *found = NULL;

    for (size_t i = 0; i < program->variable_count; i++) {
        const emu_variable *variable = &program->variables[i];

        if (strcmp(variable->name, name) == 0 && variable->reference == reference &&
            (found == NULL || variable->is_visible)) {
            found = variable;
        }
    }
    return found;
}

int
emu_program_variable(const emu_program *program, const char *name, uint64_t *address,
                     size_t *size)
{
    const emu_variable *found = lookup_variable(program, name, 0);

    if (found == NULL) {
        return 0;
    }
    *address = found->address;
    *size = found->size;
    return 1;
}

int
emu_program_reference(const emu_program *program, const char *name, int surface,
                      uint64_t *address)
{
    unsigned reference = PTX_W_texref;
    const emu_variable *found;

    if (surface) {
        reference = PTX_W_surfref;
    }
    found = lookup_variable(program, name, reference);
    if (found == NULL) {
        return 0;
    }
    *address = found->address;
    return 1;
}
