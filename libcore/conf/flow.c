/* flow.c - the value of a --set and the default of a list: a scalar, "quoted", 'quoted', [a, b] or
 * {key: value}, without libyaml. Places are columns of line 0: a --set has no line. */
#include "conf/conf_priv.h"
#include <string.h>

typedef struct flow {
  const char *text;
  const char *p;
  weir_conf_tree *tree;
  char *scratch; /* a quoted scalar being read; as long as the text */
} flow;

static int column(const flow *f)
{
  return (int)(f->p - f->text) + 1;
}

static void skip_blanks(flow *f)
{
  while (*f->p == ' ' || *f->p == '\t' || *f->p == '\n') {
    f->p++;
  }
}

static weir_status fault(const flow *f, const char *what)
{
  return weir_conf_refuse(f->tree, 0, 0, "", "%s at character %d", what, column(f));
}

static weir_status add(flow *f, const char *text, int64_t size, bool plain, int at)
{
  const weir_conf_scalar scalar = {
      .text = text, .size = size, .plain = plain, .line = 0, .column = at};

  return weir_conf_add(f->tree, &scalar);
}

/* Appends a code point as UTF-8. An escape is never shorter than its UTF-8. */
static int64_t encode(char *out, uint32_t code)
{
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  const int n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  const uint32_t lead = n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0;
  for (int i = n - 1; i > 0; i--) {
    out[i] = (char)(0x80 | (code & 0x3f));
    code >>= 6;
  }
  out[0] = (char)(lead | code);
  return n;
}

static int hex_digit(char c)
{
  static const char digits[] = "0123456789abcdef";
  const char low = (char)(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
  const char *at = c == 0 ? NULL : strchr(digits, low);

  return at == NULL ? -1 : (int)(at - digits);
}

/* The character after a backslash; f->p stands on it. */
static weir_status escape(flow *f, int64_t *used)
{
  static const char names[] = "abtnvfre\"\\/ ";
  static const char values[] = "\a\b\t\n\v\f\r\x1b\"\\/ ";
  const char *name = *f->p == 0 ? NULL : strchr(names, *f->p);
  const int digits = *f->p == 'x' ? 2 : *f->p == 'u' ? 4 : *f->p == 'U' ? 8 : 0;

  if (name != NULL) {
    f->scratch[(*used)++] = values[name - names];
    f->p++;
    return WEIR_OK;
  }
  if (digits == 0) {
    return fault(f, "unknown escape");
  }
  uint32_t code = 0;
  f->p++;
  for (int i = 0; i < digits; i++) {
    const int digit = hex_digit(*f->p);

    if (digit < 0) {
      return fault(f, "malformed escape");
    }
    code = code << 4 | (uint32_t)digit;
    f->p++;
  }
  if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
    return fault(f, "an escape that is not a character before");
  }
  *used += encode(f->scratch + *used, code);
  return WEIR_OK;
}

static weir_status quoted(flow *f)
{
  const char quote = *f->p;
  const int at = column(f);
  int64_t used = 0;

  f->p++;
  for (;;) {
    if (*f->p == 0) {
      return fault(f, "missing closing quote");
    }
    if (*f->p == quote && quote == '\'' && f->p[1] == quote) {
      f->scratch[used++] = quote;
      f->p += 2;
    } else if (*f->p == quote) {
      f->p++;
      return add(f, f->scratch, used, false, at);
    } else if (*f->p == '\\' && quote == '"') {
      f->p++;
      WEIR_TRY(escape(f, &used));
    } else {
      f->scratch[used++] = *f->p++;
    }
  }
}

/* A plain scalar: inside brackets it ends at , ] } (and at ": " where a key may stand). */
static weir_status plain(flow *f, bool inside, bool is_key)
{
  const char *start = f->p;
  const int at = column(f);
  const char *end = start;

  for (; *f->p != 0; f->p++) {
    if (inside && strchr(",[]{}", *f->p) != NULL) {
      break;
    }
    if (is_key && *f->p == ':') {
      break;
    }
    if (*f->p != ' ' && *f->p != '\t') {
      end = f->p + 1;
    }
  }
  if (inside && end == start) {
    return fault(f, "missing value");
  }
  return add(f, start, end - start, true, at);
}

static weir_status value(flow *f, bool inside);

static weir_status key(flow *f)
{
  skip_blanks(f);
  if (*f->p == '"' || *f->p == '\'') {
    WEIR_TRY(quoted(f));
  } else {
    WEIR_TRY(plain(f, true, true));
  }
  skip_blanks(f);
  if (*f->p != ':') {
    return fault(f, "missing ':'");
  }
  f->p++;
  return WEIR_OK;
}

/* Values up to `close`; a comma may follow the last one. close 0: up to the end of the text. */
static weir_status items(flow *f, char close, bool keys)
{
  for (;;) {
    skip_blanks(f);
    if (*f->p == close) {
      break;
    }
    if (keys) {
      WEIR_TRY(key(f));
    }
    WEIR_TRY(value(f, true));
    skip_blanks(f);
    if (*f->p == ',') {
      f->p++;
    } else if (*f->p != close) {
      return fault(f, close == ']' ? "missing ']'" : close == '}' ? "missing '}'" : "missing ','");
    }
  }
  f->p += close != 0;
  weir_conf_close(f->tree);
  return WEIR_OK;
}

/* The recursion is as deep as the tree, which weir_conf_open bounds. */
static weir_status value(flow *f, bool inside)
{
  skip_blanks(f);
  if (*f->p == '[' || *f->p == '{') {
    const bool list = *f->p == '[';

    WEIR_TRY(weir_conf_open(f->tree, list ? WEIR_CONF_SEQUENCE : WEIR_CONF_MAPPING, 0, column(f)));
    f->p++;
    return items(f, list ? ']' : '}', !list);
  }
  if (*f->p == '"' || *f->p == '\'') {
    return quoted(f);
  }
  return plain(f, inside, false);
}

static weir_status check_utf8(const flow *f, int64_t size)
{
  for (int64_t i = 0; i < size;) {
    uint32_t code = 0;
    const int n = weir_conf_utf8(f->text + i, size - i, &code);

    if (n == 0) {
      return weir_conf_refuse(f->tree, 0, 0, "", "byte %lld is not UTF-8", (long long)i + 1);
    }
    i += n;
  }
  return WEIR_OK;
}

static weir_status begin(flow *f, const char *text, weir_conf_tree *tree)
{
  const int64_t size = (int64_t)strlen(text);
  void *scratch = NULL;

  *f = (flow){.text = text, .p = text, .tree = tree};
  if (size > WEIR_CONF_FILE_LIMIT) {
    return weir_conf_refuse(tree, 0, 0, "", "a value over %lld bytes",
                            (long long)WEIR_CONF_FILE_LIMIT);
  }
  WEIR_TRY(check_utf8(f, size));
  WEIR_TRY(weir_alloc(size + 1, 1, &scratch));
  f->scratch = scratch;
  return WEIR_OK;
}

weir_status weir_conf_parse_flow(const char *text, weir_conf_tree *tree)
{
  weir_status status = WEIR_OK;
  flow f;

  WEIR_TRY(begin(&f, text, tree));
  WEIR_TRY_GOTO(value(&f, false), done);
  skip_blanks(&f);
  if (*f.p != 0) {
    status = fault(&f, "characters after the value");
  }
done:
  weir_free(&f.scratch);
  return status;
}

weir_status weir_conf_parse_items(const char *text, weir_conf_tree *tree)
{
  weir_status status = WEIR_OK;
  flow f;

  WEIR_TRY(begin(&f, text, tree));
  WEIR_TRY_GOTO(weir_conf_open(tree, WEIR_CONF_SEQUENCE, 0, 0), done);
  WEIR_TRY_GOTO(items(&f, 0, false), done);
done:
  weir_free(&f.scratch);
  return status;
}
