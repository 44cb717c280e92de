/* lpt.h - positions of particles by Lagrangian perturbation theory of first and second order:
 *
 *   x = q + D psi1 + D2 psi2,  psi1(k) = i k / k^2 delta(k),  psi2(k) = -i k / k^2 S(k)
 *   S(q) = sum over i < j of phi_ii phi_jj - phi_ij^2,  phi_ij(k) = k_i k_j / k^2 delta(k)
 *
 * (Bouchet et al., A&A 296 (1995) 575), with delta the linear density contrast today. */
#ifndef CF_LPT_H
#define CF_LPT_H
#include "data/simulation/mesh.h"

/* Computes coefficients of S from those of delta; scratch: three fields that are overwritten. */
void cf_lpt_source(const cf_mesh *m, const float *delta, float *source, float *const scratch[3]);
/* Computes fields out[i] = first psi1_i + second psi2_i in sides of a cell; source NULL: first
 * order. out[2] may be delta. */
void cf_lpt_displace(const cf_mesh *m, const float *delta, const float *source, double first,
                     double second, float *const out[3]);
/* Computes component `axis` of the same alone. */
void cf_lpt_displace_axis(const cf_mesh *m, const float *delta, const float *source, double first,
                          double second, int axis, float *out);
#endif
