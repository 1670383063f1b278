/* Every CUresult: X(NAME, code, exception class of pycuda.driver, text).
 *
 * The text is used if the driver has none (it is not loaded, or too old to know the
 * code), and by the software device. Codes without a more specific class are
 * LogicError. test/driver/test_abi.py compares the rows with cuda.h. Read by
 * driver/status.c, driver/release.c and the software device. */
#ifndef ABI_RESULTS_H
#define ABI_RESULTS_H

/* clang-format off */
#define PCU_RESULTS(X) \
    X(CUDA_SUCCESS, 0, LogicError, "no error") \
    X(CUDA_ERROR_INVALID_VALUE, 1, LogicError, "invalid argument") \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2, MemoryError, "out of memory") \
    X(CUDA_ERROR_NOT_INITIALIZED, 3, LogicError, "initialization error") \
    X(CUDA_ERROR_DEINITIALIZED, 4, LogicError, "driver shutting down") \
    X(CUDA_ERROR_PROFILER_DISABLED, 5, LogicError, "profiler disabled") \
    X(CUDA_ERROR_PROFILER_NOT_INITIALIZED, 6, LogicError, "profiler not initialized") \
    X(CUDA_ERROR_PROFILER_ALREADY_STARTED, 7, LogicError, "profiler already started") \
    X(CUDA_ERROR_PROFILER_ALREADY_STOPPED, 8, LogicError, "profiler already stopped") \
    X(CUDA_ERROR_STUB_LIBRARY, 34, LogicError, "CUDA driver is a stub library") \
    X(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, 36, LogicError, "call requires newer driver") \
    X(CUDA_ERROR_DEVICE_UNAVAILABLE, 46, LogicError, "device unavailable") \
    X(CUDA_ERROR_NO_DEVICE, 100, RuntimeError, "no CUDA-capable device is detected") \
    X(CUDA_ERROR_INVALID_DEVICE, 101, LogicError, "invalid device ordinal") \
    X(CUDA_ERROR_DEVICE_NOT_LICENSED, 102, LogicError, "device not licensed") \
    X(CUDA_ERROR_INVALID_IMAGE, 200, LogicError, "device kernel image is invalid") \
    X(CUDA_ERROR_INVALID_CONTEXT, 201, LogicError, "invalid device context") \
    X(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, 202, LogicError, "context already current") \
    X(CUDA_ERROR_MAP_FAILED, 205, LogicError, "map failed") \
    X(CUDA_ERROR_UNMAP_FAILED, 206, LogicError, "unmap failed") \
    X(CUDA_ERROR_ARRAY_IS_MAPPED, 207, LogicError, "array is mapped") \
    X(CUDA_ERROR_ALREADY_MAPPED, 208, LogicError, "already mapped") \
    X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209, RuntimeError, "no kernel image is available for execution on the device") \
    X(CUDA_ERROR_ALREADY_ACQUIRED, 210, LogicError, "already acquired") \
    X(CUDA_ERROR_NOT_MAPPED, 211, LogicError, "not mapped") \
    X(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, 212, LogicError, "not mapped as array") \
    X(CUDA_ERROR_NOT_MAPPED_AS_POINTER, 213, LogicError, "not mapped as pointer") \
    X(CUDA_ERROR_ECC_UNCORRECTABLE, 214, RuntimeError, "ecc uncorrectable") \
    X(CUDA_ERROR_UNSUPPORTED_LIMIT, 215, LogicError, "unsupported limit") \
    X(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, 216, LogicError, "context already in use") \
    X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217, LogicError, "peer access unsupported") \
    X(CUDA_ERROR_INVALID_PTX, 218, LogicError, "a PTX JIT compilation failed") \
    X(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, 219, LogicError, "invalid graphics context") \
    X(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220, LogicError, "nvlink uncorrectable") \
    X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221, LogicError, "jit compiler not found") \
    X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222, LogicError, "unsupported ptx version") \
    X(CUDA_ERROR_JIT_COMPILATION_DISABLED, 223, LogicError, "jit compilation disabled") \
    X(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, 224, LogicError, "unsupported exec affinity") \
    X(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, 225, LogicError, "unsupported devside sync") \
    X(CUDA_ERROR_CONTAINED, 226, LogicError, "contained") \
    X(CUDA_ERROR_INVALID_SOURCE, 300, LogicError, "invalid source") \
    X(CUDA_ERROR_FILE_NOT_FOUND, 301, RuntimeError, "file not found") \
    X(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, 302, LogicError, "shared object symbol not found") \
    X(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, 303, LogicError, "shared object init failed") \
    X(CUDA_ERROR_OPERATING_SYSTEM, 304, LogicError, "operating system") \
    X(CUDA_ERROR_INVALID_HANDLE, 400, LogicError, "invalid resource handle") \
    X(CUDA_ERROR_ILLEGAL_STATE, 401, LogicError, "illegal state") \
    X(CUDA_ERROR_LOSSY_QUERY, 402, LogicError, "lossy query") \
    X(CUDA_ERROR_NOT_FOUND, 500, LogicError, "named symbol not found") \
    X(CUDA_ERROR_NOT_READY, 600, RuntimeError, "device not ready") \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, 700, LogicError, "an illegal memory access was encountered") \
    X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701, LaunchError, "too many resources requested for launch") \
    X(CUDA_ERROR_LAUNCH_TIMEOUT, 702, LaunchError, "the launch timed out and was terminated") \
    X(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, 703, LaunchError, "launch incompatible texturing") \
    X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704, LogicError, "peer access is already enabled") \
    X(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, 705, LogicError, "peer access has not been enabled") \
    X(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, 708, LogicError, "primary context active") \
    X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709, LogicError, "context is destroyed") \
    X(CUDA_ERROR_ASSERT, 710, LogicError, "device-side assert triggered") \
    X(CUDA_ERROR_TOO_MANY_PEERS, 711, LogicError, "too many peers") \
    X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712, LogicError, "host memory already registered") \
    X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713, LogicError, "host memory not registered") \
    X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714, LogicError, "hardware stack error") \
    X(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715, LogicError, "illegal instruction") \
    X(CUDA_ERROR_MISALIGNED_ADDRESS, 716, LogicError, "misaligned address") \
    X(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717, LogicError, "invalid address space") \
    X(CUDA_ERROR_INVALID_PC, 718, LogicError, "invalid pc") \
    X(CUDA_ERROR_LAUNCH_FAILED, 719, LaunchError, "unspecified launch failure") \
    X(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720, LogicError, "cooperative launch too large") \
    X(CUDA_ERROR_TENSOR_MEMORY_LEAK, 721, LogicError, "tensor memory leak") \
    X(CUDA_ERROR_NOT_PERMITTED, 800, LogicError, "not permitted") \
    X(CUDA_ERROR_NOT_SUPPORTED, 801, LogicError, "operation not supported") \
    X(CUDA_ERROR_SYSTEM_NOT_READY, 802, LogicError, "system not ready") \
    X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803, LogicError, "system driver mismatch") \
    X(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804, LogicError, "compat not supported on device") \
    X(CUDA_ERROR_MPS_CONNECTION_FAILED, 805, LogicError, "mps connection failed") \
    X(CUDA_ERROR_MPS_RPC_FAILURE, 806, LogicError, "mps rpc failure") \
    X(CUDA_ERROR_MPS_SERVER_NOT_READY, 807, LogicError, "mps server not ready") \
    X(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, 808, LogicError, "mps max clients reached") \
    X(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, 809, LogicError, "mps max connections reached") \
    X(CUDA_ERROR_MPS_CLIENT_TERMINATED, 810, LogicError, "mps client terminated") \
    X(CUDA_ERROR_CDP_NOT_SUPPORTED, 811, LogicError, "cdp not supported") \
    X(CUDA_ERROR_CDP_VERSION_MISMATCH, 812, LogicError, "cdp version mismatch") \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, LogicError, "stream capture unsupported") \
    X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901, LogicError, "stream capture invalidated") \
    X(CUDA_ERROR_STREAM_CAPTURE_MERGE, 902, LogicError, "stream capture merge") \
    X(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, 903, LogicError, "stream capture unmatched") \
    X(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, 904, LogicError, "stream capture unjoined") \
    X(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, 905, LogicError, "stream capture isolation") \
    X(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906, LogicError, "stream capture implicit") \
    X(CUDA_ERROR_CAPTURED_EVENT, 907, LogicError, "captured event") \
    X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908, LogicError, "stream capture wrong thread") \
    X(CUDA_ERROR_TIMEOUT, 909, LogicError, "timeout") \
    X(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, 910, LogicError, "graph exec update failure") \
    X(CUDA_ERROR_EXTERNAL_DEVICE, 911, LogicError, "external device") \
    X(CUDA_ERROR_INVALID_CLUSTER_SIZE, 912, LogicError, "invalid cluster size") \
    X(CUDA_ERROR_FUNCTION_NOT_LOADED, 913, LogicError, "function not loaded") \
    X(CUDA_ERROR_INVALID_RESOURCE_TYPE, 914, LogicError, "invalid resource type") \
    X(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, 915, LogicError, "invalid resource configuration") \
    X(CUDA_ERROR_KEY_ROTATION, 916, LogicError, "key rotation") \
    X(CUDA_ERROR_UNKNOWN, 999, Error, "unknown error")
/* clang-format on */

#endif
