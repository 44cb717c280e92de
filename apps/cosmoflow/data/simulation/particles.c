/* particles.c - see particles.h. */
#include "data/simulation/particles.h"
#include <string.h>
#include "data/simulation/visitors.h"
#include "device/weir_parallel.h"

bool cf_particles_sound(const cf_particles *p)
{
  const int64_t n = cf_mesh_side(p->lattice), pitch = cf_mesh_pitch(p->lattice);
  const int64_t rows = cf_mesh_slab(p->lattice).count * n;
  bool sound = true;

  for (int i = 0; i < 3; i++) {
    for (int64_t row = 0; row < rows; row++) {
      const float *const d = p->d[i] + row * pitch;
      float worst = 0;

      for (int64_t z = 0; z < n; z++) { /* NaN or infinity minus itself is not 0 */
        worst += d[z] - d[z];
      }
      sound = sound && worst == 0;
    }
  }
  return sound;
}

/* Cells of a mesh that this rank has: its field, [slab.count, n, pitch], and its planes. */
typedef struct cells {
  int64_t n, pitch;
  cf_range slab;
} cells;

static cells cells_of(const cf_mesh *m)
{
  return (cells){cf_mesh_side(m), cf_mesh_pitch(m), cf_mesh_slab(m)};
}

static void locate_all(const cells *c, float position[3][CF_STRIP], int64_t count,
                       cf_cell_pos out[3])
{
  for (int a = 0; a < 3; a++) {
    cf_locate(position[a], c->n, count, &out[a]);
  }
}

static inline bool is_here(const cells *c, int64_t plane)
{
  return plane >= c->slab.first && plane < c->slab.first + c->slab.count;
}

static void add_nearest(const cells *c, const cf_cell_pos at[3], int64_t count, float *out)
{
  for (int64_t i = 0; i < count; i++) {
    if (is_here(c, at[0].at[i])) {
      out[((at[0].at[i] - c->slab.first) * c->n + at[1].at[i]) * c->pitch + at[2].at[i]] += 1;
    }
  }
}

/* The eight points around a particle, four in each of two planes, and their weights. */
typedef struct cloud {
  int64_t plane[2]; /* of the whole mesh */
  int64_t at[4];    /* within a plane */
  float weight[2][4];
} cloud;

static inline cloud cloud_of(const cells *m, const cf_cell_pos at[3], int64_t i)
{
  int64_t lo[3], hi[3];

  for (int a = 0; a < 3; a++) {
    lo[a] = at[a].at[i];
    hi[a] = lo[a] + 1 < m->n ? lo[a] + 1 : 0;
  }
  const float fx = at[0].frac[i], fy = at[1].frac[i], fz = at[2].frac[i];
  const float gx = 1 - fx, gy = 1 - fy, gz = 1 - fz;
  const float share[4] = {gx * gy, gx * fy, fx * gy, fx * fy};
  const int64_t below = lo[1] * m->pitch, above = hi[1] * m->pitch;
  cloud c = {.plane = {lo[0], hi[0]},
             .at = {below + lo[2], below + hi[2], above + lo[2], above + hi[2]}};

  for (int x = 0; x < 2; x++) {
    for (int y = 0; y < 2; y++) {
      c.weight[x][2 * y] = share[2 * x + y] * gz;
      c.weight[x][2 * y + 1] = share[2 * x + y] * fz;
    }
  }
  return c;
}

static void add_cloud(const cells *m, const cf_cell_pos at[3], int64_t count, float *out)
{
  for (int64_t i = 0; i < count; i++) {
    const cloud c = cloud_of(m, at, i);

    for (int x = 0; x < 2; x++) {
      if (is_here(m, c.plane[x])) {
        float *const plane = out + (c.plane[x] - m->slab.first) * m->n * m->pitch;

        for (int k = 0; k < 4; k++) {
          plane[c.at[k]] += c.weight[x][k];
        }
      }
    }
  }
}

static void add(const cells *m, cf_scheme scheme, float position[3][CF_STRIP], int64_t count,
                float *out)
{
  cf_cell_pos at[3];

  locate_all(m, position, count, at);
  if (scheme == CF_NGP) {
    add_nearest(m, at, count, out);
  } else {
    add_cloud(m, at, count, out);
  }
}

static float shift_of(cf_scheme scheme)
{
  return scheme == CF_NGP ? 0.5f : 0;
}

/* Adds the particles of this rank to its own cells. */
static void add_own(const cf_particles *p, cf_scheme scheme, const cells *m, float *out)
{
  const int64_t n = cf_mesh_side(p->lattice), rows = cf_mesh_slab(p->lattice).count * n;
  float position[3][CF_STRIP];

  for (int64_t row = 0; row < rows; row++) {
    for (int64_t z = 0; z < n; z += CF_STRIP) {
      const int64_t now = n - z < CF_STRIP ? n - z : CF_STRIP;

      cf_positions(p, m->n, shift_of(scheme), row / n, row % n, z, now, position);
      add(m, scheme, position, now, out);
    }
  }
}

/* Copies up to CF_STRIP positions of visitors; returns their number. */
static int64_t take_strip(const cf_triple *visitor, int64_t left, float out[3][CF_STRIP])
{
  const int64_t now = left < CF_STRIP ? left : CF_STRIP;

  for (int64_t i = 0; i < now; i++) {
    for (int a = 0; a < 3; a++) {
      out[a][i] = visitor[i].at[a];
    }
  }
  return now;
}

static void add_visitors(const cf_visitors *v, int rank, cf_scheme scheme, const cells *m,
                         float *out)
{
  const cf_triple *const all = cf_visitors_from(v, rank);
  float position[3][CF_STRIP];

  for (int64_t i = 0; i < v->come[rank]; i += CF_STRIP) {
    const int64_t now = take_strip(all + i, v->come[rank] - i, position);

    add(m, scheme, position, now, out);
  }
}

void cf_particles_deposit(const cf_particles *p, cf_scheme scheme, const cf_mesh *m, float *count)
{
  const cells c = cells_of(m);
  weir_comm *const comm = cf_mesh_comm(m);
  cf_visitors v;

  memset(count, 0, (size_t)(c.slab.count * c.n * c.pitch) * sizeof *count);
  if (comm == NULL) {
    add_own(p, scheme, &c, count);
    return;
  }
  cf_visitors_send(p, m, shift_of(scheme), scheme != CF_NGP, &v);
  for (int r = 0; r < weir_comm_size(comm); r++) {
    if (r == weir_comm_rank(comm)) {
      add_own(p, scheme, &c, count);
    } else {
      add_visitors(&v, r, scheme, &c, count);
    }
  }
  cf_visitors_fini(&v);
}

typedef struct work {
  const cf_particles *p;
  cells m;
  float *const *force, *const *momentum;
  float scale;
  cf_triple *visitors; /* positions, then answers */
  int64_t n_visitors;
} work;

/* The force on a particle in a plane of this rank, along an axis; the plane after the slab is that
 * of the next rank. */
static inline float force_on(const work *w, const cloud *c, int axis)
{
  float sum = 0;

  for (int x = 0; x < 2; x++) {
    const int64_t plane =
        is_here(&w->m, c->plane[x]) ? c->plane[x] - w->m.slab.first : w->m.slab.count;
    const float *const f = w->force[axis] + plane * w->m.n * w->m.pitch;

    for (int k = 0; k < 4; k++) {
      sum += c->weight[x][k] * f[c->at[k]];
    }
  }
  return sum;
}

static void kick_plane(void *context, int64_t x, int thread)
{
  const work *const w = context;
  const int64_t n = w->m.n;
  float position[3][CF_STRIP];
  cf_cell_pos at[3];

  (void)thread;
  for (int64_t y = 0; y < n; y++) {
    for (int64_t z = 0; z < n; z += CF_STRIP) {
      const int64_t now = n - z < CF_STRIP ? n - z : CF_STRIP, first = (x * n + y) * w->m.pitch + z;

      cf_positions(w->p, n, 0, x, y, z, now, position);
      locate_all(&w->m, position, now, at);
      for (int64_t i = 0; i < now; i++) {
        if (!is_here(&w->m, at[0].at[i])) {
          continue;
        }
        const cloud c = cloud_of(&w->m, at, i);

        for (int a = 0; a < 3; a++) {
          w->momentum[a][first + i] += w->scale * force_on(w, &c, a);
        }
      }
    }
  }
}

/* Forces on a strip of visitors, in the place of their positions. */
static void answer_strip(void *context, int64_t strip, int thread)
{
  const work *const w = context;
  cf_triple *const visitor = w->visitors + strip * CF_STRIP;
  float position[3][CF_STRIP];
  cf_cell_pos at[3];
  const int64_t now = take_strip(visitor, w->n_visitors - strip * CF_STRIP, position);

  (void)thread;
  locate_all(&w->m, position, now, at);
  for (int64_t i = 0; i < now; i++) {
    const cloud c = cloud_of(&w->m, at, i);

    for (int a = 0; a < 3; a++) {
      visitor[i].at[a] = force_on(w, &c, a);
    }
  }
}

static void kick_visitor(void *context, int64_t site, cf_triple *force)
{
  const work *const w = context;

  for (int a = 0; a < 3; a++) {
    w->momentum[a][site] += w->scale * force->at[a];
  }
}

void cf_particles_kick(const cf_particles *p, float *const force[3], double scale,
                       float *const momentum[3])
{
  weir_comm *const comm = cf_mesh_comm(p->lattice);
  work w = {.p = p,
            .m = cells_of(p->lattice),
            .force = force,
            .momentum = momentum,
            .scale = (float)scale};
  cf_visitors v;

  if (comm == NULL) {
    weir_parallel(w.m.slab.count, 0, kick_plane, &w);
    return;
  }
  cf_visitors_send(p, p->lattice, 0, false, &v);
  for (int a = 0; a < 3; a++) {
    cf_mesh_next_plane(p->lattice, force[a]);
  }
  weir_parallel(w.m.slab.count, 0, kick_plane, &w);
  for (int r = 0; r < weir_comm_size(comm); r++) {
    w.n_visitors += v.come[r];
  }
  w.visitors = v.in;
  weir_parallel((w.n_visitors + CF_STRIP - 1) / CF_STRIP, 0, answer_strip, &w);
  cf_visitors_answer(&v);
  cf_visitors_each(&v, &w, kick_visitor);
  cf_visitors_fini(&v);
}

static void drift_plane(void *context, int64_t x, int thread)
{
  const work *const w = context;
  const int64_t plane = w->m.n * w->m.pitch;

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
  work w = {.p = p, .m = cells_of(p->lattice), .momentum = momentum, .scale = (float)scale};

  weir_parallel(w.m.slab.count, 0, drift_plane, &w);
}
