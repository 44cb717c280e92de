/* cmd_prepare.c - checks a device, tells its structure and the bands of its leads, and writes its
 * matrices in a format that this and other programs read. */
#include <math.h>
#include <stdio.h>

#include "base/weir_log.h"
#include "model/band_structure.h"
#include "out_matrices.h"
#include "report/weir_report.h"
#include "study.h"
#include "commands.h"

enum { COLUMNS = 3, BAND_COLUMNS = 4 };
static const char *const head[COLUMNS] = {"quantity", "value", "unit"};

static void put(weir_table *c, const char *quantity, double value, const char *unit)
{
  weir_table_add(c, "%s", quantity);
  weir_table_add_number(c, "%.6g", value, "-");
  weir_table_add(c, "%s", unit);
}

/* What is said of the matrices of all images. */
typedef struct shape {
  int64_t elements, bandwidth;
  double largest;
} shape;

static shape find_shape(const qt_bloch *m)
{
  shape s = {0, 0, 0};

  for (int64_t i = 0; i < m->count; i++) {
    const qt_sparse *matrix = &m->matrix[i];

    s.elements += qt_sparse_count(matrix);
    s.largest = fmax(s.largest, qt_sparse_max(matrix));
    for (int64_t r = 0; r < matrix->rows; r++) {
      for (int64_t at = matrix->start[r]; at < matrix->start[r + 1]; at++) {
        const int64_t apart =
            matrix->column[at] > r ? matrix->column[at] - r : r - matrix->column[at];

        s.bandwidth = apart > s.bandwidth ? apart : s.bandwidth;
      }
    }
  }
  return s;
}

static void describe(const qt_system *s, weir_table *c)
{
  const shape h = find_shape(&s->h);
  int64_t min = s->n, max = 0;

  for (int64_t b = 0; b < s->n_blocks; b++) {
    const int64_t n = s->block[b + 1] - s->block[b];

    min = n < min ? n : min;
    max = n > max ? n : max;
  }
  put(c, "orbitals", (double)s->n, "1");
  put(c, "atoms", (double)s->n_atoms, "1");
  put(c, "blocks", (double)s->n_blocks, "1");
  put(c, "orbitals of the smallest block", (double)min, "1");
  put(c, "orbitals of the largest block", (double)max, "1");
  put(c, "orbitals of a cell of the left lead", (double)s->lead[QT_LEFT].n, "1");
  put(c, "orbitals of a cell of the right lead", (double)s->lead[QT_RIGHT].n, "1");
  put(c, "length of a cell of the left lead", s->lead[QT_LEFT].length, "Angstrom");
  put(c, "length of a cell of the right lead", s->lead[QT_RIGHT].length, "Angstrom");
  put(c, "transverse images", (double)s->h.count, "1");
  put(c, "elements of the Hamiltonian", (double)h.elements, "1");
  put(c, "bandwidth (largest distance of coupled orbitals)", (double)h.bandwidth, "1");
  put(c, "largest element", h.largest, s->particle == QT_PHONONS ? "eV^2" : "eV");
  put(c, "overlap matrix (1: there is one)", s->s.count > 0, "1");
}

/* Bands of a lead as rows lead, k_x a / pi, band, energy. */
static weir_status add_bands(const qt_study *s, const double k[2], int side, weir_table *out)
{
  qt_cell cell = {.n = 0};
  qt_band_structure b = {.n = 0};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(qt_cell_create(&s->system.lead[side], k, &cell), done);
  WEIR_TRY_GOTO(qt_band_structure_create(&cell, s->system.particle, s->cfg->output.bands, 0, &b),
                done);
  for (int64_t i = 0; i < b.n_points; i++) {
    for (int64_t n = 0; n < b.n; n++) {
      weir_table_add(out, side == QT_LEFT ? "left" : "right");
      weir_table_add(out, "%.17g", b.wave_vector[i]);
      weir_table_add(out, "%lld", (long long)n + 1);
      weir_table_add(out, "%.17g", b.energy[i * b.n + n]);
    }
  }
  status = out->status;
done:
  qt_cell_fini(&cell);
  qt_band_structure_fini(&b);
  return status;
}

static weir_status write_bands(const qt_study *s, const double k[2], const char *dir)
{
  static const char *const band_head[BAND_COLUMNS] = {"lead", "kx_a_over_pi", "band", "energy_eV"};
  weir_table cells = {0};
  weir_status status = WEIR_OK;

  if (s->cfg->output.bands < 2) {
    return WEIR_OK;
  }
  for (int c = 0; c < QT_LEADS; c++) {
    WEIR_TRY_GOTO(add_bands(s, k, c, &cells), done);
  }
  status = weir_table_write_csv(&cells, dir, "bands.csv", BAND_COLUMNS, band_head);
done:
  weir_table_fini(&cells);
  return status;
}

static weir_status write_results(const weir_job *j, const qt_study *s)
{
  const weir_cli *const cli = j->cli;
  const double k[2] = {s->cfg->prepare.ky, s->cfg->prepare.kz};
  weir_table table = {0};
  weir_status status = WEIR_OK;

  describe(&s->system, &table);
  WEIR_TRY_GOTO(table.status, done);
  WEIR_TRY_GOTO(qt_write_provenance(j), done);
  WEIR_TRY_GOTO(weir_table_write_csv(&table, cli->out, "device.csv", COLUMNS, head), done);
  WEIR_TRY_GOTO(write_bands(s, k, cli->out), done);
  WEIR_TRY_GOTO(qt_out_matrices(&s->system, k, cli->out), done);
  weir_event("prepare_end", WEIR_INT("orbitals", s->system.n),
             WEIR_INT("blocks", s->system.n_blocks));
  weir_table_print(&table, COLUMNS, head, stdout);
  printf("matrices: %s/device.yaml\n", cli->out);
done:
  weir_table_fini(&table);
  return status;
}

static weir_status check_k(const qt_study *s)
{
  const double k[2] = {s->cfg->prepare.ky, s->cfg->prepare.kz};

  for (int i = 0; i < 2; i++) {
    if (k[i] != 0 && !s->system.periodic[i + 1]) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "prepare.k%c is %g, but the device is not periodic along %c: give 0",
                       "yz"[i], k[i], "yz"[i]);
    }
  }
  return WEIR_OK;
}

static weir_status prepare(weir_job *j)
{
  qt_study s = {.cfg = NULL};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(qt_begin(j, "prepare"), done);
  WEIR_TRY_GOTO(qt_study_open(j->cfg, &s), done);
  WEIR_TRY_GOTO(check_k(&s), done);
  WEIR_TRY_GOTO(weir_run_dir_commit(&j->dir), done);
  WEIR_TRY_GOTO(write_results(j, &s), done);
done:
  qt_study_fini(&s);
  return status;
}

weir_status qt_cmd_prepare(const weir_cli *cli)
{
  qt_cfg cfg;

  return weir_job_run(cli, &qt_program, &cfg, prepare);
}
