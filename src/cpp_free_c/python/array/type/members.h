/* The parts of the type GPUArray: tables of methods, attributes, slots and module
 * functions, each defined in the file that the comment names.
 *
 * gpuarray_type.c puts them together. */
#ifndef PYTHON_ARRAY_TYPE_MEMBERS_H
#define PYTHON_ARRAY_TYPE_MEMBERS_H

#include "python/support/base.h"

/* attributes.c */
extern PCU_HIDDEN PyGetSetDef pcu_gpuarray_getset[];

/* operators.c, element_value.c, indexing.c: slots, ended by {0, NULL} */
extern PCU_HIDDEN const PyType_Slot pcu_operator_slots[];
extern PCU_HIDDEN const PyType_Slot pcu_element_value_slots[];
extern PCU_HIDDEN const PyType_Slot pcu_indexing_slots[];

/* Methods, each in the file of its name. */
extern PCU_HIDDEN PyMethodDef pcu_operator_methods[]; /* operators.c */
extern PCU_HIDDEN PyMethodDef pcu_element_value_methods[];
extern PCU_HIDDEN PyMethodDef pcu_numpy_protocol_methods[];
extern PCU_HIDDEN PyMethodDef pcu_combination_methods[];
extern PCU_HIDDEN PyMethodDef pcu_complex_parts_methods[];
extern PCU_HIDDEN PyMethodDef pcu_forwarded_methods[];
extern PCU_HIDDEN PyMethodDef pcu_reduction_methods[]; /* reduction_functions.c */
extern PCU_HIDDEN PyMethodDef pcu_view_methods[];
extern PCU_HIDDEN PyMethodDef pcu_transfer_methods[];
extern PCU_HIDDEN PyMethodDef pcu_copy_methods[];
extern PCU_HIDDEN PyMethodDef pcu_dlpack_export_methods[];
extern PCU_HIDDEN PyMethodDef pcu_scan_methods[];   /* scan_functions.c */
extern PCU_HIDDEN PyMethodDef pcu_mask_methods[];   /* mask_functions.c */
extern PCU_HIDDEN PyMethodDef pcu_device_methods[]; /* device.c */
extern PCU_HIDDEN PyMethodDef pcu_search_methods[]; /* search_functions.c */

/* Functions of the module, each in the file of its name. */
extern PCU_HIDDEN PyMethodDef pcu_operation_functions[];
extern PCU_HIDDEN PyMethodDef pcu_fourier_functions[];
extern PCU_HIDDEN PyMethodDef pcu_index_functions[];
extern PCU_HIDDEN PyMethodDef pcu_shape_functions[];
extern PCU_HIDDEN PyMethodDef pcu_public_index_functions[];
extern PCU_HIDDEN PyMethodDef pcu_public_shape_functions[];
extern PCU_HIDDEN PyMethodDef pcu_reduction_functions[];
extern PCU_HIDDEN PyMethodDef pcu_transfer_functions[];
extern PCU_HIDDEN PyMethodDef pcu_plain_array_functions[];
extern PCU_HIDDEN PyMethodDef pcu_pointer_facts_functions[];
extern PCU_HIDDEN PyMethodDef pcu_stream_waits_functions[];
extern PCU_HIDDEN PyMethodDef pcu_scan_functions[];
extern PCU_HIDDEN PyMethodDef pcu_sort_functions[];
extern PCU_HIDDEN PyMethodDef pcu_product_functions[];
extern PCU_HIDDEN PyMethodDef pcu_triangle_functions[];
extern PCU_HIDDEN PyMethodDef pcu_search_functions[];
extern PCU_HIDDEN PyMethodDef pcu_cross_functions[];
extern PCU_HIDDEN PyMethodDef pcu_solver_functions[];

/* The same for functions that pycuda.gpuarray gives to programs. */
extern PCU_HIDDEN PyMethodDef pcu_public_scan_functions[]; /* scan_functions.c */
extern PCU_HIDDEN PyMethodDef pcu_public_mask_functions[]; /* mask_functions.c */
extern PCU_HIDDEN PyMethodDef pcu_public_reduction_functions[];
extern PCU_HIDDEN PyMethodDef pcu_public_search_functions[];
extern PCU_HIDDEN PyMethodDef pcu_public_quantile_functions[];

/* Functions that pycuda.array_api gives to programs (standard_functions.c). */
extern PCU_HIDDEN PyMethodDef pcu_public_standard_functions[];

#endif
