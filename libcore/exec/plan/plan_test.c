/* plan_test.c - plans against hand-written loops, streams split anywhere against one piece, gaps
 * skipped against gaps passed. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "exec/weir_engine.h"
#include "exec/weir_plan.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/gather/weir_gather.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/resample/weir_resample.h"
#include "ops/scan/weir_scan.h"
#include "ops/shift/weir_shift.h"
#include "ops/window/weir_window.h"

#define SLOTS 3001

static weir_exec_cfg config(weir_tier tier)
{
  weir_exec_cfg cfg;

  weir_opts_default(weir_exec_opts, sizeof(cfg), &cfg);
  cfg.tier = (int)tier;
  return cfg;
}

/* 2^40 elements are more than a machine holds. */
static void a_plan_of_sizes_alone_holds_no_arrays(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 2, .shape = {1 << 20, 1 << 20}};
  const weir_exec_cfg cfg = config(WEIR_TIER_REFERENCE);
  weir_graph *g = NULL;
  weir_plan *p = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &d);

  weir_output(g, "squares", weir_square(g, x));
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .sizes_only = true}, &p));
  assert_true(weir_plan_memory_bytes(p) >= (int64_t)4 << 40);
  assert_int_equal(weir_plan_run(p, NULL, 0), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "made to compute sizes only"));
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

static void chain_equals_its_formula(void **state)
{
  const int64_t shape[2] = {37, 1023};
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 2, .shape = {37, 1023}};

  for (int e = 0; weir_engine_table[e] != NULL; e++) {
    const weir_tier tier = weir_engine_table[e]->tier;
    const weir_exec_cfg cfg = config(tier);
    weir_graph *g = NULL;
    weir_plan *p = NULL;
    weir_tensor x, y, s;

    assert_ok(weir_graph_create(&g));
    const weir_value in = weir_input(g, "x", &d);
    const weir_value a = weir_mul(g, weir_sub_scalar(g, in, 0.5), in);
    const weir_value b = weir_select(g, weir_lt_scalar(g, a, 0), weir_scale(g, a, 0.1), a);

    weir_output(g, "y", b);
    weir_output(g, "s", weir_sum(g, b, 1));
    assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &p));
    assert_ok(weir_tensor_init(&x, WEIR_F32, 2, shape));
    assert_ok(weir_tensor_init(&y, WEIR_F32, 2, shape));
    assert_ok(weir_tensor_init(&s, WEIR_F32, 1, shape));
    for (int64_t i = 0; i < 37 * 1023; i++) {
      ((float *)x.data)[i] = (float)weir_random_uniform(7, 1, 0, (uint64_t)i);
    }
    assert_ok(weir_plan_run(p, (weir_binding[]){{"x", &x}, {"y", &y}, {"s", &s}}, 3));
    for (int64_t r = 0; r < 37; r++) {
      double sum = 0;

      for (int64_t i = 0; i < 1023; i++) {
        const float v = ((float *)x.data)[r * 1023 + i];
        const float w = (v - 0.5f) * v;
        const float z = w < 0 ? 0.1f * w : w;

        assert_near(((float *)y.data)[r * 1023 + i], z, 1e-6);
        sum += z;
      }
      assert_near(((float *)s.data)[r], sum, 1e-5);
    }
    weir_tensor_fini(&x);
    weir_tensor_fini(&y);
    weir_tensor_fini(&s);
    weir_plan_destroy(&p);
    weir_graph_destroy(&g);
  }
}

/* A small band-pass, its slope, energy and a sum of eight: what a detector's front end looks like.
 */
static weir_graph *front_graph(void)
{
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  const weir_array_desc b = {.dtype = WEIR_BOOL, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  const weir_sos_spec sos = {.dim = 0,
                             .n = 2,
                             .section = {{0.2, 0.4, 0.2, 1, -0.5, 0.2}, {1, -2, 1, 1, -1.2, 0.5}},
                             .steady = true,
                             .hold = 5};
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value in = weir_input(g, "x", &x), present = weir_input(g, "x.present", &b);
  const weir_value f = weir_sos(g, &sos, in, present);
  const weir_value slope = weir_sub(g, f, weir_shift(g, f, 0, 3));
  weir_value sum = weir_square(g, slope);

  for (int64_t n = 1; n < 8; n *= 2) {
    sum = weir_add(g, sum, weir_shift(g, sum, 0, n));
  }
  weir_output(g, "filtered", f);
  weir_output(g, "ahead", weir_shift(g, weir_add(g, f, sum), 0, -4));
  weir_output(g, "feature", sum);
  return g;
}

static const char *const results[] = {"filtered", "ahead", "feature"};

typedef struct signal {
  float x[SLOTS];
  uint8_t present[SLOTS];
} signal;

static void make_signal(signal *s, uint32_t seed)
{
  bool on = true;

  for (int64_t t = 0; t < SLOTS; t++) {
    on = weir_random_uniform(seed, 2, 0, (uint64_t)t) < 0.004 ? !on : on;
    s->present[t] = on;
    s->x[t] = on ? (float)weir_random_normal(seed, 1, 0, (uint64_t)t) : 0;
  }
}

static void collect(const weir_plan *p, float (*out)[SLOTS], int64_t *made)
{
  for (int r = 0; r < 3; r++) {
    weir_view v;
    int64_t lo = 0, hi = 0;

    assert_ok(weir_plan_result(p, results[r], &v, &lo, &hi));
    assert_true(hi <= SLOTS);
    for (int64_t t = lo; t < hi; t++) {
      out[r][t] = *(const float *)weir_view_at(&v, &t);
      (*made)++;
    }
  }
}

/* What the plan needs of input "x", and the path to a result. */
static weir_plan_need follow_x(const weir_plan *p, const char *result, weir_path *path)
{
  const weir_plan_end from = {"x", weir_path_start()};
  weir_plan_end to = {.name = result};
  const weir_plan_need need = weir_plan_follow(p, &from, 1, &to, 1);

  if (path != NULL) {
    *path = to.path;
  }
  return need;
}

static bool all_absent(const signal *s, int64_t lo, int64_t hi)
{
  for (int64_t t = lo; t < hi; t++) {
    if (s->present[t]) {
      return false;
    }
  }
  return true;
}

/* A plan of the front end for pieces of up to `max` slots. */
static weir_plan *front_plan(weir_tier tier, int64_t max)
{
  const weir_exec_cfg cfg = config(tier);
  const weir_chunk_bound bounds[] = {{"x", max}, {"x.present", max}};
  weir_graph *g = front_graph();
  weir_plan *p = NULL;

  assert_ok(weir_plan_create(g, NULL,
                             &(weir_plan_opts){.exec = &cfg, .bounds = bounds, .n_bounds = 2}, &p));
  weir_graph_destroy(&g);
  return p;
}

/* Feeds the signal, from its start, in pieces of random lengths up to `max`; skip: leaves out
 * settled absent pieces. */
static int64_t run_stream(weir_plan *p, const signal *s, int64_t max, uint32_t seed, bool skip,
                          float (*out)[SLOTS])
{
  const int64_t settle = follow_x(p, "feature", NULL).settle;
  int64_t quiet = 0, made = 0, skipped = 0;

  memset(out, 0, 3 * sizeof(*out));
  assert_in_range(settle, 10, 60);
  weir_plan_rewind(p);
  for (int64_t t = 0; t < SLOTS;) {
    int64_t n = 1 + (int64_t)(weir_random_bits(seed, 3, 0, (uint64_t)t) % (uint64_t)max);

    n = t + n < SLOTS ? n : SLOTS - t;
    if (skip && quiet >= settle && t + n < SLOTS && all_absent(s, t, t + n)) {
      t += n;
      skipped += n;
      continue;
    }
    assert_ok(weir_plan_feed(
        p, (weir_feed[]){{"x", s->x + t, t, t + n}, {"x.present", s->present + t, t, t + n}}, 2,
        t + n == SLOTS));
    for (int64_t k = t; k < t + n; k++) {
      quiet = s->present[k] ? 0 : quiet + 1;
    }
    t += n;
    collect(p, out, &made);
  }
  if (!skip) {
    assert_int_equal(made, 3 * SLOTS);
  }
  return skipped;
}

enum { SIGNALS = 4 };

/* The whole of each signal at once. */
static void run_whole(weir_tier tier, float (*whole)[3][SLOTS])
{
  static signal s;
  weir_plan *p = front_plan(tier, SLOTS);

  for (uint32_t seed = 0; seed < SIGNALS; seed++) {
    make_signal(&s, seed);
    run_stream(p, &s, SLOTS, 99, false, whole[seed]);
  }
  weir_plan_destroy(&p);
}

static void any_chunks_give_the_same_bits(void **state)
{
  static signal s;
  static float whole[SIGNALS][3][SLOTS], pieces[3][SLOTS], first[SIGNALS][3][SLOTS];
  bool have_first = false;

  for (int e = 0; weir_engine_table[e] != NULL; e++) {
    const weir_tier tier = weir_engine_table[e]->tier;
    int64_t skipped[SIGNALS] = {0};

    run_whole(tier, whole);
    /* The oracle computes in double; the engines that users run give one another's bits. */
    if (tier != WEIR_TIER_REFERENCE && have_first) {
      assert_memory_equal(whole, first, sizeof(whole));
    } else if (tier != WEIR_TIER_REFERENCE) {
      memcpy(first, whole, sizeof(whole));
      have_first = true;
    }
    for (int64_t max = 1; max <= 1000; max = max * 3 + 1) {
      weir_plan *p = front_plan(tier, max);

      for (uint32_t seed = 0; seed < SIGNALS; seed++) {
        make_signal(&s, seed);
        run_stream(p, &s, max, seed, false, pieces);
        assert_memory_equal(pieces, whole[seed], sizeof(pieces));
        skipped[seed] += run_stream(p, &s, max, seed, true, pieces);
        assert_memory_equal(pieces, whole[seed], sizeof(pieces));
      }
      weir_plan_destroy(&p);
    }
    for (int k = 0; k < SIGNALS; k++) {
      assert_true(skipped[k] > 0);
    }
  }
}

static void look_ahead_is_the_latency(void **state)
{
  const weir_exec_cfg cfg = config(WEIR_TIER_REFERENCE);
  const weir_chunk_bound bounds[] = {{"x", 64}, {"x.present", 64}};
  weir_graph *g = front_graph();
  weir_plan *p = NULL;
  weir_path path;

  assert_ok(weir_plan_create(g, NULL,
                             &(weir_plan_opts){.exec = &cfg, .bounds = bounds, .n_bounds = 2}, &p));
  (void)follow_x(p, "ahead", &path);
  assert_int_equal(weir_path_ahead(&path), 4);
  (void)follow_x(p, "feature", &path);
  assert_int_equal(weir_path_ahead(&path), 0);
  assert_int_equal(weir_path_behind(&path), 3 + 7);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

/* Counting distinct elements may do without memory, at the price of a bound; everything else
 * reports it. */
static void failed_allocations_neither_crash_nor_leak(void **state)
{
  const weir_exec_cfg cfg = config(WEIR_TIER_REFERENCE);
  const weir_chunk_bound bounds[] = {{"x", 64}, {"x.present", 64}};
  const weir_plan_opts opts = {.exec = &cfg, .bounds = bounds, .n_bounds = 2};
  weir_graph *g = front_graph();
  int64_t failures = 0;

  for (int64_t k = 1;; k++) {
    const int64_t before = weir_alloc_bytes();
    weir_plan *p = NULL;

    weir_alloc_fail_after(k);
    const weir_status status = weir_plan_create(g, NULL, &opts, &p);
    const bool injected = weir_alloc_count() >= k;

    weir_alloc_fail_after(0);
    assert_true(status == WEIR_OK ? p != NULL : p == NULL);
    failures += status == WEIR_ERR_MEMORY;
    weir_plan_destroy(&p);
    assert_int_equal(weir_alloc_bytes(), before);
    if (!injected) {
      assert_int_equal(status, WEIR_OK);
      break;
    }
  }
  assert_true(failures > 20);
  weir_graph_destroy(&g);
}

static void passes_keep_the_results(void **state)
{
  weir_exec_cfg cfg = config(WEIR_TIER_REFERENCE);
  const weir_chunk_bound bounds[] = {{"x", 64}, {"x.present", 64}};
  weir_graph *g = front_graph();
  weir_plan *p = NULL;

  cfg.verify = 1;
  assert_ok(weir_plan_create(g, NULL,
                             &(weir_plan_opts){.exec = &cfg, .bounds = bounds, .n_bounds = 2}, &p));
  assert_true(weir_plan_groups(p) >= 1);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

/* Predictions stand on the peaks of the machine's file, and say so; times are measured only when
 * asked. */
static void peaks_and_times_are_told_apart(void **state)
{
  weir_exec_cfg cfg = config(WEIR_TIER_REFERENCE);
  const weir_chunk_bound bounds[] = {{"x", 64}, {"x.present", 64}};
  const weir_plan_opts opts = {.exec = &cfg, .bounds = bounds, .n_bounds = 2};
  static signal s;
  weir_graph *g = front_graph();
  char folder[256], path[300];

  weir_check_mkdir(folder, sizeof(folder));
  assert_ok(weir_path_join(folder, "none.yaml", path, sizeof(path)));
  weir_check_write(path, "{}\n", 3);
  const bool no_files = weir_cpu_load(path) != WEIR_OK; /* a build without libyaml */

  for (int k = no_files ? 1 : 0; k < 2; k++) {
    char *text = NULL;
    size_t size = 0;
    weir_plan *p = NULL;
    FILE *out = open_memstream(&text, &size);

    cfg.explain = k == 1;
    if (k == 1 && !no_files) {
      weir_check_write(path, "bandwidth: 1e6\nflop_rate: 1e15\n", 31);
      assert_ok(weir_cpu_load(path));
    }
    assert_ok(weir_plan_create(g, NULL, &opts, &p));
    assert_ok(weir_plan_feed(p, (weir_feed[]){{"x", s.x, 0, 64}, {"x.present", s.present, 0, 64}},
                             2, false));
    const weir_group_report r = weir_plan_group(p, 0);

    assert_true(k == 0 ? r.measured_s == 0 : r.measured_s > 0);
    assert_int_equal(r.calls, 1);
    if (k == 1 && !no_files) {
      assert_near(r.predicted_s * 1e6, r.bytes, 1e-9);
    }
    weir_plan_print(p, out);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, k == 0 || no_files ? "built-in peaks" : "measured peaks"));
    assert_non_null(strstr(text, "== time to make the plan"));
    assert_ptr_equal(strstr(text, "== groups"), text); /* before what passes did, which is long */
    free(text);
    weir_plan_destroy(&p);
  }
  assert_ok(weir_cpu_load(NULL));
  weir_check_rmdir(folder);
  weir_graph_destroy(&g);
}

/* The number after `"key": ` of a line of run.jsonl, where there is one. */
static double number_of(const char *text, const char *key)
{
  char quoted[64];

  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  const char *at = strstr(text, quoted);

  if (at == NULL) {
    fail_msg("no %s in: %s", key, text);
  }
  return strtod(at + strlen(quoted), NULL);
}

static void the_phases_of_making_a_plan_are_reported(void **state)
{
  const char *const phases[] = {"copy",     "simplify", "fuse", "layout",  "lower",
                                "schedule", "compile",  "dump", "kernels", "summary"};
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 1, .shape = {64}};
  const weir_exec_cfg cfg = config(WEIR_TIER_VECTOR);
  char folder[256], path[300], *text = NULL;
  int64_t size;

  weir_check_mkdir(folder, sizeof folder);
  snprintf(path, sizeof path, "%s/run.jsonl", folder);
  for (int terse = 0; terse < 2; terse++) {
    weir_graph *g = NULL;
    weir_plan *p = NULL;
    double sum = 0;

    assert_ok(weir_graph_create(&g));
    weir_output(g, "y", weir_exp(g, weir_input(g, "x", &d)));
    assert_ok(weir_events_open(path));
    assert_ok(weir_plan_create(
        g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1, .terse = terse == 1}, &p));
    weir_events_close();
    assert_ok(weir_file_read(path, 1 << 16, &text, &size));
    const char *event = strstr(text, "\"plan_made\"");
    assert_non_null(event);
    for (size_t k = 0; k < sizeof phases / sizeof phases[0]; k++) {
      if (terse == 0 || strcmp(phases[k], "dump") != 0) {
        sum += number_of(event, phases[k]);
      }
    }
    assert_true(sum > 0 && sum <= number_of(event, "seconds") * (1 + 1e-9));
    assert_true(number_of(event, "loops") == 1 &&
                number_of(event, "tier") == weir_tier_number(WEIR_TIER_VECTOR));
    assert_true((strstr(event, "\"dump\"") == NULL) == (terse == 1));
    weir_free(&text);
    weir_plan_destroy(&p);
    weir_graph_destroy(&g);
  }
  weir_check_rmdir(folder);
}

/* y = x at the indices i: of an input, or, made: of the input doubled inside the graph. */
static weir_status run_gather(weir_plan *p, int32_t *index, float *y, bool bind_x)
{
  static float data[4] = {1, 2, 3, 4};
  const int64_t n = 4, m = 3;
  weir_tensor x = weir_tensor_wrap(data, WEIR_F32, 1, &n);
  weir_tensor i = weir_tensor_wrap(index, WEIR_I32, 1, &m);
  weir_tensor out = weir_tensor_wrap(y, WEIR_F32, 1, &m);
  const weir_binding all[] = {{"i", &i}, {"y", &out}, {"x", &x}};

  WEIR_TRY(weir_plan_run(p, all, bind_x ? 3 : 2));
  return WEIR_OK;
}

static weir_plan *plan_gather(const weir_exec_cfg *cfg, bool made)
{
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 1, .shape = {4}};
  const weir_array_desc i = {.dtype = WEIR_I32, .rank = 1, .shape = {3}};
  weir_graph *g = NULL;
  weir_plan *p = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value in = weir_input(g, "x", &x);
  const weir_value index = weir_input(g, "i", &i);

  weir_output(g, "y",
              weir_gather(g, in, made ? weir_add(g, index, index) : index,
                          &((weir_gather_spec){.dim = 0})));
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = cfg}, &p));
  weir_graph_destroy(&g);
  return p;
}

static void indices_out_of_range_are_refused_wherever_they_come_from(void **state)
{
  for (int k = 0; k < 8; k++) {
    weir_exec_cfg cfg = config(k % 2 == 0 ? WEIR_TIER_REFERENCE : WEIR_TIER_VECTOR);
    const bool made = (k & 2) != 0;
    float y[3] = {0};

    cfg.fusion = (k & 4) != 0;
    weir_plan *p = plan_gather(&cfg, made);

    assert_ok(run_gather(p, (int32_t[]){1, 0, 1}, y, true));
    assert_near(y[0], made ? 3 : 2, 0);
    assert_int_equal(run_gather(p, (int32_t[]){1, 3, made ? 2 : 4}, y, true), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "outside the declared range [0, 4)"));
    assert_int_equal(run_gather(p, (int32_t[]){-1, 0, 0}, y, true), WEIR_ERR_DATA);
    weir_plan_destroy(&p);
  }
}

static void bindings_last_for_one_run(void **state)
{
  const weir_exec_cfg cfg = config(WEIR_TIER_REFERENCE);
  weir_plan *p = plan_gather(&cfg, false);
  float first[3] = {0}, second[3] = {0};

  assert_ok(run_gather(p, (int32_t[]){1, 2, 3}, first, true));
  assert_int_equal(run_gather(p, (int32_t[]){0, 0, 0}, second, false), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "input 'x' is not bound"));
  assert_ok(run_gather(p, (int32_t[]){0, 0, 0}, second, true));
  assert_near(first[0], 2, 0);
  assert_near(second[0], 1, 0);
  weir_plan_destroy(&p);
}

/* y takes slots 4 t - 4 .. 4 t + 3, z holds each of them for three slots. */
static void reach_follows_the_accesses_across_rates(void **state)
{
  const weir_exec_cfg cfg = config(WEIR_TIER_REFERENCE);
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  const weir_chunk_bound bound = {"x", 100};
  const weir_window_spec window = {
      .combine = WEIR_COMBINE_SUM, .size = 8, .stride = 4, .offset = -4};
  weir_graph *g = NULL;
  weir_plan *p = NULL;
  weir_path path;

  assert_ok(weir_graph_create(&g));
  const weir_value y = weir_window(g, &window, weir_input(g, "x", &x));
  const weir_resample_spec hold = {.method = WEIR_RESAMPLE_HOLD, .up = 3};

  weir_output(g, "y", y);
  weir_output(g, "z", weir_resample(g, &hold, y));
  const weir_window_spec minute = {.combine = WEIR_COMBINE_SUM, .size = 1000, .stride = 1000};
  const weir_resample_spec back = {.method = WEIR_RESAMPLE_HOLD, .up = 4000};

  weir_output(g, "m", weir_resample(g, &back, weir_window(g, &minute, y)));
  assert_ok(weir_plan_create(g, NULL,
                             &(weir_plan_opts){.exec = &cfg, .bounds = &bound, .n_bounds = 1}, &p));
  (void)follow_x(p, "y", &path);
  assert_int_equal(weir_path_behind(&path), 4);
  assert_int_equal(weir_path_ahead(&path), 3);
  (void)follow_x(p, "z", &path);
  assert_int_equal(weir_path_behind(&path),
                   7); /* two thirds of a slot of y, which is four of x, further */
  assert_int_equal(weir_path_ahead(&path), 3);
  assert_near(path.ratio, 0.75, 1e-12);
  (void)follow_x(p, "m", &path);
  assert_int_equal(weir_path_behind(&path),
                   4003); /* all slots but one of a window of 1000, and what y takes */
  assert_int_equal(weir_path_ahead(&path), 3999);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chain_equals_its_formula),
      cmocka_unit_test(indices_out_of_range_are_refused_wherever_they_come_from),
      cmocka_unit_test(bindings_last_for_one_run),
      cmocka_unit_test(any_chunks_give_the_same_bits),
      cmocka_unit_test(look_ahead_is_the_latency),
      cmocka_unit_test(reach_follows_the_accesses_across_rates),
      cmocka_unit_test(failed_allocations_neither_crash_nor_leak),
      cmocka_unit_test(passes_keep_the_results),
      cmocka_unit_test(a_plan_of_sizes_alone_holds_no_arrays),
      cmocka_unit_test(peaks_and_times_are_told_apart),
      cmocka_unit_test(the_phases_of_making_a_plan_are_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
