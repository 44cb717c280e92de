/* envelope_test.c - bins and their text against all samples of random signals with gaps, taken in
 * pieces of any size. */
#include "viewer/envelope.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"

enum { MAX_SLOTS = 40000 };

typedef struct signal {
  int64_t n;
  float x[MAX_SLOTS];
  uint8_t present[MAX_SLOTS];
} signal;

static unsigned random_state;
static unsigned draw(unsigned below)
{
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) % below;
}

/* Noise on a ramp, with gaps of 1 to 3000 slots, values that are not finite, and a few of another
 * order of magnitude. */
static void make(signal *s, int64_t n)
{
  s->n = n;
  for (int64_t t = 0; t < n;) {
    const int64_t length = 1 + draw(draw(2) == 0 ? 10 : 3000);
    const bool gap = draw(3) == 0;

    for (int64_t end = t + length; t < n && t < end; t++) {
      s->present[t] = !gap;
      s->x[t] = (float)(1e-3 * (double)t + 1e-2 * (double)draw(1000) - 5);
      s->x[t] = draw(5000) == 0 ? 1e6f : draw(5000) == 0 ? INFINITY : s->x[t];
    }
  }
}

/* In pieces, of which those without a sample may be left out. */
static void take(ps_envelope *e, const signal *s)
{
  for (int64_t lo = 0; lo < s->n;) {
    const int64_t n = 1 + draw(draw(2) == 0 ? 7 : 5000), hi = lo + n < s->n ? lo + n : s->n;
    const bool empty = memchr(s->present + lo, 1, (size_t)(hi - lo)) == NULL;

    if (!empty || draw(2) == 0) {
      ps_envelope_take(e, lo, hi, s->x + lo, s->present + lo);
    }
    lo = hi;
  }
  ps_envelope_end(e, s->n);
}

/* What a bin holds. */
typedef struct bin {
  double least, most;
  int64_t present, slots;
} bin;

static bin bin_of(const signal *s, int64_t size, int64_t i)
{
  bin b = {INFINITY, -INFINITY, 0, 0};

  for (int64_t t = i * size; t < (i + 1) * size && t < s->n; t++, b.slots++) {
    if (s->present[t] != 0 && isfinite(s->x[t])) {
      b.least = fmin(b.least, (double)s->x[t]);
      b.most = fmax(b.most, (double)s->x[t]);
      b.present++;
    }
  }
  return b;
}

/* Bytes of a base64 text up to its closing quote, which *text is moved behind. */
static int64_t bytes_of(const char **text, uint8_t *bytes)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  int64_t n = 0;
  unsigned word = 0, bits = 0;

  assert_int_equal(**text, '"');
  for ((*text)++; **text != '"'; (*text)++) {
    const char *const digit = strchr(digits, **text);

    if (digit != NULL && *digit != 0) {
      word = word << 6 | (unsigned)(digit - digits);
      bits += 6;
    }
    if (bits >= 8) {
      bits -= 8;
      bytes[n++] = (uint8_t)(word >> bits & 255);
    }
  }
  (*text)++;
  return n;
}

static void assert_code(const uint8_t *bytes, double offset, double step, double value, double lo,
                        double hi)
{
  const unsigned code = bytes[0] | (unsigned)bytes[1] << 8;
  const double error = offset + code * step - value, rounding = 1e-6 * fabs(value);

  assert_true(code != PS_ENVELOPE_ABSENT);
  assert_true(error >= lo * step - rounding && error <= hi * step + rounding);
}

/* A tile of the text, from bin `first` on. Returns what follows it. */
static const char *assert_tile(const char *text, const ps_envelope *e, const signal *s,
                               int64_t first)
{
  const int64_t left = ps_envelope_bins(e) - first,
                n = left < PS_ENVELOPE_TILE ? left : PS_ENVELOPE_TILE, width = e->bin == 1 ? 1 : 2;
  uint8_t codes[4 * PS_ENVELOPE_TILE + 4], gaps[PS_ENVELOPE_TILE / 8 + 4];
  double offset = 0, step = 0;
  int64_t n_gaps = 0;

  if (*text == '0') {
    for (int64_t k = 0; k < n; k++) {
      assert_int_equal(bin_of(s, e->bin, first + k).present, 0);
    }
    return text + 1;
  }
  char *end = NULL;
  offset = strtod(text + 1, &end);
  step = strtod(end + 1, &end);
  text = end + 1;
  assert_int_equal(bytes_of(&text, codes), 2 * width * n);
  text++;
  n_gaps = bytes_of(&text, gaps);
  assert_true(n_gaps == 0 || n_gaps == (n + 7) / 8);
  for (int64_t k = 0; k < n; k++) {
    const bin b = bin_of(s, e->bin, first + k);
    const uint8_t *const at = codes + 2 * width * k;

    assert_int_equal(n_gaps > 0 && (gaps[k / 8] >> k % 8 & 1) != 0, b.present < b.slots);
    if (b.present == 0) {
      assert_int_equal(at[0] & at[1], 255);
    } else if (width == 1) {
      assert_code(at, offset, step, b.least, -0.5, 0.5);
    } else {
      assert_code(at, offset, step, b.least, -1, 0);
      assert_code(at + 2, offset, step, b.most, 0, 1);
    }
  }
  assert_int_equal(*text, ']');
  return text + 1;
}

static void assert_text(const ps_envelope *e, const signal *s)
{
  char *text = NULL, head[96];
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  ps_envelope_put(e, out);
  assert_int_equal(fclose(out), 0);
  (void)snprintf(head, sizeof head, "\"bin\":%lld,\"slots\":%lld,\"tiles\":[", (long long)e->bin,
                 (long long)s->n);
  assert_int_equal(strncmp(text, head, strlen(head)), 0);
  const char *at = text + strlen(head);
  for (int64_t first = 0; first < ps_envelope_bins(e); first += PS_ENVELOPE_TILE) {
    at = assert_tile(at + (first > 0 ? 2 : 1), e, s, first);
  }
  assert_string_equal(at, "]");
  free(text);
}

static void bins_are_those_of_all_samples(void **state)
{
  static const int64_t bytes[] = {1, 1000, 20000, 60000, 1000000};
  signal *s = NULL;

  assert_ok(weir_alloc(1, sizeof *s, (void **)&s));
  for (int trial = 0; trial < 40; trial++) {
    ps_envelope e;

    random_state = (unsigned)trial;
    make(s, trial < 5 ? (int64_t)trial : 1 + (int64_t)draw(MAX_SLOTS));
    const int64_t known = trial % 2 == 0 ? s->n : -1, limit = bytes[trial % 5];

    assert_ok(ps_envelope_init(known, limit, &e));
    take(&e, s);
    assert_int_equal(e.slots, s->n);
    assert_true(ps_envelope_bins(&e) <= (e.bin == 1 ? e.capacity : e.max_bins));
    assert_true(e.bin == 1 || s->n * 8 / 3 > limit - 16); /* no coarser than it has to be */
    for (int64_t i = 0; i < ps_envelope_bins(&e); i++) {
      const bin b = bin_of(s, e.bin, i);

      assert_int_equal(e.present[i], b.present);
      assert_true(b.present == 0 || ((double)e.least[i] == b.least && (double)e.most[i] == b.most));
    }
    assert_text(&e, s);
    ps_envelope_fini(&e);
  }
  weir_free(&s);
}

static void a_text_is_about_as_long_as_it_may_be(void **state)
{
  signal *s = NULL;

  assert_ok(weir_alloc(1, sizeof *s, (void **)&s));
  for (int64_t limit = 10000; limit <= 160000; limit *= 2) {
    char *text = NULL;
    size_t size = 0;
    ps_envelope e;

    make(s, MAX_SLOTS);
    assert_ok(ps_envelope_init(s->n, limit, &e));
    take(&e, s);
    FILE *out = open_memstream(&text, &size);
    ps_envelope_put(&e, out);
    assert_int_equal(fclose(out), 0);
    assert_true((double)size < 1.1 * (double)limit);
    assert_true((double)size > 0.4 * fmin((double)limit, MAX_SLOTS * 8.0 / 3));
    free(text);
    ps_envelope_fini(&e);
  }
  weir_free(&s);
}

static void more_slots_than_stated_become_wider_bins(void **state)
{
  signal *s = NULL;
  ps_envelope e;

  assert_ok(weir_alloc(1, sizeof *s, (void **)&s));
  make(s, MAX_SLOTS);
  assert_ok(ps_envelope_init(1000, 1 << 20, &e));
  take(&e, s);
  assert_true(ps_envelope_bins(&e) <= e.capacity);
  weir_free(&s);
  ps_envelope_fini(&e);
}

static void samples_keep_their_gaps(void **state)
{
  const float x[] = {1, NAN, 3, INFINITY};
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  ps_envelope_put_samples(x, 4, out);
  assert_int_equal(fclose(out), 0);
  assert_string_equal(text, "1,3.05185095e-05,\"AAD///7///8=\"");
  free(text);
}

static void failures_leave_nothing(void **state)
{
  for (int64_t k = 1; k <= 3; k++) {
    ps_envelope e;

    weir_alloc_fail_after(k);
    assert_int_equal(ps_envelope_init(-1, 1000, &e), WEIR_ERR_MEMORY);
    weir_alloc_fail_after(0);
    assert_null(e.least);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bins_are_those_of_all_samples),
      cmocka_unit_test(a_text_is_about_as_long_as_it_may_be),
      cmocka_unit_test(more_slots_than_stated_become_wider_bins),
      cmocka_unit_test(samples_keep_their_gaps),
      cmocka_unit_test(failures_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
