/* scatter_out.c - files and report of scattering. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/weir_netcdf.h"
#include "iv.h"
#include "scatter.h"

/* Numbers of an iteration, as columns and as variables. */
typedef struct quantity {
  const char *name, *long_name, *units;
  size_t offset; /* in qt_born_step */
} quantity;

static const quantity quantities[] = {
    {"change", "change of the lesser self-energy, relative to its largest element", "1",
     offsetof(qt_born_step, change)},
    {"current_left", "e times the flow of electrons into the device from the left lead", "A",
     offsetof(qt_born_step, current[QT_LEFT])},
    {"current_right", "e times the flow of electrons into the device from the right lead", "A",
     offsetof(qt_born_step, current[QT_RIGHT])},
    {"energy_left", "energy of electrons from the left lead, energies from the zero of H", "W",
     offsetof(qt_born_step, energy[QT_LEFT])},
    {"energy_right", "energy of electrons from the right lead, energies from the zero of H", "W",
     offsetof(qt_born_step, energy[QT_RIGHT])},
    {"heat_left", "energy of phonons from the left lead", "W",
     offsetof(qt_born_step, heat[QT_LEFT])},
    {"heat_right", "energy of phonons from the right lead", "W",
     offsetof(qt_born_step, heat[QT_RIGHT])},
    {"gain_of_electrons", "energy that electrons gain from phonons", "W",
     offsetof(qt_born_step, gain_of_electrons)},
    {"gain_of_phonons", "energy that phonons gain from electrons; NaN with a bath", "W",
     offsetof(qt_born_step, gain_of_phonons)},
    {"current_error", "sum of the currents of both leads over that of the left one", "1",
     offsetof(qt_born_step, current_error)},
    {"energy_error",
     "sum of the energies of all leads over the largest of them, electrons' from the mean chemical "
     "potential",
     "1", offsetof(qt_born_step, energy_error)},
    {"identity_error", "largest rate of electrons that is not balanced at an energy, relative", "1",
     offsetof(qt_born_step, identity_error)},
};
enum { QUANTITIES = sizeof quantities / sizeof *quantities };

static double number_of(const qt_born_step *s, int i)
{
  return *(const double *)(const void *)((const char *)s + quantities[i].offset);
}

static weir_status write_csv(const qt_born *b, const char *dir)
{
  const char *head[QUANTITIES + 1] = {"iteration"};
  weir_table cells = {0};

  for (int i = 0; i < QUANTITIES; i++) {
    head[i + 1] = quantities[i].name;
  }
  for (int64_t s = 0; s < b->n_steps; s++) {
    weir_table_add(&cells, "%lld", (long long)s);
    for (int i = 0; i < QUANTITIES; i++) {
      weir_table_add(&cells, "%.17g", number_of(&b->step[s], i));
    }
  }
  const weir_status status =
      weir_table_write_csv(&cells, dir, "scattering.csv", QUANTITIES + 1, head);

  weir_table_fini(&cells);
  return status;
}

/* ---- NetCDF ---- */

static weir_status put(weir_netcdf *nc, const char *name, const char *long_name, const char *units,
                       int n_dims, const int *dims, const int64_t *lengths, const double *data)
{
  const int64_t start[2] = {0, 0};
  int var = 0;

  WEIR_TRY(weir_netcdf_var(nc, name, WEIR_F64, n_dims, dims, &var));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "long_name", long_name));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "units", units));
  return weir_netcdf_write(nc, var, start, lengths, data);
}

static weir_status put_steps(weir_netcdf *nc, const qt_born *b)
{
  double *value = NULL;
  weir_status status = WEIR_OK;
  int dim;

  WEIR_TRY(weir_netcdf_dim(nc, "iteration", b->n_steps, &dim));
  WEIR_TRY(weir_alloc(b->n_steps, sizeof *value, (void **)&value));
  for (int i = 0; i < QUANTITIES; i++) {
    for (int64_t s = 0; s < b->n_steps; s++) {
      value[s] = number_of(&b->step[s], i);
    }
    WEIR_TRY_GOTO(put(nc, quantities[i].name, quantities[i].long_name, quantities[i].units, 1, &dim,
                      &b->n_steps, value),
                  done);
  }
done:
  weir_free(&value);
  return status;
}

static weir_status put_spectra(weir_netcdf *nc, const qt_study *study)
{
  const qt_born *b = &study->scatter->born;
  const int64_t length[2] = {b->n_energies, b->n_cuts};
  int dim[2];

  WEIR_TRY(weir_netcdf_dim(nc, "energy", b->n_energies, &dim[0]));
  WEIR_TRY(put(nc, "energy", "electron energy", "eV", 1, dim, length, study->energy));
  WEIR_TRY(put(nc, "spectrum_left", "spectrum of the current from the left lead", "A eV-1", 1, dim,
               length, b->flow[QT_LEFT]));
  WEIR_TRY(put(nc, "spectrum_right", "spectrum of the current from the right lead", "A eV-1", 1,
               dim, length, b->flow[QT_RIGHT]));
  if (b->n_cuts == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_dim(nc, "cut", b->n_cuts, &dim[1]));
  WEIR_TRY(put(nc, "spectrum_cut",
               "spectrum of the current from a block to the next by the coupling between them",
               "A eV-1", 2, dim, length, b->cut));
  WEIR_TRY(put(nc, "current_elastic",
               "current from a block to the next by the coupling between them", "A", 1, dim + 1,
               length + 1, b->elastic));
  return put(nc, "current_hop",
             "current from a block to the next by emission and absorption of phonons", "A", 1,
             dim + 1, length + 1, b->hop);
}

static weir_status put_atoms(weir_netcdf *nc, const qt_study *study)
{
  static const char *const axis[] = {"x", "y", "z"};
  const qt_born *b = &study->scatter->born;
  double *value = NULL;
  weir_status status = WEIR_OK;
  int dim;

  WEIR_TRY(weir_netcdf_dim(nc, "atom", b->n_atoms, &dim));
  WEIR_TRY(put(nc, "atom_gain_of_electrons", "energy that electrons gain from phonons at an atom",
               "W", 1, &dim, &b->n_atoms, b->gain_of_electrons));
  WEIR_TRY(put(nc, "atom_gain_of_phonons", "energy that phonons gain from electrons at an atom",
               "W", 1, &dim, &b->n_atoms, b->gain_of_phonons));
  WEIR_TRY(put(nc, "temperature",
               "temperature at which vibrations in equilibrium have the energy of the atom's", "K",
               1, &dim, &b->n_atoms, b->temperature));
  WEIR_TRY(weir_alloc(b->n_atoms, sizeof *value, (void **)&value));
  for (int d = 0; d < 3; d++) {
    for (int64_t a = 0; a < b->n_atoms; a++) {
      value[a] = study->system.atom[a].position[d];
    }
    WEIR_TRY_GOTO(put(nc, axis[d], "position of an atom", "angstrom", 1, &dim, &b->n_atoms, value),
                  done);
  }
done:
  weir_free(&value);
  return status;
}

static weir_status write_netcdf(const qt_study *study, const char *path)
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_netcdf_create_cf(path, "quantum_transport: scattering", &nc));
  WEIR_TRY_GOTO(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "source", "Weir quantum_transport"),
                done);
  WEIR_TRY_GOTO(put_steps(nc, &study->scatter->born), done);
  WEIR_TRY_GOTO(put_spectra(nc, study), done);
  WEIR_TRY_GOTO(put_atoms(nc, study), done);
  status = weir_netcdf_commit(&nc);
done:
  weir_netcdf_close(&nc);
  return status;
}

weir_status qt_scatter_write(const qt_study *study, const char *dir)
{
  char path[4096];

  WEIR_TRY(write_csv(&study->scatter->born, dir));
  if (!weir_netcdf_available()) { /* out_spectra.c warns of it */
    return WEIR_OK;
  }
  WEIR_TRY(weir_path_join(dir, "scattering.nc", path, sizeof path));
  return write_netcdf(study, path);
}

/* ---- Report ---- */

static void add(weir_table *c, const char *what, double value, const char *unit)
{
  const bool scaled = strlen(unit) == 1 && strchr("AWs", unit[0]) != NULL;
  const char *prefix = "";
  const double shown = scaled ? weir_si_scale(value, &prefix) : value;

  weir_table_add(c, "%s", what);
  weir_table_add(c, "%.4g", shown);
  weir_table_add(c, "%s%s", prefix, strcmp(unit, "1") == 0 ? "" : unit);
}

/* Where the time went, and what an iteration takes. */
static void add_phases(weir_table *c, const qt_scatter *s)
{
  const double *seconds = s->born.seconds;

  add(c, "time of leads", seconds[QT_BORN_LEADS], "s");
  add(c, "time of Green's functions of electrons", seconds[QT_BORN_ELECTRONS], "s");
  add(c, "time of Green's functions of phonons", seconds[QT_BORN_PHONONS], "s");
  add(c, "time of self-energies", seconds[QT_BORN_SELF_ENERGIES], "s");
  if (s->born.tiles.ranks > 1) {
    add(c, "of it waiting for other ranks", seconds[QT_BORN_EXCHANGE], "s");
  }
  add(c, "Green's functions of electrons, an iteration", 1e-9 * s->size.electron_flops, "Gflop");
  add(c, "Green's functions of phonons, an iteration", 1e-9 * s->size.phonon_flops, "Gflop");
  add(c, "self-energies, an iteration", 1e-9 * s->size.self_energy.flops, "Gflop");
  add(c, "bytes moved by self-energies, an iteration", 1e-9 * s->size.self_energy.traffic, "GB");
}

static weir_status table(const qt_scatter *s, weir_report *r)
{
  static const char *const head[] = {"quantity", "value", "unit"};
  const qt_born *b = &s->born;
  const qt_born_step *last = &b->step[b->n_steps - 1];
  weir_table c = {0};

  add(&c, "current with scattering", last->current[QT_LEFT], "A");
  add(&c, "coherent current, by the same sum over energies", b->step[0].current[QT_LEFT], "A");
  add(&c, "power dissipated in the device", last->energy[QT_LEFT] + last->energy[QT_RIGHT], "W");
  add(&c, "heat that phonons bring from the left lead (negative: they carry it away)",
      last->heat[QT_LEFT], "W");
  add(&c, "heat that phonons bring from the right lead", last->heat[QT_RIGHT], "W");
  add(&c, "iterations", (double)(b->n_steps - 1), "1");
  add(&c, "change of the self-energy in the last iteration", last->change, "1");
  add(&c, "relative error of current conservation", last->current_error, "1");
  add(&c, "relative error of energy conservation", last->energy_error, "1");
  add(&c, "time", s->seconds, "s");
  add_phases(&c, s);
  const weir_status status = weir_table_report(&c, r, "scattering", 3, head);

  weir_table_fini(&c);
  return status;
}

static weir_status line(weir_report *r, const char *id, const char *title, const char *x_label,
                        const char *y_label, int64_t n, const double *x, const double *y)
{
  const weir_figure_series series = {.kind = WEIR_FIGURE_LINE, .n = n, .x = x, .y = y};

  return weir_report_figure(r, id,
                            &(weir_figure){.title = title,
                                           .x_label = x_label,
                                           .y_label = y_label,
                                           .series = &series,
                                           .n_series = 1});
}

/* Of atoms at the same position along x the mean. */
static weir_status profiles(const qt_study *study, weir_report *r)
{
  const qt_born *b = &study->scatter->born;
  const char *x_label = study->system.is_schematic ? "block" : "x (Angstrom)";
  double *x = NULL, *mean = NULL;
  weir_status status = WEIR_OK;
  int64_t n = 0;

  WEIR_TRY_GOTO(weir_alloc(b->n_atoms, sizeof *x, (void **)&x), done);
  WEIR_TRY_GOTO(weir_alloc(b->n_atoms, sizeof *mean, (void **)&mean), done);
  WEIR_TRY_GOTO(qt_iv_profile(&study->system, b->gain_of_phonons, x, mean, &n), done);
  WEIR_TRY_GOTO(line(r, "scattering_power", "Power that phonons gain from electrons", x_label,
                     "W per atom", n, x, mean),
                done);
  WEIR_TRY_GOTO(qt_iv_profile(&study->system, b->temperature, x, mean, &n), done);
  status = line(r, "scattering_temperature", "Effective temperature of the vibrations", x_label,
                "temperature (K)", n, x, mean);
done:
  weir_free(&x);
  weir_free(&mean);
  return status;
}

static weir_status spectra(const qt_study *study, weir_report *r)
{
  const qt_born *b = &study->scatter->born;
  const weir_figure_series s[QT_LEADS] = {{.kind = WEIR_FIGURE_LINE,
                                           .name = "from the left lead",
                                           .n = b->n_energies,
                                           .x = study->energy,
                                           .y = b->flow[QT_LEFT]},
                                          {.kind = WEIR_FIGURE_LINE,
                                           .name = "from the right lead",
                                           .n = b->n_energies,
                                           .x = study->energy,
                                           .y = b->flow[QT_RIGHT]}};

  return weir_report_figure(r, "scattering_spectra",
                            &(weir_figure){.title = "Current spectra of the leads",
                                           .x_label = "energy (eV)",
                                           .y_label = "dI/dE into the device (A/eV)",
                                           .series = s,
                                           .n_series = QT_LEADS});
}

weir_status qt_scatter_page(const qt_study *study, weir_report *r)
{
  WEIR_TRY(weir_report_heading(r, "Scattering by phonons"));
  WEIR_TRY(
      weir_report_text(r,
                       "Electron-phonon scattering in the self-consistent Born approximation%s. "
                       "All other currents and spectra of this page are coherent. Currents here "
                       "are sums over the energies of the grid; elsewhere they are integrals with "
                       "T linear in between, so that coherent values differ slightly. Currents "
                       "and energies count into the device. Files: scattering.csv%s.",
                       study->cfg->scattering.phonons.state == QT_PHONONS_BATH
                           ? ", phonons in equilibrium with the leads"
                           : "",
                       weir_netcdf_available() ? ", scattering.nc" : ""));
  WEIR_TRY(table(study->scatter, r));
  WEIR_TRY(spectra(study, r));
  return profiles(study, r);
}
