/* pm.c - see pm.h. */
#include "data/simulation/pm.h"
#include <stddef.h>
#include "data/simulation/lpt.h"

/* Gf(a). */
static double flow(const cf_linear *l, double a)
{
  return a * a * cf_linear_expansion(l, a) * cf_linear_growth_rate(l, a) * cf_linear_growth(l, a);
}

/* The same of second order. */
static double flow2(const cf_linear *l, double a)
{
  return a * a * cf_linear_expansion(l, a) * cf_linear_growth2_rate(l, a) * cf_linear_growth2(l, a);
}

void cf_pm_begin(const cf_mesh *m, const cf_linear *l, const float *delta, const float *source,
                 double a, const cf_particles *p, float *const momentum[3])
{
  cf_lpt_displace(m, delta, source, flow(l, a), flow2(l, a), momentum);
  cf_lpt_displace(m, delta, source, cf_linear_growth(l, a), cf_linear_growth2(l, a), p->d);
}

/* force = i k / k^2 delta of the particles as they stand. */
static void make_force(const cf_mesh *m, const cf_particles *p, float *const force[3])
{
  cf_particles_deposit(p, CF_CIC, m, force[2]);
  cf_mesh_forward(m, force[2]);
  cf_lpt_displace(m, force[2], NULL, 1, 0, force);
}

void cf_pm_go(const cf_mesh *m, const cf_linear *l, double a, double to, int64_t steps,
              const cf_particles *p, float *const momentum[3], float *const scratch[3])
{
  const double length = (to - a) / (double)steps;

  make_force(m, p, scratch);
  for (int64_t s = 0; s < steps; s++) {
    const double from = a + length * (double)s, end = s + 1 == steps ? to : from + length;
    const double middle = (from + end) / 2;
    const double first = (flow(l, middle) - flow(l, from)) / cf_linear_growth(l, from);
    const double drift = (cf_linear_growth(l, end) - cf_linear_growth(l, from)) / flow(l, middle);
    const double second = (flow(l, end) - flow(l, middle)) / cf_linear_growth(l, end);

    cf_particles_kick(p, scratch, first, momentum);
    cf_particles_drift(p, momentum, drift);
    make_force(m, p, scratch);
    cf_particles_kick(p, scratch, second, momentum);
  }
}

void cf_pm_redshift(const cf_linear *l, double a, const cf_particles *p, int axis,
                    const float *momentum, float *out)
{
  const float scale = (float)(1 / (a * a * cf_linear_expansion(l, a)));
  const cf_mesh *const m = p->lattice;

  for (int64_t i = 0; i < cf_mesh_slab(m).count * cf_mesh_side(m) * cf_mesh_pitch(m); i++) {
    out[i] = p->d[axis][i] + scale * momentum[i];
  }
}
