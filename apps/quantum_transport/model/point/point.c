/* point.c - see point.h. */
#include "model/point/point.h"

#include <math.h>
#include <string.h>

#include "base/weir_clock.h"
#include "model/bonds.h"
#include "model/overlap.h"
#include "model/rgf/rgf.h"

static bool has_bonds(const qt_point_spec *s)
{
  return s->bonds != NULL && qt_sparse_count(s->bonds) > 0;
}

/* Whether blocks of G^<, and of G at all, are needed. */
static bool wants_lesser(const qt_point_spec *s)
{
  return s->lead_dos || has_bonds(s);
}

static bool wants_g(const qt_point_spec *s)
{
  return s->dos || wants_lesser(s);
}

int64_t qt_point_count(const qt_point_spec *s, qt_point_array which)
{
  switch (which) {
  case QT_POINT_NUMBER:
    return QT_POINT_NUMBERS;
  case QT_POINT_DOS:
    return s->dos || s->lead_dos ? s->layout->n : 0;
  case QT_POINT_DOS_LEFT:
  case QT_POINT_DOS_RIGHT:
    return s->lead_dos ? s->layout->n : 0;
  case QT_POINT_CHANNEL:
    return s->n_channels;
  default:
    return has_bonds(s) ? qt_sparse_count(s->bonds) : 0;
  }
}

const char *qt_point_name(qt_point_array which)
{
  static const char *const name[QT_POINT_ARRAYS] = {
      "number", "dos", "dos_left", "dos_right", "bond_left", "bond_right", "channel"};

  return name[which];
}

qt_slabs_spec qt_point_division(const qt_point_spec *s, int64_t n_slabs, int threads)
{
  return (qt_slabs_spec){.layout = s->layout,
                         .n_slabs = n_slabs,
                         .lesser = wants_lesser(s),
                         .corner_only = !wants_g(s),
                         .threads = threads};
}

double qt_point_flops(const qt_point_spec *s)
{
  if (s->division != NULL) {
    return qt_slabs_flops(s->division);
  }
  return wants_g(s) ? qt_rgf_flops(s->layout, wants_lesser(s), false)
                    : qt_rgf_corner_flops(s->layout);
}

void qt_point_fail(const qt_point_spec *s, weir_status status, double *const out[QT_POINT_ARRAYS])
{
  for (int a = 0; a < QT_POINT_ARRAYS; a++) {
    const int64_t count = qt_point_count(s, (qt_point_array)a);

    for (int64_t i = 0; i < count; i++) {
      out[a][i] = NAN;
    }
  }
  out[QT_POINT_NUMBER][QT_POINT_STATUS] = (double)status;
}

/* ---- Memory ---- */

typedef struct space {
  weir_c128 *sigma[QT_LEADS], *gamma[QT_LEADS]; /* of the end blocks                         */
  weir_c128 *corner, *memory;
  weir_c128 *g, *lesser, *overlap; /* banks of own blocks, and one block, for the densities  */
  void *rgf;
} space;

static void *take(char *base, int64_t *at, int64_t count, size_t size)
{
  const int64_t line = 64; /* bytes to which each begins */
  void *const memory = base != NULL && count > 0 ? base + *at : NULL;

  *at += (count * (int64_t)size + line - 1) / line * line;
  return memory;
}

/* The blocks that this rank computes. */
static qt_slabs_range range_of(const qt_point_spec *s)
{
  return s->division != NULL ? qt_slabs_range_of(s->division)
                             : (qt_slabs_range){0, s->layout->n_blocks, 0, s->layout->count};
}

/* Returns bytes; base NULL: no more than that. */
static int64_t lay_out(const qt_point_spec *spec, void *base, space *s)
{
  const qt_layout *l = spec->layout;
  const bool g = wants_g(spec), lesser = wants_lesser(spec);
  const int64_t ends[] = {qt_layout_rows(l, 0), qt_layout_rows(l, l->n_blocks - 1)};
  const qt_slabs_range range = range_of(spec);
  const int64_t count = range.n_elements + qt_point_ranks_after(l, range);
  const int64_t corner = ends[0] * ends[1], memory = 2 * corner > l->max ? 2 * corner : l->max;
  const size_t size = sizeof *s->g;
  int64_t at = 0;

  for (int c = 0; c < QT_LEADS; c++) {
    s->sigma[c] = take(base, &at, ends[c] * ends[c], size);
    s->gamma[c] = take(base, &at, ends[c] * ends[c], size);
  }
  s->corner = take(base, &at, corner, size);
  s->memory = take(base, &at, memory, size);
  s->g = take(base, &at, g ? count : 0, size);
  s->lesser = take(base, &at, lesser ? count : 0, size);
  s->overlap = take(base, &at, g ? l->max * l->max : 0, size);
  s->rgf = take(base, &at, spec->division == NULL ? qt_rgf_scratch(l->max, lesser) : 0, 1);
  return at;
}

int64_t qt_point_scratch(const qt_point_spec *s)
{
  space none;

  return lay_out(s, NULL, &none);
}

weir_status qt_point_open_ranks(const qt_point_spec *s, void *scratch, qt_point_ranks *out)
{
  space p;

  (void)lay_out(s, scratch, &p);
  return qt_point_ranks_create(s->division->comm, s->layout, range_of(s), 2,
                               (weir_c128 *const[]){p.g, p.lesser}, out);
}

double qt_point_bytes(const qt_point_spec *s)
{
  double cells = 0, work = 0;

  for (int c = 0; c < QT_LEADS; c++) {
    const qt_lead *lead = &s->system->lead[c];
    const double n = (double)lead->n;
    const int matrices = (lead->cell.count > 0) + (lead->next.count > 0) +
                         (lead->overlap.count > 0) + (lead->next_overlap.count > 0);

    cells += (double)sizeof(weir_c128) * n * n * matrices;
    work = fmax(work, qt_lead_bytes(s->lead, lead));
  }
  return cells + work;
}

/* ---- A point ---- */

typedef struct point {
  const qt_point_spec *spec;
  const qt_point_leads *leads;
  double energy; /* E, of phonons the square of hbar omega */
  qt_slabs_range range;
  space s;
  bool closed[QT_LEADS]; /* nothing passes through that lead      */
  double *number;
} point;

/* Blocks of fewer elements are not timed: it would take as long as to read them. Nor are those that
 * several threads read at once. */
enum { TIMED = 256 };

/* Whether a lead has no broadening: no mode of those that the method of modes finds, or a Gamma
 * that is 0 but for rounding. */
static bool is_closed(const qt_lead_result *r, int64_t n, const weir_c128 *sigma,
                      const weir_c128 *gamma)
{
  const double rounding = 1e-13;
  double of_sigma = 0, of_gamma = 0;

  if (r->method != QT_LEAD_DECIMATION) { /* at a real energy */
    return r->n_modes == 0;
  }
  for (int64_t i = 0; i < n * n; i++) {
    of_sigma = fmax(of_sigma, hypot(sigma[i].re, sigma[i].im));
    of_gamma = fmax(of_gamma, hypot(gamma[i].re, gamma[i].im));
  }
  return of_gamma <= rounding * of_sigma;
}

/* E S - H, minus Sigma at the ends. */
static void assemble(const point *p, int64_t row, int64_t column, weir_c128 *out)
{
  qt_system_inverse_block(p->spec->system, p->leads->k, (weir_c128){p->energy, 0}, p->s.sigma, row,
                          column, out);
}

/* qt_blocks.read of A. */
static void read_block(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const point *p = context;
  const qt_layout *l = p->spec->layout;

  if (qt_layout_rows(l, row) * qt_layout_rows(l, column) < TIMED || p->spec->slabs != NULL) {
    assemble(p, row, column, out);
    return;
  }
  const double began = weir_clock();

  assemble(p, row, column, out);
  p->number[QT_POINT_SECONDS + QT_PHASE_ASSEMBLY] += weir_clock() - began;
}

/* The same of Sigma^< = i Gamma of the left lead, as if it alone were full. */
static void read_left(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const point *p = context;
  const qt_layout *l = p->spec->layout;
  const int64_t count = qt_layout_rows(l, row) * qt_layout_rows(l, column);

  memset(out, 0, (size_t)count * sizeof *out);
  for (int64_t i = 0; i < count && row == 0; i++) {
    out[i] = (weir_c128){-p->s.gamma[QT_LEFT][i].im, p->s.gamma[QT_LEFT][i].re};
  }
}

/* (X S + S X)[i,i] / 2 for every orbital i of block b. */
static void add_overlap(const point *p, const weir_c128 *bank, int64_t b, weir_c128 *sum)
{
  const qt_layout *l = p->spec->layout;
  const qt_system *s = p->spec->system;
  const int64_t rows = qt_layout_rows(l, b);

  for (int64_t c = b > 0 ? b - 1 : 0; c <= b + 1 && c < l->n_blocks; c++) {
    const int64_t columns = qt_layout_rows(l, c);
    const weir_c128 *x = bank + (qt_layout_at(l, b, c) - p->range.first_element);
    const weir_c128 *turned = bank + (qt_layout_at(l, c, b) - p->range.first_element);
    weir_c128 *overlap = p->s.overlap;

    if (s->s.count > 0) {
      memset(overlap, 0, (size_t)(rows * columns) * sizeof *overlap);
      qt_system_add_block(s, &s->s, p->leads->k, c, b, (weir_c128){1, 0}, overlap);
    }
    for (int64_t i = 0; i < rows && s->s.count > 0; i++) {
      qt_overlap_add_population(rows, columns, x, turned, overlap, i, &sum[i]);
    }
    for (int64_t i = 0; i < rows && s->s.count == 0 && b == c; i++) {
      sum[i] = x[i * (rows + 1)];
    }
  }
}

/* factor times the imaginary part of that, of all orbitals of this rank's blocks. */
static void store_dos(const point *p, const weir_c128 *bank, double factor, double *out)
{
  const qt_layout *l = p->spec->layout;
  const int64_t first = p->range.first_block;
  weir_c128 *sum = p->s.memory;

  for (int64_t b = first; b < first + p->range.n_blocks; b++) {
    const int64_t rows = qt_layout_rows(l, b);

    memset(sum, 0, (size_t)rows * sizeof *sum);
    add_overlap(p, bank, b, sum);
    for (int64_t i = 0; i < rows; i++) {
      out[l->block[b] + i] = factor * sum[i].im;
    }
  }
}

/* Densities of states and currents from blocks of G and G^<; slope: dE / d(hbar omega). */
static void store_densities(const point *p, double slope, double *const out[QT_POINT_ARRAYS])
{
  const qt_point_spec *s = p->spec;
  double *const *lead_dos = &out[QT_POINT_DOS_LEFT];

  if (out[QT_POINT_DOS] != NULL) {
    store_dos(p, p->s.g, -slope / M_PI, out[QT_POINT_DOS]);
  }
  if (has_bonds(s)) {
    const qt_bonds_job bonds = {.s = s->system,
                                .layout = s->layout,
                                .bonds = s->bonds,
                                .k = p->leads->k,
                                .energy = p->energy,
                                .first_block = p->range.first_block,
                                .n_blocks = p->range.n_blocks,
                                .first_element = p->range.first_element,
                                .g = p->s.g,
                                .lesser = p->s.lesser,
                                .scratch = p->s.overlap};

    qt_bonds_currents(&bonds, &out[QT_POINT_BOND_LEFT]);
  }
  if (s->lead_dos) {
    store_dos(p, p->s.lesser, slope / (2 * M_PI), lead_dos[QT_LEFT]);
    const int64_t *block = s->layout->block + p->range.first_block;

    for (int64_t i = block[0]; i < block[p->range.n_blocks]; i++) { /* the remaining part */
      lead_dos[QT_RIGHT][i] = out[QT_POINT_DOS][i] - lead_dos[QT_LEFT][i];
    }
  }
}

/* Arrays of all ranks that share the point, to the first one. */
static weir_status collect(const point *p, double *const out[QT_POINT_ARRAYS])
{
  const qt_point_spec *s = p->spec;
  const int64_t *block = s->layout->block + p->range.first_block;
  const int64_t orbital[] = {block[0], block[p->range.n_blocks]};

  for (int a = QT_POINT_DOS; a < QT_POINT_ARRAYS; a++) {
    const bool of_bonds = a == QT_POINT_BOND_LEFT || a == QT_POINT_BOND_RIGHT;

    if (out[a] != NULL) {
      WEIR_TRY(qt_point_ranks_collect(s->ranks, of_bonds ? s->bonds->start[orbital[0]] : orbital[0],
                                      of_bonds ? s->bonds->start[orbital[1]] : orbital[1], out[a]));
    }
  }
  return WEIR_OK;
}

/* Sigma and Gamma of both leads. */
static weir_status solve_leads(point *p)
{
  const qt_point_spec *s = p->spec;
  const double eta = qt_lead_eta(s->lead, s->system->particle, p->energy);
  qt_lead_result r = {.residual = 0};

  for (int c = 0; c < QT_LEADS; c++) {
    const qt_cell *cell = &p->leads->cell[c];

    if (c == QT_LEFT || !p->leads->same) { /* else both at once */
      r.sigma[c] = p->s.sigma[c];
      r.sigma[1 - c] = p->leads->same ? p->s.sigma[1 - c] : NULL;
      const weir_status status = qt_lead_solve(s->lead, cell, p->energy, eta, &r);

      p->number[QT_POINT_LEADS_FLOPS] += r.flops;
      WEIR_TRY(status);
      p->number[QT_POINT_RESIDUAL] = fmax(p->number[QT_POINT_RESIDUAL], r.residual);
    }
    p->number[QT_POINT_MODES + c] = (double)r.n_modes;
    qt_lead_gamma(cell->n, p->s.sigma[c], p->s.gamma[c]);
    p->closed[c] = is_closed(&r, cell->n, p->s.sigma[c], p->s.gamma[c]);
  }
  return WEIR_OK;
}

/* Blocks of G, where wanted, or its corner alone. */
static weir_status recur(const point *p)
{
  const qt_point_spec *s = p->spec;
  const bool blocks = wants_g(s);
  const qt_rgf_job rgf = {.layout = s->layout,
                          .a = {read_block, p},
                          .sigma = {wants_lesser(s) ? read_left : NULL, p},
                          .g = {blocks ? p->s.g : NULL, 1},
                          .lesser = {p->s.lesser, 1},
                          .corner = p->s.corner};

  if (s->slabs != NULL) {
    return qt_slabs_solve(s->slabs, &rgf);
  }
  if (!(blocks ? qt_rgf_solve(&rgf, p->s.rgf)
               : qt_rgf_corner(s->layout, &rgf.a, rgf.corner, p->s.rgf))) {
    return weir_fail(WEIR_ERR_NUMERIC,
                     "the Green's function of the device is singular: a part of it has a state of "
                     "that energy; shift the energy");
  }
  return WEIR_OK;
}

static weir_status solve(point *p, double energy, double *const out[QT_POINT_ARRAYS])
{
  const qt_point_spec *s = p->spec;
  const bool phonons = s->system->particle == QT_PHONONS;
  double *const seconds = p->number + QT_POINT_SECONDS, before = weir_clock();

  p->energy = phonons ? energy * energy : energy;
  weir_status status = qt_point_ranks_agree(s->ranks, solve_leads(p));
  double after = weir_clock();

  seconds[QT_PHASE_LEADS] += after - before;
  WEIR_TRY(status);
  const bool open = !p->closed[QT_LEFT] && !p->closed[QT_RIGHT];

  bool needed = open || wants_g(s);

  p->number[QT_POINT_TRANSMISSION] = 0;
  WEIR_TRY(qt_point_ranks_any(s->ranks, &needed)); /* it may be rounding which says so */
  if (!needed) {
    return WEIR_OK;
  }
  const double assembly = seconds[QT_PHASE_ASSEMBLY];

  status = recur(p);
  if (status == WEIR_OK && open) {
    const int64_t rows[] = {p->leads->cell[QT_LEFT].n, p->leads->cell[QT_RIGHT].n};

    p->number[QT_POINT_TRANSMISSION] =
        qt_rgf_trace(rows[QT_LEFT], rows[QT_RIGHT], p->s.gamma[QT_LEFT], p->s.corner,
                     p->s.gamma[QT_RIGHT], p->s.memory);
  }
  before = after;
  after = weir_clock();
  seconds[QT_PHASE_RECURSION] += after - before - (seconds[QT_PHASE_ASSEMBLY] - assembly);
  p->number[QT_POINT_FLOPS] += qt_point_flops(s);
  WEIR_TRY(status);
  if (wants_g(s)) {
    WEIR_TRY(qt_point_ranks_exchange(s->ranks));
    store_densities(p, phonons ? 2 * energy : 1, out);
    WEIR_TRY(collect(p, out));
    seconds[QT_PHASE_ASSEMBLY] += weir_clock() - after;
  }
  return WEIR_OK;
}

weir_status qt_point_solve(const qt_point_spec *s, const qt_point_leads *leads, double energy,
                           void *scratch, double *const out[QT_POINT_ARRAYS])
{
  point p = {.spec = s, .leads = leads, .number = out[QT_POINT_NUMBER], .range = range_of(s)};

  (void)lay_out(s, scratch, &p.s);
  memset(p.number, 0, QT_POINT_NUMBERS * sizeof *p.number);
  weir_status status = solve(&p, energy, out);

  if (status == WEIR_ERR_NUMERIC && s->shift > 0) {
    p.number[QT_POINT_SHIFTED] = 1;
    status = solve(&p, energy + s->shift, out);
  }
  p.number[QT_POINT_STATUS] = (double)status;
  return status;
}

weir_status qt_point_leads_set(const qt_system *s, const double k[2], qt_point_leads *leads)
{
  if (leads->cell[QT_LEFT].n > 0 && leads->k[0] == k[0] && leads->k[1] == k[1]) {
    return WEIR_OK;
  }
  qt_point_leads_fini(leads);
  for (int c = 0; c < QT_LEADS; c++) {
    const weir_status status = qt_cell_create(&s->lead[c], k, &leads->cell[c]);

    if (status != WEIR_OK) {
      qt_point_leads_fini(leads);
      return status;
    }
  }
  memcpy(leads->k, k, sizeof leads->k);
  leads->same = qt_cell_is_same(&leads->cell[QT_LEFT], &leads->cell[QT_RIGHT]);
  return WEIR_OK;
}

qt_lead_work qt_point_leads_flops(const qt_lead_opts *o, const qt_system *s,
                                  const qt_point_leads *leads)
{
  qt_lead_work sum = {0, 0};

  if (leads->same) {
    return qt_lead_flops(o, &s->lead[QT_LEFT], QT_LEADS);
  }
  for (int c = 0; c < QT_LEADS; c++) {
    const qt_lead_work one = qt_lead_flops(o, &s->lead[c], 1);

    sum.fixed += one.fixed;
    sum.step += one.step;
  }
  return sum;
}

void qt_point_leads_fini(qt_point_leads *leads)
{
  qt_cell_fini(&leads->cell[QT_LEFT]);
  qt_cell_fini(&leads->cell[QT_RIGHT]);
  *leads = (qt_point_leads){.same = false};
}
