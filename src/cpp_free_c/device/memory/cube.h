/* Cubes: the face that a direction points to, the place on it, and the way across an
 * edge.
 *
 * Faces are numbered +x -x +y -y +z -z. Called by filter.c and sampling.c. */
#ifndef DEVICE_MEMORY_CUBE_H
#define DEVICE_MEMORY_CUBE_H

#include <stddef.h>
#include <stdint.h>

/* The face of a direction. Of components with equal size, z is preferred to y, and y to
 * x. */
unsigned emu_cube_face(const float direction[3]);
/* The coordinates on the face, each of [0, 1]. */
void emu_cube_project(const float direction[3], unsigned face, double out[2]);
/* Move a texel that is one step beyond an edge to the face that it belongs to. A face
 * has n texels on each side. */
void emu_cube_cross_edge(unsigned *face, int64_t *x, int64_t *y, int64_t n);
/* The square of the number of texels that the derivative d of a direction crosses. */
double emu_cube_steps(const float at[3], const float d[3], size_t width);

#endif
