/* power.h - power spectra of fields on a mesh, in bins of one fundamental wave: bin b has the waves
 * with b - 1/2 <= |w| < b + 1/2, of a box of a given side: b = 1 .. n / 2, to Nyquist's wave along
 * an axis, or as far as is asked for. Of maps likewise, with waves in their plane alone. */
#ifndef CF_POWER_H
#define CF_POWER_H
#include "data/simulation/linear.h"
#include "data/simulation/mesh.h"
#include "data/volume/volume_info.h"

/* Spectrum [n_bins], and the bins of the waves. */
typedef struct cf_power {
  double box;    /* Mpc/h */
  int64_t depth; /* planes of the mesh; 1: of a map */
  int64_t n_bins;
  double *k;       /* mean wave number, h/Mpc                                     */
  double *modes;   /* waves, +w and -w both counted: sigma(P) = P sqrt(2 / modes) */
  double *p;       /* (Mpc/h)^3, of maps (Mpc/h)^2, of the last measurement       */
  double *partial; /* [depth, n_bins] sums of planes */
  int32_t *bin;    /* [cf_mesh_squares] of |w|^2, -1: none */
  double *seen;    /* [n]: 1 / sinc^2 of a wave along one axis */
} cf_power;

/* Allocates n_bins bins, 1 to cf_power_max_bins: n / 2 end at Nyquist's wave along an axis, the
 * last include the corners of the mesh. Fails: WEIR_ERR_MEMORY. */
weir_status cf_power_init(cf_power *s, const cf_mesh *m, double box, int64_t n_bins) WEIR_CHECKED;
int64_t cf_power_max_bins(const cf_mesh *m);
/* Returns the number of bins up to `reach` times Nyquist's wave along an axis: 1 to
 * cf_power_max_bins. */
int64_t cf_power_reach(const cf_mesh *m, double reach);
void cf_power_fini(cf_power *s);
/* Computes p, the mean of |c|^2 V / mean^2, of a map |c|^2 A / mean^2 with its area A, over the
 * waves of each bin, from coefficients c of a field with that mean; order above 0: divided by the
 * window prod sinc(w_i / n)^(2 order) of mass assignment (particles.h). */
void cf_power_measure(cf_power *s, const cf_mesh *m, const float *c, double mean, int order);
/* Computes the means of the linear P(k) today over the same waves, not of a map: out [n_bins]. */
void cf_power_expected(const cf_power *s, const cf_mesh *m, const cf_linear *l, double *out);

/* Checks that samples are cubes, or square maps, of a side that meshes support. Fails:
 * WEIR_ERR_DATA, WEIR_ERR_UNSUPPORTED (this build has no FFTW). */
weir_status cf_power_check(const cf_volume_info *info) WEIR_CHECKED;
/* Creates the mesh of such samples. Fails: as cf_mesh_create. */
weir_status cf_power_mesh(const cf_volume_info *info, cf_mesh **out) WEIR_CHECKED;
/* Copies channel c of a sample, [depth, n, n, channels], into a field of the mesh; returns its
 * smallest value. */
double cf_power_field(const cf_mesh *m, const float *voxels, int64_t channels, int64_t c,
                      float *field);
#endif
