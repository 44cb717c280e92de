/* pipeline.h - the detection of one signal, planned and ready to run: input, graph, stream. */
#ifndef PS_PIPELINE_H
#define PS_PIPELINE_H
#include "model/graph.h"
#include "options.h"
#include "report/weir_report.h"
#include "stream/weir_stream.h"

typedef struct ps_pipeline {
  ps_graph graph;
  weir_stream *stream;
} ps_pipeline;

/* Plans the detection for a source (rate, count, read, next_run and context; its input names are
 * filled in). live: its clock, NULL where the count is known. features: the graph has the results
 * filtered, feature and present too. sinks are copied. threads: 0 for all. Fails: as
 * ps_graph_create and weir_stream_create. */
weir_status ps_pipeline_create(const ps_cfg *cfg, weir_stream_source source,
                               const weir_stream_live *live, bool features,
                               const weir_stream_sink *sinks, int n_sinks, int threads,
                               ps_pipeline *out) WEIR_CHECKED;
void ps_pipeline_destroy(ps_pipeline *p);

/* One event `group` for each group of a stream's plans, and the same as a table: what each moves
 * and computes per chunk. `columns` of ps_group_head: all, or those that a plan knows, for a
 * terminal. */
enum { PS_GROUP_COLUMNS = 10, PS_GROUP_PLANNED = 7 };
extern const char *const ps_group_head[PS_GROUP_COLUMNS];
void ps_stream_groups(const weir_stream *stream, int columns, weir_table *cells);
/* Prints the plans of all stages, long lines broken. Fails: WEIR_ERR_MEMORY. */
weir_status ps_stream_print(const weir_stream *stream, FILE *out) WEIR_CHECKED;
#endif
