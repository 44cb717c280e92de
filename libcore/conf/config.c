/* config.c - a loaded configuration: defaults, files, --set, and their memory. */
#include "base/weir_file.h"
#include "conf/conf_priv.h"
#include <string.h>

weir_status weir_conf_own(weir_config *config, int64_t count, size_t size, void **out)
{
  WEIR_TRY(weir_reserve(&config->owned, &config->owned_capacity, config->n_owned + 1,
                        sizeof *config->owned));
  WEIR_TRY(weir_alloc(count, size, out));
  config->owned[config->n_owned++] = *out;
  return WEIR_OK;
}

static void set_default(const weir_opt *row, void *at)
{
  /* A real number may be outside the range of the others. */
  const int64_t integer = row->kind == WEIR_OPT_KIND_INT ? (int64_t)row->number : 0;
  const int choice = row->kind == WEIR_OPT_KIND_ENUM ? (int)row->number : 0;
  const bool flag = row->number != 0;

  switch (row->kind) {
  case WEIR_OPT_KIND_INT:
    memcpy(at, &integer, sizeof integer);
    break;
  case WEIR_OPT_KIND_REAL:
    memcpy(at, &row->number, sizeof row->number);
    break;
  case WEIR_OPT_KIND_BOOL:
    memcpy(at, &flag, sizeof flag);
    break;
  case WEIR_OPT_KIND_ENUM:
    memcpy(at, &choice, sizeof choice);
    break;
  case WEIR_OPT_KIND_STRING:
  case WEIR_OPT_KIND_PATH:
    memcpy(at, &row->text, sizeof row->text);
    break;
  default:
    break;
  }
}

static bool is_value_list(weir_opt_kind kind)
{
  return kind == WEIR_OPT_KIND_INT_LIST || kind == WEIR_OPT_KIND_REAL_LIST ||
         kind == WEIR_OPT_KIND_STRING_LIST;
}

static void set_defaults(const weir_opt *table, char *base)
{
  for (const weir_opt *r = table; r->kind != WEIR_OPT_KIND_END; r++) {
    if (r->kind == WEIR_OPT_KIND_TABLE) {
      set_defaults(r->table, base + r->offset);
    } else {
      set_default(r, base + r->offset);
    }
  }
}

void weir_opts_default(const weir_opt *opts, size_t opts_size, void *out)
{
  memset(out, 0, opts_size);
  set_defaults(opts, out);
}

/* The default of a list row is text: it goes the way of a --set. */
static weir_status set_list_default(weir_config *config, const weir_opt *row, char *base)
{
  const weir_opt one[2] = {*row, WEIR_OPT_END};
  weir_config view = *config;
  weir_status status = WEIR_OK;
  weir_conf_tree tree;

  weir_conf_tree_init(&tree, "default");
  WEIR_TRY_GOTO(weir_conf_parse_items(row->text == NULL ? "" : row->text, &tree), done);
  view.table = one;
  view.out = base;
  view.origins = NULL; /* a default has no origin */
  view.n_origins = view.origins_capacity = 0;
  status = weir_conf_apply_set(&view, -1, row->key, &tree);
  config->owned = view.owned;
  config->n_owned = view.n_owned;
  config->owned_capacity = view.owned_capacity;
  weir_free(&view.origins);
done:
  weir_conf_tree_fini(&tree);
  return status;
}

weir_status weir_conf_defaults(weir_config *config, const weir_opt *table, void *base)
{
  for (const weir_opt *r = table; r->kind != WEIR_OPT_KIND_END; r++) {
    char *at = (char *)base + r->offset;

    if (r->kind == WEIR_OPT_KIND_TABLE) {
      WEIR_TRY(weir_conf_defaults(config, r->table, at));
    } else if (is_value_list(r->kind)) {
      WEIR_TRY(set_list_default(config, r, base));
    } else {
      set_default(r, at);
    }
  }
  return WEIR_OK;
}

void weir_conf_origin_text(const weir_config *config, const weir_conf_origin *origin, char *out,
                           size_t size)
{
  char name[WEIR_CONF_PATH_SIZE];

  weir_conf_show(config->sources[origin->source], name, sizeof name);
  if (origin->line > 0) {
    (void)snprintf(out, size, "%s:%d:%d", name, origin->line, origin->column);
  } else {
    (void)snprintf(out, size, "%s", name);
  }
}

void weir_config_where(const weir_config *config, const void *member, char *text, size_t size)
{
  const weir_conf_origin *found = NULL;

  for (int64_t i = 0; i < config->n_origins; i++) {
    const weir_conf_origin *o = &config->origins[i];
    const uintptr_t first = (uintptr_t)o->at, at = (uintptr_t)member;
    const bool holds = o->size == 0 ? at == first : at >= first && at - first < o->size;

    if (holds && (found == NULL || o->size <= found->size)) {
      found = o;
    }
  }
  if (found == NULL) {
    (void)snprintf(text, size, "%s", "");
  } else {
    weir_conf_origin_text(config, found, text, size);
  }
}

bool weir_config_states(const weir_config *config, const void *section, size_t size)
{
  for (int64_t i = 0; i < config->n_origins; i++) {
    const uintptr_t first = (uintptr_t)section, at = (uintptr_t)config->origins[i].at;

    if (at >= first && at - first < size) {
      return true;
    }
  }
  return false;
}

weir_status weir_conf_add_source(weir_config *config, const char *name, int *index)
{
  char *copy = NULL;

  WEIR_TRY(weir_reserve(&config->sources, &config->sources_capacity, config->n_sources + 1,
                        sizeof *config->sources));
  WEIR_TRY(weir_strdup(name, &copy));
  *index = (int)config->n_sources;
  config->sources[config->n_sources++] = copy;
  return WEIR_OK;
}

static weir_status create(const weir_opt *opts, size_t opts_size, void *out, weir_config **config)
{
  weir_status status = WEIR_OK;
  void *memory = NULL;

  WEIR_TRY(weir_alloc(1, sizeof **config, &memory));
  *config = memory;
  (*config)->table = opts;
  (*config)->out = out;
  memset(out, 0, opts_size);
  WEIR_TRY_GOTO(weir_conf_defaults(*config, opts, out), fail);
  return WEIR_OK;
fail:
  weir_config_destroy(config);
  return status;
}

static weir_status load_text(weir_config *config, const char *name, const char *bytes, int64_t size)
{
  weir_status status = WEIR_OK;
  weir_conf_tree tree;
  int source = -1;

  WEIR_TRY(weir_conf_add_source(config, name, &source));
  weir_conf_tree_init(&tree, config->sources[source]);
  WEIR_TRY_GOTO(weir_conf_parse_yaml(bytes, size, &tree), done);
  WEIR_TRY_GOTO(weir_conf_apply(config, source, &tree), done);
done:
  weir_conf_tree_fini(&tree);
  return status;
}

static weir_status load_file(weir_config *config, const char *path)
{
  char *bytes = NULL;
  int64_t size = 0;
  const weir_status read = weir_file_read(path, WEIR_CONF_FILE_LIMIT, &bytes, &size);

  if (read == WEIR_ERR_DATA) { /* a missing configuration is the command's fault, not the data's */
    char reason[512];

    (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
    return weir_fail(WEIR_ERR_CONFIG, "configuration file: %s", reason);
  }
  WEIR_TRY(read);
  const weir_status status = load_text(config, path, bytes, size);
  weir_free(&bytes);
  WEIR_TRY(status);
  return WEIR_OK;
}

static weir_status load_set(weir_config *config, const char *text)
{
  const char *equals = strchr(text, '=');
  weir_status status = WEIR_OK;
  weir_conf_tree tree;
  char *key = NULL, shown[WEIR_CONF_PATH_SIZE], label[WEIR_CONF_PATH_SIZE + 8];
  int source = -1;

  weir_conf_show(text, shown, sizeof shown);
  if (equals == NULL || equals == text) {
    return weir_fail(WEIR_ERR_CONFIG, "--set %s: write it as key=value", shown);
  }
  WEIR_TRY(weir_strdup(text, &key));
  key[equals - text] = 0;
  weir_conf_tree_init(&tree, "");
  (void)snprintf(label, sizeof label, "--set %s", shown);
  WEIR_TRY_GOTO(weir_conf_add_source(config, label, &source), done);
  tree.source = config->sources[source];
  WEIR_TRY_GOTO(weir_conf_parse_flow(equals + 1, &tree), done);
  WEIR_TRY_GOTO(weir_conf_apply_set(config, source, key, &tree), done);
done:
  weir_conf_tree_fini(&tree);
  weir_free(&key);
  return status;
}

weir_status weir_config_load(const weir_opt *opts, size_t opts_size, const char *const *files,
                             int n_files, const char *const *sets, int n_sets, void *out,
                             weir_config **config)
{
  weir_status status = WEIR_OK;

  *config = NULL;
  WEIR_TRY(create(opts, opts_size, out, config));
  for (int i = 0; i < n_files; i++) {
    WEIR_TRY_GOTO(load_file(*config, files[i]), fail);
  }
  for (int i = 0; i < n_sets; i++) {
    WEIR_TRY_GOTO(load_set(*config, sets[i]), fail);
  }
  return WEIR_OK;
fail:
  weir_config_destroy(config);
  memset(out, 0, opts_size); /* nothing may point into what is gone */
  return status;
}

weir_status weir_opts_parse(const weir_opt *opts, size_t opts_size, const char *yaml, void *out,
                            weir_config **config)
{
  weir_config *own = NULL;
  weir_status status = WEIR_OK;

  if (config != NULL) {
    *config = NULL;
  }
  WEIR_TRY(create(opts, opts_size, out, &own));
  WEIR_TRY_GOTO(load_text(own, "text", yaml, (int64_t)strlen(yaml)), fail);
  if (config != NULL) {
    *config = own;
  }
  return WEIR_OK;
fail:
  weir_config_destroy(&own);
  memset(out, 0, opts_size);
  return status;
}

void weir_config_destroy(weir_config **config)
{
  weir_config *c = *config;

  if (c == NULL) {
    return;
  }
  for (int64_t i = 0; i < c->n_owned; i++) {
    weir_free(&c->owned[i]);
  }
  for (int64_t i = 0; i < c->n_sources; i++) {
    weir_free(&c->sources[i]);
  }
  weir_free(&c->owned);
  weir_free(&c->sources);
  weir_free(&c->origins);
  weir_free(config);
}
