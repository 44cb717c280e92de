/* particles.c - see particles.h. */
#include "data/simulation/particles.h"
#include <math.h>
#include <string.h>
#include "device/weir_parallel.h"
#include "graph/weir_scalar.h"

enum { STRIP = 64 };

bool cf_particles_sound(const cf_particles *p)
{
  bool sound = true;

  for (int i = 0; i < 3; i++) {
    for (int64_t row = 0; row < p->n * p->n; row++) {
      const float *const d = p->d[i] + row * p->pitch;
      float worst = 0;

      for (int64_t z = 0; z < p->n; z++) { /* NaN or infinity minus itself is not 0 */
        worst += d[z] - d[z];
      }
      sound = sound && worst == 0;
    }
  }
  return sound;
}

/* Positions of particles of a row along one axis: the point below (or nearest) and the distance
 * from it. */
typedef struct cell_pos {
  int32_t at[STRIP];
  float frac[STRIP];
} cell_pos;

/* Locates points (first + i * step + d) * scale + shift of a periodic axis of n. */
static void locate(const float *restrict d, float first, float step, float scale, float shift,
                   int64_t n, int64_t count, cell_pos *restrict out)
{
  const float side = (float)n, inverse = 1 / side;

  for (int64_t i = 0; i < count; i++) {
    const float free = (first + (float)(int32_t)i * step + d[i]) * scale + shift;
    const float inside = free - side * weir_floor_f32(free * inverse); /* rounding may give side */
    const float whole = weir_floor_f32(inside);
    const int32_t at = (int32_t)whole;

    out->at[i] = at >= (int32_t)n ? at - (int32_t)n : at < 0 ? at + (int32_t)n : at;
    out->frac[i] = inside - whole;
  }
}

/* Locates particles [z, z + count) of row (x, y) on a mesh of that side. */
static void locate_strip(const cf_particles *p, int64_t side, float shift, int64_t x, int64_t y,
                         int64_t z, int64_t count, cell_pos out[3])
{
  const int64_t at = (x * p->n + y) * p->pitch + z;
  const float scale = (float)((double)side / (double)p->n);

  locate(p->d[0] + at, (float)x, 0, scale, shift, side, count, &out[0]);
  locate(p->d[1] + at, (float)y, 0, scale, shift, side, count, &out[1]);
  locate(p->d[2] + at, (float)z, 1, scale, shift, side, count, &out[2]);
}

static void add_nearest(const cell_pos at[3], int64_t count, int64_t n, int64_t pitch, float *out)
{
  for (int64_t i = 0; i < count; i++) {
    out[((int64_t)at[0].at[i] * n + at[1].at[i]) * pitch + at[2].at[i]] += 1;
  }
}

/* The eight points around a particle and their weights. */
typedef struct cloud {
  int64_t at[8];
  float weight[8];
} cloud;

static inline cloud cloud_of(const cell_pos at[3], int64_t i, int64_t n, int64_t pitch)
{
  int64_t lo[3], hi[3];
  cloud c;

  for (int a = 0; a < 3; a++) {
    lo[a] = at[a].at[i];
    hi[a] = lo[a] + 1 < n ? lo[a] + 1 : 0;
  }
  const float fx = at[0].frac[i], fy = at[1].frac[i], fz = at[2].frac[i];
  const float gx = 1 - fx, gy = 1 - fy, gz = 1 - fz;
  const int64_t row[4] = {(lo[0] * n + lo[1]) * pitch, (lo[0] * n + hi[1]) * pitch,
                          (hi[0] * n + lo[1]) * pitch, (hi[0] * n + hi[1]) * pitch};
  const float share[4] = {gx * gy, gx * fy, fx * gy, fx * fy};

  for (int r = 0; r < 4; r++) {
    c.at[2 * r] = row[r] + lo[2];
    c.at[2 * r + 1] = row[r] + hi[2];
    c.weight[2 * r] = share[r] * gz;
    c.weight[2 * r + 1] = share[r] * fz;
  }
  return c;
}

static void add_cloud(const cell_pos at[3], int64_t count, int64_t n, int64_t pitch, float *out)
{
  for (int64_t i = 0; i < count; i++) {
    const cloud c = cloud_of(at, i, n, pitch);

    for (int k = 0; k < 8; k++) {
      out[c.at[k]] += c.weight[k];
    }
  }
}

void cf_particles_deposit(const cf_particles *p, cf_scheme scheme, const cf_mesh *m, float *count)
{
  const int64_t n = cf_mesh_side(m), pitch = cf_mesh_pitch(m);
  cell_pos at[3];

  memset(count, 0, (size_t)(n * n * pitch) * sizeof *count);
  for (int64_t row = 0; row < p->n * p->n; row++) {
    for (int64_t z = 0; z < p->n; z += STRIP) {
      const int64_t now = p->n - z < STRIP ? p->n - z : STRIP;

      locate_strip(p, n, scheme == CF_NGP ? 0.5f : 0, row / p->n, row % p->n, z, now, at);
      if (scheme == CF_NGP) {
        add_nearest(at, now, n, pitch, count);
      } else {
        add_cloud(at, now, n, pitch, count);
      }
    }
  }
}

typedef struct work {
  const cf_particles *p;
  float *const *force, *const *momentum;
  float scale;
} work;

static void kick_plane(void *context, int64_t x, int thread)
{
  const work *const w = context;
  const int64_t n = w->p->n, pitch = w->p->pitch;
  cell_pos at[3];

  (void)thread;
  for (int64_t y = 0; y < n; y++) {
    for (int64_t z = 0; z < n; z += STRIP) {
      const int64_t now = n - z < STRIP ? n - z : STRIP, first = (x * n + y) * pitch + z;

      locate_strip(w->p, n, 0, x, y, z, now, at);
      for (int64_t i = 0; i < now; i++) {
        const cloud c = cloud_of(at, i, n, pitch);

        for (int a = 0; a < 3; a++) {
          float sum = 0;

          for (int k = 0; k < 8; k++) {
            sum += c.weight[k] * w->force[a][c.at[k]];
          }
          w->momentum[a][first + i] += w->scale * sum;
        }
      }
    }
  }
}

void cf_particles_kick(const cf_particles *p, float *const force[3], double scale,
                       float *const momentum[3])
{
  work w = {p, force, momentum, (float)scale};

  weir_parallel(p->n, 0, kick_plane, &w);
}

static void drift_plane(void *context, int64_t x, int thread)
{
  const work *const w = context;
  const int64_t plane = w->p->n * w->p->pitch;

  (void)thread;
  for (int a = 0; a < 3; a++) {
    const float *restrict const momentum = w->momentum[a] + x * plane;
    float *restrict const d = w->p->d[a] + x * plane;

    for (int64_t i = 0; i < plane; i++) {
      d[i] += w->scale * momentum[i];
    }
  }
}

void cf_particles_drift(const cf_particles *p, float *const momentum[3], double scale)
{
  work w = {p, NULL, momentum, (float)scale};

  weir_parallel(p->n, 0, drift_plane, &w);
}
