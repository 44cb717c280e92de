/* cascade.c - matrices of the block form, and when it serves. */
#include <math.h>
#include <string.h>
#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "stream/op/filter/cascade_priv.h"

/* Samples on which the block form is compared with the recurrence, and how close it has to be. */
enum { TRIAL = 4096, TRIAL_SEED = 1985 };
static const double agreement = 1e-11;

const weir_cascade_kernels *filter_cascade_kernels(void)
{
#if defined(__x86_64__)
  const weir_cpu *cpu = weir_cpu_get();

  if (cpu->avx512) {
    return &weir_cascade_avx512;
  }
  if (cpu->avx2 && cpu->fma) {
    return &weir_cascade_avx2;
  }
#endif
  return &weir_cascade_base;
}

double filter_cascade_step(const weir_cascade *m, double *z, double x)
{
  for (int64_t k = 0; k < m->sections; k++, z += 2) {
    const weir_sos *s = &m->section[k];
    const double y = s->b0 * x + z[0];

    z[0] = s->b1 * x - s->a1 * y + z[1];
    z[1] = s->b2 * x - s->a2 * y;
    x = y;
  }
  return x;
}

/* One block of the recurrence from states z: an impulse at sample j (-1: none). */
static void respond(const weir_cascade *m, double *z, int j, double *y)
{
  for (int k = 0; k < CASCADE_BLOCK; k++) {
    y[k] = filter_cascade_step(m, z, k == j ? 1.0 : 0.0);
  }
}

/* Whether both forms agree on noise with a step in it. */
static bool agrees(const weir_cascade *m)
{
  _Alignas(64) double z[CASCADE_STATES] = {0};
  double w[CASCADE_STATES] = {0}, worst = 0, max_abs = 0;

  for (int t = 0; t < TRIAL; t += CASCADE_BLOCK) {
    double x[CASCADE_BLOCK], y[CASCADE_BLOCK];

    for (int k = 0; k < CASCADE_BLOCK; k++) {
      x[k] = weir_random_uniform(TRIAL_SEED, 1, 0, (uint64_t)(t + k)) + (t > TRIAL / 4 ? 1 : 0);
      y[k] = filter_cascade_step(m, w, x[k]);
      max_abs = fmax(max_abs, fabs(y[k]));
    }
    weir_cascade_base.f64(m, z, x, x, 1);
    for (int k = 0; k < CASCADE_BLOCK; k++) {
      worst = fmax(worst, fabs(x[k] - y[k]));
    }
  }
  return worst <= agreement * max_abs;
}

void filter_cascade_init(weir_cascade *m, const weir_sos *section, int n)
{
  m->sections = n;
  m->states = 2 * n;
  memcpy(m->section, section, (size_t)n * sizeof *section);
  weir_design_steady_state(section, n, m->steady);
  for (int j = 0; j < CASCADE_BLOCK; j++) {
    respond(m, m->c[j], j, m->t[j]);
  }
  for (int64_t i = 0; i < m->states; i++) {
    m->a[i][i] = 1;
    respond(m, m->a[i], -1, m->o[i]);
  }
  m->blocks = agrees(m);
}

void filter_cascade_run(const weir_cascade *m, double *z, double *x, int64_t n)
{
  const int64_t whole = m->blocks ? n / CASCADE_BLOCK : 0;

  filter_cascade_kernels()->f64(m, z, x, x, whole);
  for (int64_t i = whole * CASCADE_BLOCK; i < n; i++) {
    x[i] = filter_cascade_step(m, z, x[i]);
  }
}

void filter_cascade_back(const weir_cascade *m, double *z, double *x, int64_t n)
{
  const int64_t whole = m->blocks ? n / CASCADE_BLOCK : 0;

  filter_cascade_kernels()->back(m, z, x + n, whole);
  for (int64_t i = n - whole * CASCADE_BLOCK - 1; i >= 0; i--) {
    x[i] = filter_cascade_step(m, z, x[i]);
  }
}
