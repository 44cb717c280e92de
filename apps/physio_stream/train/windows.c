/* windows.c - the signal around each beat, read from its record. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "commands.h"
#include "data/input.h"
#include "train/session.h"

/* A lead of a record, and where windows of it go. */
typedef struct lead {
  const ps_beat_network *is;
  ps_input *in;
  float *x; /* [slots] of a window at the rate of the record */
  uint8_t *present, *whole;
} lead;

static weir_status read_beat(const lead *l, double fs, double time, float *window, uint8_t *whole)
{
  const int64_t behind = ps_beat_window_behind(&l->is->window, fs);
  const int64_t n = behind + 1 + ps_beat_window_ahead(&l->is->window, fs);
  int64_t there = 0;

  WEIR_TRY(ps_input_read(l->in, llround(time * fs) - behind, n, l->x, l->present));
  for (int64_t i = 0; i < n; i++) {
    there += l->present[i] && isfinite(l->x[i]);
  }
  *whole = *whole && there == n;
  if (there == n) {
    ps_beat_window_take(&l->is->window, fs, l->x, l->is->leads, window);
  }
  return WEIR_OK;
}

/* Lead k of record `record`: the windows of its beats. */
static weir_status read_lead(ps_train_session *e, int64_t record, int64_t k, lead *l)
{
  const int64_t size = ps_beat_window_samples(&l->is->window) * l->is->leads;
  const ps_input_info *info = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(ps_input_need_millivolts(l->in));
  info = ps_input_get(l->in);
  const double fs = (double)info->fs_num / (double)info->fs_den;
  const int64_t n =
      ps_beat_window_behind(&l->is->window, fs) + 1 + ps_beat_window_ahead(&l->is->window, fs);

  WEIR_TRY_GOTO(weir_alloc(n, sizeof *l->x, (void **)&l->x), done);
  WEIR_TRY_GOTO(weir_alloc(n, 1, (void **)&l->present), done);
  for (int64_t i = 0; i < e->beats.n && status == WEIR_OK; i++) {
    if (e->beats.v[i].record == record) {
      status = read_beat(l, fs, e->beats.v[i].time, e->window + i * size + k, &l->whole[i]);
    }
  }
done:
  weir_free(&l->x);
  weir_free(&l->present);
  return status;
}

static weir_status read_record(const ps_cfg *cfg, const ps_beat_network *is, ps_train_session *e,
                               int64_t record, uint8_t *whole)
{
  for (int64_t k = 0; k < is->leads; k++) {
    ps_input_opts o = cfg->input;
    lead l = {.is = is, .whole = whole};

    o.record = ps_train_record(e, record)->path;
    o.records = (weir_string_list){.count = 0};
    o.signal = cfg->beats.network.signals.count > 0 ? cfg->beats.network.signals.items[k] : "";
    WEIR_TRY(ps_input_open(&o, NULL, 0, &l.in));
    const weir_status status = read_lead(e, record, k, &l);

    ps_input_close(&l.in);
    WEIR_TRY(status);
  }
  return WEIR_OK;
}

/* Leaves the beats whose windows are whole; the others have no class. */
static void drop_incomplete(ps_train_session *e, int64_t size, const uint8_t *whole)
{
  const int64_t all = e->beats.n, of_train = e->n_train;
  int64_t n = 0;

  for (int64_t i = 0; i < all; i++) {
    if (whole[i]) {
      e->beats.v[n] = e->beats.v[i];
      memmove(e->window + n * size, e->window + i * size, (size_t)size * sizeof *e->window);
      n++;
    } else {
      const ps_labelled *const beat = &e->beats.v[i];

      e->unclassed[beat->record].n[beat->kind][PS_LABEL_Q]++;
      e->n_train -= i < of_train;
    }
  }
  e->beats.n = n;
  if (n < all) {
    weir_info("train", "%lld of %lld beats have a gap in the window of the network: of no class",
              (long long)(all - n), (long long)all);
  }
}

weir_status ps_train_read_windows(const ps_cfg *cfg, ps_train_session *e)
{
  ps_beat_network is;
  uint8_t *whole = NULL;
  int64_t elements = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(ps_beat_network_of(&cfg->beats.network, &is));
  const int64_t size = ps_beat_window_samples(&is.window) * is.leads;

  if (!weir_mul_ok(e->beats.n, size, &elements)) {
    return weir_fail(WEIR_ERR_MEMORY, "the windows of %lld beats", (long long)e->beats.n);
  }
  WEIR_TRY_GOTO(weir_alloc(elements, sizeof *e->window, (void **)&e->window), done);
  WEIR_TRY_GOTO(weir_alloc(e->beats.n, 1, (void **)&whole), done);
  memset(whole, 1, (size_t)e->beats.n);
  for (int64_t r = 0; r < e->records.count + e->test.count; r++) {
    WEIR_TRY_GOTO(read_record(cfg, &is, e, r, whole), done);
  }
  drop_incomplete(e, size, whole);
done:
  weir_free(&whole);
  return status;
}
