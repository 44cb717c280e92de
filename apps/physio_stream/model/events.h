/* events.h - a sequential search for events in streams, as an operator of a graph.
 *
 * An event is known only some time after it happened: the operator sees `ahead` slots beyond those
 * it writes, so that each event stands in its own slot. Outputs depend on the samples alone, never
 * on how time is divided or on whether gaps are passed or left out. */
#ifndef PS_EVENTS_H
#define PS_EVENTS_H
#include "stream/weir_series.h"

#define PS_EVENTS_VALUES 8  /* quantities of one event, at most; 7 without `each` */
#define PS_EVENTS_INPUTS 14 /* streams searched together, at most */

/* Where a search puts what it finds. */
typedef struct ps_events ps_events;
/* Puts an event at `slot` with the search's values, clamped to the range of f32 (NaN becomes its
 * end). Slots ascend; an event closer than `apart` to the one before is left out. */
void ps_events_put(ps_events *found, int64_t slot, const float *values);

/* What is searched and how. The functions get the state, zeroed before `start`, in memory aligned
 * to 64 that holds no pointers. */
typedef struct ps_events_spec {
  const char *name;   /* static */
  const void *params; /* lives as long as the graph (weir_series_keep) */
  size_t state_bytes;
  int64_t ahead;  /* an event at slot s is put when slot s + ahead is passed, at the latest      */
  int64_t settle; /* absent slots, beyond `ahead`, after which what was before puts nothing more  */
  int64_t apart;  /* minimum distance of two events, slots, >= 1                                 */
  int n_values;
  bool each; /* the values of an event are present each for itself: where they are not 0 */
  int (*start)(const void *params, void *state); /* 0: it cannot start (params are at fault) */
  /* Slots [t, t + n): x[k][n] of input k, usable[n]: 1 where every input is present and finite.
   * Slots between two calls are absent. What is put must not depend on the chunks. */
  void (*pass)(const void *params, void *state, int64_t t, int64_t n, const float *const *x,
               const uint8_t *usable, ps_events *found);
  /* The stream has ended. */
  void (*finish)(const void *params, void *state, ps_events *found);
} ps_events_spec;

/* Appends the search over n_in streams of one rate. out: [n_values], all with one presence, the
 * events, without `each`. Fails: WEIR_ERR_CONFIG (rates that differ, a look-ahead that is too
 * long), builders' and store's errors. */
weir_status ps_events_add(const weir_series_use *use, const ps_events_spec *spec,
                          const weir_series *in, int n_in, weir_series *out) WEIR_CHECKED;

/* Returns the stream with values that are not finite made absent. */
weir_series ps_events_finite(weir_graph *g, weir_series s);
/* Makes the streams of a search of a signal, the first input, that sees where all inputs are
 * present: in[0] has the finite values of the signal, in[1] the sum of bit[k] over the inputs k
 * present in a slot; both are present where any input is. */
void ps_events_combine(const weir_series_use *use, const int *bit, weir_series in[2]);
/* Reduces a stream of results to the slots of hops, and sets its unit. Fails: as
 * weir_series_scale_rate. */
weir_status ps_events_thin(weir_graph *g, int64_t hop, const char *unit,
                           weir_series *s) WEIR_CHECKED;
/* Finds where the events of the first two inputs begin, bools on the clock of the faster one, which
 * is *fast: an event of a slower clock stands at the first of its slots. Fails: WEIR_ERR_CONFIG for
 * rates that are no multiples. */
weir_status ps_events_marks(const weir_series_use *use, weir_value begins[2],
                            weir_series *fast) WEIR_CHECKED;
/* Checks the unit. Fails: WEIR_ERR_CONFIG unless the stream's unit is `unit` or not stated. */
weir_status ps_events_need_unit(const weir_series_use *use, int input,
                                const char *unit) WEIR_CHECKED;
/* Checks that the first input is in seconds; the message says where intervals come from. */
weir_status ps_events_need_intervals(const weir_series_use *use) WEIR_CHECKED;
#endif
