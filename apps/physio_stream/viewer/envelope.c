/* envelope.c - see envelope.h. */
#include "viewer/envelope.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"

/* Bytes of base64 for a code of 16 bits, as a fraction. */
enum { CODE_NUM = 8, CODE_DEN = 3 };

static int64_t quotient_up(int64_t a, int64_t b)
{
  return a / b + (a % b != 0);
}

weir_status ps_envelope_init(int64_t count, int64_t bytes, ps_envelope *e)
{
  const int64_t codes = bytes / CODE_NUM * CODE_DEN;
  weir_status status = WEIR_OK;

  *e = (ps_envelope){.bin = 1, .max_bins = codes / 2 > 1 ? codes / 2 : 1};
  e->capacity = codes > 2 ? codes : 2;
  if (count >= 0 && count <= e->capacity) {
    e->capacity = count > 2 ? count : 2;
    e->max_bins = e->max_bins < e->capacity ? e->max_bins : e->capacity;
  } else if (count >= 0) {
    e->bin = quotient_up(count, e->max_bins);
    e->capacity = e->max_bins;
  }
  WEIR_TRY_GOTO(weir_alloc(e->capacity, sizeof *e->least, (void **)&e->least), fail);
  WEIR_TRY_GOTO(weir_alloc(e->capacity, sizeof *e->most, (void **)&e->most), fail);
  WEIR_TRY_GOTO(weir_alloc(e->capacity, sizeof *e->present, (void **)&e->present), fail);
  return WEIR_OK;
fail:
  ps_envelope_fini(e);
  return status;
}

void ps_envelope_fini(ps_envelope *e)
{
  weir_free(&e->least);
  weir_free(&e->most);
  weir_free(&e->present);
  *e = (ps_envelope){.bin = 0};
}

static void merge(ps_envelope *e)
{
  const int64_t half = quotient_up(e->capacity, 2);

  for (int64_t i = 0; i < half; i++) {
    const int64_t a = 2 * i, b = a + 1 < e->capacity ? a + 1 : a;
    const bool first = e->present[a] > 0, second = b > a && e->present[b] > 0;

    e->least[i] = !second                     ? e->least[a]
                  : !first                    ? e->least[b]
                  : e->least[a] < e->least[b] ? e->least[a]
                                              : e->least[b];
    e->most[i] = !second                   ? e->most[a]
                 : !first                  ? e->most[b]
                 : e->most[a] > e->most[b] ? e->most[a]
                                           : e->most[b];
    e->present[i] = e->present[a] + (second ? e->present[b] : 0);
  }
  memset(e->present + half, 0, (size_t)(e->capacity - half) * sizeof *e->present);
  e->bin *= 2;
}

/* Widens bins until they cover the first `slots` slots. */
static void cover(ps_envelope *e, int64_t slots)
{
  while (slots > 0 && (slots - 1) / e->bin >= (e->bin == 1 ? e->capacity : e->max_bins)) {
    merge(e);
  }
}

void ps_envelope_take(ps_envelope *e, int64_t lo, int64_t hi, const float *x,
                      const uint8_t *present)
{
  cover(e, hi);
  for (int64_t t = lo; t < hi;) {
    const int64_t b = t / e->bin, next = (b + 1) * e->bin, end = next < hi ? next : hi;

    for (; t < end; t++) {
      const float v = x[t - lo];

      if (present[t - lo] == 0 || !isfinite(v)) {
        continue;
      }
      e->least[b] = e->present[b] == 0 || v < e->least[b] ? v : e->least[b];
      e->most[b] = e->present[b] == 0 || v > e->most[b] ? v : e->most[b];
      e->present[b]++;
    }
  }
  e->slots = hi > e->slots ? hi : e->slots;
}

void ps_envelope_end(ps_envelope *e, int64_t slots)
{
  cover(e, slots);
  e->slots = slots;
}

int64_t ps_envelope_bins(const ps_envelope *e)
{
  return quotient_up(e->slots, e->bin);
}
