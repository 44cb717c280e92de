/* positions.h - n^3 particles by the sites of their lattice, and where they stand on a mesh. */
#ifndef CF_POSITIONS_H
#define CF_POSITIONS_H
#include "data/simulation/mesh.h"
#include "graph/weir_scalar.h"

typedef struct cf_particles {
  const cf_mesh *lattice;
  float *d[3]; /* fields of the lattice */
} cf_particles;

enum { CF_STRIP = 64 /* particles of a row that are located together */ };

/* Positions along one axis, in sides of a cell of the mesh: the point below (or nearest) and the
 * distance from it. */
typedef struct cf_cell_pos {
  int32_t at[CF_STRIP];
  float frac[CF_STRIP];
} cf_cell_pos;

/* Computes positions of particles [z, z + count) of row (x, y) of this rank on a mesh of that side,
 * moved by `shift`; count <= CF_STRIP. */
void cf_positions(const cf_particles *p, int64_t side, float shift, int64_t x, int64_t y, int64_t z,
                  int64_t count, float out[3][CF_STRIP]);

/* Locates positions on a periodic axis of n. */
static inline void cf_locate(const float *restrict position, int64_t n, int64_t count,
                             cf_cell_pos *restrict out)
{
  const float side = (float)n, inverse = 1 / side;

  for (int64_t i = 0; i < count; i++) {
    const float free = position[i];
    const float inside = free - side * weir_floor_f32(free * inverse); /* rounding may give side */
    const float whole = weir_floor_f32(inside);
    const int32_t at = (int32_t)whole;

    out->at[i] = at >= (int32_t)n ? at - (int32_t)n : at < 0 ? at + (int32_t)n : at;
    out->frac[i] = inside - whole;
  }
}
#endif
