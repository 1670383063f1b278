/* The marks of functions and variables that all files of the extension share. */
#ifndef DRIVER_VISIBILITY_H
#define DRIVER_VISIBILITY_H

#if defined(__GNUC__)
#    define PCU_HIDDEN __attribute__((visibility("hidden")))
/* A thread-local variable that is read without a function call. The C library reserves
 * space for a few such pointers in libraries that are loaded at run time. */
#    define PCU_THREAD _Thread_local __attribute__((tls_model("initial-exec")))
#else
#    define PCU_HIDDEN
#    define PCU_THREAD _Thread_local
#endif

#endif
