/* Object files and libraries of a host compiler that have device code in them.
 *
 * nvcc puts fat binaries into sections of an object file. A library is an archive of
 * object files. Only links take them. */
#ifndef DEVICE_API_MODULE_OBJECT_FILE_H
#define DEVICE_API_MODULE_OBJECT_FILE_H

#include "device/api/module/image_texts.h"

/* Add the PTX of an object file for a device of this capability. `name` is for
 * messages. INVALID_IMAGE, NO_BINARY_FOR_GPU, OUT_OF_MEMORY. */
CUresult emu_object_file_open(const char *data, size_t size, unsigned capability,
                              const char *name, emu_image *image);

/* The same for all object files of a library. Its texts are linked only if they define
 * what other texts need. So an object file without suitable PTX is no error: its
 * problem is kept, in case that something is missing in the end. */
CUresult emu_library_file_open(const char *data, size_t size, unsigned capability,
                               const char *name, emu_image *image);

#endif
