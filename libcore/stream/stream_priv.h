/* stream_priv.h - the inside of a stream run: stages, the chunks between them, where the sources
 * are. */
#ifndef WEIR_STREAM_PRIV_H
#define WEIR_STREAM_PRIV_H
#include "stream/weir_stream.h"

#define STREAM_MAX_CROSSING 16
#define STREAM_MAX_SOURCES 16
#define STREAM_MAX_SINKS 64
#define STREAM_MAX_RESULTS (STREAM_MAX_CROSSING + STREAM_MAX_SINKS)
/* Chunks on their way at once where threads share the stages: a stage that waits for a processor
 * delays no other before the stages around it are that far apart. */
#define STREAM_MIN_DEPTH 2
#define STREAM_DEPTH 8
/* Latencies are counted in bins a 20th of an octave wide, from a microsecond on. */
#define STREAM_LATENCY_BINS 600

/* Arrays that the first stage hands to the second. */
typedef struct stream_cut {
  int n;
  int32_t array[STREAM_MAX_CROSSING];   /* of the whole graph */
  char name[STREAM_MAX_CROSSING][24];   /* input of the second stage  */
  char result[STREAM_MAX_CROSSING][64]; /* result of the first stage */
  weir_dtype dtype[STREAM_MAX_CROSSING];
  int64_t rows[STREAM_MAX_CROSSING];
} stream_cut;

/* Cuts a graph before its calls: *front computes what the calls read, *back the calls and what
 * follows. *back is NULL, and *front the whole graph, where no call reads streams, where a stored
 * array that changes is used on both sides, and where more crosses than a queue of streams takes.
 */
weir_status stream_pipeline_cut(const weir_graph *g, weir_graph **front, weir_graph **back,
                                stream_cut *cut);

/* A chunk on its way: what was read, then what crosses to the second stage of the graph. */
typedef struct stream_chunk {
  int64_t lo[STREAM_MAX_SOURCES], hi[STREAM_MAX_SOURCES]; /* slots of the sources */
  float *values[STREAM_MAX_SOURCES];
  uint8_t *present[STREAM_MAX_SOURCES];
  int64_t cross_lo[STREAM_MAX_CROSSING], cross_hi[STREAM_MAX_CROSSING];
  char *data[STREAM_MAX_CROSSING];
  bool last;
  double final_at; /* weir_clock when the chunk was final */
} stream_chunk;

typedef struct stream_input {
  weir_stream_source source; /* count: to the end of the longest source */
  int64_t own;               /* slots that the source has; then absent  */
  const uint8_t *in_place;   /* presence of the whole stream, NULL: it is read */
  int64_t fed;               /* end of the chunk read last                     */
  int64_t last;              /* end of the last present slot                   */
  int64_t settle, bound;
  bool gates; /* where it is absent, nothing comes out */
} stream_input;

struct weir_stream {
  weir_plan *plan[2];
  int n_stages, threads;
  stream_cut cut;
  stream_chunk chunk[STREAM_DEPTH];
  int depth; /* chunks that have memory: 1 for one thread */
  int64_t cross_capacity[STREAM_MAX_CROSSING];
  stream_input input[STREAM_MAX_SOURCES];
  int n_inputs;
  weir_stream_sink sink[STREAM_MAX_SINKS];
  int sink_stage[STREAM_MAX_SINKS], n_sinks;
  bool sink_timed[STREAM_MAX_SINKS];                                      /* the result has time */
  double sink_behind_s[STREAM_MAX_SINKS], sink_ahead_s[STREAM_MAX_SINKS]; /* weir_stream_reach */
  weir_stream_cfg cfg;
  int64_t window_ns, buffer_bytes;
  int64_t granule_ns; /* what all windows divide; 0: not known or longer than a chunk */
  int64_t since_ns;   /* all slots since then were read */
  int64_t margin_ns;  /* no result or state depends on slots that far away */
  double latency_s;
  weir_stream_live live; /* wait is NULL where counts are known */
  /* one run */
  int64_t at_ns, n_chunks; /* where the next chunk begins; chunks so far */
  bool live_ended;
  int64_t latency[STREAM_LATENCY_BINS], latencies;
  weir_stream_report *report;
};

/* flow.c: stages that work on numbered chunks at once. A stage works on one chunk at a time, in
 * order, each after the stage before it, and the first is `depth` chunks ahead of the last at most.
 * The caller runs what is oldest, of any stage; each worker a separate stage. */
typedef struct stream_flow {
  int stages, depth, threads;
  /* *ended: by the first stage, this is the last chunk. */
  weir_status (*run)(void *context, int stage, int64_t chunk, int thread, bool *ended);
  void *context;
} stream_flow;
#define STREAM_FLOW_STAGES 4
/* Runs all chunks through all stages. Fails: what the earliest chunk failed with; those before it
 * have gone through, none after it has ended. */
weir_status stream_flow_run(const stream_flow *flow) WEIR_CHECKED;

/* follow_stream.c: results of a stage by name, [STREAM_MAX_RESULTS]: what crosses (sink[k] -1),
 * then those of its sinks; returns how many. */
int stream_results(const weir_stream *s, int stage, weir_plan_end *to, int *sink);
/* How what is made so far follows an input of the first stage, and what all stages need of it. */
typedef struct stream_followed {
  weir_path crossing[STREAM_MAX_CROSSING], sink[STREAM_MAX_SINKS];
  weir_plan_need need;
} stream_followed;
void stream_follow(const weir_stream *s, const char *input, stream_followed *out);
/* Settle times, margin, and the reach of sinks: kept, for a plan that has seen the end of its
 * streams knows shorter ones. */
void stream_find_needs(weir_stream *s);
/* targeted.c: which sources keep everything idle where they are absent. */
void stream_find_targets(weir_stream *s);
/* The time up to which nothing comes out and nothing has to be read: at_ns where something may. */
weir_status stream_idle_until(const weir_stream *s, int64_t *ns) WEIR_CHECKED;
/* Moves the end of the chunk that begins at at_ns to where a source begins to rule out. */
weir_status stream_cut_gate(const weir_stream *s, int64_t *to) WEIR_CHECKED;
/* memory_stream.c: bytes that a plan may hold, 0 where that is not known, and who says so ("this
 * machine has"). */
double stream_max_memory(const weir_stream_cfg *cfg, const char **who);
/* Whether it holds no more, with what `store` (or NULL) keeps. Large memory is mapped but not
 * touched before the first chunk: what is refused has cost nothing. Fails: WEIR_ERR_CONFIG. */
weir_status stream_check_memory(const weir_stream *s, const weir_store *store) WEIR_CHECKED;
/* targeted.c: first slot at or after a time, limited to the source's count. */
int64_t stream_slot_at(const weir_stream_source *source, int64_t ns);

#endif
