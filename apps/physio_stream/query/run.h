/* run.h - one query on one recording: signals opened, graph built and planned, results kept. */
#ifndef PS_QUERY_RUN_H
#define PS_QUERY_RUN_H
#include "data/input.h"
#include "live/page.h"
#include "query/column.h"
#include "query/options.h"
#include "viewer/viewer.h"

/* What a run needs to know; all borrowed until ps_query_close. */
typedef struct ps_query_job {
  const ps_query_cfg *query;
  const weir_config *config; /* for the locations of errors; NULL: none */
  const ps_input_opts *input;
  const ps_synth_opts *synth;
  uint64_t seed;
  const weir_stream_cfg *stream;
  const weir_exec_cfg *exec;
  int threads;                   /* 0: all                               */
  double start, strip;           /* s: what reports draw, see column.h   */
  FILE *follow;                  /* results of live input are printed here as they come, or NULL */
  const ps_viewer_opts *viewer;  /* NULL: no page */
  const ps_live_page_opts *page; /* NULL: no page */
} ps_query_job;

/* An input whose samples are shown too. */
typedef struct ps_query_shown {
  ps_input *input;
  ps_viewer *viewer; /* NULL: there is no page, or it reads the input afterwards */
  int number;        /* of its signal there                                      */
  ps_live_page *page;
  int number_live; /* of its signal on the live page */
} ps_query_shown;

/* A column that is shown live too. */
typedef struct ps_query_shown_column {
  ps_column *column;
  ps_live_page *page;
  int number;
} ps_query_shown_column;

typedef struct ps_query_run {
  ps_query_text text;
  ps_input *input[WEIR_QUERY_SOURCES]; /* of each stream of the query, NULL where it is not used */
  const ps_input_info *facts;          /* of the first one that is used                          */
  char present[WEIR_QUERY_SOURCES][2 * WEIR_QUERY_NAME]; /* inputs of the graph                  */
  weir_query query;
  weir_stream *stream;
  ps_column *columns; /* of the query, in its order */
  weir_stream_report report;
  FILE *follow;      /* results are printed here as they come, or NULL */
  ps_viewer *viewer; /* of the signals that are used, in the order of the streams; or NULL */
  bool rereads;      /* it reads the inputs once more, after the run: chunks without a result  */
                     /* are not read in it                                                     */
  ps_query_shown shown[WEIR_QUERY_SOURCES];
  ps_live_page *page; /* of live input, or NULL */
  ps_query_shown_column shown_columns[WEIR_QUERY_COLUMNS];
} ps_query_run;

/* Opens a query, up to the first sample. Fails: as ps_input_open, weir_query_build and
 * weir_stream_create; *out is then empty. */
weir_status ps_query_open(const ps_query_job *job, ps_query_run *out) WEIR_CHECKED;
/* Reads the recording to its end. Fails: as weir_stream_run. */
weir_status ps_query_perform(ps_query_run *r) WEIR_CHECKED;
/* Shows, after the run, what of the inputs the viewer does not have yet. Fails: as ps_input_read.
 */
weir_status ps_query_show_rest(ps_query_run *r) WEIR_CHECKED;
void ps_query_close(ps_query_run *r);
#endif
