/* Modules and their functions.
 *
 * Invariant: a function or a reference is in the list of its module as long as it
 * exists, and the module outlives it. Call the functions with the API lock held. */
#ifndef DEVICE_API_MODULE_MODULE_H
#define DEVICE_API_MODULE_MODULE_H

#include "device/base/device.h"
#include "device/compile/program.h"
#include "device/compile/program_lookup.h"

typedef struct CUfunc_st {
    emu_object object;
    struct CUmod_st *module;
    const emu_kernel *kernel;
    int dynamic_shared; /* MAX_DYNAMIC_SHARED_SIZE_BYTES */
    int carveout;       /* PREFERRED_SHARED_MEMORY_CARVEOUT */
    int non_portable_cluster;
    int cluster_policy;
    CUfunc_cache cache_config;
    struct CUfunc_st *next; /* of the module */
} emu_function;

/* The module destroys its functions and references. Both are made when a program first
 * asks for them. */
typedef struct CUmod_st {
    emu_object object;
    emu_program *program;
    emu_function *functions;
    CUtexref references; /* to textures and surfaces: texture_reference.c */
} emu_module;

/* The live module of a handle, or INVALID_HANDLE. */
CUresult emu_module_find(CUmodule handle, emu_module **module);
/* The live function of a handle, or INVALID_HANDLE. */
CUresult emu_function_find(CUfunction handle, emu_function **function);

#endif
