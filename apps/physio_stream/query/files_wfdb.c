/* files_wfdb.c - an output of a query as a WFDB record, a channel a column. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "query/files_priv.h"

enum { FRAMES = 4096 };

/* Frames that are being filled: [channel][frame]. */
typedef struct block {
  int n;
  int64_t first;
  float *x;
  uint8_t *present;
} block;

/* Steps per unit so that all values fit 16 bits, at three significant digits. */
static double gain_of(const ps_column *c)
{
  const double peak = c->present > 0 ? fmax(fabs(c->min), fabs(c->max)) : 1;
  const double gain = 32000 / (peak > 0 && isfinite(peak) ? peak : 1);
  const double step = pow(10, floor(log10(gain)) - 2);

  return floor(gain / step) * step;
}

static weir_status append(weir_record_writer *w, const block *b, int64_t frames)
{
  const float *x[WEIR_SERIES_MAX];
  const uint8_t *present[WEIR_SERIES_MAX];

  for (int k = 0; k < b->n; k++) {
    x[k] = b->x + (int64_t)k * FRAMES;
    present[k] = b->present + (int64_t)k * FRAMES;
  }
  return weir_record_writer_append(w, frames, x, present);
}

/* The frames of the block, from the rows that lie in it. */
static weir_status fill(block *b, ps_rows *rows)
{
  for (int64_t i = 0; i < (int64_t)b->n * FRAMES; i++) {
    b->x[i] = 0;
    b->present[i] = 0;
  }
  while (rows->slot < b->first + FRAMES) {
    for (int k = 0; k < b->n; k++) {
      if (rows->reader[k].slot == rows->slot) {
        b->x[(int64_t)k * FRAMES + rows->slot - b->first] = rows->reader[k].value;
        b->present[(int64_t)k * FRAMES + rows->slot - b->first] = 1;
      }
    }
    WEIR_TRY(ps_rows_next(rows));
  }
  return WEIR_OK;
}

static weir_status write_frames(weir_record_writer *w, block *b, ps_rows *rows, int64_t frames)
{
  for (; b->first < frames; b->first += FRAMES) {
    const int64_t left = frames - b->first;

    WEIR_TRY(fill(b, rows));
    WEIR_TRY(append(w, b, left < FRAMES ? left : FRAMES));
  }
  return WEIR_OK;
}

static weir_status open_record(ps_files *f, int output, int64_t *frames)
{
  const weir_query_output *o = &f->run->query.outputs[output];
  weir_record_channel channels[WEIR_SERIES_MAX];
  char name[2 * WEIR_QUERY_NAME + 8], path[PS_FILES_PATH];

  ps_query_file_name((const ps_query_output *)f->cfg->outputs.items + output, "", name,
                     sizeof name);
  name[strlen(name) - strlen(".hea")] = 0;
  WEIR_TRY(weir_path_join(f->dir, name, path, sizeof path));
  *frames = 0;
  for (int k = 0; k < o->n; k++) {
    const ps_column *c = &f->run->columns[o->column[k]];

    channels[k] = (weir_record_channel){.name = c->what->part,
                                        .units = c->what->unit[0] != 0 ? c->what->unit : "NU",
                                        .gain = gain_of(c)};
    *frames = c->slots > *frames ? c->slots : *frames;
  }
  const weir_query_column *first = &f->run->query.columns[o->column[0]];
  const weir_record_spec spec = {.fs_num = first->rate_num,
                                 .fs_den = first->rate_den,
                                 .n_channels = o->n,
                                 .channels = channels,
                                 .format = 16,
                                 .start_kind = f->run->facts->start_kind,
                                 .start_us = f->run->facts->start_us};

  return weir_record_writer_open(path, &spec, &f->record[output]);
}

weir_status ps_files_wfdb(ps_files *f, int output)
{
  const weir_query_output *o = &f->run->query.outputs[output];
  block b = {.n = o->n};
  ps_rows rows = {.n = 0};
  int64_t frames = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(open_record(f, output, &frames));
  WEIR_TRY_GOTO(weir_alloc((int64_t)o->n * FRAMES, sizeof *b.x, (void **)&b.x), done);
  WEIR_TRY_GOTO(weir_alloc((int64_t)o->n * FRAMES, 1, (void **)&b.present), done);
  WEIR_TRY_GOTO(ps_rows_open(f->run, o, &rows), done);
  WEIR_TRY_GOTO(write_frames(f->record[output], &b, &rows, frames), done);
done:
  ps_rows_close(&rows);
  weir_free(&b.x);
  weir_free(&b.present);
  return status;
}
