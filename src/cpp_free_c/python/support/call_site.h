/* Numbers for lines of the program, so that a record of a call needs four bytes for the
 * line and no reference.
 *
 * A number stands for a code object and an instruction in it. Its place keeps the code
 * object alive until the module ends, so an address is never used for two. Programs
 * have a few thousand such places at most; one that makes code without end gets
 * PCU_CALL_SITE_UNKNOWN when PCU_CALL_SITES_MOST are in use.
 *
 * Invariant: nothing is raised. The interpreter lock is held. Callers: any code in
 * python/. */
#ifndef PYTHON_SUPPORT_CALL_SITE_H
#define PYTHON_SUPPORT_CALL_SITE_H

#include "python/support/base.h"

#include "python/support/caller.h"

enum { PCU_CALL_SITE_UNKNOWN = 0, PCU_CALL_SITES_MOST = 1 << 14 };

/* The number of the line that makes the current call. */
PCU_HIDDEN uint32_t pcu_call_site(pcu_state *st);

/* The place of a number. Its code is borrowed, and NULL for the unknown line. */
PCU_HIDDEN pcu_caller pcu_call_site_place(const pcu_state *st, uint32_t site);

/* A tuple (file, line, function) for a number; (None, 0, None) for the unknown line. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_call_site_tuple(const pcu_state *st, uint32_t site);

/* Drop all places. The module ends. */
PCU_HIDDEN void pcu_call_sites_finish(pcu_state *st);

#endif
