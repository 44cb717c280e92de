/* check.h - checks of a configuration before anything is read, made or simulated. */
#ifndef CF_CHECK_H
#define CF_CHECK_H
#include "conf/weir_cli.h"
#include "options.h"

/* Checks the options of the command, alone and against each other: every command refuses the same
 * with the same text, before it makes a folder, and describe checks the options of run. Of samples
 * in files nothing is known here; of simulated universes the number of training samples and the
 * shape are known, and checked against network and training. Fails: WEIR_ERR_CONFIG; as
 * cf_universe_check, cf_estimator_open. */
weir_status cf_check(const weir_cli *cli, const cf_cfg *cfg) WEIR_CHECKED;
/* Checks that a channel remains as input of a network that segments. Fails: WEIR_ERR_CONFIG. */
weir_status cf_check_channels(const cf_model_opts *model, int64_t channels) WEIR_CHECKED;
/* Computes the process grid of `ranks` ranks from the numbers of the section grid (auto: all along
 * samples), and checks that load.remote suits it. Fails: as weir_grid_from_cfg, weir_load_suits. */
weir_status cf_check_grid(const cf_cfg *cfg, int ranks, weir_grid *out) WEIR_CHECKED;
/* Returns the number of ranks that describe plans for: describe.ranks, otherwise the product of the
 * numbers of grid. */
int64_t cf_check_ranks(const cf_cfg *cfg);
#endif
