/* The shadow of memory. See memory.h. */
#define _GNU_SOURCE
#include "device/memory/memory.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { WORD = 4, PAGE = 4096 };

emu_shadow emu_memory_shadow;

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

/* -- reserving --------------------------------------------------------------------- */

static void *
shadow_reserve(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        return NULL;
    }
    /* a huge page would take 2 MiB for the shadow of a small array */
    (void)madvise(memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

bool
emu_shadow_open_written(void)
{
    pthread_mutex_lock(&opening);
    if (emu_memory_shadow.whole == NULL && emu_memory_tables.size != 0) {
        emu_memory_shadow.whole =
            shadow_reserve(emu_memory_tables.size >> EMU_LINE_SHIFT);
    }
    if (emu_memory_shadow.written == NULL && emu_memory_shadow.whole != NULL) {
        emu_memory_shadow.written = shadow_reserve(emu_memory_tables.size);
    }
    pthread_mutex_unlock(&opening);
    return emu_memory_shadow.written != NULL;
}

/* Reserve cells, one for each `unit` bytes. */
static bool
shadow_open_cells(emu_visits *visits, unsigned unit)
{
    const uint64_t bytes = emu_memory_tables.size / unit * sizeof(uint32_t);

    visits->writer = shadow_reserve(bytes);
    visits->reader = shadow_reserve(bytes);
    visits->other = shadow_reserve(bytes);
    return visits->writer && visits->reader && visits->other;
}

static void
shadow_unmap(void *memory, uint64_t bytes)
{
    if (memory != NULL) {
        (void)munmap(memory, bytes);
    }
}

static void
shadow_close_cells(emu_visits *visits, unsigned unit)
{
    const uint64_t bytes = emu_memory_tables.size / unit * sizeof(uint32_t);

    shadow_unmap(visits->writer, bytes);
    shadow_unmap(visits->reader, bytes);
    shadow_unmap(visits->other, bytes);
}

static bool
shadow_open_visits_locked(void)
{
    emu_shadow fresh = {.written = NULL};

    if (emu_memory_tables.size == 0) {
        return false;
    }
    fresh.narrow = shadow_reserve(emu_memory_tables.size >> EMU_CHUNK_SHIFT);
    if (fresh.narrow == NULL || !shadow_open_cells(&fresh.lines, EMU_LINE) ||
        !shadow_open_cells(&fresh.words, WORD) || !shadow_open_cells(&fresh.bytes, 1)) {
        shadow_unmap(fresh.narrow, emu_memory_tables.size >> EMU_CHUNK_SHIFT);
        shadow_close_cells(&fresh.lines, EMU_LINE);
        shadow_close_cells(&fresh.words, WORD);
        shadow_close_cells(&fresh.bytes, 1);
        return false;
    }
    emu_memory_shadow.lines = fresh.lines;
    emu_memory_shadow.words = fresh.words;
    emu_memory_shadow.bytes = fresh.bytes;
    emu_memory_shadow.narrow = fresh.narrow;
    return true;
}

bool
emu_shadow_open_visits(void)
{
    bool open;

    pthread_mutex_lock(&opening);
    open = emu_memory_shadow.narrow != NULL || shadow_open_visits_locked();
    pthread_mutex_unlock(&opening);
    return open;
}

static void
shadow_clear_cells(const emu_visits *visits, unsigned unit)
{
    const uint64_t bytes = emu_memory_tables.size / unit * sizeof(uint32_t);

    (void)madvise(visits->writer, bytes, MADV_DONTNEED);
    (void)madvise(visits->reader, bytes, MADV_DONTNEED);
    (void)madvise(visits->other, bytes, MADV_DONTNEED);
}

void
emu_shadow_clear_visits(void)
{
    shadow_clear_cells(&emu_memory_shadow.lines, EMU_LINE);
    shadow_clear_cells(&emu_memory_shadow.words, WORD);
    shadow_clear_cells(&emu_memory_shadow.bytes, 1);
    (void)madvise(emu_memory_shadow.narrow, emu_memory_tables.size >> EMU_CHUNK_SHIFT,
                  MADV_DONTNEED);
}

/* -- bytes that were written ------------------------------------------------------- */

static uint64_t
shadow_offset(uint64_t address)
{
    return address - emu_memory_tables.base;
}

/* Let the marks of a line's bytes say what the mark of the line says. */
static void
shadow_split(uint64_t line)
{
    if (emu_memory_shadow.whole[line]) {
        memset(emu_memory_shadow.written + (line << EMU_LINE_SHIFT), 1, EMU_LINE);
        emu_memory_shadow.whole[line] = 0;
    }
}

/* Set marks to 0. Whole pages are returned to the system, and read as zeros. */
static void
shadow_zero(uint8_t *marks, uint64_t first, uint64_t end)
{
    const uint64_t pages = emu_space_round_up(first, PAGE), rest = end - end % PAGE;

    if (end - first < EMU_CHUNK) {
        memset(marks + first, 0, end - first);
        return;
    }
    memset(marks + first, 0, pages - first);
    (void)madvise(marks + pages, rest - pages, MADV_DONTNEED);
    memset(marks + rest, 0, end - rest);
}

void
emu_shadow_mark(uint64_t address, uint64_t bytes)
{
    const uint64_t start = shadow_offset(address), end = start + bytes;
    const uint64_t first = (start + EMU_LINE - 1) >> EMU_LINE_SHIFT;
    const uint64_t last = end >> EMU_LINE_SHIFT; /* the line after the whole ones */

    if (bytes < EMU_LINE && emu_memory_shadow.whole[start >> EMU_LINE_SHIFT] &&
        emu_memory_shadow.whole[(end - 1) >> EMU_LINE_SHIFT]) {
        return;
    }
    if (first > last) { /* a part of one line */
        memset(emu_memory_shadow.written + start, 1, bytes);
        return;
    }
    memset(emu_memory_shadow.whole + first, 1, last - first);
    /* an empty memset of a page without memory can be slow */
    if (start % EMU_LINE != 0) {
        memset(emu_memory_shadow.written + start, 1, EMU_LINE - start % EMU_LINE);
    }
    if (end % EMU_LINE != 0) {
        memset(emu_memory_shadow.written + (last << EMU_LINE_SHIFT), 1, end % EMU_LINE);
    }
}

void
emu_shadow_unmark(uint64_t address, uint64_t bytes)
{
    const uint64_t start = shadow_offset(address), end = start + bytes;
    const uint64_t first = start >> EMU_LINE_SHIFT;
    const uint64_t last = emu_space_round_up(end, EMU_LINE) >> EMU_LINE_SHIFT;

    if (bytes == 0) {
        return;
    }
    shadow_split(first);
    shadow_split(last - 1);
    shadow_zero(emu_memory_shadow.whole, first, last);
    shadow_zero(emu_memory_shadow.written, start, end);
}

/* Split the lines of a range, for an access to the marks of its bytes. */
static uint8_t *
shadow_split_range(uint64_t address, uint64_t bytes)
{
    const uint64_t start = shadow_offset(address);

    for (uint64_t line = start >> EMU_LINE_SHIFT;
         line <= (start + bytes - 1) >> EMU_LINE_SHIFT; line++) {
        shadow_split(line);
    }
    return emu_memory_shadow.written + start;
}

/* Give bytes the marks of other bytes. The ranges may overlap. */
static void
shadow_copy(uint64_t to, uint64_t from, uint64_t bytes)
{
    if (bytes == 0) {
        return;
    }
    if (emu_shadow_is_set(from, bytes)) {
        emu_shadow_mark(to, bytes);
        return;
    }
    memmove(shadow_split_range(to, bytes), shadow_split_range(from, bytes), bytes);
}

bool
emu_shadow_is_unset(uint64_t address, unsigned bytes)
{
    const uint64_t start = shadow_offset(address);

    if (emu_memory_shadow.whole[start >> EMU_LINE_SHIFT]) {
        return false;
    }
    for (uint64_t i = start; i < start + bytes; i++) {
        if (emu_memory_shadow.whole[i >> EMU_LINE_SHIFT] ||
            emu_memory_shadow.written[i]) {
            return false;
        }
    }
    return true;
}

bool
emu_shadow_is_set_in_parts(uint64_t address, uint64_t bytes)
{
    const uint64_t start = shadow_offset(address), end = start + bytes;

    for (uint64_t at = start, next; at < end; at = next) {
        const uint64_t line = at >> EMU_LINE_SHIFT;

        next = (line + 1) << EMU_LINE_SHIFT;
        if (next > end) {
            next = end;
        }
        if (!emu_memory_shadow.whole[line] &&
            memchr(emu_memory_shadow.written + at, 0, next - at) != NULL) {
            return false;
        }
    }
    return true;
}

void
emu_shadow_begin(const emu_allocation *record)
{
    if (emu_shadow_has_marks(record->base, record->size)) {
        emu_shadow_unmark(record->base, record->size);
    }
}

/* -- what is written other than by a store of a kernel ----------------------------- */

static bool
written_tracks(uint64_t address)
{
    const emu_allocation *record = emu_memory_find(address);

    return record != NULL && emu_shadow_tracks(record);
}

void
emu_shadow_note_write(uint64_t address, uint64_t bytes)
{
    if (emu_shadow_has_marks(address, bytes) && written_tracks(address)) {
        emu_shadow_mark(address, bytes);
    }
}

void
emu_shadow_note_copy(uint64_t to, uint64_t from, uint64_t bytes)
{
    if (!emu_shadow_has_marks(to, bytes) || !written_tracks(to)) {
        return;
    }
    if (!emu_shadow_has_marks(from, bytes) || !written_tracks(from)) {
        emu_shadow_mark(to, bytes);
    }
    else {
        shadow_copy(to, from, bytes);
    }
}
