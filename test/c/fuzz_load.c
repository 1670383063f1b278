/* A target of fuzz_ptx.c: loads a text and asks about the program.
 *
 * A text must load or be refused with a code and a log. Linked with device/ptx,
 * device/compile and the memory of variables; there is no machine, so the handler of
 * all operations is one that must not be called. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/base/device.h"
#include "device/compile/operations.h"
#include "device/compile/program.h"
#include "device/memory/memory.h"
#include "fuzz_target.h"

static emu_device device = {.major = 9};
static emu_context context = {.device = &device};
static emu_handler functions[EMU_OP_COUNT];
static const emu_handler_set handlers = {functions, functions};

static const emu_insn *
never_called(emu_warp *warp, const emu_insn *insn)
{
    (void)warp;
    (void)insn;
    fuzz_fail("loading has run an instruction");
}

void
fuzz_open(void)
{
    if (emu_memory_open() != CUDA_SUCCESS) {
        fuzz_fail("there is no memory");
    }
    emu_memory_set_total(device.ordinal, (uint64_t)256 << 20);
    for (unsigned op = 0; op < EMU_OP_COUNT; op++) {
        functions[op] = never_called;
    }
}

/* Asks all that the driver asks about a program. */
static void
look_at(const emu_program *program)
{
    const size_t count = emu_program_kernel_count(program);
    uint64_t address;
    size_t i, size;

    for (i = 0; i < count; i++) {
        const emu_kernel *kernel = emu_program_kernel_at(program, i);
        const emu_kernel_info *info = emu_kernel_get_info(kernel);

        if (emu_program_kernel(program, info->name) == NULL) {
            fuzz_fail("a kernel is not found under its name");
        }
        if (info->param_count > 0) {
            const emu_param *last = &info->params[info->param_count - 1];

            if (last->offset + last->size > info->params_size) {
                fuzz_fail("a parameter lies outside of the block");
            }
        }
        if (info->max_threads > 1024) {
            fuzz_fail("a kernel allows more threads than a block has");
        }
    }
    if (emu_program_kernel_at(program, count) != NULL) {
        fuzz_fail("there is a kernel past the end");
    }
    (void)emu_program_variable(program, "table", &address, &size);
}

static void
check_log(const char *log, size_t room, size_t size, CUresult status)
{
    if (memchr(log, 0, room) == NULL || size >= room || strlen(log) != size) {
        fuzz_fail("the log does not end where it says");
    }
    if (room > 64 && status != CUDA_SUCCESS && size == 0) {
        fuzz_fail("a text was refused without a word");
    }
}

/* The size of the first of two texts, which a form feed divides; the whole size if
 * there is one text. */
static size_t
size_of_first(const uint8_t *data, size_t size)
{
    const uint8_t *parting = NULL;

    if (size > 0) {
        parting = memchr(data, '\f', size);
    }
    if (parting == NULL) {
        return size;
    }
    return (size_t)(parting - data);
}

/* Loads an input. A form feed divides it into two texts, which are linked. */
bool
fuzz_one(const uint8_t *data, size_t size)
{
    static const size_t rooms[] = {4096, 1, 16, 0};
    const size_t room = rooms[size % 4];
    const size_t first = size_of_first(data, size);
    const emu_source sources[] = {
        {.text = (const char *)data, .size = first, .name = "one"},
        {.text = (const char *)data + first,
         .size = size - first,
         .max_registers = size % 3 * 16,
         .is_library = size % 5 == 0},
    };
    emu_load_options options = {.error_log_room = room};
    emu_program *program = (emu_program *)(uintptr_t)1;
    CUresult status;

    if (room > 0) {
        options.error_log = malloc(room);
    }
    if (size % 7 == 0) {
        options.max_registers = 16;
    }
    status = emu_program_load(&context, sources, first < size ? 2 : 1, &options,
                              &handlers, &program);
    if ((status == CUDA_SUCCESS) != (program != NULL)) {
        fuzz_fail("status and program disagree");
    }
    if (options.error_log != NULL) {
        check_log(options.error_log, room, options.error_log_size, status);
    }
    if (program != NULL) {
        look_at(program);
    }
    emu_program_free(program);
    free(options.error_log);
    return status == CUDA_SUCCESS;
}

void
fuzz_close(void)
{
}
