/* run_bands.c - see run_bands.h. */
#include "page/run_bands.h"

#include <math.h>
#include <stdio.h>

#include "base/weir_alloc.h"
#include "model/band_structure.h"

enum { PANEL = 360, MAX_PANELS = QT_LEADS + 1 };

/* Points of lines, NaN between two lines. */
typedef struct lines {
  double *x, *y;
  int64_t n, x_capacity, y_capacity;
} lines;

static weir_status add(lines *l, double x, double y)
{
  WEIR_TRY(weir_reserve(&l->x, &l->x_capacity, l->n + 1, sizeof *l->x));
  WEIR_TRY(weir_reserve(&l->y, &l->y_capacity, l->n + 1, sizeof *l->y));
  l->x[l->n] = x;
  l->y[l->n++] = y;
  return WEIR_OK;
}

/* The part within [lo, hi] of the line from a to b, each (x, y). */
static weir_status add_piece(lines *l, const double a[2], const double b[2], double lo, double hi)
{
  double from = 0, to = 1;

  for (int end = 0; end < 2; end++) { /* above lo; below hi */
    const double sign = end ? -1 : 1, edge = end ? -hi : lo;
    const double p = sign * a[1] - edge, q = sign * b[1] - edge;

    if (p < 0 && q < 0) {
      return WEIR_OK;
    }
    from = p < 0 ? fmax(from, p / (p - q)) : from;
    to = q < 0 ? fmin(to, p / (p - q)) : to;
  }
  if (from > to) {
    return WEIR_OK;
  }
  if (from > 0 || l->n == 0 || l->x[l->n - 1] != a[0] || l->y[l->n - 1] != a[1]) {
    WEIR_TRY(add(l, NAN, NAN));
    WEIR_TRY(add(l, a[0] + from * (b[0] - a[0]), a[1] + from * (b[1] - a[1])));
  }
  return add(l, to < 1 ? a[0] + to * (b[0] - a[0]) : b[0],
             to < 1 ? a[1] + to * (b[1] - a[1]) : b[1]);
}

static weir_status draw(const qt_band_structure *b, double lo, double hi, lines *l)
{
  for (int64_t band = 0; band < b->n; band++) {
    for (int64_t i = 0; i + 1 < b->n_points; i++) {
      const double from[2] = {b->wave_vector[i], b->energy[i * b->n + band]};
      const double to[2] = {b->wave_vector[i + 1], b->energy[(i + 1) * b->n + band]};

      WEIR_TRY(add_piece(l, from, to, lo, hi));
    }
  }
  return WEIR_OK;
}

/* The wave vector nearest to 0. */
static int64_t middle_k(const qt_study *s)
{
  int64_t best = 0;

  for (int64_t i = 1; i < s->n_k; i++) {
    best = hypot(s->k[i][0], s->k[i][1]) < hypot(s->k[best][0], s->k[best][1]) ? i : best;
  }
  return best;
}

/* What the panels show. */
typedef struct panels {
  const qt_study *s;
  const double *k;
  double lo, hi;
  const char *energy_label;
  lines line[QT_LEADS];
  char title[MAX_PANELS][80];
  double mu[2][2], ends[2]; /* two points each of the chemical potentials, x of them */
  double zero;              /* where the axis of T begins */
  weir_figure_series bands[QT_LEADS][1 + QT_LEADS], transmission[3];
  weir_figure figure[MAX_PANELS];
  const char *name[MAX_PANELS];
  int n;
} panels;

/* Levels of the chemical potentials that lie in the range; the number of series. */
static int add_levels(panels *p, weir_figure_series *out)
{
  static const char *const name[QT_LEADS] = {"mu_L", "mu_R"};
  int n = 0;

  for (int c = 0; c < QT_LEADS && p->s->system.particle == QT_ELECTRONS; c++) {
    const double mu = p->s->reservoir[c].mu;

    if (mu >= p->lo && mu <= p->hi) {
      p->mu[c][0] = p->mu[c][1] = mu;
      out[n++] = (weir_figure_series){
          .kind = WEIR_FIGURE_LINE, .name = name[c], .n = 2, .x = p->ends, .y = p->mu[c]};
    }
  }
  return n;
}

static weir_status add_lead(panels *p, const qt_cell *c, int side, bool both)
{
  const qt_study *s = p->s;
  weir_figure_series *bands = p->bands[side];
  char *const title = p->title[p->n];
  const size_t size = sizeof p->title[0];
  qt_band_structure b;

  WEIR_TRY(qt_band_structure_create(c, s->system.particle, s->cfg->output.bands, 0, &b));
  const weir_status status = draw(&b, p->lo, p->hi, &p->line[side]);

  qt_band_structure_fini(&b);
  WEIR_TRY(status);
  *bands = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                .name = "E(k_x)",
                                .n = p->line[side].n,
                                .x = p->line[side].x,
                                .y = p->line[side].y};
  const int n = snprintf(title, size, "%s%s",
                         both   ? "Both leads"
                         : side ? "Right lead"
                                : "Left lead",
                         s->system.particle == QT_PHONONS ? ": phonon dispersion" : ": bands");

  if (s->system.periodic[1] || s->system.periodic[2]) {
    (void)snprintf(title + n, size - (size_t)n, ", k = (%.3g, %.3g)", p->k[0], p->k[1]);
  }
  p->name[p->n] = both ? "bands" : side ? "bands_right" : "bands_left";
  p->figure[p->n++] = (weir_figure){.title = title,
                                    .x_label = "k_x a / pi",
                                    .y_label = p->energy_label,
                                    .series = bands,
                                    .n_series = 1 + add_levels(p, bands + 1),
                                    .empty = "no band at these energies",
                                    .width = PANEL,
                                    .y_lo = p->lo,
                                    .y_hi = p->hi};
  return WEIR_OK;
}

static void add_transmission(panels *p)
{
  const qt_study *s = p->s;

  p->transmission[0] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                            .name = "T(E)",
                                            .n = s->n_energies,
                                            .x = s->transmission,
                                            .y = s->energy};
  p->transmission[1] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                            .name = "modes of the left lead",
                                            .n = s->n_energies,
                                            .x = s->modes,
                                            .y = s->energy};
  p->transmission[2] =
      (weir_figure_series){.kind = WEIR_FIGURE_LINE, .n = 1, .x = &p->zero, .y = s->energy};
  (void)snprintf(p->title[p->n], sizeof p->title[0], "Transmission%s%s", qt_study_per_spin(s),
                 s->n_k > 1 ? ", mean over k" : "");
  p->name[p->n] = "bands_transmission";
  p->figure[p->n] = (weir_figure){.title = p->title[p->n],
                                  .x_label = "T",
                                  .y_label = p->energy_label,
                                  .series = p->transmission,
                                  .n_series = 3,
                                  .width = PANEL,
                                  .y_lo = p->lo,
                                  .y_hi = p->hi};
  p->n++;
}

static weir_status fill(panels *p, const qt_cell cell[QT_LEADS])
{
  const bool same = qt_cell_is_same(&cell[QT_LEFT], &cell[QT_RIGHT]);

  WEIR_TRY(add_lead(p, &cell[QT_LEFT], QT_LEFT, same));
  add_transmission(p);
  return same ? WEIR_OK : add_lead(p, &cell[QT_RIGHT], QT_RIGHT, false);
}

static weir_status put(weir_report *r, const qt_study *s)
{
  const bool phonons = s->system.particle == QT_PHONONS;
  panels p = {.s = s,
              .k = s->k[middle_k(s)],
              .lo = s->energy[0],
              .hi = s->energy[s->n_energies - 1],
              .ends = {-1, 1},
              .energy_label = phonons ? "hbar omega (eV)" : "E (eV)"};
  qt_cell cell[QT_LEADS] = {{.n = 0}, {.n = 0}};
  weir_status status = WEIR_OK;

  for (int c = 0; c < QT_LEADS; c++) {
    WEIR_TRY_GOTO(qt_cell_create(&s->system.lead[c], p.k, &cell[c]), done);
  }
  WEIR_TRY_GOTO(fill(&p, cell), done);
  status = weir_report_row(r, p.n, p.name, p.figure);
done:
  for (int c = 0; c < QT_LEADS; c++) {
    qt_cell_fini(&cell[c]);
    weir_free(&p.line[c].x);
    weir_free(&p.line[c].y);
  }
  return status;
}

weir_status qt_run_bands(weir_report *r, const qt_study *s)
{
  const qt_lead *lead = s->system.lead;
  const int64_t max_orbitals = s->cfg->output.bands_orbitals;

  if (s->cfg->output.bands < 2 || s->n_energies < 2) {
    return WEIR_OK;
  }
  if (lead[QT_LEFT].n > max_orbitals || lead[QT_RIGHT].n > max_orbitals) {
    return weir_report_text(
        r,
        "The band structure of the leads is left out: their cells have %lld and "
        "%lld orbitals, output.bands_orbitals is %lld.",
        (long long)lead[QT_LEFT].n, (long long)lead[QT_RIGHT].n, (long long)max_orbitals);
  }
  WEIR_TRY(put(r, s));
  return weir_report_text(
      r,
      "Bands: energies E(k_x) of the perfect leads, whose cells have lengths of "
      "%.4g (left) and %.4g Angstrom (right).",
      lead[QT_LEFT].length, lead[QT_RIGHT].length);
}
