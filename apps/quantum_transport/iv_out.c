/* iv_out.c - files of a current-voltage characteristic. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/weir_netcdf.h"
#include "iv.h"

/* One row a bias point, with scattering four columns more. */
static weir_status write_iv(const qt_iv *iv, const char *dir)
{
  static const char *const head[] = {"drain_V",
                                     "gate_V",
                                     "current_A",
                                     "electrons",
                                     "donors",
                                     "gate_charge_e",
                                     "iterations",
                                     "last_change_eV",
                                     "scattered_current_A",
                                     "power_W",
                                     "max_temperature_K",
                                     "scattering_iterations"};
  const int columns = iv->scattering != NULL ? 12 : 8;
  weir_table cells = {0};

  for (int64_t i = 0; i < iv->n_found; i++) {
    const qt_bias *b = &iv->bias[i];
    const double value[] = {b->drain, b->gate, b->current, b->electrons, b->donors, b->gate_charge};

    for (size_t k = 0; k < sizeof value / sizeof *value; k++) {
      weir_table_add(&cells, "%.17g", value[k]);
    }
    weir_table_add(&cells, "%lld", (long long)b->n_steps);
    weir_table_add(&cells, "%.17g", b->step[b->n_steps - 1].change);
    if (iv->scattering != NULL) {
      weir_table_add(&cells, "%.17g", b->scattered.current);
      weir_table_add(&cells, "%.17g", b->scattered.power);
      weir_table_add(&cells, "%.17g", b->scattered.temperature);
      weir_table_add(&cells, "%lld", (long long)b->scattered.iterations);
    }
  }
  const weir_status status = weir_table_write_csv(&cells, dir, "iv.csv", columns, head);

  weir_table_fini(&cells);
  return status;
}

/* One row an iteration. */
static weir_status write_steps(const qt_iv *iv, const char *dir)
{
  static const char *const head[] = {"drain_V",   "gate_V",    "iteration", "change_eV",
                                     "electrons", "current_A", "newton",    "energies"};
  weir_table cells = {0};

  for (int64_t i = 0; i < iv->n_found; i++) {
    const qt_bias *b = &iv->bias[i];

    for (int64_t k = 0; k < b->n_steps; k++) {
      const qt_scf_step *s = &b->step[k];

      weir_table_add(&cells, "%.17g", b->drain);
      weir_table_add(&cells, "%.17g", b->gate);
      weir_table_add(&cells, "%lld", (long long)(k + 1));
      weir_table_add(&cells, "%.17g", s->change);
      weir_table_add(&cells, "%.17g", s->electrons);
      weir_table_add(&cells, "%.17g", s->current);
      weir_table_add(&cells, "%lld", (long long)s->newton);
      weir_table_add(&cells, "%lld", (long long)s->energies);
    }
  }
  const weir_status status = weir_table_write_csv(&cells, dir, "convergence.csv", 8, head);

  weir_table_fini(&cells);
  return status;
}

/* A variable of doubles. */
static weir_status put(weir_netcdf *nc, const char *name, const char *long_name, const char *units,
                       int n_dims, const int *dims, const int64_t *lengths, const double *data)
{
  const int64_t start[3] = {0, 0, 0};
  int var = 0;

  WEIR_TRY(weir_netcdf_var(nc, name, WEIR_F64, n_dims, dims, &var));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "long_name", long_name));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "units", units));
  return weir_netcdf_write(nc, var, start, lengths, data);
}

/* What of a bias point and an atom is written. */
enum { CURRENT, GATE_CHARGE, SCATTERED, POWER, TEMPERATURE, OF_BIAS };
enum { POTENTIAL, ELECTRONS, OF_ATOM };

static weir_status put_results(weir_netcdf *nc, const qt_iv *iv)
{
  static const char *const of_bias[OF_BIAS][3] = {
      {"current",
       "e times the flow of electrons from the left to the right lead, positive for mu_L > mu_R",
       "A"},
      {"gate_charge", "charge of all gates, in elementary charges", "1"},
      {"scattered_current", "current with scattering, likewise; that of the others is without it",
       "A"},
      {"power", "power that electrons leave in the device by scattering", "W"},
      {"max_temperature", "highest effective temperature of an atom", "K"}};
  static const char *const of_atom[OF_ATOM][3] = {
      {"potential_energy", "electrostatic potential energy of an electron at an atom", "eV"},
      {"electrons", "electrons less holes of an atom", "1"}};
  const int64_t atoms = iv->flat.n_atoms, points = iv->n_drain * iv->n_gate;
  const int64_t length[3] = {iv->n_drain, iv->n_gate, atoms};
  double *value = NULL;
  weir_status status = WEIR_OK;
  int dim[3];

  WEIR_TRY(weir_netcdf_dim(nc, "drain_voltage", iv->n_drain, &dim[0]));
  WEIR_TRY(weir_netcdf_dim(nc, "gate_voltage", iv->n_gate, &dim[1]));
  WEIR_TRY(weir_netcdf_dim(nc, "atom", atoms, &dim[2]));
  WEIR_TRY(put(nc, "drain_voltage", "voltage of the right lead relative to the left", "V", 1, dim,
               length, iv->drain));
  WEIR_TRY(put(nc, "gate_voltage", "voltage added to that of swept gates", "V", 1, dim + 1,
               length + 1, iv->gate));
  WEIR_TRY(put(nc, "donors", "ionised donors less acceptors of an atom", "1", 1, dim + 2,
               length + 2, iv->scf.donors));
  WEIR_TRY(weir_alloc(points * atoms, sizeof *value, (void **)&value));
  for (int k = 0; k < (iv->scattering != NULL ? OF_BIAS : SCATTERED); k++) {
    for (int64_t i = 0; i < points; i++) {
      const qt_bias *b = &iv->bias[i];
      const double of_bias_point[OF_BIAS] = {b->current, b->gate_charge, b->scattered.current,
                                             b->scattered.power, b->scattered.temperature};

      value[i] = of_bias_point[k];
    }
    WEIR_TRY_GOTO(put(nc, of_bias[k][0], of_bias[k][1], of_bias[k][2], 2, dim, length, value),
                  done);
  }
  for (int k = 0; k < OF_ATOM; k++) {
    for (int64_t i = 0; i < points; i++) {
      memcpy(value + i * atoms, k == POTENTIAL ? iv->bias[i].atom_u : iv->bias[i].atom_electrons,
             (size_t)atoms * sizeof *value);
    }
    WEIR_TRY_GOTO(put(nc, of_atom[k][0], of_atom[k][1], of_atom[k][2], 3, dim, length, value),
                  done);
  }
done:
  weir_free(&value);
  return status;
}

static weir_status put_geometry(weir_netcdf *nc, const qt_iv *iv)
{
  static const char *const name[] = {"x", "y", "z"};
  const qt_system *s = &iv->flat;
  double *value = NULL;
  weir_status status = WEIR_OK;
  int dim;

  WEIR_TRY(weir_netcdf_dim(nc, "site", s->n_atoms, &dim));
  WEIR_TRY(weir_alloc(s->n_atoms, sizeof *value, (void **)&value));
  for (int d = 0; d < 3; d++) {
    for (int64_t a = 0; a < s->n_atoms; a++) {
      value[a] = s->atom[a].position[d];
    }
    WEIR_TRY_GOTO(put(nc, name[d], "position of an atom", "angstrom", 1, &dim, &s->n_atoms, value),
                  done);
  }
done:
  weir_free(&value);
  return status;
}

static weir_status write_netcdf(const qt_iv *iv, const char *path)
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_netcdf_create_cf(path, "quantum_transport: electrostatics", &nc));
  WEIR_TRY_GOTO(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "source", "Weir quantum_transport"),
                done);
  WEIR_TRY_GOTO(put_results(nc, iv), done);
  WEIR_TRY_GOTO(put_geometry(nc, iv), done);
  status = weir_netcdf_commit(&nc);
done:
  weir_netcdf_close(&nc);
  return status;
}

weir_status qt_iv_write(const qt_iv *iv, const char *dir)
{
  char path[4096];

  WEIR_TRY(write_iv(iv, dir));
  WEIR_TRY(write_steps(iv, dir));
  if (!weir_netcdf_available()) { /* out_spectra.c warns of it */
    return WEIR_OK;
  }
  WEIR_TRY(weir_path_join(dir, "electrostatics.nc", path, sizeof path));
  return write_netcdf(iv, path);
}
