/* score.c - the pairing rules of bxb (WFDB 10.7), stated over arrays of beat times. */
#include "eval/score.h"
#include <math.h>

/* Later than any beat, and far from overflow when subtracted. */
#define NEVER (INT64_MAX / 4)

typedef struct pairing {
  const ps_score_input *in;
  ps_score *score;
  int64_t window;              /* samples                               */
  int64_t i, j;                /* next reference and test beat          */
  int64_t last_ref, last_test; /* the pair just made, or NEVER for none */
  int64_t span;                /* first excluded span that is not over    */
  ps_score_error *errors;      /* [max_errors], of which n are given    */
  int64_t max_errors, n;
  int64_t *of_test, *of_reference; /* partner of each beat, or NULL */
} pairing;

static int64_t reference_at(const pairing *p, int64_t i)
{
  return i < p->in->n_reference ? p->in->reference[i] : NEVER;
}

static int64_t test_at(const pairing *p, int64_t j)
{
  return j < p->in->n_test ? p->in->test[j] : NEVER;
}

static int64_t apart(int64_t a, int64_t b)
{
  return a > b ? a - b : b - a;
}

/* Whether `time` lies in an excluded span. Times may step back by a match window, so the cursor
 * only passes spans that ended longer ago. */
static int is_excluded(pairing *p, int64_t time)
{
  const ps_score_input *in = p->in;

  while (p->span < in->n_excluded && in->excluded[p->span].end + p->window < time) {
    p->span++;
  }
  for (int64_t k = p->span; k < in->n_excluded && in->excluded[k].begin <= time; k++) {
    if (time < in->excluded[k].end) {
      return 1;
    }
  }
  return 0;
}

/* Test beat j may lie before the current one (start rule). */
static void make_pair(pairing *p, int64_t j)
{
  const int64_t ref = reference_at(p, p->i), test = test_at(p, j);

  if (is_excluded(p, ref)) {
    p->score->excluded += 2;
    p->last_ref = NEVER;
    return;
  }
  if (p->of_test != NULL) {
    p->of_test[j] = p->i;
    p->of_reference[p->i] = j;
  }
  p->score->tp++;
  if (p->last_ref != NEVER) {
    const double diff = (double)((ref - p->last_ref) - (test - p->last_test)) / p->in->rate;

    p->score->n_rr++;
    p->score->rr_square += diff * diff;
  }
  p->last_ref = ref;
  p->last_test = test;
}

static void count_alone(pairing *p, int64_t time, bool missed)
{
  if (is_excluded(p, time)) {
    p->score->excluded++;
  } else {
    p->score->fn += missed;
    p->score->fp += !missed;
    if (p->of_test != NULL) {
      *(missed ? &p->of_reference[p->i] : &p->of_test[p->j]) = PS_SCORE_ALONE;
    }
    if (p->n < p->max_errors) {
      p->errors[p->n++] = (ps_score_error){time, missed};
    }
  }
  p->last_ref = NEVER;
}

/* The first reference beat in the scored range may belong to the last test beat before the start,
 * and the first test beat to a reference beat before the start. */
static void begin(pairing *p, int64_t start)
{
  while (reference_at(p, p->i) < start) {
    p->i++;
  }
  const int64_t ref = reference_at(p, p->i);

  while (test_at(p, p->j) < start) {
    p->j++;
  }
  if (ref == NEVER) {
    return;
  }
  const int64_t after = test_at(p, p->j);

  if (p->j > 0) {
    const int64_t before = test_at(p, p->j - 1);

    if (ref - before <= p->window && ref - before < apart(after, ref)) {
      make_pair(p, p->j - 1);
      p->i++;
      return;
    }
  }
  if (after <= start + p->window && apart(test_at(p, p->j + 1), ref) < apart(after, ref)) {
    p->j++;
  }
}

static void pair_all(pairing *p)
{
  while (p->i < p->in->n_reference || p->j < p->in->n_test) {
    const int64_t ref = reference_at(p, p->i), ref_next = reference_at(p, p->i + 1);
    const int64_t test = test_at(p, p->j), test_next = test_at(p, p->j + 1);
    const int64_t off = apart(ref, test);
    /* The later of the two could prefer the other side's next beat. */
    const int64_t rival = test < ref ? apart(ref, test_next) : apart(test, ref_next);

    if (off <= p->window && (off < rival || apart(ref_next, test_next) < rival)) {
      make_pair(p, p->j);
      p->i++;
      p->j++;
    } else if (test < ref) {
      count_alone(p, test, false);
      p->j++;
    } else {
      count_alone(p, ref, true);
      p->i++;
    }
  }
}

static int ascends(const int64_t *times, int64_t n)
{
  for (int64_t i = 1; i < n; i++) {
    if (times[i] < times[i - 1]) {
      return 0;
    }
  }
  return n == 0 || (times[0] > -NEVER && times[n - 1] < NEVER);
}

static weir_status check(const ps_score_opts *opts, const ps_score_input *in)
{
  if (!(in->rate > 0.0) || !isfinite(in->rate)) {
    return weir_fail(WEIR_ERR_DATA, "score: sampling rate %g is not a positive number", in->rate);
  }
  if (!ascends(in->reference, in->n_reference) || !ascends(in->test, in->n_test)) {
    return weir_fail(WEIR_ERR_DATA, "score: beat times are not in ascending order");
  }
  if ((double)in->length <= opts->start * in->rate) {
    return weir_fail(WEIR_ERR_DATA,
                     "score: the record lasts %.1f s and scoring starts at %.1f s; "
                     "set eval.start below the record's length",
                     (double)in->length / in->rate, opts->start);
  }
  return WEIR_OK;
}

static void score_all(const ps_score_opts *opts, pairing *p)
{
  /* Half a millionth of a sample guards against 0.15 * 360 = 53.999999999999993. */
  p->window = (int64_t)floor(opts->window * p->in->rate + 1e-6);
  p->last_ref = NEVER;
  begin(p, (int64_t)ceil(opts->start * p->in->rate - 1e-6));
  pair_all(p);
}

weir_status ps_score_record(const ps_score_opts *opts, const ps_score_input *in, ps_score *out)
{
  ps_score score = {0};
  pairing p = {.in = in, .score = &score};

  WEIR_TRY(check(opts, in));
  score_all(opts, &p);
  *out = score;
  return WEIR_OK;
}

weir_status ps_score_errors(const ps_score_opts *opts, const ps_score_input *in, int64_t max_errors,
                            ps_score_error *out, int64_t *n)
{
  ps_score score = {0};
  pairing p = {.in = in, .score = &score, .errors = out, .max_errors = max_errors};

  WEIR_TRY(check(opts, in));
  score_all(opts, &p);
  *n = p.n;
  return WEIR_OK;
}

weir_status ps_score_pairs(const ps_score_opts *opts, const ps_score_input *in, int64_t *of_test,
                           int64_t *of_reference)
{
  ps_score score = {0};
  pairing p = {.in = in, .score = &score, .of_test = of_test, .of_reference = of_reference};

  WEIR_TRY(check(opts, in));
  for (int64_t j = 0; j < in->n_test; j++) {
    of_test[j] = PS_SCORE_EXCLUDED;
  }
  for (int64_t i = 0; i < in->n_reference; i++) {
    of_reference[i] = PS_SCORE_EXCLUDED;
  }
  score_all(opts, &p);
  return WEIR_OK;
}

void ps_score_add(ps_score *sum, const ps_score *more)
{
  sum->tp += more->tp;
  sum->fn += more->fn;
  sum->fp += more->fp;
  sum->fn_in_gaps += more->fn_in_gaps;
  sum->excluded += more->excluded;
  sum->n_rr += more->n_rr;
  sum->rr_square += more->rr_square;
}

static double percent(int64_t part, int64_t rest)
{
  return part + rest > 0 ? 100.0 * (double)part / (double)(part + rest) : NAN;
}

double ps_score_sensitivity(const ps_score *s)
{
  return percent(s->tp, s->fn);
}

double ps_score_predictivity(const ps_score *s)
{
  return percent(s->tp, s->fp);
}

double ps_score_rr_error(const ps_score *s)
{
  return s->n_rr > 0 ? sqrt(s->rr_square / (double)s->n_rr) : NAN;
}

/* Mean of one figure over the records that have it. */
static double mean_of(const ps_score *records, int64_t n, double (*figure)(const ps_score *))
{
  double sum = 0.0;
  int64_t count = 0;

  for (int64_t i = 0; i < n; i++) {
    const double value = figure(&records[i]);

    if (!isnan(value)) {
      sum += value;
      count++;
    }
  }
  return count > 0 ? sum / (double)count : NAN;
}

ps_score_average ps_score_mean(const ps_score *records, int64_t n)
{
  return (ps_score_average){
      .sensitivity = mean_of(records, n, ps_score_sensitivity),
      .predictivity = mean_of(records, n, ps_score_predictivity),
      .rr_error = mean_of(records, n, ps_score_rr_error),
  };
}
