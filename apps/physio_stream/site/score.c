/* score.c - beats of a record of a dataset against its reference. */
#include "eval/beats.h"
#include "site/site.h"

weir_status ps_site_clock(const ps_dataset *d, int64_t i, weir_record_clock *out)
{
  char path[PS_SITE_PATH];
  weir_record *r = NULL;

  WEIR_TRY(ps_dataset_path(d, i, "", path));
  WEIR_TRY(weir_record_open(path, NULL, &r));
  const weir_signal_info *info = weir_record_signal(r, 0);

  *out = (weir_record_clock){info->fs_num, info->fs_den, info->count};
  weir_record_close(&r);
  return WEIR_OK;
}

static weir_status read_reference(const ps_dataset *d, int64_t i, const char *annotator, double fs,
                                  const weir_record_clock *samples, ps_beats *out)
{
  weir_record_clock frames = {.fs_num = (int64_t)(fs * 1e6 + 0.5), .fs_den = 1000000};
  char path[PS_SITE_PATH], suffix[PS_SITE_NAME];

  if (fs == 0) {
    WEIR_TRY(ps_dataset_path(d, i, "", path));
    WEIR_TRY(weir_record_read_clock(path, &frames));
  }
  const ps_beats_clock clock = {samples->fs_num, samples->fs_den, frames.fs_num, frames.fs_den};

  (void)snprintf(suffix, sizeof suffix, ".%s", annotator);
  WEIR_TRY(ps_dataset_path(d, i, suffix, path));
  WEIR_TRY(ps_beats_read(path, &clock, samples->frames, out));
  ps_warn_of_beyond(path, out);
  return WEIR_OK;
}

weir_status ps_site_score(const ps_dataset *d, int64_t i, const char *annotator,
                          const ps_site_scoring *s, const int64_t *times, int64_t n, ps_score *out)
{
  const ps_score_opts opts = {.start = s->start, .window = s->window};
  weir_record_clock samples;
  ps_beats reference = {0};

  WEIR_TRY(ps_site_clock(d, i, &samples));
  WEIR_TRY(read_reference(d, i, annotator, s->fs, &samples, &reference));
  const ps_score_input in = {.reference = reference.times,
                             .n_reference = reference.n,
                             .test = times,
                             .n_test = n,
                             .excluded = reference.excluded,
                             .n_excluded = reference.n_excluded,
                             .rate = (double)samples.fs_num / (double)samples.fs_den,
                             .length = samples.frames};
  const weir_status status = ps_score_record(&opts, &in, out);

  ps_beats_fini(&reference);
  return status;
}
