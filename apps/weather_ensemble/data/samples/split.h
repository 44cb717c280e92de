/* split.h - which samples are trained on, chosen by and tested on: ranges of start times, with a
 * gap. */
#ifndef WX_SPLIT_H
#define WX_SPLIT_H
#include "base/weir_status.h"
#include "conf/weir_opt.h"
#include "data/archive/archive.h"

typedef enum wx_subset { WX_TRAIN, WX_VALID, WX_TEST, WX_SUBSETS } wx_subset;
#define WX_SUBSET_CHOICES "train|valid|test"
extern const char *const wx_subset_name[WX_SUBSETS];

/* [from, to): dates, "" for no limit. */
typedef struct wx_range {
  const char *from, *to;
} wx_range;
typedef struct wx_split_opts {
  wx_range train, valid, test;
  double gap; /* days */
} wx_split_opts;
extern const weir_opt wx_split_options[];

/* What is split: times in days since 1970-01-01. */
typedef struct wx_times {
  const char *name; /* for messages */
  int64_t n;
  const double *start, *end; /* [n] the forecast begins, and is valid */
} wx_times;

typedef struct wx_split {
  int64_t *sample[WX_SUBSETS]; /* numbers of samples, ascending */
  int64_t n[WX_SUBSETS];
  double first[WX_SUBSETS], last[WX_SUBSETS]; /* first start and last valid time, days; NaN: none */
  int64_t left_out;                           /* by the gap, or in no range                       */
} wx_split;

/* Checks that limits are dates in order and subsets have no time in common; *validates: samples may
 * be of valid. Fails: WEIR_ERR_CONFIG. */
weir_status wx_split_check(const wx_split_opts *opts, bool *validates) WEIR_CHECKED;
/* Splits samples. A sample whose start is in the range of test belongs to it, else to valid, else
 * to train; a range without limits is all the rest (train) or nothing. Then samples that begin less
 * than the gap after one of another subset is valid, or are valid less than the gap before it
 * begins, are taken out: of train and valid for test, of train for valid. Fails: WEIR_ERR_CONFIG
 * (no date; ranges that share a time). */
weir_status wx_split_create(const wx_split_opts *opts, const wx_times *times,
                            wx_split *out) WEIR_CHECKED;
/* Splits the initialisation times of an archive, each of which ends with the archive's last lead:
 * sample i of the split is start i. Fails: as wx_split_create. */
weir_status wx_split_init_times(const wx_split_opts *opts, const wx_archive_info *facts,
                                wx_split *out) WEIR_CHECKED;
/* Makes fold k of n of the training samples: those of the k-th of n ranges with as many samples
 * each are its test, the others, but for what is nearer than the gap, its train; valid is that of
 * `s`. A start is never divided. Fails: WEIR_ERR_CONFIG where nothing is left to train or to test.
 */
weir_status wx_split_fold(const wx_split_opts *opts, const wx_times *times, const wx_split *s,
                          int64_t k, int64_t n, wx_split *out) WEIR_CHECKED;
/* Makes a split of subsets that are known: subset[times->n], WX_SUBSETS: none. Fails:
 * WEIR_ERR_MEMORY. */
weir_status wx_split_of_subsets(const wx_times *times, const int *subset,
                                wx_split *out) WEIR_CHECKED;
void wx_split_fini(wx_split *s);
/* Records the event `samples`, and a line per subset for readers. */
void wx_split_report(const wx_split *s);
#endif
