/* formula_test.c - values against the same expression in C, presence, units, refusals, limits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/stream/streams_check.h"
#include "stream/weir_formula.h"

enum { COUNT = 300, INPUTS = 3 };
static const double period = 3.0 / 1000;

/* a, b in (-2, 2) with whole numbers and zeros among them, c in (0, 4). */
static void draw(streams_case *c, uint64_t seed)
{
  c->n = 0;
  for (int k = 0; k < INPUTS; k++) {
    streams_source *s = streams_add(c, seed, 1000, COUNT, 9, 0.3);

    s->rate_den = 3;
    for (int64_t t = 0; t < COUNT; t++) {
      const double x = 2 * (double)s->x[t] + (k == 2 ? 2 : 0);

      s->x[t] = !s->present[t] ? 0.0f : (float)(t % 5 == 0 ? nearbyint(x) + 0.0 : x);
    }
  }
}

static const char *const in_name[] = {"a", "b", "c"};

/* Inputs of a graph, and what an expression reads. */
typedef struct setting {
  weir_graph *g;
  weir_series_keeper keeper;
  weir_series in[INPUTS];
  weir_series_use use;
} setting;

static void begin(setting *s, int n)
{
  static const char *const present[] = {"pa", "pb", "pc"};

  memset(s, 0, sizeof *s);
  assert_ok(weir_graph_create(&s->g));
  for (int k = 0; k < n; k++) {
    s->in[k] = weir_series_input(s->g, in_name[k], present[k], 1000, 3);
  }
  s->use = (weir_series_use){.graph = s->g,
                             .step = "step",
                             .in = s->in,
                             .in_name = in_name,
                             .n_in = n,
                             .keeper = &s->keeper};
}

static void end(setting *s)
{
  weir_graph_destroy(&s->g);
  weir_series_keeper_fini(&s->keeper);
}

static weir_status build_text(const char *text, const weir_series_use *use, weir_series *out)
{
  weir_formula *f = NULL;

  WEIR_TRY(weir_formula_parse(text, &f));
  const weir_status status = weir_formula_build(f, use, out);
  weir_formula_destroy(&f);
  return status;
}

static int build_case(streams_case *c, weir_graph *g, const weir_series *in, const void *context,
                      weir_series *out)
{
  const weir_series_use use = streams_use(c, g, in, c->n, NULL);
  const char *text = context;

  if (build_text(text, &use, out) != WEIR_OK) {
    fail_msg("%s: %s", text, weir_last_message());
  }
  if (weir_value_desc(g, out->value)->dtype == WEIR_BOOL) {
    out->value = weir_cast(g, WEIR_F32, out->value);
  }
  return 1;
}

/* The result of an expression on the sources, in one piece. */
static const streams_result *run(const char *text, streams_case *c)
{
  streams_run(c, build_case, text, WEIR_TIER_VECTOR, 1, (weir_stream_cfg){.window = 3});
  assert_int_equal(c->out[0].n, COUNT);
  return &c->out[0];
}

static double c_mod(double a, double b)
{
  return a - b * floor(a / b);
}

static double c_min(double a, double b)
{
  return isnan(a) || a < b ? a : b;
}

static double c_max(double a, double b)
{
  return isnan(a) || a > b ? a : b;
}

// clang-format off
/* X(name, text, the same in C, names needed: 1 a, 2 b, 4 c) */
#define VALUES(X)                                                                            \
  X(sum,       "a + b - c",                   a + b - c,                             7)      \
  X(mean,      " 0.5*(a+ b) ",                0.5 * (a + b),                         3)      \
  X(left,      "a - b - 1 - c",               ((a - b) - 1) - c,                     7)      \
  X(quotient,  "a / c / 2",                   a / c / 2,                             5)      \
  X(rest,      "1 / c - 2 / (3 - 7)",         1 / c + 0.5,                           4)      \
  X(minus,     "-a^2 + --c",                  -(a * a) + c,                          5)      \
  X(right,     "c^2^0.5",                     pow(c, sqrt(2)),                       4)      \
  X(inverse,   "(c + 1)^-2",                  1 / ((c + 1) * (c + 1)),               4)      \
  X(fifth,     "a^5 + b^0",                   pow(a, 5) + 1,                         3)      \
  X(powers,    "pow(a, b)",                   pow(a, b),                             3)      \
  X(powered,   "2 ^ a",                       pow(2, a),                             1)      \
  X(whole,     "round(a) ^ round(b)",         pow(nearbyint(a) + 0.0, nearbyint(b)), 3)      \
  X(root,      "sqrt(c) + abs(a)",            sqrt(c) + fabs(a),                     5)      \
  X(logs,      "exp(a) + log(c+1) + log10(c + 1)", exp(a) + log(c + 1) + log10(c + 1), 5)    \
  X(waves,     "sin(a) * cos(b) + tanh(a)",   sin(a) * cos(b) + tanh(a),             3)      \
  X(steps,     "floor(a) + 10*ceil(a) + 100*round(a)",                                       \
                                   floor(a) + 10 * ceil(a) + 100 * nearbyint(a),     1)      \
  X(signs,     "sign(a) + 10 * sign(-3) + 100*sign(0)", (a > 0) - (a < 0) - 10,       1)      \
  X(remain,    "mod(a, c) + mod(-7, 4)",      c_mod(a, c) + 1,                       5)      \
  X(distance,  "hypot(a, b)",                 sqrt(a * a + b * b),                   3)      \
  X(least,     "min(a, b, c)",                c_min(c_min(a, b), c),                 7)      \
  X(least2,    "min(0.5, 0/a)",               c_min(0.5, 0 / a),                     1)      \
  X(most,      "max(0/a, b)",                 c_max(0 / a, b),                       3)      \
  X(most2,     "max(a, nan)",                 (double)NAN + a,                       1)      \
  X(between,   "clamp(a, -0.5, c) + clamp(7, 1, 3)", c_min(c, c_max(-0.5, a)) + 3,   5)      \
  X(constants, "a + pi + e + 1e1 + 2.5E-1",   a + 3.14159265358979 + 2.71828182845904 + 10.25, 1) \
  X(infinite,  "min(inf, a)",                 a,                                     1)      \
  X(seconds,   "t + 0*a",                     t,                                     1)      \
  X(cycle,     "mod(t, 0.25 s) + a",          c_mod(t, 0.25) + a,                    1)      \
  X(compare,   "if(a < b, 1, 0) + if(a <= 1, 2, 0) + if(a > 1, 4, 0) + if(a >= b, 8, 0)",    \
                    (a < b) + 2 * (a <= 1) + 4 * (a > 1) + 8 * (a >= b),             3)      \
  X(equal,     "if(a == 1, 1, 0) + if(1 != b, 2, 0)", (a == 1) + 2 * (b != 1),       3)      \
  X(truths,    "if(not a > 0 and b > 0 or c > 2, 1, 2)",                                     \
                                   (!(a > 0) && b > 0) || c > 2 ? 1 : 2,             7)      \
  X(alike,     "if((a > 0) == (b > 0), 1, 2)", (a > 0) == (b > 0) ? 1 : 2,           3)      \
  X(differ,    "if((a > 0) != (1 < 2), 1, 2)", (a > 0) != true ? 1 : 2,              1)      \
  X(known,     "if(1 < 2 and not 2 < 1 or 3 == 4, a, b)", a,                         1)      \
  X(finite,    "if(isfinite(1 / a) and isfinite(3), 1, 2)", isfinite(1 / a) ? 1 : 2, 1)      \
  X(one_truth, "a > b",                       a > b,                                 3)      \
  X(folded,    "a + sqrt(4) + abs(-1) + hypot(3, 4) + exp(0) + log(1) + log10(100) + 2^3 + min(1, 2)"  \
               " + max(1, 2) + floor(1.5) + ceil(1.5) + round(2.5) + sin(0) + cos(0) + tanh(0)",\
                    a + 2 + 1 + 5 + 1 + 0 + 2 + 8 + 1 + 2 + 1 + 2 + 2 + 0 + 1 + 0,   1)
// clang-format on

#define X(name, text, value, needed)                                \
  static double name##_in_c(double a, double b, double c, double t) \
  {                                                                 \
    (void)a, (void)b, (void)c, (void)t;                             \
    return (value);                                                 \
  }
VALUES(X)
#undef X

static const struct {
  const char *text;
  double (*value)(double a, double b, double c, double t);
  int needed;
} values[] = {
#define X(name, text, value, needed) {text, name##_in_c, needed},
    VALUES(X)
#undef X
};

static bool all_present(const streams_case *c, int needed, int64_t t)
{
  bool all = true;

  for (int k = 0; k < INPUTS; k++) {
    all = all && ((needed >> k & 1) == 0 || c->source[k].present[t]);
  }
  return all;
}

static bool is_near(double y, double wanted)
{
  return isinf(wanted) ? y == wanted : fabs(y - wanted) <= 1e-6 * (1 + fabs(wanted));
}

static void values_are_those_of_c(void **state)
{
  static streams_case whole, chunked;

  (void)state;
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    draw(&whole, i);
    draw(&chunked, i);
    const streams_result *y = run(values[i].text, &whole);

    streams_run(&chunked, build_case, values[i].text, WEIR_TIER_VECTOR, 1,
                (weir_stream_cfg){.window = 0.1, .skip = true, .cut_seed = 1 + (int64_t)i});
    streams_same(&whole, &chunked);
    for (int64_t t = 0; t < COUNT; t++) {
      const double wanted =
          values[i].value((double)whole.source[0].x[t], (double)whole.source[1].x[t],
                          (double)whole.source[2].x[t], (double)t * period);
      const bool present = all_present(&whole, values[i].needed, t) && !isnan(wanted);

      if (y->present[t] != present) {
        fail_msg("%s: slot %lld is %s", values[i].text, (long long)t,
                 present ? "absent" : "present");
      }
      if (!is_near((double)y->y[t], present ? wanted : 0)) {
        fail_msg("%s: slot %lld is %.9g, not %.9g", values[i].text, (long long)t, (double)y->y[t],
                 wanted);
      }
    }
  }
}

static void a_branch_that_is_not_taken_is_not_needed(void **state)
{
  static streams_case either, chosen, count, first;

  (void)state;
  draw(&either, 7);
  chosen = count = first = either;
  (void)run("if(present(a), a, b)", &either);
  (void)run("if(c > 2, a, -1)", &chosen);
  (void)run("if(present(a), 1, 0) + if(present(b), 1, 0)", &count);
  (void)run("present(a)", &first);
  for (int64_t t = 0; t < COUNT; t++) {
    const streams_source *in = either.source;
    const bool a = in[0].present[t], b = in[1].present[t], c = in[2].present[t];
    const bool above = in[2].x[t] > 2, wanted = c && (a || !above);

    assert_int_equal(either.out[0].present[t], a || b);
    assert_true(either.out[0].y[t] == (a ? in[0].x[t] : in[1].x[t]));
    assert_int_equal(chosen.out[0].present[t], wanted);
    assert_true(chosen.out[0].y[t] == (wanted ? (above ? in[0].x[t] : -1.0f) : 0.0f));
    assert_int_equal(count.out[0].present[t], a || b || c); /* no input, no result */
    assert_true(count.out[0].y[t] == (float)(a + b));
    assert_int_equal(first.out[0].present[t], a || b || c);
    assert_true(first.out[0].y[t] == (float)a);
  }
}

static void units_follow_the_operations(void **state)
{
  static const struct {
    const char *a, *b, *text, *unit;
  } cases[] = {
      {"mV", "mV", "a + b", "mV"},
      {"mV", "mV", "a * b", "mV2"},
      {"mV", "mV", "sqrt(a * b)", "mV"},
      {"mV", "mV", "a / b", "1"},
      {"mmHg", "s", "a / b", "mmHg/s"},
      {"mmHg", "s", "a / b^2 * 1 s", "mmHg/s"},
      {"mmHg", "mV", "a / (1 s) * b", "mmHg*mV/s"},
      {"mmHg", "s", "60 / b", "1/s"},
      {"mV", "", "a + b", "mV"},
      {"mV", "", "a * b", ""},
      {"", "mV", "b + 3", "mV"},
      {"mV", "mV", "2 * a + 3", "mV"},
      {"mV", "mV", "max(a, 20 mV, b)", "mV"},
      {"mmHg/s", "s", "a * b + 20 mmHg", "mmHg"},
      {"mmHg/s", "s", "a + 20 [mmHg/s]", "mmHg/s"},
      {"1/min", "s", "a + 20 [1/min]", "1/min"},
      {"mV", "mV", "exp(a / b)", "1"},
      {"mV", "mV", "exp(2) * a", "mV"},
      {"", "mV", "log(a)", "1"},
      {"mV", "s", "if(b > 1, a, 0)", "mV"},
      {"mV", "s", "a > 1 mV", "1"},
      {"mV", "s", "a / 1 [mV] > b / 1 s", "1"},
      {"mV", "s", "t + b", "s"},
      {"mV", "s", "a^3", "mV3"},
      {"mV", "s", "a^-1", "1/mV"},
      {"mV", "s", "abs(-a) + floor(a) + mod(a, 3) + hypot(a, a)", "mV"},
      {"mV", "s", "sign(a)", "1"},
      {"beats per min", "%", "a * b", "beats per min*%"},
      {"cmH2O", "\xc2\xb5V", "a * b", "cmH2O*\xc2\xb5V"},
      {"mV", "s", "3", "1"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_series out;
    setting s;

    begin(&s, 2);
    weir_series_set_unit(&s.in[0], cases[i].a);
    weir_series_set_unit(&s.in[1], cases[i].b);
    if (build_text(cases[i].text, &s.use, &out) != WEIR_OK) {
      fail_msg("%s: %s", cases[i].text, weir_last_message());
    }
    assert_string_equal(out.unit, cases[i].unit);
    end(&s);
  }
}

static void expect_refused(const char *text, const char *message)
{
  const int64_t before = weir_alloc_bytes();
  weir_series out;
  setting s;

  begin(&s, 2);
  weir_series_set_unit(&s.in[0], "mmHg");
  weir_series_set_unit(&s.in[1], "mV");
  if (build_text(text, &s.use, &out) != WEIR_ERR_CONFIG) {
    fail_msg("%s is not refused as wrong", text);
  }
  assert_string_equal(weir_last_message(), message);
  end(&s);
  assert_int_equal(weir_alloc_bytes(), before);
}

static void what_is_no_expression_is_refused_with_its_column(void **state)
{
  (void)state;
  expect_refused("", "expression , column 1: expected a number, a name or (, found the end");
  expect_refused("a +", "expression a +, column 4: expected a number, a name or (, found the end");
  expect_refused("(a", "expression (a, column 3: expected an operator or ), found the end");
  expect_refused("a b", "expression a b, column 3: expected an operator or the end, found b");
  expect_refused("a)", "expression a), column 2: expected an operator or the end, found )");
  expect_refused("a = b", "expression a = b, column 3: expected == to compare, found =");
  expect_refused("a < b < 3",
                 "expression a < b < 3, column 7: expected a single comparison (write a < "
                 "b and b < c), found <");
  expect_refused("a $ b", "expression a $ b, column 3: $ is not allowed in an expression");
  expect_refused("a && b", "expression a && b, column 3: && is not an operator here: write and");
  expect_refused("a > 1 || b > 1",
                 "expression a > 1 || b > 1, column 7: || is not an operator here: write or");
  expect_refused("a & 3", "expression a & 3, column 3: & is not an operator here: write and");
  expect_refused("!(a > 1)", "expression !(a > 1), column 1: ! is not an operator here: write not");
  expect_refused("a ** 2", "expression a ** 2, column 3: ** is not an operator here: write ^");
  expect_refused("1.2.3", "expression 1.2.3, column 1: 1.2.3 has characters after the number");
  expect_refused("\"a", "expression \"a, column 1: \" without the closing \"");
  expect_refused("3 []", "expression 3 [], column 3: empty text between [ and ]");
  expect_refused("2 t", "expression 2 t, column 3: expected a unit or an operator: write * for a "
                        "product, [t] for a unit");
  expect_refused("\xc2\xb5 + + * 2", "expression \xc2\xb5 + + * 2, column 7: expected a number, a "
                                     "name or (, found *");
  expect_refused(
      "sqr(a)",
      "expression sqr(a), column 1: sqr is not a function: choose one of pow if present abs sqrt "
      "exp log log10 sin cos tanh floor ceil round sign isfinite hypot mod min max clamp");
  expect_refused("min(a)", "expression min(a), column 1: min takes 2 arguments, found 1");
  expect_refused("abs(a, b)", "expression abs(a, b), column 1: abs takes 1 argument, found more");
  expect_refused("clamp(a, 1, 2, 3)",
                 "expression clamp(a, 1, 2, 3), column 1: clamp takes 3 arguments, found more");
  expect_refused("present(a + 1)", "expression present(a + 1), column 11: expected ), found +");
  expect_refused("present(3)",
                 "expression present(3), column 9: expected the name of a stream, found 3");
  expect_refused(
      "a and b > 1",
      "expression a and b > 1, column 3: and takes booleans such as a < b, found a number");
  expect_refused("a + (b > 1)",
                 "expression a + (b > 1), column 3: + takes numbers, found a boolean");
  expect_refused("if(a, 1, 2)", "expression if(a, 1, 2), column 1: the condition of if is a "
                                "number, not a boolean such as a < b");
  expect_refused("if(a > 1, 1, b > 1)", "expression if(a > 1, 1, b > 1), column 1: if takes two "
                                        "numbers or two booleans, found one of each");
}

static void what_does_not_fit_the_streams_is_refused(void **state)
{
  (void)state;
  expect_refused("a + c", "expression a + c, column 5: c is not an input: choose one of: a, b");
  expect_refused("x", "expression x, column 1: x is not an input: choose one of: a, b");
  expect_refused("2a",
                 "expression 2a, column 1: a number before the name a: write * for a product, "
                 "[a] for a unit");
  expect_refused("a + b", "expression a + b, column 3: + of mmHg and mV: the units must be the "
                          "same (divide a number by 1 [unit] to remove its unit)");
  expect_refused("a > 20 mV", "expression a > 20 mV, column 3: > of mmHg and mV: the units are of "
                              "different quantities: write "
                              "the number in [mmHg] or in another unit of that quantity");
  expect_refused("exp(a)", "expression exp(a), column 1: the argument of exp is in mmHg but must "
                           "have no unit (divide it by 1 [mmHg])");
  expect_refused("2^a", "expression 2^a, column 2: the exponent of ^ is in mmHg but must have no "
                        "unit (divide it by 1 [mmHg])");
  expect_refused("sqrt(a)", "expression sqrt(a), column 1: sqrt of mmHg has no unit with integer "
                            "powers (divide by 1 [mmHg] first)");
  expect_refused("a^(b / 1 mV)", "expression a^(b / 1 mV), column 2: ^ of mmHg has no unit with "
                                 "integer powers (divide by 1 [mmHg] first)");
  expect_refused(
      "a^60 * a^60",
      "expression a^60 * a^60, column 6: a unit with too many symbols or too high powers");
  expect_refused("a * 1 longsymbol * 1 longersymbol",
                 "expression a * 1 longsymbol * 1 longersymbol, column 18: the unit of the result, "
                 "mmHg*longsymbol*longers..., is too long");
}

static void inputs_have_one_clock(void **state)
{
  weir_series out;
  setting s;

  (void)state;
  begin(&s, 2);
  s.in[1].rate_num = 2000; /* the same in other terms */
  s.in[1].rate_den = 6;
  assert_ok(build_text("a + b", &s.use, &out));
  s.in[1].rate_den = 3;
  assert_int_equal(build_text("a", &s.use, &out), WEIR_ERR_CONFIG);
  assert_string_equal(
      weir_last_message(),
      "a has 1000/3 slots per second and b 2000/3: bring them to one rate with join or resample");
  s.use.n_in = 1;
  assert_ok(build_text("x + a", &s.use, &out));
  s.use.in_name = (const char *const[]){"beats.rr"};
  assert_ok(build_text("beats.rr + \"beats.rr\" + x", &s.use, &out));
  s.use.in_name = (const char *const[]){"t"};
  assert_ok(build_text("\"t\" + t", &s.use, &out));
  end(&s);
}

/* Only what may become NaN or infinite is looked at, not an explicit nan. */
static void what_may_be_undefined_is_known(void **state)
{
  static const struct {
    const char *text;
    bool may;
  } cases[] = {{"a / b", true},
               {"a / 2", false},
               {"a / 0", true},
               {"sqrt(a)", true},
               {"a ^ 2", false},
               {"a ^ 0.5", true},
               {"a ^ -1", true},
               {"log(2)", false},
               {"mod(a, 3)", false},
               {"mod(a, b)", true},
               {"a - b", false},
               {"a / b > 1", false},
               {"if(b > 0, a / b, nan)", false}};

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_value undefined = WEIR_NO_VALUE;
    weir_series out;
    setting s;

    begin(&s, 2);
    s.use.undefined = &undefined;
    assert_ok(build_text(cases[i].text, &s.use, &out));
    assert_int_equal(undefined.node >= 0, cases[i].may);
    end(&s);
  }
}

static void names_may_be_quoted(void **state)
{
  weir_formula *f = NULL;

  (void)state;
  assert_ok(weir_formula_parse("if(present(a.b), \"odd name\", a.b) + t + pi + q + 3 mV", &f));
  assert_false(weir_formula_is_bool(f));
  weir_formula_destroy(&f);
  assert_null(f);
}

/* `head`, n times `text`, `tail`. */
static char *repeated(const char *head, const char *text, int n, const char *tail)
{
  char *out = calloc(1, strlen(head) + strlen(text) * (size_t)n + strlen(tail) + 1), *at = out;

  assert_non_null(out);
  at += sprintf(at, "%s", head);
  for (int i = 0; i < n; i++) {
    at += sprintf(at, "%s", text);
  }
  (void)sprintf(at, "%s", tail);
  return out;
}

static void deep_and_long_texts_are_refused(void **state)
{
  static const struct {
    const char *head, *text;
    int n;
    const char *tail, *reason;
  } cases[] = {
      {"", "(", 2000, "a", "nested deeper than 64"},
      {"", "-", 2000, "a", "nested deeper than 64"},
      {"", "a^", 2000, "a", "nested deeper than 64"},
      {"", "not ", 1000, "a > 1", "nested deeper than 64"},
      {"", "abs(", 1000, "a", "nested deeper than 64"},
      {"a", "+a", 300, "", "more than 512 numbers, names and operations"},
      {"a", "+a", 3000, "", "an expression of 6001 characters: at most 4096 are allowed"},
      {"", "1", 100, "", "a number of 100 characters"},
      {"1e", "9", 20, "", "is too large to be represented"},
  };
  weir_formula *f = NULL;

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char *text = repeated(cases[i].head, cases[i].text, cases[i].n, cases[i].tail);

    assert_int_equal(weir_formula_parse(text, &f), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), cases[i].reason));
    assert_null(f);
    free(text);
  }
  char *deep = repeated("", "(", 63, "a");
  char *fits = repeated(deep, ")", 63, "");
  assert_ok(weir_formula_parse(fits, &f));
  weir_formula_destroy(&f);
  free(deep);
  free(fits);
}

static void every_allocation_may_fail(void **state)
{
  const int64_t before = weir_alloc_bytes();
  weir_status status = WEIR_ERR_MEMORY;
  int64_t k = 0;

  (void)state;
  while (status != WEIR_OK) {
    weir_series out;
    setting s;

    begin(&s, 2);
    weir_alloc_fail_after(++k);
    status = build_text("if(a > 1, t / 1 s, pow(b, a))", &s.use, &out);
    const bool reached = weir_alloc_count() >= k;
    weir_alloc_fail_after(0);
    assert_int_equal(status != WEIR_OK, reached);
    end(&s);
    assert_int_equal(weir_alloc_bytes(), before);
  }
  assert_true(k > 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_those_of_c),
      cmocka_unit_test(a_branch_that_is_not_taken_is_not_needed),
      cmocka_unit_test(units_follow_the_operations),
      cmocka_unit_test(what_is_no_expression_is_refused_with_its_column),
      cmocka_unit_test(what_does_not_fit_the_streams_is_refused),
      cmocka_unit_test(inputs_have_one_clock),
      cmocka_unit_test(what_may_be_undefined_is_known),
      cmocka_unit_test(names_may_be_quoted),
      cmocka_unit_test(deep_and_long_texts_are_refused),
      cmocka_unit_test(every_allocation_may_fail),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
