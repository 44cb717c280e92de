/* matrices.c - see matrices.h. */
#include "data/matrices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "data/bloch.h"
#include "data/layers.h"

static const weir_opt lead_options[] = {
    WEIR_OPT_INT(qt_matrices_lead_opts, layer, 0, 0, 1e7, "1",
                 "orbitals of the principal layer at this end; 0: the smallest that is there three "
                 "times, or those of the file"),
    WEIR_OPT_PATH(qt_matrices_lead_opts, h, "",
                  "Hamiltonian of the lead: _htL.dat or .TSHS, or a matrix of two neighbouring "
                  "cells, the one at smaller x first; empty: the layers at this end"),
    WEIR_OPT_PATH(qt_matrices_lead_opts, s, "", "overlap of the lead in the same form"),
    WEIR_OPT_PATH(
        qt_matrices_lead_opts, coupling, "",
        "matrix between a cell of the lead and the device (_htLC.dat, _htCR.dat; rows: the "
        "one at smaller x); the cell is added to the device, in an orthonormal basis"),
    WEIR_OPT_END,
};

const weir_opt qt_matrices_options[] = {
    WEIR_OPT_PATH(qt_matrices_opts, h, "",
                  "Hamiltonian (eV): Matrix Market, PETSc binary, H_4.bin or its text version, "
                  "seed_ht*.dat of Wannier90, or .TSHS"),
    WEIR_OPT_PATH(qt_matrices_opts, s, "",
                  "overlap in one of these formats; empty: that of the .TSHS, or an "
                  "orthonormal basis"),
    WEIR_OPT_TABLE(qt_matrices_opts, left, lead_options, "left lead, at small x"),
    WEIR_OPT_TABLE(qt_matrices_opts, right, lead_options, "right lead"),
    WEIR_OPT_INT(qt_matrices_opts, cells, 0, 0, 1e7, "1",
                 "0: h is the whole device; else h is a cell and its coupling (_htB.dat, .TSHS), "
                 "repeated as often"),
    WEIR_OPT_INT(qt_matrices_opts, direction, 1, 1, 3, "1",
                 "lattice vector of .TSHS along which the current flows"),
    WEIR_OPT_BOOL(qt_matrices_opts, spin_in_basis, false,
                  "both spins are among the orbitals, as with spin-orbit coupling: a state holds "
                  "one electron, not two; known of .TSHS"),
    WEIR_OPT_INT(qt_matrices_opts, spin, 0, 0, 1, "1",
                 "spin of a .TSHS: 0 or 1; of two spins, currents are those of this one alone; "
                 "non-collinear spins and spin-orbit coupling: 0"),
    WEIR_OPT_BOOL(qt_matrices_opts, fermi, true, "energies of .TSHS are from its Fermi energy"),
    WEIR_OPT_BOOL(qt_matrices_opts, sort, false, "order the atoms of .TSHS along the current"),
    WEIR_OPT_REAL(qt_matrices_opts, tolerance, 1e-6, 0, 1e3, "eV",
                  "tolerance for equal principal layers"),
    WEIR_OPT_END,
};

static const char *const sides[QT_LEADS] = {"left", "right"};

typedef struct building {
  const qt_matrices_opts *opts;
  qt_matrices_file file;
  qt_system *out;
  bool given[QT_LEADS];    /* leads of files */
  int64_t added[QT_LEADS]; /* orbitals of cells of leads that join the device */
} building;

static const qt_matrices_lead_opts *lead_opts(const building *b, int side)
{
  return side == QT_LEFT ? &b->opts->left : &b->opts->right;
}

/* A cell and its coupling to the next, of a file. */
static weir_status take_cells(const qt_matrices_file *f, const char *path, qt_lead *out)
{
  const double norm = qt_matrices_file_beyond(f, 1).norm;

  if (norm > 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: cells couple beyond their neighbours (%g eV of norm): make the cell "
                     "longer along the current",
                     path, norm);
  }
  out->n = f->t.n_orbitals;
  WEIR_TRY(qt_matrices_file_bloch(f, false, 0, &out->cell));
  WEIR_TRY(qt_matrices_file_bloch(f, false, 1, &out->next));
  WEIR_TRY(qt_matrices_file_bloch(f, true, 0, &out->overlap));
  return qt_matrices_file_bloch(f, true, 1, &out->next_overlap);
}

/* Two neighbouring cells in one matrix; `at`: corner of the first, `to`: of the other. */
static weir_status take_blocks(const qt_bloch *h, const qt_bloch *s, int64_t n, int64_t cell,
                               int64_t from, qt_lead *out)
{
  out->n = n;
  WEIR_TRY(qt_bloch_block(h, cell, cell, n, &out->cell));
  WEIR_TRY(qt_bloch_block(h, from, from + n, n, &out->next));
  WEIR_TRY(qt_bloch_block(s, cell, cell, n, &out->overlap));
  return qt_bloch_block(s, from, from + n, n, &out->next_overlap);
}

/* Both cells of a lead's matrix are the same, within `tolerance` (eV; of the overlap 1). */
static weir_status check_two_cells(const qt_bloch *m, int64_t n, double tolerance, const char *path)
{
  const int64_t both[2] = {0, n};
  const double difference = m->count > 0 ? qt_bloch_difference(m, n, both, both) : 0;

  if (difference > tolerance) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: the two cells of the lead differ by %.3g, more than "
                     "device.matrices.tolerance: give neighbouring cells of the perfect lead",
                     path, difference);
  }
  return WEIR_OK;
}

static weir_status take_two_cells(const qt_matrices_file *f, const char *path, double tolerance,
                                  qt_lead *out)
{
  const int64_t n = f->t.n_orbitals;
  qt_bloch h = {.count = 0}, s = {.count = 0};
  weir_status status = WEIR_OK;

  if (n % 2 != 0) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: %lld orbitals: a lead's matrix has two cells", path,
                     (long long)n);
  }
  WEIR_TRY_GOTO(qt_matrices_file_bloch(f, false, 0, &h), done);
  WEIR_TRY_GOTO(qt_matrices_file_bloch(f, true, 0, &s), done);
  WEIR_TRY_GOTO(check_two_cells(&h, n / 2, tolerance, path), done);
  WEIR_TRY_GOTO(check_two_cells(&s, n / 2, tolerance, path), done);
  WEIR_TRY_GOTO(take_blocks(&h, &s, n / 2, 0, 0, out), done);
done:
  qt_bloch_fini(&h);
  qt_bloch_fini(&s);
  return status;
}

/* Which spins a file holds: one of the two of a .TSHS, or both. */
static weir_status take_spin(const building *b, const char *path, const qt_matrices_file *f)
{
  const bool one = f->t.n_spins == 2, both = f->t.n_spins > 2, tshs = f->t.n_spins > 0;

  if (tshs && b->file.t.n_spins > 0 && both != (b->file.t.n_spins > 2)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s has %lld spin components, %s %lld: device and leads have both spins in "
                     "their basis (4 or 8), or none of them",
                     path, (long long)f->t.n_spins, b->opts->h, (long long)b->file.t.n_spins);
  }

  if (one && b->opts->spin_in_basis) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "device.matrices.spin_in_basis: %s holds the matrices of two spins, of which "
                     "one is computed (device.matrices.spin): leave spin_in_basis out",
                     path);
  }
  b->out->has_spin = b->out->has_spin || b->opts->spin_in_basis || both;
  b->out->one_spin = b->out->one_spin || one;
  return WEIR_OK;
}

/* A lead of a file; of a repeated cell, that of the device. */
static weir_status read_lead(building *b, int side)
{
  const qt_matrices_lead_opts *const o = lead_opts(b, side);
  const bool own = o->h[0] != 0;
  const char *const h = own ? o->h : b->opts->h;
  qt_matrices_file f;

  if (!own && b->opts->cells == 0) {
    return o->coupling[0] == 0
               ? WEIR_OK
               : weir_fail(WEIR_ERR_CONFIG,
                           "device.matrices.%s.coupling needs a file of the lead: give %s.h",
                           sides[side], sides[side]);
  }
  b->given[side] = true;
  WEIR_TRY(qt_matrices_file_read(b->opts, h, own ? o->s : b->opts->s, &f));
  const bool images = f.t.n_atoms > 0 || f.t.n_images > 1;
  qt_lead *const lead = &b->out->lead[side];
  weir_status status = take_spin(b, h, &f);

  if (status == WEIR_OK) {
    status = images ? take_cells(&f, h, lead) : take_two_cells(&f, h, b->opts->tolerance, lead);
  }
  lead->length = f.axes.cell[0][0];
  qt_matrices_file_fini(&f);
  return status;
}

/* Elements of the coupling of an added cell, in the places of the whole device. */
static weir_status read_coupling(const building *b, int side, int64_t n, qt_bloch *out)
{
  static const int64_t image[1][3] = {{0, 0, 0}};
  const char *const path = lead_opts(b, side)->coupling;
  const int64_t lead = b->added[side], inner = b->file.t.n_orbitals;
  const int64_t row = side == QT_LEFT ? 0 : b->added[QT_LEFT];
  const int64_t column = b->added[QT_LEFT] + (side == QT_LEFT ? 0 : inner);
  weir_triplets t;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_triplets_read(path, &t));
  if (t.rows != (side == QT_LEFT ? lead : inner) || t.columns != (side == QT_LEFT ? inner : lead)) {
    status = weir_fail(WEIR_ERR_SHAPE, "%s: a coupling of %lld x %lld, expected %lld x %lld", path,
                       (long long)t.rows, (long long)t.columns,
                       (long long)(side == QT_LEFT ? lead : inner),
                       (long long)(side == QT_LEFT ? inner : lead));
  }
  for (int64_t i = 0; i < t.count; i++) {
    t.item[i].row += row;
    t.item[i].column += column;
  }
  if (status == WEIR_OK) {
    const qt_images in = {
        .n = n, .count = 1, .image = image, .vector = b->file.axes.vector, .matrix = &t};

    status = qt_bloch_of_images(&in, 0, out);
  }
  weir_triplets_fini(&t);
  return status;
}

/* The matrices of the file with cells of the leads at its ends. */
static weir_status add_cells(building *b, const qt_bloch *inner)
{
  qt_system *const s = b->out;
  qt_bloch coupling[QT_LEADS] = {{.count = 0}};
  qt_bloch_part parts[7] = {{.m = inner, .row = b->added[QT_LEFT], .column = b->added[QT_LEFT]}};
  int n_parts = 1;
  weir_status status = WEIR_OK;

  for (int c = 0; c < QT_LEADS && status == WEIR_OK; c++) {
    const int64_t at = c == QT_LEFT ? 0 : s->n - b->added[c];

    if (b->added[c] > 0) {
      status = read_coupling(b, c, s->n, &coupling[c]);
      parts[n_parts++] = (qt_bloch_part){.m = &s->lead[c].cell, .row = at, .column = at};
      parts[n_parts++] = (qt_bloch_part){.m = &coupling[c]};
      parts[n_parts++] = (qt_bloch_part){.m = &coupling[c], .adjoint = true};
    }
  }
  if (status == WEIR_OK) {
    status = qt_bloch_of_parts(s->n, parts, n_parts, &s->h);
  }
  qt_bloch_fini(&coupling[QT_LEFT]);
  qt_bloch_fini(&coupling[QT_RIGHT]);
  return status;
}

/* Couplings of the whole device to its images along x, which are left out. */
static void tell_rest(const building *b)
{
  const qt_matrices_rest r = qt_matrices_file_beyond(&b->file, 0);

  if (r.largest > b->opts->tolerance) {
    const int64_t *const image = b->file.t.image[r.image];

    weir_warn("transport",
              "%s: couplings of the device to its images along the current are left out: %.3g eV "
              "of norm; the largest, %.3g eV, is of orbital %lld to orbital %lld of image (%lld, "
              "%lld, %lld)",
              b->opts->h, r.norm, r.largest, (long long)r.row, (long long)r.column,
              (long long)image[0], (long long)image[1], (long long)image[2]);
  } else if (r.norm > 0) {
    weir_info("transport",
              "%s: couplings of the device to its images along the current are left out: %.3g eV "
              "of norm",
              b->opts->h, r.norm);
  }
}

/* The whole device of a file, with what joins it. */
static weir_status make_whole(building *b)
{
  qt_system *const s = b->out;
  qt_bloch inner = {.count = 0};
  weir_status status = WEIR_OK;

  tell_rest(b);
  for (int c = 0; c < QT_LEADS; c++) {
    if (lead_opts(b, c)->coupling[0] != 0) {
      b->added[c] = s->lead[c].n;
      if (b->file.has_s || s->lead[c].overlap.count > 0) {
        return weir_fail(WEIR_ERR_CONFIG,
                         "device.matrices.%s.coupling: cells are added in an orthonormal basis "
                         "only; here is an overlap",
                         sides[c]);
      }
    }
  }
  s->n = b->added[QT_LEFT] + b->file.t.n_orbitals + b->added[QT_RIGHT];
  if (s->n == b->file.t.n_orbitals) {
    WEIR_TRY(qt_matrices_file_bloch(&b->file, false, 0, &s->h));
    return qt_matrices_file_bloch(&b->file, true, 0, &s->s);
  }
  WEIR_TRY_GOTO(qt_matrices_file_bloch(&b->file, false, 0, &inner), done);
  WEIR_TRY_GOTO(add_cells(b, &inner), done);
done:
  qt_bloch_fini(&inner);
  return status;
}

/* `cells` cells in a row. */
static weir_status repeat(const qt_bloch *cell, const qt_bloch *next, int64_t n, int64_t cells,
                          qt_bloch *out)
{
  qt_bloch_part *parts = NULL;
  int n_parts = 0;

  if (cell->count == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(3 * cells, sizeof *parts, (void **)&parts));
  for (int64_t c = 0; c < cells; c++) {
    parts[n_parts++] = (qt_bloch_part){.m = cell, .row = c * n, .column = c * n};
    if (c > 0) {
      parts[n_parts++] = (qt_bloch_part){.m = next, .row = (c - 1) * n, .column = c * n};
      parts[n_parts++] =
          (qt_bloch_part){.m = next, .row = (c - 1) * n, .column = c * n, .adjoint = true};
    }
  }
  const weir_status status = qt_bloch_of_parts(n * cells, parts, n_parts, out);

  weir_free(&parts);
  return status;
}

static weir_status make_repeated(building *b)
{
  const qt_lead *const cell = &b->out->lead[QT_LEFT];
  const int64_t cells = b->opts->cells;

  for (int c = 0; c < QT_LEADS; c++) {
    if (lead_opts(b, c)->h[0] != 0 || lead_opts(b, c)->coupling[0] != 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "device.matrices.cells: the leads of a repeated cell are of the same cells: "
                       "leave %s.h and %s.coupling out",
                       sides[c], sides[c]);
    }
  }
  if (b->file.t.n_atoms == 0 && b->file.t.n_images == 1) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "device.matrices.cells: %s holds one matrix; a cell and its coupling are "
                     "repeated",
                     b->opts->h);
  }
  if (!weir_mul_ok(cell->n, cells, &b->out->n)) {
    return weir_fail(WEIR_ERR_CONFIG, "device.matrices.cells: too many");
  }
  WEIR_TRY(repeat(&cell->cell, &cell->next, cell->n, cells, &b->out->h));
  return repeat(&cell->overlap, &cell->next_overlap, cell->n, cells, &b->out->s);
}

/* How much an end block of a matrix of the device differs from that of a cell of its lead. */
static weir_status compare_blocks(const qt_system *s, const qt_bloch *whole, const qt_bloch *cell,
                                  int side, double *difference)
{
  const int64_t n = s->lead[side].n, at = side == QT_LEFT ? 0 : s->n - n;
  qt_bloch block = {.count = 0}, both = {.count = 0};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(qt_bloch_block(whole, at, at, n, &block), done);
  const qt_bloch_part parts[] = {{.m = cell}, {.m = &block, .row = n, .column = n}};

  WEIR_TRY_GOTO(qt_bloch_of_parts(2 * n, parts, 2, &both), done);
  *difference = qt_bloch_difference(&both, n, (const int64_t[]){0, n}, (const int64_t[]){0, n});
done:
  qt_bloch_fini(&block);
  qt_bloch_fini(&both);
  return status;
}

/* Warns where an end of the device differs from the cell of a lead of a file. */
static weir_status compare_end(const building *b, int side)
{
  const qt_system *const s = b->out;
  const qt_lead *const lead = &s->lead[side];
  double h = 0, overlap = 0;

  WEIR_TRY(compare_blocks(s, &s->h, &lead->cell, side, &h));
  if (s->s.count > 0 && lead->overlap.count > 0) { /* else refused by qt_system_check */
    WEIR_TRY(compare_blocks(s, &s->s, &lead->overlap, side, &overlap));
  }
  if (h > b->opts->tolerance || overlap > b->opts->tolerance) {
    weir_warn("transport",
              "the %s end of the device differs from a cell of its lead by %.3g eV, its overlap by "
              "%.3g",
              sides[side], h, overlap);
  }
  return WEIR_OK;
}

/* Orbitals of an end layer, and the lead of it where no file gives it. */
static weir_status take_end(building *b, const qt_pattern *p, int side)
{
  qt_system *const s = b->out;
  qt_lead *const lead = &s->lead[side];
  int64_t layer = lead_opts(b, side)->layer;

  if (b->given[side]) {
    if ((layer > 0 && layer != lead->n) || lead->n > s->n) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "device.matrices.%s: a layer of %lld orbitals, a lead of %lld, a device of "
                       "%lld",
                       sides[side], (long long)layer, (long long)lead->n, (long long)s->n);
    }
    return compare_end(b, side);
  }
  if (layer == 0) {
    WEIR_TRY(qt_layer_find(p, &s->h, &s->s, side, b->opts->tolerance, &layer));
  }
  WEIR_TRY(qt_layer_check(p, side, layer));
  const double difference = qt_layer_difference(&s->h, &s->s, s->n, side, layer, false);

  if (difference > b->opts->tolerance) {
    weir_warn(
        "transport",
        "the layers at the %s end of the device differ by %.3g eV: the lead does not continue "
        "it perfectly",
        sides[side], difference);
  }
  return take_blocks(&s->h, &s->s, layer, side == QT_LEFT ? 0 : s->n - layer,
                     side == QT_LEFT ? 0 : s->n - 2 * layer, lead);
}

static int by_orbital(const void *a, const void *b)
{
  const qt_atom *const p = a, *const q = b;

  if (p->first != q->first) {
    return p->first < q->first ? -1 : 1;
  }
  return (p->n_orbitals > q->n_orbitals) - (p->n_orbitals < q->n_orbitals);
}

/* The atoms of .TSHS; else every orbital is a site. */
static weir_status make_atoms(const building *b)
{
  const weir_tshs *const t = &b->file.t;
  const int64_t cells = b->opts->cells > 0 ? b->opts->cells : 1;
  qt_system *const s = b->out;

  s->n_atoms = t->n_atoms > 0 ? t->n_atoms * cells : s->n;
  WEIR_TRY(weir_alloc(s->n_atoms, sizeof *s->atom, (void **)&s->atom));
  for (int64_t i = 0; i < s->n_atoms; i++) {
    qt_atom *const atom = &s->atom[i];

    *atom = (qt_atom){.first = i, .n_orbitals = 1, .symbol = "X"};
    if (t->n_atoms > 0) {
      const int64_t a = i % t->n_atoms, c = i / t->n_atoms;
      const int64_t first = t->first[a], n = t->first[a + 1] - first;

      atom->n_orbitals = n;
      atom->first = c * t->n_orbitals + (b->file.place && n > 0 ? b->file.place[first] : first);
      qt_axes_position(&b->file.axes, t->position[a], atom->position);
      for (int d = 0; d < 3; d++) {
        atom->position[d] += (double)c * b->file.axes.cell[0][d];
      }
    }
  }
  qsort(s->atom, (size_t)s->n_atoms, sizeof *s->atom, by_orbital);
  return WEIR_OK;
}

/* Blocks that begin with an atom. */
static weir_status make_blocks(const building *b, const qt_pattern *p)
{
  qt_system *const s = b->out;
  bool *ends = NULL;

  WEIR_TRY(weir_alloc(s->n + 1, sizeof *ends, (void **)&ends));
  for (int64_t i = 0; i < s->n_atoms; i++) {
    ends[s->atom[i].first] = true;
  }
  const weir_status status =
      qt_layers_divide(p, s->lead[QT_LEFT].n, s->lead[QT_RIGHT].n, ends, &s->block, &s->n_blocks);

  weir_free(&ends);
  return status;
}

/* Mean x of the orbitals of [first, first + n). */
static double mean_x(const qt_system *s, int64_t first, int64_t n)
{
  double sum = 0;

  for (int64_t i = 0; i < s->n_atoms; i++) {
    if (s->atom[i].first >= first && s->atom[i].first < first + n) {
      sum += s->atom[i].position[0] * (double)s->atom[i].n_orbitals;
    }
  }
  return sum / (double)n;
}

/* Lengths and directions; sites without atoms stand 1 Angstrom apart from block to block. */
static void make_geometry(const building *b)
{
  qt_system *const s = b->out;
  const bool atoms = b->file.t.n_atoms > 0;
  const double along = !atoms               ? (double)s->n_blocks
                       : b->opts->cells > 0 ? (double)b->opts->cells
                                            : 1;

  s->is_schematic = !atoms;
  for (int64_t k = 0; k < s->n_blocks && !atoms; k++) {
    for (int64_t i = s->block[k]; i < s->block[k + 1]; i++) {
      s->atom[i].position[0] = (double)k;
    }
  }
  for (int c = 0; c < QT_LEADS; c++) {
    const int64_t n = s->lead[c].n, at = c == QT_LEFT ? 0 : s->n - 2 * n;

    if (!b->given[c]) {
      s->lead[c].length = atoms ? mean_x(s, at + n, n) - mean_x(s, at, n) : 1;
    }
  }
  for (int v = 0; v < 3; v++) {
    for (int d = 0; d < 3; d++) {
      s->cell[v][d] = b->file.axes.cell[v][d] * (v == 0 ? along : 1);
    }
  }
  for (int64_t m = 0; m < s->h.count; m++) {
    s->periodic[1] = s->periodic[1] || s->h.image[m][0] != 0;
    s->periodic[2] = s->periodic[2] || s->h.image[m][1] != 0;
  }
}

/* Refuses options of .TSHS where no file is one. */
static weir_status check_options(const building *b)
{
  const qt_matrices_opts *const o = b->opts;
  const char *const key = o->spin != 0        ? "spin"
                          : !o->fermi         ? "fermi"
                          : o->sort           ? "sort"
                          : o->direction != 1 ? "direction"
                                              : NULL;
  bool tshs = b->file.t.n_spins > 0;

  for (int c = 0; c < QT_LEADS; c++) {
    tshs = tshs || weir_tshs_is(lead_opts(b, c)->h);
  }
  return tshs || key == NULL
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "device.matrices.%s is for .TSHS alone, and %s is none: leave it out", key,
                         o->h);
}

static weir_status make(building *b)
{
  qt_system *const s = b->out;
  qt_pattern p = {.n = 0};
  weir_status status = WEIR_OK;

  s->particle = QT_ELECTRONS;
  WEIR_TRY(check_options(b));
  WEIR_TRY(take_spin(b, b->opts->h, &b->file));
  WEIR_TRY(read_lead(b, QT_LEFT));
  WEIR_TRY(read_lead(b, QT_RIGHT));
  WEIR_TRY(b->opts->cells > 0 ? make_repeated(b) : make_whole(b));
  WEIR_TRY(make_atoms(b));
  WEIR_TRY(qt_pattern_create(&s->h, &s->s, s->n, &p));
  WEIR_TRY_GOTO(take_end(b, &p, QT_LEFT), done);
  WEIR_TRY_GOTO(take_end(b, &p, QT_RIGHT), done);
  WEIR_TRY_GOTO(make_blocks(b, &p), done);
  make_geometry(b);
  weir_info("transport",
            "%s: %lld orbitals in %lld blocks; layers of %lld and %lld orbitals at the ends; %lld "
            "transverse images",
            b->opts->h, (long long)s->n, (long long)s->n_blocks, (long long)s->lead[QT_LEFT].n,
            (long long)s->lead[QT_RIGHT].n, (long long)s->h.count);
  if (s->is_schematic) {
    weir_info("transport",
              "%s: holds no atoms: orbitals stand 1 Angstrom apart from block to block",
              b->opts->h);
  }
  if (s->one_spin) {
    weir_info("transport", "%s: spin %lld of two: currents and conductances are those of it alone",
              b->opts->h, (long long)b->opts->spin);
  }
done:
  qt_pattern_fini(&p);
  return status;
}

weir_status qt_matrices_system(const qt_matrices_opts *opts, qt_system *out)
{
  building b = {.opts = opts, .out = out};

  if (opts->h[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "device.matrices.h is empty: give the file of a Hamiltonian");
  }
  WEIR_TRY(qt_matrices_file_read(opts, opts->h, opts->s, &b.file));
  const weir_status status = b.file.t.n_images > 1 && b.file.t.n_atoms == 0 && opts->cells == 0
                                 ? weir_fail(WEIR_ERR_CONFIG,
                                             "%s holds a cell and its coupling: say in "
                                             "device.matrices.cells how often it is repeated",
                                             opts->h)
                                 : make(&b);

  qt_matrices_file_fini(&b.file);
  return status;
}
