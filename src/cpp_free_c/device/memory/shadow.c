/* The shadow of memory. See shadow.h. */
#define _GNU_SOURCE
#include "device/memory/shadow.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { WORD = 4 };

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
    if (emu_memory_shadow.written == NULL && emu_memory_tables.size != 0) {
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
    if (fresh.narrow == NULL || !shadow_open_cells(&fresh.words, WORD) ||
        !shadow_open_cells(&fresh.bytes, 1)) {
        shadow_unmap(fresh.narrow, emu_memory_tables.size >> EMU_CHUNK_SHIFT);
        shadow_close_cells(&fresh.words, WORD);
        shadow_close_cells(&fresh.bytes, 1);
        return false;
    }
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
    shadow_clear_cells(&emu_memory_shadow.words, WORD);
    shadow_clear_cells(&emu_memory_shadow.bytes, 1);
    (void)madvise(emu_memory_shadow.narrow, emu_memory_tables.size >> EMU_CHUNK_SHIFT,
                  MADV_DONTNEED);
}

/* -- bytes that were written ------------------------------------------------------- */

void
emu_shadow_begin(const emu_allocation *record)
{
    uint8_t *marks = emu_shadow_marks(record->base, record->size);
    uint8_t *pages, *end;

    if (marks == NULL) {
        return;
    }
    if (record->size < EMU_CHUNK) {
        memset(marks, 0, record->size);
        return;
    }
    /* whole pages are returned to the system, and read as zeros */
    pages = emu_memory_shadow.written +
            emu_space_round_up((uint64_t)(marks - emu_memory_shadow.written), 4096);
    end = marks + record->size;
    end -= (uint64_t)(end - emu_memory_shadow.written) % 4096;
    memset(marks, 0, (size_t)(pages - marks));
    (void)madvise(pages, (size_t)(end - pages), MADV_DONTNEED);
    memset(end, 0, (size_t)(marks + record->size - end));
}
