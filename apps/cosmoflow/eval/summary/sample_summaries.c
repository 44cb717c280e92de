/* sample_summaries.c - see sample_summaries.h. */
#include "eval/summary/sample_summaries.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "data/volume/volume_format.h"

static weir_status measure(const cf_summaries *of, cf_sample_summaries *out, const float *voxels,
                           cf_summary_slot *slot)
{
  cf_summary_fault fault;

  for (int64_t c = 0; c < of->channels; c++) {
    double *x[CF_SUMMARIES];

    for (int k = 0; k < CF_SUMMARIES; k++) {
      x[k] = out->x[k] + c * of->each[k];
    }
    if (!cf_summaries_measure(of, slot, voxels, c, x, &fault)) {
      return cf_summary_refuse(&fault, out->where);
    }
  }
  return WEIR_OK;
}

static weir_status make(const cf_summary_opts *opts, cf_source *s, cf_sample_summaries *out)
{
  const cf_volume_info *const info = cf_source_info(s);
  cf_summary_slot slot = {NULL, NULL, NULL};
  float *voxels = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(cf_summaries_init(opts, CF_SUMMARY_ALL, info, &out->of));
  WEIR_TRY_GOTO(cf_summary_slot_init(&out->of, &slot), done);
  WEIR_TRY_GOTO(weir_alloc(cf_volume_elements(info), sizeof *voxels, (void **)&voxels), done);
  for (int k = 0; k < CF_SUMMARIES; k++) {
    WEIR_TRY_GOTO(
        weir_alloc(out->of.channels * out->of.each[k], sizeof *out->x[k], (void **)&out->x[k]),
        done);
  }
  WEIR_TRY_GOTO(cf_source_read(s, opts->sample, 0, out->of.n, WEIR_F32, voxels), done);
  WEIR_TRY_GOTO(measure(&out->of, out, voxels, &slot), done);
done:
  weir_free(&voxels);
  cf_summary_slot_fini(&slot);
  return status;
}

weir_status cf_sample_summaries_make(const cf_summary_opts *opts, cf_source *s,
                                     cf_sample_summaries *out)
{
  const cf_volume_info *const info = cf_source_info(s);

  *out = (cf_sample_summaries){.of = {.opts = opts}};
  if (opts->sample >= cf_source_count(s) || info->lengths[3] > CF_MAX_LABELS) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "summaries.sample: %lld: there are %lld samples, numbered from 0, of %lld channels (%d at "
        "most)",
        (long long)opts->sample, (long long)cf_source_count(s), (long long)info->lengths[3],
        CF_MAX_LABELS);
  }
  cf_source_locate(s, opts->sample, out->where, sizeof out->where);
  for (int64_t c = 0; c < info->lengths[3]; c++) {
    out->redshift[c] = c < info->n_redshifts ? info->redshift[c] : (double)NAN;
  }
  const weir_status status = make(opts, s, out);

  if (status != WEIR_OK) {
    cf_sample_summaries_fini(out);
  }
  return status;
}

void cf_sample_summaries_fini(cf_sample_summaries *s)
{
  for (int k = 0; k < CF_SUMMARIES; k++) {
    weir_free(&s->x[k]);
  }
  cf_summaries_fini(&s->of);
}

void cf_count_edges(const cf_count_opts *o, int64_t b, double *from, double *to)
{
  const double width = (o->hi - o->lo) / (double)o->bins;

  *from = b == 0 ? -INFINITY : o->lo + width * (double)(b - 1);
  *to = b > o->bins ? INFINITY : b == o->bins ? o->hi : o->lo + width * (double)b;
}

const char *const *cf_sample_summary_head(cf_summary_kind which, int *columns)
{
  static const char *const head[CF_SUMMARIES][7] = {
      [CF_SUMMARY_ONE_POINT] = {"channel", "redshift", "smoothing_Mpc_per_h", "ln_from", "ln_to",
                                "share"},
      [CF_SUMMARY_PEAKS] = {"channel", "redshift", "smoothing_Mpc_per_h", "ln_from", "ln_to",
                            "peaks"},
  };

  for (*columns = 0; head[which][*columns] != NULL; ++*columns) {
  }
  return head[which];
}

void cf_sample_summary_table(const cf_sample_summaries *s, cf_summary_kind which, weir_table *out)
{
  const cf_count_opts *const o = cf_summary_counts(s->of.opts, which);
  const int64_t n = o->bins + 2;

  for (int64_t c = 0; c < s->of.channels; c++) {
    for (int64_t i = 0; i < s->of.each[which]; i++) {
      double from, to;

      cf_count_edges(o, i % n, &from, &to);
      weir_table_add(out, "%lld", (long long)c);
      weir_table_add_number(out, "%.7g", s->redshift[c], "");
      weir_table_add_number(out, "%.7g", o->smoothing.items[i / n], "");
      weir_table_add(out, "%.7g", from);
      weir_table_add(out, "%.7g", to);
      weir_table_add_number(out, "%.9g", s->x[which][c * s->of.each[which] + i], "");
    }
  }
}
