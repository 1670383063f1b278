/* The part of NCCL's binary interface that communicators of arrays use, as NVIDIA's
 * manual defines it: it is the same in all libraries libnccl.so.2 since 2.10, which has
 * the average.
 *
 *   X(name without nccl, exported name, need, parameters)
 *
 * Every function returns a status. Callers: driver/vendor_libraries.c and
 * python/array/collective. */
#ifndef ABI_NCCL_ABI_H
#define ABI_NCCL_ABI_H

#include <stddef.h>

#include "abi/cuda_abi.h"

typedef struct pcu_nccl_communicator *pcu_nccl_handle;

/* What all processes of a communicator share when they make it. */
typedef struct {
    char bytes[128];
} pcu_nccl_id;

/* The statuses that the package treats differently. */
enum {
    PCU_NCCL_SUCCESS = 0,
    PCU_NCCL_CUDA_ERROR = 1,
    PCU_NCCL_SYSTEM_ERROR = 2,
    PCU_NCCL_INTERNAL_ERROR = 3,
    PCU_NCCL_INVALID_ARGUMENT = 4,
    PCU_NCCL_INVALID_USAGE = 5,
    PCU_NCCL_REMOTE_ERROR = 6,
    PCU_NCCL_IN_PROGRESS = 7
};

/* ncclDataType_t */
enum {
    PCU_NCCL_INT8 = 0,
    PCU_NCCL_UINT8 = 1,
    PCU_NCCL_INT32 = 2,
    PCU_NCCL_UINT32 = 3,
    PCU_NCCL_INT64 = 4,
    PCU_NCCL_UINT64 = 5,
    PCU_NCCL_FLOAT16 = 6,
    PCU_NCCL_FLOAT32 = 7,
    PCU_NCCL_FLOAT64 = 8,
    PCU_NCCL_BFLOAT16 = 9
};

/* ncclRedOp_t */
enum {
    PCU_NCCL_SUM = 0,
    PCU_NCCL_PROD = 1,
    PCU_NCCL_MAX = 2,
    PCU_NCCL_MIN = 3,
    PCU_NCCL_AVG = 4
};

/* clang-format off */
#define PCU_NCCL_SYMBOLS(X) \
    X(GetVersion, "ncclGetVersion", 1, (int *version)) \
    X(GetUniqueId, "ncclGetUniqueId", 1, (pcu_nccl_id *id)) \
    X(CommInitRank, "ncclCommInitRank", 1, \
      (pcu_nccl_handle *comm, int size, pcu_nccl_id id, int rank)) \
    X(CommDestroy, "ncclCommDestroy", 1, (pcu_nccl_handle comm)) \
    X(CommAbort, "ncclCommAbort", 1, (pcu_nccl_handle comm)) \
    X(CommGetAsyncError, "ncclCommGetAsyncError", 1, \
      (pcu_nccl_handle comm, int *status)) \
    X(AllReduce, "ncclAllReduce", 1, \
      (const void *send, void *recv, size_t count, int type, int op, \
       pcu_nccl_handle comm, CUstream stream)) \
    X(Reduce, "ncclReduce", 1, \
      (const void *send, void *recv, size_t count, int type, int op, int root, \
       pcu_nccl_handle comm, CUstream stream)) \
    X(Broadcast, "ncclBroadcast", 1, \
      (const void *send, void *recv, size_t count, int type, int root, \
       pcu_nccl_handle comm, CUstream stream)) \
    X(AllGather, "ncclAllGather", 1, \
      (const void *send, void *recv, size_t count, int type, pcu_nccl_handle comm, \
       CUstream stream)) \
    X(ReduceScatter, "ncclReduceScatter", 1, \
      (const void *send, void *recv, size_t count, int type, int op, \
       pcu_nccl_handle comm, CUstream stream)) \
    X(Send, "ncclSend", 1, \
      (const void *send, size_t count, int type, int peer, pcu_nccl_handle comm, \
       CUstream stream)) \
    X(Recv, "ncclRecv", 1, \
      (void *recv, size_t count, int type, int peer, pcu_nccl_handle comm, \
       CUstream stream)) \
    X(GroupStart, "ncclGroupStart", 1, (void)) \
    X(GroupEnd, "ncclGroupEnd", 1, (void))
/* clang-format on */

#endif
