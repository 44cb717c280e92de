/* verb_convert.c - samples in another format. */
#include <stdio.h>
#include "base/weir_log.h"
#include "data/convert.h"
#include "verbs.h"

weir_status cf_open_input(const weir_cli *cli, const cf_cfg *cfg, cf_volumes **out)
{
  const char *const *const named = cli->n_args > 0 ? cli->args : cfg->convert.input.items;
  const int64_t n = cli->n_args > 0 ? cli->n_args : cfg->convert.input.count;

  *out = NULL;
  if (n == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: name files, folders or lists of samples: cosmoflow %s PATH ..., or "
                     "convert.input",
                     cli->verb, cli->verb);
  }
  return cf_volumes_open(named, n, &cfg->files, out);
}

static weir_status convert(const weir_cli *cli, const cf_cfg *cfg, cf_volumes *v)
{
  const cf_volume_info *const info = cf_volumes_info(v);
  char text[512];
  cf_converted done;

  (void)snprintf(text, sizeof text,
                 "%lld samples of %lld x %lld x %lld x %lld %s with %lld labels in %lld files: %s",
                 (long long)cf_volumes_count(v), (long long)info->lengths[0],
                 (long long)info->lengths[1], (long long)info->lengths[2],
                 (long long)info->lengths[3], weir_dtype_name(info->dtype),
                 (long long)info->n_labels, (long long)cf_volumes_files(v), info->layout);
  weir_info("convert", "%s", text);
  WEIR_TRY(cf_convert(v, &cfg->convert, cli->out, &done));
  weir_event("convert_end", WEIR_INT("samples", done.samples), WEIR_INT("files", done.files),
             WEIR_REAL("bytes", done.bytes));
  weir_info("convert", "%lld samples in %lld files, %.4g MB before compression: %s",
            (long long)done.samples, (long long)done.files, done.bytes / 1e6, cli->out);
  return cf_write_provenance(cli, cfg, "input", text);
}

/* A new run removes what an earlier one of its kind left, and files are written under equal names.
 */
static weir_status refuse_own_input(const weir_cli *cli, const cf_volumes *v)
{
  const char *const own = cli->out != NULL ? cf_volumes_within(v, cli->out) : NULL;

  return own == NULL ? WEIR_OK
                     : weir_fail(WEIR_ERR_CONFIG,
                                 "--out %s: it holds the input %s, which would be lost: choose "
                                 "another folder",
                                 cli->out, own);
}

weir_status cf_verb_convert(const weir_cli *cli)
{
  weir_config *config = NULL;
  weir_run_dir dir = {.cli = cli};
  cf_volumes *v = NULL;
  weir_status status = WEIR_OK;
  cf_cfg cfg;

  WEIR_TRY(cf_configure(cli, &cfg, &config));
  WEIR_TRY_GOTO(cf_open_input(cli, &cfg, &v), done);
  WEIR_TRY_GOTO(refuse_own_input(cli, v), done);
  WEIR_TRY_GOTO(weir_run_dir_begin(cli, config, "convert", &dir), done);
  cf_tell_start(cli, &cfg);
  WEIR_TRY_GOTO(weir_run_dir_accept(&dir), done);
  WEIR_TRY_GOTO(convert(cli, &cfg, v), done);
done:
  if (status != WEIR_OK) {
    cf_abandon(&dir);
  }
  cf_volumes_close(&v);
  weir_config_destroy(&config);
  return status;
}
