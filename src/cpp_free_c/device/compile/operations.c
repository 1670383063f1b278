/* The flags and names of the operations. See operations.h. */
#include "device/compile/operations.h"

/* clang-format off */
#define FLAGS_ROW(name, flags) [EMU_OP_##name] = (flags),
const uint8_t emu_operation_flags[EMU_OP_COUNT] = {EMU_OPS_VECTOR(FLAGS_ROW)
                                                   EMU_OPS_COMMON(FLAGS_ROW)};
#undef FLAGS_ROW

#define NAME_ROW(name, flags) [EMU_OP_##name] = #name,
const char *const emu_operation_names[EMU_OP_COUNT] = {
    [EMU_OP_NONE] = "none", EMU_OPS_VECTOR(NAME_ROW) EMU_OPS_COMMON(NAME_ROW)};
#undef NAME_ROW
/* clang-format on */
