/* writer.c - WFDB records as their samples come: header(5), signal(5). */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/io_priv.h"
#include "io/weir_record_writer.h"
#include "io/wfdb/wfdb_priv.h"

enum { ROOM = 8192 }; /* samples kept before they are packed: whole groups of both formats */

typedef struct channel {
  char *name, *units;
  double gain;
  int baseline;
  int32_t first;
  uint32_t sum;
} channel;

struct weir_record_writer {
  char *path; /* without suffix */
  char *comment;
  const char *name; /* its last part */
  weir_record_spec spec;
  const weir_wfdb_codec *codec;
  int64_t n_channels, channel_capacity;
  channel *channels;
  weir_writer *file;
  int64_t frames, clipped, held;
  int32_t samples[ROOM];
  uint8_t bytes[ROOM * 2];
};

static bool is_text(const char *text, bool blanks)
{
  for (const char *c = text; *c; c++) {
    if ((unsigned char)*c < 32 || (!blanks && (*c == ' ' || *c == '\t'))) {
      return false;
    }
  }
  return text[0] != 0 && strlen(text) < 200;
}

static weir_status check_spec(const char *path, const char *name, const weir_record_spec *spec)
{
  const weir_wfdb_codec *const codec = weir_wfdb_codec_find(spec->format);

  for (const char *c = name; *c; c++) {
    if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-') {
      return weir_fail(WEIR_ERR_CONFIG, "%s: a record name has letters, digits, '_' and '-' only",
                       path);
    }
  }
  if (!name[0] || strlen(name) > 200) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: the record has no name, or one that is too long", path);
  }
  if (!codec || !codec->encode) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: records are written in format 16 or 212, not %d", path,
                     spec->format);
  }
  if (spec->fs_num <= 0 || spec->fs_den <= 0 || spec->n_channels < 1 ||
      spec->n_channels > WEIR_WFDB_MAX_SIGNALS) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: rate %lld/%lld or number of channels %d is out of range",
                     path, (long long)spec->fs_num, (long long)spec->fs_den, spec->n_channels);
  }
  for (int i = 0; i < spec->n_channels; i++) {
    const weir_record_channel *const c = &spec->channels[i];

    if (!is_text(c->name, true) || (c->units && !is_text(c->units, false)) || !(c->gain > 0) ||
        !isfinite(c->gain) || !isfinite(1 / c->gain)) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s: channel %d: name, units or gain cannot stand in a header", path, i);
    }
  }
  return WEIR_OK;
}

static weir_status copy_spec(weir_record_writer *w, const weir_record_spec *spec)
{
  w->spec = *spec;
  w->spec.channels = NULL;
  w->spec.comment = NULL;
  w->codec = weir_wfdb_codec_find(spec->format);
  if (spec->comment) {
    WEIR_TRY(weir_strdup(spec->comment, &w->comment));
  }
  WEIR_TRY(weir_reserve(&w->channels, &w->channel_capacity, spec->n_channels, sizeof *w->channels));
  for (int i = 0; i < spec->n_channels; i++) {
    const weir_record_channel *const c = &spec->channels[i];

    w->n_channels = i + 1;
    w->channels[i].gain = c->gain;
    w->channels[i].baseline = c->baseline;
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
  WEIR_TRY_GOTO(open_with_suffix(path, ".dat", &w->file), fail);
  *out = w;
  return WEIR_OK;
fail:
  weir_record_writer_destroy(&w);
  return status;
}

/* Packs the samples held; the last group of the file ends with its last sample. */
static weir_status flush(weir_record_writer *w)
{
  const weir_wfdb_codec *const c = w->codec;
  const int64_t rest = w->held % c->samples;
  const int64_t bytes = w->held / c->samples * c->bytes + (rest ? c->needs[rest - 1] : 0);

  c->encode(w->samples, w->held, w->bytes);
  w->held = 0;
  return weir_writer_write(w->file, w->bytes, (size_t)bytes);
}

static weir_status put(weir_record_writer *w, channel *c, int32_t raw)
{
  if (w->frames == 0) {
    c->first = raw;
  }
  c->sum += (uint32_t)raw;
  w->samples[w->held++] = raw;
  return w->held == ROOM ? flush(w) : WEIR_OK;
}

static int32_t clip(weir_record_writer *w, double value)
{
  if (value > w->codec->hi || value < w->codec->lo) {
    w->clipped++;
    return value > 0 ? w->codec->hi : w->codec->lo;
  }
  return (int32_t)value;
}

weir_status weir_record_writer_append(weir_record_writer *w, int64_t frames,
                                      const float *const *values, const uint8_t *const *present)
{
  for (int64_t f = 0; f < frames; f++, w->frames++) {
    for (int64_t i = 0; i < w->n_channels; i++) {
      channel *const c = &w->channels[i];
      const double value = values[i][f];
      const bool absent = isnan(value) || (present && present[i] && !present[i][f]);

      WEIR_TRY(
          put(w, c, absent ? w->codec->invalid : clip(w, round(value * c->gain + c->baseline))));
    }
  }
  return WEIR_OK;
}

weir_status weir_record_writer_append_raw(weir_record_writer *w, int64_t frames,
                                          const int32_t *const *raw)
{
  for (int64_t f = 0; f < frames; f++, w->frames++) {
    for (int64_t i = 0; i < w->n_channels; i++) {
      const int32_t value = raw[i][f];

      WEIR_TRY(put(w, &w->channels[i], value == w->codec->invalid ? value : clip(w, value)));
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
  int64_t days = (w->spec.start_us - us) / day + 719468; /* from 0000-03-01 */

  if (w->spec.start_kind == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_writer_printf(header, " %02d:%02d:%02d.%06d", (int)(us / 3600000000),
                              (int)(us / 60000000 % 60), (int)(us / 1000000 % 60),
                              (int)(us % 1000000)));
  if (w->spec.start_kind == 1) {
    return WEIR_OK;
  }
  /* Civil date from day number: eras of 400 years beginning in March. */
  const int64_t era = days / 146097;
  const int64_t doe = days - era * 146097;
  const int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const int64_t mp = (5 * doy + 2) / 153;
  const int64_t month = mp < 10 ? mp + 3 : mp - 9;

  return weir_writer_printf(header, " %02d/%02d/%04d", (int)(doy - (153 * mp + 2) / 5 + 1),
                            (int)month, (int)(yoe + era * 400 + (month <= 2)));
}

static weir_status put_comment(const char *comment, weir_writer *header)
{
  for (const char *line = comment; line && *line;) {
    const size_t length = strcspn(line, "\n");

    WEIR_TRY(weir_writer_printf(header, "#%.*s\n", (int)length, line));
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

    weir_io_real_text(c->gain, text, sizeof text);
    WEIR_TRY(weir_writer_printf(
        header, "%s.dat %s %s(%d)/%s %d 0 %d %d 0 %s\n", w->name, w->codec->name, text, c->baseline,
        c->units, w->codec->number == 16 ? 16 : 12, c->first, (int16_t)c->sum, c->name));
  }
  return put_comment(w->comment, header);
}

weir_status weir_record_writer_commit(weir_record_writer **w)
{
  weir_writer *header = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(flush(*w), done);
  WEIR_TRY_GOTO(open_with_suffix((*w)->path, ".hea", &header), done);
  WEIR_TRY_GOTO(put_header(*w, header), done);
  /* The header last: whoever sees it finds the samples. */
  WEIR_TRY_GOTO(weir_writer_commit(&(*w)->file), done);
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
  weir_writer_destroy(&(*w)->file);
  weir_free(w);
}
