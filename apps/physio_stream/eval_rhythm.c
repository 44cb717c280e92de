/* eval_rhythm.c - the rhythm of both sides of a record as figures; see eval_page.h. */
#include <stdio.h>
#include "base/weir_alloc.h"
#include "eval/beats.h"
#include "eval_page.h"
#include "hrv_figures.h"

/* Intervals of one side, with those left out that do not count. *v is the caller's to free. */
static weir_status read_side(const ps_cfg *cfg, const ps_scored *s, const char *path,
                             ps_interval **v, int64_t *n)
{
  ps_beats beats = {0};
  double *scratch = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(ps_beats_read(path, s->fs_num, s->fs_den, PS_FAR, &beats));
  WEIR_TRY_GOTO(weir_alloc(beats.n, sizeof **v, (void **)v), done);
  WEIR_TRY_GOTO(weir_alloc(beats.n, sizeof *scratch, (void **)&scratch), done);
  *n = ps_beats_intervals(&beats, *v);
  ps_hrv_exclude(cfg->eval.nn.exclude, *v, *n, scratch);
done:
  weir_free(&scratch);
  ps_beats_fini(&beats);
  return status;
}

static weir_status add_record(weir_report *r, const ps_cfg *cfg, const ps_scored *s, int64_t index)
{
  const double rate = (double)s->fs_num / (double)s->fs_den;
  ps_interval *v[PS_RHYTHMS] = {NULL};
  int64_t n[PS_RHYTHMS] = {0};
  char suffix[32];
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(read_side(cfg, s, s->files.reference, &v[0], &n[0]), done);
  WEIR_TRY_GOTO(read_side(cfg, s, s->files.test, &v[1], &n[1]), done);
  const ps_rhythm rhythms[PS_RHYTHMS] = {{"test", v[1], n[1], rate},
                                         {"reference", v[0], n[0], rate}};

  (void)snprintf(suffix, sizeof suffix, "_%lld", (long long)index + 1);
  WEIR_TRY_GOTO(
      ps_hrv_figures(r, ps_base_name(s->record), suffix, &cfg->eval.nn, rhythms, PS_RHYTHMS), done);
done:
  weir_free(&v[0]);
  weir_free(&v[1]);
  return status;
}

weir_status ps_eval_rhythm(weir_report *r, const ps_cfg *cfg, const ps_scored *s, int64_t n)
{
  for (int64_t i = 0; i < n && i < PS_EVAL_RHYTHMS; i++) {
    WEIR_TRY(add_record(r, cfg, &s[i], i));
  }
  return WEIR_OK;
}
