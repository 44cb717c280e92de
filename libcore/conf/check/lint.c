/* lint.c - checks option tables themselves. Tests only. */
#include <string.h>
#include "base/weir_check.h"
#include "conf/conf_priv.h"

static bool is_number(weir_opt_kind kind)
{
  return kind == WEIR_OPT_KIND_INT || kind == WEIR_OPT_KIND_REAL ||
         kind == WEIR_OPT_KIND_INT_LIST || kind == WEIR_OPT_KIND_REAL_LIST;
}

/* The default must be accepted by the row itself. */
static bool default_loads(const weir_opt *row)
{
  union {
    int64_t integer;
    double real;
    bool flag;
    int choice;
    weir_struct_list list; /* the layout of every list */
    const char *text;
  } value;
  weir_opt one[2] = {*row, WEIR_OPT_END};
  weir_conf_buffer buffer = {.status = WEIR_OK};
  weir_config *config = NULL;

  one[0].offset = 0;
  weir_conf_put(&buffer, "%s=", row->key);
  weir_conf_put_value(&buffer, row, NULL);
  if (buffer.status != WEIR_OK) {
    weir_free(&buffer.text);
    return false;
  }
  const char *set = buffer.text;
  const bool loads =
      weir_config_load(one, sizeof value, NULL, 0, &set, 1, &value, &config) == WEIR_OK;
  weir_config_destroy(&config);
  weir_free(&buffer.text);
  return loads;
}

/* A former name that is a choice, or that stands for none. */
static bool has_wrong_alias(const weir_opt *row)
{
  char pair[WEIR_CONF_PATH_SIZE];

  for (int i = 0; weir_conf_choice_name(row->choice_aliases, i, pair, sizeof pair); i++) {
    char *equals = strchr(pair, '=');

    if (equals == NULL) {
      return true;
    }
    *equals = 0;
    if (row->kind != WEIR_OPT_KIND_ENUM || weir_conf_choice(row->choices, pair) >= 0 ||
        weir_conf_choice(row->choices, equals + 1) < 0) {
      return true;
    }
  }
  return false;
}

static bool is_incomplete(const weir_opt *table, const weir_opt *row)
{
  const bool nested = row->kind == WEIR_OPT_KIND_TABLE || row->kind == WEIR_OPT_KIND_LIST ||
                      row->kind == WEIR_OPT_KIND_ONE_OF;
  char component[WEIR_CONF_PATH_SIZE];
  bool last;

  if (row->help == NULL || row->help[0] == 0 || row->unit == NULL) {
    return true;
  }
  if (is_number(row->kind) && (row->unit[0] == 0 || !(row->lo <= row->hi))) {
    return true;
  }
  if ((row->kind == WEIR_OPT_KIND_STRING || row->kind == WEIR_OPT_KIND_PATH) && row->text == NULL) {
    return true;
  }
  if (row->kind == WEIR_OPT_KIND_INT && (row->number < -0x1p53 || row->number > 0x1p53)) {
    return true; /* the default is kept as a double */
  }
  if (row->choice_aliases != NULL && has_wrong_alias(row)) {
    return true;
  }
  for (const weir_opt *r = table; r != row; r++) {
    if (strcmp(r->key, row->key) == 0 ||
        weir_conf_component(r->key, row->key, component, 1, &last) ||
        weir_conf_component(row->key, r->key, component, 1, &last)) {
      return true; /* one key, or a value and a section, under one name */
    }
  }
  return !nested && !default_loads(row);
}

/* Entry i of the row; its name is written bare as a key and in --set. */
static bool is_wrong_entry(const weir_opt *row, int64_t i, const weir_opt_choice *entry)
{
  weir_opt_choice first;
  const size_t n = strlen(entry->name);

  return n == 0 || n >= 64 || strspn(entry->name, "abcdefghijklmnopqrstuvwxyz0123456789_") != n ||
         strcmp(entry->name, "null") == 0 || entry->help == NULL || entry->help[0] == 0 ||
         weir_conf_entry(row, entry->name, &first) != i ||
         (entry->table != NULL && entry->size == 0);
}

static int incomplete_entries(const weir_opt *row)
{
  weir_opt_choice entry;
  int count = 0;

  for (int64_t i = 0; row->list(i, &entry); i++) {
    count += is_wrong_entry(row, i, &entry);
    count += entry.table == NULL ? 0 : weir_opts_incomplete(entry.table);
  }
  return count;
}

int weir_opts_incomplete(const weir_opt *opts)
{
  int count = 0;

  for (const weir_opt *r = opts; r->kind != WEIR_OPT_KIND_END; r++) {
    count += is_incomplete(opts, r);
    if (r->kind == WEIR_OPT_KIND_TABLE || r->kind == WEIR_OPT_KIND_LIST) {
      count += weir_opts_incomplete(r->table);
    } else if (r->kind == WEIR_OPT_KIND_ONE_OF) {
      count += incomplete_entries(r);
    }
  }
  return count;
}
