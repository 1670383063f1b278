/* Modules and their functions, and the options that loading and linking take. */
#ifndef DEVICE_API_MODULE_H
#define DEVICE_API_MODULE_H

#include "device/base/device.h"
#include "device/api/image.h"
#include "device/compile/program.h"

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

typedef struct CUmod_st {
    emu_object object;
    emu_program *program;
    emu_function *functions; /* those that were asked for */
    CUtexref references;     /* the same; surface references are among them */
} emu_module;

/* Destroys the references of a module. See texref.c. */
void emu_references_close(emu_module *module);

/* The options of cuModuleLoadDataEx and cuLink*: which slots of the caller's arrays
 * take results. */
typedef struct {
    emu_load_options load;
    void **info_size, **error_size, **wall_time; /* NULL: not asked for */
} emu_jit;

/* Reads the options. INVALID_VALUE for what is no option. */
CUresult emu_jit_read(emu_jit *jit, unsigned int count, const CUjit_option *options,
                      void **values);
/* Puts a sentence into the error log. */
void emu_jit_complain(emu_jit *jit, const char *sentence);
/* Writes log sizes and the time back. */
void emu_jit_finish(const emu_jit *jit, double seconds);

double emu_seconds(void);

#endif
