/* mesh.c - see mesh.h. */
#include "data/simulation/mesh.h"
#include <stdbool.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "ops/fft/weir_fft_plan.h"

enum { LANES = 8 /* lines along x that are transformed together, in a buffer of their own */ };

struct cf_mesh {
  int64_t n, depth, pitch;           /* depth: n, of a map 1 */
  weir_fft_plan *plane, *plane_back; /* [n, n] real <-> [n, n / 2 + 1] complex */
  weir_fft_plan *line, *line_back;   /* LANES of n complex */
  weir_comm *comm;                   /* NULL: one rank */
  cf_range slab;
  float *turned;    /* shared: [ranks, slab.count, their count, pitch], on the way */
  cf_buffer *parts; /* [2, ranks]: of the field and of `turned`, by rank */
};

static weir_status make_plans(cf_mesh *m)
{
  const int64_t n = m->n, pairs = m->pitch / 2;
  weir_fft_plan_spec plane = {.dtype = WEIR_F32,
                              .kind = WEIR_FFT_REAL,
                              .rank = 2,
                              .dim = {{n, m->pitch, pairs}, {n, 1, 1}},
                              .in_place = true};
  weir_fft_plan_spec line = {.dtype = WEIR_F32,
                             .kind = WEIR_FFT_FORWARD,
                             .rank = 1,
                             .loops = 1,
                             .dim = {{n, LANES, LANES}},
                             .loop = {{LANES, 1, 1}},
                             .in_place = true};

  WEIR_TRY(weir_fft_plan_create(&plane, &m->plane));
  WEIR_TRY(weir_fft_plan_create(&line, &m->line));
  plane.kind = WEIR_FFT_TO_REAL;
  plane.dim[0] = (weir_fft_dim){n, pairs, m->pitch};
  line.kind = WEIR_FFT_BACKWARD;
  WEIR_TRY(weir_fft_plan_create(&plane, &m->plane_back));
  return weir_fft_plan_create(&line, &m->line_back);
}

/* Of a shared mesh. */
static weir_status alloc_parts(cf_mesh *m)
{
  const int ranks = weir_comm_size(m->comm);

  if (ranks > m->n) {
    return weir_fail(WEIR_ERR_CONFIG, "mesh: %d ranks cannot share %lld planes", ranks,
                     (long long)m->n);
  }
  m->slab = cf_slab(m->n, ranks, weir_comm_rank(m->comm));
  WEIR_TRY(weir_alloc(m->slab.count * m->n * m->pitch, sizeof *m->turned, (void **)&m->turned));
  return weir_alloc(2 * (int64_t)ranks, sizeof *m->parts, (void **)&m->parts);
}

static weir_status create(int64_t n, int64_t depth, weir_comm *comm, cf_mesh **out)
{
  void *memory = NULL;

  *out = NULL;
  if (n < CF_MIN_MESH || n > CF_MAX_MESH) {
    return weir_fail(WEIR_ERR_CONFIG, "mesh: %lld points a side; %d to %d can be", (long long)n,
                     CF_MIN_MESH, CF_MAX_MESH);
  }
  WEIR_TRY(weir_alloc(1, sizeof(cf_mesh), &memory));
  cf_mesh *m = memory;

  m->n = n;
  m->depth = depth;
  m->pitch = (n / 2 + 2) / 2 * 4;
  m->slab = (cf_range){0, depth};
  m->comm = comm != NULL && weir_comm_size(comm) > 1 ? comm : NULL;
  weir_status status = make_plans(m);

  if (status == WEIR_OK && m->comm != NULL) {
    status = alloc_parts(m);
  }
  if (status != WEIR_OK) {
    cf_mesh_destroy(&m);
    return status;
  }
  *out = m;
  return WEIR_OK;
}

weir_status cf_mesh_create_shared(int64_t n, weir_comm *comm, cf_mesh **out)
{
  return create(n, n, comm, out);
}

weir_status cf_mesh_create(int64_t n, cf_mesh **out)
{
  return create(n, n, NULL, out);
}

weir_status cf_mesh_create_map(int64_t n, cf_mesh **out)
{
  return create(n, 1, NULL, out);
}

void cf_mesh_destroy(cf_mesh **m)
{
  if (*m == NULL) {
    return;
  }
  weir_fft_plan_destroy(&(*m)->plane);
  weir_fft_plan_destroy(&(*m)->plane_back);
  weir_fft_plan_destroy(&(*m)->line);
  weir_fft_plan_destroy(&(*m)->line_back);
  weir_free(&(*m)->turned);
  weir_free(&(*m)->parts);
  weir_free(m);
}

weir_comm *cf_mesh_comm(const cf_mesh *m)
{
  return m->comm;
}

cf_range cf_mesh_slab(const cf_mesh *m)
{
  return m->slab;
}

int64_t cf_mesh_side(const cf_mesh *m)
{
  return m->n;
}

int64_t cf_mesh_depth(const cf_mesh *m)
{
  return m->depth;
}

int64_t cf_mesh_pitch(const cf_mesh *m)
{
  return m->pitch;
}

weir_status cf_mesh_field(const cf_mesh *m, float **out)
{
  const int64_t planes = m->slab.count + (m->comm != NULL);

  return weir_alloc(planes * m->n * m->pitch, sizeof **out, (void **)out);
}

typedef struct work {
  const cf_mesh *m;
  float *f;
} work;

/* ---- Between ranks ---- */

/* The rows of plane x for each rank, between the plane and `turned`. */
static void move_rows(const work *w, int64_t x, bool back)
{
  const cf_mesh *const m = w->m;
  const int ranks = weir_comm_size(m->comm);

  for (int r = 0; r < ranks; r++) {
    const cf_range rows = cf_slab(m->n, ranks, r);
    float *const here = w->f + (x * m->n + rows.first) * m->pitch;
    float *const there = m->turned + (rows.first * m->slab.count + x * rows.count) * m->pitch;

    memcpy(back ? here : there, back ? there : here,
           (size_t)(rows.count * m->pitch) * sizeof *here);
  }
}

static void pack_plane(void *context, int64_t x, int thread)
{
  (void)thread;
  move_rows(context, x, false);
}

static void unpack_plane(void *context, int64_t x, int thread)
{
  (void)thread;
  move_rows(context, x, true);
}

/* What goes to and comes from rank r is as large in both layouts, and at the same place. */
static void list_parts(const work *w)
{
  const cf_mesh *const m = w->m;
  const int ranks = weir_comm_size(m->comm);

  for (int r = 0; r < ranks; r++) {
    const cf_range theirs = cf_slab(m->n, ranks, r);
    const int64_t at = theirs.first * m->slab.count * m->pitch;
    const int64_t bytes = theirs.count * m->slab.count * m->pitch * (int64_t)sizeof *w->f;

    m->parts[r] = (cf_buffer){w->f + at, bytes};
    m->parts[ranks + r] = (cf_buffer){m->turned + at, bytes};
  }
}

/* From slabs of x to slabs of y. */
static void turn(work *w)
{
  const cf_mesh *const m = w->m;

  if (m->comm == NULL) {
    return;
  }
  weir_parallel(m->slab.count, 0, pack_plane, w);
  list_parts(w);
  cf_slabs_exchange(m->comm, m->parts + weir_comm_size(m->comm), m->parts);
}

static void turn_back(work *w)
{
  const cf_mesh *const m = w->m;

  if (m->comm == NULL) {
    return;
  }
  list_parts(w);
  cf_slabs_exchange(m->comm, m->parts, m->parts + weir_comm_size(m->comm));
  weir_parallel(m->slab.count, 0, unpack_plane, w);
}

void cf_mesh_next_plane(const cf_mesh *m, float *f)
{
  const int ranks = weir_comm_size(m->comm), rank = weir_comm_rank(m->comm);
  const int64_t plane = m->n * m->pitch, bytes = plane * (int64_t)sizeof *f;

  memset(m->parts, 0, 2 * (size_t)ranks * sizeof *m->parts);
  m->parts[(rank + ranks - 1) % ranks] = (cf_buffer){f, bytes};
  m->parts[ranks + (rank + 1) % ranks] = (cf_buffer){f + m->slab.count * plane, bytes};
  cf_slabs_exchange(m->comm, m->parts, m->parts + ranks);
}

/* ---- Transforms ---- */

static void plane_forward(void *context, int64_t x, int thread)
{
  const work *const w = context;
  float *const plane = w->f + x * w->m->n * w->m->pitch;

  (void)thread;
  weir_fft_plan_run(w->m->plane, plane, plane);
}

static void plane_backward(void *context, int64_t x, int thread)
{
  const work *const w = context;
  float *const plane = w->f + x * w->m->n * w->m->pitch;

  (void)thread;
  weir_fft_plan_run(w->m->plane_back, plane, plane);
}

/* Transforms the lines of one y, LANES at a time in a buffer, so that bits do not depend on the
 * distance between their points, and times a factor while they are in cache. */
static void transform_lines(const work *w, int64_t y, const weir_fft_plan *plan, float scale)
{
  const int64_t n = w->m->n, pairs = n / 2 + 1, stride = w->m->slab.count * w->m->pitch;
  float *const lines = w->f + y * w->m->pitch;
  _Alignas(64) float buffer[CF_MAX_MESH * 2 * LANES];

  for (int64_t z = 0; z < pairs; z += LANES) {
    const int64_t floats = 2 * (pairs - z < LANES ? pairs - z : LANES);

    for (int64_t x = 0; x < n; x++) {
      const float *const from = lines + x * stride + 2 * z;
      float *const to = buffer + x * 2 * LANES;

      for (int64_t i = 0; i < 2 * LANES; i++) {
        to[i] = i < floats ? from[i] : 0;
      }
    }
    weir_fft_plan_run(plan, buffer, buffer);
    for (int64_t x = 0; x < n; x++) {
      const float *const from = buffer + x * 2 * LANES;
      float *const to = lines + x * stride + 2 * z;

      for (int64_t i = 0; i < floats; i++) {
        to[i] = scale * from[i];
      }
    }
  }
}

static void lines_forward(void *context, int64_t y, int thread)
{
  const work *const w = context;
  const double n = (double)w->m->n;

  (void)thread;
  transform_lines(w, y, w->m->line, (float)(1 / (n * n * n)));
}

static void lines_backward(void *context, int64_t y, int thread)
{
  const work *const w = context;

  (void)thread;
  transform_lines(w, y, w->m->line_back, 1);
}

/* Of a map, where no lines along x follow. */
static void scale_plane(const work *w)
{
  const int64_t floats = w->m->n * w->m->pitch;
  const float scale = (float)(1 / ((double)w->m->n * (double)w->m->n));

  for (int64_t i = 0; i < floats; i++) {
    w->f[i] *= scale;
  }
}

void cf_mesh_forward(const cf_mesh *m, float *f)
{
  work w = {m, f};

  weir_parallel(m->slab.count, 0, plane_forward, &w);
  if (m->depth == 1) {
    scale_plane(&w);
    return;
  }
  turn(&w);
  weir_parallel(m->slab.count, 0, lines_forward, &w);
}

void cf_mesh_backward(const cf_mesh *m, float *f)
{
  work w = {m, f};

  if (m->depth > 1) {
    weir_parallel(m->slab.count, 0, lines_backward, &w);
    turn_back(&w);
  }
  weir_parallel(m->slab.count, 0, plane_backward, &w);
}
