/* run_page.c - see run_page.h. */
#include "page/run_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_sort.h"
#include "iv.h"
#include "model/units.h"
#include "out_spectra.h"
#include "device/weir_parallel.h"
#include "report/weir_report.h"
#include "page/run_bands.h"
#include "page/run_structure.h"
#include "scatter.h"
#include "page/speed.h"

static void write_event(const qt_study *s)
{
  weir_event("run_end", WEIR_INT("orbitals", s->system.n), WEIR_INT("blocks", s->system.n_blocks),
             WEIR_INT("k", s->n_k), WEIR_INT("energies", s->n_energies),
             WEIR_REAL("current_A", s->current), WEIR_REAL("energy_current_W", s->energy_current),
             WEIR_REAL("conductance_S", s->conductance),
             WEIR_INT("shifted", s->transport.n_shifted),
             WEIR_REAL("residual", s->transport.residual), WEIR_REAL("seconds", s->seconds));
}

static void write_heat_events(const qt_study *s)
{
  for (int64_t i = 0; s->heat != NULL && i < s->cfg->contact.conductance_temperatures.count; i++) {
    weir_event("thermal_conductance", WEIR_REAL("temperature_K", s->heat[i].temperature),
               WEIR_REAL("conductance_W_per_K", s->heat[i].conductance));
  }
}

/* A value in the unit with the SI prefix that it is read by; counts and ratios, in "1", and what
 * has a usual size, in eV and K, as they are. */
static void put(weir_table *c, const char *quantity, double value, const char *unit)
{
  const bool scaled = strlen(unit) == 1 && strchr("ASWs", unit[0]) != NULL;
  const char *prefix = "";
  const double shown = scaled ? weir_si_scale(value, &prefix) : value;

  weir_table_add(c, "%s", quantity);
  weir_table_add(c, isnan(value) ? "-" : scaled || fabs(value) < 1e-3 ? "%.4g" : "%.6g", shown);
  weir_table_add(c, "%s%s", prefix, strcmp(unit, "1") == 0 ? "" : unit);
}

/* A current or conductance of all spins, for a transverse cell. */
static void put_total(weir_table *c, const qt_study *s, const char *what, double value,
                      const char *unit)
{
  char label[160];

  (void)snprintf(label, sizeof label, "%s%s%s", what, qt_study_both_spins(s), qt_study_per_cell(s));
  put(c, label, value, unit);
}

static weir_status summary(weir_report *r, const qt_study *s)
{
  static const char *const head[] = {"quantity", "value", "unit"};
  const bool phonons = s->system.particle == QT_PHONONS;
  weir_table c = {0};

  put(&c, phonons ? "vibrational degrees of freedom" : "orbitals", (double)s->system.n, "1");
  put(&c, "blocks", (double)s->system.n_blocks, "1");
  put(&c, "atoms", (double)s->system.n_atoms, "1");
  put(&c, "temperature of the left lead", s->reservoir[QT_LEFT].temperature, "K");
  put(&c, "temperature of the right lead", s->reservoir[QT_RIGHT].temperature, "K");
  if (!phonons) {
    put(&c, "chemical potential of the left lead", s->reservoir[QT_LEFT].mu, "eV");
    put(&c, "chemical potential of the right lead", s->reservoir[QT_RIGHT].mu, "eV");
    put_total(&c, s, "current (e times the electron flow from left to right)", s->current, "A");
    put_total(&c, s, "conductance at zero bias", s->conductance, "S");
    put(&c, "the same in conductance quanta", s->conductance / (2 * QT_CONDUCTANCE),
        "2e\xc2\xb2/h");
  }
  put_total(&c, s, phonons ? "heat current" : "energy current, energies from the zero of H",
            s->energy_current, "W");
  put(&c, "points whose energy was shifted", (double)s->transport.n_shifted, "1");
  put(&c, "largest residual of a lead", s->transport.residual, "1");
  put(&c, "time for all points", s->seconds, "s");
  const weir_status status = weir_table_report(&c, r, "summary", 3, head);

  weir_table_fini(&c);
  return status;
}

static weir_status heat_table(weir_report *r, const qt_study *s)
{
  char label[80], text[WEIR_AMOUNT_SIZE];
  const char *const head[] = {"temperature (K)", label};
  weir_table c = {0};

  (void)snprintf(label, sizeof label, "thermal conductance%s", qt_study_per_cell(s));

  for (int64_t i = 0; i < s->cfg->contact.conductance_temperatures.count; i++) {
    weir_table_add(&c, "%g", s->heat[i].temperature);
    weir_table_add(
        &c, "%s",
        isnan(s->heat[i].conductance) ? "-" : weir_amount(s->heat[i].conductance, "W/K", text));
  }
  const weir_status status = weir_table_report(&c, r, "thermal_conductance", 2, head);

  weir_table_fini(&c);
  return status;
}

static weir_status spectra_figures(weir_report *r, const qt_study *s)
{
  const bool phonons = s->system.particle == QT_PHONONS;
  const char *x_label = phonons ? "phonon energy (eV)" : "energy (eV)";
  const weir_figure_series t[] = {{.kind = WEIR_FIGURE_LINE,
                                   .name = "transmission",
                                   .n = s->n_energies,
                                   .x = s->energy,
                                   .y = s->transmission},
                                  {.kind = WEIR_FIGURE_LINE,
                                   .name = "propagating modes of the left lead",
                                   .n = s->n_energies,
                                   .x = s->energy,
                                   .y = s->modes}};
  char titles[2][120];

  (void)snprintf(titles[0], sizeof titles[0], "Transmission%s%s", qt_study_per_spin(s),
                 qt_study_per_cell(s));
  (void)snprintf(titles[1], sizeof titles[1], "Density of states%s, whole device%s",
                 qt_study_per_spin(s), qt_study_per_cell(s));
  const weir_figure_series dos = {
      .kind = WEIR_FIGURE_LINE, .n = s->n_energies, .x = s->energy, .y = s->dos};

  WEIR_TRY(weir_report_figure(
      r, "transmission",
      &(weir_figure){
          .title = titles[0], .x_label = x_label, .y_label = "T(E)", .series = t, .n_series = 2}));
  if (s->dos == NULL) {
    return WEIR_OK;
  }
  return weir_report_figure(r, "dos",
                            &(weir_figure){.title = titles[1],
                                           .x_label = x_label,
                                           .y_label = "DOS (1/eV)",
                                           .series = &dos,
                                           .n_series = 1});
}

/* Distinct positions of atoms along x, ascending; those nearer than 1e-3 Angstrom are one. */
static int64_t positions(const qt_system *s, double *x)
{
  int64_t n = 0;

  for (int64_t a = 0; a < s->n_atoms; a++) {
    x[a] = s->atom[a].position[0];
  }
  qsort(x, (size_t)s->n_atoms, sizeof *x, weir_compare_f64);
  for (int64_t a = 0; a < s->n_atoms; a++) {
    if (n == 0 || x[a] - x[n - 1] > 1e-3) {
      x[n++] = x[a];
    }
  }
  return n;
}

/* The last of n ascending positions that is not beyond x; the first where there is none. */
static int64_t find_position(int64_t n, const double *position, double x)
{
  int64_t lo = 0, hi = n;

  while (hi - lo > 1) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (position[middle] <= x + 5e-4) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  return lo;
}

/* The value that 98 of 100 do not exceed: a van Hove singularity does not darken all others. */
static weir_status find_top(int64_t n, const double *value, double *top)
{
  double *sorted = NULL;

  WEIR_TRY(weir_alloc(n, sizeof *sorted, (void **)&sorted));
  memcpy(sorted, value, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, weir_compare_f64);
  *top = sorted[(n - 1) * 98 / 100];
  weir_free(&sorted);
  return WEIR_OK;
}

/* Energies at equal distances, without those that energy.tolerance has added between them: their
 * numbers and values, each [energy.points]. */
static void equal_distances(const qt_study *s, int64_t *number, double *energy)
{
  const int64_t n = s->cfg->energy.points;
  const double first = s->energy[0],
               step = (s->energy[s->n_energies - 1] - first) / (double)(n - 1);

  for (int64_t i = 0, at = 0; i < n; i++) {
    while (at + 1 < s->n_energies && s->energy[at] < first + step * ((double)i - 1e-6)) {
      at++;
    }
    number[i] = at;
    energy[i] = s->energy[at];
  }
}

/* Density of states summed over the atoms of a position; a column is the mean of `group` positions,
 * for there are at most COLUMNS. */
static weir_status ldos_map(weir_report *r, const qt_study *s)
{
  enum { COLUMNS = 1000 };
  const int64_t n_a = s->system.n_atoms, n_e = s->cfg->energy.points;
  double *x = NULL, *value = NULL, *y = NULL, top = 0;
  int64_t *number = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(n_a, sizeof *x, (void **)&x), done);
  const int64_t all = positions(&s->system, x), group = (all + COLUMNS - 1) / COLUMNS;
  const int64_t n = (all + group - 1) / group;

  WEIR_TRY_GOTO(weir_alloc(n * n_e, sizeof *value, (void **)&value), done);
  WEIR_TRY_GOTO(weir_alloc(n_e, sizeof *y, (void **)&y), done);
  WEIR_TRY_GOTO(weir_alloc(n_e, sizeof *number, (void **)&number), done);
  equal_distances(s, number, y);
  for (int64_t a = 0; a < n_a; a++) {
    const int64_t column = find_position(all, x, s->system.atom[a].position[0]) / group;
    const int64_t left = all - column * group;

    for (int64_t e = 0; e < n_e; e++) {
      value[e * n + column] += s->ldos[number[e] * n_a + a] / (double)(left < group ? left : group);
    }
  }
  for (int64_t c = 0; c < n; c++) { /* the middle of its positions */
    const int64_t last = (c + 1) * group < all ? (c + 1) * group - 1 : all - 1;

    x[c] = (x[c * group] + x[last]) / 2;
  }
  WEIR_TRY_GOTO(find_top(n * n_e, value, &top), done);
  status = weir_report_map(r, "ldos",
                           &(weir_map){.title = "Local density of states along the device, summed "
                                                "over the atoms of a position",
                                       .x_label = s->system.is_schematic ? "block" : "x (Angstrom)",
                                       .y_label = "energy (eV)",
                                       .unit = "1/eV",
                                       .rows = n_e,
                                       .columns = n,
                                       .x = x,
                                       .y = y,
                                       .value = value,
                                       .hi = top});
done:
  weir_free(&x);
  weir_free(&value);
  weir_free(&y);
  weir_free(&number);
  return status;
}

/* Times of phases, and the rate of the recursion relative to matrix products of the largest block,
 * measured here for no more than a tenth of the time of the run. */
static weir_status speed_table(weir_report *r, const qt_study *s)
{
  const qt_transport *t = &s->transport;
  const double wanted = fmin(s->cfg->bench.zgemm, fmax(0.1 * s->seconds, 1e-3));
  const int threads = weir_threads_get();
  const bool waves = s->cfg->transport.method == QT_TRANSPORT_QTBM;
  const qt_speed_phase phases[QT_PHASES] = {
      {waves ? "self-energies and waves of the leads" : "self-energies of the leads",
       t->seconds[QT_PHASE_LEADS], t->leads_flops},
      {waves ? "sparse systems: factors and solutions" : "recursion of Green's functions",
       t->seconds[QT_PHASE_RECURSION], t->flops},
      {waves ? "assembly of sparse matrices and densities" : "assembly of blocks and densities",
       t->seconds[QT_PHASE_ASSEMBLY], 0},
  };
  weir_table c = {0};
  double rate = 0;
  int64_t n = 0;

  for (int64_t b = 0; b < s->system.n_blocks; b++) {
    const int64_t rows = s->system.block[b + 1] - s->system.block[b];

    n = rows > n ? rows : n;
  }
  WEIR_TRY(qt_speed_zgemm(n, threads, wanted, &rate));
  WEIR_TRY(weir_report_heading(r, "Time"));
  qt_speed_table(QT_PHASES, phases, n, rate, &c);
  const weir_status status = weir_table_report(&c, r, "speed", QT_SPEED_COLUMNS, qt_speed_head);

  weir_table_fini(&c);
  WEIR_TRY(status);
  return weir_report_text(
      r,
      "Times are sums over threads and ranks; all points took %.4g s. %s The rate of zgemm was "
      "measured with all %d threads at once, after the run.",
      s->seconds,
      waves ? "Flops of leads are by formula; those of sparse systems are not counted."
            : "Flops of leads and recursion are by formula, blocks taken as full.",
      threads);
}

static weir_status fill(weir_report *r, const qt_study *s)
{
  static const char *const leads[] = {[QT_LEAD_DECIMATION] = "decimation",
                                      [QT_LEAD_MODES] = "modes",
                                      [QT_LEAD_CONTOUR] = "modes from contour integrals",
                                      [QT_LEAD_SLEPC] = "modes from SLEPc"};
  static const char *const methods[] = {[QT_TRANSPORT_RGF] = "recursive Green's functions",
                                        [QT_TRANSPORT_QTBM] = "wave functions (QTBM)"};
  const qt_device *device = qt_study_device(s->cfg);
  const bool phonons = s->system.particle == QT_PHONONS;

  WEIR_TRY(weir_report_text(
      r, "Device: %s (%s); %s. Leads by %s, the device by %s.", device->name, device->help,
      phonons && device->phonon_cite != NULL ? device->phonon_cite : device->cite,
      leads[s->cfg->lead.method], methods[s->cfg->transport.method]));
  WEIR_TRY(weir_report_text(r,
                            "Coherent transport through %lld %s in %lld blocks, wave vectors: "
                            "%lld, energies: %lld. Files: %s.",
                            (long long)s->system.n,
                            phonons ? "vibrational degrees of freedom" : "orbitals",
                            (long long)s->system.n_blocks, (long long)s->n_k,
                            (long long)s->n_energies, qt_out_spectra_files(s)));
  WEIR_TRY(summary(r, s));
  WEIR_TRY(qt_run_structure(r, &s->system));
  if (phonons) {
    WEIR_TRY(weir_report_heading(r, "Thermal conductance"));
    WEIR_TRY(heat_table(r, s));
  }
  if (s->iv != NULL) {
    WEIR_TRY(qt_iv_page(s->iv, r));
  }
  if (s->scatter != NULL) {
    WEIR_TRY(qt_scatter_page(s, r));
  }
  WEIR_TRY(weir_report_heading(r, "Spectra"));
  WEIR_TRY(spectra_figures(r, s));
  WEIR_TRY(qt_run_bands(r, s));
  if (s->ldos != NULL && s->n_energies > 1) {
    WEIR_TRY(ldos_map(r, s));
  }
  return speed_table(r, s);
}

weir_status qt_run_page(const qt_study *s, const char *dir)
{
  weir_report *r = NULL;

  write_heat_events(s);
  write_event(s);
  WEIR_TRY(weir_report_open(dir, "quantum_transport: device between two leads", &r));
  weir_report_fact(r, "device", "%s", qt_study_device(s->cfg)->name);
  weir_report_fact(r, "seed", "%lld", (long long)s->cfg->seed);
  return weir_report_commit(&r, fill(r, s));
}
