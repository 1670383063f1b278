/* Names of a PTX text, and what the fixed words among them mean. See ptx_ir.h. */
#include "device/ptx/ir.h"

#include <string.h>

static uint32_t
name_hash(const char *text, size_t size)
{
    uint32_t hash = 2166136261u;
    size_t i;

    for (i = 0; i < size; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    }
    return hash;
}

static void
names_resize(emu_load *load, ptx_names *names)
{
    size_t room = names->room ? names->room * 4 : 2048;
    ptx_name **slots = emu_arena_get(load, &load->scratch, room, sizeof(ptx_name *));
    size_t i;

    for (i = 0; i < names->room; i++) {
        ptx_name *name = names->slots[i];

        while (name) {
            ptx_name *next = name->next;

            name->next = slots[name->hash & (room - 1)];
            slots[name->hash & (room - 1)] = name;
            name = next;
        }
    }
    names->slots = slots;
    names->room = room;
}

ptx_name *
ptx_names_get(emu_load *load, ptx_names *names, const char *text, size_t size, bool add)
{
    uint32_t hash = name_hash(text, size);
    ptx_name *name;

    if (names->count >= names->room) {
        names_resize(load, names);
    }
    for (name = names->slots[hash & (names->room - 1)]; name; name = name->next) {
        if (name->hash == hash && name->size == size &&
            memcmp(name->text, text, size) == 0) {
            return name;
        }
    }
    if (!add) {
        return NULL;
    }
    if (size > 1 << 20) {
        emu_load_fail(load, CUDA_ERROR_INVALID_PTX, 0, "a name is too long");
    }
    name = emu_arena_get(load, &load->scratch, 1, sizeof(ptx_name) + size + 1);
    name->hash = hash;
    name->size = (uint32_t)size;
    memcpy(name->text, text, size);
    name->next = names->slots[hash & (names->room - 1)];
    names->slots[hash & (names->room - 1)] = name;
    names->count++;
    return name;
}

void
ptx_names_open(emu_load *load, ptx_names *names)
{
    /* clang-format off */
#define OPCODE_ROW(name) #name,
#define TYPE_ROW(name) #name,
#define WORD_ROW(name, text) text,
    static const char *const opcodes[] = {PTX_OPCODES(OPCODE_ROW)};
    static const char *const words[] = {PTX_TYPES(TYPE_ROW) PTX_WORDS(WORD_ROW)};
#undef OPCODE_ROW
#undef TYPE_ROW
#undef WORD_ROW
    /* clang-format on */
    size_t i;

    memset(names, 0, sizeof *names);
    for (i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        ptx_names_get(load, names, opcodes[i], strlen(opcodes[i]), true)->opcode =
            (uint16_t)(PTX_OP_NONE + 1 + i);
    }
    for (i = 0; i < sizeof words / sizeof *words; i++) {
        ptx_names_get(load, names, words[i], strlen(words[i]), true)->word =
            (uint16_t)(PTX_W_NONE + 1 + i);
    }
}

unsigned
ptx_type_size(unsigned word)
{
    switch (word) {
        case PTX_W_u8:
        case PTX_W_s8:
        case PTX_W_b8:
            return 1;
        case PTX_W_u16:
        case PTX_W_s16:
        case PTX_W_b16:
        case PTX_W_f16:
        case PTX_W_bf16:
        case PTX_W_e4m3x2:
        case PTX_W_e5m2x2:
            return 2;
        case PTX_W_u32:
        case PTX_W_s32:
        case PTX_W_b32:
        case PTX_W_f32:
        case PTX_W_f16x2:
        case PTX_W_bf16x2:
        case PTX_W_tf32:
        case PTX_W_s16x2:
        case PTX_W_u16x2:
            return 4;
        case PTX_W_u64:
        case PTX_W_s64:
        case PTX_W_b64:
        case PTX_W_f64:
        case PTX_W_f32x2:
        case PTX_W_texref:
        case PTX_W_samplerref:
        case PTX_W_surfref:
            return 8;
        case PTX_W_b128:
            return 16;
        case PTX_W_pred:
            return 1;
        default:
            return 0;
    }
}

bool
ptx_type_is_float(unsigned word)
{
    return word == PTX_W_f16 || word == PTX_W_bf16 || word == PTX_W_f32 ||
           word == PTX_W_f64 || word == PTX_W_f16x2 || word == PTX_W_bf16x2;
}

bool
ptx_type_is_signed(unsigned word)
{
    return word == PTX_W_s8 || word == PTX_W_s16 || word == PTX_W_s32 ||
           word == PTX_W_s64;
}

bool
ptx_type_is_unsigned(unsigned word)
{
    return word == PTX_W_u8 || word == PTX_W_u16 || word == PTX_W_u32 ||
           word == PTX_W_u64;
}

ptx_class
ptx_type_class(unsigned word)
{
    switch (ptx_type_size(word)) {
        case 1:
            return word == PTX_W_pred ? PTX_PRED : PTX_R16;
        case 2:
            return PTX_R16;
        case 8:
            return PTX_R64;
        case 16:
            return PTX_R128;
        default:
            return PTX_R32;
    }
}
