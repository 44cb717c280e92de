/* join_test.c - every kind against the index rule; rates, ends of different times, refusals. */
#include "stream/op/join/join_priv.h"
#include "support/stream/streams_check.h"

extern const weir_series_op weir_series_op_join;

static int build(streams_case *c, weir_graph *g, const weir_series *in, const void *context,
                 weir_series *out)
{
  const weir_series_use use = streams_use(c, g, in, c->n, context);
  weir_series_result r = {.n = 0};
  const join_opts *o = context;
  static const char *const names[] = {"a", "b", "c", "d"};

  assert_ok(weir_series_op_join.build(&use, &r));
  for (int i = 0; i < c->n; i++) {
    assert_string_equal(r.name[i], names[i]);
  }
  assert_int_equal(r.n, c->n + o->kind);
  if (o->kind > 0) {
    assert_string_equal(r.name[r.n - 1], "present_right");
    assert_string_equal(r.name[2], o->kind == 2 ? "present_left" : "present_right");
  }
  memcpy(out, r.out, (size_t)r.n * sizeof *out);
  return r.n;
}

static bool held_value(const streams_case *c, int i, int64_t t, int64_t fastest, float *x)
{
  const streams_source *s = &c->source[i];
  const int64_t at = t / (fastest / s->rate_num);
  const bool present = at < s->count && s->present[at];

  *x = present ? s->x[at] : 0;
  return present;
}

static void check_slot(const streams_case *c, const join_opts *o, int64_t t, int64_t fastest)
{
  bool all = true, any = false, here[STREAMS_MAX];
  float x[STREAMS_MAX];

  for (int i = 0; i < c->n; i++) {
    here[i] = held_value(c, i, t, fastest, &x[i]);
    all = all && here[i];
    any = any || here[i];
  }
  const bool present = o->kind == 0 ? all : o->kind == 1 ? here[0] : any;

  for (int i = 0; i < c->n_out; i++) {
    const int side = i < c->n ? i : o->kind == 1 ? 1 : i - 2;
    const float fill = (float)(o->kind == 0 ? 0 : side == 0 ? o->fill_left : o->fill_right);
    const float y = i >= c->n ? (float)here[side] : here[side] ? x[side] : fill;

    assert_int_equal(c->out[i].present[t], present);
    assert_true(c->out[i].y[t] == (present ? y : 0.0f));
  }
}

static void every_kind_follows_the_index_rule(void **state)
{
  static const int64_t rates[][3] = {{500, 125, 0}, {125, 500, 0}, {4, 4, 0}, {6, 3, 2}, {1, 7, 7}};
  static streams_case c;

  for (int i = 0; i < 5; i++) {
    for (int kind = 0; kind < 3; kind++) {
      const join_opts o = {kind, -7.5, i % 2 == 0 ? 2.25 : 0, ""};
      int64_t fastest = 0;

      c.n = 0;
      for (int k = 0; k < (kind == 0 && rates[i][2] > 0 ? 3 : 2); k++) {
        /* Ten seconds and a slot: the streams end at different times. */
        (void)streams_add(&c, (uint64_t)(10 * i + kind), rates[i][k], rates[i][k] * 10 + 1, 40,
                          0.4);
        fastest = rates[i][k] > fastest ? rates[i][k] : fastest;
      }
      streams_run(&c, build, &o, WEIR_TIER_VECTOR, 1, (weir_stream_cfg){.window = 100});
      for (int k = 0; k < c.n_out; k++) {
        assert_true(c.out[k].n >= fastest * 10 && c.out[k].n == c.out[k].n_present);
      }
      for (int64_t t = 0; t < c.out[0].n; t++) {
        check_slot(&c, &o, t, fastest);
      }
    }
  }
}

static int build_value(streams_case *c, weir_graph *g, const weir_series *in, const void *context,
                       weir_series *out)
{
  const join_opts *o = context;
  weir_series_use use = streams_use(c, g, in, c->n, o);
  weir_series_result r = {.n = 0};

  use.in_name = (const char *const[]){"a", "b"};
  assert_ok(weir_series_op_join.build(&use, &r));
  assert_true(r.n == 1 && r.name[0] == NULL);
  out[0] = r.out[0];
  return 1;
}

/* The fills stand for the side that is missing, and the expression may ask which one it is. */
static void an_expression_gives_one_stream(void **state)
{
  static streams_case c;

  for (int kind = 0; kind < 3; kind++) {
    for (int truth = 0; truth < 2; truth++) {
      const join_opts o = {kind, -7.5, 2.25,
                           truth       ? "a > b"
                           : kind == 0 ? "a - 0.5 * b"
                                       : "a - 0.5 * b * present_right"};

      c.n = 0;
      (void)streams_add(&c, (uint64_t)kind, 12, 121, 40, 0.4);
      (void)streams_add(&c, (uint64_t)kind, 4, 41, 40, 0.4);
      streams_run(&c, build_value, &o, WEIR_TIER_VECTOR, 1, (weir_stream_cfg){.window = 3});
      assert_true(c.n_out == 1 && c.out[0].n >= 120);
      for (int64_t t = 0; t < c.out[0].n; t++) {
        float x[2];
        const bool a = held_value(&c, 0, t, 12, &x[0]), b = held_value(&c, 1, t, 12, &x[1]);
        const bool present = kind == 0 ? a && b : kind == 1 ? a : a || b;
        const float l = a ? x[0] : -7.5f, r = b ? x[1] : 2.25f;
        const float y = truth ? (float)(l > r) : l - 0.5f * r * (kind == 0 ? 1 : (float)b);

        assert_int_equal(c.out[0].present[t], present);
        assert_true(c.out[0].y[t] == (present ? y : 0.0f));
      }
    }
  }
}

static weir_status try(const int64_t rates[2], int kind, int n, const char *second,
                       const char *value)
{
  const join_opts o = {.kind = kind, .value = value};
  weir_series_result r = {.n = 0};
  weir_graph *g = NULL;
  weir_series in[3];

  assert_ok(weir_graph_create(&g));
  for (int i = 0; i < n; i++) {
    const char *names[] = {"x0", "x1", "x2", "p0", "p1", "p2"};

    in[i] = weir_series_input(g, names[i], names[i + 3], rates[i % 2], 1000);
    weir_series_set_unit(&in[i], i == 0 ? "mV" : "mmHg");
  }
  const weir_series_use use = {.graph = g,
                               .opts = &o,
                               .in = in,
                               .in_name = (const char *const[]){"ecg", second, "abp"},
                               .n_in = n};
  const weir_status status = weir_series_op_join.build(&use, &r);

  weir_graph_destroy(&g);
  return status;
}

static void what_cannot_be_joined_is_refused_by_name(void **state)
{
  assert_int_equal(try((int64_t[]){500000, 62473}, 0, 2, "resp", ""), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "'resp' (62473/1000 Hz)"));
  assert_non_null(strstr(weir_last_message(), "'ecg' (500000/1000 Hz)"));
  assert_int_equal(try((int64_t[]){500, 500}, 1, 3, "resp", ""), WEIR_ERR_CONFIG);
  assert_int_equal(try((int64_t[]){500, 500}, 0, 2, "ecg", ""), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "'ecg'"));
  assert_ok(try((int64_t[]){500, 125}, 0, 3, "resp", ""));
}

static void expressions_that_do_not_fit_are_refused(void **state)
{
  const int64_t rates[] = {500, 125};

  assert_ok(try(rates, 0, 2, "abp", "ecg * abp"));
  assert_ok(try(rates, 2, 2, "abp", "if(present_left > 0, ecg, 1 mV)"));
  assert_int_equal(try(rates, 0, 2, "abp", "ecg + abp"), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "mmHg"));
  assert_int_equal(try(rates, 1, 2, "abp", "ecg * resp"), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "resp"));
  assert_int_equal(try(rates, 1, 2, "abp", "ecg * present_left"), WEIR_ERR_CONFIG);
  assert_int_equal(try(rates, 0, 2, "abp", "ecg *"), WEIR_ERR_CONFIG);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_follows_the_index_rule),
      cmocka_unit_test(an_expression_gives_one_stream),
      cmocka_unit_test(expressions_that_do_not_fit_are_refused),
      cmocka_unit_test(what_cannot_be_joined_is_refused_by_name),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
