/* The geometries of texture and surface instructions. */
#ifndef DEVICE_BASE_GEOMETRY_H
#define DEVICE_BASE_GEOMETRY_H

#include <stdbool.h>

/* The geometry that an instruction names. The texture may have another one. */
typedef enum {
    EMU_GEOMETRY_1D,
    EMU_GEOMETRY_2D,
    EMU_GEOMETRY_3D,
    EMU_GEOMETRY_A1D,
    EMU_GEOMETRY_A2D,
    EMU_GEOMETRY_CUBE,
    EMU_GEOMETRY_ACUBE
} emu_geometry;

/* The number of coordinates of a geometry. The layer does not count. */
static inline unsigned
emu_geometry_sides(unsigned geometry)
{
    static const unsigned char sides[] = {1, 2, 3, 1, 2, 3, 3};

    return sides[geometry];
}

/* Whether the layer comes before the coordinates. */
static inline bool
emu_geometry_layered(unsigned geometry)
{
    return geometry == EMU_GEOMETRY_A1D || geometry == EMU_GEOMETRY_A2D ||
           geometry == EMU_GEOMETRY_ACUBE;
}

#endif
