/* eval_intervals.c - see eval_intervals.h. */
#include "page/eval_intervals.h"
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "io/weir_record.h"

enum { BLOCK = 65536 };

/* The first slot of `present`[n] from i on that is not `value`, n where there is none. */
static int64_t run_end(const uint8_t *present, int64_t i, int64_t n, uint8_t value)
{
  while (i < n && present[i] == value) {
    i++;
  }
  return i;
}

/* Slots [begin, end) are absent: a gap, or more of the last one. `ratio`: frames of a slot. */
static weir_status add_absent(ps_breaks *gaps, int64_t begin, int64_t end, double ratio)
{
  ps_break *last = gaps->n > 0 ? &gaps->v[gaps->n - 1] : NULL;

  if (begin >= end) {
    return WEIR_OK;
  }
  if (last != NULL && last->end == (double)begin * ratio) {
    last->end = (double)end * ratio;
    return WEIR_OK;
  }
  return ps_breaks_add(gaps, (double)begin * ratio, (double)end * ratio);
}

/* Absent slots of [lo, hi), read block by block. */
static weir_status scan_run(weir_record *record, int signal, int64_t lo, int64_t hi, double ratio,
                            float *x, uint8_t *present, ps_breaks *gaps)
{
  for (int64_t at = lo; at < hi; at += BLOCK) {
    const int64_t n = hi - at < BLOCK ? hi - at : BLOCK;

    WEIR_TRY(weir_record_read(record, signal, at, n, x, present));
    for (int64_t i = run_end(present, 0, n, 1); i < n;) {
      const int64_t end = run_end(present, i, n, 0);

      WEIR_TRY(add_absent(gaps, at + i, at + end, ratio));
      i = run_end(present, end, n, 1);
    }
  }
  return WEIR_OK;
}

static weir_status scan(weir_record *record, int signal, double ratio, ps_breaks *gaps)
{
  const int64_t count = weir_record_signal(record, signal)->count;
  float *x = NULL;
  uint8_t *present = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(BLOCK, sizeof *x, (void **)&x), done);
  WEIR_TRY_GOTO(weir_alloc(BLOCK, sizeof *present, (void **)&present), done);
  for (int64_t at = 0, lo = 0, hi = 0; at < count; at = hi) {
    WEIR_TRY_GOTO(weir_record_next_run(record, signal, at, &lo, &hi), done);
    WEIR_TRY_GOTO(add_absent(gaps, at, lo, ratio), done);
    WEIR_TRY_GOTO(scan_run(record, signal, lo, hi, ratio, x, present, gaps), done);
  }
done:
  weir_free(&x);
  weir_free(&present);
  return status;
}

weir_status ps_eval_gaps(const ps_cfg *cfg, ps_scored *s)
{
  weir_record *record = NULL;
  int signal = 0;

  if (s->signal[0] == 0 || weir_record_open(s->signal, NULL, &record) != WEIR_OK) {
    return WEIR_OK;
  }
  if (weir_record_find(record, cfg->input.signal, &signal) != WEIR_OK) {
    weir_record_close(&record);
    return WEIR_OK;
  }
  const weir_signal_info *info = weir_record_signal(record, signal);
  const double ratio = ((double)s->clock.fs_num * (double)info->fs_den) /
                       ((double)s->clock.fs_den * (double)info->fs_num);
  const weir_status status = scan(record, signal, ratio, &s->gaps);

  weir_record_close(&record);
  s->has_signal = status == WEIR_OK;
  return status;
}

double ps_eval_start(const ps_cfg *cfg)
{
  return fmax(cfg->eval.start, cfg->input.from);
}

void ps_eval_range_text(const ps_cfg *cfg, char *text, size_t size)
{
  const int n = snprintf(text, size, "from %.6g s ", ps_eval_start(cfg));

  if (cfg->input.to > 0) {
    (void)snprintf(text + n, size - (size_t)n, "to %.6g s", cfg->input.to);
  } else {
    (void)snprintf(text + n, size - (size_t)n, "on");
  }
}

ps_break ps_eval_range(const ps_cfg *cfg, const ps_scored *s)
{
  const double rate = (double)s->clock.fs_num / (double)s->clock.fs_den;

  /* A millionth of a sample guards against rounding. */
  return (ps_break){cfg->input.from * rate - 1e-6,
                    cfg->input.to > 0 ? cfg->input.to * rate - 1e-6 : (double)INFINITY};
}

static const char *gaps_of(const ps_scored *s, const ps_beats *b)
{
  if (b->unreadable.n > 0) {
    return s->has_signal ? "annotations and record" : "annotations";
  }
  return s->has_signal ? "record" : PS_GAPS_UNKNOWN;
}

/* Of beats whose types are known every interval between two normal ones counts; of others those
 * that are far from the median may be no NN, and count by the rule of `run`. */
static double exclude_of(const ps_cfg *cfg, bool known)
{
  return cfg->eval.nn.exclude >= 0 ? cfg->eval.nn.exclude : known ? 0 : cfg->output.nn.exclude;
}

static weir_status measure(const ps_cfg *cfg, const ps_scored *s, const ps_beats *b, ps_side *out)
{
  double *scratch = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(b->n, sizeof *out->v, (void **)&out->v), done);
  WEIR_TRY_GOTO(weir_alloc(b->n, sizeof *scratch, (void **)&scratch), done);
  out->beats = b->n;
  out->n = ps_beats_intervals(b, &s->gaps, out->v);
  out->gaps = gaps_of(s, b);
  out->types = b->typed           ? PS_TYPES_ANNOTATED
               : b->match != NULL ? PS_TYPES_REFERENCE
                                  : PS_TYPES_UNKNOWN;
  out->nn = cfg->eval.nn;
  out->nn.exclude = exclude_of(cfg, b->typed || b->match != NULL);
  ps_hrv_exclude(out->nn.exclude, out->v, out->n, scratch);
done:
  weir_free(&scratch);
  return status;
}

weir_status ps_side_read(const ps_cfg *cfg, const ps_scored *s, bool test, ps_side *out)
{
  const double window = cfg->eval.window * (double)s->clock.fs_num / (double)s->clock.fs_den;
  const ps_break range = ps_eval_range(cfg, s);
  ps_beats own = {0}, reference = {0};
  weir_status status = WEIR_OK;

  *out = (ps_side){0};
  WEIR_TRY_GOTO(ps_beats_read(test ? s->files.test : s->files.reference, &s->clock, s->end, &own),
                done);
  ps_beats_trim(&own, range.begin, range.end);
  if (test) {
    WEIR_TRY_GOTO(ps_beats_read(s->files.reference, &s->clock, s->end, &reference), done);
    ps_beats_trim(&reference, range.begin, range.end);
    WEIR_TRY_GOTO(ps_beats_match(&own, &reference, window), done);
  }
  WEIR_TRY_GOTO(measure(cfg, s, &own, out), done);
done:
  ps_beats_fini(&own);
  ps_beats_fini(&reference);
  if (status != WEIR_OK) {
    ps_side_fini(out);
  }
  return status;
}

void ps_side_fini(ps_side *side)
{
  weir_free(&side->v);
  *side = (ps_side){0};
}
