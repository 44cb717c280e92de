/* convert_csv.c - a record in any format as delimited text, one file for each clock. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_decimal.h"
#include "base/weir_file.h"
#include "io/io_priv.h"
#include "io/weir_record_convert.h"

enum { BLOCK = 4096, MAX_PATH = 4000 };

typedef struct text_copy {
  weir_record *r;
  const char *path;
  weir_convert_facts *facts;
  weir_writer *w;      /* the file at hand */
  weir_writer **whole; /* those that are written, up to n_whole */
  int n, n_files, n_whole;
  int *file; /* of each signal */
  float *values;
  uint8_t *present;
} text_copy;

static bool same_clock(const weir_signal_info *a, const weir_signal_info *b)
{
  return a->fs_num == b->fs_num && a->fs_den == b->fs_den && a->count == b->count;
}

/* The file at hand is complete, and waits for the others. */
static void end_file(text_copy *c)
{
  c->whole[c->n_whole++] = c->w;
  c->w = NULL;
  c->facts->n_files++;
}

/* Signals of one rate and length share a file. */
static void group_signals(text_copy *c)
{
  for (int i = 0; i < c->n; i++) {
    int like = 0;

    while (!same_clock(weir_record_signal(c->r, like), weir_record_signal(c->r, i))) {
      like++;
    }
    c->file[i] = like == i ? c->n_files++ : c->file[like];
  }
}

/* A column's name: what would end it becomes a blank. */
static weir_status put_name(text_copy *c, const weir_signal_info *s)
{
  char name[128];

  snprintf(name, sizeof name, s->units[0] ? ",%.64s (%.32s)" : ",%.64s", s->name, s->units);
  for (char *at = name + 1; *at; at++) {
    *at = *at == ',' || *at == '"' || (unsigned char)*at < 32 ? ' ' : *at;
  }
  return weir_writer_write(c->w, name, strlen(name));
}

static weir_status put_row(text_copy *c, const weir_signal_info *clock, int64_t slot,
                           int64_t in_block, int columns)
{
  char number[WEIR_DECIMAL_FLOAT_SIZE];
  const __int128 ns = (__int128)slot * clock->fs_den * 1000000000 / clock->fs_num;

  WEIR_TRY(weir_writer_printf(c->w, "%lld.%09lld", (long long)(ns / 1000000000),
                              (long long)(ns % 1000000000)));
  for (int k = 0; k < columns; k++) {
    const int64_t at = (int64_t)k * BLOCK + in_block;
    const size_t length = c->present[at] ? weir_decimal_float(c->values[at], number) : 0;

    c->facts->absent += !c->present[at];
    WEIR_TRY(weir_writer_write(c->w, ",", 1));
    WEIR_TRY(weir_writer_write(c->w, number, length));
  }
  return weir_writer_write(c->w, "\n", 1);
}

static weir_status write_rows(text_copy *c, int file, const weir_signal_info *clock)
{
  for (int64_t start = 0; start < clock->count; start += BLOCK) {
    const int64_t n = clock->count - start < BLOCK ? clock->count - start : BLOCK;
    int columns = 0;

    for (int i = 0; i < c->n; i++) {
      if (c->file[i] == file) {
        const int64_t at = (int64_t)columns++ * BLOCK;

        WEIR_TRY(weir_record_read(c->r, i, start, n, c->values + at, c->present + at));
      }
    }
    for (int64_t k = 0; k < n; k++) {
      WEIR_TRY(put_row(c, clock, start + k, k, columns));
    }
    c->facts->samples += n * columns;
  }
  return WEIR_OK;
}

static weir_status write_file(text_copy *c, int file)
{
  const weir_signal_info *clock = NULL;
  char full[4096];
  char rate[64];

  if (c->n_files == 1) {
    snprintf(full, sizeof full, "%s.csv", c->path);
  } else {
    snprintf(full, sizeof full, "%s_%d.csv", c->path, file);
  }
  for (int i = c->n - 1; i >= 0; i--) {
    clock = c->file[i] == file ? weir_record_signal(c->r, i) : clock;
  }
  weir_io_rate_text(clock->fs_num, clock->fs_den, rate, sizeof rate);
  WEIR_TRY(weir_writer_open(full, &c->w));
  WEIR_TRY(weir_writer_printf(c->w, "# sampling rate (Hz): %s\ntime_s", rate));
  for (int i = 0; i < c->n; i++) {
    if (c->file[i] == file) {
      WEIR_TRY(put_name(c, weir_record_signal(c->r, i)));
    }
  }
  WEIR_TRY(weir_writer_write(c->w, "\n", 1));
  WEIR_TRY(write_rows(c, file, clock));
  end_file(c);
  return WEIR_OK;
}

/* A text in quotes, each quote inside doubled (RFC 4180). */
static weir_status put_quoted(weir_writer *w, const char *text)
{
  WEIR_TRY(weir_writer_write(w, ",\"", 2));
  for (const char *at = text; *at; at++) {
    WEIR_TRY(weir_writer_printf(w, *at == '"' ? "\"\"" : "%c", *at));
  }
  return weir_writer_write(w, "\"", 1);
}

static weir_status write_events(text_copy *c, const weir_record_events *e)
{
  char full[4096];

  if (!e || e->count == 0) {
    return WEIR_OK;
  }
  snprintf(full, sizeof full, "%s_events.csv", c->path);
  WEIR_TRY(weir_writer_open(full, &c->w));
  WEIR_TRY(weir_writer_printf(c->w, "time_s,duration_s,code,text\n"));
  for (int64_t i = 0; i < e->count; i++) {
    const weir_record_event *const x = &e->items[i];
    char time[64];
    char duration[64] = "";

    weir_io_real_text((double)x->time / 1e9, time, sizeof time);
    if (x->duration >= 0) {
      weir_io_real_text((double)x->duration / 1e9, duration, sizeof duration);
    }
    WEIR_TRY(weir_writer_printf(c->w, "%s,%s", time, duration));
    WEIR_TRY(put_quoted(c->w, weir_annotation_mnemonic(x->code)));
    WEIR_TRY(put_quoted(c->w, x->text ? x->text : ""));
    WEIR_TRY(weir_writer_write(c->w, "\n", 1));
  }
  end_file(c);
  return WEIR_OK;
}

/* A separate file: above a table, the words of a comment could be taken for its rate. */
static weir_status write_comments(text_copy *c, const char *comments)
{
  char full[4096];

  if (!comments || !comments[0]) {
    return WEIR_OK;
  }
  snprintf(full, sizeof full, "%s_comments.txt", c->path);
  WEIR_TRY(weir_writer_open(full, &c->w));
  WEIR_TRY(weir_writer_write(c->w, comments, strlen(comments)));
  end_file(c);
  return WEIR_OK;
}

static weir_status write_all(text_copy *c, const weir_record_events *events, const char *comments)
{
  WEIR_TRY(weir_alloc(c->n, sizeof *c->file, (void **)&c->file));
  WEIR_TRY(weir_alloc((int64_t)c->n * BLOCK, sizeof *c->values, (void **)&c->values));
  WEIR_TRY(weir_alloc((int64_t)c->n * BLOCK, 1, (void **)&c->present));
  group_signals(c);
  WEIR_TRY(weir_alloc(c->n_files + 2, sizeof *c->whole, (void **)&c->whole));
  for (int k = 0; k < c->n_files; k++) {
    WEIR_TRY(write_file(c, k));
  }
  WEIR_TRY(write_events(c, events));
  WEIR_TRY(write_comments(c, comments));
  for (int k = 0; k < c->n_whole; k++) {
    WEIR_TRY(weir_writer_commit(&c->whole[k]));
  }
  return WEIR_OK;
}

weir_status weir_record_to_csv(weir_record *r, const weir_record_events *events,
                               const char *comments, const char *path, weir_convert_facts *facts)
{
  text_copy c = {.r = r, .path = path, .facts = facts, .n = weir_record_signals(r)};

  *facts = (weir_convert_facts){0};
  if (strlen(path) > MAX_PATH) {
    return weir_fail(WEIR_ERR_CONFIG, "%.64s...: the path is too long", path);
  }
  const weir_status status = write_all(&c, events, comments);

  weir_writer_destroy(&c.w);
  for (int k = 0; k < c.n_whole; k++) {
    weir_writer_destroy(&c.whole[k]);
  }
  weir_free(&c.whole);
  weir_free(&c.file);
  weir_free(&c.values);
  weir_free(&c.present);
  return status;
}
