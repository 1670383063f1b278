/* The cost of accesses. See access_count.h. */
#include "device/machine/warp/access_count.h"

#include <string.h>

#include "device/base/counts.h"
#include "device/machine/warp/address_check.h"
#include "device/machine/warp/lanes.h"

enum { SECTOR = 32, SECTOR_SHIFT = 5, BANKS = 32, WORD = 4, WAVEFRONT = BANKS * WORD };
enum { HALF_WARP = EMU_LANES / 2 };

/* The addresses of some lanes of an access. */
typedef struct {
    uint64_t at[EMU_LANES];
    uint8_t lane[EMU_LANES];
    unsigned count, size;
} accesses;

typedef struct {
    uint64_t values[EMU_COUNT_VALUES];
    int64_t step;
} costs;

static unsigned
count_units(uint64_t bytes, unsigned unit)
{
    return (unsigned)((bytes + unit - 1) / unit);
}

static void
accesses_add(accesses *a, unsigned lane, uint64_t address)
{
    a->at[a->count] = address;
    a->lane[a->count++] = (uint8_t)lane;
}

/* -- steps ------------------------------------------------------------------------- */

/* The step of accesses that have one of these steps each; 0 is none. */
static int64_t
step_of_both(int64_t one, int64_t other)
{
    if (one == 0 || other == 0 || one == other) {
        return one == 0 ? other : one;
    }
    return EMU_COUNT_MIXED;
}

/* The step that at least half of the lanes have to the next one. */
static int64_t
access_step(const accesses *a)
{
    unsigned same = 0;
    int64_t step;

    if (a->count < 2) {
        return 0;
    }
    step = (int64_t)(a->at[1] - a->at[0]) / (a->lane[1] - a->lane[0]);
    for (unsigned i = 1; i < a->count; i++) {
        const uint64_t lanes = (uint64_t)a->lane[i] - a->lane[i - 1];

        same += a->at[i] - a->at[i - 1] == (uint64_t)step * lanes;
    }
    return 2 * same >= a->count - 1 ? step : EMU_COUNT_MIXED;
}

/* -- global memory ----------------------------------------------------------------- */

/* Whether the lanes have addresses with one step between them. */
static bool
access_has_step(const accesses *a, int64_t *step)
{
    uint64_t differs = 0;

    *step = a->count < 2 ? 0 : (int64_t)(a->at[1] - a->at[0]);
    for (unsigned i = 0; i < a->count; i++) {
        differs |= a->at[i] ^ (a->at[0] + i * (uint64_t)*step);
    }
    return differs == 0;
}

static void
access_sort(accesses *a)
{
    for (unsigned i = 1; i < a->count; i++) {
        const uint64_t moved = a->at[i];
        unsigned k = i;

        for (; k > 0 && a->at[k - 1] > moved; k--) {
            a->at[k] = a->at[k - 1];
        }
        a->at[k] = moved;
    }
}

/* Whether all keys differ; those of the last half are also in front of the others. */
static inline __attribute__((always_inline)) bool
keys_differ(const uint32_t keys[HALF_WARP + EMU_LANES])
{
    uint32_t equal = 0;

    for (unsigned distance = 1; distance <= HALF_WARP; distance++) {
        for (unsigned i = 0; i < EMU_LANES; i++) {
            equal |= keys[HALF_WARP + i] == keys[HALF_WARP + i - distance];
        }
    }
    return equal == 0;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static bool
keys_differ_avx2(const uint32_t keys[HALF_WARP + EMU_LANES])
{
    return keys_differ(keys);
}
#endif

/* Whether each lane has a sector of its own. False may be wrong: keys are parts of the
 * sectors' numbers. */
static bool
access_is_spread(const accesses *a)
{
    uint32_t keys[HALF_WARP + EMU_LANES];

    for (unsigned i = 0; i < EMU_LANES; i++) {
        keys[HALF_WARP + i] = i < a->count ? (uint32_t)(a->at[i] >> SECTOR_SHIFT) : ~i;
    }
    memcpy(keys, &keys[EMU_LANES], HALF_WARP * sizeof *keys);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        return keys_differ_avx2(keys);
    }
#endif
    return keys_differ(keys);
}

/* Count the different numbers of some, each of which is an address shifted right. */
static unsigned
access_count_different(const accesses *a, unsigned shift)
{
    enum { PLACES = 2 * EMU_LANES, HASH_SHIFT = 58 };
    uint64_t known[PLACES] = {0}; /* numbers plus one */
    unsigned different = 0;

    for (unsigned i = 0; i < a->count; i++) {
        const uint64_t number = (a->at[i] >> shift) + 1;
        unsigned place = (unsigned)(number * 0x9E3779B97F4A7C15U >> HASH_SHIFT);

        while (known[place] != 0 && known[place] != number) {
            place = (place + 1) % PLACES;
        }
        different += known[place] == 0;
        known[place] = number;
    }
    return different;
}

/* Count sectors, different addresses, and the lanes of the most frequent address. */
static void
access_count_sorted(const accesses *a, uint64_t *sectors, uint64_t *different,
                    uint64_t *equal)
{
    uint64_t run = 0;

    for (unsigned i = 0; i < a->count; i++) {
        const bool is_new = i == 0 || a->at[i] != a->at[i - 1];

        run = is_new ? 1 : run + 1;
        *different += is_new;
        *sectors += i == 0 || a->at[i] / SECTOR != a->at[i - 1] / SECTOR;
        if (run > *equal) {
            *equal = run;
        }
    }
}

/* The same for addresses with one step between them. */
static void
access_count_step(const accesses *a, int64_t step, uint64_t *sectors,
                  uint64_t *different, uint64_t *equal)
{
    const uint64_t distance = step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
    const uint64_t last = a->at[a->count - 1];

    *different = step == 0 ? 1 : a->count;
    *equal = step == 0 ? a->count : 1;
    *sectors = a->count;
    if (distance <= SECTOR) {
        *sectors = step < 0 ? a->at[0] / SECTOR - last / SECTOR + 1
                            : last / SECTOR - a->at[0] / SECTOR + 1;
    }
}

/* Remove one access of each address from sorted ones. */
static void
access_remove_first(accesses *a)
{
    uint64_t last = ~a->at[0];
    unsigned left = 0;

    for (unsigned i = 0; i < a->count; i++) {
        const bool is_first = a->at[i] != last;

        last = a->at[i];
        if (!is_first) {
            a->at[left++] = a->at[i];
        }
    }
    a->count = left;
}

/* Count the sectors of atomic operations. Those of lanes with equal addresses are made
 * one after the other, each with the sectors of the lanes that still wait. */
static uint64_t
access_atomic_sectors(accesses *a)
{
    uint64_t sectors = 0, ignored[2] = {0, 0};

    while (a->count > 0) {
        access_count_sorted(a, &sectors, &ignored[0], &ignored[1]);
        access_remove_first(a);
    }
    return sectors;
}

static void
access_add_global(accesses *a, bool is_atomic, costs *sum)
{
    uint64_t sectors = 0, different = 0, equal = 0;
    int64_t step;

    if (a->count == 0) {
        return;
    }
    sum->step = step_of_both(sum->step, access_step(a));
    if (!is_atomic && access_has_step(a, &step)) {
        access_count_step(a, step, &sectors, &different, &equal);
    }
    else if (!is_atomic && access_is_spread(a)) {
        sectors = different = a->count;
    }
    else if (!is_atomic) {
        sectors = access_count_different(a, SECTOR_SHIFT);
        different = sectors < a->count ? access_count_different(a, 0) : sectors;
    }
    else {
        access_sort(a);
        access_count_sorted(a, &sectors, &different, &equal);
    }
    if (is_atomic) {
        sectors = access_atomic_sectors(a);
    }
    sum->values[EMU_COUNT_GLOBAL]++;
    sum->values[EMU_COUNT_SECTORS] += sectors;
    sum->values[EMU_COUNT_LEAST_SECTORS] += count_units(different * a->size, SECTOR);
    sum->values[EMU_COUNT_EQUAL] += is_atomic ? equal : 0;
}

/* -- shared memory ----------------------------------------------------------------- */

/* The different words of each bank. */
typedef struct {
    uint8_t count[BANKS];
    uint64_t words[BANKS][EMU_LANES];
} bank_words;

/* Add a word to its bank. False: the bank has it. */
static bool
banks_add(bank_words *banks, uint64_t word)
{
    const unsigned bank = word % BANKS;

    for (unsigned i = 0; i < banks->count[bank]; i++) {
        if (banks->words[bank][i] == word) {
            return false;
        }
    }
    banks->words[bank][banks->count[bank]++] = word;
    return true;
}

/* Add the wavefronts of the accesses of some lanes. A bank gives a word to all lanes at
 * once, but makes atomic operations one by one. */
static void
access_add_wavefronts(const accesses *a, unsigned first, unsigned end, bool is_atomic,
                      costs *sum)
{
    const unsigned words = count_units(a->size, WORD);
    uint8_t turns[BANKS] = {0};
    bank_words banks;
    unsigned most = 0;
    uint64_t different = 0;

    memset(banks.count, 0, sizeof banks.count);
    for (unsigned i = first; i < end; i++) {
        for (unsigned w = 0; w < words; w++) {
            const uint64_t word = a->at[i] / WORD + w;
            const bool is_new = banks_add(&banks, word);
            const unsigned bank = word % BANKS;

            different += is_new;
            turns[bank] = (uint8_t)(turns[bank] + (is_new || is_atomic));
            most = turns[bank] > most ? turns[bank] : most;
        }
    }
    sum->values[EMU_COUNT_WAVEFRONTS] += most;
    sum->values[EMU_COUNT_LEAST_WAVEFRONTS] += count_units(different * WORD, WAVEFRONT);
}

/* Accesses of 8 bytes are made by halves of the warp, those of 16 by quarters. */
static void
access_add_shared(accesses *a, bool is_atomic, costs *sum)
{
    const unsigned together = EMU_LANES / count_units(a->size, WORD);
    uint64_t ignored[2] = {0, 0}, equal = 0;
    unsigned first = 0, end = 0;

    if (a->count == 0) {
        return;
    }
    sum->step = step_of_both(sum->step, access_step(a));
    for (; first < a->count; first = end) {
        while (end < a->count && a->lane[end] / together == a->lane[first] / together) {
            end++;
        }
        access_add_wavefronts(a, first, end, is_atomic, sum);
    }
    if (is_atomic) {
        access_sort(a);
        access_count_sorted(a, &ignored[0], &ignored[1], &equal);
    }
    sum->values[EMU_COUNT_SHARED]++;
    sum->values[EMU_COUNT_EQUAL] += equal;
}

/* -- any memory -------------------------------------------------------------------- */

/* What the cost of an access depends on, beside its addresses. */
typedef struct {
    unsigned size, space;
    bool is_atomic;
} access_kind;

static access_kind
access_kind_of(const emu_insn *insn)
{
    return (access_kind){.size = emu_access_bytes(insn),
                         .space = insn->aux & EMU_AT_MASK,
                         .is_atomic = emu_op_effect(insn->op) == EMU_EFFECT_UPDATE};
}

/* The space of an address: that of the instruction, or that of a generic address. */
static unsigned
access_space(unsigned space, uint64_t address)
{
    if (space != EMU_AT_GENERIC) {
        return space;
    }
    if (address < EMU_SHARED_WINDOW) {
        return EMU_AT_GLOBAL;
    }
    return address < EMU_LOCAL_WINDOW ? EMU_AT_SHARED : EMU_AT_LOCAL;
}

/* Add what an access to these addresses costs. */
static void
access_add_lanes(const uint64_t at[EMU_LANES], uint32_t mask, access_kind kind,
                 costs *sum)
{
    accesses global, shared; /* without zeros: they are large */
    bool is_local = false;

    global.count = shared.count = 0;
    global.size = shared.size = kind.size;
    for (; mask; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);

        switch (access_space(kind.space, at[lane])) {
            case EMU_AT_GLOBAL:
                accesses_add(&global, lane, at[lane]);
                break;
            case EMU_AT_SHARED:
                accesses_add(&shared, lane, at[lane]);
                break;
            default:
                is_local = true;
                break;
        }
    }
    access_add_global(&global, kind.is_atomic, sum);
    access_add_shared(&shared, kind.is_atomic, sum);
    sum->values[EMU_COUNT_LOCAL] += is_local;
}

static void
costs_add(costs *sum, const costs *more)
{
    for (unsigned i = 0; i < EMU_COUNT_VALUES; i++) {
        sum->values[i] += more->values[i];
    }
    sum->step = step_of_both(sum->step, more->step);
}

/* -- patterns ---------------------------------------------------------------------- */

/* How the addresses of a warp lie to each other. Accesses with the same pattern cost
 * the same, so the costs of the last ones are remembered. */
typedef struct {
    uint32_t behind[EMU_LANES]; /* the first active lane; 0 for lanes not active */
    uint32_t mask;
    uint16_t start; /* of the first active lane: its place in a sector */
    uint16_t space; /* and its space */
    uint32_t size, is_atomic;
} pattern;

enum { REMEMBERED = 64 };

/* Find the pattern of a warp's addresses. False: they are far from each other. */
static bool
pattern_find(const uint64_t at[EMU_LANES], uint32_t mask, access_kind kind,
             pattern *out)
{
    const uint64_t first = at[__builtin_ctz(mask)];
    uint64_t far = 0;
    int i;

    EMU_VECTORISE
    for (i = 0; i < EMU_LANES; i++) {
        const uint64_t behind = mask & lane_bits[i] ? at[i] - first : 0;

        out->behind[i] = (uint32_t)behind;
        far |= behind + ((uint64_t)1 << 31);
    }
    out->mask = mask;
    out->start = first % SECTOR;
    out->space = (uint16_t)access_space(kind.space, first);
    out->size = kind.size;
    out->is_atomic = kind.is_atomic;
    return far >> 32 == 0;
}

/* Add what the access of a warp costs. */
static void
access_add(const emu_warp *warp, const emu_insn *insn, costs *sum)
{
    static _Thread_local struct {
        pattern of;
        costs cost;
    } remembered[REMEMBERED];
    const size_t place = (uintptr_t)insn / sizeof *insn % REMEMBERED;
    const access_kind kind = access_kind_of(insn);
    uint64_t at[EMU_LANES];
    pattern found;

    if (warp->mask == 0) {
        return;
    }
    emu_address_of_lanes(warp, insn, at);
    if (!pattern_find(at, warp->mask, kind, &found)) {
        access_add_lanes(at, warp->mask, kind, sum);
        return;
    }
    if (memcmp(&remembered[place].of, &found, sizeof found) != 0) {
        remembered[place].of = found;
        memset(&remembered[place].cost, 0, sizeof remembered[place].cost);
        access_add_lanes(at, warp->mask, kind, &remembered[place].cost);
    }
    costs_add(sum, &remembered[place].cost);
}

/* -- accesses whose addresses are known -------------------------------------------- */

/* Add the cost of full warps whose lanes access elements one behind the other. False:
 * they do not. */
static bool
access_add_linear(const emu_warp *warp, const emu_insn *insn, unsigned warps,
                  costs *sum)
{
    const uint32_t scale = insn->aux >> EMU_AT_SCALE_SHIFT;
    const unsigned size = emu_access_bytes(insn), bytes = size * EMU_LANES;

    if ((insn->aux & EMU_AT_LINEAR) == 0 || scale != size || warp->mask != EMU_FULL ||
        !warp->block->grid->is_linear || (insn->aux & EMU_AT_MASK) != EMU_AT_GLOBAL ||
        emu_op_effect(insn->op) == EMU_EFFECT_UPDATE) {
        return false;
    }
    const uint64_t first = *EMU_SOURCE(u64, insn->c) + (uint64_t)insn->imm +
                           emu_address_index(insn->aux, *EMU_SOURCE(u32, insn->a));

    sum->values[EMU_COUNT_GLOBAL] += warps;
    sum->values[EMU_COUNT_SECTORS] +=
        (uint64_t)warps * count_units(first % SECTOR + bytes, SECTOR);
    sum->values[EMU_COUNT_LEAST_SECTORS] +=
        (uint64_t)warps * count_units(bytes, SECTOR);
    sum->step = step_of_both(sum->step, size);
    return true;
}

/* Add the cost of an access whose addresses are the same in all blocks of a launch: it
 * is found once for each warp. False: they are not. */
static bool
access_add_fixed(const emu_warp *warp, const emu_insn *insn, unsigned warps, costs *sum)
{
    static _Thread_local struct {
        const emu_insn *insn;
        uint64_t launch;
        uint32_t first, warps;
        costs cost;
    } remembered[REMEMBERED], *last;

    if ((insn->aux & EMU_AT_SHAPE) == 0 || warp->mask != EMU_FULL) {
        return false;
    }
    last = &remembered[((uintptr_t)insn / sizeof *insn + warp->number) % REMEMBERED];
    if (last->insn != insn || last->launch != warp->block->grid->number ||
        last->first != warp->number || last->warps != warps) {
        last->insn = insn;
        last->launch = warp->block->grid->number;
        last->first = warp->number;
        last->warps = warps;
        memset(&last->cost, 0, sizeof last->cost);
        for (unsigned i = 0; i < warps; i++) {
            access_add(&warp[i], insn, &last->cost);
        }
    }
    costs_add(sum, &last->cost);
    return true;
}

/* -- counting ---------------------------------------------------------------------- */

static void
access_count(const emu_warp *warp, const emu_insn *insn, unsigned warps)
{
    emu_count *const count = (emu_count *)(uintptr_t)insn->imm;
    const unsigned thread = warp->block->worker->number;
    costs sum = {{0}, 0};
    int64_t step;

    if (!access_add_linear(warp, insn + 1, warps, &sum) &&
        !access_add_fixed(warp, insn + 1, warps, &sum)) {
        for (unsigned i = 0; i < warps; i++) {
            access_add(&warp[i], insn + 1, &sum);
        }
    }
    for (unsigned i = 0; i < EMU_COUNT_VALUES; i++) {
        if (sum.values[i] != 0) {
            emu_count_add(count, thread, i, sum.values[i]);
        }
    }
    step = atomic_load_explicit(&count->step, memory_order_relaxed);
    if (step_of_both(step, sum.step) != step) {
        atomic_store_explicit(&count->step, step_of_both(step, sum.step),
                              memory_order_relaxed);
    }
}

void
emu_access_count(const emu_warp *warp, const emu_insn *insn)
{
    access_count(warp, insn, 1);
}

void
emu_access_count_all(const emu_warp *warp, const emu_insn *insn)
{
    access_count(warp, insn, warp->abreast);
}
