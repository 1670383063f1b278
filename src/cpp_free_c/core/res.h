/* Releasing driver objects, all kinds through one function, and counting the live ones.
 *
 * Invariant: a counter is the number of handles of its kind that this process created
 * through this package and has not released. Any thread may call. */
#ifndef PCU_CORE_RES_H
#define PCU_CORE_RES_H

#include "ctxrec.h"
#include "../tables/resources.h"

#define PCU_RES_MEMBER(kind, type, ender) PCU_RES_##kind,
typedef enum { PCU_RESOURCES(PCU_RES_MEMBER) PCU_RES_COUNT } pcu_res_kind;
#undef PCU_RES_MEMBER

/* A handle of any kind: the kind says which member counts. */
typedef union {
#define PCU_RES_HANDLE(kind, type, ender) type kind;
    PCU_RESOURCES(PCU_RES_HANDLE)
#undef PCU_RES_HANDLE
} pcu_res_handle;

/* Say that a handle of this kind was created. */
PCU_HIDDEN void pcu_res_created(pcu_res_kind kind);

/* The number of live handles of a kind. */
PCU_HIDDEN long pcu_res_live(pcu_res_kind kind);

/* How many handles of a kind were released so far. */
PCU_HIDDEN unsigned long pcu_res_released(pcu_res_kind kind);

PCU_HIDDEN const char *pcu_res_name(pcu_res_kind kind);

/* The driver function that ends a handle of this kind. */
PCU_HIDDEN const char *pcu_res_ender(pcu_res_kind kind);

/* End a handle in its context, from whatever context is current, and leave that
 * current.
 *
 * A context that is gone, or a forked child's, takes its handles with it: success
 * without a call. So are codes that say just that (the driver shuts down, the context
 * is lost). On failure *routine names the call, and *ended says whether the handle is
 * gone all the same; if not, it is as live as before. */
PCU_HIDDEN CUresult pcu_res_end(pcu_res_kind kind, pcu_res_handle handle,
                                const pcu_ctxrec *ctx, const char **routine,
                                int *ended);

/* The same where nobody can try again: the handle counts as gone in any case. */
PCU_HIDDEN CUresult pcu_res_release(pcu_res_kind kind, pcu_res_handle handle,
                                    const pcu_ctxrec *ctx, const char **routine);

/* Unmap an OpenGL object that was mapped in its context, as pcu_res_end ends: *ended
 * says whether it is unmapped. */
PCU_HIDDEN CUresult pcu_res_unmap(CUgraphicsResource resource, CUstream stream,
                                  const pcu_ctxrec *ctx, const char **routine,
                                  int *ended);

#endif
