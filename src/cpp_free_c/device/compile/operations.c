/* The rows of the operations as data. See operations.h. */
#include "device/compile/operations.h"

/* clang-format off */

/* Bytes of a lane, by the types that the rows of values, loads and stores name. */
enum {
    BYTES_u8 = 1, BYTES_s8 = 1, BYTES_u16 = 2, BYTES_s16 = 2, BYTES_u32 = 4,
    BYTES_s32 = 4, BYTES_u64 = 8, BYTES_s64 = 8, BYTES_f32 = 4, BYTES_f64 = 8
};

/* The column `operands` of OP_OWN and OP_VECTOR, and `bytes`. */
enum { P = EMU_WIDTH_PREDICATE, ANY = EMU_WIDTH_ANY, IN_E = EMU_BYTES_IN_E };

/* The widths of d, e, a, b and c of a value, by the name of its body. */
#define WIDTHS(d, e, a, b, c) {d, e, a, b, c}
#define WIDTHS_UNARY(d, a, body) {BYTES_##d, 0, BYTES_##a, 0, 0}
#define WIDTHS_BINARY(d, a, b, body) {BYTES_##d, 0, BYTES_##a, BYTES_##b, 0}
#define WIDTHS_TERNARY(d, a, b, c, body) \
    {BYTES_##d, 0, BYTES_##a, BYTES_##b, BYTES_##c}
#define WIDTHS_SLOW_UNARY WIDTHS_UNARY
#define WIDTHS_SLOW_BINARY WIDTHS_BINARY
#define WIDTHS_FUSED WIDTHS_TERNARY
#define WIDTHS_COMPARE(type, wide, body) {P, 0, BYTES_##type, BYTES_##type, 0}
#define WIDTHS_COMPARE_WORDS(type, body) {P, 0, BYTES_##type, BYTES_##type, 0}
#define WIDTHS_PREDICATE(body) {P, 0, P, P, 0}
#define WIDTHS_SELECT(type) {BYTES_##type, 0, BYTES_##type, BYTES_##type, P}
#define WIDTHS_WAVE(phase, function) {4, 0, 4, 0, 0}

const emu_op_row emu_op_rows[EMU_OP_COUNT] = {
#define OP_VALUE(name, unset, once, kind, ...)                                 \
    [EMU_OP_##name] = {WIDTHS_##kind(__VA_ARGS__), EMU_NO_FIELDS,              \
                       EMU_LOCKSTEP_each, EMU_EFFECT_PLAIN, 0,                 \
                       EMU_FOLLOW_##unset, EMU_RUNS_##once},
#define OP_LOAD(name, once, memory, register)                                  \
    [EMU_OP_##name] = {{BYTES_##register, 0, ANY, 0, 8}, EMU_TAKES_INDEX,      \
                       EMU_LOCKSTEP_each, EMU_EFFECT_READ, BYTES_##memory,     \
                       EMU_FOLLOW_COMPUTE, EMU_RUNS_##once},
#define OP_STORE(name, memory, register)                                       \
    [EMU_OP_##name] = {{0, 0, ANY, BYTES_##register, 8}, EMU_TAKES_INDEX,      \
                       EMU_LOCKSTEP_each, EMU_EFFECT_WRITE, BYTES_##memory,    \
                       EMU_FOLLOW_COMPUTE, EMU_RUNS_EACH},
#define OP_VECTOR(name, operands, fields, effect, bytes, unset, once)          \
    [EMU_OP_##name] = {WIDTHS operands, fields, EMU_LOCKSTEP_each,             \
                       EMU_EFFECT_##effect, bytes, EMU_FOLLOW_##unset,          \
                       EMU_RUNS_##once},
#define OP_OWN(name, operands, fields, lockstep, effect, bytes, unset, once)   \
    [EMU_OP_##name] = {WIDTHS operands, fields, EMU_LOCKSTEP_##lockstep,       \
                       EMU_EFFECT_##effect, bytes, EMU_FOLLOW_##unset,          \
                       EMU_RUNS_##once},
#include "tables/operations.inc"
};

/* An access has bytes, and nothing else has. */
#define ACCESS_ROW(name, effect, bytes)                                        \
    _Static_assert(((effect) >= EMU_EFFECT_READ &&                             \
                    (effect) <= EMU_EFFECT_TEST_OBJECT) == ((bytes) != 0),     \
                   #name);
#define OP_VALUE(name, ...)
#define OP_LOAD(name, ...)
#define OP_STORE(name, ...)
#define OP_VECTOR(name, operands, fields, effect, bytes, unset, once)          \
    ACCESS_ROW(name, EMU_EFFECT_##effect, bytes)
#define OP_OWN(name, operands, fields, lockstep, effect, bytes, unset, once)   \
    ACCESS_ROW(name, EMU_EFFECT_##effect, bytes)
#include "tables/operations.inc"

const char *const emu_op_names[EMU_OP_COUNT] = {
    [EMU_OP_NONE] = "none",
#define OP_EACH(name) [EMU_OP_##name] = #name,
#include "tables/operations.inc"
};
/* clang-format on */
