/* Accesses to consecutive cells. See race_state.h. */
#include <stdatomic.h>

#include "device/machine/warp/race_check.h"
#include "device/machine/warp/race_state.h"

/* Threads may write to one cell at a time: one of the stamps is then lost. */
#define CELLS __attribute__((no_sanitize("thread")))

/* The thread of a cell, counted from that of the first cell. */
static inline uint32_t
cells_thread(uint32_t cell, emu_cell_access a)
{
    return (cell << a.up) >> a.down;
}

/* All bits of a stamp that is neither of the warp of this cell nor old, beside those of
 * the mask: a number that is not 0. Stamps have 31 bits. */
static inline uint32_t
cells_foreign(uint32_t stamp, uint32_t cell, emu_cell_access a)
{
    const uint32_t own = a.own + (cells_thread(cell, a) & a.mask);

    return -(uint32_t)((int32_t)stamp >= (int32_t)a.oldest) & (stamp ^ own) & a.mask;
}

/* Whether a stamp is of the block, and of the same warp as another one: -1, else 0. */
static inline uint32_t
cells_is_same_warp(uint32_t stamp, uint32_t other, emu_cell_access a)
{
    return -(uint32_t)(stamp - a.block < a.block_size) &
           -(uint32_t)(((stamp ^ other) & (7 * EMU_LANES)) == 0);
}

/* The three stamps of a cell never overlap those of another. */
#ifdef __clang__
#    define CELLS_VECTORISE _Pragma("clang loop vectorize(assume_safety)")
#else
#    define CELLS_VECTORISE _Pragma("GCC ivdep")
#endif

CELLS static inline __attribute__((always_inline)) void
cells_note(uint32_t *restrict cells, unsigned count, emu_cell_access a)
{
    CELLS_VECTORISE
    for (unsigned i = 0; i < count; i++) {
        cells[i] = a.stamp + cells_thread(i, a);
    }
}

/* Note readers of cells that other warps have read, too. */
CELLS static inline __attribute__((always_inline)) void
cells_note_shared(uint32_t *restrict reader, uint32_t *restrict other, unsigned count,
                  emu_cell_access a)
{
    const uint32_t keeps = -(uint32_t)a.keeps_readers;

    CELLS_VECTORISE
    for (unsigned i = 0; i < count; i++) {
        const uint32_t stamp = a.stamp + cells_thread(i, a), r = reader[i],
                       o = other[i];
        const uint32_t is_foreign =
            -(uint32_t)(cells_foreign(r, i, a) != 0) & ~cells_is_same_warp(r, stamp, a);
        const uint32_t has_two =
            keeps & -(uint32_t)((int32_t)o >= (int32_t)a.oldest) & is_foreign;

        other[i] = (is_foreign & ~has_two & r) | (~(is_foreign & ~has_two) & o);
        reader[i] = (has_two & r) | (~has_two & stamp);
    }
}

CELLS static inline __attribute__((always_inline)) bool
cells_are_free(const emu_visits *v, size_t first, unsigned count, emu_cell_access a)
{
    const uint32_t *writer = v->writer + first, *reader = v->reader + first;
    const uint32_t *other = v->other + first;
    uint32_t wrong = 0;

    for (unsigned i = 0; i < count; i++) {
        wrong |= cells_foreign(writer[i], i, a);
    }
    for (unsigned i = 0; i < count && a.writes; i++) {
        wrong |= cells_foreign(reader[i], i, a) | cells_foreign(other[i], i, a);
    }
    return wrong == 0;
}

CELLS static inline __attribute__((always_inline)) bool
cells_take(const emu_visits *v, size_t first, unsigned count, emu_cell_access a)
{
    uint32_t *const writer = v->writer + first, *const reader = v->reader + first;
    uint32_t *const other = v->other + first;
    uint32_t wrong = 0, shared = 0;

    for (unsigned i = 0; i < count; i++) {
        wrong |= cells_foreign(writer[i], i, a);
        shared |= cells_foreign(reader[i], i, a);
    }
    for (unsigned i = 0; i < count && a.writes; i++) {
        wrong |= cells_foreign(other[i], i, a) | shared;
    }
    if (wrong) {
        return false;
    }
    if (a.writes) {
        cells_note(writer, count, a);
    }
    else if (shared) {
        cells_note_shared(reader, other, count, a);
    }
    else {
        cells_note(reader, count, a);
    }
    return true;
}

#if defined(__x86_64__)
CELLS __attribute__((target("avx2"))) static bool
cells_take_avx2(const emu_visits *v, size_t first, unsigned count,
                const emu_cell_access *a)
{
    if (count == EMU_LANES) {
        return cells_take(v, first, EMU_LANES, *a);
    }
    if (count == EMU_LANES / 2) {
        return cells_take(v, first, EMU_LANES / 2, *a);
    }
    return cells_take(v, first, count, *a);
}

CELLS __attribute__((target("avx2"))) static bool
cells_are_free_avx2(const emu_visits *v, size_t first, unsigned count,
                    const emu_cell_access *a)
{
    return cells_are_free(v, first, count, *a);
}
#endif

CELLS bool
emu_cells_are_free(const emu_visits *visits, size_t first, unsigned count,
                   const emu_cell_access *access)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        return cells_are_free_avx2(visits, first, count, access);
    }
#endif
    return cells_are_free(visits, first, count, *access);
}

CELLS static bool
cells_take_any(const emu_visits *visits, size_t first, unsigned count,
               const emu_cell_access *access)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        return cells_take_avx2(visits, first, count, access);
    }
#endif
    return cells_take(visits, first, count, *access);
}

CELLS bool
emu_cells_take(const emu_visits *visits, size_t first, unsigned count,
               const emu_cell_access *access)
{
    if (!cells_take_any(visits, first, count, access)) {
        return false;
    }
    if (access->writes && access->again) {
        atomic_thread_fence(memory_order_seq_cst);
        return emu_cells_are_free(visits, first, count, access);
    }
    return true;
}

/* -- one cell ---------------------------------------------------------------------- */

/* Whether two accesses without an order are a race. */
static bool
cell_conflicts(const emu_race_try *a, const emu_visit *visit)
{
    const emu_race_kind before = (emu_race_kind)visit->kind;

    if (!emu_race_kind_writes(a->kind) && !emu_race_kind_writes(before)) {
        return false;
    }
    if (a->kind >= EMU_RACE_ATOMIC && before >= EMU_RACE_ATOMIC) {
        return false;
    }
    return !(a->same && a->kind == EMU_RACE_WRITE && before == EMU_RACE_WRITE);
}

/* Whether a stamp is of this warp, or of none. */
static inline bool
cell_is_own(const emu_race_try *a, uint32_t stamp)
{
    return stamp < a->space->table.oldest ||
           ((stamp ^ emu_race_own(a)) & EMU_RACE_OWN_MASK) == 0;
}

/* Check the access against one stamp. False: it is a race. */
static bool
cell_check_stamp(const emu_race_try *a, uint32_t stamp)
{
    const emu_visit *visit;

    if (cell_is_own(a, stamp) && !a->is_copy) {
        return true;
    }
    if (stamp < a->space->table.oldest) {
        return true;
    }
    visit = emu_visit_of(&a->space->table, stamp);
    return !cell_conflicts(a, visit) || emu_order_is_before(a->warp, visit, stamp);
}

uint32_t
emu_cell_check(const emu_race_try *a, const emu_visits *visits, size_t cell)
{
    const uint32_t stamps[] = {visits->writer[cell], visits->reader[cell],
                               visits->other[cell]};

    for (unsigned i = 0; i < sizeof stamps / sizeof stamps[0]; i++) {
        if (!cell_check_stamp(a, stamps[i])) {
            return stamps[i];
        }
    }
    return 0;
}

/* Whether an atomic operation must leave the write of a cell in its place: other blocks
 * race with the plain write, and not with the atomic operation. */
static bool
cell_keeps_write(const emu_race_try *a, uint32_t stamp)
{
    const emu_visit *visit;

    if (a->kind < EMU_RACE_ATOMIC || stamp < a->space->table.oldest) {
        return false;
    }
    visit = emu_visit_of(&a->space->table, stamp);
    return visit->kind == EMU_RACE_WRITE &&
           visit->block == (uint32_t)a->warp->block->number;
}

void
emu_cell_note(const emu_race_try *a, const emu_visits *visits, size_t cell,
              uint32_t stamp)
{
    const uint32_t before = visits->reader[cell];

    if (emu_race_kind_writes(a->kind)) {
        if (!cell_keeps_write(a, visits->writer[cell])) {
            visits->writer[cell] = stamp;
            return;
        }
        a->warp->block->race->keeps_writes = true;
    }
    if (!cell_is_own(a, before)) {
        const emu_visit *visit = emu_visit_of(&a->space->table, before);

        if (emu_visit_warp(visit, before) != a->warp->number ||
            visit->block != (uint32_t)a->warp->block->number) {
            visits->other[cell] = before;
        }
    }
    visits->reader[cell] = stamp;
}

/* -- lines of global memory -------------------------------------------------------- */

enum { WORDS = EMU_LINE / EMU_WORD };

static emu_cell_access
lines_access(const emu_race_try *a, uint32_t stamp)
{
    emu_cell_access cells = {
        .stamp = stamp,
        .own = emu_race_own(a),
        .mask = EMU_RACE_OWN_MASK,
        .oldest = a->space->table.oldest,
        .up = EMU_LINE_SHIFT - (unsigned)__builtin_ctz(a->size),
        .writes = emu_race_kind_writes(a->kind),
        .again = a->warp->block->grid->worker_count > 1,
    };

    cells.block = emu_race_block_stamps(a, &cells.block_size);
    return cells;
}

bool
emu_lines_take_warps(const emu_race_try *a, uint64_t offset, uint64_t bytes,
                     uint32_t stamp)
{
    emu_cell_access cells = lines_access(a, stamp);

    if (a->pairs) {
        cells.mask = EMU_RACE_THREAD_MASK;
        cells.own = stamp;
    }
    return emu_cells_take(&a->space->lines, offset >> EMU_LINE_SHIFT,
                          (unsigned)(bytes >> EMU_LINE_SHIFT), &cells);
}

/* Whether a stamp stands for the accesses of two warps. */
static bool
lines_is_of_pair(const emu_race_try *a, uint32_t stamp)
{
    return stamp >= a->space->table.oldest &&
           emu_visit_of(&a->space->table, stamp)->pairs;
}

bool
emu_lines_take(const emu_race_try *a, uint64_t offset, uint64_t bytes, uint32_t stamp)
{
    const emu_visits *lines = &a->space->lines;
    const uint64_t first = offset >> EMU_LINE_SHIFT, count = bytes >> EMU_LINE_SHIFT;
    const emu_cell_access cells = lines_access(a, stamp);

    if (((offset | bytes) & (EMU_LINE - 1)) != 0 || a->size == 1) {
        return false;
    }
    if (emu_cells_take(lines, first, (unsigned)count, &cells)) {
        return true;
    }
    for (uint64_t line = first; line < first + count; line++) {
        if (lines->writer[line] == a->space->table.split ||
            lines_is_of_pair(a, lines->writer[line]) ||
            lines_is_of_pair(a, lines->reader[line]) ||
            lines_is_of_pair(a, lines->other[line]) ||
            emu_cell_check(a, lines, line) != 0) {
            return false;
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        emu_cell_note(a, lines, first + i, stamp + (uint32_t)(i << cells.up));
    }
    return true;
}

/* Give the words of a line, or its bytes, the stamp of the line. */
static void
lines_split_stamp(const emu_race_try *a, uint32_t stamp, uint64_t line, uint32_t *words,
                  uint32_t *bytes)
{
    const emu_visit *visit;
    unsigned size;

    if (stamp < a->space->table.oldest) {
        return;
    }
    visit = emu_visit_of(&a->space->table, stamp);
    if (visit->launch != (uint32_t)a->warp->block->grid->number) {
        return;
    }
    size = emu_access_bytes(visit->insn);
    for (unsigned i = 0; i < WORDS && size >= EMU_WORD; i++) {
        words[line * WORDS + i] = stamp + i * EMU_WORD / size;
    }
    for (unsigned i = 0; i < EMU_LINE && size < EMU_WORD; i++) {
        bytes[(line << EMU_LINE_SHIFT) + i] = stamp + i / size;
    }
    if (size < EMU_WORD) {
        a->space->narrow[line << EMU_LINE_SHIFT >> a->space->narrow_shift] =
            a->space->tag;
    }
}

void
emu_lines_split(const emu_race_try *a, uint64_t offset, uint64_t count)
{
    const emu_visits *lines = &a->space->lines, *words = &a->space->words;
    const emu_visits *bytes = &a->space->bytes;

    for (uint64_t line = offset >> EMU_LINE_SHIFT;
         line <= (offset + count - 1) >> EMU_LINE_SHIFT; line++) {
        if (lines->writer[line] == a->space->table.split) {
            continue;
        }
        lines_split_stamp(a, lines->writer[line], line, words->writer, bytes->writer);
        lines_split_stamp(a, lines->reader[line], line, words->reader, bytes->reader);
        lines_split_stamp(a, lines->other[line], line, words->other, bytes->other);
        lines->writer[line] = a->space->table.split;
    }
}
