/* series_use.c - what operators need to be steps of a query: memory, lengths and units. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "stream/weir_series.h"

typedef struct weir_series_kept {
  struct weir_series_kept *next;
  void (*fini)(void *);
  void *memory;
} weir_series_kept;

weir_status weir_series_keep(const weir_series_use *use, size_t bytes, void (*fini)(void *),
                             void **out)
{
  weir_series_kept *kept = NULL;

  WEIR_TRY(weir_alloc(1, sizeof *kept, (void **)&kept));
  const weir_status status = weir_alloc(1, bytes, &kept->memory);

  if (status != WEIR_OK) {
    weir_free(&kept);
    return status;
  }
  memset(kept->memory, 0, bytes);
  kept->fini = fini;
  kept->next = use->keeper->first;
  use->keeper->first = kept;
  *out = kept->memory;
  return WEIR_OK;
}

void weir_series_keeper_fini(weir_series_keeper *k)
{
  while (k->first != NULL) {
    weir_series_kept *kept = k->first;

    k->first = kept->next;
    if (kept->fini != NULL) {
      kept->fini(kept->memory);
    }
    weir_free(&kept->memory);
    weir_free(&kept);
  }
}

weir_status weir_series_slots(const weir_series *s, const char *option, double seconds,
                              int64_t min_slots, int64_t *slots)
{
  const double period = (double)s->rate_den / (double)s->rate_num;
  const double exact = seconds / period, whole = nearbyint(exact);

  if (!(fabs(exact) < 0x1p52) || fabs(exact - whole) > 1e-9 * fmax(1, fabs(exact))) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: %.12g s is not an integer number of periods of %.12g s",
                     option, seconds, period);
  }
  if (whole < (double)min_slots) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: %.12g s is shorter than %lld periods of %.12g s", option,
                     seconds, (long long)min_slots, period);
  }
  *slots = (int64_t)whole;
  return WEIR_OK;
}

weir_status weir_series_hop(const weir_series *s, const char *option, double seconds,
                            int64_t *slots)
{
  WEIR_TRY(weir_series_slots(s, option, seconds, 1, slots));
  if (*slots > WEIR_LONGEST_STEP) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: %.12g s are %lld samples, but windows that follow each other are limited "
                     "to %lld: use a shorter one, or aggregate the samples first",
                     option, seconds, (long long)*slots, (long long)WEIR_LONGEST_STEP);
  }
  return WEIR_OK;
}

void weir_series_set_unit(weir_series *s, const char *unit)
{
  (void)snprintf(s->unit, sizeof s->unit, "%s", unit);
}

weir_status weir_series_same_unit(const weir_series *a, const char *a_name, const weir_series *b,
                                  const char *b_name)
{
  double factor = 1;

  if (a->unit[0] == 0 || b->unit[0] == 0 || strcmp(a->unit, b->unit) == 0) {
    return WEIR_OK;
  }
  if (weir_unit_factor(a->unit, b->unit, &factor)) {
    if (factor == 1) { /* two spellings */
      return WEIR_OK;
    }
    return weir_fail(
        WEIR_ERR_CONFIG,
        "%s is in %s but %s is in %s: convert it by a step {select: {value: %s, unit: %s}}", a_name,
        a->unit, b_name, b->unit, a_name, b->unit);
  }
  if (!weir_unit_is_stated(a->unit)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s has no known unit (%s) but %s is in %s: state it as the stream's `unit`",
                     a_name, a->unit, b_name, b->unit);
  }
  return weir_fail(WEIR_ERR_CONFIG, "%s is in %s but %s is in %s", a_name, a->unit, b_name,
                   b->unit);
}
