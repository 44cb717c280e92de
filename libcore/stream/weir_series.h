/* weir_series.h - a periodic stream inside a graph: values and their presence on one clock; and
 * what an operator on such streams is. One folder each under stream/op/, found by the build. */
#ifndef WEIR_SERIES_H
#define WEIR_SERIES_H
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Slot k is the time k * rate_den / rate_num seconds. value: [time], 0 where absent; present: bool,
 * [time]. Operators keep both promises and give an invalid value on failure (the graph has the
 * error). */
typedef struct weir_series {
  weir_value value, present;
  weir_value age; /* made where it is needed (weir_series_aged), else WEIR_NO_VALUE */
  int64_t rate_num, rate_den;
} weir_series;

/* The inputs `name` (f32) and `present` (bool) of the graph as a stream. */
weir_series weir_series_input(weir_graph *g, const char *name, const char *present,
                              int64_t rate_num, int64_t rate_den);
/* The stream with `value` set to 0 where it is absent. */
weir_series weir_series_mask(weir_graph *g, weir_series s);
/* The stream with `age`, made once for all that follows: i32, [time], how many present slots in a
 * row end here (this one included), 0 where absent. */
weir_series weir_series_aged(weir_graph *g, weir_series s);
/* Value of the slot `by` before, 0 unless all slots from there to here are present: what a window
 * sees that begins anew after each gap. s is aged. */
weir_value weir_series_past(weir_graph *g, weir_series s, int64_t by);

/* A composition of ops, as the build finds it. */
typedef struct weir_series_op {
  const char *name, *cite;
  /* A random valid use of the operator on a stream, for tests that hold for every operator. */
  weir_series (*sample)(weir_graph *g, weir_series s, uint64_t seed);
} weir_series_op;

/* All stream operators of this build, sorted by name, NULL at the end: generated. */
extern const weir_series_op *const weir_series_op_table[];

#ifdef __cplusplus
}
#endif
#endif
