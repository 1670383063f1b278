/* Packing and launching a stage of a program's kernel: see kernel_call.c. */
#ifndef PYTHON_ARRAY_TYPE_CALL_LAUNCH_H
#define PYTHON_ARRAY_TYPE_CALL_LAUNCH_H

#include "python/array/type/call_plan.h"
#include "python/array/type/kernel_arguments.h"
#include "python/driver/launch/launch.h"

enum {
    PCU_CALL_LEADING_MAX = 3, /* addresses before the program's arguments */
    PCU_CALL_TRAILING_MAX = 3 /* numbers after them */
};

/* One call in progress. */
typedef struct {
    const pcu_call_plan *plan;
    pcu_kernel_arguments arguments;
    CUstream stream;
    PyObject *allocator; /* borrowed; NULL: that of the first array */
} pcu_call_run;

/* A launch of a stage: what precedes and follows the program's arguments. */
typedef struct {
    PyObject *function; /* borrowed from the plan */
    int leading;
    CUdeviceptr addresses[PCU_CALL_LEADING_MAX];
    int trailing;
    uint64_t numbers[PCU_CALL_TRAILING_MAX];
    pcu_launch_shape shape;
} pcu_call_launch;

/* Pack and launch a stage. 1 if done, 0 if Python has to handle the call, -1 on error.
 */
PCU_HIDDEN PCU_RAISES int pcu_call_enqueue(const pcu_call_run *run,
                                           const pcu_call_launch *launch);

#endif
