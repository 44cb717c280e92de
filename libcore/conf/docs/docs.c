/* docs.c - the reference page and the help text of an option table. */
#include "conf/conf_priv.h"
#include <string.h>

static void walk(weir_conf_buffer *buffer, const weir_opt *table, const char *prefix,
                 weir_conf_visit *each);

/* The entries of a ONE_OF row as sections of it. */
static void walk_entries(weir_conf_buffer *buffer, const weir_opt *row, const char *path,
                         weir_conf_visit *each)
{
  weir_opt_choice entry;

  for (int64_t i = 0; row->list(i, &entry); i++) {
    const weir_opt section = {
        .kind = WEIR_OPT_KIND_TABLE, .key = entry.name, .unit = "", .help = entry.help};
    char name[2 * WEIR_CONF_PATH_SIZE], below[2 * WEIR_CONF_PATH_SIZE + 1];

    (void)snprintf(name, sizeof name, "%s.%s", path, entry.name);
    each(buffer, &section, name);
    if (entry.table != NULL) {
      (void)snprintf(below, sizeof below, "%s.", name);
      walk(buffer, entry.table, below, each);
    }
  }
}

static void walk(weir_conf_buffer *buffer, const weir_opt *table, const char *prefix,
                 weir_conf_visit *each)
{
  for (const weir_opt *r = table; r->kind != WEIR_OPT_KIND_END; r++) {
    char path[WEIR_CONF_PATH_SIZE];

    (void)snprintf(path, sizeof path, "%s%s", prefix, r->key);
    each(buffer, r, path);
    if (r->kind == WEIR_OPT_KIND_TABLE || r->kind == WEIR_OPT_KIND_LIST) {
      (void)snprintf(path, sizeof path, "%s%s%s", prefix, r->key,
                     r->kind == WEIR_OPT_KIND_TABLE ? "." : "[].");
      walk(buffer, r->table, path, each);
    } else if (r->kind == WEIR_OPT_KIND_ONE_OF) {
      walk_entries(buffer, r, path, each);
    }
  }
}

void weir_conf_walk(weir_conf_buffer *buffer, const weir_opt *table, weir_conf_visit *visit)
{
  walk(buffer, table, "", visit);
}

/* One line of text: a bar would end the cell. */
static void put_cell(weir_conf_buffer *buffer, const char *text)
{
  const char *p = text == NULL ? "" : text;

  while (*p != 0) {
    const size_t n = strcspn(p, "|\n");

    weir_conf_put(buffer, "%.*s", (int)n, p);
    p += n;
    if (*p != 0) {
      weir_conf_put(buffer, "%s", *p == '|' ? "\\|" : " ");
      p++;
    }
  }
}

static void put_markdown_row(weir_conf_buffer *buffer, const weir_opt *row, const char *path)
{
  char range[320];

  weir_conf_range_text(row, range, sizeof range);
  weir_conf_put(buffer, "| `%s` | %s | ", path, weir_conf_kind_name(row->kind));
  if (row->kind != WEIR_OPT_KIND_TABLE) {
    weir_conf_buffer value = {.status = buffer->status};

    weir_conf_put_value(&value, row, NULL);
    if (value.status == WEIR_OK) {
      weir_conf_put(buffer, "`");
      put_cell(buffer, value.text);
      weir_conf_put(buffer, "`");
    } else {
      buffer->status = value.status;
    }
    weir_free(&value.text);
  }
  weir_conf_put(buffer, " | ");
  put_cell(buffer, range);
  weir_conf_put(buffer, " | ");
  put_cell(buffer, row->unit);
  weir_conf_put(buffer, " | ");
  put_cell(buffer, row->help);
  if (row->alias != NULL) {
    weir_conf_put(buffer, " (formerly `%s`)", row->alias);
  }
  for (int i = 0; row->choice_aliases != NULL; i++) {
    if (!weir_conf_choice_name(row->choice_aliases, i, range, sizeof range)) {
      break;
    }
    const int n = (int)strcspn(range, "=");

    weir_conf_put(buffer, " (`%s` was formerly `%.*s`)", range + n + 1, n, range);
  }
  weir_conf_put(buffer, " |\n");
}

weir_status weir_opts_print_markdown(const weir_opt *opts, const char *title, FILE *out)
{
  weir_conf_buffer buffer = {.status = WEIR_OK};

  weir_conf_put(&buffer,
                "# %s\n\n| key | kind | default | range or choices | unit | meaning |\n"
                "| --- | --- | --- | --- | --- | --- |\n",
                title);
  walk(&buffer, opts, "", put_markdown_row);
  WEIR_TRY(weir_conf_flush(&buffer, out));
  return WEIR_OK;
}

/* Words of `text` in lines of at most 92 characters after eight blanks. */
static void put_wrapped(weir_conf_buffer *buffer, const char *text)
{
  const char *p = text;
  size_t used = 0;

  while (*p != 0) {
    const size_t n = strcspn(p, " \n");

    if (used > 0 && used + n + 1 > 84) {
      weir_conf_put(buffer, "\n");
      used = 0;
    }
    weir_conf_put(buffer, "%s%.*s", used == 0 ? "        " : " ", (int)n, p);
    used += n + (used > 0);
    p += n;
    p += strspn(p, " \n");
  }
  weir_conf_put(buffer, "\n");
}

static void put_help_row(weir_conf_buffer *buffer, const weir_opt *row, const char *path)
{
  const bool plain_unit = row->unit == NULL || row->unit[0] == 0 || strcmp(row->unit, "1") == 0;
  char range[320];

  weir_conf_range_text(row, range, sizeof range);
  weir_conf_put(buffer, "  %s", path);
  if (row->kind != WEIR_OPT_KIND_TABLE) {
    weir_conf_put(buffer, "=");
    weir_conf_put_value(buffer, row, NULL);
  }
  weir_conf_put(buffer, "  (%s%s%s%s%s)\n", weir_conf_kind_name(row->kind),
                range[0] == 0 ? "" : " ", range, plain_unit ? "" : " ",
                plain_unit ? "" : row->unit);
  put_wrapped(buffer, row->help == NULL ? "" : row->help);
}

weir_status weir_opts_print_help(const weir_opt *opts, FILE *out)
{
  weir_conf_buffer buffer = {.status = WEIR_OK};

  walk(&buffer, opts, "", put_help_row);
  WEIR_TRY(weir_conf_flush(&buffer, out));
  return WEIR_OK;
}
