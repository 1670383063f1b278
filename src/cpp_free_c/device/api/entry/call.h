/* The calls of the driver interface: a function, a number and a name for each.
 *
 * Everything here is constant, so any thread may use it without a lock. The files of
 * this folder define the functions; exports/ hands them out. */
#ifndef DEVICE_API_ENTRY_CALL_H
#define DEVICE_API_ENTRY_CALL_H

#include "abi/client_abi.h"
#include "abi/cuda_abi.h"
#include "abi/functions.h"
#include "abi/graph_abi.h"

/* The bodies of the functions. Some doors (entry.h) hand a body one thing more, as its
 * first parameter. */
#define EMU_HANDS_CONTEXT (CUcontext, context)
#define EMU_HANDS_CONTEXT_EVEN_FAILED (CUcontext, context)
#define EMU_HANDS_STREAM_CONTEXT(handle) (CUcontext, context)
#define EMU_HANDS_DEFAULT_STREAM (CUstream, stream)
#define EMU_IF_HANDS(what) PCU_JOIN(PCU_IF_OTHER_, PCU_IN_PARENTHESES(what))
#define EMU_PARAMETERS(what, ...) \
    PCU_JOIN(EMU_PARAMETERS_, PCU_IN_PARENTHESES(what))(what, __VA_ARGS__)
#define EMU_PARAMETERS_0(what, ...) PCU_PARAMETERS(__VA_ARGS__)
#define EMU_PARAMETERS_1(what, ...) PCU_PARAMETERS_AFTER(PCU_DECLARE what, __VA_ARGS__)
#define EMU_BODY(name, export, version, thread, caller, door, traits, span, ...) \
    CUresult emu_cu##name(EMU_PARAMETERS(EMU_HANDS_##door, __VA_ARGS__));
PCU_FUNCTIONS(EMU_BODY)
#undef EMU_BODY

#define EMU_NUMBER(name, ...) EMU_CALL_##name,
typedef enum { PCU_FUNCTIONS(EMU_NUMBER) EMU_CALLS } emu_call;
#undef EMU_NUMBER

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
 * cuMemAlloc_v2: for the log. */
const char *emu_call_export(emu_call call);

/* The call of that name, with or without its cu; EMU_CALLS for NULL, "" and "*", which
 * name any call; -1 if no call has the name. */
int emu_call_find(const char *name);

#endif
