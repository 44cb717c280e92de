/* score.h - beat-by-beat comparison of a detector with a reference, as ANSI/AAMI EC57 asks and as
 * the program bxb of WFDB 10.7 does it (its counts on 39 annotation files are the test). */
#ifndef PS_SCORE_H
#define PS_SCORE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"

typedef struct ps_score_opts {
  double start;  /* s; beats before it are learning time   */
  double window; /* s; farthest a matching beat may be off */
} ps_score_opts;

/* Half-open stretch [begin, end) of samples. */
typedef struct ps_span {
  int64_t begin, end;
} ps_span;

/* What is compared. All times are sample numbers of one clock, `rate` per second, non-decreasing.
 */
typedef struct ps_score_input {
  const int64_t *reference, *test;
  int64_t n_reference, n_test;
  const ps_span *excluded; /* ventricular flutter by the reference; ascending, disjoint */
  int64_t n_excluded;
  double rate;    /* 1/s                        */
  int64_t length; /* samples of the record      */
} ps_score_input;

/* Sums of one record; sums of several records add. */
typedef struct ps_score {
  int64_t tp, fn, fp;
  int64_t fn_in_gaps; /* of fn: where the signal is absent; ps_score_record leaves 0 */
  int64_t excluded;   /* beats of either side inside an excluded span */
  int64_t n_rr;       /* pairs of beats with both neighbours matched  */
  double rr_square;   /* s^2, summed squared difference of their RR   */
} ps_score;

/* Scores one record from opts->start to its end.
 * Fails: WEIR_ERR_DATA when the record ends at or before the start, rate is not positive and
 * finite, or times are not ascending; *out is then untouched. */
weir_status ps_score_record(const ps_score_opts *opts, const ps_score_input *in,
                            ps_score *out) WEIR_CHECKED;

/* A beat that one side alone has. */
typedef struct ps_score_error {
  int64_t time; /* sample of the beat                                        */
  bool missed;  /* the reference has it, else the test: it is a false one     */
} ps_score_error;
/* Lists the first errors that ps_score_record counts, at most `max_errors`, in the order of
 * pairing: out[max_errors]; *n: how many are given. Fails as ps_score_record; nothing is then
 * written. */
weir_status ps_score_errors(const ps_score_opts *opts, const ps_score_input *in, int64_t max_errors,
                            ps_score_error *out, int64_t *n) WEIR_CHECKED;

/* Of a beat without a partner: it is missed, or false; or it is not compared, before the start or
 * in an excluded span. */
enum { PS_SCORE_ALONE = -1, PS_SCORE_EXCLUDED = -2 };
/* Gives the pairs that ps_score_record counts: of each test beat the number of its reference beat,
 * of_test[n_test], and the other way round, of_reference[n_reference]. Fails as ps_score_record;
 * nothing is then written. */
weir_status ps_score_pairs(const ps_score_opts *opts, const ps_score_input *in, int64_t *of_test,
                           int64_t *of_reference) WEIR_CHECKED;

/* Adds `more` to `sum`: the sums over records give the gross figures. */
void ps_score_add(ps_score *sum, const ps_score *more);
/* Return percentages; NaN when nothing was there to find, or nothing was found. */
double ps_score_sensitivity(const ps_score *s);
double ps_score_predictivity(const ps_score *s);
/* Returns the root mean square RR difference in seconds; NaN without a pair of matched neighbours.
 */
double ps_score_rr_error(const ps_score *s);

/* Means over records of the per-record figures; records where a figure is NaN are left out of its
 * mean. */
typedef struct ps_score_average {
  double sensitivity, predictivity, rr_error;
} ps_score_average;
ps_score_average ps_score_mean(const ps_score *records, int64_t n);
#endif
