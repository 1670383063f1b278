/* The operations of the machine: one name for each.
 *
 * Lowering writes the number EMU_OP_name; the machine has a table of functions by that
 * number, to which emu_insn.run points. A vector operation is a loop over lanes that is
 * built twice (device/machine/interpreter.inc: op_name). A common operation is built
 * once (emu_op_name in device/machine). */
#ifndef DEVICE_COMPILE_OPERATIONS_H
#define DEVICE_COMPILE_OPERATIONS_H

/* clang-format off */
#define EMU_OPS_VECTOR(X) \
    X(mov_16) X(mov_32) X(mov_64) X(add_16) X(add_32) X(add_64) X(sub_16) X(sub_32) \
    X(sub_64) X(mul_16) X(mul_32) X(mul_64) X(mad_16) X(mad_32) X(mad_64) \
    X(mulhi_u16) X(mulhi_s16) X(mulhi_u32) X(mulhi_s32) X(mulhi_u64) X(mulhi_s64) \
    X(mulwide_u16) X(mulwide_s16) X(mulwide_u32) X(mulwide_s32) X(madwide_u16) \
    X(madwide_s16) X(madwide_u32) X(madwide_s32) X(mul24lo_u32) X(mul24lo_s32) \
    X(mul24hi_u32) X(mul24hi_s32) X(addsat_s32) X(subsat_s32) X(div_u16) X(div_s16) \
    X(div_u32) X(div_s32) X(div_u64) X(div_s64) X(rem_u16) X(rem_s16) X(rem_u32) \
    X(rem_s32) X(rem_u64) X(rem_s64) X(neg_16) X(neg_32) X(neg_64) X(abs_s16) \
    X(abs_s32) X(abs_s64) X(min_u16) X(min_s16) X(min_u32) X(min_s32) X(min_u64) \
    X(min_s64) X(max_u16) X(max_s16) X(max_u32) X(max_s32) X(max_u64) X(max_s64) \
    X(and_16) X(and_32) X(and_64) X(or_16) X(or_32) X(or_64) X(xor_16) X(xor_32) \
    X(xor_64) X(not_16) X(not_32) X(not_64) X(cnot_16) X(cnot_32) X(cnot_64) \
    X(shl_16) X(shl_32) X(shl_64) X(shr_u16) X(shr_u32) X(shr_u64) X(shr_s16) \
    X(shr_s32) X(shr_s64) X(eq_16) X(ne_16) X(lt_u16) X(le_u16) X(lt_s16) X(le_s16) \
    X(eq_32) X(ne_32) X(lt_u32) X(le_u32) X(lt_s32) X(le_s32) X(eq_64) X(ne_64) \
    X(lt_u64) X(le_u64) X(lt_s64) X(le_s64) X(mov_p) X(not_p) X(and_p) X(or_p) \
    X(xor_p) X(selp_16) X(selp_32) X(selp_64) X(cvt_16_u8) X(cvt_16_s8) \
    X(cvt_32from16_u8) X(cvt_32from16_s8) X(cvt_32from16_u16) X(cvt_32from16_s16) \
    X(cvt_64from16_u8) X(cvt_64from16_s8) X(cvt_64from16_u16) X(cvt_64from16_s16) \
    X(cvt_16from32_u8) X(cvt_16from32_s8) X(cvt_16from32_u16) X(cvt_32_u8) \
    X(cvt_32_s8) X(cvt_32_u16) X(cvt_32_s16) X(cvt_64from32_u8) X(cvt_64from32_s8) \
    X(cvt_64from32_u16) X(cvt_64from32_s16) X(cvt_64from32_u32) X(cvt_64from32_s32) \
    X(cvt_16from64_u8) X(cvt_16from64_s8) X(cvt_16from64_u16) X(cvt_32from64_u8) \
    X(cvt_32from64_s8) X(cvt_32from64_u16) X(cvt_32from64_s16) X(cvt_32from64_u32) \
    X(cvt_64_u8) X(cvt_64_s8) X(cvt_64_u16) X(cvt_64_s16) X(cvt_64_u32) \
    X(cvt_64_s32) X(part_16from32) X(part_16from64) X(part_32from64) X(join_16) \
    X(join_32) X(join_64) X(add_f32) X(sub_f32) X(mul_f32) X(add_ftz_f32) \
    X(sub_ftz_f32) X(mul_ftz_f32) X(add_f64) X(sub_f64) X(mul_f64) X(div_f32) \
    X(div_f64) X(fma_f32) X(fma_ftz_f32) X(fma_f64) X(ftz_f32) X(sat_f32) X(neg_f32) \
    X(abs_f32) X(neg_f64) X(abs_f64) X(neg_half) X(abs_half) X(copysign_f32) X(copysign_f64) X(sqrt_f32) \
    X(sqrt_f64) X(rcp_f32) X(rcp_f64) X(min_f32) X(max_f32) X(min_f64) X(max_f64) \
    X(minnan_f32) X(maxnan_f32) X(eq_f32) X(ne_f32) X(lt_f32) X(le_f32) X(equ_f32) \
    X(neu_f32) X(ltu_f32) X(leu_f32) X(num_f32) X(nan_f32) X(eq_f64) X(ne_f64) \
    X(lt_f64) X(le_f64) X(equ_f64) X(neu_f64) X(ltu_f64) X(leu_f64) X(num_f64) \
    X(nan_f64) X(ex2_f32) X(lg2_f32) X(rsqrt_f32) X(rsqrt_f64) X(tanh_f32) \
    X(sin_f32) X(cos_f32) X(rcpgross_f64) X(rsqrtgross_f64) X(divapprox_f32) \
    X(cvt_f64_f32) X(cvt_f32_f64) X(cvt_f32_s32) X(cvt_f32_u32) X(cvt_f32_s64) \
    X(cvt_f32_u64) X(cvt_f64_s32) X(cvt_f64_u32) X(cvt_f64_s64) X(cvt_f64_u64) \
    X(rni_f32) X(rzi_f32) X(rmi_f32) X(rpi_f32) X(rni_f64) X(rzi_f64) X(rmi_f64) \
    X(rpi_f64) X(cvt_s32_f32) X(cvt_u32_f32) X(cvt_s32_f64) X(cvt_u32_f64) \
    X(cvt_s64_f32) X(cvt_u64_f32) X(cvt_s64_f64) X(cvt_u64_f64) X(ld_u8_16) \
    X(ld_s8_16) X(ld_u8_32) X(ld_s8_32) X(ld_u8_64) X(ld_s8_64) X(ld_u16_16) \
    X(ld_u16_32) X(ld_s16_32) X(ld_u16_64) X(ld_s16_64) X(ld_u32_32) X(ld_u32_64) \
    X(ld_s32_64) X(ld_u64_64) X(st_8_16) X(st_8_32) X(st_8_64) X(st_16_16) \
    X(st_16_32) X(st_16_64) X(st_32_32) X(st_32_64) X(st_64_64) X(ld_vector) \
    X(st_vector)

#define EMU_OPS_COMMON(X) \
    X(label) X(guard) X(round) X(bra) X(bra_if) X(brx) X(call) X(call_to) X(ret) \
    X(exit) X(trap) X(entry) X(bar_sync) X(bar_red) X(bar_arrive) X(bar_warp) \
    X(special) X(lane_special) X(shfl) X(vote) X(match) X(redux) X(activemask) \
    X(elect) X(fence) X(yield) X(spin) X(local_address) X(shared_dynamic) \
    X(ld_128) X(st_128) X(mov_128) X(join_128) \
    X(part_64from128) X(to_window) X(from_window) X(isspacep) X(prefetch) \
    X(alloca) X(stacksave) X(stackrestore) X(service) X(atom_32) X(atom_64) \
    X(atom_16) X(addc_32) X(addc_64) X(subc_32) X(subc_64) X(popc_32) \
    X(popc_64) X(clz_32) X(clz_64) X(bfind_32) X(bfind_64) X(brev_32) X(brev_64) \
    X(bfe_32) X(bfe_64) X(bfi_32) X(bfi_64) X(prmt) X(shf) X(bmsk) X(szext) X(fns) \
    X(lop3) X(sad_16) X(sad_32) X(sad_64) X(dp4a) X(dp2a) X(testp_f32) X(testp_f64) \
    X(simd_video) X(cvt_f32_f16) X(cvt_f16_f32) X(cvt_f16_f64) X(cvt_f64_f16) X(half_add) \
    X(half_sub) X(half_mul) X(half_fma) X(half_min) X(half_max) X(half_sat) \
    X(half_tanh) X(half_ex2) X(tex) X(tex_query) X(suld) X(sust) X(sured) \
    X(mbarrier_init) X(mbarrier_arrive) X(mbarrier_wait) X(wmma)
/* clang-format on */

#define EMU_OP_MEMBER(name) EMU_OP_##name,
enum {
    EMU_OP_NONE,
    EMU_OPS_VECTOR(EMU_OP_MEMBER) EMU_OPS_COMMON(EMU_OP_MEMBER) EMU_OP_COUNT
};
#undef EMU_OP_MEMBER

#endif
