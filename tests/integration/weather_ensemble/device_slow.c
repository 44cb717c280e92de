/* device_slow.c - the emulated device: where it runs the generated loops of the cpu, weights and
 * losses of a training, and predictions, are the same; with library calls within roundings. */
#include <math.h>
#include <string.h>

#include "month.h"

enum { CELLS = 8 * 16 };
static const char *const device[] = {"cpu", "emulated"};

/* Two steps of a network that is smaller still: every launch there runs twice. */
#define SMALL                                                                            \
  NETWORK "--set model.unet.base=2 --set train.batch=2 --set train.steps=2 --threads 1 " \
          "--device %s "
#define GENERATED "--set exec.kernel=none "

/* Archives of 8 x 16 points, or a skipped test. */
static void prepare_small(void)
{
  const int status = program("prepare " SAMPLES "--set simulate.lat=8 --set simulate.lon=16 "
                             "--set simulate.init_times=60 --out %s",
                             in_scratch("s"));

  if (!weir_netcdf_available()) {
    assert_int_equal(status, 7);
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  assert_int_equal(status, 0);
}

/* Returns the number of fields, each of which is the same in both archives, up to a share of its
 * largest number. */
static int64_t compare_archives(const char *of_a, const char *of_b, double tolerance)
{
  const char *const path[] = {of_a, of_b};
  wx_archive *a = NULL, *b = NULL;
  float x[CELLS], y[CELLS];
  int64_t n = 0;

  assert_ok(wx_archive_open(&path[0], 1, &a));
  assert_ok(wx_archive_open(&path[1], 1, &b));
  const wx_archive_info *f = wx_archive_get(a);

  for (; n < f->n_init_times * f->n_leads * f->n_quantities * f->n_members; n++) {
    const int64_t m = n % f->n_members, q = n / f->n_members % f->n_quantities;
    const int64_t l = n / f->n_members / f->n_quantities % f->n_leads;
    const int64_t i = n / f->n_members / f->n_quantities / f->n_leads;

    assert_ok(wx_archive_read(a, i, l, q, m, 1, x));
    assert_ok(wx_archive_read(b, i, l, q, m, 1, y));
    double most = 0, apart = 0;

    for (int c = 0; c < CELLS; c++) {
      most = fmax(most, fabs((double)x[c]));
      apart = fmax(apart, fabs((double)x[c] - y[c]));
    }
    assert_true(tolerance > 0 ? apart <= tolerance * most : memcmp(x, y, sizeof x) == 0);
  }
  wx_archive_close(&a);
  wx_archive_close(&b);
  return n;
}

static void training_and_prediction_give_the_bits_of_the_cpu(void **state)
{
  prepare_small();
  for (int k = 0; k < 2; k++) {
    assert_int_equal(program("run " SMALL GENERATED ARCHIVES "--out %s", device[k], FILES,
                             in_scratch("%s", device[k])),
                     0);
  }
  assert_true(same_weights("cpu", "emulated"));
  assert_true(event_number(in_scratch("cpu"), "run_end", "best_loss") ==
              event_number(in_scratch("emulated"), "run_end", "best_loss"));
  for (int k = 0; k < 2; k++) {
    assert_int_equal(program("predict " SMALL GENERATED
                             "--set predict.weights=%s --set predict.part=test "
                             "--set data.forecast=[%s] --out %s",
                             device[k], weights("cpu"), in_scratch("s/forecast.nc"),
                             in_scratch("%s_predictions", device[k])),
                     0);
  }
  assert_true(compare_archives(in_scratch("cpu_predictions/predictions.nc"),
                               in_scratch("emulated_predictions/predictions.nc"), 0) >= 10);
}

/* Convolutions by the device's library, borders that wrap and reflect written out for it: other
 * orders of f32 sums. With the cpu's weights, predictions agree, too. */
static void training_by_the_library_agrees_with_the_cpu(void **state)
{
  prepare_small();
  for (int k = 0; k < 2; k++) {
    assert_int_equal(program("run " SMALL "%s" ARCHIVES "--out %s", device[k],
                             k == 0 ? GENERATED : "", FILES, in_scratch("%s", device[k])),
                     0);
    assert_int_equal(program("predict " SMALL "%s--set predict.weights=%s "
                             "--set predict.part=test --set data.forecast=[%s] --out %s",
                             device[k], k == 0 ? GENERATED : "", weights("cpu"),
                             in_scratch("s/forecast.nc"), in_scratch("%s_predictions", device[k])),
                     0);
  }
  assert_false(same_weights("cpu", "emulated")); /* the library did take part */
  assert_near(event_number(in_scratch("emulated"), "run_end", "best_loss"),
              event_number(in_scratch("cpu"), "run_end", "best_loss"), 1e-5);
  assert_true(compare_archives(in_scratch("cpu_predictions/predictions.nc"),
                               in_scratch("emulated_predictions/predictions.nc"), 1e-5) >= 10);
}

/* The archives of tiny.yaml, of fewer steps and points, with kernels as named. */
static void simulate(const char *where, const char *kernel)
{
  const int status = program(
      "prepare --set simulate.lat=8 --set simulate.lon=16 --set simulate.step=0.12 "
      "--set simulate.spin_up=1 --set simulate.library.states=2 --set simulate.library.every=0.5 "
      "--set simulate.every=12 --set simulate.init_times=3 --set simulate.members=3 "
      "--set simulate.leads=[6,12] --set simulate.quantities=[z500,w500] --set exec.kernel=%s "
      "--device %s --out %s",
      kernel, where, in_scratch("%s_%s", where, kernel));

  if (!weir_netcdf_available()) {
    assert_int_equal(status, 7);
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  assert_int_equal(status, 0);
}

/* Without kernels, transforms are calls of the host, with the bits of the cpu; with them, of the
 * device's library, whose roundings are others. */
static void a_simulation_agrees_with_the_cpu(void **state)
{
  const struct {
    const char *kernel;
    double tolerance;
  } ways[] = {{"none", 0}, {"auto", 1e-5}};

  for (int k = 0; k < 2; k++) {
    const char *kernel = ways[k].kernel;

    for (int d = 0; d < 2; d++) {
      simulate(device[d], kernel);
    }
    assert_int_equal(compare_archives(in_scratch("cpu_%s/forecast.nc", kernel),
                                      in_scratch("emulated_%s/forecast.nc", kernel),
                                      ways[k].tolerance),
                     3 * 2 * 2 * 3);
    assert_int_equal(compare_archives(in_scratch("cpu_%s/truth.nc", kernel),
                                      in_scratch("emulated_%s/truth.nc", kernel),
                                      ways[k].tolerance),
                     7 * 2);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(a_simulation_agrees_with_the_cpu),
      TEST(training_and_prediction_give_the_bits_of_the_cpu),
      TEST(training_by_the_library_agrees_with_the_cpu),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
