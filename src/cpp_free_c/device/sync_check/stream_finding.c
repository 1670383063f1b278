/* The texts of findings. See stream_check.h. */
#define _GNU_SOURCE
#include "device/sync_check/stream_check.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "device/base/site.h"
#include "device/base/checks.h"
#include "device/sync_check/uses.h"
#include "device/memory/memory.h"

enum { TEXT_ROOM = 1900, MEMORY_ROOM = 160, LINE_ROOM = 500 };

static struct {
    pthread_mutex_t mutex;
    char text[TEXT_ROOM];
    bool is_new;    /* no call has published it */
    bool is_untold; /* the program has not read it */
} finding = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local char finding_copy[TEXT_ROOM];

static const char *
finding_verb(unsigned kinds)
{
    if ((kinds & EMU_USE_FREE) != 0) {
        return "frees";
    }
    if ((kinds & EMU_USE_ALLOCATE) != 0) {
        return "allocates";
    }
    if ((kinds & EMU_USE_WRITE) != 0) {
        return "writes";
    }
    if ((kinds & EMU_USE_ATOMIC) != 0) {
        return "changes";
    }
    return "reads";
}

/* "byte 4 of the 64-byte page-locked allocation at 0x7f..." */
static void
finding_memory(uint64_t address, char *text, const char **site)
{
    const emu_allocation *memory = emu_memory_holding(address, 1);

    *site = NULL;
    if (memory == NULL) {
        (void)snprintf(text, MEMORY_ROOM, "address 0x%llx",
                       (unsigned long long)address);
        return;
    }
    *site = memory->site;
    (void)snprintf(
        text, MEMORY_ROOM, "byte %llu of the %llu-byte %s allocation at 0x%llx",
        (unsigned long long)(address - memory->base), (unsigned long long)memory->size,
        emu_memory_kind_name(memory->kind), (unsigned long long)memory->base);
}

/* "\n  value: the byte is 0x07 (int 7)", or "". */
static void
finding_value(uint64_t address, char *line)
{
    char value[EMU_VALUE_ROOM];

    line[0] = 0;
    if (emu_memory_holding(address, 1) != NULL) {
        emu_guard_open_page(address);
        emu_value_text((const void *)(uintptr_t)address, 1, value);
        (void)snprintf(line, LINE_ROOM, "\n  value: the byte is %s", value);
    }
}

/* "\n  cuMemcpyDtoHAsync was called at run.py:12 in main", or "". */
static void
finding_line(const char *what, const char *site, char *line)
{
    line[0] = 0;
    if (site != NULL) {
        (void)snprintf(line, LINE_ROOM, "\n  %.100s at %.380s", what, site);
    }
}

/* Keep the text and let the context fail. */
static void
finding_set(emu_context *context, const char *format, ...)
{
    va_list arguments;
    int sound = 0;

    pthread_mutex_lock(&finding.mutex);
    if (!finding.is_new) {
        va_start(arguments, format);
        (void)vsnprintf(finding.text, sizeof(finding.text), format, arguments);
        va_end(arguments);
        finding.is_new = finding.is_untold = true;
    }
    pthread_mutex_unlock(&finding.mutex);
    (void)atomic_compare_exchange_strong(&context->sticky, &sound,
                                         (int)CUDA_ERROR_LAUNCH_FAILED);
}

void
emu_finding_of_streams(emu_context *context, const emu_finding_side *older,
                       const emu_finding_side *newer, uint64_t address)
{
    char memory[MEMORY_ROOM], first[LINE_ROOM], second[LINE_ROOM], made[LINE_ROOM];
    char value[LINE_ROOM];
    const char *site;

    finding_memory(address, memory, &site);
    finding_value(address, value);
    finding_line(newer->name, newer->site, first);
    finding_line(older->name, older->site, second);
    finding_line("the memory was allocated", site, made);
    finding_set(context,
                "CUDA_ERROR_LAUNCH_FAILED\n"
                "  sync: %s %s %s, which %s in another stream %s; neither stream waits "
                "for the other%s%s%s%s\n",
                newer->name, finding_verb(newer->kinds), memory, older->name,
                finding_verb(older->kinds), value, first, second, made);
}

void
emu_finding_of_nodes(emu_context *context, const emu_finding_side *older,
                     const emu_finding_side *newer, uint64_t address,
                     const char *launched)
{
    char memory[MEMORY_ROOM], first[LINE_ROOM], second[LINE_ROOM], made[LINE_ROOM];
    char launch[LINE_ROOM];
    const char *site;

    finding_memory(address, memory, &site);
    finding_line(newer->name, newer->site, first);
    finding_line(older->name, older->site, second);
    finding_line("launched", launched, launch);
    finding_line("the memory was allocated", site, made);
    finding_set(context,
                "CUDA_ERROR_LAUNCH_FAILED\n"
                "  sync: %s %s %s, which %s %s; no edges of the graph order these two "
                "nodes%s%s%s%s\n",
                newer->name, finding_verb(newer->kinds), memory, older->name,
                finding_verb(older->kinds), first, second, launch, made);
}

void
emu_finding_of_host(emu_context *context, const emu_finding_side *work,
                    const emu_finding_side *host, uint64_t address)
{
    char memory[MEMORY_ROOM], first[LINE_ROOM], second[LINE_ROOM], made[LINE_ROOM];
    char value[LINE_ROOM];
    const char *site;

    finding_memory(address, memory, &site);
    finding_value(address, value);
    finding_line(host->name, host->site, first);
    finding_line(work->name, work->site, second);
    finding_line("the memory was allocated", site, made);
    finding_set(context,
                "CUDA_ERROR_LAUNCH_FAILED\n"
                "  sync: the host %s %s, which %s %s; the host has not waited for it"
                "%s%s%s%s\n",
                finding_verb(host->kinds), memory, work->name,
                finding_verb(work->kinds), value, first, second, made);
}

void
emu_finding_of_free(emu_context *context, const emu_finding_side *work,
                    uint64_t address, const char *word)
{
    char memory[MEMORY_ROOM], first[LINE_ROOM], second[LINE_ROOM], made[LINE_ROOM];
    const char *site;

    finding_memory(address, memory, &site);
    finding_line("the free", emu_site_now(), first);
    finding_line(work->name, work->site, second);
    finding_line("the memory was allocated", site, made);
    finding_set(
        context,
        "CUDA_ERROR_LAUNCH_FAILED\n"
        "  sync: %s is freed while %s uses it (%s); the host has not waited for "
        "it%s%s%s\n",
        word, work->name, memory, first, second, made);
}

const char *
emu_finding_take(void)
{
    const char *text = NULL;

    pthread_mutex_lock(&finding.mutex);
    if (finding.is_new) {
        finding.is_new = false;
        memcpy(finding_copy, finding.text, sizeof(finding_copy));
        text = finding_copy;
    }
    pthread_mutex_unlock(&finding.mutex);
    return text;
}

void
emu_finding_is_told(void)
{
    pthread_mutex_lock(&finding.mutex);
    finding.is_untold = finding.is_new;
    pthread_mutex_unlock(&finding.mutex);
}

/* What the program has not read is not lost. */
__attribute__((destructor)) static void
finding_write_last(void)
{
    if (finding.is_untold) {
        finding.is_untold = false;
        (void)fprintf(stderr, "PYCUDA_CHECK: %s", finding.text);
    }
}
