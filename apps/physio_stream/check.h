/* check.h - what a configuration is refused for before anything is read. */
#ifndef PS_CHECK_H
#define PS_CHECK_H
#include "conf/weir_cli.h"
#include "options.h"

/* Checks the options of the command, alone and together: every command refuses the
 * same with the same text, before it makes a folder, and describe judges what run would do. Of the
 * built-in recording all is known, so what it is to be done with is planned; of others, what does
 * not depend on rates, units and lengths is judged. Fails: WEIR_ERR_CONFIG; as planning. */
weir_status ps_check(const weir_cli *cli, const ps_cfg *cfg,
                     const weir_config *config) WEIR_CHECKED;
/* Checks (cmd_prepare.c) that the built-in recording can be made and be a record. Fails:
 * WEIR_ERR_CONFIG.
 */
weir_status ps_prepare_check(const ps_cfg *cfg) WEIR_CHECKED;
/* Checks (cmd_compare.c) that the recordings can be made and the training suits them. Fails:
 * WEIR_ERR_CONFIG. */
weir_status ps_compare_check(const ps_cfg *cfg) WEIR_CHECKED;
/* Checks (cmd_convert.c) that a name is a component of a path, never a path itself. Fails:
 * WEIR_ERR_CONFIG. */
weir_status ps_convert_name_check(const char *name) WEIR_CHECKED;
#endif
