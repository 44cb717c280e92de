/* wannier.c - see wannier.h. */
#include "data/wannier.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "data/axes.h"

const weir_opt qt_wannier_options[] = {
    WEIR_OPT_PATH(qt_wannier_opts, seed, "",
                  "common beginning of the paths: silicon for silicon_hr.dat (or _tb.dat), "
                  "silicon_wsvec.dat, silicon_centres.xyz and silicon.win"),
    WEIR_OPT_BOOL(qt_wannier_opts, wsvec, true,
                  "share hoppings among nearest images as seed_wsvec.dat says, where it exists"),
    WEIR_OPT_BOOL(qt_wannier_opts, spin_in_basis, false,
                  "both spins are among the functions, as spinors = true in seed.win says too: a "
                  "state holds one electron, not two"),
    WEIR_OPT_INT(qt_wannier_opts, direction, 1, 1, 3, "1",
                 "lattice vector along which the current flows"),
    WEIR_OPT_REAL(qt_wannier_opts, cutoff, 1e-3, 0, 1e3, "eV",
                  "smallest hopping that is kept; energies of functions are kept always"),
    WEIR_OPT_REAL(qt_wannier_opts, tolerance, 1e-4, 0, 1e3, "eV",
                  "largest difference of an element from its adjoint; their mean is taken (files "
                  "have six digits after the point)"),
    WEIR_OPT_INT(qt_wannier_opts, layer, 0, 0, 1000, "1",
                 "cells of a principal layer; 0: as many as the longest hopping spans"),
    WEIR_OPT_INT(qt_wannier_opts, cells, 4, 1, 1e7, "1",
                 "cells of the device along the current, rounded up to whole layers"),
    WEIR_OPT_END,
};

static weir_status check_pair(const qt_wannier_opts *opts, const weir_wannier *w, int64_t i,
                              int64_t e, weir_c128 a, weir_c128 b)
{
  const double error = hypot(a.re - b.re, a.im + b.im);

  if (error <= opts->tolerance) {
    return WEIR_OK;
  }
  return weir_fail(WEIR_ERR_DATA,
                   "%s: the Hamiltonian is not Hermitian: element (%lld, %lld) of lattice vector "
                   "(%lld, %lld, %lld) and its adjoint differ by %g eV, more than "
                   "device.wannier.tolerance",
                   opts->seed, (long long)(e / w->n) + 1, (long long)(e % w->n) + 1,
                   (long long)w->r[i][0], (long long)w->r[i][1], (long long)w->r[i][2], error);
}

weir_status qt_wannier_truncate(const qt_wannier_opts *opts, weir_wannier *w)
{
  const int64_t n = w->n, square = n * n;
  double all = 0, dropped = 0, largest = 0;

  for (int64_t i = 0; i < w->n_r; i++) {
    const int64_t minus[3] = {-w->r[i][0], -w->r[i][1], -w->r[i][2]};
    const int64_t other = weir_wannier_find(w, minus);

    for (int64_t e = 0; e < square; e++) {
      weir_c128 *const a = &w->h[i * square + e], *const b =
                                                      &w->h[other * square + e % n * n + e / n];

      WEIR_TRY(check_pair(opts, w, i, e, *a, *b));
      if (b < a) {
        continue; /* done with the adjoint one */
      }
      const weir_c128 mean = {(a->re + b->re) / 2, (a->im - b->im) / 2};
      const double size = hypot(mean.re, mean.im), weight = a == b ? 1 : 2;

      *a = mean;
      *b = (weir_c128){mean.re, -mean.im};
      all += weight * size * size;
      if (a != b && size < opts->cutoff) {
        *a = *b = (weir_c128){0, 0};
        dropped += weight * size * size;
        largest = fmax(largest, size);
      }
    }
  }
  weir_info("transport",
            "%s: %lld functions, %lld lattice vectors (%lld in the file); hoppings below %g eV are "
            "left out: %.3g eV of norm, %.2g of the whole, the largest %.3g eV",
            opts->seed, (long long)n, (long long)w->n_r, (long long)w->n_file, opts->cutoff,
            sqrt(dropped), all > 0 ? sqrt(dropped / all) : 0, largest);
  return WEIR_OK;
}

static bool is_kept(const weir_wannier *w, int64_t i, int64_t e)
{
  const weir_c128 h = w->h[i * w->n * w->n + e];

  return h.re != 0 || h.im != 0;
}

/* Whether any element of a lattice vector is kept. */
static bool is_used(const weir_wannier *w, int64_t i)
{
  bool used = w->r[i][0] == 0 && w->r[i][1] == 0 && w->r[i][2] == 0;

  for (int64_t e = 0; e < w->n * w->n && !used; e++) {
    used = is_kept(w, i, e);
  }
  return used;
}

weir_status qt_wannier_layer(const qt_wannier_opts *opts, const weir_wannier *w, int64_t *cells)
{
  const int along = (int)opts->direction - 1;
  int64_t reach = 0;

  for (int64_t i = 0; i < w->n_r; i++) {
    if (is_used(w, i) && w->r[i][along] > reach) {
      reach = w->r[i][along];
    }
  }
  if (reach == 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: no hopping of %g eV or more leads along lattice vector %lld: choose "
                     "another device.wannier.direction or a smaller device.wannier.cutoff",
                     opts->seed, opts->cutoff, (long long)opts->direction);
  }
  if (opts->layer > 0 && opts->layer < reach) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "device.wannier.layer: %lld: hoppings span %lld cells along lattice vector "
        "%lld, so that layers would couple beyond their neighbours; give 0 or at least "
        "%lld, or raise device.wannier.cutoff",
        (long long)opts->layer, (long long)reach, (long long)opts->direction, (long long)reach);
  }
  *cells = opts->layer > 0 ? opts->layer : reach;
  return WEIR_OK;
}

/* Sources of the matrices of a system. */
typedef struct folding {
  const weir_wannier *w;
  qt_axes axes;
  int64_t layer;     /* cells                                                          */
  int64_t n;         /* functions of a layer                                           */
  int64_t *position; /* [n] of function m of cell c of a layer, c * w->n + m, in the layer */
} folding;

/* Position of function m of cell c, Angstrom. */
static void position(const folding *f, int64_t c, int64_t m, double out[3])
{
  static const double origin[3] = {0, 0, 0};

  qt_axes_position(&f->axes, f->w->centre ? f->w->centre[m] : origin, out);
  for (int i = 0; i < 3; i++) {
    out[i] += (double)c * f->axes.cell[0][i];
  }
}

static weir_status sort_layer(folding *f)
{
  double *x = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(f->n, sizeof *f->position, (void **)&f->position), done);
  WEIR_TRY_GOTO(weir_alloc(f->n, sizeof *x, (void **)&x), done);
  for (int64_t i = 0; i < f->n; i++) {
    double at[3];

    position(f, i / f->w->n, i % f->w->n, at);
    x[i] = at[0];
  }
  WEIR_TRY_GOTO(qt_axes_sort(x, f->n, f->position), done);
done:
  weir_free(&x);
  return status;
}

/* Place of function m of cell c of the device. */
static int64_t index_of(const folding *f, int64_t c, int64_t m)
{
  return c / f->layer * f->n + f->position[c % f->layer * f->w->n + m];
}

/* Adds lattice vector i: from each of the cells [0, rows) to those [first, first + rows). */
static void add_vector(const folding *f, int64_t i, int64_t rows, int64_t first, qt_entries *e)
{
  const int64_t n = f->w->n, step = f->w->r[i][f->axes.vector[0]];

  for (int64_t c = 0; c < rows; c++) {
    const int64_t to = c + step - first;

    for (int64_t k = 0; k < n * n && to >= 0 && to < rows; k++) {
      if (is_kept(f->w, i, k)) {
        qt_entries_add(e, index_of(f, c, k / n), index_of(f, to, k % n), f->w->h[i * n * n + k]);
      }
    }
  }
}

/* Transverse images, in the order of their first lattice vector. */
static weir_status list_images(const folding *f, qt_bloch *out)
{
  WEIR_TRY(weir_alloc(f->w->n_r, sizeof *out->image, (void **)&out->image));
  for (int64_t i = 0; i < f->w->n_r; i++) {
    const int64_t y = f->w->r[i][f->axes.vector[1]], z = f->w->r[i][f->axes.vector[2]];

    if (qt_bloch_find(out, y, z) < 0 && is_used(f->w, i)) {
      out->image[out->count][0] = y;
      out->image[out->count++][1] = z;
    }
  }
  return weir_alloc(out->count, sizeof *out->matrix, (void **)&out->matrix);
}

/* The matrices from `cells` cells to as many that begin `first` cells further on. */
static weir_status make_bloch(const folding *f, int64_t cells, int64_t first, qt_bloch *out)
{
  const int64_t n = cells * f->w->n;
  weir_status status = WEIR_OK;

  status = list_images(f, out);
  if (status != WEIR_OK) {
    out->count = 0; /* without matrices */
  }
  for (int64_t m = 0; m < out->count && status == WEIR_OK; m++) {
    qt_entries e = {.count = 0};

    for (int64_t i = 0; i < f->w->n_r; i++) {
      if (f->w->r[i][f->axes.vector[1]] == out->image[m][0] &&
          f->w->r[i][f->axes.vector[2]] == out->image[m][1]) {
        add_vector(f, i, cells, first, &e);
      }
    }
    status = qt_sparse_create(n, n, &e, &out->matrix[m]);
    qt_entries_fini(&e);
  }
  return status;
}

/* Blocks, sites and the cell of the device. */
static weir_status make_geometry(const folding *f, int64_t layers, qt_system *out)
{
  const int64_t cells = layers * f->layer;

  WEIR_TRY(weir_alloc(layers + 1, sizeof *out->block, (void **)&out->block));
  WEIR_TRY(weir_alloc(out->n, sizeof *out->atom, (void **)&out->atom));
  for (int64_t b = 0; b <= layers; b++) {
    out->block[b] = b * f->n;
  }
  out->n_blocks = layers;
  out->n_atoms = out->n;
  for (int64_t i = 0; i < out->n; i++) {
    const int64_t c = i / f->w->n, at = index_of(f, c, i % f->w->n);

    out->atom[at] = (qt_atom){.first = at, .n_orbitals = 1, .symbol = "X"};
    position(f, c, i % f->w->n, out->atom[at].position);
  }
  for (int v = 0; v < 3; v++) {
    for (int i = 0; i < 3; i++) {
      out->cell[v][i] = f->axes.cell[v][i] * (v == 0 ? (double)cells : 1);
    }
  }
  for (int64_t m = 0; m < out->h.count; m++) {
    out->periodic[1] = out->periodic[1] || out->h.image[m][0] != 0;
    out->periodic[2] = out->periodic[2] || out->h.image[m][1] != 0;
  }
  return WEIR_OK;
}

weir_status qt_wannier_system(const qt_wannier_opts *opts, const weir_wannier *w, int64_t layer,
                              qt_system *out)
{
  const int64_t layers = (opts->cells + layer - 1) / layer;
  folding f = {.w = w, .layer = layer, .n = layer * w->n};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(qt_axes_set(w->has_cell ? w->cell : NULL, opts->direction, opts->seed, &f.axes),
                done);
  WEIR_TRY_GOTO(sort_layer(&f), done);
  out->particle = QT_ELECTRONS;
  out->has_spin = opts->spin_in_basis || w->spinors;
  if (!weir_mul_ok(layers, f.n, &out->n)) {
    WEIR_TRY_GOTO(weir_fail(WEIR_ERR_CONFIG, "device.wannier.cells: too many"), done);
  }
  WEIR_TRY_GOTO(make_bloch(&f, layers * layer, 0, &out->h), done);
  for (int c = 0; c < QT_LEADS; c++) {
    out->lead[c].n = f.n;
    out->lead[c].length = (double)layer * f.axes.cell[0][0];
    WEIR_TRY_GOTO(make_bloch(&f, layer, 0, &out->lead[c].cell), done);
    WEIR_TRY_GOTO(make_bloch(&f, layer, layer, &out->lead[c].next), done);
  }
  WEIR_TRY_GOTO(make_geometry(&f, layers, out), done);
done:
  weir_free(&f.position);
  return status;
}
