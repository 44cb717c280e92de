/* mesh.c - see mesh.h. */
#include "data/simulation/mesh.h"
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "ops/fft/weir_fft_plan.h"

struct cf_mesh {
  int64_t n, pitch;
  weir_fft_plan *plane, *plane_back; /* [n, n] real <-> [n, n / 2 + 1] complex */
  weir_fft_plan *line, *line_back;   /* n / 2 + 1 of n complex, along x */
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
                             .dim = {{n, n * pairs, n * pairs}},
                             .loop = {{n / 2 + 1, 1, 1}},
                             .in_place = true};

  WEIR_TRY(weir_fft_plan_create(&plane, &m->plane));
  WEIR_TRY(weir_fft_plan_create(&line, &m->line));
  plane.kind = WEIR_FFT_TO_REAL;
  plane.dim[0] = (weir_fft_dim){n, pairs, m->pitch};
  line.kind = WEIR_FFT_BACKWARD;
  WEIR_TRY(weir_fft_plan_create(&plane, &m->plane_back));
  return weir_fft_plan_create(&line, &m->line_back);
}

weir_status cf_mesh_create(int64_t n, cf_mesh **out)
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
  m->pitch = (n / 2 + 2) / 2 * 4;
  const weir_status status = make_plans(m);

  if (status != WEIR_OK) {
    cf_mesh_destroy(&m);
    return status;
  }
  *out = m;
  return WEIR_OK;
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
  weir_free(m);
}

int64_t cf_mesh_side(const cf_mesh *m)
{
  return m->n;
}

int64_t cf_mesh_pitch(const cf_mesh *m)
{
  return m->pitch;
}

weir_status cf_mesh_field(const cf_mesh *m, float **out)
{
  return weir_alloc(m->n * m->n * m->pitch, sizeof **out, (void **)out);
}

typedef struct work {
  const cf_mesh *m;
  float *f;
} work;

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

/* The lines of one y, which are scaled while they are in cache. */
static void lines_forward(void *context, int64_t y, int thread)
{
  const work *const w = context;
  const int64_t n = w->m->n, pitch = w->m->pitch;
  const float scale = (float)(1 / ((double)n * (double)n * (double)n));
  float *const lines = w->f + y * pitch;

  (void)thread;
  weir_fft_plan_run(w->m->line, lines, lines);
  for (int64_t x = 0; x < n; x++) {
    float *const row = lines + x * n * pitch;

    for (int64_t i = 0; i < n / 2 * 2 + 2; i++) {
      row[i] *= scale;
    }
  }
}

static void lines_backward(void *context, int64_t y, int thread)
{
  const work *const w = context;
  float *const lines = w->f + y * w->m->pitch;

  (void)thread;
  weir_fft_plan_run(w->m->line_back, lines, lines);
}

void cf_mesh_forward(const cf_mesh *m, float *f)
{
  work w = {m, f};

  weir_parallel(m->n, 0, plane_forward, &w);
  weir_parallel(m->n, 0, lines_forward, &w);
}

void cf_mesh_backward(const cf_mesh *m, float *f)
{
  work w = {m, f};

  weir_parallel(m->n, 0, lines_backward, &w);
  weir_parallel(m->n, 0, plane_backward, &w);
}
