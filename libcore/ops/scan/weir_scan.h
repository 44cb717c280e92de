/* weir_scan.h - recurrences along one dimension: running sums, IIR filters, custom ones.
 *
 * A
 * scan is defined by a function that builds its body: typed states, their values after each
 * element, the outputs. It runs forward or backward; its states may come from an array and go to
 * one: after the data inputs (outputs) there is then one array per dtype of state, in order of
 * first declaration, [states of that dtype, other dimensions...]. Backward on time is refused. */
#ifndef WEIR_SCAN_H
#define WEIR_SCAN_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_SCAN_PARAMETERS 160

/* Argument of a define function. */
typedef struct weir_scan {
  const weir_op_args *args;
  weir_access *access;
  const double *parameter;
  int n_data; /* data inputs, 0 .. n_data - 1; they broadcast to a common shape */
} weir_scan;

/* Defines the recurrence with the functions below. Called several times: the result must depend on
 * its argument only. Fails: WEIR_ERR_SHAPE for unsupported dtypes or parameters. */
typedef weir_status (*weir_scan_define)(weir_scan *s);

typedef struct weir_scan_spec {
  const char *name; /* static storage, for messages */
  weir_scan_define define;
  int dim; /* of the common shape */
  bool backward;
  int n_data;      /* data inputs                                         */
  bool take_state; /* initial states are inputs                           */
  bool give_state; /* final states are outputs                            */
  double parameter[WEIR_SCAN_PARAMETERS];
} weir_scan_spec;

/* For define functions. Expressions are numbers of weir_body.h on s->access->body. */
int32_t weir_scan_load(weir_scan *s, int input);
/* Declares a state scalar and returns its number (-1 without space or memory: the functions below
 * accept it, and the graph reports it); weir_scan_read gives its value before the element. */
int weir_scan_state(weir_scan *s, weir_dtype dtype, double initial);
int32_t weir_scan_read(weir_scan *s, int state);
/* Sets the state's value after the element. Every state needs one. */
void weir_scan_next(weir_scan *s, int state, int32_t expression);
/* Adds the next data output. At least one. */
void weir_scan_emit(weir_scan *s, int32_t expression);
/* Guarantees that after `settle` consecutive elements for which the bool `input` is 0, states are
 * constant and outputs are 0, so that a gap may be skipped exactly. */
void weir_scan_skips(weir_scan *s, int input, int64_t settle);

extern const weir_op_desc weir_op_scan;

/* in: data inputs, then the state arrays. Returns output 0; output k is {v.node, k}. */
weir_value weir_scan_at(weir_graph *g, const weir_scan_spec *spec, const weir_value *in, int n_in,
                        const char *where);

/* Computes the running sum along dim, inclusive; floats are summed in f64, complex numbers in c128,
 * integers and bool in i64 (the output's dtype). */
weir_value weir_cumsum_at(weir_graph *g, weir_value x, int dim, bool backward, const char *where);

#define WEIR_SOS_SECTIONS 20

/* A cascade of second-order sections, direct form II transposed, states f64:
 *   y = b0 x + s1;  s1 = b1 x - a1 y + s2;  s2 = b2 x - a2 y.
 * steady: the first sample u finds the filter as if u had always been there (s1, s2 = steady state
 * of each section for the level that reaches it); else states begin at 0. With a presence operand,
 * an absent slot gives 0 and the filter continues with the last present value for `hold` slots;
 * after more absent slots than that, and before the first present one, the next present sample
 * begins as `steady` says. */
typedef struct weir_sos_spec {
  int dim;
  int n;                                /* sections */
  double section[WEIR_SOS_SECTIONS][6]; /* b0 b1 b2 a0 a1 a2, a0 = 1 */
  bool steady, backward;
  int64_t hold; /* slots, used with presence */
} weir_sos_spec;

/* x: f32 or f64; presence: bool that broadcasts to x, or WEIR_NO_VALUE. Output: dtype of x. */
weir_value weir_sos_at(weir_graph *g, const weir_sos_spec *spec, weir_value x, weir_value presence,
                       const char *where);

#define weir_scan_add(g, spec, in, n_in) weir_scan_at(g, spec, in, n_in, WEIR_WHERE)
#define weir_cumsum(g, x, dim) weir_cumsum_at(g, x, dim, false, WEIR_WHERE)
#define weir_sos(g, spec, x, presence) weir_sos_at(g, spec, x, presence, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
