/* eval_hrv.c - see eval_hrv.h. */
#include "page/eval_hrv.h"
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"

const char *const ps_hrv_head[PS_HRV_COLUMNS] = {
    "annotations", "beats",         "nn",         "mean_nn_ms",  "sdnn_ms",    "sdann_ms",
    "rmssd_ms",    "pnn50_percent", "vlf_ms2",    "lf_ms2",      "hf_ms2",     "lf_hf",
    "sd1_ms",      "sd2_ms",        "sd1_sd2",    "ellipse_ms2", "apen",       "sampen",
    "mse_ci",      "dfa_alpha1",    "dfa_alpha2", "segments",    "beat_types", "gaps"};
const char *const ps_mse_head[PS_MSE_COLUMNS] = {"annotations", "scale", "sampen"};

weir_status ps_measure_side(const ps_side *side, double rate, ps_measures *out)
{
  const size_t spectrum = ps_hrv_scratch(&side->nn, side->n, ps_hrv_span(side->v, side->n, rate));
  const size_t nonlinear = ps_hrv_nonlinear_scratch(&side->nn, side->n);
  double *scratch = NULL;

  WEIR_TRY(weir_alloc((int64_t)(spectrum > nonlinear ? spectrum : nonlinear), sizeof *scratch,
                      (void **)&scratch));
  *out =
      (ps_measures){.beats = side->beats,
                    .times = ps_hrv_time_domain(side->nn.definitions, side->v, side->n, rate),
                    .bands = ps_hrv_spectrum(&side->nn, side->v, side->n, rate, scratch),
                    .nonlinear = ps_hrv_nonlinear_of(&side->nn, side->v, side->n, rate, scratch)};
  (void)snprintf(out->types, sizeof out->types, "%s", side->types);
  (void)snprintf(out->gaps, sizeof out->gaps, "%s", side->gaps);
  weir_free(&scratch);
  return WEIR_OK;
}

static const char *name_of(const ps_scored *s, bool test)
{
  return ps_base_name(test ? s->files.test : s->files.reference);
}

void ps_hrv_add_row(const ps_scored *s, bool test, weir_table *cells)
{
  const ps_measures *r = &s->rhythm[test];
  const ps_hrv_times *t = &r->times;
  const ps_hrv_bands *b = &r->bands;
  const ps_hrv_nonlinear *m = &r->nonlinear;
  const double figures[] = {t->mean,    t->sd,     t->sdann,
                            t->rmssd,   t->pnn50,  b->vlf,
                            b->lf,      b->hf,     b->hf > 0 ? b->lf / b->hf : NAN,
                            m->sd1,     m->sd2,    m->sd_ratio,
                            m->ellipse, m->apen,   m->sampen,
                            m->mse_ci,  m->alpha1, m->alpha2};

  weir_table_add(cells, "%s", name_of(s, test));
  weir_table_add(cells, "%lld", (long long)r->beats);
  weir_table_add(cells, "%lld", (long long)t->n);
  for (size_t k = 0; k < sizeof figures / sizeof figures[0]; k++) {
    weir_table_add_number(cells, "%.4f", figures[k], "");
  }
  weir_table_add(cells, "%lld", (long long)t->segments);
  weir_table_add(cells, "%s", r->types);
  weir_table_add(cells, "%s", r->gaps);
}

void ps_mse_add_rows(const ps_scored *s, bool test, int64_t scales, weir_table *cells)
{
  for (int64_t k = 0; k < scales && k < PS_HRV_MAX_SCALES; k++) {
    weir_table_add(cells, "%s", name_of(s, test));
    weir_table_add(cells, "%lld", (long long)k + 1);
    weir_table_add_number(cells, "%.4f", s->rhythm[test].nonlinear.mse[k], "");
  }
}
