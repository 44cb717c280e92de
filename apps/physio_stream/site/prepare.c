/* prepare.c - the canonical form of a dataset: numbered WFDB records of one signal, nothing else.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "base/weir_signal.h"
#include "io/weir_annotation.h"
#include "io/weir_record.h"
#include "io/weir_record_writer.h"
#include "site/model.h"

enum { BLOCK = 65536, DIGEST = 64, FORMAT = 16, INVALID = -32768, MAX_DAYS = 3650 };

/* One source, and the digest that gives it its number. */
typedef struct source {
  const char *path;
  char digest[65];
} source;

typedef struct job {
  const ps_site_opts *opts;
  const char *out;
  int64_t shift_us; /* added to every date */
  int32_t raw[BLOCK];
  uint8_t present[BLOCK];
} job;

static weir_status open_signal(const job *j, const char *path, weir_record **r, int *signal)
{
  WEIR_TRY(weir_record_open(path, NULL, r));
  weir_status status = weir_record_find(*r, j->opts->signal, signal);

  if (status == WEIR_OK && weir_record_signal(*r, *signal)->scale_varies) {
    status = weir_fail(WEIR_ERR_UNSUPPORTED,
                       "%s: its segments have scales of their own, and stored integers are copied: "
                       "convert it to a record of one segment first (physio_stream convert --set "
                       "convert.format=wfdb)",
                       path);
  }
  if (status != WEIR_OK) {
    weir_record_close(r);
  }
  return status;
}

/* Samples as they will be stored: absent ones are the format's invalid code. */
static weir_status read_block(job *j, weir_record *r, int signal, int64_t at, int64_t n)
{
  if (weir_stop_requested()) {
    return weir_fail(WEIR_ERR_STOPPED, "site prepare: stopped, nothing is complete");
  }
  WEIR_TRY(weir_record_read_raw(r, signal, at, n, j->raw, j->present));
  for (int64_t i = 0; i < n; i++) {
    j->raw[i] = j->present[i] ? j->raw[i] : INVALID;
  }
  return WEIR_OK;
}

/* Path without the suffix of a header or of another record file. */
static void stem(const char *path, char out[PS_SITE_PATH])
{
  (void)snprintf(out, PS_SITE_PATH, "%s", path);
  const char *slash = strrchr(out, '/');
  char *dot = strrchr(out, '.');

  if (dot != NULL && (slash == NULL || dot > slash)) {
    *dot = 0;
  }
}

/* Annotations of a source. */
static void annotation_path(const job *j, const source *s, char *path, size_t size)
{
  char from[PS_SITE_PATH];

  stem(s->path, from);
  (void)snprintf(path, size, "%s.%s", from, j->opts->annotator);
}

/* What is missing is found before anything is written. */
static weir_status check_annotations(const job *j, const source *s)
{
  char path[PS_SITE_PATH + 80];
  weir_annotations a = {0};

  annotation_path(j, s, path, sizeof path);
  WEIR_TRY(weir_annotations_read(path, &a));
  weir_annotations_fini(&a);
  return WEIR_OK;
}

/* A chain over blocks: each digest covers the one before. */
static weir_status digest_samples(job *j, source *s)
{
  struct {
    char before[DIGEST];
    int32_t raw[BLOCK];
  } *chain = NULL;
  weir_record *r = NULL;
  int signal = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(open_signal(j, s->path, &r, &signal));
  WEIR_TRY_GOTO(weir_alloc(1, sizeof *chain, (void **)&chain), done);
  const int64_t count = weir_record_signal(r, signal)->count;
  weir_sha256("", 0, s->digest);
  for (int64_t t = 0; t < count; t += BLOCK) {
    const int64_t n = count - t < BLOCK ? count - t : BLOCK;

    WEIR_TRY_GOTO(read_block(j, r, signal, t, n), done);
    memcpy(chain->before, s->digest, DIGEST);
    memcpy(chain->raw, j->raw, (size_t)n * sizeof j->raw[0]);
    weir_sha256(chain, DIGEST + (size_t)n * sizeof j->raw[0], s->digest);
  }
done:
  weir_free(&chain);
  weir_record_close(&r);
  return status;
}

static int compare(const void *a, const void *b)
{
  return strcmp(((const source *)a)->digest, ((const source *)b)->digest);
}

static weir_status write_samples(job *j, const source *s, const char *to, int *per_frame)
{
  weir_record *r = NULL;
  weir_record_writer *w = NULL;
  const int32_t *const raw[] = {j->raw};
  int signal = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(open_signal(j, s->path, &r, &signal));
  const weir_signal_info *info = weir_record_signal(r, signal);

  if (!(fabs(info->baseline) < INT32_MAX)) {
    status = weir_fail(WEIR_ERR_DATA, "%s: a baseline of %g cannot stand in a header", s->path,
                       info->baseline);
    goto done;
  }
  const weir_record_channel channel = {
      .name = "ECG", .units = info->units, .gain = info->gain, .baseline = (int)info->baseline};
  weir_record_spec spec = {.fs_num = info->fs_num,
                           .fs_den = info->fs_den,
                           .n_channels = 1,
                           .channels = &channel,
                           .format = FORMAT};

  if (j->opts->dates == PS_SITE_DATES_SHIFT && weir_record_start(r, &spec.start_us) == 2) {
    spec.start_kind = 2;
    spec.start_us += j->shift_us;
  }
  *per_frame = info->samples_per_frame > 0 ? info->samples_per_frame : 1;
  WEIR_TRY_GOTO(weir_record_writer_open(to, &spec, &w), done);
  for (int64_t t = 0; t < info->count; t += BLOCK) {
    const int64_t n = info->count - t < BLOCK ? info->count - t : BLOCK;

    WEIR_TRY_GOTO(read_block(j, r, signal, t, n), done);
    WEIR_TRY_GOTO(weir_record_writer_append_raw(w, n, raw), done);
  }
  if (weir_record_writer_clipped(w) > 0) {
    status = weir_fail(WEIR_ERR_DATA, "%s: %lld samples need more than 16 bits", s->path,
                       (long long)weir_record_writer_clipped(w));
    goto done;
  }
  status = weir_record_writer_commit(&w);
done:
  weir_record_writer_destroy(&w);
  weir_record_close(&r);
  return status;
}

/* Time and code of each annotation; texts may name somebody. Times count samples of the signal. */
static weir_status write_annotations(const job *j, const source *s, const char *to, int per_frame)
{
  weir_annotations in = {0};
  weir_annotation_writer *w = NULL;
  char path[PS_SITE_PATH + 80];
  weir_status status = WEIR_OK;

  annotation_path(j, s, path, sizeof path);
  WEIR_TRY(weir_annotations_read(path, &in));
  const weir_annotations head = {.fs_num = in.fs_num, .fs_den = in.fs_den};
  const int64_t scale = in.fs_num > 0 ? 1 : per_frame;

  (void)snprintf(path, sizeof path, "%s.%s", to, j->opts->annotator);
  WEIR_TRY_GOTO(weir_annotation_writer_open(path, &head, &w), done);
  for (int64_t i = 0; i < in.count; i++) {
    weir_annotation a = {.code = in.items[i].code};

    if (!weir_mul_ok(in.items[i].time, scale, &a.time)) {
      status = weir_fail(WEIR_ERR_DATA, "%s: annotation %lld lies too late", s->path, (long long)i);
      goto done;
    }
    WEIR_TRY_GOTO(weir_annotation_writer_append(w, &a), done);
  }
  status = weir_annotation_writer_commit(&w);
done:
  weir_annotation_writer_destroy(&w);
  weir_annotations_fini(&in);
  return status;
}

/* Age, sex and diagnoses of every record, in the order of their numbers. */
static weir_status write_attributes(const job *j, const source *sources, int64_t n)
{
  char(*names)[PS_SITE_NAME] = NULL, **comments = NULL;
  const char **name = NULL;
  weir_record *r = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(n, sizeof *names, (void **)&names), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *name, (void **)&name), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *comments, (void **)&comments), done);
  for (int64_t i = 0; i < n; i++) {
    (void)snprintf(names[i], sizeof names[i], "r%05lld", (long long)i + 1);
    name[i] = names[i];
    WEIR_TRY_GOTO(weir_record_open(sources[i].path, NULL, &r), done);
    comments[i] = strdup(weir_record_comments(r));
    weir_record_close(&r);
    if (comments[i] == NULL) {
      status = weir_fail(WEIR_ERR_MEMORY, "site prepare: no memory for comments");
      goto done;
    }
  }
  status = ps_attributes_write(j->out, name, (const char *const *)comments, n, &j->opts->diagnoses);
done:
  for (int64_t i = 0; comments != NULL && i < n; i++) {
    free(comments[i]);
  }
  weir_free(&comments);
  weir_free(&name);
  weir_free(&names);
  return status;
}

static weir_status write_dataset(job *j, const source *sources, int64_t n)
{
  char path[PS_SITE_PATH], name[PS_SITE_NAME];
  weir_writer *records = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_path_join(j->out, "RECORDS", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &records));
  for (int64_t i = 0; i < n; i++) {
    int per_frame = 1;

    (void)snprintf(name, sizeof name, "r%05lld", (long long)i + 1);
    WEIR_TRY_GOTO(weir_path_join(j->out, name, path, sizeof path), done);
    WEIR_TRY_GOTO(write_samples(j, &sources[i], path, &per_frame), done);
    WEIR_TRY_GOTO(write_annotations(j, &sources[i], path, per_frame), done);
    WEIR_TRY_GOTO(weir_writer_printf(records, "%s\n", name), done);
    weir_progress("site prepare", i + 1, n, "records");
  }
  return weir_writer_commit(&records);
done:
  weir_writer_destroy(&records);
  return status;
}

weir_status ps_site_prepare(const ps_site_opts *opts, uint64_t seed, const char *out, int64_t *n)
{
  const int64_t count = opts->records.count;
  const int64_t days = 1 + (int64_t)(weir_random_bits(seed, 0x5174e, 0, 0) % MAX_DAYS);
  source *sources = NULL;
  job *j = NULL;
  weir_status status = WEIR_OK;

  if (count == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "site.records names no record");
  }
  WEIR_TRY(weir_alloc(count, sizeof *sources, (void **)&sources));
  WEIR_TRY_GOTO(weir_alloc(1, sizeof *j, (void **)&j), done);
  j->opts = opts;
  j->out = out;
  j->shift_us = -days * 86400 * 1000000;
  for (int64_t i = 0; i < count; i++) {
    sources[i].path = opts->records.items[i];
    WEIR_TRY_GOTO(check_annotations(j, &sources[i]), done);
    WEIR_TRY_GOTO(digest_samples(j, &sources[i]), done);
  }
  qsort(sources, (size_t)count, sizeof *sources, compare);
  for (int64_t i = 1; i < count; i++) {
    if (strcmp(sources[i].digest, sources[i - 1].digest) == 0) {
      status = weir_fail(WEIR_ERR_DATA, "%s and %s hold the same samples: leave one out",
                         sources[i - 1].path, sources[i].path);
      goto done;
    }
  }
  WEIR_TRY_GOTO(write_dataset(j, sources, count), done);
  if (opts->attributes) {
    WEIR_TRY_GOTO(write_attributes(j, sources, count), done);
  }
  *n = count;
done:
  weir_free(&j);
  weir_free(&sources);
  return status;
}
