/* out_spectra.c - see out_spectra.h. */
#include "out_spectra.h"

#include <stdio.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "data/tbt.h"
#include "io/weir_netcdf.h"
#include "model/units.h"
#include "report/weir_report.h"
#include "commands.h"

/* A variable of doubles. */
typedef struct item {
  const char *name, *long_name, *units;
  int n_dims;
  int dims[3];
  int64_t lengths[3];
  const double *data; /* NULL: not written */
} item;

static weir_status put(weir_netcdf *nc, const item *v)
{
  const int64_t start[3] = {0, 0, 0};
  int var = 0;

  if (v->data == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_var(nc, v->name, WEIR_F64, v->n_dims, v->dims, &var));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "long_name", v->long_name));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "units", v->units));
  return weir_netcdf_write(nc, var, start, v->lengths, v->data);
}

enum { LABEL = 200 };

static weir_status put_number(weir_netcdf *nc, const char *name, const char *long_name,
                              const char *units, double value)
{
  return put(nc, &(item){.name = name, .long_name = long_name, .units = units, .data = &value});
}

/* A current or conductance of all spins, for a transverse cell. */
static weir_status put_total(weir_netcdf *nc, const qt_study *s, const char *name, const char *what,
                             const char *units, double value)
{
  char label[LABEL];

  (void)snprintf(label, sizeof label, "%s%s%s", what, qt_study_both_spins(s), qt_study_per_cell(s));
  return put_number(nc, name, label, units, value);
}

/* Thermal conductance over temperature, for a transverse cell. */
static weir_status put_heat(weir_netcdf *nc, const qt_study *s)
{
  const weir_real_list *list = &s->cfg->contact.conductance_temperatures;
  double *value = NULL;
  weir_status status = WEIR_OK;
  char label[LABEL];
  int dim;

  if (list->count == 0) {
    return WEIR_OK;
  }
  (void)snprintf(label, sizeof label, "thermal conductance%s", qt_study_per_cell(s));
  WEIR_TRY(weir_netcdf_dim(nc, "temperature", list->count, &dim));
  WEIR_TRY(weir_alloc(list->count, sizeof *value, (void **)&value));
  for (int64_t i = 0; i < list->count; i++) {
    value[i] = s->heat[i].conductance;
  }
  WEIR_TRY_GOTO(
      put(nc, &(item){"temperature", "temperature", "K", 1, {dim}, {list->count}, list->items}),
      done);
  status = put(nc, &(item){"thermal_conductance", label, "W K-1", 1, {dim}, {list->count}, value});
done:
  weir_free(&value);
  return status;
}

/* Currents and conductances. */
static weir_status put_currents(weir_netcdf *nc, const qt_study *s)
{
  const bool phonons = s->system.particle == QT_PHONONS;

  WEIR_TRY(put_number(nc, "temperature_left", "temperature of the left lead", "K",
                      s->reservoir[QT_LEFT].temperature));
  WEIR_TRY(put_number(nc, "temperature_right", "temperature of the right lead", "K",
                      s->reservoir[QT_RIGHT].temperature));
  WEIR_TRY(put_total(nc, s, "energy_current",
                     phonons ? "heat current from the left to the right lead"
                             : "energy current from the left to the right lead, energies from the "
                               "zero of the Hamiltonian",
                     "W", s->energy_current));
  if (phonons) {
    return put_heat(nc, s);
  }
  WEIR_TRY(put_number(nc, "chemical_potential_left", "chemical potential of the left lead", "eV",
                      s->reservoir[QT_LEFT].mu));
  WEIR_TRY(put_number(nc, "chemical_potential_right", "chemical potential of the right lead", "eV",
                      s->reservoir[QT_RIGHT].mu));
  WEIR_TRY(put_total(nc, s, "current",
                     "e times the flow of electrons from the left to the right lead, positive for "
                     "mu_L > mu_R, opposite to the conventional current",
                     "A", s->current));
  return put_total(nc, s, "conductance", "conductance at zero bias", "S", s->conductance);
}

/* An end of every bond, as a number of its orbital. */
static weir_status put_ends(weir_netcdf *nc, const qt_sparse *bonds, bool to, int dim)
{
  const int64_t count = qt_sparse_count(bonds), start = 0;
  int64_t *end = NULL;
  weir_status status = WEIR_OK;
  int var;

  WEIR_TRY(weir_netcdf_whole_var(nc, to ? "bond_to" : "bond_from", bonds->rows, 1, &dim, &var));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "long_name",
                                to ? "higher orbital of the bond, counted from 0"
                                   : "lower orbital of the bond, counted from 0"));
  WEIR_TRY(weir_alloc(count, sizeof *end, (void **)&end));
  for (int64_t i = 0; i < bonds->rows; i++) {
    for (int64_t at = bonds->start[i]; at < bonds->start[i + 1]; at++) {
      end[at] = to ? bonds->column[at] : i;
    }
  }
  status = weir_netcdf_write(nc, var, &start, &count, end);
  weir_free(&end);
  return status;
}

static weir_status put_bonds(weir_netcdf *nc, const qt_study *s, int k, int e)
{
  const qt_transport *t = &s->transport;
  const int64_t count = qt_sparse_count(&t->bonds);
  char text[120];
  int bond;

  if (count == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_dim(nc, "bond", count, &bond));
  WEIR_TRY(put_ends(nc, &t->bonds, false, bond));
  WEIR_TRY(put_ends(nc, &t->bonds, true, bond));
  for (int c = 0; c < QT_LEADS; c++) {
    (void)snprintf(text, sizeof text,
                   "transmission from bond_from to bond_to of states from the %s lead%s",
                   c == QT_LEFT ? "left" : "right", qt_study_per_spin(s));
    WEIR_TRY(put(nc, &(item){c == QT_LEFT ? "bond_current_left" : "bond_current_right",
                             text,
                             "1",
                             3,
                             {k, e, bond},
                             {s->n_k, s->n_energies, count},
                             t->bond_current[c]}));
  }
  return WEIR_OK;
}

static weir_status put_channels(weir_netcdf *nc, const qt_study *s, int k, int e)
{
  const qt_transport *t = &s->transport;
  char text[LABEL];
  int channel;

  if (t->n_channels == 0) {
    return WEIR_OK;
  }
  (void)snprintf(text, sizeof text, "eigenvalues of the transmission, descending%s",
                 qt_study_per_spin(s));
  WEIR_TRY(weir_netcdf_dim(nc, "channel", t->n_channels, &channel));
  return put(nc, &(item){"transmission_eigenvalues",
                         text,
                         "1",
                         3,
                         {k, e, channel},
                         {s->n_k, s->n_energies, t->n_channels},
                         t->channel});
}

static weir_status put_spectra(weir_netcdf *nc, const qt_study *s)
{
  const bool phonons = s->system.particle == QT_PHONONS;
  const int64_t n_k = s->n_k, n_e = s->n_energies, n = s->system.n;
  const char *const spin = qt_study_per_spin(s), *const cell = qt_study_per_cell(s);
  char transmission[LABEL], mean[LABEL], dos[LABEL], dos_left[LABEL];
  int k, e, orbital, yz;

  (void)snprintf(transmission, sizeof transmission, "transmission%s%s", spin, cell);
  (void)snprintf(mean, sizeof mean, "transmission%s%s, mean over wave vectors", spin, cell);
  (void)snprintf(dos, sizeof dos, "local density of states of each orbital%s", spin);
  (void)snprintf(dos_left, sizeof dos_left,
                 "density of states injected from the left lead, A_L/2 pi, of each orbital%s",
                 spin);
  WEIR_TRY(weir_netcdf_dim(nc, "k", n_k, &k));
  WEIR_TRY(weir_netcdf_dim(nc, "energy", n_e, &e));
  WEIR_TRY(weir_netcdf_dim(nc, "orbital", n, &orbital));
  WEIR_TRY(weir_netcdf_dim(nc, "yz", 2, &yz));
  const item items[] = {
      {"energy", phonons ? "phonon energy" : "electron energy", "eV", 1, {e}, {n_e}, s->energy},
      {"wave_vector",
       "transverse wave vector in reciprocal lattice vectors",
       "1",
       2,
       {k, yz},
       {n_k, 2},
       &s->k[0][0]},
      {"weight", "weight of the wave vector", "1", 1, {k}, {n_k}, s->weight},
      {"transmission", transmission, "1", 2, {k, e}, {n_k, n_e}, s->transport.transmission},
      {"dos", dos, "eV-1", 3, {k, e, orbital}, {n_k, n_e, n}, s->transport.dos},
      {"dos_left",
       dos_left,
       "eV-1",
       3,
       {k, e, orbital},
       {n_k, n_e, n},
       s->transport.lead_dos[QT_LEFT]},
      {"mean_transmission", mean, "1", 1, {e}, {n_e}, s->transmission},
      {"mean_modes",
       "propagating modes of the left lead, mean over wave vectors",
       "1",
       1,
       {e},
       {n_e},
       s->modes},
  };

  for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
    WEIR_TRY(put(nc, &items[i]));
  }
  WEIR_TRY(put_channels(nc, s, k, e));
  return put_bonds(nc, s, k, e);
}

static weir_status write_netcdf(const qt_study *s, const char *path)
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_netcdf_create_cf(path, "quantum_transport: spectra", &nc));
  WEIR_TRY_GOTO(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "source", "Weir quantum_transport"),
                done);
  WEIR_TRY_GOTO(put_spectra(nc, s), done);
  WEIR_TRY_GOTO(put_currents(nc, s), done);
  status = weir_netcdf_commit(&nc);
done:
  weir_netcdf_close(&nc);
  return status;
}

static weir_status write_tbt(const qt_study *s, const char *path)
{
  const qt_transport *t = &s->transport;
  const bool phonons = s->system.particle == QT_PHONONS;
  qt_tbt out = {.system = &s->system,
                .n_k = s->n_k,
                .n_energies = s->n_energies,
                .k = (const double(*)[2])s->k,
                .weight = s->weight,
                .energy = s->energy,
                .transmission = t->transmission,
                .dos = t->dos,
                .channel = t->channel,
                .n_channels = t->n_channels,
                .bonds = &t->bonds};

  for (int c = 0; c < QT_LEADS; c++) {
    out.lead[c] = (qt_tbt_lead){.mu = phonons ? 0 : s->reservoir[c].mu,
                                .kT = QT_BOLTZMANN * s->reservoir[c].temperature,
                                .eta = phonons ? s->cfg->lead.eta_phonons : s->cfg->lead.eta,
                                .dos = t->lead_dos[c],
                                .bond_current = t->bond_current[c],
                                .modes = t->n_modes[c]};
  }
  if (s->n_energies != s->cfg->energy.points) {
    weir_warn("run",
              "%s: energies lie at unequal distances (energy.tolerance), which sisl's current() "
              "takes for equal: take the current of transport.nc",
              path);
  }
  return qt_tbt_write(path, &out);
}

/* Energy, means of transmission, modes, and total density of states, one row an energy. */
static weir_status write_csv(const qt_study *s, const char *dir)
{
  static const char *const head[] = {"energy_eV", "transmission", "modes", "dos_per_eV"};
  weir_table cells = {0};

  for (int64_t i = 0; i < s->n_energies; i++) {
    weir_table_add(&cells, "%.17g", s->energy[i]);
    weir_table_add(&cells, "%.17g", s->transmission[i]);
    weir_table_add(&cells, "%.17g", s->modes[i]);
    if (s->dos != NULL) {
      weir_table_add(&cells, "%.17g", s->dos[i]);
    } else {
      weir_table_add(&cells, "%s", "");
    }
  }
  const weir_status status = weir_table_write_csv(&cells, dir, "spectra.csv", 4, head);

  weir_table_fini(&cells);
  return status;
}

const char *qt_out_spectra_files(const qt_study *s)
{
  return !weir_netcdf_available()           ? "spectra.csv"
         : !s->cfg->output.tbt              ? "spectra.csv, transport.nc"
         : s->system.particle == QT_PHONONS ? "spectra.csv, transport.nc, transport.PHT.nc"
                                            : "spectra.csv, transport.nc, transport.TBT.nc";
}

weir_status qt_out_spectra(const qt_study *s, const char *dir)
{
  char path[QT_PATH];

  WEIR_TRY(write_csv(s, dir));
  if (!weir_netcdf_available()) {
    weir_warn("run",
              "this build has no NetCDF: spectra.csv holds the means over wave vectors; %s "
              "not written",
              s->cfg->output.tbt ? "transport.nc and that of output.tbt are" : "transport.nc is");
    return WEIR_OK;
  }
  WEIR_TRY(weir_path_join(dir, "transport.nc", path, sizeof path));
  WEIR_TRY(write_netcdf(s, path));
  if (!s->cfg->output.tbt) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_path_join(
      dir, s->system.particle == QT_PHONONS ? "transport.PHT.nc" : "transport.TBT.nc", path,
      sizeof path));
  return write_tbt(s, path);
}
