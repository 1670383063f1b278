/* The calls of the driver interface: a function, a number and a name for each.
 *
 * Everything here is constant, so any thread may use it without a lock. The files of
 * this folder define the functions; exports/ hands them out. */
#ifndef DEVICE_API_ENTRY_CALL_H
#define DEVICE_API_ENTRY_CALL_H

#include "abi/cuda_abi.h"
#include "abi/client_abi.h"
#include "abi/client_symbols.h"
#include "abi/graph_abi.h"
#include "abi/symbols.h"
#include "tables/driver_exports.h"

/* A function that no file defines is NULL here: it is not built. */
#define EMU_DECLARE(name, version, need, blocking, parameters) \
    __attribute__((weak)) CUresult emu_cu##name parameters;
PCU_DRV_SYMBOLS(EMU_DECLARE)
#undef EMU_DECLARE
#define EMU_DECLARE(name, version, parameters) \
    __attribute__((weak)) CUresult emu_cu##name parameters;
PCU_CLIENT_SYMBOLS(EMU_DECLARE)
#undef EMU_DECLARE

/* The functions that the extension calls, those that only other programs call, and
 * those that are not built. */
#define EMU_NUMBER(name, version, need, blocking, parameters) EMU_CALL_##name,
#define EMU_CLIENT_NUMBER(name, version, parameters) EMU_CALL_##name,
#define EMU_MISSING_NUMBER(name) EMU_MISSING_##name,
typedef enum {
    PCU_DRV_SYMBOLS(EMU_NUMBER) PCU_CLIENT_SYMBOLS(EMU_CLIENT_NUMBER)
        PCU_DRIVER_MISSING_CALLS(EMU_MISSING_NUMBER) EMU_CALLS
} emu_call;
#undef EMU_NUMBER
#undef EMU_CLIENT_NUMBER
#undef EMU_MISSING_NUMBER

/* Traits of a call. The waits were measured on an H200: such a call waits for the
 * device there, or the device keeps what the call releases until its work is done. */
enum {
    EMU_CALL_IS_UNSAFE = 1,         /* a stream capture in global mode refuses it */
    EMU_CALL_STOPS_CAPTURE = 2,     /* it invalidates the captures of its context */
    EMU_CALL_RUNS_DEFERRED = 4,     /* it first runs the deferred work of all streams */
    EMU_CALL_WAITS_RUNNING = 8,     /* it first waits for the work of other threads */
    EMU_CALL_IS_INTERRUPTIBLE = 16, /* it ends when a signal ends these waits */
    EMU_CALL_ENDS_CONTEXT = 32      /* it drops deferred work that is not ready */
};

/* The traits of each call: a sum of the values above. */
extern const unsigned char emu_call_traits[EMU_CALLS];

/* The name of a call, as cuMemAlloc. */
const char *emu_call_name(emu_call call);

/* The name of the newest function that the library exports for a call, as
 * cuMemAlloc_v2: for the log. It takes a search. */
const char *emu_call_export(emu_call call);

/* The call of that name, with or without its cu; EMU_CALLS for NULL, "" and "*", which
 * name any call; -1 if no call has the name. */
int emu_call_find(const char *name);

#endif
