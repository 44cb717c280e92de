/* matrices_leads.c - leads of matrices.c: of files of their own, or of the ends of the device. */
#include "base/weir_log.h"
#include "data/bloch.h"
#include "data/matrices_priv.h"
#include "model/system_check.h"

const char *const matrices_side[QT_LEADS] = {"left", "right"};

const qt_matrices_lead_opts *matrices_lead_opts_of(const matrices_building *b, int side)
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

weir_status matrices_take_spin(const matrices_building *b, const char *path,
                               const qt_matrices_file *f)
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

weir_status matrices_read_lead(matrices_building *b, int side)
{
  const qt_matrices_lead_opts *const o = matrices_lead_opts_of(b, side);
  const bool own = o->h[0] != 0;
  const char *const h = own ? o->h : b->opts->h;
  qt_matrices_file f;

  if (!own && b->opts->cells == 0) {
    return o->coupling[0] == 0
               ? WEIR_OK
               : weir_fail(WEIR_ERR_CONFIG,
                           "device.matrices.%s.coupling needs a file of the lead: give %s.h",
                           matrices_side[side], matrices_side[side]);
  }
  b->given[side] = true;
  WEIR_TRY(qt_matrices_file_read(b->opts, h, own ? o->s : b->opts->s, &f));
  const bool images = f.t.n_atoms > 0 || f.t.n_images > 1;
  qt_lead *const lead = &b->out->lead[side];
  weir_status status = matrices_take_spin(b, h, &f);

  if (status == WEIR_OK) {
    status = images ? take_cells(&f, h, lead) : take_two_cells(&f, h, b->opts->tolerance, lead);
  }
  lead->length = f.axes.cell[0][0];
  qt_matrices_file_fini(&f);
  return status;
}

/* How much an end block of a matrix of the device differs from that of a cell of its lead. */
static weir_status compare_blocks(const qt_system *s, const qt_bloch *whole, const qt_bloch *cell,
                                  int side, double *difference)
{
  const int64_t n = s->lead[side].n, at = side == QT_LEFT ? 0 : s->n - n;
  qt_bloch block = {.count = 0}, both = {.count = 0};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(qt_bloch_block(whole, at, at, n, &block), done);
  const qt_bloch_block_at blocks[] = {{.m = cell}, {.m = &block, .row = n, .column = n}};

  WEIR_TRY_GOTO(qt_bloch_of_blocks(2 * n, blocks, 2, &both), done);
  *difference = qt_bloch_difference(&both, n, (const int64_t[]){0, n}, (const int64_t[]){0, n});
done:
  qt_bloch_fini(&block);
  qt_bloch_fini(&both);
  return status;
}

/* Warns where an end of the device differs from the cell of a lead of a file. */
static weir_status compare_end(const matrices_building *b, int side)
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
              matrices_side[side], h, overlap);
  }
  return WEIR_OK;
}

weir_status matrices_take_end(matrices_building *b, const qt_pattern *p, int side)
{
  qt_system *const s = b->out;
  qt_lead *const lead = &s->lead[side];
  int64_t layer = matrices_lead_opts_of(b, side)->layer;

  if (b->given[side]) {
    if ((layer > 0 && layer != lead->n) || lead->n > s->n) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "device.matrices.%s: a layer of %lld orbitals, a lead of %lld, a device of "
                       "%lld",
                       matrices_side[side], (long long)layer, (long long)lead->n, (long long)s->n);
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
        matrices_side[side], difference);
  }
  return take_blocks(&s->h, &s->s, layer, side == QT_LEFT ? 0 : s->n - layer,
                     side == QT_LEFT ? 0 : s->n - 2 * layer, lead);
}
