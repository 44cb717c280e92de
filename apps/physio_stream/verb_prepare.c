/* verb_prepare.c - the built-in recording as files: NAME.hea and .dat, NAME.atr with its beats,
 * waves.csv with the exact time of every wave. */
#include <math.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/weir_annotation.h"
#include "io/weir_record_writer.h"
#include "verbs.h"

/* Steps per mV of the record: noise of rounding 72 dB below an R wave of 1.2 mV. */
#define GAIN 5000

enum { BLOCK = 65536 };

/* The files being written and the buffers of one block. */
typedef struct files {
  ps_synth *synth;
  weir_record_writer *record;
  weir_annotation_writer *beats;
  weir_writer *waves;
  float *x;
  uint8_t *present;
  ps_mark *marks;
  int64_t n_beats, n_absent;
} files;

static weir_status open_files(const char *dir, files *f)
{
  const weir_record_channel channel = {.name = "ECG", .units = "mV", .gain = GAIN};
  weir_record_spec spec = {.n_channels = 1,
                           .channels = &channel,
                           .format = 16,
                           .comment =
                               "made by ECGSYN (McSharry et al. 2003), physio_stream prepare"};
  char path[PS_PATH];

  ps_synth_rate(f->synth, &spec.fs_num, &spec.fs_den);
  WEIR_TRY(weir_path_join(dir, PS_SYNTH_NAME, path, sizeof path));
  WEIR_TRY(weir_record_writer_open(path, &spec, &f->record));
  WEIR_TRY(weir_path_join(dir, PS_SYNTH_NAME ".atr", path, sizeof path));
  WEIR_TRY(weir_annotation_writer_open(path, NULL, &f->beats));
  WEIR_TRY(weir_path_join(dir, "waves.csv", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &f->waves));
  WEIR_TRY(weir_writer_printf(f->waves, "wave,sample,present\n"));
  WEIR_TRY(weir_alloc(BLOCK, sizeof *f->x, (void **)&f->x));
  WEIR_TRY(weir_alloc(BLOCK, sizeof *f->present, (void **)&f->present));
  return weir_alloc(ps_synth_marks(f->synth, BLOCK), sizeof *f->marks, (void **)&f->marks);
}

static void close_files(files *f)
{
  weir_record_writer_destroy(&f->record);
  weir_annotation_writer_destroy(&f->beats);
  weir_writer_destroy(&f->waves);
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
  const float *const x[] = {f->x};
  const uint8_t *const present[] = {f->present};
  int64_t n_marks = 0;

  ps_synth_chunk(f->synth, n, f->x, f->present, f->marks, &n_marks);
  for (int64_t i = 0; i < n; i++) {
    f->n_absent += f->present[i] == 0;
  }
  WEIR_TRY(weir_record_writer_append(f->record, n, x, present));
  for (int64_t i = 0; i < n_marks; i++) {
    WEIR_TRY(write_mark(f, &f->marks[i], t0, n));
  }
  return WEIR_OK;
}

static weir_status write_all(files *f)
{
  const int64_t count = ps_synth_count(f->synth);

  for (int64_t t = 0; t < count; t += BLOCK) {
    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "prepare: stopped at sample %lld of %lld", (long long)t,
                       (long long)count);
    }
    WEIR_TRY(write_block(f, t, count - t < BLOCK ? count - t : BLOCK));
    weir_progress("prepare", t + BLOCK < count ? t + BLOCK : count, count, "samples");
  }
  return WEIR_OK;
}

static weir_status prepare(const weir_cli *cli, const ps_cfg *cfg, files *f)
{
  WEIR_TRY(ps_synth_create(&cfg->ecgsyn, (uint64_t)cfg->seed, &f->synth));
  WEIR_TRY(open_files(cli->out, f));
  WEIR_TRY(write_all(f));
  const int64_t count = ps_synth_count(f->synth), clipped = weir_record_writer_clipped(f->record);

  WEIR_TRY(weir_record_writer_commit(&f->record));
  WEIR_TRY(weir_annotation_writer_commit(&f->beats));
  WEIR_TRY(weir_writer_commit(&f->waves));
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

weir_status ps_verb_prepare(const weir_cli *cli)
{
  static const char *const outputs[] = {PS_SYNTH_NAME ".hea", PS_SYNTH_NAME ".dat",
                                        PS_SYNTH_NAME ".atr", "waves.csv", NULL};
  weir_config *config = NULL;
  ps_cfg cfg;
  files f = {0};

  WEIR_TRY(ps_start(cli, outputs, &cfg, &config));
  const weir_status status = prepare(cli, &cfg, &f);

  close_files(&f);
  weir_config_destroy(&config);
  return status;
}
