/* eval_maps.h - scores of predicted voxel classes: tables and a page. */
#ifndef CF_EVAL_MAPS_H
#define CF_EVAL_MAPS_H
#include "eval/map_scores.h"

/* Returns whether the first evaluation set is of voxel classes. */
bool cf_eval_is_of_maps(const cf_eval_opts *opts);
/* Writes scores.csv (accuracy and IoU of every set), confusion.csv and report.html, which names the
 * seed of the program, to a folder; prints the scores and emits them as events. Fails: as
 * weir_report_open and weir_table_write_csv. */
weir_status cf_eval_maps_write(const cf_map_scores *m, cf_subset subset, uint64_t seed,
                               const char *dir) WEIR_CHECKED;
#endif
