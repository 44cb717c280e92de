/* weir_series.h - a periodic stream inside a graph: values
 * and their presence on one clock; and the interface of operators on such streams. One folder each
 * under stream/op/, found by the build. */
#ifndef WEIR_SERIES_H
#define WEIR_SERIES_H
#include "conf/weir_opt.h"
#include "graph/weir_graph.h"
#include "graph/weir_store.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_SERIES_UNIT 24 /* bytes of a unit's text                             */
#define WEIR_SERIES_MAX 32  /* maximum number of input or output streams of an operator */

/* Slot k is the time k * rate_den / rate_num seconds. value: f32, [time], 0 where absent; present:
 * bool, [time]. Events (beats, alarms) are streams too: present where one happens. Operators keep
 * the promises and give an invalid value on failure (the graph has the error). */
typedef struct weir_series {
  weir_value value, present;
  weir_value age; /* created on demand (weir_series_aged), else WEIR_NO_VALUE */
  int64_t rate_num, rate_den;
  char unit[WEIR_SERIES_UNIT]; /* "mV", "s"; "1": a number; "flags": weir_flags.h; "": not stated */
} weir_series;

/* Returns the inputs `name` (f32) and `present` (bool) of the graph as a stream. */
weir_series weir_series_input(weir_graph *g, const char *name, const char *present,
                              int64_t rate_num, int64_t rate_den);
/* Returns the stream with `value` set to 0 where it is absent. */
weir_series weir_series_mask(weir_graph *g, weir_series s);
/* Returns the stream with `age`, computed once: i32, [time], the number of consecutive present
 * slots that end here (this one included), 0 where absent. */
weir_series weir_series_aged(weir_graph *g, weir_series s);
/* Returns the value of the slot `by` before, 0 unless all slots from there to here are present: the
 * input of a window that restarts after each gap. s is aged. */
weir_value weir_series_past(weir_graph *g, weir_series s, int64_t by);

/* Returns the stream on a clock `up` times as fast, each value repeated for its period. Fails (in
 * the graph): WEIR_ERR_SHAPE for up < 1 and for a rate beyond 64 bits. */
weir_series weir_series_hold(weir_graph *g, weir_series s, int64_t up);
/* Sets the rate of `s` to up / down times its own, in lowest terms. Fails: WEIR_ERR_SHAPE beyond 64
 * bits. */
weir_status weir_series_scale_rate(weir_series *s, int64_t up, int64_t down) WEIR_CHECKED;

/* One use of an operator: a step of a query. */
typedef struct weir_series_use {
  weir_graph *graph;
  weir_store *store; /* state of calls, under names that begin with `step`                     */
  const char *step;  /* the step's name, unique in the query                                    */
  const void *opts;  /* the operator's own options, range-checked                               */
  const weir_series *in;
  const char *const *in_name; /* names of the inputs in expressions */
  int n_in;
  struct weir_series_keeper *keeper; /* see weir_series_keep */
  /* NULL, or set where an expression makes the first result and may be NaN or infinite (a / b):
   * bool, [time], true where it is so though its streams are present. */
  weir_value *undefined;
} weir_series_use;

/* Outputs of an operator: streams named `step.name`; at most one has no name and is named as the
 * step. Names live as long as the options. */
typedef struct weir_series_result {
  weir_series out[WEIR_SERIES_MAX];
  const char *name[WEIR_SERIES_MAX];
  const char *former[WEIR_SERIES_MAX]; /* name in earlier versions, still accepted; or NULL */
  int n;
} weir_series_result;

/* A stream operator, a composition of ops, as found by the build. */
typedef struct weir_series_op {
  const char *name, *cite;
  const char *help;     /* one line: its result */
  const weir_opt *opts; /* NULL: none              */
  size_t opts_size;
  int min_in, max_in; /* streams it takes */
  /* Appends the operator to the graph. NULL: only for other operators, not a step of a query.
   * Fails: WEIR_ERR_CONFIG with the reason (inconsistent units or periods, options that do not fit
   * the streams); the query adds file, line and step. */
  weir_status (*build)(const weir_series_use *use, weir_series_result *out);
} weir_series_op;

/* Allocates `bytes` zeroed bytes that live as long as the query's graph: contexts of calls. `fini`
 * (may be NULL) is called on them before they are freed. Fails: WEIR_ERR_MEMORY. */
weir_status weir_series_keep(const weir_series_use *use, size_t bytes, void (*fini)(void *),
                             void **out) WEIR_CHECKED;
/* Owner of such memory; a NULL handle is empty. */
typedef struct weir_series_keeper {
  struct weir_series_kept *first;
} weir_series_keeper;
void weir_series_keeper_fini(weir_series_keeper *k);
/* Converts seconds to an integer number of slots of `s`, at least `min_slots`. Fails:
 * WEIR_ERR_CONFIG, naming the option, when it is not an integer to 1e-9 of a slot. */
weir_status weir_series_slots(const weir_series *s, const char *option, double seconds,
                              int64_t min_slots, int64_t *slots) WEIR_CHECKED;
/* The same for windows at such intervals: at most WEIR_LONGEST_STEP slots. */
weir_status weir_series_hop(const weir_series *s, const char *option, double seconds,
                            int64_t *slots) WEIR_CHECKED;
/* False for texts that state no known unit: "", "NU", "adu" and the like. */
bool weir_unit_is_stated(const char *unit);
/* Whether both units are of one quantity (mV and uV, mmHg and kPa, Hz and bpm, mmHg/s and Pa/s); a
 * value in `from` times *factor is one in `to`. Symbols that are not known are separate
 * quantities; a unit that is not stated is of none, but the same text always agrees. MV, which no
 * signal is in, is such a symbol: whether it is meant for mV is not guessed. */
bool weir_unit_factor(const char *from, const char *to, double *factor);
/* Sets the unit; truncated to the available size. */
void weir_series_set_unit(weir_series *s, const char *unit);
/* Checks that the units agree; "" agrees with all. Fails: WEIR_ERR_CONFIG, naming both and, where
 * they are of one quantity, the conversion. */
weir_status weir_series_same_unit(const weir_series *a, const char *a_name, const weir_series *b,
                                  const char *b_name) WEIR_CHECKED;

/* All stream operators of this build, sorted by name, NULL-terminated: generated. */
extern const weir_series_op *const weir_series_op_table[];

#ifdef __cplusplus
}
#endif
#endif
