/* out_matrices.c - see out_matrices.h. */
#include "out_matrices.h"

#include <math.h>
#include <stdlib.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "commands.h"

static const char *const sides[QT_LEADS] = {"left", "right"};

/* Adds M(k), or its adjoint, at (row, column). */
static void add_bloch(const qt_bloch *m, const double k[2], int64_t row, int64_t column,
                      bool adjoint, qt_entries *out)
{
  for (int64_t i = 0; i < m->count; i++) {
    const double phase = 2 * M_PI * (k[0] * (double)m->image[i][0] + k[1] * (double)m->image[i][1]);
    const double re = cos(phase), im = sin(phase);
    const qt_sparse *matrix = &m->matrix[i];

    for (int64_t r = 0; r < matrix->rows; r++) {
      for (int64_t at = matrix->start[r]; at < matrix->start[r + 1]; at++) {
        const weir_c128 x = matrix->value[at];
        const weir_c128 z = {re * x.re - im * x.im, re * x.im + im * x.re};

        if (adjoint) {
          qt_entries_add(out, row + matrix->column[at], column + r, (weir_c128){z.re, -z.im});
        } else {
          qt_entries_add(out, row + r, column + matrix->column[at], z);
        }
      }
    }
  }
}

static weir_status write_sparse(const qt_sparse *m, const char *dir, const char *name)
{
  char path[QT_PATH];
  weir_writer *w = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_path_join(dir, name, path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &w));
  WEIR_TRY_GOTO(weir_writer_printf(w,
                                   "%%%%MatrixMarket matrix coordinate complex general\n%lld %lld "
                                   "%lld\n",
                                   (long long)m->rows, (long long)m->columns,
                                   (long long)qt_sparse_count(m)),
                done);
  for (int64_t r = 0; r < m->rows; r++) {
    for (int64_t at = m->start[r]; at < m->start[r + 1]; at++) {
      WEIR_TRY_GOTO(weir_writer_printf(w, "%lld %lld %.17g %.17g\n", (long long)r + 1,
                                       (long long)m->column[at] + 1, m->value[at].re,
                                       m->value[at].im),
                    done);
    }
  }
  status = weir_writer_commit(&w);
done:
  weir_writer_destroy(&w);
  return status;
}

static weir_status write_entries(int64_t n, qt_entries *e, const char *dir, const char *name)
{
  qt_sparse m = {.rows = 0};
  weir_status status = qt_sparse_create(n, n, e, &m);

  if (status == WEIR_OK) {
    status = write_sparse(&m, dir, name);
  }
  qt_sparse_fini(&m);
  qt_entries_fini(e);
  return status;
}

static weir_status write_device(const qt_system *s, bool overlap, const double k[2],
                                const char *dir)
{
  qt_entries e = {.count = 0};

  add_bloch(overlap ? &s->s : &s->h, k, 0, 0, false, &e);
  return write_entries(s->n, &e, dir, overlap ? "s.mtx" : "h.mtx");
}

/* Two cells: [M0, M1; M1^H, M0]. */
static weir_status write_lead(const qt_lead *lead, bool overlap, const double k[2], const char *dir,
                              const char *name)
{
  const qt_bloch *m0 = overlap ? &lead->overlap : &lead->cell;
  const qt_bloch *m1 = overlap ? &lead->next_overlap : &lead->next;
  const int64_t n = lead->n;
  qt_entries e = {.count = 0};

  add_bloch(m0, k, 0, 0, false, &e);
  add_bloch(m0, k, n, n, false, &e);
  add_bloch(m1, k, 0, n, false, &e);
  add_bloch(m1, k, n, 0, true, &e);
  return write_entries(2 * n, &e, dir, name);
}

/* `dir` from the root, so that the file is of use in any folder, as text of a quoted YAML scalar.
 */
static void quote(const char *dir, char out[2 * QT_PATH])
{
  char *const whole = realpath(dir, NULL);
  const char *from = whole != NULL ? whole : dir;
  int64_t n = 0;

  for (; *from != 0 && n < 2 * QT_PATH - 2; from++) {
    out[n++] = *from;
    if (*from == '\'') {
      out[n++] = *from;
    }
  }
  out[n] = 0;
  free(whole); /* realpath's own */
}

static weir_status write_config(const qt_system *s, const char *dir)
{
  const bool overlap = s->s.count > 0, one = s->has_spin || s->one_spin;
  char path[QT_PATH], folder[2 * QT_PATH];
  weir_writer *w = NULL;
  weir_status status = WEIR_OK;

  quote(dir, folder);
  WEIR_TRY(weir_path_join(dir, "device.yaml", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &w));
  WEIR_TRY_GOTO(weir_writer_printf(w,
                                   "# a device as matrices, written by quantum_transport prepare\n"
                                   "device:\n  matrices:\n    h: '%s/h.mtx' # eV\n",
                                   folder),
                done);
  if (overlap) {
    WEIR_TRY_GOTO(weir_writer_printf(w, "    s: '%s/s.mtx'\n", folder), done);
  }
  for (int c = 0; c < QT_LEADS; c++) {
    WEIR_TRY_GOTO(weir_writer_printf(w, "    %s: {h: '%s/%s_h.mtx'", sides[c], folder, sides[c]),
                  done);
    if (overlap) {
      WEIR_TRY_GOTO(weir_writer_printf(w, ", s: '%s/%s_s.mtx'", folder, sides[c]), done);
    }
    WEIR_TRY_GOTO(weir_writer_printf(w, "} # two cells, the one at smaller x first\n"), done);
  }
  WEIR_TRY_GOTO(
      weir_writer_printf(w, "    spin_in_basis: %s # %s\n", one ? "true" : "false",
                         one ? "a state holds one electron" : "a state holds two electrons"),
      done);
  status = weir_writer_commit(&w);
done:
  weir_writer_destroy(&w);
  return status;
}

weir_status qt_out_matrices(const qt_system *s, const double k[2], const char *dir)
{
  if (s->particle == QT_PHONONS) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "prepare writes Hamiltonians, and this device has phonons: matrices of other "
                     "programs are those of electrons");
  }
  for (int overlap = 0; overlap < (s->s.count > 0 ? 2 : 1); overlap++) {
    WEIR_TRY(write_device(s, overlap, k, dir));
    WEIR_TRY(write_lead(&s->lead[QT_LEFT], overlap, k, dir, overlap ? "left_s.mtx" : "left_h.mtx"));
    WEIR_TRY(
        write_lead(&s->lead[QT_RIGHT], overlap, k, dir, overlap ? "right_s.mtx" : "right_h.mtx"));
  }
  return write_config(s, dir);
}
