/* check.h - what a configuration is refused for before anything is read, made or simulated. */
#ifndef CF_CHECK_H
#define CF_CHECK_H
#include "conf/weir_cli.h"
#include "options.h"

/* What the options of the command say of themselves and of each other: every command refuses the
 * same with the same text, before it makes a folder, and describe judges what run would do. Of
 * samples in files nothing is known here; of universes that are made here all is: how many train,
 * their shape, whether network and training suit them. Fails: WEIR_ERR_CONFIG; as
 * cf_universe_check, cf_estimator_open. */
weir_status cf_check(const weir_cli *cli, const cf_cfg *cfg) WEIR_CHECKED;
/* That a network which segments has a channel left to see. */
weir_status cf_check_channels(const cf_model_opts *model, int64_t channels) WEIR_CHECKED;
/* The grid of so many ranks by the numbers, by auto all along samples, and that samples may come
 * from others of it where load.remote wants that. Fails: as weir_train_grid, weir_load_suits. */
weir_status cf_check_grid(const cf_cfg *cfg, int ranks, weir_grid *out) WEIR_CHECKED;
/* The ranks that describe plans for: describe.ranks, else as many as the numbers of grid make. */
int64_t cf_check_ranks(const cf_cfg *cfg);
#endif
