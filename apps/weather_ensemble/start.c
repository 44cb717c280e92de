/* start.c - what every verb begins and ends with. */
#include <stdio.h>
#include <string.h>
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_provenance.h"
#include "device/weir_parallel.h"
#include "verbs.h"

weir_status wx_configure(const weir_cli *cli, wx_cfg *cfg, weir_config **config)
{
  if (strcmp(cli->device, "cuda") == 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "--device cuda: weather_ensemble computes on the cpu only; leave --device out "
                     "or give --device cpu");
  }
  if (cli->threads > 0) {
    weir_threads_set(cli->threads);
  }
  WEIR_TRY(weir_cli_config(cli, cfg, config));
  if (cfg->model.net.residual) {
    weir_config_destroy(config);
    return weir_fail(WEIR_ERR_CONFIG,
                     "model.net.residual: channels of x and y have statistics of their own; what "
                     "it is for is model.target: difference");
  }
  return WEIR_OK;
}

void wx_tell_start(const weir_cli *cli, const wx_cfg *cfg)
{
  weir_event("start", WEIR_TEXT("program", "weather_ensemble"), WEIR_TEXT("verb", cli->verb),
             WEIR_INT("seed", cfg->seed));
}

void wx_abandon(weir_run_dir *dir)
{
  if (weir_run_dir_abandon(dir)) {
    weir_info(dir->cli->verb, "the earlier results in %s stand as they were", dir->cli->out);
  }
}

weir_status wx_write_provenance(const weir_cli *cli, const wx_cfg *cfg, const char *const *inputs,
                                int n)
{
  char program[64], path[WX_PATH];

  (void)snprintf(program, sizeof program, "weather_ensemble %s", cli->verb);
  WEIR_TRY(weir_path_join(cli->out, "provenance.json", path, sizeof path));
  return weir_provenance_write(path, &(weir_provenance){.program = program,
                                                        .argc = cli->argc,
                                                        .argv = cli->argv,
                                                        .seed = (uint64_t)cfg->seed,
                                                        .threads = weir_threads_get(),
                                                        .inputs = inputs,
                                                        .n_inputs = n});
}
