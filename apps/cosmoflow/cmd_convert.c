/* cmd_convert.c - samples in another format. */
#include <stdio.h>
#include "base/weir_log.h"
#include "data/convert.h"
#include "commands.h"

weir_status cf_open_input(cf_cfg *cfg, cf_source **out)
{
  return cf_source_open(&(cf_source_spec){.source = &cfg->source,
                                          .files = &cfg->files,
                                          .simulate = &cfg->simulate,
                                          .seed = (uint64_t)cfg->seed},
                        out);
}

static weir_status convert(const weir_cli *cli, cf_cfg *cfg, cf_source *s)
{
  char text[512];
  cf_converted done;

  cf_source_describe(s, text, sizeof text);
  weir_info("convert", "%s", text);
  cfg->convert.samples_per_universe = cfg->data.split.samples_per_universe;
  WEIR_TRY(cf_convert(s, &cfg->convert, cli->out, &done));
  weir_event("convert_end", WEIR_INT("samples", done.samples), WEIR_INT("files", done.files),
             WEIR_INT("kept", done.kept), WEIR_INT("damaged", done.damaged),
             WEIR_REAL("bytes", done.bytes));
  weir_info(
      "convert",
      "%lld samples in %lld files, %.4g MB before compression; %lld files existed already: %s",
      (long long)done.samples, (long long)done.files, done.bytes / 1e6, (long long)done.kept,
      cli->out);
  return cf_write_provenance(cli, cfg, "input", text);
}

/* A new run removes what an earlier one of its kind left, and files are written under equal names.
 */
static weir_status refuse_own_input(const weir_cli *cli, const cf_source *s)
{
  const char *const own = cli->out != NULL ? cf_source_within(s, cli->out) : NULL;

  return own == NULL ? WEIR_OK
                     : weir_fail(WEIR_ERR_CONFIG,
                                 "--out %s: it holds the input %s, which would be lost: choose "
                                 "another folder",
                                 cli->out, own);
}

/* Opens the run folder; an interrupted conversion is resumed in its own folder. */
static weir_status begin(const weir_cli *cli, const weir_config *config, weir_run_dir *dir)
{
  const bool goes_on = cli->out != NULL && !cli->overwrite && weir_dir_has_entries(cli->out);

  return goes_on ? weir_run_dir_resume(cli, config, "convert", dir)
                 : weir_run_dir_begin(cli, config, "convert", dir);
}

weir_status cf_cmd_convert(const weir_cli *cli)
{
  weir_config *config = NULL;
  weir_run_dir dir = {.cli = cli};
  cf_source *s = NULL;
  weir_status status = WEIR_OK;
  cf_cfg cfg;

  WEIR_TRY(cf_configure(cli, &cfg, &config));
  WEIR_TRY_GOTO(cf_open_input(&cfg, &s), done);
  WEIR_TRY_GOTO(refuse_own_input(cli, s), done);
  WEIR_TRY_GOTO(begin(cli, config, &dir), done);
  cf_tell_start(cli, &cfg);
  WEIR_TRY_GOTO(weir_run_dir_commit(&dir), done);
  WEIR_TRY_GOTO(convert(cli, &cfg, s), done);
done:
  if (status != WEIR_OK) {
    cf_abandon(&dir);
  }
  cf_source_close(&s);
  weir_config_destroy(&config);
  return status;
}
