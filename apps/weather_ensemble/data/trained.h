/* trained.h - what weights have seen: the part of every sample that they are applied to, as their
 * file says, and the text that tells it to whoever scores the predictions. */
#ifndef WX_TRAINED_H
#define WX_TRAINED_H
#include <stddef.h>
#include "data/split.h"

/* The attribute of predictions that wx_trained_text writes. */
#define WX_TRAINED_NOTE "parts"

/* part[times->n]: of each sample, WX_PARTS: none. `dates` is what the weights say of themselves
 * ("train: DATE to DATE; valid: DATE to DATE", first start and last valid time, or none). Where
 * that is so of `split` too, parts are those of the split, else every sample within the dates of
 * training counts as trained on: another archive or other ranges cannot tell. Fails:
 * WEIR_ERR_DATA where `dates` is no such text. */
weir_status wx_trained_parts(const wx_split *split, const wx_times *times, const char *dates,
                             int *part) WEIR_CHECKED;
/* The starts of n samples, ascending, as runs of one part: "train: DATE to DATE; none: DATE to
 * DATE;
 * ...". A start whose samples differ has the first of train, valid, test and none. The caller frees
 * the text. */
weir_status wx_trained_text(const wx_times *times, const int *part, const int64_t *sample,
                            int64_t n, char **text) WEIR_CHECKED;
/* The part of a start in such a text, days since 1970; WX_PARTS also for one that is in no run.
 * Fails: WEIR_ERR_DATA where it is no such text. */
weir_status wx_trained_find(const char *text, double start, int *part) WEIR_CHECKED;
#endif
