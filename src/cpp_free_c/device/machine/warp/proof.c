/* The proof that a grid cannot make progress. See proof.h. */
#define _GNU_SOURCE
#include "device/machine/warp/proof.h"

#include "device/machine/warp/clock.h"
#include "device/machine/warp/wait.h"

enum { GRACE = 1000000000 }; /* nanoseconds */

uint64_t
emu_proof_join(emu_grid *grid, emu_proof_part *part)
{
    emu_proof *proof = &grid->proof;
    uint64_t epoch;

    (void)pthread_mutex_lock(&proof->lock);
    if (!part->is_still) {
        part->is_still = true;
        proof->still++;
    }
    if (!proof->is_open && proof->still == atomic_load(&grid->active)) {
        proof->is_open = true;
        proof->epoch++;
        proof->votes = 0;
        proof->host = false;
        proof->since = emu_clock_steady();
    }
    epoch = 0;
    if (proof->is_open) {
        epoch = proof->epoch;
    }
    (void)pthread_mutex_unlock(&proof->lock);
    return epoch;
}

void
emu_proof_vote(emu_grid *grid, emu_proof_part *part, uint64_t epoch, bool host)
{
    emu_proof *proof = &grid->proof;

    (void)pthread_mutex_lock(&proof->lock);
    if (proof->is_open && proof->epoch == epoch && part->voted != epoch) {
        part->voted = epoch;
        proof->votes++;
        proof->host |= host;
    }
    (void)pthread_mutex_unlock(&proof->lock);
}

void
emu_proof_leave(emu_grid *grid, emu_proof_part *part)
{
    emu_proof *proof = &grid->proof;

    (void)pthread_mutex_lock(&proof->lock);
    if (part->is_still) {
        part->is_still = false;
        proof->still--;
    }
    proof->is_open = false;
    (void)pthread_mutex_unlock(&proof->lock);
}

void
emu_proof_judge(emu_grid *grid)
{
    emu_proof *proof = &grid->proof;
    bool proven;
    uint64_t since;

    (void)pthread_mutex_lock(&proof->lock);
    proven = proof->is_open && !proof->host && proof->votes &&
             proof->votes == atomic_load(&grid->active);
    since = proof->since;
    (void)pthread_mutex_unlock(&proof->lock);
    emu_wait_set_stuck(proven);
    if (!proven) {
        return;
    }
    if (proof->last_free < since || emu_wait_is_any_free(&proof->ends)) {
        proof->last_free = emu_clock_steady();
    }
    else if (emu_clock_steady() - proof->last_free > GRACE) {
        if (emu_wait_is_any_new()) {
            proof->last_free = emu_clock_steady();
        }
        else {
            atomic_store(&grid->stuck, true);
        }
    }
}
