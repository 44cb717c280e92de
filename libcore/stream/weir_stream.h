/* weir_stream.h - runs a graph over periodic streams, chunk by chunk, with memory fixed before the
 * first sample.
 *
 * A chunk is a time interval; the slots of a source in it follow from its rate, so no chunk has to
 * be a multiple of anything. Results are bitwise identical for any chunks, any number of threads,
 * and with gaps skipped or not. With two threads chunks are read ahead by one while the other
 * computes; with three the graph is split in two as well: the operators before its calls with a
 * state run on one chunk while those run on a chunk before. Live sources take one thread, and so
 * does what lies in memory where the graph is not split. */
#ifndef WEIR_STREAM_H
#define WEIR_STREAM_H
#include "exec/weir_plan.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Number of slots of a source whose end is not known yet; all sources of a live job have it. */
#define WEIR_STREAM_OPEN INT64_MAX

/* A periodic stream of `count` slots: slot k is the time k * rate_den / rate_num seconds. It feeds
 * two inputs of the graph: `value` (f32, [time]) and `present` (bool, [time]). One that ends before
 * another is absent up to the end of the longest. */
typedef struct weir_stream_source {
  const char *value, *present;
  int64_t rate_num, rate_den, count;
  /* Slots [lo, hi): values[hi - lo], 0 where absent; present[hi - lo], 0 or 1. Chunks ahead of what
   * sinks take, from another thread too, but never two calls of a stream's sources at once. */
  weir_status (*read)(void *context, int64_t lo, int64_t hi, float *values, uint8_t *present);
  /* The next run of slots at or after `at` that may hold samples, [*lo, *hi); *lo == count: none.
   * NULL: the source knows no gaps ahead of reading. */
  weir_status (*next_run)(void *context, int64_t at, int64_t *lo, int64_t *hi);
  void *context;
} weir_stream_source;

/* Reports how far live sources are final. Times are ns from slot 0, the same for all sources. */
typedef struct weir_stream_live {
  /* Waits until every slot before `to` is final; or until some slots after `from` are and no more
   * come for the moment; or until the sources end. *final > from says how far they are; once
   * *ended, *final >= from is the end: a source has the slots of earlier times. Slots before `from`
   * are not read again. A stop asked for by a signal ends the sources with what is final. */
  weir_status (*wait)(void *context, int64_t from, int64_t to, int64_t *final, bool *ended);
  void *context;
} weir_stream_live;

/* Takes a result of the graph after each chunk: the new slots [lo, hi) of `view`, or, for a result
 * without time, lo == hi == 0 and the whole of it. Slots between the last call's hi and lo were
 * skipped: each equals the slot hi - 1 of that call. Called in order of time for one result, never
 * at the same time for results of one stage, possibly at the same time for others. */
typedef struct weir_stream_sink {
  const char *result;
  weir_status (*take)(void *context, const weir_view *view, int64_t lo, int64_t hi, bool last);
  void *context;
} weir_stream_sink;

/* The context of weir_stream_keep, the `take` of a sink whose result, of one dimension, is kept
 * whole: data[capacity], slot 0 first, of the result's dtype. Slots that are skipped are left as
 * they are: absent, in the presence of a series that was 0. A result that no other operator reads
 * is written there by its operator (weir_plan_bind_result): data and capacity of the start of a run
 * count; any other is copied. Fails: WEIR_ERR_CONFIG for lack of space. */
typedef struct weir_stream_kept {
  void *data;
  int64_t capacity, n; /* slots; end of the received slots */
} weir_stream_kept;
weir_status weir_stream_keep(void *context, const weir_view *view, int64_t lo, int64_t hi,
                             bool last) WEIR_CHECKED;

/* The section `stream:` of an app's configuration; rows in weir_stream_opts. */
typedef struct weir_stream_cfg {
  double window;      /* s, 0: chosen so that the stream's arrays fill half of L2 */
  double live_window; /* s, the same for live sources where window is 0           */
  double memory;      /* MiB that a plan may use, 0: memory of the machine */
  bool skip;
  int64_t cut_seed; /* 0: equal chunks */
} weir_stream_cfg;
extern const weir_opt weir_stream_opts[];

#define WEIR_STREAM_THREADS 64

/* Statistics of a run. A stage: of the graph. */
typedef struct weir_stream_report {
  double window_s, latency_s; /* chunk length; chunk length plus the longest look-ahead        */
  double seconds;             /* wall time                                                    */
  int64_t computed, skipped;  /* chunks                                                       */
  int64_t per_thread[WEIR_STREAM_THREADS]; /* stage runs by thread                               */
  int64_t slots, present; /* of all sources                                               */
  int64_t buffer_bytes;   /* windows, arena and queues: fixed before the first sample     */
  weir_tier tier;
  int stages;
  /* Live sources: wall time from the moment a chunk is final to that when all its results are
   * handed on, quantiles over chunks to 5 %; 0 for others. */
  double chunk_p50_s, chunk_p99_s, chunk_max_s;
} weir_stream_report;

typedef struct weir_stream weir_stream;

/* Plans the graph for the sources; both arrays are copied, contexts are borrowed. threads: 0 for
 * all. live: NULL where counts are known. Fails: as weir_plan_create; WEIR_ERR_CONFIG for a rate or
 * count that is not positive, for a count over a hundred years without `live`, for a window shorter
 * than a sample of the fastest source, and for a window or a plan, including its store, that
 * exceeds `memory`. */
typedef struct weir_stream_job {
  const weir_graph *graph;
  weir_store *store;
  const weir_stream_source *sources;
  int n_sources;
  const weir_stream_sink *sinks;
  int n_sinks;
  const weir_stream_cfg *stream;
  const weir_exec_cfg *exec;
  int threads;
  const weir_stream_live *live;
} weir_stream_job;
weir_status weir_stream_create(const weir_stream_job *job, weir_stream **out) WEIR_CHECKED;
void weir_stream_destroy(weir_stream **s);
/* Runs the sources from their start to their end. Writes events stream_plan, stream_thread and
 * stream_end. Fails: what sources, sinks and calls return; WEIR_ERR_STOPPED after the chunk in
 * which a signal came, unless the sources are live: they end then. */
weir_status weir_stream_run(weir_stream *s, weir_stream_report *report) WEIR_CHECKED;
/* The samples of source number `source` in memory, as `read` would give them: they are read in
 * place, `read` is not called and may be NULL. values[count] and flags[count] stay as they are
 * until the stream is destroyed. Before the first run. Fails: WEIR_ERR_CONFIG for a source that is
 * live or ends before others. */
weir_status weir_stream_bind(weir_stream *s, int source, const float *values,
                             const uint8_t *flags) WEIR_CHECKED;
/* Rewinds to the start: windows, frontiers; stored arrays are the caller's. */
void weir_stream_rewind(weir_stream *s);
/* Returns the needs of the result of sink i (of the job), from the graph's accesses: seconds before
 * a slot and after it, the maximum over sources. Its latency is window and look-ahead. */
void weir_stream_reach(const weir_stream *s, int sink, double *behind_s, double *ahead_s);
/* Return the length of a chunk, s; and the bytes fixed before the first sample: windows, arena,
 * queues. */
double weir_stream_window(const weir_stream *s);
int64_t weir_stream_buffer_bytes(const weir_stream *s);
/* Returns the plans, in order of the stages, for reports and `describe`. */
int weir_stream_stages(const weir_stream *s);
const weir_plan *weir_stream_plan(const weir_stream *s, int stage);

#ifdef __cplusplus
}
#endif
#endif
