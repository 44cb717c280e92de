/* positions.c - see positions.h. */
#include "data/simulation/positions.h"

/* Positions (first + i * step + d) * scale + shift. */
static void place(const float *restrict d, float first, float step, float scale, float shift,
                  int64_t count, float *restrict out)
{
  for (int64_t i = 0; i < count; i++) {
    out[i] = (first + (float)(int32_t)i * step + d[i]) * scale + shift;
  }
}

void cf_positions(const cf_particles *p, int64_t side, float shift, int64_t x, int64_t y, int64_t z,
                  int64_t count, float out[3][CF_STRIP])
{
  const int64_t n = cf_mesh_side(p->lattice);
  const int64_t at = (x * n + y) * cf_mesh_pitch(p->lattice) + z;
  const float scale = (float)((double)side / (double)n);

  place(p->d[0] + at, (float)(cf_mesh_slab(p->lattice).first + x), 0, scale, shift, count, out[0]);
  place(p->d[1] + at, (float)y, 0, scale, shift, count, out[1]);
  place(p->d[2] + at, (float)z, 1, scale, shift, count, out[2]);
}
