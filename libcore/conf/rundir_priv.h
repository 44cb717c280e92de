/* rundir_priv.h - what the sources of a run's folder share. */
#ifndef WEIR_RUNDIR_PRIV_H
#define WEIR_RUNDIR_PRIV_H
#include <stdbool.h>
#include "base/weir_status.h"

/* Removes the file of the plain relative `name` below an open folder, then the folders on its way
 * that are empty. A link is neither followed nor removed. Fails: WEIR_ERR_CONFIG. */
weir_status conf_remove_below(int fd, const char *name) WEIR_CHECKED;

/* Renames the file `name` of an earlier run below `out`, open as fd, until the run ends
 * (weir_writer_remember, weir_writer_undo); one that is absent is passed over. Fails:
 * WEIR_ERR_CONFIG, WEIR_ERR_MEMORY. */
weir_status conf_set_aside(int fd, const char *out, const char *name) WEIR_CHECKED;
#endif
