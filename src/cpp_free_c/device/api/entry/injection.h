/* Fault injection: tests make a call of the driver fail on request.
 *
 * The functions marked EMU_EXPORT may be called from any thread at any time, before
 * cuInit too; a test reaches them through dlsym or ctypes. The API lock guards the
 * rest. */
#ifndef DEVICE_API_ENTRY_INJECTION_H
#define DEVICE_API_ENTRY_INJECTION_H

#include "device/base/export.h"
#include "device/api/entry/call.h"

/* Fail the nth call of the function `name` from now on (1 is the next call) with
 * `code`, once. The name may lack its cu; NULL and "*" mean any function. Several
 * faults may be set. Return 0, or -1 for an unknown name, for nth 0, for a code that is
 * not positive, and if too many faults are set. */
EMU_EXPORT int emu_fault_set(const char *name, unsigned int nth, int code);
/* Forget all faults that emu_fault_set and the environment asked for. */
EMU_EXPORT void emu_fault_clear(void);
/* How many calls have failed by injection. */
EMU_EXPORT unsigned long long emu_fault_fired(void);

/* -- for the entry points ---------------------------------------------------------- */

/* Read PYCUDA_EMULATOR_FAULT, once; call it without the API lock. */
void emu_injection_open(void);
/* INVALID_VALUE if the variable could not be understood; the message says why. */
CUresult emu_injection_environment(void);
/* Count the call down in all faults. Return the code with which it must fail. */
CUresult emu_injection_check(emu_call call);

#endif
