/* What launch.c needs of argument handlers. The functions hold for exactly the types
 * In, Out and InOut; derived types go through their methods. */
#ifndef PCU_PY_HANDLERS_H
#define PCU_PY_HANDLERS_H

#include "pcu.h"

/* The address of the handler's device memory, allocated if it has none. */
PCU_HIDDEN PCU_RAISES int pcu_handler_pointer(pcu_handler *self, CUdeviceptr *pointer);

/* The address that get_device_alloc(), which a subclass may have replaced, gives. */
PCU_HIDDEN PCU_RAISES int pcu_handler_method_pointer(PyObject *op,
                                                     CUdeviceptr *pointer);

/* Wait for the stream; NULL: for the context. */
PCU_HIDDEN PCU_RAISES int pcu_wait(pcu_state *st, CUstream stream);

/* Copy the array to the device. */
PCU_HIDDEN PCU_RAISES int pcu_handler_upload(pcu_handler *self);

/* Wait for the stream (NULL: the context) and copy back to the array. */
PCU_HIDDEN PCU_RAISES int pcu_handler_download(pcu_handler *self, CUstream stream);

#endif
