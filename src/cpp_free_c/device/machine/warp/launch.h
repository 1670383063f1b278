/* A launch, and the report of how it ended: the records that the machine and its
 * callers share. This header has no .c: execution.c runs a launch, report.c writes the
 * report of a fault. */
#ifndef DEVICE_MACHINE_WARP_LAUNCH_H
#define DEVICE_MACHINE_WARP_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/cuda_abi.h"
#include "device/compile/code.h"

typedef struct {
    const emu_kernel *kernel;
    unsigned grid[3];
    unsigned block[3];
    unsigned cluster[3]; /* blocks of a cluster; 0 is 1 */
    size_t dynamic_shared;
    const void *params; /* packed as emu_kernel_info.params says; read during the run */
    size_t params_size;
    struct emu_uses *uses; /* where accesses are noted (uses.h); NULL: nowhere */
    const char *site;      /* of the call that launched it (site.h); NULL: unknown */
    uint64_t last_hold;    /* when it was enqueued (memory.h) */
    bool cooperative;      /* all blocks make progress together; grid.sync works */
    uint64_t inputs;       /* a bit for each parameter whose memory is lost (set_inputs
                              of abi/software_device.h) */
} emu_launch;

typedef struct {
    CUresult code;
    const char *kind; /* the word of emu_report_log (base/checks.h); NULL on success */
    unsigned block[3];
    unsigned thread[3];
    uint64_t address; /* of the access, or 0 */
    unsigned line;    /* source line of the instruction, or 0 */
    /* The lines of PTX of the instruction and of the other access, 0: the source's is
     * known, or none; and the hash of the text. */
    unsigned ptx_lines[2];
    uint64_t ptx_hash;
    char kernel[256]; /* truncated to fit */
    char file[256];   /* source file of the instruction, or "" */
    char text[2560];  /* the whole report, several lines; "" on success */
    /* Of work (api/entry/work.h), set by its caller: it may return EMU_GOES_ON. Then it
     * sets `left`, with which another thread must go on; NULL: it runs from its start.
     */
    bool may_leave;
    void *left;
    uint64_t leaves_at; /* of a graph that may leave: when; 0: not set yet */
} emu_report;

/* A launch that another thread goes on with (execution.h). */
typedef struct emu_flight emu_flight;

#endif
