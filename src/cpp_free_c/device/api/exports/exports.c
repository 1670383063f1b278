/* The functions that the library exports: the names of NVIDIA's driver.
 *
 * Each forwards to the function that does its work. A function that is not built
 * returns NOT_SUPPORTED; the call log and emu_last_message() have its name. */
#include "device/api/entry/entry.h"
#include "device/api/entry/error_log.h"
#include "device/api/entry/message.h"
#include "device/api/stream/stream.h"
#include "device/api/exports/exports.h"

CUresult
emu_not_built(emu_call call)
{
    CUresult status = emu_enter_early(call);

    if (status == CUDA_SUCCESS) {
        emu_message_set("The software device does not have %s.", emu_call_name(call));
        emu_error_log_say("The software device does not have %s.", emu_call_name(call));
        status = CUDA_ERROR_NOT_SUPPORTED;
    }
    return emu_leave(status);
}

#define CALL_LEGACY(status, call) status = call
/* The default stream is that of the thread for the time of the call. */
#define CALL_PER_THREAD(status, call)     \
    do {                                  \
        emu_stream_is_per_thread = true;  \
        status = call;                    \
        emu_stream_is_per_thread = false; \
    } while (0)

#define EXPORT(export, base, version, stream, name, parameters, arguments) \
    CUresult export parameters                                             \
    {                                                                      \
        CUresult status;                                                   \
                                                                           \
        if (emu_cu##name == NULL) {                                        \
            return emu_not_built(EMU_CALL_##name);                         \
        }                                                                  \
        CALL_##stream(status, emu_cu##name arguments);                     \
        return status;                                                     \
    }
PCU_DRIVER_EXPORTS(EXPORT)
#undef EXPORT

#define MISSING(export, base, version, stream, name) \
    CUresult export(void)                            \
    {                                                \
        return emu_not_built(EMU_MISSING_##name);    \
    }
PCU_DRIVER_MISSING(MISSING)
#undef MISSING
