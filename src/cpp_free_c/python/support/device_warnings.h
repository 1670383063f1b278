/* Warnings of the software device (device/base/warnings.h) become PyCUDAWarning.
 *
 * Invariant: each is given once, in the main thread, at the line of the program that
 * runs next: for a program that waits for its kernels, the line of the launch or of the
 * wait. What comes last is given when the interpreter ends. A real driver has none.
 * Callers: init.c. */
#ifndef PYTHON_SUPPORT_DEVICE_WARNINGS_H
#define PYTHON_SUPPORT_DEVICE_WARNINGS_H

#include "python/support/base.h"

PCU_HIDDEN PCU_RAISES int pcu_device_warnings_setup(PyObject *module);

/* Write what the device tells of a launch that takes long to stderr, if there is such a
 * notice. The thread that runs the launch calls it; `released`: its state, if it does
 * not hold the interpreter lock. */
PCU_HIDDEN void pcu_device_notice_write(PyThreadState *released);

#endif
