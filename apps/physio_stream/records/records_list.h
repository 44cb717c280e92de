/* records_list.h - the recordings that an option names, by path or by files RECORDS. */
#ifndef PS_RECORDS_LIST_H
#define PS_RECORDS_LIST_H
#include "data/input.h"
#include "records/record.h"

/* Appends the recordings of the option `key`: each a path, a name of ps_physionet_path below
 * `root`, or a file RECORDS, which lists paths below its folder, a line each. Whatever becomes of
 * it, *list is for ps_records_fini. Fails: WEIR_ERR_CONFIG (none; names that two share, or that can
 * name no folder), WEIR_ERR_DATA (a list that cannot be read, or leads out of its folder),
 * WEIR_ERR_MEMORY. */
weir_status ps_records_list(const char *key, const weir_string_list *from, const char *root,
                            ps_records *list) WEIR_CHECKED;
/* Where input.missing says so, removes recordings of which there is no file, and says which. Fails:
 * WEIR_ERR_DATA where none is left. */
weir_status ps_records_leave_out_missing(const char *key, const ps_input_opts *in,
                                         ps_records *list) WEIR_CHECKED;
/* Returns the length of a path without the suffix of a recording's file, where it has one. */
int ps_record_stem(const char *path);
void ps_records_fini(ps_records *list);
#endif
