/* NCCL: opening the library, and the exceptions of its failures.
 *
 * The library is opened when the first communicator or identifier is made. Called by
 * the files of this room. */
#ifndef PYTHON_ARRAY_COLLECTIVE_LIBRARY_H
#define PYTHON_ARRAY_COLLECTIVE_LIBRARY_H

#include "python/support/base.h"

#include "driver/vendor_libraries.h"

/* 0 if the table of functions is filled, else RuntimeError that says what to install.
 */
PCU_HIDDEN PCU_RAISES int pcu_nccl_require(pcu_state *st);

/* Raise the exception of a failed call. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_nccl_raise(pcu_state *st, const char *routine,
                                         int status);

#endif
