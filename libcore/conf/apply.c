/* apply.c - applies a parsed text to the struct that a table describes. */
#include "base/weir_log.h"
#include "conf/conf_priv.h"
#include <string.h>

typedef struct context {
  weir_config *config;
  const weir_conf_tree *tree;
  int source;
  const weir_opt *section; /* innermost section around that has a former name, or NULL */
} context;

/* One level: a table, the part of its keys already passed, its struct, and the path from the root.
 */
typedef struct level {
  const weir_opt *table;
  const char *prefix;
  char *base;
  const char *path;
} level;

static weir_status apply_row(const context *p, const weir_opt *row, char *base, int64_t node,
                             const char *path);

/* A path that does not fit is cut: no key of a table is that long. */
static void join(const char *prefix, const char *name, char *out, size_t size)
{
  if (snprintf(out, size, "%s%s%s", prefix, prefix[0] == 0 ? "" : ".", name) >= (int)size) {
    out[size - 1] = 0;
  }
}

/* size 0: a member; else what lies in these bytes. */
static weir_status note_span(const context *p, const void *at, size_t size, int64_t node)
{
  weir_config *c = p->config;
  const weir_conf_node *n = &p->tree->nodes[node];

  WEIR_TRY(weir_reserve(&c->origins, &c->origins_capacity, c->n_origins + 1, sizeof *c->origins));
  c->origins[c->n_origins++] = (weir_conf_origin){
      .at = at, .size = size, .source = p->source, .line = n->line, .column = n->column};
  return WEIR_OK;
}

static weir_status note_origin(const context *p, const void *at, int64_t node)
{
  return note_span(p, at, 0, node);
}

/* A value given twice in one source, by its name and by a former name of its key or section. */
static weir_status check_alias(const context *p, const weir_opt *row, const void *at, int64_t node,
                               const char *path)
{
  const weir_conf_node *n = &p->tree->nodes[node];
  const bool aliased = row->alias != NULL || p->section != NULL;

  for (int64_t i = 0; aliased && i < p->config->n_origins; i++) {
    const weir_conf_origin *o = &p->config->origins[i];

    if (o->at == at && o->size == 0 && o->source == p->source) {
      return weir_conf_refuse(p->tree, n->line, n->column, path,
                              "given twice, as %s and under its former name %s",
                              row->alias != NULL ? row->key : p->section->key,
                              row->alias != NULL ? row->alias : p->section->alias);
    }
  }
  return WEIR_OK;
}

static weir_status unknown_key(const context *p, const level *l, int64_t key, const char *path)
{
  const weir_conf_node *n = &p->tree->nodes[key];
  char hint[256];

  weir_conf_suggest(l->table, l->prefix, weir_conf_text(p->tree, key), hint, sizeof hint);
  return weir_conf_refuse(p->tree, n->line, n->column, path, "unknown key%s", hint);
}

static weir_status check_duplicate(const context *p, int64_t mapping, int64_t child,
                                   const char *path)
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

static weir_status apply_mapping(const context *p, const level *l, int64_t node)
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
      weir_warn("conf", "%s: the key %s was renamed to %s", t->source, path, row->key);
    }
    WEIR_TRY(apply_row(p, row, l->base, c, path));
  }
  return WEIR_OK;
}

static weir_status expect_sequence(const context *p, const weir_opt *row, int64_t node,
                                   const char *path)
{
  const weir_conf_node *n = &p->tree->nodes[node];

  if (n->kind != WEIR_CONF_SEQUENCE) {
    return weir_conf_refuse(p->tree, n->line, n->column, path, "expected a %s such as [a, b]",
                            weir_conf_kind_name(row->kind));
  }
  return WEIR_OK;
}

static weir_status apply_list(const context *p, const weir_opt *row, void *at, int64_t node,
                              const char *path);

/* `key: {file: PATH}`: the numbers that stand there. */
static weir_status apply_list_file(const context *p, const weir_opt *row, void *at, int64_t node,
                                   const char *path)
{
  const weir_conf_tree *t = p->tree;
  const weir_conf_node *n = &t->nodes[node];
  context inside = {.config = p->config};
  weir_status status = WEIR_OK;
  weir_conf_tree tree;
  char reason[512];

  if (n->count != 1 || strcmp(weir_conf_text(t, t->nodes[n->first].key), "file") != 0 ||
      t->nodes[n->first].kind != WEIR_CONF_SCALAR) {
    return weir_conf_refuse(t, n->line, n->column, path,
                            "expected a %s such as [a, b], or {file: PATH}",
                            weir_conf_kind_name(row->kind));
  }
  WEIR_TRY(weir_conf_add_source(p->config, weir_conf_text(t, n->first), &inside.source));
  weir_conf_tree_init(&tree, p->config->sources[inside.source]);
  status = weir_conf_parse_list_file(tree.source, &tree);
  if (status == WEIR_ERR_DATA) { /* as a configuration that is missing */
    (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
    status = weir_conf_refuse(t, n->line, n->column, path, "list of numbers: %s", reason);
  }
  WEIR_TRY_GOTO(status, done);
  inside.tree = &tree;
  WEIR_TRY_GOTO(apply_list(&inside, row, at, 0, path), done);
done:
  weir_conf_tree_fini(&tree);
  return status;
}

/* Lists of numbers and texts have one layout: items, then count. */
static weir_status apply_list(const context *p, const weir_opt *row, void *at, int64_t node,
                              const char *path)
{
  const size_t size = row->kind == WEIR_OPT_KIND_INT_LIST    ? sizeof(int64_t)
                      : row->kind == WEIR_OPT_KIND_REAL_LIST ? sizeof(double)
                                                             : sizeof(const char *);
  const weir_conf_tree *t = p->tree;
  void *items = NULL;
  int64_t i = 0;

  if (t->nodes[node].kind == WEIR_CONF_MAPPING && row->kind != WEIR_OPT_KIND_STRING_LIST) {
    return apply_list_file(p, row, at, node, path);
  }
  WEIR_TRY(expect_sequence(p, row, node, path));
  WEIR_TRY(weir_conf_own(p->config, t->nodes[node].count, size, &items));
  for (int64_t c = t->nodes[node].first; c >= 0; c = t->nodes[c].next) {
    char item_path[WEIR_CONF_PATH_SIZE];
    const weir_conf_target target = {
        .row = row, .at = (char *)items + (size_t)i * size, .path = item_path};

    (void)snprintf(item_path, sizeof item_path, "%s[%lld]", path, (long long)i);
    WEIR_TRY(weir_conf_read_scalar(p->config, t, c, &target));
    WEIR_TRY(note_span(p, target.at, size, c));
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

static weir_status apply_structs(const context *p, const weir_opt *row, void *at, int64_t node,
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
    WEIR_TRY(note_span(p, item.base, row->size, c));
    WEIR_TRY(apply_mapping(p, &item, c));
    i++;
  }
  *(weir_struct_list *)at = (weir_struct_list){.items = items, .count = i};
  return WEIR_OK;
}

/* The options of an entry, the key of which stands at `path`. */
static weir_status apply_options(const context *p, const weir_opt_choice *entry, void *opts,
                                 int64_t node, const char *path)
{
  const weir_conf_node *n = &p->tree->nodes[node];
  const level below = {.table = entry->table, .prefix = "", .base = opts, .path = path};

  if (entry->table != NULL) {
    return apply_mapping(p, &below, node);
  }
  if (is_empty(p->tree, node) || (n->kind == WEIR_CONF_MAPPING && n->count == 0)) {
    return WEIR_OK;
  }
  return weir_conf_refuse(p->tree, n->line, n->column, path, "takes no options");
}

/* `key: {entry: {...}}`, `key: entry` or `key: {}`. */
static weir_status apply_one_of(const context *p, const weir_opt *row, weir_one_of *at,
                                int64_t node, const char *path)
{
  const weir_conf_tree *t = p->tree;
  const weir_conf_node *n = &t->nodes[node];
  const bool mapping = n->kind == WEIR_CONF_MAPPING;
  char hint[640], shown[WEIR_CONF_SHOW_SIZE], below[WEIR_CONF_PATH_SIZE];
  void *opts = NULL;

  if (mapping && n->count == 0) {
    *at = (weir_one_of){.name = NULL};
    return WEIR_OK;
  }
  if (n->kind == WEIR_CONF_SEQUENCE || (mapping && n->count > 1)) {
    return weir_conf_refuse(t, n->line, n->column, path,
                            "expected one name, or one name with its options, found %s",
                            mapping ? "several" : "a list");
  }
  if (!mapping && weir_conf_is_absent(t, node)) {
    return weir_conf_refuse(t, n->line, n->column, path,
                            "has no value (the empty choice is written {})");
  }
  const int64_t key = mapping ? t->nodes[n->first].key : node;
  weir_opt_choice entry;
  weir_conf_show(weir_conf_text(t, key), shown, sizeof shown);
  if (weir_conf_entry(row, weir_conf_text(t, key), &entry) < 0) {
    weir_conf_entry_hint(row, weir_conf_text(t, key), hint, sizeof hint);
    return weir_conf_refuse(t, t->nodes[key].line, t->nodes[key].column, path, "%s is unknown%s",
                            shown, hint);
  }
  if (entry.table != NULL) {
    WEIR_TRY(weir_conf_own(p->config, 1, entry.size, &opts));
    WEIR_TRY(weir_conf_defaults(p->config, entry.table, opts));
    WEIR_TRY(note_span(p, opts, entry.size, key));
  }
  join(path, entry.name, below, sizeof below);
  if (mapping) {
    WEIR_TRY(apply_options(p, &entry, opts, n->first, below));
  }
  *at = (weir_one_of){.name = entry.name, .opts = opts};
  return WEIR_OK;
}

static weir_status apply_row(const context *p, const weir_opt *row, char *base, int64_t node,
                             const char *path)
{
  void *at = base + row->offset;
  const weir_conf_target target = {.row = row, .at = at, .path = path};
  const level below = {.table = row->table, .prefix = "", .base = at, .path = path};

  if (row->kind == WEIR_OPT_KIND_TABLE) {
    context inside = *p;

    inside.section = row->alias != NULL ? row : p->section;
    return apply_mapping(&inside, &below, node);
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
  case WEIR_OPT_KIND_ONE_OF:
    WEIR_TRY(apply_one_of(p, row, at, node, path));
    break;
  default:
    WEIR_TRY(weir_conf_read_scalar(p->config, p->tree, node, &target));
    break;
  }
  return note_origin(p, at, node);
}

weir_status weir_conf_apply(weir_config *config, int source, const weir_conf_tree *tree)
{
  const context p = {.config = config, .tree = tree, .source = source};
  const level root = {.table = config->table, .prefix = "", .base = config->out, .path = ""};

  if (tree->n_nodes == 0) {
    return WEIR_OK;
  }
  return apply_mapping(&p, &root, 0);
}

/* "steps[2].lr": the entry that *rest (at '[') names; *rest then stands after "]" or "].". */
static weir_status pick_entry(const context *p, const weir_opt *row, char **base, const char **rest)
{
  const weir_struct_list *list = (const void *)(*base + row->offset);
  const char *digits = *rest + 1, *q = digits;
  int64_t index = 0;

  while (*q >= '0' && *q <= '9' && index < list->count) {
    index = 10 * index + (*q++ - '0');
  }
  if (q == digits || index >= list->count) {
    return weir_conf_refuse(p->tree, 0, 0, row->key,
                            "there is no such entry: the list has %lld, numbered from [0]",
                            (long long)list->count);
  }
  if (q[0] != ']' || q[1] != '.') {
    return weir_conf_refuse(p->tree, 0, 0, row->key, "write the key of an entry, as in %s[0].key",
                            row->key);
  }
  *base = (char *)list->items + (size_t)index * row->size;
  *rest = q + 2;
  return WEIR_OK;
}

/* "do.fill.window": the options of the chosen entry, which *rest (at '.') must name; *rest then
 * stands after it, at the end or after the next '.'. */
static weir_status pick_chosen(const context *p, const weir_opt *row, char **base,
                               const char **rest, weir_opt_choice *entry)
{
  const weir_one_of *one = (const void *)(*base + row->offset);
  const char *name = *rest + 1;
  const size_t n = strcspn(name, ".");
  char shown[WEIR_CONF_SHOW_SIZE];

  if (one->name == NULL || strncmp(one->name, name, n) != 0 || one->name[n] != 0) {
    weir_conf_show(name, shown, sizeof shown);
    if (one->name == NULL) {
      return weir_conf_refuse(p->tree, 0, 0, row->key,
                              "is not set: choose an entry before its options, %s={name: {option: "
                              "value}}, not %s",
                              row->key, shown);
    }
    return weir_conf_refuse(
        p->tree, 0, 0, row->key,
        "%s is chosen, not %s: to choose another, write %s={name: {option: value}}", one->name,
        shown, row->key);
  }
  (void)weir_conf_entry(row, one->name, entry);
  if (name[n] != 0 && entry->table == NULL) {
    return weir_conf_refuse(p->tree, 0, 0, row->key, "%s takes no options", one->name);
  }
  *base = one->opts;
  *rest = name + n + (name[n] != 0);
  return WEIR_OK;
}

/* The section, list or choice that *key begins with, by its name or a former one; *key then stands
 * after this name. NULL when there is none. */
static const weir_opt *section_of(const weir_opt *table, const char **key)
{
  for (const weir_opt *r = table; r->kind != WEIR_OPT_KIND_END; r++) {
    const bool dotted = r->kind == WEIR_OPT_KIND_TABLE || r->kind == WEIR_OPT_KIND_ONE_OF;
    const char wanted = dotted ? '.' : r->kind == WEIR_OPT_KIND_LIST ? '[' : 0;
    const char *const names[] = {r->key, r->alias};

    for (int i = 0; wanted != 0 && i < 2 && names[i] != NULL; i++) {
      const size_t n = strlen(names[i]);

      if (strncmp(names[i], *key, n) == 0 && (*key)[n] == wanted) {
        if (i == 1) {
          weir_warn("conf", "--set: the key %s was renamed to %s", names[1], names[0]);
        }
        *key += n;
        return r;
      }
    }
  }
  return NULL;
}

static weir_status unknown_set(const context *p, const weir_opt *table, const char *rest,
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
                              "unknown key: %s is a single value (%s) without keys of its own",
                              name, weir_conf_kind_name(row->kind));
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
  const context p = {.config = config, .tree = tree, .source = source};
  const weir_opt *table = config->table;
  char *base = config->out;
  const char *rest = key;

  for (;;) {
    const weir_opt *row;
    bool by_alias;
    const weir_conf_match match = weir_conf_find(table, rest, &row, &by_alias);

    if (match == WEIR_CONF_ROW) {
      if (by_alias) {
        weir_warn("conf", "--set: the key %s was renamed to %s", key, row->key);
      }
      return apply_row(&p, row, base, 0, key);
    }
    if (match == WEIR_CONF_PREFIX) {
      const level below = {.table = table, .prefix = rest, .base = base, .path = key};

      return apply_mapping(&p, &below, 0);
    }
    row = section_of(table, &rest);
    if (row == NULL) {
      return unknown_set(&p, table, rest, key);
    }
    if (row->kind == WEIR_OPT_KIND_ONE_OF) {
      weir_opt_choice entry = {.name = NULL};

      WEIR_TRY(pick_chosen(&p, row, &base, &rest, &entry));
      if (rest[0] == 0 && rest[-1] != '.') {
        return apply_options(&p, &entry, base, 0, key);
      }
      table = entry.table;
      continue;
    }
    if (row->kind == WEIR_OPT_KIND_TABLE) {
      base += row->offset;
      rest++;
    } else {
      WEIR_TRY(pick_entry(&p, row, &base, &rest));
    }
    table = row->table;
  }
}
