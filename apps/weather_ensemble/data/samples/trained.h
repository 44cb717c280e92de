/* trained.h - what weights have seen: the subset of every sample that they are applied to, as their
 * file says, and the text that tells it to whoever scores the predictions. */
#ifndef WX_TRAINED_H
#define WX_TRAINED_H
#include <stddef.h>
#include "data/samples/split.h"

/* The attribute of predictions that wx_trained_text writes. */
#define WX_TRAINED_NOTE "parts"

/* Writes the dates that weights carry: "train: DATE to DATE; valid: DATE to DATE; ...", in the
 * order of time the runs of initialisation times of one subset, first start and last valid time of
 * each; initialisation times of tests and of no subset end a run. The caller frees the text. Fails:
 * WEIR_ERR_MEMORY. */
weir_status wx_trained_dates(const wx_split *split, const wx_times *times,
                             char **text) WEIR_CHECKED;
/* Finds subset[times->n]: of each sample, WX_SUBSETS: none. `dates` is such a text. Where it is
 * that of `split` too, subsets are those of the split, else every sample that shares a time with a
 * run of training counts as trained on, and of the others every one that does with a run of
 * validation as chosen by: another archive or other ranges cannot tell. Fails: WEIR_ERR_DATA where
 * `dates` is no such text, WEIR_ERR_MEMORY. */
weir_status wx_trained_subsets(const wx_split *split, const wx_times *times, const char *dates,
                               int *subset) WEIR_CHECKED;
/* Writes the initialisation times of n samples, ascending, as runs of one subset: "train: DATE to
 * DATE; none: DATE to DATE;
 * ...". A start whose samples differ has the first of train, valid, test and none. The caller frees
 * the text. */
weir_status wx_trained_text(const wx_times *times, const int *subset, const int64_t *sample,
                            int64_t n, char **text) WEIR_CHECKED;
/* Finds the subset of a start in such a text, days since 1970; WX_SUBSETS also for one that is in
 * no run. Fails: WEIR_ERR_DATA where it is no such text. */
weir_status wx_trained_find(const char *text, double start, int *subset) WEIR_CHECKED;
#endif
