/* write.c - the resolved configuration and the commented template, as YAML that loads again. */
#include "base/weir_file.h"
#include "conf/conf_priv.h"
#include "conf/weir_cli.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void weir_conf_put(weir_conf_buffer *buffer, const char *format, ...)
{
  va_list args;

  if (buffer->status != WEIR_OK) {
    return;
  }
  va_start(args, format);
  const int need = vsnprintf(NULL, 0, format, args);
  va_end(args);
  buffer->status = weir_reserve(&buffer->text, &buffer->capacity, buffer->size + need + 1, 1);
  if (buffer->status != WEIR_OK) {
    return;
  }
  va_start(args, format);
  (void)vsnprintf(buffer->text + buffer->size, (size_t)need + 1, format, args);
  va_end(args);
  buffer->size += need;
}

/* Characters that a YAML reader refuses or folds when they stand as they are. */
static bool needs_escape(uint32_t code)
{
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
         code == 0xfeff || code == 0xfffe || code == 0xffff;
}

void weir_conf_put_quoted(weir_conf_buffer *buffer, const char *text)
{
  const int64_t size = (int64_t)strlen(text);

  weir_conf_put(buffer, "\"");
  for (int64_t i = 0; i < size;) {
    uint32_t code = (unsigned char)text[i];
    const int bytes = weir_conf_utf8(text + i, size - i, &code);
    const int n = bytes == 0 ? 1 : bytes;

    if (code == '"' || code == '\\') {
      weir_conf_put(buffer, "\\%c", (int)code);
    } else if (code == '\n') {
      weir_conf_put(buffer, "\\n");
    } else if (bytes == 0 || needs_escape(code)) {
      weir_conf_put(buffer, code < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)code);
    } else {
      weir_conf_put(buffer, "%.*s", n, text + i);
    }
    i += n;
  }
  weir_conf_put(buffer, "\"");
}

static void put_real(weir_conf_buffer *buffer, double value)
{
  char text[32];

  weir_number_text(value, text, sizeof text);
  weir_conf_put(buffer, "%s", text);
}

static void put_list(weir_conf_buffer *buffer, const weir_opt *row, const void *at)
{
  const weir_int_list *ints = at;
  const weir_real_list *reals = at;
  const weir_string_list *strings = at;
  const int64_t count = row->kind == WEIR_OPT_KIND_INT_LIST    ? ints->count
                        : row->kind == WEIR_OPT_KIND_REAL_LIST ? reals->count
                                                               : strings->count;

  weir_conf_put(buffer, "[");
  for (int64_t i = 0; i < count; i++) {
    weir_conf_put(buffer, i == 0 ? "" : ", ");
    if (row->kind == WEIR_OPT_KIND_INT_LIST) {
      weir_conf_put(buffer, "%lld", (long long)ints->items[i]);
    } else if (row->kind == WEIR_OPT_KIND_REAL_LIST) {
      put_real(buffer, reals->items[i]);
    } else {
      weir_conf_put_quoted(buffer, strings->items[i]);
    }
  }
  weir_conf_put(buffer, "]");
}

static void put_default(weir_conf_buffer *buffer, const weir_opt *row)
{
  char choice[64];

  switch (row->kind) {
  case WEIR_OPT_KIND_INT:
    weir_conf_put(buffer, "%lld", (long long)row->number);
    break;
  case WEIR_OPT_KIND_REAL:
    put_real(buffer, row->number);
    break;
  case WEIR_OPT_KIND_BOOL:
    weir_conf_put(buffer, "%s", row->number != 0 ? "true" : "false");
    break;
  case WEIR_OPT_KIND_ENUM:
    weir_conf_choice_name(row->choices, (int)row->number, choice, sizeof choice);
    weir_conf_put(buffer, "%s", choice);
    break;
  case WEIR_OPT_KIND_STRING:
  case WEIR_OPT_KIND_PATH:
    weir_conf_put_quoted(buffer, row->text == NULL ? "" : row->text);
    break;
  case WEIR_OPT_KIND_LIST:
    weir_conf_put(buffer, "[]");
    break;
  case WEIR_OPT_KIND_ONE_OF:
    weir_conf_put(buffer, "{}");
    break;
  default:
    weir_conf_put(buffer, "[%s]", row->text == NULL ? "" : row->text);
    break;
  }
}

void weir_conf_put_value(weir_conf_buffer *buffer, const weir_opt *row, const void *base)
{
  char choice[64];

  if (base == NULL) {
    put_default(buffer, row);
    return;
  }
  const void *at = (const char *)base + row->offset;
  switch (row->kind) {
  case WEIR_OPT_KIND_INT:
    weir_conf_put(buffer, "%lld", (long long)*(const int64_t *)at);
    break;
  case WEIR_OPT_KIND_REAL:
    put_real(buffer, *(const double *)at);
    break;
  case WEIR_OPT_KIND_BOOL:
    weir_conf_put(buffer, "%s", *(const bool *)at ? "true" : "false");
    break;
  case WEIR_OPT_KIND_ENUM:
    weir_conf_choice_name(row->choices, *(const int *)at, choice, sizeof choice);
    weir_conf_put(buffer, "%s", choice);
    break;
  case WEIR_OPT_KIND_STRING:
  case WEIR_OPT_KIND_PATH: {
    const char *text = *(const char *const *)at;

    weir_conf_put_quoted(buffer, text == NULL ? "" : text);
    break;
  }
  default:
    put_list(buffer, row, at);
    break;
  }
}

/* Output mode: a template of defaults with help (config NULL), or a configuration with the
 * origin of each value. `lead` begins each line of a commented example. */
typedef struct printer {
  weir_conf_buffer *buffer;
  const weir_config *config;
  const weir_conf_origin *origins; /* sorted by address */
  int64_t n_origins;
  const char *lead;
  bool set_only; /* what no file and no flag has set is left out */
} printer;

typedef struct section {
  const weir_opt *table;
  const char *prefix;
  const char *base; /* NULL: defaults */
  int indent;
  bool dash; /* the first line of an entry begins with "- " */
} section;

static int compare_origins(const void *a, const void *b)
{
  const weir_conf_origin *x = a, *y = b;

  if (x->at != y->at) {
    return (uintptr_t)x->at < (uintptr_t)y->at ? -1 : 1;
  }
  return x->source - y->source; /* within one address the last source rules */
}

static const weir_conf_origin *find_origin(const printer *p, const void *at)
{
  int64_t lo = 0, hi = p->n_origins; /* the last entry with address <= at */

  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;

    if ((uintptr_t)p->origins[middle].at <= (uintptr_t)at) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo > 0 && p->origins[lo - 1].at == at ? &p->origins[lo - 1] : NULL;
}

static void put_origin(const printer *p, const void *at)
{
  const weir_conf_origin *origin = find_origin(p, at);
  char text[WEIR_CONF_PATH_SIZE + 32] = "default";

  if (origin != NULL) {
    weir_conf_origin_text(p->config, origin, text, sizeof text);
  }
  weir_conf_put(p->buffer, "  # %s\n", text);
}

static void put_lead(const printer *p, section *s)
{
  weir_conf_put(p->buffer, "%s%*s%s", p->lead, s->dash ? s->indent - 2 : s->indent, "",
                s->dash ? "- " : "");
  s->dash = false;
}

static void put_help(const printer *p, const section *s, const weir_opt *row)
{
  const bool plain_unit = row->unit == NULL || row->unit[0] == 0 || strcmp(row->unit, "1") == 0;
  char range[320];

  weir_conf_range_text(row, range, sizeof range);
  weir_conf_put(p->buffer, "%s%*s# %s", p->lead, s->indent, "", row->help == NULL ? "" : row->help);
  if (range[0] != 0) {
    weir_conf_put(p->buffer, "; %s%s%s", range, plain_unit ? "" : " ", plain_unit ? "" : row->unit);
  }
  weir_conf_put(p->buffer, "\n");
}

static void put_section(const printer *p, section s);

/* Whether anything of a row was set. */
static bool is_row_set(const printer *p, const weir_opt *row, const char *base);

/* Whether any row was set whose key begins with `prefix` and a dot; "": any row. */
static bool is_any_set(const printer *p, const weir_opt *table, const char *prefix,
                       const char *base)
{
  const size_t n = strlen(prefix);
  bool is = false;

  for (const weir_opt *r = table; r->kind != WEIR_OPT_KIND_END; r++) {
    const bool below = n == 0 || (strncmp(r->key, prefix, n) == 0 && r->key[n] == '.');

    is = is || (below && is_row_set(p, r, base));
  }
  return is;
}

static bool is_row_set(const printer *p, const weir_opt *row, const char *base)
{
  const char *const at = base + row->offset;
  weir_opt_choice entry = {.name = NULL};

  if (row->kind == WEIR_OPT_KIND_TABLE) {
    return is_any_set(p, row->table, "", at);
  }
  if (find_origin(p, at) != NULL || row->kind != WEIR_OPT_KIND_ONE_OF) {
    return find_origin(p, at) != NULL;
  }
  const weir_one_of *one = (const void *)at;

  return one->name != NULL && one->opts != NULL && weir_conf_entry(row, one->name, &entry) >= 0 &&
         entry.table != NULL && is_any_set(p, entry.table, "", one->opts);
}

static void put_structs(const printer *p, const section *s, const weir_opt *row)
{
  const weir_struct_list *list = (const void *)(s->base + row->offset);
  printer inner = *p;

  weir_conf_put(p->buffer, "%s", list->count == 0 ? " []" : "");
  put_origin(p, list);
  for (int64_t i = 0; i < list->count; i++) {
    const char *const item = (const char *)list->items + (size_t)i * row->size;

    inner.set_only = p->set_only && is_any_set(p, row->table, "", item); /* no entry is empty */
    put_section(&inner, (section){.table = row->table,
                                  .prefix = "",
                                  .base = item,
                                  .indent = s->indent + 4,
                                  .dash = true});
  }
}

/* Writes an example entry of a list of sections, commented out. */
static void put_example(const printer *p, const section *s, const weir_opt *row)
{
  printer inner = *p;

  weir_conf_put(p->buffer, " []\n");
  if (p->lead[0] != 0) {
    return;
  }
  weir_conf_put(p->buffer, "%*s# an entry of %s with its defaults:\n", s->indent, "", row->key);
  inner.lead = "# ";
  put_section(
      &inner,
      (section){
          .table = row->table, .prefix = "", .base = NULL, .indent = s->indent + 4, .dash = true});
}

/* Writes the choice, with its options below it. */
static void put_chosen(const printer *p, const section *s, const weir_opt *row)
{
  const weir_one_of *one = (const void *)(s->base + row->offset);
  weir_opt_choice entry = {.name = NULL};
  const bool known = one->name != NULL && weir_conf_entry(row, one->name, &entry) >= 0;
  const bool has_options = known && entry.table != NULL && one->opts != NULL &&
                           (!p->set_only || is_any_set(p, entry.table, "", one->opts));

  if (!has_options) {
    weir_conf_put(p->buffer, " %s", one->name == NULL ? "{}" : one->name);
  }
  put_origin(p, one);
  if (has_options) {
    weir_conf_put(p->buffer, "%s%*s%s:\n", p->lead, s->indent + 2, "", entry.name);
    put_section(
        p,
        (section){.table = entry.table, .prefix = "", .base = one->opts, .indent = s->indent + 4});
  }
}

/* What may be chosen, commented out; within an example it is a comment of the example. */
static void put_choices(const printer *p, const section *s, const weir_opt *row)
{
  weir_opt_choice entry;
  printer inner = *p;

  weir_conf_put(p->buffer, " {}\n");
  if (strlen(p->lead) > 2) {
    return;
  }
  weir_conf_put(p->buffer, "%s%*s# %s: choose one of these, each with its defaults:\n", p->lead,
                s->indent, "", row->key);
  inner.lead = p->lead[0] == 0 ? "# " : "# # ";
  for (int64_t i = 0; row->list(i, &entry); i++) {
    weir_conf_put(p->buffer, "%s%*s%s:  # %s\n", inner.lead, s->indent + 2, "", entry.name,
                  entry.help);
    if (entry.table != NULL) {
      put_section(&inner, (section){.table = entry.table, .prefix = "", .indent = s->indent + 4});
    }
  }
}

static void put_row(const printer *p, section *s, const weir_opt *row, const char *name)
{
  const char *at = s->base == NULL ? NULL : s->base + row->offset;

  if (s->base == NULL) {
    put_help(p, s, row);
  }
  put_lead(p, s);
  weir_conf_put(p->buffer, "%s:", name);
  if (row->kind == WEIR_OPT_KIND_TABLE) {
    weir_conf_put(p->buffer, "\n");
    put_section(p,
                (section){.table = row->table, .prefix = "", .base = at, .indent = s->indent + 2});
  } else if (row->kind == WEIR_OPT_KIND_LIST && at != NULL) {
    put_structs(p, s, row);
  } else if (row->kind == WEIR_OPT_KIND_LIST) {
    put_example(p, s, row);
  } else if (row->kind == WEIR_OPT_KIND_ONE_OF && at != NULL) {
    put_chosen(p, s, row);
  } else if (row->kind == WEIR_OPT_KIND_ONE_OF) {
    put_choices(p, s, row);
  } else {
    weir_conf_put(p->buffer, " ");
    weir_conf_put_value(p->buffer, row, s->base);
    if (at != NULL) {
      put_origin(p, at);
    } else {
      weir_conf_put(p->buffer, "\n");
    }
  }
}

/* Keys with dots stand below their common first part, wherever the table holds them. */
static void put_section(const printer *p, section s)
{
  for (const weir_opt *r = s.table; r->kind != WEIR_OPT_KIND_END; r++) {
    char name[64], below[WEIR_CONF_PATH_SIZE];
    bool last;

    if (!weir_conf_component(r->key, s.prefix, name, sizeof name, &last) ||
        weir_conf_is_repeated(s.table, r, s.prefix, name)) {
      continue;
    }
    if (last && p->set_only && !is_row_set(p, r, s.base)) {
      continue;
    }
    if (last) {
      put_row(p, &s, r, name);
      continue;
    }
    (void)snprintf(below, sizeof below, "%s%s%s", s.prefix, s.prefix[0] == 0 ? "" : ".", name);
    if (p->set_only && !is_any_set(p, s.table, below, s.base)) {
      continue;
    }
    put_lead(p, &s);
    weir_conf_put(p->buffer, "%s:\n", name);
    put_section(
        p, (section){.table = s.table, .prefix = below, .base = s.base, .indent = s.indent + 2});
  }
}

/* Those of members. */
static weir_status sorted_origins(const weir_config *config, weir_conf_origin **out, int64_t *n)
{
  void *copy = NULL;

  WEIR_TRY(weir_alloc(config->n_origins, sizeof **out, &copy));
  *out = copy;
  *n = 0;
  for (int64_t i = 0; i < config->n_origins; i++) {
    if (config->origins[i].size == 0) {
      (*out)[(*n)++] = config->origins[i];
    }
  }
  if (*n > 0) {
    qsort(copy, (size_t)*n, sizeof **out, compare_origins);
  }
  return WEIR_OK;
}

static weir_status write_text(const char *path, const weir_conf_buffer *buffer)
{
  weir_writer *writer = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_writer_open(path, &writer));
  WEIR_TRY_GOTO(weir_writer_write(writer, buffer->text, (size_t)buffer->size), fail);
  WEIR_TRY(weir_writer_commit(&writer));
  return WEIR_OK;
fail:
  weir_writer_destroy(&writer);
  return status;
}

/* The text of a configuration; the caller frees buffer->text whatever the result. */
static weir_status render(const weir_config *config, bool set_only, weir_conf_buffer *buffer)
{
  weir_conf_origin *origins = NULL;
  int64_t n_origins = 0;

  WEIR_TRY(sorted_origins(config, &origins, &n_origins));
  const printer p = {.buffer = buffer,
                     .config = config,
                     .origins = origins,
                     .n_origins = n_origins,
                     .lead = "",
                     .set_only = set_only};
  weir_conf_put(buffer, set_only ? "# configuration: options set by files and flags, with their "
                                   "origin; all others have their defaults (--all prints them)\n"
                                 : "# resolved configuration: each value with its origin\n");
  put_section(&p, (section){.table = config->table, .prefix = "", .base = config->out});
  weir_free(&origins);
  WEIR_TRY(buffer->status);
  return WEIR_OK;
}

weir_status weir_config_write(const weir_config *config, const char *path)
{
  weir_conf_buffer buffer = {.status = WEIR_OK};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(render(config, false, &buffer), done);
  WEIR_TRY_GOTO(write_text(path, &buffer), done);
done:
  weir_free(&buffer.text);
  return status;
}

static weir_status print(const weir_config *config, bool set_only, FILE *out)
{
  weir_conf_buffer buffer = {.status = WEIR_OK};

  buffer.status = render(config, set_only, &buffer);
  WEIR_TRY(weir_conf_flush(&buffer, out));
  return WEIR_OK;
}

weir_status weir_config_print(const weir_config *config, FILE *out)
{
  return print(config, false, out);
}

weir_status weir_cli_print_config(const weir_cli *cli, const weir_config *config, FILE *out)
{
  return print(config, !cli->all, out);
}

weir_status weir_opts_print_yaml(const weir_opt *opts, FILE *out)
{
  weir_conf_buffer buffer = {.status = WEIR_OK};
  const printer p = {.buffer = &buffer, .lead = ""};

  put_section(&p, (section){.table = opts, .prefix = ""});
  WEIR_TRY(weir_conf_flush(&buffer, out));
  return WEIR_OK;
}

weir_status weir_conf_flush(weir_conf_buffer *buffer, FILE *out)
{
  const weir_status status = buffer->status;
  const size_t size = (size_t)buffer->size;
  const bool written = status != WEIR_OK || size == 0 ||
                       (fwrite(buffer->text, 1, size, out) == size && fflush(out) == 0);

  weir_free(&buffer->text);
  if (!written) {
    return weir_output_failed("options", errno);
  }
  return status;
}
