/* The variables of the environment that choose one of several words.
 *
 * A row has the name, the variable, its words with blanks between, and the word that
 * counts if the variable is not set or empty. The words of a switch are off and on;
 * driver/setting.c knows the other ways to write them. Numbers, folders and lists have
 * no rows: their users read them. The variables of the software device are in
 * device/api/context/device_setup.c, which is in another library. */
#ifndef TABLES_SETTINGS_H
#define TABLES_SETTINGS_H

/* clang-format off */
#define PCU_SWITCH_WORDS "off on"
#define PCU_SETTINGS(X)                                                           \
    X(DRIVER,              "PYCUDA_DRIVER",              "auto cuda emulator", 0)      \
    X(LAUNCH_BLOCKING,     "PYCUDA_LAUNCH_BLOCKING",     PCU_SWITCH_WORDS, 0)          \
    X(STRICT,              "PYCUDA_STRICT",              PCU_SWITCH_WORDS, 0)          \
    X(AUTOINIT,            "PYCUDA_AUTOINIT",            "primary own", 0)             \
    X(AUTOINIT_THREADS,    "PYCUDA_AUTOINIT_THREADS",    PCU_SWITCH_WORDS, 1)          \
    X(COMPILER,            "PYCUDA_COMPILER",            "nvcc nvrtc", 0)              \
    X(PRECOMPILED_HEADERS, "PYCUDA_PRECOMPILED_HEADERS", PCU_SWITCH_WORDS, 1)          \
    X(PROGRESS,            "PYCUDA_PROGRESS",            PCU_SWITCH_WORDS, 1)          \
    X(FUSE,                "PYCUDA_FUSE",                PCU_SWITCH_WORDS, 1)          \
    X(BLAS,                "PYCUDA_BLAS",                "auto cublas generated", 0)   \
    X(FFT,                 "PYCUDA_FFT",                 "auto cufft generated", 0)    \
    X(SOLVER,              "PYCUDA_SOLVER",              "auto cusolver generated", 0)
/* clang-format on */

#endif
