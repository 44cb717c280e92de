/* config_test.c - authority, every refusal with its exact place, ownership, failing allocations. */
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "conf/weir_opt.h"

struct step {
  double lr;
  const char *name;
  weir_int_list taps;
};

struct inner {
  int64_t count;
  bool on;
};

struct cfg {
  double mu;
  int64_t n;
  bool verbose;
  int mode;
  const char *title;
  const char *file;
  struct {
    double lr;
    struct {
      int64_t steps;
    } warm;
  } train;
  struct inner part;
  weir_int_list ints;
  weir_real_list reals;
  weir_string_list names;
  weir_struct_list steps;
};

static const weir_opt step_rows[] = {
    WEIR_OPT_REAL(struct step, lr, 0.5, 0, 1, "1", "rate"),
    WEIR_OPT_STRING(struct step, name, "plain", "name"),
    WEIR_OPT_INT_LIST(struct step, taps, "1, 2", 0, 9, "1", "taps"),
    WEIR_OPT_END,
};
static const weir_opt inner_rows[] = {
    WEIR_OPT_INT(struct inner, count, 3, 0, 100, "1", "how many"),
    WEIR_OPT_BOOL(struct inner, on, true, "whether"),
    WEIR_OPT_END,
};
static const weir_opt rows[] = {
    WEIR_OPT_REAL(struct cfg, mu, 0.9, 0.0, 0.9999, "1", "momentum"),
    WEIR_OPT_INT(struct cfg, n, 10, -0x1p63, 0x1p63, "1", "any integer"),
    WEIR_OPT_REAL(struct cfg, train.lr, 1e-3, 0, 10, "s", "rate"),
    WEIR_OPT_BOOL(struct cfg, verbose, false, "talk"),
    WEIR_OPT_ENUM(struct cfg, mode, 1, "fast|exact|mixed", "how"),
    WEIR_OPT_STRING(struct cfg, title, "none", "a title"),
    WEIR_OPT_PATH(struct cfg, file, "", "a file"),
    WEIR_OPT_INT(struct cfg, train.warm.steps, 7, 0, 1000, "1", "steps"),
    WEIR_OPT_TABLE(struct cfg, part, inner_rows, "a part"),
    WEIR_OPT_INT_LIST(struct cfg, ints, "1, 2, 3", -5, 5, "1", "ints"),
    WEIR_OPT_REAL_LIST(struct cfg, reals, "", 0, 1e300, "Hz", "reals"),
    WEIR_OPT_STRING_LIST(struct cfg, names, "a, \"b c\"", "names"),
    WEIR_OPT_LIST(struct cfg, steps, struct step, step_rows, 3, "steps"),
    WEIR_OPT_END,
};

static weir_status load_sets(struct cfg *c, weir_config **config, int n, const char *const *sets)
{
  return weir_config_load(rows, sizeof *c, NULL, 0, sets, n, c, config);
}

static void defaults_come_from_the_table(void **state)
{
  weir_config *config = NULL;
  struct cfg c;

  (void)state;
  assert_int_equal(weir_opts_incomplete(rows), 0);
  assert_ok(load_sets(&c, &config, 0, NULL));
  assert_near(c.mu, 0.9, 0);
  assert_int_equal(c.n, 10);
  assert_int_equal(c.mode, 1);
  assert_int_equal(c.train.warm.steps, 7);
  assert_int_equal(c.part.count, 3);
  assert_true(c.part.on);
  assert_int_equal(c.ints.count, 3);
  assert_int_equal(c.ints.items[2], 3);
  assert_int_equal(c.reals.count, 0);
  assert_string_equal(c.names.items[1], "b c");
  assert_string_equal(c.title, "none");
  assert_int_equal(c.steps.count, 0);
  weir_config_destroy(&config);
  assert_null(config);
  weir_opts_default(rows, sizeof c, &c);
  assert_int_equal(c.part.count, 3);
  assert_int_equal(c.ints.count, 0);
}

static void sets_are_applied_left_to_right(void **state)
{
  const char *const sets[] = {
      "mu=0.25",
      "train.lr=1e-2",
      "train={warm: {steps: 9}}",
      "mode=mixed",
      "title=a, b: c # d",
      "ints=[-5, +5,]",
      "names=['x''y', \"\\u00e9\\n\"]",
      "steps=[{lr: 1}, {name: last, taps: []}]",
      "steps[1].lr=0.125",
      "part.on=false",
      "n=-9223372036854775808",
      "mu=0.5",
      "file=\"\"",
      "reals=[1e300, .5, 3]",
  };
  weir_config *config = NULL;
  struct cfg c;

  (void)state;
  assert_ok(load_sets(&c, &config, (int)(sizeof sets / sizeof sets[0]), sets));
  assert_near(c.mu, 0.5, 0);
  assert_near(c.train.lr, 1e-2, 0);
  assert_int_equal(c.train.warm.steps, 9);
  assert_int_equal(c.mode, 2);
  assert_string_equal(c.title, "a, b: c # d");
  assert_string_equal(c.file, "");
  assert_int_equal(c.ints.count, 2);
  assert_int_equal(c.ints.items[0], -5);
  assert_string_equal(c.names.items[0], "x'y");
  assert_string_equal(c.names.items[1], "\xc3\xa9\n");
  assert_int_equal(c.steps.count, 2);
  const struct step *steps = c.steps.items;
  assert_near(steps[0].lr, 1, 0);
  assert_string_equal(steps[0].name, "plain");
  assert_int_equal(steps[0].taps.count, 2);
  assert_near(steps[1].lr, 0.125, 0);
  assert_string_equal(steps[1].name, "last");
  assert_int_equal(steps[1].taps.count, 0);
  assert_false(c.part.on);
  assert_true(c.n == INT64_MIN);
  assert_near(c.reals.items[0], 1e300, 0);
  weir_config_destroy(&config);
}

static void refused_sets_say_why(void **state)
{
  static const struct {
    const char *set, *message;
  } cases[] = {
      {"mu=1.5", "--set mu=1.5: mu: 1.5 is outside [0, 0.9999]"},
      {"mu", "--set mu: write it as key=value"},
      {"=3", "--set =3: write it as key=value"},
      {"mu=", "--set mu=: mu: has no value (an empty text is written \"\")"},
      {"n=12abc", "--set n=12abc: n: 12abc has characters after the number"},
      {"n=1.0", "--set n=1.0: n: 1.0 is not written as a whole number"},
      {"n=010", "--set n=010: n: 010 is not a decimal integer"},
      {"n=0x10", "--set n=0x10: n: 0x10 has characters after the number"},
      {"n=9223372036854775808",
       "--set n=9223372036854775808: n: 9223372036854775808 is too large to be held"},
      {"mu=nan", "--set mu=nan: mu: nan is not a finite number"},
      {"mu=-.inf", "--set mu=-.inf: mu: -.inf is not a finite number"},
      {"train.lr=1e999", "--set train.lr=1e999: train.lr: 1e999 is too large to be held"},
      {"train.lr=1e-999",
       "--set train.lr=1e-999: train.lr: 1e-999 is too close to zero to be held"},
      {"train.lr=11", "--set train.lr=11: train.lr: 11 is outside [0, 10] s"},
      {"reals=[9007199254740993]",
       "--set reals=[9007199254740993]: reals[0]: 9007199254740993 is an integer beyond 2^53 that "
       "no double holds exactly"},
      {"train.rl=1", "--set train.rl=1: train.rl: unknown key (nearest known key: lr)"},
      {"tran.lr=1", "--set tran.lr=1: tran.lr: unknown key (nearest known key: train)"},
      {"part.cuont=1", "--set part.cuont=1: part.cuont: unknown key (nearest known key: count)"},
      {"part.zzzzzz=1", "--set part.zzzzzz=1: part.zzzzzz: unknown key (known keys: count, on)"},
      {"train.warm.steps.x=1",
       "--set train.warm.steps.x=1: train.warm.steps.x: unknown key: steps is one value "
       "(integer), nothing lies below it"},
      {"mode=exakt", "--set mode=exakt: mode: exakt is none of fast|exact|mixed (nearest: exact)"},
      {"mode=1", "--set mode=1: mode: 1 is none of fast|exact|mixed"},
      {"verbose=yes", "--set verbose=yes: verbose: yes is neither true nor false"},
      {"verbose=[true]",
       "--set verbose=[true]: verbose: expected one value (true or false), found a list"},
      {"ints=3", "--set ints=3: ints: expected a list of integers such as [a, b]"},
      {"ints=[1, 9]", "--set ints=[1, 9]: ints[1]: 9 is outside [-5, 5]"},
      {"ints=[1, [2]]", "--set ints=[1, [2]]: ints[1]: expected one value (integer), found a list"},
      {"ints=[1, 2", "--set ints=[1, 2: missing ']' at character 6"},
      {"ints=[1,,2]", "--set ints=[1,,2]: missing value at character 4"},
      {"ints=[1] x", "--set ints=[1] x: characters after the value at character 5"},
      {"title=\"a", "--set title=\"a: missing closing quote at character 3"},
      {"title=\"\\q\"", "--set title=\"\\q\": unknown escape at character 3"},
      {"title=\"\\0\"", "--set title=\"\\0\": unknown escape at character 3"},
      {"title=\"\\x00\"",
       "--set title=\"\\x00\": an escape that is no character before at character 6"},
      {"title=a\xff", "--set title=a?: byte 2 is not UTF-8"},
      {"part=3", "--set part=3: part: expected keys and values, found a single value"},
      {"part={on: true, on: true}", "--set part={on: true, on: true}: part.on: duplicate key"},
      {"steps=[{}, {}, {}, {}]",
       "--set steps=[{}, {}, {}, {}]: steps: 4 entries, at most 3 are allowed"},
      {"steps=[{lr: 2}]", "--set steps=[{lr: 2}]: steps[0].lr: 2 is outside [0, 1]"},
      {"steps[0].lr=1", "--set steps[0].lr=1: steps: no such entry: there are 0, from [0]"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_config *config = NULL;
    struct cfg c;

    assert_int_equal(load_sets(&c, &config, 1, &cases[i].set), WEIR_ERR_CONFIG);
    assert_string_equal(weir_last_message(), cases[i].message);
    assert_null(config);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_come_from_the_table),
      cmocka_unit_test(sets_are_applied_left_to_right),
      cmocka_unit_test(refused_sets_say_why),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
