/* split_labels.c - labels of samples compared with the universes of a split. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "data/split.h"

/* A sample by its universe, or the first sample of a universe by its labels. */
typedef struct row {
  const float *label;
  int64_t n_labels, universe, sample;
} row;

static int by_universe(const void *a, const void *b)
{
  const row *const x = a, *const y = b;

  return x->universe != y->universe ? (x->universe > y->universe) - (x->universe < y->universe)
                                    : (x->sample > y->sample) - (x->sample < y->sample);
}

static int by_labels(const void *a, const void *b)
{
  const row *const x = a, *const y = b;
  const int order = memcmp(x->label, y->label, (size_t)x->n_labels * sizeof *x->label);

  return order != 0 ? order : by_universe(a, b);
}

static weir_status check_universe(const cf_split *s, const row *first, const row *other)
{
  const double same = 2e-5; /* labels are f32, or were written as decimals */

  for (int64_t k = 0; k < first->n_labels; k++) {
    const double a = (double)first->label[k], b = (double)other->label[k];

    if (fabs(a - b) > same) {
      return weir_fail(
          WEIR_ERR_DATA,
          "%s: samples %" PRId64 " and %" PRId64 " are of universe %" PRId64 ", and label %" PRId64
          " of them is %g and %g (in [-1, 1]): samples of a universe share its parameters; %s",
          s->samples_per_universe > 0 ? "data.split.samples_per_universe" : "universe",
          first->sample + 1, other->sample + 1, first->universe, k + 1, a, b,
          s->samples_per_universe > 0 ? "state how many consecutive samples are of one universe"
                                      : "correct the universes that the files state");
    }
  }
  return WEIR_OK;
}

/* rows [n]: a sample of each universe. */
static void warn_of_equal_labels(row *rows, int64_t n)
{
  int64_t shared = 0, at = -1;

  qsort(rows, (size_t)n, sizeof *rows, by_labels);
  for (int64_t i = 0; i < n; i++) {
    const bool as_before = i > 0 && memcmp(rows[i].label, rows[i - 1].label,
                                           (size_t)rows[i].n_labels * sizeof(float)) == 0;
    const bool as_after = i + 1 < n && memcmp(rows[i].label, rows[i + 1].label,
                                              (size_t)rows[i].n_labels * sizeof(float)) == 0;

    shared += as_before || as_after;
    at = at < 0 && as_after ? i : at;
  }
  if (at >= 0) {
    weir_warn("data",
              "%" PRId64 " of %" PRId64 " universes share all labels with another (samples %" PRId64
              " and %" PRId64 ": universes %" PRId64 " and %" PRId64 "): if they are boxes of one "
              "simulation, training data leak into the test set; "
              "data.split.samples_per_universe states how many consecutive samples are of one",
              shared, n, rows[at].sample + 1, rows[at + 1].sample + 1, rows[at].universe,
              rows[at + 1].universe);
  }
}

weir_status cf_split_check_labels(const cf_split *s, int64_t n_labels, const float *label)
{
  row *rows = NULL;
  int64_t n = 0;
  weir_status status = WEIR_OK;

  if (n_labels == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(s->count, sizeof *rows, (void **)&rows));
  for (int64_t i = 0; i < s->count; i++) {
    rows[i] = (row){label + i * n_labels, n_labels, s->universe[i], i};
  }
  qsort(rows, (size_t)s->count, sizeof *rows, by_universe);
  for (int64_t i = 0; i < s->count; i++) {
    if (n > 0 && rows[n - 1].universe == rows[i].universe) {
      WEIR_TRY_GOTO(check_universe(s, &rows[n - 1], &rows[i]), done);
    } else {
      rows[n++] = rows[i];
    }
  }
  if (s->n[CF_TRAIN] > 0 && !s->quiet) { /* of tests alone nothing leaks */
    warn_of_equal_labels(rows, n);
  }
done:
  weir_free(&rows);
  return status;
}
