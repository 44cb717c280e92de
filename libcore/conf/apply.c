/* apply.c - what a parsed text says, into the struct that a table describes. */
#include "base/weir_log.h"
#include "conf/conf_priv.h"
#include <string.h>

typedef struct place {
  weir_config *config;
  const weir_conf_tree *tree;
  int source;
} place;

/* One level: a table, the part of its keys already passed, its struct, and the path from the root.
 */
typedef struct level {
  const weir_opt *table;
  const char *prefix;
  char *base;
  const char *path;
} level;

static weir_status apply_row(const place *p, const weir_opt *row, char *base, int64_t node,
                             const char *path);

/* A path that does not fit is cut: no key of a table is that long. */
static void join(const char *prefix, const char *name, char *out, size_t size)
{
  if (snprintf(out, size, "%s%s%s", prefix, prefix[0] == 0 ? "" : ".", name) >= (int)size) {
    out[size - 1] = 0;
  }
}

static weir_status note_origin(const place *p, const void *at, int64_t node)
{
  weir_config *c = p->config;
  const weir_conf_node *n = &p->tree->nodes[node];

  WEIR_TRY(weir_reserve(&c->origins, &c->origins_capacity, c->n_origins + 1, sizeof *c->origins));
  c->origins[c->n_origins++] =
      (weir_conf_origin){.at = at, .source = p->source, .line = n->line, .column = n->column};
  return WEIR_OK;
}

/* A key under two names (its alias too) in one source. */
static weir_status check_alias(const place *p, const weir_opt *row, const void *at, int64_t node,
                               const char *path)
{
  const weir_conf_node *n = &p->tree->nodes[node];

  for (int64_t i = 0; row->alias != NULL && i < p->config->n_origins; i++) {
    if (p->config->origins[i].at == at && p->config->origins[i].source == p->source) {
      return weir_conf_refuse(p->tree, n->line, n->column, path,
                              "given twice, as %s and under its former name %s", row->key,
                              row->alias);
    }
  }
  return WEIR_OK;
}

static weir_status unknown_key(const place *p, const level *l, int64_t key, const char *path)
{
  const weir_conf_node *n = &p->tree->nodes[key];
  char hint[256];

  weir_conf_suggest(l->table, l->prefix, weir_conf_text(p->tree, key), hint, sizeof hint);
  return weir_conf_refuse(p->tree, n->line, n->column, path, "unknown key%s", hint);
}

static weir_status check_duplicate(const place *p, int64_t mapping, int64_t child, const char *path)
{
  const weir_conf_tree *t = p->tree;
  const int64_t key = t->nodes[child].key;
  const char *name = weir_conf_text(t, key);

  for (int64_t c = t->nodes[mapping].first; c != child; c = t->nodes[c].next) {
    const int64_t other = t->nodes[c].key;

    if (strcmp(weir_conf_text(t, other), name) == 0) {
      char first[40] = "";

      if (t->nodes[other].line > 0) {
        (void)snprintf(first, sizeof first, ", first given in line %d", t->nodes[other].line);
      }
      return weir_conf_refuse(t, t->nodes[key].line, t->nodes[key].column, path, "duplicate key%s",
                              first);
    }
  }
  return WEIR_OK;
}

static bool is_empty(const weir_conf_tree *tree, int64_t node)
{
  return tree->nodes[node].kind == WEIR_CONF_SCALAR && tree->nodes[node].plain &&
         weir_conf_text(tree, node)[0] == 0;
}

static weir_status apply_mapping(const place *p, const level *l, int64_t node)
{
  const weir_conf_tree *t = p->tree;
  const weir_conf_node *n = &t->nodes[node];

  if (is_empty(t, node)) { /* "section:" with nothing below it changes nothing */
    return WEIR_OK;
  }
  if (n->kind != WEIR_CONF_MAPPING) {
    return weir_conf_refuse(t, n->line, n->column, l->path, "expected keys and values, found a %s",
                            n->kind == WEIR_CONF_SEQUENCE ? "list" : "single value");
  }
  for (int64_t c = n->first; c >= 0; c = t->nodes[c].next) {
    char name[WEIR_CONF_SHOW_SIZE], inner[WEIR_CONF_PATH_SIZE], path[WEIR_CONF_PATH_SIZE];
    const int64_t key = t->nodes[c].key;
    const weir_opt *row = NULL;
    bool by_alias = false;

    weir_conf_show(weir_conf_text(t, key), name, sizeof name);
    join(l->prefix, name, inner, sizeof inner);
    join(l->path, name, path, sizeof path);
    const bool dotted = strchr(name, '.') != NULL;
    const weir_conf_match match =
        dotted ? WEIR_CONF_UNKNOWN : weir_conf_find(l->table, inner, &row, &by_alias);
    if (match == WEIR_CONF_UNKNOWN) {
      return unknown_key(p, l, key, path);
    }
    WEIR_TRY(check_duplicate(p, node, c, path));
    if (match == WEIR_CONF_PREFIX) {
      const level below = {.table = l->table, .prefix = inner, .base = l->base, .path = path};

      WEIR_TRY(apply_mapping(p, &below, c));
      continue;
    }
    if (by_alias) {
      weir_warn("conf", "%s: the key %s is now called %s", t->source, path, row->key);
    }
    WEIR_TRY(apply_row(p, row, l->base, c, path));
  }
  return WEIR_OK;
}

static weir_status expect_sequence(const place *p, const weir_opt *row, int64_t node,
                                   const char *path)
{
  const weir_conf_node *n = &p->tree->nodes[node];

  if (n->kind != WEIR_CONF_SEQUENCE) {
    return weir_conf_refuse(p->tree, n->line, n->column, path, "expected a %s such as [a, b]",
                            weir_conf_kind_name(row->kind));
  }
  return WEIR_OK;
}

/* Lists of numbers and texts have one layout: items, then count. */
static weir_status apply_list(const place *p, const weir_opt *row, void *at, int64_t node,
                              const char *path)
{
  const size_t size = row->kind == WEIR_OPT_KIND_INT_LIST    ? sizeof(int64_t)
                      : row->kind == WEIR_OPT_KIND_REAL_LIST ? sizeof(double)
                                                             : sizeof(const char *);
  const weir_conf_tree *t = p->tree;
  void *items = NULL;
  int64_t i = 0;

  WEIR_TRY(expect_sequence(p, row, node, path));
  WEIR_TRY(weir_conf_own(p->config, t->nodes[node].count, size, &items));
  for (int64_t c = t->nodes[node].first; c >= 0; c = t->nodes[c].next) {
    char item_path[WEIR_CONF_PATH_SIZE];
    const weir_conf_target target = {
        .row = row, .at = (char *)items + (size_t)i * size, .path = item_path};

    (void)snprintf(item_path, sizeof item_path, "%s[%lld]", path, (long long)i);
    WEIR_TRY(weir_conf_read_scalar(p->config, t, c, &target));
    i++;
  }
  if (row->kind == WEIR_OPT_KIND_INT_LIST) {
    *(weir_int_list *)at = (weir_int_list){.items = items, .count = i};
  } else if (row->kind == WEIR_OPT_KIND_REAL_LIST) {
    *(weir_real_list *)at = (weir_real_list){.items = items, .count = i};
  } else {
    *(weir_string_list *)at = (weir_string_list){.items = items, .count = i};
  }
  return WEIR_OK;
}

static weir_status apply_structs(const place *p, const weir_opt *row, void *at, int64_t node,
                                 const char *path)
{
  const weir_conf_tree *t = p->tree;
  const weir_conf_node *n = &t->nodes[node];
  void *items = NULL;
  int64_t i = 0;

  WEIR_TRY(expect_sequence(p, row, node, path));
  if ((double)n->count > row->hi) {
    return weir_conf_refuse(t, n->line, n->column, path, "%lld entries, at most %.0f are allowed",
                            (long long)n->count, row->hi);
  }
  WEIR_TRY(weir_conf_own(p->config, n->count, row->size, &items));
  for (int64_t c = n->first; c >= 0; c = t->nodes[c].next) {
    char item_path[WEIR_CONF_PATH_SIZE];
    const level item = {.table = row->table,
                        .prefix = "",
                        .base = (char *)items + (size_t)i * row->size,
                        .path = item_path};

    (void)snprintf(item_path, sizeof item_path, "%s[%lld]", path, (long long)i);
    WEIR_TRY(weir_conf_defaults(p->config, row->table, item.base));
    WEIR_TRY(apply_mapping(p, &item, c));
    i++;
  }
  *(weir_struct_list *)at = (weir_struct_list){.items = items, .count = i};
  return WEIR_OK;
}

static weir_status apply_row(const place *p, const weir_opt *row, char *base, int64_t node,
                             const char *path)
{
  void *at = base + row->offset;
  const weir_conf_target target = {.row = row, .at = at, .path = path};
  const level below = {.table = row->table, .prefix = "", .base = at, .path = path};

  if (row->kind == WEIR_OPT_KIND_TABLE) {
    return apply_mapping(p, &below, node);
  }
  WEIR_TRY(check_alias(p, row, at, node, path));
  switch (row->kind) {
  case WEIR_OPT_KIND_INT_LIST:
  case WEIR_OPT_KIND_REAL_LIST:
  case WEIR_OPT_KIND_STRING_LIST:
    WEIR_TRY(apply_list(p, row, at, node, path));
    break;
  case WEIR_OPT_KIND_LIST:
    WEIR_TRY(apply_structs(p, row, at, node, path));
    break;
  default:
    WEIR_TRY(weir_conf_read_scalar(p->config, p->tree, node, &target));
    break;
  }
  return note_origin(p, at, node);
}

weir_status weir_conf_apply(weir_config *config, int source, const weir_conf_tree *tree)
{
  const place p = {.config = config, .tree = tree, .source = source};
  const level root = {.table = config->table, .prefix = "", .base = config->out, .path = ""};

  if (tree->n_nodes == 0) {
    return WEIR_OK;
  }
  return apply_mapping(&p, &root, 0);
}

/* "steps[2].lr": the entry that *rest (at '[') names; *rest then stands after "]" or "].". */
static weir_status pick_entry(const place *p, const weir_opt *row, char **base, const char **rest)
{
  const weir_struct_list *list = (const void *)(*base + row->offset);
  const char *digits = *rest + 1, *q = digits;
  int64_t index = 0;

  while (*q >= '0' && *q <= '9' && index < list->count) {
    index = 10 * index + (*q++ - '0');
  }
  if (q == digits || index >= list->count) {
    return weir_conf_refuse(p->tree, 0, 0, row->key, "no such entry: there are %lld, from [0]",
                            (long long)list->count);
  }
  if (q[0] != ']' || q[1] != '.') {
    return weir_conf_refuse(p->tree, 0, 0, row->key, "write an entry's key as %s[0].key", row->key);
  }
  *base = (char *)list->items + (size_t)index * row->size;
  *rest = q + 2;
  return WEIR_OK;
}

/* The section or entry that `key` begins with, NULL when there is none. */
static const weir_opt *section_of(const weir_opt *table, const char *key)
{
  for (const weir_opt *r = table; r->kind != WEIR_OPT_KIND_END; r++) {
    const size_t n = strlen(r->key);
    const char wanted = r->kind == WEIR_OPT_KIND_TABLE  ? '.'
                        : r->kind == WEIR_OPT_KIND_LIST ? '['
                                                        : 0;

    if (wanted != 0 && strncmp(r->key, key, n) == 0 && key[n] == wanted) {
      return r;
    }
  }
  return NULL;
}

static weir_status unknown_set(const place *p, const weir_opt *table, const char *rest,
                               const char *key)
{
  char prefix[WEIR_CONF_PATH_SIZE] = "", name[WEIR_CONF_PATH_SIZE], longer[WEIR_CONF_PATH_SIZE];
  char hint[256], shown[WEIR_CONF_SHOW_SIZE];
  const weir_opt *row;
  bool last = false, by_alias;

  /* Advance over the components that exist; the first that does not is the one to correct. */
  while (weir_conf_component(rest, prefix, name, sizeof name, &last) && !last) {
    join(prefix, name, longer, sizeof longer);
    const weir_conf_match match = weir_conf_find(table, longer, &row, &by_alias);
    if (match == WEIR_CONF_ROW) {
      return weir_conf_refuse(p->tree, 0, 0, weir_conf_show(key, shown, sizeof shown),
                              "unknown key: %s is one value (%s), nothing lies below it", name,
                              weir_conf_kind_name(row->kind));
    }
    if (match == WEIR_CONF_UNKNOWN) {
      break;
    }
    memcpy(prefix, longer, sizeof prefix);
  }
  weir_conf_suggest(table, prefix, name, hint, sizeof hint);
  return weir_conf_refuse(p->tree, 0, 0, weir_conf_show(key, shown, sizeof shown), "unknown key%s",
                          hint);
}

weir_status weir_conf_apply_set(weir_config *config, int source, const char *key,
                                const weir_conf_tree *tree)
{
  const place p = {.config = config, .tree = tree, .source = source};
  const weir_opt *table = config->table;
  char *base = config->out;
  const char *rest = key;

  for (;;) {
    const weir_opt *row;
    bool by_alias;
    const weir_conf_match match = weir_conf_find(table, rest, &row, &by_alias);

    if (match == WEIR_CONF_ROW) {
      if (by_alias) {
        weir_warn("conf", "--set: the key %s is now called %s", key, row->key);
      }
      return apply_row(&p, row, base, 0, key);
    }
    if (match == WEIR_CONF_PREFIX) {
      const level below = {.table = table, .prefix = rest, .base = base, .path = key};

      return apply_mapping(&p, &below, 0);
    }
    row = section_of(table, rest);
    if (row == NULL) {
      return unknown_set(&p, table, rest, key);
    }
    rest += strlen(row->key);
    if (row->kind == WEIR_OPT_KIND_TABLE) {
      base += row->offset;
      rest++;
    } else {
      WEIR_TRY(pick_entry(&p, row, &base, &rest));
    }
    table = row->table;
  }
}
