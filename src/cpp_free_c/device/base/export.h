/* The mark of functions that the library of the software device exports. */
#ifndef DEVICE_BASE_EXPORT_H
#define DEVICE_BASE_EXPORT_H

#define EMU_EXPORT __attribute__((visibility("default")))

#endif
