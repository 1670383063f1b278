/* Memory of the device and of the host, for the files that allocate it or take its
 * address. Pools are in pool.h, copies in copy.h, texture arrays in texture_array.h.
 *
 * Each section names its source. */
#ifndef PYTHON_DRIVER_MEMORY_MEMORY_H
#define PYTHON_DRIVER_MEMORY_MEMORY_H

#include "python/support/base.h"

#include "python/support/args.h"
#include "python/support/call_site.h"
#include "python/support/convert.h"
#include "python/support/driver_call.h"
#include "python/driver/graph_resources.h"
#include "python/driver/resource.h"

#include "driver/memory_map.h"

/* -- memory.c: converters ---------------------------------------------------------- */

/* Converter: CUdeviceptr, from an int, an allocation, a pointer holder, an array in
 * managed memory, or an object with gpudata. */
PCU_CONVERTER(pcu_as_pointer, CUdeviceptr);

/* Converter: CUmemLocation, from a Device, a device's number, None (the current
 * device), "host", "host_numa_current", or ("host_numa", node). */
PCU_CONVERTER(pcu_as_location, CUmemLocation);

/* Converter: CUdevice, from a Device, a number, or None (the current device). */
PCU_CONVERTER(pcu_as_device, CUdevice);

/* -- memory.c: allocation under memory pressure ------------------------------------ */

/* The garbage collector may run Python code, such as finalizers, so a caller of
 * PCU_ALLOCATE assumes nothing about other objects afterwards. */

/* Run the garbage collector, even if the program has disabled automatic collection. */
PCU_HIDDEN void pcu_collect_garbage(void);

/* Call an allocating function of the driver. If memory is short, collect garbage and
 * call it again. */
#define PCU_ALLOCATE(status, name, args)            \
    do {                                            \
        PCU_STATUS(status, name, args);             \
        if ((status) == CUDA_ERROR_OUT_OF_MEMORY) { \
            pcu_collect_garbage();                  \
            PCU_STATUS(status, name, args);         \
        }                                           \
    } while (0)

/* The lines of the program that hold the most memory, pools and other processes, as a
 * str that begins with a line end or is empty. `host`: for page-locked memory. It runs
 * Python code. If that fails, the result is empty; NULL only for an exception that is
 * no failure of the code, such as KeyboardInterrupt. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_memory_use_new(size_t asked, bool host);

/* Raise the failure of an allocation of `size` bytes of device memory, with the free
 * and total bytes of the device and the lines that hold memory. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_out_of_memory_raise(pcu_state *st, const char *routine,
                                                  CUresult status, size_t size);

/* The same for page-locked memory. */
PCU_HIDDEN PCU_RAISES int pcu_out_of_host_memory_raise(pcu_state *st,
                                                       const char *routine,
                                                       CUresult status, size_t size);

/* -- memory.c: notes of the lines that allocate ------------------------------------ */

/* Nothing is raised, and a note costs tens of nanoseconds at most. */

/* Note that a wrapper of a handle, a pcu_resource, owns `size` bytes of new memory. The
 * release of the handle ends the note. Returns self, which may be NULL. */
PCU_HIDDEN PyObject *pcu_memory_noted(PyObject *self, pcu_memory_kind kind,
                                      size_t size);

/* The number of the line that allocates now, 0 if nothing is recorded. */
static inline uint32_t
pcu_memory_site(pcu_state *st)
{
    if (!pcu_memory_map.recording) {
        return PCU_CALL_SITE_UNKNOWN;
    }
    return pcu_call_site(st);
}

/* -- allocation.c ------------------------------------------------------------------ */

/* Allocate `size` bytes, a DeviceAllocation. If memory is short, collect garbage and
 * try again once. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_allocation_new(pcu_state *st, size_t size);

/* -- host.c: page-locked and aligned memory of a context --------------------------- */

/* Allocate host memory in the current context; *data is its address. `flags` are the
 * driver's. `alignment` must be a power of two, else LogicError. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_pagelocked_alloc(pcu_state *st, size_t bytes,
                                                     unsigned int flags, void **data);
PCU_HIDDEN PCU_NEWREF PyObject *pcu_aligned_alloc(pcu_state *st, size_t bytes,
                                                  size_t alignment, void **data);

/* Raise LogicError if an object is an array in page-locked or managed memory that was
 * freed: 0 or -1. `name` is that of the argument. */
PCU_HIDDEN PCU_RAISES int pcu_host_array_check(pcu_state *st, PyObject *object,
                                               const char *routine, const char *name);

/* -- managed.c: memory that host and device share ---------------------------------- */

/* Allocate memory that host and device share; *data is its address. flags 0 means
 * mem_attach_flags.GLOBAL. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_managed_alloc(pcu_state *st, size_t bytes,
                                                  unsigned int flags, void **data);

/* The ManagedAllocation in which the memory of an array lies. NULL without an exception
 * if there is none. */
PCU_HIDDEN PCU_BORROWED PyObject *pcu_managed_of_array(pcu_state *st,
                                                       PyArrayObject *array);

/* The object that owns the memory of an array, the last of its bases. May be NULL. */
PCU_HIDDEN PCU_BORROWED PyObject *pcu_owner_of_array(PyArrayObject *array);

/* -- numpy_array.c: NumPy arrays in memory of this package ------------------------- */

/* The bytes of a shape of this dtype. ValueError if they exceed the address space. */
PCU_HIDDEN PCU_RAISES int pcu_numpy_array_bytes(const pcu_shape *shape,
                                                PyArray_Descr *dtype, size_t *bytes);

/* An array in the memory at `data`, which `base` keeps alive. Takes over the references
 * to dtype and base. */
PCU_HIDDEN PCU_NEWREF PCU_STEALS(2)
    PCU_STEALS(5) PyObject *pcu_numpy_array_new(const pcu_shape *shape,
                                                PyArray_Descr *dtype, NPY_ORDER order,
                                                void *data, PyObject *base);

/* -- physical_memory.c: memory without an address ---------------------------------- */

/* Round a size up to what the device can map. recommended: to the multiple for the best
 * speed. Raises if the result would be too large. */
PCU_HIDDEN PCU_RAISES int pcu_physical_round(pcu_state *st, CUdevice device,
                                             bool recommended, size_t *size);

/* -- stream_allocation.c: memory in the order of a stream -------------------------- */

/* Wrap new memory, which is freed in the stream. stream and pool may be NULL. On
 * failure the memory is freed. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_stream_allocation_new(pcu_state *st, PyObject *ctx,
                                                          CUdeviceptr memory,
                                                          size_t size, PyObject *stream,
                                                          CUstream handle,
                                                          PyObject *pool);

/* -- memory_operation.c: waits and writes of values -------------------------------- */

/* The memory of an operation is kept by a graph: by the given one, or by the graphs of
 * the active captures if none is given. */

/* A value of 4 or 8 bytes; negative numbers have the same bits as signed integers. */
PCU_HIDDEN PCU_RAISES int pcu_memory_value_read(PyObject *value, unsigned int width,
                                                unsigned long long *bits);

/* The address of a value. */
PCU_HIDDEN PCU_RAISES int pcu_memory_value_address(pcu_state *st, PyObject *memory,
                                                   pcu_graph_resources *resources,
                                                   CUdeviceptr *address);

/* The operations of a batch. *list is to be freed with PyMem_Free, also on error. A
 * node of a graph must have at least one. */
PCU_HIDDEN PCU_RAISES int pcu_memory_operations_read(pcu_state *st,
                                                     PyObject *operations,
                                                     pcu_graph_resources *resources,
                                                     CUstreamBatchMemOpParams **list,
                                                     unsigned int *count);

#endif
