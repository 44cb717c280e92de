/* config_test.c - authority, every refusal with its exact position, ownership, failing allocations.
 */
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "support/conf/conf_check.h"

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

static const struct {
  const char *set, *message;
} refused_sets[] = {
    {"mu=1.5", "--set mu=1.5: mu: 1.5 is outside [0, 0.9999]"},
    {"mu", "--set mu: write it as key=value"},
    {"=3", "--set =3: write it as key=value"},
    {"mu=", "--set mu=: mu: has no value (an empty text is written \"\")"},
    {"n=12abc", "--set n=12abc: n: 12abc has characters after the number"},
    {"n=1.0", "--set n=1.0: n: 1.0 is not written as a whole number"},
    {"n=010", "--set n=010: n: 010 is not a decimal integer"},
    {"n=0x10", "--set n=0x10: n: 0x10 has characters after the number"},
    {"n=9223372036854775808",
     "--set n=9223372036854775808: n: 9223372036854775808 is too large to be represented"},
    {"mu=nan", "--set mu=nan: mu: nan is not a finite number"},
    {"mu=-.inf", "--set mu=-.inf: mu: -.inf is not a finite number"},
    {"train.lr=1e999", "--set train.lr=1e999: train.lr: 1e999 is too large to be represented"},
    {"train.lr=1e-999",
     "--set train.lr=1e-999: train.lr: 1e-999 is too close to zero to be represented"},
    {"train.lr=11", "--set train.lr=11: train.lr: 11 is outside [0, 10] s"},
    {"reals=[9007199254740993]", "--set reals=[9007199254740993]: reals[0]: 9007199254740993 is an "
                                 "integer beyond 2^53 that a double cannot represent exactly"},
    {"train.rl=1", "--set train.rl=1: train.rl: unknown key (nearest known key: lr)"},
    {"lr=1", "--set lr=1: lr: unknown key (nearest known key: train.lr)"},
    {"count=1", "--set count=1: count: unknown key (nearest known key: part.count)"},
    {"tran.lr=1", "--set tran.lr=1: tran.lr: unknown key (nearest known key: train)"},
    {"part.cuont=1", "--set part.cuont=1: part.cuont: unknown key (nearest known key: count)"},
    {"part.zzzzzz=1", "--set part.zzzzzz=1: part.zzzzzz: unknown key (known keys: count, on)"},
    {"train.warm.steps.x=1", "--set train.warm.steps.x=1: train.warm.steps.x: unknown key: steps "
                             "is a single value (integer) without keys of its own"},
    {"mode=exakt", "--set mode=exakt: mode: exakt is not one of fast|exact|mixed (nearest: exact)"},
    {"mode=1", "--set mode=1: mode: 1 is not one of fast|exact|mixed"},
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
     "--set title=\"\\x00\": an escape that is not a character before at character 6"},
    {"title=a\xff", "--set title=a?: byte 2 is not UTF-8"},
    {"part=3", "--set part=3: part: expected keys and values, found a single value"},
    {"part={on: true, on: true}", "--set part={on: true, on: true}: part.on: duplicate key"},
    {"steps=[{}, {}, {}, {}]",
     "--set steps=[{}, {}, {}, {}]: steps: 4 entries, at most 3 are allowed"},
    {"steps=[{lr: 2x}]", "--set steps=[{lr: 2x}]: steps[0].lr: 2x has characters after the number"},
    {"steps[0].lr=1",
     "--set steps[0].lr=1: steps: there is no such entry: the list has 0, numbered from [0]"},
};

static void refused_sets_say_why(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof refused_sets / sizeof refused_sets[0]; i++) {
    weir_config *config = NULL;
    struct cfg c;

    assert_int_equal(load_sets(&c, &config, 1, &refused_sets[i].set), WEIR_ERR_CONFIG);
    assert_string_equal(weir_last_message(), refused_sets[i].message);
    assert_null(config);
  }
}

static void former_names_are_understood(void **state)
{
  static const char *const sets[] = {"train.rate=2", "piece.count=5", "mode=quick",
                                     "piece={on: false}"};
  weir_config *config = NULL;
  struct cfg c;

  (void)state;
  assert_ok(load_sets(&c, &config, 4, sets));
  assert_near(c.train.lr, 2, 0);
  assert_int_equal(c.part.count, 5);
  assert_false(c.part.on);
  assert_int_equal(c.mode, 0);
  weir_config_destroy(&config);
}

static void yaml_and_set_follow_the_same_rules(void **state)
{
  weir_config *config = NULL;
  struct cfg c;

  (void)state;
  conf_needs_yaml();
  assert_ok(weir_opts_parse(rows, sizeof c,
                            "\xef\xbb\xbf# a comment, after a byte order mark\r\n"
                            "mu: .5 # half\n"
                            "train:\n"
                            "  rate: 2\n" /* the former name of lr */
                            "  warm: {steps: 5}\n"
                            "piece: {on: false}\n" /* the former name of part */
                            "part:\n"              /* an empty section changes nothing */
                            "mode: slow\n"         /* the former name of exact */
                            "title: 100\n"
                            "names:\n  - x y\n  - \"\\u00e9\"\n"
                            "steps:\n  - lr: 1\n  - {name: 'it''s', taps: []}\n",
                            &c, &config));
  assert_near(c.mu, 0.5, 0);
  assert_near(c.train.lr, 2, 0);
  assert_int_equal(c.train.warm.steps, 5);
  assert_int_equal(c.part.count, 3);
  assert_false(c.part.on);
  assert_int_equal(c.mode, 1);
  assert_string_equal(c.title, "100");
  assert_string_equal(c.names.items[1], "\xc3\xa9");
  assert_int_equal(c.steps.count, 2);
  assert_string_equal(((const struct step *)c.steps.items)[1].name, "it's");
  weir_config_destroy(&config);
}

static void refused_yaml_says_where(void **state)
{
  static const conf_refusal cases[] = {
      {"mu: 1.5", "text:1:5: mu: 1.5 is outside [0, 0.9999]"},
      {"mu: 0.1\n\ntrain:\n  lx: 1", "text:4:3: train.lx: unknown key (nearest known key: lr)"},
      {"mu: 0.1\nmu: 0.2", "text:2:1: mu: duplicate key, first given in line 1"},
      {"train: {lr: 1}\ntrain: {lr: 2}", "text:2:1: train: duplicate key, first given in line 1"},
      {"train: {lr: 1, rate: 2}",
       "text:1:22: train.rate: given twice, as train.lr and under its former name train.rate"},
      {"part: {count: 1}\npiece: {on: false, count: 2}",
       "text:2:27: piece.count: given twice, as part and under its former name piece"},
      {"n: 12abc", "text:1:4: n: 12abc has characters after the number"},
      {"n: !!int 3", "text:1:4: tags (!name) are not supported: the key determines the type"},
      {"a: &a [1]\nb: *a", "text:1:4: anchors (&name) are not supported: write the value out"},
      {"n: *a", "text:1:4: aliases (*name) are not supported: write the value out"},
      {"n: 1\n---\nn: 2", "text:2:1: a second document (---): use one file per configuration"},
      {"[1, 2]", "text:1:1: expected keys and values, found a list"},
      {"just words", "text:1:1: expected keys and values, found a single value"},
      {"? [a]\n: 1", "text:1:3: a key must be text"},
      {"train.lr: 1", "text:1:1: train.lr: unknown key (nearest known key: train)"},
      {"train: 3", "text:1:8: train: expected keys and values, found a single value"},
      {"train:\n  lr: [1]", "text:2:7: train.lr: expected one value (number), found a list"},
      {"steps:\n  - lr: 1\n  - lr: 1e400",
       "text:3:9: steps[1].lr: 1e400 is too large to be represented"},
      {"steps: [3]", "text:1:9: steps[0]: expected keys and values, found a single value"},
      {"ints: [1, 2, 77]", "text:1:14: ints[2]: 77 is outside [-5, 5]"},
      {"title:", "text:1:7: title: has no value (an empty text is written \"\")"},
      {"title: ~", "text:1:8: title: has no value (an empty text is written \"\")"},
      {"title: \"a\\0b\"", "text:1:8: a text contains a NUL byte"},
      {"mu: 0.5\n  n: 3", "text:2:4: not YAML: mapping values are not allowed in this context"},
      {"ints: [1, 2", "text:2:1: not YAML: while parsing a flow sequence begun at 1:7, did not "
                      "find expected ',' or ']'"},
      {"title: \xff", "text:1:8: not YAML: invalid leading UTF-8 octet"},
      {"\xc3\xa9: 1\nmu: \t\x01", "text:2:6: not YAML: control characters are not allowed"},
      {"\xc3\xa9\x1f: 1", "text:1:2: not YAML: control characters are not allowed"},
      {"\"\\x1b[31m\": 1",
       "text:1:1: ?[31m: unknown key (known keys: mu, n, train, verbose, mode, title, file, part, "
       "ints, reals, names, steps, pick)"},
  };

  (void)state;
  conf_needs_yaml();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_yaml_refused(&cases[i]);
  }
}

/* `text` repeated n times after `head`. */
static char *repeated(const char *head, const char *text, int n)
{
  const size_t size = strlen(head) + strlen(text) * (size_t)n + 1;
  char *out = calloc(1, size);

  assert_non_null(out);
  strcpy(out, head);
  for (size_t at = strlen(head); n > 0; n--, at += strlen(text)) {
    memcpy(out + at, text, strlen(text));
  }
  return out;
}

static void deep_and_long_texts_are_refused(void **state)
{
  static const struct {
    const char *head, *text;
    int n;
    const char *message;
  } cases[] = {
      {"ints: ", "[", 100000, "text:1:38: lists and mappings nested deeper than 32"},
      {"", "- ", 100000, "text:1:65: lists and mappings nested deeper than 32"},
      {"ints: [", "1,", 250000, "text:1:400002: more than 200000 keys and values"},
  };
  const int64_t before = weir_alloc_bytes();

  (void)state;
  conf_needs_yaml();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char *text = repeated(cases[i].head, cases[i].text, cases[i].n);
    assert_yaml_refused(&(conf_refusal){text, cases[i].message});
    free(text);
  }
  char *set = repeated("ints=", "[", 100000);
  const char *const sets[] = {set};
  weir_config *config = NULL;
  struct cfg c;
  assert_int_equal(load_sets(&c, &config, 1, sets), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "nested deeper than 32"));
  free(set);
  assert_int_equal(weir_alloc_bytes(), before);
}

static weir_status load_files(struct cfg *c, weir_config **config, const char *first,
                              const char *second)
{
  const char *const files[] = {first, second};

  return weir_config_load(rows, sizeof *c, files, second == NULL ? 1 : 2, NULL, 0, c, config);
}

static void files_are_checked_and_ordered(void **state)
{
  char dir[512], a[600], b[600], expected[1600];
  weir_config *config = NULL;
  struct cfg c;

  (void)state;
  conf_needs_yaml();
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(a, sizeof a, "%s/a.yaml", dir);
  (void)snprintf(b, sizeof b, "%s/b.yaml", dir);
  assert_int_equal(load_files(&c, &config, a, NULL), WEIR_ERR_CONFIG); /* missing */
  assert_non_null(strstr(weir_last_message(), a));
  assert_int_equal(load_files(&c, &config, dir, NULL), WEIR_ERR_CONFIG); /* a folder */

  weir_check_write(a, "mu: 0.1\nn: 1\nints: [1]\n", 23);
  weir_check_write(b, "n: 2\nints: [2, 3]\n", 18);
  assert_ok(load_files(&c, &config, a, b));
  assert_near(c.mu, 0.1, 0);
  assert_int_equal(c.n, 2);
  assert_int_equal(c.ints.count, 2);
  char *text = sample_text(config);
  (void)snprintf(expected, sizeof expected, "mu: 0.1  # %s:1:5\nn: 2  # %s:1:4\n", a, b);
  assert_non_null(strstr(text, expected));
  assert_non_null(strstr(text, "verbose: false  # default\n"));
  free(text);
  weir_config_destroy(&config);

  weir_check_write(b, "n: 2\nmu: \0\n", 11);
  assert_int_equal(load_files(&c, &config, a, b), WEIR_ERR_CONFIG);
  (void)snprintf(expected, sizeof expected,
                 "%s:2:5: the file contains a NUL byte, so it is not UTF-8 text: save it as UTF-8",
                 b);
  assert_string_equal(weir_last_message(), expected);

  char *large = repeated("", "# 34567\n", (1 << 17) + 1);
  weir_check_write(b, large, strlen(large));
  assert_int_equal(load_files(&c, &config, b, NULL), WEIR_ERR_CONFIG);
  weir_check_write(b, large, strlen(large) - 8); /* exactly the limit */
  assert_ok(load_files(&c, &config, b, NULL));
  weir_config_destroy(&config);
  free(large);
  weir_check_rmdir(dir);
}

/* The values of a file stand where a list does, with their lines for messages and origins. */
static void numbers_of_a_list_may_stand_in_a_file(void **state)
{
  static const char text[] = "# cut out of a table\r\ntime_s,value\n0.0, 1.5\n\n0.1, 2 \r\n0.2;3e2";
  char dir[512], file[600], sets[1][700], expected[1400];
  const char *const set[] = {sets[0]};
  weir_config *config = NULL;
  struct cfg c;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(file, sizeof file, "%s/list.csv", dir);
  (void)snprintf(sets[0], sizeof sets[0], "reals={file: %s}", file);
  assert_int_equal(load_sets(&c, &config, 1, set), WEIR_ERR_CONFIG); /* missing */
  assert_non_null(strstr(weir_last_message(), "reals: list of numbers: "));
  assert_non_null(strstr(weir_last_message(), file));
  weir_check_write(file, text, strlen(text));
  assert_ok(load_sets(&c, &config, 1, set));
  assert_int_equal(c.reals.count, 3);
  assert_true(c.reals.items[0] == 1.5 && c.reals.items[1] == 2 && c.reals.items[2] == 300);
  assert_true(weir_config_states(config, &c.reals, sizeof c.reals));
  assert_false(weir_config_states(config, &c.train, sizeof c.train));
  weir_config_where(config, &c.reals.items[2], expected, sizeof expected);
  (void)snprintf(sets[0], sizeof sets[0], "%s:6:5", file);
  assert_string_equal(expected, sets[0]);
  char *all = sample_text(config); /* what is written back needs no file */
  assert_non_null(strstr(all, "reals: [1.5, 2, 300]"));
  free(all);
  weir_config_destroy(&config);
  weir_check_write(file,
                   "\xef\xbb\xbf"
                   "4\n5",
                   6); /* no heading */
  (void)snprintf(sets[0], sizeof sets[0], "reals={file: %s}", file);
  assert_ok(load_sets(&c, &config, 1, set));
  assert_true(c.reals.count == 2 && c.reals.items[0] == 4 && c.reals.items[1] == 5);
  weir_config_destroy(&config);

  weir_check_write(file, "head\n1\n2x\n", 10);
  (void)snprintf(sets[0], sizeof sets[0], "reals={file: %s}", file);
  assert_int_equal(load_sets(&c, &config, 1, set), WEIR_ERR_CONFIG);
  (void)snprintf(expected, sizeof expected, "%s:3:1: reals[1]: 2x has characters after the number",
                 file);
  assert_string_equal(weir_last_message(), expected);
  weir_check_write(file, "1\nword\n", 7); /* words are a heading in the first line only */
  assert_int_equal(load_sets(&c, &config, 1, set), WEIR_ERR_CONFIG);
  weir_check_write(file, "1,\n", 3);
  assert_int_equal(load_sets(&c, &config, 1, set), WEIR_ERR_CONFIG);
  (void)snprintf(sets[0], sizeof sets[0], "ints={flie: %s}", file);
  assert_int_equal(load_sets(&c, &config, 1, set), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "such as [a, b], or {file: PATH}"));
  (void)snprintf(sets[0], sizeof sets[0], "names={file: %s}", file); /* texts are written out */
  assert_int_equal(load_sets(&c, &config, 1, set), WEIR_ERR_CONFIG);
  weir_check_rmdir(dir);
}

static void file_needs_libyaml(void **state)
{
  char dir[512], path[600];
  weir_config *config = NULL;
  struct cfg c;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/a.yaml", dir);
  weir_check_write(path, "mu: 0.1\n", 8);
  const weir_status status = load_files(&c, &config, path, NULL);
  weir_check_rmdir(dir);
  if (status != WEIR_OK) {
    assert_int_equal(status, WEIR_ERR_UNSUPPORTED);
    assert_non_null(strstr(weir_last_message(), "libyaml is missing"));
    assert_null(config);
  }
  weir_config_destroy(&config);
}

/* Loads, prints and writes while the k-th allocation fails, for every k. */
static void every_allocation_may_fail(void **state)
{
  const char *const sets[] = {"steps=[{name: x, taps: [1]}, {act: {blur: {label: y}}}]",
                              "names=[a, b]", "title=t"};
  const char *yaml = "mu: 0.5\nsteps: [{taps: [1, 2]}]\nnames: [\"a\"]\npick: blur\n";
  const bool with_yaml = conf_reads_yaml();
  const int64_t before = weir_alloc_bytes();
  char dir[512], path[600];
  bool done = false;
  int64_t k = 0;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/resolved.yaml", dir);
  while (!done) {
    weir_config *config = NULL, *second = NULL;
    struct cfg c, d;

    weir_alloc_fail_after(++k);
    weir_status status = load_sets(&c, &config, 3, sets);
    if (status == WEIR_OK && with_yaml) {
      status = weir_opts_parse(rows, sizeof d, yaml, &d, &second);
    }
    if (status == WEIR_OK) {
      status = weir_config_write(config, path);
    }
    done = weir_alloc_count() < k;
    weir_alloc_fail_after(0);
    assert_int_equal(status, done ? WEIR_OK : WEIR_ERR_MEMORY);
    assert_int_equal(weir_file_exists(path), done);
    weir_config_destroy(&config);
    weir_config_destroy(&second);
    assert_int_equal(weir_alloc_bytes(), before);
  }
  assert_true(k > 40);
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_come_from_the_table),
      cmocka_unit_test(sets_are_applied_left_to_right),
      cmocka_unit_test(former_names_are_understood),
      cmocka_unit_test(refused_sets_say_why),
      cmocka_unit_test(yaml_and_set_follow_the_same_rules),
      cmocka_unit_test(refused_yaml_says_where),
      cmocka_unit_test(deep_and_long_texts_are_refused),
      cmocka_unit_test(files_are_checked_and_ordered),
      cmocka_unit_test(numbers_of_a_list_may_stand_in_a_file),
      cmocka_unit_test(file_needs_libyaml),
      cmocka_unit_test(every_allocation_may_fail),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
