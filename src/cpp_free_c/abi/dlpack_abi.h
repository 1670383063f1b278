/* The structs of DLPack, by which libraries exchange tensors, as its specification
 * defines them: version 1.0, and the form without a version that preceded it.
 *
 * A producer returns a managed tensor in a capsule whose name is the form. The consumer
 * renames the capsule and then owns the tensor. When it no longer needs the tensor, it
 * calls `deleter` with the tensor, in any thread. Callers: python/driver/exchange and
 * python/array. */
#ifndef ABI_DLPACK_ABI_H
#define ABI_DLPACK_ABI_H

#include <stdint.h>

enum { PCU_DL_MAJOR = 1, PCU_DL_MINOR = 0 };

#define PCU_DL_NAME "dltensor"
#define PCU_DL_USED_NAME "used_dltensor"
#define PCU_DL_VERSIONED_NAME "dltensor_versioned"
#define PCU_DL_VERSIONED_USED_NAME "used_dltensor_versioned"

enum {
    PCU_DL_CPU = 1,
    PCU_DL_CUDA = 2,
    PCU_DL_CUDA_HOST = 3,
    PCU_DL_CUDA_MANAGED = 13
};

typedef struct {
    int32_t type;
    int32_t id;
} pcu_dl_device;

enum {
    PCU_DL_INT = 0,
    PCU_DL_UINT = 1,
    PCU_DL_FLOAT = 2,
    PCU_DL_BFLOAT = 4,
    PCU_DL_COMPLEX = 5,
    PCU_DL_BOOL = 6
};

typedef struct {
    uint8_t code;
    uint8_t bits; /* of one lane */
    uint16_t lanes;
} pcu_dl_dtype;

typedef struct {
    void *data;
    pcu_dl_device device;
    int32_t ndim;
    pcu_dl_dtype dtype;
    int64_t *shape;
    int64_t *strides; /* in items; NULL: packed, the last axis fastest */
    uint64_t byte_offset;
} pcu_dl_tensor;

typedef struct pcu_dl_managed {
    pcu_dl_tensor tensor;
    void *manager;
    void (*deleter)(struct pcu_dl_managed *self); /* may be NULL */
} pcu_dl_managed;

enum { PCU_DL_READ_ONLY = 1 << 0, PCU_DL_IS_COPIED = 1 << 1 };

typedef struct pcu_dl_versioned {
    struct {
        uint32_t major;
        uint32_t minor;
    } version;
    void *manager;
    void (*deleter)(struct pcu_dl_versioned *self); /* may be NULL */
    uint64_t flags;
    pcu_dl_tensor tensor;
} pcu_dl_versioned;

#endif
