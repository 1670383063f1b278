/* Numbers for lines of the program, so that a record of a call needs four bytes for the
 * line and no reference.
 *
 * The line is the innermost one outside of this package, NumPy and the import system:
 * a line of the user, not of the code that serves the call. A number is never used for
 * another line. Programs have a few thousand such lines at most; one that makes code
 * without end gets PCU_CALL_SITE_UNKNOWN when PCU_CALL_SITES_MOST are in use.
 *
 * Invariant: nothing is raised, and no Python code runs. The interpreter lock is held
 * unless a function says otherwise. Callers: any code in python/. */
#ifndef PYTHON_SUPPORT_CALL_SITE_H
#define PYTHON_SUPPORT_CALL_SITE_H

#include "python/support/base.h"

enum { PCU_CALL_SITE_UNKNOWN = 0, PCU_CALL_SITES_MOST = 1 << 16 };

/* The number of the line that makes the current call. */
PCU_HIDDEN uint32_t pcu_call_site(const pcu_state *st);

/* What a number stands for. The references are borrowed: valid as long as the module.
 */
typedef struct {
    PyObject *file;     /* str, as the interpreter names it; NULL: no line is known */
    PyObject *function; /* str: the function with its class */
    int line;
} pcu_line;

PCU_HIDDEN pcu_line pcu_call_site_line(const pcu_state *st, uint32_t site);

/* A tuple (file, line, function) for a number; (None, 0, None) for the unknown line. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_call_site_tuple(const pcu_state *st, uint32_t site);

/* Drop all lines. The module ends. */
PCU_HIDDEN void pcu_call_sites_finish(pcu_state *st);

/* -- lines for the checks of the software device ----------------------------------- */

/* Let the software device ask for the line of a call while a check is on: see
 * device/base/site.h. A real driver does not ask. */
PCU_HIDDEN void pcu_device_sites_begin(const pcu_state *st);

/* Find the line of a driver call, or forget it again. */
PCU_HIDDEN void pcu_device_site_find(void);
PCU_HIDDEN void pcu_device_site_drop(void);

/* The interpreter lock is about to be released around a driver call, which then need
 * not take it for an answer; and it was taken again. */
static inline void
pcu_device_site_keep(void)
{
    if (pcu_drv_info.device != NULL) {
        pcu_device_site_find();
    }
}

static inline void
pcu_device_site_forget(void)
{
    if (pcu_drv_info.device != NULL) {
        pcu_device_site_drop();
    }
}

/* Say that the program itself asks for the next free, or the end of a context (1), and
 * end that (0). Does nothing with a real driver. */
PCU_HIDDEN void pcu_device_site_asks(bool asked);

#endif
