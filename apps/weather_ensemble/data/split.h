/* split.h - which samples are trained on, chosen by and tested on: ranges of time, with a gap. */
#ifndef WX_SPLIT_H
#define WX_SPLIT_H
#include "conf/weir_opt.h"
#include "data/samples.h"

typedef enum wx_part { WX_TRAIN, WX_VALID, WX_TEST, WX_PARTS } wx_part;
#define WX_PART_CHOICES "train|valid|test"
extern const char *const wx_part_name[WX_PARTS];

/* [from, to): dates, "" for no limit. */
typedef struct wx_range {
  const char *from, *to;
} wx_range;
typedef struct wx_split_opts {
  wx_range train, valid, test;
  double gap; /* days */
} wx_split_opts;
extern const weir_opt wx_split_options[];

typedef struct wx_split {
  int64_t *sample[WX_PARTS]; /* numbers of samples, ascending */
  int64_t n[WX_PARTS];
  double first[WX_PARTS], last[WX_PARTS]; /* times, days since 1970-01-01; NaN: none */
  int64_t left_out;                       /* by the gap, or in no range */
} wx_split;

/* A sample whose time is in the range of test belongs to it, else to valid, else to train; a range
 * without limits is all the rest (train) or nothing. Then what is nearer than the gap to a sample
 * of test is taken out of valid and train, and what is nearer to one of valid out of train. Fails:
 * WEIR_ERR_CONFIG (no date; ranges that share a time). */
weir_status wx_split_create(const wx_split_opts *opts, const wx_facts *facts,
                            wx_split *out) WEIR_CHECKED;
void wx_split_fini(wx_split *s);
/* The event `samples`, and a line a part for readers. */
void wx_split_report(const wx_split *s);
#endif
