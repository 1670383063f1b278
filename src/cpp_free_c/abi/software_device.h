/* What the library of the software device offers to the extension, besides the driver's
 * functions: one structure, which it exports as PCU_SOFTWARE_DEVICE. The driver's own
 * library lacks the name. */
#ifndef ABI_SOFTWARE_DEVICE_H
#define ABI_SOFTWARE_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/cuda_abi.h"

#define PCU_SOFTWARE_DEVICE "emu_software_device"

typedef struct {
    size_t size; /* of this structure; a library of another release may differ */
    /* The report on the last fault: why cuInit failed, or what a kernel did. */
    const char *(*last_message)(void);
    /* Register the callback that handles signals during long calls
     * (device/machine/warp/wait.h), and the one that tells the line of the present call
     * (device/base/site.h). */
    void (*set_host)(int (*host)(int question));
    void (*set_caller)(size_t (*caller)(char *text, size_t room));
    /* Let kernels use the memory behind the allocation that begins at the address, as a
     * GPU does. Without this call, an access behind the size that was asked for is an
     * error. */
    void (*use_rest)(unsigned long long address);
    /* Set the bytes that a pool has lent of the block that begins at the address; 0:
     * all. */
    void (*lend)(unsigned long long address, size_t size);
    /* Such a block has gone back to its pool: only work that was enqueued before uses
     * it, until it is lent again. */
    void (*hold)(unsigned long long address);
    /* Say whether the program asked for the next free. */
    void (*set_asked)(int asked);
    /* Register the function that is called, in any thread, when a kernel did what a GPU
     * may let pass; and take the text of such a warning (device/base/warnings.h). */
    void (*set_warned)(void (*warned)(void *), void *argument);
    size_t (*take_warning)(char *text, size_t room, unsigned long long *hash,
                           unsigned lines[2]);
    /* The same for what is to be told of a launch that still runs. */
    size_t (*take_notice)(char *text, size_t room, unsigned long long *hash,
                          unsigned lines[2]);
    /* Called before and after the last collection of garbage of a program
     * (device/api/context/leak.h). */
    int (*before_collection)(void);
    void (*after_collection)(void);
    /* The fault of the context that this thread has destroyed last, once: the call that
     * destroys it succeeds. */
    CUresult (*ended_fault)(void);
    /* Let a context work again after a fault, and forget the report. */
    void (*recover)(CUcontext handle);
    /* The lines of PTX that the report is about: of the instruction and of the other
     * access, each 0 if the report names the line of the source. Return the hash of the
     * text (device/compile/program.c), 0 if there are several. */
    uint64_t (*last_ptx)(unsigned lines[2]);
    /* Forget the report. */
    void (*clear_message)(void);
    /* Say which parameters of the next launch of this thread point to memory that
     * nothing copies back to the host: bit i for parameter i. */
    void (*set_inputs)(uint64_t parameters);
    /* Write what PYCUDA_EMULATOR_COUNT has counted to a file, and return 0 or an error
     * number of the system; set all counts to zero (device/base/counts.h). */
    int (*write_counts)(const char *path);
    void (*clear_counts)(void);
} pcu_software_device;

#endif
