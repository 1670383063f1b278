/* The names and words of PTX: opcodes, types, other words after a dot, shapes, special
 * registers.
 *
 * The opcodes are the rows of tables/opcodes.h. Types come first among the words after
 * a dot: a word is a type when it is at most PTX_W_LAST_TYPE. A text with a word or an
 * opcode that is not listed fails to load; the message names it. A word with colons has
 * the same name with one line below for two colons: L2::64B is PTX_W_L2_64B.
 *
 * Used by the parser, by device/compile and by the operations of device/machine that
 * read special registers or textures. */
#ifndef DEVICE_PTX_WORDS_H
#define DEVICE_PTX_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/ptx/load.h"
#include "tables/opcodes.h"

/* -- names: one record for each distinct name of a text ---------------------------- */

/* Two names are equal if their records are the same record. ptx_words_enter enters the
 * fixed words first, so the lexer finds their numbers with the name. Linking reads the
 * fields of the records. */

typedef struct ptx_name {
    struct ptx_name *next;         /* in the same slot */
    struct ptx_binding *binding;   /* the innermost meaning while parsing */
    struct ptx_function *function; /* link: the definition that all modules see */
    struct ptx_var *var;
    struct ptx_function *own_function; /* link: the definition of the current module */
    struct ptx_var *own_var;
    uint32_t hash;
    uint16_t word;   /* its PTX_W_ number as a word after a dot, or 0 (words.h) */
    uint16_t opcode; /* its PTX_OP_ number, or 0 */
    uint32_t size;
    char text[];
} ptx_name;

typedef struct {
    ptx_name **slots;
    size_t count;
    size_t room; /* a power of two */
} ptx_names;

/* The record of a name. Without one, creates it if `add` is set, else returns NULL. */
ptx_name *ptx_names_get(emu_load *load, ptx_names *names, const char *text, size_t size,
                        bool add);

/* -- words ------------------------------------------------------------------------- */

/* clang-format off */
/* X(name, bytes, kind): the kinds are in words.c. */
#define PTX_TYPES(X) \
    X(u8, 1, UNSIGNED) X(u16, 2, UNSIGNED) X(u32, 4, UNSIGNED) X(u64, 8, UNSIGNED) \
    X(s8, 1, SIGNED) X(s16, 2, SIGNED) X(s32, 4, SIGNED) X(s64, 8, SIGNED) \
    X(b8, 1, BITS) X(b16, 2, BITS) X(b32, 4, BITS) X(b64, 8, BITS) X(b128, 16, BITS) \
    X(f16, 2, FLOAT) X(f16x2, 4, FLOAT) X(bf16, 2, FLOAT) X(bf16x2, 4, FLOAT) \
    X(tf32, 4, BITS) X(f32, 4, FLOAT) X(f64, 8, FLOAT) X(pred, 1, BITS) \
    X(s16x2, 4, BITS) X(u16x2, 4, BITS) X(e4m3x2, 2, BITS) X(e5m2x2, 2, BITS) \
    X(texref, 8, BITS) X(samplerref, 8, BITS) X(surfref, 8, BITS) X(f32x2, 8, BITS)

/* X(identifier, text) */
#define PTX_WORDS(X) \
    X(shr7, "shr7") X(shr15, "shr15") X(po, "po") X(oob, "oob") X(u2, "u2") \
    X(s2, "s2") X(L2_evict_unchanged, "L2::evict_unchanged") \
    X(fractional, "fractional") X(range, "range") X(cvt, "cvt") \
    X(abs, "abs") X(satfinite, "satfinite") X(pack, "pack") X(rs, "rs") \
    X(eq, "eq") X(ne, "ne") X(lt, "lt") X(le, "le") X(gt, "gt") X(ge, "ge") \
    X(lo, "lo") X(ls, "ls") X(hi, "hi") X(hs, "hs") X(equ, "equ") X(neu, "neu") \
    X(ltu, "ltu") X(leu, "leu") X(gtu, "gtu") X(geu, "geu") X(num, "num") \
    X(nan, "nan") X(rn, "rn") X(rna, "rna") X(rz, "rz") X(rm, "rm") X(rp, "rp") \
    X(rni, "rni") X(rzi, "rzi") X(rmi, "rmi") X(rpi, "rpi") X(ftz, "ftz") \
    X(sat, "sat") X(approx, "approx") X(full, "full") X(relu, "relu") \
    X(NaN, "NaN") X(xorsign, "xorsign") X(wide, "wide") X(cc, "cc") \
    X(wrap, "wrap") X(clamp, "clamp") X(shiftamt, "shiftamt") X(x, "x") X(y, "y") \
    X(z, "z") X(w, "w") X(l, "l") X(r, "r") X(and, "and") X(or, "or") \
    X(xor, "xor") X(popc, "popc") X(not, "not") X(all, "all") X(any, "any") \
    X(uni, "uni") X(ballot, "ballot") X(up, "up") X(down, "down") X(bfly, "bfly") \
    X(idx, "idx") X(sync, "sync") X(arrive, "arrive") X(red, "red") \
    X(warp, "warp") X(aligned, "aligned") X(cta, "cta") X(gpu, "gpu") \
    X(sys, "sys") X(gl, "gl") X(cluster, "cluster") X(acquire, "acquire") \
    X(release, "release") X(acq_rel, "acq_rel") X(relaxed, "relaxed") X(sc, "sc") \
    X(volatile, "volatile") X(mmio, "mmio") X(weak, "weak") X(nc, "nc") \
    X(ca, "ca") X(cg, "cg") X(cs, "cs") X(lu, "lu") X(cv, "cv") X(wb, "wb") \
    X(wt, "wt") X(global, "global") X(shared, "shared") X(local, "local") \
    X(param, "param") X(const, "const") X(generic, "generic") X(to, "to") \
    X(v2, "v2") X(v4, "v4") X(v8, "v8") X(add, "add") X(min, "min") X(max, "max") \
    X(inc, "inc") X(dec, "dec") X(exch, "exch") X(cas, "cas") X(noftz, "noftz") \
    X(f4e, "f4e") X(b4e, "b4e") X(rc8, "rc8") X(ecl, "ecl") X(ecr, "ecr") \
    X(rc16, "rc16") X(finite, "finite") X(infinite, "infinite") \
    X(number, "number") X(notanumber, "notanumber") X(normal, "normal") \
    X(subnormal, "subnormal") X(L1, "L1") X(L2, "L2") \
    X(evict_first, "evict_first") X(evict_last, "evict_last") \
    X(evict_normal, "evict_normal") X(evict_unchanged, "evict_unchanged") \
    X(no_allocate, "no_allocate") X(L1_evict, "L1_evict") X(proxy, "proxy") \
    X(async, "async") X(alias, "alias") X(tensormap, "tensormap") \
    X(mbarrier_init, "mbarrier_init") X(fence, "fence") X(t1d, "1d") X(t2d, "2d") \
    X(t3d, "3d") X(a1d, "a1d") X(a2d, "a2d") X(cube, "cube") X(acube, "acube") \
    X(t2dms, "2dms") X(a2dms, "a2dms") X(level, "level") X(grad, "grad") \
    X(base, "base") X(g, "g") X(b, "b") X(a, "a") X(width, "width") \
    X(height, "height") X(depth, "depth") \
    X(channel_data_type, "channel_data_type") X(channel_order, "channel_order") \
    X(normalized_coords, "normalized_coords") X(array_size, "array_size") \
    X(num_mipmap_levels, "num_mipmap_levels") X(num_samples, "num_samples") \
    X(addr_mode_0, "addr_mode_0") X(addr_mode_1, "addr_mode_1") \
    X(addr_mode_2, "addr_mode_2") X(filter_mode, "filter_mode") X(trap, "trap") \
    X(zero, "zero") X(p, "p") X(mask, "mask") X(ld, "ld") X(st, "st") \
    X(load, "load") X(store, "store") X(mma, "mma") X(row, "row") X(col, "col") \
    X(shape, "shape") X(commit_group, "commit_group") X(wait_group, "wait_group") \
    X(wait_all, "wait_all") X(wait, "wait") X(bulk, "bulk") X(read, "read") X(cp, "cp") \
    X(init, "init") X(inval, "inval") X(arrive_drop, "arrive_drop") \
    X(complete_tx, "complete_tx") X(expect_tx, "expect_tx") \
    X(try_wait, "try_wait") X(test_wait, "test_wait") \
    X(pending_count, "pending_count") X(b0, "b0") X(b1, "b1") X(b2, "b2") \
    X(b3, "b3") X(h0, "h0") X(h1, "h1") X(b10, "b10") X(b3210, "b3210") \
    X(b7654, "b7654") X(b01, "b01") X(b12, "b12") X(b23, "b23") X(sreg, "sreg") \
    X(version, "version") X(target, "target") X(address_size, "address_size") \
    X(file, "file") X(loc, "loc") X(section, "section") X(visible, "visible") \
    X(extern, "extern") X(entry, "entry") X(func, "func") X(reg, "reg") \
    X(tex, "tex") X(surf, "surf") X(sampler, "sampler") X(align, "align") \
    X(maxntid, "maxntid") X(reqntid, "reqntid") X(minnctapersm, "minnctapersm") \
    X(maxnctapersm, "maxnctapersm") X(maxnreg, "maxnreg") X(noreturn, "noreturn") \
    X(pragma, "pragma") X(callprototype, "callprototype") \
    X(calltargets, "calltargets") X(branchtargets, "branchtargets") \
    X(common, "common") X(ptr, "ptr") X(reqnctapercluster, "reqnctapercluster") \
    X(explicitcluster, "explicitcluster") X(maxclusterrank, "maxclusterrank") \
    X(language, "language") X(blocksareclusters, "blocksareclusters") \
    X(unified, "unified") X(managed, "managed") X(attribute, "attribute") \
    X(abi_preserve, "abi_preserve") \
    X(abi_preserve_control, "abi_preserve_control") X(shared_cta, "shared::cta") \
    X(shared_cluster, "shared::cluster") X(param_entry, "param::entry") \
    X(param_func, "param::func") X(L1_evict_normal, "L1::evict_normal") \
    X(L1_evict_unchanged, "L1::evict_unchanged") X(L1_evict_first, "L1::evict_first") \
    X(L1_evict_last, "L1::evict_last") X(L1_no_allocate, "L1::no_allocate") X(L2_64B, "L2::64B") \
    X(L2_128B, "L2::128B") X(L2_256B, "L2::256B") X(L2_cache_hint, "L2::cache_hint") \
    X(L2_evict_first, "L2::evict_first") X(L2_evict_last, "L2::evict_last") \
    X(L2_evict_normal, "L2::evict_normal") X(sync_restrict, "sync_restrict") X(n128, "128") \
    X(n16, "16") X(fp8, "fp8") X(memory_layout, "memory_layout") \
    X(force_unnormalized_coords, "force_unnormalized_coords") \
    X(parity, "parity") X(c, "c") X(d, "d") \
    X(launch_dependents, "launch_dependents") \
    X(tensor, "tensor") X(reduce, "reduce") X(prefetch, "prefetch") \
    X(mbarrier, "mbarrier") X(bulk_group, "bulk_group") \
    X(mbarrier_complete_tx_bytes, "mbarrier::complete_tx::bytes") \
    X(multicast_cluster, "multicast::cluster") X(tile, "tile") X(im2col, "im2col") \
    X(im2col_no_offs, "im2col_no_offs") X(t4d, "4d") X(t5d, "5d") \
    X(noComplete, "noComplete") X(noinc, "noinc") \
    X(tensormap_generic, "tensormap::generic") X(async_generic, "async::generic") \
    X(sync_restrict_shared_cta, "sync_restrict::shared::cta") \
    X(sync_restrict_shared_cluster, "sync_restrict::shared::cluster") \
    X(e4m3, "e4m3") X(e5m2, "e5m2") X(s4, "s4") X(u4, "u4") \
    X(sp, "sp") X(sp_ordered_metadata, "sp::ordered_metadata") X(mma_async, "mma_async") \
    X(m8n8, "m8n8") X(x1, "x1") X(x2, "x2") X(x4, "x4") X(trans, "trans") \
    X(replace, "replace") X(cp_fenceproxy, "cp_fenceproxy") X(b1024, "b1024") \
    X(global_address, "global_address") X(rank, "rank") X(box_dim, "box_dim") \
    X(global_dim, "global_dim") X(global_stride, "global_stride") \
    X(element_stride, "element_stride") X(elemtype, "elemtype") \
    X(interleave_layout, "interleave_layout") X(swizzle_mode, "swizzle_mode") \
    X(fill_mode, "fill_mode")

/* The shapes of matrix operations: X(word, rows, columns, depth). */
#define PTX_SHAPES(X) \
    X(m8n8k4, 8, 8, 4) X(m8n8k16, 8, 8, 16) X(m8n8k32, 8, 8, 32) \
    X(m8n8k128, 8, 8, 128) X(m16n8k4, 16, 8, 4) X(m16n8k8, 16, 8, 8) \
    X(m16n8k16, 16, 8, 16) X(m16n8k32, 16, 8, 32) X(m16n8k64, 16, 8, 64) \
    X(m16n8k128, 16, 8, 128) X(m16n8k256, 16, 8, 256) X(m16n16k8, 16, 16, 8) \
    X(m16n16k16, 16, 16, 16) X(m32n8k16, 32, 8, 16) X(m8n32k16, 8, 32, 16) \
    PTX_GROUP_SHAPES(X, 8) PTX_GROUP_SHAPES(X, 16) PTX_GROUP_SHAPES(X, 24) \
    PTX_GROUP_SHAPES(X, 32) PTX_GROUP_SHAPES(X, 40) PTX_GROUP_SHAPES(X, 48) \
    PTX_GROUP_SHAPES(X, 56) PTX_GROUP_SHAPES(X, 64) PTX_GROUP_SHAPES(X, 72) \
    PTX_GROUP_SHAPES(X, 80) PTX_GROUP_SHAPES(X, 88) PTX_GROUP_SHAPES(X, 96) \
    PTX_GROUP_SHAPES(X, 104) PTX_GROUP_SHAPES(X, 112) PTX_GROUP_SHAPES(X, 120) \
    PTX_GROUP_SHAPES(X, 128) PTX_GROUP_SHAPES(X, 136) PTX_GROUP_SHAPES(X, 144) \
    PTX_GROUP_SHAPES(X, 152) PTX_GROUP_SHAPES(X, 160) PTX_GROUP_SHAPES(X, 168) \
    PTX_GROUP_SHAPES(X, 176) PTX_GROUP_SHAPES(X, 184) PTX_GROUP_SHAPES(X, 192) \
    PTX_GROUP_SHAPES(X, 200) PTX_GROUP_SHAPES(X, 208) PTX_GROUP_SHAPES(X, 216) \
    PTX_GROUP_SHAPES(X, 224) PTX_GROUP_SHAPES(X, 232) PTX_GROUP_SHAPES(X, 240) \
    PTX_GROUP_SHAPES(X, 248) PTX_GROUP_SHAPES(X, 256)

/* Those of wgmma with n columns. */
#define PTX_GROUP_SHAPES(X, n) \
    X(m64n##n##k8, 64, n, 8) X(m64n##n##k16, 64, n, 16) X(m64n##n##k32, 64, n, 32) \
    X(m64n##n##k64, 64, n, 64) X(m64n##n##k256, 64, n, 256)

/* X(name): special registers, without the % sign. */
#define PTX_SPECIALS(X) \
    X(tid) X(ntid) X(laneid) X(warpid) X(nwarpid) X(ctaid) X(nctaid) X(smid) \
    X(nsmid) X(gridid) X(is_explicit_cluster) X(clusterid) X(nclusterid) \
    X(cluster_ctaid) X(cluster_nctaid) X(cluster_ctarank) X(cluster_nctarank) \
    X(lanemask_eq) X(lanemask_le) X(lanemask_lt) X(lanemask_ge) X(lanemask_gt) \
    X(clock) X(clock_hi) X(clock64) X(globaltimer) X(globaltimer_lo) \
    X(globaltimer_hi) X(total_smem_size) X(aggr_smem_size) X(dynamic_smem_size) \
    X(reserved_smem_offset_begin) X(reserved_smem_offset_end) \
    X(reserved_smem_offset_cap) X(reserved_smem_offset_0) X(reserved_smem_offset_1) \
    X(current_graph_exec)
/* clang-format on */

#define PTX_OPCODE_MEMBER(name, ...) PTX_OP_##name,
enum { PTX_OP_NONE, PTX_OPCODES(PTX_OPCODE_MEMBER) PTX_OPCODE_COUNT };
#undef PTX_OPCODE_MEMBER

#define PTX_TYPE_MEMBER(name, bytes, kind) PTX_W_##name,
#define PTX_WORD_MEMBER(name, text) PTX_W_##name,
#define PTX_SHAPE_MEMBER(name, rows, columns, depth) PTX_W_##name,
enum {
    PTX_W_NONE,
    PTX_TYPES(PTX_TYPE_MEMBER) PTX_WORDS(PTX_WORD_MEMBER) PTX_SHAPES(PTX_SHAPE_MEMBER)
        PTX_W_COUNT,
    PTX_W_LAST_TYPE = PTX_W_f32x2,
    PTX_W_FIRST_SHAPE = PTX_W_m8n8k4
};
#undef PTX_TYPE_MEMBER
#undef PTX_WORD_MEMBER
#undef PTX_SHAPE_MEMBER

/* The size of a matrix operation. */
typedef struct {
    uint16_t rows, columns, depth;
} ptx_shape;

/* %envreg0 to %envreg31 and %pm0 to %pm7 follow the named ones. */
#define PTX_SPECIAL_MEMBER(name) PTX_S_##name,
enum {
    PTX_SPECIALS(PTX_SPECIAL_MEMBER) PTX_S_envreg,
    PTX_S_pm = PTX_S_envreg + 32,
    PTX_S_COUNT = PTX_S_pm + 8
};
#undef PTX_SPECIAL_MEMBER

/* "add" of PTX_OP_add; "label" of PTX_OP_NONE. */
const char *ptx_opcode_text(unsigned opcode);
/* The text of a PTX_W_ word, without the dot. */
const char *ptx_word_text(unsigned word);
/* The size that a word such as m16n8k16 names; zeros for another word. */
ptx_shape ptx_word_shape(unsigned word);
/* Sets the number of each opcode and word in the record of its name. Called once for
 * each load, before the first text. */
void ptx_words_enter(emu_load *load, ptx_names *names);

/* -- types of data, and the classes of registers that hold them -------------------- */

/* Width classes of registers: the interpreter keeps 32 lanes of that many bytes. */
typedef enum { PTX_PRED, PTX_R16, PTX_R32, PTX_R64, PTX_R128, PTX_CLASSES } ptx_class;

/* Size in bytes of a PTX_W_ type word; 0 when the word is not a type. */
unsigned ptx_type_size(unsigned word);
/* .f16 to .f64 and their pairs. */
bool ptx_type_is_float(unsigned word);
/* .s8 to .s64. */
bool ptx_type_is_signed(unsigned word);
/* .u8 to .u64; .b types are neither signed nor unsigned. */
bool ptx_type_is_unsigned(unsigned word);
/* The class of a register of the type. A word that is not a type gives PTX_R32. */
ptx_class ptx_type_class(unsigned word);
/* The bytes of one lane of a register; 0 for a predicate. */
unsigned ptx_class_bytes(ptx_class width);

#endif
