/* prepare_files.c - see prepare_files.h. */
#include "prepare_files.h"
#include <math.h>
#include "commands.h"

static weir_status open_table(const char *dir, const char *name, const char *head,
                              weir_writer **out)
{
  char path[PS_PATH];

  WEIR_TRY(weir_path_join(dir, name, path, sizeof path));
  WEIR_TRY(weir_writer_open(path, out));
  return weir_writer_printf(*out, "%s", head);
}

weir_status ps_abp_files_open(const char *dir, const ps_synth_opts *opts, const ps_synth *synth,
                              uint64_t seed, ps_abp_files *out)
{
  const weir_annotations head = {.fs_num = (int64_t)opts->abp.rate, .fs_den = 1};
  char path[PS_PATH];

  *out = (ps_abp_files){.gen = NULL};
  if (!opts->abp.on) {
    return WEIR_OK;
  }
  out->rate = opts->abp.rate;
  out->count = (int64_t)floor(opts->duration * out->rate + 0.5);
  WEIR_TRY(ps_abp_create(&opts->abp, ps_synth_ecg(synth), &opts->gaps, opts->model.rate, seed,
                         &out->gen));
  WEIR_TRY(weir_path_join(dir, PS_SYNTH_NAME ".abp", path, sizeof path));
  WEIR_TRY(weir_annotation_writer_open(path, &head, &out->onsets));
  WEIR_TRY(open_table(dir, "abp_beats.csv",
                      "r_s,onset_s,foot_s,peak_s,sbp_mmhg,dbp_mmhg,map_mmhg\n", &out->beats));
  return open_table(dir, "abp_onsets.csv", "sample,time_s,present\n", &out->abp_onsets);
}

/* An onset is annotated at the sample nearest to it, where that is present. */
static weir_status write_onsets(ps_abp_files *f, int64_t n, const uint8_t *present)
{
  const ps_abp_onset *onset = NULL;
  const int64_t n_onsets = ps_abp_onsets(f->gen, &onset);

  for (int64_t i = 0; i < n_onsets; i++) {
    const int64_t last = f->at + n - 1, near = (int64_t)floor(onset[i].sample + 0.5);
    const weir_annotation mark = {.time = near < last ? near : last, .code = WEIR_ANN_NORMAL};
    const bool there = present[mark.time - f->at] != 0;

    WEIR_TRY(
        weir_writer_printf(f->abp_onsets, "%.4f,%.6f,%d\n", onset[i].sample, onset[i].time, there));
    if (there) {
      WEIR_TRY(weir_annotation_writer_append(f->onsets, &mark));
    }
  }
  return WEIR_OK;
}

static weir_status write_defect(weir_writer *out, const char *signal, const ps_defect *d,
                                double rate)
{
  return weir_writer_printf(out, "%s,%s,%lld,%lld,%.6f,%.6f,%.6g\n", signal, d->kind,
                            (long long)d->lo, (long long)d->hi, (double)d->lo / rate,
                            (double)d->hi / rate, d->value);
}

weir_status ps_abp_files_write(ps_abp_files *f, int64_t n, float *x, uint8_t *present,
                               weir_writer *defects)
{
  const int64_t left = f->count - f->at, own = n < left ? n : left > 0 ? left : 0;
  const ps_abp_beat *beat = NULL;
  const ps_defect *defect = NULL;

  for (int64_t i = own; i < n; i++) {
    x[i] = 0.0f;
    present[i] = 0;
  }
  if (own == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(ps_abp_chunk(f->gen, own, x, present));
  WEIR_TRY(write_onsets(f, own, present));
  const int64_t n_beats = ps_abp_beats(f->gen, &beat), n_defects = ps_abp_defects(f->gen, &defect);

  for (int64_t i = 0; i < n_beats; i++) {
    WEIR_TRY(weir_writer_printf(f->beats, "%.6f,%.6f,%.4f,%.4f,%.3f,%.3f,%.3f\n", beat[i].r,
                                beat[i].onset, beat[i].foot, beat[i].peak, beat[i].sbp, beat[i].dbp,
                                beat[i].map));
  }
  for (int64_t i = 0; i < n_defects; i++) {
    ps_defect d = defect[i];

    d.hi = d.hi < f->count ? d.hi : f->count;
    WEIR_TRY(write_defect(defects, "ABP", &d, f->rate));
  }
  f->at += own;
  return WEIR_OK;
}

weir_status ps_abp_files_commit(ps_abp_files *f)
{
  if (f->gen == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_writer_commit(&f->beats));
  WEIR_TRY(weir_writer_commit(&f->abp_onsets));
  return weir_annotation_writer_commit(&f->onsets);
}

void ps_abp_files_close(ps_abp_files *f)
{
  ps_abp_destroy(&f->gen);
  weir_annotation_writer_destroy(&f->onsets);
  weir_writer_destroy(&f->beats);
  weir_writer_destroy(&f->abp_onsets);
}

weir_status ps_gap_rows(weir_writer *out, ps_gaps *gaps, const char *kind, double value, int64_t lo,
                        int64_t hi, int64_t count, double rate, int64_t *written)
{
  for (int64_t t = lo; t < hi;) {
    int64_t begin = 0, end = 0;

    ps_gaps_at(gaps, t, &begin, &end);
    if (begin > t && t >= *written) {
      const ps_defect d = {kind, t, begin < count ? begin : count, value};

      WEIR_TRY(write_defect(out, "ECG", &d, rate));
      *written = begin;
    }
    t = end;
  }
  return WEIR_OK;
}
