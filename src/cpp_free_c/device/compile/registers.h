/* The places of virtual registers in the frame. Called by program.c. */
#ifndef DEVICE_COMPILE_REGISTERS_H
#define DEVICE_COMPILE_REGISTERS_H

#include "device/compile/lower_state.h"

/* Sets the offset of each register, frame_size and pressure. */
void low_allocate(low_func *f);

#endif
