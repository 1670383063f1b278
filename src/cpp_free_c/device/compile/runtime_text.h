/* Functions of NVIDIA's device runtime library that the software device has as PTX.
 *
 * A program that declares one of them and does not define it gets this text as one more
 * library. The functions that need the machine itself are services (service_names.h).
 */
#ifndef DEVICE_COMPILE_RUNTIME_TEXT_H
#define DEVICE_COMPILE_RUNTIME_TEXT_H

#include <stdbool.h>

#include "device/ptx/ir.h"

/* Whether one of the modules declares a function that the text may have. */
bool emu_runtime_text_is_wanted(const ptx_module *modules);

const char *emu_runtime_text(void);

#endif
