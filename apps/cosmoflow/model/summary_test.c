/* summary_test.c - parameters, flops and stored outputs of the published networks at their
 * published sizes (docs/science/cosmoflow.md, Networks). */
#include "model/summary.h"
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "model/nets.h"

/* Numbers as they are printed, with so many digits: half of the last one. */
typedef struct printed {
  int64_t side, params;
  double forward, forward_unit;   /* Gflop */
  double training, training_unit; /* Gflop */
  double gib, gib_unit;
} printed;

/* U of arXiv:2007.12856 has one channel and three classes, the others four channels and outputs. */
static cf_summary sheet_of(const char *name, void *opts, int64_t side)
{
  const cf_model_opts o = {.net = {.name = name, .opts = opts}};
  const bool unet = strcmp(name, "unet") == 0;
  const cf_shape shape = {.side = side, .channels = unet ? 1 : 4, .outputs = unet ? 3 : 4};
  cf_summary s;

  assert_ok(cf_summary_make(&o, &shape, &s));
  return s;
}

static void same(const char *what, int64_t side, double found, double wanted, double unit)
{
  if (!(fabs(found - wanted) <= 0.5 * unit * (1 + 1e-9))) {
    fail_msg("%s at %lld^3: %.9g, printed %.9g", what, (long long)side, found, wanted);
  }
}

static void agree(const char *name, void *opts, const printed *rows, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    const printed *const r = &rows[i];
    const cf_summary s = sheet_of(name, opts, r->side);

    assert_int_equal(s.params, r->params);
    same("forward Gflop", r->side, s.forward / 1e9, r->forward, r->forward_unit);
    same("training Gflop", r->side, s.training / 1e9, r->training, r->training_unit);
    same("stored GiB", r->side, (double)s.bytes / 0x1p30, r->gib, r->gib_unit);
  }
}

static void the_benchmark_is_as_published(void **state)
{
  static const printed rows[] = {
      {32, 1337380, 0.908, 0.001, 2.50, 0.01, 0.0114, 0.0001},
      {64, 3270948, 8.16, 0.01, 22.7, 0.1, 0.0921, 0.0001},
      {128, 8907556, 68.86, 0.01, 192.1, 0.1, 0.739, 0.001},
      {256, 15985956, 558, 1, 1558, 1, 5.91, 0.01},
      {512, 23064356, 4472, 1, 12488, 1, 47.3, 0.1},
  };

  agree("mlperf", NULL, rows, sizeof rows / sizeof *rows);
}

/* v0.7; the other sizes by the rule of v1.0. */
static void the_benchmark_with_kernel_2_is_as_published(void **state)
{
  static const printed rows[] = {{128, 5597604, 20.4, 0.1, 57, 1, 0.739, 0.001}};
  cf_mlperf_opts o;

  weir_opts_default(cf_mlperf_options, sizeof o, &o);
  o.kernel = 2;
  agree("mlperf", &o, rows, sizeof rows / sizeof *rows);
  for (int64_t side = 32; side <= 512; side *= 2) {
    const cf_summary three = sheet_of("mlperf", NULL, side), two = sheet_of("mlperf", &o, side);

    assert_int_equal(two.bytes, three.bytes);
    for (int i = 0; i < two.n; i++) { /* kernel of 8 elements instead of 27 */
      const bool conv = two.layer[i].name[0] == 'c';

      assert_near(two.layer[i].flops, three.layer[i].flops * (conv ? 8.0 / 27 : 1),
                  1e-12 * three.layer[i].flops);
    }
  }
}

static void the_network_of_oyama_is_as_published(void **state)
{
  static const printed rows[] = {
      {128, 9438644, 18.5, 0.1, 48.3, 0.1, 0.381, 0.001},
      {256, 9438644, 147.9, 0.1, 385.8, 0.1, 3.04, 0.01},
      {512, 9438644, 1183, 1, 3086, 1, 24.4, 0.1},
  };
  cf_oyama_opts o;

  agree("oyama", NULL, rows, sizeof rows / sizeof *rows);
  weir_opts_default(cf_oyama_options, sizeof o, &o);
  o.norm = 1;
  same("stored GiB with norm, twice", 512, 2 * (double)sheet_of("oyama", &o, 512).bytes / 0x1p30,
       69.8, 0.1);
}

static void the_network_of_lbann_is_as_published(void **state)
{
  static const printed rows[] = {
      {128, 35260000, 20.9, 0.1, 55.5, 0.1, 0.385, 0.001},
      {256, 37030000, 168.6, 0.1, 448, 1, 3.08, 0.01},
      {512, 38800000, 1350, 1, 3586, 1, 24.7, 0.1},
  };

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const cf_summary s = sheet_of("lbann", NULL, rows[i].side);
    printed r = rows[i];

    same("parameters", r.side, (double)s.params, (double)r.params, 10000);
    r.params = s.params;
    agree("lbann", NULL, &r, 1);
  }
}

/* Forward of 64^3: an eighth of that of 128^3, 3,908. What is kept has the softmax of the three
 * classes with it, which here is of the loss. */
static void the_unet_is_as_published(void **state)
{
  static const struct {
    int64_t side;
    double forward, unit, gib, gib_unit;
  } rows[] = {{64, 488.5, 0.1, 1.29, 0.01}, {128, 3908, 1, 10.3, 0.1}, {256, 31264, 1, 82.8, 0.1}};

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const int64_t side = rows[i].side;
    const cf_summary s = sheet_of("unet", NULL, side);
    const double softmax = 3 * sizeof(float) * pow((double)side, 3);

    assert_int_equal(s.params, 19070560);
    same("forward Gflop", side, s.forward / 1e9, rows[i].forward, rows[i].unit);
    same("stored GiB", side, ((double)s.bytes + softmax) / 0x1p30, rows[i].gib, rows[i].gib_unit);
    assert_near(s.training, 3 * s.forward - s.layer[0].flops, 1);
  }
}

/* Of one channel and three outputs, as its repository has it: layers by hand. */
static void the_network_of_sc18_is_that_of_its_repository(void **state)
{
  static const struct {
    int64_t side;
    int n;
    int64_t kernel[8], filters[8], made[8];
  } lists[] = {
      {64, 6, {3, 4, 4, 3, 2, 2}, {1, 16, 32, 64, 64, 128, 128}, {62, 28, 6, 4, 3, 2}},
      {128,
       7,
       {3, 4, 4, 3, 3, 2, 2},
       {1, 16, 32, 64, 128, 256, 256, 256},
       {126, 60, 27, 6, 4, 3, 2}},
  };

  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    const cf_model_opts o = {.net = {.name = "sc18"}};
    const cf_shape shape = {.side = lists[k].side, .channels = 1, .outputs = 3};
    int64_t params = 0;
    double forward = 0;
    cf_summary s;

    assert_ok(cf_summary_make(&o, &shape, &s));
    for (int i = 0; i < lists[k].n; i++) {
      const int64_t co = lists[k].filters[i + 1], kernel = lists[k].kernel[i];
      const int64_t weights = kernel * kernel * kernel * lists[k].filters[i] * co;
      const int64_t norm = k == 0 ? 2 * co : 0;

      params += weights + co + norm;
      forward += 2 * (double)weights * pow((double)lists[k].made[i], 3);
    }
    const int64_t dense = k == 0 ? 1024 * 1025 + 512 * 1025 + 256 * 513 + 3 * 257
                                 : 2048 * 2049 + 256 * 2049 + 3 * 257;

    params += dense;
    forward += 2 * (double)(dense - (k == 0 ? 1024 + 512 : 2048) - 256 - 3);
    assert_int_equal(s.params, params);
    assert_near(s.forward, forward, 1);
    assert_true(k == 0 || s.params == 7041443); /* 7.0 M */
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_benchmark_is_as_published),
      cmocka_unit_test(the_benchmark_with_kernel_2_is_as_published),
      cmocka_unit_test(the_network_of_oyama_is_as_published),
      cmocka_unit_test(the_network_of_lbann_is_as_published),
      cmocka_unit_test(the_unet_is_as_published),
      cmocka_unit_test(the_network_of_sc18_is_that_of_its_repository),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
