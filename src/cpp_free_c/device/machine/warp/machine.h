/* The machine that runs lowered programs (device/compile/code.h): warps, blocks, grids.
 *
 * Lanes of a warp that are at the same instruction of the same activation form a group.
 * One group is current: its mask, frame and so on are in the warp. The other groups
 * wait in `groups`. The group with the deepest call runs first, among these the group
 * with the lowest instruction; groups merge again at labels. A block belongs to one
 * thread at a time.
 *
 * Included by the files that run programs. */
#ifndef DEVICE_MACHINE_WARP_MACHINE_H
#define DEVICE_MACHINE_WARP_MACHINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/compile/code.h"
#include "device/machine/warp/handlers.h"
#include "device/machine/warp/launch.h"
#include "device/memory/memory.h"

/* A block gets shared memory in units of so many bytes. An access may touch the bytes
 * behind its memory that fill the last one. */
enum { EMU_SHARED_UNIT = 128, EMU_SHARED_SPARE = EMU_SHARED_UNIT };

enum { EMU_MAX_WARPS = 32, EMU_MAX_CLUSTER = 16, EMU_RECENTS = 8 };

typedef struct emu_block emu_block;
typedef struct emu_grid emu_grid;
typedef struct emu_worker emu_worker;
typedef struct emu_race emu_race;
typedef struct emu_race_grid emu_race_grid;
typedef struct emu_init emu_init;
typedef struct emu_cluster emu_cluster;
struct emu_watch;
struct emu_shared_plan;

/* -- warps ------------------------------------------------------------------------- */

typedef struct emu_frame {
    const emu_func *func;
    struct emu_frame *parent; /* the frame of the caller, or the next free frame */
    const emu_insn *ret;      /* the next instruction of the caller */
    uint8_t *regs;
    uint32_t lanes; /* lanes that are in it or in a call made from it */
    uint32_t depth;
    uint32_t local_start, local_end; /* the part of local memory that it uses */
    size_t room;                     /* bytes of regs */
} emu_frame;

typedef enum {
    EMU_RUNNABLE,
    EMU_GROUP_AT_BARRIER, /* waits for `barrier` */
    EMU_GROUP_AT_SYNC /* waits for the lanes in `need`; pc is the instruction itself */
} emu_state;

/* One phase of a .sync operation. Phase 0 stores the contribution of the lanes in
 * `mask`; phase 1 gives them the result of all lanes in `all`. Lanes that name
 * different members are different teams, and phase 1 is called once for each team. */
typedef void (*emu_sync_phase)(emu_warp *warp, const emu_insn *insn, uint32_t mask,
                               uint32_t all, int phase);

typedef struct {
    const emu_insn *pc;
    emu_frame *frame;
    uint32_t mask;
    emu_state state;
    union {
        uint32_t barrier;
        uint32_t passed; /* AT_SYNC: lanes of `need` that are past it (warp.h) */
    };
    bool is_counted; /* AT_BARRIER: the barrier has counted its lanes */
    uint32_t need;
    uint32_t members;          /* AT_SYNC: the operand of the operation */
    emu_sync_phase phase;      /* AT_SYNC: the operation */
    uint64_t stamp;            /* when it last ran */
    const emu_insn *passed_at; /* AT_SYNC: where those lanes are */
} emu_group;

typedef enum {
    EMU_STOP_DONE,
    EMU_STOP_WAIT,
    EMU_STOP_YIELD,
    EMU_STOP_SEPARATE, /* it has left the warps in lockstep, to continue by itself */
    EMU_STOP_FAULT
} emu_stop;

/* How the addresses of an instruction advance. */
typedef struct {
    uint64_t first; /* address of its last access */
    uint64_t step;  /* from the access before */
} emu_pace;

struct emu_warp {
    uint8_t *base[EMU_TAGS];  /* of operands, by EMU_TAG_ number, minus this number */
    uint32_t mask;            /* lanes of the current group */
    int32_t turns;            /* back-edges until the warp yields to other warps */
    const emu_insn *merge_at; /* the lowest waiting group of this depth */
    /* The label at which it waits for the warps that it has left, once all of its lanes
     * are there; NULL: it does not */
    const emu_insn *meet_at;
    emu_frame *frame;
    /* Of the first warp in lockstep: the number of these warps, and the bytes from the
     * operands of one to those of the next one, by EMU_TAG_ number. */
    uint32_t abreast;
    size_t steps[EMU_TAGS];
    uint8_t *local; /* local memory of lane 0 */
    size_t local_stride;
    emu_block *block;
    const emu_allocation *recent; /* the allocation of the last access */
    bool is_noted;                /* accesses to it are (uses.h) */
    const emu_allocation
        *recents[EMU_RECENTS];   /* and of some instructions; not noted */
    emu_pace paces[EMU_RECENTS]; /* the same, of warps in lockstep */
    uint32_t alive;              /* lanes that have not exited */
    uint32_t number;             /* its number in the block */
    uint32_t spins;              /* effort since the groups last rotated (warp.h) */
    uint32_t stays;              /* yields that the only warp of a block skipped */
    uint32_t group_count;
    uint32_t unset;  /* registers without a value in some lanes (init_check.h) */
    uint32_t astray; /* lanes that have branched by an unset value */
    uint32_t astray_origin;
    uint32_t cluster_arrived; /* lanes that wait in this phase of barrier.cluster */
    emu_stop stop;
    bool rotate; /* the next group to run is the one that has waited longest */
    uint64_t stamp;
    const uint32_t (*tid)[EMU_LANES]; /* x, y, z */
    emu_group groups[EMU_LANES];
    uint64_t exchange[2][EMU_LANES]; /* of warp operations */
};

enum { EMU_CACHE_LINE = 64 };

/* -- blocks and grids -------------------------------------------------------------- */

/* A barrier with a count counts whole warps as 32 threads each, whatever lanes they
 * have: a warp has arrived when all of its live lanes have. */
typedef struct {
    uint32_t
        arrived[EMU_MAX_WARPS]; /* lanes that arrived before the rest of their warp */
    uint32_t warps;             /* a bit for each warp with lanes that wait */
    uint32_t total;             /* threads that have arrived */
    uint32_t expected;          /* 0: all threads of the block that are alive */
    uint32_t kind;              /* kind of reduction, see barrier.c */
    bool is_used;               /* some lanes have arrived; expected and kind are set */
} emu_barrier;

struct emu_block {
    emu_grid *grid;
    emu_worker *worker;
    uint32_t ctaid[3];
    uint64_t number;
    emu_cluster *cluster; /* NULL: the block is a cluster of its own (warp.h) */
    uint32_t cluster_rank;
    uint32_t warp_count;
    uint32_t full_warps; /* those with 32 threads, which come first */
    uint32_t abreast;    /* how many of them run in lockstep at most (warp.h) */
    uint32_t live;       /* threads that have not exited */
    bool is_fresh;       /* its warps, all in lockstep, are set when they first run */
    uint8_t *shared;
    size_t shared_size;
    unsigned checks;               /* EMU_CHECK_ flags of checks.h */
    bool is_trial;                 /* what they find is a warning (report.h) */
    int32_t trial_left;            /* instructions of warps until they end */
    struct emu_watch *watch;       /* while the block is watched (warp.h), else NULL */
    emu_race *race;                /* NULL: no check of races (race_check.h) */
    emu_init *init;                /* NULL: no check of values (init_check.h) */
    struct emu_shared_plan *plans; /* NULL, or EMU_PLANS of them (access_parts.h) */
    bool has_bounds;               /* accesses are checked by them (bound_check.h) */
    bool has_inputs;               /* stores are compared with grid->inputs */
    bool is_apart;                 /* no lockstep: warps have unset values */
    bool has_barriers;             /* some have been used, and must be cleared */
    emu_barrier barriers[EMU_BARRIERS];
    emu_warp warps[EMU_MAX_WARPS];
    uint8_t order[EMU_MAX_WARPS];
    bool is_shuffled; /* the order is not the plain one */
    /* buffers that the next block reuses */
    uint8_t *regs;
    size_t regs_room;
    uint8_t *local;
    size_t local_room;
    uint8_t *once; /* the values of EMU_TAG_UNIFORM, then those of EMU_TAG_WARP */
    size_t once_room;
    uint64_t once_launch; /* the launch for which they and the warps are prepared */
    size_t shared_room;
    emu_frame roots[EMU_MAX_WARPS];
    /* emu_warp_run, or the function of checked.c or of watch.c */
    void (*run_warp)(emu_warp *warp);
    /* emu_lockstep_run_warps, or the function of checked.c */
    void (*run_lockstep)(emu_warp *warp, const emu_insn *insn);
    uint32_t *bounded; /* of the launch (bound_check.h), or NULL */
    uint64_t bounded_launch;
};

/* The proof that a grid cannot make progress: warp.h. */
typedef struct {
    pthread_mutex_t lock; /* guards all of it */
    unsigned still;       /* workers that only watch their blocks */
    bool is_open;         /* all workers have only watched since `since`: an epoch */
    uint64_t epoch;       /* 1, 2, 3, ... */
    uint64_t since;       /* nanoseconds */
    unsigned votes;       /* workers that proved in this epoch that their blocks wait */
    bool host;            /* some blocks wait for memory that the host can write to */
    uint64_t last_free; /* nanoseconds: the last time at which something could free the
                           grid */
    uint64_t ends; /* number of waits of other threads that had ended at that time */
} emu_proof;

/* Memory that nothing copies back to the host: what a kernel writes there is lost. */
typedef struct {
    uint64_t start, size;
    unsigned parameter;
} emu_input;

enum { EMU_MOST_INPUTS = 16 };

/* One launch. */
struct emu_grid {
    CUcontext context;
    const emu_kernel *kernel;
    const emu_launch *launch;
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* blocks of a cluster; at least 1 */
    uint32_t cluster_size;
    uint64_t block_count;
    uint64_t cluster_count;
    uint32_t threads; /* threads of a block */
    bool is_linear;   /* the lanes of all warps have consecutive tid.x */
    uint32_t warp_count;
    size_t shared_size;
    unsigned checks;     /* EMU_CHECK_ flags of checks.h */
    bool has_trial;      /* its first block has all of them, as a trial */
    bool gives_way;      /* warps give way (warp.h) */
    emu_race_grid *race; /* NULL: no check of races */
    size_t stack_size;   /* local memory of a thread */
    size_t local_end;    /* of the part that it may access from EMU_LOCAL_START on */
    const uint8_t *params;
    size_t params_size;
    uint32_t (*tids)[3][EMU_LANES]; /* of each warp */
    uint64_t sync_space;   /* of a cooperative launch: the counter of grid.sync */
    unsigned worker_count; /* at most; set before the workers begin */
    /* Every worker writes it; the other fields stay in the caches of all. */
    uint8_t apart[EMU_CACHE_LINE];
    _Atomic uint64_t next_cluster;
    uint8_t apart_too[EMU_CACHE_LINE];
    _Atomic unsigned active; /* workers that run blocks */
    _Atomic unsigned
        waiting; /* workers whose blocks all wait; used before `takes_turns` */
    _Atomic unsigned resident; /* clusters that have begun and not ended; at least one
                                  for each worker */
    unsigned max_resident;     /* the most clusters that may be resident */
    _Atomic bool takes_turns;  /* all resident blocks take turns: execution.h */
    _Atomic bool stuck;        /* the launch must fail: it cannot make progress */
    emu_proof proof;
    _Atomic bool swapping; /* an atomic operation of 128 bits is in progress */
    _Atomic int failed;    /* a fault has been written to the report */
    emu_report *report;
    uint64_t number;             /* of the launch, for %gridid */
    struct emu_child_work *work; /* enqueued by its threads: services.h */
    uint64_t deadline;           /* nanoseconds; 0: none */
    uint64_t notice;        /* when to tell that it still runs (report.h); 0: never */
    bool may_leave;         /* its first worker may leave its thread (execution.h) */
    uint64_t leaves_at;     /* when, in nanoseconds; 0: not set yet */
    bool is_helped;         /* the worker threads run blocks of it */
    struct emu_crew *first; /* the blocks of the first worker while no thread runs it */
    unsigned input_count;
    emu_input inputs[EMU_MOST_INPUTS]; /* to be compared with stores */
};

enum { EMU_FRAME_SIZES = 32 };

/* What a thread needs to run blocks. */
struct emu_worker {
    unsigned number;
    emu_frame *free_frames[EMU_FRAME_SIZES]; /* by log2 of the room */
    size_t frame_bytes;                      /* in use and free */
    emu_block *block;                        /* kept between launches */
    struct emu_use_log *uses;                /* of the check sync; NULL: never wanted */
    int32_t until_look;      /* turns of blocks until the next look (report.h) */
    int32_t look_gap;        /* turns between two looks: about a millisecond */
    uint64_t looked;         /* nanoseconds; 0: no look yet in this launch */
    bool has_looked;         /* set by a look, cleared by the loop that runs blocks */
    bool leaves;             /* set by a look: its thread stops running blocks */
    struct emu_worker *next; /* the next idle worker */
};

/* -- operands ---------------------------------------------------------------------- */

#define EMU_SOURCE(type, offset) \
    ((const type *)(const void *)(warp->base[(offset)&EMU_TAG_MASK] + (offset)))
#define EMU_TARGET(type, offset) ((type *)(void *)(warp->base[0] + (offset)))

/* Whether an operand has the same value in all lanes, as its place shows. */
static inline bool
emu_is_uniform(uint32_t operand)
{
    const uint32_t tag = operand & EMU_TAG_MASK;

    return tag == EMU_TAG_CONSTANT || tag == EMU_TAG_UNIFORM;
}

/* The bits of all lanes if the condition holds, else none. */
static inline uint32_t
emu_lanes_if(bool condition)
{
    return (uint32_t)0 - (uint32_t)condition;
}

/* The predicate at an operand, one bit for each lane, or its complement. */
static inline uint32_t
emu_predicate(const emu_warp *warp, uint32_t operand, bool is_negated)
{
    return *EMU_SOURCE(uint32_t, operand) ^ emu_lanes_if(is_negated);
}

#endif
