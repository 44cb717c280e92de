/* formula_parse.c - text to operations in order of computation, by recursive descent of bounded
 * depth. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "conf/weir_number.h"
#include "stream/formula/formula_token.h"

const formula_row formula_table[FORMULA_OPS] = {
#define X(id, text, kind, min_args, max_args) {text, FORMULA_##kind, min_args, max_args},
    FORMULA_LIST(X)
#undef X
};

typedef struct parser {
  weir_formula *f;
  formula_scan scan;
  int depth;
} parser;

static weir_status keep_text(weir_formula *f, const formula_token *t, int64_t *at)
{
  WEIR_TRY(weir_reserve(&f->text, &f->text_capacity, f->text_size + t->size + 1, 1));
  memcpy(f->text + f->text_size, t->start, (size_t)t->size);
  f->text[f->text_size + t->size] = 0;
  *at = f->text_size;
  f->text_size += t->size + 1;
  return WEIR_OK;
}

static weir_status append(weir_formula *f, const formula_node *node, int *out)
{
  if (f->n >= WEIR_FORMULA_NODES) {
    return formula_refuse(f->source, node->column, "more than %d numbers, names and operations",
                          WEIR_FORMULA_NODES);
  }
  WEIR_TRY(weir_reserve(&f->node, &f->capacity, f->n + 1, sizeof *f->node));
  *out = (int)f->n;
  f->node[f->n++] = *node;
  return WEIR_OK;
}

static const char *kind_name(bool truth)
{
  return truth ? "a boolean" : "a number";
}

/* Checks what the operation takes, and appends it. */
static weir_status add_op(parser *s, formula_op op, int column, const int *arg, int *out)
{
  const formula_row *row = &formula_table[op];
  const weir_formula *f = s->f;
  formula_node node = {.op = op, .arg = {-1, -1, -1}, .column = column, .text = -1};

  for (int k = 0; k < row->min_args; k++) {
    node.arg[k] = arg[k];
  }
  const bool first = f->node[arg[0]].truth;
  const bool wants = row->kind == FORMULA_TRUTHS;
  const int alike = row->kind == FORMULA_CHOOSE ? 1 : 0;
  if (row->kind == FORMULA_CHOOSE && !first) {
    return formula_refuse(f->source, column,
                          "the condition of if is a number, not a boolean such as a < b");
  }
  if (row->kind == FORMULA_EQUAL || row->kind == FORMULA_CHOOSE) {
    if (f->node[arg[alike]].truth != f->node[arg[alike + 1]].truth) {
      return formula_refuse(f->source, column,
                            "%s takes two numbers or two booleans, found one of each", row->text);
    }
  } else if (row->kind != FORMULA_PRESENCE) {
    for (int k = 0; k < row->min_args; k++) {
      if (f->node[arg[k]].truth != wants) {
        return formula_refuse(f->source, column, "%s takes %s, found %s", row->text,
                              wants ? "booleans such as a < b" : "numbers", kind_name(!wants));
      }
    }
  }
  node.truth = row->kind == FORMULA_CHOOSE ? f->node[arg[1]].truth : row->kind != FORMULA_NUMBERS;
  return append(s->f, &node, out);
}

static weir_status parse_or(parser *s, int *out);

static weir_status enter(parser *s)
{
  if (++s->depth > WEIR_FORMULA_DEPTH) {
    return formula_refuse(s->f->source, s->scan.now.column, "nested deeper than %d",
                          WEIR_FORMULA_DEPTH);
  }
  return WEIR_OK;
}

/* Words that are no unit of the number before them. */
static bool is_reserved(const formula_token *t)
{
  return formula_is(t, "and") || formula_is(t, "or") || formula_is(t, "not");
}

static weir_status parse_number(parser *s, int *out)
{
  formula_node node = {.op = FORMULA_NUMBER, .column = s->scan.now.column, .text = -1};
  char text[64];

  if (s->scan.now.size >= (int64_t)sizeof text) {
    return formula_refuse(s->f->source, s->scan.now.column, "a number of %lld characters",
                          (long long)s->scan.now.size);
  }
  memcpy(text, s->scan.now.start, (size_t)s->scan.now.size);
  text[s->scan.now.size] = 0;
  const weir_number_result result = weir_number_real(text, &node.number);
  if (result != WEIR_NUMBER_OK) {
    return formula_refuse(s->f->source, s->scan.now.column, "%s %s", text,
                          weir_number_reason(result));
  }
  WEIR_TRY(formula_next(&s->scan));
  node.bare = s->scan.now.kind == TOKEN_WORD;
  if (s->scan.now.kind == TOKEN_UNIT ||
      (s->scan.now.kind == TOKEN_WORD && !is_reserved(&s->scan.now))) {
    if (s->scan.now.kind == TOKEN_WORD &&
        (formula_is(&s->scan.now, "t") || formula_is(&s->scan.now, "pi") ||
         formula_is(&s->scan.now, "e"))) {
      return formula_refuse(s->f->source, s->scan.now.column,
                            "expected a unit or an operator: write * "
                            "for a product, [%.*s] for a unit",
                            (int)s->scan.now.size, s->scan.now.start);
    }
    WEIR_TRY(keep_text(s->f, &s->scan.now, &node.text));
    WEIR_TRY(formula_next(&s->scan));
  }
  return append(s->f, &node, out);
}

static weir_status add_name(parser *s, const formula_token *t, int *out)
{
  formula_node node = {.op = FORMULA_NAME, .column = t->column};

  WEIR_TRY(keep_text(s->f, t, &node.text));
  return append(s->f, &node, out);
}

static weir_status expect(parser *s, const char *mark, const char *what)
{
  if (!formula_is(&s->scan.now, mark)) {
    return formula_expected(&s->scan, what);
  }
  return formula_next(&s->scan);
}

/* The argument of present is a name; the node it makes is not needed for the result. */
static weir_status parse_present(parser *s, int column, int *out)
{
  const formula_token name = s->scan.now;
  int arg = -1;

  if (name.kind != TOKEN_WORD && name.kind != TOKEN_QUOTED) {
    return formula_expected(&s->scan, "the name of a stream");
  }
  WEIR_TRY(formula_next(&s->scan));
  WEIR_TRY(expect(s, ")", ")"));
  WEIR_TRY(add_name(s, &name, &arg));
  return add_op(s, FORMULA_PRESENT, column, &arg, out);
}

/* What stands after "function(". */
static weir_status parse_arguments(parser *s, formula_op op, int column, int *out)
{
  const formula_row *row = &formula_table[op];
  int arg[3], n = 0;

  if (row->kind == FORMULA_PRESENCE) {
    return parse_present(s, column, out);
  }
  for (;;) {
    int one = -1;

    WEIR_TRY(parse_or(s, &one));
    if (n == 2 && row->max_args > 3) { /* min(a, b, c) is min(min(a, b), c) */
      WEIR_TRY(add_op(s, op, column, arg, &arg[0]));
      n = 1;
    }
    if (n == 3 || n == row->max_args) {
      return formula_refuse(s->f->source, column, "%s takes %d argument%s, found more", row->text,
                            row->max_args, row->max_args == 1 ? "" : "s");
    }
    arg[n++] = one;
    if (!formula_is(&s->scan.now, ",")) {
      break;
    }
    WEIR_TRY(formula_next(&s->scan));
  }
  WEIR_TRY(expect(s, ")", ", or )"));
  if (n < row->min_args) {
    return formula_refuse(s->f->source, column, "%s takes %d arguments, found %d", row->text,
                          row->min_args, n);
  }
  return add_op(s, op, column, arg, out);
}

static weir_status parse_call(parser *s, const formula_token *name, int *out)
{
  char known[256] = "";

  for (int op = FORMULA_POW; op < FORMULA_OPS; op++) {
    if (formula_is(name, formula_table[op].text)) {
      return parse_arguments(s, (formula_op)op, name->column, out);
    }
    const size_t used = strlen(known);
    (void)snprintf(known + used, sizeof known - used, " %s", formula_table[op].text);
  }
  return formula_refuse(s->f->source, name->column, "%.*s is not a function: choose one of%s",
                        (int)(name->size < 40 ? name->size : 40), name->start, known);
}

static weir_status parse_word(parser *s, int *out)
{
  static const struct {
    const char *name;
    double value;
  } constants[] = {{"pi", 3.14159265358979323846},
                   {"e", 2.71828182845904523536},
                   {"inf", (double)INFINITY},
                   {"nan", (double)NAN}};
  const formula_token word = s->scan.now;
  formula_node node = {.op = FORMULA_NUMBER, .column = word.column, .text = -1};

  if (is_reserved(&word)) {
    return formula_expected(&s->scan, "a number, a name or (");
  }
  WEIR_TRY(formula_next(&s->scan));
  if (formula_is(&s->scan.now, "(")) {
    WEIR_TRY(formula_next(&s->scan));
    return parse_call(s, &word, out);
  }
  for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
    if (formula_is(&word, constants[i].name)) {
      node.number = constants[i].value;
      return append(s->f, &node, out);
    }
  }
  if (formula_is(&word, "t")) {
    node.op = FORMULA_TIME;
    return append(s->f, &node, out);
  }
  return add_name(s, &word, out);
}

static weir_status parse_primary(parser *s, int *out)
{
  const formula_token now = s->scan.now;

  switch (now.kind) {
  case TOKEN_NUMBER:
    return parse_number(s, out);
  case TOKEN_WORD:
    return parse_word(s, out);
  case TOKEN_QUOTED:
    WEIR_TRY(formula_next(&s->scan));
    return add_name(s, &now, out);
  default:
    break;
  }
  if (!formula_is(&now, "(")) {
    return formula_expected(&s->scan, "a number, a name or (");
  }
  WEIR_TRY(formula_next(&s->scan));
  WEIR_TRY(parse_or(s, out));
  return expect(s, ")", "an operator or )");
}

/* -x^2 is -(x^2), and the exponent may have a sign. */
static weir_status parse_unary(parser *s, int *out)
{
  const int column = s->scan.now.column;
  const bool minus = formula_is(&s->scan.now, "-");
  int arg[2];

  WEIR_TRY(enter(s));
  if (minus || formula_is(&s->scan.now, "+")) {
    WEIR_TRY(formula_next(&s->scan));
    WEIR_TRY(parse_unary(s, &arg[0]));
    if (minus) {
      WEIR_TRY(add_op(s, FORMULA_NEG, column, arg, &arg[0]));
    }
  } else {
    WEIR_TRY(parse_primary(s, &arg[0]));
    if (formula_is(&s->scan.now, "^")) {
      const int at = s->scan.now.column;

      WEIR_TRY(formula_next(&s->scan));
      WEIR_TRY(parse_unary(s, &arg[1]));
      WEIR_TRY(add_op(s, FORMULA_POWER, at, arg, &arg[0]));
    }
  }
  s->depth--;
  *out = arg[0];
  return WEIR_OK;
}

/* Operations of one level, from the left; `below` reads what they join. */
static weir_status parse_chain(parser *s, formula_op first, formula_op last,
                               weir_status (*below)(parser *, int *), int *out)
{
  int arg[2];

  WEIR_TRY(below(s, &arg[0]));
  for (int op = (int)first; op <= (int)last;) {
    if (!formula_is(&s->scan.now, formula_table[op].text)) {
      op++;
      continue;
    }
    const int column = s->scan.now.column;

    WEIR_TRY(formula_next(&s->scan));
    WEIR_TRY(below(s, &arg[1]));
    WEIR_TRY(add_op(s, (formula_op)op, column, arg, &arg[0]));
    op = (int)first;
  }
  *out = arg[0];
  return WEIR_OK;
}

static weir_status parse_product(parser *s, int *out)
{
  return parse_chain(s, FORMULA_MUL, FORMULA_DIV, parse_unary, out);
}

static weir_status parse_sum(parser *s, int *out)
{
  return parse_chain(s, FORMULA_ADD, FORMULA_SUB, parse_product, out);
}

static formula_op comparison(const parser *s)
{
  for (int op = FORMULA_LT; op <= FORMULA_NE; op++) {
    if (formula_is(&s->scan.now, formula_table[op].text)) {
      return (formula_op)op;
    }
  }
  return FORMULA_OPS;
}

/* a < b < c means in no two languages the same. */
static weir_status parse_comparison(parser *s, int *out)
{
  int arg[2];

  WEIR_TRY(parse_sum(s, &arg[0]));
  const formula_op op = comparison(s);
  const int column = s->scan.now.column;
  if (formula_is(&s->scan.now, "=")) {
    return formula_expected(&s->scan, "== to compare");
  }
  if (op == FORMULA_OPS) {
    *out = arg[0];
    return WEIR_OK;
  }
  WEIR_TRY(formula_next(&s->scan));
  WEIR_TRY(parse_sum(s, &arg[1]));
  if (comparison(s) != FORMULA_OPS) {
    return formula_expected(&s->scan, "a single comparison (write a < b and b < c)");
  }
  return add_op(s, op, column, arg, out);
}

static weir_status parse_not(parser *s, int *out)
{
  const int column = s->scan.now.column;
  int arg = -1;

  if (!formula_is(&s->scan.now, "not")) {
    return parse_comparison(s, out);
  }
  WEIR_TRY(enter(s));
  WEIR_TRY(formula_next(&s->scan));
  WEIR_TRY(parse_not(s, &arg));
  WEIR_TRY(add_op(s, FORMULA_NOT, column, &arg, out));
  s->depth--;
  return WEIR_OK;
}

static weir_status parse_and(parser *s, int *out)
{
  return parse_chain(s, FORMULA_AND, FORMULA_AND, parse_not, out);
}

static weir_status parse_or(parser *s, int *out)
{
  return parse_chain(s, FORMULA_OR, FORMULA_OR, parse_and, out);
}

weir_status weir_formula_parse(const char *text, weir_formula **out)
{
  weir_status status = WEIR_OK;
  weir_formula *f = NULL;
  int last = -1;

  if (strlen(text) > WEIR_FORMULA_LENGTH) {
    return weir_fail(WEIR_ERR_CONFIG, "an expression of %zu characters: at most %d are allowed",
                     strlen(text), WEIR_FORMULA_LENGTH);
  }
  WEIR_TRY(weir_alloc(1, sizeof *f, (void **)&f));
  WEIR_TRY_GOTO(weir_strdup(text, &f->source), fail);
  parser s = {.f = f, .scan = {.source = f->source, .p = f->source}};
  WEIR_TRY_GOTO(formula_next(&s.scan), fail);
  WEIR_TRY_GOTO(parse_or(&s, &last), fail);
  if (s.scan.now.kind != TOKEN_END) {
    status = formula_expected(&s.scan, "an operator or the end");
    goto fail;
  }
  *out = f;
  return WEIR_OK;
fail:
  weir_formula_destroy(&f);
  return status;
}

void weir_formula_destroy(weir_formula **f)
{
  if (*f == NULL) {
    return;
  }
  weir_free(&(*f)->source);
  weir_free(&(*f)->node);
  weir_free(&(*f)->text);
  weir_free(f);
}
