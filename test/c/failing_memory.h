/* Memory of which one allocation fails.
 *
 * A test program includes this once and is linked with --wrap for malloc, calloc,
 * realloc and free. */
#ifndef PCU_TEST_C_FAILING_MEMORY_H
#define PCU_TEST_C_FAILING_MEMORY_H

#include <stddef.h>

static long fail_at; /* the number of the allocation that fails; 0: none */
static long allocations, blocks;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __real_free(void *block);
void __wrap_free(void *block);

static int
fails(void)
{
    allocations++;
    return allocations == fail_at;
}

void *
__wrap_calloc(size_t count, size_t size)
{
    void *block = fails() ? NULL : __real_calloc(count, size);
    blocks += block != NULL;
    return block;
}

void *
__wrap_malloc(size_t size)
{
    void *block = fails() ? NULL : __real_malloc(size);
    blocks += block != NULL;
    return block;
}

void *
__wrap_realloc(void *block, size_t size)
{
    void *moved = fails() ? NULL : __real_realloc(block, size);
    blocks += moved != NULL && block == NULL;
    return moved;
}

void
__wrap_free(void *block)
{
    blocks -= block != NULL;
    __real_free(block);
}

#endif
