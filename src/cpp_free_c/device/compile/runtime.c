/* The functions that the software device provides to kernels. See runtime.h. */
#include "device/compile/runtime.h"

#include <string.h>

/* -- services ---------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned parameters;
} service_rows[EMU_SERVICE_COUNT] = {
#define SERVICE_ROW(member, name, parameters) \
    [EMU_SERVICE_##member] = {name, parameters},
#define RUNTIME_ROW(name, parameters) [EMU_RUNTIME_##name] = {#name, parameters},
    EMU_SERVICES(SERVICE_ROW) EMU_RUNTIME_SERVICES(RUNTIME_ROW)
#undef SERVICE_ROW
#undef RUNTIME_ROW
};

unsigned
emu_service_number(const char *name)
{
    static const char prefix[] = "__cudaCDP2";

    for (unsigned i = EMU_SERVICE_NONE + 1; i < EMU_SERVICE_RUNTIME; i++) {
        if (strcmp(name, service_rows[i].name) == 0) {
            return i;
        }
    }
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) {
        return EMU_SERVICE_NONE;
    }
    name += sizeof prefix - 1;
    for (unsigned i = EMU_SERVICE_RUNTIME; i < EMU_SERVICE_COUNT; i++) {
        const size_t length = strlen(service_rows[i].name);

        if (strncmp(name, service_rows[i].name, length) == 0 &&
            (name[length] == 0 || strcmp(name + length, "_ptsz") == 0)) {
            return i;
        }
    }
    return EMU_SERVICE_NONE;
}

const char *
emu_service_name(unsigned service)
{
    return service_rows[service].name;
}

unsigned
emu_service_parameters(unsigned service)
{
    return service_rows[service].parameters;
}

/* -- the functions of cooperative groups, as PTX ----------------------------------- */

/* A handle is the address of the space that a cooperative launch has for its barriers,
 * which %envreg1 and %envreg2 give. The headers of CUDA use its first eight bytes for
 * their own barrier, so the counter of this barrier is behind them. Each block adds 1,
 * and the first block as much as makes the sum of all 2^31: the topmost bit changes
 * when the last block has come. The status is 0, or 1 (an invalid value) for no handle.
 */

static const char prefix[] = "cudaCG";

static const char text[] =
    ".version 6.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)\n"
    "{\n"
    ".reg .b32 %r<4>; .reg .b64 %q<2>; .reg .pred %p;\n"
    "mov.b32 %r1, %envreg1; mov.b32 %r2, %envreg2; mov.b64 %q1, {%r2, %r1};\n"
    "ld.param.b32 %r3, [scope]; setp.eq.u32 %p, %r3, 1;\n"
    "selp.b64 %q1, %q1, 0, %p; st.param.b64 [handle], %q1; ret;\n"
    "}\n"
    ".visible .func (.param .b32 status) cudaCGSynchronize(\n"
    "    .param .b64 handle, .param .b32 flags)\n"
    "{\n"
    ".reg .b32 %r<12>; .reg .b64 %q<2>; .reg .pred %p;\n"
    "ld.param.b64 %q1, [handle]; setp.eq.u64 %p, %q1, 0; @%p bra none;\n"
    "barrier.sync 0;\n"
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;\n"
    "or.b32 %r1, %r1, %r2; or.b32 %r1, %r1, %r3;\n"
    "setp.ne.u32 %p, %r1, 0; @%p bra all;\n"
    "mov.u32 %r1, %nctaid.x; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %nctaid.z;\n"
    "mul.lo.u32 %r1, %r1, %r2; mul.lo.u32 %r1, %r1, %r3;\n"
    "sub.u32 %r1, 0x80000001, %r1;\n"
    "mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z;\n"
    "or.b32 %r4, %r4, %r5; or.b32 %r4, %r4, %r6;\n"
    "setp.eq.u32 %p, %r4, 0; selp.b32 %r7, %r1, 1, %p;\n"
    "fence.acq_rel.gpu; atom.add.u32 %r8, [%q1 + 8], %r7;\n"
    "wait: ld.relaxed.gpu.u32 %r9, [%q1 + 8]; xor.b32 %r10, %r9, %r8;\n"
    "setp.ge.s32 %p, %r10, 0; @%p bra wait;\n"
    "fence.acq_rel.gpu;\n"
    "all: barrier.sync 0; st.param.b32 [status], 0; ret;\n"
    "none: st.param.b32 [status], 1; ret;\n"
    "}\n"
    ".visible .func (.param .b32 status) cudaCGSynchronizeGrid(\n"
    "    .param .b64 handle, .param .b32 flags)\n"
    "{\n"
    ".reg .b64 %q<2>; .reg .b32 %r<3>;\n"
    "ld.param.b64 %q1, [handle]; ld.param.b32 %r1, [flags];\n"
    "{ .param .b64 h; .param .b32 f; .param .b32 s;\n"
    "st.param.b64 [h], %q1; st.param.b32 [f], %r1;\n"
    "call (s), cudaCGSynchronize, (h, f); ld.param.b32 %r2, [s]; }\n"
    "st.param.b32 [status], %r2; ret;\n"
    "}\n"
    ".visible .func (.param .b32 status) cudaCGGetSize(\n"
    "    .param .b64 threads, .param .b64 grids, .param .b64 handle)\n"
    "{\n"
    ".reg .b32 %r<4>; .reg .b64 %q<4>; .reg .pred %p;\n"
    "ld.param.b64 %q1, [threads]; ld.param.b64 %q2, [grids];\n"
    "ld.param.b64 %q3, [handle]; setp.eq.u64 %p, %q3, 0; @%p bra none;\n"
    "mov.u32 %r1, %ntid.x; mov.u32 %r2, %ntid.y; mul.lo.u32 %r1, %r1, %r2;\n"
    "mov.u32 %r2, %ntid.z; mul.lo.u32 %r1, %r1, %r2;\n"
    "mov.u32 %r2, %nctaid.x; mul.lo.u32 %r1, %r1, %r2;\n"
    "mov.u32 %r2, %nctaid.y; mul.lo.u32 %r1, %r1, %r2;\n"
    "mov.u32 %r2, %nctaid.z; mul.lo.u32 %r1, %r1, %r2;\n"
    "setp.ne.u64 %p, %q1, 0; @%p st.u32 [%q1], %r1;\n"
    "setp.ne.u64 %p, %q2, 0; @%p st.u32 [%q2], 1;\n"
    "st.param.b32 [status], 0; ret;\n"
    "none: st.param.b32 [status], 1; ret;\n"
    "}\n"
    ".visible .func (.param .b32 status) cudaCGGetRank(\n"
    "    .param .b64 thread, .param .b64 grid, .param .b64 handle)\n"
    "{\n"
    ".reg .b32 %r<8>; .reg .b64 %q<4>; .reg .pred %p;\n"
    "ld.param.b64 %q1, [thread]; ld.param.b64 %q2, [grid];\n"
    "ld.param.b64 %q3, [handle]; setp.eq.u64 %p, %q3, 0; @%p bra none;\n"
    "mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ctaid.y;\n"
    "mad.lo.u32 %r1, %r1, %r2, %r3;\n"
    "mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ctaid.x;\n"
    "mad.lo.u32 %r1, %r1, %r2, %r3;\n"
    "mov.u32 %r2, %ntid.z; mov.u32 %r3, %tid.z; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
    "mov.u32 %r2, %ntid.y; mov.u32 %r3, %tid.y; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
    "mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
    "setp.ne.u64 %p, %q1, 0; @%p st.u32 [%q1], %r1;\n"
    "setp.ne.u64 %p, %q2, 0; @%p st.u32 [%q2], 0;\n"
    "st.param.b32 [status], 0; ret;\n"
    "none: st.param.b32 [status], 1; ret;\n"
    "}\n";

bool
emu_runtime_text_is_wanted(const ptx_module *modules)
{
    for (; modules != NULL; modules = modules->next) {
        for (const ptx_function *function = modules->functions; function != NULL;
             function = function->next) {
            if (!function->has_body &&
                strncmp(function->name->text, prefix, sizeof prefix - 1) == 0) {
                return true;
            }
        }
    }
    return false;
}

const char *
emu_runtime_text(void)
{
    return text;
}
