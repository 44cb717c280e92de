/* record.h - one of several recordings of a run, its results, and who runs it. */
#ifndef PS_RECORD_H
#define PS_RECORD_H
#include "conf/weir_opt.h"
#include "stream/weir_query.h"

/* A result of one recording, as the pooled table counts it. */
typedef struct ps_pool_row {
  char stream[2 * WEIR_QUERY_NAME], unit[WEIR_SERIES_UNIT];
  double rate;            /* slots per second                         */
  int64_t slots, present; /* seen; with a value                       */
  double min, max, sum;   /* of the values; NaN where they are not known */
} ps_pool_row;

/* One of several recordings. */
typedef struct ps_record {
  char *path, *name; /* name: of its folder below --out */
  weir_status status;
  char message[1024]; /* of a failure */
  ps_pool_row *rows;
  int64_t n_rows, capacity;
} ps_record;

typedef struct ps_records {
  ps_record *items;
  int64_t count, capacity;
} ps_records;

/* Who runs recording i: the ranks in turn, of each its `workers` threads in turn. */
typedef struct ps_share {
  int rank, worker;
} ps_share;
static inline ps_share ps_records_share(int64_t i, int ranks, int workers)
{
  return (ps_share){.rank = (int)(i % ranks), .worker = (int)(i / ranks % workers)};
}

#endif
