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

static weir_status tell(const weir_job *j, const cf_converted *done, const char *text)
{
  const weir_cli *const cli = j->cli;

  weir_event("convert_end", WEIR_INT("samples", done->samples), WEIR_INT("files", done->files),
             WEIR_INT("kept", done->kept), WEIR_INT("damaged", done->damaged),
             WEIR_REAL("bytes", done->bytes));
  weir_info(
      "convert",
      "%lld samples in %lld files, %.4g MB before compression; %lld files existed already: %s",
      (long long)done->samples, (long long)done->files, done->bytes / 1e6, (long long)done->kept,
      cli->out);
  return cf_write_provenance(j, true, "input", text);
}

static weir_status convert(const weir_job *j, cf_source *s)
{
  cf_cfg *const cfg = j->cfg;
  char text[512];
  cf_converted done;

  cf_source_describe(s, text, sizeof text);
  weir_info("convert", "%s", text);
  cfg->convert.samples_per_universe = cfg->data.split.samples_per_universe;
  WEIR_TRY(cf_convert(s, &cfg->convert, j->cli->out, j->comm, &done));
  return weir_job_leads(j) ? tell(j, &done, text) : WEIR_OK;
}

static weir_status perform(weir_job *j)
{
  const char *const out = j->cli->out;
  cf_source *s = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(cf_open_input(j->cfg, &s));
  WEIR_TRY_GOTO(cf_refuse_own_input(out, out != NULL ? cf_source_within(s, out) : NULL), done);
  WEIR_TRY_GOTO(cf_begin_resumed(j, "convert"), done);
  WEIR_TRY_GOTO(weir_job_commit(j, "convert"), done);
  WEIR_TRY_GOTO(convert(j, s), done);
done:
  cf_source_close(&s);
  return status;
}

weir_status cf_cmd_convert(const weir_cli *cli)
{
  return weir_job_run_shared(cli, &cf_program, perform);
}
