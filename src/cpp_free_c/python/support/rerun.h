/* The command that runs this program again under another one. */
#ifndef PCU_PYTHON_SUPPORT_RERUN_H
#define PCU_PYTHON_SUPPORT_RERUN_H

#include "python/support/base.h"

/* Return the words that name this program behind `python` or behind a command such as
 * `python -m pycuda.explain`, without arguments: "script.py", "-m module", and in a run
 * of pytest "-m pytest test_file.py::test_name". New reference, NULL on error. */
PyObject *pcu_rerun_words_new(void);

#endif
