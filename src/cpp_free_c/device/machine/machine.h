/* The machine that runs lowered programs (device/compile/code.h): warps, blocks, grids.
 *
 * Lanes of a warp that stand at the same instruction of the same activation form a
 * group. One group is current: its mask, frame and so on are in the warp; the others
 * wait in `groups`. The group with the deepest call, then the lowest instruction, runs;
 * groups meet again at labels. A block belongs to one thread at a time.
 *
 * Included by the files that run programs. */
#ifndef DEVICE_MACHINE_MACHINE_H
#define DEVICE_MACHINE_MACHINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/compile/code.h"
#include "device/machine/handlers.h"
#include "device/machine/launch.h"
#include "device/memory/memory.h"

enum { EMU_MAX_WARPS = 32 };
#define EMU_FULL 0xffffffffu

typedef struct emu_block emu_block;
typedef struct emu_grid emu_grid;
typedef struct emu_worker emu_worker;
typedef struct emu_check emu_check;
struct emu_watch;

/* -- warps ------------------------------------------------------------------------- */

typedef struct emu_frame {
    const emu_func *func;
    struct emu_frame *parent; /* the caller's, or the next free one */
    const emu_insn *ret;      /* where the caller goes on */
    uint8_t *regs;
    uint32_t lanes; /* that are in it */
    uint32_t depth;
    uint32_t local_start, local_end; /* its part of each lane's local memory */
    size_t room;                     /* bytes of regs */
} emu_frame;

typedef enum {
    EMU_RUNNABLE,
    EMU_AT_BARRIER, /* waits for `barrier` */
    EMU_AT_SYNC     /* waits for the lanes in `need`; pc is the instruction itself */
} emu_state;

/* Phase 0 deposits what the lanes in `mask` contribute, phase 1 gives them the result
 * of all lanes in `all`. Lanes that name different members are different teams, and
 * phase 1 comes once for each. */
typedef void (*emu_sync_phase)(emu_warp *warp, const emu_insn *insn, uint32_t mask,
                               uint32_t all, int phase);

typedef struct {
    const emu_insn *pc;
    emu_frame *frame;
    uint32_t mask;
    emu_state state;
    uint32_t barrier;
    bool is_counted; /* AT_BARRIER: it goes on when the barrier is complete */
    uint32_t need;
    uint32_t members;     /* the operand of the operation that waits */
    emu_sync_phase phase; /* what it does */
    uint64_t stamp;       /* when it last ran */
} emu_group;

typedef enum { EMU_STOP_DONE, EMU_STOP_WAIT, EMU_STOP_YIELD, EMU_STOP_FAULT } emu_stop;

struct emu_warp {
    uint8_t *base[2];         /* of even and odd operands: frame, constants - 1 */
    uint32_t mask;            /* lanes of the current group */
    int32_t turns;            /* back-edges until other warps get their turn */
    const emu_insn *merge_at; /* lowest instruction of a waiting group of this depth */
    emu_frame *frame;
    uint8_t *local; /* local memory of lane 0 */
    size_t local_stride;
    emu_block *block;
    const emu_allocation *recent; /* of the last access */
    uint32_t alive;               /* lanes that have not exited */
    uint32_t number;              /* in its block */
    uint32_t spins;               /* effort since other groups last got a turn */
    uint32_t stays;               /* turns that a lone warp has kept */
    uint32_t group_count;
    emu_stop stop;
    bool rotate; /* next time let the group run that has waited longest */
    uint64_t stamp;
    const uint32_t (*tid)[EMU_LANES]; /* x, y, z */
    emu_group groups[EMU_LANES];
    uint64_t exchange[2][EMU_LANES]; /* of warp operations */
};

/* -- blocks and grids -------------------------------------------------------------- */

/* A barrier with a count counts whole warps, of 32 threads whatever lanes they have: a
 * warp has come when all of its lanes have that are alive. */
typedef struct {
    uint32_t arrived[EMU_MAX_WARPS]; /* lanes that have come before their warp has */
    uint32_t warps;                  /* a bit for each warp with lanes that wait */
    uint32_t total;                  /* threads that have come */
    uint32_t expected;               /* 0: all threads of the block that are alive */
    uint32_t kind;                   /* of reduction, see sched.c */
    bool is_used;                    /* some lanes have come; expected and kind hold */
} emu_barrier;

struct emu_block {
    emu_grid *grid;
    emu_worker *worker;
    uint32_t ctaid[3];
    uint64_t number;
    uint32_t warp_count;
    uint32_t live; /* threads that have not exited */
    uint8_t *shared;
    size_t shared_size;
    size_t shared_quick;     /* what the shortcuts of ops_mem.inc may reach of it */
    struct emu_watch *watch; /* while it is watched (watch.h), else NULL */
    emu_check *check;        /* NULL: accesses and barriers are not checked (check.h) */
    emu_barrier barriers[EMU_BARRIERS];
    emu_warp warps[EMU_MAX_WARPS];
    uint8_t order[EMU_MAX_WARPS];
    /* memory that the block keeps for the next one */
    uint8_t *regs;
    size_t regs_room;
    uint8_t *local;
    size_t local_room;
    size_t shared_room;
    emu_frame roots[EMU_MAX_WARPS];
};

/* What the workers of a grid know of whether it can go on: workers.c. */
typedef struct {
    pthread_mutex_t lock; /* guards all of it */
    unsigned still;       /* workers that do nothing but watch */
    bool is_open;         /* ... as all of them have done since `since`: an epoch */
    uint64_t epoch;       /* 1, 2, 3, ... */
    uint64_t since;       /* nanoseconds */
    unsigned votes;       /* workers whose blocks have all proven to wait in it */
    bool host;            /* for memory that the host can write to, some of them */
    uint64_t told; /* nanoseconds: since then no other thread can free the grid */
    uint64_t ends; /* of waits of other threads, likewise */
} emu_proof;

/* One launch. */
struct emu_grid {
    CUcontext context;
    const emu_kernel *kernel;
    const emu_launch *launch;
    uint32_t grid[3], block[3];
    uint64_t block_count;
    uint32_t threads; /* a block */
    uint32_t warp_count;
    size_t shared_size;
    unsigned checks;   /* of check.h */
    size_t stack_size; /* local memory of a thread */
    const uint8_t *params;
    size_t params_size;
    uint32_t (*tids)[3][EMU_LANES]; /* of each warp */
    uint64_t sync_space;            /* of cooperative launches, for grid.sync */
    _Atomic uint64_t next_block;
    _Atomic unsigned active;   /* workers at work */
    _Atomic unsigned waiting;  /* those whose blocks wait, before the change to turns */
    _Atomic unsigned resident; /* blocks that are under way, one at least a worker */
    unsigned most;             /* that may be */
    _Atomic bool together;     /* blocks run in turns: workers.h */
    _Atomic bool stuck;        /* the launch is to fail, for it cannot go on */
    emu_proof proof;
    _Atomic int failed; /* a fault has been written to the report */
    emu_report *report;
    uint64_t number;             /* of the launch, for %gridid */
    struct emu_child_work *work; /* enqueued by its threads: child_work.h */
    uint64_t deadline;           /* nanoseconds; 0: none */
};

enum { EMU_FRAME_SIZES = 32 };

/* What a thread needs to run blocks. */
struct emu_worker {
    unsigned number;
    emu_frame *free_frames[EMU_FRAME_SIZES]; /* by log2 of the room */
    size_t frame_bytes;                      /* in use and free */
    emu_block *block;                        /* kept between launches */
    int32_t until_look;                      /* turns of blocks until it looks round */
    int32_t look_gap;        /* turns between two looks, for about a millisecond */
    uint64_t looked;         /* nanoseconds; 0: not yet in this launch */
    bool has_looked;         /* for who runs the blocks */
    struct emu_worker *next; /* idle ones */
};

/* -- operands ---------------------------------------------------------------------- */

#define EMU_SOURCE(type, offset) \
    ((const type *)(const void *)(warp->base[(offset)&1] + (offset)))
#define EMU_TARGET(type, offset) ((type *)(void *)(warp->base[0] + (offset)))

/* -- sched.c: groups, calls, barriers ---------------------------------------------- */

/* Runs a warp until it stops. */
void emu_warp_run(emu_warp *warp);
/* Puts the current group among the waiting ones. */
emu_group *emu_warp_save(emu_warp *warp, const emu_insn *pc, emu_state state);
/* Makes the group current that is to run next; NULL and `stop` when there is none. */
const emu_insn *emu_warp_switch(emu_warp *warp);
/* Takes lanes out of the block; the current group must not hold them any more. */
void emu_lanes_exit(emu_warp *warp, uint32_t lanes);
/* barrier.c: those that waited for lanes which have exited. */
void emu_barriers_exit(emu_warp *warp);

/* For `members`: all 32 lanes, which are one team. */
#define EMU_WHOLE_WARP UINT32_MAX

/* Runs a .sync operation once all lanes have come that its operand `members` names in
 * those that are here; with imm 0 these are all, and one team. */
const emu_insn *emu_warp_sync(emu_warp *warp, const emu_insn *insn, uint32_t members,
                              emu_sync_phase phase);

/* -- block.c ----------------------------------------------------------------------- */

typedef enum { EMU_BLOCK_DONE, EMU_BLOCK_MORE, EMU_BLOCK_FAILED } emu_block_state;

/* Makes a block ready to run as number so-and-so of a grid; false: out of memory. */
bool emu_block_begin(emu_block *block, emu_grid *grid, uint64_t number);
/* Gives every warp of the block one turn. FAILED: the launch has failed. */
emu_block_state emu_block_turn(emu_block *block);
/* Frees the activations of a block that will not go on. */
void emu_block_drop_frames(emu_block *block);
void emu_block_free(emu_block *block);

/* -- workers.c --------------------------------------------------------------------- */

/* Called every few turns: lets the program handle signals and ends the launch where it
 * is to end. */
void emu_worker_look(emu_worker *worker, emu_grid *grid);

/* -- report.c ---------------------------------------------------------------------- */

/* Ends the launch with a code; the text says what happened, the report where. Returns
 * NULL for the caller to return. */
const emu_insn *emu_fault(emu_warp *warp, const emu_insn *insn, CUresult code,
                          unsigned lane, uint64_t address, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Where an instruction comes from; line 0: not known. */
emu_place emu_place_of(const emu_func *func, const emu_insn *insn);
/* " (file:line)" without the folder, or "". */
void emu_place_text(const emu_program *program, emu_place place, char *text,
                    size_t room);
/* "(x, y, z)" of a thread by its number in the block. */
void emu_thread_text(const emu_grid *grid, unsigned thread, char *text, size_t room);

/* -- access.c: from addresses to host memory --------------------------------------- */

/* The host address of each active lane's access, checked; false after a fault. */
bool emu_access(emu_warp *warp, const emu_insn *insn, uint32_t mask, unsigned size,
                bool write, uint64_t out[EMU_LANES]);
/* The address each lane accesses, before it is checked. */
void emu_access_addresses(const emu_warp *warp, const emu_insn *insn,
                          uint64_t out[EMU_LANES]);
/* The host address of bytes of global memory that one allocation holds; NULL when it is
 * not legal. Remembers the allocation. */
uint8_t *emu_access_global(emu_warp *warp, uint64_t address, uint64_t size);
/* The host address of `size` bytes at a generic address, for one lane; NULL when it is
 * not legal. */
uint8_t *emu_access_generic(emu_warp *warp, unsigned lane, uint64_t address,
                            size_t size);

#endif
