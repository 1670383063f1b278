/* Operations between the lanes of a warp: shuffles, votes, match, reductions. Each is a
 * .sync operation: emu_sync calls its two phases (see emu_sync_phase). */
#include "device/machine/warp/machine.h"

#include "device/machine/warp/init_check.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/warp.h"

static void
warp_bar_phase(emu_warp *warp, const emu_insn *insn, uint32_t mask, uint32_t all,
               int phase)
{
    (void)warp;
    (void)insn;
    (void)mask;
    (void)all;
    (void)phase;
}

/* bar.warp.sync a */
const emu_insn *
emu_op_bar_warp(emu_warp *warp, const emu_insn *insn)
{
    return emu_sync(warp, insn, insn->a, warp_bar_phase);
}

/* Phase 0: store operand a of the lanes in `mask`. */
static void
warp_deposit(emu_warp *warp, const emu_insn *insn, uint32_t mask, bool wide)
{
    uint32_t left;
    int lane;

    if (mask == UINT32_MAX && !wide) {
        for (lane = 0; lane < EMU_LANES; lane++) {
            warp->exchange[0][lane] = EMU_SOURCE(u32, insn->a)[lane];
        }
        return;
    }
    for (left = mask; left; left &= left - 1) {
        lane = __builtin_ctz(left);
        if (wide) {
            warp->exchange[0][lane] = EMU_SOURCE(u64, insn->a)[lane];
        }
        else {
            warp->exchange[0][lane] = EMU_SOURCE(u32, insn->a)[lane];
        }
    }
}

/* -- shfl -------------------------------------------------------------------------- */

/* The lane that a lane reads from, and whether it is within the segment. */
static unsigned
warp_shuffle_source(unsigned mode, unsigned lane, uint32_t b, uint32_t c, bool *inside)
{
    const unsigned clamp = c & 0x1f, segment = c >> 8 & 0x1f;
    const unsigned max = (lane & segment) | (clamp & ~segment);
    const unsigned min = lane & segment;
    unsigned source;

    b &= 0x1f;
    switch (mode) {
        case 0: /* up */
            source = lane - b;
            *inside = (int)source >= (int)max;
            break;
        case 1: /* down */
            source = lane + b;
            *inside = source <= max;
            break;
        case 2: /* bfly */
            source = lane ^ b;
            *inside = source <= max;
            break;
        default: /* idx */
            source = min | (b & ~segment);
            *inside = source <= max;
            break;
    }
    return *inside ? source & 0x1f : lane;
}

/* Shuffles between all lanes of a warp with the same b and c. Returns the bits e. */
static inline uint32_t
warp_shuffle_mode(const emu_warp *warp, unsigned mode, uint32_t b, uint32_t c, u32 *d)
{
    uint32_t sources[EMU_LANES], bits = 0;
    unsigned lane;

    EMU_VECTORISE
    for (lane = 0; lane < EMU_LANES; lane++) {
        bool inside;

        sources[lane] = warp_shuffle_source(mode, lane, b, c, &inside);
        bits |= inside ? lane_bits[lane] : 0;
    }
    for (lane = 0; lane < EMU_LANES; lane++) {
        d[lane] = (uint32_t)warp->exchange[0][sources[lane]];
    }
    return bits;
}

/* As warp_shuffle_mode; each case is compiled for its mode. */
static uint32_t
warp_shuffle_all(const emu_warp *warp, unsigned mode, uint32_t b, uint32_t c, u32 *d)
{
    switch (mode) {
        case 0:
            return warp_shuffle_mode(warp, 0, b, c, d);
        case 1:
            return warp_shuffle_mode(warp, 1, b, c, d);
        case 2:
            return warp_shuffle_mode(warp, 2, b, c, d);
        default:
            return warp_shuffle_mode(warp, 3, b, c, d);
    }
}

/* Whether an operand is the same in all lanes. */
static bool
warp_uniform(const emu_warp *warp, uint32_t operand)
{
    const u32 *const lanes = EMU_SOURCE(u32, operand);
    uint32_t differ = 0;
    int lane;

    if (emu_is_uniform(operand)) {
        return true;
    }
    for (lane = 1; lane < EMU_LANES; lane++) {
        differ |= lanes[lane] ^ lanes[0];
    }
    return !differ;
}

/* d|e = shfl.mode a, b, c; member mask x[0]; aux & 4: there is no e. */
static void
warp_shuffle_phase(emu_warp *warp, const emu_insn *insn, uint32_t mask, uint32_t all,
                   int phase)
{
    uint32_t left, bits = 0;
    emu_unset before;

    if (phase == 0) {
        warp_deposit(warp, insn, mask, false);
        return;
    }
    if (mask == UINT32_MAX && !warp->block->init && warp_uniform(warp, insn->b) &&
        warp_uniform(warp, insn->c)) {
        bits = warp_shuffle_all(warp, insn->aux & 3, *EMU_SOURCE(u32, insn->b),
                                *EMU_SOURCE(u32, insn->c), EMU_TARGET(u32, insn->d));
        if (!(insn->aux & 4)) {
            *EMU_TARGET(u32, insn->e) = bits;
        }
        return;
    }
    if (warp->block->init) {
        before = emu_unset_of(warp, insn->a);
    }
    for (left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        bool inside;
        unsigned source =
            warp_shuffle_source(insn->aux & 3, lane, EMU_SOURCE(u32, insn->b)[lane],
                                EMU_SOURCE(u32, insn->c)[lane], &inside);

        if (warp->block->init) {
            emu_init_shuffle(warp, insn, lane, source, all >> source & 1, &before);
        }
        /* the value of a lane that does not take part is undefined */
        if (!(all >> source & 1)) {
            source = lane;
        }
        bits |= (uint32_t)inside << lane;
        EMU_TARGET(u32, insn->d)[lane] = (uint32_t)warp->exchange[0][source];
    }
    if (!(insn->aux & 4)) {
        u32 *const e = EMU_TARGET(u32, insn->e);

        *e = (*e & ~mask) | bits;
    }
}

const emu_insn *
emu_op_shfl(emu_warp *warp, const emu_insn *insn)
{
    return emu_sync(warp, insn, insn->x[0], warp_shuffle_phase);
}

/* -- vote, activemask -------------------------------------------------------------- */

enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT, VOTE_NEGATED = 8 };

static void
warp_vote_phase(emu_warp *warp, const emu_insn *insn, uint32_t mask, uint32_t all,
                int phase)
{
    uint32_t left, votes = 0;
    bool value;
    u32 *d;

    if (phase == 0) {
        const uint32_t bits =
            emu_predicate(warp, insn->a, (insn->aux & VOTE_NEGATED) != 0);

        for (left = mask; left; left &= left - 1) {
            warp->exchange[0][__builtin_ctz(left)] = bits >> __builtin_ctz(left) & 1;
        }
        return;
    }
    for (left = all; left; left &= left - 1) {
        votes |= (uint32_t)warp->exchange[0][__builtin_ctz(left)]
                 << __builtin_ctz(left);
    }
    if ((insn->aux & 7) == VOTE_BALLOT) {
        for (left = mask; left; left &= left - 1) {
            EMU_TARGET(u32, insn->d)[__builtin_ctz(left)] = votes;
        }
        return;
    }
    switch (insn->aux & 7) {
        case VOTE_ALL:
            value = votes == all;
            break;
        case VOTE_ANY:
            value = votes != 0;
            break;
        default:
            value = votes == all || votes == 0;
            break;
    }
    d = EMU_TARGET(u32, insn->d);
    *d = (*d & ~mask) | (emu_lanes_if(value) & mask);
}

const emu_insn *
emu_op_vote(emu_warp *warp, const emu_insn *insn)
{
    return emu_sync(warp, insn, insn->b, warp_vote_phase);
}

const emu_insn *
emu_op_activemask(emu_warp *warp, const emu_insn *insn)
{
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        EMU_TARGET(u32, insn->d)[__builtin_ctz(left)] = warp->mask;
    }
    return insn + 1;
}

/* elect.sync d|e, a: the lowest lane is the leader. */
static void
warp_elect_phase(emu_warp *warp, const emu_insn *insn, uint32_t mask, uint32_t all,
                 int phase)
{
    const uint32_t leader = (uint32_t)__builtin_ctz(all);
    u32 *const e = EMU_TARGET(u32, insn->e);
    uint32_t left;

    if (phase == 0) {
        return;
    }
    for (left = mask; left; left &= left - 1) {
        EMU_TARGET(u32, insn->d)[__builtin_ctz(left)] = leader;
    }
    *e = (*e & ~mask) | (mask & 1u << leader);
}

const emu_insn *
emu_op_elect(emu_warp *warp, const emu_insn *insn)
{
    return emu_sync(warp, insn, insn->a, warp_elect_phase);
}

/* -- match ------------------------------------------------------------------------- */

/* The bits in which the values of these lanes differ. */
static uint64_t
warp_differing_bits(const emu_warp *warp, uint32_t lanes)
{
    const uint64_t first = warp->exchange[0][__builtin_ctz(lanes)];
    uint64_t differs = 0;
    int lane;

    for (lane = 0; lane < EMU_LANES; lane++) {
        const uint64_t active = 0 - (uint64_t)(lanes >> lane & 1);

        differs |= (warp->exchange[0][lane] ^ first) & active;
    }
    return differs;
}

/* Set for each lane the lanes of `all` that have its value: one round for each bit in
 * which values differ. */
static void
warp_match_groups(const emu_warp *warp, uint32_t all, uint32_t same[EMU_LANES])
{
    uint64_t left = warp_differing_bits(warp, all);
    int lane;

    for (lane = 0; lane < EMU_LANES; lane++) {
        same[lane] = all;
    }
    for (; left; left &= left - 1) {
        const int bit = __builtin_ctzll(left);
        uint32_t clear[EMU_LANES], ones = 0;

        for (lane = 0; lane < EMU_LANES; lane++) {
            clear[lane] = (uint32_t)(warp->exchange[0][lane] >> bit & 1) - 1;
            ones |= ~clear[lane] & lane_bits[lane];
        }
        for (lane = 0; lane < EMU_LANES; lane++) {
            same[lane] &= ones ^ clear[lane];
        }
    }
}

/* d = match.any a, d|e = match.all a; members b; aux: 1 all, 2 64-bit, 4 no e. */
static void
warp_match_phase(emu_warp *warp, const emu_insn *insn, uint32_t mask, uint32_t all,
                 int phase)
{
    uint32_t same[EMU_LANES], left;
    bool equal;

    if (phase == 0) {
        warp_deposit(warp, insn, mask, insn->aux & 2);
        return;
    }
    if (!(insn->aux & 1)) {
        warp_match_groups(warp, all, same);
        blend_u32(EMU_TARGET(u32, insn->d), same, mask);
        return;
    }
    equal = warp_differing_bits(warp, all) == 0;
    for (left = mask; left; left &= left - 1) {
        EMU_TARGET(u32, insn->d)[__builtin_ctz(left)] = emu_lanes_if(equal) & all;
    }
    if (!(insn->aux & 4)) {
        u32 *const e = EMU_TARGET(u32, insn->e);

        *e = (*e & ~mask) | (emu_lanes_if(equal) & mask);
    }
}

const emu_insn *
emu_op_match(emu_warp *warp, const emu_insn *insn)
{
    return emu_sync(warp, insn, insn->b, warp_match_phase);
}

/* -- redux ------------------------------------------------------------------------- */

enum {
    REDUX_ADD,
    REDUX_MIN,
    REDUX_MAX,
    REDUX_AND,
    REDUX_OR,
    REDUX_XOR,
    REDUX_SIGNED = 8
};

static uint32_t
warp_redux_combine(unsigned operation, uint32_t x, uint32_t y)
{
    switch (operation) {
        case REDUX_ADD:
        case REDUX_ADD | REDUX_SIGNED:
            return x + y;
        case REDUX_MIN:
            return x < y ? x : y;
        case REDUX_MAX:
            return x > y ? x : y;
        case REDUX_MIN | REDUX_SIGNED:
            return (int32_t)x < (int32_t)y ? x : y;
        case REDUX_MAX | REDUX_SIGNED:
            return (int32_t)x > (int32_t)y ? x : y;
        case REDUX_AND:
        case REDUX_AND | REDUX_SIGNED:
            return x & y;
        case REDUX_OR:
        case REDUX_OR | REDUX_SIGNED:
            return x | y;
        default:
            return x ^ y;
    }
}

static void
warp_redux_phase(emu_warp *warp, const emu_insn *insn, uint32_t mask, uint32_t all,
                 int phase)
{
    uint32_t left, value;

    if (phase == 0) {
        warp_deposit(warp, insn, mask, false);
        return;
    }
    value = (uint32_t)warp->exchange[0][__builtin_ctz(all)];
    for (left = all & (all - 1); left; left &= left - 1) {
        value = warp_redux_combine(insn->aux, value,
                                   (uint32_t)warp->exchange[0][__builtin_ctz(left)]);
    }
    for (left = mask; left; left &= left - 1) {
        EMU_TARGET(u32, insn->d)[__builtin_ctz(left)] = value;
    }
}

const emu_insn *
emu_op_redux(emu_warp *warp, const emu_insn *insn)
{
    return emu_sync(warp, insn, insn->b, warp_redux_phase);
}
