/* multipoles.h - multipoles l = 0, 2, 4 of the power spectrum of a periodic density 1 + delta about
 * a line of sight along an axis (Hamilton, astro-ph/9708102; the estimator of Yamamoto et al., PASJ
 * 58 (2006) 93, for one line of sight):
 *
 *   P_l(bin) = (2 l + 1) / modes sum over its waves of V |delta(k)|^2 L_l(mu),  mu = k_axis / |k|
 *
 * L_0 = 1, L_2 = (3 mu^2 - 1) / 2, L_4 = (35 mu^4 - 30 mu^2 + 3) / 8. Bin b has the waves with
 * from + b width <= |w| < from + (b + 1) width, in fundamental waves. Bins end at Nyquist's wave of
 * an axis or before: beyond, they lack directions. */
#ifndef CF_MULTIPOLES_H
#define CF_MULTIPOLES_H
#include "conf/weir_opt.h"
#include "data/simulation/linear.h"
#include "data/simulation/mesh.h"

enum { CF_MULTIPOLES = 3 }; /* l = 0, 2, 4 */

typedef struct cf_multipole_opts {
  int line_of_sight; /* axis of a sample: 0, 1, 2 */
  int64_t width;     /* of a bin, in fundamental waves */
  double from;       /* where the first bin begins, in fundamental waves */
  double reach;      /* in units of Nyquist's wave along an axis */
  int window;        /* order of mass assignment that is divided out (particles.h); 0: none */
} cf_multipole_opts;
extern const weir_opt cf_multipole_options[];

/* What does not depend on a sample; const once made. */
typedef struct cf_multipoles {
  cf_mesh *mesh;
  int64_t n, width, bins;
  int axis, window;
  int32_t *bin;      /* [cf_mesh_squares] of |w|^2, -1: none */
  double *modes, *k; /* [bins] waves, +w and -w both counted; mean |w| */
  double *seen;      /* [n] what the window of a wave along one axis divides |delta|^2 by */
} cf_multipoles;

/* Workspace and result of a field, in voxel^3. */
typedef struct cf_multipoles_slot {
  float *coefficients;
  double *p; /* [CF_MULTIPOLES, bins] */
} cf_multipoles_slot;

/* Fails: WEIR_ERR_CONFIG (no bin up to reach), WEIR_ERR_UNSUPPORTED (no FFTW), WEIR_ERR_MEMORY. */
weir_status cf_multipoles_init(const cf_multipole_opts *opts, int64_t n,
                               cf_multipoles *out) WEIR_CHECKED;
void cf_multipoles_fini(cf_multipoles *s);
/* Fails: WEIR_ERR_MEMORY. */
weir_status cf_multipoles_slot_init(const cf_multipoles *s, cf_multipoles_slot *out) WEIR_CHECKED;
void cf_multipoles_slot_fini(cf_multipoles_slot *r);
/* Returns the bytes of a slot. */
int64_t cf_multipoles_slot_bytes(const cf_multipoles *s);
/* Measures rho[n, n, n] = 1 + delta. */
void cf_multipoles_measure(const cf_multipoles *s, cf_multipoles_slot *r, const double *rho);
/* Computes linear theory in redshift space at a for a box of that side (Mpc/h), the means of (1 + f
 * mu^2)^2 P(k) L_l (Kaiser, MNRAS 227 (1987) 1) over the same waves: out[CF_MULTIPOLES, bins] in
 * (Mpc/h)^3. */
void cf_multipoles_kaiser(const cf_multipoles *s, const cf_linear *l, double a, double box,
                          double *out);
#endif
