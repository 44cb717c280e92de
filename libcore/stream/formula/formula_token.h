/* formula_token.h - the words of an expression, one after another. */
#ifndef WEIR_FORMULA_TOKEN_H
#define WEIR_FORMULA_TOKEN_H
#include "stream/formula/formula_priv.h"

typedef enum formula_token_kind {
  TOKEN_END,
  TOKEN_NUMBER,
  TOKEN_WORD,   /* letters, digits, dots: a name, a function, a constant, and, or, not */
  TOKEN_QUOTED, /* a name between quotes, without them                              */
  TOKEN_UNIT,   /* between brackets, without them                                  */
  TOKEN_MARK    /* an operator, a parenthesis, a comma                          */
} formula_token_kind;

typedef struct formula_token {
  formula_token_kind kind;
  const char *start;
  int64_t size;
  int column;
} formula_token;

/* now: the current token; p: what follows it in `source`. */
typedef struct formula_scan {
  const char *source, *p;
  formula_token now;
} formula_scan;

/* Takes the next token; at the end, TOKEN_END. Fails: WEIR_ERR_CONFIG, for what is none. */
weir_status formula_next(formula_scan *s) WEIR_CHECKED;
/* True for the mark or word `text`. */
bool formula_is(const formula_token *t, const char *text);
/* "expected WHAT, found ..." as a failure. */
weir_status formula_expected(const formula_scan *s, const char *what);
#endif
