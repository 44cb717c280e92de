/* writer.c - WFDB records as their samples come: header(5), signal(5). */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/io_priv.h"
#include "io/weir_record_writer.h"
#include "io/wfdb/wfdb_priv.h"

enum {
  MAX_PENDING = 8190,
  SUFFIX = 16
}; /* samples kept before they are packed: whole groups of every format */

typedef struct channel {
  char *name, *units;
  double gain;
  int baseline, spf;
  int64_t file; /* which of the files holds it */
  int32_t first;
  uint32_t sum;
} channel;

/* A signal file: neighbours of one format. */
typedef struct signal_file {
  const weir_wfdb_codec *codec;
  weir_writer *writer;
  char suffix[SUFFIX];
  int64_t n_pending;
  int32_t samples[MAX_PENDING];
  uint8_t bytes[MAX_PENDING * 4];
} signal_file;

struct weir_record_writer {
  char *path; /* without suffix */
  char *comment;
  const char *name; /* last component of the path */
  weir_record_spec spec;
  int64_t n_channels, channel_capacity;
  channel *channels;
  int64_t n_files, file_capacity;
  signal_file *files;
  int64_t frames, clipped;
};

int weir_record_format_bits(int format)
{
  const weir_wfdb_codec *const codec = weir_wfdb_codec_find(format);

  return codec && codec->encode ? codec->bits : 0;
}

static bool is_text(const char *text, bool blanks)
{
  for (const char *c = text; *c; c++) {
    if ((unsigned char)*c < 32 || (!blanks && (*c == ' ' || *c == '\t'))) {
      return false;
    }
  }
  return text[0] != 0 && strlen(text) < 200;
}

static int format_of(const weir_record_spec *spec, int i)
{
  return spec->channels[i].format ? spec->channels[i].format : spec->format;
}

static weir_status check_channel(const char *path, const weir_record_spec *spec, int i)
{
  const weir_record_channel *const c = &spec->channels[i];
  const weir_wfdb_codec *const codec = weir_wfdb_codec_find(format_of(spec, i));
  char known[128];

  if (!codec || !codec->encode) {
    weir_wfdb_codec_list_written(known, sizeof known);
    return weir_fail(WEIR_ERR_CONFIG, "%s: records are written in format %s, not %d", path, known,
                     format_of(spec, i));
  }
  if (!is_text(c->name, true) || (c->units && !is_text(c->units, false)) || !(c->gain > 0) ||
      !isfinite(c->gain) || !isfinite(1 / c->gain) || c->samples_per_frame < 0 ||
      c->samples_per_frame > WEIR_WFDB_MAX_SPF) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "%s: channel %d: name, units, gain or samples per frame cannot be written to a header",
        path, i);
  }
  return WEIR_OK;
}

static weir_status check_spec(const char *path, const char *name, const weir_record_spec *spec)
{
  /* A dot would be taken for that of a suffix. */
  if (!weir_record_is_name(name, strlen(name)) || strchr(name, '.')) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: a record name has 1 to %d letters, digits, '_' and '-' only", path,
                     WEIR_RECORD_NAME);
  }
  if (spec->fs_num <= 0 || spec->fs_den <= 0 || spec->n_channels < 1 ||
      spec->n_channels > WEIR_WFDB_MAX_SIGNALS) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: rate %lld/%lld or number of channels %d is out of range",
                     path, (long long)spec->fs_num, (long long)spec->fs_den, spec->n_channels);
  }
  for (int i = 0; i < spec->n_channels; i++) {
    WEIR_TRY(check_channel(path, spec, i));
  }
  return WEIR_OK;
}

/* The file of channel `i`: that of the channel before it where both have one format. */
static weir_status bind_channel(weir_record_writer *w, const weir_record_spec *spec, int i)
{
  const weir_wfdb_codec *const codec = weir_wfdb_codec_find(format_of(spec, i));

  if (w->n_files == 0 || w->files[w->n_files - 1].codec != codec) {
    WEIR_TRY(weir_reserve(&w->files, &w->file_capacity, w->n_files + 1, sizeof *w->files));
    w->files[w->n_files++].codec = codec;
  }
  w->channels[i].file = w->n_files - 1;
  return WEIR_OK;
}

static weir_status copy_spec(weir_record_writer *w, const weir_record_spec *spec)
{
  w->spec = *spec;
  w->spec.channels = NULL;
  w->spec.comment = NULL;
  if (spec->comment) {
    WEIR_TRY(weir_strdup(spec->comment, &w->comment));
  }
  WEIR_TRY(weir_reserve(&w->channels, &w->channel_capacity, spec->n_channels, sizeof *w->channels));
  for (int i = 0; i < spec->n_channels; i++) {
    const weir_record_channel *const c = &spec->channels[i];

    w->n_channels = i + 1;
    w->channels[i].gain = c->gain;
    w->channels[i].baseline = c->baseline;
    w->channels[i].spf = c->samples_per_frame ? c->samples_per_frame : 1;
    WEIR_TRY(bind_channel(w, spec, i));
    WEIR_TRY(weir_strdup(c->name, &w->channels[i].name));
    WEIR_TRY(weir_strdup(c->units ? c->units : "mV", &w->channels[i].units));
  }
  return WEIR_OK;
}

static weir_status open_with_suffix(const char *path, const char *suffix, weir_writer **out)
{
  char full[4096];

  if (strlen(path) + strlen(suffix) >= sizeof full) {
    return weir_fail(WEIR_ERR_CONFIG, "%.64s...: the path is too long", path);
  }
  strcpy(full, path);
  strcat(full, suffix);
  return weir_writer_open(full, out);
}

static weir_status open_files(weir_record_writer *w)
{
  for (int64_t k = 0; k < w->n_files; k++) {
    signal_file *const f = &w->files[k];

    if (w->n_files == 1) {
      snprintf(f->suffix, sizeof f->suffix, ".dat");
    } else {
      snprintf(f->suffix, sizeof f->suffix, "_%d.dat", (int)k);
    }
    WEIR_TRY(open_with_suffix(w->path, f->suffix, &f->writer));
  }
  return WEIR_OK;
}

weir_status weir_record_writer_open(const char *path, const weir_record_spec *spec,
                                    weir_record_writer **out)
{
  const char *const slash = strrchr(path, '/');
  const char *const name = slash ? slash + 1 : path;
  void *memory = NULL;
  weir_record_writer *w = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(check_spec(path, name, spec));
  WEIR_TRY(weir_alloc(1, sizeof *w, &memory));
  w = memory;
  WEIR_TRY_GOTO(weir_strdup(path, &w->path), fail);
  w->name = w->path + (name - path);
  WEIR_TRY_GOTO(copy_spec(w, spec), fail);
  WEIR_TRY_GOTO(open_files(w), fail);
  *out = w;
  return WEIR_OK;
fail:
  weir_record_writer_destroy(&w);
  return status;
}

/* Packs the pending samples; the last group of the file ends with its last sample. */
static weir_status flush(signal_file *f)
{
  const weir_wfdb_codec *const c = f->codec;
  const int64_t rest = f->n_pending % c->samples;
  const int64_t bytes = f->n_pending / c->samples * c->bytes + (rest ? c->needs[rest - 1] : 0);

  c->encode(f->samples, f->n_pending, f->bytes);
  f->n_pending = 0;
  return weir_writer_write(f->writer, f->bytes, (size_t)bytes);
}

static weir_status put(signal_file *f, channel *c, int32_t raw)
{
  c->sum += (uint32_t)raw;
  f->samples[f->n_pending++] = raw;
  return f->n_pending == MAX_PENDING ? flush(f) : WEIR_OK;
}

static int32_t clip(weir_record_writer *w, const weir_wfdb_codec *codec, double value)
{
  if (value > codec->hi || value < codec->lo) {
    w->clipped++;
    return value > 0 ? codec->hi : codec->lo;
  }
  return (int32_t)value;
}

/* Samples of one channel in one frame, `from` on: physical ones, or else stored ones. */
static weir_status put_samples(weir_record_writer *w, channel *c, int64_t from, const float *values,
                               const uint8_t *present, const int32_t *raw)
{
  signal_file *const f = &w->files[c->file];
  const weir_wfdb_codec *const codec = f->codec;

  for (int64_t i = from; i < from + c->spf; i++) {
    const bool absent =
        raw ? raw[i] == codec->invalid : isnan(values[i]) || (present && !present[i]);
    const double value = raw ? raw[i] : round((double)values[i] * c->gain + c->baseline);
    const int32_t stored = absent ? codec->invalid : clip(w, codec, value);

    if (w->frames == 0 && i == from) {
      c->first = stored;
    }
    WEIR_TRY(put(f, c, stored));
  }
  return WEIR_OK;
}

weir_status weir_record_writer_append(weir_record_writer *w, int64_t frames,
                                      const float *const *values, const uint8_t *const *present)
{
  for (int64_t f = 0; f < frames; f++, w->frames++) {
    for (int64_t i = 0; i < w->n_channels; i++) {
      channel *const c = &w->channels[i];

      WEIR_TRY(put_samples(w, c, f * c->spf, values[i], present ? present[i] : NULL, NULL));
    }
  }
  return WEIR_OK;
}

weir_status weir_record_writer_append_raw(weir_record_writer *w, int64_t frames,
                                          const int32_t *const *raw)
{
  for (int64_t f = 0; f < frames; f++, w->frames++) {
    for (int64_t i = 0; i < w->n_channels; i++) {
      channel *const c = &w->channels[i];

      WEIR_TRY(put_samples(w, c, f * c->spf, NULL, NULL, raw[i]));
    }
  }
  return WEIR_OK;
}

int64_t weir_record_writer_clipped(const weir_record_writer *w)
{
  return w->clipped;
}

/* " HH:MM:SS.ffffff DD/MM/YYYY" as far as it is known. */
static weir_status put_start(weir_record_writer *w, weir_writer *header)
{
  const int64_t day = INT64_C(86400000000);
  const int64_t us = (w->spec.start_us % day + day) % day;
  int year = 0;
  int month = 0;
  int date = 0;

  if (w->spec.start_kind == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_writer_printf(header, " %02d:%02d:%02d.%06d", (int)(us / 3600000000),
                              (int)(us / 60000000 % 60), (int)(us / 1000000 % 60),
                              (int)(us % 1000000)));
  if (w->spec.start_kind == 1) {
    return WEIR_OK;
  }
  weir_io_civil_date(w->spec.start_us, &year, &month, &date);
  return weir_writer_printf(header, " %02d/%02d/%04d", date, month, year);
}

static weir_status put_comment(const char *comment, weir_writer *header)
{
  for (const char *line = comment; line && *line;) {
    const size_t length = strcspn(line, "\n");

    WEIR_TRY(weir_writer_write(header, "#", 1));
    WEIR_TRY(weir_writer_write(header, line, length));
    WEIR_TRY(weir_writer_write(header, "\n", 1));
    line += length + (line[length] == '\n');
  }
  return WEIR_OK;
}

static weir_status put_header(weir_record_writer *w, weir_writer *header)
{
  char text[64];

  weir_io_rate_text(w->spec.fs_num, w->spec.fs_den, text, sizeof text);
  WEIR_TRY(weir_writer_printf(header, "%s %d %s %lld", w->name, (int)w->n_channels, text,
                              (long long)w->frames));
  WEIR_TRY(put_start(w, header));
  WEIR_TRY(weir_writer_write(header, "\n", 1));
  for (int64_t i = 0; i < w->n_channels; i++) {
    const channel *const c = &w->channels[i];
    const signal_file *const f = &w->files[c->file];
    char spf[SUFFIX] = "";

    if (c->spf > 1) {
      snprintf(spf, sizeof spf, "x%d", c->spf);
    }
    weir_io_real_text(c->gain, text, sizeof text);
    WEIR_TRY(weir_writer_printf(header, "%s%s %s%s %s(%d)/%s %d 0 %d %d 0 %s\n", w->name, f->suffix,
                                f->codec->name, spf, text, c->baseline, c->units, f->codec->bits,
                                c->first, (int16_t)c->sum, c->name));
  }
  return put_comment(w->comment, header);
}

weir_status weir_record_writer_commit(weir_record_writer **w)
{
  weir_writer *header = NULL;
  weir_status status = WEIR_OK;

  for (int64_t k = 0; k < (*w)->n_files; k++) {
    WEIR_TRY_GOTO(flush(&(*w)->files[k]), done);
  }
  WEIR_TRY_GOTO(open_with_suffix((*w)->path, ".hea", &header), done);
  WEIR_TRY_GOTO(put_header(*w, header), done);
  /* The header last: a reader that sees it finds the samples. */
  for (int64_t k = 0; k < (*w)->n_files; k++) {
    WEIR_TRY_GOTO(weir_writer_commit(&(*w)->files[k].writer), done);
  }
  WEIR_TRY_GOTO(weir_writer_commit(&header), done);
done:
  weir_writer_destroy(&header);
  weir_record_writer_destroy(w);
  return status;
}

void weir_record_writer_destroy(weir_record_writer **w)
{
  if (!*w) {
    return;
  }
  for (int64_t i = 0; i < (*w)->channel_capacity; i++) {
    weir_free(&(*w)->channels[i].name);
    weir_free(&(*w)->channels[i].units);
  }
  weir_free(&(*w)->channels);
  weir_free(&(*w)->path);
  weir_free(&(*w)->comment);
  for (int64_t k = 0; k < (*w)->file_capacity; k++) {
    weir_writer_destroy(&(*w)->files[k].writer);
  }
  weir_free(&(*w)->files);
  weir_free(w);
}
