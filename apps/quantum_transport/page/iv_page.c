/* iv_page.c - the part of the report on currents, potentials and their convergence. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "iv.h"

enum { CURVES = 8, LABEL = 80 };

typedef struct position {
  double x;
  int64_t atom;
} position;

static int ascending(const void *a, const void *b)
{
  const double x = ((const position *)a)->x, y = ((const position *)b)->x;

  return (x > y) - (x < y);
}

weir_status qt_iv_profile(const qt_system *s, const double *value, double *x, double *mean,
                          int64_t *count)
{
  const double one = 1e-3; /* Angstrom: nearer positions are one */
  position *order = NULL;
  double atoms = 0;

  WEIR_TRY(weir_alloc(s->n_atoms, sizeof *order, (void **)&order));
  for (int64_t a = 0; a < s->n_atoms; a++) {
    order[a] = (position){s->atom[a].position[0], a};
  }
  qsort(order, (size_t)s->n_atoms, sizeof *order, ascending);
  *count = 0;
  for (int64_t a = 0; a < s->n_atoms; a++) {
    if (*count == 0 || order[a].x - x[*count - 1] > one) {
      x[*count] = order[a].x;
      mean[(*count)++] = 0;
      atoms = 0;
    }
    mean[*count - 1] += (value[order[a].atom] - mean[*count - 1]) / ++atoms;
  }
  weir_free(&order);
  return WEIR_OK;
}

static weir_status iv_table(const qt_iv *iv, weir_report *r)
{
  static const char *const head[] = {"drain (V)",
                                     "gate (V)",
                                     "current (A)",
                                     "electrons",
                                     "donors",
                                     "iterations",
                                     "last change (eV)",
                                     "current with scattering (A)",
                                     "power left in the device (W)",
                                     "highest temperature (K)",
                                     "iterations of scattering"};
  const int columns = iv->scattering != NULL ? 11 : 7;
  weir_table c = {0};

  for (int64_t i = 0; i < iv->n_found; i++) {
    const qt_bias *b = &iv->bias[i];

    weir_table_add(&c, "%g", b->drain);
    weir_table_add(&c, "%g", b->gate);
    weir_table_add(&c, "%.4g", b->current);
    weir_table_add(&c, "%.5g", b->electrons);
    weir_table_add(&c, "%.5g", b->donors);
    weir_table_add(&c, "%lld", (long long)b->n_steps);
    weir_table_add(&c, "%.2g", b->step[b->n_steps - 1].change);
    if (iv->scattering != NULL) {
      weir_table_add(&c, "%.4g", b->scattered.current);
      weir_table_add(&c, "%.4g", b->scattered.power);
      weir_table_add(&c, "%.4g", b->scattered.temperature);
      weir_table_add(&c, "%lld", (long long)b->scattered.iterations);
    }
  }
  const weir_status status = weir_table_report(&c, r, "iv", columns, head);

  weir_table_fini(&c);
  return status;
}

/* Currents against one voltage, a curve for each value of the other: log10 over gate voltages. */
static weir_status iv_figure(const qt_iv *iv, weir_report *r, bool over_gate)
{
  const int64_t n = over_gate ? iv->n_gate : iv->n_drain;
  const int64_t curves = over_gate ? iv->n_drain : iv->n_gate;
  weir_figure_series series[CURVES];
  char label[CURVES][LABEL];
  double *y = NULL;
  int count = 0;

  WEIR_TRY(weir_alloc(CURVES * n, sizeof *y, (void **)&y));
  for (int64_t c = 0; c < curves && c < CURVES; c++) {
    for (int64_t i = 0; i < n; i++) {
      const double current = iv->bias[over_gate ? c * iv->n_gate + i : i * iv->n_gate + c].current;

      y[c * n + i] = !over_gate ? current : current != 0 ? log10(fabs(current)) : NAN;
    }
    (void)snprintf(label[c], LABEL, "%s %g V", over_gate ? "drain" : "gate",
                   over_gate ? iv->drain[c] : iv->gate[c]);
    series[count++] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                           .name = label[c],
                                           .n = n,
                                           .x = over_gate ? iv->gate : iv->drain,
                                           .y = y + c * n};
  }
  const weir_status status = weir_report_figure(
      r, over_gate ? "transfer" : "output",
      &(weir_figure){.title = over_gate ? "Transfer characteristic" : "Output characteristic",
                     .x_label = over_gate ? "gate voltage (V)" : "drain voltage (V)",
                     .y_label = over_gate ? "log10 of the current in A" : "current (A)",
                     .series = series,
                     .n_series = count});

  weir_free(&y);
  return status;
}

/* The number of bias points drawn, spread over all of them. */
static int64_t drawn(const qt_iv *iv, int64_t i)
{
  const int64_t n = iv->n_found;

  return n <= CURVES ? i : i * (n - 1) / (CURVES - 1);
}

/* The edge of a band at U = 0 that is nearer to the chemical potential of the left lead. */
static double find_edge(const qt_iv *iv, bool *is_valence)
{
  const qt_bands *b = iv->scf.bands;
  const double conduction = fmin(b[QT_LEFT].conduction, b[QT_RIGHT].conduction);
  const double valence = fmax(b[QT_LEFT].valence, b[QT_RIGHT].valence);

  *is_valence = fabs(valence - iv->scf.mu) < fabs(conduction - iv->scf.mu);
  return *is_valence ? valence : conduction;
}

/* That edge along the device, at some of the bias points. */
static weir_status profile_figure(const qt_iv *iv, weir_report *r)
{
  const int64_t n_atoms = iv->flat.n_atoms;
  const int64_t curves = iv->n_found < CURVES ? iv->n_found : CURVES;
  bool is_valence = false;
  const double edge = find_edge(iv, &is_valence);
  weir_figure_series series[CURVES];
  char label[CURVES][LABEL];
  double *x = NULL, *y = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(n_atoms, sizeof *x, (void **)&x), done);
  WEIR_TRY_GOTO(weir_alloc(CURVES * n_atoms, sizeof *y, (void **)&y), done);
  for (int64_t c = 0; c < curves; c++) {
    const qt_bias *b = &iv->bias[drawn(iv, c)];
    double *at = y + c * n_atoms;
    int64_t n = 0;

    WEIR_TRY_GOTO(qt_iv_profile(&iv->flat, b->atom_u, x, at, &n), done);
    for (int64_t i = 0; i < n; i++) {
      at[i] += edge - iv->scf.mu;
    }
    (void)snprintf(label[c], LABEL, "drain %g V, gate %g V", b->drain, b->gate);
    series[c] =
        (weir_figure_series){.kind = WEIR_FIGURE_LINE, .name = label[c], .n = n, .x = x, .y = at};
  }
  status = weir_report_figure(r, "potential",
                              &(weir_figure){.title = is_valence
                                                          ? "Valence band edge along the device"
                                                          : "Conduction band edge along the device",
                                             .x_label = "x (Angstrom)",
                                             .y_label = "energy above mu of the left lead (eV)",
                                             .series = series,
                                             .n_series = (int)curves});
done:
  weir_free(&x);
  weir_free(&y);
  return status;
}

static weir_status convergence_figure(const qt_iv *iv, weir_report *r)
{
  const int64_t curves = iv->n_found < CURVES ? iv->n_found : CURVES;
  weir_figure_series series[CURVES];
  char label[CURVES][LABEL];
  double *x = NULL, *y = NULL;
  weir_status status = WEIR_OK;
  int64_t max_steps = 1;

  for (int64_t i = 0; i < iv->n_found; i++) {
    max_steps = iv->bias[i].n_steps > max_steps ? iv->bias[i].n_steps : max_steps;
  }
  WEIR_TRY_GOTO(weir_alloc(max_steps, sizeof *x, (void **)&x), done);
  WEIR_TRY_GOTO(weir_alloc(CURVES * max_steps, sizeof *y, (void **)&y), done);
  for (int64_t i = 0; i < max_steps; i++) {
    x[i] = (double)(i + 1);
  }
  for (int64_t c = 0; c < curves; c++) {
    const qt_bias *b = &iv->bias[drawn(iv, c)];

    for (int64_t i = 0; i < b->n_steps; i++) {
      y[c * max_steps + i] = log10(fmax(b->step[i].change, 1e-16));
    }
    (void)snprintf(label[c], LABEL, "drain %g V, gate %g V", b->drain, b->gate);
    series[c] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                     .name = label[c],
                                     .n = b->n_steps,
                                     .x = x,
                                     .y = y + c * max_steps};
  }
  status = weir_report_figure(r, "convergence",
                              &(weir_figure){.title = "Convergence of the potential",
                                             .x_label = "iteration",
                                             .y_label = "log10 of the largest change in eV",
                                             .series = series,
                                             .n_series = (int)curves});
done:
  weir_free(&x);
  weir_free(&y);
  return status;
}

weir_status qt_iv_page(const qt_iv *iv, weir_report *r)
{
  WEIR_TRY(weir_report_heading(r, "Currents and potentials"));
  WEIR_TRY(weir_report_text(
      r,
      "Self-consistent potentials of %lld bias points on a grid of %lld nodes, each to %g eV; left "
      "lead at %.6g eV. Spectra below are those of the last point. Time %.3g s, %lld points taken "
      "from an earlier run. Files: iv.csv, convergence.csv, electrostatics.nc.",
      (long long)iv->n_found, (long long)qt_grid_nodes(&iv->scf.grid),
      iv->cfg->electrostatics.tolerance, iv->scf.mu, iv->seconds, (long long)iv->n_resumed));
  WEIR_TRY(iv_table(iv, r));
  if (iv->n_gate > 1) {
    WEIR_TRY(iv_figure(iv, r, true));
  }
  if (iv->n_drain > 1) {
    WEIR_TRY(iv_figure(iv, r, false));
  }
  WEIR_TRY(profile_figure(iv, r));
  return convergence_figure(iv, r);
}
