/* targeted_test.c - targeted processing: what one source rules out is not read from the other, and
 * the results are the bits of a run that reads everything. */
#include <math.h>
#include "ops/elementwise/weir_elementwise.h"
#include "stream/op/aggregate/weir_stream_aggregate.h"
#include "stream/op/normalize/weir_stream_normalize.h"
#include "support/stream/streams_check.h"

extern const weir_series_op weir_series_op_join;

typedef enum what { PLAIN, WINDOWS, STATE, OUTER, THREE, MARKED } what;

static int build(streams_case *c, weir_graph *g, const weir_series *in, const void *context,
                 weir_series *out)
{
  const what w = *(const what *)context;
  weir_series s[STREAMS_MAX] = {0};
  weir_series_use use = streams_use(c, g, s, c->n, NULL);
  weir_series_result r = {.n = 0};
  _Alignas(16) char opts[256];

  memcpy(s, in, (size_t)c->n * sizeof *s);
  if (w == WINDOWS || w == THREE) {
    s[0] = weir_stream_normalize(&use, s[0], 60, false);
    s[1] = weir_stream_normalize(&use, s[1], 10, false);
  } else if (w == STATE) {
    s[0] = weir_stream_aggregate(
        &use, s[0], &(weir_aggregate_spec){.kind = WEIR_AGGREGATE_MEAN, .window = 50, .hop = 1});
  }
  weir_opts_default(weir_series_op_join.opts, weir_series_op_join.opts_size, opts);
  if (w == OUTER) {
    *(int *)(void *)opts = 2;
  }
  use.opts = opts;
  assert_ok(weir_series_op_join.build(&use, &r));
  memcpy(out, r.out, (size_t)c->n * sizeof *out);
  for (int i = 0; i < c->n && w == MARKED; i++) {
    out[i].value =
        weir_select(g, out[i].present, out[i].value, weir_scalar(g, WEIR_F32, (double)NAN));
  }
  return c->n;
}

static streams_case whole, other;

static void draw(uint64_t seed, what w)
{
  whole.n = 0;
  (void)streams_add(&whole, seed, 20, 8000, 2500, 0.75);
  (void)streams_add(&whole, seed, 5, 2000 - (int64_t)(seed % 3), 600, 0.75);
  if (w == THREE) {
    (void)streams_add(&whole, seed, 10, 4000, 1500, 0.6);
  }
  other = whole;
}

static int64_t slots_read(const streams_case *c)
{
  int64_t n = 0;

  for (int i = 0; i < c->n; i++) {
    n += c->source[i].read;
  }
  return n;
}

static void check(what w, double max_read)
{
  int64_t read = 0, all = 0;

  for (uint64_t seed = 0; seed < 12; seed++) {
    draw(seed, w);
    streams_run(&whole, build, &w, WEIR_TIER_VECTOR, 1, (weir_stream_cfg){.window = 5});
    for (int threads = 1; threads <= 2; threads++) {
      streams_run(&other, build, &w, WEIR_TIER_VECTOR, threads,
                  (weir_stream_cfg){.window = 1 + (double)(seed % 5),
                                    .skip = true,
                                    .cut_seed = (int64_t)(seed % 3)});
      streams_same(&whole, &other);
      read += slots_read(&other);
      all += slots_read(&whole);
    }
  }
  assert_true((double)read <= max_read * (double)all);
}

/* MARKED: results that are NaN where absent, as those of a query. */
static void what_an_inner_join_cannot_use_is_not_read(void **state)
{
  check(PLAIN, 0.35);
  check(MARKED, 0.35);
  check(WINDOWS, 0.6);
  check(THREE, 0.6);
}

/* A moving mean remembers what the other side would rule out; an outer join rules nothing out: only
 * gaps of both sides are left out. */
static void what_is_remembered_is_read(void **state)
{
  check(STATE, 1);
  check(OUTER, 1);
}

/* A source that does not know its runs is read. */
static void unknown_gaps_are_read(void **state)
{
  const what w = PLAIN;

  draw(4, w);
  other.source[0].knows_gaps = other.source[1].knows_gaps = false;
  streams_run(&whole, build, &w, WEIR_TIER_VECTOR, 1, (weir_stream_cfg){.window = 5});
  streams_run(&other, build, &w, WEIR_TIER_VECTOR, 1, (weir_stream_cfg){.window = 5, .skip = true});
  streams_same(&whole, &other);
  assert_int_equal(slots_read(&other), slots_read(&whole));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_an_inner_join_cannot_use_is_not_read),
      cmocka_unit_test(what_is_remembered_is_read),
      cmocka_unit_test(unknown_gaps_are_read),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
