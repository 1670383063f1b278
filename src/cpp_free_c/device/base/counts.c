/* The records of counts. See counts.h. */
#define _GNU_SOURCE
#include "device/base/counts.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNTS_OF_CHUNK = 64, MOST_FILES = UINT16_MAX };

typedef struct {
    emu_count counts[COUNTS_OF_CHUNK];
} count_chunk;

struct emu_counts {
    emu_counts *next;
    uint64_t hash;
    unsigned flags;
    bool is_kept;
    count_chunk **chunks;
    uint32_t count, chunk_room;
    emu_count_function **functions;
    uint32_t function_count, function_room;
    emu_count_row *rows;
    uint32_t row_count, row_room;
    char **files; /* from number 1 on */
    uint32_t file_count, file_room;
};

static struct {
    pthread_mutex_t lock;
    emu_counts *first, **end; /* the records that are kept */
    bool has_exit;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER, .end = &kept.first};

/* -- the environment --------------------------------------------------------------- */

bool
emu_counts_parse(const char *text, unsigned *flags)
{
    *flags = 0;
    if (text == NULL || *text == 0) {
        return true;
    }
    if (strcmp(text, "lines") == 0) {
        *flags = EMU_COUNT_LINES;
    }
    else if (strcmp(text, "accesses") == 0) {
        *flags = EMU_COUNT_LINES | EMU_COUNT_ACCESSES;
    }
    return *flags != 0;
}

unsigned
emu_counts_wanted(void)
{
    unsigned flags;

    (void)emu_counts_parse(getenv("PYCUDA_EMULATOR_COUNT"), &flags);
    return flags;
}

/* -- records ----------------------------------------------------------------------- */

emu_counts *
emu_counts_open(uint64_t hash, unsigned flags, bool *is_new)
{
    emu_counts *found;

    (void)pthread_mutex_lock(&kept.lock);
    found = kept.first;
    while (found != NULL && (found->hash != hash || found->flags != flags)) {
        found = found->next;
    }
    (void)pthread_mutex_unlock(&kept.lock);
    *is_new = found == NULL;
    if (found == NULL) {
        found = calloc(1, sizeof *found);
        if (found != NULL) {
            found->hash = hash;
            found->flags = flags;
        }
    }
    return found;
}

void
emu_counts_drop(emu_counts *counts)
{
    for (uint32_t i = 0; i * COUNTS_OF_CHUNK < counts->count; i++) {
        free(counts->chunks[i]);
    }
    for (uint32_t i = 0; i < counts->function_count; i++) {
        free((char *)(uintptr_t)counts->functions[i]->name);
        free(counts->functions[i]);
    }
    for (uint32_t i = 0; i < counts->row_count; i++) {
        free((char *)(uintptr_t)counts->rows[i].text);
    }
    for (uint32_t i = 0; i < counts->file_count; i++) {
        free(counts->files[i]);
    }
    free(counts->chunks);
    free(counts->functions);
    free(counts->rows);
    free(counts->files);
    free(counts);
}

/* Make room for one more element. False: out of memory. */
static bool
counts_grow(void *array, uint32_t count, uint32_t *room, size_t size)
{
    void *larger, *old;

    if (count < *room) {
        return true;
    }
    memcpy(&old, array, sizeof old);
    larger = realloc(old, ((size_t)*room * 2 + 16) * size);
    if (larger == NULL) {
        return false;
    }
    memcpy(array, &larger, sizeof larger);
    *room = *room * 2 + 16;
    return true;
}

emu_count *
emu_counts_at(emu_counts *counts, uint32_t number)
{
    const uint32_t chunk = number / COUNTS_OF_CHUNK;

    if (number >= counts->count) {
        if (counts->is_kept || number > counts->count) {
            return NULL;
        }
        if (number % COUNTS_OF_CHUNK == 0) {
            if (!counts_grow(&counts->chunks, chunk, &counts->chunk_room,
                             sizeof *counts->chunks)) {
                return NULL;
            }
            counts->chunks[chunk] = aligned_alloc(64, sizeof(count_chunk));
            if (counts->chunks[chunk] == NULL) {
                return NULL;
            }
            memset(counts->chunks[chunk], 0, sizeof(count_chunk));
        }
        counts->count++;
    }
    return &counts->chunks[chunk]->counts[number % COUNTS_OF_CHUNK];
}

emu_count_function *
emu_counts_function(emu_counts *counts, uint32_t number, const char *name,
                    bool is_kernel)
{
    emu_count_function *function;

    if (number < counts->function_count) {
        return counts->functions[number];
    }
    if (counts->is_kept || number > counts->function_count ||
        !counts_grow(&counts->functions, number, &counts->function_room,
                     sizeof *counts->functions)) {
        return NULL;
    }
    function = calloc(1, sizeof *function);
    if (function == NULL) {
        return NULL;
    }
    function->name = strdup(name);
    function->is_kernel = is_kernel;
    if (function->name == NULL) {
        free(function);
        return NULL;
    }
    counts->functions[counts->function_count++] = function;
    return function;
}

bool
emu_counts_add_row(emu_counts *counts, const emu_count_row *row)
{
    char *text;

    if (!counts_grow(&counts->rows, counts->row_count, &counts->row_room,
                     sizeof *counts->rows)) {
        return false;
    }
    text = strdup(row->text);
    if (text == NULL) {
        return false;
    }
    counts->rows[counts->row_count] = *row;
    counts->rows[counts->row_count++].text = text;
    return true;
}

uint16_t
emu_counts_add_file(emu_counts *counts, const char *path)
{
    for (uint32_t i = 0; i < counts->file_count; i++) {
        if (strcmp(counts->files[i], path) == 0) {
            return (uint16_t)(i + 1);
        }
    }
    if (counts->file_count == MOST_FILES ||
        !counts_grow(&counts->files, counts->file_count, &counts->file_room,
                     sizeof *counts->files)) {
        return 0;
    }
    counts->files[counts->file_count] = strdup(path);
    if (counts->files[counts->file_count] == NULL) {
        return 0;
    }
    return (uint16_t)++counts->file_count;
}

emu_count_row *
emu_counts_rows(emu_counts *counts, uint32_t *count)
{
    *count = counts->row_count;
    return counts->rows;
}

/* -- the file ---------------------------------------------------------------------- */

static void
counts_write_text(FILE *file, const char *text)
{
    (void)fputc('"', file);
    for (; *text != 0; text++) {
        const unsigned char byte = (unsigned char)*text;

        if (byte == '"' || byte == '\\') {
            (void)fputc('\\', file);
        }
        if (byte < ' ') {
            (void)fprintf(file, "\\u%04x", byte);
        }
        else {
            (void)fputc(byte, file);
        }
    }
    (void)fputc('"', file);
}

/* A number, or -1 for an absent one. */
static long long
counts_number(uint32_t number)
{
    return number == EMU_COUNT_NONE ? -1 : (long long)number;
}

static void
counts_write_function(FILE *file, const emu_count_function *function)
{
    (void)fputc('[', file);
    counts_write_text(file, function->name);
    (void)fprintf(file, ",%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u,%u,%u,%u]",
                  function->is_kernel, atomic_load(&function->launches),
                  atomic_load(&function->blocks), atomic_load(&function->threads),
                  atomic_load(&function->block_size), atomic_load(&function->shared),
                  atomic_load(&function->registers), atomic_load(&function->resident));
}

static void
counts_write_row(FILE *file, const emu_count_row *row)
{
    (void)fprintf(file, "[%u,%lld,%lld,%lld,%lld,%u,%u,%u,%u,%u,", row->function,
                  counts_number(row->block), counts_number(row->choice),
                  counts_number(row->access), counts_number(row->target), row->ptx_line,
                  row->file, row->line, row->column, row->bytes);
    counts_write_text(file, row->text);
    (void)fputc(']', file);
}

/* The sums over the stripes, without the zeros at the end. A step is behind them. */
static void
counts_write_count(FILE *file, emu_count *count)
{
    const int64_t step = atomic_load(&count->step);
    uint64_t sums[EMU_COUNT_VALUES] = {0};
    unsigned last = 0;

    for (unsigned i = 0; i < EMU_COUNT_VALUES; i++) {
        for (unsigned k = 0; k < EMU_COUNT_STRIPES; k++) {
            sums[i] += atomic_load(&count->values[k][i]);
        }
        if (sums[i] != 0) {
            last = i + 1;
        }
    }
    if (step != 0) {
        last = EMU_COUNT_VALUES;
    }
    (void)fputc('[', file);
    for (unsigned i = 0; i < last; i++) {
        (void)fprintf(file, "%s%" PRIu64, i == 0 ? "" : ",", sums[i]);
    }
    if (step != 0) {
        (void)fprintf(file, ",%" PRId64, step);
    }
    (void)fputc(']', file);
}

static void
counts_write_record(FILE *file, emu_counts *counts)
{
    (void)fprintf(file, "{\"hash\":\"%016" PRIx64 "\",\"files\":[", counts->hash);
    for (uint32_t i = 0; i < counts->file_count; i++) {
        (void)fputs(i == 0 ? "" : ",", file);
        counts_write_text(file, counts->files[i]);
    }
    (void)fputs("],\"functions\":[", file);
    for (uint32_t i = 0; i < counts->function_count; i++) {
        (void)fputs(i == 0 ? "" : ",", file);
        counts_write_function(file, counts->functions[i]);
    }
    (void)fputs("],\"instructions\":[", file);
    for (uint32_t i = 0; i < counts->row_count; i++) {
        (void)fputs(i == 0 ? "" : ",", file);
        counts_write_row(file, &counts->rows[i]);
    }
    (void)fputs("],\"counts\":[", file);
    for (uint32_t i = 0; i < counts->count; i++) {
        (void)fputs(i == 0 ? "" : ",", file);
        counts_write_count(file, emu_counts_at(counts, i));
    }
    (void)fputs("]}\n", file);
}

int
emu_counts_write(const char *path)
{
    FILE *file = fopen(path, "we");
    int error = 0;

    if (file == NULL) {
        return errno;
    }
    (void)pthread_mutex_lock(&kept.lock);
    for (emu_counts *counts = kept.first; counts != NULL; counts = counts->next) {
        counts_write_record(file, counts);
    }
    (void)pthread_mutex_unlock(&kept.lock);
    if (ferror(file)) {
        error = EIO;
    }
    if (fclose(file) != 0 && error == 0) {
        error = errno;
    }
    return error;
}

/* -- the process ------------------------------------------------------------------- */

static void
counts_clear(emu_counts *counts)
{
    for (uint32_t i = 0; i < counts->count; i++) {
        memset(emu_counts_at(counts, i), 0, sizeof(emu_count));
    }
    for (uint32_t i = 0; i < counts->function_count; i++) {
        atomic_store(&counts->functions[i]->launches, 0);
        atomic_store(&counts->functions[i]->blocks, 0);
        atomic_store(&counts->functions[i]->threads, 0);
    }
}

void
emu_counts_clear(void)
{
    (void)pthread_mutex_lock(&kept.lock);
    for (emu_counts *counts = kept.first; counts != NULL; counts = counts->next) {
        counts_clear(counts);
    }
    (void)pthread_mutex_unlock(&kept.lock);
}

/* A child process counts for itself; its parent writes what ran before the fork. */
static void
counts_after_fork(void)
{
    (void)pthread_mutex_init(&kept.lock, NULL);
    emu_counts_clear();
}

/* At the end of a process: write "PREFIX.PID" if the environment names the prefix. */
static void
counts_at_exit(void)
{
    const char *prefix = getenv("PYCUDA_EMULATOR_COUNT_LOG");
    char path[4096];
    int length;

    if (prefix == NULL || *prefix == 0) {
        return;
    }
    length = snprintf(path, sizeof path, "%s.%ld", prefix, (long)getpid());
    if (length > 0 && (size_t)length < sizeof path) {
        (void)emu_counts_write(path);
    }
}

void
emu_counts_keep(emu_counts *counts)
{
    (void)pthread_mutex_lock(&kept.lock);
    counts->is_kept = true;
    *kept.end = counts;
    kept.end = &counts->next;
    if (!kept.has_exit) {
        kept.has_exit = true;
        (void)atexit(counts_at_exit);
        (void)pthread_atfork(NULL, NULL, counts_after_fork);
    }
    (void)pthread_mutex_unlock(&kept.lock);
}
