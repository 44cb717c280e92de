/* weir_formula.h - expressions over streams in the steps of a query: "0.5 * (sbp + dbp)",
 * "abp > 20 mmHg and present(ecg)".
 *
 *   or, and, not            of
 *   booleans < <= > >= == != of two numbers (not in chains); == and != of two booleans too
 *   + - * / ^               of numbers; -x^2 is -(x^2), 2^3^2 is 2^(3^2)
 *   3, 0.5 s, 2 [mmHg/s]    numbers, with a unit where one follows; pi e inf nan
 *   abp, beats.rr, "ABP 1"  streams; with one input also x; quotes name any stream
 *   t                       seconds since the start of the streams (0 where no input is present)
 *   present(abp)            the truth that the stream is present
 *   if(c, a, b)             a where c is true, else b
 *   abs sqrt exp log log10 sin cos tanh floor ceil round sign isfinite pow hypot mod min max clamp
 *
 * Units: what is added, compared or chosen between has one unit, * and / multiply and divide units,
 * sqrt and a constant exponent take them along, exp, log, log10, sin, cos, tanh take none. A plain
 * number agrees with any unit, and so does a stream of which none is stated. A number with a unit
 * is converted to the unit of the same quantity that it meets in a sum, comparison, choice, product
 * or quotient: ecg > 100 uV for ecg in mV, 1 / rr < 50 bpm, rr / 500 ms. Streams are not converted.
 *
 * Presence: a result is present where every stream it needs is: of `if`, the condition and the
 * branch that is chosen; a name in present() is not needed. It is never present where no input is,
 * nor where a number is NaN.
 *
 * Arithmetic is f32, and f64 throughout in an expression with t, the result rounded to f32; pow,
 * log10, hypot and mod compute in f64. round goes to even, mod has the sign of the divisor, min and
 * max give NaN where an argument is. pow is exp(b log |a|) with the sign of a whole odd b, repeated
 * multiplication for constant whole exponents up to 64; a zero to raise counts as positive. */
#ifndef WEIR_FORMULA_H
#define WEIR_FORMULA_H
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_FORMULA_LENGTH 4096 /* bytes of an expression */
#define WEIR_FORMULA_NODES 512   /* numbers, names and operations of an expression */
#define WEIR_FORMULA_DEPTH 64    /* parentheses and signs inside each other         */

typedef struct weir_formula weir_formula;

/* Parses an expression. Fails: WEIR_ERR_CONFIG with the column (1 is the first character) and the
 * expected token, also for numbers where booleans belong; WEIR_ERR_MEMORY. */
weir_status weir_formula_parse(const char *text, weir_formula **out) WEIR_CHECKED;
/* Destroys the expression; accepts NULL and nulls. */
void weir_formula_destroy(weir_formula **f);
/* Whether the result is a boolean, not a number. */
bool weir_formula_is_bool(const weir_formula *f);
/* Appends the expression over use->in to use->graph, which live as long as use->keeper. value: f32,
 * 0 where absent, or for a boolean bool, false where absent, with unit "1".
 * Fails: WEIR_ERR_CONFIG (an
 * unknown input, inputs of several rates, inconsistent units), and as the graph's builders. */
weir_status weir_formula_build(const weir_formula *f, const weir_series_use *use,
                               weir_series *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
