/* The line of the program that made a call, as code object and instruction.
 *
 * Finding it costs a few nanoseconds, because no frame object is made: the
 * interpreter's frames are read as they are. File, line and function come from the code
 * object later, when a message needs them.
 *
 * The line is the innermost one outside of this package and NumPy, so it is a line of
 * the user, not of the code that serves the call.
 *
 * Invariant: pcu_caller_find raises nothing and makes no reference. A pcu_caller that
 * is stored is a strong reference: pcu_caller_keep and pcu_caller_clear set and end it.
 * They may run Python code (the release of a code object), so the structure around must
 * be complete before. The interpreter lock is held. Callers: any code in python/. */
#ifndef PYTHON_SUPPORT_CALLER_H
#define PYTHON_SUPPORT_CALLER_H

#include "python/support/base.h"

typedef struct {
    PyCodeObject *code; /* NULL: no line is known */
    int offset;         /* of the instruction, in bytes; negative: not known */
} pcu_caller;

/* Find the line that makes the current call. `code` is borrowed: valid until the
 * function returns to Python. It is NULL in a thread that runs no Python code. */
PCU_HIDDEN void pcu_caller_find(const pcu_state *st, pcu_caller *found);

/* Find the line that the thread of a state executes, without the interpreter lock if
 * need be: the thread is in a C function meanwhile. Without the lock no line may be
 * found, in a version of the interpreter whose frames this file does not know. */
PCU_HIDDEN void pcu_caller_find_in(const pcu_state *st, const PyThreadState *thread,
                                   pcu_caller *found);

/* Store a found line in place of an older one. */
static inline void
pcu_caller_keep(pcu_caller *kept, const pcu_caller *found)
{
    PyCodeObject *old = kept->code;
    kept->offset = found->offset;
    if (old != found->code) {
        kept->code = (PyCodeObject *)Py_XNewRef((PyObject *)found->code);
        Py_XDECREF(old);
    }
}

static inline void
pcu_caller_clear(pcu_caller *kept)
{
    Py_CLEAR(kept->code);
}

/* The file as the interpreter names it, and the function with its class; None if they
 * are not known. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_caller_file_new(const pcu_caller *place);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_caller_function_new(const pcu_caller *place);

/* The number of the line, 0 if it is not known. */
PCU_HIDDEN int pcu_caller_line(const pcu_caller *place);

/* "file:line in function" for messages, or "an unknown line". */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_caller_text_new(const pcu_caller *place);

/* Free what pcu_caller_setup has stored in the state. */
PCU_HIDDEN void pcu_caller_finish(pcu_state *st);

#endif
