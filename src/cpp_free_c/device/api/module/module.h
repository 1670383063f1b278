/* Modules and their functions; libraries and their kernels.
 *
 * Invariant: a function or a reference is in the list of its module as long as it
 * exists, and the module outlives it. A library has a module in each context that has
 * used it. Call the functions with the API lock held. */
#ifndef DEVICE_API_MODULE_MODULE_H
#define DEVICE_API_MODULE_MODULE_H

#include <stdbool.h>

#include "device/base/device.h"
#include "device/compile/program.h"
#include "device/api/entry/call.h"
#include "device/machine/warp/occupancy.h"

/* -- options ----------------------------------------------------------------------- */

/* Of cuModuleLoadDataEx and cuLink*: logs, sizes, times. The logs and the slots for
 * results belong to the caller. */

/* The options as the loader takes them, and the slots of the caller's array in which
 * results are stored. */
typedef struct {
    emu_load_options load;
    void **info_size, **error_size, **wall_time; /* NULL: not asked for */
} emu_jit;

/* Read the options. INVALID_VALUE for an unknown option. */
CUresult emu_jit_read(emu_jit *jit, unsigned int count, const CUjit_option *options,
                      void **values);
/* Write a sentence to the error log, which must be empty. */
void emu_jit_complain(emu_jit *jit, const char *sentence);
/* Add a sentence to the error log. */
void emu_jit_complain_too(emu_jit *jit, const char *sentence);
/* Store the sizes of the logs and the time that the work took. */
void emu_jit_finish(const emu_jit *jit, double seconds);

/* The present time in seconds, to measure that. */
double emu_jit_now(void);

/* -- modules ----------------------------------------------------------------------- */

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
    CUtexref references;      /* to textures and surfaces: texture_reference.c */
    struct CUlib_st *library; /* NULL: a module of its own */
    struct CUmod_st *next;    /* of the library */
} emu_module;

/* A kernel of a library: a name, and the settings of the function on each device. */
typedef struct CUkern_st {
    emu_object object; /* of no context */
    struct CUlib_st *library;
    emu_function *settings; /* by device; `kernel` is NULL where nothing was set */
    struct CUkern_st *next; /* of the library */
    char name[];
} emu_library_kernel;

typedef struct CUlib_st {
    emu_object object; /* of no context */
    void *image;       /* a copy, as emu_image_pack makes it */
    size_t size;
    unsigned max_registers;
    emu_module *modules;
    emu_library_kernel *kernels; /* those that a program asked for */
    emu_context *scratch;        /* where `unbound` has its variables */
    emu_program *unbound;        /* loaded while no context was current; or NULL */
} emu_library;

/* The live function of a handle, or INVALID_HANDLE. The handle of a library's kernel
 * gives its function in the current context. */
CUresult emu_function_find(CUfunction handle, emu_function **function);
/* The same; a library's kernel gives its function in this context. */
CUresult emu_function_find_in(emu_context *context, CUfunction handle,
                              emu_function **function);
/* The door of calls on a function: replaces the handle by the function. */
CUresult emu_enter_function(emu_call call, CUfunction *function);

/* Load an image into a context. `pause`: release the API lock while the image is
 * parsed, which may take long. */
CUresult emu_module_load(emu_context *context, const void *data, size_t size,
                         emu_jit *jit, bool pause, emu_module **module);
/* The record of a kernel of a module, made when a program first asks for it. */
CUresult emu_module_function(emu_module *module, const emu_kernel *kernel,
                             emu_function **function);
/* Find a variable by name. */
CUresult emu_module_variable(const emu_module *module, const char *name,
                             uint64_t *address, size_t *size);
/* The function of a library's kernel in a context. */
CUresult emu_kernel_function(emu_library_kernel *kernel, emu_context *context,
                             emu_function **function);

/* An attribute of a function; INVALID_VALUE for one that is unknown. */
CUresult emu_function_get_attribute(const emu_function *function,
                                    CUfunction_attribute attribute, int *value);
CUresult emu_function_set_attribute(emu_function *function,
                                    CUfunction_attribute attribute, int value);
/* The place of a parameter. */
CUresult emu_kernel_param_info(const emu_kernel_info *info, size_t index,
                               size_t *offset, size_t *size);
/* Give a new function what a device sets by default. */
void emu_function_init(emu_function *function, const emu_kernel *kernel,
                       const emu_device *device);

/* -- libraries --------------------------------------------------------------------- */

/* What the calls on libraries and those on their kernels share. */

/* The library's module in a context; loaded there if the context has none yet. */
CUresult emu_library_module(emu_library *library, emu_context *context,
                            emu_module **module);

/* A program of the library, to read names and facts from: that of any context, or one
 * of no context. */
CUresult emu_library_program(emu_library *library, const emu_program **program);

/* The record of a kernel, made when a program first asks for it. */
CUresult emu_library_kernel_of(emu_library *library, const emu_kernel *kernel,
                               emu_library_kernel **out);

/* -- occupancy --------------------------------------------------------------------- */

/* How many blocks of a function fit on a multiprocessor. */

/* emu_occupancy_blocks on the device of the function. */
int emu_occupancy_of(const emu_function *function, int block_size,
                     size_t dynamic_shared);

/* The most blocks that a cluster of the kernel may have. */
unsigned int emu_occupancy_cluster_most(const emu_function *function);

#endif
