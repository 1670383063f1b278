/* Large copies of ordinary host memory and of files, through page-locked pieces.
 *
 * The driver copies pageable memory with one thread, which is slower than the bus. Here
 * a few threads copy between the host memory and pieces of page-locked memory, while
 * the bus moves the other pieces. The functions of the table `drv` are replaced, so all
 * copies between host and device use the pieces: from a size on, outside of captures,
 * and if the host memory is unknown to the driver. All other copies are the driver's.
 *
 * Each context has its own pieces and threads, made when it has copied as many bytes.
 * The pages of a piece are locked when the bus uses it for the first time. One copy
 * at a time uses them; a second one in another thread is the driver's. The threads
 * never call the driver, and only the thread of the copy does, without any lock held.
 *
 * A copy keeps what the driver promises for pageable memory, in both forms: it begins
 * after the earlier work of the stream, and when the call returns the bytes are in
 * place. A failure or a signal in the middle ends the copy after the pieces that are on
 * the way.
 *
 * The variable PYCUDA_STAGING sets the bytes of the pieces of a context, which all
 * other sizes follow; 0 leaves all copies to the driver. The software device copies by
 * itself unless the variable is set.
 *
 * Invariant: in a forked child the driver is not READY, and nothing here is used.
 * Callers: see the functions. */
#ifndef DRIVER_STAGING_H
#define DRIVER_STAGING_H

#include "driver/shape.h"
#include "driver/table.h"

/* Replace the copies of the loaded driver. `host` is the callback of
 * abi/software_device.h. Later calls do nothing. Call it before pcu_waits_begin, whose
 * functions wait in front of these. */
PCU_HIDDEN void pcu_staging_begin(int (*host)(int question));

/* Free the pieces of a context and end its threads, after the copy that uses them.
 * Return the bytes of the pieces. The caller does not hold the interpreter lock. The
 * next large copy makes pieces again, and the variable is read again. */
PCU_HIDDEN size_t pcu_staging_release(CUcontext context);

/* A host array that is not packed. The axes are in the order of the packed copy: the
 * last one is the fastest. */
typedef struct {
    const char *data;
    size_t itemsize;
    int ndim;
    size_t shape[PCU_MAX_NDIM]; /* no length is 0 */
    ptrdiff_t strides[PCU_MAX_NDIM];
} pcu_staging_view;

/* Copy the elements to packed device memory, `size` bytes in all: the threads pack them
 * into the pieces. CUDA_ERROR_NOT_FOUND: nothing was copied, because the pieces are in
 * use or are not for this copy. The view is changed. The caller does not hold the
 * interpreter lock. */
PCU_HIDDEN CUresult pcu_staging_pack(CUdeviceptr device, pcu_staging_view *view,
                                     size_t size, CUstream stream);

/* Bytes of a regular file, from `offset` on. */
typedef struct {
    int fd;
    size_t offset;
    int error; /* set if the file fails: errno, ENODATA at the end of the file */
} pcu_staging_file;

/* Copy `size` bytes from the file to the device if `up`, else from the device to the
 * file: the threads read and write the file where they else copy host memory. From the
 * first part on that is not in the page cache, one thread reads: the system reads ahead
 * only of reads that are in order. The position of the descriptor is neither used nor
 * changed. CUDA_ERROR_NOT_FOUND: as above. CUDA_ERROR_OPERATING_SYSTEM with
 * file->error: a part was copied. The caller does not hold the interpreter lock. */
PCU_HIDDEN CUresult pcu_staging_file_copy(CUdeviceptr device, pcu_staging_file *file,
                                          size_t size, bool up, CUstream stream);

#endif
