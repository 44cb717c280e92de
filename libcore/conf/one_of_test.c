/* one_of_test.c - a choice from a registry: forms, refusals, --set into it, positions, wrong
 * tables.
 */
#include <stdlib.h>
#include <string.h>

#include "base/weir_check.h"
#include "support/conf/conf_check.h"

static void every_form_is_read(void **state)
{
  weir_config *config = NULL;
  struct cfg c;

  (void)state;
  conf_needs_yaml();
  assert_ok(weir_opts_parse(rows, sizeof c,
                            "pick: {blur: {width: 7}}\n"
                            "steps:\n"
                            "  - act: blur\n"
                            "  - act:\n      blur:\n"
                            "  - {act: {negate: }}\n",
                            &c, &config));
  const struct step *steps = c.steps.items;
  const struct blur *blur = c.pick.opts, *bare = steps[0].act.opts, *empty = steps[1].act.opts;
  assert_string_equal(c.pick.name, "blur");
  assert_near(blur->width, 7, 0);
  assert_string_equal(blur->label, "soft");
  assert_int_equal(blur->taps.count, 1);
  assert_near(bare->width, 2, 0);
  assert_int_equal(bare->taps.items[0], 3);
  assert_string_equal(empty->label, "soft");
  assert_string_equal(steps[2].act.name, "negate");
  assert_null(steps[2].act.opts);
  weir_config_destroy(&config);
}

static void sets_reach_into_a_choice(void **state)
{
  const char *const sets[] = {
      "pick={blur: {width: 7, label: a}}",
      "pick.blur.width=8",
      "pick.blur={taps: [1, 2]}",
      "steps=[{act: negate}, {act: blur}, {act: blur}]",
      "steps[1].act.blur.label=b",
      "steps[2].act=negate",
      "steps[0].act.negate={}",
  };
  weir_config *config = NULL;
  struct cfg c;

  (void)state;
  assert_ok(weir_config_load(rows, sizeof c, NULL, 0, sets, 7, &c, &config));
  const struct blur *blur = c.pick.opts;
  const struct step *steps = c.steps.items;
  assert_near(blur->width, 8, 0);
  assert_string_equal(blur->label, "a");
  assert_int_equal(blur->taps.items[1], 2);
  assert_string_equal(((const struct blur *)steps[1].act.opts)->label, "b");
  assert_string_equal(steps[2].act.name, "negate");
  weir_config_destroy(&config);
}

static void refused(const char *set, const char *message)
{
  const char *const sets[] = {"steps=[{act: blur}, {act: negate}, {}]", set};
  weir_config *config = NULL;
  struct cfg c;

  assert_int_equal(weir_config_load(rows, sizeof c, NULL, 0, sets, 2, &c, &config),
                   WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), message));
  assert_int_equal(strlen(strstr(weir_last_message(), message)), strlen(message));
  assert_null(config);
}

static void wrong_sets_say_why(void **state)
{
  (void)state;
  refused("pick=blurr", ": pick: blurr is unknown (nearest: blur; there are: blur, negate)");
  refused("pick=xyzzy", ": pick: xyzzy is unknown (there are: blur, negate)");
  refused("pick=", ": pick: has no value (the empty choice is written {})");
  refused("pick=[blur]", ": pick: expected one name, or one name with its options, found a list");
  refused("pick={blur: {}, negate: {}}",
          ": pick: expected one name, or one name with its options, found several");
  refused("pick={blur: 3}", ": pick.blur: expected keys and values, found a single value");
  refused("pick={blur: {widht: 3}}", ": pick.blur.widht: unknown key (nearest known key: width)");
  refused("pick={blur: {width: -3}}", ": pick.blur.width: -3 is outside [0, 1000000] s");
  refused("pick={negate: 3}", ": pick.negate: takes no options");
  refused("pick.blur.width=3", ": pick: is not set: choose an entry before its options, "
                               "pick={name: {option: value}}, not blur.width");
  refused(
      "steps[0].act.negate={}",
      ": act: blur is chosen, not negate: to choose another, write act={name: {option: value}}");
  refused(
      "steps[0].act.blu.width=3",
      ": act: blur is chosen, not blu.width: to choose another, write act={name: {option: value}}");
  refused("steps[0].act.blur.wide=3",
          ": steps[0].act.blur.wide: unknown key (nearest known key: width)");
  refused("steps[0].act.blur.=3", "unknown key (known keys: width, label, taps)");
  refused("steps[1].act.negate.x=3", ": act: negate takes no options");
}

static void refused_yaml_says_where(void **state)
{
  static const conf_refusal cases[] = {
      {"steps:\n  - act: blu",
       "text:2:10: steps[0].act: blu is unknown (nearest: blur; there are: blur, negate)"},
      {"pick:\n  blured: {}",
       "text:2:3: pick: blured is unknown (nearest: blur; there are: blur, negate)"},
      {"pick:\n  blur: {}\n  negate:",
       "text:2:3: pick: expected one name, or one name with its options, found several"},
      {"pick:", "text:1:6: pick: has no value (the empty choice is written {})"},
      {"pick: {blur: {taps: [3, 99]}}", "text:1:25: pick.blur.taps[1]: 99 is outside [-9, 9]"},
  };

  (void)state;
  conf_needs_yaml();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_yaml_refused(&cases[i]);
  }
}

static void expect_where(const weir_config *config, const void *member, const char *expected)
{
  char text[80] = "untouched";

  weir_config_where(config, member, text, sizeof text);
  assert_string_equal(text, expected);
}

static void places_are_of_the_member_or_what_holds_it(void **state)
{
  weir_config *config = NULL;
  struct cfg c;
  char short_text[7];

  (void)state;
  conf_needs_yaml();
  assert_ok(weir_opts_parse(rows, sizeof c,
                            "mu: 0.5\n"
                            "names: [a,\n  b]\n"
                            "steps:\n"
                            "  - {lr: 1}\n"
                            "  - name: x\n"
                            "    act:\n"
                            "      blur:\n"
                            "        label: y\n",
                            &c, &config));
  const struct step *steps = c.steps.items;
  const struct blur *blur = steps[1].act.opts;
  expect_where(config, &c.mu, "text:1:5");
  expect_where(config, &c.n, "");
  expect_where(config, &c.names.items[1], "text:3:3");
  expect_where(config, &c.steps, "text:5:3");
  expect_where(config, &steps[0].lr, "text:5:10");
  expect_where(config, &steps[0].name, "text:5:5");
  expect_where(config, &steps[1], "text:6:5");
  expect_where(config, &steps[1].act, "text:8:7");
  expect_where(config, &blur->label, "text:9:16");
  expect_where(config, &blur->width, "text:8:7");
  expect_where(config, &c.pick, "");
  weir_config_where(config, &c.mu, short_text, sizeof short_text);
  assert_string_equal(short_text, "text:1");
  weir_config_destroy(&config);
}

static void the_last_source_is_the_place(void **state)
{
  const char *const sets[] = {"pick={blur: {width: 1}}", "pick.blur.width=2"};
  weir_config *config = NULL;
  struct cfg c;

  (void)state;
  assert_ok(weir_config_load(rows, sizeof c, NULL, 0, sets, 2, &c, &config));
  const struct blur *blur = c.pick.opts;
  expect_where(config, &c.pick, "--set pick={blur: {width: 1}}");
  expect_where(config, &blur->width, "--set pick.blur.width=2");
  expect_where(config, &blur->label, "--set pick={blur: {width: 1}}");
  char *text = sample_text(config);
  assert_non_null(strstr(text, "pick:  # --set pick={blur: {width: 1}}\n"
                               "  blur:\n"
                               "    width: 2  # --set pick.blur.width=2\n"
                               "    label: \"soft\"  # default\n"));
  free(text);
  weir_config_destroy(&config);
}

static bool wrong_entry(int64_t i, weir_opt_choice *entry)
{
  static const weir_opt bad[] = {WEIR_OPT_INT(struct cfg, n, 9, 0, 1, "1", "outside"),
                                 WEIR_OPT_END};
  static const weir_opt_choice entries[] = {
      {"good", "fine", blur_rows, sizeof(struct blur)},
      {"good", "the name of another", NULL, 0},
      {"Two words", "no bare key", NULL, 0},
      {"unhelpful", "", NULL, 0},
      {"sizeless", "fills nothing", blur_rows, 0},
      {"inner", "a wrong row", bad, sizeof(struct cfg)},
  };

  const bool there = i < (int64_t)(sizeof entries / sizeof entries[0]);

  if (there) {
    *entry = entries[i];
  }
  return there;
}

static void wrong_registries_are_counted(void **state)
{
  static const weir_opt wrong[] = {WEIR_OPT_ONE_OF(struct cfg, pick, wrong_entry, "help"),
                                   WEIR_OPT_END};

  (void)state;
  assert_int_equal(weir_opts_incomplete(wrong), 5);
  assert_int_equal(weir_opts_incomplete(rows), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_form_is_read),
      cmocka_unit_test(sets_reach_into_a_choice),
      cmocka_unit_test(wrong_sets_say_why),
      cmocka_unit_test(refused_yaml_says_where),
      cmocka_unit_test(places_are_of_the_member_or_what_holds_it),
      cmocka_unit_test(the_last_source_is_the_place),
      cmocka_unit_test(wrong_registries_are_counted),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
