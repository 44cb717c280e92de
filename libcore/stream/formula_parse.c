/* formula_parse.c - text to operations in order of computation, by recursive descent of bounded
 * depth. */
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "conf/weir_number.h"
#include "stream/formula_priv.h"

const formula_row formula_table[FORMULA_OPS] = {
#define X(id, text, kind, least, most) {text, FORMULA_##kind, least, most},
    FORMULA_LIST(X)
#undef X
};

typedef enum token_kind {
  TOKEN_END,
  TOKEN_NUMBER,
  TOKEN_WORD,   /* letters, digits, dots: a name, a function, a constant, and, or, not */
  TOKEN_QUOTED, /* a name between quotes, without them                              */
  TOKEN_UNIT,   /* between brackets, without them                                  */
  TOKEN_MARK    /* an operator, a parenthesis, a comma                          */
} token_kind;

typedef struct token {
  token_kind kind;
  const char *start;
  int64_t size;
  int column;
} token;

typedef struct parser {
  weir_formula *f;
  const char *p;
  token now;
  int depth;
} parser;

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '%' ||
         (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* Column of a byte, counting characters. */
static int column_of(const char *source, const char *at)
{
  int column = 1;

  for (const char *q = source; q < at; q++) {
    column += ((unsigned char)*q & 0xc0) != 0x80;
  }
  return column;
}

weir_status formula_refuse(const char *source, int column, const char *format, ...)
{
  enum { SHOWN = 60 };
  char text[SHOWN + 4], reason[512];
  size_t n = strlen(source);
  va_list args;

  va_start(args, format);
  (void)vsnprintf(reason, sizeof reason, format, args);
  va_end(args);
  const bool cut = n > SHOWN;
  n = cut ? SHOWN : n;
  while (cut && n > 0 && ((unsigned char)source[n] & 0xc0) == 0x80) {
    n--; /* no half character */
  }
  (void)snprintf(text, sizeof text, "%.*s%s", (int)n, source, cut ? "..." : "");
  for (char *q = text; *q != 0; q++) {
    *q = (unsigned char)*q < 0x20 || *q == 0x7f ? '?' : *q;
  }
  return weir_fail(WEIR_ERR_CONFIG, "expression %s, column %d: %s", text, column, reason);
}

/* "expected WHAT, found ...". */
static weir_status expected(const parser *s, const char *what)
{
  const token *t = &s->now;

  if (t->kind == TOKEN_END) {
    return formula_refuse(s->f->source, t->column, "expected %s, found the end", what);
  }
  return formula_refuse(s->f->source, t->column, "expected %s, found %.*s", what,
                        (int)(t->size < 40 ? t->size : 40), t->start);
}

static int64_t number_size(const char *p)
{
  int64_t n = 0;

  while (is_digit(p[n]) || p[n] == '.') {
    n++;
  }
  if (p[n] == 'e' || p[n] == 'E') {
    const int64_t digits = n + 1 + (p[n + 1] == '+' || p[n + 1] == '-');

    if (is_digit(p[digits])) {
      for (n = digits; is_digit(p[n]); n++) {
      }
    }
  }
  return n;
}

static int64_t word_size(const char *p)
{
  int64_t n = 0;

  while (is_letter(p[n]) || is_digit(p[n]) || (p[n] == '.' && n > 0 && is_letter(p[n + 1]))) {
    n++;
  }
  return n;
}

/* What stands between the opening character at p and `close`. */
static weir_status take_enclosed(parser *s, token_kind kind, char close)
{
  const char *end = strchr(s->p + 1, close);

  if (end == NULL) {
    return formula_refuse(s->f->source, s->now.column, "%c without the closing %c", *s->p, close);
  }
  if (end == s->p + 1) {
    return formula_refuse(s->f->source, s->now.column, "nothing between %c and %c", *s->p, close);
  }
  s->now = (token){kind, s->p + 1, end - s->p - 1, s->now.column};
  s->p = end + 1;
  return WEIR_OK;
}

/* What other languages write for a word or a mark of this one. */
static weir_status refuse_foreign(const parser *s)
{
  static const char *const foreign[][2] = {{"&&", "and"}, {"&", "and"}, {"||", "or"},
                                           {"|", "or"},   {"!", "not"}, {"**", "^"}};

  for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
    if (strncmp(s->p, foreign[i][0], strlen(foreign[i][0])) == 0) {
      return formula_refuse(s->f->source, s->now.column, "%s is no operator here: write %s",
                            foreign[i][0], foreign[i][1]);
    }
  }
  return formula_refuse(s->f->source, s->now.column, "%c belongs to no expression",
                        (unsigned char)*s->p < 0x20 || *s->p == 0x7f ? '?' : *s->p);
}

/* A mark that stands for something in an expression. */
static bool is_mark(const char *p)
{
  return (*p == '!' && p[1] == '=') || (*p == '*' && p[1] != '*') ||
         strchr("+-/^(),<>=", *p) != NULL;
}

static weir_status next(parser *s)
{
  s->p += strspn(s->p, " \t\r\n");
  s->now = (token){TOKEN_END, s->p, 0, column_of(s->f->source, s->p)};
  if (*s->p == 0) {
    return WEIR_OK;
  }
  if (*s->p == '"') {
    return take_enclosed(s, TOKEN_QUOTED, '"');
  }
  if (*s->p == '[') {
    return take_enclosed(s, TOKEN_UNIT, ']');
  }
  if (is_digit(*s->p) || (*s->p == '.' && is_digit(s->p[1]))) {
    s->now.kind = TOKEN_NUMBER;
    s->now.size = number_size(s->p);
  } else if (is_letter(*s->p)) {
    s->now.kind = TOKEN_WORD;
    s->now.size = word_size(s->p);
  } else if (is_mark(s->p)) {
    s->now.kind = TOKEN_MARK;
    s->now.size = 1 + (strchr("<>=!", *s->p) != NULL && s->p[1] == '=');
  } else {
    return refuse_foreign(s);
  }
  s->p += s->now.size;
  return WEIR_OK;
}

static bool is(const token *t, const char *text)
{
  return (t->kind == TOKEN_MARK || t->kind == TOKEN_WORD) && t->size == (int64_t)strlen(text) &&
         memcmp(t->start, text, (size_t)t->size) == 0;
}

static weir_status keep_text(weir_formula *f, const token *t, int64_t *at)
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
  return truth ? "a truth" : "a number";
}

/* Checks what the operation takes, and appends it. */
static weir_status add_op(parser *s, formula_op op, int column, const int *arg, int *out)
{
  const formula_row *row = &formula_table[op];
  const weir_formula *f = s->f;
  formula_node node = {.op = op, .arg = {-1, -1, -1}, .column = column, .text = -1};

  for (int k = 0; k < row->least; k++) {
    node.arg[k] = arg[k];
  }
  const bool first = f->node[arg[0]].truth;
  const bool wants = row->kind == FORMULA_TRUTHS;
  const int alike = row->kind == FORMULA_CHOOSE ? 1 : 0;
  if (row->kind == FORMULA_CHOOSE && !first) {
    return formula_refuse(f->source, column,
                          "the condition of if is a number, not a truth such "
                          "as a < b");
  }
  if (row->kind == FORMULA_EQUAL || row->kind == FORMULA_CHOOSE) {
    if (f->node[arg[alike]].truth != f->node[arg[alike + 1]].truth) {
      return formula_refuse(f->source, column, "%s takes two numbers or two truths, found one each",
                            row->text);
    }
  } else if (row->kind != FORMULA_PRESENCE) {
    for (int k = 0; k < row->least; k++) {
      if (f->node[arg[k]].truth != wants) {
        return formula_refuse(f->source, column, "%s takes %s, found %s", row->text,
                              wants ? "truths such as a < b" : "numbers", kind_name(!wants));
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
    return formula_refuse(s->f->source, s->now.column, "nested deeper than %d", WEIR_FORMULA_DEPTH);
  }
  return WEIR_OK;
}

/* Words that are no unit of the number before them. */
static bool is_reserved(const token *t)
{
  return is(t, "and") || is(t, "or") || is(t, "not");
}

static weir_status parse_number(parser *s, int *out)
{
  formula_node node = {.op = FORMULA_NUMBER, .column = s->now.column, .text = -1};
  char text[64];

  if (s->now.size >= (int64_t)sizeof text) {
    return formula_refuse(s->f->source, s->now.column, "a number of %lld characters",
                          (long long)s->now.size);
  }
  memcpy(text, s->now.start, (size_t)s->now.size);
  text[s->now.size] = 0;
  const weir_number_result result = weir_number_real(text, &node.number);
  if (result != WEIR_NUMBER_OK) {
    return formula_refuse(s->f->source, s->now.column, "%s %s", text, weir_number_reason(result));
  }
  WEIR_TRY(next(s));
  node.bare = s->now.kind == TOKEN_WORD;
  if (s->now.kind == TOKEN_UNIT || (s->now.kind == TOKEN_WORD && !is_reserved(&s->now))) {
    if (s->now.kind == TOKEN_WORD && (is(&s->now, "t") || is(&s->now, "pi") || is(&s->now, "e"))) {
      return formula_refuse(s->f->source, s->now.column,
                            "expected a unit or an operator: write * "
                            "for a product, [%.*s] for a unit",
                            (int)s->now.size, s->now.start);
    }
    WEIR_TRY(keep_text(s->f, &s->now, &node.text));
    WEIR_TRY(next(s));
  }
  return append(s->f, &node, out);
}

static weir_status add_name(parser *s, const token *t, int *out)
{
  formula_node node = {.op = FORMULA_NAME, .column = t->column};

  WEIR_TRY(keep_text(s->f, t, &node.text));
  return append(s->f, &node, out);
}

static weir_status expect(parser *s, const char *mark, const char *what)
{
  if (!is(&s->now, mark)) {
    return expected(s, what);
  }
  return next(s);
}

/* The argument of present is a name; the node it makes is not needed for the result. */
static weir_status parse_present(parser *s, int column, int *out)
{
  const token name = s->now;
  int arg = -1;

  if (name.kind != TOKEN_WORD && name.kind != TOKEN_QUOTED) {
    return expected(s, "the name of a stream");
  }
  WEIR_TRY(next(s));
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
    if (n == 2 && row->most > 3) { /* min(a, b, c) is min(min(a, b), c) */
      WEIR_TRY(add_op(s, op, column, arg, &arg[0]));
      n = 1;
    }
    if (n == 3 || n == row->most) {
      return formula_refuse(s->f->source, column, "%s takes %d argument%s, found more", row->text,
                            row->most, row->most == 1 ? "" : "s");
    }
    arg[n++] = one;
    if (!is(&s->now, ",")) {
      break;
    }
    WEIR_TRY(next(s));
  }
  WEIR_TRY(expect(s, ")", ", or )"));
  if (n < row->least) {
    return formula_refuse(s->f->source, column, "%s takes %d arguments, found %d", row->text,
                          row->least, n);
  }
  return add_op(s, op, column, arg, out);
}

static weir_status parse_call(parser *s, const token *name, int *out)
{
  char known[256] = "";

  for (int op = FORMULA_POW; op < FORMULA_OPS; op++) {
    if (is(name, formula_table[op].text)) {
      return parse_arguments(s, (formula_op)op, name->column, out);
    }
    const size_t used = strlen(known);
    (void)snprintf(known + used, sizeof known - used, " %s", formula_table[op].text);
  }
  return formula_refuse(s->f->source, name->column, "%.*s is no function; there are%s",
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
  const token word = s->now;
  formula_node node = {.op = FORMULA_NUMBER, .column = word.column, .text = -1};

  if (is_reserved(&word)) {
    return expected(s, "a number, a name or (");
  }
  WEIR_TRY(next(s));
  if (is(&s->now, "(")) {
    WEIR_TRY(next(s));
    return parse_call(s, &word, out);
  }
  for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
    if (is(&word, constants[i].name)) {
      node.number = constants[i].value;
      return append(s->f, &node, out);
    }
  }
  if (is(&word, "t")) {
    node.op = FORMULA_TIME;
    return append(s->f, &node, out);
  }
  return add_name(s, &word, out);
}

static weir_status parse_primary(parser *s, int *out)
{
  const token now = s->now;

  switch (now.kind) {
  case TOKEN_NUMBER:
    return parse_number(s, out);
  case TOKEN_WORD:
    return parse_word(s, out);
  case TOKEN_QUOTED:
    WEIR_TRY(next(s));
    return add_name(s, &now, out);
  default:
    break;
  }
  if (!is(&now, "(")) {
    return expected(s, "a number, a name or (");
  }
  WEIR_TRY(next(s));
  WEIR_TRY(parse_or(s, out));
  return expect(s, ")", "an operator or )");
}

/* -x^2 is -(x^2), and the exponent may have a sign. */
static weir_status parse_unary(parser *s, int *out)
{
  const int column = s->now.column;
  const bool minus = is(&s->now, "-");
  int arg[2];

  WEIR_TRY(enter(s));
  if (minus || is(&s->now, "+")) {
    WEIR_TRY(next(s));
    WEIR_TRY(parse_unary(s, &arg[0]));
    if (minus) {
      WEIR_TRY(add_op(s, FORMULA_NEG, column, arg, &arg[0]));
    }
  } else {
    WEIR_TRY(parse_primary(s, &arg[0]));
    if (is(&s->now, "^")) {
      const int at = s->now.column;

      WEIR_TRY(next(s));
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
    if (!is(&s->now, formula_table[op].text)) {
      op++;
      continue;
    }
    const int column = s->now.column;

    WEIR_TRY(next(s));
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
    if (is(&s->now, formula_table[op].text)) {
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
  const int column = s->now.column;
  if (is(&s->now, "=")) {
    return expected(s, "== to compare");
  }
  if (op == FORMULA_OPS) {
    *out = arg[0];
    return WEIR_OK;
  }
  WEIR_TRY(next(s));
  WEIR_TRY(parse_sum(s, &arg[1]));
  if (comparison(s) != FORMULA_OPS) {
    return expected(s, "one comparison (write a < b and b < c)");
  }
  return add_op(s, op, column, arg, out);
}

static weir_status parse_not(parser *s, int *out)
{
  const int column = s->now.column;
  int arg = -1;

  if (!is(&s->now, "not")) {
    return parse_comparison(s, out);
  }
  WEIR_TRY(enter(s));
  WEIR_TRY(next(s));
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
    return weir_fail(WEIR_ERR_CONFIG, "an expression of %zu characters; %d are the most",
                     strlen(text), WEIR_FORMULA_LENGTH);
  }
  WEIR_TRY(weir_alloc(1, sizeof *f, (void **)&f));
  WEIR_TRY_GOTO(weir_strdup(text, &f->source), fail);
  parser s = {.f = f, .p = f->source};
  WEIR_TRY_GOTO(next(&s), fail);
  WEIR_TRY_GOTO(parse_or(&s, &last), fail);
  if (s.now.kind != TOKEN_END) {
    status = expected(&s, "an operator or the end");
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
