/* texts.c - every text of a loaded configuration, whatever its key, and the files that they name.
 */
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include "conf/conf_priv.h"

typedef struct walk {
  weir_status (*visit)(void *context, const char *text);
  void *context;
} walk;

static weir_status walk_table(const walk *w, const weir_opt *table, const char *base);

static weir_status walk_text(const walk *w, const char *text)
{
  return text == NULL || text[0] == 0 ? WEIR_OK : w->visit(w->context, text);
}

static weir_status walk_strings(const walk *w, const weir_string_list *list)
{
  for (int64_t i = 0; i < list->count; i++) {
    WEIR_TRY(walk_text(w, list->items[i]));
  }
  return WEIR_OK;
}

static weir_status walk_structs(const walk *w, const weir_opt *row, const weir_struct_list *list)
{
  for (int64_t i = 0; i < list->count; i++) {
    WEIR_TRY(walk_table(w, row->table, (const char *)list->items + (size_t)i * row->size));
  }
  return WEIR_OK;
}

static weir_status walk_choice(const walk *w, const weir_opt *row, const weir_one_of *one)
{
  weir_opt_choice entry = {.name = NULL};
  const bool has = one->name != NULL && one->opts != NULL &&
                   weir_conf_entry(row, one->name, &entry) >= 0 && entry.table != NULL;

  return has ? walk_table(w, entry.table, one->opts) : WEIR_OK;
}

static weir_status walk_table(const walk *w, const weir_opt *table, const char *base)
{
  for (const weir_opt *row = table; row->kind != WEIR_OPT_KIND_END; row++) {
    const void *const at = base + row->offset;
    weir_status status = WEIR_OK;

    switch (row->kind) {
    case WEIR_OPT_KIND_STRING:
    case WEIR_OPT_KIND_PATH:
      status = walk_text(w, *(const char *const *)at);
      break;
    case WEIR_OPT_KIND_STRING_LIST:
      status = walk_strings(w, at);
      break;
    case WEIR_OPT_KIND_TABLE:
      status = walk_table(w, row->table, at);
      break;
    case WEIR_OPT_KIND_LIST:
      status = walk_structs(w, row, at);
      break;
    case WEIR_OPT_KIND_ONE_OF:
      status = walk_choice(w, row, at);
      break;
    default:
      break;
    }
    WEIR_TRY(status);
  }
  return WEIR_OK;
}

weir_status weir_conf_texts(const weir_config *config,
                            weir_status (*visit)(void *context, const char *text), void *context)
{
  return walk_table(&(walk){visit, context}, config->table, config->out);
}

static weir_status visit_files(void *context, const char *text)
{
  static const char *const suffixes[] = {"",           ".hea",         "_hr.dat", "_tb.dat",
                                         "_wsvec.dat", "_centres.xyz", ".win"};
  const walk *const w = context;

  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
    char path[PATH_MAX];
    struct stat info;

    if (snprintf(path, sizeof path, "%s%s", text, suffixes[i]) < (int)sizeof path &&
        stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
      WEIR_TRY(w->visit(w->context, path));
    }
  }
  return WEIR_OK;
}

weir_status weir_config_files(const weir_config *config,
                              weir_status (*visit)(void *context, const char *path), void *context)
{
  return weir_conf_texts(config, visit_files, &(walk){visit, context});
}
