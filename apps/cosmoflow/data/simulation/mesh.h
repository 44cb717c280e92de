/* mesh.h - periodic fields on n^3 points and their Fourier coefficients, in the same memory; f32.
 *
 * A field is [n, n, pitch] over x, y, z: the first n numbers of a row are values. Coefficients are
 * [n, n, pitch / 2] complex, of which the first n / 2 + 1 of a row count, with
 *
 *   f(x) = sum over waves w of c(w) exp(2 pi i w x / n),   w = i for i <= n / 2, else i - n
 *
 * Planes (y, z) are transformed one by one, then all lines along x: weir_parallel shares both out,
 * and bits do not depend on how.
 *
 * A mesh may be shared by ranks (slabs.h): each has the values of a slab of x, [slab.count, n,
 * pitch], and the coefficients of the same slab of y, [n, slab.count, pitch / 2]. Both are all of
 * them on one rank, and the same bits on any number of ranks. */
#ifndef CF_MESH_H
#define CF_MESH_H
#include <stdint.h>
#include "base/weir_status.h"
#include "data/simulation/slabs.h"

/* Plans: const once made, for any number of threads; of a shared mesh, for one field at a time. */
typedef struct cf_mesh cf_mesh;

enum { CF_MIN_MESH = 2, CF_MAX_MESH = 4096 };

/* Creates the plans. Fails: WEIR_ERR_CONFIG (n outside [CF_MIN_MESH, CF_MAX_MESH]),
 * WEIR_ERR_MEMORY, WEIR_ERR_UNSUPPORTED (no FFTW). */
weir_status cf_mesh_create(int64_t n, cf_mesh **out) WEIR_CHECKED;
/* Creates a mesh that the ranks of comm, borrowed, share; NULL: of this rank alone. Transforms are
 * collective, and their failures end the run. Local. Fails: likewise, WEIR_ERR_CONFIG also where
 * there are more ranks than planes. */
weir_status cf_mesh_create_shared(int64_t n, weir_comm *comm, cf_mesh **out) WEIR_CHECKED;
/* Creates a mesh of one plane, [1, n, pitch], whose waves have w_x = 0. Fails: likewise. */
weir_status cf_mesh_create_map(int64_t n, cf_mesh **out) WEIR_CHECKED;
void cf_mesh_destroy(cf_mesh **m);
/* Returns the ranks; NULL: this one alone. */
weir_comm *cf_mesh_comm(const cf_mesh *m);
/* Returns the x of values, and the y of coefficients, that this rank has. */
cf_range cf_mesh_slab(const cf_mesh *m);
int64_t cf_mesh_side(const cf_mesh *m);
/* Returns the planes along x: the side, of a map 1. */
int64_t cf_mesh_depth(const cf_mesh *m);
/* Returns the floats from a row to the next: even, and a multiple of 4. */
int64_t cf_mesh_pitch(const cf_mesh *m);
/* Allocates a field of zeros, for weir_free; of a shared mesh with another plane of values, for
 * cf_mesh_next_plane. */
weir_status cf_mesh_field(const cf_mesh *m, float **out) WEIR_CHECKED;
/* Transform values to coefficients, and back; padding between rows is ignored. */
void cf_mesh_forward(const cf_mesh *m, float *f);
void cf_mesh_backward(const cf_mesh *m, float *f);

/* Sets the plane of values after the slab of a shared mesh to the first one of the next rank, in
 * periodic order. Collective; a failure ends the run. */
void cf_mesh_next_plane(const cf_mesh *m, float *f);

/* Return the wave number of an index, and the same as a factor of a first derivative, where the
 * wave n / 2 of a real field is 0. */
static inline int64_t cf_wave(int64_t i, int64_t n)
{
  return i <= n / 2 ? i : i - n;
}
static inline int64_t cf_slope(int64_t i, int64_t n)
{
  return 2 * i == n ? 0 : cf_wave(i, n);
}
/* Returns the number of values that |w|^2 of a mesh may have, including 0. */
static inline int64_t cf_mesh_squares(int64_t n)
{
  return 3 * (n / 2) * (n / 2) + 1;
}
#endif
