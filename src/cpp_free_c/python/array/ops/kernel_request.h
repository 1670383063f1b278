/* What C asks of Python when a context does not have a kernel yet.
 *
 * pcu_kernel_key has the fields of tables/kernel_request.h. It decides all of a
 * kernel's source, so it is the key of the context's kernel table, too. On a miss the
 * key becomes a record, pycuda._driver._KernelRequest, from which Python writes and
 * compiles the source. Called by kernel_table.c; the files that launch kernels fill
 * keys. */
#ifndef PYTHON_ARRAY_OPS_KERNEL_REQUEST_H
#define PYTHON_ARRAY_OPS_KERNEL_REQUEST_H

#include "python/support/base.h"
#include "tables/fourier.h"
#include "tables/kernel_request.h"

enum { PCU_OPERANDS_MAX = 6 };

#define PCU_REQUEST_FIELD(ctype, name, VIEW, meaning) ctype name;
#define PCU_REQUEST_LIST(ctype, name, VIEW, meaning) ctype name[PCU_OPERANDS_MAX];
typedef struct {
    PCU_KERNEL_REQUEST(PCU_REQUEST_FIELD, PCU_REQUEST_LIST)
} pcu_kernel_key;
#undef PCU_REQUEST_FIELD
#undef PCU_REQUEST_LIST

/* Keys are compared as bytes and hashed as words of 64 bits. */
#define PCU_REQUEST_SIZE(ctype, name, VIEW, meaning) +sizeof(ctype)
#define PCU_REQUEST_LIST_SIZE(ctype, name, VIEW, meaning) \
    +sizeof(ctype) * PCU_OPERANDS_MAX
_Static_assert(
    sizeof(pcu_kernel_key) ==
        0 PCU_KERNEL_REQUEST(PCU_REQUEST_SIZE, PCU_REQUEST_LIST_SIZE),
    "the fields of a kernel request leave padding: change their order or size");
_Static_assert(sizeof(pcu_kernel_key) % sizeof(uint64_t) == 0,
               "a kernel request must fill whole words: add a field");
#undef PCU_REQUEST_SIZE
#undef PCU_REQUEST_LIST_SIZE

#define PCU_FAMILY_MEMBER(NAME, name) PCU_FAMILY_##NAME,
typedef enum { PCU_KERNEL_FAMILIES(PCU_FAMILY_MEMBER) PCU_FAMILY_COUNT } pcu_family;
#undef PCU_FAMILY_MEMBER

#define PCU_PASSING_MEMBER(NAME, name) PCU_PASS_##NAME,
typedef enum { PCU_OPERAND_PASSING(PCU_PASSING_MEMBER) PCU_PASS_COUNT } pcu_passing;
#undef PCU_PASSING_MEMBER

#define PCU_VARIANT_MEMBER(NAME, name) PCU_VARIANT_##NAME,
typedef enum { PCU_KERNEL_VARIANTS(PCU_VARIANT_MEMBER) PCU_VARIANT_COUNT } pcu_variant;
#undef PCU_VARIANT_MEMBER

/* PCU_FOURIER_<NAME>: the bit of a word in the field `fourier`. */
#define PCU_FOURIER_PLACE(NAME, name) PCU_FOURIER_PLACE_##NAME,
#define PCU_FOURIER_BIT(NAME, name) PCU_FOURIER_##NAME = 1 << PCU_FOURIER_PLACE_##NAME,
enum { PCU_FOURIER_WORDS(PCU_FOURIER_PLACE) PCU_FOURIER_PLACE_COUNT };
enum { PCU_FOURIER_WORDS(PCU_FOURIER_BIT) };
#undef PCU_FOURIER_PLACE
#undef PCU_FOURIER_BIT
_Static_assert(PCU_FOURIER_PLACE_COUNT <= 31, "the words must fit the field");

/* Request the kernels of some keys from Python: kernel_images() of
 * pycuda/_array/kernels/compilation.py writes and compiles their sources. The result
 * is a tuple of images, bytes that cuModuleLoadData takes. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_kernel_request_images_new(
    pcu_state *st, size_t count, const pcu_kernel_key *keys);

/* Whether the software device may have kernels that a GPU does not have: 1, 0 or -1. It
 * may not while kernels for a GPU are noted or counted. */
PCU_HIDDEN PCU_RAISES int pcu_kernel_may_differ(void);

/* Add the record's type and the names of its enumerations to the module. */
PCU_HIDDEN PCU_RAISES int pcu_kernel_request_setup(PyObject *m, pcu_state *st);

#endif
