/* What the calls on libraries and those on their kernels share. Call the functions with
 * the API lock held. */
#ifndef DEVICE_API_MODULE_LIBRARY_H
#define DEVICE_API_MODULE_LIBRARY_H

#include "device/api/module/module.h"

/* The library's module in a context; loaded there if the context has none yet. */
CUresult emu_library_module(emu_library *library, emu_context *context,
                            emu_module **module);

/* A program of the library, to read names and facts from: that of any context, or one
 * of no context. */
CUresult emu_library_program(emu_library *library, const emu_program **program);

/* The record of a kernel, made when a program first asks for it. */
CUresult emu_library_kernel_of(emu_library *library, const emu_kernel *kernel,
                               emu_library_kernel **out);

#endif
