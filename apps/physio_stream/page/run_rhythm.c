/* run_rhythm.c - see run_rhythm.h. */
#include "page/run_rhythm.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "model/hrv_nonlinear.h"
#include "page/hrv_figures.h"

/* The intervals of up to `n` beats; times in samples. Returns how many there are. */
static int64_t intervals_of(const ps_beat *beat, int64_t n, double max_samples, ps_interval *v)
{
  int64_t count = 0;
  bool joined = false;

  for (int64_t i = 0; i < n && (double)(beat[i].sample - beat[0].sample) <= max_samples; i++) {
    if (beat[i].flags != 0 || i == 0) {
      joined = false;
      continue;
    }
    v[count++] =
        (ps_interval){.end = ps_beat_position(&beat[i]),
                      .length = ps_beat_position(&beat[i]) - ps_beat_position(&beat[i - 1]),
                      .counts = true,
                      .joined = joined};
    joined = true;
  }
  return count;
}

/* Multiscale entropy. */
static weir_status add_scales(weir_report *r, int64_t scales, const ps_hrv_nonlinear *m)
{
  static const char *const head[] = {"scale", "SampEn"};
  weir_table c = {0};

  for (int64_t k = 0; k < scales && k < PS_HRV_MAX_SCALES; k++) {
    weir_table_add(&c, "%lld", (long long)k + 1);
    weir_table_add_real(&c, m->mse[k]);
  }
  const weir_status status = weir_table_report(&c, r, "mse", 2, head);

  weir_table_fini(&c);
  return status;
}

static weir_status add_table(weir_report *r, const ps_hrv_opts *opts, const ps_rhythm *rhythm,
                             double *scratch)
{
  const ps_hrv_times t = ps_hrv_time_domain(opts->definitions, rhythm->v, rhythm->n, rhythm->rate);
  const ps_hrv_bands b = ps_hrv_spectrum(opts, rhythm->v, rhythm->n, rhythm->rate, scratch);
  const ps_hrv_nonlinear m = ps_hrv_nonlinear_of(opts, rhythm->v, rhythm->n, rhythm->rate, scratch);
  weir_table c = {0};

  weir_table_add_pair(&c, "beat types", "unknown: RR intervals, not NN");
  weir_table_add_count_pair(&c, "RR intervals that count", t.n);
  weir_table_add_real_pair(&c, "mean RR (ms)", t.mean);
  weir_table_add_real_pair(&c, "SDNN (ms)", t.sd);
  weir_table_add_real_pair(&c, "SDANN (ms)", t.sdann);
  weir_table_add_real_pair(&c, "RMSSD (ms)", t.rmssd);
  weir_table_add_real_pair(&c, "pNN50 (%)", t.pnn50);
  weir_table_add_real_pair(&c, "VLF (ms²)", b.vlf);
  weir_table_add_real_pair(&c, "LF (ms²)", b.lf);
  weir_table_add_real_pair(&c, "HF (ms²)", b.hf);
  weir_table_add_real_pair(&c, "LF/HF", b.hf > 0 ? b.lf / b.hf : NAN);
  weir_table_add_real_pair(&c, "SD1 (ms)", m.sd1);
  weir_table_add_real_pair(&c, "SD2 (ms)", m.sd2);
  weir_table_add_real_pair(&c, "SD1/SD2", m.sd_ratio);
  weir_table_add_real_pair(&c, "ellipse (ms²)", m.ellipse);
  weir_table_add_real_pair(&c, "ApEn", m.apen);
  weir_table_add_real_pair(&c, "SampEn", m.sampen);
  weir_table_add_real_pair(&c, "MSE index", m.mse_ci);
  weir_table_add_real_pair(&c, "DFA α1", m.alpha1);
  weir_table_add_real_pair(&c, "DFA α2", m.alpha2);
  WEIR_TRY(weir_table_report_pairs(&c, r, "hrv"));
  return add_scales(r, opts->entropy.scales, &m);
}

static weir_status add_all(weir_report *r, const ps_hrv_opts *opts, ps_interval *v, int64_t n,
                           const ps_out_beats *beats)
{
  const double rate = (double)beats->facts->fs_num / (double)beats->facts->fs_den;
  const ps_rhythm rhythm = {"intervals", v, n, rate};
  const size_t spectrum = ps_hrv_scratch(opts, n, ps_hrv_span(v, n, rate));
  const size_t nonlinear = ps_hrv_nonlinear_scratch(opts, n);
  double *scratch = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc((int64_t)(spectrum > nonlinear ? spectrum : nonlinear), sizeof *scratch,
                      (void **)&scratch));
  ps_hrv_exclude(opts->exclude, v, n, scratch);
  WEIR_TRY_GOTO(add_table(r, opts, &rhythm, scratch), done);
  WEIR_TRY_GOTO(ps_hrv_figures(r, beats->facts->name, "", opts, &rhythm, 1), done);
done:
  weir_free(&scratch);
  return status;
}

weir_status ps_run_rhythm(weir_report *r, const ps_hrv_opts *opts, const ps_out_beats *beats)
{
  const double rate = (double)beats->facts->fs_num / (double)beats->facts->fs_den;
  const int64_t max_beats = beats->n < PS_RHYTHM_BEATS ? beats->n : PS_RHYTHM_BEATS;
  int64_t n = 0;
  ps_interval *v = NULL;
  ps_beat *beat = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(max_beats, sizeof *beat, (void **)&beat), done);
  WEIR_TRY_GOTO(weir_alloc(max_beats, sizeof *v, (void **)&v), done);
  WEIR_TRY_GOTO(ps_out_beats_read(beats, max_beats, beat), done);
  n = intervals_of(beat, max_beats, PS_RHYTHM_SECONDS * rate, v);
  WEIR_TRY_GOTO(weir_report_heading(r, "Rhythm"), done);
  WEIR_TRY_GOTO(weir_report_text(
                    r,
                    "Of %lld intervals between beats, of the first two days at most; those more "
                    "than %g of the median away from it do not count (output.nn). Beats are "
                    "not distinguished here: ectopic ones distort all of this. " PS_HRV_LIMITS
                    " More than %d "
                    "intervals are drawn as means of neighbours with their range, and every k-th "
                    "pair.",
                    (long long)n, opts->exclude, (int)PS_RHYTHM_POINTS),
                done);
  WEIR_TRY_GOTO(add_all(r, opts, v, n, beats), done);
done:
  weir_free(&beat);
  weir_free(&v);
  return status;
}
