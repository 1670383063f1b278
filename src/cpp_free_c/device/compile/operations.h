/* The operations of the machine: X(name, flags).
 *
 * Lowering writes the number EMU_OP_name; the machine has a table of functions by that
 * number, to which emu_insn.run points. A vector operation is a loop over lanes. Files
 * device/machine/ops_*.inc define it as op_name, and it is built twice (handlers.h).
 * (EMU_COMPARE_FLOATS in ops_float.inc defines the comparisons of floating-point
 * numbers.) A common operation is built once, as emu_op_name, mostly in
 * device/machine/ops_*.c. */
#ifndef DEVICE_COMPILE_OPERATIONS_H
#define DEVICE_COMPILE_OPERATIONS_H

#include <stdint.h>

/* How an operation uses the fields of its instruction other than for registers. */
enum {
    EMU_NUMBER_E = 1, /* e is a number */
    EMU_TARGET = 2,   /* a branch: imm is its target */
    EMU_TARGETS = 4,  /* a branch: the further operands are its targets */
    EMU_LEAVES = 8,   /* never continues with the next instruction */
    EMU_ALONE = 16    /* the order in which warps run it has an effect */
};

/* clang-format off */
#define EMU_OPS_VECTOR(X) \
    X(mov_16, 0) X(mov_32, 0) X(mov_64, 0) X(add_16, 0) X(add_32, 0) X(add_64, 0) \
    X(sub_16, 0) X(sub_32, 0) X(sub_64, 0) X(mul_16, 0) X(mul_32, 0) X(mul_64, 0) \
    X(mad_16, 0) X(mad_32, 0) X(mad_64, 0) X(mulhi_u16, 0) X(mulhi_s16, 0) \
    X(mulhi_u32, 0) X(mulhi_s32, 0) X(mulhi_u64, 0) X(mulhi_s64, 0) X(mulwide_u16, 0) \
    X(mulwide_s16, 0) X(mulwide_u32, 0) X(mulwide_s32, 0) X(madwide_u16, 0) \
    X(madwide_s16, 0) X(madwide_u32, 0) X(madwide_s32, 0) X(mul24lo_u32, 0) \
    X(mul24lo_s32, 0) X(mul24hi_u32, 0) X(mul24hi_s32, 0) X(addsat_s32, 0) \
    X(subsat_s32, 0) X(div_u16, 0) X(div_s16, 0) X(div_u32, 0) X(div_s32, 0) \
    X(div_u64, 0) X(div_s64, 0) X(rem_u16, 0) X(rem_s16, 0) X(rem_u32, 0) \
    X(rem_s32, 0) X(rem_u64, 0) X(rem_s64, 0) X(neg_16, 0) X(neg_32, 0) X(neg_64, 0) \
    X(abs_s16, 0) X(abs_s32, 0) X(abs_s64, 0) X(min_u16, 0) X(min_s16, 0) \
    X(min_u32, 0) X(min_s32, 0) X(min_u64, 0) X(min_s64, 0) X(max_u16, 0) \
    X(max_s16, 0) X(max_u32, 0) X(max_s32, 0) X(max_u64, 0) X(max_s64, 0) X(and_16, 0) \
    X(and_32, 0) X(and_64, 0) X(or_16, 0) X(or_32, 0) X(or_64, 0) X(xor_16, 0) \
    X(xor_32, 0) X(xor_64, 0) X(not_16, 0) X(not_32, 0) X(not_64, 0) X(cnot_16, 0) \
    X(cnot_32, 0) X(cnot_64, 0) X(shl_16, 0) X(shl_32, 0) X(shl_64, 0) X(shr_u16, 0) \
    X(shr_u32, 0) X(shr_u64, 0) X(shr_s16, 0) X(shr_s32, 0) X(shr_s64, 0) X(eq_16, 0) \
    X(ne_16, 0) X(lt_u16, 0) X(le_u16, 0) X(lt_s16, 0) X(le_s16, 0) X(eq_32, 0) \
    X(ne_32, 0) X(lt_u32, 0) X(le_u32, 0) X(lt_s32, 0) X(le_s32, 0) X(eq_64, 0) \
    X(ne_64, 0) X(lt_u64, 0) X(le_u64, 0) X(lt_s64, 0) X(le_s64, 0) X(mov_p, 0) \
    X(not_p, 0) X(and_p, 0) X(or_p, 0) X(xor_p, 0) X(selp_16, 0) X(selp_32, 0) \
    X(selp_64, 0) X(cvt_16_u8, 0) X(cvt_16_s8, 0) X(cvt_32from16_u8, 0) \
    X(cvt_32from16_s8, 0) X(cvt_32from16_u16, 0) X(cvt_32from16_s16, 0) \
    X(cvt_64from16_u8, 0) X(cvt_64from16_s8, 0) X(cvt_64from16_u16, 0) \
    X(cvt_64from16_s16, 0) X(cvt_16from32_u8, 0) X(cvt_16from32_s8, 0) \
    X(cvt_16from32_u16, 0) X(cvt_32_u8, 0) X(cvt_32_s8, 0) X(cvt_32_u16, 0) \
    X(cvt_32_s16, 0) X(cvt_64from32_u8, 0) X(cvt_64from32_s8, 0) \
    X(cvt_64from32_u16, 0) X(cvt_64from32_s16, 0) X(cvt_64from32_u32, 0) \
    X(cvt_64from32_s32, 0) X(cvt_16from64_u8, 0) X(cvt_16from64_s8, 0) \
    X(cvt_16from64_u16, 0) X(cvt_32from64_u8, 0) X(cvt_32from64_s8, 0) \
    X(cvt_32from64_u16, 0) X(cvt_32from64_s16, 0) X(cvt_32from64_u32, 0) \
    X(cvt_64_u8, 0) X(cvt_64_s8, 0) X(cvt_64_u16, 0) X(cvt_64_s16, 0) X(cvt_64_u32, 0) \
    X(cvt_64_s32, 0) X(part_16from32, 0) X(part_16from64, 0) X(part_32from64, 0) \
    X(join_16, 0) X(join_32, 0) X(join_64, 0) X(add_f32, 0) X(sub_f32, 0) \
    X(mul_f32, 0) X(add_ftz_f32, 0) X(sub_ftz_f32, 0) X(mul_ftz_f32, 0) X(add_f64, 0) \
    X(sub_f64, 0) X(mul_f64, 0) X(div_f32, 0) X(div_f64, 0) X(fma_f32, 0) \
    X(fma_ftz_f32, 0) X(fma_f64, 0) X(ftz_f32, 0) X(sat_f32, 0) X(neg_f32, 0) \
    X(abs_f32, 0) X(neg_f64, 0) X(abs_f64, 0) X(neg_half, 0) X(abs_half, 0) \
    X(copysign_f32, 0) X(copysign_f64, 0) X(sqrt_f32, 0) X(sqrt_f64, 0) X(rcp_f32, 0) \
    X(rcp_f64, 0) X(min_f32, 0) X(max_f32, 0) X(min_f64, 0) X(max_f64, 0) \
    X(minnan_f32, 0) X(maxnan_f32, 0) X(eq_f32, 0) X(ne_f32, 0) X(lt_f32, 0) \
    X(le_f32, 0) X(equ_f32, 0) X(neu_f32, 0) X(ltu_f32, 0) X(leu_f32, 0) X(num_f32, 0) \
    X(nan_f32, 0) X(eq_f64, 0) X(ne_f64, 0) X(lt_f64, 0) X(le_f64, 0) X(equ_f64, 0) \
    X(neu_f64, 0) X(ltu_f64, 0) X(leu_f64, 0) X(num_f64, 0) X(nan_f64, 0) \
    X(ex2_f32, 0) X(lg2_f32, 0) X(rsqrt_f32, 0) X(rsqrt_f64, 0) X(tanh_f32, 0) \
    X(sin_f32, 0) X(cos_f32, 0) X(rcpgross_f64, 0) X(rsqrtgross_f64, 0) \
    X(divapprox_f32, 0) X(cvt_f64_f32, 0) X(cvt_f32_f64, 0) X(cvt_f32_s32, 0) \
    X(cvt_f32_u32, 0) X(cvt_f32_s64, 0) X(cvt_f32_u64, 0) X(cvt_f64_s32, 0) \
    X(cvt_f64_u32, 0) X(cvt_f64_s64, 0) X(cvt_f64_u64, 0) X(rni_f32, 0) X(rzi_f32, 0) \
    X(rmi_f32, 0) X(rpi_f32, 0) X(rni_f64, 0) X(rzi_f64, 0) X(rmi_f64, 0) \
    X(rpi_f64, 0) X(cvt_s32_f32, 0) X(cvt_u32_f32, 0) X(cvt_s32_f64, 0) \
    X(cvt_u32_f64, 0) X(cvt_s64_f32, 0) X(cvt_u64_f32, 0) X(cvt_s64_f64, 0) \
    X(cvt_u64_f64, 0) X(ld_u8_16, 0) X(ld_s8_16, 0) X(ld_u8_32, 0) X(ld_s8_32, 0) \
    X(ld_u8_64, 0) X(ld_s8_64, 0) X(ld_u16_16, 0) X(ld_u16_32, 0) X(ld_s16_32, 0) \
    X(ld_u16_64, 0) X(ld_s16_64, 0) X(ld_u32_32, 0) X(ld_u32_64, 0) X(ld_s32_64, 0) \
    X(ld_u64_64, 0) X(st_8_16, 0) X(st_8_32, 0) X(st_8_64, 0) X(st_16_16, 0) \
    X(st_16_32, 0) X(st_16_64, 0) X(st_32_32, 0) X(st_32_64, 0) X(st_64_64, 0) \
    X(ld_vector, EMU_NUMBER_E) X(st_vector, EMU_NUMBER_E)

#define EMU_OPS_COMMON(X) \
    X(label, 0) X(guard, 0) X(round, 0) X(bra, EMU_TARGET | EMU_LEAVES) \
    X(bra_if, EMU_TARGET) X(brx, EMU_TARGETS) X(call, EMU_ALONE) X(call_to, EMU_ALONE) \
    X(ret, EMU_LEAVES) X(exit, EMU_LEAVES) X(trap, 0) X(entry, 0) X(bar_sync, 0) \
    X(bar_red, EMU_NUMBER_E) X(bar_arrive, 0) X(bar_warp, 0) X(cluster_arrive, 0) \
    X(cluster_wait, 0) X(mapa, EMU_NUMBER_E) X(ctarank, EMU_NUMBER_E) X(special, EMU_NUMBER_E) \
    X(lane_special, EMU_NUMBER_E) X(shfl, 0) X(vote, 0) X(match, 0) X(redux, 0) \
    X(activemask, 0) X(elect, 0) X(fence, 0) X(yield, 0) X(spin, 0) \
    X(local_address, 0) X(shared_dynamic, 0) X(ld_128, 0) X(st_128, 0) X(mov_128, 0) \
    X(join_128, 0) X(part_64from128, 0) X(to_window, 0) X(from_window, 0) \
    X(isspacep, 0) X(prefetch, 0) X(alloca, 0) X(stacksave, 0) X(stackrestore, 0) \
    X(service, EMU_ALONE) X(atom_32, EMU_NUMBER_E | EMU_ALONE) X(atom_64, EMU_NUMBER_E | EMU_ALONE) \
    X(atom_16, EMU_NUMBER_E | EMU_ALONE) X(atom_128, EMU_NUMBER_E | EMU_ALONE) X(addc_32, 0) X(addc_64, 0) X(subc_32, 0) X(subc_64, 0) \
    X(popc_32, 0) X(popc_64, 0) X(clz_32, 0) X(clz_64, 0) X(bfind_32, 0) \
    X(bfind_64, 0) X(brev_32, 0) X(brev_64, 0) X(bfe_32, 0) X(bfe_64, 0) X(bfi_32, 0) \
    X(bfi_64, 0) X(prmt, 0) X(shf, 0) X(bmsk, 0) X(szext, 0) X(fns, 0) X(lop3, 0) \
    X(sad_16, 0) X(sad_32, 0) X(sad_64, 0) X(dp4a, 0) X(dp2a, 0) X(testp_f32, 0) \
    X(testp_f64, 0) X(simd_video, 0) X(video, 0) X(video_mad, 0) X(cvt_fp8x2_f32, 0) \
    X(cvt_f16x2_fp8, 0) X(cvt_tf32_f32, 0) X(cvt_pack, 0) X(policy, 0) X(cvt_f32_f16, 0) X(cvt_f16_f32, 0) \
    X(cvt_f16_f64, 0) X(cvt_f16_64, 0) X(cvt_f64_f16, 0) X(half_add, 0) X(half_sub, 0) X(half_mul, 0) \
    X(half_fma, 0) X(half_min, 0) X(half_max, 0) X(half_sat, 0) X(half_tanh, 0) \
    X(half_ex2, 0) X(tex, 0) X(tex_query, 0) X(suld, 0) X(sust, 0) X(sured, EMU_ALONE) \
    X(mbarrier_init, EMU_ALONE) X(mbarrier_arrive, EMU_NUMBER_E | EMU_ALONE) \
    X(mbarrier_wait, EMU_NUMBER_E | EMU_ALONE) X(mbarrier_bytes, EMU_NUMBER_E | EMU_ALONE) \
    X(mbarrier_pending, EMU_ALONE) X(bulk_copy, EMU_NUMBER_E | EMU_ALONE) X(tensor_copy, EMU_NUMBER_E | EMU_ALONE) \
    X(mma, 0) X(wgmma, EMU_ALONE)
/* clang-format on */

#define EMU_OP_MEMBER(name, flags) EMU_OP_##name,
enum {
    EMU_OP_NONE,
    EMU_OPS_VECTOR(EMU_OP_MEMBER) EMU_OPS_COMMON(EMU_OP_MEMBER) EMU_OP_COUNT
};
#undef EMU_OP_MEMBER

/* The flags of each operation, and its name. */
extern const uint8_t emu_operation_flags[EMU_OP_COUNT];
extern const char *const emu_operation_names[EMU_OP_COUNT];

#endif
