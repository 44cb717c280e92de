/* envelope_put.c - the text of an envelope; see envelope.h. */
#include <math.h>
#include <stdlib.h>
#include "viewer/envelope.h"

enum { TILE = PS_ENVELOPE_TILE, STEPS = PS_ENVELOPE_ABSENT - 1 };

static void put_base64(const uint8_t *bytes, int64_t n, FILE *out)
{
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  for (int64_t i = 0; i < n; i += 3) {
    const unsigned b = i + 1 < n ? bytes[i + 1] : 0, c = i + 2 < n ? bytes[i + 2] : 0;
    const unsigned word = (unsigned)bytes[i] << 16 | b << 8 | c;
    const char text[4] = {digit[word >> 18], digit[word >> 12 & 63],
                          i + 1 < n ? digit[word >> 6 & 63] : '=',
                          i + 2 < n ? digit[word & 63] : '='};

    (void)fwrite(text, 1, sizeof text, out);
  }
}

/* value = offset + code * step, with both as the text says them. */
typedef struct scale {
  double offset, step;
} scale;

static scale put_scale(double least, double most, FILE *out)
{
  char offset[32], step[32];

  (void)snprintf(offset, sizeof offset, "%.9g", least);
  (void)snprintf(step, sizeof step, "%.9g", (most - strtod(offset, NULL)) / STEPS);
  (void)fprintf(out, "%s,%s", offset, step);
  return (scale){strtod(offset, NULL), strtod(step, NULL)};
}

static void set_code(uint8_t *at, double code)
{
  const unsigned c = code <= 0 ? 0 : code >= STEPS ? STEPS : (unsigned)code;

  at[0] = (uint8_t)(c & 255);
  at[1] = (uint8_t)(c >> 8);
}

static double code_of(const scale *s, double value)
{
  return s->step > 0 ? (value - s->offset) / s->step : 0;
}

static void set_absent(uint8_t *at)
{
  at[0] = at[1] = 255;
}

/* Slots of bin `i`: the last one may be shorter. */
static int64_t slots_of(const ps_envelope *e, int64_t i)
{
  const int64_t left = e->slots - i * e->bin;

  return left < e->bin ? left : e->bin;
}

static void put_codes(const ps_envelope *e, int64_t first, int64_t n, const scale *s, FILE *out)
{
  const int width = e->bin == 1 ? 1 : 2;
  uint8_t bytes[4 * TILE];

  for (int64_t k = 0; k < n; k++) {
    const int64_t i = first + k;
    uint8_t *const at = bytes + 2 * width * k;

    if (e->present[i] == 0) {
      set_absent(at);
      set_absent(at + 2 * (width - 1));
    } else if (width == 1) {
      set_code(at, round(code_of(s, (double)e->least[i])));
    } else {
      set_code(at, floor(code_of(s, (double)e->least[i])));
      set_code(at + 2, ceil(code_of(s, (double)e->most[i])));
    }
  }
  put_base64(bytes, 2 * width * n, out);
}

/* The bits of bins with absent slots. */
static void put_gaps(const ps_envelope *e, int64_t first, int64_t n, FILE *out)
{
  uint8_t bits[TILE / 8] = {0};
  bool any = false;

  for (int64_t k = 0; k < n; k++) {
    if (e->present[first + k] < slots_of(e, first + k)) {
      bits[k / 8] = (uint8_t)(bits[k / 8] | 1u << k % 8);
      any = true;
    }
  }
  if (any) {
    put_base64(bits, (n + 7) / 8, out);
  }
}

static void put_tile(const ps_envelope *e, int64_t first, int64_t n, FILE *out)
{
  double least = INFINITY, most = -INFINITY;

  for (int64_t i = first; i < first + n; i++) {
    if (e->present[i] > 0) {
      least = fmin(least, (double)e->least[i]);
      most = fmax(most, (double)e->most[i]);
    }
  }
  if (least > most) {
    fputs("0", out);
    return;
  }
  fputs("[", out);
  const scale s = put_scale(least, most, out);

  fputs(",\"", out);
  put_codes(e, first, n, &s, out);
  fputs("\",\"", out);
  put_gaps(e, first, n, out);
  fputs("\"]", out);
}

void ps_envelope_put(const ps_envelope *e, FILE *out)
{
  const int64_t n = ps_envelope_bins(e);

  fprintf(out, "\"bin\":%lld,\"slots\":%lld,\"tiles\":[", (long long)e->bin, (long long)e->slots);
  for (int64_t i = 0; i < n; i += TILE) {
    fputs(i > 0 ? ",\n" : "\n", out);
    put_tile(e, i, n - i < TILE ? n - i : TILE, out);
  }
  fputs("]", out);
}

void ps_envelope_put_samples(const float *x, int64_t n, FILE *out)
{
  double least = INFINITY, most = -INFINITY;
  uint8_t bytes[6 * 512];

  for (int64_t i = 0; i < n; i++) {
    if (isfinite(x[i])) {
      least = fmin(least, (double)x[i]);
      most = fmax(most, (double)x[i]);
    }
  }
  const scale s = put_scale(least <= most ? least : 0, least <= most ? most : 0, out);

  fputs(",\"", out);
  for (int64_t i = 0; i < n; i += 3 * 512) {
    const int64_t m = n - i < 3 * 512 ? n - i : 3 * 512;

    for (int64_t k = 0; k < m; k++) {
      if (isfinite(x[i + k])) {
        set_code(bytes + 2 * k, round(code_of(&s, (double)x[i + k])));
      } else {
        set_absent(bytes + 2 * k);
      }
    }
    put_base64(bytes, 2 * m, out);
  }
  fputs("\"", out);
}
