/* cmd_prepare.c - the built-in recording as files: NAME.hea and .dat, NAME.atr with its beats,
 * waves.csv with the exact time of every wave, defects.csv; the truth about its ABP. */
#include <math.h>
#include "base/weir_alloc.h"
#include "base/weir_integer.h"
#include "check.h"
#include "prepare_files.h"
#include "commands.h"

/* Steps per mV of the record: noise of rounding 72 dB below an R wave of 1.2 mV. */
#define GAIN 5000
/* Steps per mmHg: a flush of 300 mmHg fits 16 bits. */
#define ABP_GAIN 100

enum { BLOCK = 65536, MAX_PER_FRAME = 1024 };

/* The files being written and the buffers of one block. */
typedef struct files {
  const ps_synth_opts *opts;
  ps_synth *synth;
  ps_abp_files abp;
  int64_t per_frame, abp_per_frame; /* samples of a frame of the record */
  float *abp_x;
  uint8_t *abp_present;
  weir_writer *defects;
  ps_gaps gaps, saturation;
  int64_t told_gap, told_saturation;
  weir_record_writer *record;
  weir_annotation_writer *beats;
  weir_writer *waves;
  float *x;
  uint8_t *present;
  ps_mark *marks;
  int64_t n_beats, n_absent;
} files;

/* A frame holds one sample, or, with two rates, what both have in their longest common period. */
static weir_status divide_frames(files *f, weir_record_spec *spec)
{
  const int64_t a = weir_gcd(spec->fs_num, (int64_t)f->opts->abp.rate);

  f->per_frame = f->abp_per_frame = 1;
  if (!f->opts->abp.on) {
    return WEIR_OK;
  }
  f->per_frame = spec->fs_num / a;
  f->abp_per_frame = (int64_t)f->opts->abp.rate / a;
  if (spec->fs_den != 1 || f->per_frame > MAX_PER_FRAME || f->abp_per_frame > MAX_PER_FRAME) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "ecgsyn.abp.rate is %g Hz and ecgsyn.model.rate %g Hz: a record holds "
                     "whole rates with at most %d samples a frame",
                     f->opts->abp.rate, f->opts->model.rate, MAX_PER_FRAME);
  }
  spec->fs_num = a;
  spec->n_channels = 2;
  return WEIR_OK;
}

static weir_status open_files(const char *dir, uint64_t seed, files *f)
{
  weir_record_channel channels[2] = {{.name = "ECG", .units = "mV", .gain = GAIN},
                                     {.name = "ABP", .units = "mmHg", .gain = ABP_GAIN}};
  weir_annotations head = {.fs_num = 0};
  weir_record_spec spec = {.n_channels = 1,
                           .channels = channels,
                           .format = 16,
                           .comment =
                               "made by ECGSYN (McSharry et al. 2003), physio_stream prepare"};
  char path[PS_PATH];

  ps_synth_rate(f->synth, &spec.fs_num, &spec.fs_den);
  head.fs_num = spec.fs_num;
  head.fs_den = spec.fs_den;
  WEIR_TRY(ps_abp_files_open(dir, f->opts, f->synth, seed, &f->abp));
  WEIR_TRY(divide_frames(f, &spec));
  channels[0].samples_per_frame = (int)f->per_frame;
  channels[1].samples_per_frame = (int)f->abp_per_frame;
  WEIR_TRY(weir_path_join(dir, PS_SYNTH_NAME, path, sizeof path));
  WEIR_TRY(weir_record_writer_open(path, &spec, &f->record));
  WEIR_TRY(weir_path_join(dir, PS_SYNTH_NAME ".atr", path, sizeof path));
  /* Annotations count frames unless the file says otherwise. */
  WEIR_TRY(weir_annotation_writer_open(path, f->per_frame > 1 ? &head : NULL, &f->beats));
  WEIR_TRY(weir_path_join(dir, "waves.csv", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &f->waves));
  WEIR_TRY(weir_writer_printf(f->waves, "wave,sample,present\n"));
  WEIR_TRY(weir_path_join(dir, "defects.csv", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &f->defects));
  WEIR_TRY(weir_writer_printf(f->defects, PS_DEFECTS_HEAD));
  ps_gaps_init(&f->opts->gaps, seed, PS_CHANNEL_ECG, f->opts->model.rate, &f->gaps);
  ps_gaps_init(&f->opts->saturation, seed, PS_CHANNEL_SATURATION, f->opts->model.rate,
               &f->saturation);
  const int64_t abp_block = (BLOCK / f->per_frame + 1) * f->abp_per_frame;

  WEIR_TRY(weir_alloc(abp_block, sizeof *f->abp_x, (void **)&f->abp_x));
  WEIR_TRY(weir_alloc(abp_block, sizeof *f->abp_present, (void **)&f->abp_present));
  WEIR_TRY(weir_alloc(BLOCK + MAX_PER_FRAME, sizeof *f->x, (void **)&f->x));
  WEIR_TRY(weir_alloc(BLOCK + MAX_PER_FRAME, sizeof *f->present, (void **)&f->present));
  return weir_alloc(ps_synth_marks(f->synth, BLOCK), sizeof *f->marks, (void **)&f->marks);
}

static void close_files(files *f)
{
  weir_record_writer_destroy(&f->record);
  weir_annotation_writer_destroy(&f->beats);
  weir_writer_destroy(&f->waves);
  weir_writer_destroy(&f->defects);
  ps_abp_files_close(&f->abp);
  weir_free(&f->abp_x);
  weir_free(&f->abp_present);
  ps_synth_destroy(&f->synth);
  weir_free(&f->x);
  weir_free(&f->present);
  weir_free(&f->marks);
}

/* A beat is annotated at the sample nearest to its R wave, where that is present. */
static weir_status write_mark(files *f, const ps_mark *mark, int64_t t0, int64_t n)
{
  static const char names[PS_WAVE_COUNT] = {'P', 'Q', 'R', 'S', 'T'};
  const int64_t last = ps_synth_count(f->synth) - 1;
  int64_t at = (int64_t)floor(mark->sample + 0.5);

  at = at < last ? at : last;
  const int64_t in_block = at < t0 + n ? at : t0 + n - 1; /* rounded up over the block's end */
  const int present = f->present[in_block - t0];

  WEIR_TRY(weir_writer_printf(f->waves, "%c,%.3f,%d\n", names[mark->wave], mark->sample, present));
  if (mark->wave == PS_WAVE_R && present) {
    const weir_annotation beat = {.time = at, .code = WEIR_ANN_NORMAL};

    f->n_beats++;
    return weir_annotation_writer_append(f->beats, &beat);
  }
  return WEIR_OK;
}

static weir_status write_block(files *f, int64_t t0, int64_t n)
{
  const float *const x[] = {f->x, f->abp_x};
  const uint8_t *const present[] = {f->present, f->abp_present};
  const int64_t count = ps_synth_count(f->synth), frames = (n + f->per_frame - 1) / f->per_frame;
  const double rate = f->opts->model.rate;
  int64_t n_marks = 0;

  ps_synth_chunk(f->synth, n, f->x, f->present, f->marks, &n_marks);
  for (int64_t i = 0; i < n; i++) {
    f->n_absent += f->present[i] == 0;
  }
  for (int64_t i = n; i < frames * f->per_frame; i++) { /* the last frame may be longer */
    f->x[i] = 0.0f;
    f->present[i] = 0;
  }
  if (f->abp.gen != NULL) {
    WEIR_TRY(ps_abp_files_write(&f->abp, frames * f->abp_per_frame, f->abp_x, f->abp_present,
                                f->defects));
  }
  WEIR_TRY(ps_gap_rows(f->defects, &f->gaps, "gap", 0, t0, t0 + n, count, rate, &f->told_gap));
  WEIR_TRY(ps_gap_rows(f->defects, &f->saturation, "saturation", f->opts->rail, t0, t0 + n, count,
                       rate, &f->told_saturation));
  WEIR_TRY(weir_record_writer_append(f->record, frames, x, present));
  for (int64_t i = 0; i < n_marks; i++) {
    WEIR_TRY(write_mark(f, &f->marks[i], t0, n));
  }
  return WEIR_OK;
}

static weir_status write_all(files *f)
{
  const int64_t count = ps_synth_count(f->synth), block = BLOCK / f->per_frame * f->per_frame;

  for (int64_t t = 0; t < count; t += block) {
    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "prepare: stopped at sample %lld of %lld", (long long)t,
                       (long long)count);
    }
    WEIR_TRY(write_block(f, t, count - t < block ? count - t : block));
    weir_progress("prepare", t + block < count ? t + block : count, count, "samples");
  }
  return WEIR_OK;
}

weir_status ps_prepare_check(const ps_cfg *cfg)
{
  const ps_synth_opts *const o = &cfg->ecgsyn;
  weir_record_channel channels[2];
  weir_record_spec spec = {.n_channels = 1, .channels = channels};
  files f = {.opts = o};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(ps_synth_create(o, (uint64_t)cfg->seed, &f.synth), done);
  ps_synth_rate(f.synth, &spec.fs_num, &spec.fs_den);
  if (o->abp.on) {
    WEIR_TRY_GOTO(ps_abp_create(&o->abp, ps_synth_ecg(f.synth), &o->gaps, o->model.rate,
                                (uint64_t)cfg->seed, &f.abp.gen),
                  done);
  }
  WEIR_TRY_GOTO(divide_frames(&f, &spec), done);
done:
  close_files(&f);
  return status;
}

static weir_status write_record(const weir_cli *cli, const ps_cfg *cfg, files *f)
{
  WEIR_TRY(ps_synth_create(&cfg->ecgsyn, (uint64_t)cfg->seed, &f->synth));
  WEIR_TRY(open_files(cli->out, (uint64_t)cfg->seed, f));
  WEIR_TRY(write_all(f));
  const int64_t count = ps_synth_count(f->synth), clipped = weir_record_writer_clipped(f->record);

  WEIR_TRY(weir_record_writer_commit(&f->record));
  WEIR_TRY(weir_annotation_writer_commit(&f->beats));
  WEIR_TRY(weir_writer_commit(&f->waves));
  WEIR_TRY(weir_writer_commit(&f->defects));
  WEIR_TRY(ps_abp_files_commit(&f->abp));
  WEIR_TRY(ps_write_provenance(cli, cfg, NULL, 0));
  weir_event("prepare_end", WEIR_TEXT("record", PS_SYNTH_NAME), WEIR_INT("samples", count),
             WEIR_INT("absent", f->n_absent), WEIR_INT("beats", f->n_beats),
             WEIR_INT("clipped", clipped));
  if (clipped > 0) {
    weir_warn("prepare", "%lld samples lie beyond the range of the record and were clipped",
              (long long)clipped);
  }
  weir_info("prepare", "wrote %s/%s: %lld samples, %lld of them absent, %lld beats", cli->out,
            PS_SYNTH_NAME, (long long)count, (long long)f->n_absent, (long long)f->n_beats);
  return WEIR_OK;
}

static weir_status prepare(weir_job *j)
{
  const ps_cfg *const cfg = j->cfg;
  files f = {.opts = &cfg->ecgsyn};

  WEIR_TRY(ps_start(j, "prepare"));
  const weir_status status = write_record(j->cli, cfg, &f);

  close_files(&f);
  return status;
}

weir_status ps_cmd_prepare(const weir_cli *cli)
{
  ps_cfg cfg;

  return weir_job_run(cli, &ps_program, &cfg, prepare);
}
