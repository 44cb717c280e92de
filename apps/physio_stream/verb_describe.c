/* verb_describe.c - the resolved configuration, and what the run would do. */
#include "verbs.h"

weir_status ps_verb_describe(const weir_cli *cli)
{
  weir_config *config = NULL;
  ps_cfg cfg;

  WEIR_TRY(ps_configure(cli, &cfg, &config));
  const weir_status status = weir_config_print(config, stdout);

  weir_config_destroy(&config);
  return status;
}
