/* The part of NVIDIA's linker library (nvJitLink) that the library exports.
 *
 * Programs and libraries that are linked to libnvJitLink.so find its functions here.
 * The result of a link is the image of cuLinkComplete, which cuModuleLoadData reads.
 * LTO code is refused: only NVIDIA's compiler can translate it. So the version is below
 * 12.3, from which on Numba compiles everything to LTO code; it then links by the
 * driver. nvJitLink needs neither cuInit nor a context. Names and numbers are
 * nvJitLink's. */
#ifndef DEVICE_API_MODULE_JIT_LINK_H
#define DEVICE_API_MODULE_JIT_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "device/base/export.h"

typedef enum {
    NVJITLINK_SUCCESS = 0,
    NVJITLINK_ERROR_UNRECOGNIZED_OPTION = 1,
    NVJITLINK_ERROR_MISSING_ARCH = 2,
    NVJITLINK_ERROR_INVALID_INPUT = 3,
    NVJITLINK_ERROR_PTX_COMPILE = 4,
    NVJITLINK_ERROR_INTERNAL = 6,
    NVJITLINK_ERROR_UNRECOGNIZED_INPUT = 8,
    NVJITLINK_ERROR_UNRECOGNIZED_ARCH = 16,
    NVJITLINK_ERROR_LTO_NOT_ENABLED = 18
} nvJitLinkResult;

typedef enum {
    NVJITLINK_INPUT_CUBIN = 1,
    NVJITLINK_INPUT_PTX = 2,
    NVJITLINK_INPUT_LTOIR = 3,
    NVJITLINK_INPUT_FATBIN = 4,
    NVJITLINK_INPUT_OBJECT = 5,
    NVJITLINK_INPUT_LIBRARY = 6,
    NVJITLINK_INPUT_INDEX = 7,
    NVJITLINK_INPUT_ANY = 10
} nvJitLinkInputType;

typedef struct nvJitLink *nvJitLinkHandle;

EMU_EXPORT nvJitLinkResult nvJitLinkVersion(unsigned int *major, unsigned int *minor);
EMU_EXPORT nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle *handle, uint32_t numOptions,
                                           const char **options);
EMU_EXPORT nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle *handle);
EMU_EXPORT nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle,
                                            nvJitLinkInputType inputType,
                                            const void *data, size_t size,
                                            const char *name);
EMU_EXPORT nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle,
                                            nvJitLinkInputType inputType,
                                            const char *fileName);
EMU_EXPORT nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle);
EMU_EXPORT nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle,
                                                       size_t *size);
EMU_EXPORT nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void *cubin);
EMU_EXPORT nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle,
                                                     size_t *size);
EMU_EXPORT nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char *ptx);
EMU_EXPORT nvJitLinkResult nvJitLinkGetLinkedLTOIRSize(nvJitLinkHandle handle,
                                                       size_t *size);
EMU_EXPORT nvJitLinkResult nvJitLinkGetLinkedLTOIR(nvJitLinkHandle handle, void *ltoir);
EMU_EXPORT nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle,
                                                    size_t *size);
EMU_EXPORT nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char *log);
EMU_EXPORT nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle,
                                                   size_t *size);
EMU_EXPORT nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char *log);

#endif
