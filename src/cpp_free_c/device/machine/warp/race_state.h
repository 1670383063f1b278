/* What the race check knows of a block: the order of its accesses (race_check.h), and
 * the accesses to shared and global memory. Included by the files of the race check. */
#ifndef DEVICE_MACHINE_WARP_RACE_STATE_H
#define DEVICE_MACHINE_WARP_RACE_STATE_H

#include "device/machine/warp/access_parts.h"
#include "device/machine/warp/step_check.h"
#include "device/machine/warp/machine.h"
#include "device/memory/memory.h"

/* -- visits ------------------------------------------------------------------------ */

/* The accesses that the race check remembers.
 *
 * A visit is one instruction of up to eight warps of a block in one epoch. An access is
 * a stamp: the number of a visit times 256, plus the thread in the eight warps. The
 * visits of global memory are in a table of the process; those of shared memory are in
 * a table of the block, which begins anew at a barrier of the whole block. Stamps below
 * a table's `oldest` count as none: they are of earlier launches, or ordered by such a
 * barrier. A visitor takes numbers in chunks, so the stamps of a warp are found by one
 * comparison. */

/* How an access touches its bytes. A strong one is volatile, relaxed, and so on. */
typedef enum {
    EMU_RACE_READ,
    EMU_RACE_WRITE,
    EMU_RACE_ATOMIC,
    EMU_RACE_STRONG_READ,
    EMU_RACE_STRONG_WRITE
} emu_race_kind;

static inline bool
emu_race_kind_writes(emu_race_kind kind)
{
    return kind != EMU_RACE_READ && kind != EMU_RACE_STRONG_READ;
}

enum {
    EMU_VISIT_WARPS = 8,
    EMU_VISIT_STAMPS = EMU_VISIT_WARPS * EMU_LANES,
    EMU_RACE_CHUNK = 4, /* visits */
    EMU_RACE_RESERVE =
        64, /* visits of the process's table that a block takes at once */
    EMU_RACE_CACHE = 32,
    /* The asynchronous copies of a block count as one more warp. */
    EMU_RACE_COPIES = EMU_MAX_WARPS,
    EMU_RACE_GROUPS = EMU_MAX_WARPS / EMU_VISIT_WARPS,
    EMU_RACE_SIZES = 5, /* of elements: 1 to 16 bytes */
    /* of groups, of copies, and of groups for each size (emu_visit.pairs) */
    EMU_RACE_VISITORS = EMU_RACE_GROUPS * (1 + EMU_RACE_SIZES) + 1
};

typedef struct {
    const emu_func *func;
    const emu_insn *insn;
    uint32_t launch, block; /* the low bits of their numbers */
    uint32_t epoch;
    uint8_t first;   /* the first of its warps, or EMU_RACE_COPIES */
    uint8_t starter; /* of a copy: the warp that began it */
    uint8_t kind;
    bool pairs; /* some of its lines are of two warps: see below */
} emu_visit;

/* Stamps of a thread in a chunk are equal in all bits but those of the visit; stamps of
 * a warp differ in the lane, too. */
#define EMU_RACE_THREAD_MASK (~(uint32_t)((EMU_RACE_CHUNK - 1) * EMU_VISIT_STAMPS))
#define EMU_RACE_OWN_MASK (EMU_RACE_THREAD_MASK & ~(uint32_t)(EMU_LANES - 1))

typedef struct {
    emu_visit *visits;
    uint32_t first;  /* number of the visit at its start */
    uint32_t oldest; /* stamps below it count as none */
    uint32_t split;  /* of the process: the stamp of a line that has cells of words */
    /* The next number of a visit. Of the process's table, blocks take numbers in
     * advance, up to `end`, and the present block has those from `block` on. */
    uint32_t next, end, block;
} emu_visit_table;

/* What the warps of a visit need to make stamps of a table. */
typedef struct {
    uint32_t next, end; /* numbers of visits left in its chunk */
    uint32_t begin;     /* the least of its numbers */
    uint64_t block;     /* the block for which it has them (emu_race.blocks) */
    struct {
        const emu_insn *insn;
        uint32_t epoch, number;
    } cache[EMU_RACE_CACHE];
} emu_visitor;

/* Prepare the table of the process for a launch. False: out of memory. */
bool emu_visits_begin(emu_visit_table *table);
/* The launch has ended. */
void emu_visits_end(void);

/* A block begins to use the table of the process. */
void emu_visits_enter(emu_visit_table *table);

/* Prepare the table of a block: no visit counts any more. *clear says whether the
 * caller must clear all cells. False: out of memory. */
bool emu_visits_begin_block(emu_visit_table *table, bool *clear);
void emu_visits_free_block(emu_visit_table *table);

/* Let a visitor begin anew unless it is of this block. */
static inline void
emu_visitor_begin(emu_visitor *visitor, uint64_t block)
{
    if (visitor->block != block) {
        visitor->block = block;
        visitor->next = visitor->end = 0;
        visitor->begin = UINT32_MAX;
    }
}

/* The number of a visit that the visitor has made before in the block; 0: it has not,
 * or has forgotten it. */
static inline uint32_t
emu_visit_again(const emu_visit_table *table, const emu_visitor *visitor,
                const emu_insn *insn, uint32_t epoch)
{
    const unsigned slot =
        (unsigned)((uintptr_t)insn / sizeof(emu_insn)) % EMU_RACE_CACHE;

    if (visitor->cache[slot].insn == insn && visitor->cache[slot].epoch == epoch &&
        visitor->cache[slot].number >= visitor->begin &&
        visitor->cache[slot].number * EMU_VISIT_STAMPS >= table->oldest) {
        return visitor->cache[slot].number;
    }
    return 0;
}

/* The number of a new visit. 0: the table is full. */
uint32_t emu_visit_new(emu_visit_table *table, emu_visitor *visitor,
                       const emu_visit *visit);

static inline const emu_visit *
emu_visit_of(const emu_visit_table *table, uint32_t stamp)
{
    return &table->visits[stamp / EMU_VISIT_STAMPS - table->first];
}

/* The warp of a stamp, or EMU_RACE_COPIES. */
static inline unsigned
emu_visit_warp(const emu_visit *visit, uint32_t stamp)
{
    if (visit->first == EMU_RACE_COPIES) {
        return EMU_RACE_COPIES;
    }
    return visit->first + stamp / EMU_LANES % EMU_VISIT_WARPS;
}

/* -- the log of shared memory ------------------------------------------------------ */

/* The log of the race check: accesses to the words of shared memory since the last
 * barrier of the whole block.
 *
 * Three bits for each word say whether it was read, written, or the place of an atomic
 * operation. An access that meets no bit of a conflicting access is right for sure, and
 * is only appended to the log. Other accesses need to know the earlier ones:
 * race_check.c then moves the log to the cells of the words first. A barrier forgets
 * the log, so most accesses never touch a cell. */

/* An access of a whole warp, in one or two parts; or of some lanes of a warp; or the
 * loads of several warps by their shape (access_parts.h). */
typedef struct {
    const emu_insn *insn;
    uint32_t epoch;
    uint8_t warp;      /* the first one */
    uint8_t warps;     /* 0: one warp, with these parts or lanes */
    uint8_t size;      /* bytes of a lane */
    uint8_t count;     /* of parts */
    uint8_t same;      /* a bit for each part */
    uint8_t kind;      /* emu_race_kind */
    uint16_t start[2]; /* the first word of each part */
    uint32_t lanes;    /* they have their first words in `starts` of the log */
    uint32_t place;    /* where these begin there */
} emu_race_entry;

enum { EMU_RACE_ENTRIES = 2048, EMU_RACE_STARTS = 1 << 14 };

enum { EMU_LOG_READ, EMU_LOG_WRITTEN, EMU_LOG_ATOMIC, EMU_LOG_SETS };

typedef struct {
    uint64_t *sets[EMU_LOG_SETS]; /* a bit for each word of shared memory */
    size_t room;                  /* numbers in each of them */
    size_t used;                  /* numbers of which bits may be set */
    emu_race_entry *entries;
    unsigned count;
    uint16_t *starts; /* of accesses of single lanes */
    unsigned start_count;
} emu_race_log;

/* The words of a part of an access. */
static inline uint64_t
emu_race_log_words(const emu_race_entry *entry, unsigned part)
{
    const uint64_t words = entry->size / 4u;

    if (entry->same >> part & 1) {
        return words;
    }
    return words * (EMU_LANES / entry->count);
}

/* Prepare for a block with so many bytes of shared memory. False: out of memory. */
bool emu_race_log_begin(emu_race_log *log, size_t shared_size);
void emu_race_log_free(emu_race_log *log);
/* Forget all accesses. */
void emu_race_log_clear(emu_race_log *log);

/* Whether there is room for one more entry. If not, the log must be moved. */
static inline bool
emu_race_log_has_room(const emu_race_log *log)
{
    return log->count < EMU_RACE_ENTRIES &&
           log->start_count + EMU_LANES <= EMU_RACE_STARTS;
}

/* Append an access with parts. False: it may conflict with an earlier one. */
bool emu_race_log_add(emu_race_log *log, const emu_race_entry *entry);
/* The same for single lanes; `first` has the first word of each. */
bool emu_race_log_add_lanes(emu_race_log *log, const emu_race_entry *entry,
                            const uint16_t first[EMU_LANES]);
/* The same for loads of a plan. */
bool emu_race_log_add_plan(emu_race_log *log, const emu_race_entry *entry,
                           const emu_shared_plan *plan);
/* Note an access that is in the cells: words [first, first + count). */
void emu_race_log_note(emu_race_log *log, uint64_t first, uint64_t count,
                       emu_race_kind kind);

/* -- the state of a block ---------------------------------------------------------- */

/* Epochs of each warp, and of copies, that are ordered before something. */
typedef struct {
    uint32_t seen[EMU_MAX_WARPS + 1];
    uint64_t acquired; /* time of the grid's clock */
} emu_epochs;

typedef struct {
    emu_epochs warps[EMU_MAX_WARPS];
    emu_epochs barriers[EMU_BARRIERS];
    emu_epochs mbarriers; /* of all mbarriers of the block */
    emu_epochs published; /* by fences */
    emu_epochs exited;
    uint32_t copies;                 /* asynchronous copies that are complete */
    bool is_used;                    /* it is not all zero */
    bool has_published;              /* some warp has run a fence */
    bool after_fence[EMU_MAX_WARPS]; /* a fence began the warp's present epoch */
} emu_order;

enum { EMU_RACE_SHARED, EMU_RACE_GLOBAL, EMU_RACE_SPACES };

/* The memory in which cells are: those of a word are at (address - base) / 4. */
typedef struct {
    uint64_t base, size;
    emu_visits lines; /* of global memory alone */
    emu_visits words, bytes;
    uint8_t *narrow; /* `tag` if a part has stamps of bytes */
    uint8_t tag;
    unsigned narrow_shift;
    emu_visit_table table;
} emu_race_space;

/* An access of one warp that is being checked. */
typedef struct {
    emu_warp *warp;
    const emu_insn *insn;
    emu_race_space *space;
    const emu_visitor *visitor;
    emu_race_kind kind;
    unsigned size;
    uint32_t stamp; /* of lane 0 */
    bool same;      /* it writes the value that the bytes have */
    bool is_copy;
    bool pairs; /* a line may be of two warps */
} emu_race_try;

struct emu_race {
    emu_order order;
    emu_race_space spaces[EMU_RACE_SPACES];
    emu_visitor visitors[EMU_RACE_VISITORS][EMU_RACE_SPACES];
    emu_race_log log; /* of accesses to shared memory that are not in cells yet */
    uint64_t blocks;  /* blocks so far, for the visitors */
    uint64_t launch;  /* the last launch of which a block used it */
    uint32_t *cells;  /* of shared memory */
    size_t cell_count;
    emu_step_check steps; /* of one warp */
    uint8_t narrow;
    bool has_copies;
    bool keeps_writes; /* atomic operations are noted as reads, see race_check.c */
};

/* The stamps of the block in the table of the process, if the warps of all its visits
 * are the same: *size is 0 if not. */
static inline uint32_t
emu_race_block_stamps(const emu_race_try *a, uint32_t *size)
{
    const emu_visit_table *table = &a->space->table;

    *size = 0;
    if (a->warp->block->warp_count <= EMU_VISIT_WARPS) {
        *size = (table->end - table->block) * EMU_VISIT_STAMPS;
    }
    return table->block * EMU_VISIT_STAMPS;
}

/* The first stamp that the warp of an access has in its chunk. */
static inline uint32_t
emu_race_own(const emu_race_try *a)
{
    return (a->visitor->end - EMU_RACE_CHUNK) * EMU_VISIT_STAMPS +
           a->warp->number % EMU_VISIT_WARPS * EMU_LANES;
}

/* -- ranges of cells --------------------------------------------------------------- */

/* Checking and remembering an access to consecutive cells as a whole, with the widest
 * instructions that the processor has. */

typedef struct {
    uint32_t stamp; /* of the first cell */
    /* The stamp of its warp's first thread in the visitor's chunk, and the bits in
     * which stamps of this warp are equal. If two warps share the cells, so that only
     * accesses by the same thread can be recognised, the same for its thread. */
    uint32_t own, mask;
    uint32_t oldest;            /* stamps below it count as none */
    uint32_t block, block_size; /* the stamps of the block, if it has up to 8 warps */
    /* Cell i is accessed by thread (i << up) >> down, counted from that of the first
     * cell. If there are several warps, the first cell is of lane 0. */
    unsigned up, down;
    bool writes;
    bool again; /* look again after a write: other threads may access the cells now */
    /* Two readers are remembered until `oldest` moves, whichever they are. */
    bool keeps_readers;
} emu_cell_access;

/* Remember an access to `count` cells from cell `first` on. False, with nothing
 * remembered: another warp has accessed a cell so that it may be a race. */
bool emu_cells_take(const emu_visits *visits, size_t first, unsigned count,
                    const emu_cell_access *access);
/* Whether no other warp has accessed these cells so that it may be a race. */
bool emu_cells_are_free(const emu_visits *visits, size_t first, unsigned count,
                        const emu_cell_access *access);

/* -- one cell: a word, a byte or a line of memory ---------------------------------- */

/* One cell of the race check: a word, a byte or a line of memory.
 *
 * A cell has the stamps of its last write and of its last reads by two different warps;
 * atomic operations after a plain write of the block count among the reads. With
 * barriers of the whole block two readers are enough: one of them is of another warp
 * than the next access. (A race with a third warp may not be found if barriers are for
 * a part of the block, or if they order the readers of global memory.) */

/* 0, or the stamp of a cell with which the access is a race. */
uint32_t emu_cell_check(const emu_race_try *a, const emu_visits *visits, size_t cell);
/* Remember the access with a stamp. */
void emu_cell_note(const emu_race_try *a, const emu_visits *visits, size_t cell,
                   uint32_t stamp);

/* -- lines of global memory -------------------------------------------------------- */

/* Accesses to global memory in the race check.
 *
 * Most kernels access whole lines of 64 bytes by consecutive lanes. Such a line has one
 * cell: its stamp is that of the lane which accesses the first word, and the size of
 * the visit's elements gives the lanes of the other words. A line may
 * be of two warps, if the elements are single bytes or do not begin with a line; its
 * visits are others than those of lines of one warp (emu_visit.pairs). The first access
 * of another kind splits the line for the rest of the launch: its writer is then the
 * launch's `split` stamp, and its words have cells. */

/* Remember an access to whole lines by consecutive lanes of up to eight warps, from the
 * thread of `stamp` on. False, with nothing remembered: it may be a race. */
bool emu_lines_take_warps(const emu_race_try *a, uint64_t offset, uint64_t bytes,
                          uint32_t stamp);
/* Check and remember an access to whole lines by consecutive lanes of one warp, from
 * the lane of `stamp` on. False, with nothing remembered: it must be checked by words.
 */
bool emu_lines_take(const emu_race_try *a, uint64_t offset, uint64_t bytes,
                    uint32_t stamp);
/* Split all lines of `count` bytes. */
void emu_lines_split(const emu_race_try *a, uint64_t offset, uint64_t count);

/* -- before the cells: visit, log, words ------------------------------------------- */

/* What the race check does for an access before it looks at cells: the visit that the
 * access belongs to, the log of shared memory, and the cells of its words. */

/* The space of an address, or NULL. */
emu_race_space *emu_race_space_of(emu_race *race, uint64_t address);

/* Set the visitor and the stamp of an access. False: it cannot be remembered, and is
 * not checked. */
bool emu_race_begin_access(emu_race_try *a, uint32_t epoch);

/* Append an access to the log of shared memory, by its parts or by its lanes. False: it
 * must be checked by cells. */
bool emu_race_add_parts(const emu_race_try *a, const emu_parts *parts);
bool emu_race_add_lanes(const emu_race_try *a, uint32_t mask,
                        const uint64_t at[EMU_LANES]);
/* The log, with room for one more access. */
emu_race_log *emu_race_log_with_room(emu_block *block);

/* An access to words by consecutive lanes from that of the stamp on. */
emu_cell_access emu_race_words(const emu_race_try *a, uint32_t stamp, bool same);
/* Prepare the cells of words for an access. */
void emu_race_prepare_words(const emu_race_try *a, uint64_t offset, uint64_t bytes);

/* Whether elements of a size consist of words, and are aligned to them. */
static inline bool
emu_race_has_words(unsigned size)
{
    return size % 4 == 0 && (size & (size - 1)) == 0;
}

/* Whether the part of the space at an offset has stamps of bytes. */
static inline bool
emu_race_is_narrow(const emu_race_try *a, uint64_t offset)
{
    return a->space->narrow[offset >> a->space->narrow_shift] == a->space->tag;
}

static inline void
emu_race_set_narrow(const emu_race_try *a, uint64_t offset)
{
    a->space->narrow[offset >> a->space->narrow_shift] = a->space->tag;
}

/* -- reports ----------------------------------------------------------------------- */

/* The access of a lane to a host address is a race with the access of a stamp; two
 * lanes write different values to an address in one instruction. Return whether the
 * warp goes on, as emu_check_found. */
bool emu_race_finding(const emu_race_try *a, unsigned lane, uint64_t address,
                      uint32_t stamp);
bool emu_race_finding_instruction(const emu_race_try *a, unsigned lane, unsigned other,
                                  uint64_t address);

#endif
