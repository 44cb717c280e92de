/* timeline.c - see timeline.h. Recording reads a clock and the counters of the communicator. */
#include "train/step/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "base/weir_sort.h"
#include "train/grid/ranks.h"

const char *const train_activity_name[TRAIN_ACTIVITIES] = {"planning", "loading", "computing",
                                                           "exchange", "meeting", "checkpoint"};

/* What a rank gives to rank 0, followed by its intervals. */
typedef struct report {
  double seconds[TRAIN_ACTIVITIES], waited[TRAIN_ACTIVITIES], stamp[TRAIN_STAMPS];
  int64_t sent, sent_bytes, versions, fresh, n;
} report;

/* Messages and waiting of this rank so far, for whatever purpose. */
static weir_comm_count count_all(const train_run *r)
{
  weir_comm_count sum = {.sent = 0};

  for (int use = 0; use < WEIR_COMM_USES; use++) {
    const weir_comm_count one = weir_comm_counted(r->ranks.all, (weir_comm_use)use);

    sum.sent += one.sent;
    sum.sent_bytes += one.sent_bytes;
    sum.waited_s += one.waited_s;
  }
  return sum;
}

/* Ranks leave a meeting at almost the same time: rank 0 takes the median difference of several. */
static weir_status compare_clocks(train_run *r)
{
  for (int k = 0; k < TRAIN_STAMPS; k++) {
    int64_t nothing = 0;

    WEIR_TRY(train_min_all(r, &nothing));
    r->timeline.stamp[k] = weir_clock();
  }
  return WEIR_OK;
}

weir_status train_timeline_open(train_run *r)
{
  train_timeline *const t = &r->timeline;

  if (r->ranks.all == NULL) {
    return WEIR_OK;
  }
  const int64_t per_step = 3 * r->cfg->accumulate + 6; /* batches; exchange, update, meetings */

  t->capacity = r->cfg->timeline * per_step;
  WEIR_TRY(train_agree_all(r, weir_alloc(t->capacity, sizeof *t->ring, (void **)&t->ring)));
  WEIR_TRY(compare_clocks(r));
  const weir_comm_count before = count_all(r);

  t->sent = before.sent;
  t->sent_bytes = before.sent_bytes;
  return WEIR_OK;
}

train_moment train_begin_activity(const train_run *r)
{
  return (train_moment){weir_clock(), r->ranks.all != NULL ? count_all(r).waited_s : 0};
}

void train_end_activity(train_run *r, train_activity activity, train_moment begin)
{
  train_timeline *const t = &r->timeline;

  if (r->ranks.all == NULL) {
    return;
  }
  const train_interval one = {.begin = begin.time,
                              .end = weir_clock(),
                              .waited = count_all(r).waited_s - begin.waited,
                              .step = *r->state.step + 1,
                              .activity = activity};

  t->seconds[activity] += one.end - one.begin;
  t->waited[activity] += one.waited;
  if (t->capacity > 0) {
    t->ring[t->n % t->capacity] = one;
    t->n++;
  }
}

/* ---- At the end ---- */

static report report_of(const train_run *r)
{
  const train_timeline *const t = &r->timeline;
  const weir_exchange_counts exchanged = weir_exchange_count(&r->exchange);
  const weir_comm_count now = count_all(r);
  report own = {.sent = now.sent - t->sent,
                .sent_bytes = now.sent_bytes - t->sent_bytes,
                .versions = exchanged.versions,
                .fresh = exchanged.fresh,
                .n = t->n < t->capacity ? t->n : t->capacity};

  memcpy(own.seconds, t->seconds, sizeof own.seconds);
  memcpy(own.waited, t->waited, sizeof own.waited);
  memcpy(own.stamp, t->stamp, sizeof own.stamp);
  return own;
}

/* Report and intervals, the oldest first. */
static weir_status pack(const train_run *r, char **bytes, int64_t *n)
{
  const train_timeline *const t = &r->timeline;
  const report own = report_of(r);
  const int64_t oldest = t->n - own.n;

  *n = (int64_t)sizeof own + own.n * (int64_t)sizeof *t->ring;
  WEIR_TRY(weir_alloc(*n, 1, (void **)bytes));
  memcpy(*bytes, &own, sizeof own);
  for (int64_t i = 0; i < own.n; i++) {
    memcpy(*bytes + sizeof own + (size_t)i * sizeof *t->ring, &t->ring[(oldest + i) % t->capacity],
           sizeof *t->ring);
  }
  return WEIR_OK;
}

/* Seconds to subtract from times of that rank: to those since the first meeting on rank 0. */
static double origin_of(const report *one, const report *first)
{
  double difference[TRAIN_STAMPS];

  for (int k = 0; k < TRAIN_STAMPS; k++) {
    difference[k] = one->stamp[k] - first->stamp[k];
  }
  qsort(difference, TRAIN_STAMPS, sizeof *difference, weir_compare_f64);
  return first->stamp[0] + difference[TRAIN_STAMPS / 2];
}

static void tell_rank(int rank, const report *one)
{
  weir_event("rank", WEIR_INT("rank", rank), WEIR_REAL("planning_s", one->seconds[TRAIN_PLANS]),
             WEIR_REAL("loading_s", one->seconds[TRAIN_LOADS]),
             WEIR_REAL("computing_s", one->seconds[TRAIN_COMPUTES] - one->waited[TRAIN_COMPUTES]),
             WEIR_REAL("plan_waiting_s", one->waited[TRAIN_COMPUTES]),
             WEIR_REAL("exchange_s", one->seconds[TRAIN_EXCHANGES]),
             WEIR_REAL("meeting_s", one->seconds[TRAIN_MEETS]),
             WEIR_REAL("checkpoint_s", one->seconds[TRAIN_SAVES]), WEIR_INT("messages", one->sent),
             WEIR_INT("sent_bytes", one->sent_bytes), WEIR_INT("versions", one->versions),
             WEIR_INT("fresh", one->fresh));
}

static void tell_interval(const train_run *r, int rank, const train_interval *one, double origin)
{
  if (one->step > *r->state.step - r->cfg->timeline) {
    weir_event("activity", WEIR_INT("rank", rank), WEIR_INT("step", one->step),
               WEIR_TEXT("what", train_activity_name[one->activity]),
               WEIR_REAL("begin_s", one->begin - origin), WEIR_REAL("end_s", one->end - origin),
               WEIR_REAL("waited_s", one->waited));
  }
}

static void tell_all(const train_run *r, const char *bytes, int64_t total)
{
  report first, one;
  int rank = 0;

  memcpy(&first, bytes, sizeof first);
  for (int64_t at = 0; at < total; rank++) {
    memcpy(&one, bytes + at, sizeof one);
    at += (int64_t)sizeof one;
    tell_rank(rank, &one);
    for (int64_t i = 0; i < one.n; i++, at += (int64_t)sizeof(train_interval)) {
      train_interval interval;

      memcpy(&interval, bytes + at, sizeof interval);
      tell_interval(r, rank, &interval, origin_of(&one, &first));
    }
  }
}

weir_status train_tell_timeline(train_run *r)
{
  char *own = NULL;
  void *all = NULL;
  int64_t n = 0, total = 0;
  weir_status status = WEIR_OK;

  if (r->ranks.all == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(train_agree_all(r, pack(r, &own, &n)), done);
  WEIR_TRY_GOTO(weir_comm_gather(r->ranks.all, own, n, &all, &total), done);
  if (train_leads(r)) {
    tell_all(r, all, total);
  }
done:
  weir_free(&own);
  weir_free(&all);
  return status;
}
