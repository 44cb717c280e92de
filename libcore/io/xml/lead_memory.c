/* lead_memory.c - leads as a file states them, and those that follow from I and II. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "io/xml/weir_leads.h"
#include "io/xml/weir_xml.h"

weir_status weir_leads_add(weir_leads *a, const char *path, const char *name, weir_lead **out)
{
  if (a->n_leads == WEIR_LEADS_MAX) {
    return weir_fail(WEIR_ERR_DATA, "%s: more than %d leads", path, WEIR_LEADS_MAX);
  }
  WEIR_TRY(weir_reserve(&a->leads, &a->lead_capacity, a->n_leads + 1, sizeof *a->leads));
  *out = &a->leads[a->n_leads++];
  memset(*out, 0, sizeof **out);
  weir_xml_copy((*out)->name, WEIR_LEAD_TEXT, name);
  return WEIR_OK;
}

weir_status weir_leads_add_piece(weir_lead *lead, const char *path, weir_lead_piece **out)
{
  if (lead->n_pieces == WEIR_LEAD_PIECES) {
    return weir_fail(WEIR_ERR_DATA, "%s: more than %d sequences of lead %s", path, WEIR_LEAD_PIECES,
                     lead->name);
  }
  WEIR_TRY(
      weir_reserve(&lead->pieces, &lead->piece_capacity, lead->n_pieces + 1, sizeof *lead->pieces));
  *out = &lead->pieces[lead->n_pieces++];
  memset(*out, 0, sizeof **out);
  return WEIR_OK;
}

static int64_t find(const weir_leads *a, const char *name)
{
  for (int64_t i = 0; i < a->n_leads; i++) {
    if (strcmp(a->leads[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

/* The pieces lie at the same times, and values are in the same unit of the same size. */
static bool alike(const weir_lead *a, const weir_lead *b)
{
  bool same = strcmp(a->units, b->units) == 0 && fabs(a->scale - b->scale) <= 0 &&
              fabs(a->origin - b->origin) <= 0 && a->n_pieces == b->n_pieces;

  for (int64_t k = 0; same && k < a->n_pieces; k++) {
    same = a->pieces[k].time == b->pieces[k].time && a->pieces[k].count == b->pieces[k].count;
  }
  return same;
}

/* value = (of_one I + of_two II) / parts: digits of the lead are multiples of scale / parts. */
typedef struct rule {
  const char *name;
  int of_one, of_two, parts;
} rule;

static weir_status compute(weir_leads *a, const char *path, const rule *by, int64_t one,
                           int64_t two)
{
  weir_lead *lead = NULL;
  weir_lead_piece *piece = NULL;

  WEIR_TRY(weir_leads_add(a, path, by->name, &lead));
  const weir_lead *const first = &a->leads[one];
  const weir_lead *const second = &a->leads[two];

  memcpy(lead->units, first->units, sizeof lead->units);
  lead->scale = first->scale / by->parts;
  lead->origin = first->origin * (by->of_one + by->of_two) / by->parts;
  lead->computed = true;
  for (int64_t k = 0; k < first->n_pieces; k++) {
    const int64_t n = first->pieces[k].count;

    WEIR_TRY(weir_leads_add_piece(lead, path, &piece));
    piece->time = first->pieces[k].time;
    WEIR_TRY(weir_alloc(n, sizeof *piece->digits, (void **)&piece->digits));
    piece->count = piece->capacity = n;
    for (int64_t i = 0; i < n; i++) {
      const int64_t v = (int64_t)by->of_one * first->pieces[k].digits[i] +
                        (int64_t)by->of_two * second->pieces[k].digits[i];

      if (v > INT32_MAX || v < INT32_MIN) {
        return weir_fail(WEIR_ERR_DATA, "%s: lead %s, computed from I and II, exceeds 32 bits",
                         path, by->name);
      }
      piece->digits[i] = (int32_t)v;
    }
  }
  return WEIR_OK;
}

weir_status weir_leads_compute(weir_leads *a, const char *path)
{
  static const rule rules[] = {
      {"III", -1, 1, 1},
      {"aVR", -1, -1, 2},
      {"aVL", 2, -1, 2},
      {"aVF", -1, 2, 2},
  };
  const int64_t one = find(a, "I");
  const int64_t two = find(a, "II");

  if (one < 0 || two < 0 || !alike(&a->leads[one], &a->leads[two])) {
    weir_warn("io", "%s: no leads are computed: it has no leads I and II of one scale and time",
              path);
    return WEIR_OK;
  }
  for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
    if (find(a, rules[k].name) < 0) {
      WEIR_TRY(compute(a, path, &rules[k], one, two));
    }
  }
  return WEIR_OK;
}

void weir_leads_fini(weir_leads *a)
{
  for (int64_t i = 0; i < a->n_leads; i++) {
    for (int64_t k = 0; k < a->leads[i].n_pieces; k++) {
      weir_free(&a->leads[i].pieces[k].digits);
    }
    weir_free(&a->leads[i].pieces);
  }
  weir_free(&a->leads);
  weir_record_events_fini(&a->events);
  *a = (weir_leads){0};
}
