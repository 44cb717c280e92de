/* leads.c - leads in memory as records. */
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "io/io_priv.h"
#include "io/xml/weir_leads.h"

#define SECOND INT64_C(1000000000)
#define MAX_SLOTS (INT64_C(1) << 40)

typedef struct open_leads {
  weir_leads file;
  weir_signal_info *infos;
  char *name;
  int64_t origin; /* time of slot 0, as those of pieces */
} open_leads;

bool weir_leads_is_xml(const char *path)
{
  const size_t n = strlen(path);

  return n > 4 && strcasecmp(path + n - 4, ".xml") == 0;
}

void weir_leads_close(void *state)
{
  open_leads *e = state;

  weir_leads_fini(&e->file);
  weir_free(&e->infos);
  weir_free(&e->name);
  weir_free(&e);
}

/* The slot nearest to a time. */
static int64_t slot_at(const open_leads *e, int64_t time)
{
  const __int128 unit = (__int128)e->file.fs_den * SECOND;
  const __int128 slot = ((__int128)(time - e->origin) * e->file.fs_num * 2 + unit) / (2 * unit);

  return slot > MAX_SLOTS ? MAX_SLOTS : (int64_t)slot;
}

/* Pieces of a lead in order of time; they may not overlap. */
static weir_status place(const char *path, open_leads *e, weir_lead *lead)
{
  for (int64_t k = 0; k < lead->n_pieces; k++) {
    weir_lead_piece piece = lead->pieces[k];
    int64_t at = k;

    piece.first = slot_at(e, piece.time);
    for (; at > 0 && lead->pieces[at - 1].first > piece.first; at--) {
      lead->pieces[at] = lead->pieces[at - 1];
    }
    lead->pieces[at] = piece;
  }
  for (int64_t k = 1; k < lead->n_pieces; k++) {
    const weir_lead_piece *const before = &lead->pieces[k - 1];

    if (before->first + before->count > lead->pieces[k].first) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: lead %s: a sequence begins at %.9g s, before the previous one ends: "
                       "two recordings of a lead at one time are not supported",
                       path, lead->name,
                       (double)(lead->pieces[k].time - e->origin) / (double)SECOND);
    }
  }
  return WEIR_OK;
}

static weir_status describe(const char *path, open_leads *e)
{
  int64_t count = 0;

  e->origin = INT64_MAX;
  for (int64_t i = 0; i < e->file.n_leads; i++) {
    for (int64_t k = 0; k < e->file.leads[i].n_pieces; k++) {
      const int64_t time = e->file.leads[i].pieces[k].time;

      e->origin = time < e->origin ? time : e->origin;
    }
  }
  for (int64_t i = 0; i < e->file.n_leads; i++) {
    weir_lead *const lead = &e->file.leads[i];

    WEIR_TRY(place(path, e, lead));
    const weir_lead_piece *const last = &lead->pieces[lead->n_pieces - 1];

    count = last->first + last->count > count ? last->first + last->count : count;
  }
  if (count > MAX_SLOTS) {
    return weir_fail(WEIR_ERR_DATA, "%s: its sequences are too far apart", path);
  }
  WEIR_TRY(weir_alloc(e->file.n_leads, sizeof *e->infos, (void **)&e->infos));
  for (int64_t i = 0; i < e->file.n_leads; i++) {
    const weir_lead *const lead = &e->file.leads[i];

    e->infos[i] =
        (weir_signal_info){.name = lead->name,
                           .units = lead->units,
                           .file = "",
                           .fs_num = e->file.fs_num,
                           .fs_den = e->file.fs_den,
                           .count = count,
                           .samples_per_frame = 1,
                           .gain = 1 / lead->scale,
                           .baseline = -lead->origin / lead->scale,
                           .format = e->file.format,
                           .bits = e->file.bits,
                           .transducer = lead->computed ? "computed from leads I and II" : NULL};
  }
  return WEIR_OK;
}

static weir_status fill(open_leads *e, const char *path, const weir_record_opts *opts,
                        weir_leads_parse parse)
{
  const char *const slash = strrchr(path, '/');

  WEIR_TRY(weir_strdup(slash ? slash + 1 : path, &e->name));
  char *const suffix = strrchr(e->name, '.');

  if (suffix) {
    *suffix = 0;
  }
  WEIR_TRY(parse(path, &e->file));
  if (opts->derived_leads) {
    WEIR_TRY(weir_leads_compute(&e->file, path));
  }
  if (e->file.skipped > 0) {
    weir_info("io", "%s: %lld derived series (representative beats) are not read", path,
              (long long)e->file.skipped);
  }
  return describe(path, e);
}

weir_status weir_leads_open(const char *path, const weir_record_opts *opts, weir_leads_parse parse,
                            weir_record_body *body)
{
  void *memory = NULL;

  WEIR_TRY(weir_alloc(1, sizeof(open_leads), &memory));
  open_leads *const e = memory;
  const weir_status status = fill(e, path, opts, parse);

  if (status != WEIR_OK) {
    weir_leads_close(e);
    return status;
  }
  const int64_t start = e->file.absolute ? e->origin : e->file.start + e->origin;
  const bool known = e->file.absolute || e->file.has_start;

  *body = (weir_record_body){.state = e,
                             .name = e->name,
                             .signals = e->infos,
                             .n_signals = (int)e->file.n_leads,
                             .start_kind = known ? 2 : 0,
                             .start_us = known ? start / 1000 : 0,
                             .has_utc_offset = known && e->file.has_utc_offset,
                             .utc_offset = e->file.utc_offset};
  return WEIR_OK;
}

weir_status weir_leads_read(void *state, int signal, int64_t start, int64_t count,
                            const weir_record_slots *to)
{
  const open_leads *const e = state;
  const weir_lead *const lead = &e->file.leads[signal];

  for (int64_t k = 0; k < lead->n_pieces; k++) {
    const weir_lead_piece *const p = &lead->pieces[k];
    const int64_t lo = p->first > start ? p->first : start;
    const int64_t end = p->first + p->count;
    const int64_t hi = end < start + count ? end : start + count;

    for (int64_t slot = lo; slot < hi; slot++) {
      const int32_t raw = p->digits[slot - p->first];

      if (to->raw) {
        to->raw[slot - start] = raw;
      } else {
        to->values[slot - start] = (float)(lead->origin + lead->scale * raw);
      }
      to->present[slot - start] = 1;
    }
  }
  return WEIR_OK;
}

void weir_leads_next_run(const void *state, int signal, int64_t start, int64_t *lo, int64_t *hi)
{
  const open_leads *const e = state;
  const weir_lead *const lead = &e->file.leads[signal];

  for (int64_t k = 0; k < lead->n_pieces; k++) {
    const weir_lead_piece *const p = &lead->pieces[k];

    if (p->first + p->count > start) {
      *lo = p->first > start ? p->first : start;
      *hi = p->first + p->count;
      while (k + 1 < lead->n_pieces && lead->pieces[k + 1].first == *hi) {
        *hi += lead->pieces[++k].count;
      }
      return;
    }
  }
}

weir_status weir_leads_events(void *state, weir_record_events *out)
{
  const open_leads *const e = state;

  for (int64_t i = 0; i < e->file.events.count; i++) {
    weir_record_event event = e->file.events.items[i];
    const char *const text = event.text;

    event.time -= e->origin;
    WEIR_TRY(weir_record_events_add(out, &event, text, (int64_t)strlen(text)));
  }
  return WEIR_OK;
}
