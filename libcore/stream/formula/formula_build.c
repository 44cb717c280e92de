/* formula_build.c - names, units and presence of an expression, and its result as a stream. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "ops/call/weir_call.h"
#include "ops/elementwise/weir_elementwise.h"
#include "stream/formula/formula_priv.h"

typedef struct builder {
  const weir_formula *f;
  const weir_series_use *use;
  weir_graph *g;
  weir_dtype dtype;
  weir_value any, time; /* where some input is present; seconds        */
  bool doubtful, meant; /* it may be NaN or infinite; it says nan explicitly */
  formula_operand *operand;
  formula_unit *unit;
} builder;

static const char *text_of(const builder *b, const formula_node *n)
{
  return b->f->text + n->text;
}

/* Number of the input, -1: none. */
static int find_input(const weir_series_use *use, const char *name)
{
  for (int i = 0; i < use->n_in; i++) {
    if (strcmp(use->in_name[i], name) == 0) {
      return i;
    }
  }
  return use->n_in == 1 && strcmp(name, "x") == 0 ? 0 : -1;
}

static weir_status need_input(const builder *b, const formula_node *n, int *input)
{
  char known[256] = "";

  *input = find_input(b->use, text_of(b, n));
  if (*input >= 0) {
    return WEIR_OK;
  }
  for (int i = 0; i < b->use->n_in; i++) {
    const size_t used = strlen(known);

    (void)snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ",
                   b->use->in_name[i]);
  }
  return formula_refuse(b->f->source, n->column, "%s is not an input: choose one of: %s",
                        text_of(b, n), known);
}

static weir_status check_clock(const weir_series_use *use)
{
  weir_series a = use->in[0];

  WEIR_TRY(weir_series_scale_rate(&a, 1, 1));
  for (int i = 1; i < use->n_in; i++) {
    weir_series b = use->in[i];

    WEIR_TRY(weir_series_scale_rate(&b, 1, 1));
    if (a.rate_num != b.rate_num || a.rate_den != b.rate_den) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s has %lld/%lld slots per second and %s %lld/%lld: bring them to one rate "
                       "with join or resample",
                       use->in_name[0], (long long)a.rate_num, (long long)a.rate_den,
                       use->in_name[i], (long long)b.rate_num, (long long)b.rate_den);
    }
  }
  return WEIR_OK;
}

static weir_status fill_seconds(void *context, const weir_op_run *run)
{
  const weir_series *rate = context;

  for (int64_t t = run->box.lo[0]; t < run->box.hi[0]; t++) {
    const bool present = *(const uint8_t *)weir_view_at(&run->in[0], &t);

    *(double *)weir_view_at(&run->out[0], &t) =
        present ? (double)t * (double)rate->rate_den / (double)rate->rate_num : 0.0;
  }
  return WEIR_OK;
}

/* A call and not an index of the iteration, because 0 in gaps lets them be skipped. */
static weir_status make_time(builder *b)
{
  weir_series *rate = NULL;

  if (b->time.node >= 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_series_keep(b->use, sizeof *rate, NULL, (void **)&rate));
  *rate = b->use->in[0];
  const weir_call_spec spec = {
      .name = "seconds",
      .function = fill_seconds,
      .context = rate,
      .n_out = 1,
      .out = {{.dtype = WEIR_F64, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1}},
      .presence = 1,
      .flops = 2};
  b->time = weir_call(b->g, &spec, &b->any, 1);
  return WEIR_OK;
}

static weir_status make_name(builder *b, const formula_node *n, formula_operand *p, formula_unit *u)
{
  int input = -1;

  WEIR_TRY(need_input(b, n, &input));
  const weir_series *s = &b->use->in[input];
  if (!formula_unit_parse(s->unit, u)) {
    return formula_refuse(b->f->source, n->column, "the unit %s has too many symbols", s->unit);
  }
  p->value = b->dtype == WEIR_F32 ? s->value : weir_cast(b->g, b->dtype, s->value);
  p->present = s->present;
  p->implied = true;
  return WEIR_OK;
}

static weir_status make_number(builder *b, const formula_node *n, formula_operand *p,
                               formula_unit *u)
{
  const char *unit = n->text < 0 ? "" : text_of(b, n);

  p->constant = true;
  p->number = n->number;
  b->meant = b->meant || isnan(n->number);
  if (n->bare && find_input(b->use, unit) >= 0) {
    return formula_refuse(b->f->source, n->column,
                          "a number before the name %s: write * for a product, [%s] for a unit",
                          unit, unit);
  }
  if (!formula_unit_parse(unit, u)) {
    return formula_refuse(b->f->source, n->column, "the unit %s has too many symbols", unit);
  }
  u->kind = n->text < 0 ? FORMULA_UNIT_PLAIN : FORMULA_UNIT_STATED;
  return WEIR_OK;
}

static weir_value both(weir_graph *g, weir_value a, weir_value b)
{
  return a.node < 0 ? b : b.node < 0 ? a : weir_and(g, a, b);
}

static void make_if(builder *b, const formula_operand *const *arg, bool truth, formula_operand *p)
{
  const weir_value always = weir_scalar(b->g, WEIR_BOOL, 1);

  if (arg[0]->constant) {
    const weir_value present = arg[0]->present;
    const bool implied = arg[0]->implied;

    *p = *arg[arg[0]->number != 0 ? 1 : 2];
    p->present = both(b->g, present, p->present);
    p->implied = p->implied || implied;
    return;
  }
  const weir_value c = arg[0]->value;
  p->value = weir_select(b->g, c, formula_value(b->g, b->dtype, arg[1], truth),
                         formula_value(b->g, b->dtype, arg[2], truth));
  p->present = arg[0]->present;
  if (arg[1]->present.node >= 0 || arg[2]->present.node >= 0) {
    const weir_value yes = arg[1]->present, no = arg[2]->present;
    const weir_value chosen =
        weir_select(b->g, c, yes.node < 0 ? always : yes, no.node < 0 ? always : no);

    p->present = both(b->g, p->present, chosen);
  }
  p->implied = arg[0]->implied || (arg[1]->implied && arg[2]->implied);
}

static weir_status make_presence(builder *b, const formula_node *n, formula_operand *p)
{
  int input = -1;

  WEIR_TRY(need_input(b, &b->f->node[n->arg[0]], &input));
  p->value = b->use->in[input].present;
  return WEIR_OK;
}

/* Whether the operation may make NaN or infinity of finite numbers, with a divisor or exponent that
 * it has. */
static bool may_be_undefined(formula_op op, const formula_operand *const *arg)
{
  switch (op) {
  case FORMULA_SQRT:
  case FORMULA_LOG:
  case FORMULA_LOG10:
    return !arg[0]->constant;
  case FORMULA_DIV:
  case FORMULA_MOD:
    return !arg[1]->constant || arg[1]->number == 0;
  case FORMULA_POWER:
  case FORMULA_POW:
    return !arg[1]->constant || arg[1]->number < 0 || arg[1]->number != floor(arg[1]->number);
  default:
    return false;
  }
}

static weir_status make_value(builder *b, const formula_node *n, formula_operand *p)
{
  const formula_operand *arg[3] = {NULL, NULL, NULL};

  for (int k = 0; k < 3 && n->arg[k] >= 0; k++) {
    arg[k] = &b->operand[n->arg[k]];
  }
  if (n->op == FORMULA_PRESENT) {
    return make_presence(b, n, p);
  }
  if (n->op == FORMULA_IF) {
    make_if(b, arg, n->truth, p);
    return WEIR_OK;
  }
  b->doubtful = b->doubtful || may_be_undefined(n->op, arg);
  for (int k = 0; k < 3 && arg[k] != NULL; k++) {
    p->present = both(b->g, p->present, arg[k]->present);
    p->implied = p->implied || arg[k]->implied;
  }
  formula_compute(b->g, b->dtype, n->op, arg, p);
  return WEIR_OK;
}

static weir_status refuse_units(const builder *b, const formula_node *n, const formula_unit *x,
                                const formula_unit *y)
{
  char first[64] = "", second[64] = "";
  double factor = 1;

  (void)formula_unit_text(x, first, sizeof first);
  (void)formula_unit_text(y, second, sizeof second);
  for (int k = 0; k < 2 && n->arg[2] < 0; k++) { /* a number's unit is what the user can change */
    if (n->arg[k] >= 0 && b->f->node[n->arg[k]].op == FORMULA_NUMBER) {
      return formula_refuse(b->f->source, n->column,
                            "%s of %s and %s: the units are of different quantities: write the "
                            "number in [%s] or in another unit of that quantity",
                            formula_table[n->op].text, first, second, k == 0 ? second : first);
    }
  }
  if (weir_unit_factor(second, first, &factor)) {
    return formula_refuse(b->f->source, n->column,
                          "%s of %s and %s: only numbers are converted, not streams: convert one "
                          "of them first with {select: {unit: %s}}",
                          formula_table[n->op].text, first, second, first);
  }
  return formula_refuse(b->f->source, n->column,
                        "%s of %s and %s: the units must be the same (divide a number by 1 [unit] "
                        "to remove its unit)",
                        formula_table[n->op].text, first, second);
}

/* A number with a unit, or a result of such numbers only. */
static bool is_literal(const builder *b, int node)
{
  return b->operand[node].constant && b->unit[node].kind == FORMULA_UNIT_STATED;
}

/* Refuses a number that is converted where the expression has the same factor as
 * an explicit number: 60 / rr < 50 bpm would be converted twice. */
static weir_status check_factor(const builder *b, const formula_node *n, double factor,
                                const char *from, const char *to)
{
  for (int64_t i = 0; i < b->f->n; i++) {
    const formula_node *m = &b->f->node[i];

    for (int k = 0; k < 2 && (m->op == FORMULA_MUL || m->op == FORMULA_DIV); k++) {
      const formula_node *a = &b->f->node[m->arg[k]];
      const double ratio = a->op == FORMULA_NUMBER && a->text < 0 ? a->number / factor : 0;

      if (fabs(ratio - 1) < 1e-9 || fabs(ratio * factor * factor - 1) < 1e-9) {
        return formula_refuse(b->f->source, n->column,
                              "numbers in %s are converted to %s here, so that the factor %.9g of "
                              "the expression would convert twice: remove it, or write [%s]",
                              from, to, a->number, to);
      }
    }
  }
  return WEIR_OK;
}

/* A number of the expression in another unit of its quantity. */
static weir_status take_as(builder *b, const formula_node *n, int node, const formula_unit *unit,
                           double factor)
{
  char from[64] = "", to[64] = "";

  (void)formula_unit_text(&b->unit[node], from, sizeof from);
  (void)formula_unit_text(unit, to, sizeof to);
  if (factor != 1) {
    WEIR_TRY(check_factor(b, n, factor, from, to));
    weir_info("query", "expression %s: %.9g %s is %.9g %s", b->f->source, b->operand[node].number,
              from, b->operand[node].number * factor, to);
    b->operand[node].number *= factor;
  }
  b->unit[node] = *unit;
  return WEIR_OK;
}

static weir_status need_none(const builder *b, const formula_node *n, const formula_unit *u,
                             const char *what)
{
  char text[64] = "";

  if (formula_unit_is_none(u)) {
    return WEIR_OK;
  }
  (void)formula_unit_text(u, text, sizeof text);
  return formula_refuse(b->f->source, n->column,
                        "%s %s is in %s but must have no unit (divide it by 1 [%s])", what,
                        formula_table[n->op].text, text, text);
}

/* u^exponent, with a unit only for constant exponents that are whole or half. */
static weir_status raise_unit(const builder *b, const formula_node *n, const formula_unit *u,
                              double exponent, formula_unit *out)
{
  const double twice = 2 * exponent;
  char text[64] = "";

  if (fabs(twice) <= 198 && twice == nearbyint(twice) &&
      formula_unit_half_power(u, (int)twice, out)) {
    return WEIR_OK;
  }
  if (formula_unit_is_none(u)) {
    *out = *u;
    return WEIR_OK;
  }
  (void)formula_unit_text(u, text, sizeof text);
  return formula_refuse(b->f->source, n->column,
                        "%s of %s has no unit with integer powers (divide by 1 [%s] first)",
                        formula_table[n->op].text, text, text);
}

/* The unit that numbers are converted to: that of the first argument that is not a constant number.
 */
static const formula_unit *unit_met(const builder *b, const formula_node *n, int from)
{
  for (int k = from; k < 3 && n->arg[k] >= 0; k++) {
    if (!is_literal(b, n->arg[k]) && b->unit[n->arg[k]].kind == FORMULA_UNIT_STATED) {
      return &b->unit[n->arg[k]];
    }
  }
  return &b->unit[n->arg[from]];
}

static weir_status agree_all(builder *b, const formula_node *n, int from, formula_unit *out)
{
  const formula_unit met = *unit_met(b, n, from);

  for (int k = from; k < 3 && n->arg[k] >= 0; k++) {
    formula_unit same;
    double factor = 1;

    if (is_literal(b, n->arg[k]) && !formula_unit_agree(&b->unit[n->arg[k]], &met, &same) &&
        formula_unit_factor(&b->unit[n->arg[k]], &met, &factor)) {
      WEIR_TRY(take_as(b, n, n->arg[k], &met, factor));
    }
  }
  *out = b->unit[n->arg[from]];
  for (int k = from + 1; k < 3 && n->arg[k] >= 0; k++) {
    const formula_unit before = *out, *other = &b->unit[n->arg[k]];

    if (!formula_unit_agree(&before, other, out)) {
      return refuse_units(b, n, &before, other);
    }
  }
  return WEIR_OK;
}

/* The unit of a product or quotient, of which a number takes the symbols of the other side: of rr
 * in s and 500 ms the quotient is a pure number. */
static weir_status multiply_units(builder *b, const formula_node *n, formula_unit *out)
{
  const int literal = is_literal(b, n->arg[1]) ? 1 : is_literal(b, n->arg[0]) ? 0 : -1;

  if (literal >= 0 && b->unit[n->arg[1 - literal]].kind == FORMULA_UNIT_STATED) {
    formula_unit unit = b->unit[n->arg[literal]];
    double factor = 1;

    if (formula_unit_meet(&unit, &b->unit[n->arg[1 - literal]], &factor)) {
      WEIR_TRY(take_as(b, n, n->arg[literal], &unit, factor));
    }
  }
  if (!formula_unit_times(&b->unit[n->arg[0]], &b->unit[n->arg[1]], n->op == FORMULA_MUL ? 1 : -1,
                          out)) {
    return formula_refuse(b->f->source, n->column,
                          "a unit with too many symbols or too high powers");
  }
  return WEIR_OK;
}

static weir_status make_unit(builder *b, const formula_node *n, formula_unit *out)
{
  const formula_unit none = {.kind = FORMULA_UNIT_STATED};
  const formula_unit *first = &b->unit[n->arg[0]];
  const formula_unit pure = first->kind == FORMULA_UNIT_PLAIN ? *first : none;

  switch (n->op) {
  case FORMULA_MUL:
  case FORMULA_DIV:
    return multiply_units(b, n, out);
  case FORMULA_SQRT:
    return raise_unit(b, n, first, 0.5, out);
  case FORMULA_POWER:
  case FORMULA_POW: {
    const formula_operand *exponent = &b->operand[n->arg[1]];

    WEIR_TRY(need_none(b, n, &b->unit[n->arg[1]], "the exponent of"));
    return raise_unit(b, n, first, exponent->constant ? exponent->number : (double)NAN, out);
  }
  case FORMULA_EXP:
  case FORMULA_LOG:
  case FORMULA_LOG10:
  case FORMULA_SIN:
  case FORMULA_COS:
  case FORMULA_TANH:
    *out = pure;
    return need_none(b, n, first, "the argument of");
  case FORMULA_SIGN:
    *out = pure;
    return WEIR_OK;
  case FORMULA_PRESENT:
    *out = none;
    return WEIR_OK;
  default:
    break;
  }
  WEIR_TRY(agree_all(b, n, n->op == FORMULA_IF ? 1 : 0, out));
  if (formula_table[n->op].kind != FORMULA_NUMBERS && formula_table[n->op].kind != FORMULA_CHOOSE) {
    *out = none;
  }
  return WEIR_OK;
}

static weir_status make_node(builder *b, int64_t i)
{
  const formula_node *n = &b->f->node[i];
  formula_operand *p = &b->operand[i];
  formula_unit *u = &b->unit[i];

  *p = (formula_operand){.value = WEIR_NO_VALUE, .present = WEIR_NO_VALUE};
  switch (n->op) {
  case FORMULA_NUMBER:
    return make_number(b, n, p, u);
  case FORMULA_NAME:
    return make_name(b, n, p, u);
  case FORMULA_TIME:
    (void)formula_unit_parse("s", u);
    WEIR_TRY(make_time(b));
    p->value = b->time;
    return WEIR_OK;
  default:
    WEIR_TRY(make_unit(b, n, u));
    return make_value(b, n, p);
  }
}

static weir_status finish(const builder *b, weir_series *out)
{
  weir_graph *g = b->g;
  const formula_operand *last = &b->operand[b->f->n - 1];
  const bool truth = weir_formula_is_bool(b->f);
  weir_value value = formula_value(g, b->dtype, last, truth);
  weir_value present = last->implied ? last->present : both(g, last->present, b->any);

  *out = (weir_series){
      .age = WEIR_NO_VALUE, .rate_num = b->use->in[0].rate_num, .rate_den = b->use->in[0].rate_den};
  if (truth) {
    out->value = weir_and(g, present, value);
  } else {
    value = b->dtype == WEIR_F32 ? value : weir_cast(g, WEIR_F32, value);
    if (b->use->undefined != NULL && b->doubtful && !b->meant) {
      *b->use->undefined = weir_and(g, present, weir_isnan(g, value));
    }
    present = weir_and(g, present, weir_not(g, weir_isnan(g, value)));
    out->value = weir_select(g, present, value, weir_scalar(g, WEIR_F32, 0));
  }
  out->present = present;
  if (!formula_unit_text(&b->unit[b->f->n - 1], out->unit, sizeof out->unit)) {
    return formula_refuse(b->f->source, b->f->node[b->f->n - 1].column,
                          "the unit of the result, %s..., is too long", out->unit);
  }
  return weir_graph_status(g);
}

static bool uses_time(const weir_formula *f)
{
  for (int64_t i = 0; i < f->n; i++) {
    if (f->node[i].op == FORMULA_TIME) {
      return true;
    }
  }
  return false;
}

weir_status weir_formula_build(const weir_formula *f, const weir_series_use *use, weir_series *out)
{
  builder b = {.f = f,
               .use = use,
               .g = use->graph,
               .dtype = uses_time(f) ? WEIR_F64 : WEIR_F32,
               .time = WEIR_NO_VALUE};
  weir_status status = WEIR_OK;

  if (use->n_in < 1) {
    return weir_fail(WEIR_ERR_CONFIG, "an expression needs at least one input");
  }
  WEIR_TRY(check_clock(use));
  b.any = use->in[0].present;
  for (int i = 1; i < use->n_in; i++) {
    b.any = weir_or(b.g, b.any, use->in[i].present);
  }
  WEIR_TRY_GOTO(weir_alloc(f->n, sizeof *b.operand, (void **)&b.operand), done);
  WEIR_TRY_GOTO(weir_alloc(f->n, sizeof *b.unit, (void **)&b.unit), done);
  for (int64_t i = 0; i < f->n; i++) {
    WEIR_TRY_GOTO(make_node(&b, i), done);
  }
  WEIR_TRY_GOTO(finish(&b, out), done);
done:
  weir_free(&b.operand);
  weir_free(&b.unit);
  return status;
}

bool weir_formula_is_bool(const weir_formula *f)
{
  return f->node[f->n - 1].truth;
}
