/* predict_test.c - kernel classes of groups, and their times on another device. */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "exec/weir_plan.h"
#include "exec/weir_predict.h"
#include "ops/call/weir_call.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/scan/weir_scan.h"
#include "ops/solve/weir_solve.h"

enum { N = 48 };

static weir_status copy(void *context, const weir_op_run *run)
{
  memcpy(run->out[0].data, run->in[0].data, N * N * sizeof(float));
  return WEIR_OK;
}

/* One group of each class, in f32 but for the map. */
static weir_graph *graph_of_classes(void)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 2, .shape = {N, N}};
  const weir_array_desc wide = {.dtype = WEIR_F64, .rank = 2, .shape = {N, N}};
  const weir_call_spec call = {.name = "copy", .function = copy, .n_out = 1, .out = {d}};
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &d), y = weir_input(g, "y", &wide);

  weir_output(g, "map", weir_square(g, y));
  weir_output(g, "reduction", weir_sum(g, x, 0));
  weir_output(g, "scan", weir_cumsum(g, x, 0));
  weir_output(g, "library", weir_solve(g, x, x, NULL));
  weir_output(g, "call", weir_call(g, &call, &x, 1));
  assert_ok(weir_graph_status(g));
  return g;
}

static weir_plan *plan_of(const weir_graph *g, weir_exec_cfg *cfg)
{
  weir_plan *p = NULL;

  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = cfg, .threads = 1}, &p));
  return p;
}

static void run_twice(weir_plan *p)
{
  static float x[N * N];
  static double y[N * N];
  for (int i = 0; i < N * N; i++) {
    x[i] = i % (N + 1) == 0 ? 2 : 0.01f * (float)(i % 7);
    y[i] = i;
  }
  weir_tensor tx = weir_tensor_wrap(x, WEIR_F32, 2, (int64_t[]){N, N});
  weir_tensor ty = weir_tensor_wrap(y, WEIR_F64, 2, (int64_t[]){N, N});

  for (int k = 0; k < 2; k++) {
    assert_ok(weir_plan_run(p, (weir_binding[]){{"x", &tx}, {"y", &ty}}, 2));
  }
}

static weir_exec_cfg config(void)
{
  weir_exec_cfg cfg;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_REFERENCE;
  cfg.fusion = false;
  return cfg;
}

static void groups_have_the_class_of_what_runs_them(void **state)
{
  weir_exec_cfg cfg = config();
  weir_graph *g = graph_of_classes();
  weir_class_time of[WEIR_CLASSES];

  cfg.explain = true;
  weir_plan *p = plan_of(g, &cfg);

  weir_plan_class_times(p, of); /* before a run */
  for (int k = 0; k < WEIR_CLASSES; k++) {
    assert_true(of[k].measured_s == 0 && of[k].predicted_s == 0);
    assert_int_equal(of[k].groups, k != WEIR_CLASS_OUTSIDE);
  }
  run_twice(p);
  weir_plan_class_times(p, of);
  for (int k = 0; k < WEIR_CLASS_OUTSIDE; k++) {
    assert_true(of[k].measured_s > 0 && of[k].predicted_s == 0);
  }
  for (int32_t i = 0; i < weir_plan_groups(p); i++) {
    const weir_group_report r = weir_plan_group(p, i);

    assert_int_equal(r.dtype, r.kernel_class == WEIR_CLASS_MAP ? WEIR_F64 : WEIR_F32);
    assert_true(r.measured_s == of[r.kernel_class].measured_s && r.elsewhere_s == 0);
    assert_true(r.blocks >= 0 && !r.on_host);
    assert_true(r.kernel_class != WEIR_CLASS_CALL || r.blocks == 1);
  }
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

/* A group of 2 s, 1.5 of them for other ranks; memory-bound and compute-bound. */
static void what_is_waited_and_what_the_host_does_is_kept(void **state)
{
  const weir_constants here = {.processors = 2,
                               .resident_blocks = 1,
                               .bandwidth = 1e9,
                               .total_bandwidth = 1.5e9,
                               .flop_rate = 1e9,
                               .flop_rate_f64 = 5e8,
                               .flop_rate_bf16 = 2e9};
  weir_constants there = here;
  weir_group_report r = {.measured_s = 2, .bytes = 100, .dtype = WEIR_F32};

  assert_near(weir_group_predict(&r, &here, &here), 2, 1e-15);
  there.bandwidth *= 8;
  there.total_bandwidth *= 4;
  there.processors = 3;
  assert_near(weir_group_predict(&r, &here, &there), 0.5, 1e-15);
  r.waited_s = 1.5;
  assert_near(weir_group_predict(&r, &here, &there), 1.5 + 0.125, 1e-15);
  r.on_host = true;
  assert_near(weir_group_predict(&r, &here, &there), 2, 0);
  /* The peak of the dtype counts: here and there they differ by 2, 4 and 8. */
  there = here;
  there.flop_rate *= 2;
  there.flop_rate_f64 *= 4;
  there.flop_rate_bf16 *= 8;
  r = (weir_group_report){.measured_s = 8, .flops = 100, .dtype = WEIR_F32};
  assert_near(weir_group_predict(&r, &here, &there), 4, 1e-14);
  r.dtype = WEIR_F64;
  assert_near(weir_group_predict(&r, &here, &there), 2, 1e-14);
  r.dtype = WEIR_BF16;
  assert_near(weir_group_predict(&r, &here, &there), 1, 1e-14);
  /* One block gains no processors, unless the device divides it otherwise. */
  r.blocks = 1;
  there.processors = 4;
  assert_near(weir_group_predict(&r, &here, &there), 1, 1e-14);
  there.resident_blocks = 8;
  assert_near(weir_group_predict(&r, &here, &there), 0.5, 1e-14);
}

typedef struct heard {
  int tables, predictions, all;
} heard;

static void hear(void *context, weir_log_level level, const char *module, const char *text)
{
  heard *h = context;

  h->tables += strncmp(text, "plan of 5 groups for map, reduction", 35) == 0;
  h->predictions += strncmp(text, "predicted: ", 11) == 0;
  h->all += strncmp(text, "all  ", 5) == 0;
}

static void a_file_names_the_device_of_predictions(void **state)
{
  static const char slower[] = "processors: 1\nbandwidth: 1e9\nflop_rate: 1e9\n";
  static const char faster[] = "processors: 1\nbandwidth: 4e9\nflop_rate: 4e9\n";
  char folder[256], from[300], to[300];
  weir_exec_cfg cfg = config();
  weir_graph *g = graph_of_classes();
  weir_plan *p = NULL;
  weir_class_time of[WEIR_CLASSES];
  heard h = {0};

  weir_check_mkdir(folder, sizeof folder);
  assert_ok(weir_path_join(folder, "from.yaml", from, sizeof from));
  assert_ok(weir_path_join(folder, "to.yaml", to, sizeof to));
  weir_check_write(from, slower, strlen(slower));
  weir_check_write(to, faster, strlen(faster));
  cfg.predict = to;
  cfg.predict_from = from;
  const weir_plan_opts opts = {.exec = &cfg, .threads = 1};
  const weir_status status = weir_plan_create(g, NULL, &opts, &p);

  if (status == WEIR_ERR_UNSUPPORTED) {
    weir_check_rmdir(folder);
    weir_graph_destroy(&g);
    printf("skipped: this build has no libyaml\n");
    skip();
  }
  assert_ok(status);
  run_twice(p);
  weir_plan_class_times(p, of);
  for (int k = 0; k < WEIR_CLASSES; k++) { /* a quarter, whatever limits it */
    const double factor = k == WEIR_CLASS_OUTSIDE ? 1 : 0.25;

    assert_near(of[k].predicted_s / of[k].measured_s, factor, 1e-12);
  }
  weir_log_set_sink(hear, &h);
  weir_plan_destroy(&p);
  weir_log_set_sink(NULL, NULL);
  assert_true(h.tables == 1 && h.predictions == 1 && h.all == 1);
  /* Without the constants of this device, a plan of another one cannot be predicted. */
  cfg.device = "emulated";
  cfg.predict_from = "";
  assert_int_equal(weir_plan_create(g, NULL, &opts, &p), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "exec.predict_from"));
  cfg.device = "cpu";
  weir_check_write(to, "bandwidth: 4e9\n", 15);
  assert_int_equal(weir_plan_create(g, NULL, &opts, &p), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "states no processors"));
  weir_check_rmdir(folder);
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_have_the_class_of_what_runs_them),
      cmocka_unit_test(what_is_waited_and_what_the_host_does_is_kept),
      cmocka_unit_test(a_file_names_the_device_of_predictions),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
