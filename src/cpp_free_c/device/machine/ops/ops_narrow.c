/* Conversions to and from numbers of 8 bits and tf32, and cvt.pack. See base/number.h.
 */
#include "device/base/number.h"

#include "device/compile/encoding.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/machine.h"

#undef EMU_OP
#define EMU_OP(name) const emu_insn *emu_op_##name(emu_warp *warp, const emu_insn *insn)

/* -- pairs of bytes: aux is the format, imm says .relu ----------------------------- */

/* .relu: zero for a negative number. NaN stays. */
static double
narrow_relu(double x, bool relu)
{
    if (relu && !(x > 0.0) && x == x) {
        return 0.0;
    }
    return x;
}

static uint16_t
narrow_byte(float x, const emu_insn *insn)
{
    return emu_fp8_round(narrow_relu((double)x, insn->imm), (int)insn->aux);
}

EMU_SLOW_BINARY(cvt_fp8x2_f32, u16, f32, f32,
                narrow_byte(x, insn) << 8 | narrow_byte(y, insn))

static uint32_t
narrow_half(uint16_t byte, const emu_insn *insn)
{
    const double value = emu_fp8_value((uint8_t)byte, (int)insn->aux);

    return emu_half_round(narrow_relu(value, insn->imm), EMU_F16, EMU_RN);
}

EMU_SLOW_UNARY(cvt_f16x2_fp8, u32, u16,
               narrow_half(x >> 8, insn) << 16 | narrow_half(x & 0xff, insn))

/* -- tf32 -------------------------------------------------------------------------- */

/* The magnitude with its lower 13 bits rounded away. */
static uint32_t
narrow_tf32_magnitude(uint32_t magnitude, unsigned rounding)
{
    const uint32_t odd = magnitude >> 13 & 1;

    switch (rounding) {
        case EMU_TF32_RN:
            magnitude += 0xfff + odd;
            break;
        case EMU_TF32_RNA:
            magnitude += 0x1000;
            break;
        default: /* EMU_TF32_RZ */
            break;
    }
    return magnitude & 0x7fffe000;
}

/* .rna keeps the upper bits of NaN. .satfinite takes a unit from all that is not
 * finite, NaN too. */
static uint32_t
narrow_tf32(uint32_t x, unsigned aux)
{
    const bool is_nan = (x & 0x7fffffff) > 0x7f800000;
    const unsigned rounding = aux & EMU_TF32_ROUNDING;
    uint32_t sign = x & 0x80000000u, magnitude = x & 0x7fffffff;

    if (is_nan && rounding != EMU_TF32_RNA) {
        return 0x7fffe000;
    }
    if (aux & EMU_TF32_RELU && sign) {
        return 0;
    }
    magnitude =
        narrow_tf32_magnitude(magnitude, is_nan ? (unsigned)EMU_TF32_RZ : rounding);
    if (aux & EMU_TF32_FINITE && magnitude >= 0x7f800000) {
        magnitude -= 0x2000;
    }
    return sign | magnitude;
}

EMU_SLOW_UNARY(cvt_tf32_f32, u32, u32, narrow_tf32(x, insn->aux))

/* -- cvt.pack: aux is the number of bits, imm says signed -------------------------- */

static uint32_t
narrow_clamp(int32_t x, unsigned bits, bool is_signed)
{
    int32_t low = 0, high = (int32_t)(((uint32_t)1 << bits) - 1);

    if (is_signed) {
        low = -((int32_t)1 << (bits - 1));
        high = -low - 1;
    }
    if (x < low) {
        x = low;
    }
    if (x > high) {
        x = high;
    }
    return (uint32_t)x & (((uint32_t)1 << bits) - 1);
}

static uint32_t
narrow_pack(int32_t a, int32_t b, uint32_t c, const emu_insn *insn)
{
    const unsigned bits = insn->aux;
    const uint32_t pair =
        narrow_clamp(a, bits, insn->imm) << bits | narrow_clamp(b, bits, insn->imm);

    if (bits == 16) {
        return pair;
    }
    return c << (2 * bits) | pair;
}

EMU_SLOW_TERNARY(cvt_pack, u32, s32, s32, u32, narrow_pack(x, y, z, insn))
