/* query_priv.h - what the sources of a query share: the streams known so far. */
#ifndef WEIR_QUERY_PRIV_H
#define WEIR_QUERY_PRIV_H
#include "stream/weir_query.h"

/* A stream that has a name. */
typedef struct query_stream {
  char name[2 * WEIR_QUERY_NAME];
  char former[2 * WEIR_QUERY_NAME]; /* name in earlier versions, "": none */
  weir_series series;
  weir_value undefined; /* as weir_series_use has it, WEIR_NO_VALUE: none */
} query_stream;

/* "location: " in front of a message, "" where there is none. */
typedef struct query_location {
  char text[512];
} query_location;
query_location query_at(const char *location);

/* Number of the source (below n_sources) or n_sources + step that defines `name`, or its part;
 * -1: none. */
int64_t query_definer(const weir_query_spec *spec, const char *name);
/* Name and location of source i, from n_sources on of step i - n_sources. */
const char *query_name_of(const weir_query_spec *spec, int64_t i);
const char *query_location_of(const weir_query_spec *spec, int64_t i);
/* used[i], i as above: an output needs it, or a step that one needs. */
void query_mark_used(const weir_query_spec *spec, bool *used);
/* *num / *den: the least common multiple of two positive fractions. False when it does not fit. */
bool query_lcm(int64_t a_num, int64_t a_den, int64_t b_num, int64_t b_den, int64_t *num,
               int64_t *den);
/* Combines the clocks of all streams; names the pair that has no common multiple. */
weir_status query_common_period(const query_stream *streams, int64_t n, int64_t *num,
                                int64_t *den) WEIR_CHECKED;
#endif
