/* weir_query.h - queries: named steps over named streams, compiled to one graph.
 *
 * Sources and steps share one space of names. A step reads streams by name: a source, a step that
 * gives one stream, or `step.part` where a step gives several. Steps
 * are listed in execution order: a name is defined before it is used, so that there are no cycles.
 */
#ifndef WEIR_QUERY_H
#define WEIR_QUERY_H
#include "stream/weir_series.h"
#include "stream/weir_stream.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_QUERY_NAME 64    /* bytes of a name, with its 0: a letter, then letters, digits, '_' */
#define WEIR_QUERY_COLUMNS 32 /* maximum number of result streams */
#define WEIR_QUERY_SOURCES 16 /* maximum number of source streams */
#define WEIR_QUERY_STEPS 256  /* maximum number of steps */

/* A source stream. It feeds the graph's inputs NAME (f32) and NAME.present (bool). */
typedef struct weir_query_source {
  const char *name;
  int64_t rate_num, rate_den;
  const char *unit;     /* as weir_series.unit                                     */
  const char *location; /* "file:line:column" for messages, NULL: none; all below too */
} weir_query_source;

typedef struct weir_query_step {
  const char *name;
  const char *const *from;
  int64_t n_from;
  const weir_series_op *op;
  const void *opts; /* of the operator, range-checked         */
  const char *location, *from_location,
      *op_location; /* of name, from, op; the last two NULL: `location` */
} weir_query_step;

/* A requested stream: a name as in `from`; the name of a step with only named parts stands for all
 * of them. */
typedef struct weir_query_wish {
  const char *stream;
  const char *location;
} weir_query_wish;

typedef struct weir_query_spec {
  const weir_query_source *sources;
  const weir_query_step *steps;
  const weir_query_wish *outputs;
  int64_t n_sources, n_steps, n_outputs;
} weir_query_spec;

/* A result stream of the query, a result of the graph: f32, [time], NaN where absent (and where the
 * value is NaN or infinite). It has the name of the stream. */
typedef struct weir_query_column {
  char name[2 * WEIR_QUERY_NAME];
  const char *part; /* part after the point of `name`, else `name` itself */
  /* Result of the graph, bool, [time]: true where the expression of the stream gives NaN or
   * infinity though its streams are present. "": not applicable. */
  char undefined[2 * WEIR_QUERY_NAME + 1];
  char unit[WEIR_SERIES_UNIT];
  int64_t rate_num, rate_den;
} weir_query_column;

/* Columns of one output; they have one rate. */
typedef struct weir_query_output {
  char name[2 * WEIR_QUERY_NAME];
  int column[WEIR_SERIES_MAX], n;
} weir_query_output;

/* A compiled query. The graph borrows memory of `keeper`. */
typedef struct weir_query {
  weir_graph *graph;
  weir_store *store; /* state of the steps */
  weir_series_keeper keeper;
  weir_query_column *columns;
  weir_query_output *outputs; /* in the order of the outputs */
  int64_t n_columns, n_outputs;
  int64_t period_num, period_den;       /* s, after which all clocks have a common tick again */
  bool source_used[WEIR_QUERY_SOURCES]; /* the graph has inputs for these sources only */
} weir_query;

/* Checks names and lists, before rates and units of the sources are known. Fails: WEIR_ERR_CONFIG,
 * as weir_query_build. */
weir_status weir_query_check(const weir_query_spec *spec) WEIR_CHECKED;
/* Compiles a query. Steps and sources that no output needs are checked and skipped, with a warning
 * each. Fails: WEIR_ERR_CONFIG with position and step, for names that are malformed, taken, unknown
 * (with the nearest one) or used before they are defined, for a wrong number of inputs, for errors
 * of the operator itself, for clocks without a common tick within 2^63 periods (the pair is named),
 * for too many of anything; WEIR_ERR_MEMORY. *out is then empty. */
weir_status weir_query_build(const weir_query_spec *spec, weir_query *out) WEIR_CHECKED;
/* Frees everything and empties *q; the plans of its graph must be gone. */
void weir_query_fini(weir_query *q);

/* Returns the name of the graph's presence input of source `name`. */
void weir_query_present_name(const char *name, char *text, size_t size);

/* Returns the operator of that name in NULL-terminated tables; only operators that can be steps.
 * NULL: none. */
const weir_series_op *weir_query_find(const weir_series_op *const *const *tables, int n_tables,
                                      const char *name);
/* Returns operator `i` of all that can be steps, table by table; NULL past the last. */
const weir_series_op *weir_query_op(const weir_series_op *const *const *tables, int n_tables,
                                    int64_t i);

#ifdef __cplusplus
}
#endif
#endif
