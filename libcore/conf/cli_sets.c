/* cli_sets.c - flags that stand for options, and the configuration of a command line. */
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "conf/conf_priv.h"
#include "conf/weir_cli.h"

enum { FLAG_SETS = 4 }; /* flags that stand for options: --seed, --input, --grid, --device */

const weir_opt *weir_conf_grid(const weir_app *app)
{
  const weir_opt *row = NULL;
  bool by_alias = false;

  return weir_conf_find(app->opts, "grid", &row, &by_alias) == WEIR_CONF_ROW &&
                 row->kind == WEIR_OPT_KIND_TABLE
             ? row->table
             : NULL;
}

/* True when the table has an integer row `seed` at the top. */
static bool has_seed_row(const weir_opt *opts)
{
  const weir_opt *row = NULL;
  bool by_alias = false;

  return weir_conf_find(opts, "seed", &row, &by_alias) == WEIR_CONF_ROW && !by_alias &&
         row->kind == WEIR_OPT_KIND_INT;
}

/* "key='value'" of the flag --input, or "key=['value']", quotes of the value doubled as YAML has
 * it.
 */
static weir_status input_set(const weir_cli *cli, char **out)
{
  const char *key = cli->app->input_key(cli->input);
  const size_t n = strlen(key);
  const bool list = n > 2 && strcmp(key + n - 2, "[]") == 0;
  char *to = NULL;

  WEIR_TRY(weir_alloc((int64_t)(n + 2 * strlen(cli->input)) + 6, 1, (void **)&to));
  *out = to;
  to += sprintf(to, "%.*s=%s'", (int)(list ? n - 2 : n), key, list ? "[" : "");
  for (const char *c = cli->input; *c != 0; c++) {
    *to++ = *c;
    if (*c == '\'') {
      *to++ = *c;
    }
  }
  *to++ = '\'';
  *to = list ? ']' : 0;
  return WEIR_OK;
}

/* True when the table has a section `exec` with a row `device`. */
static bool has_device_row(const weir_opt *opts)
{
  const weir_opt *row = NULL;
  bool by_alias = false;

  return weir_conf_find(opts, "exec", &row, &by_alias) == WEIR_CONF_ROW && !by_alias &&
         row->kind == WEIR_OPT_KIND_TABLE &&
         weir_conf_find(row->table, "device", &row, &by_alias) == WEIR_CONF_ROW;
}

bool weir_conf_grid_chooses(const weir_opt *section)
{
  const weir_opt *row = NULL;
  bool by_alias = false;

  return weir_conf_find(section, "by", &row, &by_alias) == WEIR_CONF_ROW &&
         row->kind == WEIR_OPT_KIND_ENUM && strcmp(row->choices, "numbers|auto") == 0;
}

/* "grid={samples: 2, depth: 4}" of the flag --grid 2x4, "grid={by: auto}" of --grid auto; where
 * there is such a row, numbers say "by: numbers", too. */
static weir_status grid_set(const weir_cli *cli, char **out)
{
  const weir_opt *row = weir_conf_grid(cli->app);
  const char *at = cli->grid;
  const bool chooses = weir_conf_grid_chooses(row);
  size_t size = sizeof "grid={by: numbers, }" + strlen(at);
  char *to = NULL;

  if (strcmp(at, "auto") == 0) {
    return weir_strdup("grid={by: auto}", out);
  }

  for (int i = 0; row[i].key != NULL; i++) {
    size += strlen(row[i].key) + sizeof ": , ";
  }
  WEIR_TRY(weir_alloc((int64_t)size, 1, (void **)&to));
  *out = to;
  to += sprintf(to, "grid={%s", chooses ? "by: numbers, " : "");
  for (; *at != 0; row++) {
    const int digits = (int)strspn(at, "0123456789");

    to += sprintf(to, "%s: %.*s, ", row->key, digits, at);
    at += digits + (at[digits] == 'x');
  }
  (void)sprintf(to - 2, "}");
  return WEIR_OK;
}

/* The sets of the command line, and after them those that flags stand for; made[]: to be freed. */
static weir_status all_sets(const weir_cli *cli, const char ***out, int *n, char *made[FLAG_SETS])
{
  void *memory = NULL;

  WEIR_TRY(weir_alloc((int64_t)cli->n_sets + FLAG_SETS, sizeof(const char *), &memory));
  const char **sets = memory;

  *out = sets;
  for (*n = 0; *n < cli->n_sets; ++*n) {
    sets[*n] = cli->sets[*n];
  }
  if (cli->has_seed && has_seed_row(cli->app->opts)) {
    WEIR_TRY(weir_alloc(40, 1, (void **)&made[0]));
    (void)snprintf(made[0], 40, "seed=%lld", (long long)cli->seed);
  }
  if (cli->input != NULL) {
    WEIR_TRY(input_set(cli, &made[1]));
  }
  if (cli->grid != NULL) {
    WEIR_TRY(grid_set(cli, &made[2]));
  }
  if (cli->device != NULL && has_device_row(cli->app->opts)) {
    WEIR_TRY(weir_alloc((int64_t)strlen(cli->device) + 20, 1, (void **)&made[3]));
    (void)sprintf(made[3], "exec.device='%s'", cli->device);
  }
  for (int i = 0; i < FLAG_SETS; i++) {
    if (made[i] != NULL) {
      sets[(*n)++] = made[i];
    }
  }
  return WEIR_OK;
}

weir_status weir_cli_config(const weir_cli *cli, void *options, weir_config **config)
{
  const weir_app *app = cli->app;
  const char **sets = NULL;
  char *made[FLAG_SETS] = {NULL};
  int n_sets = 0;

  *config = NULL;
  weir_status status = all_sets(cli, &sets, &n_sets, made);

  if (status == WEIR_OK) {
    status = weir_config_load(app->opts, app->opts_size, cli->configs, cli->n_configs, sets, n_sets,
                              options, config);
  }
  for (int i = 0; i < FLAG_SETS; i++) {
    weir_free(&made[i]);
  }
  weir_free(&sets);
  WEIR_TRY(status);
  return WEIR_OK;
}
