/* Idle workers. See idle_workers.h. */
#include "device/machine/grid/idle_workers.h"

#include <pthread.h>
#include <stdlib.h>

#include "device/check/use_log.h"
#include "device/machine/warp/block.h"

enum { KEEP_BYTES = 1 << 24 }; /* the most memory of an idle worker */

static struct {
    pthread_mutex_t lock;
    emu_worker *first;
} idle = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void
idle_free_frames(emu_worker *worker)
{
    unsigned bin;

    for (bin = 0; bin < EMU_FRAME_SIZES; bin++) {
        while (worker->free_frames[bin]) {
            emu_frame *next = worker->free_frames[bin]->parent;

            free(worker->free_frames[bin]->regs);
            free(worker->free_frames[bin]);
            worker->free_frames[bin] = next;
        }
    }
    worker->frame_bytes = 0;
}

emu_worker *
emu_idle_worker_take(void)
{
    emu_worker *worker;

    (void)pthread_mutex_lock(&idle.lock);
    worker = idle.first;
    if (worker) {
        idle.first = worker->next;
    }
    (void)pthread_mutex_unlock(&idle.lock);
    if (worker == NULL) {
        worker = calloc(1, sizeof *worker);
    }
    return worker;
}

static void
idle_free(emu_worker *worker)
{
    idle_free_frames(worker);
    emu_block_free(worker->block);
    emu_use_log_free(worker->uses);
    free(worker);
}

void
emu_idle_worker_give(emu_worker *worker)
{
    const emu_block *block = worker->block;

    if (worker->frame_bytes > KEEP_BYTES ||
        (block &&
         block->regs_room + block->local_room + block->shared_room > KEEP_BYTES)) {
        idle_free(worker);
        return;
    }
    (void)pthread_mutex_lock(&idle.lock);
    worker->next = idle.first;
    idle.first = worker;
    (void)pthread_mutex_unlock(&idle.lock);
}
