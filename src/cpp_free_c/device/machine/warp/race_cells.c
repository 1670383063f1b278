/* Accesses to consecutive cells. See race_cells.h. */
#include "device/machine/warp/race_cells.h"

#include "device/machine/warp/race_visit.h"

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

CELLS bool
emu_cells_take(const emu_visits *visits, size_t first, unsigned count,
               const emu_cell_access *access)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        return cells_take_avx2(visits, first, count, access);
    }
#endif
    return cells_take(visits, first, count, *access);
}
