/* trained_slow.c - what trained networks do with a month of the built-in simulation: correct it,
 * see nothing of the tests, end with the same bits however often they are killed, have the
 * gradients that they claim, and write predictions that are archives. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_file.h"
#include "data/archive/archive.h"
#include "month.h"

/* In both ways of training: a better CRPS, and a spread that is nearer to the error. */
static void the_network_corrects_the_forecast(void **state)
{
  prepare(160);
  for (int stages = 0; stages < 2; stages++) {
    const char *dir = in_scratch("r%d", stages);

    assert_int_equal(
        program("run " NETWORK ARCHIVES "%s --set data.split.valid.from=2000-02-25 "
                "--set data.split.valid.to=2000-03-08 --set data.split.test.from=2000-03-08 "
                "--set train.epochs=4 --set train.optim.schedule.lr=0.01 "
                "--set bias.train.optim.schedule.lr=0.01 --set normalization.bias=local "
                "--set normalization.bias_smooth=1 --out %s",
                FILES, stages == 1 ? STAGES : "", dir),
        0);
    const double raw = event_number(dir, "validation", "crps_raw");
    const double network = event_number(dir, "validation", "crps_network");
    const double ratio[] = {event_number(dir, "validation", "ratio_raw"),
                            event_number(dir, "validation", "ratio_network")};

    printf("CRPS raw %.4f, network %.4f, spread / error %.2f, %.2f\n", raw, network, ratio[0],
           ratio[1]);
    assert_true(network < raw && fabs(log(ratio[1])) < fabs(log(ratio[0])));
  }
}

/* Killed at several moments, one of them before the first checkpoint, in any of four trainings. */
static void a_killed_run_ends_with_the_same_bits(void **state)
{
  prepare(60);
  assert_int_equal(program("run " NETWORK STAGES ARCHIVES "--set train.checkpoint.every=1 --out %s",
                           FILES, in_scratch("a")),
                   0);
  for (int k = 0; k < 4; k++) {
    const pid_t child =
        program_start("run " NETWORK STAGES ARCHIVES "--set train.checkpoint.every=1 --out %s",
                      FILES, in_scratch("b"));

    usleep(20000 + 250000 * (unsigned)k);
    (void)kill(child, SIGKILL);
    assert_true(waitpid(child, NULL, 0) == child);
  }
  assert_int_equal(program("run " NETWORK STAGES ARCHIVES "--set train.checkpoint.every=1 --out %s",
                           FILES, in_scratch("b")),
                   0);
  assert_true(same_weights("a", "b"));
  assert_true(same_weights("a/bias", "b/bias"));
  assert_true(same_weights("a/bias/fold2", "b/bias/fold2"));
  assert_true(same_contents(in_scratch("a/validation.csv"), in_scratch("b/validation.csv")));
}

/* Every value of a quantity of an archive: the minimum, or NaN where one is missing. */
static double min_value(const char *path, const char *name, int64_t *init_times)
{
  const char *const paths[] = {path};
  wx_archive *a = NULL;
  double low = INFINITY;

  assert_ok(wx_archive_open(paths, 1, &a));
  const wx_archive_info *f = wx_archive_get(a);
  const int64_t q = wx_archive_find_quantity(f, name);
  float values[16 * 32];

  assert_true(q >= 0);
  assert_int_equal(f->grid.n_lat * f->grid.n_lon, 16 * 32);
  *init_times = f->n_init_times;
  for (int64_t i = 0; i < f->n_init_times; i++) {
    assert_ok(wx_archive_read(a, i, 0, q, 0, 1, values));
    for (int k = 0; k < 16 * 32; k++) {
      low = (double)values[k] < low || isnan(values[k]) ? (double)values[k] : low;
    }
  }
  wx_archive_close(&a);
  return low;
}

static wx_product product_of(const char *path, const char *name)
{
  const char *const paths[] = {path};
  wx_archive *a = NULL;

  assert_ok(wx_archive_open(paths, 1, &a));
  const wx_archive_info *f = wx_archive_get(a);
  const int64_t q = wx_archive_find_quantity(f, name);

  assert_true(q >= 0);
  const wx_product product = f->quantity[q].product;

  wx_archive_close(&a);
  return product;
}

/* With truth and without; with one stage and two; predictions are an archive again. */
static void predictions_are_archives(void **state)
{
  int64_t init_times = 0;

  prepare(60);
  for (int stages = 0; stages < 2; stages++) {
    const char *run = in_scratch("r%d", stages), *out = in_scratch("p%d", stages);

    assert_int_equal(
        program("run " NETWORK ARCHIVES "%s --out %s", FILES, stages == 1 ? STAGES : "", run), 0);
    assert_int_equal(program("predict " NETWORK "%s --input %s --set predict.weights=%s/weights.nc "
                             "--set predict.part=test --set predict.members=true --out %s",
                             stages == 1 ? STAGES : "", in_scratch("s/forecast.nc"), run, out),
                     0);
    assert_true(min_value(in_scratch("p%d/predictions.nc", stages), "t_spread500", &init_times) >
                0);
    assert_int_equal(init_times, (int)event_number(run, "samples", "test"));
    assert_true(min_value(in_scratch("p%d/predictions.nc", stages), "t500", &init_times) > -100);
    assert_true(min_value(in_scratch("p%d/members.nc", stages), "t500", &init_times) > -100);
    const char *predicted = in_scratch("p%d/predictions.nc", stages);

    assert_int_equal(product_of(predicted, "t500"), WX_PRODUCT_MEAN);
    assert_int_equal(product_of(predicted, "t_spread500"), WX_PRODUCT_SPREAD);
    assert_int_equal(product_of(in_scratch("p%d/members.nc", stages), "t500"), WX_PRODUCT_MEMBER);
    char *text = contents(in_scratch("p%d/provenance.json", stages));

    assert_non_null(strstr(text, "weights.nc"));
    assert_int_equal(strstr(text, "bias/weights.nc") != NULL, stages == 1);
    assert_non_null(strstr(text, "\"test\": \"2000-01-26 00:00 to "));
    free(text);
  }
}

/* No leakage: forecasts and truth of the tests may be any numbers, training and selection make the
 * same bits of all networks; with other numbers one sample earlier, among those that choose the
 * weights, they know of it. */
static void nothing_sees_the_tests(void **state)
{
  static const char *const name[] = {"t", "v"};
  static const double test = 10982, valid = 10976; /* 2000-01-26, 2000-01-20 */

  prepare(60);
#define ALL_OF_IT                                            \
  STAGES "--set bias.folds=1 --set bias.data.analysis=true " \
         "--set eecrps.weight=0.5 --set train.optim.schedule.lr=0.3 "
#define TWO_STAGES "run " NETWORK ARCHIVES ALL_OF_IT "--out %s"
  assert_int_equal(program(TWO_STAGES, FILES, in_scratch("r")), 0);
  for (int k = 0; k < 2; k++) {
    disturb("forecast.nc", k == 0 ? test : valid, name[k]);
    disturb("truth.nc", k == 0 ? test : valid, name[k]);
    assert_int_equal(program(TWO_STAGES, in_scratch("%s/forecast.nc", name[k]),
                             in_scratch("%s/truth.nc", name[k]), in_scratch("r%s", name[k])),
                     0);
  }
  assert_true(same_weights("r", "rt"));
  assert_true(same_weights("r/bias", "rt/bias"));
  assert_true(same_contents(in_scratch("r/validation.csv"), in_scratch("rt/validation.csv")));
  assert_false(same_contents(in_scratch("r/validation.csv"), in_scratch("rv/validation.csv")));
  assert_true(event_number(in_scratch("r"), "stop", "best_loss") ==
              event_number(in_scratch("rt"), "stop", "best_loss"));
  assert_true(event_number(in_scratch("r"), "stop", "best_loss") !=
              event_number(in_scratch("rv"), "stop", "best_loss"));
}

static void gradients_are_checked(void **state)
{
  assert_int_equal(program("check " DUMMY STAGES "--set check.probes=1 --set eecrps.weight=1"), 0);
  assert_non_null(strstr(printed(), "network bias"));
  assert_non_null(strstr(printed(), "largest relative difference"));
  assert_non_null(strstr(printed(), "head/weight"));
  assert_int_equal(program("check " DUMMY
                           "--set model.net=inception --set model.inception.preset=tiny "
                           "--set data.trajectory=true --set check.probes=1"),
                   0);
  assert_int_equal(program("check " DUMMY "--set check.probes=1 --set check.tolerance=0"), 6);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(the_network_corrects_the_forecast),
      TEST(a_killed_run_ends_with_the_same_bits),
      TEST(predictions_are_archives),
      TEST(nothing_sees_the_tests),
      TEST(gradients_are_checked),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
