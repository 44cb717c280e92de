/* check.h - what a configuration is refused for before anything is read or simulated. */
#ifndef WX_CHECK_H
#define WX_CHECK_H
#include "conf/weir_cli.h"
#include "options.h"

/* Checks the options of the command, each and together: every command refuses the
 * same with the same text, before it makes a folder, and describe judges what run would do. What an
 * archive has (leads, members, how many samples) is not known here. Fails: WEIR_ERR_CONFIG. */
weir_status wx_check(const weir_cli *cli, const wx_cfg *cfg) WEIR_CHECKED;
/* Returns the network of the first of two stages: the mean by a loss of its own. */
wx_model_opts wx_bias_model(const wx_bias_cfg *bias);
/* Returns a failure of its samples under its own key; WEIR_OK as it is. */
weir_status wx_bias_data_failed(weir_status status) WEIR_CHECKED;
#endif
