/* grid_slow.c - training with the samples and the space of a sample shared among ranks: the weights
 * are those of one rank except for the rounding of sums over ranks. */
#include <stdlib.h>
#include "month.h"

/* 60 forecasts, 8 x 16 points; updates without the division of adam by gradients that are nothing
 * but rounding. */
#define SMALL                                                                  \
  "--set simulate.lat=8 --set simulate.lon=16 --set simulate.spin_up=2 --set " \
  "simulate.leads=[24,48] --set simulate.quantities=[t500,ws500] --set simulate.init_times=60 "
#define SHORT                                                                                      \
  "--set data.lead=[24] --set data.split.valid.to=2000-01-21 --set data.split.test.to=2000-01-28 " \
  "--set model.unet.levels=1 --set model.unet.base=2 "
#define RUN                                                                               \
  "run " NETWORK ARCHIVES SHORT                                                           \
  "--threads 1 --set train.batch=2 --set train.steps=2 --set train.optim.rule=sgd --set " \
  "train.optim.schedule.lr=0.03 --set train.keep_best=false "
#define VOLUME                                                                     \
  "--set data.lead=[24,48] --set data.depth=lead --set model.unet.z.pool=1 --set " \
  "model.unet.z.kernel=3 "
#define INCEPTION                                                                               \
  "--set model.net=inception --set model.inception.preset=tiny --set model.inception.blocks=1 " \
  "--set model.inception.base=2 "
#define DENSE "--set model.net=dense "
#define TRANSFORMER                                                        \
  "--set model.net=transformer --set model.transformer.preset=tiny --set " \
  "model.transformer.width=8 --set model.transformer.layers=1 --set "      \
  "model.transformer.border.x=wrap "
#define ATTENTION TRANSFORMER "--set model.coupling=attention "
#define MEMBERS "--set model.head=members "
#define ALONE                                                                              \
  MEMBERS "--set model.coupling=none --set data.mean=false --set data.spread=false --set " \
          "data.position=true "
#define WIND(family) \
  "--set data.target=[ws500] --set 'model.distributions=[{quantity: ws500, family: " family "}]' "
#define LOCAL "--set model.unet.locally_connected=1 --set model.smooth=10 "
#define SPREAD                                                                                   \
  STAGES VOLUME                                                                                  \
      "--set bias.folds=1 --set bias.model.unet.levels=1 --set bias.model.unet.base=2 --set "    \
      "bias.model.unet.z.pool=1 --set bias.train.steps=2 --set bias.train.optim.rule=sgd --set " \
      "bias.train.keep_best=false --set model.unet.form=separable "

enum { GRIDS = 3 };

/* A training, and the grids that it is compared on. */
typedef struct training {
  const char *name, *options, *grid[GRIDS];
} training;

static const training networks[] = {
    {"unet", "", {"1x1x2x1", "1x1x1x2", "auto"}},
    {"volume", VOLUME, {"1x2x1x1"}},
    {"local", LOCAL, {"1x1x1x2"}},
    {"inception", INCEPTION "--set data.trajectory=true ", {"1x1x2x1", "1x1x1x2"}},
    {"dense", DENSE, {"2x1x2x1", "1x1x1x2"}},
    {"transformer", TRANSFORMER, {"1x1x2x1", "1x1x1x2"}},
    {"attention", ATTENTION, {"1x1x1x2"}},
};
static const training heads[] = {
    {"kernel", MEMBERS, {"2x1x2x1"}},
    {"almost_fair", DENSE ALONE "--set model.alpha=0.95 ", {"2x1x2x1"}},
    {"fair", DENSE ALONE "--set model.alpha=1 ", {"1x1x1x2"}},
    {"attention_members", ATTENTION MEMBERS VOLUME, {"1x2x1x1"}},
    {"censored", DENSE WIND("censored_normal, lower: 0"), {"2x1x2x1"}},
    {"gamma", DENSE WIND("censored_shifted_gamma, shift: 1"), {"1x1x2x1"}},
    {"spread", SPREAD, {"1x1x1x2"}},
};

static int make_archives(void **state)
{
  (void)make_scratch(state);
  if (weir_netcdf_available()) {
    assert_int_equal(program("prepare " SAMPLES SMALL "--out %s", in_scratch("s")), 0);
  }
  return 0;
}

/* Ranks of a grid such as 2x1x2x1; auto: 2. */
static int ranks_of(const char *grid)
{
  int ranks = *grid == 'a' ? 2 : 1;

  for (const char *at = grid; *at != 0 && *grid != 'a'; at += *at == 'x') {
    char *end = NULL;

    ranks *= (int)strtol(at, &end, 10);
    at = end;
  }
  return ranks;
}

/* Trains on grids and compares with one rank. */
static void compare(const training *t)
{
  char one[64], other[64];

  (void)snprintf(one, sizeof one, "%s1", t->name);
  assert_int_equal(program(RUN "%s--out %s", FILES, t->options, in_scratch("%s", one)), 0);
  for (int k = 0; k < GRIDS && t->grid[k] != NULL; k++) {
    bool same = false;

    (void)snprintf(other, sizeof other, "%s_%s", t->name, t->grid[k]);
    if (program(RUN "%s--ranks %d --grid %s --out %s", FILES, t->options, ranks_of(t->grid[k]),
                t->grid[k], in_scratch("%s", other)) != 0) {
      fail_msg("%s on %s: %s", t->name, t->grid[k], printed());
    }
    const double worst = weights_difference(one, other, &same);

    printf("%s on %s: %.1e\n", t->name, t->grid[k], worst);
    if (!(worst < 1e-5)) {
      fail_msg("%s on %s: weights differ by %g", t->name, t->grid[k], worst);
    }
  }
}

static void networks_are_those_of_one_rank(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
    compare(&networks[i]);
  }
}

static void heads_and_stages_too(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    compare(&heads[i]);
  }
}

/* On the weights of one rank of the first network. */
static void fine_tuning_too(void **state)
{
  char options[2 * PATH];
  bool same = false;

  (void)state;
  (void)snprintf(options, sizeof options, "--set train.initial_weights=%s ", weights("unet1"));
  compare(&(training){"tuned", options, {"2x1x1x2"}});
  /* Weights of other trainings differ by more. */
  assert_true(weights_difference("unet1", "tuned1", &same) > 1e-4);
}

static void grids_that_do_not_fit_are_refused(void **state)
{
  (void)state;
  assert_int_equal(program(RUN "--ranks 2 --grid 1x2x1x1 --out %s", FILES, in_scratch("flat")), 2);
  assert_non_null(strstr(printed(), "2 ranks along the depth, and no input of 'forecast' has one"));
  assert_int_equal(program(RUN "--ranks 2 --grid 1x1x3x1 --out %s", FILES, in_scratch("three")), 2);
  assert_non_null(strstr(printed(), "does not fit 2 ranks"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(networks_are_those_of_one_rank),
      cmocka_unit_test(heads_and_stages_too),
      cmocka_unit_test(fine_tuning_too),
      cmocka_unit_test(grids_that_do_not_fit_are_refused),
  };

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    return 77;
  }
  return cmocka_run_group_tests(tests, make_archives, drop_scratch);
}
