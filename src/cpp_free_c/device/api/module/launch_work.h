/* A launch as work that is kept: its function, its shape, its attributes and a copy of
 * its parameters.
 *
 * launch.c makes the records, for launches at once and for captures. kernel_node.c
 * makes and describes those of graph nodes. Call the functions with the API lock held.
 */
#ifndef DEVICE_API_MODULE_LAUNCH_WORK_H
#define DEVICE_API_MODULE_LAUNCH_WORK_H

#include "device/api/entry/work.h"
#include "device/api/module/module.h"

/* What a program asks for. */
typedef struct {
    unsigned int grid[3], block[3];
    unsigned int shared;
    unsigned int cluster[3]; /* zeros: not given */
    int cooperative;
    bool early; /* it may begin before the kernel ahead of it has ended */
    const CUlaunchAttribute *attributes; /* all that were given */
    unsigned int attribute_count;
    void **parameters, **extra; /* as cuLaunchKernel takes them */
} emu_launch_request;

/* The attributes that kernel nodes keep, as CUlaunchAttributeValue has them. */
typedef struct {
    uint64_t access_window[4];
    int cooperative;
    unsigned int cluster[3];
    unsigned int cluster_policy;
    int priority;
    unsigned char domain_map[2];
    unsigned int domain;
    unsigned int carveout;
} emu_launch_attributes;

/* Words behind the parameters that the description of a packed buffer needs. */
enum { EMU_LAUNCH_EXTRA_WORDS = 6 };

/* Everything that a launch needs when it runs later. Behind the parameters there is
 * room for the pointers that emu_kernel_node_describe hands out. */
typedef struct {
    emu_function *function;
    uint64_t serial; /* of the function */
    CUcontext context;
    emu_launch launch;
    emu_launch_attributes attributes;
    bool packed; /* the program gave the parameters as one buffer */
    _Alignas(16) char parameters[];
} emu_launch_payload;

static inline size_t
emu_launch_round_up(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

/* The bytes of a record for the function. */
size_t emu_launch_payload_size(const emu_function *function);
/* Check a launch and fill its record. */
CUresult emu_launch_fill(emu_function *function, const emu_launch_request *request,
                         emu_launch_payload *work);

/* The set_inputs of abi/software_device.h. Any thread may call it without the lock. */
void emu_set_inputs(uint64_t parameters);

/* Give a launch other attributes, if it may have them. Its function must be live. */
CUresult emu_launch_apply(emu_launch_payload *work,
                          const emu_launch_attributes *attributes);
/* Keep an attribute, if nodes have it. */
void emu_launch_attribute_store(emu_launch_attributes *attributes,
                                const CUlaunchAttribute *attribute);

extern const emu_work emu_launch_work;

/* -- graph nodes ------------------------------------------------------------------- */

/* Make the payload of a node. */
CUresult emu_kernel_node_from_params(emu_context *context,
                                     const CUgraphNodeParams *params, emu_payload *out);
void emu_kernel_node_describe(void *payload, CUgraphNodeParams *params);
CUgraphExecUpdateResult emu_kernel_node_compare(const void *payload, const void *other,
                                                bool wide);
void emu_kernel_node_draw(const void *payload, FILE *file);

/* Read and write an attribute. INVALID_VALUE: nodes do not have it. */
CUresult emu_kernel_node_get_attribute(const void *payload, CUlaunchAttributeID id,
                                       CUlaunchAttributeValue *value);
CUresult emu_kernel_node_set_attribute(void *payload, CUlaunchAttributeID id,
                                       const CUlaunchAttributeValue *value);
/* Give a payload the attributes of another one. */
CUresult emu_kernel_node_copy_attributes(void *payload, const void *from);

#endif
