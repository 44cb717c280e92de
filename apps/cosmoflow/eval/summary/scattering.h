/* scattering.h - wavelet scattering coefficients of a periodic density 1 + delta with solid
 * harmonic wavelets (Eickenberg et al., J. Chem. Phys. 148 (2018) 241732, arXiv:1805.00571), with
 * the filters of HarmonicScattering3D of kymatio 0.3 (Andreux et al., JMLR 21 (2020) 60):
 *
 *   psi_jlm(w) = c_l (s_j |w|)^l exp(-(s_j |w|)^2 / 2) Y_lm(w / |w|),  s_j = sigma 2^j voxels
 *   U1(j, l) = sqrt(sum over m of |delta * psi_jlm|^2)
 *   U2(j, k, l) = sqrt(sum over m of |U1(j, l) * psi_klm|^2),  j < k
 *   S = mean of U^q over the voxels
 *
 * w in radians per voxel, Y_lm orthonormal; c_0 Y_00 = 1, c_l = sqrt(2 pi) / (sqrt(l + 1/2) (l +
 * 1)!!) for even l above 0 and (2 pi)^(3/2) / (2^((l + 3) / 2) sqrt(pi (2 l + 1)) ((l + 1) / 2)!)
 * for odd l. The sum over m makes S a function of neither place nor orientation. A wave at
 * Nyquist's of an axis has the mean of both its signs, so that fields stay real (kymatio takes one
 * sign).
 *
 * The numbers of a sample are S[paths, orders + 1, powers]: paths are the scales j, then the pairs
 * (j, k) by j and k. */
#ifndef CF_SCATTERING_H
#define CF_SCATTERING_H
#include "conf/weir_opt.h"
#include "data/simulation/mesh.h"

typedef struct cf_scattering_opts {
  double sigma;          /* voxels, of the narrowest wavelet */
  int64_t scales;        /* each twice as wide as the one before */
  int64_t orders;        /* largest l */
  weir_real_list powers; /* q */
} cf_scattering_opts;
extern const weir_opt cf_scattering_options[];

/* Scales of a path; second -1: of first order. */
typedef struct cf_scattering_path {
  int64_t first, second;
} cf_scattering_path;

enum { CF_MAX_SCALES = 12 };

/* What does not depend on a sample; const once made. */
typedef struct cf_scattering {
  const cf_scattering_opts *opts;
  cf_mesh *mesh;
  int64_t n, n_paths, n_numbers;
  cf_scattering_path path[CF_MAX_SCALES * (CF_MAX_SCALES + 1) / 2];
  float *radial;  /* [scales, orders + 1, cf_mesh_squares] of |w|^2 */
  float *angular; /* [(orders + 1)^2, n, n, n / 2 + 1] real harmonics: m of l at l^2 + l + m */
} cf_scattering;

/* Workspace and result of a field. */
typedef struct cf_scattering_slot {
  float *coefficients, *first, *field, *modulus; /* of the mesh */
  double *s;                                     /* [n_numbers] */
} cf_scattering_slot;

/* Prepares samples of n^3 voxels; opts are borrowed. Fails: WEIR_ERR_CONFIG (no power, wavelets
 * wider than half the sample), WEIR_ERR_UNSUPPORTED (no FFTW), WEIR_ERR_MEMORY. */
weir_status cf_scattering_init(const cf_scattering_opts *opts, int64_t n,
                               cf_scattering *out) WEIR_CHECKED;
void cf_scattering_fini(cf_scattering *s);
/* Fails: WEIR_ERR_MEMORY. */
weir_status cf_scattering_slot_init(const cf_scattering *s, cf_scattering_slot *out) WEIR_CHECKED;
void cf_scattering_slot_fini(cf_scattering_slot *r);
/* Returns the bytes of a slot. */
int64_t cf_scattering_slot_bytes(const cf_scattering *s);
/* Measures rho[n, n, n] = 1 + delta. */
void cf_scattering_measure(const cf_scattering *s, cf_scattering_slot *r, const double *rho);
#endif
