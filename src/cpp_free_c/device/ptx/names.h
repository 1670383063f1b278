/* The names of a PTX text: one record for each distinct name.
 *
 * Two names are equal if their records are the same record. words.c enters
 * the fixed words first (opcodes, words after a dot), so the lexer finds their numbers
 * with the name. Used by the lexer and the parser; linking reads the fields of the
 * records. */
#ifndef DEVICE_PTX_NAMES_H
#define DEVICE_PTX_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/ptx/load.h"

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

#endif
