/* The launches that an error may come from: which they are, their order, and the text
 * of the message.
 *
 * An error that loses the context is reported by a call after the launch that caused
 * it. The launches that no wait has proved to be good are its suspects.
 *
 * Invariant: the first such error of a context decides; later errors of the context
 * have the same launches. Callers: errors.c. */
#ifndef PYTHON_SUPPORT_LAUNCH_ERROR_H
#define PYTHON_SUPPORT_LAUNCH_ERROR_H

#include "python/support/base.h"

#include "driver/context_record.h"

/* The suspects of an error in the context of a record, which may be NULL: a tuple of
 * LaunchRecord, the likeliest first. If that context has none, those of all contexts.
 */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_launch_suspects_new(pcu_state *st,
                                                        const pcu_context_record *rec);

/* The suspects as lines of a message, with what the user can do. It begins with a
 * newline. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_launch_suspects_text_new(PyObject *launches);

/* 1 if an earlier error has decided the suspects. */
PCU_HIDDEN int pcu_launch_suspects_are_known(const pcu_context_record *rec);

/* The launches of the current context that the ring has, the newest first: a tuple of
 * LaunchRecord. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_launch_recent_new(pcu_state *st);

#endif
