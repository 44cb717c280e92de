/* sheet_test.c - parameters, flops and stored outputs of the published networks at their published
 * sizes (docs/science/cosmoflow.md, Networks). */
#include "model/sheet.h"
#include <math.h>
#include "base/weir_check.h"
#include "model/nets.h"

/* Numbers as they are printed, with so many digits: half of the last one. */
typedef struct printed {
  int64_t side, params;
  double forward, forward_unit;   /* GFLOP */
  double training, training_unit; /* GFLOP */
  double gib, gib_unit;
} printed;

static cf_sheet sheet_of(const char *name, void *opts, int64_t side)
{
  const cf_model_opts o = {.net = {.name = name, .opts = opts}};
  const cf_shape shape = {side, 4, 4};
  cf_sheet s;

  assert_ok(cf_sheet_make(&o, &shape, &s));
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
    const cf_sheet s = sheet_of(name, opts, r->side);

    assert_int_equal(s.params, r->params);
    same("forward GFLOP", r->side, s.forward / 1e9, r->forward, r->forward_unit);
    same("training GFLOP", r->side, s.training / 1e9, r->training, r->training_unit);
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
    const cf_sheet three = sheet_of("mlperf", NULL, side), two = sheet_of("mlperf", &o, side);

    assert_int_equal(two.bytes, three.bytes);
    for (int i = 0; i < two.n; i++) { /* 8 taps in place of 27 */
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
    const cf_sheet s = sheet_of("lbann", NULL, rows[i].side);
    printed r = rows[i];

    same("parameters", r.side, (double)s.params, (double)r.params, 10000);
    r.params = s.params;
    agree("lbann", NULL, &r, 1);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_benchmark_is_as_published),
      cmocka_unit_test(the_benchmark_with_kernel_2_is_as_published),
      cmocka_unit_test(the_network_of_oyama_is_as_published),
      cmocka_unit_test(the_network_of_lbann_is_as_published),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
