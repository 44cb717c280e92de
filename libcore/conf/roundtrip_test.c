/* roundtrip_test.c - random values -> resolved text -> the same values; templates load; locales. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "support/conf/conf_check.h"
#include "conf/weir_number.h"

enum { PURPOSE = 77 };

typedef struct source {
  uint64_t seed, next;
} source;

static uint64_t bits(source *s)
{
  return weir_random_bits(s->seed, PURPOSE, 0, s->next++);
}

static int64_t below(source *s, int64_t n)
{
  return (int64_t)(bits(s) % (uint64_t)n);
}

static source fresh(void)
{
  const source s = {.seed = (uint64_t)time(NULL) ^ (uint64_t)clock() << 32};

  fprintf(stderr, "seed %llu\n", (unsigned long long)s.seed);
  return s;
}

/* Any finite double, subnormals and both zeros among them. */
static double any_real(source *s)
{
  for (;;) {
    const uint64_t b = below(s, 8) == 0 ? bits(s) & 0x800fffffffffffffu : bits(s);
    double value;

    memcpy(&value, &b, sizeof value);
    if (isfinite(value)) {
      return value;
    }
  }
}

static double real_within(source *s, double lo, double hi)
{
  const double unit = weir_random_uniform(s->seed, PURPOSE, 1, s->next++);

  return fmin(hi, lo + (hi - lo) * (below(s, 4) == 0 ? unit * 1e-300 : unit));
}

/* Text that a file can hold: any code point but NUL and surrogates, many that need care. */
static void any_text(source *s, char *out)
{
  static const char *const hard[] = {"\"",
                                     "\\",
                                     "'",
                                     "#",
                                     ": ",
                                     "\n",
                                     "\t",
                                     "\r",
                                     "~",
                                     "null",
                                     "true",
                                     "[",
                                     "}",
                                     ",",
                                     "\x7f",
                                     "\xc2\x85",
                                     " ",
                                     "é",
                                     "\x1b",
                                     "日",
                                     "\xe2\x80\xa8",
                                     "\xef\xbb\xbf",
                                     "%",
                                     "😀",
                                     "- ",
                                     "&a",
                                     "*a",
                                     "!",
                                     "a",
                                     "\xef\xbf\xbf"};
  const int64_t n = below(s, 6);

  out[0] = 0;
  for (int64_t i = 0; i < n; i++) {
    strcat(out, hard[below(s, (int64_t)(sizeof hard / sizeof hard[0]))]);
  }
}

enum { ITEMS = 4, TEXT = 64 };

/* A configuration with memory of its own, so that it is independent of the code under test. */
typedef struct world {
  struct cfg c;
  char texts[16][TEXT];
  int64_t ints[ITEMS], taps[3][ITEMS];
  double reals[ITEMS];
  const char *names[ITEMS];
  struct step steps[3];
  struct blur blurs[4];
} world;

static weir_one_of any_choice(source *s, struct blur *blur, const char *text, int64_t *ints)
{
  *blur = (struct blur){.width = real_within(s, 0, 1e6),
                        .label = text,
                        .taps = {.items = ints, .count = below(s, ITEMS + 1)}};
  switch (below(s, 3)) {
  case 0:
    return (weir_one_of){.name = NULL};
  case 1:
    return (weir_one_of){.name = "negate"};
  default:
    return (weir_one_of){.name = "blur", .opts = blur};
  }
}

static void fill(source *s, world *w)
{
  struct cfg *c = &w->c;

  weir_opts_default(rows, sizeof *c, c);
  for (int i = 0; i < 16; i++) {
    any_text(s, w->texts[i]);
  }
  c->mu = real_within(s, 0, 0.9999);
  c->n = (int64_t)bits(s) >> below(s, 64);
  c->verbose = below(s, 2) == 1;
  c->mode = (int)below(s, 3);
  c->title = w->texts[0];
  c->file = w->texts[1];
  c->train.lr = real_within(s, 0, 10);
  c->train.warm.steps = below(s, 1001);
  c->part.count = below(s, 101);
  c->part.on = below(s, 2) == 1;
  c->ints = (weir_int_list){.items = w->ints, .count = below(s, ITEMS + 1)};
  c->reals = (weir_real_list){.items = w->reals, .count = below(s, ITEMS + 1)};
  c->names = (weir_string_list){.items = w->names, .count = below(s, ITEMS + 1)};
  c->steps = (weir_struct_list){.items = w->steps, .count = below(s, 4)};
  for (int i = 0; i < ITEMS; i++) {
    w->ints[i] = below(s, 11) - 5;
    w->reals[i] = real_within(s, 0, 1e300);
    w->names[i] = w->texts[2 + i];
  }
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < ITEMS; i++) {
      w->taps[k][i] = (int64_t)bits(s);
    }
    w->steps[k] = (struct step){.lr = fmax(-1e308, fmin(1e308, any_real(s))),
                                .name = w->texts[8 + k],
                                .taps = {.items = w->taps[k], .count = below(s, ITEMS + 1)},
                                .act = any_choice(s, &w->blurs[k], w->texts[11 + k], w->ints)};
  }
  c->pick = any_choice(s, &w->blurs[3], w->texts[14], w->ints);
}

static void resolved_text_loads_to_the_same_bits(void **state)
{
  source s = fresh();
  const int64_t before = weir_alloc_bytes();

  (void)state;
  conf_needs_yaml();
  for (int round = 0; round < 300; round++) {
    weir_config *empty = NULL, *config = NULL, *second = NULL;
    world w;
    struct cfg c, d;

    assert_ok(weir_config_load(rows, sizeof c, NULL, 0, NULL, 0, &w.c, &empty));
    fill(&s, &w); /* the config prints what its struct holds now */
    char *text = sample_text(empty);
    assert_ok(weir_opts_parse(rows, sizeof c, text, &c, &config));
    assert_true(sample_equal(&w.c, &c));
    char *again = sample_text(config);
    assert_ok(weir_opts_parse(rows, sizeof d, again, &d, &second)); /* other places, same values */
    assert_true(sample_equal(&w.c, &d));
    free(text);
    free(again);
    weir_config_destroy(&second);
    weir_config_destroy(&config);
    weir_config_destroy(&empty);
  }
  assert_int_equal(weir_alloc_bytes(), before);
}

static void sets_hold_any_text_and_number(void **state)
{
  source s = fresh();

  (void)state;
  for (int round = 0; round < 500; round++) {
    weir_config *config = NULL;
    char text[TEXT], number[40], title[TEXT + 16], lr[64], n[64];
    struct cfg c;

    any_text(&s, text);
    const bool quotable = strpbrk(text, "'") == NULL;
    const double value = real_within(&s, 0, 10);
    const int64_t integer = (int64_t)bits(&s);
    weir_number_text(value, number, sizeof number);
    (void)snprintf(title, sizeof title, "title='%s'", quotable ? text : "");
    (void)snprintf(lr, sizeof lr, "train.lr=%s", number);
    (void)snprintf(n, sizeof n, "n=%lld", (long long)integer);
    const char *const sets[] = {title, lr, n};
    assert_ok(weir_config_load(rows, sizeof c, NULL, 0, sets, 3, &c, &config));
    assert_string_equal(c.title, quotable ? text : "");
    assert_true(sample_same_bits(c.train.lr, value));
    assert_true(c.n == integer);
    weir_config_destroy(&config);
  }
}

static char *printed(weir_status (*print)(const weir_opt *, FILE *))
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  assert_non_null(out);
  assert_ok(print(rows, out));
  assert_int_equal(fclose(out), 0);
  return text;
}

static weir_status print_page(const weir_opt *opts, FILE *out)
{
  return weir_opts_print_markdown(opts, "Options", out);
}

static void template_loads_to_the_defaults(void **state)
{
  char *text = printed(weir_opts_print_yaml);
  weir_config *a = NULL, *b = NULL;
  struct cfg c, d;

  (void)state;
  assert_non_null(strstr(text, "# momentum; [0, 0.9999]\nmu: 0.9\n"));
  assert_non_null(strstr(text, "train:\n  # rate; [0, 10] s\n  lr: 0.001\n  warm:\n"));
  assert_non_null(strstr(text, "#   - lr: 0.5\n"));
  if (conf_reads_yaml()) {
    assert_ok(weir_opts_parse(rows, sizeof c, text, &c, &a));
    assert_ok(weir_config_load(rows, sizeof d, NULL, 0, NULL, 0, &d, &b));
    assert_true(sample_equal(&c, &d));
    weir_config_destroy(&a);
    weir_config_destroy(&b);
    /* The commented entry of the list, taken out of its comment, is an entry. */
    char *example = strstr(text, "# an entry of steps");
    assert_non_null(example);
    for (char *p = example; (p = strstr(p, "\n#  ")) != NULL; p++) {
      p[1] = p[2] = ' ';
    }
    memcpy(strstr(text, "steps: []"), "steps:   ", 9);
    memcpy(strstr(text, "pick: {}"), "pick:   ", 8);
    *strstr(text, "\n    negate:  # turns") = 0;
    assert_ok(weir_opts_parse(rows, sizeof c, text, &c, &a));
    assert_int_equal(c.steps.count, 1);
    assert_string_equal(c.pick.name, "blur");
    assert_near(((const struct blur *)c.pick.opts)->width, 2, 0);
    weir_config_destroy(&a);
  }
  free(text);
}

static void pages_show_every_row(void **state)
{
  static const char *const keys[] = {"mu",
                                     "train.lr",
                                     "train.warm.steps",
                                     "part.on",
                                     "steps[].taps",
                                     "names",
                                     "steps[].act.blur.width",
                                     "pick.negate",
                                     "pick.blur.taps"};
  char *page = printed(print_page), *help = printed(weir_opts_print_help);

  (void)state;
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    assert_non_null(strstr(page, keys[i]));
    assert_non_null(strstr(help, keys[i]));
  }
  assert_non_null(strstr(page, "| `mode` | choice | `exact` | fast\\|exact\\|mixed |  | how "
                               "(`fast` was formerly `quick`) (`exact` was formerly `slow`) |\n"));
  assert_non_null(strstr(page, "| `train.lr` | number | `0.001` | [0, 10] | s | rate (formerly "
                               "`train.rate`) |\n"));
  assert_non_null(strstr(help, "  train.lr=0.001  (number [0, 10] s)\n        rate\n"));
  free(page);
  free(help);
}

static void incomplete_rows_are_counted(void **state)
{
  static const weir_opt bad[] = {
      WEIR_OPT_REAL(struct cfg, mu, 2, 0, 1, "1", "default outside its range"),
      WEIR_OPT_INT(struct cfg, n, 0, 0, 1, "", "no unit"),
      WEIR_OPT_BOOL(struct cfg, verbose, false, ""),
      WEIR_OPT_ENUM(struct cfg, mode, 3, "a|b", "no such choice"),
      WEIR_OPT_STRING(struct cfg, title, NULL, "no default"),
      WEIR_OPT_INT_LIST(struct cfg, ints, "1, x", 0, 9, "1", "no list of integers"),
      WEIR_OPT_REAL(struct cfg, mu, 0, 0, 1, "1", "a key of an earlier row"),
      WEIR_OPT_PATH(struct cfg, file, "", "the only good one"),
      WEIR_OPT_END,
  };

  (void)state;
  assert_int_equal(weir_opts_incomplete(bad), 7);
}

/* In every locale of this list that is installed; "C" always is. */
static void locale_does_not_matter(void **state)
{
  static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "pt_BR.UTF-8", "C"};

  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    double value = 0;
    char text[40];

    if (setlocale(LC_ALL, names[i]) == NULL) {
      continue;
    }
    const weir_number_result point = weir_number_real("1.5", &value);
    const weir_number_result comma = weir_number_real("1,5", &value);
    weir_number_text(0.25, text, sizeof text);
    setlocale(LC_ALL, "C");
    assert_int_equal(point, WEIR_NUMBER_OK);
    assert_near(value, 1.5, 0);
    assert_int_equal(comma, WEIR_NUMBER_TRAILING);
    assert_string_equal(text, "0.25");
  }
}

static void numbers_are_whole_texts(void **state)
{
  static const struct {
    const char *text;
    weir_number_result integer, real;
  } cases[] = {
      {"12", WEIR_NUMBER_OK, WEIR_NUMBER_OK},
      {"+3", WEIR_NUMBER_OK, WEIR_NUMBER_OK},
      {"-0", WEIR_NUMBER_OK, WEIR_NUMBER_OK},
      {"", WEIR_NUMBER_NOT, WEIR_NUMBER_NOT},
      {" 1", WEIR_NUMBER_NOT, WEIR_NUMBER_NOT},
      {"1 ", WEIR_NUMBER_TRAILING, WEIR_NUMBER_TRAILING},
      {"--1", WEIR_NUMBER_NOT, WEIR_NUMBER_NOT},
      {".", WEIR_NUMBER_NOT, WEIR_NUMBER_NOT},
      {"1.", WEIR_NUMBER_FRACTION, WEIR_NUMBER_OK},
      {".5e-3", WEIR_NUMBER_FRACTION, WEIR_NUMBER_OK},
      {"1e", WEIR_NUMBER_TRAILING, WEIR_NUMBER_TRAILING},
      {"1e-3x", WEIR_NUMBER_TRAILING, WEIR_NUMBER_TRAILING},
      {"0x1p3", WEIR_NUMBER_TRAILING, WEIR_NUMBER_TRAILING},
      {"1_000", WEIR_NUMBER_TRAILING, WEIR_NUMBER_TRAILING},
      {"NaN", WEIR_NUMBER_NOT_FINITE, WEIR_NUMBER_NOT_FINITE},
      {"+.Inf", WEIR_NUMBER_NOT_FINITE, WEIR_NUMBER_NOT_FINITE},
      {"9223372036854775807", WEIR_NUMBER_OK, WEIR_NUMBER_INEXACT},
      {"-9223372036854775808", WEIR_NUMBER_OK, WEIR_NUMBER_OK},
      {"-9223372036854775809", WEIR_NUMBER_BIG, WEIR_NUMBER_INEXACT},
      {"9007199254740992", WEIR_NUMBER_OK, WEIR_NUMBER_OK},
      {"9007199254740993", WEIR_NUMBER_OK, WEIR_NUMBER_INEXACT},
      {"9007199254740993.0", WEIR_NUMBER_FRACTION, WEIR_NUMBER_OK},
      {"100000000000000000000", WEIR_NUMBER_BIG, WEIR_NUMBER_OK},
      {"4.9e-324", WEIR_NUMBER_FRACTION, WEIR_NUMBER_OK},
      {"1e-400", WEIR_NUMBER_FRACTION, WEIR_NUMBER_SMALL},
      {"0e-400", WEIR_NUMBER_FRACTION, WEIR_NUMBER_OK},
      {"-1e400", WEIR_NUMBER_FRACTION, WEIR_NUMBER_BIG},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int64_t integer = 42;
    double real = 42;

    assert_int_equal(weir_number_int(cases[i].text, &integer), cases[i].integer);
    assert_int_equal(weir_number_real(cases[i].text, &real), cases[i].real);
    assert_true(cases[i].integer == WEIR_NUMBER_OK || integer == 42);
    assert_true(cases[i].real == WEIR_NUMBER_OK || sample_same_bits(real, 42));
  }
}

static void number_text_reads_back_to_the_same_bits(void **state)
{
  source s = fresh();

  (void)state;
  for (int i = 0; i < 20000; i++) {
    const double value = any_real(&s);
    double back = 0;
    char text[32];

    weir_number_text(value, text, sizeof text);
    assert_int_equal(weir_number_real(text, &back), WEIR_NUMBER_OK);
    assert_true(sample_same_bits(value, back));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(resolved_text_loads_to_the_same_bits),
      cmocka_unit_test(sets_hold_any_text_and_number),
      cmocka_unit_test(template_loads_to_the_defaults),
      cmocka_unit_test(pages_show_every_row),
      cmocka_unit_test(incomplete_rows_are_counted),
      cmocka_unit_test(locale_does_not_matter),
      cmocka_unit_test(numbers_are_whole_texts),
      cmocka_unit_test(number_text_reads_back_to_the_same_bits),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
