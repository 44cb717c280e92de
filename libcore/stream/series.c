/* series.c - what the operators on streams share. */
#include "stream/weir_series.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/resample/weir_resample.h"
#include "ops/scan/weir_scan.h"
#include "ops/shift/weir_shift.h"

weir_series weir_series_input(weir_graph *g, const char *name, const char *present,
                              int64_t rate_num, int64_t rate_den)
{
  weir_array_desc d = {.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  weir_series s = {.age = WEIR_NO_VALUE, .rate_num = rate_num, .rate_den = rate_den};

  if (rate_num <= 0 || rate_den <= 0) {
    s.value = s.present =
        weir_graph_fail(g, weir_fail(WEIR_ERR_SHAPE, "stream %s: rate %lld/%lld is not positive",
                                     name, (long long)rate_num, (long long)rate_den));
    return s;
  }
  s.value = weir_input(g, name, &d);
  d.dtype = WEIR_BOOL;
  s.present = weir_input(g, present, &d);
  return s;
}

/* 0 in the dtype of `v`. */
static weir_value zero_like(weir_graph *g, weir_value v)
{
  const weir_array_desc *d = weir_value_desc(g, v);

  return d == NULL ? v : weir_scalar(g, d->dtype, 0);
}

weir_series weir_series_mask(weir_graph *g, weir_series s)
{
  s.value = weir_select(g, s.present, s.value, zero_like(g, s.value));
  return s;
}

/* age: slots since the last absent one, 0 where absent. */
static weir_status define_age(weir_scan *s)
{
  weir_body *b = &s->access->body;
  const int age = weir_scan_state(s, WEIR_I32, 0);
  const int32_t present = weir_scan_load(s, 0);
  const int32_t one = weir_body_int(b, WEIR_I32, 1), zero = weir_body_int(b, WEIR_I32, 0);
  const int32_t before = weir_body_binary(b, WEIR_CODE_MIN, weir_scan_read(s, age),
                                          weir_body_int(b, WEIR_I32, INT32_MAX - 1));
  const int32_t now =
      weir_body_select(b, present, weir_body_binary(b, WEIR_CODE_ADD, before, one), zero);

  weir_scan_next(s, age, now);
  weir_scan_emit(s, now);
  weir_scan_skips(s, 0, 1);
  return WEIR_OK;
}

weir_series weir_series_aged(weir_graph *g, weir_series s)
{
  const weir_scan_spec spec = {.name = "age", .define = define_age, .n_data = 1};

  if (s.age.node < 0) {
    s.age = weir_scan_add(g, &spec, &s.present, 1);
  }
  return s;
}

weir_value weir_series_past(weir_graph *g, weir_series s, int64_t by)
{
  if (by == 0) {
    return s.value;
  }
  return weir_select(g, weir_gt_scalar(g, s.age, (double)by), weir_shift(g, s.value, 0, by),
                     zero_like(g, s.value));
}

weir_status weir_series_scale_rate(weir_series *s, int64_t up, int64_t down)
{
  const int64_t own = weir_gcd(s->rate_num, s->rate_den);
  int64_t num = s->rate_num / own, den = s->rate_den / own;

  if (up < 1 || down < 1) {
    return weir_fail(WEIR_ERR_SHAPE, "a rate times %lld/%lld", (long long)up, (long long)down);
  }
  const int64_t factor = weir_gcd(up, down);
  const int64_t a = weir_gcd(up / factor, den), b = weir_gcd(num, down / factor);

  if (__builtin_mul_overflow(num / b, up / factor / a, &num) ||
      __builtin_mul_overflow(den / a, down / factor / b, &den)) {
    return weir_fail(WEIR_ERR_SHAPE, "the rate %lld/%lld Hz times %lld/%lld does not fit 64 bits",
                     (long long)s->rate_num, (long long)s->rate_den, (long long)up,
                     (long long)down);
  }
  s->rate_num = num;
  s->rate_den = den;
  return WEIR_OK;
}

weir_series weir_series_hold(weir_graph *g, weir_series s, int64_t up)
{
  const weir_resample_spec spec = {.method = WEIR_RESAMPLE_HOLD, .up = up, .down = 1};
  const weir_status status = weir_series_scale_rate(&s, up, 1);

  s.age = WEIR_NO_VALUE;
  if (status != WEIR_OK) {
    s.value = weir_graph_fail(g, status);
  } else if (up > 1) {
    s.value = weir_resample(g, &spec, s.value);
    s.present = weir_resample(g, &spec, s.present);
  }
  return s;
}
