/* bispectrum.h - the bispectrum of a periodic density 1 + delta in bins of triangles, by the
 * estimator with Fourier transforms (Scoccimarro, ApJ 544 (2000) 597; Scoccimarro, PRD 92 (2015)
 * 083532):
 *
 *   B(a, b, c) = V^2 sum d_a d_b d_c / sum I_a I_b I_c   over the points of the mesh,
 *
 * where d_a is the field of the coefficients of delta in shell a alone and I_a that of ones, so
 * that the denominator is the number of closed triangles times that of points. Shell s has the
 * waves with 1/2 + s width <= |w| < 1/2 + (s + 1) width. Shells end at n / 3: beyond, triangles
 * that close only by a multiple of n would be counted.
 *
 * Triangles: equilateral ones, all sides of shell s, and squeezed ones, one side of one of the
 * first shells and two of a shell s whose middle is at least `ratio` times its. */
#ifndef CF_BISPECTRUM_H
#define CF_BISPECTRUM_H
#include "conf/weir_opt.h"
#include "data/simulation/mesh.h"

typedef struct cf_bispectrum_opts {
  int64_t width;    /* of a shell, in fundamental waves */
  double reach;     /* in units of Nyquist's wave along an axis */
  int64_t squeezed; /* first shells that are the long wave of squeezed triangles; 0: none */
  double ratio;
} cf_bispectrum_opts;
extern const weir_opt cf_bispectrum_options[];

/* The shells of a triangle; equal: equilateral. */
typedef struct cf_triangle {
  int64_t first, other; /* one side, and two */
} cf_triangle;

/* What does not depend on a sample; const once made. */
typedef struct cf_bispectrum {
  cf_mesh *mesh;
  int64_t n, width, shells, longest; /* longest: first shells that squeezed triangles have */
  int32_t *shell;                    /* [cf_mesh_squares] of |w|^2, -1: none */
  double *modes, *k;                 /* [shells] waves, +w and -w both counted; mean |w| */
  int64_t n_triangles;
  cf_triangle *triangle; /* [n_triangles] */
  double *closed;        /* [n_triangles] ordered triples of waves whose sum is 0 */
} cf_bispectrum;

/* Workspace and results of a field, in units of voxels: B in voxel^6. */
typedef struct cf_bispectrum_slot {
  float *coefficients, *field, **longest; /* fields of the mesh */
  double *power;                          /* [shells] P in voxel^3 */
  double *b, *q, *sigma; /* [n_triangles]: B, B / (P_a P_b + P_b P_c + P_c P_a), and the standard
                            deviation of B of a Gaussian field with these P; NaN: no triangle */
} cf_bispectrum_slot;

/* Fails: WEIR_ERR_CONFIG (no shell up to reach), WEIR_ERR_UNSUPPORTED (no FFTW), WEIR_ERR_MEMORY.
 */
weir_status cf_bispectrum_init(const cf_bispectrum_opts *opts, int64_t n,
                               cf_bispectrum *out) WEIR_CHECKED;
void cf_bispectrum_fini(cf_bispectrum *s);
/* Fails: WEIR_ERR_MEMORY. */
weir_status cf_bispectrum_slot_init(const cf_bispectrum *s, cf_bispectrum_slot *out) WEIR_CHECKED;
void cf_bispectrum_slot_fini(const cf_bispectrum *s, cf_bispectrum_slot *r);
/* Returns the bytes of a slot. */
int64_t cf_bispectrum_slot_bytes(const cf_bispectrum *s);
/* Measures rho[n, n, n] = 1 + delta. */
void cf_bispectrum_measure(const cf_bispectrum *s, cf_bispectrum_slot *r, const double *rho);
#endif
