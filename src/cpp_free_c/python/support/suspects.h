/* The launches that an error may come from: which they are, their order, and the text
 * of the message.
 *
 * An error that loses the context is reported by a call after the launch that caused
 * it. The launches that no wait has proved to be good are its suspects.
 *
 * Invariant: the first such error of a context decides; later errors of the context
 * have the same launches. Callers: errors.c, and python/driver/launched.c. */
#ifndef PYTHON_SUPPORT_SUSPECTS_H
#define PYTHON_SUPPORT_SUSPECTS_H

#include "python/support/base.h"

#include "driver/events.h"

/* The suspects of an error in the context of a record, which may be NULL: a tuple of
 * LaunchRecord, the likeliest first. If that context has none, those of all contexts.
 */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_suspects_new(pcu_state *st,
                                                 pcu_context_record *rec);

/* The suspects as lines behind a message, with what the user can do. It begins with a
 * newline. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_suspects_text_new(PyObject *launches,
                                                      const char *message);

/* The launches that an ended wait may have waited for, in the same form: lines that
 * each begin with a newline. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_unfinished_text_new(pcu_state *st,
                                                        pcu_context_record *rec);

/* Whether an earlier error has decided the suspects. */
PCU_HIDDEN bool pcu_suspects_are_known(const pcu_context_record *rec);

/* The context works: it was reset; or its record ends. May run Python code. */
PCU_HIDDEN void pcu_suspects_forget(pcu_context_record *rec);

/* The launches of the current context that the ring keeps, the newest first: a tuple of
 * LaunchRecord. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_launch_recent_new(pcu_state *st);

/* The str that events of launches refer to, equal to `name`: borrowed, and valid as
 * long as the module. */
PCU_HIDDEN PCU_BORROWED PCU_RAISES PyObject *pcu_launch_name_keep(pcu_state *st,
                                                                  PyObject *name);

#endif
