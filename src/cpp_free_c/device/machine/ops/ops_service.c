/* The operation `service`: calls of functions that the device itself provides, by their
 * number in runtime.h. */
#include "device/machine/warp/machine.h"

#include <stdio.h>

#include "device/compile/runtime.h"
#include "device/machine/services/services.h"
#include "device/machine/warp/report.h"

/* The string that parameter `index` points to, or "?". */
static void
service_assert_string(emu_warp *warp, const emu_insn *insn, unsigned index,
                      unsigned lane, char *text, size_t room)
{
    const uint64_t address = emu_service_word(warp, insn, index, lane);

    if (emu_service_string(warp, lane, address, text, room) < 0) {
        (void)snprintf(text, room, "?");
    }
}

static const emu_insn *
service_assert(emu_warp *warp, const emu_insn *insn)
{
    const unsigned lane = (unsigned)__builtin_ctz(warp->mask);
    char message[200], file[160], function[120];

    service_assert_string(warp, insn, 0, lane, message, sizeof message);
    service_assert_string(warp, insn, 1, lane, file, sizeof file);
    service_assert_string(warp, insn, 3, lane, function, sizeof function);
    return emu_fault(
        warp, insn, CUDA_ERROR_ASSERT, lane, 0, "%s:%u: %s: assertion `%s` failed",
        file, (unsigned)emu_service_word(warp, insn, 2, lane), function, message);
}

static const emu_insn *
service_malloc(emu_warp *warp, const emu_insn *insn)
{
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        emu_service_return(warp, insn, lane,
                           emu_heap_allocate(warp->block->grid->context,
                                             emu_service_word(warp, insn, 0, lane)));
    }
    return insn + 1;
}

static const emu_insn *
service_free(emu_warp *warp, const emu_insn *insn)
{
    CUcontext context = warp->block->grid->context;
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint64_t address = emu_service_word(warp, insn, 0, lane);

        if (address && !emu_heap_free(context, address)) {
            return emu_fault(warp, insn, CUDA_ERROR_LAUNCH_FAILED, lane, address,
                             "free of 0x%llx, which malloc did not give or which is "
                             "freed already",
                             (unsigned long long)address);
        }
    }
    return insn + 1;
}

/* Set the variable of a conditional node. Lanes that set different values race, as on a
 * GPU; here the last one wins. */
static const emu_insn *
service_set_conditional(emu_warp *warp, const emu_insn *insn)
{
    CUcontext context = warp->block->grid->context;
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint64_t handle = emu_service_word(warp, insn, 0, lane);
        const uint64_t value = emu_service_word(warp, insn, 1, lane);

        if (!emu_conditional_set(handle, context, (unsigned int)value)) {
            return emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_ADDRESS, lane, handle,
                             "cudaGraphSetConditional with the handle %llu, which no "
                             "graph has that runs in this context",
                             (unsigned long long)handle);
        }
    }
    return insn + 1;
}

/* Call the service that the call site names. */
const emu_insn *
emu_op_service(emu_warp *warp, const emu_insn *insn)
{
    switch (insn->call->service) {
        case EMU_SERVICE_PRINTF:
            return emu_device_printf(warp, insn);
        case EMU_SERVICE_ASSERT:
            return service_assert(warp, insn);
        case EMU_SERVICE_MALLOC:
            return service_malloc(warp, insn);
        case EMU_SERVICE_FREE:
            return service_free(warp, insn);
        case EMU_SERVICE_SET_CONDITIONAL:
            return service_set_conditional(warp, insn);
        default:
            return emu_cdp_call(warp, insn);
    }
}
