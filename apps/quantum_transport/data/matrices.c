/* matrices.c - see matrices.h. */
#include "data/matrices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "data/bloch.h"
#include "data/matrices_priv.h"

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

/* Elements of the coupling of an added cell, at the positions of the whole device. */
static weir_status read_coupling(const matrices_building *b, int side, int64_t n, qt_bloch *out)
{
  static const int64_t image[1][3] = {{0, 0, 0}};
  const char *const path = matrices_lead_opts_of(b, side)->coupling;
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
static weir_status add_cells(matrices_building *b, const qt_bloch *inner)
{
  qt_system *const s = b->out;
  qt_bloch coupling[QT_LEADS] = {{.count = 0}};
  qt_bloch_block_at blocks[7] = {
      {.m = inner, .row = b->added[QT_LEFT], .column = b->added[QT_LEFT]}};
  int n_added = 1;
  weir_status status = WEIR_OK;

  for (int c = 0; c < QT_LEADS && status == WEIR_OK; c++) {
    const int64_t at = c == QT_LEFT ? 0 : s->n - b->added[c];

    if (b->added[c] > 0) {
      status = read_coupling(b, c, s->n, &coupling[c]);
      blocks[n_added++] = (qt_bloch_block_at){.m = &s->lead[c].cell, .row = at, .column = at};
      blocks[n_added++] = (qt_bloch_block_at){.m = &coupling[c]};
      blocks[n_added++] = (qt_bloch_block_at){.m = &coupling[c], .adjoint = true};
    }
  }
  if (status == WEIR_OK) {
    status = qt_bloch_of_blocks(s->n, blocks, n_added, &s->h);
  }
  qt_bloch_fini(&coupling[QT_LEFT]);
  qt_bloch_fini(&coupling[QT_RIGHT]);
  return status;
}

/* Couplings of the whole device to its images along x, which are left out. */
static void tell_rest(const matrices_building *b)
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
static weir_status make_whole(matrices_building *b)
{
  qt_system *const s = b->out;
  qt_bloch inner = {.count = 0};
  weir_status status = WEIR_OK;

  tell_rest(b);
  for (int c = 0; c < QT_LEADS; c++) {
    if (matrices_lead_opts_of(b, c)->coupling[0] != 0) {
      b->added[c] = s->lead[c].n;
      if (b->file.has_s || s->lead[c].overlap.count > 0) {
        return weir_fail(WEIR_ERR_CONFIG,
                         "device.matrices.%s.coupling: cells are added in an orthonormal basis "
                         "only; here is an overlap",
                         matrices_side[c]);
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
  qt_bloch_block_at *blocks = NULL;
  int n_added = 0;

  if (cell->count == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(3 * cells, sizeof *blocks, (void **)&blocks));
  for (int64_t c = 0; c < cells; c++) {
    blocks[n_added++] = (qt_bloch_block_at){.m = cell, .row = c * n, .column = c * n};
    if (c > 0) {
      blocks[n_added++] = (qt_bloch_block_at){.m = next, .row = (c - 1) * n, .column = c * n};
      blocks[n_added++] =
          (qt_bloch_block_at){.m = next, .row = (c - 1) * n, .column = c * n, .adjoint = true};
    }
  }
  const weir_status status = qt_bloch_of_blocks(n * cells, blocks, n_added, out);

  weir_free(&blocks);
  return status;
}

static weir_status make_repeated(matrices_building *b)
{
  const qt_lead *const cell = &b->out->lead[QT_LEFT];
  const int64_t cells = b->opts->cells;

  for (int c = 0; c < QT_LEADS; c++) {
    if (matrices_lead_opts_of(b, c)->h[0] != 0 || matrices_lead_opts_of(b, c)->coupling[0] != 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "device.matrices.cells: the leads of a repeated cell are of the same cells: "
                       "leave %s.h and %s.coupling out",
                       matrices_side[c], matrices_side[c]);
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

static int by_orbital(const void *a, const void *b)
{
  const qt_atom *const p = a, *const q = b;

  if (p->first != q->first) {
    return p->first < q->first ? -1 : 1;
  }
  return (p->n_orbitals > q->n_orbitals) - (p->n_orbitals < q->n_orbitals);
}

/* The atoms of .TSHS; else every orbital is a site. */
static weir_status make_atoms(const matrices_building *b)
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
      atom->first =
          c * t->n_orbitals + (b->file.position && n > 0 ? b->file.position[first] : first);
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
static weir_status make_blocks(const matrices_building *b, const qt_pattern *p)
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
static void make_geometry(const matrices_building *b)
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
static weir_status check_options(const matrices_building *b)
{
  const qt_matrices_opts *const o = b->opts;
  const char *const key = o->spin != 0        ? "spin"
                          : !o->fermi         ? "fermi"
                          : o->sort           ? "sort"
                          : o->direction != 1 ? "direction"
                                              : NULL;
  bool tshs = b->file.t.n_spins > 0;

  for (int c = 0; c < QT_LEADS; c++) {
    tshs = tshs || weir_tshs_is(matrices_lead_opts_of(b, c)->h);
  }
  return tshs || key == NULL
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "device.matrices.%s is for .TSHS alone, and %s is none: leave it out", key,
                         o->h);
}

static weir_status make(matrices_building *b)
{
  qt_system *const s = b->out;
  qt_pattern p = {.n = 0};
  weir_status status = WEIR_OK;

  s->particle = QT_ELECTRONS;
  WEIR_TRY(check_options(b));
  WEIR_TRY(matrices_take_spin(b, b->opts->h, &b->file));
  WEIR_TRY(matrices_read_lead(b, QT_LEFT));
  WEIR_TRY(matrices_read_lead(b, QT_RIGHT));
  WEIR_TRY(b->opts->cells > 0 ? make_repeated(b) : make_whole(b));
  WEIR_TRY(make_atoms(b));
  WEIR_TRY(qt_pattern_create(&s->h, &s->s, s->n, &p));
  WEIR_TRY_GOTO(matrices_take_end(b, &p, QT_LEFT), done);
  WEIR_TRY_GOTO(matrices_take_end(b, &p, QT_RIGHT), done);
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
  matrices_building b = {.opts = opts, .out = out};

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
