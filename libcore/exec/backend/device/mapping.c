/* mapping.c - task mappings, and the C that gives a worker its tasks. */
#include "exec/backend/device/mapping.h"

#include <inttypes.h>
#include <string.h>

#include "base/weir_alloc.h"

static exec_mapping one_atom(bool spatial, int rank, const int64_t *extent)
{
  exec_mapping m = {.rank = rank, .n = 1};

  m.atom[0].spatial = spatial;
  memcpy(m.atom[0].extent, extent, (size_t)rank * sizeof *extent);
  return m;
}

exec_mapping exec_spatial(int rank, const int64_t *extent)
{
  return one_atom(true, rank, extent);
}

exec_mapping exec_repeat(int rank, const int64_t *extent)
{
  return one_atom(false, rank, extent);
}

exec_mapping exec_compose(const exec_mapping *outer, const exec_mapping *inner)
{
  exec_mapping m = *outer;

  WEIR_ASSERT(outer->rank == inner->rank && outer->n + inner->n <= EXEC_MAPPING_ATOMS);
  memcpy(m.atom + m.n, inner->atom, (size_t)inner->n * sizeof *inner->atom);
  m.n += inner->n;
  return m;
}

/* Tasks of all atoms that are spatial, or of all others. */
static int64_t volume(const exec_mapping *m, bool spatial)
{
  int64_t n = 1;

  for (int a = 0; a < m->n; a++) {
    for (int d = 0; d < m->rank && m->atom[a].spatial == spatial; d++) {
      n *= m->atom[a].extent[d];
    }
  }
  return n;
}

int64_t exec_mapping_workers(const exec_mapping *m)
{
  return volume(m, true);
}

int64_t exec_mapping_repeats(const exec_mapping *m)
{
  return volume(m, false);
}

/* Tasks along dimension d of atoms [from, n). */
static int64_t shape_from(const exec_mapping *m, int from, int d)
{
  int64_t n = 1;

  for (int a = from; a < m->n; a++) {
    n *= m->atom[a].extent[d];
  }
  return n;
}

int64_t exec_mapping_shape(const exec_mapping *m, int d)
{
  return shape_from(m, 0, d);
}

void exec_mapping_task(const exec_mapping *m, int64_t worker, int64_t n, int64_t *task)
{
  memset(task, 0, (size_t)m->rank * sizeof *task);
  for (int a = m->n - 1; a >= 0; a--) {
    int64_t *left = m->atom[a].spatial ? &worker : &n;

    for (int d = m->rank - 1; d >= 0; d--) {
      const int64_t extent = m->atom[a].extent[d];

      task[d] += *left % extent * shape_from(m, a + 1, d);
      *left /= extent;
    }
  }
}

/* ---- As C. ---- */

static bool is_digit(const exec_mapping *m, int a, int d)
{
  return m->atom[a].spatial && m->atom[a].extent[d] > 1;
}

void exec_mapping_put_digits(const exec_mapping *m, const char *number, native_text *t)
{
  const bool narrow = exec_mapping_workers(m) <= INT32_MAX;
  const char *type = narrow ? "uint32_t" : "int64_t", *digit = narrow ? "int32_t" : "int64_t";
  int64_t above = exec_mapping_workers(m), last = 1;
  int n = 0;

  for (int a = m->n - 1; a >= 0; a--) {
    for (int d = m->rank - 1; d >= 0; d--) {
      const int64_t extent = m->atom[a].extent[d];

      if (!is_digit(m, a, d)) {
        continue;
      }
      if (n == 0) {
        native_put(t, "    const %s left0 = (%s)%s;\n", type, type, number);
      } else {
        native_put(t, "    const %s left%d = left%d / %" PRId64 ";\n", type, n, n - 1, last);
      }
      above /= extent; /* the outermost digit is what is left */
      native_put(t,
                 above > 1 ? "    const %s s%d_%d = (%s)(left%d %% %" PRId64 ");\n"
                           : "    const %s s%d_%d = (%s)left%d;\n",
                 digit, a, d, digit, n, extent);
      last = extent;
      n++;
    }
  }
}

void exec_mapping_put_first(const exec_mapping *m, int d, native_text *t)
{
  const char *plus = "";

  for (int a = 0; a < m->n; a++) {
    if (is_digit(m, a, d)) {
      const int64_t scale = shape_from(m, a + 1, d);

      native_put(t, scale > 1 ? "%ss%d_%d * %" PRId64 : "%ss%d_%d", plus, a, d, scale);
      plus = " + ";
    }
  }
  native_put(t, *plus == '\0' ? "0" : "");
}
