/* The opcodes of PTX, a row each: where a reader finds how an opcode runs.
 *
 * X(opcode, lower, types, modifiers, operations...)
 *   opcode      the word in a PTX text; PTX_OP_opcode in C
 *   lower       the function that lowers it, in the file of device/compile that the
 *               heading of the rows names
 *   types       the types that its words may name (PTX_NO_TYPES: none at all); an
 *               instruction with another type is refused
 *   modifiers   the known words that are not types, in alphabetical order; only
 *               test/device/test_opcode_table.py reads them
 *   operations  EMU_OP_name for each operation of the machine that the opcode may
 *               become, at most PTX_ROW_OPERATIONS; `lower` reads them by position
 *               (EMU_OP_NONE: there is no such form)
 *
 * Where the operations depend on two types or on a comparison, the row has EMU_OP_NONE
 * alone and the file of `lower` has the table: mov, setp, set, cvt, ld, st. A row with
 * low_refuse is an opcode that loading refuses by its name; a word that has no row is
 * an unknown opcode. To find how an operation runs, search device/machine for its name
 * without EMU_OP_.
 *
 * Read by device/ptx/words.h and words.c (numbers and texts), by device/compile/lower.c
 * (dispatch) and by test/device/test_opcode_table.py. The sets of types follow the
 * rows. */
#ifndef TABLES_OPCODES_H
#define TABLES_OPCODES_H

enum { PTX_ROW_OPERATIONS = 26 };

/* clang-format off */

/* -- lower_arithmetic.c ------------------------------------------------------------ */

#define PTX_ARITHMETIC(X) \
    X(add, low_add, PTX_INTEGERS | PTX_FLOATS | PTX_HALVES | PTX_PAIRS, \
      "cc ftz rm rn rp rz sat", \
      EMU_OP_add_16, EMU_OP_add_32, EMU_OP_add_64, EMU_OP_addsat_s32, \
      EMU_OP_add_f32, EMU_OP_add_f64, EMU_OP_half_add, EMU_OP_add_ftz_f32, \
      EMU_OP_addc_32, EMU_OP_addc_64, EMU_OP_simd_video) \
    X(sub, low_add, PTX_INTEGERS | PTX_FLOATS | PTX_HALVES | PTX_PAIRS, \
      "cc ftz rm rn rp rz sat", \
      EMU_OP_sub_16, EMU_OP_sub_32, EMU_OP_sub_64, EMU_OP_subsat_s32, \
      EMU_OP_sub_f32, EMU_OP_sub_f64, EMU_OP_half_sub, EMU_OP_sub_ftz_f32, \
      EMU_OP_subc_32, EMU_OP_subc_64, EMU_OP_simd_video) \
    X(mul, low_mul, PTX_INTEGERS | PTX_FLOATS | PTX_HALVES, \
      "ftz hi lo rm rn rp rz sat wide", \
      EMU_OP_mul_f32, EMU_OP_mul_f64, EMU_OP_half_mul, EMU_OP_mul_ftz_f32, \
      EMU_OP_mul_16, EMU_OP_mul_32, EMU_OP_mul_64, \
      EMU_OP_mulhi_u16, EMU_OP_mulhi_s16, EMU_OP_mulhi_u32, EMU_OP_mulhi_s32, \
      EMU_OP_mulhi_u64, EMU_OP_mulhi_s64, \
      EMU_OP_mulwide_u16, EMU_OP_mulwide_s16, EMU_OP_mulwide_u32, EMU_OP_mulwide_s32) \
    X(mad, low_mad, PTX_INTEGERS | PTX_FLOATS, "cc ftz hi lo rm rn rp rz sat wide", \
      EMU_OP_fma_f32, EMU_OP_fma_f64, EMU_OP_NONE, EMU_OP_fma_ftz_f32, \
      EMU_OP_mad_16, EMU_OP_mad_32, EMU_OP_mad_64, \
      EMU_OP_mul_16, EMU_OP_mul_32, EMU_OP_mul_64, \
      EMU_OP_mulhi_u16, EMU_OP_mulhi_s16, EMU_OP_mulhi_u32, EMU_OP_mulhi_s32, \
      EMU_OP_mulhi_u64, EMU_OP_mulhi_s64, \
      EMU_OP_madwide_u16, EMU_OP_madwide_s16, EMU_OP_madwide_u32, EMU_OP_madwide_s32, \
      EMU_OP_add_16, EMU_OP_add_32, EMU_OP_add_64, EMU_OP_addsat_s32, \
      EMU_OP_addc_32, EMU_OP_addc_64) \
    X(fma, low_fma, PTX_FLOATS | PTX_HALVES, "ftz oob relu rm rn rp rz sat", \
      EMU_OP_fma_f32, EMU_OP_fma_f64, EMU_OP_half_fma, EMU_OP_fma_ftz_f32) \
    X(div, low_div, PTX_INTEGERS | PTX_FLOATS, "approx ftz full rm rn rp rz", \
      EMU_OP_div_u16, EMU_OP_div_s16, EMU_OP_div_u32, EMU_OP_div_s32, \
      EMU_OP_div_u64, EMU_OP_div_s64, EMU_OP_div_f32, EMU_OP_div_f64, \
      EMU_OP_divapprox_f32) \
    X(neg, low_sign, PTX_INTEGERS | PTX_FLOATS | PTX_HALVES, "ftz", \
      EMU_OP_neg_16, EMU_OP_neg_32, EMU_OP_neg_64, \
      EMU_OP_neg_f32, EMU_OP_neg_f64, EMU_OP_neg_half) \
    X(abs, low_sign, PTX_INTEGERS | PTX_FLOATS | PTX_HALVES, "ftz", \
      EMU_OP_abs_s16, EMU_OP_abs_s32, EMU_OP_abs_s64, \
      EMU_OP_abs_f32, EMU_OP_abs_f64, EMU_OP_abs_half) \
    X(min, low_extreme, PTX_INTEGERS | PTX_FLOATS | PTX_HALVES | PTX_PAIRS, \
      "NaN abs ftz relu xorsign", \
      EMU_OP_min_u16, EMU_OP_min_s16, EMU_OP_min_u32, EMU_OP_min_s32, \
      EMU_OP_min_u64, EMU_OP_min_s64, EMU_OP_min_f32, EMU_OP_min_f64, \
      EMU_OP_half_min, EMU_OP_minnan_f32, EMU_OP_simd_video, EMU_OP_max_s32, \
      EMU_OP_xor_32, EMU_OP_abs_f32, EMU_OP_copysign_f32) \
    X(max, low_extreme, PTX_INTEGERS | PTX_FLOATS | PTX_HALVES | PTX_PAIRS, \
      "NaN abs ftz relu xorsign", \
      EMU_OP_max_u16, EMU_OP_max_s16, EMU_OP_max_u32, EMU_OP_max_s32, \
      EMU_OP_max_u64, EMU_OP_max_s64, EMU_OP_max_f32, EMU_OP_max_f64, \
      EMU_OP_half_max, EMU_OP_maxnan_f32, EMU_OP_simd_video, EMU_OP_max_s32, \
      EMU_OP_xor_32, EMU_OP_abs_f32, EMU_OP_copysign_f32)

/* -- lower_arithmetic.c: those of integers only ------------------------------------ */

#define PTX_INTEGER_ARITHMETIC(X) \
    X(addc, low_addc, PTX_INTEGERS, "cc", EMU_OP_addc_32, EMU_OP_addc_64) \
    X(subc, low_addc, PTX_INTEGERS, "cc", EMU_OP_subc_32, EMU_OP_subc_64) \
    X(madc, low_madc, PTX_INTEGERS, "cc hi lo", \
      EMU_OP_NONE, EMU_OP_mul_32, EMU_OP_mul_64, \
      EMU_OP_NONE, EMU_OP_NONE, EMU_OP_mulhi_u32, EMU_OP_mulhi_s32, \
      EMU_OP_mulhi_u64, EMU_OP_mulhi_s64, EMU_OP_addc_32, EMU_OP_addc_64) \
    X(mul24, low_mul24, PTX_T(u32) | PTX_T(s32), "hi lo", \
      EMU_OP_mul24lo_u32, EMU_OP_mul24lo_s32, EMU_OP_mul24hi_u32, EMU_OP_mul24hi_s32) \
    X(mad24, low_mad24, PTX_T(u32) | PTX_T(s32), "hi lo sat", \
      EMU_OP_mul24lo_u32, EMU_OP_mul24lo_s32, EMU_OP_mul24hi_u32, EMU_OP_mul24hi_s32, \
      EMU_OP_add_32, EMU_OP_addsat_s32) \
    X(rem, low_rem, PTX_INTEGERS, "", \
      EMU_OP_rem_u16, EMU_OP_rem_s16, EMU_OP_rem_u32, EMU_OP_rem_s32, \
      EMU_OP_rem_u64, EMU_OP_rem_s64)

/* -- lower_arithmetic.c: functions ------------------------------------------------- */

#define PTX_FLOAT_FUNCTIONS(X) \
    X(rcp, low_reciprocal, PTX_FLOATS, "approx ftz rm rn rp rz", \
      EMU_OP_rcp_f32, EMU_OP_rcp_f64, EMU_OP_NONE, EMU_OP_rcpgross_f64) \
    X(rsqrt, low_reciprocal, PTX_FLOATS, "approx ftz", \
      EMU_OP_rsqrt_f32, EMU_OP_rsqrt_f64, EMU_OP_NONE, EMU_OP_rsqrtgross_f64) \
    X(sqrt, low_function, PTX_FLOATS, "approx ftz rm rn rp rz", \
      EMU_OP_sqrt_f32, EMU_OP_sqrt_f64) \
    X(sin, low_function, PTX_T(f32), "approx ftz", EMU_OP_sin_f32) \
    X(cos, low_function, PTX_T(f32), "approx ftz", EMU_OP_cos_f32) \
    X(lg2, low_function, PTX_T(f32), "approx ftz", EMU_OP_lg2_f32) \
    X(ex2, low_function, PTX_T(f32) | PTX_HALVES, "approx ftz", \
      EMU_OP_ex2_f32, EMU_OP_NONE, EMU_OP_half_ex2) \
    X(tanh, low_function, PTX_T(f32) | PTX_HALVES, "approx", \
      EMU_OP_tanh_f32, EMU_OP_NONE, EMU_OP_half_tanh) \
    X(copysign, low_copysign, PTX_FLOATS, "", EMU_OP_copysign_f32, EMU_OP_copysign_f64) \
    X(testp, low_testp, PTX_FLOATS, \
      "finite infinite normal notanumber number subnormal", \
      EMU_OP_testp_f32, EMU_OP_testp_f64)

/* -- lower_bits.c ------------------------------------------------------------------ */

#define PTX_BITS(X) \
    X(and, low_logic, PTX_INTEGERS | PTX_T(pred), "", \
      EMU_OP_and_p, EMU_OP_and_16, EMU_OP_and_32, EMU_OP_and_64) \
    X(or, low_logic, PTX_INTEGERS | PTX_T(pred), "", \
      EMU_OP_or_p, EMU_OP_or_16, EMU_OP_or_32, EMU_OP_or_64) \
    X(xor, low_logic, PTX_INTEGERS | PTX_T(pred), "", \
      EMU_OP_xor_p, EMU_OP_xor_16, EMU_OP_xor_32, EMU_OP_xor_64) \
    X(not, low_unary, PTX_INTEGERS | PTX_T(pred), "", \
      EMU_OP_not_p, EMU_OP_not_16, EMU_OP_not_32, EMU_OP_not_64) \
    X(cnot, low_unary, PTX_INTEGERS, "", \
      EMU_OP_NONE, EMU_OP_cnot_16, EMU_OP_cnot_32, EMU_OP_cnot_64) \
    X(brev, low_unary, PTX_INTEGERS, "", \
      EMU_OP_NONE, EMU_OP_NONE, EMU_OP_brev_32, EMU_OP_brev_64) \
    X(shl, low_shift, PTX_INTEGERS, "", \
      EMU_OP_NONE, EMU_OP_shl_16, EMU_OP_shl_32, EMU_OP_shl_64) \
    X(shr, low_shr, PTX_INTEGERS, "", \
      EMU_OP_NONE, EMU_OP_shr_u16, EMU_OP_shr_u32, EMU_OP_shr_u64, \
      EMU_OP_NONE, EMU_OP_shr_s16, EMU_OP_shr_s32, EMU_OP_shr_s64) \
    X(popc, low_count_bits, PTX_INTEGERS, "", EMU_OP_popc_32, EMU_OP_popc_64) \
    X(clz, low_count_bits, PTX_INTEGERS, "", EMU_OP_clz_32, EMU_OP_clz_64) \
    X(bfind, low_bfind, PTX_INTEGERS, "shiftamt", EMU_OP_bfind_32, EMU_OP_bfind_64) \
    X(bfe, low_bfe, PTX_INTEGERS, "", EMU_OP_bfe_32, EMU_OP_bfe_64) \
    X(bfi, low_bfi, PTX_INTEGERS, "", EMU_OP_bfi_32, EMU_OP_bfi_64) \
    X(sad, low_sad, PTX_INTEGERS, "", \
      EMU_OP_NONE, EMU_OP_sad_16, EMU_OP_sad_32, EMU_OP_sad_64) \
    X(shf, low_shf, PTX_INTEGERS, "clamp l r wrap", EMU_OP_shf) \
    X(prmt, low_prmt, PTX_INTEGERS, "b4e ecl ecr f4e rc16 rc8", EMU_OP_prmt) \
    X(fns, low_fns, PTX_INTEGERS, "", EMU_OP_fns) \
    X(lop3, low_lop3, PTX_T(b32), "and or", \
      EMU_OP_lop3, EMU_OP_ne_32, EMU_OP_and_p, EMU_OP_or_p) \
    X(bmsk, low_bmsk, PTX_INTEGERS, "clamp wrap", EMU_OP_bmsk) \
    X(szext, low_szext, PTX_INTEGERS, "clamp wrap", EMU_OP_szext) \
    X(dp4a, low_dot, PTX_INTEGERS, "", EMU_OP_dp4a) \
    X(dp2a, low_dot, PTX_INTEGERS, "hi lo", EMU_OP_dp2a)

/* -- lower_bits.c: video ----------------------------------------------------------- */

#define PTX_VIDEO(X) \
    X(vadd4, low_video_parts, PTX_T(u32) | PTX_T(s32), "add sat", \
      EMU_OP_simd_video, EMU_OP_prmt, EMU_OP_lop3) \
    X(vsub4, low_video_parts, PTX_T(u32) | PTX_T(s32), "add sat", \
      EMU_OP_simd_video, EMU_OP_prmt, EMU_OP_lop3) \
    X(vavrg4, low_video_parts, PTX_T(u32) | PTX_T(s32), "add sat", \
      EMU_OP_simd_video, EMU_OP_prmt, EMU_OP_lop3) \
    X(vabsdiff4, low_video_parts, PTX_T(u32) | PTX_T(s32), "add sat", \
      EMU_OP_simd_video, EMU_OP_prmt, EMU_OP_lop3) \
    X(vmin4, low_video_parts, PTX_T(u32) | PTX_T(s32), "add sat", \
      EMU_OP_simd_video, EMU_OP_prmt, EMU_OP_lop3) \
    X(vmax4, low_video_parts, PTX_T(u32) | PTX_T(s32), "add sat", \
      EMU_OP_simd_video, EMU_OP_prmt, EMU_OP_lop3) \
    X(vset4, low_video_parts, PTX_T(u32) | PTX_T(s32), "add eq ge gt le lt ne", \
      EMU_OP_simd_video, EMU_OP_prmt, EMU_OP_lop3) \
    X(vadd2, low_video_parts, PTX_T(u32) | PTX_T(s32), "add sat", \
      EMU_OP_simd_video, EMU_OP_prmt, EMU_OP_lop3) \
    X(vsub2, low_video_parts, PTX_T(u32) | PTX_T(s32), "add sat", \
      EMU_OP_simd_video, EMU_OP_prmt, EMU_OP_lop3) \
    X(vavrg2, low_video_parts, PTX_T(u32) | PTX_T(s32), "add sat", \
      EMU_OP_simd_video, EMU_OP_prmt, EMU_OP_lop3) \
    X(vabsdiff2, low_video_parts, PTX_T(u32) | PTX_T(s32), "add sat", \
      EMU_OP_simd_video, EMU_OP_prmt, EMU_OP_lop3) \
    X(vmin2, low_video_parts, PTX_T(u32) | PTX_T(s32), "add sat", \
      EMU_OP_simd_video, EMU_OP_prmt, EMU_OP_lop3) \
    X(vmax2, low_video_parts, PTX_T(u32) | PTX_T(s32), "add sat", \
      EMU_OP_simd_video, EMU_OP_prmt, EMU_OP_lop3) \
    X(vset2, low_video_parts, PTX_T(u32) | PTX_T(s32), "add eq ge gt le lt ne", \
      EMU_OP_simd_video, EMU_OP_prmt, EMU_OP_lop3) \
    X(vadd, low_video, PTX_T(u32) | PTX_T(s32), "add max min sat", EMU_OP_video) \
    X(vsub, low_video, PTX_T(u32) | PTX_T(s32), "add max min sat", EMU_OP_video) \
    X(vabsdiff, low_video, PTX_T(u32) | PTX_T(s32), "add max min sat", EMU_OP_video) \
    X(vmin, low_video, PTX_T(u32) | PTX_T(s32), "add max min sat", EMU_OP_video) \
    X(vmax, low_video, PTX_T(u32) | PTX_T(s32), "add max min sat", EMU_OP_video) \
    X(vshl, low_video, PTX_T(u32) | PTX_T(s32), "add clamp max min sat wrap", EMU_OP_video) \
    X(vshr, low_video, PTX_T(u32) | PTX_T(s32), "add clamp max min sat wrap", EMU_OP_video) \
    X(vset, low_video, PTX_T(u32) | PTX_T(s32), \
      "add eq ge gt le lt max min ne", EMU_OP_video) \
    X(vmad, low_video_mad, PTX_T(u32) | PTX_T(s32), "po sat shr15 shr7", EMU_OP_video_mad)

/* -- lower_move.c, lower_compare.c, lower_conversion.c ----------------------------- */

#define PTX_MOVES(X) \
    X(mov, low_mov, PTX_ANY, "v2 v4", EMU_OP_NONE) \
    X(selp, low_selp, PTX_INTEGERS | PTX_FLOATS | PTX_HALVES, "", \
      EMU_OP_NONE, EMU_OP_selp_16, EMU_OP_selp_32, EMU_OP_selp_64) \
    X(cvta, low_cvta, PTX_INTEGERS, \
      "const global local param param::entry shared shared::cluster shared::cta to", \
      EMU_OP_mov_64, EMU_OP_to_window, EMU_OP_from_window) \
    X(isspacep, low_isspacep, PTX_NO_TYPES, \
      "const global local param param::entry shared shared::cluster shared::cta", \
      EMU_OP_isspacep) \
    X(mapa, low_mapa, PTX_T(u32) | PTX_T(u64), "shared::cluster", EMU_OP_mapa) \
    X(getctarank, low_getctarank, PTX_T(u32) | PTX_T(u64), "shared::cluster", \
      EMU_OP_ctarank)

#define PTX_COMPARISONS(X) \
    X(setp, low_setp, PTX_INTEGERS | PTX_FLOATS | PTX_HALVES, \
      "and eq equ ftz ge geu gt gtu hi hs le leu lo ls lt ltu nan ne neu num or xor", \
      EMU_OP_NONE) \
    X(set, low_set, PTX_INTEGERS | PTX_FLOATS | PTX_HALVES, \
      "and eq equ ftz ge geu gt gtu hi hs le leu lo ls lt ltu nan ne neu num or xor", \
      EMU_OP_NONE) \
    X(slct, low_slct, PTX_INTEGERS | PTX_FLOATS | PTX_HALVES, "ftz", \
      EMU_OP_NONE, EMU_OP_selp_16, EMU_OP_selp_32, EMU_OP_selp_64, \
      EMU_OP_le_s32, EMU_OP_le_f32)

#define PTX_CONVERSIONS(X) \
    X(cvt, low_cvt, PTX_ANY, \
      "ftz pack relu rm rmi rn rna rni rp rpi rz rzi s2 s4 sat satfinite u2 u4", \
      EMU_OP_NONE)

/* -- lower_memory.c ---------------------------------------------------------------- */

#define PTX_MEMORY(X) \
    X(ld, low_ld, PTX_ANY, \
      "acquire ca cg const cs cta cv gpu global local lu mmio nc param param::entry " \
      "param::func relaxed shared shared::cluster shared::cta sys v2 v4 v8 volatile weak", \
      EMU_OP_NONE) \
    X(ldu, low_ld, PTX_ANY, "global v2 v4", EMU_OP_NONE) \
    X(st, low_st, PTX_ANY, \
      "async cg cs cta gpu global local mbarrier::complete_tx::bytes mmio param " \
      "param::func relaxed release shared shared::cluster shared::cta sys v2 v4 v8 " \
      "volatile wb weak wt", EMU_OP_NONE) \
    X(cp, low_cp, PTX_NO_TYPES | PTX_INTEGERS | PTX_FLOATS | PTX_T(f16) | PTX_T(bf16), \
      "1d 2d 3d 4d 5d L2 L2::cache_hint add and arrive async bulk bulk_group ca cg " \
      "commit_group dec global im2col im2col_no_offs inc max mbarrier " \
      "mbarrier::complete_tx::bytes min multicast::cluster noftz noinc or prefetch read " \
      "reduce shared shared::cluster shared::cta tensor tile wait_all wait_group xor", \
      EMU_OP_ld_vector, EMU_OP_st_vector, EMU_OP_ld_u8_32, EMU_OP_mov_32, EMU_OP_shl_32, \
      EMU_OP_or_32, EMU_OP_lt_u32, EMU_OP_and_p, EMU_OP_bulk_copy, EMU_OP_tensor_copy, \
      EMU_OP_mbarrier_arrive, EMU_OP_add_64, EMU_OP_cvt_64from32_u32, \
      EMU_OP_cvt_32from16_u16, EMU_OP_from_window, EMU_OP_selp_32) \
    X(mbarrier, low_mbarrier, PTX_T(b64), \
      "acquire arrive arrive_drop cluster complete_tx cta expect_tx init inval " \
      "noComplete parity pending_count relaxed release shared shared::cluster " \
      "shared::cta test_wait try_wait", \
      EMU_OP_mbarrier_init, EMU_OP_mbarrier_arrive, EMU_OP_mbarrier_wait, \
      EMU_OP_mbarrier_bytes, EMU_OP_mbarrier_pending, EMU_OP_spin) \
    X(tensormap, low_tensormap, PTX_NO_TYPES | PTX_T(b32) | PTX_T(b64), \
      "aligned b1024 box_dim cluster cp_fenceproxy cta element_stride elemtype " \
      "fill_mode global global_address global_dim global_stride gpu " \
      "interleave_layout rank release replace shared::cta swizzle_mode sync sys " \
      "tensormap::generic tile", \
      EMU_OP_st_8_32, EMU_OP_st_16_32, EMU_OP_st_32_32, EMU_OP_st_64_64, \
      EMU_OP_ld_u32_32, EMU_OP_add_32, EMU_OP_add_64, EMU_OP_shl_32, \
      EMU_OP_cvt_64from32_u32, EMU_OP_lane_special, EMU_OP_fence) \
    X(prefetch, low_nothing, PTX_NO_TYPES, \
      "L1 L2 const global local param tensormap", EMU_OP_NONE) \
    X(prefetchu, low_nothing, PTX_NO_TYPES, "L1", EMU_OP_NONE) \
    X(applypriority, low_nothing, PTX_NO_TYPES, "L2::evict_normal global", EMU_OP_NONE) \
    X(createpolicy, low_createpolicy, PTX_T(b64), \
      "L2 L2::evict_first L2::evict_last L2::evict_normal L2::evict_unchanged cvt " \
      "fractional global range", EMU_OP_policy, EMU_OP_mov_64) \
    X(discard, low_nothing, PTX_NO_TYPES, "L2 global", EMU_OP_NONE) \
    X(alloca, low_alloca, PTX_INTEGERS, "", EMU_OP_alloca, EMU_OP_cvt_32from64_u32) \
    X(stacksave, low_stacksave, PTX_INTEGERS, "", \
      EMU_OP_stacksave, EMU_OP_cvt_32from64_u32) \
    X(stackrestore, low_stackrestore, PTX_INTEGERS, "", \
      EMU_OP_stackrestore, EMU_OP_cvt_64from32_u32)

/* -- lower_memory.c: atomics ------------------------------------------------------- */

#define PTX_ATOMICS(X) \
    X(atom, low_atom, PTX_INTEGERS | PTX_FLOATS | PTX_HALVES | PTX_T(b128), \
      "L2::cache_hint acq_rel acquire add and cas cluster cta dec exch global gpu inc " \
      "max min noftz or relaxed release shared shared::cluster shared::cta sys v2 v4 " \
      "v8 xor", \
      EMU_OP_atom_16, EMU_OP_atom_32, EMU_OP_atom_64, EMU_OP_atom_128, \
      EMU_OP_mov_16, EMU_OP_mov_32) \
    X(red, low_red, PTX_INTEGERS | PTX_FLOATS | PTX_HALVES, \
      "L2::cache_hint add and async cluster cta dec global gpu inc max " \
      "mbarrier::complete_tx::bytes min noftz or relaxed release shared " \
      "shared::cluster shared::cta sys v2 v4 v8 xor", \
      EMU_OP_atom_16, EMU_OP_atom_32, EMU_OP_atom_64, EMU_OP_atom_128, \
      EMU_OP_mbarrier_bytes)

/* -- lower_flow.c ------------------------------------------------------------------ */

#define PTX_FLOW(X) \
    X(bra, low_bra, PTX_NO_TYPES, "uni", EMU_OP_bra, EMU_OP_bra_if) \
    X(brx, low_brx, PTX_NO_TYPES, "idx", EMU_OP_brx) \
    X(call, low_call, PTX_NO_TYPES, "uni", \
      EMU_OP_call, EMU_OP_call_to, EMU_OP_service) \
    X(ret, low_unguarded, PTX_NO_TYPES, "uni", EMU_OP_ret) \
    X(exit, low_unguarded, PTX_NO_TYPES, "", EMU_OP_exit) \
    X(trap, low_trap, PTX_NO_TYPES, "", EMU_OP_trap) \
    X(nanosleep, low_unguarded, PTX_T(u32), "", EMU_OP_yield) \
    X(brkpt, low_nothing, PTX_NO_TYPES, "", EMU_OP_NONE) \
    X(pmevent, low_nothing, PTX_NO_TYPES, "mask", EMU_OP_NONE) \
    X(griddepcontrol, low_nothing, PTX_ANY, "launch_dependents wait", EMU_OP_NONE) \
    X(setmaxnreg, low_setmaxnreg, PTX_ANY, "aligned dec inc sync", EMU_OP_NONE) \
    X(membar, low_fence, PTX_NO_TYPES, "cta gl sys", EMU_OP_fence) \
    X(fence, low_fence, PTX_ANY, \
      "acq_rel acquire alias async async::generic cluster cta generic global gpu " \
      "mbarrier_init proxy release sc shared::cluster shared::cta " \
      "sync_restrict::shared::cluster sync_restrict::shared::cta sys tensormap " \
      "tensormap::generic", \
      EMU_OP_fence) \
    X(bar, low_bar, PTX_NO_TYPES | PTX_T(pred) | PTX_T(u32), "and arrive cta or popc red sync warp", \
      EMU_OP_bar_sync, EMU_OP_bar_arrive, EMU_OP_bar_red, EMU_OP_bar_warp) \
    X(barrier, low_bar, PTX_NO_TYPES | PTX_T(pred) | PTX_T(u32), \
      "acquire aligned and arrive cluster cta or popc red relaxed release sync wait", \
      EMU_OP_bar_sync, EMU_OP_bar_arrive, EMU_OP_bar_red, EMU_OP_bar_warp, \
      EMU_OP_cluster_arrive, EMU_OP_cluster_wait)

#define PTX_WARPS(X) \
    X(shfl, low_shfl, PTX_WORD_TYPES, "bfly down idx sync up", EMU_OP_shfl) \
    X(vote, low_vote, PTX_T(pred) | PTX_T(b32), "all any ballot sync uni", EMU_OP_vote) \
    X(activemask, low_activemask, PTX_T(b32), "", EMU_OP_activemask) \
    X(match, low_match, PTX_T(b32) | PTX_T(b64), "all any sync", EMU_OP_match) \
    X(redux, low_redux, PTX_T(b32) | PTX_T(u32) | PTX_T(s32), \
      "add and max min or sync xor", EMU_OP_redux) \
    X(elect, low_elect, PTX_NO_TYPES, "sync", EMU_OP_elect)

/* -- lower_texture.c --------------------------------------------------------------- */

#define PTX_TEXTURES(X) \
    X(tex, low_tex, PTX_T(f32) | PTX_T(s32) | PTX_T(u32) | PTX_T(f16x2), \
      "1d 2d 2dms 3d a1d a2d a2dms acube base cube grad level v2 v4", \
      EMU_OP_tex, EMU_OP_eq_32, EMU_OP_selp_32) \
    X(tld4, low_tex, PTX_T(f32) | PTX_T(s32) | PTX_T(u32) | PTX_T(f16x2), \
      "2d a a2d acube b cube g r v2 v4", EMU_OP_tex) \
    X(txq, low_txq, PTX_T(b32) | PTX_T(u32) | PTX_T(s32), \
      "addr_mode_0 addr_mode_1 addr_mode_2 array_size channel_data_type channel_order " \
      "depth filter_mode force_unnormalized_coords height level memory_layout " \
      "normalized_coords num_mipmap_levels num_samples width", EMU_OP_tex_query) \
    X(suq, low_suq, PTX_T(b32) | PTX_T(u32) | PTX_T(s32), \
      "array_size channel_data_type channel_order depth height memory_layout width", \
      EMU_OP_tex_query) \
    X(istypep, low_istypep, PTX_T(texref) | PTX_T(samplerref) | PTX_T(surfref), "", \
      EMU_OP_and_64, EMU_OP_ne_64) \
    X(suld, low_suld, PTX_INTEGERS | PTX_T(b8) | PTX_T(u8) | PTX_T(s8), \
      "1d 2d 3d a1d a2d b clamp trap v2 v4 zero", EMU_OP_suld) \
    X(sust, low_sust, PTX_INTEGERS | PTX_T(b8) | PTX_T(u8) | PTX_T(s8), \
      "1d 2d 3d a1d a2d b clamp p trap v2 v4 zero", EMU_OP_sust) \
    X(sured, low_sured, PTX_INTEGERS, \
      "1d 2d 3d add and b clamp max min or p trap zero", EMU_OP_sured)

/* -- lower_wmma.c, lower_matrix.c: the rows list no shapes ------------------------- */

#define PTX_MATRICES(X) \
    X(wmma, low_wmma, PTX_NO_TYPES | PTX_MATRIX_TYPES, \
      "a aligned and b b1 c col d global load mma popc row s4 satfinite shared " \
      "shared::cta store sync u4 xor", EMU_OP_mma) \
    X(mma, low_mma, PTX_MATRIX_TYPES, \
      "aligned and b1 col e4m3 e5m2 popc rm rn row rp rz s4 satfinite sp " \
      "sp::ordered_metadata sync u4 xor", EMU_OP_mma) \
    X(wgmma, low_wgmma, PTX_NO_TYPES | PTX_MATRIX_TYPES, \
      "aligned and b1 commit_group e4m3 e5m2 fence mma_async popc satfinite sp sync " \
      "wait_group", EMU_OP_wgmma) \
    X(ldmatrix, low_ldmatrix, PTX_T(b16), \
      "aligned m8n8 shared shared::cta sync trans x1 x2 x4", \
      EMU_OP_shfl, EMU_OP_ld_u32_32, EMU_OP_ld_u16_16) \
    X(stmatrix, low_stmatrix, PTX_T(b16), \
      "aligned m8n8 shared shared::cta sync trans x1 x2 x4", \
      EMU_OP_shfl, EMU_OP_st_32_32, EMU_OP_st_16_16) \
    X(movmatrix, low_movmatrix, PTX_T(b16), "aligned m8n8 sync trans", EMU_OP_shfl)

/* -- opcodes that the software device does not have -------------------------------- */

#define PTX_REFUSED(X) \
    X(multimem, low_refuse, PTX_ANY, "", EMU_OP_NONE) \
    X(tcgen05, low_refuse, PTX_ANY, "", EMU_OP_NONE) \
    X(clusterlaunchcontrol, low_refuse, PTX_ANY, "", EMU_OP_NONE)

#define PTX_OPCODES(X) \
    PTX_ARITHMETIC(X) PTX_INTEGER_ARITHMETIC(X) PTX_FLOAT_FUNCTIONS(X) PTX_BITS(X) \
    PTX_VIDEO(X) \
    PTX_MOVES(X) PTX_COMPARISONS(X) PTX_CONVERSIONS(X) \
    PTX_MEMORY(X) PTX_ATOMICS(X) PTX_FLOW(X) PTX_WARPS(X) PTX_TEXTURES(X) PTX_MATRICES(X) PTX_REFUSED(X)

/* clang-format on */

/* -- sets of types ----------------------------------------------------------------- */

#define PTX_T(type) ((uint32_t)1 << PTX_W_##type)
#define PTX_NO_TYPES PTX_T(NONE)
#define PTX_ANY UINT32_MAX
#define PTX_MATRIX_TYPES                                                            \
    (PTX_T(f16) | PTX_T(bf16) | PTX_T(tf32) | PTX_T(f32) | PTX_T(f64) | PTX_T(s8) | \
     PTX_T(u8) | PTX_T(s32))
#define PTX_WORD_TYPES (PTX_T(u32) | PTX_T(s32) | PTX_T(b32) | PTX_T(f32))
#define PTX_INTEGERS                                                               \
    (PTX_T(u16) | PTX_T(u32) | PTX_T(u64) | PTX_T(s16) | PTX_T(s32) | PTX_T(s64) | \
     PTX_T(b16) | PTX_T(b32) | PTX_T(b64))
#define PTX_FLOATS (PTX_T(f32) | PTX_T(f64))
#define PTX_HALVES (PTX_T(f16) | PTX_T(bf16) | PTX_T(f16x2) | PTX_T(bf16x2))
#define PTX_PAIRS (PTX_T(s16x2) | PTX_T(u16x2))

#endif
