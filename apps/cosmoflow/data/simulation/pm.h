/* pm.h - a particle-mesh simulation whose steps grow large waves exactly as linear theory does.
 *
 *   p = a^3 E dx/da (H0 = 1),  force = i k / k^2 delta(k),  Gf(a) = a^2 E f D = a^3 E dD/da
 *   kick  a0 -> a1 by the force at a:  p += (Gf(a1) - Gf(a0)) / D(a) force
 *   drift a0 -> a1 by p at a:          x += (D(a1) - D(a0)) / Gf(a) p
 *
 * (Feng et al., MNRAS 463 (2016) 2273; Quinn et al. 1997 for kick-drift-kick.) The density is CIC
 * on the mesh of the lattice's side, the force is interpolated by the same weights, so that the sum
 * of all momenta stays. Displacements and p are in sides of a cell. */
#ifndef CF_PM_H
#define CF_PM_H
#include "data/simulation/linear.h"
#include "data/simulation/particles.h"

/* Computes particles and momenta at a from the linear field and its source (lpt.h), to second
 * order. */
void cf_pm_begin(const cf_mesh *m, const cf_linear *l, const float *delta, const float *source,
                 double a, const cf_particles *p, float *const momentum[3]);
/* Advances in steps of equal length in a from `a` to `to`; scratch: three fields that are
 * overwritten. */
void cf_pm_go(const cf_mesh *m, const cf_linear *l, double a, double to, int64_t steps,
              const cf_particles *p, float *const momentum[3], float *const scratch[3]);
/* Sets out to d + v / (a H) along one axis, in sides of a cell: v / (a H) = a dx/da = p / (a^2 E).
 */
void cf_pm_redshift(const cf_linear *l, double a, const cf_particles *p, int axis,
                    const float *momentum, float *out);
#endif
